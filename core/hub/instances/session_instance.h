/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `sharing: session`: a client session's own instance of a toolset's module, which for an upstream
 * is a process or connection of its own. It is made when the session first needs it, and ends with
 * the session, or with the toolset. All that the session asks of the toolset goes there: calls,
 * resources, prompts, completion, tasks, subscriptions, its level of logging, its roots; and what
 * the instance asks or says is for this session alone.
 *
 * An instance is a hub_toolset of its own that no registry, list or reload knows: `shared` is the
 * toolset that it stands in for, `session` whose it is. What the toolset offers is learnt from the
 * shared instance and the same for all, whatever a session's own instance would list; so are the
 * capabilities that are announced.
 *
 * A modern HTTP request has no session: it is served by the shared instance. Thread: [loop].
 */
#ifndef HUB_HUB_INSTANCES_SESSION_INSTANCE_H
#define HUB_HUB_INSTANCES_SESSION_INSTANCE_H

#include "hub/kernel/station.h"
#include "hub/kernel/toolset.h"

extern const hub_station HUB_INSTANCES_STATION;

/* Whoever serves the session: its own instance, made now if need be, or the toolset itself.
 * errors:  HUB_ELIMIT (the toolset has limits.session_instances), HUB_ESTATE (the session is at its
 *          end, or the toolset not in use), those of hub_toolset_prepare; the text names the
 *          toolset */
HUB_MUST_CHECK hub_err hub_session_instance_get(hub_session *session, hub_toolset *toolset,
                                                hub_toolset **ret_toolset, hub_error *reterr);

/* The session's instance of the toolset, or the toolset itself when it has none. */
hub_toolset *hub_session_instance_find(const hub_session *session, hub_toolset *toolset);

/* All of a session's, and those that sessions have of one toolset. */
hub_toolset *hub_session_instance_first(const hub_session *session);
hub_toolset *hub_session_instance_next(const hub_toolset *own);
hub_toolset *hub_session_instances_of(const hub_toolset *toolset);
hub_toolset *hub_session_instances_next(const hub_toolset *own);
size_t hub_session_instance_count(const hub_toolset *toolset);

/* Whose an instance is (NULL once it ends), and in whose place. */
hub_session *hub_session_instance_owner(const hub_toolset *own);
hub_toolset *hub_session_instance_shared(const hub_toolset *own);

/* The toolset has other settings, and with `rebinds` a newer module or another configuration. Its
 * instances get the same; one for which that fails goes on as it is, and the log says why. */
void hub_session_instance_renew(hub_toolset *toolset, bool rebinds);

#endif
