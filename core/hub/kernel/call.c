/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/call.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/loop.h"
#include "hub/kernel/call_kept.h"
#include "hub/kernel/objects.h"
#include "hub/kernel/respond.h"

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
    hub_call *call = slot->spare != NULL ? slot->spare
                                         : malloc(sizeof *call + hub_stations_bytes(HUB_PART_CALL));
    if (call == NULL) {
        return HUB_ENOMEM;
    }
    table->first_free = slot->next_free;
    slot->spare = NULL;
    slot->call = call;
    slot->generation = slot->generation < LAST_GENERATION ? slot->generation + 1 : 1;
    table->in_flight++;
    memset(call, 0, offsetof(hub_call, inline_kept));
    call->magic = HUB_MAGIC_CALL;
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
    for (hub_station_mask left = call->begun | call->used; left != 0; left &= left - 1) {
        const hub_station *station = hub_stations_at((size_t)__builtin_ctz(left));
        if (station->drop != NULL) {
            station->drop(call);
        }
    }
    hub_call_forget_kept(call);
    call->magic = 0;
    slot->call = NULL;
    slot->spare = call;
    slot->next_free = table->first_free;
    table->first_free = at;
    table->in_flight--;
}

/* ---- what it is ------------------------------------------------------------------------------ */

uint64_t hub_call_id(const hub_call *call)
{
    return call->id;
}

hub_call_table *hub_call_table_of(const hub_call *call)
{
    return call->table;
}

struct ev_loop *hub_call_loop(const hub_call *call)
{
    return call->table->loop;
}

hub_session *hub_call_session(const hub_call *call)
{
    return call->session;
}

hub_port *hub_call_port(const hub_call *call)
{
    return call->port;
}

hub_binding *hub_call_binding(const hub_call *call)
{
    return call->binding;
}

hub_toolset *hub_call_toolset(const hub_call *call)
{
    return call->binding != NULL ? call->binding->toolset : NULL;
}

const hub_request_context *hub_call_context(const hub_call *call)
{
    return &call->context;
}

hub_str hub_call_client_id(const hub_call *call)
{
    return call->client_id;
}

hub_call *hub_call_next_of_session(const hub_call *call)
{
    return call->session_next;
}

hub_call *hub_call_next_of_binding(const hub_call *call)
{
    return call->binding_next;
}

bool hub_call_is_internal(const hub_call *call)
{
    return call->on_outcome != NULL;
}

bool hub_call_is_unasked(const hub_call *call)
{
    return call->is_unasked;
}

bool hub_call_is_idle(const hub_call *call)
{
    return call->is_idle;
}

bool hub_call_is_of_tool(const hub_call *call)
{
    return call->is_tool_call;
}

bool hub_call_is_reading(const hub_call *call)
{
    return call->is_reading;
}

bool hub_call_has_structured_errors(const hub_call *call)
{
    return call->structured_errors;
}

bool hub_call_may_ask(const hub_call *call)
{
    return call->may_ask;
}

bool hub_call_is_ending(const hub_call *call)
{
    return call->is_ending;
}

uint64_t hub_call_begin_us(const hub_call *call)
{
    return call->begin_us;
}

uint64_t hub_call_begin_ms(const hub_call *call)
{
    return call->begin_ms;
}

void hub_call_set_idle(hub_call *call, bool is_idle)
{
    call->is_idle = is_idle;
}

void hub_call_set_of_tool(hub_call *call, bool is_tool_call, bool structured_errors)
{
    call->is_tool_call = is_tool_call;
    call->structured_errors = structured_errors;
}

void hub_call_set_reading(hub_call *call)
{
    call->is_reading = true;
}

void *hub_call_part_of(hub_call *call, const hub_station *station)
{
    const hub_station_place *place = station->place;
    char *part = call->parts + place->offset[HUB_PART_CALL];
    if ((call->used & place->bit) == 0) {
        call->used |= place->bit;
        memset(part, 0, station->bytes[HUB_PART_CALL]);
    }
    return part;
}

void *hub_call_find_part(const hub_call *call, const hub_station *station)
{
    const hub_station_place *place = station->place;
    return (call->used & place->bit) != 0
               ? (char *)(uintptr_t)call->parts + place->offset[HUB_PART_CALL]
               : NULL;
}

/* ---- beginning ------------------------------------------------------------------------------- */

hub_err hub_call_begin(hub_session *session, hub_port *port, hub_str id,
                       const hub_request_context *context, hub_call **ret_call)
{
    if (!hub_session_has_place(session)) {
        return HUB_ELIMIT;
    }
    hub_call *call;
    hub_err err = take_slot(session->profile->hub->calls, &call);
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

hub_err hub_call_begin_internal(hub_orchestrator *hub, hub_call_on_outcome *on_outcome, void *ctx,
                                hub_call **ret_call)
{
    hub_err err = take_slot(hub->calls, ret_call);
    if (err == HUB_OK) {
        (*ret_call)->on_outcome = on_outcome;
        (*ret_call)->ctx = ctx;
        (*ret_call)->context.capabilities = HUB_STR("{}");
    }
    return err;
}

void hub_call_attend(hub_call *call, hub_session *session)
{
    hub_assert(call->on_outcome != NULL && call->session == NULL);
    call->is_unasked = true;
    call->port = session->port;
    call->context.revision = session->revision;
    call->context.capabilities = hub_session_capabilities(session);
    hub_call_join(call, session);
}

void hub_call_bind(hub_call *call, hub_binding *binding, bool takes_place)
{
    hub_assert(call->binding == NULL && binding != NULL);
    call->binding = binding;
    call->binding_prev = NULL;
    call->binding_next = binding->calls;
    if (binding->calls != NULL) {
        binding->calls->binding_prev = call;
    }
    binding->calls = call;
    binding->in_flight++;
    call->takes_place = takes_place;
    binding->places += takes_place ? 1 : 0;
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

uint64_t hub_call_deadline_ms(const hub_call *call, uint64_t since_ms)
{
    uint64_t deadline_ms = since_ms + call->timeout_ms;
    return deadline_ms < call->ceiling_ms ? deadline_ms : call->ceiling_ms;
}

void hub_call_wait(hub_call *call, uint64_t wait_ms,
                   void (*on_time)(struct ev_loop *loop, ev_timer *timer, int events))
{
    hub_assert(!ev_is_active(&call->deadline));
    ev_timer_init(&call->deadline, on_time, 0., 0.);
    call->deadline.data = call;
    hub_loop_start_timer(call->table->loop, &call->deadline, (double)wait_ms / 1000.);
}

void hub_call_stop_waiting(hub_call *call)
{
    ev_timer_stop(call->table->loop, &call->deadline);
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

/* A place of the toolset is free: those of its stations hear of it that see its calls. */
static void tell_place(hub_toolset *toolset)
{
    for (hub_station_mask left = toolset->wanted; left != 0; left &= left - 1) {
        const hub_station *station = hub_stations_at((size_t)__builtin_ctz(left));
        if (station->place_is_free != NULL) {
            station->place_is_free(toolset);
        }
    }
}

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
        binding->places--;
        tell_place(binding->toolset);
    }
    hub_binding_call_ended(binding);
}

void hub_call_send_away(hub_call *call, const hub_outcome *outcome)
{
    hub_call_part(call);
    hub_respond_outcome(call, outcome);
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

/* Tell its stations that it ends, and take it out of every list; its spans stay valid until
 * give_slot_back. */
static void detach(hub_call *call, const hub_outcome *outcome)
{
    ev_timer_stop(call->table->loop, &call->deadline);
    for (hub_station_mask left = call->begun | call->used; left != 0;) {
        unsigned row = HUB_STATIONS_MOST - 1 - (unsigned)__builtin_clz(left);
        const hub_station *station = hub_stations_at(row);
        left &= ~station->place->bit;
        if (station->end != NULL) {
            station->end(call, outcome);
        }
    }
    hub_call_part(call);
    unlink_binding(call);
}

/* The last step: whoever asked has the answer. */
static void complete(hub_call *call, const hub_outcome *outcome)
{
    const hub_session *session = call->session;
    detach(call, outcome);
    if (call->on_outcome != NULL) {
        call->on_outcome(call->ctx, outcome);
    } else if (!session->closing) {
        hub_respond_outcome(call, outcome);
    }
    give_slot_back(call);
}

/* Which stations an outcome passes: those that the call was begun at or that have state with it, and
 * those that react to what it is. */
static hub_station_mask passed_by(const hub_call *call, const hub_outcome *outcome)
{
    unsigned triggers = 0;
    if (call->on_outcome != NULL) {
        return call->used;
    }
    if (outcome->status == PATCHBAY_RPC_ERROR) {
        triggers = HUB_ON_RPC_ERROR;
    } else if (outcome->is_partial) {
        triggers = HUB_ON_TYPED;
    }
    return call->begun | call->used |
           (call->binding != NULL ? hub_stations_triggered(triggers) : 0);
}

/* Take an outcome back, from those of the stations `left` that are before row `before`. */
static void answer(hub_call *call, const hub_outcome *given, unsigned before)
{
    hub_outcome outcome = *given;
    call->is_ending = true;
    hub_station_mask left = passed_by(call, given);
    while ((left = before < HUB_STATIONS_MOST ? left & (((hub_station_mask)1 << before) - 1)
                                              : left) != 0) {
        unsigned row = HUB_STATIONS_MOST - 1 - (unsigned)__builtin_clz(left);
        const hub_station *station = hub_stations_at(row);
        before = row;
        call->at = row;
        if (station->answer != NULL && station->answer(call, &outcome) != HUB_GO_ON) {
            return; /* held, or it goes another way */
        }
    }
    complete(call, &outcome);
}

void hub_call_finish(hub_call *call, const hub_outcome *outcome)
{
    HUB_IS(call, CALL);
    if (call->is_ending) { /* what is on its way back goes on with this instead */
        answer(call, outcome, call->at);
    } else {
        answer(call, outcome, HUB_STATIONS_MOST);
    }
}

void hub_call_finish_from(hub_call *call, const hub_station *station, const hub_outcome *outcome)
{
    HUB_IS(call, CALL);
    hub_assert(call->at == station->place->index);
    answer(call, outcome, station->place->index);
}

static void fail(hub_call *call, int32_t status, hub_str text, bool is_refused)
{
    hub_outcome outcome = {.status = status, .json = text, .is_refused = is_refused};
    hub_call_finish(call, &outcome);
}

void hub_call_fail(hub_call *call, int32_t status, hub_str text)
{
    fail(call, status, text, false);
}

void hub_call_refuse(hub_call *call, int32_t status, hub_str text)
{
    fail(call, status, text, true);
}

static void fail_rpc(hub_call *call, int code, hub_str message, bool is_refused)
{
    hub_buf error;
    hub_buf_init(&error, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_dialect_add_error(&error, code, message, HUB_STR_EMPTY);
    if (hub_buf_ok(&error)) {
        fail(call, PATCHBAY_RPC_ERROR, hub_buf_str(&error), is_refused);
    } else {
        fail(call, PATCHBAY_FAILED, message, is_refused);
    }
    hub_buf_fini(&error);
}

void hub_call_fail_rpc(hub_call *call, int code, hub_str message)
{
    fail_rpc(call, code, message, false);
}

void hub_call_refuse_rpc(hub_call *call, int code, hub_str message)
{
    fail_rpc(call, code, message, true);
}

/* End a call that somebody may be working on: with `outcome` for the client, or without a word. */
static void end_early(hub_call *call, const hub_outcome *outcome)
{
    HUB_IS(call, CALL);
    hub_binding *binding = call->is_idle ? NULL : call->binding;
    uint64_t id = call->id;
    if (binding != NULL) {
        binding->in_flight++; /* a retired binding is not closed before it knows */
    }
    if (outcome != NULL) {
        hub_call_finish(call, outcome);
    } else {
        detach(call, NULL);
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
