/* SPDX-License-Identifier: Apache-2.0 */
/* Progress: how much of it a client hears, and that it hears the newest (P16). */
#include "fake_wall.h"
#include "keeper_support.h"

static hub_fixture fixture;
static keeper toolset;

static client *start(void)
{
    init_keeper(&toolset, "[" TOOL("a") "]");
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &toolset.master, false);
    fixture_start(&fixture);
    return client_open(&fixture, LEGACY);
}

static void call(client *c, const char *id)
{
    client_request(c, id, "tools/call", "\"name\":\"t__a\",\"_meta\":{\"progressToken\":\"p\"}");
}

static void report(size_t at, const char *params)
{
    const puppet_instance *i = toolset.master.latest;
    assert_int_equal(i->api->notify(i->host, toolset.calls[at], puppet_str(params)), PATCHBAY_OK);
}

static void report_many(size_t at, unsigned count)
{
    for (unsigned n = 1; n <= count; n++) {
        char params[40];
        (void)snprintf(params, sizeof params, "{\"progress\":%u}", n);
        report(at, params);
    }
}

/* As many at once as a burst has, and then so many a second; the last before the answer. */
static void test_rate(void **state)
{
    enum { MANY = 1000 };
    (void)state;
    client *c = start();
    call(c, "1");
    uint64_t begin_ms = hub_clock_now_ms();
    report_many(0, MANY);
    uint64_t elapsed_ms = hub_clock_now_ms() - begin_ms;
    size_t most = HUB_LIMIT_PROGRESS_BURST + 1 + elapsed_ms * HUB_LIMIT_PROGRESS_PER_S / 1000;
    assert_in_range(c->count, HUB_LIMIT_PROGRESS_BURST, most);
    size_t told = c->count;
    answer(&toolset, 0);
    assert_int_equal(c->count, told + 2);
    assert_contains(c->messages[told], "\"progress\":1000}");
    assert_contains(c->messages[told + 1], "\"result\"");
    fixture_stop(&fixture);
}

/* Each call has its own allowance, and one that is within it has nothing to add at its end. */
static void test_calls_by_themselves(void **state)
{
    (void)state;
    client *c = start();
    call(c, "1");
    call(c, "2");
    report_many(0, HUB_LIMIT_PROGRESS_BURST);
    report_many(1, HUB_LIMIT_PROGRESS_BURST);
    assert_int_equal(c->count, 2 * HUB_LIMIT_PROGRESS_BURST);
    answer(&toolset, 0);
    answer(&toolset, 1);
    assert_int_equal(c->count, 2 * HUB_LIMIT_PROGRESS_BURST + 2);
    fixture_stop(&fixture);
}

/* What was held back is told when the next may be, in its place: no older one follows it. */
static void test_the_newest_is_told(void **state)
{
    (void)state;
    client *c = start();
    call(c, "1");
    report_many(0, HUB_LIMIT_PROGRESS_BURST + 1);
    size_t told = c->count;
    while (c->count == told) {
        report(0, "{\"progress\":7000}");
        ev_run(fixture.loop, EVRUN_NOWAIT);
    }
    assert_contains(c->messages[told], "\"progress\":7000}");
    answer(&toolset, 0);
    assert_int_equal(c->count, told + 2);
    fixture_stop(&fixture);
}

/* … and without another report, too: a server may be silent for long. Once; also when somebody has
 * set the clock. */
static void expect_told_in_time(long step_s)
{
    client *c = start();
    call(c, "1");
    fake_wall_step_s = step_s;
    report_many(0, 1000);
    fake_wall_step_s = 0;
    size_t told = c->count;
    while (c->count == told) {
        ev_run(fixture.loop, EVRUN_ONCE);
    }
    assert_contains(c->messages[told], "\"progress\":1000}");
    answer(&toolset, 0);
    assert_int_equal(c->count, told + 2);
    assert_contains(c->messages[told + 1], "\"result\"");
    fixture_stop(&fixture);
}

static void test_told_in_time(void **state)
{
    (void)state;
    expect_told_in_time(0);
    expect_told_in_time(3600);
}

/* A client that has cancelled hears nothing more. */
static void test_cancelled(void **state)
{
    (void)state;
    client *c = start();
    call(c, "1");
    report_many(0, 1000);
    size_t told = c->count;
    client_cancel(c, "1");
    assert_int_equal(toolset.cancelled, 1);
    assert_int_equal(c->count, told);
    fixture_stop(&fixture);
}

/* Kept up to the limit, not beyond: then the one before is told. */
static void test_size_of_what_is_kept(void **state)
{
    static char params[HUB_LIMIT_PROGRESS_BYTES + 2];
    static const char HEAD[] = "{\"progress\":9999,\"message\":\"";
    (void)state;
    for (size_t more = 0; more <= 1; more++) {
        client *c = start();
        size_t len = HUB_LIMIT_PROGRESS_BYTES + more;
        memset(params, 'x', len);
        memcpy(params, HEAD, sizeof HEAD - 1);
        memcpy(params + len - 2, "\"}", 3);
        call(c, "1");
        report_many(0, 1000);
        size_t told = c->count;
        report(0, params);
        answer(&toolset, 0);
        assert_int_equal(c->count, told + 2);
        assert_contains(c->messages[told], more == 0 ? "\"progress\":9999," : "\"progress\":1000}");
        fixture_stop(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate),
        cmocka_unit_test(test_calls_by_themselves),
        cmocka_unit_test(test_the_newest_is_told),
        cmocka_unit_test(test_told_in_time),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_size_of_what_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
