/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/call.h"

#include "base/clock.h"
#include "base/limits.h"
#include "hub/ask/ask.h"
#include "hub/audit/audit.h"
#include "hub/kernel/call_kept.h"
#include "hub/kernel/hub.h"
#include "hub/ask/input_required.h"
#include "hub/middleware/middleware.h"
#include "hub/catalogs/parking.h"
#include "hub/notices/progress.h"
#include "hub/limits/queue.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session_calls.h"
#include "hub/report/status.h"

#include <stdio.h>
#include <stdlib.h>

/* An id is (generation << SLOT_BITS | slot): a slot is used again at once, a generation of it only
 * after all others. It is never 0, and survives as a JSON number. */
enum { SLOT_BITS = 16, ID_BITS = 53 };
_Static_assert((1u << SLOT_BITS) == HUB_LIMIT_CALLS, "a slot for every call");

static const uint64_t LAST_GENERATION = (UINT64_C(1) << (ID_BITS - SLOT_BITS)) - 1;

typedef struct call_slot {
    uint64_t generation;
    hub_call *call; /* NULL when free; its memory is kept in `spare` */
    hub_call *spare;
    uint32_t next_free;
} call_slot;

struct hub_call_table {
    struct ev_loop *loop;
    call_slot *slots;
    uint32_t slot_count;
    uint32_t first_free; /* slot_count when none is */
    size_t in_flight;
};

/* ---- the table ------------------------------------------------------------------------------- */

hub_err hub_call_table_create(struct ev_loop *loop, hub_call_table **ret_table)
{
    hub_call_table *table = calloc(1, sizeof *table);
    if (table == NULL) {
        return HUB_ENOMEM;
    }
    table->loop = loop;
    *ret_table = table;
    return HUB_OK;
}

void hub_call_table_destroy(hub_call_table *table)
{
    if (table == NULL) {
        return;
    }
    hub_assert(table->in_flight == 0);
    for (uint32_t i = 0; i < table->slot_count; i++) {
        free(table->slots[i].spare);
    }
    free(table->slots);
    free(table);
}

size_t hub_call_count(const hub_call_table *table)
{
    return table->in_flight;
}

/* Twice as many slots, the new ones free. */
static hub_err grow(hub_call_table *table)
{
    uint32_t count = table->slot_count == 0 ? 64 : table->slot_count * 2;
    if (count > HUB_LIMIT_CALLS) {
        return HUB_ELIMIT;
    }
    call_slot *slots = realloc(table->slots, count * sizeof *slots);
    if (slots == NULL) {
        return HUB_ENOMEM;
    }
    for (uint32_t i = table->slot_count; i < count; i++) {
        slots[i] = (call_slot){.next_free = i + 1};
    }
    table->slots = slots;
    table->slot_count = count;
    return HUB_OK;
}

static hub_err take_slot(hub_call_table *table, hub_call **ret_call)
{
    if (table->first_free == table->slot_count) {
        hub_err err = grow(table);
        if (err != HUB_OK) {
            return err;
        }
    }
    uint32_t at = table->first_free;
    call_slot *slot = &table->slots[at];
    hub_call *call = slot->spare != NULL ? slot->spare : malloc(sizeof *call);
    if (call == NULL) {
        return HUB_ENOMEM;
    }
    table->first_free = slot->next_free;
    slot->spare = NULL;
    slot->call = call;
    slot->generation = slot->generation < LAST_GENERATION ? slot->generation + 1 : 1;
    table->in_flight++;
    memset(call, 0, offsetof(hub_call, inline_kept));
    call->id = slot->generation << SLOT_BITS | at;
    call->table = table;
    call->kept = call->inline_kept;
    *ret_call = call;
    return HUB_OK;
}

static void give_slot_back(hub_call *call)
{
    hub_call_table *table = call->table;
    uint32_t at = (uint32_t)(call->id & (HUB_LIMIT_CALLS - 1));
    call_slot *slot = &table->slots[at];
    hub_call_forget_kept(call);
    free(call->held);
    hub_progress_forget(call);
    free(call->task);
    free(call->promised_tool);
    free(call->log);
    slot->call = NULL;
    slot->spare = call;
    slot->next_free = table->first_free;
    table->first_free = at;
    table->in_flight--;
}

struct ev_loop *hub_call_loop(const hub_call *call)
{
    return call->table->loop;
}

/* ---- beginning ------------------------------------------------------------------------------- */

hub_err hub_call_begin(hub_call_table *table, hub_session *session, hub_port *port, hub_str id,
                       const hub_request_context *context, hub_call **ret_call)
{
    if (!hub_session_has_place(session)) {
        return HUB_ELIMIT;
    }
    if (hub_call_find_client(session, id) != NULL) {
        return HUB_EEXIST;
    }
    hub_call *call;
    hub_err err = take_slot(table, &call);
    if (err != HUB_OK) {
        return err;
    }
    err = hub_call_keep(call, session, id, context);
    if (err != HUB_OK) {
        give_slot_back(call);
        return err;
    }
    call->port = port;
    hub_call_join(call, session);
    *ret_call = call;
    return HUB_OK;
}

hub_err hub_call_begin_internal(hub_call_table *table, hub_call_on_outcome *on_outcome, void *ctx,
                                hub_call **ret_call)
{
    hub_err err = take_slot(table, ret_call);
    if (err == HUB_OK) {
        (*ret_call)->on_outcome = on_outcome;
        (*ret_call)->ctx = ctx;
        (*ret_call)->context.capabilities = HUB_STR("{}");
    }
    return err;
}

void hub_call_bind(hub_call *call, hub_binding *binding)
{
    hub_assert(call->binding == NULL);
    call->binding = binding;
    call->binding_prev = NULL;
    call->binding_next = binding->calls;
    if (binding->calls != NULL) {
        binding->calls->binding_prev = call;
    }
    binding->calls = call;
    binding->in_flight++;
    /* Who has a task must get at it, or nothing would ever end. */
    call->takes_place = call->on_outcome == NULL && call->task == NULL;
    binding->client_calls += call->takes_place ? 1 : 0;
}

/* ---- time ------------------------------------------------------------------------------------ */

static uint64_t left_until(uint64_t end_ms, uint64_t now_ms)
{
    return end_ms > now_ms ? end_ms - now_ms : 0;
}

/* The call has been silent since then. */
static void start_timer(hub_call *call, uint64_t since_ms, uint64_t now_ms)
{
    uint64_t left = left_until(call->ceiling_ms, now_ms);
    uint64_t delay = left_until(since_ms + call->timeout_ms, now_ms);
    delay = delay < left ? delay : left;
    ev_timer_stop(call->table->loop, &call->deadline);
    ev_timer_set(&call->deadline, (double)delay / 1000., 0.);
    ev_timer_start(call->table->loop, &call->deadline);
}

static void on_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_call *call = timer->data;
    char text[128 + HUB_LIMIT_TOOLSET_KEY_BYTES];
    int len = 0;
    if (call->binding != NULL) {
        len =
            snprintf(text, sizeof text, "toolset \"%s\": ", call->binding->toolset->settings->key);
    }
    len += snprintf(text + len, sizeof text - (size_t)len,
                    "no answer within %llu ms: the call was cancelled",
                    (unsigned long long)(hub_clock_now_ms() - call->begin_ms));
    hub_call_abort(call, PATCHBAY_FAILED, (hub_str){.ptr = text, .len = (size_t)len});
}

/* Now, as the timers of libev have it. */
static uint64_t turn_ms(void)
{
    return hub_clock_turn_us() / 1000;
}

void hub_call_begin_clock(hub_call *call)
{
    call->begin_us = hub_clock_turn_us();
    call->begin_ms = call->begin_us / 1000;
}

void hub_call_set_deadline(hub_call *call, uint32_t timeout_ms, uint32_t ceiling_ms)
{
    bool is_new = call->begin_us == 0;
    if (is_new) {
        hub_call_begin_clock(call);
    }
    call->timeout_ms = timeout_ms;
    call->ceiling_ms = call->begin_ms + ceiling_ms;
    ev_timer_init(&call->deadline, on_deadline, 0., 0.);
    ev_set_priority(&call->deadline, EV_MINPRI); /* an answer that is there already counts */
    call->deadline.data = call;
    start_timer(call, call->begin_ms, is_new ? call->begin_ms : turn_ms());
}

void hub_call_touch(hub_call *call)
{
    if (ev_is_active(&call->deadline)) {
        uint64_t now_ms = turn_ms();
        start_timer(call, now_ms, now_ms);
    }
}

void hub_call_pause(hub_call *call)
{
    if (call->paused_ms == 0) {
        call->paused_ms = turn_ms();
        ev_timer_stop(call->table->loop, &call->deadline);
    }
}

void hub_call_unpause(hub_call *call)
{
    if (call->paused_ms != 0) {
        uint64_t now_ms = turn_ms();
        call->ceiling_ms += now_ms - call->paused_ms;
        call->paused_ms = 0;
        start_timer(call, now_ms, now_ms);
    }
}

/* ---- finding --------------------------------------------------------------------------------- */

hub_call *hub_call_at(const hub_call_table *table, uint64_t id)
{
    uint64_t at = id & (HUB_LIMIT_CALLS - 1);
    if (at >= table->slot_count) {
        return NULL;
    }
    hub_call *call = table->slots[at].call;
    return call != NULL && call->id == id ? call : NULL;
}

hub_call *hub_call_find(const hub_call_table *table, uint64_t id, const hub_binding *binding)
{
    hub_call *call = hub_call_at(table, id);
    return call != NULL && call->binding == binding ? call : NULL;
}

/* ---- ending ---------------------------------------------------------------------------------- */

static void unlink_binding(hub_call *call)
{
    hub_binding *binding = call->binding;
    if (binding == NULL) {
        return;
    }
    if (call->binding_prev != NULL) {
        call->binding_prev->binding_next = call->binding_next;
    } else {
        binding->calls = call->binding_next;
    }
    if (call->binding_next != NULL) {
        call->binding_next->binding_prev = call->binding_prev;
    }
    call->binding = NULL;
    if (call->takes_place) {
        binding->client_calls--;
        hub_queue_wake(binding->toolset);
    }
    hub_binding_call_ended(binding);
}

void hub_call_leave_client(hub_call *call)
{
    hub_call_part(call);
    call->port = NULL;
}

hub_err hub_call_meet_client(hub_call *call, hub_session *session, hub_port *port, hub_str id,
                             const hub_request_context *context)
{
    if (!hub_session_has_place(session)) {
        return HUB_ELIMIT;
    }
    hub_err err = hub_call_keep_later(call, id, context);
    if (err == HUB_OK) {
        call->port = port;
        hub_call_join(call, session);
    }
    return err;
}

void hub_call_unbind(hub_call *call)
{
    ev_timer_stop(call->table->loop, &call->deadline);
    unlink_binding(call);
}

void hub_call_renew(hub_call *call)
{
    call_slot *slot = &call->table->slots[call->id & (HUB_LIMIT_CALLS - 1)];
    slot->generation = slot->generation < LAST_GENERATION ? slot->generation + 1 : 1;
    call->id = slot->generation << SLOT_BITS | (call->id & (HUB_LIMIT_CALLS - 1));
}

/* Take the call out of every list; its spans stay valid until give_slot_back. */
static void detach(hub_call *call)
{
    ev_timer_stop(call->table->loop, &call->deadline);
    if (call->asking != NULL) {
        hub_ask_end(call);
    }
    if (call->parked) {
        hub_parking_remove(call);
    }
    if (call->waiting != NULL) {
        hub_queue_leave(call);
    }
    hub_call_part(call);
    unlink_binding(call);
}

static void finish(hub_call *call, const hub_outcome *outcome)
{
    const hub_session *session = call->session;
    if (call->asking != NULL && hub_input_required_keep(call, outcome)) {
        return; /* for when the client comes back */
    }
    hub_status_count(call, outcome);
    hub_audit_end(call, outcome);
    bool is_answered = outcome->status == PATCHBAY_RESULT || outcome->status == PATCHBAY_RPC_ERROR;
    if (is_answered && session != NULL) {
        hub_progress_flush(call);
    }
    detach(call);
    if (call->on_outcome != NULL) {
        call->on_outcome(call->ctx, outcome);
    } else if (!session->closing) {
        hub_respond_outcome(call, outcome);
    }
    give_slot_back(call);
}

void hub_call_finish(hub_call *call, const hub_outcome *outcome)
{
    if (hub_middleware_is_wanted(call, outcome)) {
        hub_middleware_run(call, outcome, finish);
    } else {
        finish(call, outcome);
    }
}

void hub_call_fail(hub_call *call, int32_t status, hub_str text)
{
    hub_outcome outcome = {.status = status, .json = text};
    hub_call_finish(call, &outcome);
}

void hub_call_fail_rpc(hub_call *call, int code, hub_str message)
{
    hub_buf error;
    hub_buf_init(&error, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_dialect_add_error(&error, code, message, HUB_STR_EMPTY);
    if (hub_buf_ok(&error)) {
        hub_outcome outcome = {.status = PATCHBAY_RPC_ERROR, .json = hub_buf_str(&error)};
        hub_call_finish(call, &outcome);
    } else {
        hub_call_fail(call, PATCHBAY_FAILED, message);
    }
    hub_buf_fini(&error);
}

/* End a call that somebody may be working on: with `outcome` for the client, or without a word. */
static void end_early(hub_call *call, const hub_outcome *outcome)
{
    hub_binding *binding = call->idle ? NULL : call->binding;
    uint64_t id = call->id;
    if (binding != NULL) {
        binding->in_flight++; /* a retired binding is not closed before it knows */
    }
    if (outcome != NULL) {
        hub_call_finish(call, outcome);
    } else {
        hub_status_count(call, NULL);
        hub_audit_end(call, NULL);
        hub_middleware_drop(call);
        detach(call);
        give_slot_back(call);
    }
    if (binding != NULL) {
        hub_binding_cancel(binding, id);
        hub_binding_call_ended(binding);
    }
}

void hub_call_abort(hub_call *call, int32_t status, hub_str text)
{
    hub_outcome outcome = {.status = status, .json = text};
    end_early(call, &outcome);
}

void hub_call_drop(hub_call *call)
{
    end_early(call, NULL);
}
