/* SPDX-License-Identifier: Apache-2.0 */
/* What profiles are made of: the meta-tools, and the toolsets that are active in them.
 * Thread: [loop]. */
#ifndef HUB_HUB_ORCHESTRATOR_PROFILES_H
#define HUB_HUB_ORCHESTRATOR_PROFILES_H

#include "hub/kernel/hub.h"
#include "tools/exposure.h"

/* A profile of `settings`, which the hub is to hold, without toolsets.
 * owns:    *ret_profile
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_profile_create(hub_orchestrator *hub, const hub_settings *settings,
                                          const hub_profile_settings *own,
                                          hub_profile **ret_profile, hub_error *reterr);

/* A base for profiles whose names are made as in `own`: `toolsets`, which has room for one more, are
 * all that are configured. What the one that is at work has is used again.
 * owns:    *ret_base, one reference
 * errors:  those of hub_base_create */
HUB_MUST_CHECK hub_err hub_profile_make_base(const hub_orchestrator *hub,
                                             const hub_settings *settings,
                                             const hub_profile_settings *own, hub_source *toolsets,
                                             size_t count, hub_base **ret_base, hub_error *reterr);

/* The base that is at work for such profiles; borrowed, NULL when there is none. */
hub_base *hub_profile_find_base(const hub_orchestrator *hub, const hub_profile_settings *own);

/* One that is made of the hub's toolsets, be there another or not: as when these are others. */
HUB_MUST_CHECK hub_err hub_profile_renew_base(const hub_orchestrator *hub,
                                              const hub_settings *settings,
                                              const hub_profile_settings *own, hub_base **ret_base,
                                              hub_error *reterr);

/* An exposure for the profile as these settings have it: the meta-tools, and `sources`, which has
 * room for one more, the first; of their tools those of the selection (NULL: all).
 * owns:    *ret_exposure
 * errors:  those of hub_exposure_create */
HUB_MUST_CHECK hub_err hub_profile_make_exposure(const hub_orchestrator *hub, hub_base *base,
                                                 const hub_settings *settings,
                                                 const hub_profile_settings *own,
                                                 hub_source *sources, size_t count,
                                                 hub_selection *selection,
                                                 hub_exposure **ret_exposure, hub_error *reterr);

/* There are other toolsets, or modules: give all profiles bases that know them. What is active stays
 * so.
 * errors:  HUB_ENOMEM: some may not know it */
HUB_MUST_CHECK hub_err hub_profiles_renew(hub_orchestrator *hub, hub_error *reterr);

/* Without a list of toolsets, every module that needs no configuration is one: whether this one is,
 * and its settings, which borrow from the module. */
bool hub_module_makes_toolset(const hub_module *module, const hub_settings *settings,
                              hub_toolset_settings *ret_settings);

#endif
