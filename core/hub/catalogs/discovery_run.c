/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/catalogs/discovery_run.h"

#include "base/cause.h"
#include "hub/catalogs/catalogs_internal.h"

#include "base/clock.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/toolset.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

enum { STRAGGLER_RATIO = 3 };

struct hub_discovery_run {
    hub_orchestrator *hub;
    char *by; /* who causes it (base/cause.h); NULL: there was no memory */
    char trace[HUB_TRACE_ID_BYTES];
    uint64_t begin_ms;
    bool is_open;        /* more may be asked */
    size_t outstanding;  /* that joined, and after whose leaving nobody has looked yet */
    size_t answered;     /* with a catalog */
    ev_timer stragglers; /* when they are not waited for any longer */
};

/* ---- traces ---------------------------------------------------------------------------------- */

void hub_discovery_keep_trace(hub_str trace, char ret_trace[HUB_TRACE_ID_BYTES])
{
    (void)snprintf(ret_trace, HUB_TRACE_ID_BYTES, HUB_STR_FMT, HUB_STR_ARG(trace));
}

/* The caller's trace, or a new one. */
static void choose_trace(hub_str trace, char ret_trace[HUB_TRACE_ID_BYTES])
{
    uint64_t random[2] = {0, 0};
    if (trace.len == 0 && getrandom(random, sizeof random, 0) == (ssize_t)sizeof random) {
        (void)snprintf(ret_trace, HUB_TRACE_ID_BYTES, "%016llx%016llx",
                       (unsigned long long)random[0], (unsigned long long)random[1]);
    } else {
        hub_discovery_keep_trace(trace, ret_trace);
    }
}

/* ---- runs ------------------------------------------------------------------------------------ */

void hub_discovery_log_registry(const hub_orchestrator *hub, hub_str trace)
{
    size_t counts[2] = {0, 0}; /* of tools: of servers, native */
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        const hub_toolset *toolset = hub_toolset_at(hub, i);
        if (hub_toolset_binding(toolset) != NULL) {
            counts[hub_toolset_is_native(toolset)] += hub_toolset_count(toolset, HUB_KIND_TOOL);
        }
    }
    hub_log_field fields[] = {HUB_F_INT("staticCount", counts[true]),
                              HUB_F_INT("mcpCount", counts[false]),
                              HUB_F_STR("traceId", trace),
                              HUB_F_BY,
                              {.key = NULL}};
    if (trace.len == 0) {
        fields[2] = fields[3];
        fields[3].key = NULL;
    }
    hub_log_fields(HUB_LOG_INFO, "tools.registry.updated", fields);
}

void hub_discovery_log_removed(const hub_toolset *toolset)
{
    if (!hub_toolset_is_native(toolset)) {
        hub_name_list names = hub_toolset_tool_names(toolset);
        hub_log(HUB_LOG_INFO, "tools.registry.server.removed",
                HUB_F_TEXT("serverName", hub_toolset_key(toolset)),
                HUB_F_INT("removedCount", names.count), HUB_F_TEXT("toolNames", names.text),
                HUB_F_BY);
    }
}

/* Stragglers are late: nobody waits for them any longer. */
static void on_stragglers(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_discovery_run *run = timer->data;
    hub_orchestrator *hub = run->hub;
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        hub_toolset *toolset = hub_toolset_at(hub, i);
        hub_catalogs_of(toolset)->is_late =
            hub_catalogs_of(toolset)->is_late || hub_catalogs_of(toolset)->run == run;
    }
    hub_discovery_ended(hub);
}

hub_discovery_run *hub_discovery_begin_traced(hub_orchestrator *hub, size_t count, hub_str trace)
{
    hub_discovery_run *run = count > 0 ? calloc(1, sizeof *run) : NULL;
    if (run == NULL) {
        return NULL;
    }
    run->hub = hub;
    run->begin_ms = hub_clock_now_ms();
    run->is_open = true;
    run->by = hub_str_dup(hub_str_of(hub_cause()));
    choose_trace(trace, run->trace);
    ev_timer_init(&run->stragglers, on_stragglers, 0., 0.);
    run->stragglers.data = run;
    hub_log(HUB_LOG_INFO, "tools.discovery.started", HUB_F_INT("serverCount", count),
            HUB_F_TEXT("traceId", run->trace));
    return run;
}

hub_discovery_run *hub_discovery_begin(hub_orchestrator *hub, size_t count, hub_str meta)
{
    return hub_discovery_begin_traced(hub, count, hub_trace_id_in(meta));
}

/* If almost all have answered, look how long the others may take. */
static void watch_stragglers(hub_discovery_run *run)
{
    uint64_t least_ms = hub_settings_of(run->hub)->limits.straggler_ms;
    uint64_t took_ms = hub_clock_now_ms() - run->begin_ms;
    uint64_t left_ms = took_ms > least_ms ? took_ms : least_ms;
    if (least_ms > 0 && run->answered >= STRAGGLER_RATIO * run->outstanding &&
        !ev_is_active(&run->stragglers)) {
        ev_now_update(hub_loop(run->hub));
        ev_timer_set(&run->stragglers, (double)left_ms / 1000., 0.);
        ev_timer_start(hub_loop(run->hub), &run->stragglers);
    }
}

static void end_if_over(hub_discovery_run *run)
{
    if (run->is_open) {
        return;
    }
    if (run->outstanding > 0) {
        watch_stragglers(run);
        return;
    }
    ev_timer_stop(hub_loop(run->hub), &run->stragglers);
    const char *before = hub_cause_set(run->by != NULL ? run->by : HUB_BY_HUB);
    hub_discovery_log_registry(run->hub, hub_str_of(run->trace));
    (void)hub_cause_set(before);
    free(run->by);
    free(run);
}

void hub_discovery_look_after(hub_discovery_run *run)
{
    if (run != NULL) {
        run->outstanding--;
        end_if_over(run);
    }
}

void hub_discovery_asked(hub_discovery_run *run)
{
    if (run != NULL) {
        run->is_open = false;
        end_if_over(run);
    }
}

void hub_discovery_join(hub_discovery_run *run, hub_toolset *toolset)
{
    hub_catalogs_of(toolset)->run = run;
    if (run != NULL) {
        run->outstanding++;
    }
}

hub_discovery_run *hub_discovery_leave(hub_toolset *toolset)
{
    hub_discovery_run *run = hub_catalogs_of(toolset)->run;
    hub_catalogs_of(toolset)->run = NULL;
    return run;
}

void hub_discovery_count(hub_discovery_run *run)
{
    if (run != NULL) {
        run->answered++;
    }
}

const char *hub_discovery_trace(const hub_discovery_run *run)
{
    return run != NULL ? run->trace : "";
}
