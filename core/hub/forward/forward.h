/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers of clients' HTTP requests that go on to a server behind the hub (`forward_headers`). A
 * header that no toolset names is never looked at; one that a toolset names is kept with the call,
 * and only that toolset's module may see it. Thread: [loop].
 */
#ifndef HUB_HUB_FORWARD_FORWARD_H
#define HUB_HUB_FORWARD_FORWARD_H

#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"

extern const hub_station HUB_FORWARD_STATION;

/* Have a header looked at for the hub itself, too: a constant, of which there is one. No module sees it
 * that may not. errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_forward_want(hub_orchestrator *hub, const char *name);

/* Append those of the message that `port` is delivering: what becomes `headers` of its context. */
void hub_forward_collect(const hub_orchestrator *hub, hub_port *port, hub_buf *out);

/* The value that the call's request had for a header, if `allowed` names it; else empty. Names in
 * any case. Borrowed from the call. */
hub_str hub_forward_find(const hub_call *call, const hub_names *allowed, hub_str name);

#endif
