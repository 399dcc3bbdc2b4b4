/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/notices/progress.h"

#include "base/clock.h"
#include "base/limits.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/respond.h"
#include "hub/tasks/tasks.h"
#include "hub/kernel/toolset.h"
#include "wire/json.h"

#include <stdlib.h>

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

static void forward(const hub_call *call, hub_str params_json)
{
    const hub_session *session = call->session;
    if (call->context.progress_token.len == 0 || session == NULL || session->closing) {
        return;
    }
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 2);
    hub_str told =
        call->binding != NULL && call->binding->toolset->capabilities.runs_tasks
            ? hub_tasks_notification(call->binding->toolset, session, params_json, false, &text)
            : params_json;
    if (told.len > 0) {
        hub_progress_notify(call->port, call->context.progress_token, told);
    }
    hub_buf_fini(&text);
}

void hub_progress_forget(hub_call *call)
{
    ev_timer_stop(hub_call_loop(call), &call->progress_due);
    free(call->progress);
    call->progress = NULL;
    call->progress_len = 0;
}

/* How long the next has to wait. Each that is told moves `progress_ms` on; it may be ahead of the
 * clock by one burst. */
static uint64_t wait_ms(hub_call *call)
{
    uint64_t now = hub_clock_now_ms();
    if (call->progress_ms < now) {
        call->progress_ms = now;
    }
    uint64_t ahead = call->progress_ms - now;
    return ahead > BURST_MS - INTERVAL_MS ? ahead - (BURST_MS - INTERVAL_MS) : 0;
}

static void on_due(struct ev_loop *loop, ev_timer *timer, int events);

static void start_timer(hub_call *call, uint64_t delay_ms)
{
    struct ev_loop *loop = hub_call_loop(call);
    double late = ev_time() - ev_now(loop); /* a busy loop's clock is behind */
    ev_timer_init(&call->progress_due, on_due, (double)delay_ms / 1000. + late, 0.);
    call->progress_due.data = call;
    ev_timer_start(loop, &call->progress_due);
}

static void on_due(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_call *call = timer->data;
    uint64_t delay_ms = wait_ms(call);
    if (delay_ms > 0) {
        start_timer(call, delay_ms);
    } else if (call->session != NULL) { /* else the client has to come back first */
        call->progress_ms += INTERVAL_MS;
        hub_progress_flush(call);
    }
}

/* Without room or memory for it, the one before stays the newest. */
static void keep(hub_call *call, hub_str params_json, uint64_t delay_ms)
{
    char *copy = params_json.len <= HUB_LIMIT_PROGRESS_BYTES ? hub_str_dup(params_json) : NULL;
    if (copy == NULL) {
        return;
    }
    free(call->progress);
    call->progress = copy;
    call->progress_len = params_json.len;
    if (!ev_is_active(&call->progress_due)) {
        start_timer(call, delay_ms);
    }
}

void hub_progress_take(hub_call *call, hub_str params_json)
{
    uint64_t delay_ms = wait_ms(call);
    if (delay_ms > 0) {
        keep(call, params_json, delay_ms);
        return;
    }
    call->progress_ms += INTERVAL_MS;
    hub_progress_forget(call);
    forward(call, params_json);
}

void hub_progress_flush(hub_call *call)
{
    if (call->progress != NULL) {
        forward(call, (hub_str){.ptr = call->progress, .len = call->progress_len});
        hub_progress_forget(call);
    }
}
