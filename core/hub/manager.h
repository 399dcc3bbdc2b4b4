/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DynamicToolManager: makes toolsets active and inactive in one profile, at start and at run time.
 *
 * Enabling a toolset: validate the name, ask the policy, make the module's instance, learn the
 * catalog, register the tools, then it is active; a step that fails leaves everything as it was.
 * Since an upstream may take a while to answer, enabling is asynchronous: a second enable meanwhile
 * is refused with HUB_EBUSY, a disable waits its turn. A batch causes one list_changed.
 * Thread: [loop].
 */
#ifndef HUB_HUB_MANAGER_H
#define HUB_HUB_MANAGER_H

#include "base/err.h"

typedef struct hub_manager hub_manager;
struct hub_profile;

/* What became of one toolset of a batch. */
typedef struct hub_manager_result {
    hub_str toolset;  /* as asked for, trimmed */
    hub_err err;      /* HUB_OK, or HUB_EINVAL (empty name), HUB_ENOTFOUND, HUB_EEXIST (active already),
                         HUB_EDENIED, HUB_ELIMIT (max_active), HUB_ECOLLISION, HUB_EUNAVAILABLE, … */
    hub_error why;    /* when err is not HUB_OK */
    size_t tool_count;
    bool is_starting; /* active, but its upstream has not answered yet */
} hub_manager_result;

/* Told once, possibly before hub_manager_enable returns. `results` is borrowed. */
typedef void hub_manager_on_done(void *ctx, const hub_manager_result *results, size_t count);

HUB_MUST_CHECK hub_err hub_manager_create(struct hub_profile *profile, hub_manager **ret_manager);

/* An operation in progress is abandoned: its on_done is not told. NULL is fine. */
void hub_manager_destroy(hub_manager *manager);

/* Make what the start-up settings say active. Toolsets that fail are logged and skipped.
 * errors:  HUB_EINVAL (static start-up without a single usable toolset; the text says why) */
HUB_MUST_CHECK hub_err hub_manager_start(hub_manager *manager, hub_error *reterr);

/* A toolset has appeared while the hub runs (its plugin was dropped into a folder): make it active if
 * the profile starts with all there is, and tell clients. */
void hub_manager_adopt(hub_manager *manager, hub_str toolset);

/* Enable toolsets; each of them entirely or not at all.
 * errors:  HUB_EBUSY (an operation is in progress), HUB_ENOMEM: on_done is not told */
HUB_MUST_CHECK hub_err hub_manager_enable(hub_manager *manager, const hub_str *toolsets,
                                          size_t count, hub_manager_on_done *on_done, void *ctx,
                                          hub_error *reterr);

/* Disable toolsets, now or when the operation in progress has ended.
 * errors:  HUB_ENOMEM: on_done is not told */
HUB_MUST_CHECK hub_err hub_manager_disable(hub_manager *manager, const hub_str *toolsets,
                                           size_t count, hub_manager_on_done *on_done, void *ctx,
                                           hub_error *reterr);

/* Whether the profile was started statically: nothing can be enabled or disabled. */
bool hub_manager_is_static(const hub_manager *manager);

/* Active toolsets, not counting `_meta`. */
size_t hub_manager_active_count(const hub_manager *manager);

#endif
