/* SPDX-License-Identifier: Apache-2.0 */
/* Choices: a selection of tools is shown instead of what is enabled, for as long as it is chosen. */
#include "count_allocated.h"
#include "manager_support.h"

#include "hub/active/choice.h"
#include "tools/definition_digest.h"

enum { CYCLES = 10000, WARM_UP = 200 };

static hub_fixture fixture;
static outcome done;

typedef struct chosen {
    unsigned times;
    hub_err err;
    char why[512];
    size_t count;
    hub_manager_result toolsets[MAX_RESULTS];
} chosen;

static chosen first;
static chosen second;

static void keep_chosen(void *ctx, const hub_choice_outcome *made)
{
    chosen *c = ctx;
    assert_true(made->count <= MAX_RESULTS);
    c->times++;
    c->err = made->err;
    (void)snprintf(c->why, sizeof c->why, "%s", made->why);
    c->count = made->count;
    memcpy(c->toolsets, made->toolsets, made->count * sizeof c->toolsets[0]);
}

static hub_manager *manager(void)
{
    return hub_manager_of(hub_profile_audience(fixture_profile(&fixture)));
}

/* Of ids "toolset:tool". */
static hub_selection *select_tools(const char *const *ids, size_t count)
{
    hub_selected items[8];
    hub_selection *made = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *colon = strchr(ids[i], ':');
        items[i] = (hub_selected){.toolset = hub_str_between(ids[i], colon),
                                  .tool = hub_str_of(colon + 1)};
    }
    assert_int_equal(hub_selection_create(items, count, &made), HUB_OK);
    return made;
}

static hub_err choose(chosen *c, const char *const *ids, size_t count)
{
    hub_selection *selection = select_tools(ids, count);
    hub_error why = {.text = ""};
    memset(c, 0, sizeof *c);
    hub_err err = hub_choice_make(manager(), selection, HUB_STR_EMPTY, keep_chosen, c, &why);
    if (err != HUB_OK) {
        (void)snprintf(c->why, sizeof c->why, "%s", why.text);
    }
    hub_selection_unref(selection);
    return err;
}

static void end(chosen *c)
{
    memset(c, 0, sizeof *c);
    assert_int_equal(hub_choice_end(manager(), HUB_STR_EMPTY, keep_chosen, c, NULL), HUB_OK);
}

static void assert_shown(const char *exposed, bool is)
{
    if (has_tool(&fixture, exposed) != is) {
        fail_msg("%s is%s shown", exposed, is ? " not" : "");
    }
}

static const char *const ESSENTIALS[] = {"git:status", "git:commit", "docker:ps", "linear:create"};

/* git and docker are enabled, linear and extra are not. */
static void start_four(puppet puppets[4])
{
    static const char *const KEYS[] = {"git", "docker", "linear", "extra"};
    puppets[0] = (puppet){.tools = "[" TOOL("status") "," TOOL("commit") "," TOOL("log") "]",
                          .prompts = "[{\"name\":\"hello\"}]"};
    puppets[1] = (puppet){.tools = "[" TOOL("ps") "," TOOL("rm") "]"};
    puppets[2] = (puppet){.tools = "[" TOOL("create") "," TOOL("drop") "]"};
    puppets[3] = (puppet){.tools = "[" TOOL("more") "]"};
    fixture_init(&fixture);
    for (size_t i = 0; i < 4; i++) {
        fixture_toolset(&fixture, KEYS[i], &puppets[i], false)->active = i < 2;
    }
}

/* S3.51 to S3.58, S3.73, S3.80, S3.83: the tools of the selection, and the hub's own; then what was
 * there before. */
static void test_choose(void **state)
{
    puppet puppets[4];
    (void)state;
    start_four(puppets);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    (void)client_list(c, "1");
    assert_int_equal(choose(&first, ESSENTIALS, 4), HUB_OK);
    assert_int_equal(first.times, 1);
    assert_int_equal(first.err, HUB_OK);
    assert_int_equal(first.count, 3);
    assert_int_equal(first.toolsets[1].tool_count, 2); /* docker, git, linear */
    assert_shown("git__status", true);
    assert_shown("git__log", false);
    assert_shown("docker__ps", true);
    assert_shown("docker__rm", false);
    assert_shown("linear__create", true);
    assert_shown("list_toolsets", true);
    fixture_settle(&fixture);
    assert_int_equal(notifications(&fixture), 1);
    assert_contains(client_ask(c, "2", "linear__create", "{}"), "\"content\":[]");
    assert_contains(client_ask(c, "3", "git__log", "{}"), "Unknown tool: git__log");
    assert_int_equal(hub_manager_active_count(manager()), 3);
    end(&second);
    assert_int_equal(second.times, 1);
    assert_int_equal(second.err, HUB_OK);
    assert_shown("git__log", true);
    assert_shown("docker__rm", true);
    assert_shown("linear__create", false);
    assert_null(hub_choice_of(manager()));
    assert_int_equal(hub_manager_active_count(manager()), 2);
    fixture_settle(&fixture);
    assert_int_equal(notifications(&fixture), 2);
    assert_int_equal(puppets[0].creates, 1); /* it was in use all the time */
    assert_int_equal(puppets[2].destroys, 1);
    assert_int_equal(puppets[3].creates, 0);
    end(&second); /* twice is once */
    assert_int_equal(second.err, HUB_OK);
    fixture_stop(&fixture);
}

/* DESIGN, Enable and equip: what is enabled meanwhile is kept, and shown afterwards. */
static void test_kept(void **state)
{
    static const char *const ONLY[] = {"linear:create"};
    puppet puppets[4];
    size_t count;
    (void)state;
    start_four(puppets);
    fixture_start(&fixture);
    assert_int_equal(choose(&first, ONLY, 1), HUB_OK);
    fixture_spin(&fixture, 1);
    assert_int_equal(puppets[0].destroys, 1); /* nobody uses it now */
    assert_int_equal(enable(&fixture, "extra", &done), HUB_OK);
    assert_true(done.results[0].is_kept);
    assert_false(done.results[0].is_unchanged);
    assert_shown("extra__more", false);
    assert_int_equal(disable(&fixture, "docker", &done), HUB_OK);
    assert_true(done.results[0].is_kept);
    assert_int_equal(enable(&fixture, "git", &done), HUB_OK);
    assert_true(done.results[0].is_unchanged);
    assert_int_equal(enable(&fixture, "nobody", &done), HUB_ENOTFOUND);
    const char *const *kept = hub_choice_kept(manager(), &count);
    assert_int_equal(count, 2);
    assert_string_equal(kept[0], "git");
    assert_string_equal(kept[1], "extra");
    assert_int_equal(choose(&first, ESSENTIALS, 4), HUB_OK); /* another one; the same is kept */
    assert_shown("docker__ps", true);
    end(&second);
    assert_shown("git__log", true);
    assert_shown("extra__more", true);
    assert_shown("docker__ps", false);
    fixture_stop(&fixture);
}

/* S3.69: when one toolset cannot be made, nothing changes, and nobody is told. */
static void test_rollback(void **state)
{
    puppet puppets[4];
    (void)state;
    start_four(puppets);
    puppets[2].broken = "no token";
    fixture_start(&fixture);
    assert_int_equal(choose(&first, ESSENTIALS, 4), HUB_OK);
    assert_int_equal(first.times, 1);
    assert_int_not_equal(first.err, HUB_OK);
    assert_contains(first.why, "no token");
    assert_shown("git__log", true);
    assert_shown("linear__create", false);
    assert_null(hub_choice_of(manager()));
    fixture_settle(&fixture);
    assert_int_equal(notifications(&fixture), 0);
    puppets[2].broken = NULL;
    assert_int_equal(choose(&first, ESSENTIALS, 4), HUB_OK); /* S3.72: the lock is open */
    assert_int_equal(first.err, HUB_OK);
    fixture_stop(&fixture);
}

/* max_active is counted over the toolsets that a choice draws on, and refuses it as a whole. */
static void test_max_active(void **state)
{
    static const char *const TWO[] = {"linear:create", "extra:more"};
    puppet puppets[4];
    (void)state;
    start_four(puppets);
    fixture.settings.policy.max_active = 2;
    fixture_start(&fixture);
    assert_int_equal(choose(&first, ESSENTIALS, 4), HUB_OK);
    assert_int_equal(first.err, HUB_ELIMIT);
    assert_shown("git__log", true);
    assert_int_equal(choose(&first, TWO, 2), HUB_OK);
    assert_int_equal(first.err, HUB_OK);
    assert_shown("extra__more", true);
    assert_shown("git__log", false);
    fixture_stop(&fixture);
}

/* What is not there has nothing to show; when nothing is there, nothing is chosen. */
static void test_missing(void **state)
{
    static const char *const SOME[] = {"git:status", "git:gone", "nobody:x"};
    static const char *const NONE[] = {"nobody:x"};
    puppet puppets[4];
    (void)state;
    start_four(puppets);
    fixture_start(&fixture);
    assert_int_equal(choose(&first, SOME, 3), HUB_OK);
    assert_int_equal(first.err, HUB_OK);
    assert_int_equal(first.count, 2);
    assert_int_equal(first.toolsets[1].err, HUB_ENOTFOUND);
    assert_shown("git__status", true);
    assert_int_equal(choose(&second, NONE, 1), HUB_OK);
    assert_int_equal(second.err, HUB_ENOTFOUND);
    assert_shown("git__status", true);
    fixture_stop(&fixture);
}

/* S3.90: a tool whose definition is another one than was meant is not shown; S3.15: nor when it
 * changes meanwhile. */
static void test_digest(void **state)
{
    puppet puppets[4];
    hub_selected meant = {.toolset = HUB_STR("git"), .tool = HUB_STR("status"), .has_digest = true};
    hub_selection *selection = NULL;
    (void)state;
    start_four(puppets);
    fixture_start(&fixture);
    assert_int_equal(hub_definition_digest(HUB_STR(TOOL("status")), meant.digest), HUB_OK);
    assert_int_equal(hub_selection_create(&meant, 1, &selection), HUB_OK);
    assert_int_equal(
        hub_choice_make(manager(), selection, HUB_STR_EMPTY, keep_chosen, &first, NULL), HUB_OK);
    hub_selection_unref(selection);
    assert_shown("git__status", true);
    puppet_instance *git = puppets[0].latest;
    assert_int_equal(
        git->api->set_tools(git->host, puppet_str("[{\"name\":\"status\",\"description\":\"x\","
                                                  "\"inputSchema\":{\"type\":\"object\"}}]")),
        PATCHBAY_OK);
    fixture_settle(&fixture);
    assert_shown("git__status", false);
    assert_int_equal(git->api->set_tools(git->host, puppet_str("[" TOOL("status") "]")),
                     PATCHBAY_OK);
    fixture_settle(&fixture);
    assert_shown("git__status", true);
    fixture_stop(&fixture);
}

static void on_slow_call(puppet_instance *instance, patchbay_call call,
                         const patchbay_request *request)
{
    if (hub_str_is(request->method, PATCHBAY_METHOD_DISCOVER)) {
        *(patchbay_call *)instance->puppet->ctx = call;
    } else {
        (void)puppet_finish(instance, call, "{\"content\":[]}");
    }
}

/* S3.70, S3.71, S3.72: one at a time; another is refused, and so is enabling; the end of it waits. */
static void test_lock(void **state)
{
    static const char *const ONLY[] = {"up:a"};
    patchbay_call asked = {.id = 0};
    puppet up = {.defers = 1, .on_call = on_slow_call, .ctx = &asked};
    puppet git = {.tools = "[" TOOL("x") "]"};
    hub_str key = HUB_STR("git");
    (void)state;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "git", &git, false);
    (void)add_inactive(&fixture, "up", &up, true);
    fixture_start(&fixture);
    assert_int_equal(choose(&first, ONLY, 1), HUB_OK);
    assert_int_equal(first.times, 0);
    assert_shown("git__x", true); /* until it is known */
    assert_int_equal(choose(&second, ONLY, 1), HUB_EBUSY);
    assert_contains(second.why, "operation in progress");
    assert_int_equal(start_enabling(&fixture, &done, &key, 1, NULL), HUB_EBUSY);
    end(&second);
    assert_int_equal(second.times, 0);
    assert_int_equal(
        up.latest->api->set_tools(up.latest->host, puppet_str("[" TOOL("a") "," TOOL("b") "]")),
        PATCHBAY_OK);
    (void)puppet_finish(up.latest, asked, "{}");
    assert_int_equal(first.times, 1);
    assert_int_equal(first.err, HUB_OK);
    assert_int_equal(second.times, 1);
    assert_shown("git__x", true);
    assert_shown("up__a", false);
    fixture_stop(&fixture);
}

/* S3.11, S3.19, S3.66 to S3.68, S3.82: a server that is down is no failure; its tools come with it. */
static void test_down(void **state)
{
    static const char *const BOTH[] = {"git:x", "up:a"};
    patchbay_call asked = {.id = 0};
    puppet up = {.defers = 1, .on_call = on_slow_call, .ctx = &asked};
    puppet git = {.tools = "[" TOOL("x") "]"};
    (void)state;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "git", &git, false);
    (void)add_inactive(&fixture, "up", &up, true);
    fixture_start(&fixture);
    assert_int_equal(choose(&first, BOTH, 2), HUB_OK);
    (void)up.latest->api->finish(up.latest->host, asked, PATCHBAY_UNAVAILABLE,
                                 puppet_str("no route"));
    assert_int_equal(first.times, 1);
    assert_int_equal(first.err, HUB_OK);
    assert_true(first.toolsets[1].is_down);
    assert_contains(first.toolsets[1].why.text, "no route");
    assert_shown("git__x", true);
    fixture_settle(&fixture);
    unsigned told = notifications(&fixture);
    assert_int_equal(
        up.latest->api->set_tools(up.latest->host, puppet_str("[" TOOL("a") "," TOOL("b") "]")),
        PATCHBAY_OK);
    assert_shown("up__a", true);
    assert_shown("up__b", false);
    fixture_settle(&fixture);
    assert_true(notifications(&fixture) >= told);
    fixture_stop(&fixture);
}

/* The audience of a principal that chooses is its own, and begins with what was chosen for all. */
static void test_audiences(void **state)
{
    static const char *const ONLY[] = {"git:log"};
    puppet puppets[4];
    hub_audience *own = NULL;
    (void)state;
    start_four(puppets);
    fixture_start(&fixture);
    assert_int_equal(choose(&first, ESSENTIALS, 4), HUB_OK);
    client *c = client_open(&fixture, LEGACY);
    assert_int_equal(hub_audience_of_choice(c->session, &own), HUB_OK);
    size_t count;
    (void)hub_choice_kept(hub_manager_of(own), &count);
    assert_int_equal(count, 2);
    assert_ptr_equal(hub_choice_of(hub_manager_of(own)), hub_choice_of(manager()));
    hub_selection *selection = select_tools(ONLY, 1);
    assert_int_equal(
        hub_choice_make(hub_manager_of(own), selection, HUB_STR_EMPTY, keep_chosen, &first, NULL),
        HUB_OK);
    hub_selection_unref(selection);
    assert_shown("git__status", true); /* of the profile's own */
    assert_contains(client_list(c, "2"), "git__log");
    assert_lacks(client_list(c, "3"), "git__status");
    memset(&second, 0, sizeof second);
    assert_int_equal(hub_choice_end(hub_manager_of(own), HUB_STR_EMPTY, keep_chosen, &second, NULL),
                     HUB_OK);
    assert_contains(client_list(c, "4"), "docker__rm");
    fixture_stop(&fixture);
}

/* At once, as at start: what cannot be used is left out, and clients are not told. */
static void test_now(void **state)
{
    puppet puppets[4];
    (void)state;
    start_four(puppets);
    puppets[2].broken = "no token";
    fixture_start(&fixture);
    hub_selection *selection = select_tools(ESSENTIALS, 4);
    hub_error why = {.text = ""};
    memset(&first, 0, sizeof first);
    assert_int_equal(hub_choice_make_now(manager(), selection, keep_chosen, &first, &why), HUB_OK);
    assert_int_equal(first.times, 1);
    assert_int_equal(first.err, HUB_OK);
    hub_selection_unref(selection);
    assert_shown("git__status", true);
    assert_shown("git__log", false);
    assert_true(fixture_logged(&fixture, "no token"));
    end(&second);
    assert_shown("git__log", true);
    fixture_stop(&fixture);
}

/* ---- for ever -------------------------------------------------------------------------------- */

static void cycle(void)
{
    assert_int_equal(choose(&first, ESSENTIALS, 4), HUB_OK);
    assert_int_equal(first.err, HUB_OK);
    end(&second);
    assert_int_equal(second.err, HUB_OK);
    fixture_spin(&fixture, 1); /* the instances end */
}

/* S3.86: after 10,000 cycles memory is exactly what it was. */
static void test_memory(void **state)
{
    puppet puppets[4];
    (void)state;
    start_four(puppets);
    fixture.settings.limits.worker_threads = 1; /* a busy machine starts no second one on the way */
    fixture_start(&fixture);
    hub_log_capture(NULL, NULL);
    hub_log_setup(HUB_LOG_OFF, false);
    for (int i = 0; i < WARM_UP; i++) {
        cycle();
    }
    fixture_settle(&fixture);
    size_t before = count_allocated();
    for (int i = 0; i < CYCLES; i++) {
        cycle();
    }
    fixture_settle(&fixture);
    assert_int_equal(count_allocated(), before);
    hub_log_setup(HUB_LOG_INFO, false);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choose),    cmocka_unit_test(test_kept),
        cmocka_unit_test(test_rollback),  cmocka_unit_test(test_max_active),
        cmocka_unit_test(test_missing),   cmocka_unit_test(test_digest),
        cmocka_unit_test(test_lock),      cmocka_unit_test(test_down),
        cmocka_unit_test(test_audiences), cmocka_unit_test(test_now),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
