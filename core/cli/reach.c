/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reach.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "hub/catalogs/discovery.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/toolset.h"

#include <stdlib.h>

typedef struct reached {
    hub_catalog_waiter waiter; /* first: a waiter is its item */
    struct reach *reach;
    bool waits;
    bool is_used;
    uint64_t took_ms;
    hub_error why; /* its code is HUB_OK when the toolset is there */
} reached;

typedef struct reach {
    hub_orchestrator *hub;
    size_t waiting;
    uint64_t begun_ms;
    reached *items; /* of hub->toolsets */
} reach;

static void on_known(hub_catalog_waiter *waiter, hub_err err, hub_str reason)
{
    reached *item = (reached *)waiter;
    item->waits = false;
    item->took_ms = hub_clock_now_ms() - item->reach->begun_ms;
    item->reach->waiting--;
    if (err != HUB_OK) {
        (void)hub_fail(&item->why, err, HUB_STR_FMT, HUB_STR_ARG(reason));
    }
    ev_break(hub_loop(item->reach->hub), EVBREAK_ALL);
}

static void start(reach *all, hub_toolset *toolset, reached *item)
{
    item->reach = all;
    item->waiter.on_known = on_known;
    item->is_used = hub_toolset_use(toolset, &item->why) == HUB_OK;
    if (item->is_used) {
        item->waits = true;
        all->waiting++;
        hub_discovery_want(toolset, &item->waiter, NULL);
    }
}

static void on_timeout(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)timer; /* that it is no longer active says it all */
    (void)events;
    ev_break(loop, EVBREAK_ALL);
}

/* Every answer ends a run of the loop. */
static void wait_for_answers(const reach *all)
{
    struct ev_loop *loop = hub_loop(all->hub);
    ev_timer timer;
    ev_timer_init(&timer, on_timeout, hub_settings_of(all->hub)->limits.discover_timeout_ms / 1000.,
                  0.);
    ev_now_update(loop);
    ev_timer_start(loop, &timer);
    while (all->waiting > 0 && ev_is_active(&timer)) {
        ev_run(loop, 0);
    }
    ev_timer_stop(loop, &timer);
}

static void add_counts(const hub_toolset *toolset, hub_buf *out)
{
    for (int i = 0; i < HUB_KINDS; i++) {
        hub_kind kind = (hub_kind)i;
        size_t count = hub_toolset_count(toolset, kind);
        if (count > 0 || kind == HUB_KIND_TOOL) {
            hub_buf_printf(out, "%s%zu %s", out->len > 0 ? ", " : "", count,
                           hub_kind_noun(kind, count));
        }
    }
}

static void report(const hub_toolset *toolset, const reached *item, hub_reach_on_found *on_found,
                   void *ctx)
{
    hub_err err = item->waits ? HUB_EUNAVAILABLE : item->why.code;
    bool is_made = item->is_used || err == HUB_EDENIED;
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_LOG_LINE_BYTES);
    if (item->waits) {
        hub_buf_printf(&text, "it has not answered within %u ms",
                       hub_settings_of(hub_toolset_hub(toolset))->limits.discover_timeout_ms);
    } else if (err != HUB_OK) {
        hub_buf_add(&text, hub_toolset_own_words(toolset, item->why.text));
    } else {
        add_counts(toolset, &text);
    }
    on_found(ctx, hub_toolset_key(toolset), is_made ? err : HUB_EINVAL, hub_buf_str(&text),
             item->took_ms);
    hub_buf_fini(&text);
}

static bool is_wanted(const hub_toolset *toolset, const char *only)
{
    return only == NULL || strcmp(hub_toolset_key(toolset), only) == 0;
}

hub_err hub_reach_all(hub_orchestrator *hub, const char *only, hub_reach_on_found *on_found,
                      void *ctx)
{
    reach all = {.hub = hub, .items = calloc(hub_toolset_total(hub) + 1, sizeof *all.items)};
    if (all.items == NULL) {
        return HUB_ENOMEM;
    }
    all.begun_ms = hub_clock_now_ms();
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        if (is_wanted(hub_toolset_at(hub, i), only)) {
            start(&all, hub_toolset_at(hub, i), &all.items[i]);
        }
    }
    wait_for_answers(&all);
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        if (all.items[i].waits) {
            hub_discovery_unwait(hub_toolset_at(hub, i), &all.items[i].waiter);
        }
        if (is_wanted(hub_toolset_at(hub, i), only)) {
            report(hub_toolset_at(hub, i), &all.items[i], on_found, ctx);
        }
    }
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        if (all.items[i].is_used) {
            hub_toolset_unuse(hub_toolset_at(hub, i));
        }
    }
    free(all.items);
    return HUB_OK;
}

size_t hub_reach_add_waiting(const hub_orchestrator *hub, hub_buf *out)
{
    size_t count = 0;
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        const hub_toolset *toolset = hub_toolset_at(hub, i);
        if (hub_discovery_is_asked(toolset)) {
            hub_buf_printf(out, "%s%s", count > 0 ? ", " : "", hub_toolset_key(toolset));
            count++;
        }
    }
    return count;
}
