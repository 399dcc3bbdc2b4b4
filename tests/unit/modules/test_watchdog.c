/* SPDX-License-Identifier: Apache-2.0 */
/* Who keeps the loop waiting is named while he does (RELIABILITY.md G05). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/log.h"
#include "modules/watchdog.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { MANY = 200000 };

/* The lines of the log, written by the thread and waited for by the test. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    unsigned count;
    char last[1024];
} lines = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

static void keep_line(void *ctx, hub_str line)
{
    (void)ctx;
    (void)pthread_mutex_lock(&lines.lock);
    lines.count++;
    (void)snprintf(lines.last, sizeof lines.last, HUB_STR_FMT, HUB_STR_ARG(line));
    (void)pthread_cond_signal(&lines.more);
    (void)pthread_mutex_unlock(&lines.lock);
}

static void wait_lines(unsigned count, char *ret_last, size_t size)
{
    (void)pthread_mutex_lock(&lines.lock);
    while (lines.count < count) {
        (void)pthread_cond_wait(&lines.more, &lines.lock);
    }
    (void)snprintf(ret_last, size, "%s", lines.last);
    (void)pthread_mutex_unlock(&lines.lock);
}

static int set_up(void **state)
{
    hub_watchdog *watchdog = NULL;
    lines.count = 0;
    hub_log_setup(HUB_LOG_DEBUG, false);
    hub_log_capture(keep_line, NULL);
    assert_int_equal(hub_watchdog_create(&watchdog), HUB_OK);
    *state = watchdog;
    return 0;
}

static int tear_down(void **state)
{
    hub_watchdog_destroy(*state);
    hub_log_capture(NULL, NULL);
    return 0;
}

static hub_watchdog_stay stay_of(const char *toolset, hub_str tool)
{
    return (hub_watchdog_stay){
        .toolset = toolset, .module = "module", .entry = "call", .tool = tool};
}

static void test_it_is_named_once(void **state)
{
    hub_watchdog *watchdog = *state;
    char last[1024];
    for (unsigned n = 1; n <= 2; n++) {
        hub_watchdog_stay stay = stay_of("slow", HUB_STR("dig"));
        hub_watchdog_enter(watchdog, &stay);
        wait_lines(n, last, sizeof last);
        hub_watchdog_leave(watchdog, &stay);
        assert_non_null(strstr(last, "warning plugin.blocks toolset=slow module=module entry=call "
                                     "tool=dig ms="));
    }
    assert_int_equal(lines.count, 2);
}

/* The inner one is at work, and afterwards the outer one. */
static void test_stays_nest(void **state)
{
    hub_watchdog *watchdog = *state;
    char last[1024];
    hub_watchdog_stay outer = stay_of("outer", HUB_STR_EMPTY);
    hub_watchdog_stay inner = stay_of("inner", HUB_STR_EMPTY);
    hub_watchdog_enter(watchdog, &outer);
    hub_watchdog_enter(watchdog, &inner);
    wait_lines(1, last, sizeof last);
    assert_non_null(strstr(last, "toolset=inner"));
    hub_watchdog_leave(watchdog, &inner);
    wait_lines(2, last, sizeof last);
    assert_non_null(strstr(last, "toolset=outer"));
    hub_watchdog_leave(watchdog, &outer);
}

static void test_long_names_are_cut(void **state)
{
    hub_watchdog *watchdog = *state;
    char last[1024];
    static char name[2 * HUB_LIMIT_TOOL_NAME_BYTES];
    memset(name, 'x', sizeof name);
    hub_watchdog_stay stay = stay_of("t", (hub_str){.ptr = name, .len = sizeof name});
    hub_watchdog_enter(watchdog, &stay);
    wait_lines(1, last, sizeof last);
    hub_watchdog_leave(watchdog, &stay);
    const char *begin = strstr(last, "tool=x");
    assert_non_null(begin);
    assert_int_equal(strspn(begin + strlen("tool="), "x"), HUB_LIMIT_TOOL_NAME_BYTES);
}

/* Each at the place of the one before on the stack: they are not taken for one. The thread looks at
 * some of them while they come and go; when it sleeps, the next one wakes it. */
static void test_many(void **state)
{
    hub_watchdog *watchdog = *state;
    char last[1024];
    for (unsigned i = 0; i < MANY; i++) {
        char name[16];
        int len = snprintf(name, sizeof name, "%u", i);
        hub_watchdog_stay outer = stay_of("outer", (hub_str){.ptr = name, .len = (size_t)len});
        hub_watchdog_stay inner = stay_of("inner", HUB_STR_EMPTY);
        hub_watchdog_enter(watchdog, &outer);
        hub_watchdog_enter(watchdog, &inner);
        hub_watchdog_leave(watchdog, &inner);
        hub_watchdog_leave(watchdog, &outer);
        memset(name, '?', sizeof name);
    }
    unsigned before = lines.count; /* a machine that stood still for so long: not wrong */
    hub_watchdog_stay stay = stay_of("slow", HUB_STR_EMPTY);
    hub_watchdog_enter(watchdog, &stay);
    wait_lines(before + 1, last, sizeof last);
    hub_watchdog_leave(watchdog, &stay);
    assert_non_null(strstr(last, "toolset=slow"));
    assert_null(strchr(last, '?'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_it_is_named_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stays_nest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_long_names_are_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
