/* SPDX-License-Identifier: Apache-2.0 */
/* Audiences: what one principal chooses never shows another one anything. */
#include "reload_support.h"

#include "hub/kernel/audience.h"

enum { HISTORIES = 1000, STEPS = 12, PEOPLE = 4, KEYS = 5 };

static hub_fixture fixture;

static client *open_as(const char *principal, client_kind kind)
{
    client_options options = {.kind = kind, .principal = principal};
    return client_open_as(&fixture, &options);
}

static const char *ask_change(client *c, const char *tool, const char *key)
{
    char arguments[64];
    (void)snprintf(arguments, sizeof arguments, "{\"toolset\":\"%s\"}", key);
    return client_ask(c, "90", tool, arguments);
}

static size_t count_audiences(void)
{
    size_t count = 0;
    for (const hub_audience *at = hub_profile_audience(fixture_profile(&fixture)); at != NULL;
         at = hub_audience_next(at)) {
        count++;
    }
    return count;
}

/* One enables, in two sessions at once sees and hears of it; the other sees, hears and reaches
 * nothing of it. The server ends with the last who uses it. */
static void test_two_principals(void **state)
{
    puppet git = {.tools = "[" TOOL("x") "]"};
    puppet docs = {.tools = "[" TOOL("y") "]"};
    (void)state;
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "git", &git, false);
    (void)fixture_toolset(&fixture, "docs", &docs, false);
    fixture_start(&fixture);
    client *ann = open_as("token:ann", LEGACY);
    client *ann_too = open_as("token:ann", LEGACY);
    client *bob = open_as("token:bob", LEGACY);
    assert_int_equal(count_audiences(), 1);
    assert_contains(ask_change(ann, "enable_toolset", "git"), "git");
    fixture_settle(&fixture);
    assert_int_equal(client_count(ann, LIST_CHANGED), 1);
    assert_int_equal(client_count(ann_too, LIST_CHANGED), 1);
    assert_int_equal(client_count(bob, LIST_CHANGED), 0);
    assert_contains(client_list(ann_too, "1"), "git__x");
    assert_lacks(client_list(bob, "1"), "git__x");
    assert_contains(client_ask(ann_too, "2", "git__x", "{}"), "\"content\":[]");
    assert_contains(client_ask(bob, "2", "git__x", "{}"), "Unknown tool: git__x");
    assert_contains(client_ask(bob, "3", "list_toolsets", "{}"),
                    "\\\"key\\\":\\\"git\\\",\\\"active\\\":false");
    assert_contains(ask_change(bob, "disable_toolset", "docs"), "docs");
    fixture_settle(&fixture);
    assert_int_equal(client_count(ann, LIST_CHANGED), 1);
    assert_int_equal(client_count(bob, LIST_CHANGED), 1);
    assert_contains(client_ask(ann, "4", "docs__y", "{}"), "\"content\":[]");
    client *cat = open_as("token:cat", LEGACY); /* who has chosen nothing */
    assert_contains(client_list(cat, "1"), "docs__y");
    assert_lacks(client_list(cat, "2"), "git__x");
    assert_int_equal(count_audiences(), 3);
    assert_true(fixture_logged(&fixture, "principal=\"token:ann\"") ||
                fixture_logged(&fixture, "principal=token:ann"));
    assert_contains(ask_change(ann, "disable_toolset", "git"), "git");
    fixture_spin(&fixture, 3);
    assert_int_equal(git.destroys, 1);
    assert_int_equal(docs.destroys, 0);
    fixture_stop(&fixture);
}

/* All anonymous clients are one principal. */
static void test_anonymous(void **state)
{
    puppet git = {.tools = "[" TOOL("x") "]"};
    (void)state;
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "git", &git, false);
    fixture_start(&fixture);
    client *one = open_as("anonymous", LEGACY);
    client *two = open_as("anonymous", MODERN);
    (void)ask_change(one, "enable_toolset", "git");
    assert_contains(client_list(two, "1"), "git__x");
    fixture_stop(&fixture);
}

static void say_nothing(puppet_instance *instance, patchbay_call call,
                        const patchbay_request *request)
{
    (void)instance;
    (void)call;
    (void)request;
}

/* An enable that waits for a server holds nobody else up, not even one of the same toolset. */
static void test_no_waiting_for_others(void **state)
{
    puppet slow = {.defers = 1, .on_call = say_nothing};
    puppet git = {.tools = "[" TOOL("x") "]"};
    (void)state;
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "slow", &slow, true);
    (void)add_inactive(&fixture, "git", &git, false);
    fixture_start(&fixture);
    client *ann = open_as("token:ann", LEGACY);
    client *bob = open_as("token:bob", LEGACY);
    client_call(ann, "1", "enable_toolset", "{\"toolset\":\"slow\"}");
    fixture_spin(&fixture, 3);
    assert_null(client_reply(ann, "1"));
    assert_contains(client_ask(ann, "2", "enable_toolset", "{\"toolset\":\"git\"}"), "in progress");
    assert_contains(client_ask(bob, "1", "enable_toolset", "{\"toolset\":\"git\"}"), "enabled");
    assert_contains(client_list(bob, "2"), "git__x");
    client_call(bob, "3", "enable_toolset", "{\"toolset\":\"slow\"}");
    fixture_spin(&fixture, 3);
    assert_null(client_reply(bob, "3"));
    client_cancel(ann, "1");
    assert_contains(client_ask(bob, "4", "git__x", "{}"), "\"content\"");
    fixture_stop(&fixture);
}

/* Calls of who disables fail; others' go on. A server that nobody connected sees is stopped, though
 * it is the profile's, and comes back for whoever needs it. */
static void test_calls_in_flight(void **state)
{
    puppet up = {.tools = "[" TOOL("x") "]", .on_call = say_nothing};
    (void)state;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &up, true);
    fixture_start(&fixture);
    client *ann = open_as("token:ann", LEGACY);
    client *bob = open_as("token:bob", LEGACY);
    client_call(ann, "1", "up__x", "{}");
    client_call(bob, "1", "up__x", "{}");
    assert_int_equal(up.calls, 2);
    (void)ask_change(ann, "disable_toolset", "up");
    assert_contains(client_wait(ann, "1"), "TOOL_UNAVAILABLE");
    fixture_spin(&fixture, 3);
    assert_null(client_reply(bob, "1"));
    assert_int_equal(up.cancels, 1);
    assert_int_equal(up.destroys, 0);
    (void)ask_change(bob, "disable_toolset", "up");
    assert_contains(client_wait(bob, "1"), "TOOL_UNAVAILABLE");
    fixture_spin(&fixture, 3);
    assert_int_equal(up.destroys, 1);
    up.on_call = NULL;
    client *cat = open_as("token:cat", LEGACY);
    assert_contains(client_ask(cat, "1", "up__x", "{}"), "\"content\":[]");
    assert_int_equal(up.creates, 2);
    fixture_stop(&fixture);
}

/* A call that waits for its turn does not run once its client has disabled the toolset. */
static void test_queued_calls(void **state)
{
    puppet up = {.tools = "[" TOOL("x") "]", .on_call = say_nothing};
    (void)state;
    fixture_init(&fixture);
    hub_toolset_settings *settings = fixture_toolset(&fixture, "up", &up, true);
    settings->max_calls = 1;
    settings->queue = 10;
    settings->queue_timeout_ms = FIXTURE_LONG_MS;
    fixture_start(&fixture);
    client *ann = open_as("token:ann", LEGACY);
    client *bob = open_as("token:bob", LEGACY);
    client_call(bob, "1", "up__x", "{}");
    client_call(ann, "1", "up__x", "{}");
    client_call(bob, "2", "up__x", "{}");
    assert_int_equal(up.calls, 1);
    (void)ask_change(ann, "disable_toolset", "up");
    assert_contains(client_wait(ann, "1"), "TOOL_UNAVAILABLE");
    client_cancel(bob, "1");
    fixture_spin(&fixture, 3);
    assert_int_equal(up.calls, 2);
    assert_null(client_reply(bob, "2"));
    fixture_stop(&fixture);
}

/* A choice outlives the sessions that made it; one that is the profile's again does not. */
static void test_without_sessions(void **state)
{
    puppet git = {.tools = "[" TOOL("x") "]"};
    (void)state;
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "git", &git, false);
    fixture_start(&fixture);
    client *ann = open_as("token:ann", MODERN);
    (void)ask_change(ann, "enable_toolset", "git");
    client_close(ann);
    client *bob = open_as("token:bob", MODERN);
    assert_lacks(client_list(bob, "1"), "git__x");
    assert_int_equal(count_audiences(), 2);
    assert_int_equal(git.destroys, 0);
    ann = open_as("token:ann", LEGACY);
    assert_contains(client_list(ann, "1"), "git__x");
    (void)ask_change(ann, "disable_toolset", "git");
    client_close(ann);
    client_close(open_as("token:cat", LEGACY));
    assert_int_equal(count_audiences(), 1);
    fixture_spin(&fixture, 3);
    assert_int_equal(git.destroys, 1);
    fixture_stop(&fixture);
}

/* active_set: session. A legacy session's choice is its own, and ends with it; a modern client's is
 * its principal's. */
static void test_set_of_session(void **state)
{
    puppet git = {.tools = "[" TOOL("x") "]"};
    (void)state;
    fixture_init(&fixture);
    fixture.profiles[0].has_set_per_session = true;
    (void)add_inactive(&fixture, "git", &git, false);
    fixture_start(&fixture);
    client *one = open_as("token:ann", LEGACY);
    client *two = open_as("token:ann", LEGACY);
    (void)ask_change(one, "enable_toolset", "git");
    assert_contains(client_list(one, "1"), "git__x");
    assert_lacks(client_list(two, "1"), "git__x");
    client_close(one);
    one = open_as("token:ann", LEGACY);
    assert_lacks(client_list(one, "1"), "git__x");
    fixture_spin(&fixture, 3);
    assert_int_equal(git.destroys, 1);
    client *modern = open_as("token:ann", MODERN);
    (void)ask_change(modern, "enable_toolset", "git");
    client_close(modern);
    modern = open_as("token:ann", MODERN);
    assert_contains(client_list(modern, "1"), "git__x");
    fixture_stop(&fixture);
}

/* max_active counts what one sees, not what all do. */
static void test_max_active(void **state)
{
    puppet a = {.tools = "[" TOOL("x") "]"};
    puppet b = {.tools = "[" TOOL("y") "]"};
    (void)state;
    fixture_init(&fixture);
    fixture.settings.policy.max_active = 1;
    (void)add_inactive(&fixture, "a", &a, false);
    (void)add_inactive(&fixture, "b", &b, false);
    fixture_start(&fixture);
    client *ann = open_as("token:ann", LEGACY);
    client *bob = open_as("token:bob", LEGACY);
    (void)ask_change(ann, "enable_toolset", "a");
    assert_contains(ask_change(bob, "enable_toolset", "b"), "enabled");
    assert_contains(ask_change(ann, "enable_toolset", "b"), "\"isError\":true");
    assert_contains(client_list(ann, "1"), "a__x");
    assert_contains(client_list(bob, "1"), "b__y");
    fixture_stop(&fixture);
}

/* What a choice takes that nobody is connected for. */
static void test_memory(void **state)
{
    enum { PRINCIPALS = 200, MOST_BYTES = 2048 };
    puppet git = {.tools = "[" TOOL("x") "]"};
    (void)state;
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "git", &git, false);
    fixture_start(&fixture);
    size_t before = 0;
    for (unsigned i = 0; i <= PRINCIPALS; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "token:%u", i);
        client *c = open_as(name, MODERN);
        (void)ask_change(c, "enable_toolset", "git");
        client_close(c);
        before = i == 0 ? fixture_allocated() : before;
    }
    assert_int_equal(count_audiences(), PRINCIPALS + 2);
    assert_true(fixture_allocated() - before <= (size_t)PRINCIPALS * MOST_BYTES);
    print_message("%zu bytes for each choice\n", (fixture_allocated() - before) / PRINCIPALS);
    fixture_stop(&fixture);
}

/* ---- any history ----------------------------------------------------------------------------- */

typedef struct world {
    client *clients[PEOPLE];
    bool active[PEOPLE][KEYS];
    bool is_default[KEYS];
    uint64_t seed;
} world;

static unsigned draw(world *w, unsigned below)
{
    w->seed = w->seed * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(w->seed >> 33) % below;
}

static const char *const NAMES[PEOPLE] = {"token:a", "token:b", "jwt:i#c", "anonymous"};
static const char *const TOOLSETS[KEYS] = {"k0", "k1", "k2", "k3", "k4"};

static void step(world *w)
{
    unsigned who = draw(w, PEOPLE);
    unsigned key = draw(w, KEYS);
    unsigned what = draw(w, 8);
    client_kind kind = draw(w, 2) == 0 ? LEGACY : MODERN;
    if (what < 3) {
        (void)ask_change(w->clients[who], "enable_toolset", TOOLSETS[key]);
        w->active[who][key] = true;
    } else if (what < 6) {
        (void)ask_change(w->clients[who], "disable_toolset", TOOLSETS[key]);
        w->active[who][key] = false;
    } else if (what < 7) {
        client_close(w->clients[who]);
        w->clients[who] = open_as(NAMES[who], kind);
    } else { /* the settings want one otherwise: for all */
        fixture.toolsets[key].active = !w->is_default[key];
        assert_int_equal(reload_draft(&fixture), HUB_OK);
        w->is_default[key] = !w->is_default[key];
        for (unsigned i = 0; i < PEOPLE; i++) {
            w->active[i][key] = w->is_default[key];
        }
    }
}

static void expect_world(const world *w)
{
    for (unsigned who = 0; who < PEOPLE; who++) {
        const char *list = client_list(w->clients[who], "91");
        for (unsigned key = 0; key < KEYS; key++) {
            char name[16];
            (void)snprintf(name, sizeof name, "\"%s__t\"", TOOLSETS[key]);
            assert_true((strstr(list, name) != NULL) == w->active[who][key]);
        }
        client_clear(w->clients[who]);
    }
}

/* After any history, each sees its own choice and the settings', whoever else chose what. */
static void test_histories(void **state)
{
    static puppet puppets[KEYS];
    world w = {.seed = 20260728};
    (void)state;
    fixture_init(&fixture);
    for (unsigned i = 0; i < KEYS; i++) {
        puppets[i] = (puppet){.tools = "[" TOOL("t") "]"};
        fixture_toolset(&fixture, TOOLSETS[i], &puppets[i], false)->active = i % 2 == 0;
        w.is_default[i] = i % 2 == 0;
    }
    start_draft(&fixture);
    for (unsigned who = 0; who < PEOPLE; who++) {
        w.clients[who] = open_as(NAMES[who], LEGACY);
        memcpy(w.active[who], w.is_default, sizeof w.is_default);
    }
    for (unsigned history = 0; history < HISTORIES; history++) {
        for (unsigned i = 0; i < STEPS; i++) {
            step(&w);
        }
        expect_world(&w);
    }
    fixture_stop(&fixture);
    for (unsigned i = 0; i < KEYS; i++) {
        assert_int_equal(puppets[i].creates, puppets[i].destroys);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_principals),
        cmocka_unit_test(test_anonymous),
        cmocka_unit_test(test_no_waiting_for_others),
        cmocka_unit_test(test_calls_in_flight),
        cmocka_unit_test(test_queued_calls),
        cmocka_unit_test(test_without_sessions),
        cmocka_unit_test(test_set_of_session),
        cmocka_unit_test(test_max_active),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_histories),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
