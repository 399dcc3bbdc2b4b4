/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/notifier.h"

#include "base/clock.h"
#include "base/limits.h"
#include "hub/hub.h"
#include "hub/respond.h"

#include <stdlib.h>

static const hub_str METHOD = {.ptr = "notifications/tools/list_changed", .len = 32};

struct hub_notifier {
    hub_profile *profile;
    ev_timer timer;
    hub_view *told;       /* what clients know of */
    bool seen;            /* a client was given another list meanwhile */
    bool is_asked_for;    /* a user made one of the changes that are to be told */
    uint64_t quiet_until; /* monotonic ms: what nobody asked for is not told before */
    unsigned count;
};

static void tell_listens(const hub_session *session)
{
    for (const hub_listen *listen = session->listens; listen != NULL; listen = listen->next) {
        if (!listen->tools_list_changed) {
            continue;
        }
        hub_buf params;
        hub_buf_init(&params, HUB_LIMIT_ID_BYTES + 128);
        hub_buf_add(&params, HUB_STR("{\"_meta\":{\"" HUB_META_SUBSCRIPTION_ID "\":"));
        hub_buf_add(&params, (hub_str){.ptr = listen->id, .len = listen->id_len});
        hub_buf_add(&params, HUB_STR("}}"));
        if (hub_buf_ok(&params)) {
            hub_respond_notify(listen->port, METHOD, hub_buf_str(&params));
        }
        hub_buf_fini(&params);
    }
}

static void tell(hub_notifier *notifier)
{
    const hub_view *view = hub_registry_view(notifier->profile->registry);
    bool is_known = !notifier->seen && hub_view_equal(view, notifier->told);
    bool is_asked_for = notifier->is_asked_for;
    hub_notifier_settle(notifier);
    if (is_known) {
        return;
    }
    notifier->quiet_until = hub_clock_now_ms() + HUB_LIMIT_NOTIFY_STORM_MS;
    notifier->count++;
    for (hub_session *session = notifier->profile->sessions; session != NULL;
         session = session->next) {
        if (!is_asked_for && session->listed == view->serial) {
            continue; /* it waited for these very tools: they came with its list */
        }
        if (session->initialized) {
            hub_respond_notify(session->port, METHOD, HUB_STR_EMPTY);
        }
        tell_listens(session);
    }
}

static void on_window_end(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    tell(timer->data);
}

hub_err hub_notifier_create(hub_profile *profile, hub_notifier **ret_notifier)
{
    hub_notifier *notifier = calloc(1, sizeof *notifier);
    if (notifier == NULL) {
        return HUB_ENOMEM;
    }
    notifier->profile = profile;
    ev_timer_init(&notifier->timer, on_window_end, 0., 0.);
    notifier->timer.data = notifier;
    hub_notifier_settle(notifier);
    *ret_notifier = notifier;
    return HUB_OK;
}

void hub_notifier_destroy(hub_notifier *notifier)
{
    if (notifier != NULL) {
        ev_timer_stop(notifier->profile->hub->loop, &notifier->timer);
        hub_view_unref(notifier->told);
        free(notifier);
    }
}

void hub_notifier_changed(hub_notifier *notifier, bool is_asked_for)
{
    struct ev_loop *loop = notifier->profile->hub->loop;
    uint64_t now = hub_clock_now_ms();
    uint64_t delay_ms = HUB_LIMIT_NOTIFY_WINDOW_MS;
    if (!is_asked_for && notifier->quiet_until > now + delay_ms) {
        delay_ms = notifier->quiet_until - now;
    }
    double delay = (double)delay_ms / 1000.;
    notifier->is_asked_for = notifier->is_asked_for || is_asked_for;
    if (ev_is_active(&notifier->timer)) {
        if (ev_timer_remaining(loop, &notifier->timer) <= delay) {
            return;
        }
        ev_timer_stop(loop, &notifier->timer); /* a user's change does not wait for a storm */
    }
    ev_timer_set(&notifier->timer, delay, 0.);
    ev_timer_start(loop, &notifier->timer);
}

void hub_notifier_settle(hub_notifier *notifier)
{
    hub_view *view = hub_view_ref(hub_registry_view(notifier->profile->registry));
    hub_view_unref(notifier->told);
    notifier->told = view;
    notifier->seen = false;
    notifier->is_asked_for = false;
}

void hub_notifier_seen(hub_notifier *notifier)
{
    notifier->seen =
        notifier->seen ||
        (ev_is_active(&notifier->timer) &&
         !hub_view_equal(hub_registry_view(notifier->profile->registry), notifier->told));
}

unsigned hub_notifier_count(const hub_notifier *notifier)
{
    return notifier->count;
}
