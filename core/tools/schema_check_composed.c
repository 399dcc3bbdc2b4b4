/* SPDX-License-Identifier: Apache-2.0 */
/* Keywords that apply other schemas to the same value. */
#include "tools/schema_internal.h"

/* What the alternatives of anyOf and oneOf came to. */
typedef struct tally {
    size_t fitting;
    size_t first;  /* that fits */
    size_t second; /* that fits */
    size_t closest;
    unsigned types; /* wanted, while nothing but the type was wrong with any; else 0 */
} tally;

/* In the document's dynamic scope the outermost schema resource with that anchor decides. */
static const hub_schema_node *dynamic_target(const hub_schema_run *run, const hub_schema_rule *rule)
{
    const hub_schema_node *target = rule->as.ref.target;
    for (const hub_schema_scope *at = run->scope; at != NULL && rule->as.ref.dynamic.len > 0;
         at = at->outer) {
        const hub_schema_anchor *anchor = at->resource ? at->resource->anchors : NULL;
        for (; anchor != NULL; anchor = anchor->next) {
            if (anchor->is_dynamic && hub_str_eq(anchor->name, rule->as.ref.dynamic)) {
                target = anchor->node; /* a scope further out may still overrule it */
            }
        }
    }
    return target;
}

hub_err hub_schema_check_ref(hub_schema_run *run, const hub_schema_frame *at,
                             const hub_schema_rule *rule)
{
    return hub_schema_evaluate(run, dynamic_target(run, rule), at->value, at->marks);
}

hub_err hub_schema_check_all_of(hub_schema_run *run, const hub_schema_frame *at,
                                const hub_schema_rule *rule)
{
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < rule->kid_count; i++) {
        err = hub_schema_evaluate(run, rule->kids[i].node, at->value, at->marks);
    }
    return err;
}

/* Whether the value fits a schema, without a text if it does not: HUB_OK, HUB_EINVAL, or an error
 * that ends the check. */
static hub_err try_node(hub_schema_run *run, const hub_schema_frame *at,
                        const hub_schema_node *node, bool *marks)
{
    run->quiet++;
    hub_err err = hub_schema_evaluate(run, node, at->value, marks);
    run->quiet--;
    return err;
}

/* How near the latest violation came to fitting. A value of another type was not meant for that
 * alternative; a wrong constant most likely is the tag that tells alternatives apart; else, the
 * deeper the better. */
static size_t closeness(const hub_schema_run *run, const hub_schema_value *value)
{
    const hub_schema_keyword *keyword = run->failed_keyword;
    size_t deeper = run->failed_depth - value->depth;
    if (keyword == &hub_schema_keywords[HUB_SCHEMA_KW_TYPE] && deeper == 0) {
        return 0;
    }
    if (keyword == &hub_schema_keywords[HUB_SCHEMA_KW_CONST] ||
        keyword == &hub_schema_keywords[HUB_SCHEMA_KW_ENUM]) {
        return 1;
    }
    return 2 + deeper;
}

/* Try the alternatives; all of them, or up to the first that fits. */
static hub_err try_all(hub_schema_run *run, const hub_schema_frame *at, const hub_schema_rule *rule,
                       bool stop_at_first, tally *counts)
{
    size_t best = 0;
    bool only_types = true;
    *counts = (tally){.fitting = 0};
    for (size_t i = 0; i < rule->kid_count; i++) {
        hub_err err = try_node(run, at, rule->kids[i].node, at->marks);
        if (err == HUB_OK) {
            counts->first = counts->fitting == 0 ? i : counts->first;
            counts->second = counts->fitting == 1 ? i : counts->second;
            counts->fitting++;
            if (stop_at_first) {
                break;
            }
        } else if (err == HUB_EINVAL) {
            size_t close = closeness(run, at->value);
            counts->closest = close > best ? i : counts->closest;
            best = close > best ? close : best;
            only_types = only_types && close == 0;
            counts->types |= close == 0 ? run->failed_types : 0;
        } else {
            return err;
        }
    }
    counts->types = only_types ? counts->types : 0;
    return HUB_OK;
}

/* None fits: say why the closest does not, by checking it once more, this time aloud. */
static hub_err fail_none(hub_schema_run *run, const hub_schema_frame *at,
                         const hub_schema_rule *rule, const tally *counts)
{
    if (run->quiet > 0) {
        return hub_schema_violation(run, at->value, "fits no alternative");
    }
    hub_err err = HUB_OK;
    if (counts->types != 0) {
        err = hub_schema_fail_type(run, at->value, counts->types);
    } else {
        err = hub_schema_evaluate(run, rule->kids[counts->closest].node, at->value, NULL);
    }
    if (err != HUB_EINVAL) { /* the budget is gone, but the verdict is known */
        return hub_schema_violation(run, at->value, "fits none of the %zu alternatives",
                                    rule->kid_count);
    }
    if (rule->kid_count > 1) {
        hub_schema_violation_prefix(run, at->value, "fits none of the %zu alternatives%s",
                                    rule->kid_count, counts->types != 0 ? "" : "; the closest");
    }
    run->failed_keyword = NULL;
    run->failed_depth = at->value->depth;
    return HUB_EINVAL;
}

hub_err hub_schema_check_any_of(hub_schema_run *run, const hub_schema_frame *at,
                                const hub_schema_rule *rule)
{
    tally counts;
    hub_err err = try_all(run, at, rule, at->marks == NULL, &counts);
    return err != HUB_OK || counts.fitting > 0 ? err : fail_none(run, at, rule, &counts);
}

hub_err hub_schema_check_one_of(hub_schema_run *run, const hub_schema_frame *at,
                                const hub_schema_rule *rule)
{
    tally counts;
    hub_err err = try_all(run, at, rule, false, &counts);
    if (err != HUB_OK || counts.fitting == 1) {
        return err;
    }
    if (counts.fitting == 0) {
        return fail_none(run, at, rule, &counts);
    }
    return hub_schema_violation(run, at->value,
                                "fits more than one of the alternatives (%zu and %zu)",
                                counts.first + 1, counts.second + 1);
}

hub_err hub_schema_check_not(hub_schema_run *run, const hub_schema_frame *at,
                             const hub_schema_rule *rule)
{
    hub_err err = try_node(run, at, rule->kids[0].node, NULL);
    if (err == HUB_OK) {
        return hub_schema_violation(run, at->value, "is what the schema excludes (\"not\")");
    }
    return err == HUB_EINVAL ? HUB_OK : err;
}

hub_err hub_schema_check_if(hub_schema_run *run, const hub_schema_frame *at,
                            const hub_schema_rule *rule)
{
    hub_err err = try_node(run, at, rule->kids[0].node, at->marks);
    if (err != HUB_OK && err != HUB_EINVAL) {
        return err;
    }
    const hub_schema_rule *branch =
        hub_schema_rule_find(at->node, err == HUB_OK ? HUB_SCHEMA_KW_THEN : HUB_SCHEMA_KW_ELSE);
    return branch == NULL ? HUB_OK
                          : hub_schema_evaluate(run, branch->kids[0].node, at->value, at->marks);
}
