/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/ask/ask.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/loop.h"
#include "hub/ask/ask_internal.h"
#include "hub/ask/elicitation.h"
#include "hub/ask/input_required.h"
#include "hub/ask/reissue.h"
#include "hub/ask/roots.h"
#include "hub/ask/sealed_state.h"
#include "hub/ask/silent.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- questions ------------------------------------------------------------------------------- */

static hub_question *make_question(const hub_call *call, const hub_new_question *from)
{
    hub_question *question = calloc(1, sizeof *question + from->key.len + from->params.len);
    if (question == NULL) {
        return NULL;
    }
    *question = (hub_question){
        .asks = hub_asking_find(call)->asks,
        .binding = hub_call_binding(call),
        .call = hub_call_id(call),
        .on_end = from->on_end,
        .on_answer = from->on_answer,
        .arg = from->arg,
        .on_said = from->on_said,
        .kind = from->kind,
        .asked_ms = hub_clock_now_ms(),
        .key = {.ptr = question->text, .len = from->key.len},
        .params = {.ptr = question->text + from->key.len, .len = from->params.len},
    };
    memcpy(question->text, from->key.ptr, from->key.len);
    if (from->params.len > 0) {
        memcpy(question->text + from->key.len, from->params.ptr, from->params.len);
    }
    if (question->binding != NULL) {
        hub_binding_hold(question->binding);
    }
    return question;
}

void hub_question_tell(hub_question *question, int32_t status, hub_str json)
{
    hub_binding *binding = question->binding;
    question->on_end(question, status, json);
    free(question);
    if (binding != NULL) {
        hub_binding_let_go(binding);
    }
}

void hub_questions_tell(hub_question *questions)
{
    while (questions != NULL) {
        hub_question *next = questions->next;
        hub_question_tell(questions, PATCHBAY_ANSWERED, questions->answer);
        questions = next;
    }
}

/* ---- the end of a turn ----------------------------------------------------------------------- */

static void wake(hub_asks *asks)
{
    ev_prepare_start(hub_loop(asks->hub), &asks->turn_ends);
    ev_idle_start(hub_loop(asks->hub), &asks->stay_awake);
}

void hub_asking_due(hub_asking *asking)
{
    hub_asks *asks = asking->asks;
    if (asking->due_turn != 0) {
        return;
    }
    asking->due_turn = asks->turn;
    asking->due_next = NULL;
    asking->due_prev = asks->due_last;
    if (asks->due_last != NULL) {
        asks->due_last->due_next = asking;
    } else {
        asks->due_first = asking;
    }
    asks->due_last = asking;
    wake(asks);
}

static void unlink_due(hub_asking *asking)
{
    hub_asks *asks = asking->asks;
    if (asking->due_turn == 0) {
        return;
    }
    if (asking->due_prev != NULL) {
        asking->due_prev->due_next = asking->due_next;
    } else {
        asks->due_first = asking->due_next;
    }
    if (asking->due_next != NULL) {
        asking->due_next->due_prev = asking->due_prev;
    } else {
        asks->due_last = asking->due_prev;
    }
    asking->due_turn = 0;
}

/* Do what is due for a call. */
static void attend(hub_asking *asking)
{
    if (hub_call_context(asking->call)->era == HUB_ERA_MODERN) {
        hub_input_required_attend(asking);
    } else if (asking->first != NULL) {
        hub_ask_legacy_send(asking);
    } else if (asking->reissue != NULL) {
        hub_reissue_run(asking);
    }
}

static void tell_ended(hub_asks *asks)
{
    hub_question *oldest = NULL;
    while (asks->ended != NULL) {
        hub_question *question = asks->ended;
        asks->ended = question->next;
        question->next = oldest;
        oldest = question;
    }
    while (oldest != NULL) {
        hub_question *next = oldest->next;
        hub_question_tell(oldest, PATCHBAY_NO_ANSWER, hub_str_of(oldest->reason));
        oldest = next;
    }
}

/* What is asked while this runs is for the next turn. */
static void on_turn_end(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    (void)events;
    hub_asks *asks = watcher->data;
    uint64_t turn = asks->turn++;
    tell_ended(asks);
    while (asks->due_first != NULL && asks->due_first->due_turn == turn) {
        hub_asking *asking = asks->due_first;
        unlink_due(asking);
        attend(asking);
    }
    if (asks->due_first == NULL && asks->ended == NULL) {
        ev_prepare_stop(loop, &asks->turn_ends);
    }
}

/* Not before now may the loop block: whoever was given something when the turn ended has had a turn
 * to pass it on. */
static void on_idle(struct ev_loop *loop, ev_idle *watcher, int events)
{
    const hub_asks *asks = watcher->data;
    (void)events;
    if (asks->due_first == NULL && asks->ended == NULL) {
        ev_idle_stop(loop, watcher);
    }
}

/* ---- what a call asks ------------------------------------------------------------------------ */

static void on_expiry(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_asking *asking = timer->data;
    asking->reason = "the client did not answer in time";
    if (asking->is_away) {
        hub_call_drop(asking->call);
        return;
    }
    char text[128];
    int len = snprintf(text, sizeof text,
                       "the client was asked for input and did not answer within %" PRIu32 " ms",
                       hub_settings_of(asking->asks->hub)->limits.ask_timeout_ms);
    hub_call_abort(asking->call, PATCHBAY_FAILED, (hub_str){.ptr = text, .len = (size_t)len});
}

hub_asking *hub_asking_find(const hub_call *call)
{
    const call_ask *part = hub_ask_find(call);
    return part != NULL ? part->asking : NULL;
}

hub_asking *hub_asking_of(hub_call *call)
{
    call_ask *part = hub_ask_of(call);
    if (part->asking == NULL) {
        hub_asking *asking = calloc(1, sizeof *asking);
        if (asking == NULL) {
            return NULL;
        }
        asking->call = call;
        asking->asks =
            hub_ask_all(hub_call_binding(call) != NULL ? hub_toolset_hub(hub_call_toolset(call))
                                                       : hub_session_hub(hub_call_session(call)));
        asking->reason = "the call is over";
        ev_timer_init(&asking->expiry, on_expiry, 0., 0.);
        asking->expiry.data = asking;
        part->asking = asking;
    }
    return part->asking;
}

/* The oldest question decides when the client has had its time. */
static void start_expiry(hub_asking *asking)
{
    const hub_orchestrator *hub = asking->asks->hub;
    uint64_t now = hub_clock_now_ms();
    uint64_t end = asking->first->asked_ms + hub_settings_of(hub)->limits.ask_timeout_ms;
    ev_timer_stop(hub_loop(hub), &asking->expiry);
    hub_loop_start_timer(hub_loop(hub), &asking->expiry,
                         end > now ? (double)(end - now) / 1000. : 0.);
}

void hub_asking_settle(hub_asking *asking)
{
    if (asking->first != NULL) {
        start_expiry(asking);
        return;
    }
    ev_timer_stop(hub_loop(asking->asks->hub), &asking->expiry);
    hub_input_required_unwait(asking);
    hub_call_unpause(asking->call);
}

bool hub_asking_has_key(const hub_asking *asking, hub_str key)
{
    for (const hub_question *at = asking->first; at != NULL; at = at->next) {
        if (hub_str_eq(at->key, key)) {
            return true;
        }
    }
    return false;
}

int32_t hub_asking_add(hub_call *call, const hub_new_question *from)
{
    hub_asking *asking = hub_asking_of(call);
    if (asking == NULL) {
        return PATCHBAY_ENOMEM;
    }
    hub_call_note_asked(call);
    if (hub_asking_has_key(asking, from->key)) {
        return PATCHBAY_EINVAL;
    }
    hub_question **end = &asking->first;
    size_t count = 0;
    while (*end != NULL) {
        end = &(*end)->next;
        count++;
    }
    if (count >= HUB_LIMIT_ASKS_PER_CALL) {
        return PATCHBAY_ELIMIT;
    }
    if (hub_call_context(call)->era == HUB_ERA_MODERN) {
        int32_t result = hub_input_required_wait(asking);
        if (result != PATCHBAY_OK) {
            return result;
        }
    }
    hub_question *question = make_question(call, from);
    if (question == NULL) {
        hub_asking_settle(asking);
        return PATCHBAY_ENOMEM;
    }
    *end = question;
    if (question->binding != NULL) { /* before that no clock runs */
        hub_call_pause(call);
    }
    if (count == 0 && !asking->is_away) { /* the time of one who is away runs already */
        start_expiry(asking);
    }
    hub_asking_due(asking);
    return PATCHBAY_OK;
}

/* Have a question that was taken out told, when the turn ends, that it gets no answer. */
static void end_unanswered(hub_asks *asks, hub_question *question, const char *reason)
{
    question->reason = reason;
    question->next = asks->ended;
    asks->ended = question;
    wake(asks);
}

bool hub_asking_withdraw(hub_asking *asking, hub_str key)
{
    hub_question **link = &asking->first;
    while (*link != NULL && ((*link)->on_answer == NULL || !hub_str_eq((*link)->key, key))) {
        link = &(*link)->next;
    }
    hub_question *question = *link;
    if (question == NULL) {
        return false;
    }
    *link = question->next;
    if (question->number != 0) {
        hub_ask_legacy_take_back(asking->call, question, "the server needs no answer any more");
    }
    end_unanswered(asking->asks, question, "the question was taken back");
    if (!asking->is_away) { /* one who is away has to come back before the call goes on */
        hub_asking_settle(asking);
    }
    return true;
}

void hub_asking_cancel_all(hub_asking *asking)
{
    while (asking->first != NULL) {
        hub_question *question = asking->first;
        asking->first = question->next;
        end_unanswered(asking->asks, question, asking->reason);
    }
}

/* The call is over: take its questions back, before the client has its answer. */
static void end(hub_call *call, const hub_outcome *outcome)
{
    call_ask *part = hub_ask_find(call);
    hub_asking *asking = part != NULL ? part->asking : NULL;
    (void)outcome;
    if (asking == NULL) {
        return;
    }
    hub_ask_legacy_take_all_back(asking);
    part->asking = NULL;
    hub_asking_cancel_all(asking);
    ev_timer_stop(hub_loop(asking->asks->hub), &asking->expiry);
    unlink_due(asking);
    hub_input_required_forget(asking);
    hub_reissue_forget(asking);
    free(asking);
}

static void drop(hub_call *call)
{
    call_ask *part = hub_ask_find(call);
    if (part != NULL) {
        free(part->opened);
        hub_buf_fini(&part->changed);
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

static hub_err begin_hub(hub_orchestrator *hub, hub_error *reterr)
{
    hub_asks *asks = hub_ask_all(hub);
    asks->hub = hub;
    asks->turn = 1;
    hub_outcome_rooms_init(&asks->kept);
    if (hub_key_make(&asks->key) != HUB_OK) {
        return hub_fail(reterr, HUB_ESYSTEM, "no random numbers can be had");
    }
    ev_prepare_init(&asks->turn_ends, on_turn_end);
    asks->turn_ends.data = asks;
    ev_idle_init(&asks->stay_awake, on_idle);
    asks->stay_awake.data = asks;
    return HUB_OK;
}

static void drop_hub(hub_orchestrator *hub)
{
    hub_asks *asks = hub_ask_all(hub);
    hub_assert(asks->due_first == NULL && asks->ended == NULL && asks->waiting == NULL);
    ev_prepare_stop(hub_loop(hub), &asks->turn_ends);
    ev_idle_stop(hub_loop(hub), &asks->stay_awake);
}

/* Forget the calls whose clients were to come back: the hub is stopping. */
static void stop_hub(hub_orchestrator *hub)
{
    hub_asks *asks = hub_ask_all(hub);
    hub_asking *asking = asks->waiting;
    while (asking != NULL) {
        if (asking->is_away) {
            asking->reason = "the hub is shutting down";
            hub_call_drop(asking->call);
            asking = asks->waiting; /* the module may have ended others as well */
        } else {
            asking = asking->waiting_next;
        }
    }
}

size_t hub_asks_waiting(const hub_orchestrator *hub)
{
    return hub_ask_all(hub)->waiting_count;
}

/* ---- the station ----------------------------------------------------------------------------- */

call_ask *hub_ask_of(hub_call *call)
{
    return hub_call_part_of(call, &HUB_ASK_STATION);
}

call_ask *hub_ask_find(const hub_call *call)
{
    return hub_call_find_part(call, &HUB_ASK_STATION);
}

session_ask *hub_ask_in(const hub_session *session)
{
    return hub_session_part(session, &HUB_ASK_STATION);
}

binding_ask *hub_ask_told(const hub_binding *binding)
{
    return hub_binding_part(binding, &HUB_ASK_STATION);
}

hub_asks *hub_ask_all(const hub_orchestrator *hub)
{
    return hub_hub_part(hub, &HUB_ASK_STATION);
}

static hub_verdict hand_over(hub_call *call, hub_handover *handover)
{
    const hub_message *message = handover->way->message;
    hub_str state = HUB_STR_EMPTY;
    if (hub_call_may_ask(call) && message->at[HUB_M_REQUEST_STATE].len > 0) { /* where it is now */
        state = hub_json_get(handover->request.params_json, HUB_STR("requestState"));
    }
    call_ask *part = hub_ask_of(call);
    if (state.len > 0 &&
        hub_sealed_state_open(state, &handover->request, &part->opened) != HUB_OK) {
        hub_call_fail(call, PATCHBAY_UNAVAILABLE, HUB_STR("out of memory"));
        return HUB_ANSWERED;
    }
    hub_input_required_supply(call, message);
    return HUB_GO_ON;
}

static hub_verdict answer(hub_call *call, hub_outcome *outcome)
{
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 2);
    if (hub_call_binding(call) != NULL) {
        hub_elicitation_translate(call, outcome, &text);
    }
    if (hub_call_binding(call) != NULL && text.len == 0) {
        hub_sealed_state_translate(call, outcome, &text);
    }
    if (text.len > 0) {
        hub_ask_of(call)->changed = text;
    } else {
        hub_buf_fini(&text);
    }
    return HUB_GO_ON;
}

static hub_station_place place;

const hub_station HUB_ASK_STATION = {
    .name = "ask",
    .place = &place,
    .triggers = HUB_ON_CAPABLE | HUB_ON_STATE | HUB_ON_TYPED | HUB_ON_RPC_ERROR,
    .bytes = {[HUB_PART_HUB] = sizeof(hub_asks),
              [HUB_PART_SESSION] = sizeof(session_ask),
              [HUB_PART_BINDING] = sizeof(binding_ask),
              [HUB_PART_CALL] = sizeof(call_ask)},
    .begin = hub_input_required_admit,
    .hand_over = hand_over,
    .answer = answer,
    .end = end,
    .drop = drop,
    .hub_begins = begin_hub,
    .hub_stops = stop_hub,
    .hub_drops = drop_hub,
    .session_ends = hub_elicitation_forget,
    .toolset_ends = hub_elicitation_forget_toolset,
    .binding_retires = hub_roots_end,
    .place_is_wanted = hub_silent_give_way,
};
