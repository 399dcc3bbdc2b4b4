/* SPDX-License-Identifier: Apache-2.0 */
/* A toolset that, when it is told of one subscription, answers what it was asked of another. */
#include "echo_puppet.h"

static hub_fixture fixture;
static echo up;
static uint64_t pending;    /* a resources/subscribe that is not answered; 0: none */
static const char *trigger; /* the method at which it is refused */

#define CAPABLE "{\"resources\":{\"subscribe\":true}}"

static void on_call(puppet_instance *instance, patchbay_call call, const patchbay_request *request)
{
    uint64_t other = pending;
    if (other != 0 && hub_str_is(request->method, trigger)) {
        pending = 0;
        (void)instance->api->finish(instance->host, (patchbay_call){.id = other}, PATCHBAY_FAILED,
                                    puppet_str("no"));
    }
    echo_on_call(instance, call, request);
}

static void prepare(void)
{
    up = (echo){.puppet = {.on_call = on_call,
                           .resources = "[" RESOURCE("x:1") "," RESOURCE("x:2") "]",
                           .capabilities = CAPABLE}};
    pending = 0;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &up.puppet, false);
}

static void subscribe(client *c, const char *id, const char *uri)
{
    char params[32];
    (void)snprintf(params, sizeof params, "\"uri\":\"%s\"", uri);
    client_request(c, id, "resources/subscribe", params);
}

/* Subscriptions wake up one after the other, and one that waits for its answer ends meanwhile. */
static void test_waking(void **state)
{
    (void)state;
    prepare();
    fixture.profiles[1] = fixture.profiles[0];
    fixture.profiles[1].name = "second";
    fixture.settings.profile_count = 2;
    fixture_start(&fixture);
    client *a = client_open(&fixture, LEGACY);
    client *b = client_open_in(&fixture, LEGACY, "second");
    subscribe(b, "1", "x:1");
    (void)client_ask(b, "2", "disable_toolset", "{\"toolset\":\"t\"}"); /* x:1 sleeps */
    up.holds = true;
    subscribe(a, "3", "x:2");
    up.holds = false;
    pending = echo_last(&up)->call.id;
    trigger = "resources/subscribe";
    (void)client_ask(b, "4", "enable_toolset", "{\"toolset\":\"t\"}");
    assert_int_equal(pending, 0);
    assert_contains(client_reply(a, "3"), "\"error\"");
    fixture_stop(&fixture);
}

/* A stream that ends hears nothing more, however late its acknowledgement would be; nor does a
 * session that closes. */
static void test_ending(void **state)
{
    (void)state;
    for (int closes = 0; closes <= 1; closes++) {
        prepare();
        fixture_start(&fixture);
        client *c = client_open(&fixture, MODERN);
        client_request(c, "1", "subscriptions/listen",
                       "\"notifications\":{\"resourceSubscriptions\":[\"x:1\"]}");
        up.holds = true;
        client_request(c, "2", "subscriptions/listen",
                       "\"notifications\":{\"resourceSubscriptions\":[\"x:1\",\"x:2\"]}");
        up.holds = false;
        pending = echo_last(&up)->call.id;
        trigger = "resources/unsubscribe";
        client_cancel(c, "1"); /* x:1 is wanted by the second alone */
        client_clear(c);
        if (closes) {
            client_close(c); /* which fails when anything is written */
        } else {
            client_cancel(c, "2");
            assert_int_equal(c->count, 0);
        }
        assert_int_equal(pending, 0);
        fixture_stop(&fixture);
    }
}

/* notifications/cancelled without an id cancels nothing (2025-11-25 schema: it may lack it). */
static void test_cancel_without_id(void **state)
{
    (void)state;
    prepare();
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    up.holds = true;
    subscribe(c, "1", "x:1");
    client_send(c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{}}");
    assert_int_equal(echo_count(&up, "resources/unsubscribe"), 0);
    (void)puppet_finish(up.puppet.latest, echo_last(&up)->call, "{}");
    assert_contains(client_reply(c, "1"), "\"result\":{}");
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waking),
        cmocka_unit_test(test_ending),
        cmocka_unit_test(test_cancel_without_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
