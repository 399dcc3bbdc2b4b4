/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exposure: what somebody sees of a base (base.h). It is the set of toolsets that are active for
 * them, in the order in which they became active, and for each kind of things what is shown of the
 * sections: the active ones, less what filters and policies hide. There is no other way to a
 * callable tool: meta-tools and native tools are toolsets like any other. Enabling and disabling are
 * operations of an exposure; each makes what is shown next beside what is shown now and then swaps,
 * so it happens entirely or not at all.
 *
 * A selection (selection.h) narrows what is shown of tools to those in it; resources and prompts are
 * those of the active toolsets all the same. Which tools a toolset has that is not active, and would
 * show, does not depend on it.
 *
 * Resources and templates are shown under their own URIs. Of several with one URI, native toolsets
 * come before others, and else who became active first; the second is shown with its toolset in the
 * URI (mapped_uri.h), or left out when that is over HUB_LIMIT_URI_BYTES or taken. Filters apply to
 * tools alone.
 *
 * A change of a catalog is made for the exposures that show the toolset; for the others it is one
 * look at their active toolsets.
 *
 * Thread: [loop].
 */
#ifndef HUB_TOOLS_EXPOSURE_H
#define HUB_TOOLS_EXPOSURE_H

#include "tools/base.h"
#include "tools/selection.h"
#include "tools/shown.h"

typedef struct hub_exposure hub_exposure;

/* Called for each item of an active toolset that is left out because others have its names. */
typedef void hub_exposure_on_left_out(void *ctx, hub_str reason);

/* What applies to all tools but the hub's own: the hub's policy and the profile's, each may be NULL;
 * both must expose a tool. */
typedef struct hub_exposure_rules {
    const hub_policy_rules *policies[2];
    hub_selection *selection; /* to begin with; NULL: all tools that they expose are shown */
} hub_exposure_rules;

/* An exposure with these toolsets active, which the base must have, and whose lists are those of the
 * base. `rules` is copied; what it and the sources point to is borrowed for its life, and the base
 * kept.
 * owns:    *ret_exposure, destroy it with hub_exposure_destroy
 * errors:  HUB_ENOTFOUND (not in the base), HUB_EEXIST (twice), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_exposure_create(hub_base *base, const hub_exposure_rules *rules,
                                           const hub_source *sources, size_t count,
                                           hub_exposure_on_left_out *on_left_out, void *ctx,
                                           hub_exposure **ret_exposure, hub_error *reterr);
/* One that shows the same, and goes its own way from now on. What is shown is shared.
 * owns:    *ret_copy
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_exposure_copy(const hub_exposure *exposure, hub_exposure **ret_copy);

void hub_exposure_destroy(hub_exposure *exposure); /* NULL is fine */

/* Make `next` what the exposure is from now on: base, rules, toolsets. Takes `next`. A list of the
 * same bytes as before counts as the same one. */
void hub_exposure_replace(hub_exposure *exposure, hub_exposure *next);

/* What somebody may see. `ctx` tells one from another; all of it lives until the veils are dropped. */
typedef struct hub_exposure_filter {
    bool (*shows)(const void *ctx, const hub_source *source, hub_kind kind, const hub_item *item);
    bool (*may_show)(const void *ctx, const hub_source *source); /* of one that is not known yet */
    const void *ctx;
} hub_exposure_filter;

/* What of an exposure somebody may see: an exposure of its own, that follows the other one whenever
 * it is asked for. A toolset of which nothing may be seen is not in it. Those with one context are
 * one; borrowed, until the veils are dropped or the exposure ends.
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_exposure_veil(hub_exposure *exposure, const hub_exposure_filter *filter,
                                         hub_exposure **ret_veil);

/* Other people may see other things from now on, also of variants. */
void hub_exposure_drop_veils(hub_exposure *exposure);

/* Toolsets that are others for somebody, in place of those with the same keys, with the lists that they
 * have for them. `ctx` tells one from another; `version` is greater when it has other sources. */
typedef struct hub_exposure_others {
    const hub_source *sources;
    size_t count;
    const void *ctx;
    uint64_t version;
} hub_exposure_others;

/* What is seen of an exposure by somebody for whom some toolsets are others: an exposure of its own, over a
 * base of its own that has all other sections of the first one. It follows the first one whenever it is
 * asked for. Borrowed until then, until it is dropped, or the exposure is replaced or ends.
 *
 * The first looks for it as it was made last; NULL: it has to be made again.
 * errors:  HUB_ENOMEM */
hub_exposure *hub_exposure_find_variant(const hub_exposure *exposure, const void *ctx,
                                        uint64_t version);
HUB_MUST_CHECK hub_err hub_exposure_get_variant(hub_exposure *exposure,
                                                const hub_exposure_others *others,
                                                hub_exposure **ret_variant);
void hub_exposure_drop_variant(hub_exposure *exposure, const void *ctx);

/* Make toolsets active: all of them or none. Where the lists of a source are not those of the base,
 * the base gets them.
 * errors:  HUB_EEXIST (one is active), HUB_ENOTFOUND (not in the base), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_exposure_add(hub_exposure *exposure, const hub_source *sources,
                                        size_t count, hub_error *reterr);

/* Make toolsets inactive, and with them what they offer: all of them or none.
 * errors:  HUB_ENOTFOUND (one is not active), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_exposure_remove(hub_exposure *exposure, const hub_str *toolsets,
                                           size_t count, hub_error *reterr);

/* Make just these toolsets active, and the hub's own if it is, and show of their tools those of the
 * selection, which is referenced; NULL: all. Entirely or not at all.
 * errors:  as hub_exposure_add */
HUB_MUST_CHECK hub_err hub_exposure_choose(hub_exposure *exposure, const hub_source *sources,
                                           size_t count, hub_selection *selection,
                                           hub_error *reterr);

/* The selection that it shows; NULL: all tools are shown. Borrowed until the next change. */
hub_selection *hub_exposure_selection(const hub_exposure *exposure);

hub_base *hub_exposure_base(const hub_exposure *exposure); /* borrowed */

/* Whether filters and policies would expose a tool of this source, active or not. */
bool hub_exposure_exposes(const hub_exposure *exposure, const hub_source *source,
                          const hub_item *tool);

/* The tools of a toolset that are shown or, while it is not active, would be: its section and a bit
 * for each entry. False: no list is known, or out of memory. Borrowed until the next change. */
bool hub_exposure_tools_of(hub_exposure *exposure, hub_str toolset, hub_shown_part *ret_part);

/* How many things of a kind of a toolset are shown or, while it is not active, would be. */
size_t hub_exposure_count(hub_exposure *exposure, hub_str toolset, hub_kind kind);

/* Whether anything may be said of a toolset to who has this exposure: the policies allow it, and
 * some tool of it is exposed, or could be as far as is known, or it has other things, which no
 * filter hides. False also for the hub's own, and where there is no such toolset. */
bool hub_exposure_may_tell_of(hub_exposure *exposure, hub_str toolset);
/* Whether they could expose a tool of this source, whose tools are not known. */
bool hub_exposure_may_expose(const hub_exposure *exposure, const hub_source *source);

/* Whether an active toolset whose lists are not known could show what is called so: its key, or the
 * toolset in the URI, may say that it cannot, and so may filters. An empty URI is any. A name that
 * must be that of one toolset is `*ret_is_named`. */
bool hub_exposure_may_show(const hub_exposure *exposure, const hub_source *source, hub_kind kind,
                           hub_str exposed, bool *ret_is_named);

/* Whether a toolset whose list is known, and which is not active, would show a tool or prompt that is
 * called so, if it were. */
bool hub_exposure_would_show(const hub_exposure *exposure, const hub_source *source, hub_kind kind,
                             hub_str exposed);

/* The active toolsets in the order in which they became so; borrowed until the next change. */
const hub_source *const *hub_exposure_sources(const hub_exposure *exposure, size_t *ret_count);

/* How many of them are not the hub's own. */
size_t hub_exposure_active_count(const hub_exposure *exposure);

/* Those of the hub's own tools that are shown when `_meta` is active; NULL: none. Borrowed. */
hub_catalog *hub_exposure_own_tools(const hub_exposure *exposure);

/* The same toolset as the base has it; NULL: it is not active. */
const hub_source *hub_exposure_source(const hub_exposure *exposure, hub_str toolset);

/* What is shown of a kind, in any revision (hub_shown_in has those of one); borrowed until the next
 * change, reference it to keep it. Never NULL. */
hub_shown *hub_exposure_shown(const hub_exposure *exposure, hub_kind kind);

/* Of the tools that are shown, the hub's own: what is listed where others are only to be found.
 * owns:    *ret_shown, one reference
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_exposure_get_own_shown(const hub_exposure *exposure,
                                                  hub_shown **ret_shown);

/* A number that is another one each time when other bytes are shown of a kind in a revision; and one
 * that is greater each time when any are. */
uint64_t hub_exposure_serial(const hub_exposure *exposure, hub_revision revision, hub_kind kind);
uint64_t hub_exposure_newest_serial(const hub_exposure *exposure);

/* What follows finds what may be listed in a revision; with HUB_REVISION_NONE, in any.
 *
 * The entry that clients call so, or NULL. Entries are borrowed until the next change. */
const hub_entry *hub_exposure_find(const hub_exposure *exposure, hub_revision revision,
                                   hub_kind kind, hub_str exposed);

/* The definition of the tool that clients call so, as they are shown it, but for an outputSchema that
 * is not shown in this revision; empty: there is none. */
hub_str hub_exposure_tool_definition(const hub_exposure *exposure, hub_revision revision,
                                     hub_str exposed);

/* The entry of a toolset's own name, however it is exposed; NULL when there is none. */
const hub_entry *hub_exposure_find_own(const hub_exposure *exposure, hub_revision revision,
                                       hub_kind kind, hub_str toolset, hub_str name);

/* The resource template that a URI belongs to, or NULL. Of several, the one whose own text matches
 * most of it, and of those the one with the best claim; variables of several segments only count
 * when nothing else matches. With `owner`, among that toolset's alone, as it has them.
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_exposure_match(const hub_exposure *exposure, hub_revision revision,
                                          const void *owner, hub_str uri,
                                          const hub_entry **ret_entry);

/* When a name is nobody's because several want it: append what those that are shown are called
 * instead, "a__x, b__x or c__x", and return how many these are. */
size_t hub_exposure_add_rivals(const hub_exposure *exposure, hub_revision revision, hub_kind kind,
                               hub_str name, hub_buf *out);

#endif
