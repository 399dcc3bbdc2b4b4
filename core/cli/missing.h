/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why something is not there that one might expect: for whoever runs the hub, on the command line.
 * Clients are told less, since a policy may want them not to know. Thread: [loop].
 */
#ifndef HUB_CLI_MISSING_H
#define HUB_CLI_MISSING_H

#include "base/buf.h"
#include "hub/kernel/types.h"

/* Report each toolset that the settings want to be active in the profile and that does not work:
 * it cannot be made, or its server cannot be reached. Not those that a policy keeps out, which is
 * what was asked for. `profile` NULL: the default one. `reason` is borrowed. */
typedef void hub_missing_on_toolset(void *ctx, const char *key, const char *reason);
void hub_missing_toolsets(hub_orchestrator *hub, const char *profile,
                          hub_missing_on_toolset *on_toolset, void *ctx);

/* Append that there is no toolset of that name, and which one may have been meant: `near`, or empty. */
void hub_missing_toolset(hub_str name, hub_str near, hub_buf *out);

/* Append where modules were looked for, when there are none at all. */
void hub_missing_modules(hub_orchestrator *hub, hub_buf *out);

/* Append why the profile has no tool of that name: what its toolset lacks, which tool was meant, or
 * what names all. Nothing when there is no such profile. */
void hub_missing_tool(hub_orchestrator *hub, const char *profile, hub_str name, hub_buf *out);

/* Append that there is no toolset with that key, or that it has no such tool, and which one may have been
 * meant. Nothing when it has, or when its list is not known: no server is started. */
void hub_missing_by_key(hub_orchestrator *hub, hub_str key, hub_str tool, hub_buf *out);

#endif
