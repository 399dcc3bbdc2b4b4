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
} slow;

static void on_slow_call(puppet_instance *instance, patchbay_call call,
                         const patchbay_request *request)
{
    slow *s = instance->puppet->ctx;
    if (hub_str_is(request->method, PATCHBAY_METHOD_DISCOVER)) {
        s->instance = instance;
        s->asked = call;
        s->times_asked++;
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
    assert_int_equal(third.results[0].err, HUB_ENOTFOUND);
    assert_false(is_active(&fixture, "up"));
    fixture_stop(&fixture);
}

/* S1.19, S3.72: who cannot be reached is not active; the lock is open, the reason is told. */
static void test_unreachable(void **state)
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
    assert_int_equal(start_enabling(&fixture, &first, batch, 2, NULL), HUB_OK);
    refuse_catalog(&up, "no such command");
    assert_int_equal(first.times, 0); /* the other one is still awaited */
    give_catalog(&other, "[" TOOL("a") "]");
    assert_int_equal(first.times, 1);
    assert_int_equal(first.results[0].err, HUB_EUNAVAILABLE);
    assert_string_equal(first.results[0].why.text,
                        "toolset \"up\" cannot be reached: no such command");
    assert_int_equal(first.results[1].err, HUB_OK);
    assert_false(is_active(&fixture, "up"));
    fixture_spin(&fixture, 2);
    assert_int_equal(up.master.destroys, 1);
    assert_int_equal(start_one(&fixture, &first, "up"), HUB_OK); /* tries anew at once */
    give_catalog(&up, "[" TOOL("b") "]");
    assert_int_equal(first.results[0].err, HUB_OK);
    fixture_stop(&fixture);
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
    hub_manager *other = hub_manager_of(hub_find_profile(fixture.hub, "second"));
    assert_int_equal(start_one(&fixture, &first, "up"), HUB_OK);
    memset(&second, 0, sizeof second);
    assert_int_equal(hub_manager_enable(other, &key, 1, keep_outcome, &second, NULL), HUB_OK);
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
    assert_int_equal(hub_manager_activate(hub_manager_of(fixture_profile(&fixture)), &key, 1,
                                          keep_outcome, &second, NULL),
                     HUB_OK);
    give_catalog(&up, "[" TOOL("a") "]");
    assert_int_equal(first.results[0].err, HUB_ELIMIT);
    assert_int_equal(hub_manager_active_count(hub_manager_of(fixture_profile(&fixture))), 1);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lock),
        cmocka_unit_test(test_disables_in_order),
        cmocka_unit_test(test_unreachable),
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
