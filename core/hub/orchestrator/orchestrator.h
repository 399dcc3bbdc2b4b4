/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ServerOrchestrator: composes the hub from its settings. It wires ModuleResolver, toolsets, and
 * for each profile ToolRegistry, DynamicToolManager and notifier; starts them; and takes them down
 * in reverse. Transports are attached from outside (transport.h). Thread: [loop].
 */
#ifndef HUB_HUB_ORCHESTRATOR_ORCHESTRATOR_H
#define HUB_HUB_ORCHESTRATOR_ORCHESTRATOR_H

#include "hub/kernel/settings.h"
#include "hub/kernel/transport.h"
#include "modules/resolver.h"
#include "tools/catalog.h"

#include <ev.h>

/* Compose a hub on `loop`. `settings` is borrowed for its life.
 * blocks:  yes: looks through the plugins folders
 * owns:    *ret_hub, destroy it with hub_orchestrator_destroy
 * errors:  HUB_EINVAL (settings), HUB_ENOMEM, HUB_ESYSTEM */
HUB_MUST_CHECK hub_err hub_orchestrator_create(struct ev_loop *loop, const hub_settings *settings,
                                               hub_orchestrator **ret_hub, hub_error *reterr);

/* Make the toolsets of the start-up settings active in every profile, and watch the plugins
 * folders.
 * errors:  HUB_EINVAL (a static profile without a usable toolset) */
HUB_MUST_CHECK hub_err hub_orchestrator_start(hub_orchestrator *hub, hub_error *reterr);

/* Instead of starting: make and unmake an instance of every toolset that is switched on, and report
 * each that cannot be made, with a reason that names it; and (`toolset` is NULL) each profile whose
 * static start would find nothing to serve. Nothing is connected. */
typedef void hub_orchestrator_on_bad(void *ctx, const hub_toolset *toolset, const char *reason);
void hub_orchestrator_check(hub_orchestrator *hub, hub_orchestrator_on_bad *on_bad, void *ctx);

/* Say goodbye to the sessions: open subscriptions are completed, calls in flight get an error. New
 * sessions are refused from now on. Whoever lets calls end first has begun it with drain.h. */
void hub_orchestrator_stop(hub_orchestrator *hub);

/* Take everything down: sessions must have been closed. Runs the loop until the instances have
 * ended and the children are gone, at most `timeout_ms`; what is left then is killed. NULL is fine.
 * returns: false when a plugin's thread would not end: leave the process with _exit */
bool hub_orchestrator_destroy(hub_orchestrator *hub, unsigned timeout_ms);

/* The resolver, for commands that show modules. */
hub_resolver *hub_orchestrator_resolver(hub_orchestrator *hub);

#endif
