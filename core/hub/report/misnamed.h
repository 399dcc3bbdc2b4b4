/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names in the settings that no toolset has: for whoever mistyped them. Which toolsets there are
 * may change while a hub runs, so that to be unknown is no error by itself. Thread: [loop].
 */
#ifndef HUB_HUB_REPORT_MISNAMED_H
#define HUB_HUB_REPORT_MISNAMED_H

#include "base/err.h"
#include "hub/kernel/types.h"

/* Say that there is no such toolset, and which one may have been meant, or what makes one of a
 * module of that name.
 * returns: HUB_ENOTFOUND */
hub_err hub_misnamed_fail(const hub_orchestrator *hub, hub_str key, hub_error *reterr);

/* Report each name in the policies of the hub and of its profiles that is none: a policy that keeps
 * out or lets in what is not there. Patterns are left alone unless they can fit no toolset.
 * No more than the first fifty are reported. */
typedef void hub_misnamed_on_name(void *ctx, const char *reason);
void hub_misnamed_in_policies(const hub_orchestrator *hub, hub_misnamed_on_name *on_name,
                              void *ctx);

/* The same of the toolsets that a static start lists. */
void hub_misnamed_at_start(const hub_orchestrator *hub, hub_misnamed_on_name *on_name, void *ctx);

/* What the policies name wrongly goes to the log: event policy.unknown_name. */
void hub_misnamed_log(const hub_orchestrator *hub);

#endif
