/* SPDX-License-Identifier: Apache-2.0 */
/* DynamicToolManager with toolsets that take their time: the lock, the queue, time-outs. */
#include "manager_support.h"

#include <patchbay/catalog.h>

static hub_fixture fixture;
static outcome first;
static outcome second;

/* An upstream that gives its catalog when told. */
typedef struct slow {
    puppet master;
    puppet_instance *instance;
    patchbay_call asked; /* id 0: not asked */
    unsigned times_asked;
    unsigned times_cancelled;
    bool is_now; /* it was asked for somebody who named it */
} slow;

static void on_slow_call(puppet_instance *instance, patchbay_call call,
                         const patchbay_request *request)
{
    slow *s = instance->puppet->ctx;
    if (hub_str_is(request->method, PATCHBAY_METHOD_DISCOVER)) {
        s->instance = instance;
        s->asked = call;
        s->times_asked++;
        s->is_now =
            hub_json_type_of(hub_json_get(request->params_json, HUB_STR("now"))) == HUB_JSON_TRUE;
    } else {
        (void)puppet_finish(instance, call, "{\"content\":[]}");
    }
}

static void on_slow_cancel(puppet_instance *instance, patchbay_call call)
{
    slow *s = instance->puppet->ctx;
    s->times_cancelled += call.id == s->asked.id;
}

static void init_slow(slow *s)
{
    *s = (slow){.master = {.defers = 1, .on_call = on_slow_call, .on_cancel = on_slow_cancel}};
    s->master.ctx = s;
}

static void give_catalog(slow *s, const char *tools)
{
    assert_int_not_equal(s->asked.id, 0);
    assert_int_equal(s->instance->api->set_tools(s->instance->host, puppet_str(tools)),
                     PATCHBAY_OK);
    (void)puppet_finish(s->instance, s->asked, "{}");
}

static void refuse_catalog(slow *s, const char *reason)
{
    (void)s->instance->api->finish(s->instance->host, s->asked, PATCHBAY_UNAVAILABLE,
                                   puppet_str(reason));
}

static hub_err start_one(hub_fixture *f, outcome *o, const char *key)
{
    hub_str name = hub_str_of(key);
    hub_error why = {.text = ""};
    hub_err err = start_enabling(f, o, &name, 1, &why);
    if (err == HUB_EBUSY) {
        assert_contains(why.text, "registration operation in progress");
    }
    return err;
}

/* S3.70, S3.71, S3.72: a second enable is refused, a disable waits; then the lock is open again. */
static void test_lock(void **state)
{
    slow up;
    puppet git = {.tools = "[" TOOL("x") "]"};
    hub_str key = HUB_STR("git");
    (void)state;
    init_slow(&up);
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "git", &git, false);
    (void)add_inactive(&fixture, "up", &up.master, true);
    fixture_start(&fixture);
    assert_int_equal(start_one(&fixture, &first, "up"), HUB_OK);
    assert_int_equal(first.times, 0);
    assert_false(is_active(&fixture, "up"));
    assert_int_equal(start_one(&fixture, &second, "git"), HUB_EBUSY);
    assert_int_equal(start_one(&fixture, &second, "up"), HUB_EBUSY);
    assert_int_equal(start_disabling(&fixture, &second, &key, 1), HUB_OK);
    assert_int_equal(second.times, 0); /* it waits its turn */
    assert_true(is_active(&fixture, "git"));
    give_catalog(&up, "[" TOOL("a") "," TOOL("b") "]");
    assert_int_equal(first.times, 1);
    assert_int_equal(first.results[0].err, HUB_OK);
    assert_int_equal(first.results[0].tool_count, 2);
    assert_int_equal(second.times, 1);
    assert_int_equal(second.results[0].err, HUB_OK);
    assert_true(has_tool(&fixture, "up__a"));
    assert_false(is_active(&fixture, "git"));
    assert_int_equal(start_one(&fixture, &first, "git"), HUB_OK);
    assert_int_equal(first.times, 1);
    fixture_settle(&fixture);
    assert_int_equal(notifications(&fixture), 1); /* all of it in one window */
    fixture_stop(&fixture);
}

/* Disables keep their order, and one may undo the very enable it waited for. */
static void test_disables_in_order(void **state)
{
    slow up;
    hub_str key = HUB_STR("up");
    outcome third;
    (void)state;
    init_slow(&up);
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "up", &up.master, true);
    fixture_start(&fixture);
    assert_int_equal(start_one(&fixture, &first, "up"), HUB_OK);
    assert_int_equal(start_disabling(&fixture, &second, &key, 1), HUB_OK);
    assert_int_equal(start_disabling(&fixture, &third, &key, 1), HUB_OK);
    give_catalog(&up, "[" TOOL("a") "]");
    assert_int_equal(first.results[0].err, HUB_OK);
    assert_int_equal(second.results[0].err, HUB_OK);
    assert_int_equal(third.results[0].err, HUB_OK);
    assert_true(third.results[0].is_unchanged);
    assert_false(is_active(&fixture, "up"));
    fixture_stop(&fixture);
}

static bool is_told_twice(void *ctx)
{
    return client_count(ctx, LIST_CHANGED) == 2;
}

/* DESIGN, Exposure, amended: who cannot be reached is wanted: active, told why, tried again, and there
 * with its tools when it comes; the lock is open (S3.72). */
static void test_wanted(void **state)
{
    slow up;
    slow other;
    hub_str batch[] = {HUB_STR("up"), HUB_STR("other")};
    (void)state;
    init_slow(&up);
    init_slow(&other);
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "up", &up.master, true);
    (void)add_inactive(&fixture, "other", &other.master, true);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    assert_int_equal(start_enabling(&fixture, &first, batch, 2, NULL), HUB_OK);
    refuse_catalog(&up, "no such command");
    assert_int_equal(first.times, 0); /* the other one is still awaited */
    give_catalog(&other, "[" TOOL("a") "]");
    assert_int_equal(first.times, 1);
    assert_int_equal(first.results[0].err, HUB_OK);
    assert_true(first.results[0].is_down);
    assert_string_equal(first.results[0].why.text, "no such command");
    assert_int_equal(first.results[1].err, HUB_OK);
    assert_false(first.results[1].is_down);
    assert_true(is_active(&fixture, "up"));
    assert_int_equal(up.master.destroys, 0);
    assert_true(fixture_logged(&fixture, "toolset.wanted"));
    fixture_settle(&fixture);
    assert_int_equal(client_count(c, LIST_CHANGED), 1); /* of the other one */
    assert_int_equal(up.instance->api->set_tools(up.instance->host, puppet_str("[" TOOL("b") "]")),
                     PATCHBAY_OK); /* it comes by itself */
    assert_true(has_tool(&fixture, "up__b"));
    fixture_run_until(&fixture, is_told_twice, c);
    fixture_stop(&fixture);
}

/* Enabling what is active and has failed tries it at once, whether or not its tools are known. */
static void test_tried_now(void **state)
{
    slow up;
    (void)state;
    init_slow(&up);
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "up", &up.master, true);
    fixture_start(&fixture);
    assert_int_equal(start_one(&fixture, &first, "up"), HUB_OK);
    refuse_catalog(&up, "no such command");
    assert_true(first.results[0].is_down);
    for (unsigned turn = 0; turn < 2; turn++) {
        unsigned asked = up.times_asked;
        assert_int_equal(start_one(&fixture, &first, "up"), HUB_OK);
        assert_int_equal(first.times, 0);
        assert_int_equal(up.times_asked, asked + 1);
        assert_true(up.is_now);
        refuse_catalog(&up, "still no such command");
        assert_int_equal(first.results[0].err, HUB_OK);
        assert_true(first.results[0].is_down);
        assert_true(first.results[0].is_unchanged);
        assert_contains(first.results[0].why.text, "still no such command");
        assert_int_equal(start_one(&fixture, &first, "up"), HUB_OK);
        up.instance->catalog->set_state(up.instance->host, PATCHBAY_STATE_READY, puppet_str(""));
        give_catalog(&up, "[" TOOL("a") "]");
        assert_int_equal(first.results[0].err, HUB_OK);
        assert_false(first.results[0].is_down);
        assert_int_equal(first.results[0].tool_count, 1);
        asked = up.times_asked;
        assert_int_equal(start_one(&fixture, &first, "up"), HUB_OK); /* it is well */
        assert_int_equal(first.times, 1);
        assert_int_equal(up.times_asked, asked);
        up.instance->catalog->set_state(up.instance->host, PATCHBAY_STATE_FAILED,
                                        puppet_str("it died"));
    }
    assert_true(has_tool(&fixture, "up__a")); /* its last good list stays */
    assert_int_equal(up.master.creates, 1);
    fixture_stop(&fixture);
}

/* One that is active and still starting is awaited, not asked twice. */
static void test_enabled_while_starting(void **state)
{
    slow up;
    (void)state;
    init_slow(&up);
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &up.master, true);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    assert_int_equal(up.times_asked, 1);
    assert_int_equal(start_one(&fixture, &first, "up"), HUB_OK);
    assert_int_equal(first.times, 0);
    assert_int_equal(up.times_asked, 1);
    give_catalog(&up, "[" TOOL("a") "]");
    assert_true(first.results[0].is_unchanged);
    assert_int_equal(first.results[0].tool_count, 1);
    fixture_stop(&fixture);
}

/* What cannot be reached gives its place to those of the batch that had none, and gets what is left;
 * who has a place keeps it. */
static void test_places_of_a_batch(void **state)
{
    static const struct {
        unsigned max_active;
        hub_err errs[4]; /* of dead, worse, good, better */
        unsigned good_asked;
        unsigned better_asked;
    } CASES[] = {
        {1, {HUB_ELIMIT, HUB_ELIMIT, HUB_OK, HUB_ELIMIT}, 1, 0},
        {2, {HUB_ELIMIT, HUB_ELIMIT, HUB_OK, HUB_OK}, 1, 1},
        {3, {HUB_OK, HUB_ELIMIT, HUB_OK, HUB_OK}, 1, 1},
        {4, {HUB_OK, HUB_OK, HUB_OK, HUB_OK}, 1, 1},
    };
    static const char *const KEYS[] = {"dead", "worse", "good", "better"};
    hub_str batch[] = {HUB_STR("dead"), HUB_STR("worse"), HUB_STR("good"), HUB_STR("better")};
    (void)state;
    for (size_t at = 0; at < sizeof CASES / sizeof CASES[0]; at++) {
        slow servers[4];
        fixture_init(&fixture);
        for (size_t i = 0; i < 4; i++) {
            init_slow(&servers[i]);
            (void)add_inactive(&fixture, KEYS[i], &servers[i].master, true);
        }
        fixture.settings.policy.max_active = CASES[at].max_active;
        fixture_start(&fixture);
        assert_int_equal(start_enabling(&fixture, &first, batch, 4, NULL), HUB_OK);
        for (unsigned turn = 0; first.times == 0; turn++) {
            slow *next = &servers[turn % 4];
            assert_true(turn < 16);
            if (next->asked.id != 0 && turn % 4 < 2) {
                refuse_catalog(next, "no such command");
            } else if (next->asked.id != 0) {
                give_catalog(next, "[" TOOL("a") "]");
            }
            next->asked.id = 0;
        }
        size_t active = 0;
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(first.results[i].err, CASES[at].errs[i]);
            assert_int_equal(is_active(&fixture, KEYS[i]), first.results[i].err == HUB_OK);
            assert_int_equal(first.results[i].is_down, first.results[i].err == HUB_OK && i < 2);
            active += is_active(&fixture, KEYS[i]);
        }
        assert_int_equal(active, CASES[at].max_active);
        assert_int_equal(servers[2].times_asked, CASES[at].good_asked);
        assert_int_equal(servers[3].times_asked, CASES[at].better_asked);
        if (CASES[at].max_active < 3) {
            assert_contains(first.results[0].why.text, "no such command");
            assert_contains(first.results[0].why.text, "max_active");
        }
        fixture_stop(&fixture);
    }
}

static bool is_told(void *ctx)
{
    const outcome *o = ctx;
    return o->times > 0;
}

/* S1.18: an upstream that takes too long is active without tools; they appear when it answers. */
static void test_times_out_while_starting(void **state)
{
    slow up;
    (void)state;
    init_slow(&up);
    fixture_init(&fixture);
    fixture.settings.limits.discover_timeout_ms = 10;
    (void)add_inactive(&fixture, "up", &up.master, true);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    assert_int_equal(start_one(&fixture, &first, "up"), HUB_OK);
    fixture_run_until(&fixture, is_told, &first);
    assert_int_equal(first.results[0].err, HUB_OK);
    assert_true(first.results[0].is_starting);
    assert_int_equal(first.results[0].tool_count, 0);
    assert_true(is_active(&fixture, "up"));
    assert_int_equal(up.times_cancelled, 0); /* it may go on starting */
    assert_int_equal(up.master.destroys, 0);
    give_catalog(&up, "[" TOOL("late") "]");
    assert_true(has_tool(&fixture, "up__late"));
    fixture_settle(&fixture);
    assert_int_equal(client_count(c, LIST_CHANGED), 1);
    assert_int_equal(up.times_asked, 1);
    fixture_stop(&fixture);
}

/* Two profiles enable the same upstream: asked once, both told, each with its own lock. */
static void test_two_profiles_wait(void **state)
{
    slow up;
    hub_str key = HUB_STR("up");
    (void)state;
    init_slow(&up);
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "up", &up.master, true);
    fixture.profiles[1] = fixture.profiles[0];
    fixture.profiles[1].name = "second";
    fixture.settings.profile_count = 2;
    fixture_start(&fixture);
    hub_manager *other =
        hub_manager_of(hub_profile_audience(hub_find_profile(fixture.hub, "second")));
    assert_int_equal(start_one(&fixture, &first, "up"), HUB_OK);
    memset(&second, 0, sizeof second);
    assert_int_equal(hub_manager_enable(other, &key, 1, HUB_STR_EMPTY, keep_outcome, &second, NULL),
                     HUB_OK);
    assert_int_equal(up.times_asked, 1);
    give_catalog(&up, "[" TOOL("a") "]");
    assert_int_equal(first.times, 1);
    assert_int_equal(second.times, 1);
    assert_int_equal(up.master.creates, 1);
    fixture_stop(&fixture);
}

/* An upstream that has answered before need not be asked again; its catalog is kept. */
static void test_catalog_is_kept(void **state)
{
    slow up;
    outcome o;
    (void)state;
    init_slow(&up);
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "up", &up.master, true);
    fixture_start(&fixture);
    assert_int_equal(start_one(&fixture, &first, "up"), HUB_OK);
    give_catalog(&up, "[" TOOL("a") "]");
    assert_int_equal(disable(&fixture, "up", &o), HUB_OK);
    assert_int_equal(enable(&fixture, "up", &o), HUB_OK);
    assert_int_equal(up.times_asked, 1);
    assert_true(has_tool(&fixture, "up__a"));
    fixture_stop(&fixture);
}

/* An answer without a catalog: there are no tools, and nobody waits for any. */
static void test_answers_without_catalog(void **state)
{
    slow up;
    (void)state;
    init_slow(&up);
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "up", &up.master, true);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    assert_int_equal(start_one(&fixture, &first, "up"), HUB_OK);
    (void)puppet_finish(up.instance, up.asked, "{}");
    assert_int_equal(first.results[0].err, HUB_OK);
    client_request(c, "1", "tools/list", "");
    assert_non_null(client_reply(c, "1")); /* at once */
    assert_int_equal(up.times_asked, 1);
    fixture_stop(&fixture);
}

/* Taken down in the middle: the operations end, what they hold is given back. */
static void test_taken_down(void **state)
{
    slow up;
    puppet git = {.tools = "[" TOOL("x") "]"};
    hub_str batch[] = {HUB_STR("git"), HUB_STR("up")};
    hub_str key = HUB_STR("git");
    (void)state;
    init_slow(&up);
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "git", &git, false);
    (void)add_inactive(&fixture, "up", &up.master, true);
    fixture_start(&fixture);
    assert_int_equal(start_enabling(&fixture, &first, batch, 2, NULL), HUB_OK);
    assert_int_equal(start_disabling(&fixture, &second, &key, 1), HUB_OK);
    fixture_stop(&fixture);
    assert_int_equal(first.times, 1);
    assert_int_equal(first.results[0].err, HUB_ESTATE);
    assert_int_equal(second.times, 1);
    assert_int_equal(second.results[0].err, HUB_ESTATE);
    assert_int_equal(git.destroys, 1);
    assert_int_equal(up.master.destroys, 1);
    assert_int_equal(up.times_cancelled, 1);
}

/* The same through the meta-tool, whose client has gone: nobody to tell, nothing left behind. */
static void test_client_goes_meanwhile(void **state)
{
    slow up;
    (void)state;
    init_slow(&up);
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "up", &up.master, true);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client *d = client_open(&fixture, LEGACY);
    client_call(c, "1", "enable_toolset", "{\"toolset\":\"up\"}");
    client_call(d, "1", "disable_toolset", "{\"toolset\":\"up\"}");
    assert_contains(client_ask(d, "2", "enable_toolset", "{\"toolset\":\"up\"}"),
                    "operation in progress");
    client_cancel(d, "1");
    client_close(c);
    give_catalog(&up, "[" TOOL("a") "]");
    assert_false(is_active(&fixture, "up")); /* enabled, then disabled: the changes stand */
    assert_null(client_reply(d, "1"));
    client_call(d, "3", "enable_toolset", "{\"toolset\":\"up\"}");
    assert_non_null(client_reply(d, "3"));
    fixture_stop(&fixture);
}

/* The limit holds although another toolset became active while this one was awaited. */
static void test_policy_is_asked_again(void **state)
{
    slow up;
    puppet git = {.tools = "[" TOOL("x") "]"};
    (void)state;
    init_slow(&up);
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "up", &up.master, true);
    (void)add_inactive(&fixture, "git", &git, false);
    fixture.settings.policy.max_active = 1;
    fixture_start(&fixture);
    assert_int_equal(start_one(&fixture, &first, "up"), HUB_OK);
    hub_str key = HUB_STR("git");
    assert_int_equal(
        hub_manager_activate(hub_manager_of(hub_profile_audience(fixture_profile(&fixture))), &key,
                             1, keep_outcome, &second, NULL),
        HUB_OK);
    give_catalog(&up, "[" TOOL("a") "]");
    assert_int_equal(first.results[0].err, HUB_ELIMIT);
    assert_int_equal(
        hub_manager_active_count(hub_manager_of(hub_profile_audience(fixture_profile(&fixture)))),
        1);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lock),
        cmocka_unit_test(test_disables_in_order),
        cmocka_unit_test(test_wanted),
        cmocka_unit_test(test_tried_now),
        cmocka_unit_test(test_enabled_while_starting),
        cmocka_unit_test(test_places_of_a_batch),
        cmocka_unit_test(test_times_out_while_starting),
        cmocka_unit_test(test_two_profiles_wait),
        cmocka_unit_test(test_catalog_is_kept),
        cmocka_unit_test(test_answers_without_catalog),
        cmocka_unit_test(test_taken_down),
        cmocka_unit_test(test_client_goes_meanwhile),
        cmocka_unit_test(test_policy_is_asked_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
