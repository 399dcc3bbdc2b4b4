/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user decides about exposure, as plain values: naming, filters, policy. They are read from
 * a manifest or the command line (config/), and applied in this room. Strings are NUL-terminated
 * and belong to whoever made the value. Any thread, once made.
 */
#ifndef HUB_TOOLS_RULES_H
#define HUB_TOOLS_RULES_H

#include "base/buf.h"
#include "base/err.h"

/* A list of names. `set` tells an absent list (all) from an empty one (none). */
typedef struct hub_names {
    const char *const *items;
    size_t count;
    bool set;
} hub_names;

/* Whether one of the names equals `text`. */
bool hub_names_have(const hub_names *names, hub_str text);

/* Whether one of the names, as a glob, matches `text`. */
bool hub_names_match(const hub_names *names, hub_str text);

/* Append a member: the key, as hub_json_add_key does, and all names, as a JSON array. */
void hub_names_add(const hub_names *names, const char *key, hub_buf *out);

/* What becomes of a result that is larger than it may be. */
typedef enum hub_over {
    HUB_OVER_SPILL,    /* it is kept, and its beginning passed on with where the rest is */
    HUB_OVER_TRUNCATE, /* its beginning is passed on */
    HUB_OVER_ERROR,    /* the call fails */
} hub_over;

typedef struct hub_result_rule {
    uint32_t max_bytes; /* 0: any number */
    hub_over over;
} hub_result_rule;

/* How the exposed name of toolset `git`, tool `search-repos` is made. */
typedef enum hub_naming {
    HUB_NAMING_PREFIX, /* git__search-repos */
    HUB_NAMING_FLAT,   /* git_search_repos: all but [A-Za-z0-9_] becomes '_' */
    HUB_NAMING_DOT,    /* git.search-repos */
    HUB_NAMING_NONE,   /* search-repos */
} hub_naming;

/* One step of a filter chain. An empty list matches nothing, but for TAGS_ALL, TAGS_NONE and
 * DENY_TOOLS, where it matches everything (REQUIREMENTS S2.34). */
typedef enum hub_filter_kind {
    HUB_FILTER_NAMESPACE,   /* the toolset is one of these */
    HUB_FILTER_TAGS_ANY,    /* the tool has one of these tags */
    HUB_FILTER_TAGS_ALL,    /* … all of these */
    HUB_FILTER_TAGS_NONE,   /* … none of these */
    HUB_FILTER_CATEGORY,    /* its category is one of these */
    HUB_FILTER_ALLOW_TOOLS, /* one of these globs matches its canonical id "toolset:tool" */
    HUB_FILTER_DENY_TOOLS,  /* none does */
} hub_filter_kind;

typedef struct hub_filter_rule {
    hub_filter_kind kind;
    hub_names values;
} hub_filter_rule;

typedef struct hub_policy_rules {
    hub_names allow;     /* toolset keys; absent: all; empty: none */
    hub_names deny;      /* toolset keys; wins over allow */
    uint32_t max_active; /* toolsets active at one time, not counting _meta; 0: no limit */
    const hub_filter_rule *filters; /* AND-composed, in this order */
    size_t filter_count;
    bool read_only;        /* only tools whose annotations say readOnlyHint: true */
    bool deny_destructive; /* no tool that may destroy: neither read-only nor destructiveHint: false
                            */
} hub_policy_rules;

#endif
