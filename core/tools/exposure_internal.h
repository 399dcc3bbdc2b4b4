/* SPDX-License-Identifier: Apache-2.0 */
/* What base.c, exposure.c, exposure_make.c and exposure_uris.c share: the inside of an exposure. */
#ifndef HUB_TOOLS_EXPOSURE_INTERNAL_H
#define HUB_TOOLS_EXPOSURE_INTERNAL_H

#include "base/limits.h"
#include "tools/base_internal.h"
#include "tools/exposure.h"

/* Which toolsets are active. */
typedef struct exposure_active {
    const hub_source **sources; /* the base's, in the order in which they became so */
    size_t count;
    uint16_t *places; /* of each slot of the base: its place in `sources` and one; 0: not active */
    hub_catalog *own; /* of the hub's own toolset: what is shown of it, by name; NULL: nothing */
    hub_selection *selection;      /* NULL: all tools */
    struct exposure_masks *picked; /* what it leaves of the masks of tools; NULL without one */
} exposure_active;

_Static_assert(HUB_LIMIT_TOOLSETS + 1 < UINT16_MAX, "places of toolsets");

/* What filters and policies let through of a section. */
typedef struct exposure_mask {
    hub_section *section; /* referenced; NULL: not known */
    uint64_t *bits;
} exposure_mask;

/* The masks of tools, of each slot of the base: the same for all copies of an exposure, which have the
 * same rules. Those of a veil have its filter in them, and are the same for the veils of all of these
 * copies that have this filter; behind the tools' are those of each further kind. */
typedef struct exposure_masks {
    unsigned refs;
    size_t count;
    const void *filter;           /* of veils: the context of theirs; else NULL */
    struct exposure_masks *whole; /* of veils: of what is veiled, referenced */
    struct exposure_masks *veils; /* list: those of its veils */
    struct exposure_masks *next_veil;
    exposure_mask of[];
} exposure_masks;

/* What somebody sees for whom some toolsets are others: exposure_variant.c. */
typedef struct exposure_variant {
    const void *ctx;
    uint64_t version;
    uint64_t followed;      /* changes of the exposure … */
    uint64_t followed_base; /* … and of its base, that it has followed */
    hub_exposure *exposure; /* over a base of its own */
    UT_hash_handle hh;
} exposure_variant;

/* Give what an exposure shows serials that no other one has: who was given a list of one has not been
 * given that of another. */
void exposure_number_apart(hub_exposure *exposure);

void exposure_drop_variants(hub_exposure *exposure);

/* Have a selection (NULL is fine), instead of none. errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err exposure_select(exposure_active *active, size_t slot_count,
                                       hub_selection *selection);

struct hub_exposure {
    hub_base *base;
    struct hub_exposure *next; /* of the base's */
    struct hub_exposure *prev;
    hub_exposure_rules rules;
    hub_exposure_on_left_out *on_left_out;
    void *ctx;
    exposure_active active;
    exposure_masks *masks;
    uint64_t changes;           /* of what is active, and of what is shown */
    hub_exposure_filter filter; /* of a veil; `shows` is NULL: everybody sees all of it */
    uint64_t followed;          /* of a veil: the changes that it has followed */
    struct hub_exposure *veils; /* list … */
    struct hub_exposure *next_veil;
    exposure_variant *variants; /* uthash over the context */
    hub_shown *shown[HUB_KINDS];
    hub_shown *prepared[HUB_KINDS]; /* what comes next; NULL outside of a change */
    uint64_t serials[HUB_KINDS][HUB_REVISIONS];
    uint64_t serial;
};

/* Make what is shown when these are active, after that change of the base (NULL: none). Then commit,
 * or abandon, also after a failure.
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err exposure_prepare(hub_exposure *exposure, const exposure_active *active,
                                        const base_change *change);
void exposure_commit(hub_exposure *exposure);
void exposure_abandon(hub_exposure *exposure);

/* Another list of a kind is shown than `before` (may be NULL): give those of its revisions that are of
 * other bytes another serial. */
void exposure_count_news(hub_exposure *exposure, hub_kind kind, hub_shown *before);

/* Whether a change of the base concerns what the exposure shows. */
bool exposure_is_concerned(const hub_exposure *exposure, const base_change *change);

/* Masks of nothing yet; NULL: out of memory. */
exposure_masks *exposure_masks_create(size_t count);
void exposure_masks_unref(exposure_masks *masks); /* NULL is fine */

/* Those of a veil over what has these masks; NULL: out of memory.
 * owns:    the result, one reference */
exposure_masks *exposure_masks_veil(exposure_masks *whole, const void *filter, size_t count);

/* Give a veil, in which nothing is active, those toolsets of an exposure. errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err exposure_begin_veil(hub_exposure *veil, const exposure_active *of,
                                           const hub_source *const *sources, size_t count);

/* Whether a veil lets an item through; what is no veil lets all of them. */
static inline bool exposure_is_seen(const hub_exposure *exposure, const hub_source *source,
                                    hub_kind kind, const hub_item *item)
{
    return exposure->filter.shows == NULL ||
           exposure->filter.shows(exposure->filter.ctx, source, kind, item);
}

/* Forget the masks of sections that the change replaces. */
void exposure_forget_masks(hub_exposure *exposure, const base_change *change);

/* Whether a toolset comes before another where both want a URI: native ones first, else who became
 * active first. Places as in exposure_active. */
static inline bool exposure_is_before(const exposure_active *active, uint32_t a, uint32_t b)
{
    bool native_a = active->sources[a - 1]->native;
    bool native_b = active->sources[b - 1]->native;
    return native_a != native_b ? native_a : a < b;
}

/* What was made for a part that is prepared: a reference, and memory. NULL: nothing was. */
typedef struct exposure_own {
    hub_section *section;
    uint64_t *bits;
} exposure_own;

/* Of several entries that are shown and want one URI, the first has it. Give the toolsets of the
 * others a section in which their URIs have the toolset in them. `parts` and `own` have one for each
 * slot; also after a failure, what is in `own` is to be released.
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err exposure_part_uris(hub_exposure *exposure, const exposure_active *active,
                                          const base_change *change, hub_kind kind,
                                          hub_shown_part *parts, exposure_own *own);

/* The section of a slot that is made like `from`, but for the forms, or for the resources that its
 * tools' user interfaces are named by.
 * owns:    *ret_section, one reference
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err exposure_get_variant(hub_exposure *exposure, uint32_t slot,
                                            const hub_section *from, const uint8_t *forms,
                                            hub_section *resources, hub_section **ret_section);

#endif
