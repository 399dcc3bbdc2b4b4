/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `flat` (tools/override.h) saves of the alternatives that it leaves out at the top of a schema: the
 * arguments that only they name, as further properties. One that several name with different schemas may
 * be any of these. What an alternative only refers to ($ref) is not looked at, nor are names with escapes.
 */
#ifndef HUB_TOOLS_OVERRIDE_FLAT_H
#define HUB_TOOLS_OVERRIDE_FLAT_H

#include "base/limits.h"
#include "tools/override.h"
#include "wire/json_edit.h"

typedef struct hub_override_flat {
    hub_json_change changes[HUB_LIMIT_FLAT_ARGUMENTS]; /* of `properties` */
    size_t count;
    hub_buf texts;
} hub_override_flat;

/* Look for them in an input schema. What the override takes out is not among them. The schema has to last.
 * To be ended in any case. */
void hub_override_flat_init(hub_override_flat *flat, const hub_override *override, hub_str schema);
void hub_override_flat_fini(hub_override_flat *flat);

#endif
