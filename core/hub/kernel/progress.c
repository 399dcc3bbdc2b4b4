/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/progress.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/loop.h"
#include "hub/kernel/call.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/station.h"
#include "wire/json.h"

#include <stdlib.h>

/* With a call. */
typedef struct progress_part {
    uint64_t next_ms; /* how far those that were told reach */
    char *held;       /* the newest that was held back; NULL: none … */
    size_t held_len;
    ev_timer due; /* … and runs while one is */
} progress_part;

enum {
    INTERVAL_MS = 1000 / HUB_LIMIT_PROGRESS_PER_S,
    BURST_MS = INTERVAL_MS * HUB_LIMIT_PROGRESS_BURST,
};

void hub_progress_notify(hub_port *port, hub_str token, hub_str params_json)
{
    hub_buf params;
    hub_buf_init(&params, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_buf_add(&params, HUB_STR("{\"progressToken\":"));
    hub_buf_add(&params, token);
    hub_json_iter it = hub_json_iterate(params_json);
    hub_str key;
    hub_str value;
    while (hub_json_next(&it, &key, &value)) {
        if (!hub_json_string_is(key, HUB_STR("progressToken"))) {
            hub_buf_add_char(&params, ',');
            hub_buf_add(&params, key);
            hub_buf_add_char(&params, ':');
            hub_buf_add(&params, value);
        }
    }
    hub_buf_add_char(&params, '}');
    if (hub_buf_ok(&params)) {
        hub_respond_notify(port, HUB_STR("notifications/progress"), hub_buf_str(&params));
    }
    hub_buf_fini(&params);
}

static void forward(hub_call *call, hub_str params_json)
{
    const hub_session *session = hub_call_session(call);
    if (hub_call_context(call)->progress_token.len == 0 || session == NULL ||
        hub_session_is_closing(session)) {
        return;
    }
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 2);
    HUB_STATIONS_TELL(progress, call, &params_json, &text);
    if (params_json.len > 0) {
        hub_progress_notify(hub_call_port(call), hub_call_context(call)->progress_token,
                            params_json);
    }
    hub_buf_fini(&text);
}

static void forget(const hub_call *call, progress_part *part)
{
    ev_timer_stop(hub_call_loop(call), &part->due);
    free(part->held);
    part->held = NULL;
    part->held_len = 0;
}

/* How long the next has to wait. Each that is told moves `progress_ms` on; it may be ahead of the
 * clock by one burst. */
static uint64_t wait_ms(progress_part *part)
{
    uint64_t now = hub_clock_now_ms();
    if (part->next_ms < now) {
        part->next_ms = now;
    }
    uint64_t ahead = part->next_ms - now;
    return ahead > BURST_MS - INTERVAL_MS ? ahead - (BURST_MS - INTERVAL_MS) : 0;
}

static void on_due(struct ev_loop *loop, ev_timer *timer, int events);

static void start_timer(hub_call *call, progress_part *part, uint64_t delay_ms)
{
    struct ev_loop *loop = hub_call_loop(call);
    ev_timer_init(&part->due, on_due, 0., 0.);
    part->due.data = call;
    hub_loop_start_timer(loop, &part->due, (double)delay_ms / 1000.);
}

static void flush(hub_call *call, progress_part *part)
{
    if (part->held != NULL) {
        forward(call, (hub_str){.ptr = part->held, .len = part->held_len});
        forget(call, part);
    }
}

static void on_due(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_call *call = timer->data;
    progress_part *part = hub_call_find_part(call, &HUB_PROGRESS_STATION);
    uint64_t delay_ms = wait_ms(part);
    if (delay_ms > 0) {
        start_timer(call, part, delay_ms);
    } else if (hub_call_session(call) != NULL) { /* else the client has to come back first */
        part->next_ms += INTERVAL_MS;
        flush(call, part);
    }
}

/* Without room or memory for it, the one before stays the newest. */
static void keep(hub_call *call, progress_part *part, hub_str params_json, uint64_t delay_ms)
{
    char *copy = params_json.len <= HUB_LIMIT_PROGRESS_BYTES ? hub_str_dup(params_json) : NULL;
    if (copy == NULL) {
        return;
    }
    free(part->held);
    part->held = copy;
    part->held_len = params_json.len;
    if (!ev_is_active(&part->due)) {
        start_timer(call, part, delay_ms);
    }
}

void hub_progress_take(hub_call *call, hub_str params_json)
{
    progress_part *part = hub_call_part_of(call, &HUB_PROGRESS_STATION);
    uint64_t delay_ms = wait_ms(part);
    if (delay_ms > 0) {
        keep(call, part, params_json, delay_ms);
        return;
    }
    part->next_ms += INTERVAL_MS;
    forget(call, part);
    forward(call, params_json);
}

/* The call is about to be answered: tell what was held back. */
static hub_verdict answer(hub_call *call, hub_outcome *outcome)
{
    if ((outcome->status == PATCHBAY_RESULT || outcome->status == PATCHBAY_RPC_ERROR) &&
        hub_call_session(call) != NULL) {
        flush(call, hub_call_find_part(call, &HUB_PROGRESS_STATION));
    }
    return HUB_GO_ON;
}

static void end(hub_call *call, const hub_outcome *outcome)
{
    (void)outcome;
    forget(call, hub_call_find_part(call, &HUB_PROGRESS_STATION));
}

static hub_station_place place;

const hub_station HUB_PROGRESS_STATION = {
    .name = "progress",
    .place = &place,
    .bytes = {[HUB_PART_CALL] = sizeof(progress_part)},
    .answer = answer,
    .end = end,
};
