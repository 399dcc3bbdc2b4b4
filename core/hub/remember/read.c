/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a principal's record, and the requests that wait for it. */
#include "hub/remember/seat.h"

#include "base/clock.h"
#include "base/log.h"
#include "hub/kernel/call.h"
#include "wire/message.h"

#include <stdlib.h>
#include <utlist.h>

/* With a session: its principal's record is known, or it goes without. */
typedef struct session_remember {
    bool is_settled;
} session_remember;

_Static_assert(sizeof(session_remember) == sizeof(bool), "what the station says of it");

static session_remember *within(const hub_session *session)
{
    return hub_session_part(session, &HUB_REMEMBER_STATION);
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Out of its list. owns: the result, the request's bytes */
static char *take_out(held *one)
{
    char *bytes = one->bytes;
    DL_DELETE(*one->list, one);
    hub_session_release(hub_call_session(one->call), one->len);
    one->handle = NULL;
    one->bytes = NULL;
    return bytes;
}

void remember_end_held(hub_call *call)
{
    held *one = hub_call_find_part(call, &HUB_REMEMBER_STATION);
    if (one != NULL && one->handle != NULL) {
        free(take_out(one));
    }
}

static void resume(held *one)
{
    hub_call *call = one->call;
    hub_request_handler *handle = one->handle;
    hub_str text = {.ptr = one->bytes, .len = one->len};
    char *bytes = take_out(one);
    hub_message message;
    within(hub_call_session(call))->is_settled = true;
    if (hub_message_scan(text, &message, NULL) == HUB_OK) {
        hub_request_resume(call, &message, handle);
    } else { /* it was scanned before: there is no memory for it now */
        hub_call_fail_rpc(call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
    }
    free(bytes);
}

void seat_let_go(seat *of)
{
    remember *all = remember_of(of->hub);
    while (of->held != NULL) {
        held *one = of->held;
        DL_DELETE(of->held, one);
        one->list = &all->going;
        DL_APPEND(all->going, one);
    }
    while (all->going != NULL) { /* what goes on may end others, and the seat */
        resume(all->going);
    }
}

/* Make a call of a request that waits. */
static void hold(seat *of, const hub_request *request, hub_request_handler *handle)
{
    hub_session *session = request->session;
    hub_str whole = request->message->whole;
    if (!hub_session_hold(session, whole.len)) {
        hub_respond_refusal(request, HUB_ELIMIT);
        return;
    }
    hub_call *call = hub_request_begin(request);
    char *bytes = call != NULL ? hub_str_dup(whole) : NULL;
    if (bytes == NULL) {
        hub_session_release(session, whole.len);
        if (call != NULL) {
            hub_call_fail_rpc(call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
        }
        return;
    }
    held *one = hub_call_part_of(call, &HUB_REMEMBER_STATION);
    *one =
        (held){.call = call, .handle = handle, .bytes = bytes, .len = whole.len, .list = &of->held};
    DL_APPEND(of->held, one);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void take(seat *of, const hub_state_record *record)
{
    remember_record read = {.text = NULL};
    hub_err err = record != NULL ? remember_record_read(record->document, &read) : HUB_OK;
    if (err != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "active.broken", HUB_F_STR("profile", of->profile),
                HUB_F_STR("principal", of->principal),
                HUB_F_TEXT("reason", err == HUB_ENOMEM ? "out of memory"
                                                       : "its record is not one of a choice; the "
                                                         "profile's default serves"));
    }
    remember_record_fini(&of->record);
    of->record = read;
    of->version = record != NULL ? record->version : 0;
}

static void note_failure(seat *of, const char *why)
{
    if (!of->is_unread) {
        hub_log(HUB_LOG_WARNING, "active.unread", HUB_F_STR("profile", of->profile),
                HUB_F_STR("principal", of->principal), HUB_F_TEXT("reason", why));
    }
    of->is_unread = true;
    of->failed_at_ms = hub_clock_now_ms();
}

/* What comes after all changes what was seen. */
static void go_without(seat *of)
{
    ev_timer_stop(hub_loop(of->hub), &of->read_timer);
    of->is_late = true;
    seat_let_go(of);
}

/* The record is known: it is what is to be, unless something was chosen meanwhile. */
static void take_effect(seat *of)
{
    bool is_first = of->is_first && !of->is_late;
    if (of->has_chosen) {
        of->has_chosen = false;
        seat_write(of);
    } else if (!seat_restore(of, is_first)) {
        of->is_unread = false;
        if (seat_is_quiet(of)) {
            seat_drop(of); /* nobody is there: whoever comes reads it again */
        }
        return;
    }
    of->is_first = false;
    if (!of->is_equipping) {
        ev_timer_stop(hub_loop(of->hub), &of->read_timer);
        seat_let_go(of);
    }
}

static void on_read(void *ctx, const hub_state_result *result)
{
    seat *of = ctx;
    of->op = NULL;
    of->is_reading = false;
    if (result->err == HUB_OK && result->count > 0) {
        of->is_unread = false;
        take(of, &result->records[0]);
    } else if (result->err == HUB_ENOTFOUND) {
        of->is_unread = false;
        take(of, NULL);
    } else {
        note_failure(of, result->why);
        if (of->is_dirty) {
            seat_write(of);
        }
        go_without(of);
        return;
    }
    if (of->is_stale) {
        seat_read(of);
        return;
    }
    take_effect(of);
}

/* Nobody waits any longer. */
static void wait_no_longer(seat *of, const char *reason)
{
    hub_log(HUB_LOG_WARNING, "active.late", HUB_F_STR("profile", of->profile),
            HUB_F_STR("principal", of->principal), HUB_F_TEXT("reason", reason));
    of->is_late = true;
    seat_let_go(of);
}

static void on_late(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    wait_no_longer(timer->data, "the store has not answered in time; the profile's default serves "
                                "until it does");
}

/* Requests that wait are calls in flight: so many that others would be refused do not wait. */
static bool is_full(const seat *of)
{
    size_t most = (hub_settings_of(of->hub)->limits.calls_per_session + 1) / 2;
    size_t count;
    const held *one;
    DL_COUNT(of->held, one, count);
    return count >= (most < HUB_LIMIT_REMEMBER_HELD ? most : HUB_LIMIT_REMEMBER_HELD);
}

void seat_read(seat *of)
{
    hub_state_id id = seat_id(of);
    hub_error why = {.code = HUB_OK};
    of->is_stale = of->op != NULL;
    if (of->op != NULL) {
        return;
    }
    of->is_reading = true;
    if (hub_state_get(hub_store_of(of->hub), &id, on_read, of, &of->op, &why) != HUB_OK) {
        of->op = NULL;
        of->is_reading = false;
        note_failure(of, why.text);
        go_without(of);
    }
}

/* A principal is here for the first time. NULL: it goes without. */
static seat *begin(const hub_session *session)
{
    hub_orchestrator *hub = hub_session_hub(session);
    hub_profile *profile = hub_session_profile(session);
    seat *made =
        seat_make(hub, hub_str_of(hub_profile_name(profile)), hub_str_of(hub_session_who(session)));
    if (made == NULL) {
        return NULL;
    }
    uint32_t most_ms = hub_settings_of(hub)->remember_read_ms;
    most_ms = most_ms > 0 ? most_ms : HUB_LIMIT_REMEMBER_READ_MS;
    ev_timer_init(&made->read_timer, on_late, most_ms / 1000., 0.);
    made->read_timer.data = made;
    made->is_first = true;
    if (hub_audience_find(hub_session_principal(session), profile) != NULL) {
        made->is_first = false; /* it has chosen before anything was remembered: that counts */
        return made;
    }
    ev_timer_start(hub_loop(hub), &made->read_timer);
    seat_read(made);
    return made;
}

/* A record that could not be read is asked for now and then; nobody waits for that. */
static void try_again(seat *of)
{
    if (of->is_unread && of->op == NULL &&
        hub_clock_now_ms() - of->failed_at_ms >= HUB_LIMIT_REMEMBER_RETRY_MS) {
        seat_read(of);
    }
}

bool hub_remember_hold(const hub_request *request, hub_request_handler *handle)
{
    hub_session *session = request->session;
    hub_orchestrator *hub = hub_session_hub(session);
    const remember *all = remember_of(hub);
    if (!all->is_on || within(session)->is_settled || hub_session_is_apart(session) ||
        request->call != NULL || hub_is_stopping(hub)) {
        return false;
    }
    const hub_profile *profile = hub_session_profile(session);
    if (all->equip == NULL && !hub_profile_settings_enable(hub_profile_settings_of(profile))) {
        return false; /* nobody there can have chosen anything */
    }
    seat *of =
        seat_find(hub, hub_str_of(hub_profile_name(profile)), hub_str_of(hub_session_who(session)));
    if (of == NULL) {
        of = begin(session);
    } else {
        seat_touch(of);
        try_again(of);
    }
    if (of == NULL || of->is_late || !ev_is_active(&of->read_timer)) {
        within(session)->is_settled = true;
        return false;
    }
    if (is_full(of)) {
        wait_no_longer(of, "more requests came than may wait for the store; the profile's default "
                           "serves until it has answered");
        within(session)->is_settled = true;
        return false;
    }
    hold(of, request, handle);
    return true;
}

bool hub_remember_holds(const hub_orchestrator *hub)
{
    const remember *all = remember_of(hub);
    for (const seat *of = all->seats; of != NULL; of = of->hh.next) {
        if (of->held != NULL) {
            return true;
        }
    }
    return all->going != NULL;
}
