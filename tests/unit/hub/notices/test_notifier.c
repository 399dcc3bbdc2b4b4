/* SPDX-License-Identifier: Apache-2.0 */
/* The notifier: windows, storms, and clients that looked in between. */
#include "manager_support.h"

#include "base/clock.h"

enum { STORM_CHANGES = 2000 };

static hub_fixture fixture;
static outcome done;

static void set_tools(puppet *master, const char *tools)
{
    assert_int_equal(master->latest->api->set_tools(master->latest->host, puppet_str(tools)),
                     PATCHBAY_OK);
}

/* DESIGN, Exposure: a storm of changes causes one notification at once and then one per second. The
 * figure follows from the time the test took, whatever that was. */
static void storm(bool proxy)
{
    puppet up = {.tools = "[" TOOL("t0") "]"};
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &up, proxy);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    uint64_t begin_ms = hub_clock_now_ms();
    for (unsigned i = 0; i < STORM_CHANGES; i++) {
        char tools[96];
        (void)snprintf(tools, sizeof tools,
                       "[{\"name\":\"t%u\",\"inputSchema\":{\"type\":\"object\"}}]", i);
        set_tools(&up, tools);
        fixture_spin(&fixture, 1);
    }
    fixture_settle(&fixture);
    uint64_t spent_ms = hub_clock_now_ms() - begin_ms;
    assert_in_range(notifications(&fixture), 1, 1 + spent_ms / HUB_LIMIT_NOTIFY_STORM_MS);
    assert_int_equal(client_count(c, LIST_CHANGED), notifications(&fixture));
    fixture_stop(&fixture);
}

static void test_storm(void **state)
{
    (void)state;
    storm(true);
}

/* A native module that storms is no better. */
static void test_native_storm(void **state)
{
    (void)state;
    storm(false);
}

/* What a storm has left untold is told in the end, and a user's change does not wait for that. */
static void test_user_does_not_wait(void **state)
{
    puppet up = {.tools = "[" TOOL("a") "]"};
    puppet git = {.tools = "[" TOOL("x") "]"};
    (void)state;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &up, true);
    (void)add_inactive(&fixture, "git", &git, false);
    fixture_start(&fixture);
    set_tools(&up, "[" TOOL("b") "]");
    fixture_settle(&fixture);
    assert_int_equal(notifications(&fixture), 1);
    set_tools(&up, "[" TOOL("c") "]"); /* due in a second */
    fixture_settle(&fixture);
    assert_int_equal(notifications(&fixture), 1);
    assert_int_equal(enable(&fixture, "git", &done), HUB_OK);
    set_tools(&up, "[" TOOL("d") "]"); /* does not put it off again */
    fixture_settle(&fixture);
    assert_int_equal(notifications(&fixture), 2);
    fixture_stop(&fixture);
}

static bool told_twice(void *ctx)
{
    return notifications(ctx) == 2;
}

static void test_last_change_is_told(void **state)
{
    puppet up = {.tools = "[" TOOL("a") "]"};
    (void)state;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &up, true);
    fixture_start(&fixture);
    set_tools(&up, "[" TOOL("b") "]");
    fixture_settle(&fixture);
    set_tools(&up, "[" TOOL("c") "]");
    fixture_run_until(&fixture, told_twice, &fixture);
    fixture_stop(&fixture);
}

/* The same list again, and a list in another order, are no change. */
static void test_same_content(void **state)
{
    puppet up = {.tools = "[" TOOL("a") "," TOOL("b") "]"};
    (void)state;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &up, true);
    fixture_start(&fixture);
    set_tools(&up, "[" TOOL("a") "," TOOL("b") "]");
    set_tools(&up, "[" TOOL("b") "," TOOL("a") "]");
    set_tools(&up, "[ " TOOL("b") " , " TOOL("a") " ]");
    fixture_settle(&fixture);
    assert_int_equal(notifications(&fixture), 0);
    fixture_stop(&fixture);
}

/* A list that changes and changes back is not told, but to whoever has seen it in between. */
static void test_seen_in_between(void **state)
{
    puppet git = {.tools = "[" TOOL("x") "]"};
    (void)state;
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "git", &git, false);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    assert_int_equal(enable(&fixture, "git", &done), HUB_OK);
    assert_contains(client_list(c, "1"), "git__x");
    assert_int_equal(disable(&fixture, "git", &done), HUB_OK);
    fixture_settle(&fixture);
    assert_int_equal(client_count(c, LIST_CHANGED), 1); /* it would wait for git__x for ever */
    assert_int_equal(enable(&fixture, "git", &done), HUB_OK);
    assert_int_equal(disable(&fixture, "git", &done), HUB_OK);
    fixture_settle(&fixture);
    assert_int_equal(client_count(c, LIST_CHANGED), 1);
    fixture_stop(&fixture);
}

/* A toolset that hides behind a filter changes nothing that clients see. */
static void test_hidden_change(void **state)
{
    static const char *const HIDE[] = {"up:*"};
    hub_filter_rule rule = {HUB_FILTER_DENY_TOOLS, {.items = HIDE, .count = 1, .set = true}};
    puppet up = {.tools = "[" TOOL("a") "]"};
    (void)state;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &up, true);
    fixture.settings.policy.filters = &rule;
    fixture.settings.policy.filter_count = 1;
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    set_tools(&up, "[" TOOL("b") "]");
    fixture_settle(&fixture);
    assert_int_equal(notifications(&fixture), 0);
    assert_lacks(client_list(c, "1"), "up__");
    assert_contains(client_ask(c, "2", "up__b", "{}"), "Unknown tool");
    fixture_stop(&fixture);
}

/* ---- each list by itself --------------------------------------------------------------------- */

#define RESOURCES_CHANGED "notifications/resources/list_changed"
#define PROMPTS_CHANGED   "notifications/prompts/list_changed"

static void set_list(puppet *master, uint32_t kind, const char *list)
{
    const puppet_instance *instance = master->latest;
    assert_int_equal(instance->catalog->set(instance->host, kind, puppet_str(list)), PATCHBAY_OK);
}

/* A change of one list is told as one of that list; templates are resources. */
static void test_topics(void **state)
{
    static const struct {
        uint32_t kind;
        const char *list;
        int topic;
    } CASES[] = {
        {PATCHBAY_TOOLS, "[" TOOL("a") "]", 0},
        {PATCHBAY_RESOURCES, "[{\"uri\":\"u:1\",\"name\":\"r\"}]", 1},
        {PATCHBAY_RESOURCE_TEMPLATES, "[{\"uriTemplate\":\"u:{a}\",\"name\":\"t\"}]", 1},
        {PATCHBAY_PROMPTS, "[{\"name\":\"p\"}]", 2},
    };
    static const char *const METHODS[] = {LIST_CHANGED, RESOURCES_CHANGED, PROMPTS_CHANGED};
    static const char *const WANTS[] = {"tools", "resources", "prompts"};
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        puppet up = {.tools = "[]", .resources = "[]", .prompts = "[]"};
        client *modern[3];
        fixture_init(&fixture);
        (void)fixture_toolset(&fixture, "up", &up, true);
        fixture_start(&fixture);
        client *legacy = client_open(&fixture, LEGACY);
        for (int topic = 0; topic < 3; topic++) {
            char params[64];
            modern[topic] = client_open(&fixture, MODERN);
            (void)snprintf(params, sizeof params, "\"notifications\":{\"%sListChanged\":true}",
                           WANTS[topic]);
            client_request(modern[topic], "7", "subscriptions/listen", params);
            assert_contains(modern[topic]->messages[0], params + 1);
        }
        set_list(&up, CASES[i].kind, CASES[i].list);
        set_list(&up, CASES[i].kind, CASES[i].list);
        fixture_settle(&fixture);
        for (int topic = 0; topic < 3; topic++) {
            bool is_told = topic == CASES[i].topic;
            assert_int_equal(client_count(legacy, METHODS[topic]), is_told);
            assert_int_equal(client_count(modern[topic], METHODS[topic]), is_told);
            assert_int_equal(modern[topic]->count, 1 + is_told);
            assert_int_equal(client_count(modern[topic], "subscriptionId\":7}}"), is_told);
        }
        fixture_stop(&fixture);
    }
}

/* Changes of several lists inside one window: one notification of each. */
static void test_all_at_once(void **state)
{
    puppet up = {.tools = "[]", .resources = "[]", .prompts = "[]"};
    puppet git = {.tools = "[" TOOL("x") "]"};
    (void)state;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &up, true);
    (void)add_inactive(&fixture, "git", &git, false);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    set_list(&up, PATCHBAY_PROMPTS, "[{\"name\":\"p\"}]");
    set_list(&up, PATCHBAY_RESOURCES, "[{\"uri\":\"u:1\",\"name\":\"r\"}]");
    set_list(&up, PATCHBAY_RESOURCE_TEMPLATES, "[{\"uriTemplate\":\"t:1\",\"name\":\"r\"}]");
    set_list(&up, PATCHBAY_PROMPTS, "[{\"name\":\"q\"}]");
    set_tools(&up, "[" TOOL("a") "]");
    fixture_settle(&fixture);
    assert_int_equal(client_count(c, "list_changed"), 3);
    assert_int_equal(notifications(&fixture), 1);
    set_list(&up, PATCHBAY_PROMPTS, "[{\"name\":\"r\"}]");
    set_list(&up, PATCHBAY_PROMPTS, "[{\"name\":\"q\"}]");    /* back again: nothing is told */
    assert_int_equal(enable(&fixture, "git", &done), HUB_OK); /* ends the window */
    fixture_settle(&fixture);
    assert_int_equal(client_count(c, "list_changed"), 4);
    assert_int_equal(client_count(c, PROMPTS_CHANGED), 1);
    fixture_stop(&fixture);
}

/* 2025-11-25 basic/lifecycle, Operation: a legacy client hears of what was announced to it. */
static void test_announced(void **state)
{
    puppet git = {.tools = "[" TOOL("x") "]", .prompts = "[{\"name\":\"p\"}]"};
    (void)state;
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "git", &git, false);
    fixture_start(&fixture);
    client *before = client_open(&fixture, LEGACY);
    assert_int_equal(enable(&fixture, "git", &done), HUB_OK);
    fixture_settle(&fixture);
    client *after = client_open(&fixture, LEGACY);
    assert_int_equal(client_count(before, LIST_CHANGED), 1);
    assert_int_equal(client_count(before, "list_changed"), 1);
    set_list(&git, PATCHBAY_PROMPTS, "[{\"name\":\"q\"}]");
    set_list(&git, PATCHBAY_RESOURCES, "[{\"uri\":\"u:1\",\"name\":\"r\"}]");
    assert_int_equal(disable(&fixture, "git", &done), HUB_OK); /* ends the window */
    fixture_settle(&fixture);
    assert_int_equal(client_count(before, LIST_CHANGED), 2);
    assert_int_equal(client_count(before, "list_changed"), 2);
    assert_int_equal(client_count(after, LIST_CHANGED), 1);
    assert_int_equal(client_count(after, PROMPTS_CHANGED), 1);
    assert_int_equal(client_count(after, "list_changed"), 2);
    fixture_stop(&fixture);
}

/* ---- each revision by itself ------------------------------------------------------------------ */

#define TOOL_WITH(name, more)                                                                      \
    "{\"name\":\"" name "\"," more "\"inputSchema\":{\"type\":\"object\"}}"
#define NEWER(name) /* 2026-07-28 alone allows such a property */                                  \
    "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":true}}}"

/* A client hears of a change when the list of its own revision is another one. */
static void test_revisions(void **state)
{
    static const struct {
        const char *list;
        size_t legacy;
        size_t modern;
    } CASES[] = {
        {"[" TOOL("a") "," NEWER("b") "]", 0, 1},
        {"[" TOOL("a") "," NEWER("b") "," TOOL("c") "]", 1, 1},
        {"[" TOOL("a") "," NEWER("c") "]", 1, 1}, /* of what both know, another one is gone */
        {"[" TOOL("a") "," TOOL("c") "]", 1, 1},
        {"[" TOOL("a") "," TOOL_WITH("c", "\"outputSchema\":{\"type\":\"array\"},") "]", 0, 1},
        {"[" TOOL("a") "," TOOL_WITH("c", "\"outputSchema\":{\"type\":\"null\"},") "]", 0, 1},
        {"[" TOOL("a") "," TOOL("c") "]", 0, 1},
    };
    puppet up = {.tools = "[" TOOL("a") "]"};
    (void)state;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &up, true);
    fixture_start(&fixture);
    client *legacy = client_open(&fixture, LEGACY);
    client *modern = client_open(&fixture, MODERN);
    client_request(modern, "7", "subscriptions/listen",
                   "\"notifications\":{\"toolsListChanged\":true}");
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        size_t before[] = {client_count(legacy, LIST_CHANGED), client_count(modern, LIST_CHANGED)};
        set_tools(&up, CASES[i].list);
        hub_notifier_changed(hub_notifier_of(hub_profile_audience(fixture_profile(&fixture))),
                             true);
        fixture_settle(&fixture);
        assert_int_equal(client_count(legacy, LIST_CHANGED) - before[0], CASES[i].legacy);
        assert_int_equal(client_count(modern, LIST_CHANGED) - before[1], CASES[i].modern);
    }
    fixture_stop(&fixture);
}

/* Given another list within the window that then is the old one again: told, in that revision. */
static void test_seen_revision(void **state)
{
    puppet up = {.tools = "[" TOOL("a") "]"};
    (void)state;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &up, true);
    fixture_start(&fixture);
    client *legacy = client_open(&fixture, LEGACY);
    client *modern = client_open(&fixture, MODERN);
    client_request(modern, "7", "subscriptions/listen",
                   "\"notifications\":{\"toolsListChanged\":true}");
    set_tools(&up, "[" TOOL("a") "," NEWER("b") "]");
    assert_contains(client_list(modern, "8"), "up__b");
    assert_lacks(client_list(legacy, "9"), "up__b");
    set_tools(&up, "[" TOOL("a") "]");
    fixture_settle(&fixture);
    assert_int_equal(client_count(legacy, LIST_CHANGED), 0);
    assert_int_equal(client_count(modern, LIST_CHANGED), 1);
    fixture_stop(&fixture);
}

static void spend(uint64_t ms)
{
    uint64_t over_ms = hub_clock_now_ms() + ms;
    while (hub_clock_now_ms() < over_ms) {
    }
}

/* The window is open for its whole time, also when the turn of the loop that opens it has taken long. */
static void test_window_after_a_long_turn(void **state)
{
    puppet git = {.tools = "[" TOOL("x") "]"};
    (void)state;
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "git", &git, false);
    fixture_start(&fixture);
    ev_now_update(fixture.loop);
    spend(3 * HUB_LIMIT_NOTIFY_WINDOW_MS);
    uint64_t open_ms = hub_clock_now_ms();
    assert_int_equal(enable(&fixture, "git", &done), HUB_OK);
    (void)ev_run(fixture.loop, EVRUN_NOWAIT);
    if (hub_clock_now_ms() < open_ms + HUB_LIMIT_NOTIFY_WINDOW_MS) { /* or the machine is busy */
        assert_int_equal(notifications(&fixture), 0);
    }
    fixture_settle(&fixture);
    assert_int_equal(notifications(&fixture), 1);
    fixture_stop(&fixture);
}

static void on_over(struct ev_loop *loop, ev_timer *timer, int events)
{
    hub_notifier *notifier = timer->data;
    (void)loop;
    (void)events;
    hub_notifier_hold(notifier);
    hub_notifier_let_go(notifier);
}

/* A reload that begins and ends in the very turn of the loop in which a window is over takes nothing away. */
static void test_held_when_due(void **state)
{
    puppet git = {.tools = "[" TOOL("x") "]"};
    ev_timer over;
    (void)state;
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "git", &git, false);
    fixture_start(&fixture);
    ev_timer_init(&over, on_over, 0., 0.);
    over.data = hub_notifier_of(hub_profile_audience(fixture_profile(&fixture)));
    assert_int_equal(enable(&fixture, "git", &done), HUB_OK);
    hub_loop_start_timer(fixture.loop, &over,
                         0.);              /* the younger timer, and the first that is over */
    spend(2 * HUB_LIMIT_NOTIFY_WINDOW_MS); /* both are over */
    fixture_settle(&fixture);
    assert_int_equal(notifications(&fixture), 1);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_storm),
        cmocka_unit_test(test_native_storm),
        cmocka_unit_test(test_user_does_not_wait),
        cmocka_unit_test(test_last_change_is_told),
        cmocka_unit_test(test_same_content),
        cmocka_unit_test(test_seen_in_between),
        cmocka_unit_test(test_hidden_change),
        cmocka_unit_test(test_topics),
        cmocka_unit_test(test_all_at_once),
        cmocka_unit_test(test_announced),
        cmocka_unit_test(test_revisions),
        cmocka_unit_test(test_seen_revision),
        cmocka_unit_test(test_window_after_a_long_turn),
        cmocka_unit_test(test_held_when_due),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
