/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay_on_cancel in include/patchbay/call.h: a toolset in this very program, driven through the
 * fake host. */
#include "fake_host.h"

#include <patchbay/toolset.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <semaphore.h>

static sem_t entered;

static void wake(void *arg)
{
    (void)sem_post((sem_t *)arg);
}

/* Waits for its cancellation without asking for it. */
static void wait_for_cancel(patchbay_tool_call *call)
{
    sem_t cancelled;
    (void)sem_init(&cancelled, 0, 0);
    patchbay_on_cancel(call, wake, &cancelled);
    (void)sem_post(&entered);
    (void)sem_wait(&cancelled);
    assert_true(patchbay_cancelled(call));
    /* It has happened: now it is told at once, and only to whoever is registered. */
    patchbay_on_cancel(call, NULL, NULL);
    patchbay_on_cancel(call, wake, &cancelled);
    assert_int_equal(sem_trywait(&cancelled), 0);
    assert_int_not_equal(sem_trywait(&cancelled), 0);
    (void)sem_destroy(&cancelled);
    patchbay_reply_textf(call, "stopped");
}

static sem_t told;
static patchbay_toolset *latest;

static void listen_to_cancel(patchbay_tool_call *call)
{
    latest = patchbay_call_toolset(call);
    patchbay_on_cancel(call, wake, &told);
    patchbay_defer(call); /* never answered */
}

static void take_back(patchbay_tool_call *call)
{
    patchbay_on_cancel(call, wake, &told);
    patchbay_on_cancel(call, NULL, NULL);
    patchbay_defer(call); /* never answered */
}

static const patchbay_tool tools[] = {
    {.name = "cancel", .handler = wait_for_cancel},
    {.name = "listen", .handler = listen_to_cancel, .flags = PATCHBAY_TOOL_NONBLOCKING},
    {.name = "take_back", .handler = take_back, .flags = PATCHBAY_TOOL_NONBLOCKING},
};

PATCHBAY_TOOLSET("self", "1.0.0", "This test.", tools)

static void test_cancelling(void **state)
{
    char error[FAKE_HOST_ERROR_BYTES];
    (void)state;
    fake_host *host = fake_host_open(&patchbay_plugin_v1, "{}", error);
    assert_non_null(host);
    (void)sem_init(&entered, 0, 0);
    (void)sem_init(&told, 0, 0);
    uint64_t id = fake_host_start(host, "cancel", NULL);
    (void)sem_wait(&entered);
    fake_host_cancel(host, id);
    fake_result result = fake_host_wait(host, id);
    assert_string_equal(result.json, "{\"content\":[{\"type\":\"text\",\"text\":\"stopped\"}]}");
    fake_result_free(&result);
    fake_host_cancel(host, fake_host_start(host, "take_back", NULL));
    assert_int_not_equal(sem_trywait(&told), 0);
    id = fake_host_start(host, "listen", NULL);
    fake_host_cancel(host, id);
    patchbay_plugin_v1.cancel(latest, (patchbay_call){id}); /* a second time is one too many */
    assert_int_equal(sem_trywait(&told), 0);
    assert_int_not_equal(sem_trywait(&told), 0);
    fake_host_unload(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cancelling)};
    return cmocka_run_group_tests_name("sdk.cancel", tests, NULL, NULL);
}
