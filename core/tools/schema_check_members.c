/* SPDX-License-Identifier: Apache-2.0 */
/* Keywords about the members of objects and the elements of arrays. */
#include "tools/schema_internal.h"

#include "base/buf.h"

#include <inttypes.h>
#include <stdlib.h>

enum { CANDIDATES = 200, CANDIDATE_BYTES = 65 }; /* for "did you mean" */
enum { KNOWN_NAMES = 8, KNOWN_BYTES = 512 };     /* for whoever means none of them */

/* ---- objects ---- */

hub_err hub_schema_check_properties(hub_schema_run *run, const hub_schema_frame *at,
                                    const hub_schema_rule *rule)
{
    hub_err err = hub_schema_charge(run, at->value->count);
    for (size_t i = 0; err == HUB_OK && i < at->value->count; i++) {
        const hub_schema_kid *kid = hub_schema_kid_find(rule, at->value->members[i].key);
        if (kid != NULL) {
            err = hub_schema_enter_member(run, at, i, kid->node);
        }
    }
    return err;
}

static hub_err match_name(hub_schema_run *run, const hub_schema_kid *kid, hub_str name)
{
    hub_err err = hub_schema_charge(run, 1);
    return err == HUB_OK ? hub_schema_pattern_match(run, kid->pattern, name) : err;
}

hub_err hub_schema_check_pattern_properties(hub_schema_run *run, const hub_schema_frame *at,
                                            const hub_schema_rule *rule)
{
    for (size_t i = 0; i < at->value->count; i++) {
        for (size_t j = 0; j < rule->kid_count; j++) {
            hub_err err = match_name(run, &rule->kids[j], at->value->members[i].key);
            if (err == HUB_OK) {
                err = hub_schema_enter_member(run, at, i, rule->kids[j].node);
            } else if (err == HUB_EINVAL) {
                err = HUB_OK;
            }
            if (err != HUB_OK) {
                return err;
            }
        }
    }
    return HUB_OK;
}

/* HUB_OK: `properties` or `patternProperties` beside it speak about that name. */
static hub_err is_spoken_for(hub_schema_run *run, const hub_schema_node *node, hub_str name)
{
    const hub_schema_rule *rule = hub_schema_rule_find(node, HUB_SCHEMA_KW_PROPERTIES);
    if (rule != NULL && hub_schema_kid_find(rule, name) != NULL) {
        return HUB_OK;
    }
    rule = hub_schema_rule_find(node, HUB_SCHEMA_KW_PATTERN_PROPERTIES);
    hub_err err = HUB_EINVAL;
    for (size_t i = 0; err == HUB_EINVAL && rule != NULL && i < rule->kid_count; i++) {
        err = match_name(run, &rule->kids[i], name);
    }
    return err;
}

/* The name among `properties` that the client may have meant, or the empty span. The result lies in
 * the scratch memory; without memory there is no suggestion. */
static hub_str suggest(hub_schema_run *run, const hub_schema_node *node, hub_str name)
{
    const hub_schema_rule *rule = hub_schema_rule_find(node, HUB_SCHEMA_KW_PROPERTIES);
    const char *candidates[CANDIDATES + 1] = {NULL};
    size_t count = 0;
    for (size_t i = 0; rule != NULL && i < rule->kid_count && count < CANDIDATES; i++) {
        hub_str key = rule->kids[i].key;
        char *copy = key.len < CANDIDATE_BYTES && memchr(key.ptr, '\0', key.len) == NULL
                         ? hub_schema_alloc(&run->memory, CANDIDATE_BYTES, 1)
                         : NULL;
        if (copy != NULL) {
            memcpy(copy, key.ptr, key.len);
            candidates[count++] = copy;
        }
    }
    return hub_str_nearest(name, candidates);
}

/* Append the names that an object may have; nothing where other rules have a say in it. */
static void add_known(const hub_schema_node *node, hub_buf *out)
{
    const hub_schema_rule *rule = hub_schema_rule_find(node, HUB_SCHEMA_KW_PROPERTIES);
    if (rule == NULL || rule->kid_count == 0 ||
        hub_schema_rule_find(node, HUB_SCHEMA_KW_PATTERN_PROPERTIES) != NULL ||
        hub_schema_rule_find(node, HUB_SCHEMA_KW_UNEVALUATED_PROPERTIES) != NULL) {
        return;
    }
    hub_buf_add(out, HUB_STR("; known: "));
    for (size_t i = 0; i < rule->kid_count && i < KNOWN_NAMES; i++) {
        hub_str name = hub_schema_cut(rule->kids[i].key, HUB_SCHEMA_SHOWN_BYTES);
        hub_buf_printf(out, "%s\"" HUB_STR_FMT "\"", i > 0 ? ", " : "", HUB_STR_ARG(name));
    }
    hub_buf_add(out, rule->kid_count > KNOWN_NAMES ? HUB_STR(", ...") : HUB_STR_EMPTY);
}

static hub_err fail_unknown(hub_schema_run *run, const hub_schema_frame *at, size_t index)
{
    const hub_schema_member *member = &at->value->members[index];
    hub_schema_value child = {.raw = member->raw,
                              .depth = at->value->depth, /* it is the object that does not fit */
                              .parent = at->value,
                              .key = member->key};
    hub_str near = run->quiet == 0 ? suggest(run, at->node, member->key) : HUB_STR_EMPTY;
    if (near.len == 0) {
        hub_buf known;
        hub_buf_init(&known, KNOWN_BYTES);
        if (run->quiet == 0) {
            add_known(at->node, &known);
        }
        hub_str text = hub_buf_ok(&known) ? hub_buf_str(&known) : HUB_STR_EMPTY;
        hub_err err =
            hub_schema_violation(run, &child, "is not known" HUB_STR_FMT, HUB_STR_ARG(text));
        hub_buf_fini(&known);
        return err;
    }
    return hub_schema_violation(run, &child, "is not known; did you mean \"" HUB_STR_FMT "\"?",
                                HUB_STR_ARG(near));
}

/* A member that only a rule for the rest applies to. */
static hub_err check_rest(hub_schema_run *run, const hub_schema_frame *at, size_t index,
                          const hub_schema_node *node)
{
    return node->is_false ? fail_unknown(run, at, index)
                          : hub_schema_enter_member(run, at, index, node);
}

hub_err hub_schema_check_additional_properties(hub_schema_run *run, const hub_schema_frame *at,
                                               const hub_schema_rule *rule)
{
    hub_err err = hub_schema_charge(run, at->value->count);
    for (size_t i = 0; err == HUB_OK && i < at->value->count; i++) {
        err = is_spoken_for(run, at->node, at->value->members[i].key);
        if (err == HUB_EINVAL) {
            err = check_rest(run, at, i, rule->kids[0].node);
        }
    }
    return err;
}

hub_err hub_schema_check_property_names(hub_schema_run *run, const hub_schema_frame *at,
                                        const hub_schema_rule *rule)
{
    hub_json_iter it = hub_json_iterate(at->value->raw);
    hub_str key;
    hub_str ignored;
    hub_err err = hub_schema_charge(run, at->value->count);
    for (size_t i = 0; err == HUB_OK && hub_json_next(&it, &key, &ignored); i++) {
        hub_schema_value name = {.raw = key,
                                 .type = HUB_JSON_STRING,
                                 .is_name = true,
                                 .depth = at->value->depth + 1,
                                 .parent = at->value,
                                 .key = at->value->members[i].key};
        err = hub_schema_enter(run, rule->kids[0].node, &name);
    }
    return err;
}

hub_err hub_schema_check_required(hub_schema_run *run, const hub_schema_frame *at,
                                  const hub_schema_rule *rule)
{
    hub_err err = hub_schema_charge(run, rule->as.names.count);
    for (size_t i = 0; err == HUB_OK && i < rule->as.names.count; i++) {
        hub_str name = rule->as.names.list[i];
        if (hub_schema_member_find(at->value, name) == SIZE_MAX) {
            hub_str shown = hub_schema_cut(name, HUB_SCHEMA_SHOWN_BYTES);
            return hub_schema_violation(run, at->value, "\"" HUB_STR_FMT "\" is missing",
                                        HUB_STR_ARG(shown));
        }
    }
    return err;
}

static hub_err check_needs(hub_schema_run *run, const hub_schema_frame *at,
                           const hub_schema_kid *kid)
{
    hub_err err = hub_schema_charge(run, kid->name_count);
    for (size_t i = 0; err == HUB_OK && i < kid->name_count; i++) {
        if (hub_schema_member_find(at->value, kid->names[i]) == SIZE_MAX) {
            hub_str missing = hub_schema_cut(kid->names[i], HUB_SCHEMA_SHOWN_BYTES);
            hub_str because = hub_schema_cut(kid->key, HUB_SCHEMA_SHOWN_BYTES);
            return hub_schema_violation(
                run, at->value, "\"" HUB_STR_FMT "\" is missing, \"" HUB_STR_FMT "\" needs it",
                HUB_STR_ARG(missing), HUB_STR_ARG(because));
        }
    }
    return err;
}

hub_err hub_schema_check_dependent_schemas(hub_schema_run *run, const hub_schema_frame *at,
                                           const hub_schema_rule *rule)
{
    hub_err err = hub_schema_charge(run, rule->kid_count);
    for (size_t i = 0; err == HUB_OK && i < rule->kid_count; i++) {
        const hub_schema_kid *kid = &rule->kids[i];
        if (hub_schema_member_find(at->value, kid->key) == SIZE_MAX) {
            continue;
        }
        err = kid->node == NULL ? check_needs(run, at, kid)
                                : hub_schema_evaluate(run, kid->node, at->value, at->marks);
    }
    return err;
}

hub_err hub_schema_check_dependent_required(hub_schema_run *run, const hub_schema_frame *at,
                                            const hub_schema_rule *rule)
{
    return hub_schema_check_dependent_schemas(run, at, rule); /* with names and no schemas */
}

/* ---- both ---- */

static const char *things(const hub_schema_value *value, uint64_t count)
{
    if (value->type == HUB_JSON_OBJECT) {
        return count == 1 ? "member" : "members";
    }
    return count == 1 ? "element" : "elements";
}

hub_err hub_schema_check_min_members(hub_schema_run *run, const hub_schema_frame *at,
                                     const hub_schema_rule *rule)
{
    if (at->value->count >= rule->as.count) {
        return HUB_OK;
    }
    return hub_schema_violation(run, at->value, "must have at least %" PRIu64 " %s, has %zu",
                                rule->as.count, things(at->value, rule->as.count),
                                at->value->count);
}

static hub_err check_at_most(hub_schema_run *run, const hub_schema_value *value, uint64_t max)
{
    if (value->count <= max) {
        return HUB_OK;
    }
    return hub_schema_violation(run, value, "must have at most %" PRIu64 " %s, has %zu", max,
                                things(value, max), value->count);
}

hub_err hub_schema_check_max_members(hub_schema_run *run, const hub_schema_frame *at,
                                     const hub_schema_rule *rule)
{
    return check_at_most(run, at->value, rule->as.count);
}

hub_err hub_schema_check_unevaluated(hub_schema_run *run, const hub_schema_frame *at,
                                     const hub_schema_rule *rule)
{
    hub_err err = hub_schema_charge(run, at->value->count);
    for (size_t i = 0; err == HUB_OK && i < at->value->count; i++) {
        if (at->marks[i]) {
            continue;
        }
        err = at->value->type == HUB_JSON_OBJECT
                  ? check_rest(run, at, i, rule->kids[0].node)
                  : hub_schema_enter_member(run, at, i, rule->kids[0].node);
    }
    return err;
}

/* ---- arrays ---- */

hub_err hub_schema_check_prefix_items(hub_schema_run *run, const hub_schema_frame *at,
                                      const hub_schema_rule *rule)
{
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < at->value->count && i < rule->kid_count; i++) {
        err = hub_schema_enter_member(run, at, i, rule->kids[i].node);
    }
    return err;
}

/* One schema for all elements from `first` on. */
static hub_err check_elements(hub_schema_run *run, const hub_schema_frame *at, size_t first,
                              const hub_schema_node *node)
{
    if (node->is_false) {
        return check_at_most(run, at->value, first);
    }
    hub_err err = HUB_OK;
    for (size_t i = first; err == HUB_OK && i < at->value->count; i++) {
        err = hub_schema_enter_member(run, at, i, node);
    }
    return err;
}

hub_err hub_schema_check_items(hub_schema_run *run, const hub_schema_frame *at,
                               const hub_schema_rule *rule)
{
    if (rule->form == HUB_SCHEMA_FORM_LIST) {
        return hub_schema_check_prefix_items(run, at, rule);
    }
    const hub_schema_rule *prefix = hub_schema_rule_find(at->node, HUB_SCHEMA_KW_PREFIX_ITEMS);
    return check_elements(run, at, prefix ? prefix->kid_count : 0, rule->kids[0].node);
}

/* Draft-07: means something only beside `items` as an array. */
hub_err hub_schema_check_additional_items(hub_schema_run *run, const hub_schema_frame *at,
                                          const hub_schema_rule *rule)
{
    const hub_schema_rule *items = hub_schema_rule_find(at->node, HUB_SCHEMA_KW_ITEMS);
    if (items == NULL || items->form != HUB_SCHEMA_FORM_LIST) {
        return HUB_OK;
    }
    return check_elements(run, at, items->kid_count, rule->kids[0].node);
}

hub_err hub_schema_check_contains(hub_schema_run *run, const hub_schema_frame *at,
                                  const hub_schema_rule *rule)
{
    const hub_schema_rule *bound = hub_schema_rule_find(at->node, HUB_SCHEMA_KW_MIN_CONTAINS);
    uint64_t min = bound ? bound->as.count : 1;
    bound = hub_schema_rule_find(at->node, HUB_SCHEMA_KW_MAX_CONTAINS);
    uint64_t max = bound ? bound->as.count : UINT64_MAX;
    uint64_t found = 0;
    hub_err err = HUB_OK;
    run->quiet++;
    for (size_t i = 0; i < at->value->count && (err == HUB_OK || err == HUB_EINVAL); i++) {
        err = hub_schema_enter_member(run, at, i, rule->kids[0].node);
        found += err == HUB_OK;
    }
    run->quiet--;
    if (err != HUB_OK && err != HUB_EINVAL) {
        return err;
    }
    if (found < min) {
        return hub_schema_violation(run, at->value,
                                    "must have at least %" PRIu64 " matching %s, has %" PRIu64, min,
                                    things(at->value, min), found);
    }
    if (found > max) {
        return hub_schema_violation(run, at->value,
                                    "must have at most %" PRIu64 " matching %s, has %" PRIu64, max,
                                    things(at->value, max), found);
    }
    return HUB_OK;
}

typedef struct hashed_element {
    uint64_t hash;
    size_t index;
} hashed_element;

static int by_hash(const void *left, const void *right)
{
    const hashed_element *a = left;
    const hashed_element *b = right;
    if (a->hash != b->hash) {
        return a->hash < b->hash ? -1 : 1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

/* Compare the last of some elements of equal hash with those before it. */
static hub_err check_unique(hub_schema_run *run, const hub_schema_frame *at,
                            const hashed_element *elements, size_t last)
{
    const hub_schema_member *members = at->value->members;
    for (size_t i = last; i > 0 && elements[i - 1].hash == elements[last].hash; i--) {
        size_t one = elements[i - 1].index;
        size_t other = elements[last].index;
        hub_err err = hub_schema_compare(run, members[one].raw, members[other].raw);
        if (err == HUB_OK) {
            return hub_schema_violation(run, at->value, "elements %zu and %zu are equal", one,
                                        other);
        }
        if (err != HUB_EINVAL) {
            return err;
        }
    }
    return HUB_OK;
}

hub_err hub_schema_check_unique_items(hub_schema_run *run, const hub_schema_frame *at,
                                      const hub_schema_rule *rule)
{
    if (rule->as.count == 0 || at->value->count < 2) {
        return HUB_OK;
    }
    hashed_element *elements =
        hub_schema_alloc(&run->memory, at->value->count, sizeof(hashed_element));
    if (elements == NULL) {
        return hub_schema_abort(run, run->memory.failed, NULL);
    }
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < at->value->count; i++) {
        elements[i].index = i;
        err = hub_schema_hash(run, at->value->members[i].raw, &elements[i].hash);
    }
    qsort(elements, at->value->count, sizeof(hashed_element), by_hash);
    for (size_t i = 1; err == HUB_OK && i < at->value->count; i++) {
        err = check_unique(run, at, elements, i);
    }
    return err;
}
