/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `credentials: principal`: a principal's own instance of a toolset, with a connection, a login and a
 * catalog of its own. All of the principal's sessions work with that one, and nobody else's do: requests
 * over HTTP of 2026-07-28, too, which have no session that lasts.
 *
 * As a session's (session_instance.h) an instance is a hub_toolset that no registry and no reload knows.
 * But it has lists of its own, and what the principal sees leads to it (hub_lens, hub_exposure_get_variant):
 * nothing on the way of a call has to choose between instances. The toolset that is in the registry
 * stands in for them (hub_toolset_is_stand_in): it has no login and no list, so where somebody has no
 * instance there is nothing that could be another's.
 *
 * An instance is made when a session of its principal first looks at what there is. It ends
 * limits.principal_idle after the last session of its principal has, when the toolset is not used any
 * more or has other settings, and with the login (hub_principal_instance_end). Of one toolset there are
 * at most limits.principal_instances; those of principals without a session make room.
 *
 * Clients that the hub cannot tell apart (`anonymous`) have none: one's login would be the other's.
 * Thread: [loop].
 */
#ifndef HUB_HUB_INSTANCES_PRINCIPAL_INSTANCE_H
#define HUB_HUB_INSTANCES_PRINCIPAL_INSTANCE_H

#include "hub/kernel/station.h"
#include "hub/kernel/toolset.h"

extern const hub_station HUB_PRINCIPALS_STATION;

/* Whose an instance is (NULL once it ends, or of what is none), and in whose place (NULL: it is none). */
hub_principal *hub_principal_instance_owner(const hub_toolset *own);
hub_toolset *hub_principal_instance_shared(const hub_toolset *own);

/* Whether a session may hear of what this toolset's server says: an instance's owner alone. */
bool hub_principal_instance_is_for(const hub_toolset *toolset, const hub_session *session);

/* The instance of that principal, by the toolset's key; NULL: it has none. */
hub_toolset *hub_principal_instance_find(const hub_orchestrator *hub, hub_str principal,
                                         hub_str toolset);

/* Those of one toolset that are not at their end: how many, the first, and the next one. */
size_t hub_principal_instance_count(const hub_toolset *shared);
hub_toolset *hub_principal_instances_of(const hub_toolset *shared);
hub_toolset *hub_principal_instances_next(const hub_toolset *own);

/* Why the session has no instance of that toolset.
 * errors:  HUB_EDENIED (nobody knows who is asking), HUB_ELIMIT, HUB_ESTATE, HUB_ENOMEM, … */
hub_err hub_principal_instance_explain(const hub_session *session, const hub_toolset *shared,
                                       hub_error *reterr);

/* End an instance: its connection was made with a login that is no more. Its calls fail. The next look
 * of its principal makes another one. */
void hub_principal_instance_end(hub_toolset *own);

/* The toolset has other settings, and with `rebinds` a newer module or another configuration: its
 * instances get the same. */
void hub_principal_instance_renew(hub_toolset *shared, bool rebinds);

#endif
