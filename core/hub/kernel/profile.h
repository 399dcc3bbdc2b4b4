/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles: named exposures. One that a reload takes away lives on, empty, until its last session
 * has ended. Thread: [loop].
 */
#ifndef HUB_HUB_KERNEL_PROFILE_H
#define HUB_HUB_KERNEL_PROFILE_H

#include "hub/kernel/settings.h"
#include "hub/kernel/station.h"
#include "hub/kernel/types.h"
#include "tools/exposure.h"

/* A profile of `own`, which the hub's settings hold. Takes `exposure`.
 * owns:    *ret_profile
 * errors:  HUB_ENOMEM: the exposure is the caller's still */
HUB_MUST_CHECK hub_err hub_profile_make(hub_orchestrator *hub, const hub_profile_settings *own,
                                        hub_exposure *exposure, hub_profile **ret_profile);

/* At the end of the hub: its stations let go of it. Sessions must have been closed. Twice is once. */
void hub_profile_end(hub_profile *profile);
void hub_profile_free(hub_profile *profile); /* NULL is fine */

hub_orchestrator *hub_profile_hub(const hub_profile *profile);
const char *hub_profile_name(const hub_profile *profile);
const hub_profile_settings *hub_profile_settings_of(const hub_profile *profile);
bool hub_profile_is_leaving(const hub_profile *profile);

/* Whether the policies of hub and profile let a toolset be active next to so many.
 * errors:  HUB_EDENIED, HUB_ELIMIT (max_active) */
HUB_MUST_CHECK hub_err hub_profile_admits(const hub_profile *profile, hub_str key, size_t active,
                                          hub_error *reterr);

/* What its own audience sees (audience.h); NULL once it has ended. */
hub_exposure *hub_profile_exposure(const hub_profile *profile);

/* A reload: the profile is another one, or (NULL) no more; then it holds `old`, the settings that it
 * was made from. */
void hub_profile_take(hub_profile *profile, const hub_profile_settings *own,
                      const hub_settings *old);

/* Its sessions, newest first. */
hub_session *hub_profile_sessions(const hub_profile *profile);

/* A session has ended, or may have: it may have been the last of a profile that is no more. */
void hub_profile_session_ended(hub_profile *profile);

#endif
