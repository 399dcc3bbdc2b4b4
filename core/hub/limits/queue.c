/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/limits/queue.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/map.h"
#include "hub/kernel/hub.h"
#include "hub/router/router.h"
#include "hub/report/status.h"

#include <stdlib.h>
#include <utlist.h>

/* The calls of one principal. */
typedef struct hub_lane {
    const hub_account *account;
    hub_call *first;
    hub_call *last;
    struct hub_lane *next; /* in `turn` */
    struct hub_lane *prev;
    UT_hash_handle hh;
} hub_lane;

/* What a call needs to be made later. */
struct hub_waiting {
    hub_toolset *toolset;
    hub_lane *lane;
    hub_str message; /* spans of `text` */
    hub_str name;
    hub_str name_json;
    char text[];
};

static bool has_place(const hub_toolset *toolset)
{
    uint32_t most = toolset->settings->max_calls;
    return most == 0 || toolset->binding->client_calls < most;
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static hub_lane *find_or_add_lane(hub_queue *queue, const hub_account *account)
{
    hub_lane *lane;
    HASH_FIND_PTR(queue->lanes, &account, lane);
    if (lane != NULL) {
        return lane;
    }
    lane = calloc(1, sizeof *lane);
    if (lane == NULL) {
        return NULL;
    }
    lane->account = account;
    HASH_ADD_PTR(queue->lanes, account, lane);
    if (!hub_map_has_taken(&lane->hh)) {
        free(lane);
        return NULL;
    }
    DL_APPEND(queue->turn, lane);
    return lane;
}

static void drop_lane_if_empty(hub_queue *queue, hub_lane *lane)
{
    if (lane->first == NULL) {
        HASH_DEL(queue->lanes, lane);
        DL_DELETE(queue->turn, lane);
        free(lane);
    }
}

static void append(hub_lane *lane, hub_call *call)
{
    call->park_prev = lane->last;
    call->park_next = NULL;
    if (lane->last != NULL) {
        lane->last->park_next = call;
    } else {
        lane->first = call;
    }
    lane->last = call;
}

static void take_out(hub_lane *lane, const hub_call *call)
{
    if (call->park_prev != NULL) {
        call->park_prev->park_next = call->park_next;
    } else {
        lane->first = call->park_next;
    }
    if (call->park_next != NULL) {
        call->park_next->park_prev = call->park_prev;
    } else {
        lane->last = call->park_prev;
    }
}

/* ---- waiting --------------------------------------------------------------------------------- */

static hub_str copy(char **at, hub_str text)
{
    hub_str kept = {.ptr = *at, .len = text.len};
    if (text.len > 0) {
        memcpy(*at, text.ptr, text.len);
        *at += text.len;
    }
    return kept;
}

static hub_waiting *keep(hub_toolset *toolset, hub_str name, hub_str name_json, hub_str message)
{
    hub_waiting *waiting = malloc(sizeof *waiting + message.len + name.len);
    if (waiting != NULL) {
        char *at = waiting->text;
        waiting->toolset = toolset;
        waiting->lane = NULL;
        waiting->message = copy(&at, message);
        waiting->name = copy(&at, name);
        waiting->name_json = hub_str_moved(name_json, message, waiting->message.ptr);
    }
    return waiting;
}

static size_t held_bytes(const hub_waiting *waiting)
{
    return waiting->message.len + waiting->name.len;
}

/* It was never handed to the toolset, which has its count of those, and the audit a word. */
static void fail_refused(hub_call *call, hub_toolset *toolset, hub_str text)
{
    call->is_refused = true;
    hub_status_count_refused(toolset);
    hub_call_fail(call, PATCHBAY_UNAVAILABLE, text);
}

static void on_wait_over(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_call *call = timer->data;
    const hub_toolset_settings *settings = call->waiting->toolset->settings;
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_FAILURE_TEXT_BYTES);
    hub_buf_printf(&text,
                   "toolset \"%s\": none of its max_calls (%u) became free within %llu ms "
                   "(queue_timeout, or the call's own timeout): try again",
                   settings->key, settings->max_calls,
                   (unsigned long long)(hub_clock_now_ms() - call->begin_ms));
    fail_refused(call, call->waiting->toolset, hub_buf_str(&text));
    hub_buf_fini(&text);
}

static void start_clock(hub_call *call, const hub_toolset *toolset)
{
    struct ev_loop *loop = hub_call_loop(call);
    uint32_t ceiling_ms = toolset->hub->settings->limits.call_ceiling_ms;
    uint32_t wait_ms = toolset->settings->queue_timeout_ms;
    wait_ms =
        wait_ms < toolset->settings->call_timeout_ms ? wait_ms : toolset->settings->call_timeout_ms;
    wait_ms = wait_ms < ceiling_ms ? wait_ms : ceiling_ms;
    double late = ev_time() - ev_now(loop); /* a busy loop's clock is behind */
    hub_call_begin_clock(call);
    ev_timer_init(&call->deadline, on_wait_over, wait_ms / 1000. + late, 0.);
    call->deadline.data = call;
    ev_timer_start(loop, &call->deadline);
}

static void refuse(hub_call *call, hub_toolset *toolset)
{
    const hub_toolset_settings *settings = toolset->settings;
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_FAILURE_TEXT_BYTES);
    hub_buf_printf(&text, "toolset \"%s\" has as many calls in flight as it may (max_calls: %u)",
                   settings->key, settings->max_calls);
    if (settings->queue > 0) {
        hub_buf_printf(&text, ", and as many that wait (queue: %u)", settings->queue);
    }
    hub_buf_add(&text, HUB_STR(": try again"));
    fail_refused(call, toolset, hub_buf_str(&text));
    hub_buf_fini(&text);
}

static bool wait_for_place(hub_call *call, hub_waiting *waiting)
{
    hub_session *session = call->session;
    hub_queue *queue = &waiting->toolset->queue;
    if (session->held_bytes + held_bytes(waiting) > HUB_LIMIT_CLIENT_QUEUE_BYTES) {
        return false;
    }
    waiting->lane = find_or_add_lane(queue, session->account);
    if (waiting->lane == NULL) {
        return false;
    }
    append(waiting->lane, call);
    call->waiting = waiting;
    session->held_bytes += held_bytes(waiting);
    queue->count++;
    start_clock(call, waiting->toolset);
    return true;
}

bool hub_queue_hold(hub_call *call, hub_toolset *toolset, hub_str name, hub_str name_json,
                    const hub_message *message)
{
    const hub_queue *queue = &toolset->queue;
    if (call->task != NULL || (queue->count == 0 && has_place(toolset))) {
        return false;
    }
    if (queue->count >= toolset->settings->queue) {
        refuse(call, toolset);
        return true;
    }
    hub_waiting *waiting = keep(toolset, name, name_json, message->whole);
    if (waiting == NULL || !wait_for_place(call, waiting)) {
        free(waiting);
        fail_refused(call, toolset,
                     HUB_STR("the toolset is busy, and there is no room for the call to wait: try "
                             "again"));
    }
    return true;
}

/* Out of the queue, but not forgotten. */
static hub_waiting *stop_waiting(hub_call *call)
{
    hub_waiting *waiting = call->waiting;
    hub_queue *queue = &waiting->toolset->queue;
    ev_timer_stop(hub_call_loop(call), &call->deadline);
    take_out(waiting->lane, call);
    drop_lane_if_empty(queue, waiting->lane);
    call->waiting = NULL;
    call->session->held_bytes -= held_bytes(waiting);
    queue->count--;
    return waiting;
}

void hub_queue_leave(hub_call *call)
{
    free(stop_waiting(call));
}

/* ---- taking turns ---------------------------------------------------------------------------- */

/* The call whose turn it is; its principal's next turn comes after everybody else's. */
static hub_call *next_call(hub_queue *queue)
{
    hub_lane *lane = queue->turn;
    DL_DELETE(queue->turn, lane);
    DL_APPEND(queue->turn, lane);
    return lane->first;
}

static void make_call(hub_call *call)
{
    hub_waiting *waiting = stop_waiting(call);
    hub_message message;
    if (hub_message_scan(waiting->message, &message, NULL) == HUB_OK) {
        hub_router_hand_over(call, waiting->toolset, waiting->name, waiting->name_json, &message);
    } else { /* it was scanned before: there is no memory for it now */
        hub_call_fail(call, PATCHBAY_UNAVAILABLE, HUB_STR("out of memory"));
    }
    free(waiting);
}

static void on_wake(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_toolset *toolset = timer->data;
    hub_queue *queue = &toolset->queue;
    while (queue->count > 0 && toolset->binding != NULL && has_place(toolset)) {
        make_call(next_call(queue));
    }
}

void hub_queue_init(hub_toolset *toolset)
{
    ev_timer_init(&toolset->queue.wake, on_wake, 0., 0.);
    ev_set_priority(&toolset->queue.wake, EV_MAXPRI); /* before calls that are read meanwhile */
    toolset->queue.wake.data = toolset;
}

void hub_queue_fini(hub_toolset *toolset)
{
    hub_assert(toolset->queue.count == 0);
    ev_timer_stop(toolset->hub->loop, &toolset->queue.wake);
}

void hub_queue_wake(hub_toolset *toolset)
{
    if (toolset->queue.count > 0) {
        ev_timer_start(toolset->hub->loop, &toolset->queue.wake); /* does nothing when it runs */
    }
}

void hub_queue_end(hub_toolset *toolset)
{
    while (toolset->queue.count > 0) {
        hub_call_fail(next_call(&toolset->queue), PATCHBAY_UNAVAILABLE,
                      HUB_STR("the toolset was disabled"));
    }
}
