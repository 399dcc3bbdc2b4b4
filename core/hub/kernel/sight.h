/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client sees: the lists of its session's exposure, for the revision of the protocol that it
 * speaks. Whatever a client is shown, or names, is looked up here and nowhere else. Thread: [loop].
 */
#ifndef HUB_HUB_KERNEL_SIGHT_H
#define HUB_HUB_KERNEL_SIGHT_H

#include "hub/kernel/types.h"
#include "tools/exposure.h"
#include "wire/mcp.h"

struct hub_request;

/* Good until the loop goes on. */
typedef struct hub_sight {
    hub_exposure *exposure; /* NULL once the profile has ended */
    hub_revision revision;
} hub_sight;

/* What is shown to a session; NULL once its profile has ended. */
hub_exposure *hub_session_exposure(const hub_session *session);

/* What is seen in the revision that `initialize` agreed on; without one, in the newest. */
hub_sight hub_session_sight(const hub_session *session);

/* … and in that of a request, or of a call; the call has a session. */
hub_sight hub_request_sight(const struct hub_request *request);
hub_sight hub_call_sight(const hub_call *call);

/* What is shown of a kind; borrowed until the next change, reference it to keep it. Never NULL. */
hub_shown *hub_sight_shown(hub_sight sight, hub_kind kind);

/* What of a kind is listed for a session of that profile: what is shown or, where tools are to be
 * searched for (expose: search), the hub's own alone. In any revision.
 * owns:    *ret_shown, one reference
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_sight_get_listed(const hub_exposure *exposure,
                                            const hub_profile *profile, hub_kind kind,
                                            hub_shown **ret_shown);

/* A number that is greater each time when other bytes are shown of a kind. */
uint64_t hub_sight_serial(hub_sight sight, hub_kind kind);

/* Whether an item may be listed for the client, if its toolset is active. */
bool hub_sight_has(hub_sight sight, const hub_item *item);

/* The same, for what a model is to read: tools for apps alone are left out. */
bool hub_sight_tells_of(hub_sight sight, const hub_item *item);

/* The entry that the client calls so, or NULL; borrowed until the next change. */
const hub_entry *hub_sight_find(hub_sight sight, hub_kind kind, hub_str exposed);

/* The entry of a toolset's own name, however it is exposed; NULL when there is none. */
const hub_entry *hub_sight_find_own(hub_sight sight, hub_kind kind, hub_str toolset, hub_str name);

/* The resource, or the template, that a URI belongs to: see hub_route_resource. */
const hub_entry *hub_sight_find_resource(hub_sight sight, hub_str uri, hub_buf *own_uri);

/* The definition of the tool that the client calls so, as it is shown; empty: there is none. */
hub_str hub_sight_tool_definition(hub_sight sight, hub_str exposed);

/* Append what those are called instead that want this name: see hub_exposure_add_rivals. */
size_t hub_sight_add_rivals(hub_sight sight, hub_kind kind, hub_str name, hub_buf *out);

/* Whether anything may be said of a toolset: see hub_exposure_may_tell_of. Whoever answers a client
 * treats one of which nothing may be said like one that does not exist. */
bool hub_sight_may_tell_of(hub_sight sight, const hub_toolset *toolset);

/* Who is that toolset for the client: its principal's own instance, where it has one. */
hub_toolset *hub_sight_toolset(hub_sight sight, hub_toolset *toolset);

/* The toolset with that key of which something may be said, as it is for the client, or NULL. */
hub_toolset *hub_sight_find_toolset(hub_sight sight, const hub_orchestrator *hub, hub_str key);

/* Say that there is no such toolset, in the same words whether it does not exist or nothing may be
 * said of it. With `suggests`, with the key that a mistyped one may have meant.
 * errors:  HUB_ENOTFOUND, always */
hub_err hub_sight_fail_toolset(hub_sight sight, const hub_orchestrator *hub, hub_str key,
                               bool suggests, hub_error *reterr);

#endif
