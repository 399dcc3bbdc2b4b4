/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/ask/ask.h"

#include "base/clock.h"
#include "base/limits.h"
#include "hub/ask/ask_internal.h"
#include "hub/ask/input_required.h"
#include "hub/ask/reissue.h"

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
        .binding = call->binding,
        .call = call->id,
        .on_end = from->on_end,
        .on_answer = from->on_answer,
        .arg = from->arg,
        .kind = from->kind,
        .asked_ms = hub_clock_now_ms(),
        .key = {.ptr = question->text, .len = from->key.len},
        .params = {.ptr = question->text + from->key.len, .len = from->params.len},
    };
    memcpy(question->text, from->key.ptr, from->key.len);
    if (from->params.len > 0) {
        memcpy(question->text + from->key.len, from->params.ptr, from->params.len);
    }
    call->binding->asks++;
    return question;
}

void hub_question_tell(hub_question *question, int32_t status, hub_str json)
{
    hub_binding *binding = question->binding;
    question->on_end(question, status, json);
    free(question);
    hub_binding_ask_ended(binding);
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
    ev_prepare_start(asks->hub->loop, &asks->turn_ends);
    ev_idle_start(asks->hub->loop, &asks->stay_awake);
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
    if (asking->call->context.era == HUB_ERA_MODERN) {
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
                       asking->asks->hub->settings->limits.ask_timeout_ms);
    hub_call_abort(asking->call, PATCHBAY_FAILED, (hub_str){.ptr = text, .len = (size_t)len});
}

hub_asking *hub_asking_of(hub_call *call)
{
    if (call->asking == NULL) {
        hub_asking *asking = calloc(1, sizeof *asking);
        if (asking == NULL) {
            return NULL;
        }
        asking->call = call;
        asking->asks = call->binding->toolset->hub->asks;
        asking->reason = "the call is over";
        ev_timer_init(&asking->expiry, on_expiry, 0., 0.);
        asking->expiry.data = asking;
        call->asking = asking;
    }
    return call->asking;
}

/* The oldest question decides when the client has had its time. */
static void start_expiry(hub_asking *asking)
{
    const hub_orchestrator *hub = asking->asks->hub;
    uint64_t now = hub_clock_now_ms();
    uint64_t end = asking->first->asked_ms + hub->settings->limits.ask_timeout_ms;
    ev_timer_stop(hub->loop, &asking->expiry);
    ev_timer_set(&asking->expiry, end > now ? (double)(end - now) / 1000. : 0., 0.);
    ev_timer_start(hub->loop, &asking->expiry);
}

void hub_asking_settle(hub_asking *asking)
{
    if (asking->first != NULL) {
        start_expiry(asking);
        return;
    }
    ev_timer_stop(asking->asks->hub->loop, &asking->expiry);
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
    if (call->context.era == HUB_ERA_MODERN) {
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
    hub_call_pause(call);
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

void hub_ask_end(hub_call *call)
{
    hub_asking *asking = call->asking;
    hub_ask_legacy_take_all_back(asking);
    call->asking = NULL;
    hub_asking_cancel_all(asking);
    ev_timer_stop(asking->asks->hub->loop, &asking->expiry);
    unlink_due(asking);
    hub_input_required_forget(asking);
    hub_reissue_forget(asking);
    free(asking);
}

/* ---- life ------------------------------------------------------------------------------------ */

hub_err hub_asks_create(hub_orchestrator *hub, hub_asks **ret_asks)
{
    hub_asks *asks = calloc(1, sizeof *asks);
    if (asks == NULL) {
        return HUB_ENOMEM;
    }
    asks->hub = hub;
    asks->turn = 1;
    if (hub_state_key_make(&asks->key) != HUB_OK) {
        free(asks);
        return HUB_ESYSTEM;
    }
    ev_prepare_init(&asks->turn_ends, on_turn_end);
    asks->turn_ends.data = asks;
    ev_idle_init(&asks->stay_awake, on_idle);
    asks->stay_awake.data = asks;
    *ret_asks = asks;
    return HUB_OK;
}

void hub_asks_destroy(hub_asks *asks)
{
    if (asks == NULL) {
        return;
    }
    hub_assert(asks->due_first == NULL && asks->ended == NULL && asks->waiting == NULL);
    ev_prepare_stop(asks->hub->loop, &asks->turn_ends);
    ev_idle_stop(asks->hub->loop, &asks->stay_awake);
    free(asks);
}

void hub_asks_stop(hub_asks *asks)
{
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

size_t hub_asks_waiting(const hub_asks *asks)
{
    return asks->waiting_count;
}
