/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is lost, nothing is mixed up: answers and cancels reach exactly whom they belong to,
 * whatever ids clients choose, and in whatever order and on whatever thread calls end. */
#include "hub_fixture.h"

#include <patchbay/loop.h>
#include <patchbay/worker.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"

enum {
    SESSIONS = 1000,
    ROUNDS = 100,
    PAIRS = 1000,
    NONCE_BYTES = 32,
    ANSWERS_PER_DEAL = 200,
};

/* A call that the plugin has not answered. */
typedef struct pending_call {
    patchbay_call call;
    char nonce[NONCE_BYTES];
} pending_call;

/* The plugin: it keeps its calls, and answers them with the nonce that they brought. */
typedef struct scatter {
    puppet master;
    puppet_instance *instance;
    patchbay_timer *timer; /* NULL: answers only when told */
    unsigned random;
    pending_call *pending;
    size_t count;
    size_t cap;
    size_t cancelled;
    char last_cancelled[NONCE_BYTES];
} scatter;

/* An answer on its way from a worker thread. */
typedef struct answer_job {
    puppet_instance *instance;
    pending_call what;
} answer_job;

static hub_fixture fixture;

/* ---- the plugin ------------------------------------------------------------------------------ */

static unsigned roll(scatter *s, size_t sides)
{
    s->random = s->random * 1103515245u + 12345u;
    return (s->random >> 8) % (unsigned)sides;
}

static int32_t answer(puppet_instance *instance, const pending_call *what)
{
    char result[128];
    (void)snprintf(result, sizeof result, "{\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}",
                   what->nonce);
    return puppet_finish(instance, what->call, result);
}

static void run_answer(void *arg)
{
    answer_job *job = arg;
    assert_int_equal(answer(job->instance, &job->what), PATCHBAY_OK);
    free(job);
}

/* Answer on a worker thread, if there is room for the job. */
static bool answer_elsewhere(scatter *s, const pending_call *what)
{
    const patchbay_worker_v1 *worker =
        s->instance->api->get_interface(s->instance->host, PATCHBAY_WORKER_V1);
    answer_job *job = malloc(sizeof *job);
    assert_non_null(job);
    *job = (answer_job){.instance = s->instance, .what = *what};
    if (worker->submit(s->instance->host, run_answer, job) != PATCHBAY_OK) {
        free(job);
        return false;
    }
    return true;
}

/* Answer some of the calls, in random order, every third of them on another thread. */
static void deal(void *ctx)
{
    scatter *s = ctx;
    const patchbay_loop_v1 *loop =
        s->instance->api->get_interface(s->instance->host, PATCHBAY_LOOP_V1);
    for (size_t i = 0; i < ANSWERS_PER_DEAL && s->count > 0; i++) {
        size_t at = roll(s, s->count);
        pending_call what = s->pending[at];
        s->pending[at] = s->pending[--s->count];
        if (roll(s, 3) != 0 || !answer_elsewhere(s, &what)) {
            assert_int_equal(answer(s->instance, &what), PATCHBAY_OK);
        }
    }
    if (s->count > 0) {
        loop->timer_start(s->timer, 0);
    }
}

static void on_create(puppet_instance *instance)
{
    scatter *s = instance->puppet->ctx;
    const patchbay_loop_v1 *loop = instance->api->get_interface(instance->host, PATCHBAY_LOOP_V1);
    s->instance = instance;
    s->timer = loop->timer(instance->host, deal, s);
    assert_non_null(s->timer);
}

static void on_destroy(puppet_instance *instance)
{
    scatter *s = instance->puppet->ctx;
    const patchbay_loop_v1 *loop = instance->api->get_interface(instance->host, PATCHBAY_LOOP_V1);
    loop->timer_free(s->timer);
    free(s->pending);
}

static void keep_call(puppet_instance *instance, patchbay_call call,
                      const patchbay_request *request)
{
    scatter *s = instance->puppet->ctx;
    if (s->count == s->cap) {
        s->cap = s->cap == 0 ? 64 : 2 * s->cap;
        void *grown = realloc(s->pending, s->cap * sizeof *s->pending);
        assert_non_null(grown);
        s->pending = grown;
    }
    pending_call *kept = &s->pending[s->count++];
    hub_str nonce;
    kept->call = call;
    assert_true(hub_json_plain(hub_json_get(request->args_json, HUB_STR("nonce")), &nonce));
    assert_true(nonce.len < NONCE_BYTES);
    memcpy(kept->nonce, nonce.ptr, nonce.len);
    kept->nonce[nonce.len] = '\0';
}

static void keep_and_deal(puppet_instance *instance, patchbay_call call,
                          const patchbay_request *request)
{
    const scatter *s = instance->puppet->ctx;
    const patchbay_loop_v1 *loop = instance->api->get_interface(instance->host, PATCHBAY_LOOP_V1);
    keep_call(instance, call, request);
    if (s->count == 1) {
        loop->timer_start(s->timer, 0);
    }
}

static void on_cancel(puppet_instance *instance, patchbay_call call)
{
    scatter *s = instance->puppet->ctx;
    for (size_t i = 0; i < s->count; i++) {
        if (s->pending[i].call.id == call.id) {
            s->cancelled++;
            (void)snprintf(s->last_cancelled, sizeof s->last_cancelled, "%s", s->pending[i].nonce);
            return;
        }
    }
    fail_msg("a cancel for nobody");
}

static void start(scatter *s, bool deals)
{
    *s = (scatter){.master = {.tools = "[" TOOL("echo") "]",
                              .on_create = on_create,
                              .on_call = deals ? keep_and_deal : keep_call,
                              .on_cancel = on_cancel,
                              .on_destroy = on_destroy},
                   .random = 20260728};
    s->master.ctx = s;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &s->master, false);
    fixture_start(&fixture);
}

static void call_echo(client *c, const char *id, const char *nonce)
{
    char arguments[64];
    (void)snprintf(arguments, sizeof arguments, "{\"nonce\":\"%s\"}", nonce);
    client_call(c, id, "t__echo", arguments);
}

/* ---- a thousand clients ---------------------------------------------------------------------- */

/* What one client waits for. */
typedef struct asker {
    client *c;
    unsigned number;
    unsigned round;
    unsigned open; /* calls not answered: bit 0 the number 1, bit 1 the string "1" */
    bool is_mixed; /* asks under both ids at once */
} asker;

typedef struct crowd {
    asker askers[SESSIONS];
    size_t done;
    size_t replies;
    size_t foreign;
} crowd;

static crowd people;

static void name_nonce(const asker *a, unsigned kind, char nonce[NONCE_BYTES])
{
    (void)snprintf(nonce, NONCE_BYTES, "n%u-%u-%u", a->number, a->round, kind);
}

static void on_reply(client *c, hub_str text)
{
    asker *a = c->ctx;
    hub_message message;
    char nonce[NONCE_BYTES];
    char want[NONCE_BYTES + 2];
    assert_int_equal(hub_message_scan(text, &message, NULL), HUB_OK);
    bool is_string = hub_str_is(message.at[HUB_M_ID], "\"1\"");
    unsigned kind = is_string ? 2 : 1;
    assert_true(is_string || hub_str_is(message.at[HUB_M_ID], "1"));
    name_nonce(a, kind, nonce);
    (void)snprintf(want, sizeof want, "\"%s\"", nonce);
    people.replies++;
    people.foreign += (a->open & kind) == 0 ||
                      hub_str_find(message.at[HUB_M_RESULT], hub_str_of(want)) == SIZE_MAX;
    a->open &= ~kind;
}

static void ask(asker *a)
{
    char nonce[NONCE_BYTES];
    a->open = a->is_mixed ? 3 : 1;
    name_nonce(a, 1, nonce);
    call_echo(a->c, "1", nonce);
    if (a->is_mixed) {
        name_nonce(a, 2, nonce);
        call_echo(a->c, "\"1\"", nonce);
    }
}

static void run_crowd(bool is_mixed, unsigned rounds)
{
    scatter s;
    memset(&people, 0, sizeof people);
    start(&s, true);
    for (unsigned i = 0; i < SESSIONS; i++) {
        asker *a = &people.askers[i];
        *a = (asker){.c = client_open(&fixture, i % 2 == 0 ? LEGACY : MODERN),
                     .number = i,
                     .is_mixed = is_mixed};
        a->c->ctx = a;
        a->c->on_message = on_reply;
        ask(a);
    }
    while (people.done < SESSIONS) {
        ev_run(fixture.loop, EVRUN_ONCE);
        for (unsigned i = 0; i < SESSIONS; i++) {
            asker *a = &people.askers[i];
            if (a->open == 0 && a->round < rounds) {
                a->round++;
                if (a->round < rounds) {
                    ask(a);
                } else {
                    people.done++;
                }
            }
        }
    }
    assert_int_equal(people.replies, (size_t)SESSIONS * rounds * (is_mixed ? 2 : 1));
    assert_int_equal(people.foreign, 0);
    assert_int_equal(hub_call_count(fixture.hub->calls), 0);
    assert_int_equal(
        hub_instance_faults(hub_find_toolset(fixture.hub, HUB_STR("t"))->binding->instance), 0);
    fixture_stop(&fixture);
}

/* P09: 1,000 sessions × 100 calls, all under id 1: 100,000 replies, none foreign. */
static void test_all_use_id_1(void **state)
{
    (void)state;
    run_crowd(false, ROUNDS);
}

/* P09: 1 and "1" are two requests. */
static void test_number_and_string(void **state)
{
    (void)state;
    run_crowd(true, ROUNDS / 2);
}

/* ---- one id twice ---------------------------------------------------------------------------- */

/* P10: the second of a pair is refused, the first gets its answer. */
static void test_id_in_flight(void **state)
{
    scatter s;
    (void)state;
    start(&s, false);
    client *c = client_open(&fixture, LEGACY);
    for (unsigned i = 0; i < PAIRS; i++) {
        char id[16];
        char nonce[NONCE_BYTES];
        (void)snprintf(id, sizeof id, i % 2 == 0 ? "%u" : "\"%u\"", i);
        (void)snprintf(nonce, sizeof nonce, "first-%u", i);
        call_echo(c, id, nonce);
        assert_int_equal(c->count, 0);
        if (i % 3 == 0) {
            client_request(c, id, "ping", "");
        } else {
            call_echo(c, id, "second");
        }
        assert_int_equal(c->count, 1);
        assert_contains(client_reply(c, id), "\"code\":-32600");
        assert_int_equal(s.count, 1);
        assert_int_equal(answer(s.instance, &s.pending[--s.count]), PATCHBAY_OK);
        assert_int_equal(c->count, 2);
        assert_contains(client_reply(c, id), nonce);
        client_clear(c);
    }
    fixture_stop(&fixture);
}

/* ---- cancels --------------------------------------------------------------------------------- */

/* P17: each cancel reaches exactly its call; nothing is sent after it; the rest are answered. */
static void test_cancels(void **state)
{
    scatter s;
    client *clients[PAIRS];
    (void)state;
    start(&s, false);
    for (unsigned i = 0; i < PAIRS; i++) {
        char nonce[NONCE_BYTES];
        clients[i] = client_open(&fixture, i % 2 == 0 ? LEGACY : MODERN);
        (void)snprintf(nonce, sizeof nonce, "n%u", i);
        call_echo(clients[i], "1", nonce);
    }
    size_t cancels = 0;
    for (unsigned i = 0; i < PAIRS; i += 3) {
        char nonce[NONCE_BYTES];
        (void)snprintf(nonce, sizeof nonce, "n%u", i);
        client_cancel(clients[i], "1");
        assert_int_equal(s.cancelled, ++cancels);
        assert_string_equal(s.last_cancelled, nonce);
        client_cancel(clients[i], "1"); /* again: nobody is meant any more */
        assert_int_equal(s.cancelled, cancels);
    }
    assert_int_equal(hub_call_count(fixture.hub->calls), PAIRS - cancels);
    for (unsigned i = 0; i < PAIRS; i++) {
        assert_int_equal(answer(s.instance, &s.pending[i]),
                         i % 3 == 0 ? PATCHBAY_ESTALE : PATCHBAY_OK);
        assert_int_equal(clients[i]->count, i % 3 != 0);
    }
    assert_int_equal(hub_call_count(fixture.hub->calls), 0);
    fixture_stop(&fixture);
}

/* P17: only the session that made a call may cancel it; 1 is not "1". */
static void test_foreign_cancels(void **state)
{
    static const char *const IDS[] = {"1", "\"1\"", "2", "null", "{}", "[1]", "1.0", "-1"};
    scatter s;
    (void)state;
    start(&s, false);
    client *owner = client_open(&fixture, LEGACY);
    client *other = client_open(&fixture, LEGACY);
    call_echo(owner, "1", "mine");
    call_echo(other, "7", "theirs");
    for (unsigned i = 0; i < PAIRS; i++) {
        client_cancel(other, IDS[i % (sizeof IDS / sizeof IDS[0])]);
    }
    for (size_t i = 1; i < sizeof IDS / sizeof IDS[0]; i++) {
        client_cancel(owner, IDS[i]);
    }
    client_send(owner, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}");
    assert_int_equal(s.cancelled, 0);
    assert_int_equal(owner->count + other->count, 0); /* a notification is never answered */
    assert_int_equal(answer(s.instance, &s.pending[0]), PATCHBAY_OK);
    assert_int_equal(answer(s.instance, &s.pending[1]), PATCHBAY_OK);
    assert_contains(client_reply(owner, "1"), "mine");
    assert_contains(client_reply(other, "7"), "theirs");
    fixture_stop(&fixture);
}

/* ---- clients that go ------------------------------------------------------------------------- */

/* A plugin that, told of one cancel, ends everything it has. */
static void finish_all(puppet_instance *instance, patchbay_call call)
{
    scatter *s = instance->puppet->ctx;
    (void)call;
    s->cancelled++;
    while (s->count > 0) {
        (void)answer(instance, &s->pending[--s->count]);
    }
}

/* transport.h: a session that closes cancels its calls; nothing is written to it, also not by a
 * plugin that finishes them from within the cancel. Others are not touched. */
static void test_session_closes(void **state)
{
    (void)state;
    for (int eager = 0; eager < 2; eager++) {
        scatter s;
        start(&s, false);
        if (eager) {
            s.master.on_cancel = finish_all;
        }
        client *stays = client_open(&fixture, LEGACY);
        client *goes = client_open(&fixture, LEGACY);
        for (unsigned i = 0; i < 10; i++) {
            char id[16];
            (void)snprintf(id, sizeof id, "%u", i);
            call_echo(goes, id, "going");
            call_echo(stays, id, "staying");
        }
        assert_int_equal(hub_session_in_flight(goes->session), 10);
        client_close(goes); /* the port asserts that nothing is written */
        assert_int_equal(s.cancelled, eager ? 1 : 10);
        while (s.count > 0) {
            (void)answer(s.instance, &s.pending[--s.count]);
        }
        assert_int_equal(client_count(stays, "staying"), 10);
        assert_int_equal(stays->count, 10);
        assert_int_equal(hub_call_count(fixture.hub->calls), 0);
        fixture_stop(&fixture);
    }
}

/* A handle from before is refused, also when its slot is in use again. */
static void test_stale_handles(void **state)
{
    scatter s;
    (void)state;
    start(&s, false);
    client *c = client_open(&fixture, LEGACY);
    call_echo(c, "1", "old");
    pending_call old = s.pending[0];
    client_cancel(c, "1");
    s.count = 0;
    call_echo(c, "1", "new");
    pending_call fresh = s.pending[--s.count];
    assert_int_not_equal(fresh.call.id, old.call.id);
    assert_true(fresh.call.id < UINT64_C(1) << 53);
    assert_int_equal(answer(s.instance, &old), PATCHBAY_ESTALE);
    for (uint64_t id = 0; id < 200; id++) { /* made up */
        pending_call forged = {.call = {.id = id}, .nonce = "forged"};
        assert_int_equal(answer(s.instance, &forged), PATCHBAY_ESTALE);
        forged.call.id = fresh.call.id ^ (UINT64_C(1) << (id % 64));
        assert_int_equal(answer(s.instance, &forged), PATCHBAY_ESTALE);
    }
    assert_int_equal(c->count, 0);
    assert_int_equal(answer(s.instance, &fresh), PATCHBAY_OK);
    assert_contains(client_reply(c, "1"), "new");
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_use_id_1),    cmocka_unit_test(test_number_and_string),
        cmocka_unit_test(test_id_in_flight),    cmocka_unit_test(test_cancels),
        cmocka_unit_test(test_foreign_cancels), cmocka_unit_test(test_session_closes),
        cmocka_unit_test(test_stale_handles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
