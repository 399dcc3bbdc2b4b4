/* SPDX-License-Identifier: Apache-2.0 */
/* Keywords about one value as such: type, enum, const; numbers; strings. */
#include "tools/schema_internal.h"

#include <inttypes.h>

enum { BYTES_PER_STEP = 64, DIGITS_PER_DIVISION_STEP = 4, NUMBER_BYTES = 40 };

static const char *what_it_is(const hub_schema_value *value, unsigned wanted)
{
    static const char *const NAMES[] = {
        [HUB_JSON_NONE] = "nothing",    [HUB_JSON_NULL] = "null",
        [HUB_JSON_TRUE] = "a boolean",  [HUB_JSON_FALSE] = "a boolean",
        [HUB_JSON_NUMBER] = "a number", [HUB_JSON_STRING] = "a string",
        [HUB_JSON_ARRAY] = "an array",  [HUB_JSON_OBJECT] = "an object",
    };
    bool is_fraction = value->type == HUB_JSON_NUMBER && (wanted & HUB_SCHEMA_INTEGER) != 0;
    return is_fraction ? "a number with a fraction" : NAMES[value->type];
}

hub_err hub_schema_fail_type(hub_schema_run *run, const hub_schema_value *value, unsigned types)
{
    run->failed_types = types;
    if (run->quiet > 0) {
        return hub_schema_violation(run, value, "must be of another type");
    }
    hub_buf wanted;
    hub_buf_init(&wanted, HUB_SCHEMA_SHOWN_BYTES);
    hub_schema_show_types(types, &wanted);
    hub_err err = hub_schema_violation(run, value, "must be " HUB_STR_FMT ", is %s",
                                       HUB_STR_ARG(hub_buf_str(&wanted)), what_it_is(value, types));
    hub_buf_fini(&wanted);
    return err;
}

hub_err hub_schema_check_type(hub_schema_run *run, const hub_schema_frame *at,
                              const hub_schema_rule *rule)
{
    const hub_schema_value *value = at->value;
    return hub_schema_type_fits(rule->as.types, value->type, value->raw)
               ? HUB_OK
               : hub_schema_fail_type(run, value, rule->as.types);
}

static hub_err fail_values(hub_schema_run *run, const hub_schema_value *value, hub_str raw,
                           const char *before)
{
    if (run->quiet > 0) {
        return hub_schema_violation(run, value, "%s", before);
    }
    hub_buf list;
    hub_buf_init(&list, 2 * HUB_SCHEMA_SHOWN_BYTES);
    hub_schema_show_values(raw, &list);
    hub_err err =
        hub_schema_violation(run, value, "%s" HUB_STR_FMT, before, HUB_STR_ARG(hub_buf_str(&list)));
    hub_buf_fini(&list);
    return err;
}

hub_err hub_schema_check_enum(hub_schema_run *run, const hub_schema_frame *at,
                              const hub_schema_rule *rule)
{
    uint64_t hash = 0;
    hub_err err = hub_schema_hash(run, at->value->raw, &hash);
    if (err != HUB_OK) {
        return err;
    }
    const hub_schema_hashed *list = rule->as.values.list;
    size_t low = 0;
    size_t high = rule->as.values.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list[middle].hash < hash) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < rule->as.values.count && list[low].hash == hash; low++) {
        err = hub_schema_compare(run, at->value->raw, list[low].raw);
        if (err != HUB_EINVAL) {
            return err;
        }
    }
    switch (rule->as.values.count) {
    case 0:
        return hub_schema_violation(run, at->value, "is not allowed");
    case 1:
        return fail_values(run, at->value, rule->raw, "must be ");
    default:
        return fail_values(run, at->value, rule->raw, "must be one of ");
    }
}

hub_err hub_schema_check_const(hub_schema_run *run, const hub_schema_frame *at,
                               const hub_schema_rule *rule)
{
    hub_err err = hub_schema_compare(run, at->value->raw, rule->raw);
    if (err != HUB_EINVAL) {
        return err;
    }
    hub_str shown = hub_schema_cut(rule->raw, HUB_SCHEMA_SHOWN_BYTES);
    return hub_schema_violation(run, at->value, "must be " HUB_STR_FMT "%s", HUB_STR_ARG(shown),
                                shown.len < rule->raw.len ? "\xe2\x80\xa6" : "");
}

/* ---- numbers ---- */

static hub_err fail_number(hub_schema_run *run, const hub_schema_frame *at,
                           const hub_schema_rule *rule, const char *wanted)
{
    hub_str bound = hub_schema_cut(rule->raw, NUMBER_BYTES);
    return hub_schema_violation(run, at->value, "must be %s " HUB_STR_FMT, wanted,
                                HUB_STR_ARG(bound));
}

/* The value against the bound of the rule: <0, 0, >0 in *ret_order. */
static hub_err compare_number(hub_schema_run *run, const hub_schema_frame *at,
                              const hub_schema_rule *rule, int *ret_order)
{
    hub_err err = hub_schema_charge(run, 1 + at->value->raw.len / BYTES_PER_STEP);
    hub_schema_number number = hub_schema_number_of(at->value->raw);
    *ret_order = hub_schema_number_cmp(&number, &rule->as.number);
    return err;
}

hub_err hub_schema_check_minimum(hub_schema_run *run, const hub_schema_frame *at,
                                 const hub_schema_rule *rule)
{
    int order = 0;
    hub_err err = compare_number(run, at, rule, &order);
    return err != HUB_OK || order >= 0 ? err : fail_number(run, at, rule, "at least");
}

hub_err hub_schema_check_exclusive_minimum(hub_schema_run *run, const hub_schema_frame *at,
                                           const hub_schema_rule *rule)
{
    int order = 0;
    hub_err err = compare_number(run, at, rule, &order);
    return err != HUB_OK || order > 0 ? err : fail_number(run, at, rule, "greater than");
}

hub_err hub_schema_check_maximum(hub_schema_run *run, const hub_schema_frame *at,
                                 const hub_schema_rule *rule)
{
    int order = 0;
    hub_err err = compare_number(run, at, rule, &order);
    return err != HUB_OK || order <= 0 ? err : fail_number(run, at, rule, "at most");
}

hub_err hub_schema_check_exclusive_maximum(hub_schema_run *run, const hub_schema_frame *at,
                                           const hub_schema_rule *rule)
{
    int order = 0;
    hub_err err = compare_number(run, at, rule, &order);
    return err != HUB_OK || order < 0 ? err : fail_number(run, at, rule, "less than");
}

hub_err hub_schema_check_multiple_of(hub_schema_run *run, const hub_schema_frame *at,
                                     const hub_schema_rule *rule)
{
    size_t digits = at->value->raw.len + rule->raw.len;
    hub_err err = hub_schema_charge(run, 1 + digits / DIGITS_PER_DIVISION_STEP);
    if (err != HUB_OK || hub_schema_number_is_multiple(at->value->raw, rule->raw)) {
        return err;
    }
    return fail_number(run, at, rule, "a multiple of");
}

/* ---- strings ---- */

static const char *characters(uint64_t count)
{
    return count == 1 ? "character" : "characters";
}

static hub_err count_characters(hub_schema_run *run, const hub_schema_frame *at, size_t *ret_length)
{
    *ret_length = hub_schema_text_length(at->value->raw);
    return hub_schema_charge(run, 1 + at->value->raw.len / BYTES_PER_STEP);
}

hub_err hub_schema_check_min_length(hub_schema_run *run, const hub_schema_frame *at,
                                    const hub_schema_rule *rule)
{
    size_t length = 0;
    hub_err err = count_characters(run, at, &length);
    if (err != HUB_OK || length >= rule->as.count) {
        return err;
    }
    return hub_schema_violation(run, at->value, "must have at least %" PRIu64 " %s, has %zu",
                                rule->as.count, characters(rule->as.count), length);
}

hub_err hub_schema_check_max_length(hub_schema_run *run, const hub_schema_frame *at,
                                    const hub_schema_rule *rule)
{
    size_t length = 0;
    hub_err err = count_characters(run, at, &length);
    if (err != HUB_OK || length <= rule->as.count) {
        return err;
    }
    return hub_schema_violation(run, at->value, "must have at most %" PRIu64 " %s, has %zu",
                                rule->as.count, characters(rule->as.count), length);
}

hub_err hub_schema_check_pattern(hub_schema_run *run, const hub_schema_frame *at,
                                 const hub_schema_rule *rule)
{
    hub_str text = HUB_STR_EMPTY;
    hub_err err = hub_schema_charge(run, 1 + at->value->raw.len / BYTES_PER_STEP);
    if (err == HUB_OK) {
        err = hub_schema_text(&run->memory, at->value->raw, &text);
        if (err != HUB_OK) {
            return hub_schema_abort(run, err, NULL);
        }
        err = hub_schema_pattern_match(run, rule->as.pattern, text);
    }
    if (err != HUB_EINVAL) {
        return err;
    }
    hub_str shown = hub_schema_cut(rule->raw, HUB_SCHEMA_SHOWN_BYTES);
    return hub_schema_violation(run, at->value, "must match the pattern " HUB_STR_FMT,
                                HUB_STR_ARG(shown));
}
