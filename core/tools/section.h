/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A section: what one toolset's catalog of one kind looks like outside under one naming rule.
 * Entries are sorted by canonical id ("toolset:name", bytewise); their definitions are
 * ready-serialised in one run of bytes. Immutable and reference-counted: it is made once, and every
 * exposure that shows some of it points to the same one. Which name each entry has is decided by the
 * base (base.h), not here.
 *
 * Thread: [loop].
 */
#ifndef HUB_TOOLS_SECTION_H
#define HUB_TOOLS_SECTION_H

#include "tools/definition.h"
#include "tools/naming.h"

/* A thing that clients can be shown. */
typedef struct hub_entry {
    hub_str exposed;   /* the name, URI or URI template that clients use; empty: it has none */
    hub_str canonical; /* "toolset:name" */
    const hub_item *item;
    void *owner;  /* what it leads back to */
    size_t begin; /* its definition within the section's bytes, behind a comma */
    size_t end;
} hub_entry;

/* Which name an entry has. */
typedef enum hub_form {
    HUB_FORM_ABSENT,   /* the toolset's own settings leave it out */
    HUB_FORM_NOBODY,   /* none: every name that it could have is, or was, another's */
    HUB_FORM_PLAIN,    /* as the naming mode has it; of resources and templates, its own URI */
    HUB_FORM_PREFIXED, /* of naming mode `none`: as `prefix` has it */
    HUB_FORM_SUFFIXED, /* with a hash of its canonical id */
    HUB_FORM_MAPPED,   /* of resources and templates: with the toolset in it (mapped_uri.h) */
} hub_form;

/* Of a tool that some revisions list without its outputSchema: where that member is, with a comma,
 * within the section's bytes (definition.h). */
typedef struct hub_section_output {
    size_t entry;
    size_t begin;
    size_t end;
} hub_section_output;

/* In which revisions an entry may be listed, as in hub_item. */
typedef struct hub_section_validity {
    uint8_t valid;
    uint8_t valid_without_output;
} hub_section_validity;

typedef struct hub_section hub_section;

/* The sections that live of one toolset and kind. They are not kept by it. */
typedef struct hub_section_list {
    hub_section *first;
} hub_section_list;

struct hub_section {
    unsigned refs;
    hub_section *next; /* of a list … */
    hub_section **at;  /* … and what points here; NULL: it is in none */
    hub_kind kind;
    const void *owner;
    hub_catalog *catalog;
    hub_section *resources; /* that its tools' user interfaces were named by; or NULL */
    hub_entry *entries;
    size_t count;
    size_t named_count;  /* entries that have a name */
    size_t mapped_count; /* … of them, in the form HUB_FORM_MAPPED */
    uint8_t *forms;      /* hub_form of each entry */
    uint64_t *named;     /* a bit for each entry that has a name */
    bool has_app_tools;  /* some are for apps, and no model sees them (HUB_TOOL_FOR_APPS) */
    uint8_t valid;       /* revisions in which all that have a name may be listed as they are */
    hub_section_validity *validity; /* of each entry; NULL: all are valid in all revisions */
    hub_section_output *outputs;    /* in order of entries … */
    size_t output_count;            /* … mostly none */
    char *bytes;                    /* the definitions, a comma in front of each */
    size_t len;
    char *names; /* what exposed and canonical point into */
};

/* What a section is made from. Nothing is kept but the catalog and `resources`, by reference. */
typedef struct hub_section_plan {
    hub_naming_rule rule;
    hub_kind kind;
    hub_str toolset;
    void *owner;
    bool bare; /* names as they are, whatever the naming mode (_meta) */
    hub_catalog *catalog;
    const hub_item *const *order; /* its items, sorted by name */
    const uint8_t *forms;         /* hub_form of each, in that order */
    hub_section *resources;       /* of the same toolset, for tools that name one; or NULL */
} hub_section_plan;

/* What it has cost to make sections. */
typedef struct hub_section_counts {
    uint64_t built;
    uint64_t definitions;
    uint64_t bytes;
} hub_section_counts;

enum { HUB_MASK_WORD_BITS = 64 };

/* How many words a mask of so many entries has, and one bit of it. */
static inline size_t hub_mask_words(size_t count)
{
    return (count + HUB_MASK_WORD_BITS - 1) / HUB_MASK_WORD_BITS;
}

static inline bool hub_mask_has(const uint64_t *bits, size_t at)
{
    return (bits[at / HUB_MASK_WORD_BITS] >> (at % HUB_MASK_WORD_BITS) & 1) != 0;
}

static inline void hub_mask_set(uint64_t *bits, size_t at)
{
    bits[at / HUB_MASK_WORD_BITS] |= UINT64_C(1) << (at % HUB_MASK_WORD_BITS);
}

static inline void hub_mask_clear(uint64_t *bits, size_t at)
{
    bits[at / HUB_MASK_WORD_BITS] &= ~(UINT64_C(1) << (at % HUB_MASK_WORD_BITS));
}

/* The items of a catalog, sorted by name; free it. NULL: out of memory. */
const hub_item **hub_section_sort(const hub_catalog *catalog);

/* Append the name that an item has in a form. */
void hub_section_add_name(const hub_section_plan *plan, const hub_item *item, hub_form form,
                          hub_buf *out);

/* The section of the list that this plan would make, `current` (may be NULL) before all; or NULL.
 * Borrowed. */
hub_section *hub_section_find_same(const hub_section_list *list, hub_section *current,
                                   const hub_section_plan *plan);

/* Make a section and put it into the list.
 * owns:    *ret_section, one reference
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_section_create(hub_section_list *list, const hub_section_plan *plan,
                                          hub_section_counts *counts, hub_section **ret_section);

/* The list is no more; its sections may live on. */
void hub_section_list_fini(hub_section_list *list);

hub_section *hub_section_ref(hub_section *section);
void hub_section_unref(hub_section *section); /* NULL is fine */

/* The index of the entry that the toolset itself calls so; section->count when there is none. */
size_t hub_section_find_own(const hub_section *section, hub_str name);

/* The first of the outputs that is of this entry or of one behind it; NULL when none is. */
const hub_section_output *hub_section_output_from(const hub_section *section, size_t entry);

/* The index of the first entry whose canonical id is greater. */
size_t hub_section_after(const hub_section *section, hub_str canonical);

/* The definition of an entry that has a name, with all its members. */
static inline hub_str hub_section_definition(const hub_section *section, const hub_entry *entry)
{
    return hub_str_between(section->bytes + entry->begin, section->bytes + entry->end);
}

#endif
