/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/notices/update_pace.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/loop.h"

#include <utlist.h>

static const hub_bucket_rate RATE = {.per_second = HUB_LIMIT_UPDATES_PER_S,
                                     .at_once = HUB_LIMIT_UPDATES_BURST};

static void on_due(struct ev_loop *loop, ev_timer *timer, int events);

static void start_timer(hub_session *session, uint32_t wait_ms)
{
    struct ev_loop *loop = hub_loop(hub_session_hub(session));
    ev_timer_init(&hub_notices_in(session)->updates_timer, on_due, 0., 0.);
    hub_notices_in(session)->updates_timer.data = session;
    hub_loop_start_timer(loop, &hub_notices_in(session)->updates_timer, wait_ms / 1000.);
}

static void take_off(hub_subscriber *subscriber)
{
    hub_session *session = subscriber->session;
    DL_DELETE2(hub_notices_in(session)->updates_due, subscriber, due_prev, due_next);
    subscriber->is_due = false;
}

static void on_due(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_session *session = timer->data;
    hub_subscriber *first;
    while ((first = hub_notices_in(session)->updates_due) != NULL) {
        uint32_t wait_ms =
            hub_bucket_wait_ms(&hub_notices_in(session)->updates, hub_clock_now_ms(), RATE);
        if (wait_ms > 0) {
            start_timer(session, wait_ms);
            return;
        }
        take_off(first);
        hub_subscriber_tell(first);
    }
}

bool hub_update_pace_admit(hub_subscriber *subscriber)
{
    hub_session *session = subscriber->session;
    if (subscriber->is_due) {
        return false; /* it will be told of this, too */
    }
    uint64_t now_ms = hub_clock_now_ms();
    uint32_t wait_ms = hub_bucket_wait_ms(&hub_notices_in(session)->updates, now_ms, RATE);
    if (wait_ms == 0) {
        hub_bucket_spend(&hub_notices_in(session)->updates, now_ms, RATE);
        return true;
    }
    if (hub_notices_in(session)->updates_due == NULL) {
        start_timer(session, wait_ms);
    }
    subscriber->is_due = true;
    DL_APPEND2(hub_notices_in(session)->updates_due, subscriber, due_prev, due_next);
    return false;
}

void hub_update_pace_forget(hub_subscriber *subscriber)
{
    hub_session *session = subscriber->session;
    if (!subscriber->is_due) {
        return;
    }
    take_off(subscriber);
    if (hub_notices_in(session)->updates_due == NULL) {
        ev_timer_stop(hub_loop(hub_profile_hub(hub_session_profile(session))),
                      &hub_notices_in(session)->updates_timer);
    }
}
