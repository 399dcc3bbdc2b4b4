/* SPDX-License-Identifier: Apache-2.0 */
/* Router: tools/call, from the client's bytes to the module and back, and progress. */
#include "hub_fixture.h"
#include "hub/router/stations.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>

static hub_fixture fixture;

/* The request that the puppet saw last. */
static struct {
    char tool[160];
    char args[512];
    char params[1024];
    char meta[512];
    char name[160];
    char method[64];
    uint32_t flags;
    uint64_t deadline_ms;
} seen;

static void copy(char *to, size_t size, patchbay_str from)
{
    (void)snprintf(to, size, HUB_STR_FMT, HUB_STR_ARG(from));
}

static void see(puppet_instance *instance, patchbay_call call, const patchbay_request *request)
{
    copy(seen.tool, sizeof seen.tool, request->tool);
    copy(seen.args, sizeof seen.args, request->args_json);
    copy(seen.params, sizeof seen.params, request->params_json);
    copy(seen.meta, sizeof seen.meta, request->meta_json);
    copy(seen.name, sizeof seen.name, request->name_json);
    copy(seen.method, sizeof seen.method, request->method);
    seen.flags = request->flags;
    seen.deadline_ms = request->deadline_ms;
    (void)puppet_finish(instance, call,
                        instance->puppet->ctx != NULL ? instance->puppet->ctx : "{\"content\":[]}");
}

static void start(puppet *master, bool proxy)
{
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", master, proxy);
    fixture_start(&fixture);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* S3.6, S3.59, S3.60, S5.44: the module sees its own name and the very bytes; so does the client.
 */
static void test_bytes_through(void **state)
{
    static char result[] = "{ \"content\":[{\"type\":\"text\",\"text\":\"\\u00e4\"}],"
                           "\"x\":[1e400,-0,1.10,\"\\ud83d\"] }";
    puppet master = {.tools = "[{\"name\":\"Sea.rch\",\"inputSchema\":{\"type\":\"object\"}}]",
                     .on_call = see,
                     .ctx = result};
    (void)state;
    start(&master, true);
    client *c = client_open(&fixture, LEGACY);
    client_send(c, "{\"jsonrpc\":\"2.0\",\"id\":\"a\\/b\",\"method\":\"tools/call\",\"params\":{"
                   "\"x\":1, \"arguments\" : {\"n\":1e400,\"n2\":-0},\"name\":\"t__Sea.r\\u0063h\","
                   "\"_meta\":{\"k\":1.10}}}");
    assert_string_equal(seen.tool, "Sea.rch");
    assert_string_equal(seen.args, "{\"n\":1e400,\"n2\":-0}");
    assert_string_equal(seen.name, "\"t__Sea.r\\u0063h\"");
    assert_string_equal(seen.meta, "{\"k\":1.10}");
    assert_string_equal(seen.method, "tools/call");
    assert_memory_equal(seen.params, "{\"x\":1, \"arguments\" : ", 22);
    assert_int_equal(seen.flags, 0);
    char want[256];
    (void)snprintf(want, sizeof want, "{\"jsonrpc\":\"2.0\",\"id\":\"a\\/b\",\"result\":%s}",
                   result);
    assert_string_equal(c->messages[0], want);
    assert_non_null(client_ask(c, "1", "t__Sea.rch", "{}"));
    assert_string_equal(seen.args, "{}");
    client_request(c, "2", "tools/call", "\"name\":\"t__Sea.rch\"");
    assert_string_equal(seen.args, "{}"); /* none were sent */
    assert_string_equal(seen.meta, "");
    fixture_stop(&fixture);
}

/* MCP server/tools, Error Handling: an unknown tool is a protocol error. */
static void test_unknown_tool(void **state)
{
    static const char *const NAMES[] = {"\"t__b\"",       "\"a\"",     "\"t:a\"",
                                        "\"T__a\"",       "\"t__a \"", "\"\"",
                                        "\"t__\"",        "\"__a\"",   "\"_meta__list_tools\"",
                                        "\"t__a\\u0000\""};
    puppet master = {.tools = "[" TOOL("a") "]"};
    (void)state;
    start(&master, false);
    client *c = client_open(&fixture, LEGACY);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        char params[128];
        (void)snprintf(params, sizeof params, "\"name\":%s", NAMES[i]);
        client_request(c, "1", "tools/call", params);
        assert_contains(client_reply(c, "1"), "\"code\":-32602");
        assert_contains(client_reply(c, "1"), "Unknown tool: ");
        client_clear(c);
    }
    /* A model reads the answer, too: nothing of the name is hidden from people. */
    client_request(c, "5", "tools/call", "\"name\":\"a\\u202e\xe2\x80\x8b\\u001b\xc3\xa9\"");
    assert_contains(client_reply(c, "5"),
                    "Unknown tool: a\\\\u{202e}\\\\u{200b}\\\\u{1b}\xc3\xa9\"");
    client_request(c, "6", "a\xe2\x80\xae", "");
    assert_contains(client_reply(c, "6"), "a\\\\u{202e}");
    client_request(c, "2", "tools/call", "\"name\":7");
    assert_contains(client_reply(c, "2"), "params.name must be a string");
    client_request(c, "3", "tools/call", "");
    assert_contains(client_reply(c, "3"), "params.name must be a string");
    char name[100000]; /* whatever its length, the answer is short */
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    client_call(c, "4", name, "{}");
    assert_true(strlen(client_reply(c, "4")) < 400);
    assert_int_equal(master.calls, 0);
    fixture_stop(&fixture);
}

/* A native tool's arguments are checked; a proxy's are the upstream's business. */
static void test_arguments(void **state)
{
    static const char TOOLS[] =
        "[{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\",\"required\":[\"n\"],"
        "\"properties\":{\"n\":{\"type\":\"integer\"}}}}]";
    puppet master = {.tools = TOOLS};
    (void)state;
    start(&master, false);
    client *c = client_open(&fixture, MODERN);
    const char *reply = client_ask(c, "1", "t__a", "{\"n\":\"x\"}");
    assert_contains(reply, "\"isError\":true");
    assert_contains(reply, "TOOL_INVALID_INPUT");
    assert_contains(reply, "\"retryable\":false");
    assert_contains(reply, "arguments.n");
    client_request(c, "2", "tools/call", "\"name\":\"t__a\"");
    assert_contains(client_reply(c, "2"), "TOOL_INVALID_INPUT");
    assert_int_equal(master.calls, 0);
    assert_lacks(client_ask(c, "3", "t__a", "{\"n\":1}"), "isError");
    fixture_stop(&fixture);
    puppet proxy = {.tools = TOOLS};
    start(&proxy, true);
    c = client_open(&fixture, MODERN);
    assert_lacks(client_ask(c, "1", "t__a", "{\"n\":\"x\"}"), "isError");
    assert_int_equal(proxy.calls, 1);
    fixture_stop(&fixture);
}

/* How a module ends a call, and what the client sees (S4.10 … S4.15). */
static const struct {
    int32_t status;
    const char *json;
    const char *want;
} ENDS[] = {
    {PATCHBAY_RESULT, "{\"content\":[],\"isError\":true}", "\"isError\":true}"},
    {PATCHBAY_RPC_ERROR, "{\"code\":-32001,\"message\":\"m\",\"data\":[1e400]}",
     "\"error\":{\"code\":-32001,\"message\":\"m\",\"data\":[1e400]}"},
    {PATCHBAY_NOT_IMPLEMENTED, "nothing \"here\"", "\"code\":\"TOOL_NOT_IMPLEMENTED\""},
    {PATCHBAY_INVALID_INPUT, "bad",
     "\"code\":\"TOOL_INVALID_INPUT\",\"message\":\"bad\","
     "\"retryable\":false"},
    {PATCHBAY_UNAVAILABLE, "gone",
     "\"code\":\"TOOL_UNAVAILABLE\",\"message\":\"toolset \\\"t\\\": gone\","
     "\"retryable\":true"},
    {PATCHBAY_FAILED, "boom\n\xff", "\"text\":\"TOOL_EXECUTION_FAILED: boom\\n\xef\xbf\xbd\""},
    {PATCHBAY_FAILED, "", "TOOL_EXECUTION_FAILED"},
};

static void end_by_number(puppet_instance *instance, patchbay_call call,
                          const patchbay_request *request)
{
    uint64_t at = 0;
    assert_true(hub_json_to_u64(hub_json_get(request->args_json, HUB_STR("end")), &at));
    assert_int_equal(
        instance->api->finish(instance->host, call, ENDS[at].status, puppet_str(ENDS[at].json)),
        PATCHBAY_OK);
}

static void test_ends(void **state)
{
    puppet master = {.tools =
                         "[" TOOL("a") ",{\"name\":\"b\",\"inputSchema\":{\"type\":\"object\"},"
                                       "\"outputSchema\":{\"type\":\"object\"}}]",
                     .on_call = end_by_number};
    (void)state;
    start(&master, false);
    client *c = client_open(&fixture, LEGACY);
    for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0]; i++) {
        char arguments[32];
        (void)snprintf(arguments, sizeof arguments, "{\"end\":%zu}", i);
        const char *reply = client_ask(c, "1", "t__a", arguments);
        assert_contains(reply, ENDS[i].want);
        bool failed = ENDS[i].status > PATCHBAY_RPC_ERROR;
        assert_int_equal(strstr(reply, "structuredContent") != NULL, failed);
        /* A tool with an outputSchema owes structured content of that shape: not this one. */
        assert_lacks(client_ask(c, "2", "t__b", arguments), "structuredContent");
        client_clear(c);
    }
    fixture_stop(&fixture);
}

/* ---- progress -------------------------------------------------------------------------------- */

static patchbay_call waiting;

static void keep_waiting(puppet_instance *instance, patchbay_call call,
                         const patchbay_request *request)
{
    (void)instance;
    waiting = call;
    seen.flags = request->flags;
}

static int32_t report(const puppet *master, patchbay_call call, const char *params)
{
    return master->latest->api->notify(master->latest->host, call, puppet_str(params));
}

/* P16: under the client's own token, with its type, and only while the call runs. */
static void test_progress(void **state)
{
    static const char *const TOKENS[] = {"7", "\"7\"", "\"a\\/b\"", "-1"};
    puppet master = {.tools = "[" TOOL("a") "]", .on_call = keep_waiting};
    (void)state;
    start(&master, false);
    client *c = client_open(&fixture, LEGACY);
    client *other = client_open(&fixture, LEGACY);
    for (size_t i = 0; i < sizeof TOKENS / sizeof TOKENS[0]; i++) {
        char params[128];
        char want[160];
        (void)snprintf(params, sizeof params, "\"name\":\"t__a\",\"_meta\":{\"progressToken\":%s}",
                       TOKENS[i]);
        client_request(c, "1", "tools/call", params);
        assert_int_equal(seen.flags, PATCHBAY_WANTS_PROGRESS);
        assert_int_equal(report(&master, waiting,
                                " { \"progressToken\":\"forged\", \"progress\" : 1e400 ,"
                                "\"message\":\"m\" } "),
                         PATCHBAY_OK);
        (void)snprintf(want, sizeof want,
                       "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
                       "\"progressToken\":%s,\"progress\":1e400,\"message\":\"m\"}}",
                       TOKENS[i]);
        assert_string_equal(c->messages[0], want);
        (void)puppet_finish(master.latest, waiting, "{\"content\":[]}");
        assert_int_equal(report(&master, waiting, "{\"progress\":2}"), PATCHBAY_ESTALE);
        assert_int_equal(c->count, 2);
        client_clear(c);
    }
    client_request(c, "2", "tools/call", "\"name\":\"t__a\"");
    assert_int_equal(seen.flags, 0);
    assert_int_equal(report(&master, waiting, "{\"progress\":1}"), PATCHBAY_OK);
    assert_int_equal(c->count, 0); /* nobody asked */
    static const char *const BAD[] = {"", "{", "[]", "{}", "{\"progress\":\"1\"}", "7"};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        assert_int_equal(report(&master, waiting, BAD[i]), PATCHBAY_EINVAL);
    }
    client_request(c, "3", "tools/call", "\"name\":\"t__a\",\"_meta\":{\"progressToken\":{}}");
    assert_contains(client_reply(c, "3"), "\"code\":-32602");
    assert_int_equal(other->count, 0);
    fixture_stop(&fixture);
}

/* ---- deadlines ------------------------------------------------------------------------------- */

/* A call whose clock began in this turn has all of its time, however long others took in it before:
 * timers count from the turn's beginning, too. */
static void test_a_turn_costs_no_time(void **state)
{
    enum { TIMEOUT_MS = 60000, CEILING_MS = 600000 };
    (void)state;
    struct ev_loop *loop = hub_loop_new();
    hub_call_table *table;
    hub_call *call;
    hub_stations_lay_out(HUB_STATIONS, HUB_STATION_COUNT);
    assert_int_equal(hub_call_table_create(loop, &table), HUB_OK);
    (void)ev_run(loop, EVRUN_NOWAIT); /* the turn */
    hub_orchestrator hub = {.loop = loop, .calls = table};
    assert_int_equal(hub_call_begin_internal(&hub, NULL, NULL, &call), HUB_OK);
    hub_call_begin_clock(call);
    uint64_t begin_us = hub_clock_now_us();
    while (hub_clock_now_us() < begin_us + 20000) {
    }
    hub_call_set_deadline(call, TIMEOUT_MS, CEILING_MS);
    assert_true(ev_timer_remaining(loop, &call->deadline) * 1000. > TIMEOUT_MS - 1);
    hub_call_drop(call);
    hub_call_table_destroy(table);
    hub_loop_destroy(loop);
}

static uint64_t left_us; /* when the module was done */

static void take_a_while(puppet_instance *instance, patchbay_call call,
                         const patchbay_request *request)
{
    uint64_t begin_ms = hub_clock_coarse_ms();
    (void)request;
    while (hub_clock_coarse_ms() == begin_ms) { /* until the kernel's tick */
    }
    (void)puppet_finish(instance, call, "{\"content\":[]}");
    left_us = hub_clock_now_us();
}

/* What comes behind a call that kept the loop has not waited for it: it begins when that is over.
 */
static void test_a_long_call_moves_time(void **state)
{
    puppet master = {.tools = "[" TOOL("a") "]", .on_call = take_a_while};
    (void)state;
    start(&master, true);
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/call", "\"name\":\"t__a\"");
    assert_non_null(client_reply(c, "1"));
    assert_true(hub_clock_turn_us() >= left_us);
    fixture_stop(&fixture);
}

/* ---- ids ------------------------------------------------------------------------------------- */

static bool has_call(const client *c, size_t number)
{
    char id[16];
    (void)snprintf(id, sizeof id, "%zu", number);
    const hub_call *call = hub_session_find_call(c->session, hub_str_of(id));
    return call != NULL && hub_call_session(call) == c->session;
}

static patchbay_call begin(client *c, size_t number)
{
    char id[16];
    (void)snprintf(id, sizeof id, "%zu", number);
    client_call(c, id, "t__a", "{}");
    return waiting;
}

/* More calls than the table has room for at first, of two clients that count alike: each is found by
 * its own client's id, and by nobody once it is over, also where others have its place. */
static void test_ids_of_many(void **state)
{
    enum { CALLS = 300 };
    static patchbay_call first[CALLS];
    puppet master = {.tools = "[" TOOL("a") "]", .on_call = keep_waiting};
    (void)state;
    fixture_init(&fixture);
    fixture.settings.limits.calls_per_session = CALLS;
    (void)fixture_toolset(&fixture, "t", &master, true);
    fixture_start(&fixture);
    client *one = client_open(&fixture, LEGACY);
    client *other = client_open(&fixture, LEGACY);
    for (size_t i = 0; i < CALLS; i++) {
        first[i] = begin(one, i);
        (void)begin(other, i);
    }
    for (size_t i = 0; i < CALLS; i += 2) {
        (void)puppet_finish(master.latest, first[i], "{\"content\":[]}");
    }
    for (size_t i = 0; i < CALLS; i += 2) {
        (void)begin(one, CALLS + i);
    }
    for (size_t i = 0; i < CALLS; i++) {
        assert_int_equal(has_call(one, i), i % 2 == 1);
        assert_int_equal(has_call(one, CALLS + i), i % 2 == 0);
        assert_true(has_call(other, i));
        assert_false(has_call(other, CALLS + i));
    }
    fixture_stop(&fixture);
}

/* Sessions whose numbers put the same id into the same bucket. */
static void test_ids_of_others(void **state)
{
    enum { BUCKETS = 64 };
    puppet master = {.tools = "[" TOOL("a") "]", .on_call = keep_waiting};
    (void)state;
    start(&master, true);
    client *one = client_open(&fixture, LEGACY);
    for (size_t i = 1; i < BUCKETS; i++) {
        client_close(client_open(&fixture, LEGACY));
    }
    client *other = client_open(&fixture, LEGACY);
    assert_int_equal(other->session->number - one->session->number, BUCKETS);
    (void)begin(one, 1);
    (void)begin(other, 2);
    assert_true(has_call(one, 1));
    assert_null(hub_session_find_call(one->session, HUB_STR("2")));
    assert_null(hub_session_find_call(other->session, HUB_STR("1")));
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_through),
        cmocka_unit_test(test_unknown_tool),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_a_turn_costs_no_time),
        cmocka_unit_test(test_a_long_call_moves_time),
        cmocka_unit_test(test_ids_of_many),
        cmocka_unit_test(test_ids_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
