/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view: the immutable snapshot of one exposure, of one kind of thing: tools, resources, resource
 * templates or prompts. Entries are sorted by canonical id ("toolset:name", bytewise); their
 * definitions are ready-serialised in one run of bytes, so a page of a list is a slice of it, and a
 * name is found by one hash look-up. Reference-counted: a reader that holds one is undisturbed by
 * the next. Thread: [loop].
 *
 * Built from sources by hub_view_build; only the ToolRegistry does that.
 */
#ifndef HUB_TOOLS_VIEW_H
#define HUB_TOOLS_VIEW_H

#include "base/buf.h"
#include "base/map.h"
#include "tools/policy.h"

/* One active toolset, as the registry knows it. Pointers are borrowed for as long as it is
 * registered; the catalog is referenced. */
typedef struct hub_source {
    hub_str toolset;
    hub_catalog *lists[HUB_KINDS]; /* NULL: not known yet, contributes nothing */
    void *owner;                   /* what entries of this source lead back to */
    bool native;                   /* its tools win over an upstream's of the same exposed name */
    bool bare;                     /* names as they are, whatever the naming mode (_meta) */
    bool fresh;                    /* being added now: a collision with it fails the build */
    const hub_names *tools_allow;  /* globs over its own tool names; NULL: all */
    const hub_names *tools_deny;
    const hub_names *tags; /* added to each tool, for filters */
    const char *category;
} hub_source;

typedef struct hub_view_entry {
    hub_str exposed;   /* the name, URI or URI template that clients use */
    hub_str canonical; /* "toolset:name" */
    const hub_item *item;
    void *owner;
    size_t order; /* of its source: who comes first has the better claim to a name */
    size_t begin; /* its definition within the view's bytes */
    size_t end;
    bool native;
    bool bare;
    bool fresh;
    UT_hash_handle hh;
} hub_view_entry;

typedef struct hub_view {
    unsigned refs;
    hub_kind kind;
    uint64_t serial;         /* of the registry's views; a later one has a greater one */
    hub_view_entry *entries; /* sorted by canonical id */
    size_t count;
    char *bytes; /* the definitions, comma-separated */
    size_t len;
    char *names;           /* what exposed and canonical point into */
    hub_view_entry *index; /* uthash over exposed */
    hub_catalog **catalogs;
    size_t catalog_count;
    struct hub_template_routes *routes; /* of templates: template_routes.h; NULL before */
} hub_view;

/* What applies to every entry. */
typedef struct hub_view_rules {
    hub_naming naming;
    size_t max_name_bytes;
    const hub_policy_rules *policies[2]; /* the hub's, the profile's; both must expose a tool */
} hub_view_rules;

/* Called for each item that is left out because another one has its name. */
typedef void hub_view_on_left_out(void *ctx, hub_str reason);

/* Build the view of one kind. It depends on the sources alone, not on what was there before, nor on
 * whose catalog came first. Where two tools, or two prompts, would get one name, the first has it:
 * the hub's own come before native ones, these before those of upstreams, and else it is the order
 * of the sources that decides. An upstream's second is left out if the first is the hub's own or
 * native; any other gets a hash suffix. Without prefixes (HUB_NAMING_NONE) there is no such suffix:
 * it is a collision while one of them is being added, and later the second is left out.
 * Resources and templates are exposed under their own URIs. Of two with one URI the second is
 * exposed as route.h says; it is left out when that is over HUB_LIMIT_URI_BYTES. Filters apply to
 * tools alone.
 * `resources` is the view of the resources of the same sources, for the definitions of tools that
 * name one (MCP Apps: `_meta.ui.resourceUri`); else NULL.
 * owns:    *ret_view, one reference
 * errors:  HUB_ECOLLISION (naming both owners), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_view_build(hub_kind kind, const hub_source *sources, size_t count,
                                      const hub_view_rules *rules, const hub_view *resources,
                                      hub_view_on_left_out *on_left_out, void *ctx,
                                      hub_view **ret_view, hub_error *reterr);

hub_view *hub_view_ref(hub_view *view);
void hub_view_unref(hub_view *view); /* NULL is fine */

/* Whether a tool of this source is exposed, as far as filters and policies decide it. */
bool hub_view_exposes(const hub_view_rules *rules, const hub_source *source, const hub_item *tool);

/* The entry with that exposed name, or NULL. */
const hub_view_entry *hub_view_find(const hub_view *view, hub_str exposed);

/* The entry of a toolset's own name, however it is exposed; NULL when there is none. */
const hub_view_entry *hub_view_find_own(const hub_view *view, hub_str toolset, hub_str name);

/* For qsort: who has the better claim to a name comes first. */
int hub_view_by_claim(const hub_view_entry *left, const hub_view_entry *right);

/* Index of the first entry whose canonical id is greater than `canonical`; count when none is. */
size_t hub_view_after(const hub_view *view, hub_str canonical);

/* The definitions of entries [from, from + count), comma-separated. */
hub_str hub_view_slice(const hub_view *view, size_t from, size_t count);

/* Whether two views list the same bytes. */
bool hub_view_equal(const hub_view *a, const hub_view *b);

#endif
