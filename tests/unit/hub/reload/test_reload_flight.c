/* SPDX-License-Identifier: Apache-2.0 */
/* What is under way when a reload takes its toolset, its server or its profile away (S5.8, S5.45;
 * RELIABILITY C03): it ends once, as it would have, or with an answer that says why. */
#include "reload_support.h"

#include "ask_support.h"
#include "hub/active/startup.h"
#include "task_support.h"

static hub_fixture fixture;
static asker tool;
static task_hub tasks;

/* Calls that were not answered. */
static struct {
    puppet_instance *instance;
    patchbay_call call;
    char method[32];
} taken[16];
static size_t taken_count;

static void take(puppet_instance *instance, patchbay_call call, const patchbay_request *request)
{
    assert_true(taken_count < sizeof taken / sizeof *taken);
    taken[taken_count].instance = instance;
    taken[taken_count].call = call;
    echo_copy(taken[taken_count].method, sizeof taken->method, request->method);
    taken_count++;
}

static int32_t try_to_answer(size_t at, const char *result)
{
    return puppet_finish(taken[at].instance, taken[at].call, result);
}

static void answer(size_t at, const char *result)
{
    assert_int_equal(try_to_answer(at, result), PATCHBAY_OK);
}

static void set_tools(size_t at, const char *tools)
{
    (void)taken[at].instance->api->set_tools(taken[at].instance->host, puppet_str(tools));
}

static void begin(void)
{
    taken_count = 0;
    generations = 0;
    fixture_init(&fixture);
}

static void stop(hub_fixture *f)
{
    fixture_stop(f);
    assert_int_equal(generations, 0);
}

/* Tell the module of the toolset at that place of the draft something else. */
static void give_another(hub_fixture *f, size_t at, const puppet *master)
{
    static char configs[4][64];
    static size_t next;
    char *config = configs[next++ % 4];
    (void)snprintf(config, sizeof configs[0], "{\"puppet\":\"%zu\"}", (size_t)master);
    f->toolsets[at].config_json = config;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The name is taken again while calls of its former owner are in flight: they do not mix. */
static void test_same_name(void **state)
{
    puppet first = {.tools = "[" TOOL("x") "]", .on_call = take};
    puppet second = first;
    (void)state;
    begin();
    (void)fixture_toolset(&fixture, "a", &first, false);
    start_draft(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "a__x", "{}");
    client_call(c, "2", "a__x", "{}");
    remove_from_draft(&fixture, 0);
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    (void)fixture_toolset(&fixture, "a", &second, false);
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    client_call(c, "3", "a__x", "{}");
    assert_ptr_equal(taken[2].instance->puppet, &second);
    assert_int_equal(taken[2].instance->api->finish(taken[2].instance->host, taken[0].call,
                                                    PATCHBAY_RESULT, puppet_str("{}")),
                     PATCHBAY_ESTALE); /* one that is not its own */
    client_cancel(c, "2");
    assert_int_equal(first.cancels, 1);
    assert_int_equal(second.cancels, 0);
    answer(0, "{\"content\":[],\"by\":\"first\"}");
    answer(2, "{\"content\":[],\"by\":\"second\"}");
    assert_contains(client_wait(c, "1"), "first");
    assert_contains(client_wait(c, "3"), "second");
    fixture_spin(&fixture, 3);
    assert_int_equal(first.destroys, 1);
    assert_int_equal(second.destroys, 0);
    stop(&fixture);
}

/* Whoever called leaves: the last that held the toolset. */
static void test_caller_leaves(void **state)
{
    puppet master = {.tools = "[" TOOL("x") "]", .on_call = take};
    (void)state;
    begin();
    (void)fixture_toolset(&fixture, "a", &master, false);
    start_draft(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "a__x", "{}");
    remove_from_draft(&fixture, 0);
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    assert_int_equal(master.destroys, 0);
    client_close(c);
    assert_int_equal(master.cancels, 1);
    fixture_spin(&fixture, 3);
    assert_int_equal(master.destroys, 1);
    stop(&fixture);
}

/* What a toolset says that has been taken away is heard by nobody, but for its calls. */
static void test_last_words(void **state)
{
    puppet master = {.tools = "[" TOOL("x") "]",
                     .resources = "[{\"name\":\"r\",\"uri\":\"mem:r\"}]",
                     .on_call = take};
    (void)state;
    begin();
    (void)fixture_toolset(&fixture, "a", &master, false);
    start_draft(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/call", "\"name\":\"a__x\",\"_meta\":{\"progressToken\":\"p\"}");
    remove_from_draft(&fixture, 0);
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    fixture_settle(&fixture);
    client_clear(c);
    set_tools(0, "[" TOOL("belated") "]");
    master.latest->catalog->updated(master.latest->host, puppet_str("mem:r"));
    assert_int_equal(master.latest->api->notify(master.latest->host, taken[0].call,
                                                puppet_str("{\"progress\":0.5}")),
                     PATCHBAY_OK);
    fixture_settle(&fixture);
    assert_int_equal(client_count(c, LIST_CHANGED), 0);
    assert_int_equal(client_count(c, "resources/updated"), 0);
    assert_int_equal(client_count(c, "\"progress\":0.5"), 1);
    assert_lacks(client_list(c, "2"), "belated");
    answer(0, "{\"content\":[]}");
    assert_non_null(client_wait(c, "1"));
    stop(&fixture);
}

/* ---- requests that wait for a catalog -------------------------------------------------------- */

static void test_parked(void **state)
{
    puppet master = {.defers = 1, .on_call = take};
    (void)state;
    begin();
    (void)fixture_toolset(&fixture, "up", &master, true);
    start_draft(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "up__one", "{}");
    client_request(c, "2", "tools/list", "");
    client_request(c, "3", "prompts/list", "");
    client_cancel(c, "3");
    assert_null(client_reply(c, "1"));
    remove_from_draft(&fixture, 0);
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    assert_contains(client_wait(c, "1"), "nknown tool");
    assert_contains(client_wait(c, "2"), "\"tools\"");
    assert_null(client_reply(c, "3"));
    assert_int_equal(try_to_answer(0, "{}"), PATCHBAY_ESTALE); /* nobody asks any more */
    fixture_spin(&fixture, 3);
    assert_int_equal(master.destroys, 1);
    stop(&fixture);
}

/* The server that was asked is replaced, twice, before it has answered: the last one counts. */
static void test_replaced_while_asked(void **state)
{
    puppet masters[3];
    (void)state;
    begin();
    for (size_t i = 0; i < 3; i++) {
        masters[i] = (puppet){.defers = 1, .on_call = take};
    }
    (void)fixture_toolset(&fixture, "up", &masters[0], true);
    start_draft(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "up__x", "{}");
    client_request(c, "2", "tools/list", "");
    for (size_t i = 1; i < 3; i++) {
        give_another(&fixture, 0, &masters[i]);
        assert_int_equal(reload_draft(&fixture), HUB_OK);
        assert_int_equal(taken_count, i + 1);
        assert_ptr_equal(taken[i].instance->puppet, &masters[i]);
    }
    assert_null(client_reply(c, "2"));
    set_tools(2, "[" TOOL("x") "]");
    answer(2, "{}");
    assert_contains(client_wait(c, "2"), "up__x");
    assert_int_equal(taken_count, 4);
    assert_ptr_equal(taken[3].instance->puppet, &masters[2]);
    answer(3, "{\"content\":[]}");
    assert_contains(client_wait(c, "1"), "\"content\"");
    fixture_spin(&fixture, 3);
    assert_int_equal(masters[0].destroys, 1);
    assert_int_equal(masters[1].destroys, 1);
    stop(&fixture);
}

/* Its server could not be asked, and is to be asked again: not when it is gone. */
static void test_failed_then_removed(void **state)
{
    puppet master = {.defers = 1, .on_call = take};
    (void)state;
    begin();
    (void)fixture_toolset(&fixture, "up", &master, true);
    start_draft(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    (void)taken[0].instance->api->finish(taken[0].instance->host, taken[0].call,
                                         PATCHBAY_UNAVAILABLE, puppet_str("not there"));
    assert_non_null(client_wait(c, "1"));
    hub_toolset *up = hub_find_toolset(fixture.hub, HUB_STR("up"));
    assert_true(ev_is_active(&hub_catalogs_of(up)->retry));
    remove_from_draft(&fixture, 0);
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    assert_false(
        ev_is_active(&hub_catalogs_of(up)->retry)); /* it is there until its instance has ended */
    fixture_spin(&fixture, 3);
    assert_int_equal(master.destroys, 1);
    fixture_settle(&fixture);
    stop(&fixture);
}

/* ---- questions ------------------------------------------------------------------------------- */

/* They are answered, although the toolset is gone, and the calls end as they would have. */
static void test_questions(void **state)
{
    puppet master = {.on_call = asker_called_elicits};
    (void)state;
    generations = 0;
    asker_start(&fixture, &master, &tool);
    tool.on_answer = asker_finish_with_answer;
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    const client_options legacy = {.kind = LEGACY, .capabilities = ALL};
    const client_options modern = {.kind = MODERN, .capabilities = ALL};
    client *c = client_open_as(&fixture, &legacy);
    client *d = client_open_as(&fixture, &modern);
    client *e = client_open_as(&fixture, &legacy);
    client_call(c, "1", "t__a", "{}");
    client_call(d, "1", "t__a", "{}");
    char *back = state_of(client_wait(d, "1"));
    client_call(e, "1", "t__a", "{}");
    fixture_spin(&fixture, 2);
    assert_int_equal(tool.count, 0);
    remove_from_draft(&fixture, 0);
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    fixture_spin(&fixture, 3);
    assert_int_equal(tool.count, 0);
    assert_int_equal(master.destroys, 0);
    client_answer(c, client_asked(c, NULL), "{\"action\":\"accept\",\"content\":{}}");
    assert_contains(client_wait(c, "1"), "\"got\":{\"action\":\"accept\"");
    client_retry(d, "2", "t__a", "{}", back, "{\"k\":{\"action\":\"decline\"}}");
    assert_contains(client_wait(d, "2"), "\"got\":{\"action\":\"decline\"");
    client_close(e); /* this one is never answered */
    fixture_spin(&fixture, 5);
    assert_int_equal(tool.count, 3);
    assert_int_equal(master.destroys, 1);
    free(back);
    stop(&fixture);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

/* A task of a toolset that is gone is unknown; one of a server that was replaced is asked of the
 * new one. */
static void test_tasks(void **state)
{
    (void)state;
    generations = 0;
    tasks_start(&tasks);
    hub_fixture *f = &tasks.fixture;
    assert_int_equal(reload_draft(f), HUB_OK);
    client *c = tasks_client(&tasks, LEGACY, "a");
    char *kept = tasks_make(&tasks, c, "1", "\"7\"");
    tasks_request(c, "2", "tasks/result", kept); /* in flight */
    const echo old = tasks.legacy;
    echo fresh = {.puppet = tasks.legacy.puppet, .holds = true};
    fresh.puppet.creates = 0;
    give_another(f, 0, &fresh.puppet);
    assert_int_equal(reload_draft(f), HUB_OK);
    tasks_request(c, "3", "tasks/get", kept);
    assert_string_equal(echo_last(&fresh)->tool, "7");
    tasks_answer(&fresh, "{\"taskId\":\"7\"," STATE("working") "}");
    assert_contains(client_wait(c, "3"), kept);
    assert_int_equal(puppet_finish(old.puppet.latest, echo_last(&old)->call, "{\"content\":[]}"),
                     PATCHBAY_OK);
    assert_contains(client_wait(c, "2"), "\"content\"");
    remove_from_draft(f, 0);
    assert_int_equal(reload_draft(f), HUB_OK);
    tasks_request(c, "4", "tasks/get", kept);
    assert_contains(client_wait(c, "4"), "no active toolset has tasks");
    fixture_spin(f, 3);
    assert_int_equal(tasks.legacy.puppet.destroys, 1);
    assert_int_equal(fresh.puppet.destroys, 1);
    free(kept);
    stop(f);
}

/* ---- subscriptions --------------------------------------------------------------------------- */

/* The server has not said yes when it is taken away, or replaced. */
static void test_subscribing(void **state)
{
    puppet masters[2] = {{.resources = "[{\"name\":\"r\",\"uri\":\"mem:r\"}]",
                          .capabilities = "{\"resources\":{\"subscribe\":true}}",
                          .on_call = take}};
    (void)state;
    begin();
    masters[1] = masters[0];
    (void)fixture_toolset(&fixture, "a", &masters[0], true);
    start_draft(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client *d = client_open(&fixture, MODERN);
    client_request(c, "1", "resources/subscribe", "\"uri\":\"mem:r\"");
    client_request(d, "1", "subscriptions/listen",
                   "\"notifications\":{\"resourceSubscriptions\":[\"mem:r\"]}");
    assert_int_equal(taken_count, 1);
    give_another(&fixture, 0, &masters[1]);
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    fixture_spin(&fixture, 3);
    assert_true(taken_count >= 2); /* the new server is told of it */
    assert_ptr_equal(taken[1].instance->puppet, &masters[1]);
    assert_string_equal(taken[1].method, "resources/subscribe");
    assert_int_equal(masters[0].destroys, 1); /* nobody waits for the old one */
    answer(1, "{}");
    assert_contains(client_wait(c, "1"), "\"result\"");
    masters[1].latest->catalog->updated(masters[1].latest->host, puppet_str("mem:r"));
    fixture_spin(&fixture, 3);
    assert_int_equal(client_count(c, "notifications/resources/updated"), 1);
    assert_int_equal(client_count(d, "notifications/resources/updated"), 1);
    client_request(c, "2", "resources/unsubscribe", "\"uri\":\"mem:r\"");
    remove_from_draft(&fixture, 0);
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    assert_non_null(client_wait(c, "2"));
    client_close(d);
    for (size_t i = 2; i < taken_count; i++) { /* it is told goodbye, and may say so */
        assert_string_equal(taken[i].method, "resources/unsubscribe");
        answer(i, "{}");
    }
    fixture_spin(&fixture, 5);
    assert_int_equal(masters[1].destroys, 1);
    stop(&fixture);
}

/* ---- profiles -------------------------------------------------------------------------------- */

static void add_second_profile(void)
{
    fixture.profiles[1] = fixture.profiles[0];
    fixture.profiles[1].name = "second";
    fixture.settings.profile_count = 2;
}

/* Its session waits, listens and calls when it goes; it hears the end of each, and sees nothing. */
static void test_profile_goes(void **state)
{
    puppet up = {.defers = 1, .on_call = take};
    puppet master = {.tools = "[" TOOL("x") "]", .on_call = take};
    (void)state;
    begin();
    (void)fixture_toolset(&fixture, "a", &master, false);
    (void)fixture_toolset(&fixture, "up", &up, true);
    add_second_profile();
    start_draft(&fixture);
    client *c = client_open_in(&fixture, MODERN, "second");
    client_request(c, "1", "subscriptions/listen", "\"notifications\":{\"toolsListChanged\":true}");
    client_call(c, "2", "a__x", "{}");
    client_request(c, "3", "tools/list", "");
    client_call(c, "4", "up__one", "{}");
    fixture.settings.profile_count = 1;
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    assert_lacks(client_wait(c, "3"), "a__x");
    assert_contains(client_wait(c, "4"), "nknown tool");
    client_call(c, "5", "enable_toolset", "{\"toolset\":\"a\"}");
    assert_contains(client_wait(c, "5"), "nknown tool");
    answer(0, "{\"content\":[]}");
    assert_contains(client_wait(c, "2"), "\"content\"");
    client_close(c); /* while servers are still waited for */
    assert_int_equal(fixture.hub->profile_count, 1);
    fixture_spin(&fixture, 3);
    stop(&fixture);
}

static void ask_two(puppet_instance *instance, patchbay_call call, const patchbay_request *request)
{
    asker_called(instance, call, request);
    (void)asker_elicit(&tool, 'k', "k");
    (void)asker_elicit(&tool, 'm', "m");
}

/* A client went away with its questions; its profile goes, and comes back before the client does.
 */
static void test_profile_comes_back(void **state)
{
    puppet master = {.on_call = ask_two};
    (void)state;
    generations = 0;
    asker_start(&fixture, &master, &tool);
    add_second_profile();
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    const client_options modern = {.kind = MODERN, .capabilities = ALL, .profile = "second"};
    client *c = client_open_as(&fixture, &modern);
    client_call(c, "1", "t__a", "{}");
    char *back = state_of(client_wait(c, "1"));
    client_close(c);
    fixture.settings.profile_count = 1;
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    assert_int_equal(fixture.hub->profile_count, 1);
    fixture.settings.profile_count = 2;
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    c = client_open_as(&fixture, &modern);
    client_retry(c, "2", "t__a", "{}", back, "{\"k\":{}}");
    free(back);
    back = state_of(client_wait(c, "2")); /* the other one is still to be answered */
    client_retry(c, "3", "t__a", "{}", back, "{\"m\":{}}");
    free(back);
    fixture_spin(&fixture, 2);
    assert_int_equal(tool.count, 2);
    asker_finish(&tool, tool.call.id, "{\"content\":[]}");
    assert_contains(client_wait(c, "3"), "\"content\"");
    stop(&fixture);
}

/* A module that appears is not for a profile that is leaving: it has no policies any more. */
static void test_profile_that_is_leaving_gets_nothing_new(void **state)
{
    puppet master = {.tools = "[" TOOL("x") "]"};
    (void)state;
    begin();
    (void)fixture_toolset(&fixture, "a", &master, false);
    add_second_profile();
    start_draft(&fixture);
    client *c = client_open_in(&fixture, LEGACY, "second");
    hub_profile *second = hub_find_profile(fixture.hub, "second");
    fixture.settings.profile_count = 1;
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    hub_startup_adopt(second, HUB_STR("a"));
    assert_lacks(client_list(c, "1"), "a__x");
    assert_int_equal(hub_find_toolset(fixture.hub, HUB_STR("a"))->users, 1);
    stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_name),
        cmocka_unit_test(test_caller_leaves),
        cmocka_unit_test(test_last_words),
        cmocka_unit_test(test_parked),
        cmocka_unit_test(test_replaced_while_asked),
        cmocka_unit_test(test_failed_then_removed),
        cmocka_unit_test(test_questions),
        cmocka_unit_test(test_tasks),
        cmocka_unit_test(test_subscribing),
        cmocka_unit_test(test_profile_goes),
        cmocka_unit_test(test_profile_comes_back),
        cmocka_unit_test(test_profile_that_is_leaving_gets_nothing_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
