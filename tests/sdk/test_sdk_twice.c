/* SPDX-License-Identifier: Apache-2.0 */
/* include/patchbay/reply.h: the first reply counts, and a second one is noticed. Without that, the
 * sanitizers see the use of freed memory. */
#include "fake_host.h"

#include <patchbay/toolset.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define FORGOT(name)                                                                               \
    "3 the handler of \"" name                                                                     \
    "\" returned without a reply; patchbay_defer(call) keeps a call for a later one\n"
#define DROPPED(name) "3 the handler of \"" name "\" replied twice; the second reply is dropped\n"

static fake_host *host;
static patchbay_tool_call *kept; /* of the latest call, whether it is over or not */

static void reply_twice(patchbay_tool_call *call)
{
    patchbay_reply_textf(call, "first %s", patchbay_arg_text(call, "x"));
    patchbay_reply_text(call, patchbay_str_of("second"));
    patchbay_reply_error(call, PATCHBAY_FAILED, "third of %s", patchbay_call_name(call));
}

/* What else a handler may do with its call does no harm after the reply, either. */
static void go_on(patchbay_tool_call *call)
{
    patchbay_reply_text(call, patchbay_str_of("first"));
    patchbay_add_text(call, patchbay_arg_str(call, "x"));
    patchbay_progress(call, 1, 2, NULL);
    patchbay_set_call_state(call, patchbay_call_alloc(call, 10));
    patchbay_on_cancel(call, free, NULL);
}

static void keep(patchbay_tool_call *call)
{
    kept = call;
    patchbay_defer(call);
}

/* Replies, and gives its call away. */
static void leak(patchbay_tool_call *call)
{
    kept = call;
    patchbay_reply_text(call, patchbay_str_of("first"));
}

/* Gives its call away without saying so: it is over when the handler has returned. */
static void forget_to_defer(patchbay_tool_call *call)
{
    kept = call;
}

#define LOOP PATCHBAY_TOOL_NONBLOCKING

static const patchbay_tool tools[] = {
    {.name = "twice", .handler = reply_twice},
    {.name = "twice_on_loop", .handler = reply_twice, .flags = LOOP},
    {.name = "go_on", .handler = go_on},
    {.name = "keep", .handler = keep, .flags = LOOP},
    {.name = "leak", .handler = leak, .flags = LOOP},
    {.name = "forget_to_defer", .handler = forget_to_defer, .flags = LOOP},
};

PATCHBAY_TOOLSET("twice", "1.0.0", "This test.", tools)

static int open_host(void **state)
{
    char error[FAKE_HOST_ERROR_BYTES];
    (void)state;
    host = fake_host_open(&patchbay_plugin_v1, "{}", error);
    return host != NULL ? 0 : -1;
}

static int close_host(void **state)
{
    (void)state;
    fake_host_unload(host);
    return 0;
}

static void check(fake_result result, int32_t status, const char *part)
{
    assert_non_null(strstr(result.json, part));
    assert_int_equal(result.status, status);
    fake_result_free(&result);
}

/* What was logged, and how many second replies the hub was told of. */
static void check_faults(const char *log, unsigned count)
{
    assert_int_equal(fake_host_forgive(host, count), count);
    char *text = fake_host_log(host);
    assert_string_equal(text, log);
    free(text);
}

static void reply_to_kept(const char *text)
{
    patchbay_reply_text(kept, patchbay_str_of(text));
}

static void test_twice_in_handler(void **state)
{
    (void)state;
    check(fake_host_call(host, "twice_on_loop", "{\"x\":\"1\"}"), PATCHBAY_RESULT, "first 1");
    check_faults(DROPPED("twice_on_loop") DROPPED("twice_on_loop"), 2);
}

static void test_twice_on_worker(void **state)
{
    (void)state;
    check(fake_host_call(host, "twice", "{\"x\":\"2\"}"), PATCHBAY_RESULT, "first 2");
    check_faults(DROPPED("twice") DROPPED("twice"), 2);
}

static void test_other_use_after_reply(void **state)
{
    (void)state;
    check(fake_host_call(host, "go_on", "{\"x\":\"1\"}"), PATCHBAY_RESULT, "first");
    check_faults("", 0);
}

static void test_late(void **state)
{
    (void)state;
    check(fake_host_call(host, "leak", "{}"), PATCHBAY_RESULT, "first");
    reply_to_kept("late");
    check_faults(DROPPED("leak"), 1);
    check(fake_host_call(host, "forget_to_defer", "{}"), PATCHBAY_FAILED, "without a reply");
    reply_to_kept("late");
    check_faults(DROPPED("leak") FORGOT("forget_to_defer") DROPPED("forget_to_defer"), 1);
}

static void test_deferred_twice(void **state)
{
    (void)state;
    uint64_t id = fake_host_start(host, "keep", "{}");
    reply_to_kept("in time");
    reply_to_kept("late");
    check(fake_host_wait(host, id), PATCHBAY_RESULT, "in time");
    check_faults(DROPPED("keep"), 1);
}

/* A cancelled call still wants its one reply, and that is no fault. */
static void test_after_cancel(void **state)
{
    (void)state;
    uint64_t id = fake_host_start(host, "keep", "{}");
    fake_host_cancel(host, id);
    reply_to_kept("nobody hears this");
    fake_result result = fake_host_wait(host, id);
    fake_result_free(&result);
    check_faults("", 0);
}

/* The oldest call that is remembered. */
static void test_at_limit(void **state)
{
    (void)state;
    check(fake_host_call(host, "leak", "{}"), PATCHBAY_RESULT, "first");
    patchbay_tool_call *oldest = kept;
    for (int i = 1; i < PATCHBAY_CALLS_KEPT; i++) {
        check(fake_host_call(host, "leak", "{}"), PATCHBAY_RESULT, "first");
    }
    patchbay_reply_text(oldest, patchbay_str_of("very late"));
    check_faults(DROPPED("leak"), 1);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, open_host, close_host)
    const struct CMUnitTest tests[] = {
        TEST(test_twice_in_handler),
        TEST(test_twice_on_worker),
        TEST(test_other_use_after_reply),
        TEST(test_late),
        TEST(test_deferred_twice),
        TEST(test_after_cancel),
        TEST(test_at_limit),
    };
    return cmocka_run_group_tests_name("sdk.twice", tests, NULL, NULL);
}
