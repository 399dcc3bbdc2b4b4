/* SPDX-License-Identifier: Apache-2.0 */
/* How long a call may take: its clock, its deadline, and what it waits for while a station holds it. */
#include "hub/kernel/call.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/loop.h"
#include "hub/kernel/objects.h"

#include <stdio.h>

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
    ev_timer_stop(hub_call_loop(call), &call->deadline);
    ev_timer_set(&call->deadline, (double)delay / 1000., 0.);
    ev_timer_start(hub_call_loop(call), &call->deadline);
}

/* What the call had, and which key gives more. */
static void on_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_call *call = timer->data;
    HUB_IS(call, CALL);
    uint64_t now_ms = hub_clock_now_ms();
    bool is_ceiling = now_ms >= call->ceiling_ms;
    uint64_t had_ms = is_ceiling ? call->ceiling_ms - call->begin_ms : call->timeout_ms;
    char text[256 + HUB_LIMIT_TOOLSET_KEY_BYTES];
    int len = 0;
    if (call->binding != NULL) {
        len =
            snprintf(text, sizeof text, "toolset \"%s\": ", call->binding->toolset->settings->key);
    }
    len += snprintf(text + len, sizeof text - (size_t)len,
                    "no answer within %g s%s: the call was cancelled. %s allows more",
                    (double)had_ms / 1000., is_ceiling ? "" : ", and no progress",
                    is_ceiling ? "limits.call_ceiling"
                               : "`timeout` of the toolset, or limits.call_timeout,");
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
    HUB_IS(call, CALL);
    if (call->paused_ms == 0) {
        call->paused_ms = turn_ms();
        ev_timer_stop(hub_call_loop(call), &call->deadline);
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
    hub_loop_start_timer(hub_call_loop(call), &call->deadline, (double)wait_ms / 1000.);
}

void hub_call_stop_waiting(hub_call *call)
{
    ev_timer_stop(hub_call_loop(call), &call->deadline);
}
