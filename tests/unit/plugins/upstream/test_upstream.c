/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What upstreams have in common, in time: when a server that fails is tried again, what cannot be
 * sent, and how its words are repeated. The channel, the hub and the clock are fakes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Before cmocka.h, which has a macro fail(). */
#include "plugins/upstream/local/config.c"
#include "plugins/upstream/common/upstream.h"

#include <cmocka.h>

#define MINUTE 60000u

/* ---- a clock and its timers ------------------------------------------------------------------ */

struct patchbay_timer {
    void (*on_time)(void *ctx);
    void *ctx;
    int is_running;
    uint64_t at_ms;
};

static uint64_t clock_ms;
static patchbay_timer timers[8];
static size_t timer_count;

static uint64_t fake_now(patchbay_host *host)
{
    (void)host;
    return clock_ms;
}

static patchbay_timer *fake_timer(patchbay_host *host, void (*on_time)(void *ctx), void *ctx)
{
    (void)host;
    assert_true(timer_count < sizeof timers / sizeof timers[0]);
    timers[timer_count] = (patchbay_timer){.on_time = on_time, .ctx = ctx};
    return &timers[timer_count++];
}

static void fake_timer_start(patchbay_timer *timer, uint64_t delay_ms)
{
    timer->is_running = 1;
    timer->at_ms = clock_ms + delay_ms;
}

static void fake_timer_stop(patchbay_timer *timer)
{
    timer->is_running = 0;
}

static void fake_timer_free(patchbay_timer *timer)
{
    if (timer != NULL) {
        timer->is_running = 0;
    }
}

static const patchbay_loop_v1 LOOP = {
    .struct_size = sizeof LOOP,
    .now_ms = fake_now,
    .timer = fake_timer,
    .timer_start = fake_timer_start,
    .timer_stop = fake_timer_stop,
    .timer_free = fake_timer_free,
};

/* Let time pass up to `until_ms`, with all that falls into it. */
static void pass_until(uint64_t until_ms)
{
    for (;;) {
        patchbay_timer *next = NULL;
        for (size_t i = 0; i < timer_count; i++) {
            if (timers[i].is_running && (next == NULL || timers[i].at_ms < next->at_ms)) {
                next = &timers[i];
            }
        }
        if (next == NULL || next->at_ms > until_ms) {
            break;
        }
        clock_ms = next->at_ms;
        next->is_running = 0;
        next->on_time(next->ctx);
    }
    clock_ms = until_ms;
}

/* Whether something is to be done at once; it is done, and nothing else. */
static int pass_turn(void)
{
    for (size_t i = 0; i < timer_count; i++) {
        if (timers[i].is_running && timers[i].at_ms <= clock_ms) {
            timers[i].is_running = 0;
            timers[i].on_time(timers[i].ctx);
            return 1;
        }
    }
    return 0;
}

/* ---- the hub --------------------------------------------------------------------------------- */

static uint32_t last_state;
static char last_detail[1024];

static patchbay_str fake_introduce(patchbay_host *host, const patchbay_peer *peer)
{
    (void)host;
    (void)peer;
    return patchbay_str_of("{}");
}

static int32_t fake_frame(patchbay_host *host, patchbay_call call, const patchbay_request *request,
                          const patchbay_peer *peer, patchbay_str name, patchbay_str *ret_parts)
{
    (void)host;
    (void)call;
    (void)request;
    (void)peer;
    (void)name;
    ret_parts[0] = patchbay_str_of("{}");
    return 1;
}

static const patchbay_wire_v1 WIRE = {
    .struct_size = sizeof WIRE, .introduce = fake_introduce, .frame_request = fake_frame};

static void fake_defer(patchbay_host *host)
{
    (void)host;
}

static void fake_set_state(patchbay_host *host, uint32_t state, patchbay_str detail)
{
    (void)host;
    last_state = state;
    (void)snprintf(last_detail, sizeof last_detail, "%.*s", (int)detail.len,
                   detail.len > 0 ? detail.ptr : "");
}

static size_t last_set; /* bytes of the list that the hub was given last */

static int32_t fake_set(patchbay_host *host, uint32_t kind, patchbay_str json)
{
    (void)host;
    (void)kind;
    last_set = json.len;
    return PATCHBAY_OK;
}

static int32_t fake_set_capabilities(patchbay_host *host, patchbay_str json)
{
    (void)host;
    (void)json;
    return PATCHBAY_OK;
}

static const patchbay_catalog_v1 CATALOG = {
    .struct_size = offsetof(patchbay_catalog_v1, set_health),
    .defer = fake_defer,
    .set_state = fake_set_state,
    .set = fake_set,
    .set_capabilities = fake_set_capabilities,
};

static void fake_expect(patchbay_host *host, uint32_t is_expected)
{
    (void)host;
    (void)is_expected;
}

static const patchbay_client_v1 CLIENT = {
    .struct_size = sizeof CLIENT,
    .expect_input_required = fake_expect,
};

static void fake_log(patchbay_host *host, int32_t level, patchbay_str text)
{
    (void)host;
    (void)level;
    (void)text;
}

static const void *fake_get_interface(patchbay_host *host, const char *id)
{
    (void)host;
    return strcmp(id, PATCHBAY_LOOP_V1) == 0      ? (const void *)&LOOP
           : strcmp(id, PATCHBAY_WIRE_V1) == 0    ? (const void *)&WIRE
           : strcmp(id, PATCHBAY_CATALOG_V1) == 0 ? (const void *)&CATALOG
           : strcmp(id, PATCHBAY_CLIENT_V1) == 0  ? (const void *)&CLIENT
                                                  : NULL;
}

static char last_finish[1024]; /* the status and text of the last one */
static unsigned results;       /* calls that came to one */
static unsigned refusals;      /* … to an error */

static int32_t fake_finish(patchbay_host *host, patchbay_call call, int32_t status,
                           patchbay_str json)
{
    (void)host;
    (void)snprintf(last_finish, sizeof last_finish, "%llu %d %.*s", (unsigned long long)call.id,
                   (int)status, (int)json.len, json.ptr);
    results += status == PATCHBAY_RESULT;
    refusals += status == PATCHBAY_RPC_ERROR;
    return PATCHBAY_OK;
}

static const patchbay_host_api API = {
    .struct_size = sizeof API,
    .log = fake_log,
    .finish = fake_finish,
    .get_interface = fake_get_interface,
};

/* ---- a server -------------------------------------------------------------------------------- */

static mcp_server server;
static unsigned opened;     /* how often */
static int is_there;        /* else it cannot be reached */
static uint64_t reached_ms; /* when it was, last */
static int32_t sends;       /* what send() returns */
static char last_id[48];
static char ids[4][48];   /* of the last requests of these methods */
static char methods[256]; /* that were sent, each with a space behind it */
static const char *const KEPT[] = {"server/discover", "initialize", "tools/list", "prompts/list"};

static int fake_open(mcp_server *up)
{
    opened++;
    if (!is_there) {
        upstream_disconnect(up, "it is not there", CAUSE_FAILURE);
    } else {
        reached_ms = clock_ms;
    }
    return is_there;
}

static int32_t fake_send(mcp_server *up, const upstream_outgoing *message)
{
    (void)up;
    (void)snprintf(last_id, sizeof last_id, "%.*s", (int)message->id.len,
                   message->id.len > 0 ? message->id.ptr : "");
    size_t len = strlen(methods);
    (void)snprintf(methods + len, sizeof methods - len, "%.*s ", (int)message->method.len,
                   message->method.ptr);
    for (size_t i = 0; i < sizeof KEPT / sizeof KEPT[0]; i++) {
        if (patchbay_str_eq(message->method, patchbay_str_of(KEPT[i]))) {
            memcpy(ids[i], last_id, sizeof ids[i]);
        }
    }
    return sends;
}

static void fake_cancel(mcp_server *up, patchbay_str id)
{
    (void)up;
    (void)id;
}

static void fake_close(mcp_server *up)
{
    if (up->phase == PHASE_PROBING || up->phase == PHASE_INITIALIZING) {
        up->era = ERA_UNKNOWN;
    }
}

static const char *last_words;

static void fake_quote(mcp_server *up, char *ret_line, size_t size)
{
    (void)up;
    (void)snprintf(ret_line, size, "%s", last_words);
}

static const upstream_channel CHANNEL = {.open = fake_open,
                                         .send = fake_send,
                                         .cancel = fake_cancel,
                                         .close = fake_close,
                                         .quote = fake_quote};

static int set_up(void **state)
{
    patchbay_error error = {.struct_size = sizeof error};
    (void)state;
    clock_ms = 1000000;
    timer_count = 0;
    opened = 0;
    is_there = 0;
    sends = PATCHBAY_OK;
    results = 0;
    refusals = 0;
    last_finish[0] = '\0';
    methods[0] = '\0';
    last_words = "";
    last_state = PATCHBAY_STATE_IDLE;
    memset(&server, 0, sizeof server);
    server.name = "up";
    server.protocol = "2025-11-25";
    upstream_pace_read(patchbay_str_of("{}"), 0, &server.pace);
    return upstream_init(&server, &CHANNEL, &API, NULL, &error);
}

static int tear_down(void **state)
{
    (void)state;
    upstream_fini(&server);
    return 0;
}

/* The answer to the last request that was sent. */
static void answer(const char *result)
{
    static const patchbay_call UNKNOWN = {.id = 0};
    char id[sizeof last_id];
    memcpy(id, last_id, sizeof id);
    const patchbay_message message = {
        .struct_size = sizeof message,
        .kind = PATCHBAY_MSG_RESULT,
        .id = patchbay_str_of(id),
        .id_number = UINT64_MAX,
        .result = patchbay_str_of(result),
    };
    upstream_take(&server, &message, UNKNOWN);
}

static void become_ready(void)
{
    is_there = 1;
    upstream_connect(&server);
    answer("{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}}}");
    answer("{\"tools\":[]}");
    assert_int_equal(server.phase, PHASE_READY);
}

/* ---- in time --------------------------------------------------------------------------------- */

/* RELIABILITY.md U09: ends at once for five minutes: 12 starts at most; never given up. */
static void test_starts_in_five_minutes(void **state)
{
    (void)state;
    uint64_t began = clock_ms;
    upstream_connect(&server);
    pass_until(began + 5 * MINUTE);
    assert_in_range(opened, 11, 12);
    pass_until(began + 24 * 60 * MINUTE);
    assert_in_range(opened, 1200, 1450); /* one a minute, or a tenth less */
    assert_int_equal(last_state, PATCHBAY_STATE_FAILED);
    is_there = 1;
    uint64_t mended = clock_ms;
    reached_ms = 0;
    pass_until(mended + 66000);
    assert_in_range(reached_ms, mended, mended + 66000);
}

/* Each failure doubles the delay, which gets a tenth longer at most. */
static void test_delays(void **state)
{
    (void)state;
    upstream_connect(&server);
    for (uint64_t delay = 500; delay < 60000; delay *= 2) {
        assert_in_range(server.retry_ms - clock_ms, delay, delay + delay / 10);
        pass_until(server.retry_ms);
    }
    for (int i = 0; i < 3; i++) {
        assert_in_range(server.retry_ms - clock_ms, 60000, 66000);
        pass_until(server.retry_ms);
    }
}

/* A server that was well for the time has not failed before; a millisecond less, and it has. */
static void test_the_reset_at_its_edge(void **state)
{
    (void)state;
    upstream_connect(&server);
    pass_until(server.retry_ms - 1);
    for (unsigned less = 0; less < 2; less++) {
        uint32_t failures = server.failures;
        become_ready();
        pass_until(clock_ms + UPSTREAM_RESET_MS - less);
        upstream_fail(&server, "ended");
        assert_int_equal(server.failures, less == 0 ? 1 : failures + 1);
    }
}

/* The same when it was stopped because nobody needed it. */
static void test_the_reset_without_a_failure(void **state)
{
    (void)state;
    upstream_connect(&server);
    for (unsigned less = 2; less-- > 0;) {
        become_ready();
        assert_int_equal(server.failures, 1);
        pass_until(clock_ms + UPSTREAM_RESET_MS - less);
        upstream_disconnect(&server, "nobody needs it", CAUSE_NONE);
        assert_int_equal(server.failures, less);
    }
    become_ready();
    assert_int_equal(server.restarts, 2);
}

/* Whoever needs it waits for an attempt that is as near as that, and no further. */
static void test_patience_at_its_edge(void **state)
{
    char text[UPSTREAM_REASON_BYTES];
    (void)state;
    upstream_connect(&server);
    clock_ms = server.retry_ms - UPSTREAM_PATIENCE_MS;
    assert_false(upstream_restart_is_far(&server, text, sizeof text));
    clock_ms--;
    assert_true(upstream_restart_is_far(&server, text, sizeof text));
    assert_string_equal(text, "it is not there; it is tried again in 6 s");
}

static void test_pace(void **state)
{
    upstream_pace pace;
    (void)state;
    upstream_pace_read(patchbay_str_of("{}"), 7, &pace);
    assert_int_equal(pace.restart_ms, UPSTREAM_RESTART_MS);
    assert_int_equal(pace.restart_most_ms, UPSTREAM_RESTART_MOST_MS);
    assert_int_equal(pace.reset_ms, UPSTREAM_RESET_MS);
    assert_int_equal(pace.startup_ms, UPSTREAM_STARTUP_MS);
    assert_int_equal(pace.health_ms, 7);
    assert_int_equal(pace.idle_ms, 0);
    upstream_pace_read(patchbay_str_of("{\"restart_delay_ms\":3600000,\"restart_delay_max_ms\":1,"
                                       "\"restart_reset_ms\":86400000,\"health_interval_ms\":0,"
                                       "\"idle_timeout_ms\":86400000,\"startup_timeout_ms\":1}"),
                       7, &pace);
    assert_int_equal(pace.restart_ms, 3600000);
    assert_int_equal(pace.restart_most_ms, 3600000); /* no less than the first */
    assert_int_equal(pace.reset_ms, 86400000);
    assert_int_equal(pace.startup_ms, 1);
    assert_int_equal(pace.health_ms, 0);
    assert_int_equal(pace.idle_ms, 86400000);
}

/* ---- a slow server ----------------------------------------------------------------------------- */

#define DISCOVERED  "{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}}}"
#define INITIALIZED "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}}}"

/* The answer to the last request of that method, however long ago. */
static void answer_to(const char *method, const char *result)
{
    for (size_t i = 0; i < sizeof KEPT / sizeof KEPT[0]; i++) {
        if (strcmp(KEPT[i], method) == 0) {
            memcpy(last_id, ids[i], sizeof last_id);
        }
    }
    answer(result);
}

/* Connect to a server that says nothing while it is asked what it is. */
static void connect_in_silence(void)
{
    server.protocol = NULL;
    is_there = 1;
    methods[0] = '\0';
    upstream_connect(&server);
    assert_int_equal(server.phase, PHASE_PROBING);
    pass_until(clock_ms + UPSTREAM_PROBE_MS);
    assert_int_equal(server.phase, PHASE_INITIALIZING);
    assert_string_equal(methods, "server/discover initialize ");
}

/* Its answer to the probe counts until initialize is answered. */
static void test_a_late_discovery(void **state)
{
    (void)state;
    connect_in_silence();
    answer_to("server/discover", DISCOVERED);
    assert_int_equal(server.era, ERA_MODERN);
    assert_string_equal(server.version, "2026-07-28");
    assert_int_equal(server.phase, PHASE_LISTING);
    answer_to("initialize", INITIALIZED); /* nobody waits for it any more */
    assert_int_equal(server.era, ERA_MODERN);
    answer_to("tools/list", "{\"tools\":[]}");
    assert_int_equal(server.phase, PHASE_READY);
    assert_int_equal(server.is_guess, 0);
    assert_null(strstr(methods, "notifications/initialized"));
}

/* Any other late answer says that the guess was right. */
static void test_a_late_denial(void **state)
{
    (void)state;
    connect_in_silence();
    answer_to("server/discover", "{}");
    assert_int_equal(server.era, ERA_LEGACY);
    assert_int_equal(server.is_guess, 0);
    answer_to("initialize", INITIALIZED);
    answer_to("tools/list", "{\"tools\":[]}");
    assert_int_equal(server.phase, PHASE_READY);
    upstream_fail(&server, "ended");
    methods[0] = '\0';
    pass_until(server.retry_ms);
    assert_string_equal(methods, "initialize "); /* what is known is not asked again */
}

static void discover_again(uint64_t id)
{
    const patchbay_request request = {
        .struct_size = sizeof request,
        .method = patchbay_str_of(PATCHBAY_METHOD_DISCOVER),
        .params_json = patchbay_str_of("{\"refresh\":true}"),
    };
    upstream_call(&server, (patchbay_call){.id = id}, &request);
}

static void call_tool(uint64_t id)
{
    const patchbay_request request = {
        .struct_size = sizeof request,
        .tool = patchbay_str_of("t"),
        .method = patchbay_str_of("tools/call"),
        .params_json = patchbay_str_of("{}"),
    };
    upstream_call(&server, (patchbay_call){.id = id}, &request);
}

/* Once initialize is answered, the connection is left as it is while somebody needs it. */
static void test_a_discovery_that_is_too_late(void **state)
{
    (void)state;
    connect_in_silence();
    answer_to("initialize", INITIALIZED);
    answer_to("server/discover", DISCOVERED);
    assert_int_equal(server.era, ERA_LEGACY);
    answer_to("tools/list", "{\"tools\":[]}");
    assert_int_equal(server.phase, PHASE_READY);
    call_tool(7);
    discover_again(8);
    assert_int_equal(server.phase, PHASE_READY);
    assert_int_equal(server.era, ERA_LEGACY);
    answer_to("tools/list", "{\"tools\":[]}");
    upstream_fail_call(&server, (patchbay_call){.id = 7}, PATCHBAY_UNAVAILABLE, "no");
    methods[0] = '\0';
    discover_again(9);
    assert_int_equal(server.phase, PHASE_PROBING);
    answer_to("server/discover", DISCOVERED);
    answer_to("tools/list", "{\"tools\":[]}");
    assert_int_equal(server.phase, PHASE_READY);
    assert_int_equal(server.era, ERA_MODERN);
    assert_string_equal(last_finish, "9 0 {}");
}

/* What was guessed is asked again: at the next start, and then after 2, 4 … of them. */
static void test_silence_is_asked_again(void **state)
{
    static const int ASKED[] = {1, 1, 0, 1, 0, 0, 0, 1};
    (void)state;
    server.protocol = NULL;
    is_there = 1;
    for (size_t i = 0; i < sizeof ASKED / sizeof ASKED[0]; i++) {
        methods[0] = '\0';
        upstream_connect(&server);
        pass_until(clock_ms + UPSTREAM_PROBE_MS);
        assert_string_equal(methods, ASKED[i] ? "server/discover initialize " : "initialize ");
        answer_to("initialize", INITIALIZED);
        answer_to("tools/list", "{\"tools\":[]}");
        assert_int_equal(server.phase, PHASE_READY);
        upstream_disconnect(&server, "nobody needs it", CAUSE_NONE);
    }
}

/* ---- answers that cannot be used ---------------------------------------------------------------- */

static void take_refused(const char *text, size_t settled)
{
    assert_int_equal(
        upstream_take_refused(&server, patchbay_str_of(text), "byte 1: bad", upstream_settle),
        settled);
}

static void test_whose_answer_it_was(void **state)
{
    (void)state;
    become_ready();
    call_tool(7);
    call_tool(8);
    call_tool(9);
    take_refused("{\"result\":null,\"id\":8}", 1);
    assert_string_equal(
        last_finish, "8 5 server \"up\" has answered, but the answer cannot be used: byte 1: bad");
    take_refused("{\"result\":null,\"id\":8}", 0); /* it is over */
    take_refused("{\"result\":null,\"id\":99}", 0);
    take_refused("{\"result\":null,\"id\":null}", 0);
    take_refused("{\"method\":\"x\",\"id\":7}", 0);
    assert_int_equal(server.in_flight.count, 2);
    assert_int_equal(server.refused, 4);
    take_refused("[{\"result\":{},\"id\":9},{\"result\":{},\"id\":7}]", 2);
    assert_int_equal(server.in_flight.count, 0);
}

/* A batch is looked at no further than there could be answers in it. */
static void test_a_batch_without_end(void **state)
{
    patchbay_out text = {0};
    (void)state;
    become_ready();
    for (unsigned more = 0; more < 2; more++) {
        text.len = 0;
        patchbay_out_text(&text, "[");
        for (unsigned i = 0; i < UPSTREAM_OWN_REQUESTS + more; i++) {
            patchbay_out_text(&text, "{\"result\":{},\"id\":99},");
        }
        patchbay_out_text(&text, "{\"result\":{},\"id\":7}]");
        call_tool(7);
        take_refused(text.ptr, 1 - more);
    }
    patchbay_out_free(&text);
}

/* Without an id it is the only one's, or nobody's. */
static void test_an_answer_without_its_end(void **state)
{
    static const char CUT[] = "{\"result\":{\"x\":\"";
    (void)state;
    become_ready();
    call_tool(7);
    call_tool(8);
    take_refused(CUT, 0);
    pass_until(clock_ms);
    assert_int_equal(server.in_flight.count, 2);
    upstream_fail_call(&server, (patchbay_call){.id = 8}, PATCHBAY_UNAVAILABLE, "no");
    take_refused(CUT, 1);
    pass_until(clock_ms); /* it could have been the last that a server says */
    assert_int_equal(server.in_flight.count, 0);
    assert_memory_equal(last_finish, "7 5 ", 4);
    call_tool(9);
    take_refused("{\"id\":9,\"result\":{\"x\":\"", 1);
    server.is_ending = 1;
    pass_until(clock_ms);
    assert_int_equal(server.in_flight.count, 1);
    upstream_fail(&server, "exited with code 1");
    assert_string_equal(last_finish, "9 4 server \"up\" exited with code 1");
}

/* Lists that cannot be used: so many attempts, one less, and what somebody can do. */
static void test_bad_catalogs_at_their_edge(void **state)
{
    (void)state;
    is_there = 1;
    upstream_connect(&server);
    for (unsigned i = 1; i <= UPSTREAM_CATALOG_TRIES; i++) {
        answer_to("initialize", INITIALIZED);
        patchbay_str id = patchbay_str_of(ids[2]);
        upstream_undelivered(&server, (patchbay_call){.id = 0}, id, PATCHBAY_FAILED, "too deep");
        assert_int_equal(server.phase, PHASE_IDLE);
        assert_int_equal(opened, i);
        assert_int_equal(server.is_given_up, i == UPSTREAM_CATALOG_TRIES);
        assert_non_null(strstr(last_detail, "the list cannot be used: too deep"));
        pass_until(clock_ms + (i < UPSTREAM_CATALOG_TRIES ? server.retry_ms - clock_ms : 0));
    }
    pass_until(clock_ms + 24 * 60 * MINUTE);
    assert_int_equal(opened, UPSTREAM_CATALOG_TRIES);
    call_tool(7);
    assert_memory_equal(last_finish, "7 5 ", 4);
    assert_non_null(strstr(last_finish, "; that was so 5 times: it is not tried again"));
    upstream_restart_now(&server);
    assert_int_equal(opened, UPSTREAM_CATALOG_TRIES + 1);
    answer_to("initialize", INITIALIZED);
    answer_to("tools/list", "{\"tools\":[]}");
    assert_int_equal(server.phase, PHASE_READY);
    upstream_fail(&server, "ended");
    assert_true(server.retry_ms > clock_ms);
}

/* A page of that many bytes of descriptions, which ends the list or does not. */
static char *make_page(size_t bytes, const char *end)
{
    static const char BEGIN[] = "{\"tools\":[{\"name\":\"a\",\"description\":\"";
    char *page = malloc(sizeof BEGIN + bytes + strlen(end));
    assert_non_null(page);
    memcpy(page, BEGIN, sizeof BEGIN - 1);
    memset(page + sizeof BEGIN - 1, 'x', bytes);
    memcpy(page + sizeof BEGIN - 1 + bytes, end, strlen(end) + 1);
    return page;
}

/* The turn in which a long page arrives is over when its message is scanned: it is looked at in the next one, and
 * handed to the hub in another. A short one is there at once. */
static void test_long_pages(void **state)
{
    static const char LAST[] = "\"}]}";
    static const char MORE[] = "\"}],\"nextCursor\":\"more\"}";
    (void)state;
    become_ready();
    char *pages[] = {make_page(UPSTREAM_LONG_BYTES, MORE), make_page(UPSTREAM_LONG_BYTES, LAST),
                     make_page(10, LAST)};
    upstream_list_changed(&server, PATCHBAY_TOOLS);
    last_set = 0;
    methods[0] = '\0';
    answer_to("tools/list", pages[0]);
    assert_string_equal(methods, "");
    assert_int_equal(server.lists[PATCHBAY_TOOLS].items.len, 1); /* nothing was looked at */
    upstream_list_changed(&server, PATCHBAY_TOOLS);              /* it is still being read */
    assert_string_equal(methods, "");
    assert_int_equal(pass_turn(), 1);
    assert_string_equal(methods, "tools/list ");
    answer_to("tools/list", pages[1]);
    assert_true(server.lists[PATCHBAY_TOOLS].items.len < 2 * UPSTREAM_LONG_BYTES);
    assert_int_equal(pass_turn(), 1);
    assert_true(server.lists[PATCHBAY_TOOLS].items.len > 2 * UPSTREAM_LONG_BYTES);
    assert_int_equal(last_set, 0);
    assert_int_equal(pass_turn(), 1);
    assert_true(last_set > 2 * UPSTREAM_LONG_BYTES);
    assert_int_equal(server.lists[PATCHBAY_TOOLS].page.len, 0);

    /* What changed meanwhile is read again, at its time. */
    pass_until(clock_ms + UPSTREAM_AGAIN_MS);
    answer_to("tools/list", pages[2]);
    assert_true(last_set > 0 && last_set < 100);

    /* The connection ends while one waits; one that is no list. */
    upstream_list_changed(&server, PATCHBAY_TOOLS);
    pass_until(clock_ms + UPSTREAM_AGAIN_MS);
    answer_to("tools/list", pages[0]);
    assert_true(server.lists[PATCHBAY_TOOLS].page.len > 0);
    upstream_fail(&server, "ended");
    assert_int_equal(server.lists[PATCHBAY_TOOLS].page.len, 0);
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        free(pages[i]);
    }
}

static void test_what_is_not_ready(void **state)
{
    (void)state;
    is_there = 1;
    upstream_connect(&server);
    take_refused("{\"jsonrpc\":", 0);
    pass_until(clock_ms + UPSTREAM_STARTUP_MS);
    assert_string_equal(last_detail,
                        "server \"up\" was not ready within 30 s (its entry's `startup_timeout` "
                        "sets the time): no answer to initialize; a message of it cannot be used: "
                        "byte 1: bad (its entry "
                        "says `protocol: 2025-11-25`: without that, it is asked what it speaks)");
    last_words = "please log in";
    upstream_connect(&server);
    pass_until(clock_ms + UPSTREAM_STARTUP_MS);
    assert_string_equal(last_detail,
                        "server \"up\" was not ready within 30 s (its entry's `startup_timeout` "
                        "sets the time): no answer to initialize; it said: please log in (its "
                        "entry says `protocol: "
                        "2025-11-25`: without that, it is asked what it speaks)");
}

static void test_times(void **state)
{
    static const struct {
        uint64_t ms;
        const char *text;
    } CASES[] = {{0, "0 s"},    {1, "0.001 s"},    {10, "0.01 s"},  {500, "0.5 s"},
                 {1000, "1 s"}, {1001, "1.001 s"}, {30000, "30 s"}, {3600250, "3600.25 s"}};
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char text[UPSTREAM_TIME_BYTES];
        upstream_write_time(CASES[i].ms, text);
        assert_string_equal(text, CASES[i].text);
    }
}

/* ---- what cannot be sent --------------------------------------------------------------------- */

static void test_sending(void **state)
{
    static const struct {
        int32_t sends;
        const char *reason; /* NULL: the channel is about to say what has happened */
    } CASES[] = {
        {PATCHBAY_ELIMIT, "server \"up\" does not read its input"},
        {PATCHBAY_ENOMEM, "server \"up\" cannot be told anything: out of memory"},
        {PATCHBAY_ESTATE, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        sends = PATCHBAY_OK;
        become_ready();
        sends = CASES[i].sends;
        upstream_list_read(&server, PATCHBAY_TOOLS);
        if (CASES[i].reason != NULL) {
            assert_int_equal(server.phase, PHASE_IDLE);
            assert_string_equal(last_detail, CASES[i].reason);
        } else {
            assert_int_equal(server.phase, PHASE_READY);
        }
    }
}

/* ---- what is watched ------------------------------------------------------------------------- */

static void subscribe(uint64_t id, const char *uri)
{
    const patchbay_request request = {
        .struct_size = sizeof request,
        .tool = patchbay_str_of(uri),
        .method = patchbay_str_of("resources/subscribe"),
    };
    upstream_call(&server, (patchbay_call){.id = id}, &request);
}

/* The server takes these, behind `before` others. */
static void acknowledge(unsigned before, const char *uris)
{
    patchbay_out json = {0};
    patchbay_out_text(&json, "{\"resourceSubscriptions\":[");
    for (unsigned i = 0; i < before; i++) {
        patchbay_out_text(&json, "\"b:\",");
    }
    patchbay_out_printf(&json, "%s]}", uris);
    upstream_listen_acknowledged(&server, server.opening, patchbay_str_make(json.ptr, json.len));
    patchbay_out_free(&json);
}

static void become_modern(void)
{
    become_ready();
    server.era = ERA_MODERN;
}

/* In any order, however they are written. */
static void test_what_is_taken(void **state)
{
    (void)state;
    become_modern();
    subscribe(1, "a:1");
    for (uint64_t id = 2; id <= 5; id++) {
        subscribe(id, (const char *[]){"a:2", "a:33", "", "z"}[id - 2]);
    }
    acknowledge(0, "\"a:1\"");
    assert_int_equal(results, 1);
    acknowledge(0, "\"z\",7,\"a:33\",\"\",\"a\\u003a2\"");
    assert_int_equal(results, 5);
    assert_int_equal(refusals, 0);
    subscribe(6, "a:6");
    acknowledge(0, "\"z\",\"a:66\",null,\"a:\"");
    assert_int_equal(results, 5);
    assert_int_equal(refusals, 1);
}

/* A server that names without end what nobody has asked for is not listened to for long. */
static void test_the_most_that_is_taken(void **state)
{
    (void)state;
    become_modern();
    subscribe(1, "a:1");
    acknowledge(UPSTREAM_WATCHED, "\"a:1\"");
    assert_int_equal(refusals, 1);
    subscribe(2, "a:1");
    acknowledge(UPSTREAM_WATCHED - 1, "\"a:1\"");
    assert_int_equal(results, 1);
}

/* ---- its words ------------------------------------------------------------------------------- */

static const char *quote(const char *text, size_t size)
{
    static char line[64];
    memset(line, '#', sizeof line);
    upstream_quote(patchbay_str_of(text), line, size);
    assert_int_equal(line[size], '#');
    return line;
}

static void test_quotes(void **state)
{
    (void)state;
    assert_string_equal(quote("", 4), "");
    assert_string_equal(quote("abc", 4), "abc");
    assert_string_equal(quote("abcd", 4), "...");
    assert_string_equal(quote("abcdefg", 8), "abcdefg");
    assert_string_equal(quote("abcdefgh", 8), "abcd...");
    assert_string_equal(quote("abc\xc3\xa9\xc3\xa9", 8), "abc\xc3\xa9\xc3\xa9");
    assert_string_equal(quote("abc\xc3\xa9\xc3\xa9x", 8), "abc...");
    assert_string_equal(quote(" a \r\n\t b\x1b[2J ", 32), "a b [2J");
    assert_string_equal(quote("a\xc2\x9b"
                              "b\xff\xfe"
                              "c\x7f\xc2\xa0",
                              32),
                        "a b c \xc2\xa0");
    upstream_quote(patchbay_str_make(NULL, 0), (char[4]){"#"}, 4);
}

static void test_quotes_of_errors(void **state)
{
    char line[64];
    (void)state;
    upstream_quote_error(patchbay_str_of("{\"code\":1,\"message\":\"a\\nb\"}"), line, sizeof line);
    assert_string_equal(line, "a b");
    upstream_quote_error(patchbay_str_of("{\"code\":1,\"message\":\"\"}"), line, sizeof line);
    assert_string_equal(line, "{\"code\":1,\"message\":\"\"}");
    upstream_quote_error(patchbay_str_of("{\"code\":1,\"message\":[2]}"), line, sizeof line);
    assert_string_equal(line, "[2]");
    upstream_quote_error(patchbay_str_of("7"), line, sizeof line);
    assert_string_equal(line, "7");
}

/* ---- its configuration ----------------------------------------------------------------------- */

/* A NUL ends a variable for the process: what comes after it must not be lost in silence. */
static void test_nul(void **state)
{
    static const struct {
        const char *json;
        const char *says; /* NULL: it is taken */
    } CASES[] = {
        {"{\"command\":\"x\",\"args\":[\"\"],\"env\":{\"A\":\"\",\"B\":\"b\"}}", NULL},
        {"{\"command\":\"x\",\"env\":{\"A\":\"a\",\"B\":\"b\\u0000c\"}}",
         "env, pass_env: names and"},
        {"{\"command\":\"x\",\"env\":{\"A\\u0000\":\"a\"}}", "env, pass_env: names and"},
        {"{\"command\":\"x\\u0000\"}", "command, args and cwd"},
        {"{\"command\":\"x\",\"args\":[\"a\",\"\\u0000\"]}", "command, args and cwd"},
        {"{\"command\":\"x\",\"cwd\":\"/\\u0000\"}", "command, args and cwd"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        upstream_config config = {.argv = NULL};
        patchbay_error error = {.struct_size = sizeof error};
        int32_t result = upstream_config_read(patchbay_str_of(CASES[i].json), &config, &error);
        upstream_config_free(&config);
        assert_int_equal(result, CASES[i].says == NULL ? PATCHBAY_OK : PATCHBAY_EINVAL);
        assert_true(CASES[i].says == NULL ||
                    strncmp(error.text, CASES[i].says, strlen(CASES[i].says)) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_starts_in_five_minutes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_delays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_reset_at_its_edge, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_reset_without_a_failure, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_patience_at_its_edge, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_late_discovery, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_late_denial, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_discovery_that_is_too_late, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_silence_is_asked_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_whose_answer_it_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_batch_without_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_answer_without_its_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_catalogs_at_their_edge, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_long_pages, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_not_ready, set_up, tear_down),
        cmocka_unit_test(test_times),
        cmocka_unit_test_setup_teardown(test_sending, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_most_that_is_taken, set_up, tear_down),
        cmocka_unit_test(test_pace),
        cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_quotes_of_errors),
        cmocka_unit_test(test_nul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
