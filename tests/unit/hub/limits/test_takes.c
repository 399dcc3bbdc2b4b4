/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that wait for a store that hubs share: what one client's may hold. */
#include "keeper_support.h"
#include "hub/kernel/hub.h"
#include "state/store_internal.h"

enum { LARGE = 3 * 1024 * 1024, MOST = HUB_LIMIT_HELD_BYTES / LARGE, ALL = 3 * MOST };

static hub_fixture fixture;
static keeper t;

/* ---- a store that says nothing until it is told to ------------------------------------------- */

static hub_state_job *jobs[ALL];
static size_t job_count;

static hub_err create(const hub_state_engine_options *options, void **ret_engine, hub_error *reterr)
{
    (void)options;
    (void)ret_engine;
    (void)reterr;
    return HUB_ESTATE; /* it is put in the place of another one */
}

static void submit(void *engine, hub_state_job *job)
{
    (void)engine;
    assert_true(job_count < ALL);
    jobs[job_count++] = job;
}

static void watch(void *engine, bool is_wanted)
{
    (void)engine;
    (void)is_wanted;
}

/* It lets all of them come. */
static void answer_all(void)
{
    for (size_t i = 0; i < job_count; i++) {
        hub_state_job_done(jobs[i]);
    }
    job_count = 0;
}

static bool destroy(void *engine, unsigned timeout_ms)
{
    (void)engine;
    (void)timeout_ms;
    answer_all();
    return true;
}

static const hub_state_engine MUTE = {
    .name = "mute", .create = create, .submit = submit, .watch = watch, .destroy = destroy};

static void start(void)
{
    static const hub_tool_limit LIMITS[] = {{"a", 1000, 1000}};
    init_keeper(&t, "[" TOOL("a") "]");
    fixture_init(&fixture);
    hub_toolset_settings *settings = fixture_toolset(&fixture, "t", &t.master, false);
    settings->tool_limits = (hub_tool_limits){.items = LIMITS, .count = 1};
    fixture_start(&fixture);
    hub_store *store = hub_store_of(fixture.hub);
    free(store->place);
    store->place = strdup("valkey://localhost");
    assert_non_null(store->place);
    store->engine = &MUTE;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static client *open_by(const char *principal)
{
    return client_open_as(&fixture, &(client_options){.kind = LEGACY, .principal = principal});
}

static bool all_have_come(void *ctx)
{
    return t.count >= *(const size_t *)ctx;
}

/* As many as fit into a share wait, in all sessions of one client; then it is told, and others wait still. */
static void test_one_fills_his_share(void **state)
{
    (void)state;
    start();
    char *arguments = malloc(LARGE + 1);
    assert_non_null(arguments);
    memset(arguments, 'x', LARGE);
    memcpy(arguments, "{\"v\":\"", 6);
    memcpy(arguments + LARGE - 2, "\"}", 3);
    client *last = NULL;
    for (size_t i = 0; i < MOST; i++) { /* each is a little more than LARGE */
        last = open_by("eve");
        client_call(last, "1", "t__a", arguments);
    }
    assert_int_equal(job_count, MOST);
    client *more = open_by("eve");
    client_call(more, "1", "t__a", arguments);
    assert_contains(client_reply(more, "1"), "hold as much as they may");
    assert_int_equal(job_count, MOST);
    client *bob = open_by("bob");
    client_call(bob, "1", "t__a", arguments);
    assert_int_equal(job_count, MOST + 1);
    client_cancel(last, "1"); /* what it held is free again */
    client_call(more, "2", "t__a", arguments);
    assert_int_equal(job_count, MOST + 2);
    assert_int_equal(t.count, 0);
    answer_all();
    size_t want = MOST + 1;
    fixture_run_until(&fixture, all_have_come, &want);
    assert_int_equal(t.count, want);
    assert_int_equal(more->session->held_bytes, 0);
    free(arguments);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_fills_his_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
