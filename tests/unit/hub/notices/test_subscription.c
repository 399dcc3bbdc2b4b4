/* SPDX-License-Identifier: Apache-2.0 */
/* Subscriptions to resources: counted towards the toolset, told to exactly those who asked. */
#include "echo_puppet.h"
#include "hub/notices/subscription_internal.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/limits.h"

static hub_fixture fixture;
static echo up;

#define SUBSCRIBE   "resources/subscribe"
#define UNSUBSCRIBE "resources/unsubscribe"
#define UPDATED     "notifications/resources/updated"
#define CAPABLE     "{\"resources\":{\"subscribe\":true}}"

static void prepare(void)
{
    up = (echo){.puppet = {.on_call = echo_on_call,
                           .resources = "[" RESOURCE("x:1") "," RESOURCE("x:2") "]",
                           .templates = "[" TEMPLATE("y:{+a}") "]",
                           .capabilities = CAPABLE}};
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &up.puppet, false);
}

static void start(void)
{
    prepare();
    fixture_start(&fixture);
}

static const char *ask(client *c, const char *method, const char *uri)
{
    char params[HUB_LIMIT_URI_BYTES + 16];
    client_clear(c);
    (void)snprintf(params, sizeof params, "\"uri\":\"%s\"", uri);
    client_request(c, "1", method, params);
    return client_wait(c, "1");
}

/* Open a listen stream for a JSON array of URIs, and give its acknowledgement. */
static const char *listen(client *c, const char *id, const char *uris)
{
    char *params = NULL;
    assert_true(asprintf(&params, "\"notifications\":{\"resourceSubscriptions\":%s}", uris) > 0);
    client_request(c, id, "subscriptions/listen", params);
    free(params);
    return c->messages[c->count - 1];
}

static void update(const char *uri)
{
    const puppet_instance *t = up.puppet.latest;
    assert_int_equal(t->catalog->updated(t->host, puppet_str(uri)), PATCHBAY_OK);
}

static void expect_asked(size_t subscribes, size_t unsubscribes)
{
    assert_int_equal(echo_count(&up, SUBSCRIBE), subscribes);
    assert_int_equal(echo_count(&up, UNSUBSCRIBE), unsubscribes);
}

/* ---- legacy ---------------------------------------------------------------------------------- */

/* 2025-11-25 server/resources, Subscriptions. */
static void test_legacy(void **state)
{
    (void)state;
    start();
    client *c = client_open(&fixture, LEGACY);
    client *other = client_open(&fixture, LEGACY);
    update("x:1"); /* nobody asked */
    assert_string_equal(ask(c, SUBSCRIBE, "x:1"), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    assert_string_equal(echo_last(&up)->method, SUBSCRIBE);
    assert_string_equal(echo_last(&up)->tool, "x:1");
    assert_string_equal(echo_last(&up)->params, "{\"uri\":\"x:1\"}");
    assert_string_equal(echo_last(&up)->name_json, "\"x:1\"");
    client_clear(c);
    update("x:1");
    update("x:2");
    assert_int_equal(c->count, 1);
    assert_string_equal(c->messages[0], "{\"jsonrpc\":\"2.0\",\"method\":\"" UPDATED
                                        "\",\"params\":{\"uri\":\"x:1\"}}");
    assert_int_equal(client_count(other, UPDATED), 0);
    assert_contains(ask(c, UNSUBSCRIBE, "x:1"), "\"result\":{}");
    assert_string_equal(echo_last(&up)->method, UNSUBSCRIBE);
    assert_string_equal(echo_last(&up)->tool, "x:1");
    update("x:1");
    assert_int_equal(client_count(c, UPDATED), 0);
    assert_contains(ask(c, UNSUBSCRIBE, "x:1"), "\"result\":{}"); /* is true already */
    expect_asked(1, 1);
    fixture_stop(&fixture);
}

/* The toolset hears of the first and of the last, whoever they are. */
static void test_counted(void **state)
{
    (void)state;
    start();
    client *a = client_open(&fixture, LEGACY);
    client *b = client_open(&fixture, LEGACY);
    client *m = client_open(&fixture, MODERN);
    (void)ask(a, SUBSCRIBE, "x:1");
    (void)ask(a, SUBSCRIBE, "x:1"); /* twice is once */
    (void)ask(b, SUBSCRIBE, "x:1");
    (void)listen(m, "7", "[\"x:1\",\"x:1\"]");
    (void)listen(m, "8", "[\"x:1\"]");
    expect_asked(1, 0);
    client_clear(a);
    client_clear(b);
    client_clear(m);
    update("x:1");
    assert_int_equal(client_count(a, UPDATED), 1);
    assert_int_equal(client_count(b, UPDATED), 1);
    assert_int_equal(client_count(m, UPDATED), 2);
    (void)ask(a, UNSUBSCRIBE, "x:1");
    client_cancel(m, "7");
    client_close(b);
    expect_asked(1, 0);
    client_clear(m);
    update("x:1");
    assert_int_equal(client_count(m, UPDATED), 1);
    client_close(m);
    expect_asked(1, 1);
    (void)ask(a, SUBSCRIBE, "x:1"); /* and anew */
    expect_asked(2, 1);
    fixture_stop(&fixture);
    expect_asked(2, 2);
}

/* Who asks while the toolset is being asked waits for the same answer; it is the toolset's. */
static void test_answer(void **state)
{
    (void)state;
    start();
    client *a = client_open(&fixture, LEGACY);
    client *b = client_open(&fixture, LEGACY);
    up.holds = true;
    client_request(a, "1", SUBSCRIBE, "\"uri\":\"x:1\"");
    client_request(b, "1", SUBSCRIBE, "\"uri\":\"x:1\"");
    expect_asked(1, 0);
    assert_null(client_reply(a, "1"));
    const puppet_instance *t = up.puppet.latest;
    (void)t->api->finish(t->host, up.requests[0].call, PATCHBAY_RPC_ERROR,
                         puppet_str("{\"code\":-32002,\"message\":\"gone\"}"));
    assert_contains(client_reply(a, "1"), "\"error\":{\"code\":-32002,\"message\":\"gone\"}");
    assert_contains(client_reply(b, "1"), "\"error\":{\"code\":-32002,\"message\":\"gone\"}");
    assert_true(fixture_logged(&fixture, "resource.not_subscribed"));
    update("x:1");
    assert_int_equal(client_count(a, UPDATED) + client_count(b, UPDATED), 0);
    client_request(a, "2", SUBSCRIBE, "\"uri\":\"x:1\"");
    expect_asked(2, 0);
    client_cancel(a, "2"); /* not interested any more: it is no subscriber */
    expect_asked(2, 1);
    (void)puppet_finish(up.puppet.latest, up.requests[1].call, "{}");
    assert_null(client_reply(a, "2"));
    update("x:1");
    assert_int_equal(client_count(a, UPDATED), 0);
    client_request(b, "2", SUBSCRIBE, "\"uri\":\"x:2\"");
    client_request(b, "3", UNSUBSCRIBE, "\"uri\":\"x:2\"");
    assert_contains(client_reply(b, "2"), "\"result\":{}"); /* each request has its answer */
    assert_contains(client_reply(b, "3"), "\"result\":{}");
    expect_asked(3, 2);
    client_request(b, "4", SUBSCRIBE, "\"uri\":\"x:2\"");
    client_close(b); /* … but for a client that is gone */
    expect_asked(4, 3);
    fixture_stop(&fixture);
}

/* A second request for what is being asked for waits for the same answer, and is the subscription
 * if the first one is cancelled. One subscription is told once, whatever was asked when. */
static void test_asked_twice(void **state)
{
    (void)state;
    for (int cancelled = 0; cancelled <= 2; cancelled++) {
        start();
        client *c = client_open(&fixture, LEGACY);
        up.holds = true;
        client_request(c, "1", SUBSCRIBE, "\"uri\":\"x:1\"");
        client_request(c, "2", SUBSCRIBE, "\"uri\":\"x:1\"");
        expect_asked(1, 0);
        update("x:1");
        assert_int_equal(client_count(c, UPDATED), 1);
        if (cancelled > 0) {
            client_cancel(c, cancelled == 1 ? "1" : "2");
        }
        assert_null(client_reply(c, "2"));
        (void)puppet_finish(up.puppet.latest, up.requests[0].call, "{}");
        assert_int_equal(client_reply(c, "1") != NULL, cancelled != 1);
        assert_int_equal(client_reply(c, "2") != NULL, cancelled != 2);
        assert_int_equal(hub_notices_in(c->session)->subscribers.count, 1);
        client_clear(c);
        update("x:1");
        assert_int_equal(c->count, 1);
        up.holds = false;
        (void)ask(c, UNSUBSCRIBE, "x:1");
        expect_asked(1, 1);
        fixture_stop(&fixture);
    }
}

static void test_refused(void **state)
{
    (void)state;
    start();
    client *c = client_open(&fixture, LEGACY);
    assert_contains(ask(c, SUBSCRIBE, "z:1"), "\"code\":-32002");
    assert_contains(ask(c, SUBSCRIBE, "y:1"), "\"result\":{}"); /* a template has it */
    client_request(c, "2", "subscriptions/listen", "\"notifications\":{}");
    assert_contains(client_reply(c, "2"), "-32601"); /* each era has its own way */
    client *m = client_open(&fixture, MODERN);
    assert_contains(ask(m, SUBSCRIBE, "x:1"), "-32601");
    assert_contains(ask(m, UNSUBSCRIBE, "x:1"), "-32601");
    const puppet_instance *t = up.puppet.latest;
    assert_int_equal(t->catalog->set_capabilities(t->host, puppet_str("{}")), PATCHBAY_OK);
    assert_contains(ask(c, SUBSCRIBE, "x:1"),
                    "\"code\":-32601,\"message\":\"toolset \\\"t\\\" does");
    expect_asked(1, 0);
    fixture_stop(&fixture);
}

/* HUB_LIMIT_SUBSCRIPTIONS of one session, and one more. */
static void test_limit(void **state)
{
    (void)state;
    prepare();
    up.puppet.on_call = NULL;
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    for (int i = 0; i <= HUB_LIMIT_SUBSCRIPTIONS; i++) {
        char uri[32];
        (void)snprintf(uri, sizeof uri, "y:%d", i);
        assert_contains(ask(c, SUBSCRIBE, uri),
                        i < HUB_LIMIT_SUBSCRIPTIONS ? "\"result\"" : "in this session (256)");
    }
    (void)ask(c, UNSUBSCRIBE, "y:0");
    assert_contains(ask(c, SUBSCRIBE, "y:x"), "\"result\"");
    fixture_stop(&fixture);
}

/* ---- modern ---------------------------------------------------------------------------------- */

/* basic/patterns/subscriptions: acknowledged are those that are honoured, before anything else. */
static void test_modern(void **state)
{
    (void)state;
    start();
    client *c = client_open(&fixture, MODERN);
    assert_string_equal(
        listen(c, "\"s\"", "[\"x:1\",\"z:9\",\"y:\\u0061\"]"),
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\","
        "\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":\"s\"},"
        "\"notifications\":{\"resourceSubscriptions\":[\"x:1\",\"y:a\"]}}}");
    expect_asked(2, 0);
    client_clear(c);
    update("y:a");
    update("x:2");
    assert_int_equal(c->count, 1);
    assert_string_equal(c->messages[0],
                        "{\"jsonrpc\":\"2.0\",\"method\":\"" UPDATED "\",\"params\":{\"_meta\":{"
                        "\"io.modelcontextprotocol/subscriptionId\":\"s\"},\"uri\":\"y:a\"}}");
    client_cancel(c, "\"s\"");
    expect_asked(2, 2);
    update("y:a");
    assert_int_equal(c->count, 1);
    assert_contains(listen(c, "2", "[\"z:9\"]"), "\"notifications\":{}}");
    assert_contains(listen(c, "3", "[]"), "\"notifications\":{}}");
    const puppet_instance *t = up.puppet.latest;
    assert_int_equal(t->catalog->set_capabilities(t->host, puppet_str("{}")), PATCHBAY_OK);
    assert_contains(listen(c, "4", "[\"x:1\"]"), "\"notifications\":{}}"); /* never told */
    fixture_stop(&fixture);
}

/* A toolset that has news at once: the acknowledgement still comes first. */
static void update_at_once(puppet_instance *instance, patchbay_call call,
                           const patchbay_request *request)
{
    (void)instance->catalog->updated(instance->host, request->tool);
    (void)puppet_finish(instance, call, "{}");
}

static void test_acknowledged_first(void **state)
{
    (void)state;
    prepare();
    up.puppet.on_call = update_at_once;
    fixture_start(&fixture);
    client *c = client_open(&fixture, MODERN);
    (void)listen(c, "1", "[\"x:1\"]");
    assert_int_equal(c->count, 2);
    assert_contains(c->messages[0], "acknowledged");
    assert_contains(c->messages[1], UPDATED);
    fixture_stop(&fixture);
}

static void test_modern_limit(void **state)
{
    (void)state;
    prepare();
    up.puppet.on_call = NULL;
    fixture_start(&fixture);
    client *c = client_open(&fixture, MODERN);
    for (int extra = 0; extra <= 1; extra++) {
        char uris[8 * (HUB_LIMIT_SUBSCRIPTIONS + 1) + 8] = "[";
        size_t len = 1;
        for (int i = 0; i < HUB_LIMIT_SUBSCRIPTIONS + extra; i++) {
            len +=
                (size_t)snprintf(uris + len, sizeof uris - len, "%s\"y:%d\"", i > 0 ? "," : "", i);
        }
        (void)snprintf(uris + len, sizeof uris - len, "]");
        assert_contains(listen(c, extra == 0 ? "1" : "2", uris),
                        extra == 0 ? "\"y:255\"]" : "\"code\":-32602");
    }
    fixture_stop(&fixture);
}

/* A stream whose resource may be in a catalog that is not known waits for it. */
static void test_late_listen(void **state)
{
    (void)state;
    prepare();
    up.puppet.resources = NULL;
    up.puppet.templates = NULL;
    up.puppet.capabilities = NULL;
    up.puppet.defers = 1;
    up.holds = true;
    fixture_start(&fixture);
    client *c = client_open(&fixture, MODERN);
    client_request(c, "1", "subscriptions/listen",
                   "\"notifications\":{\"resourceSubscriptions\":[\"x:1\"]}");
    client_request(c, "2", "subscriptions/listen", "\"notifications\":{}"); /* has no reason to */
    assert_int_equal(c->count, 1);
    const puppet_instance *t = up.puppet.latest;
    assert_int_equal(
        t->catalog->set(t->host, PATCHBAY_RESOURCES, puppet_str("[" RESOURCE("x:1") "]")),
        PATCHBAY_OK);
    assert_int_equal(t->catalog->set_capabilities(t->host, puppet_str(CAPABLE)), PATCHBAY_OK);
    up.holds = false;
    (void)puppet_finish(up.puppet.latest, echo_last(&up)->call, "{}");
    assert_int_equal(client_count(c, "\"resourceSubscriptions\":[\"x:1\"]"), 1);
    expect_asked(1, 0);
    fixture_stop(&fixture);
}

/* ---- changes --------------------------------------------------------------------------------- */

/* 2025-11-25 schema: what is updated may be a sub-resource of what was subscribed to. */
static void test_sub_resources(void **state)
{
    static const struct {
        const char *subscribed;
        const char *updated;
        bool told;
    } CASES[] = {
        {"y://d", "y://d/f", true},    {"y://d", "y://d/e/f", true}, {"y://d/", "y://d/f", true},
        {"y://d", "y://df", false},    {"y://d/f", "y://d", false},  {"y://d", "y://d?q", true},
        {"y://d", "y://d#frag", true}, {"y:", "y:x", false},         {"y://d", "y://d", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char want[64];
        start();
        client *c = client_open(&fixture, MODERN);
        char uris[64];
        (void)snprintf(uris, sizeof uris, "[\"%s\"]", CASES[i].subscribed);
        (void)listen(c, "1", uris);
        client_clear(c);
        update(CASES[i].updated);
        (void)snprintf(want, sizeof want, "\"uri\":\"%s\"}", CASES[i].updated);
        assert_int_equal(client_count(c, want), CASES[i].told);
        assert_int_equal(c->count, CASES[i].told);
        fixture_stop(&fixture);
    }
}

/* A client hears of a resource under the URI that it knows. */
static void test_shared_uri(void **state)
{
    echo b = {.puppet = {.on_call = echo_on_call,
                         .resources = "[" RESOURCE("x:1") "]",
                         .capabilities = CAPABLE}};
    (void)state;
    prepare();
    (void)fixture_toolset(&fixture, "u", &b.puppet, false);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client *m = client_open(&fixture, MODERN);
    (void)ask(c, SUBSCRIBE, "patchbay:u/x:1");
    (void)listen(m, "1", "[\"patchbay:u/x:1\"]");
    assert_string_equal(echo_last(&b)->tool, "x:1");
    assert_int_equal(b.count, 1);
    update("x:1"); /* of the other one */
    assert_int_equal(client_count(c, UPDATED) + client_count(m, UPDATED), 0);
    const puppet_instance *u = b.puppet.latest;
    assert_int_equal(u->catalog->updated(u->host, puppet_str("x:1/2")), PATCHBAY_OK);
    assert_int_equal(client_count(c, "\"uri\":\"patchbay:u/x:1/2\""), 1);
    assert_int_equal(client_count(m, "\"uri\":\"patchbay:u/x:1/2\""), 1);
    fixture_stop(&fixture);
}

static void test_bad_updates(void **state)
{
    static char uri[HUB_LIMIT_URI_BYTES + 1];
    (void)state;
    start();
    memset(uri, 'u', sizeof uri);
    const puppet_instance *t = up.puppet.latest;
    patchbay_str text = {.ptr = uri, .len = 0};
    assert_int_equal(t->catalog->updated(t->host, text), PATCHBAY_EINVAL);
    text.len = HUB_LIMIT_URI_BYTES;
    assert_int_equal(t->catalog->updated(t->host, text), PATCHBAY_OK);
    text.len = HUB_LIMIT_URI_BYTES + 1;
    assert_int_equal(t->catalog->updated(t->host, text), PATCHBAY_EINVAL);
    fixture_stop(&fixture);
}

static void *update_in_thread(void *arg)
{
    const puppet_instance *t = arg;
    (void)t->catalog->updated(t->host, puppet_str("x:1"));
    return NULL;
}

static bool is_told(void *ctx)
{
    return client_count(ctx, UPDATED) > 0;
}

static void test_other_thread(void **state)
{
    pthread_t thread;
    (void)state;
    start();
    client *c = client_open(&fixture, LEGACY);
    (void)ask(c, SUBSCRIBE, "x:1");
    assert_int_equal(pthread_create(&thread, NULL, update_in_thread, up.puppet.latest), 0);
    fixture_run_until(&fixture, is_told, c);
    assert_int_equal(pthread_join(thread, NULL), 0);
    fixture_stop(&fixture);
}

/* ---- toolsets that come and go --------------------------------------------------------------- */

/* Disabled in one profile: subscribers there hear nothing, those of another one do. */
static void test_disable(void **state)
{
    (void)state;
    prepare();
    fixture.profiles[1] = fixture.profiles[0];
    fixture.profiles[1].name = "second";
    fixture.settings.profile_count = 2;
    fixture_start(&fixture);
    client *a = client_open(&fixture, LEGACY);
    client *m = client_open(&fixture, MODERN);
    client *b = client_open_in(&fixture, LEGACY, "second");
    (void)ask(a, SUBSCRIBE, "x:1");
    (void)ask(a, SUBSCRIBE, "x:2");
    (void)listen(m, "1", "[\"x:1\"]");
    (void)ask(b, SUBSCRIBE, "x:1");
    expect_asked(2, 0);
    up.holds = true;
    client_request(a, "5", SUBSCRIBE, "\"uri\":\"y:1\"");
    up.holds = false;
    (void)client_ask(a, "6", "disable_toolset", "{\"toolset\":\"t\"}");
    assert_contains(client_reply(a, "5"), "\"error\":{\"code\":-31002");
    expect_asked(3, 2);
    update("x:1");
    assert_int_equal(client_count(a, UPDATED) + client_count(m, UPDATED), 0);
    assert_int_equal(client_count(b, UPDATED), 1);
    (void)client_ask(b, "6", "disable_toolset", "{\"toolset\":\"t\"}");
    expect_asked(3, 3);
    assert_int_equal(hub_notices_in(fixture_profile(&fixture)->sessions)->subscribers.count, 0);
    fixture_stop(&fixture);
}

/* What a client was promised holds when the toolset is back: for streams and sessions alike, in the
 * profile where it is back. */
static void test_enable_again(void **state)
{
    (void)state;
    prepare();
    fixture.profiles[1] = fixture.profiles[0];
    fixture.profiles[1].name = "second";
    fixture.settings.profile_count = 2;
    fixture_start(&fixture);
    client *a = client_open(&fixture, LEGACY);
    client *m = client_open(&fixture, MODERN);
    client *b = client_open_in(&fixture, LEGACY, "second");
    (void)ask(a, SUBSCRIBE, "x:1");
    (void)listen(m, "1", "[\"x:1\",\"x:2\"]");
    (void)ask(b, SUBSCRIBE, "x:2");
    expect_asked(2, 0);
    (void)client_ask(a, "6", "disable_toolset", "{\"toolset\":\"t\"}");
    expect_asked(2, 1); /* x:2 is still wanted by the other profile */
    (void)client_ask(b, "6", "disable_toolset", "{\"toolset\":\"t\"}");
    expect_asked(2, 2);
    for (int round = 0; round < 2; round++) {
        (void)client_ask(a, "7", "enable_toolset", "{\"toolset\":\"t\"}");
        expect_asked(4, 2);
        client_clear(a);
        client_clear(b);
        client_clear(m);
        update("x:1");
        update("x:2");
        assert_int_equal(client_count(a, UPDATED), 1);
        assert_int_equal(client_count(m, UPDATED), 2);
        assert_int_equal(client_count(b, UPDATED), 0);
    }
    (void)client_ask(b, "7", "enable_toolset", "{\"toolset\":\"t\"}");
    expect_asked(4, 2); /* x:2 is known already */
    update("x:2");
    assert_int_equal(client_count(b, UPDATED), 1);
    (void)client_ask(a, "8", "disable_toolset", "{\"toolset\":\"t\"}");
    client_cancel(m, "1"); /* asleep: nothing is to be told */
    assert_contains(ask(a, UNSUBSCRIBE, "x:1"), "\"result\":{}");
    expect_asked(4, 3);
    (void)client_ask(a, "9", "enable_toolset", "{\"toolset\":\"t\"}");
    expect_asked(4, 3);
    client_clear(a);
    update("x:1");
    assert_int_equal(client_count(a, UPDATED), 0);
    fixture_stop(&fixture);
}

/* A replaced module is told of what its predecessor knew. */
static void test_rebind(void **state)
{
    (void)state;
    start();
    client *a = client_open(&fixture, LEGACY);
    client *m = client_open(&fixture, MODERN);
    (void)ask(a, SUBSCRIBE, "x:1");
    (void)listen(m, "1", "[\"x:2\"]");
    up.holds = true;
    client_request(a, "5", SUBSCRIBE, "\"uri\":\"y:1\""); /* not answered by the old one */
    up.holds = false;
    const puppet_instance *old = up.puppet.latest;
    assert_int_equal(hub_toolset_rebind(hub_find_toolset(fixture.hub, HUB_STR("t")), NULL), HUB_OK);
    assert_ptr_not_equal(up.puppet.latest, old);
    expect_asked(3 + 3, 0);
    assert_contains(client_reply(a, "5"), "\"result\":{}");
    client_clear(a);
    update("x:1");
    update("x:2");
    update("y:1");
    assert_int_equal(client_count(a, UPDATED), 2);
    assert_int_equal(client_count(m, UPDATED), 1);
    fixture_stop(&fixture);
}

static void finish_last(int32_t status, const char *json)
{
    const puppet_instance *t = up.puppet.latest;
    (void)t->api->finish(t->host, echo_last(&up)->call, status, puppet_str(json));
}

/* A stream is acknowledged when it is known what is honoured; what changed before comes after. */
static void test_acknowledged_when_known(void **state)
{
    (void)state;
    start();
    client *m = client_open(&fixture, MODERN);
    up.holds = true;
    client_request(m, "1", "subscriptions/listen",
                   "\"notifications\":{\"resourcesListChanged\":true,"
                   "\"resourceSubscriptions\":[\"x:1\",\"x:2\"]}");
    expect_asked(2, 0);
    update("x:1");
    update("x:2");
    update("x:1"); /* once is enough */
    const puppet_instance *t = up.puppet.latest;
    assert_int_equal(
        t->catalog->set(t->host, PATCHBAY_RESOURCES, puppet_str("[" RESOURCE("x:1") "]")),
        PATCHBAY_OK);
    while (hub_notifier_count(
               hub_notifier_of(hub_profile_audience(hub_find_profile(fixture.hub, NULL)))) == 0) {
        ev_run(fixture.loop, EVRUN_ONCE);
    }
    assert_int_equal(m->count, 0);
    finish_last(PATCHBAY_RESULT, "{}");
    assert_int_equal(m->count, 0);
    (void)t->api->finish(t->host, up.requests[up.count - 2].call, PATCHBAY_FAILED,
                         puppet_str("no"));
    assert_int_equal(m->count, 3);
    assert_contains(m->messages[0], "{\"resourcesListChanged\":true,"
                                    "\"resourceSubscriptions\":[\"x:2\"]}");
    assert_contains(m->messages[1], "resources/list_changed");
    assert_contains(m->messages[2], "\"uri\":\"x:2\"");
    client_clear(m);
    update("x:1"); /* it was refused, and said so */
    update("x:2");
    assert_int_equal(m->count, 1);
    fixture_stop(&fixture);
}

/* A toolset that takes its time keeps nobody from hearing of others; if it refuses after all, the
 * stream was promised to hear of changes, and the next one asks again. */
static void test_acknowledged_after_a_while(void **state)
{
    (void)state;
    prepare();
    fixture.settings.limits.discover_timeout_ms = 50;
    fixture_start(&fixture);
    client *m = client_open(&fixture, MODERN);
    client *c = client_open(&fixture, LEGACY);
    up.holds = true;
    client_request(m, "1", "subscriptions/listen",
                   "\"notifications\":{\"resourceSubscriptions\":[\"x:1\"]}");
    assert_int_equal(m->count, 0);
    while (m->count == 0) {
        ev_run(fixture.loop, EVRUN_ONCE);
    }
    assert_contains(m->messages[0], "\"resourceSubscriptions\":[\"x:1\"]");
    finish_last(PATCHBAY_FAILED, "not now");
    up.holds = false;
    (void)ask(c, SUBSCRIBE, "x:1");
    expect_asked(2, 0);
    update("x:1");
    assert_int_equal(client_count(m, UPDATED), 1);
    fixture_stop(&fixture);
}

/* What ends the waiting: the client, its connection, and a toolset that is disabled, replaced, or
 * gives up on it. */
static void test_not_acknowledged(void **state)
{
    static const char X1[] = "\"notifications\":{\"resourceSubscriptions\":[\"x:1\"]}";
    static const char X2[] = "\"notifications\":{\"resourceSubscriptions\":[\"x:2\"]}";
    (void)state;
    start();
    client *m = client_open(&fixture, MODERN);
    client *gone = client_open(&fixture, MODERN);
    client *c = client_open(&fixture, LEGACY);
    up.holds = true;
    client_request(m, "1", "subscriptions/listen", X1);
    assert_int_equal(hub_toolset_rebind(hub_find_toolset(fixture.hub, HUB_STR("t")), NULL), HUB_OK);
    assert_int_equal(m->count, 0);
    finish_last(PATCHBAY_RESULT, "{}"); /* of the new one */
    assert_int_equal(client_count(m, "acknowledged"), 1);
    expect_asked(2, 0);
    client_clear(m);
    client_request(m, "2", "subscriptions/listen", X2);
    client_request(gone, "1", "subscriptions/listen", X2);
    client_close(gone);
    client_cancel(m, "2");
    expect_asked(3, 1);
    client_request(m, "3", "subscriptions/listen", X2);
    assert_int_equal(m->count, 0);
    (void)client_ask(c, "1", "disable_toolset", "{\"toolset\":\"t\"}");
    assert_int_equal(client_count(m, "acknowledged"), 1);
    fixture_stop(&fixture);
}

/* Shutting down: streams are completed, and the toolset is still told. */
static void test_stop(void **state)
{
    (void)state;
    start();
    client *m = client_open(&fixture, MODERN);
    (void)listen(m, "1", "[\"x:1\"]");
    hub_orchestrator_stop(fixture.hub);
    assert_contains(client_reply(m, "1"), "\"resultType\":\"complete\"");
    expect_asked(1, 1);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_legacy),
        cmocka_unit_test(test_counted),
        cmocka_unit_test(test_answer),
        cmocka_unit_test(test_asked_twice),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_modern),
        cmocka_unit_test(test_acknowledged_first),
        cmocka_unit_test(test_modern_limit),
        cmocka_unit_test(test_late_listen),
        cmocka_unit_test(test_sub_resources),
        cmocka_unit_test(test_shared_uri),
        cmocka_unit_test(test_bad_updates),
        cmocka_unit_test(test_other_thread),
        cmocka_unit_test(test_disable),
        cmocka_unit_test(test_enable_again),
        cmocka_unit_test(test_rebind),
        cmocka_unit_test(test_acknowledged_when_known),
        cmocka_unit_test(test_acknowledged_after_a_while),
        cmocka_unit_test(test_not_acknowledged),
        cmocka_unit_test(test_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
