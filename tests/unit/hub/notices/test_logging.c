/* SPDX-License-Identifier: Apache-2.0 */
/* Log messages for clients: who gets which, and what toolsets are told of it. */
#include "echo_puppet.h"

#include <patchbay/wire.h>
#include <pthread.h>

#include "base/limits.h"

static hub_fixture fixture;
static echo up;

enum { FIRST = 0, LAST = 7 };
static const char *const LEVELS[] = {"debug", "info",     "notice", "warning",
                                     "error", "critical", "alert",  "emergency"};

#define MESSAGE "notifications/message"

static void start(const char *capabilities)
{
    up = (echo){.puppet = {.on_call = echo_on_call,
                           .tools = "[" TOOL("a") "]",
                           .prompts = "[" PROMPT("p") "]",
                           .capabilities = capabilities}};
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &up.puppet, false);
    fixture_start(&fixture);
}

static int32_t say(patchbay_call call, const char *params)
{
    const puppet_instance *t = up.puppet.latest;
    return t->client->message(t->host, call, puppet_str(params));
}

static int32_t say_at(patchbay_call call, int level)
{
    char params[128];
    (void)snprintf(params, sizeof params, "{\"level\":\"%s\",\"data\":[1.10]}", LEVELS[level]);
    return say(call, params);
}

static void set_level(client *c, int level)
{
    char params[64];
    (void)snprintf(params, sizeof params, "\"level\":\"%s\"", LEVELS[level]);
    client_request(c, "\"level\"", "logging/setLevel", params);
    assert_contains(client_wait(c, "\"level\""), "\"result\":{}");
}

/* A tools/call of a modern client with a level. */
static void call_with_level(client *c, const char *id, const char *level)
{
    client_send(c,
                "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"tools/call\",\"params\":{\"_meta\":{"
                "\"" HUB_META_PROTOCOL_VERSION "\":\"2026-07-28\","
                "\"" HUB_META_CLIENT_CAPABILITIES "\":{},"
                "\"" HUB_META_LOG_LEVEL "\":\"%s\"},\"name\":\"t__a\"}}",
                id, level);
}

/* ---- legacy ---------------------------------------------------------------------------------- */

/* 2025-11-25 server/utilities/logging: at the level and above; "info" as long as none was set. */
static void test_legacy_levels(void **state)
{
    (void)state;
    start("{\"logging\":{}}");
    client *c = client_open(&fixture, LEGACY);
    up.holds = true;
    client_call(c, "1", "t__a", "{}");
    patchbay_call call = echo_last(&up)->call;
    for (int set = FIRST - 1; set <= LAST; set++) {
        int least = set < FIRST ? 1 : set;
        if (set >= FIRST) {
            set_level(c, set);
        }
        for (int level = FIRST; level <= LAST; level++) {
            client_clear(c);
            assert_int_equal(say_at(call, level), PATCHBAY_OK);
            assert_int_equal(client_count(c, MESSAGE), level >= least);
            assert_int_equal(say_at((patchbay_call){0}, level), PATCHBAY_OK);
            assert_int_equal(client_count(c, MESSAGE), 2 * (level >= least));
        }
    }
    (void)say_at(call, LAST);
    assert_string_equal(c->messages[c->count - 1],
                        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":"
                        "{\"level\":\"emergency\",\"data\":[1.10]}}");
    client_request(c, "2", "logging/setLevel", "\"level\":\"loud\"");
    assert_contains(client_reply(c, "2"), "\"code\":-32602");
    client_request(c, "3", "logging/setLevel", "");
    assert_contains(client_reply(c, "3"), "\"code\":-32602");
    fixture_stop(&fixture);
}

/* Who was announced no messages gets those alone that it asks for. */
static void test_unannounced(void **state)
{
    (void)state;
    start(NULL);
    client *c = client_open(&fixture, LEGACY);
    up.holds = true;
    client_call(c, "1", "t__a", "{}");
    patchbay_call call = echo_last(&up)->call;
    assert_int_equal(say_at(call, LAST), PATCHBAY_OK);
    assert_int_equal(say_at((patchbay_call){0}, LAST), PATCHBAY_OK);
    assert_int_equal(client_count(c, MESSAGE), 0);
    set_level(c, 3);
    assert_int_equal(say_at(call, 3), PATCHBAY_OK);
    assert_int_equal(say_at((patchbay_call){0}, 3), PATCHBAY_OK);
    assert_int_equal(client_count(c, MESSAGE), 2);
    fixture_stop(&fixture);
}

/* The messages of a call go to its client alone, and to the port that the call came with. */
static void test_own_call(void **state)
{
    (void)state;
    start("{\"logging\":{}}");
    client *mine = client_open(&fixture, LEGACY);
    client *other = client_open(&fixture, LEGACY);
    client *stream = client_open(&fixture, BARE); /* its port serves as a response stream */
    hub_message message;
    static const char text[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
                               "\"params\":{\"name\":\"t__a\"}}";
    up.holds = true;
    assert_int_equal(hub_message_scan(hub_str_of(text), &message, NULL), HUB_OK);
    hub_session_take(mine->session, &stream->port, &message);
    patchbay_call call = echo_last(&up)->call;
    assert_int_equal(say_at(call, LAST), PATCHBAY_OK);
    assert_int_equal(client_count(stream, MESSAGE), 1);
    assert_int_equal(client_count(mine, MESSAGE), 0);
    assert_int_equal(client_count(other, MESSAGE), 0);
    (void)puppet_finish(up.puppet.latest, call, "{\"content\":[]}");
    assert_int_equal(say_at(call, LAST), PATCHBAY_ESTALE);
    assert_int_equal(client_count(stream, MESSAGE), 1);
    fixture_stop(&fixture);
}

/* A message of no call reaches the clients of every profile that has the toolset. */
static void test_broadcast(void **state)
{
    (void)state;
    up = (echo){.puppet = {.on_call = echo_on_call,
                           .tools = "[" TOOL("a") "]",
                           .capabilities = "{\"logging\":{}}"}};
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &up.puppet, false);
    fixture.profiles[1] = fixture.profiles[0];
    fixture.profiles[1].name = "second";
    fixture.profiles[2] = fixture.profiles[0];
    fixture.profiles[2].name = "without";
    fixture.profiles[2].startup = HUB_STARTUP_DYNAMIC;
    fixture.settings.profile_count = 3;
    fixture_start(&fixture);
    client *clients[] = {
        client_open(&fixture, LEGACY),
        client_open_in(&fixture, LEGACY, "second"),
        client_open_in(&fixture, LEGACY, "without"),
        client_open(&fixture, MODERN),
        client_open(&fixture, BARE), /* no handshake yet */
    };
    assert_int_equal(say_at((patchbay_call){0}, LAST), PATCHBAY_OK);
    for (size_t i = 0; i < sizeof clients / sizeof clients[0]; i++) {
        assert_int_equal(client_count(clients[i], MESSAGE), i < 2);
    }
    fixture_stop(&fixture);
}

/* ---- modern ---------------------------------------------------------------------------------- */

/* Requesting Log Messages: with the request that asks, at its level, and never elsewhere. */
static void test_modern(void **state)
{
    (void)state;
    start(NULL);
    client *c = client_open(&fixture, MODERN);
    client_request(c, "9", "subscriptions/listen", "\"notifications\":{}");
    up.holds = true;
    client_call(c, "1", "t__a", "{}");
    patchbay_call silent = echo_last(&up)->call;
    call_with_level(c, "2", "warning");
    patchbay_call loud = echo_last(&up)->call;
    for (int level = FIRST; level <= LAST; level++) {
        client_clear(c);
        assert_int_equal(say_at(silent, level), PATCHBAY_OK);
        assert_int_equal(say_at((patchbay_call){0}, level), PATCHBAY_OK);
        assert_int_equal(client_count(c, MESSAGE), 0);
        assert_int_equal(say_at(loud, level), PATCHBAY_OK);
        assert_int_equal(client_count(c, MESSAGE), level >= 3);
        assert_int_equal(client_count(c, "subscriptionId"), 0);
    }
    fixture_stop(&fixture);
}

/* A message that is about one of the calls in flight, nobody says which: it goes to their client if
 * that is a single one, and each of its calls would have it. */
static void test_some_call(void **state)
{
    static const patchbay_call SOME = {.id = PATCHBAY_SOME_CALL};
    (void)state;
    start(NULL);
    client *legacy = client_open(&fixture, LEGACY);
    client *modern = client_open(&fixture, MODERN);
    up.holds = true;
    assert_int_equal(say_at(SOME, LAST), PATCHBAY_ESTATE); /* there is none */
    call_with_level(modern, "1", "debug");
    call_with_level(modern, "2", "warning");
    assert_int_equal(say_at(SOME, 2), PATCHBAY_OK); /* the second must not have it */
    assert_int_equal(client_count(modern, MESSAGE), 0);
    assert_int_equal(say_at(SOME, 3), PATCHBAY_OK);
    assert_int_equal(client_count(modern, MESSAGE), 1);
    call_with_level(modern, "4", "debug");
    assert_int_equal(say_at(SOME, 2), PATCHBAY_OK); /* whichever is the newest */
    assert_int_equal(client_count(modern, MESSAGE), 1);
    client_call(modern, "3", "t__a", "{}");
    assert_int_equal(say_at(SOME, LAST), PATCHBAY_OK); /* nor this one anything */
    assert_int_equal(client_count(modern, MESSAGE), 1);
    client_call(legacy, "1", "t__a", "{}");
    assert_int_equal(say_at(SOME, LAST), PATCHBAY_ESTATE); /* there are two */
    assert_int_equal(client_count(modern, MESSAGE) + client_count(legacy, MESSAGE), 1);
    client_close(modern);
    client_call(legacy, "2", "t__a", "{}");
    set_level(legacy, 4);
    assert_int_equal(say_at(SOME, 3), PATCHBAY_OK);
    assert_int_equal(say_at(SOME, 4), PATCHBAY_OK);
    assert_int_equal(client_count(legacy, MESSAGE), 1);
    assert_int_equal(say(SOME, "{\"level\":\"error\"}"), PATCHBAY_EINVAL);
    fixture_stop(&fixture);
}

/* ---- what toolsets are told ------------------------------------------------------------------ */

static void expect_told(size_t times, const char *params)
{
    const echo_request *last = NULL;
    for (size_t i = 0; i < up.count; i++) {
        if (strcmp(up.requests[i].method, "logging/setLevel") == 0) {
            last = &up.requests[i];
        }
    }
    assert_int_equal(echo_count(&up, "logging/setLevel"), times);
    assert_string_equal(last != NULL ? last->params : "", params);
}

/* The most talkative level that any client wants, when it changes. */
static void test_told_level(void **state)
{
    (void)state;
    start("{\"logging\":{}}");
    client *a = client_open(&fixture, LEGACY);
    client *b = client_open(&fixture, LEGACY);
    client *c = client_open(&fixture, MODERN);
    expect_told(0, "");
    set_level(a, 4);
    expect_told(1, "{\"level\":\"error\"}");
    set_level(b, 6);
    expect_told(1, "{\"level\":\"error\"}");
    set_level(b, 2);
    expect_told(2, "{\"level\":\"notice\"}");
    client_close(b);
    expect_told(3, "{\"level\":\"error\"}");
    call_with_level(c, "1", "info"); /* told before the call */
    expect_told(4, "{\"level\":\"info\"}");
    assert_string_equal(echo_last(&up)->method, "tools/call");
    call_with_level(c, "2", "alert");
    client_call(c, "3", "t__a", "{}");
    expect_told(4, "{\"level\":\"info\"}");
    set_level(a, 0);
    expect_told(5, "{\"level\":\"debug\"}");
    fixture_stop(&fixture);
}

/* Who does not say that it logs is not told; who says it later is. */
static void test_told_when_capable(void **state)
{
    (void)state;
    start(NULL);
    client *c = client_open(&fixture, LEGACY);
    set_level(c, 3);
    (void)client_ask(c, "1", "t__a", "{}");
    expect_told(0, "");
    const puppet_instance *t = up.puppet.latest;
    assert_int_equal(t->catalog->set_capabilities(t->host, puppet_str("{\"logging\":{}}")),
                     PATCHBAY_OK);
    expect_told(1, "{\"level\":\"warning\"}");
    (void)client_ask(c, "2", "disable_toolset", "{\"toolset\":\"t\"}");
    (void)client_ask(c, "3", "enable_toolset", "{\"toolset\":\"t\"}");
    t = up.puppet.latest;
    assert_int_equal(t->number, 2);
    assert_int_equal(t->catalog->set_capabilities(t->host, puppet_str("{\"logging\":{}}")),
                     PATCHBAY_OK);
    expect_told(2, "{\"level\":\"warning\"}"); /* the new instance does not know */
    fixture_stop(&fixture);
}

/* What a proxy sends to a server of 2026-07-28 for a call. */
static char framed[1024];

static void frame_call(puppet_instance *instance, patchbay_call call,
                       const patchbay_request *request)
{
    const patchbay_wire_v1 *wire = instance->api->get_interface(instance->host, PATCHBAY_WIRE_V1);
    patchbay_peer peer = {.struct_size = sizeof peer, .version = HUB_STR("2026-07-28")};
    patchbay_str parts[PATCHBAY_FRAME_PARTS];
    int32_t count = wire->frame_request(instance->host, call, request, &peer, HUB_STR_EMPTY, parts);
    size_t len = 0;
    assert_true(count > 0);
    for (int32_t i = 0; i < count; i++) {
        len +=
            (size_t)snprintf(framed + len, sizeof framed - len, HUB_STR_FMT, HUB_STR_ARG(parts[i]));
    }
    (void)puppet_finish(instance, call, "{\"content\":[]}");
}

/* The level of a legacy client becomes that of each of its calls. */
static void test_level_for_modern_server(void **state)
{
    (void)state;
    start(NULL);
    up.puppet.on_call = frame_call;
    client *c = client_open(&fixture, LEGACY);
    (void)client_ask(c, "1", "t__a", "{}");
    assert_lacks(framed, HUB_META_LOG_LEVEL);
    set_level(c, 2);
    (void)client_ask(c, "2", "t__a", "{}");
    assert_contains(framed, "\"" HUB_META_LOG_LEVEL "\":\"notice\"");
    client *m = client_open(&fixture, MODERN);
    call_with_level(m, "1", "alert");
    assert_contains(framed, "\"" HUB_META_LOG_LEVEL "\":\"alert\"");
    fixture_stop(&fixture);
}

/* A toolset that one more profile has is told at the next call what clients want there. */
static void test_told_for_new_profile(void **state)
{
    (void)state;
    up = (echo){.puppet = {.on_call = echo_on_call,
                           .tools = "[" TOOL("a") "]",
                           .capabilities = "{\"logging\":{}}"}};
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &up.puppet, false);
    fixture.profiles[1] = fixture.profiles[0];
    fixture.profiles[1].name = "second";
    fixture.profiles[1].startup = HUB_STARTUP_DYNAMIC;
    fixture.settings.profile_count = 2;
    fixture_start(&fixture);
    client *c = client_open_in(&fixture, LEGACY, "second");
    set_level(c, 0);
    expect_told(0, "");
    (void)client_ask(c, "1", "enable_toolset", "{\"toolset\":\"t\"}");
    (void)client_ask(c, "2", "t__a", "{}");
    expect_told(1, "{\"level\":\"debug\"}");
    assert_string_equal(echo_last(&up)->method, "tools/call");
    fixture_stop(&fixture);
}

/* ---- client/1 -------------------------------------------------------------------------------- */

static void test_bad_messages(void **state)
{
    static const char *const BAD[] = {
        "",
        "{",
        "[]",
        "{}",
        "{\"level\":\"info\"}",
        "{\"data\":1}",
        "{\"level\":\"loud\",\"data\":1}",
        "{\"level\":3,\"data\":1}",
    };
    (void)state;
    start("{\"logging\":{}}");
    client *c = client_open(&fixture, LEGACY);
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        assert_int_equal(say((patchbay_call){0}, BAD[i]), PATCHBAY_EINVAL);
    }
    assert_int_equal(say((patchbay_call){.id = 77}, "{\"level\":\"info\",\"data\":null}"),
                     PATCHBAY_ESTALE);
    assert_int_equal(client_count(c, MESSAGE), 0);
    assert_int_equal(say((patchbay_call){0}, " {\"data\":null,\"level\":\"\\u0069nfo\"} "),
                     PATCHBAY_OK);
    assert_int_equal(client_count(c, MESSAGE), 1);
    fixture_stop(&fixture);
}

/* From another thread, in front of the answer of the same thread. */
static void *talk(void *arg)
{
    const echo_request *request = arg;
    const puppet_instance *t = up.puppet.latest;
    (void)t->client->message(t->host, request->call, puppet_str("{\"level\":\"info\",\"data\":1}"));
    (void)t->client->release(t->host, request->call);
    (void)t->api->finish(t->host, request->call, PATCHBAY_RESULT, puppet_str("{\"content\":[]}"));
    return NULL;
}

static unsigned releases;

static void note_release(hub_port *port)
{
    (void)port;
    releases++;
}

static void test_other_thread(void **state)
{
    pthread_t thread;
    (void)state;
    start("{\"logging\":{}}");
    client *c = client_open(&fixture, LEGACY);
    hub_port_ops ops = *c->port.ops;
    ops.release = note_release;
    c->port.ops = &ops;
    releases = 0;
    up.holds = true;
    client_clear(c);
    client_call(c, "1", "t__a", "{}");
    assert_int_equal(pthread_create(&thread, NULL, talk, &up.requests[0]), 0);
    (void)client_wait(c, "1");
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(c->count, 2);
    assert_contains(c->messages[0], MESSAGE);
    assert_contains(c->messages[1], "\"result\"");
    assert_int_equal(releases, 1);
    fixture_stop(&fixture);
}

/* A port that can let go is told to; for others, and when nobody waits, nothing happens. */
static void test_release(void **state)
{
    (void)state;
    start(NULL);
    client *c = client_open(&fixture, LEGACY);
    const hub_port_ops *plain = c->port.ops;
    hub_port_ops ops = *plain;
    ops.release = note_release;
    releases = 0;
    up.holds = true;
    client_call(c, "1", "t__a", "{}");
    const puppet_instance *t = up.puppet.latest;
    patchbay_call call = echo_last(&up)->call;
    assert_int_equal(t->client->release(t->host, call), PATCHBAY_OK);
    c->port.ops = &ops;
    assert_int_equal(t->client->release(t->host, call), PATCHBAY_OK);
    assert_int_equal(releases, 1);
    (void)puppet_finish(up.puppet.latest, call, "{\"content\":[]}");
    assert_int_equal(t->client->release(t->host, call), PATCHBAY_ESTALE);
    assert_int_equal(releases, 1);
    c->port.ops = plain;
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_legacy_levels),
        cmocka_unit_test(test_unannounced),
        cmocka_unit_test(test_own_call),
        cmocka_unit_test(test_broadcast),
        cmocka_unit_test(test_modern),
        cmocka_unit_test(test_some_call),
        cmocka_unit_test(test_told_level),
        cmocka_unit_test(test_told_when_capable),
        cmocka_unit_test(test_level_for_modern_server),
        cmocka_unit_test(test_told_for_new_profile),
        cmocka_unit_test(test_bad_messages),
        cmocka_unit_test(test_other_thread),
        cmocka_unit_test(test_release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
