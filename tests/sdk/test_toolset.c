/* SPDX-License-Identifier: Apache-2.0 */
/* include/patchbay/toolset.h: a toolset in this very program, driven through the fake host. */
#include "fake_host.h"

#include <patchbay/toolset.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <jansson.h>
#include <unistd.h>

static fake_host *host;

/* ---- the toolset ------------------------------------------------------------------------------
 */

/* What the instance shares: a deferred call, and the thread that answers it. */
typedef struct shared {
    pthread_t thread;
    int thread_runs;
    patchbay_tool_call *deferred;
} shared;

static void echo(patchbay_tool_call *call)
{
    patchbay_reply_text(call, patchbay_arg_str(call, "text"));
}

static void args(patchbay_tool_call *call)
{
    patchbay_out *out = patchbay_structured(call);
    patchbay_out_text(out, "{");
    patchbay_out_key(out, "int");
    patchbay_out_printf(out, "%lld", (long long)patchbay_arg_int(call, "int", -1));
    patchbay_out_key(out, "number");
    patchbay_out_number(out, patchbay_arg_number(call, "number", -1));
    patchbay_out_key(out, "bool");
    patchbay_out_printf(out, "%d", patchbay_arg_bool(call, "bool", -1));
    patchbay_out_key(out, "text");
    const char *text = patchbay_arg_text(call, "text");
    patchbay_out_string(out, patchbay_str_of(text != NULL ? text : "(none)"));
    patchbay_out_key(out, "data");
    patchbay_out_string(out, patchbay_str_of((const char *)patchbay_tool_data(call)));
    patchbay_out_key(out, "meta");
    patchbay_out_string(out, patchbay_meta(call));
    patchbay_out_text(out, "}");
    patchbay_reply(call);
}

static void blocks(patchbay_tool_call *call)
{
    patchbay_add_text(call, patchbay_str_of("one"));
    patchbay_add_media(call, "image", "image/png", "\x89PN", 3);
    patchbay_add_block(call, patchbay_str_of("{\"type\":\"x\"}"));
    patchbay_reply(call);
}

static void formatted(patchbay_tool_call *call)
{
    patchbay_reply_textf(call, "%s|%300d", "a", 1);
}

/* An error text that must be cut: in the middle of a character, from any of its bytes on. */
static void fail_long(patchbay_tool_call *call)
{
    char text[2000];
    size_t shift = (size_t)patchbay_arg_int(call, "shift", 0);
    memset(text, 'x', sizeof text);
    for (size_t i = shift; i + 3 < sizeof text; i += 3) {
        memcpy(text + i, "\xe2\x82\xac", 3);
    }
    text[sizeof text - 1] = '\0';
    patchbay_reply_error(call, PATCHBAY_FAILED, "%s", text);
}

static void forget(patchbay_tool_call *call)
{
    (void)call;
}

static void report(patchbay_tool_call *call)
{
    double zero = 0;
    patchbay_progress(call, 0.5, 2, "half \"way\"");
    patchbay_progress(call, 1, -1, NULL);
    patchbay_progress(call, 1 / zero, 1, NULL); /* no JSON number: not sent */
    patchbay_log(patchbay_call_toolset(call), PATCHBAY_LOG_INFO, "working");
    patchbay_reply_text(call, patchbay_str_of("done"));
}

static void wait_for_cancel(patchbay_tool_call *call)
{
    while (!patchbay_cancelled(call)) {
        (void)usleep(1000);
    }
    patchbay_progress(call, 1, 1, NULL); /* nobody listens any more, which is fine */
    patchbay_reply_text(call, patchbay_str_of("stopped"));
}

static void align(patchbay_tool_call *call)
{
    uintptr_t bits = 0;
    for (size_t size = 0; size < 40; size++) {
        void *memory = patchbay_call_alloc(call, size);
        memset(memory, 1, size);
        bits |= (uintptr_t)memory;
    }
    int refused = patchbay_call_alloc(call, SIZE_MAX) == NULL;
    patchbay_reply_textf(call, "%d %d", (int)(bits % _Alignof(max_align_t)), refused);
}

static void *answer(void *arg)
{
    (void)usleep(20000); /* mostly after the handler has returned */
    patchbay_reply_text((patchbay_tool_call *)arg, patchbay_str_of("later"));
    return NULL;
}

/* Answer from a thread of the toolset's own. */
static void later(patchbay_tool_call *call)
{
    shared *data = (shared *)patchbay_toolset_data(call);
    patchbay_defer(call);
    data->thread_runs = 1;
    (void)pthread_create(&data->thread, NULL, answer, call);
}

/* Kept until teardown, which answers it. */
static void keep(patchbay_tool_call *call)
{
    shared *data = (shared *)patchbay_toolset_data(call);
    patchbay_defer(call);
    data->deferred = call;
}

static void drop(patchbay_tool_call *call)
{
    patchbay_defer(call); /* and never answered: the host fails it */
}

static int32_t setup(patchbay_toolset *toolset, patchbay_str config_json, void **ret_data,
                     patchbay_error *reterr)
{
    (void)toolset;
    if (patchbay_json_get(config_json, "fail").len > 0) {
        (void)snprintf(reterr->text, sizeof reterr->text, "as asked");
        return PATCHBAY_EINVAL;
    }
    *ret_data = calloc(1, sizeof(shared));
    return *ret_data != NULL ? PATCHBAY_OK : PATCHBAY_ENOMEM;
}

static void teardown(void *arg)
{
    shared *data = (shared *)arg;
    if (data->thread_runs) {
        (void)pthread_join(data->thread, NULL);
    }
    if (data->deferred != NULL) {
        patchbay_reply_error(data->deferred, PATCHBAY_UNAVAILABLE, "closing");
    }
    free(data);
}

static char tool_data[] = "mine";
#define LOOP PATCHBAY_TOOL_NONBLOCKING

static const patchbay_tool tools[] = {
    {.name = "echo", .handler = echo, .flags = LOOP | PATCHBAY_TOOL_TAKES_NUL},
    {.name = "args", .handler = args, .data = tool_data},
    {.name = "blocks", .handler = blocks},
    {.name = "formatted", .handler = formatted},
    {.name = "fail_long", .handler = fail_long},
    {.name = "forget", .handler = forget},
    {.name = "forget_on_loop", .handler = forget, .flags = LOOP},
    {.name = "report", .handler = report},
    {.name = "wait_for_cancel", .handler = wait_for_cancel},
    {.name = "align", .handler = align},
    {.name = "later", .handler = later},
    {.name = "keep", .handler = keep},
    {.name = "drop", .handler = drop, .flags = LOOP},
    {.name = "described",
     .title = "A \"title\"",
     .description = "Says\nmore.",
     .input_schema = "{\"type\":\"object\"}",
     .output_schema = "{\"type\":\"object\",\"title\":\"out\"}",
     .tags = ",one,two,,three,",
     .category = "testing",
     .version = "2.1",
     .handler = forget,
     .flags = PATCHBAY_TOOL_DESTRUCTIVE | PATCHBAY_TOOL_OPEN_WORLD},
};

PATCHBAY_TOOLSET_WITH("self", "1.0.0", "This test.", tools, sizeof tools / sizeof tools[0],
                      "{\"type\":\"object\"}", setup, teardown)

/* ---- tests ------------------------------------------------------------------------------------
 */

static void check(const char *tool, const char *arguments, int32_t status, const char *wanted)
{
    fake_result result = fake_host_call(host, tool, arguments);
    assert_string_equal(result.json, wanted);
    assert_int_equal(result.status, status);
    fake_result_free(&result);
}

static void check_text(const char *tool, const char *arguments, const char *text)
{
    char wanted[1024];
    (void)snprintf(wanted, sizeof wanted, "{\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}",
                   text);
    check(tool, arguments, PATCHBAY_RESULT, wanted);
}

static void test_tool_list(void **state)
{
    (void)state;
    json_t *list = json_loads(fake_host_tools(host), JSON_REJECT_DUPLICATES, NULL);
    size_t count = sizeof tools / sizeof tools[0];
    assert_int_equal(json_array_size(list), count);
    assert_int_equal(fake_host_set_tools_count(host), 1);
    json_t *wanted = json_loads(
        "{\"name\":\"described\",\"title\":\"A \\\"title\\\"\",\"description\":\"Says\\nmore.\","
        "\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":{\"type\":\"object\","
        "\"title\":\"out\"},\"annotations\":{\"readOnlyHint\":false,\"destructiveHint\":true,"
        "\"idempotentHint\":false,\"openWorldHint\":true},\"_meta\":{\"patchbay/tags\":[\"one\","
        "\"two\",\"three\"],\"patchbay/category\":\"testing\",\"patchbay/version\":\"2.1\"}}",
        0, NULL);
    assert_true(json_equal(json_array_get(list, count - 1), wanted));
    json_decref(wanted);
    wanted = json_loads("{\"name\":\"blocks\",\"inputSchema\":{\"type\":\"object\","
                        "\"additionalProperties\":false},\"annotations\":{\"readOnlyHint\":false,"
                        "\"destructiveHint\":false,\"idempotentHint\":false,"
                        "\"openWorldHint\":false}}",
                        0, NULL);
    assert_true(json_equal(json_array_get(list, 2), wanted));
    json_decref(wanted);
    json_decref(list);
}

static void test_arguments(void **state)
{
    (void)state;
    check("args", "{\"int\":3.0,\"number\":0.1,\"bool\":true,\"text\":\"\\u00e4\"}",
          PATCHBAY_RESULT,
          "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"int\\\":3,\\\"number\\\":0.1,"
          "\\\"bool\\\":1,\\\"text\\\":\\\"\xc3\xa4\\\",\\\"data\\\":\\\"mine\\\",\\\"meta\\\":"
          "\\\"\\\"}\"}],\"structuredContent\":{\"int\":3,\"number\":0.1,\"bool\":1,"
          "\"text\":\"\xc3\xa4\",\"data\":\"mine\",\"meta\":\"\"}}");
    fake_result result =
        fake_host_call(host, "args", "{\"int\":null,\"number\":\"1\",\"bool\":0,\"text\":[]}");
    assert_non_null(strstr(result.json, "\"structuredContent\":{\"int\":-1,\"number\":-1,"
                                        "\"bool\":-1,\"text\":\"(none)\""));
    fake_result_free(&result);
}

static void test_nul_characters(void **state)
{
    (void)state;
    static const char refused[] = "the arguments hold a NUL character (\\u0000); send them without";
    check("args", "{\"text\":\"a\\u0000b\"}", PATCHBAY_INVALID_INPUT, refused);
    check("args", "{\"text\":[{\"deep\\\\\\u0000\":1}]}", PATCHBAY_INVALID_INPUT, refused);
    /* a backslash, then letters */
    fake_result result = fake_host_call(host, "args", "{\"text\":\"\\\\u0000\"}");
    assert_int_equal(result.status, PATCHBAY_RESULT);
    fake_result_free(&result);
    check_text("echo", "{\"text\":\"a\\u0000b\"}", "a\\u0000b");
}

static void test_results(void **state)
{
    (void)state;
    check_text("echo", "{\"text\":\"say \\\"\\ud83d\\ude00\\\"\"}", "say \\\"\xf0\x9f\x98\x80\\\"");
    check_text("echo", "{\"text\":\"\"}", "");
    check_text("echo", "{}", "");
    check("blocks", NULL, PATCHBAY_RESULT,
          "{\"content\":[{\"type\":\"text\",\"text\":\"one\"},{\"type\":\"image\",\"data\":"
          "\"iVBO\",\"mimeType\":\"image/png\"},{\"type\":\"x\"}]}");
    fake_result result = fake_host_call(host, "formatted", NULL);
    assert_int_equal(result.json_len, strlen("{\"content\":[{\"type\":\"text\",\"text\":\"\"}]}") +
                                          strlen("a|") + 300);
    fake_result_free(&result);
    check_text("align", NULL, "0 1");
}

static void test_failures(void **state)
{
    (void)state;
    check("forget", NULL, PATCHBAY_FAILED, "the tool returned without a reply");
    check("forget_on_loop", NULL, PATCHBAY_FAILED, "the tool returned without a reply");
    check("nothing", NULL, PATCHBAY_NOT_IMPLEMENTED, "the toolset has no such tool");
    check("ech", NULL, PATCHBAY_NOT_IMPLEMENTED, "the toolset has no such tool");
    for (int shift = 0; shift < 3; shift++) {
        char arguments[32];
        (void)snprintf(arguments, sizeof arguments, "{\"shift\":%d}", shift);
        fake_result result = fake_host_call(host, "fail_long", arguments);
        const char *end = result.json + result.json_len;
        assert_in_range(result.json_len, 1021, 1023);
        for (const char *at = result.json; at < end; at += patchbay_utf8_length(at, end)) {
            assert_int_not_equal(patchbay_utf8_length(at, end), 0);
        }
        fake_result_free(&result);
    }
    fake_host_refuse_jobs(host, 1);
    check("forget", NULL, PATCHBAY_UNAVAILABLE,
          "too many calls of this toolset wait for a worker; try again in a moment");
    check_text("echo", "{\"text\":\"still here\"}", "still here"); /* needs no worker */
    fake_host_refuse_jobs(host, 0);
}

#define FORGOT(name)                                                                               \
    "3 the handler of \"" name                                                                     \
    "\" returned without a reply; patchbay_defer(call) keeps a call for a later one\n"

static void test_progress_and_log(void **state)
{
    (void)state;
    check_text("report", NULL, "done");
    char *progress = fake_host_progress(host);
    char *log = fake_host_log(host);
    assert_string_equal(progress,
                        "{\"progress\":0.5,\"total\":2,\"message\":\"half \\\"way\\\"\"}\n"
                        "{\"progress\":1}\n");
    assert_string_equal(log, FORGOT("forget") FORGOT("forget_on_loop") "1 working\n");
    free(progress);
    free(log);
}

static void test_cancelling(void **state)
{
    (void)state;
    uint64_t ids[FAKE_HOST_THREADS];
    for (int i = 0; i < FAKE_HOST_THREADS; i++) {
        ids[i] = fake_host_start(host, "wait_for_cancel", NULL);
    }
    fake_host_cancel(host, 999999); /* nobody's */
    for (int i = FAKE_HOST_THREADS - 1; i >= 0; i--) {
        fake_host_cancel(host, ids[i]);
        fake_result result = fake_host_wait(host, ids[i]);
        assert_non_null(strstr(result.json, "stopped"));
        fake_result_free(&result);
    }
}

static void test_deferring(void **state)
{
    (void)state;
    check_text("later", NULL, "later");
}

/* Calls that are open when the instance ends: running, queued, deferred, forgotten. The leak
 * checker and the sanitizers see what goes wrong. */
static void test_ending_with_open_calls(void **state)
{
    char error[FAKE_HOST_ERROR_BYTES];
    (void)state;
    fake_host *other = fake_host_open(&patchbay_plugin_v1, "{}", error);
    assert_non_null(other);
    fake_result kept = fake_host_call(other, "echo", "{}");
    fake_result_free(&kept);
    (void)fake_host_start(other, "keep", NULL);
    (void)fake_host_start(other, "drop", NULL);
    for (int i = 0; i < 3 * FAKE_HOST_THREADS; i++) {
        (void)fake_host_start(other, "wait_for_cancel", NULL);
    }
    fake_host_unload(other);
}

static void test_setup_that_fails(void **state)
{
    char error[FAKE_HOST_ERROR_BYTES];
    (void)state;
    assert_null(fake_host_open(&patchbay_plugin_v1, "{\"fail\":1}", error));
    assert_string_equal(error, "as asked");
}

static void test_exceptions(void **state)
{
    (void)state;
#ifdef THROWING_PATH
    char error[FAKE_HOST_ERROR_BYTES];
    fake_host *shared_host = host;
    host = fake_host_load(THROWING_PATH, "{}", error);
    assert_non_null(host);
    static const char thrown[] = "the tool threw an exception: nobody catches this";
    check("first", NULL, PATCHBAY_FAILED, thrown);
    check("on_loop", NULL, PATCHBAY_FAILED, thrown);
    check("lines", NULL, PATCHBAY_FAILED, "the tool threw an exception: two\nlines");
    (void)fake_host_start(host, "deferred", NULL);
    char *log = fake_host_log(host);
    assert_string_equal(log,
                        "3 the handler of \"first\" threw an exception: nobody catches this\n"
                        "3 the handler of \"on_loop\" threw an exception: nobody catches this\n"
                        "3 the handler of \"lines\" threw an exception: two\\nlines\n"
                        "3 the handler of \"deferred\" threw an exception: deferred\n");
    free(log);
    check_text("last", NULL, "said before");
    fake_host_unload(host);
    host = shared_host;
    assert_null(fake_host_load(THROWING_PATH, "{\"fail\":1}", error));
    assert_string_equal(error, "setup() threw an exception: no such thing");
#else
    skip();
#endif
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
        cmocka_unit_test(test_tool_list),        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_nul_characters),   cmocka_unit_test(test_results),
        cmocka_unit_test(test_failures),         cmocka_unit_test(test_progress_and_log),
        cmocka_unit_test(test_cancelling),       cmocka_unit_test(test_deferring),
        cmocka_unit_test(test_setup_that_fails), cmocka_unit_test(test_ending_with_open_calls),
        cmocka_unit_test(test_exceptions),
    };
    return cmocka_run_group_tests_name("sdk.toolset", tests, open_self, close_self);
}
