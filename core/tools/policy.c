/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/policy.h"

#include "base/limits.h"
#include "tools/naming.h"
#include "wire/json.h"

bool hub_names_have(const hub_names *names, hub_str text)
{
    for (size_t i = 0; i < names->count; i++) {
        if (hub_str_is(text, names->items[i])) {
            return true;
        }
    }
    return false;
}

bool hub_names_match(const hub_names *names, hub_str text)
{
    for (size_t i = 0; i < names->count; i++) {
        if (hub_str_glob(hub_str_of(names->items[i]), text)) {
            return true;
        }
    }
    return false;
}

void hub_names_add(const hub_names *names, const char *key, hub_buf *out)
{
    hub_json_add_key(out, hub_str_of(key));
    hub_buf_add_char(out, '[');
    for (size_t i = 0; i < names->count; i++) {
        hub_json_add_comma(out);
        hub_json_add_string(out, hub_str_of(names->items[i]));
    }
    hub_buf_add_char(out, ']');
}

static bool has_tag(const hub_filter_subject *subject, const hub_item *tool, hub_str tag)
{
    if (subject->tags != NULL && hub_names_have(subject->tags, tag)) {
        return true;
    }
    bool counts = subject->trusts_tags || hub_item_has_tags(tool);
    hub_json_iter it = hub_json_iterate(counts ? tool->tags_json : HUB_STR("[]"));
    hub_str key;
    hub_str value;
    while (hub_json_next(&it, &key, &value)) {
        if (hub_json_string_is(value, tag)) {
            return true;
        }
    }
    return false;
}

/* How many of `tags` the tool has. */
static size_t count_tags(const hub_filter_subject *subject, const hub_item *tool,
                         const hub_names *tags)
{
    size_t count = 0;
    for (size_t i = 0; i < tags->count; i++) {
        count += has_tag(subject, tool, hub_str_of(tags->items[i]));
    }
    return count;
}

static bool has_category(const hub_filter_subject *subject, const hub_item *tool,
                         const hub_names *categories)
{
    bool is_own = hub_item_has_category(tool);
    if (subject->category != NULL && !is_own) {
        return hub_names_have(categories, hub_str_of(subject->category));
    }
    for (size_t i = 0; (subject->trusts_tags || is_own) && i < categories->count; i++) {
        if (hub_json_string_is(tool->category_json, hub_str_of(categories->items[i]))) {
            return true;
        }
    }
    return false;
}

static bool matches_id(const hub_names *globs, hub_str toolset, const hub_item *tool)
{
    hub_buf id;
    hub_buf_init(&id, toolset.len + tool->name.len + 1);
    hub_naming_canonical(toolset, tool->name, &id);
    bool matches = hub_buf_ok(&id) && hub_names_match(globs, hub_buf_str(&id));
    hub_buf_fini(&id);
    return matches;
}

hub_err hub_policy_admit_toolset(const hub_policy_rules *rules, hub_str toolset,
                                 size_t active_count, hub_error *reterr)
{
    if (rules->allow.set && !hub_names_have(&rules->allow, toolset)) {
        return hub_fail(reterr, HUB_EDENIED, "toolset \"" HUB_STR_FMT "\" is not allowed by policy",
                        HUB_STR_ARG(toolset));
    }
    if (hub_names_have(&rules->deny, toolset)) {
        return hub_fail(reterr, HUB_EDENIED, "toolset \"" HUB_STR_FMT "\" is denied by policy",
                        HUB_STR_ARG(toolset));
    }
    if (rules->max_active > 0 && active_count >= rules->max_active) {
        return hub_fail(reterr, HUB_ELIMIT,
                        "enabling toolset \"" HUB_STR_FMT "\" exceeds max_active (%u): disable "
                        "another one first",
                        HUB_STR_ARG(toolset), rules->max_active);
    }
    return HUB_OK;
}

bool hub_policy_allows_toolset(const hub_policy_rules *rules, hub_str toolset)
{
    return (!rules->allow.set || hub_names_have(&rules->allow, toolset)) &&
           !hub_names_have(&rules->deny, toolset);
}

/* How "toolset:" stands to a pattern over canonical ids. */
typedef enum pattern_reach { REACHES_NONE, REACHES_SOME, REACHES_ALL } pattern_reach;

/* Which ids of the toolset a pattern can match. SOME may be too much, never too little. */
static pattern_reach reach_of(hub_str pattern, hub_str id_begin)
{
    size_t fixed = 0;
    while (fixed < pattern.len && pattern.ptr[fixed] != '*' && pattern.ptr[fixed] != '?') {
        fixed++;
    }
    size_t shared = fixed < id_begin.len ? fixed : id_begin.len;
    if (shared > 0 && memcmp(pattern.ptr, id_begin.ptr, shared) != 0) {
        return REACHES_NONE;
    }
    if (fixed == pattern.len && fixed <= id_begin.len) {
        return REACHES_NONE; /* no tool has an empty name */
    }
    bool is_open = pattern.len > 0 && pattern.ptr[pattern.len - 1] == '*';
    return is_open && hub_str_glob(pattern, id_begin) ? REACHES_ALL : REACHES_SOME;
}

/* The most that one of the patterns reaches. */
static pattern_reach reach_of_any(const hub_names *patterns, hub_str id_begin)
{
    pattern_reach most = REACHES_NONE;
    for (size_t i = 0; i < patterns->count && most != REACHES_ALL; i++) {
        pattern_reach reach = reach_of(hub_str_of(patterns->items[i]), id_begin);
        most = reach > most ? reach : most;
    }
    return most;
}

/* Whether a filter over tags or category decides alike for all tools of a toolset, whatever these say
 * of themselves: then a tool that says nothing stands for them. */
static bool may_pass(const hub_filter_rule *rule, const hub_filter_subject *subject)
{
    static const hub_item SILENT = {.tags_json = {.ptr = "[]", .len = 2}};
    bool has_more = (subject->trusts_tags || subject->has_overrides) &&
                    (rule->kind == HUB_FILTER_TAGS_ANY || rule->kind == HUB_FILTER_TAGS_ALL ||
                     (rule->kind == HUB_FILTER_CATEGORY &&
                      (subject->category == NULL || subject->has_overrides)));
    return has_more ? rule->values.count > 0 || rule->kind == HUB_FILTER_TAGS_ALL
                    : hub_filter_matches(rule, subject, &SILENT);
}

bool hub_policy_may_expose(const hub_policy_rules *rules, const hub_filter_subject *subject)
{
    char bytes[HUB_LIMIT_TOOLSET_KEY_BYTES + 1];
    bool may = subject->toolset.len < sizeof bytes;
    if (may) {
        memcpy(bytes, subject->toolset.ptr, subject->toolset.len);
        bytes[subject->toolset.len] = ':';
    }
    hub_str begin = {.ptr = bytes, .len = subject->toolset.len + 1};
    for (size_t i = 0; may && i < rules->filter_count; i++) {
        const hub_filter_rule *rule = &rules->filters[i];
        if (rule->kind == HUB_FILTER_ALLOW_TOOLS) {
            may = reach_of_any(&rule->values, begin) != REACHES_NONE;
        } else if (rule->kind == HUB_FILTER_DENY_TOOLS) {
            may = reach_of_any(&rule->values, begin) != REACHES_ALL;
        } else {
            may = may_pass(rule, subject);
        }
    }
    return may;
}

bool hub_filter_matches(const hub_filter_rule *rule, const hub_filter_subject *subject,
                        const hub_item *tool)
{
    if (tool == NULL) {
        return false;
    }
    switch (rule->kind) {
    case HUB_FILTER_NAMESPACE:
        return hub_names_have(&rule->values, subject->toolset);
    case HUB_FILTER_TAGS_ANY:
        return count_tags(subject, tool, &rule->values) > 0;
    case HUB_FILTER_TAGS_ALL:
        return count_tags(subject, tool, &rule->values) == rule->values.count;
    case HUB_FILTER_TAGS_NONE:
        return count_tags(subject, tool, &rule->values) == 0;
    case HUB_FILTER_CATEGORY:
        return has_category(subject, tool, &rule->values);
    case HUB_FILTER_ALLOW_TOOLS:
        return matches_id(&rule->values, subject->toolset, tool);
    case HUB_FILTER_DENY_TOOLS:
        return !matches_id(&rule->values, subject->toolset, tool);
    }
    return false;
}

bool hub_policy_exposes(const hub_policy_rules *rules, const hub_filter_subject *subject,
                        const hub_item *tool)
{
    if (tool == NULL) {
        return false;
    }
    for (size_t i = 0; i < rules->filter_count; i++) {
        if (!hub_filter_matches(&rules->filters[i], subject, tool)) {
            return false;
        }
    }
    bool read_only = (tool->hints & HUB_TOOL_READ_ONLY) != 0;
    if (rules->read_only && !read_only) {
        return false;
    }
    return !rules->deny_destructive || read_only || (tool->hints & HUB_TOOL_NOT_DESTRUCTIVE) != 0;
}
