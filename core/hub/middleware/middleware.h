/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a manifest has done with every call of a toolset, between its end and its client
 * (hub.middleware, toolsets.KEY.middleware):
 *
 *   log               one line when it is over: who, what, how long, how it ended. Never arguments,
 *                     never results
 *   max_result_bytes  a larger result of a tool is cut (result_cut.h)
 *   time              the duration in milliseconds in the result, as _meta["patchbay/duration_ms"]
 *
 * In that order, so what is cut is what the tool has said. Where nothing is configured, bytes pass
 * as they are, and nothing is looked at. Thread: [loop].
 */
#ifndef HUB_HUB_MIDDLEWARE_MIDDLEWARE_H
#define HUB_HUB_MIDDLEWARE_MIDDLEWARE_H

#include "hub/kernel/call.h"

struct hub_toolset;

/* A call is for a toolset: note what will be said of it, as the toolset's own `name`. */
void hub_middleware_begin(hub_call *call, const struct hub_toolset *toolset, hub_str method,
                          hub_str name);

/* Whether something is to be done when the call ends with that. */
bool hub_middleware_is_wanted(const hub_call *call, const hub_outcome *outcome);

/* Do it, and hand what has become of the outcome to `next`. */
void hub_middleware_run(hub_call *call, const hub_outcome *outcome,
                        void (*next)(hub_call *call, const hub_outcome *outcome));

/* The call ends without an outcome: its client has cancelled it, or is gone. */
void hub_middleware_drop(hub_call *call);

#endif
