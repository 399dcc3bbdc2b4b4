/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ToolRegistry: the toolsets that are active in one profile, and the views made of them, one of
 * each kind of thing. There is no other way to a callable tool: meta-tools and native tools are
 * sources like any other. Every change builds the next views beside the current ones and then
 * swaps, so it happens entirely or not at all. Thread: [loop].
 */
#ifndef HUB_TOOLS_REGISTRY_H
#define HUB_TOOLS_REGISTRY_H

#include "tools/view.h"

typedef struct hub_registry hub_registry;

/* A registry without toolsets. `rules` is copied; what it points to is borrowed for its life.
 * `on_left_out` hears of tools that are left out for their name.
 * owns:    *ret_registry, destroy it with hub_registry_destroy
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_registry_create(const hub_view_rules *rules,
                                           hub_view_on_left_out *on_left_out, void *ctx,
                                           hub_registry **ret_registry);
void hub_registry_destroy(hub_registry *registry); /* NULL is fine */

/* The same with toolsets from the start. A collision of names fails it when one of the two is
 * `fresh`, as in hub_view_build.
 * errors:  HUB_ECOLLISION (naming both owners), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_registry_create_with(const hub_view_rules *rules,
                                                const hub_source *sources, size_t count,
                                                hub_view_on_left_out *on_left_out, void *ctx,
                                                hub_registry **ret_registry, hub_error *reterr);

/* Make `next` what the registry is from now on: rules, toolsets, views. Takes `next`. A view that
 * lists the same bytes as before counts as the same one. */
void hub_registry_replace(hub_registry *registry, hub_registry *next);

/* Register toolsets: all of them or none. The sources are copied, their catalogs referenced.
 * errors:  HUB_EEXIST (one is registered), HUB_ECOLLISION (naming both owners), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_registry_add(hub_registry *registry, const hub_source *sources,
                                        size_t count, hub_error *reterr);

/* Remove toolsets and with them what they offer: all of them or none.
 * errors:  HUB_ENOTFOUND (one is not registered), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_registry_remove(hub_registry *registry, const hub_str *toolsets,
                                           size_t count, hub_error *reterr);

/* Give a registered toolset another list of one kind. Items whose name is taken are left out.
 * errors:  HUB_ENOTFOUND, HUB_ENOMEM; the old list stays */
HUB_MUST_CHECK hub_err hub_registry_update(hub_registry *registry, hub_str toolset, hub_kind kind,
                                           hub_catalog *catalog, hub_error *reterr);

/* Whether filters and policies would expose a tool of this source, registered or not. */
bool hub_registry_exposes(const hub_registry *registry, const hub_source *source,
                          const hub_item *tool);

/* The current view of tools, or of any kind; borrowed until the next change, reference it to keep
 * it. Never NULL. A change that does not concern a kind leaves its view. */
hub_view *hub_registry_view(const hub_registry *registry);
hub_view *hub_registry_view_of(const hub_registry *registry, hub_kind kind);

/* The registered toolsets in the order of their registration; borrowed until the next change. */
const hub_source *hub_registry_sources(const hub_registry *registry, size_t *ret_count);
const hub_source *hub_registry_find(const hub_registry *registry, hub_str toolset);

#endif
