/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URI templates, as far as the hub needs them: to tell which toolset a URI belongs to that no list
 * of resources has. Values of variables are not taken out, and nothing is expanded: the toolset
 * does that. Thread: any, but one at a time for one set.
 *
 * The templates of one toolset are compiled together into a tree of what they have in common, and a
 * URI is held against the whole tree at once. The places that a match has come to are a set of
 * bits, so no part of a URI is looked at twice for one node. What one look may cost is bounded all
 * the same (HUB_LIMIT_TEMPLATE_STEPS), for the tree may be hostile, too.
 * spec: RFC 6570; MCP 2026-07-28 server/resources, Resource Templates
 */
#ifndef HUB_TOOLS_URI_TEMPLATE_H
#define HUB_TOOLS_URI_TEMPLATE_H

#include "base/err.h"
#include "base/limits.h"

/* Whether each '{' has its '}' and something between, there are no others, and there is no control
 * character (RFC 6570, section 2.1). */
bool hub_uri_template_is_valid(hub_str pattern);

/* A URI made ready to be held against any number of templates. Large: for the stack, briefly. */
enum { HUB_URI_WORDS = (HUB_LIMIT_URI_BYTES + 64) / 64, HUB_URI_CLASSES = 4 };

typedef struct hub_uri {
    hub_str text;
    size_t words;       /* of each set of places: one bit for each, and one for the end */
    uint16_t slot[256]; /* by character: its row in `at`, or 0: the URI has none */
    uint64_t classes[HUB_URI_CLASSES][HUB_URI_WORDS]; /* where a character may be of a variable */
    uint64_t at[257][HUB_URI_WORDS];                  /* where that character is; row 0 is unused */
} hub_uri;

/* False for a URI of more than HUB_LIMIT_URI_BYTES, to which nothing belongs. */
bool hub_uri_init(hub_uri *uri, hub_str text);

/* What a look has found. */
typedef struct hub_uri_match {
    size_t place;    /* of the template among those that the set was made of */
    size_t literals; /* how many characters of the URI are the template's own text */
    size_t steps;    /* what it took */
    bool is_found;
    bool is_cut; /* HUB_LIMIT_TEMPLATE_STEPS was reached: nothing is found, but might be */
} hub_uri_match;

typedef struct hub_uri_templates hub_uri_templates;

/* Compile valid templates; their texts are not needed any more afterwards.
 * owns:    *ret_set, destroy it with hub_uri_templates_destroy
 * errors:  HUB_EINVAL (one is not valid), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_uri_templates_create(const hub_str *texts, size_t count,
                                                hub_uri_templates **ret_set);
void hub_uri_templates_destroy(hub_uri_templates *set); /* NULL is fine */

/* Find the template that a URI can be an expansion of: of several the one whose own text matches
 * most of it, and of those the first. {var} stands for at least one character other than '/', '?'
 * and '#', {+var} for any; {#var}, {.var}, {/var}, {;var}, {?var} and {&var} for nothing, or for
 * their sign and what may follow it.
 * `is_lax`: {var} may be of several segments, too. RFC 6570 would have their slashes escaped;
 * there are servers that do without (file:///{path}). */
hub_uri_match hub_uri_templates_find(const hub_uri_templates *set, const hub_uri *uri, bool is_lax);

/* How many steps one look at a URI of that length may take. */
size_t hub_uri_steps(size_t len);

#endif
