/* SPDX-License-Identifier: Apache-2.0 */
/* Router: methods per era, handshake, envelopes, lists, subscriptions. */
#include "hub_fixture.h"
#include "hub/notices/subscription_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"

static hub_fixture fixture;

static void start(puppet *master, bool proxy)
{
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", master, proxy);
    fixture_start(&fixture);
}

/* ---- eras ------------------------------------------------------------------------------------ */

/* S5.49 … S5.52; each era has its methods, and no others. */
static void test_methods_per_era(void **state)
{
    static const struct {
        const char *method;
        const char *params;
        bool legacy;
        bool modern;
    } CASES[] = {
        {"tools/list", "", true, true},
        {"tools/call", "\"name\":\"t__a\"", true, true},
        {"ping", "", true, false},
        {"logging/setLevel", "\"level\":\"debug\"", true, false},
        {"server/discover", "", false, true},
        {"initialize", "", false, false}, /* a second time, or by nobody who needs it */
        {"resources/nonsense", "", false, false},
        {"", "", false, false},
    };
    puppet master = {.tools = "[" TOOL("a") "]"};
    (void)state;
    start(&master, false);
    client *legacy = client_open(&fixture, LEGACY);
    client *modern = client_open(&fixture, MODERN);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        client_request(legacy, "1", CASES[i].method, CASES[i].params);
        client_request(modern, "1", CASES[i].method, CASES[i].params);
        assert_int_equal(legacy->count, 1);
        assert_int_equal(modern->count, 1);
        assert_int_equal(client_count(legacy, "\"result\""), CASES[i].legacy);
        assert_int_equal(client_count(modern, "\"result\""), CASES[i].modern);
        assert_int_equal(client_count(modern, "\"resultType\":\"complete\""), CASES[i].modern);
        assert_int_equal(client_count(legacy, "resultType"), 0);
        client_clear(legacy);
        client_clear(modern);
    }
    client_request(legacy, "2", "server/discover", "");
    assert_contains(client_reply(legacy, "2"), "\"code\":-32601");
    assert_contains(client_reply(legacy, "2"), "Method not found: server/discover");
    fixture_stop(&fixture);
}

/* Versioning: known revisions are agreed on, others get the newest of the handshake era. */
static void test_initialize(void **state)
{
    static const struct {
        const char *asked;
        const char *answered;
    } CASES[] = {
        {"\"2024-11-05\"", "2024-11-05"}, {"\"2025-03-26\"", "2025-03-26"},
        {"\"2025-06-18\"", "2025-06-18"}, {"\"2025-11-25\"", "2025-11-25"},
        {"\"2026-07-28\"", "2025-11-25"}, {"\"1999-01-01\"", "2025-11-25"},
        {"\"\"", "2025-11-25"},           {"\"2025-06-1\\u0038\"", "2025-11-25"},
    };
    puppet master = {.tools = "[]"};
    (void)state;
    start(&master, false);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char params[128];
        char want[64];
        client *c = client_open(&fixture, BARE);
        (void)snprintf(params, sizeof params, "\"protocolVersion\":%s", CASES[i].asked);
        (void)snprintf(want, sizeof want, "\"protocolVersion\":\"%s\"", CASES[i].answered);
        client_request(c, "1", "initialize", params);
        assert_contains(client_reply(c, "1"), want);
        assert_contains(client_reply(c, "1"), "\"listChanged\":true");
        client_request(c, "2", "initialize", params);
        assert_contains(client_reply(c, "2"), "\"code\":-32600");
        client_close(c);
    }
    client *c = client_open(&fixture, BARE);
    client_request(c, "1", "initialize", "");
    assert_contains(client_reply(c, "1"), "\"code\":-32602");
    client_request(c, "2", "tools/list", ""); /* neither era */
    assert_contains(client_reply(c, "2"), "\"code\":-32602");
    client_request(c, "3", "ping", "");
    assert_contains(client_reply(c, "3"), "\"result\":{}");
    fixture_stop(&fixture);
}

/* A client of either era on one connection, one after the other (P08). */
static void test_modern_context(void **state)
{
    puppet master = {.tools = "[]"};
    (void)state;
    start(&master, false);
    client *c = client_open(&fixture, LEGACY);
    client_send(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
                   "\"" HUB_META_PROTOCOL_VERSION
                   "\":\"2026-07-28\",\"" HUB_META_CLIENT_CAPABILITIES "\":{}}}}");
    assert_contains(client_reply(c, "1"), "\"resultType\":\"complete\"");
    client_send(c, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
                   "\"" HUB_META_PROTOCOL_VERSION
                   "\":\"2077-01-01\",\"" HUB_META_CLIENT_CAPABILITIES "\":{}}}}");
    assert_contains(client_reply(c, "2"), "\"code\":-32022");
    assert_contains(client_reply(c, "2"), "\"supported\":[\"2026-07-28\"]");
    assert_contains(client_reply(c, "2"), "\"requested\":\"2077-01-01\"");
    client_send(c, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
                   "\"" HUB_META_PROTOCOL_VERSION "\":\"2026-07-28\"}}}");
    assert_contains(client_reply(c, "3"), "\"code\":-32602");
    fixture_stop(&fixture);
}

/* P02, P11: what is no request is answered without an id, or not at all. */
static void test_envelopes(void **state)
{
    static const struct {
        const char *text;
        const char *answer; /* NULL: none */
    } CASES[] = {
        {"{", "\"code\":-32700"},
        {"[]", "\"code\":-32600"},
        {"7", "\"code\":-32600"},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", "\"code\":-32600"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", "\"code\":-32600"},
        {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", "\"id\":1,\"error\""},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/whatever\"}", NULL},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"t__a\"}}", NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"x\"}}", NULL},
    };
    puppet master = {.tools = "[" TOOL("a") "]"};
    (void)state;
    start(&master, false);
    client *c = client_open(&fixture, LEGACY);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        client_send(c, "%s", CASES[i].text);
        assert_int_equal(c->count, CASES[i].answer != NULL);
        if (CASES[i].answer != NULL) {
            assert_contains(c->messages[0], CASES[i].answer);
        }
        client_clear(c);
    }
    assert_int_equal(master.calls, 0);
    hub_session_refuse_oversize(c->session, &c->port, 4194304);
    assert_contains(c->messages[0], "at most 4194304 bytes");
    fixture_stop(&fixture);
}

/* 2025-03-26 has batches, and only that; each message in it is answered by itself. */
static void test_batches(void **state)
{
    static const char BATCH[] = "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},7,"
                                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"},"
                                "[{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}],"
                                "{\"jsonrpc\":\"2.0\",\"id\":\"4\",\"method\":\"ping\"}]";
    puppet master = {.tools = "[]"};
    (void)state;
    start(&master, false);
    client *c = client_open(&fixture, BARE);
    client_send(c, "%s", BATCH);
    assert_int_equal(c->count, 1);
    assert_contains(c->messages[0], "\"code\":-32600");
    client_request(c, "0", "initialize", "\"protocolVersion\":\"2025-03-26\"");
    client_clear(c);
    client_send(c, "%s", BATCH);
    assert_int_equal(c->count, 4);
    assert_contains(client_reply(c, "1"), "\"result\":{}");
    assert_contains(client_reply(c, "\"4\""), "\"result\":{}");
    assert_int_equal(client_count(c, "\"code\":-32600"), 2);
    assert_null(client_reply(c, "3"));
    client_clear(c);
    client_send(c, "[]");
    assert_contains(c->messages[0], "\"code\":-32600");
    fixture_stop(&fixture);
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* server/utilities/pagination: pages are the whole, in order; cursors survive changes of the list.
 */
static void test_pages(void **state)
{
    puppet master = {.tools =
                         "[" TOOL("c") "," TOOL("a") "," TOOL("e") "," TOOL("b") "," TOOL("d") "]"};
    static const char *const WANT[] = {"t__a", "t__b", "t__c", "t__d", "t__e"};
    (void)state;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &master, false);
    fixture.settings.limits.list_page = 1;
    fixture.profiles[0].meta_tools = false;
    fixture_start(&fixture);
    client *c = client_open(&fixture, MODERN);
    char params[512] = "";
    for (size_t i = 0; i < 5; i++) {
        client_request(c, "1", "tools/list", params);
        hub_message message;
        assert_int_equal(hub_message_scan(hub_str_of(c->messages[0]), &message, NULL), HUB_OK);
        hub_str tools = hub_json_get(message.at[HUB_M_RESULT], HUB_STR("tools"));
        assert_int_equal(hub_json_count(tools), 1);
        assert_contains(c->messages[0], WANT[i]);
        hub_str cursor = hub_json_get(message.at[HUB_M_RESULT], HUB_STR("nextCursor"));
        assert_int_equal(cursor.len > 0, i < 4);
        (void)snprintf(params, sizeof params, "\"cursor\":" HUB_STR_FMT, HUB_STR_ARG(cursor));
        if (i == 1) { /* the one that the cursor names goes, one behind it comes */
            master.latest->api->set_tools(
                master.latest->host,
                puppet_str("[" TOOL("a") "," TOOL("c") "," TOOL("d") "," TOOL("e") "]"));
        }
        client_clear(c);
    }
    fixture_stop(&fixture);
}

/* P14: a forged cursor is refused; null is no cursor. */
static void test_cursors(void **state)
{
    static const char *const BAD[] = {
        "\"\"",
        "7",
        "{}",
        "\"zz\"",
        "\"0\"",
        "\"00000000000000007461\"",
        "\"00112233445566778899aabbccddeeff\"",
        "\"0011223344556677\"",
        "\"\\u0030\"",
        "true",
    };
    puppet master = {.tools = "[" TOOL("a") "," TOOL("b") "]"};
    (void)state;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &master, false);
    fixture.settings.limits.list_page = 1;
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        char params[128];
        (void)snprintf(params, sizeof params, "\"cursor\":%s", BAD[i]);
        client_request(c, "1", "tools/list", params);
        assert_contains(client_reply(c, "1"), "\"code\":-32602");
        client_clear(c);
    }
    client_request(c, "2", "tools/list", "\"cursor\":null");
    const char *first = client_reply(c, "2");
    assert_contains(first, "\"nextCursor\":\"");
    char cursor[256];
    assert_int_equal(sscanf(strstr(first, "\"nextCursor\":\"") + 14, "%255[0-9a-f]", cursor), 1);
    size_t len = strlen(cursor);
    for (size_t i = 0; i < len; i++) { /* every digit counts */
        char params[512];
        char was = cursor[i];
        cursor[i] = was == '0' ? '1' : '0';
        (void)snprintf(params, sizeof params, "\"cursor\":\"%s\"", cursor);
        cursor[i] = was;
        client_request(c, "3", "tools/list", params);
        assert_contains(client_reply(c, "3"), "\"code\":-32602");
        client_clear(c);
    }
    char params[512];
    (void)snprintf(params, sizeof params, "\"cursor\":\"%s\"", cursor);
    client_request(c, "4", "tools/list", params);
    assert_contains(client_reply(c, "4"), "\"result\"");
    fixture_stop(&fixture);
}

/* ---- subscriptions --------------------------------------------------------------------------- */

/* basic/patterns/subscriptions: acknowledged first, only what is honoured; ended by a cancel. */
static void test_listen(void **state)
{
    puppet master = {.tools = "[" TOOL("a") "]"};
    (void)state;
    start(&master, false);
    client *c = client_open(&fixture, MODERN);
    client_request(c, "1", "subscriptions/listen",
                   "\"notifications\":{\"toolsListChanged\":true,\"tasksChanged\":true,"
                   "\"resourcesListChanged\":false,\"resourceSubscriptions\":[\"x://y\"]}");
    client_request(c, "\"1\"", "subscriptions/listen", "\"notifications\":{}");
    assert_int_equal(c->count, 2);
    assert_string_equal(c->messages[0],
                        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/"
                        "acknowledged\",\"params\":{\"_meta\":{"
                        "\"io.modelcontextprotocol/subscriptionId\":1},"
                        "\"notifications\":{\"toolsListChanged\":true}}}");
    assert_contains(c->messages[1], "\"notifications\":{}}");
    client_clear(c);
    client_request(c, "1", "tools/list", ""); /* its id is in use */
    assert_contains(client_reply(c, "1"), "\"code\":-32600");
    client_request(c, "2", "subscriptions/listen", "");
    assert_contains(client_reply(c, "2"), "\"code\":-32602");
    client_clear(c);
    master.latest->api->set_tools(master.latest->host, puppet_str("[" TOOL("b") "]"));
    fixture_settle(&fixture);
    assert_int_equal(c->count, 1);
    assert_contains(c->messages[0], "\"io.modelcontextprotocol/subscriptionId\":1}");
    client_cancel(c, "1");
    client_cancel(c, "1");
    client_cancel(c, "\"1\"");
    client_clear(c);
    assert_null(hub_notices_in(c->session)->listens);
    assert_int_equal(hub_notices_in(c->session)->listen_count, 0);
    client_request(c, "1", "tools/list", ""); /* free again */
    assert_contains(client_reply(c, "1"), "\"result\"");
    fixture_stop(&fixture);
}

/* B7: as many subscriptions as there may be, and one more. */
static void test_listen_limit(void **state)
{
    puppet master = {.tools = "[]"};
    (void)state;
    start(&master, false);
    client *c = client_open(&fixture, MODERN);
    for (unsigned i = 0; i <= HUB_LIMIT_LISTENS_PER_SESSION; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "%u", i);
        client_request(c, id, "subscriptions/listen", "\"notifications\":{}");
        assert_int_equal(client_reply(c, id) != NULL, i == HUB_LIMIT_LISTENS_PER_SESSION);
    }
    assert_int_equal(client_count(c, "\"code\":-31001"), 1);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_methods_per_era), cmocka_unit_test(test_initialize),
        cmocka_unit_test(test_modern_context),  cmocka_unit_test(test_envelopes),
        cmocka_unit_test(test_batches),         cmocka_unit_test(test_pages),
        cmocka_unit_test(test_cursors),         cmocka_unit_test(test_listen),
        cmocka_unit_test(test_listen_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
