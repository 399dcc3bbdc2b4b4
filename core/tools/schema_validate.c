/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/schema_internal.h"

/* For patterns, in characters looked at: some 50 ms, and more for more text. */
/* Steps of expressions in one validation: with an expression made to go wrong, a third of what a turn
   of the loop may take. Ordinary ones take some tens for each byte at most. */
enum { MATCH_BUDGET = 1000000, MATCH_BUDGET_PER_BYTE = 20 };

hub_err hub_schema_charge(hub_schema_run *run, size_t steps)
{
    if (steps > run->steps_left) {
        run->steps_left = 0;
        return hub_schema_abort(run, HUB_ELIMIT, "checking it against the schema takes too long");
    }
    run->steps_left -= steps;
    return HUB_OK;
}

static hub_err check_rules(hub_schema_run *run, const hub_schema_frame *at)
{
    const hub_schema_node *node = at->node;
    for (size_t i = 0; i < node->rule_count; i++) {
        const hub_schema_rule *rule = &node->rules[i];
        if (rule->keyword->check == NULL || ((rule->keyword->types >> at->value->type) & 1u) == 0) {
            continue;
        }
        hub_err err = rule->keyword->check(run, at, rule);
        if (err == HUB_EINVAL && run->failed_keyword == NULL) {
            run->failed_keyword = rule->keyword; /* the innermost: the others stand further out */
        }
        if (err != HUB_OK) {
            return err;
        }
    }
    return HUB_OK;
}

static void add_marks(bool *marks, const bool *more, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        marks[i] = marks[i] || more[i];
    }
}

/* unevaluated* sees what its own schema evaluated, not what stands around that: so every node has
 * marks of its own while somebody asks for them. */
static hub_err make_marks(hub_schema_run *run, hub_schema_frame *at)
{
    hub_err err = hub_schema_charge(run, 1 + at->value->count / 8);
    if (err != HUB_OK) {
        return err;
    }
    at->marks = hub_schema_alloc(&run->memory, at->value->count, sizeof *at->marks);
    return at->marks == NULL ? hub_schema_abort(run, run->memory.failed, NULL) : HUB_OK;
}

hub_err hub_schema_evaluate(hub_schema_run *run, const hub_schema_node *node,
                            const hub_schema_value *value, bool *marks)
{
    if (node->is_false) {
        return hub_schema_violation(run, value, "is not allowed");
    }
    if (node->rule_count == 0) {
        return HUB_OK;
    }
    hub_err err = hub_schema_charge(run, 1 + node->rule_count);
    if (err != HUB_OK) {
        return err;
    }
    if (run->depth >= HUB_SCHEMA_RECURSION) {
        return hub_schema_abort(run, HUB_ELIMIT, "the schema recurses too deep");
    }
    hub_schema_mark memory = hub_schema_mark_get(&run->memory);
    hub_schema_frame at = {.node = node, .value = value};
    hub_schema_scope scope = {.resource = node->resource, .outer = run->scope};
    if (run->scope == NULL || run->scope->resource != node->resource) {
        run->scope = &scope;
    }
    if (marks != NULL || node->reads_marks) {
        err = make_marks(run, &at);
    }
    if (err == HUB_OK) {
        run->depth++;
        err = check_rules(run, &at);
        run->depth--;
    }
    if (err == HUB_OK && marks != NULL) {
        add_marks(marks, at.marks, value->count);
    }
    run->scope = scope.outer;
    hub_schema_release(&run->memory, memory);
    return err;
}

hub_err hub_schema_enter(hub_schema_run *run, const hub_schema_node *node, hub_schema_value *value)
{
    hub_schema_mark memory = hub_schema_mark_get(&run->memory);
    hub_err err = node->reads_members ? hub_schema_load(run, value) : HUB_OK;
    if (err == HUB_OK) {
        err = hub_schema_evaluate(run, node, value, NULL);
    }
    hub_schema_release(&run->memory, memory);
    return err;
}

hub_err hub_schema_enter_member(hub_schema_run *run, const hub_schema_frame *at, size_t index,
                                const hub_schema_node *node)
{
    const hub_schema_member *member = &at->value->members[index];
    hub_schema_value child = {.raw = member->raw,
                              .type = hub_json_type_of(member->raw),
                              .depth = at->value->depth + 1,
                              .parent = at->value,
                              .key = member->key,
                              .index = index};
    hub_err err = hub_schema_enter(run, node, &child);
    if (err == HUB_OK && at->marks != NULL) {
        at->marks[index] = true;
    }
    return err;
}

hub_err hub_schema_validate(const hub_schema *schema, hub_str value, const char *root,
                            hub_error *reterr)
{
    value = hub_str_trim(value);
    hub_schema_value whole = {.raw = value, .type = hub_json_type_of(value)};
    if (whole.type == HUB_JSON_NONE) {
        return hub_fail(reterr, HUB_EINVAL, "%s: is missing", root);
    }
    hub_schema_run run = {
        .steps_left = HUB_SCHEMA_STEPS + HUB_SCHEMA_STEPS_PER_BYTE * (uint64_t)value.len,
        .match_left = MATCH_BUDGET + MATCH_BUDGET_PER_BYTE * (uint64_t)value.len,
        .quiet = reterr == NULL,
        .root = root,
        .reterr = reterr,
    };
    hub_err err = hub_schema_enter(&run, schema->root, &whole);
    hub_schema_pattern_run_fini(&run);
    hub_schema_memory_fini(&run.memory);
    return err;
}
