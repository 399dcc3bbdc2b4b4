/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose resource templates a URI belongs to: those that are shown, compiled for each toolset by
 * itself, so that what the templates of one cost is never taken from another's. Made when somebody
 * asks for the first time, and freed with what is shown (shown.h). Thread: [loop].
 */
#ifndef HUB_TOOLS_TEMPLATE_ROUTES_H
#define HUB_TOOLS_TEMPLATE_ROUTES_H

#include "tools/shown.h"

typedef struct hub_template_routes hub_template_routes;

/* Whether the toolset of one part comes before that of another where both want a URI. */
typedef bool hub_template_is_before(const void *ctx, size_t part, size_t other);

/* The entry that a URI belongs to, or NULL. Of several, the one whose own text matches most of it,
 * and of those the one whose toolset comes first; variables of several segments only count when
 * nothing else matches. With `owner`, among that toolset's alone, as it has them.
 * One look takes at most twice hub_uri_steps for each toolset whose templates begin as the URI
 * does; where they would take more, the URI belongs to none of them, and the log says so once.
 * `steps` (may be NULL) is added what it took.
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_template_routes_find(hub_shown *templates, const void *owner,
                                                hub_str uri, hub_template_is_before *is_before,
                                                const void *ctx, size_t *steps,
                                                const hub_entry **ret_entry);

void hub_template_routes_destroy(hub_template_routes *routes); /* NULL is fine */

#endif
