/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start-up modes: which toolsets of a profile are active from the beginning (REQUIREMENTS S1.33).
 * Dynamic: none, a list is ignored with a warning. Static: those listed, or ALL, for good. Neither:
 * all that are not marked inactive, and clients may change it. Thread: [loop].
 */
#ifndef HUB_HUB_ACTIVE_STARTUP_H
#define HUB_HUB_ACTIVE_STARTUP_H

#include "hub/active/manager.h"
#include "hub/kernel/settings.h"

/* Make active what the start-up settings say. Toolsets that fail are logged and skipped.
 * errors:  HUB_EINVAL (static start-up without a single usable toolset; the text says why),
 *          HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_startup_run(hub_profile *profile, hub_error *reterr);

/* Whether a static start would find a usable toolset, as far as names and policies go: nothing is
 * made.
 * errors:  HUB_EINVAL (none; the text says why of each that is listed) */
HUB_MUST_CHECK hub_err hub_startup_check(const hub_profile *profile, hub_error *reterr);

/* Report each profile of which not all that are to be active at start can be, since max_active leaves
 * no place for them: as far as names and policies go, nothing is made. */
typedef void hub_startup_on_crowd(void *ctx, const char *reason);
void hub_startup_crowded(const hub_orchestrator *hub, hub_startup_on_crowd *on_crowd, void *ctx);

/* A toolset has become usable while the hub runs, since its plugin was dropped into a folder: make
 * it active if start-up would have, and tell clients. */
void hub_startup_adopt(hub_profile *profile, hub_str toolset);

/* Try once more to make active what start-up could not, and report what comes of each: for whoever
 * wants to know why it is not there. Toolsets whose names nobody knows are reported, too. */
typedef void hub_startup_on_result(void *ctx, const hub_manager_result *result);
void hub_startup_try_again(hub_profile *profile, hub_startup_on_result *on_result, void *ctx);

#endif
