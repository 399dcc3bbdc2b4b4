/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DynamicToolManager: makes toolsets active and inactive for one audience (kernel/audience.h), while
 * the hub runs. Which are active from the start is decided in startup.h.
 *
 * Enabling a toolset: validate the name, ask the policy, make the module's instance, learn the
 * catalog, register the tools, then it is active; a step that fails leaves everything as it was. But
 * a server that cannot be reached is no failure: its toolset is wanted, so it is active, tried again,
 * and its tools appear when it comes. Of a batch, the places that max_active leaves go to servers
 * that answer first. Enabling what is active, and disabling what is not, succeeds; a server that has
 * failed is then tried at once.
 *
 * Since an upstream may take a while to answer, enabling is asynchronous: a second enable meanwhile
 * is refused with HUB_EBUSY, a disable waits its turn. A batch causes one list_changed.
 * Thread: [loop].
 */
#ifndef HUB_HUB_ACTIVE_MANAGER_H
#define HUB_HUB_ACTIVE_MANAGER_H

#include "base/err.h"
#include "hub/kernel/station.h"
#include "hub/kernel/types.h"

typedef struct hub_manager hub_manager;

/* What became of one toolset of a batch. */
typedef struct hub_manager_result {
    hub_str toolset; /* as asked for, trimmed */
    hub_err err;     /* HUB_OK, or HUB_EINVAL (empty name), HUB_ENOTFOUND, HUB_EDENIED, HUB_ELIMIT
                    (max_active), HUB_EUNAVAILABLE (its module cannot be made), … */
    hub_error
        why; /* when err is not HUB_OK; is_down: the reason alone, without the toolset's name */
    size_t tool_count; /* exposed ones */
    bool is_unchanged; /* it was what it should be: active already, or not active */
    bool is_starting;  /* active, but its upstream has not answered yet */
    bool is_down;      /* active, but its upstream cannot be reached: it is tried again */
    bool is_kept;      /* it will be so when what is chosen is shown no more (choice.h) */
} hub_manager_result;

/* Told once, possibly before hub_manager_enable returns. `results` is borrowed. */
typedef void hub_manager_on_done(void *ctx, const hub_manager_result *results, size_t count);

/* The station: every audience has a manager, from beginning to end. */
extern const hub_station HUB_ACTIVE_STATION;

/* The audience's. */
hub_manager *hub_manager_of(const hub_audience *audience);

/* Whose session the next operation is asked for by: it is told of no toolset that is hidden from it.
 * 0: nobody's. */
void hub_manager_ask_as(hub_manager *manager, uint64_t session);

/* Make toolsets active at once, without waiting for their catalogs, and without telling clients: at
 * start, and when they appear while the hub runs. Each of them entirely or not at all.
 * errors:  HUB_ENOMEM: on_done is not told */
HUB_MUST_CHECK hub_err hub_manager_activate(hub_manager *manager, const hub_str *toolsets,
                                            size_t count, hub_manager_on_done *on_done, void *ctx,
                                            hub_error *reterr);

/* Enable toolsets; each of them entirely or not at all. `meta` is the raw `_meta` of the request that
 * is the cause, for its trace; may be empty.
 * errors:  HUB_EBUSY (an operation is in progress), HUB_ENOMEM: on_done is not told */
HUB_MUST_CHECK hub_err hub_manager_enable(hub_manager *manager, const hub_str *toolsets,
                                          size_t count, hub_str meta, hub_manager_on_done *on_done,
                                          void *ctx, hub_error *reterr);

/* Disable toolsets, now or when the operation in progress has ended.
 * errors:  HUB_ENOMEM: on_done is not told */
HUB_MUST_CHECK hub_err hub_manager_disable(hub_manager *manager, const hub_str *toolsets,
                                           size_t count, hub_str meta, hub_manager_on_done *on_done,
                                           void *ctx, hub_error *reterr);

/* End the operation in progress at once, as if its time were up, and run those that wait: the
 * toolsets are about to be others. */
void hub_manager_hurry(hub_manager *manager);

/* Whether the audience uses nothing of what it sees, because nobody is left in it (release.h). */
bool hub_manager_is_resting(const hub_manager *manager);

/* Whether an operation is in progress, or waits. */
bool hub_manager_is_busy(const hub_manager *manager);

/* Active toolsets, not counting `_meta`. */
size_t hub_manager_active_count(const hub_manager *manager);

#endif
