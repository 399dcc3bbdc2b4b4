/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Toolsets whose module runs in a process of its own (`isolation: process`). That process is this
 * program again, as `patchbay module-host FILE.so`: a hub that serves the one module over stdio. To
 * this hub it is a server like any other, run by mcp_upstream: supervised, started at the first
 * need, started again when it crashes, ended when it hangs.
 *
 * The module's configuration may hold secrets: it is neither among the arguments nor in the
 * environment, where others could read it, but the first line that the process gets.
 * Thread: [loop].
 */
#ifndef HUB_HUB_KERNEL_ISOLATION_H
#define HUB_HUB_KERNEL_ISOLATION_H

#include "base/buf.h"
#include "hub/kernel/settings.h"
#include "modules/resolver.h"

/* The module that runs the others' processes. */
#define HUB_ISOLATION_MODULE "mcp_upstream"

/* Whether the toolset's module runs in a process of its own. */
bool hub_isolation_is_wanted(const hub_settings *settings, const hub_toolset_settings *toolset);

/* Whether all toolsets of these settings that the module has run it in processes of their own. */
bool hub_isolation_is_outside(const hub_settings *settings, hub_str module);

/* Whether the hub, whose hub_settings these are, does without the module in its own process until a
 * toolset is made of it: hub_resolver_keep_outside. One that no enabled toolset names costs
 * nothing, nor do the libraries that it would bring along. */
bool hub_isolation_leaves_out(const void *settings, hub_str module);

/* Append what HUB_ISOLATION_MODULE is told to run `module` as the toolset wants it. What the
 * manifest says of the process is in process_json: members of mcp_upstream's own configuration that
 * are about time and surroundings.
 * errors:  HUB_ESYSTEM (this program cannot be found), HUB_ENOMEM, HUB_ELIMIT */
HUB_MUST_CHECK hub_err hub_isolation_configure(const hub_settings *settings,
                                               const hub_toolset_settings *toolset,
                                               const hub_module *module, hub_buf *out,
                                               hub_error *reterr);

#endif
