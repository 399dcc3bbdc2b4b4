/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overrides: what an operator changes of a tool on its way to clients, and of a call on its way to
 * the tool. The rules of a toolset are one JSON object, as config/ writes it of a manifest:
 *
 *     { "GLOB over the toolset's own names": {
 *         "name", "title", "description", "category": string,   "tags": [string],
 *         "hide", "read_only", "destructive", "validate", "flat": bool,
 *         "results": { "max_bytes": number, "over": "spill" | "truncate" | "error" },
 *         "arguments": { "NAME": { "fixed": any, "default": any, "description": string,
 *                                  "hide": bool } } } }
 *
 * Of several rules that fit a tool, the one that names it exactly comes first, then the others in
 * their order; the first that says something of a member, or of an argument, decides it. What a rule
 * for many tools fixes, or gives as a default, is for those whose schema has the argument: others may
 * take no argument that they do not know. No client may send them one that is fixed all the same.
 *
 * A definition is changed where it lies: bytes that no override is about are the toolset's own.
 * Immutable once made; any thread.
 */
#ifndef HUB_TOOLS_OVERRIDE_H
#define HUB_TOOLS_OVERRIDE_H

#include "base/arena.h"
#include "tools/rules.h"
#include "wire/json.h"

/* What becomes of one argument. Values are raw; empty: nothing is said. */
typedef struct hub_override_argument {
    hub_str key; /* decoded */
    hub_str fixed;
    hub_str fallback;
    hub_str description;
    bool is_hidden;
} hub_override_argument;

/* What all rules together say of one tool. */
typedef struct hub_override {
    hub_str name;  /* decoded; empty: it keeps its own */
    hub_str title; /* raw, here and below; empty: nothing is said */
    hub_str description;
    hub_str tags;
    hub_str category;
    hub_str read_only;
    hub_str destructive;
    hub_str validate;
    hub_str
        flat; /* true: the schema that clients see has nothing at its top that model APIs refuse */
    bool is_hidden;
    bool looks;          /* at the arguments of calls */
    bool has_max_result; /* it says how large a result may be … */
    bool has_over;       /* … and what becomes of a larger one */
    uint32_t max_result_bytes;
    hub_over over;
    hub_override_argument *arguments;
    size_t argument_count;
} hub_override;

typedef struct hub_override_rule {
    hub_str glob; /* decoded */
    hub_str body; /* raw */
} hub_override_rule;

/* All rules of a toolset, in their order. */
typedef struct hub_overrides {
    const hub_override_rule *rules;
    size_t count;
} hub_overrides;

/* Take the rules apart; config/ has checked them. What is made lies in the arena, and points into
 * `json`.
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_overrides_read(hub_arena *arena, hub_str json,
                                          hub_overrides *ret_overrides);

/* What the rules say of a tool; NULL: nothing. `definition`: the tool's own; empty: it is not known, and
 * counts as one that has all arguments.
 * errors:  HUB_ELIMIT (HUB_LIMIT_OVERRIDE_ARGUMENTS), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_overrides_find(const hub_overrides *overrides, hub_arena *arena,
                                          hub_str tool, hub_str definition,
                                          const hub_override **ret_override);

/* Append the definition of a tool as clients are to see it, but for its name.
 * errors:  HUB_EINVAL (a member that is to change occurs twice), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_override_definition(const hub_override *override, hub_str definition,
                                               hub_buf *out);

/* Append the arguments of a call as the tool is to get them; nothing when they are right as they
 * are. `arguments` is a raw object in which no key occurs twice.
 * errors:  HUB_EINVAL (an argument that is fixed, or hidden, was sent; compared without regard to
 *          case, as some servers do; the text is for the client), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_override_call(const hub_override *override, hub_str arguments,
                                         hub_buf *out, hub_error *reterr);

/* Whether the schema of a definition has an argument of that name. */
bool hub_override_has_argument(hub_str definition, hub_str key);

/* Whether a text has a wildcard of globs. */
bool hub_override_is_glob(hub_str text);

#endif
