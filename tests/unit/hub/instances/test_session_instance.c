/* SPDX-License-Identifier: Apache-2.0 */
/* `sharing: session`: who is served by which instance, how many there may be, and when they end. */
#include "reload_support.h"
#include "hub/instances/session_instance.h"
#include "hub/report/status.h"

#include <inttypes.h>

static hub_fixture fixture;
static puppet master;

enum { KEPT = 16 };
static struct {
    puppet_instance *instance;
    patchbay_call call;
    char method[32];
    char params[64];
} taken[KEPT];
static size_t taken_count;

static void take(puppet_instance *instance, patchbay_call call, const patchbay_request *request)
{
    hub_str tool = request->tool;
    if (!hub_str_is(request->method, "tools/call") || hub_str_is(tool, "now")) {
        (void)puppet_finish(instance, call, "{\"content\":[]}");
    }
    assert_true(taken_count < KEPT);
    taken[taken_count].instance = instance;
    taken[taken_count].call = call;
    (void)snprintf(taken[taken_count].params, sizeof taken->params, HUB_STR_FMT,
                   HUB_STR_ARG(request->params_json));
    (void)snprintf(taken[taken_count++].method, sizeof taken->method, HUB_STR_FMT,
                   HUB_STR_ARG(request->method));
}

static hub_toolset_settings *begin(bool is_proxy)
{
    memset(taken, 0, sizeof taken);
    taken_count = 0;
    generations = 0;
    master = (puppet){.tools = "[" TOOL("now") "," TOOL("hold") "]",
                      .resources = "[{\"uri\":\"x://r\",\"name\":\"r\"}]",
                      .capabilities = "{\"logging\":{},\"resources\":{\"subscribe\":true}}",
                      .on_call = take};
    fixture_init(&fixture);
    hub_toolset_settings *settings = fixture_toolset(&fixture, "up", &master, is_proxy);
    settings->sharing_session = true;
    return settings;
}

static hub_toolset *shared(void)
{
    return hub_find_toolset(fixture.hub, HUB_STR("up"));
}

static unsigned alive(void)
{
    return master.creates - master.destroys;
}

static bool is_alone(void *ctx)
{
    return alive() == *(const unsigned *)ctx;
}

static void wait_alive(unsigned count)
{
    fixture_run_until(&fixture, is_alone, &count);
}

static void test_one_for_each(void **state)
{
    (void)state;
    (void)begin(false);
    fixture_start(&fixture);
    client *one = client_open(&fixture, LEGACY);
    client *other = client_open(&fixture, MODERN);
    assert_contains(client_list(one, "1"), "up__now");
    assert_int_equal(master.creates, 1); /* what there is, the shared one says */
    assert_non_null(client_ask(one, "2", "up__now", "{}"));
    assert_non_null(client_ask(one, "3", "up__now", "{}"));
    assert_non_null(client_ask(other, "4", "up__now", "{}"));
    assert_int_equal(master.creates, 3);
    assert_int_equal(taken[0].instance->number, 2);
    assert_int_equal(taken[1].instance->number, 2);
    assert_int_equal(taken[2].instance->number, 3);
    client_close(one);
    wait_alive(2);
    client_close(other);
    wait_alive(1);
    assert_int_equal(hub_session_instance_count(shared()), 0);
    fixture_stop(&fixture);
}

/* The limit, one beyond it, and room again. */
static void test_as_many_as_may(void **state)
{
    (void)state;
    (void)begin(false);
    fixture.settings.limits.session_instances = 2;
    fixture_start(&fixture);
    client *clients[3];
    for (int i = 0; i < 3; i++) {
        clients[i] = client_open(&fixture, LEGACY);
        const char *reply = client_ask(clients[i], "1", "up__now", "{}");
        if (i < 2) {
            assert_lacks(reply, "isError\":true");
        } else {
            assert_contains(reply, "limits.session_instances");
            assert_contains(reply, "\"retryable\":true");
        }
    }
    client_request(clients[2], "2", "resources/subscribe", "\"uri\":\"x://r\"");
    assert_contains(client_wait(clients[2], "2"), "limits.session_instances");
    assert_contains(client_reply(clients[2], "1"), "2 of them of \\\"tester\\\"");
    client *other = client_open_as(&fixture, &(client_options){.kind = LEGACY, .principal = "bob"});
    assert_lacks(client_ask(other, "1", "up__now", "{}"), "isError\":true"); /* not his fault */
    client_close(other);
    client_close(clients[0]);
    assert_lacks(client_ask(clients[2], "3", "up__now", "{}"), "isError\":true");
    fixture_stop(&fixture);
}

/* One that cannot be made is the call's failure; the next one tries again. */
static void test_one_that_cannot_be_made(void **state)
{
    (void)state;
    (void)begin(false);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    master.broken = "no licence";
    const char *reply = client_ask(c, "1", "up__now", "{}");
    assert_contains(reply, "no licence");
    assert_contains(reply, "TOOL_UNAVAILABLE");
    assert_int_equal(hub_session_instance_count(shared()), 0);
    master.broken = NULL;
    assert_lacks(client_ask(c, "2", "up__now", "{}"), "isError\":true");
    fixture_stop(&fixture);
}

/* A request that is a session of its own has no session. */
static void test_a_session_of_one_request(void **state)
{
    (void)state;
    (void)begin(false);
    fixture_start(&fixture);
    for (int i = 0; i < 2; i++) {
        client *c = client_open(&fixture, MODERN);
        c->session->is_one_request = true;
        assert_non_null(client_ask(c, "1", "up__now", "{}"));
        client_close(c);
    }
    assert_int_equal(master.creates, 1);
    assert_true(fixture_logged(&fixture, "toolset.shared"));
    fixture_stop(&fixture);
}

/* Whoever disables it ends the calls of all, and everybody's instance. */
static void test_disabled(void **state)
{
    (void)state;
    (void)begin(false);
    fixture_start(&fixture);
    client *one = client_open(&fixture, LEGACY);
    client *other = client_open(&fixture, LEGACY);
    client_call(one, "1", "up__hold", "{}");
    client_call(other, "1", "up__hold", "{}");
    assert_int_equal(master.creates, 3);
    assert_non_null(client_ask(one, "2", "disable_toolset", "{\"toolset\":\"up\"}"));
    assert_contains(client_reply(one, "1"), "disabled");
    assert_contains(client_reply(other, "1"), "disabled");
    wait_alive(0);
    assert_non_null(client_ask(one, "3", "enable_toolset", "{\"toolset\":\"up\"}"));
    assert_lacks(client_ask(one, "4", "up__now", "{}"), "isError\":true");
    assert_int_equal(alive(), 2);
    fixture_stop(&fixture);
}

static void test_subscriptions_and_messages(void **state)
{
    (void)state;
    (void)begin(true);
    fixture_start(&fixture);
    client *one = client_open(&fixture, LEGACY);
    client *other = client_open(&fixture, LEGACY);
    client_request(one, "1", "resources/subscribe", "\"uri\":\"x://r\"");
    assert_contains(client_wait(one, "1"), "\"result\":{");
    client_request(other, "1", "resources/subscribe", "\"uri\":\"x://r\"");
    assert_contains(client_wait(other, "1"), "\"result\":{");
    assert_int_equal(taken_count, 2);
    assert_string_equal(taken[1].method, "resources/subscribe");
    puppet_instance *of_one = taken[0].instance;
    assert_ptr_not_equal(of_one, taken[1].instance);
    assert_int_equal(of_one->catalog->updated(of_one->host, puppet_str("x://r")), PATCHBAY_OK);
    fixture_settle(&fixture);
    assert_int_equal(client_count(one, "notifications/resources/updated"), 1);
    assert_int_equal(client_count(other, "notifications/resources/updated"), 0);

    client_request(one, "2", "logging/setLevel", "\"level\":\"debug\"");
    assert_non_null(client_wait(one, "2"));
    assert_string_equal(taken[taken_count - 1].method, "logging/setLevel");
    size_t told = 0;
    for (size_t i = 2; i < taken_count; i++) {
        assert_ptr_not_equal(taken[i].instance, taken[1].instance); /* the other's was not told */
        told += taken[i].instance == of_one;
    }
    assert_int_equal(told, 1);
    client_request(other, "2", "logging/setLevel", "\"level\":\"error\"");
    assert_non_null(client_wait(other, "2"));
    bool is_told = false; /* what its own session wants, not what the most talkative does */
    for (size_t i = 2; i < taken_count; i++) {
        bool is_others = taken[i].instance == taken[1].instance;
        is_told = is_told || is_others;
        assert_true(!is_others || strstr(taken[i].params, "error") != NULL);
    }
    assert_true(is_told);
    client_request(one, "3", "resources/unsubscribe", "\"uri\":\"x://r\"");
    assert_non_null(client_wait(one, "3"));
    assert_ptr_equal(taken[taken_count - 1].instance, of_one);
    fixture_stop(&fixture);
}

/* ---- reloading ------------------------------------------------------------------------------- */

/* Another configuration: calls in flight end where they are, the next ones go to a new instance,
 * which knows of the subscriptions. */
static void test_another_configuration(void **state)
{
    (void)state;
    (void)begin(false);
    start_draft(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "up__hold", "{}");
    client_request(c, "2", "resources/subscribe", "\"uri\":\"x://r\"");
    assert_non_null(client_wait(c, "2"));
    assert_int_equal(alive(), 2);
    (void)snprintf(fixture.configs[0], sizeof fixture.configs[0], "{ \"puppet\":\"%" PRIuPTR "\"}",
                   (uintptr_t)&master);
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    assert_int_equal(hub_session_instance_count(shared()), 1);
    fixture_spin(&fixture, 2);
    assert_string_equal(taken[taken_count - 1].method, "resources/subscribe"); /* it was told */
    assert_non_null(client_ask(c, "3", "up__now", "{}"));
    assert_ptr_not_equal(taken[taken_count - 1].instance, taken[0].instance);
    assert_int_equal(puppet_finish(taken[0].instance, taken[0].call, "{\"content\":[1]}"),
                     PATCHBAY_OK);
    assert_contains(client_wait(c, "1"), "\"content\":[1]");
    wait_alive(2);
    fixture_stop(&fixture);
    assert_int_equal(generations, 0);
}

/* What the hub alone has to know reaches the instances that there are. */
static void test_other_limits(void **state)
{
    (void)state;
    (void)begin(false);
    start_draft(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "up__hold", "{}");
    fixture.toolsets[0].max_calls = 1;
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    assert_int_equal(alive(), 2);
    assert_contains(client_ask(c, "2", "up__now", "{}"), "max_calls");
    fixture.toolsets[0].queue = 2;
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    client_call(c, "3", "up__now", "{}");
    client_request(c, "4", HUB_STATUS_METHOD, "");
    assert_contains(client_wait(c, "4"), "\"inFlight\":1,\"queued\":1,\"queueLimit\":2");
    fixture.toolsets[0].max_calls = 2; /* who waits hears of it */
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    assert_contains(client_wait(c, "3"), "\"content\":[]");
    fixture_stop(&fixture);
}

/* From one for each to one for all, and back. */
static void test_another_sharing(void **state)
{
    (void)state;
    (void)begin(false);
    start_draft(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "up__hold", "{}");
    client_request(c, "2", "resources/subscribe", "\"uri\":\"x://r\"");
    assert_non_null(client_wait(c, "2"));
    fixture.toolsets[0].sharing_session = false;
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    assert_int_equal(hub_session_instance_count(shared()), 0);
    assert_non_null(client_ask(c, "3", "up__now", "{}"));
    assert_int_equal(puppet_finish(taken[0].instance, taken[0].call, "{\"content\":[1]}"),
                     PATCHBAY_OK);
    assert_contains(client_wait(c, "1"), "\"content\":[1]");
    wait_alive(1);
    fixture.toolsets[0].sharing_session = true;
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    assert_non_null(client_ask(c, "4", "up__now", "{}"));
    assert_int_equal(hub_session_instance_count(shared()), 1);
    fixture_stop(&fixture);
    assert_int_equal(generations, 0);
}

/* A toolset that is no more: calls in flight may end, then nothing of it is left. */
static void test_removed(void **state)
{
    (void)state;
    (void)begin(false);
    start_draft(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "up__hold", "{}");
    remove_from_draft(&fixture, 0);
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    assert_null(shared());
    assert_int_equal(puppet_finish(taken[0].instance, taken[0].call, "{\"content\":[1]}"),
                     PATCHBAY_OK);
    assert_contains(client_wait(c, "1"), "\"content\":[1]");
    wait_alive(0);
    fixture_stop(&fixture);
    assert_int_equal(generations, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_for_each),
        cmocka_unit_test(test_as_many_as_may),
        cmocka_unit_test(test_one_that_cannot_be_made),
        cmocka_unit_test(test_a_session_of_one_request),
        cmocka_unit_test(test_disabled),
        cmocka_unit_test(test_subscriptions_and_messages),
        cmocka_unit_test(test_another_configuration),
        cmocka_unit_test(test_other_limits),
        cmocka_unit_test(test_another_sharing),
        cmocka_unit_test(test_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
