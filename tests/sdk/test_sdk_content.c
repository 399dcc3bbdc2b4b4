/* SPDX-License-Identifier: Apache-2.0 */
/* include/patchbay/content.h, what a call tells its client, and requests that no handler sees: a
 * toolset in this very program, driven through the fake host. */
#include "fake_host.h"

#include <patchbay/toolset.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static fake_host *host;
static patchbay_toolset *latest; /* as set-up was given it */

/* ---- the toolset ----------------------------------------------------------------------------- */

/* Every kind of block, and a failure. */
static void blocks(patchbay_tool_call *call)
{
    patchbay_add_text(call, patchbay_str_of("a"));
    patchbay_annotate(call, "{\"priority\":0.1}");
    patchbay_add_media(call, "audio", "audio/wav", "RIFF", 4);
    patchbay_add_resource_text(call, "a://1", NULL, patchbay_str_of("t"));
    patchbay_add_resource_blob(call, "a://2", "x/y", "\xff", 1);
    patchbay_annotate(call, "{}");
    patchbay_add_resource_link(call, "a://3", "three", "3", "x/z");
    patchbay_mark_error(call);
    patchbay_reply(call);
}

static void fail_plainly(patchbay_tool_call *call)
{
    patchbay_reply_tool_error(call, patchbay_str_of("just so"));
}

static void fail_protocol(patchbay_tool_call *call)
{
    patchbay_reply_rpc_error(call, 42, "the \"answer\"", patchbay_args(call));
}

static void fail_bare(patchbay_tool_call *call)
{
    patchbay_reply_rpc_error(call, -1, "no data", patchbay_str_make(NULL, 0));
}

static void need(patchbay_tool_call *call)
{
    patchbay_reply_missing_capability(call, "{\"sampling\":{}}");
}

static int32_t told; /* what the functions that `talk` calls have returned */
static int32_t updated;

static void talk(patchbay_tool_call *call)
{
    patchbay_message(call, "info", "one \"line\"");
    patchbay_message_json(call, "error", "part", patchbay_str_of("{\"a\":1}"));
    told = patchbay_message_all(patchbay_call_toolset(call), "debug", "all");
    updated = patchbay_resource_updated(patchbay_call_toolset(call), "note://one");
    patchbay_release(call);
    patchbay_reply_textf(call, "said");
}

static const patchbay_tool tools[] = {
    {.name = "blocks", .handler = blocks},
    {.name = "fail", .handler = fail_plainly, .flags = PATCHBAY_TOOL_NONBLOCKING},
    {.name = "rpc", .handler = fail_protocol},
    {.name = "bare", .handler = fail_bare},
    {.name = "need", .handler = need},
    {.name = "talk", .handler = talk},
};

static char watched[64];

static void on_subscribe(patchbay_toolset *toolset, const char *uri, int is_wanted)
{
    assert_ptr_equal(toolset, latest);
    assert_ptr_equal(patchbay_data_of(toolset), &latest);
    (void)snprintf(watched, sizeof watched, "%s %d", uri, is_wanted);
}

static int32_t setup(patchbay_toolset *toolset, patchbay_str config_json, void **ret_data,
                     patchbay_error *reterr)
{
    (void)config_json;
    (void)reterr;
    latest = toolset;
    *ret_data = &latest;
    return PATCHBAY_OK;
}

static const patchbay_toolset_info info = {
    .tools = tools,
    .tool_count = sizeof tools / sizeof tools[0],
    .setup = setup,
    .on_subscribe = on_subscribe,
};

PATCHBAY_TOOLSET_OF("self", "1.0.0", "This test.", NULL, info)

/* ---- tests ----------------------------------------------------------------------------------- */

static void check(uint64_t id, int32_t status, const char *wanted)
{
    fake_result result = fake_host_wait(host, id);
    assert_string_equal(result.json, wanted);
    assert_int_equal(result.status, status);
    fake_result_free(&result);
}

static void check_tool(const char *name, int32_t status, const char *wanted)
{
    check(fake_host_start(host, name, "{\"a\":1}"), status, wanted);
}

static void test_blocks(void **state)
{
    (void)state;
    check_tool("blocks", PATCHBAY_RESULT,
               "{\"content\":[{\"type\":\"text\",\"text\":\"a\",\"annotations\":"
               "{\"priority\":0.1}},{\"type\":\"audio\",\"data\":\"UklGRg==\",\"mimeType\":"
               "\"audio/wav\"},{\"type\":\"resource\",\"resource\":{\"uri\":\"a://1\","
               "\"text\":\"t\"}},{\"type\":\"resource\",\"resource\":{\"uri\":\"a://2\","
               "\"mimeType\":\"x/y\",\"blob\":\"/w==\"},\"annotations\":{}},"
               "{\"type\":\"resource_link\",\"uri\":\"a://3\",\"name\":\"three\","
               "\"description\":\"3\",\"mimeType\":\"x/z\"}],\"isError\":true}");
}

static void test_failures(void **state)
{
    (void)state;
    check_tool("fail", PATCHBAY_RESULT,
               "{\"content\":[{\"type\":\"text\",\"text\":\"just so\"}],\"isError\":true}");
    check_tool("rpc", PATCHBAY_RPC_ERROR,
               "{\"code\":42,\"message\":\"the \\\"answer\\\"\",\"data\":{\"a\":1}}");
    check_tool("bare", PATCHBAY_RPC_ERROR, "{\"code\":-1,\"message\":\"no data\"}");
    check_tool("need", PATCHBAY_RPC_ERROR,
               "{\"code\":-32021,\"message\":\"the client lacks a capability that this needs\","
               "\"data\":{\"requiredCapabilities\":{\"sampling\":{}}}}");
}

static void test_messages(void **state)
{
    (void)state;
    check_tool("talk", PATCHBAY_RESULT, "{\"content\":[{\"type\":\"text\",\"text\":\"said\"}]}");
    char *said = fake_host_said(host);
    assert_string_equal(said,
                        "message 1 {\"level\":\"info\",\"data\":\"one \\\"line\\\"\"}\n"
                        "message 1 {\"level\":\"error\",\"logger\":\"part\",\"data\":{\"a\":1}}\n"
                        "message 0 {\"level\":\"debug\",\"data\":\"all\"}\n"
                        "updated note://one\nrelease\n");
    free(said);
    assert_int_equal(told, PATCHBAY_OK);
    assert_int_equal(updated, PATCHBAY_OK);
}

static void test_other_requests(void **state)
{
    (void)state;
    check(fake_host_request(host, "resources/subscribe", "note://one", "{}"), PATCHBAY_RESULT,
          "{}");
    assert_string_equal(watched, "note://one 1");
    check(fake_host_request(host, "resources/unsubscribe", "note://one", "{}"), PATCHBAY_RESULT,
          "{}");
    assert_string_equal(watched, "note://one 0");
    check(fake_host_request(host, "logging/setLevel", "", "{}"), PATCHBAY_RESULT, "{}");
    check(fake_host_request(host, "tasks/get", "", "{}"), PATCHBAY_NOT_IMPLEMENTED,
          "the toolset does not know this method");
}

/* A hub that cannot pass it on: the tool works, and is told. */
static void test_older_hub(void **state)
{
    char error[FAKE_HOST_ERROR_BYTES];
    (void)state;
    fake_host *shared = host;
    fake_host_hide_interface(PATCHBAY_CLIENT_V1);
    host = fake_host_open(&patchbay_plugin_v1, "{}", error);
    fake_host_hide_interface(NULL);
    assert_non_null(host);
    check_tool("talk", PATCHBAY_RESULT, "{\"content\":[{\"type\":\"text\",\"text\":\"said\"}]}");
    assert_int_equal(told, PATCHBAY_ENOTFOUND);
    assert_int_equal(updated, PATCHBAY_OK);
    fake_host_unload(host);
    host = shared;
}

static int open_self(void **state)
{
    char error[FAKE_HOST_ERROR_BYTES];
    (void)state;
    host = fake_host_open(&patchbay_plugin_v1, "{}", error);
    return host != NULL ? 0 : -1;
}

static int close_self(void **state)
{
    (void)state;
    fake_host_unload(host);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),    cmocka_unit_test(test_failures),
        cmocka_unit_test(test_messages),  cmocka_unit_test(test_other_requests),
        cmocka_unit_test(test_older_hub),
    };
    return cmocka_run_group_tests_name("sdk.content", tests, open_self, close_self);
}
