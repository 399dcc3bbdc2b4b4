/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A base: all that could be shown under one naming rule. It has a section for each configured
 * toolset whose catalog is known, active or not, in order of canonical id, and one index from names
 * to entries. Exposures (exposure.h) show some of it; those with the same naming rule share one.
 *
 * Here it is decided which tool, or prompt, has which name. That depends on the naming rule, the
 * configured keys and the known catalogs, never on who asks, on what is active, or in which order
 * things came:
 *
 *   prefix, dot   Two toolsets cannot get one name: a key has neither "__" nor a '.', and does not
 *                 end in '_'.
 *   flat          A name that another configured key could also begin, with a '_' behind it, is
 *                 always given with a suffix, a hash of the canonical id.
 *   none          The plain name belongs to nobody as soon as two catalogs have it: each of their
 *                 tools is named as with `prefix`. So is a tool whose plain name begins with another
 *                 configured key and "__"; and so are those of a toolset whose lists vary.
 *
 * The hub's own tools have their names before all others; with `none`, native ones have theirs
 * before those of upstreams. Where two tools of one toolset would get one name (the mode replaces
 * characters, or both bring the prefix along), both get the suffix. Whatever is left, as when
 * suffixes agree, has no name and is left out.
 *
 * A name that a tool has had goes to nobody else while the hub runs: the base remembers whose it
 * was, the last HUB_LIMIT_NAMES_REMEMBERED of those whose tools are gone: where they become more, those
 * of the toolset that has most of them are forgotten.
 *
 * Resources and templates have their own URIs; of several with one URI it depends on the exposure
 * who has it.
 *
 * A change of one catalog costs its own section and its own names, and the sections of toolsets that
 * lose a name by it. It is made beside what is there, for all exposures of the base, and then put in
 * its place: it happens entirely or not at all.
 *
 * Thread: [loop].
 */
#ifndef HUB_TOOLS_BASE_H
#define HUB_TOOLS_BASE_H

#include "tools/policy.h"
#include "tools/section.h"

typedef struct hub_base hub_base;

/* One toolset. Pointers are borrowed for as long as the base, or the exposure, has it; lists are
 * referenced. */
typedef struct hub_source {
    hub_str toolset;
    hub_catalog *lists[HUB_KINDS]; /* NULL: not known yet, contributes nothing */
    void *owner;                   /* what entries of this source lead back to */
    bool native;                   /* see above */
    bool bare;                     /* the hub's own: names as they are, no filters (_meta) */
    bool varies;                   /* its lists depend on who asks: no name may depend on them */
    const hub_names *tools_allow;  /* globs over its own tool names; NULL: all */
    const hub_names *tools_deny;
    bool trusts_tags;      /* tags and category of its own definitions count for filters */
    bool has_overrides;    /* which may say tags and category of single tools */
    const hub_names *tags; /* added to each tool, for filters */
    const char *category;
} hub_source;

/* A base of all configured toolsets, whose lists may be known or not. `previous` (may be NULL) is the
 * base that this one is to replace: under the same rule it lends its sections, and what it remembers
 * of names.
 * owns:    *ret_base, one reference
 * errors:  HUB_EEXIST (a toolset twice), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_base_create(const hub_naming_rule *rule, const hub_source *toolsets,
                                       size_t count, const hub_base *previous, hub_base **ret_base,
                                       hub_error *reterr);

hub_base *hub_base_ref(hub_base *base);
void hub_base_unref(hub_base *base); /* NULL is fine */

bool hub_base_has(const hub_base *base, hub_str toolset);
bool hub_base_has_rule(const hub_base *base, const hub_naming_rule *rule);

/* Its toolsets, in order of canonical id: how many, and of each what it is and its section of a kind
 * (NULL: none is known). Borrowed until the next change. */
size_t hub_base_count(const hub_base *base);
const hub_source *hub_base_source_at(const hub_base *base, size_t at);
hub_section *hub_base_section_at(const hub_base *base, size_t at, hub_kind kind);

/* The entry that has a name, whether it is shown to anybody or not; NULL: nobody has it. Not for
 * resources. Borrowed until the next change. */
const hub_entry *hub_base_find(const hub_base *base, hub_kind kind, hub_str exposed);

/* Give a toolset another list of one kind, or none (NULL), in the base and in all its exposures. The
 * same bytes again are no change.
 * errors:  HUB_ENOTFOUND (it is not configured), HUB_ENOMEM; all stays as it was */
HUB_MUST_CHECK hub_err hub_base_update(hub_base *base, hub_str toolset, hub_kind kind,
                                       hub_catalog *list, hub_error *reterr);

/* Called for each name that is nobody's because several tools, or prompts, want it: their canonical
 * ids, with ", " between. */
typedef void hub_base_on_contested(void *ctx, hub_kind kind, hub_str name, hub_str wanted_by);

/* Tell which names are contested among catalogs that are known now. False: out of memory. */
bool hub_base_list_contested(const hub_base *base, hub_base_on_contested *on_contested, void *ctx);

/* What it has cost so far to make sections of this base. */
const hub_section_counts *hub_base_counts(const hub_base *base);

/* How many names are known or remembered. */
size_t hub_base_name_count(const hub_base *base, hub_kind kind);

/* How many bytes the pages of its lists take that are kept (shown_kept.h). */
size_t hub_base_kept_bytes(const hub_base *base);

#endif
