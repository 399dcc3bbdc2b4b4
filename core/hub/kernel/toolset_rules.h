/* SPDX-License-Identifier: Apache-2.0 */
/* What is done with the lists of a toolset when they are read, by its settings. Thread: [loop]. */
#ifndef HUB_HUB_KERNEL_TOOLSET_RULES_H
#define HUB_HUB_KERNEL_TOOLSET_RULES_H

#include "hub/kernel/settings.h"
#include "tools/catalog.h"

/* Borrowed from the settings. `is_native`: its tools are its module's own. */
hub_catalog_rules hub_toolset_catalog_rules(const hub_toolset_settings *settings, bool is_native);

/* Read a list of a toolset as these settings have it; what is left out is logged.
 * owns:    *ret_list, one reference
 * errors:  as hub_catalog_read */
HUB_MUST_CHECK hub_err hub_toolset_read_list(const hub_toolset_settings *settings, bool is_native,
                                             hub_kind kind, hub_str json, hub_catalog **ret_list,
                                             hub_error *reterr);

/* Read a part of one, as hub_catalog_go_on. */
HUB_MUST_CHECK hub_err hub_toolset_read_part(const hub_toolset_settings *settings,
                                             hub_catalog_reading *reading, bool *ret_is_end,
                                             hub_error *reterr);

/* A list, read anew as other settings have it; NULL: it stays as it is.
 * owns:    *ret_list, one reference
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_toolset_reread_list(const hub_toolset_settings *settings,
                                               const hub_catalog *list, hub_catalog **ret_list,
                                               hub_error *reterr);

#endif
