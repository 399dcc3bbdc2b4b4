/* SPDX-License-Identifier: Apache-2.0 */
/* A call that a station holds goes on behind that station, and passes none a second time: however it
 * is held, it is begun, handed over, answered and ended once; rates, audit, middleware and status
 * count it once. */
#include "ask_support.h"
#include "keeper_support.h"

#include "hub/audit/audit.h"
#include "hub/instances/session_instance.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/way.h"
#include "hub/limits/queue.h"
#include "hub/limits/rates.h"
#include "hub/report/status.h"
#include "hub/router/stations.h"

#include "base/bucket.h"

#include <unistd.h>

static hub_fixture fixture;
static keeper t;
static asker tool;
static char audit_path[] = "/tmp/patchbay-held-XXXXXX";

/* ---- two stations around all others ---------------------------------------------------------- */

typedef struct passages {
    size_t arrived;
    size_t begun;
    size_t handed_over;
    size_t answered;
    size_t ended;
} passages;

static passages outer; /* in the first row … */
static passages inner; /* … and in the last one */

static bool wants_all(const hub_orchestrator *hub)
{
    (void)hub;
    return true;
}

#define WATCHER(NAME, at)                                                                          \
    static hub_verdict at##_arrive(const hub_request *request)                                     \
    {                                                                                              \
        (at).arrived += request->message->method.len > 0;                                          \
        return HUB_GO_ON;                                                                          \
    }                                                                                              \
    static hub_verdict at##_begin(hub_call *call, hub_way *way)                                    \
    {                                                                                              \
        (at).begun += hub_call_is_of_tool(call) && way->message != NULL;                           \
        return HUB_GO_ON;                                                                          \
    }                                                                                              \
    static hub_verdict at##_hand_over(hub_call *call, hub_handover *handover)                      \
    {                                                                                              \
        (at).handed_over += hub_call_is_of_tool(call) && handover->way != NULL;                    \
        return HUB_GO_ON;                                                                          \
    }                                                                                              \
    static hub_verdict at##_answer(hub_call *call, hub_outcome *outcome)                           \
    {                                                                                              \
        (at).answered += hub_call_is_of_tool(call) && outcome->json.len > 0;                       \
        return HUB_GO_ON;                                                                          \
    }                                                                                              \
    static void at##_end(hub_call *call, const hub_outcome *outcome)                               \
    {                                                                                              \
        (at).ended += hub_call_is_of_tool(call) && outcome != NULL;                                \
    }                                                                                              \
    static hub_station_place at##_place;                                                           \
    static const hub_station NAME = {.name = #at,                                                  \
                                     .place = &at##_place,                                         \
                                     .wants_hub = wants_all,                                       \
                                     .arrive = at##_arrive,                                        \
                                     .begin = at##_begin,                                          \
                                     .hand_over = at##_hand_over,                                  \
                                     .answer = at##_answer,                                        \
                                     .end = at##_end}

WATCHER(OUTER_STATION, outer);
WATCHER(INNER_STATION, inner);

static void lay_out(void)
{
    static const hub_station *table[HUB_STATIONS_MOST];
    assert_true(HUB_STATION_COUNT + 2 <= HUB_STATIONS_MOST);
    table[0] = &OUTER_STATION;
    memcpy(table + 1, HUB_STATIONS, HUB_STATION_COUNT * sizeof table[0]);
    table[HUB_STATION_COUNT + 1] = &INNER_STATION;
    hub_stations_lay_out(table, HUB_STATION_COUNT + 2);
}

/* ---- what is counted ------------------------------------------------------------------------- */

/* Everything that counts calls, of a hub with one toolset. */
static void count_all(hub_toolset_settings *toolset)
{
    fixture.settings.limits.calls_per_second = 1;
    fixture.settings.limits.calls_burst = 100;
    fixture.settings.audit = (hub_audit_settings){.is_on = true, .file = audit_path};
    toolset->middleware.log = true;
    toolset->middleware.time = true;
}

static void forget_counts(void)
{
    outer = (passages){0};
    inner = (passages){0};
}

/* How full the session's bucket is says how many calls it was charged. */
static uint64_t charged(const client *c)
{
    return ((const hub_bucket *)hub_session_part(c->session, &HUB_RATES_STATION))->full;
}

static size_t logged(const char *text)
{
    size_t count = 0;
    for (const char *at = fixture.log; (at = strstr(at, text)) != NULL; at += strlen(text)) {
        count++;
    }
    return count;
}

static void expect_passed(const passages *at, size_t count)
{
    assert_int_equal(at->begun, count);
    assert_int_equal(at->handed_over, count);
    assert_int_equal(at->answered, count);
    assert_int_equal(at->ended, count);
}

/* That many calls of the toolset were made, and each passed everything once. */
static void expect_once_each(const char *key, size_t count)
{
    expect_passed(&outer, count);
    expect_passed(&inner, count);
    assert_int_equal(logged("call.ended"), count);
    hub_audit *audit = hub_audit_of(fixture.hub);
    hub_audit_flush(audit);
    assert_int_equal(hub_audit_count(audit).written, count);
    const hub_status_counts *counts =
        hub_status_counts_of(hub_find_toolset(fixture.hub, hub_str_of(key)));
    assert_int_equal(counts->calls, count);
    assert_int_equal(counts->errors, 0);
    assert_int_equal(counts->refused, 0);
}

/* ---- each way to hold one -------------------------------------------------------------------- */

static void test_for_a_catalog(void **state)
{
    (void)state;
    init_keeper(&t, NULL);
    fixture_init(&fixture);
    count_all(fixture_toolset(&fixture, "up", &t.master, true));
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    forget_counts();
    client_call(c, "1", "up__a", "{}");
    assert_int_equal(t.count, 0);
    assert_int_equal(outer.arrived, 1);
    uint64_t before = charged(c);
    give_catalog(&t, "[" TOOL("a") "]");
    fixture_spin(&fixture, 3);
    assert_int_equal(t.count, 1);
    answer(&t, 0);
    assert_non_null(client_wait(c, "1"));
    assert_int_equal(charged(c), before);
    assert_int_equal(outer.arrived, 1);
    expect_once_each("up", 1);
    fixture_stop(&fixture);
}

/* The second of two calls waits for the place of the first. */
static void hold_in_queue(client *c, const char *key)
{
    char name[16];
    (void)snprintf(name, sizeof name, "%s__a", key);
    client_call(c, "1", name, "{}");
    client_call(c, "2", name, "{}");
    assert_int_equal(t.count, 1);
    assert_int_equal(outer.begun, 2);
    assert_int_equal(inner.begun, 1);
    uint64_t before = charged(c);
    answer(&t, 0);
    assert_non_null(client_wait(c, "1"));
    fixture_spin(&fixture, 3);
    assert_int_equal(t.count, 2);
    answer(&t, 1);
    assert_non_null(client_wait(c, "2"));
    assert_int_equal(charged(c), before);
    assert_int_equal(outer.arrived, 2);
    expect_once_each(key, 2);
}

static client *start_with_queue(bool of_session)
{
    init_keeper(&t, "[" TOOL("a") "]");
    fixture_init(&fixture);
    hub_toolset_settings *toolset = fixture_toolset(&fixture, "t", &t.master, false);
    toolset->max_calls = 1;
    toolset->queue = 1;
    toolset->queue_timeout_ms = FIXTURE_LONG_MS;
    toolset->sharing_session = of_session;
    count_all(toolset);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    forget_counts();
    return c;
}

static void test_for_a_place(void **state)
{
    (void)state;
    hold_in_queue(start_with_queue(false), "t");
    fixture_stop(&fixture);
}

/* Its toolset is replaced on the way, and the replacement holds it. */
static void test_for_a_place_of_its_own_instance(void **state)
{
    (void)state;
    client *c = start_with_queue(true);
    hold_in_queue(c, "t");
    assert_int_equal(hub_session_instance_count(hub_find_toolset(fixture.hub, HUB_STR("t"))), 1);
    fixture_stop(&fixture);
}

static void start_asker(puppet *master)
{
    memset(&tool, 0, sizeof tool);
    *master = (puppet){.tools = "[" TOOL("a") "]",
                       .ctx = &tool,
                       .on_create = asker_created,
                       .on_call = asker_called_elicits};
    tool.on_answer = asker_finish_with_answer;
    fixture_init(&fixture);
    count_all(fixture_toolset(&fixture, "t", master, true));
    fixture_start(&fixture);
}

static void test_for_a_clients_word(void **state)
{
    (void)state;
    puppet master;
    start_asker(&master);
    client *c = client_open_as(&fixture, &(client_options){.kind = LEGACY, .capabilities = ALL});
    forget_counts();
    client_call(c, "\"1\"", "t__a", "{}");
    fixture_spin(&fixture, 1);
    uint64_t before = charged(c);
    client_answer(c, client_asked(c, NULL), "{\"action\":\"decline\"}");
    assert_contains(client_wait(c, "\"1\""), "decline");
    assert_int_equal(charged(c), before);
    assert_int_equal(outer.arrived, 1);
    expect_once_each("t", 1);
    fixture_stop(&fixture);
}

/* A modern client goes away with the question, and comes back with another request: that is charged
 * as the request that it is, but the call goes on as the one that it was. */
static void test_for_a_client_that_comes_back(void **state)
{
    (void)state;
    puppet master;
    start_asker(&master);
    client *c = client_open_as(&fixture, &(client_options){.kind = MODERN, .capabilities = ALL});
    forget_counts();
    client_call(c, "1", "t__a", "{}");
    char *token = state_of(client_wait(c, "1"));
    assert_int_equal(outer.begun, 1);
    assert_int_equal(outer.ended, 0);
    client_retry(c, "2", "t__a", "{}", token, "{\"k\":{\"action\":\"decline\"}}");
    assert_contains(client_wait(c, "2"), "decline");
    free(token);
    assert_int_equal(outer.arrived, 2);
    assert_int_equal(tool.count, 1);
    expect_once_each("t", 1);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_for_a_catalog),
        cmocka_unit_test(test_for_a_place),
        cmocka_unit_test(test_for_a_place_of_its_own_instance),
        cmocka_unit_test(test_for_a_clients_word),
        cmocka_unit_test(test_for_a_client_that_comes_back),
    };
    int fd = mkstemp(audit_path);
    if (fd < 0) {
        return 1;
    }
    (void)close(fd);
    lay_out();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)unlink(audit_path);
    return failed;
}
