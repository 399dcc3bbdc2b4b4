/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What base.c, base_names.c, base_change.c, exposure.c and exposure_compose.c share: the inside of a
 * base, and a change of it that is under way.
 */
#ifndef HUB_TOOLS_BASE_INTERNAL_H
#define HUB_TOOLS_BASE_INTERNAL_H

#include "base/map.h"
#include "tools/base.h"
#include "tools/shown.h"

struct hub_exposure;

/* An entry that wants a name. */
typedef struct base_claim {
    struct base_name *name;  /* NULL: it wants none */
    struct base_claim *next; /* of the same name … */
    struct base_claim *prev;
    struct base_claim *next_more; /* further ones of one toolset (base_list.more) */
    uint32_t slot;
    uint32_t entry;
    uint8_t form; /* hub_form that gives this name */
} base_claim;

/* A name, or a URI, that somebody wants, or has wanted. */
typedef struct base_name {
    UT_hash_handle hh; /* over text */
    base_claim *claims;
    base_claim *holder; /* who has it; NULL: nobody (of URIs, always: it depends on the exposure) */
    char *first; /* canonical id of who came first among the best: nobody else may have it … */
    size_t first_len;
    bool owns_first;
    bool is_contested; /* … nor that one: another as good has wanted it, too */
    uint8_t rank;      /* of `first` */
    size_t len;
    char text[]; /* the name, and behind it what `first` points to at the beginning */
} base_name;

/* What is known of one kind of things of one toolset. */
typedef struct base_list {
    hub_section *section; /* NULL: its list is not known, or it has none */
    base_claim *claims;   /* the first of each entry */
    base_claim *more;     /* those of entries that lost a name; linked by next_more */
    size_t shared_count;  /* of URIs: entries whose URI others have, too */
    hub_section_list sections;
} base_list;

typedef struct base_slot {
    hub_source source; /* without lists */
    hub_source active; /* the same, as it was when it became active the last time */
    base_list lists[HUB_KINDS];
} base_slot;

struct hub_base {
    unsigned refs;
    hub_naming_rule rule;
    base_slot *slots; /* in order of canonical id */
    size_t slot_count;
    char *key_bytes;    /* what the keys in slots point into */
    char **prefixes;    /* keys as names begin with them, sorted … */
    char *prefix_bytes; /* … and their memory */
    base_name *names[HUB_KINDS];
    size_t gone_count[HUB_KINDS]; /* names that nobody wants any more */
    hub_shown_table shown[HUB_KINDS];
    hub_kept_pages *pages;          /* of lists, of several kinds and bases */
    struct hub_exposure *exposures; /* list */
    uint64_t changes;               /* of catalogs */
    hub_section_counts counts;
};

/* ---- a change (base_change.c) ---------------------------------------------------------------- */

typedef struct base_undo {
    enum {
        UNDO_CREATE,  /* of a name */
        UNDO_LINK,    /* of a claim */
        UNDO_UNLINK,  /* … */
        UNDO_HOLDER,  /* of a name: it was `claim` */
        UNDO_CONTEST, /* it was not contested */
        UNDO_FIRST,   /* first, its rank and whether it was contested */
    } what;
    base_name *name;
    base_claim *claim;
    char *first;
    size_t first_len;
    bool owned_first;
    bool was_contested;
    uint8_t rank;
} base_undo;

/* A toolset whose section becomes another one. */
typedef struct base_touched {
    uint32_t slot;
    bool is_new; /* it is another list; else names of it go to others */
    hub_section *previous;
    hub_catalog *catalog; /* NULL: none any more */
    const hub_item **order;
    uint8_t *forms;
    base_claim *claims;   /* of a list that is new; NULL: those that it has stay */
    base_claim *more;     /* to be added to the slot's */
    hub_section *section; /* the next one */
} base_touched;

/* An entry that has no name yet, and the first form that it may have. */
typedef struct base_waiting {
    uint32_t slot;
    uint32_t entry;
    hub_form form;
} base_waiting;

typedef struct base_change {
    hub_base *base;
    hub_kind kind;
    base_touched *touched;
    size_t touched_count;
    base_waiting *waiting;
    size_t waiting_count;
    size_t waiting_cap;
    base_undo *undo;
    size_t undo_count;
    size_t undo_cap;
    hub_buf text; /* scratch */
} base_change;

/* Begin a change of one kind; say which slots get which list (NULL: none), each once; have names
 * claimed and sections made, beside what is there. `previous` (may be NULL), a section of an earlier
 * base, may serve again. Then commit, or undo, also after a failure.
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err base_change_begin(base_change *change, hub_base *base, hub_kind kind);
HUB_MUST_CHECK hub_err base_change_set(base_change *change, uint32_t slot, hub_catalog *list,
                                       hub_section *previous);
HUB_MUST_CHECK hub_err base_change_make(base_change *change);
void base_change_commit(base_change *change);
void base_change_undo(base_change *change);

/* The section that a slot will have; `change` may be NULL, or of another kind. */
hub_section *base_next_section(const hub_base *base, const base_change *change, uint32_t slot,
                               hub_kind kind);

/* The claims of its entries, likewise. */
const base_claim *base_next_claims(const hub_base *base, const base_change *change, uint32_t slot,
                                   hub_kind kind);

/* ---- names (base_names.c) -------------------------------------------------------------------- */

static inline bool base_is_uri(hub_kind kind)
{
    return kind == HUB_KIND_RESOURCE || kind == HUB_KIND_TEMPLATE;
}

base_name *base_find_name(const hub_base *base, hub_kind kind, hub_str text);

/* The name, which is made when it is not there: then `*ret_is_new`, and `canonical` (its toolset and
 * its own name) is the first to want it. NULL: out of memory. */
base_name *base_get_name(hub_base *base, hub_kind kind, hub_str text, hub_str toolset, hub_str own,
                         bool *ret_is_new);
void base_free_name(hub_base *base, hub_kind kind, base_name *name);

/* Whether `first` of the name is that tool. */
bool base_is_first(const base_name *name, hub_str toolset, hub_str own);

void base_link(hub_base *base, hub_kind kind, base_name *name, base_claim *claim);
void base_unlink(hub_base *base, hub_kind kind, base_claim *claim);

/* Forget the oldest names that nobody wants any more, when they are too many. */
void base_sweep_names(hub_base *base, hub_kind kind);

/* Copy what a base remembers of the names of toolsets that this one has, too. When one of that base's
 * toolsets is no more, contested names are free again for who had them first. False: out of memory.
 */
bool base_copy_names(hub_base *base, const hub_base *from);

/* The form that the names of an item begin with, whoever else is there. */
hub_form base_first_form(const hub_base *base, const base_slot *slot, hub_kind kind,
                         const hub_item *item, hub_buf *scratch);

/* The next one, when that cannot be had. */
hub_form base_next_form(const hub_base *base, const base_slot *slot, hub_form form);

/* Who has a name before others: the hub's own tools; with `none`, native ones; all others. */
uint8_t base_rank(const hub_base *base, const base_slot *slot);

/* ---- slots (base.c) -------------------------------------------------------------------------- */

/* The slot of a toolset; slot_count when there is none. */
uint32_t base_find_slot(const hub_base *base, hub_str toolset);

/* A plan for what is the same for all sections of a slot and kind. */
hub_section_plan base_plan(const hub_base *base, uint32_t slot, hub_kind kind);

#endif
