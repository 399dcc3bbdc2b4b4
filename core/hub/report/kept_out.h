/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which line of the manifest keeps a toolset from being active: for whoever runs the hub. Clients are
 * told less, since a policy may want them not to know. Thread: [loop].
 */
#ifndef HUB_HUB_REPORT_KEPT_OUT_H
#define HUB_HUB_REPORT_KEPT_OUT_H

#include "base/buf.h"
#include "hub/kernel/types.h"

/* Whether a policy of the hub or of the profile does, of a toolset that is not active there: "denied by
 * policy.deny", "not in profiles.dev.policy.allow", "policy.max_active (2) is reached" is appended.
 * returns: HUB_OK (none does, nothing is appended), HUB_EDENIED, HUB_ELIMIT (max_active) */
hub_err hub_kept_out(const hub_profile *profile, hub_str key, hub_buf *why);

#endif
