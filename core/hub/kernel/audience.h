/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Audiences: those sessions of a profile that see the same. Every profile has one of its own, which
 * sees what the settings make active. A principal whose choice of toolsets is another has an
 * audience in each profile where it is, with an exposure of its own (`active_set: session`: each of
 * its legacy sessions has one); it is made when the choice is
 * first changed, and shares all but the choice with the profile's. So that nobody's choice changes
 * what somebody else sees, whatever belongs to a choice (operations, what clients have been told)
 * lies with the audience.
 *
 * An audience without sessions is kept for as long as a station says that something of it matters:
 * over HTTP, each request of a modern client is a session. One goes when the next session begins,
 * never while somebody works with it; with one whose choice has become the profile's, the profile's own
 * takes over what it uses, so that no server stops. At most HUB_LIMIT_IDLE_AUDIENCES are
 * kept so; the one that was left first goes first.
 *
 * Thread: [loop].
 */
#ifndef HUB_HUB_KERNEL_AUDIENCE_H
#define HUB_HUB_KERNEL_AUDIENCE_H

#include "base/err.h"
#include "hub/kernel/station.h"
#include "hub/kernel/types.h"
#include "tools/exposure.h"

/* The audience of a session. It may be another one after the next change of a choice. */
hub_audience *hub_session_audience(const hub_session *session);

/* The profile's own; NULL once the profile has ended. */
hub_audience *hub_profile_audience(const hub_profile *profile);

/* All of a profile: its own first, then the others, oldest first. */
hub_audience *hub_audience_next(const hub_audience *audience);

/* Its sessions, newest first. */
hub_session *hub_audience_sessions(const hub_audience *audience);
hub_session *hub_session_next_of_audience(const hub_session *session);

hub_orchestrator *hub_audience_hub(const hub_audience *audience);
hub_profile *hub_audience_profile(const hub_audience *audience);

/* What it sees. Never NULL. */
hub_exposure *hub_audience_exposure(const hub_audience *audience);

/* Whose choice it is: NULL of the profile's own. */
hub_principal *hub_audience_principal(const hub_audience *audience);

/* The same for people: the principal's name; empty of the profile's own. */
const char *hub_audience_who(const hub_audience *audience);

/* Whether a toolset is active for it. */
bool hub_audience_has(const hub_audience *audience, const hub_toolset *toolset);

/* The audience in which the choice of a session is made: that of its principal, or its own. When
 * there is none yet, it is made, sees what the session has seen so far, and all sessions of the
 * principal belong to it from now on.
 * owns:    nothing: it lives as said above
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_audience_of_choice(hub_session *session, hub_audience **ret_audience);

/* The audience of a principal's choice in a profile; NULL: it has made none there. */
hub_audience *hub_audience_find(const hub_principal *principal, const hub_profile *profile);

/* Whether the choice is that of one session alone (`active_set: session`). */
bool hub_audience_is_of_session(const hub_audience *audience);

/* Whether a session's choice is its own, and not that of all of its principal. */
bool hub_session_is_apart(const hub_session *session);

/* A station's state with the audience. */
void *hub_audience_part(const hub_audience *audience, const hub_station *station);

/* ---- for the kernel -------------------------------------------------------------------------- */

/* The profile's own; takes `exposure`. errors:  HUB_ENOMEM: the exposure is the caller's still */
HUB_MUST_CHECK hub_err hub_audience_make_own(hub_profile *profile, hub_exposure *exposure);

/* All of a profile end; their sessions have. */
void hub_audiences_end(hub_profile *profile);

/* A session begins, or has ended. */
void hub_audience_join(hub_session *session);
void hub_audience_leave(hub_session *session);

#endif
