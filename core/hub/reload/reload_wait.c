/* SPDX-License-Identifier: Apache-2.0 */
#include "base/loop.h"
#include "hub/catalogs/discovery.h"
#include "hub/notices/notifier.h"
#include "hub/reload/reload_internal.h"
#include "hub/report/reload_state.h"

#include <stdlib.h>

typedef struct wait_item {
    hub_catalog_waiter waiter; /* first: a waiter is its item */
    hub_reload_wait *wait;
    hub_toolset *toolset; /* NULL: it has answered */
} wait_item;

struct hub_reload_wait {
    hub_orchestrator *hub;
    ev_timer timeout;
    size_t waiting;
    size_t count;
    wait_item items[];
};

hub_reload_wait *reload_wait_create(hub_orchestrator *hub, size_t most)
{
    hub_reload_wait *wait = calloc(1, sizeof *wait + most * sizeof wait->items[0]);
    if (wait != NULL) {
        wait->hub = hub;
    }
    return wait;
}

void hub_reload_end(hub_orchestrator *hub)
{
    hub_reload_wait *wait = hub_reload_state_of(hub)->wait;
    if (wait == NULL) {
        return;
    }
    hub_reload_state_of(hub)->wait = NULL;
    ev_timer_stop(hub_loop(hub), &wait->timeout);
    for (size_t i = 0; i < wait->count; i++) {
        if (wait->items[i].toolset != NULL) {
            hub_discovery_unwait(wait->items[i].toolset, &wait->items[i].waiter);
        }
    }
    free(wait);
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        for (const hub_audience *at = hub_profile_audience(hub_profile_at(hub, i)); at != NULL;
             at = hub_audience_next(at)) {
            hub_notifier_let_go(hub_notifier_of(at));
        }
    }
}

static void one_less(hub_reload_wait *wait)
{
    if (--wait->waiting == 0) {
        hub_reload_end(wait->hub);
    }
}

static void on_known(hub_catalog_waiter *waiter, hub_err err, hub_str reason)
{
    wait_item *item = (wait_item *)waiter;
    (void)err; /* discovery has logged it */
    (void)reason;
    item->toolset = NULL;
    one_less(item->wait);
}

static void on_timeout(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_reload_wait *wait = timer->data;
    hub_reload_end(wait->hub);
}

static void ask(hub_reload_wait *wait, const reload_toolset *about, hub_discovery_run *run)
{
    wait_item *item = &wait->items[wait->count++];
    *item = (wait_item){.waiter.on_known = on_known, .wait = wait, .toolset = about->toolset};
    wait->waiting++;
    if (about->difference == HUB_TOOLSET_ANOTHER) {
        hub_discovery_ask_anew(about->toolset, &item->waiter, run);
    } else {
        hub_discovery_want(about->toolset, &item->waiter, run);
    }
}

/* Whether its server has to be asked: its catalog is not known, or is that of other settings. */
static bool is_to_ask(const reload_toolset *item)
{
    return item->has_begun && hub_toolset_is_deferred(item->toolset) &&
           (item->difference == HUB_TOOLSET_ANOTHER || hub_discovery_is_unknown(item->toolset));
}

void reload_wait_begin(reload *next)
{
    hub_orchestrator *hub = next->hub;
    hub_reload_wait *wait = next->wait;
    size_t count = 0;
    next->wait = NULL;
    hub_reload_state_of(hub)->wait = wait;
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        for (const hub_audience *at = hub_profile_audience(hub_profile_at(hub, i)); at != NULL;
             at = hub_audience_next(at)) {
            hub_notifier_hold(hub_notifier_of(at));
        }
    }
    ev_timer_init(&wait->timeout, on_timeout, 0., 0.);
    wait->timeout.data = wait;
    hub_loop_start_timer(hub_loop(hub), &wait->timeout,
                         next->settings->limits.discover_timeout_ms / 1000.);
    for (size_t i = 0; i < next->toolset_count; i++) {
        count += is_to_ask(&next->toolsets[i]);
    }
    hub_discovery_run *run = hub_discovery_begin(hub, count, HUB_STR_EMPTY);
    wait->waiting = 1; /* not over before all have been asked */
    for (size_t i = 0; i < next->toolset_count; i++) {
        if (is_to_ask(&next->toolsets[i])) {
            ask(wait, &next->toolsets[i], run);
        }
    }
    hub_discovery_asked(run);
    one_less(wait);
}
