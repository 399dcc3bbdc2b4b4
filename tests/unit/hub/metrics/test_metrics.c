/* SPDX-License-Identifier: Apache-2.0 */
/* What a hub counts while somebody may ask, and that it counts nothing else. */
#include "hub_fixture.h"
#include "keeper_support.h"

#include "hub/metrics/metrics.h"

static hub_fixture fixture;
static keeper t;
static const hub_listen_settings COUNTING = {.metrics = true}; /* nobody opens it */

#define TOOLS "[" TOOL("one") "," TOOL("two") "]"

static void start(bool is_on)
{
    init_keeper(&t, TOOLS);
    fixture_init(&fixture);
    fixture.settings.listens = &COUNTING;
    fixture.settings.listen_count = is_on;
    (void)fixture_toolset(&fixture, "t", &t.master, true);
    fixture_start(&fixture);
}

/* All that is exposed; lives until the next one. */
static const char *text(bool is_openmetrics)
{
    static hub_buf out;
    hub_buf_fini(&out);
    hub_buf_init(&out, 1024 * 1024);
    hub_metrics_expose(fixture.hub, is_openmetrics, &out);
    hub_buf_add_char(&out, '\0');
    assert_true(hub_buf_ok(&out));
    static char kept[256 * 1024];
    assert_true(out.len <= sizeof kept);
    memcpy(kept, out.ptr, out.len);
    hub_buf_fini(&out);
    return kept;
}

static void finish(const char *json, int32_t status)
{
    puppet_instance *instance = t.master.latest;
    assert_int_equal(
        instance->api->finish(instance->host, t.calls[--t.count], status, puppet_str(json)),
        PATCHBAY_OK);
}

static client *open_local(void)
{
    return client_open_as(&fixture, &(client_options){.kind = LEGACY, .principal = "local"});
}

#define CALLS(outcome, error)                                                                      \
    "patchbay_calls_total{method=\"tools/call\",toolset=\"t\",tool=\"one\",principal_class="       \
    "\"local\",outcome=\"" outcome "\"" error "} "

/* Each way to end has its own counter. */
static void test_outcomes(void **state)
{
    static const struct {
        int32_t status;
        const char *json;
        const char *expected;
    } CASES[] = {
        {PATCHBAY_RESULT, "{\"content\":[]}", CALLS("ok", "") "1\n"},
        {PATCHBAY_RESULT, "{\"content\":[]}", CALLS("ok", "") "2\n"},
        {PATCHBAY_RESULT, "{\"content\":[],\"isError\":true}",
         CALLS("tool_error", ",error_type=\"tool_error\"") "1\n"},
        {PATCHBAY_RPC_ERROR, "{\"code\":-32602,\"message\":\"x\"}",
         CALLS("error", ",error_type=\"-32602\"") "1\n"},
        {PATCHBAY_RPC_ERROR, "{\"code\":12345,\"message\":\"x\"}",
         CALLS("error", ",error_type=\"_OTHER\"") "1\n"},
        {PATCHBAY_UNAVAILABLE, "gone", CALLS("unavailable", ",error_type=\"unavailable\"") "1\n"},
        {PATCHBAY_FAILED, "broken", CALLS("failed", ",error_type=\"failed\"") "1\n"},
    };
    (void)state;
    start(true);
    client *c = open_local();
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char id[8];
        (void)snprintf(id, sizeof id, "%zu", i + 10);
        client_call(c, id, "t__one", "{}");
        finish(CASES[i].json, CASES[i].status);
        assert_non_null(client_wait(c, id));
        assert_contains(text(false), CASES[i].expected);
    }
    client_call(c, "90", "t__one", "{}");
    client_cancel(c, "90");
    assert_contains(text(false), CALLS("cancelled", ",error_type=\"cancelled\"") "1\n");
    assert_contains(text(false), "mcp_server_operation_duration_seconds_count{mcp_method_name="
                                 "\"tools/call\",toolset=\"t\",gen_ai_tool_name=\"one\"} 2\n");
    assert_contains(text(false), "mcp_client_operation_duration_seconds_count{mcp_method_name="
                                 "\"tools/call\",toolset=\"t\",gen_ai_tool_name=\"one\"} 2\n");
    assert_lacks(text(false), "tool=\"two\"");
    fixture_stop(&fixture);
}

/* While no listener serves metrics, calls are not counted for them. */
static void test_off(void **state)
{
    (void)state;
    start(false);
    client *c = open_local();
    client_call(c, "10", "t__one", "{}");
    finish("{\"content\":[]}", PATCHBAY_RESULT);
    assert_lacks(text(false), "tool=\"one\"");
    fixture_stop(&fixture);
}

/* What a tool did counts on when its toolset says its list anew; a list of other tools at the same
 * places does not mix them up. */
static void test_lists_change(void **state)
{
    (void)state;
    start(true);
    client *c = open_local();
    client_call(c, "10", "t__one", "{}");
    puppet_instance *instance = t.master.latest;
    assert_int_equal(
        instance->api->set_tools(instance->host, puppet_str("[" TOOL("two") "," TOOL("one") "]")),
        PATCHBAY_OK);
    finish("{\"content\":[]}", PATCHBAY_RESULT); /* begun with the list before */
    fixture_settle(&fixture);
    client_call(c, "11", "t__one", "{}");
    finish("{\"content\":[]}", PATCHBAY_RESULT);
    client_call(c, "12", "t__two", "{}");
    finish("{\"content\":[]}", PATCHBAY_RESULT);
    assert_contains(text(false), CALLS("ok", "") "2\n");
    assert_contains(text(false), "tool=\"two\",principal_class=\"local\",outcome=\"ok\"} 1\n");
    fixture_stop(&fixture);
}

/* The trace of a call is the example of how long such calls take, in OpenMetrics alone. */
static void test_exemplar(void **state)
{
    (void)state;
    start(true);
    client *c = open_local();
    client_request(c, "10", "tools/call",
                   "\"name\":\"t__one\",\"arguments\":{},\"_meta\":{\"traceparent\":"
                   "\"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01\"}");
    finish("{\"content\":[]}", PATCHBAY_RESULT);
    assert_contains(text(true), "} 1 # {trace_id=\"0af7651916cd43dd8448eb211c80319c\"} ");
    assert_lacks(text(false), "trace_id");
    fixture_stop(&fixture);
}

/* Sessions of clients that are open, and that were. */
static void test_sessions(void **state)
{
    (void)state;
    start(true);
    client *c = open_local();
    assert_contains(text(false), "\npatchbay_sessions{transport=\"other\"} 1\n");
    client_close(c);
    assert_lacks(text(false), "\npatchbay_sessions{transport=\"other\"} 1\n");
    assert_contains(text(false), "\nmcp_server_session_duration_seconds_count{transport=\"");
    fixture_stop(&fixture);
}

/* After the first call of a tool, calls of it allocate nothing more because they are counted. */
static void test_no_allocation(void **state)
{
    (void)state;
    size_t before = 0;
    start(true);
    client *c = open_local();
    for (unsigned i = 0; i < 20; i++) {
        char id[8];
        (void)snprintf(id, sizeof id, "%u", i + 10);
        client_call(c, id, "t__one", "{}");
        finish("{\"content\":[]}", PATCHBAY_RESULT);
        client_clear(c);
        before = i == 10 ? fixture_allocated() : before;
    }
    assert_int_equal(fixture_allocated(), before);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcomes),     cmocka_unit_test(test_off),
        cmocka_unit_test(test_lists_change), cmocka_unit_test(test_exemplar),
        cmocka_unit_test(test_sessions),     cmocka_unit_test(test_no_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
