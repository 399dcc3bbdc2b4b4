/* SPDX-License-Identifier: Apache-2.0 */
/* What profiles are made of: the meta-tools, and the toolsets that are active in them.
 * Thread: [loop]. */
#ifndef HUB_HUB_ORCHESTRATOR_PROFILES_H
#define HUB_HUB_ORCHESTRATOR_PROFILES_H

#include "hub/kernel/hub.h"
#include "tools/registry.h"

/* A profile of `settings`, which the hub is to hold, without toolsets.
 * owns:    *ret_profile
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_profile_create(hub_orchestrator *hub, const hub_settings *settings,
                                          const hub_profile_settings *own,
                                          hub_profile **ret_profile, hub_error *reterr);

/* A registry for the profile as these settings have it: the meta-tools, and `sources`, which has
 * room for one more, the first.
 * owns:    *ret_registry
 * errors:  those of hub_registry_create_with */
HUB_MUST_CHECK hub_err hub_profile_make_registry(const hub_orchestrator *hub,
                                                 const hub_settings *settings,
                                                 const hub_profile_settings *own,
                                                 hub_source *sources, size_t count,
                                                 hub_registry **ret_registry, hub_error *reterr);

/* Without a list of toolsets, every module that needs no configuration is one: whether this one is,
 * and its settings, which borrow from the module. */
bool hub_module_makes_toolset(const hub_module *module, const hub_settings *settings,
                              hub_toolset_settings *ret_settings);

#endif
