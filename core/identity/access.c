/* SPDX-License-Identifier: Apache-2.0 */
#include "identity/access.h"

#include "identity/arguments.h"
#include "tools/naming.h"
#include "wire/json.h"

const char *hub_access_verdict_name(hub_access_verdict verdict)
{
    static const char *const NAMES[] = {"allow", "deny", "challenge", "confirm"};
    return NAMES[verdict];
}

/* ---- who ------------------------------------------------------------------------------------- */

static bool has_any(const hub_names *wanted, const hub_names *had)
{
    for (size_t i = 0; i < wanted->count; i++) {
        if (hub_names_have(had, hub_str_of(wanted->items[i]))) {
            return true;
        }
    }
    return !wanted->set;
}

static bool has_all(const hub_names *wanted, const hub_names *had)
{
    for (size_t i = 0; i < wanted->count; i++) {
        if (!hub_names_have(had, hub_str_of(wanted->items[i]))) {
            return false;
        }
    }
    return true;
}

static bool claim_is(hub_str value, const hub_names *wanted)
{
    for (size_t i = 0; i < wanted->count; i++) {
        if (hub_access_same_scalar(value, hub_str_of(wanted->items[i]))) {
            return true;
        }
    }
    return false;
}

static bool claim_fits(const hub_access_claim *claim, hub_str claims)
{
    hub_str value = claims.len > 0 ? hub_json_get(claims, hub_str_of(claim->name)) : HUB_STR_EMPTY;
    if (hub_json_type_of(value) != HUB_JSON_ARRAY) {
        return claim_is(value, &claim->values);
    }
    hub_json_iter it = hub_json_iterate(value);
    hub_str key;
    hub_str element;
    while (hub_json_next(&it, &key, &element)) {
        if (claim_is(element, &claim->values)) {
            return true;
        }
    }
    return false;
}

static bool is_one_of(const hub_names *names, const char *text)
{
    return !names->set || (text != NULL && hub_names_have(names, hub_str_of(text)));
}

static bool who_fits(const hub_access_rule *rule, const hub_identity *identity, const char *profile,
                     const char *transport)
{
    const hub_access_who *who = &rule->who;
    if ((who->principals.set && !hub_names_match(&who->principals, hub_str_of(identity->name))) ||
        !has_any(&who->groups, &identity->groups) || !is_one_of(&who->profiles, profile) ||
        !is_one_of(&who->transports, transport)) {
        return false;
    }
    if (rule->then != HUB_ACCESS_CHALLENGE && !has_all(&who->scopes, &identity->scopes)) {
        return false;
    }
    for (size_t i = 0; i < who->claim_count; i++) {
        if (!claim_fits(&who->claims[i], identity->claims)) {
            return false;
        }
    }
    return true;
}

bool hub_access_class_equal(const hub_access_class *a, const hub_access_class *b)
{
    bool is_equal = memcmp(a->bits, b->bits, sizeof a->bits) == 0 &&
                    (a->toolsets == NULL) == (b->toolsets == NULL) &&
                    (a->toolsets == NULL || a->toolsets->count == b->toolsets->count);
    for (size_t i = 0; is_equal && a->toolsets != NULL && i < a->toolsets->count; i++) {
        is_equal = strcmp(a->toolsets->items[i], b->toolsets->items[i]) == 0;
    }
    return is_equal;
}

/* Whether a proxy permits the toolset; the hub's own tools are there for all. */
static bool is_permitted(const hub_access_class *who, const hub_access_subject *subject)
{
    return who->toolsets == NULL || subject->is_own ||
           hub_names_have(who->toolsets, subject->toolset);
}

void hub_access_class_of(const hub_access_settings *settings, const hub_identity *identity,
                         const char *profile, const char *transport, hub_access_class *ret_class)
{
    *ret_class =
        (hub_access_class){.toolsets = identity->toolsets.set ? &identity->toolsets : NULL};
    for (size_t i = 0; i < settings->count; i++) {
        if (who_fits(&settings->rules[i], identity, profile, transport)) {
            ret_class->bits[i / 64] |= UINT64_C(1) << (i % 64);
        }
    }
}

void hub_access_take_override(hub_access_subject *subject, const hub_override *override)
{
    if (override->tags.len > 0) {
        subject->tags_json = override->tags;
    }
    if (override->category.len > 0) {
        subject->category = NULL;
        subject->category_json = override->category;
    }
    if (override->read_only.len > 0) {
        subject->is_read_only = hub_json_type_of(override->read_only) == HUB_JSON_TRUE;
        subject->is_destructive = subject->is_destructive && !subject->is_read_only;
    }
    if (override->destructive.len > 0) {
        subject->is_destructive = hub_json_type_of(override->destructive) == HUB_JSON_TRUE;
    }
}

/* ---- which tools ----------------------------------------------------------------------------- */

static bool has_tag(const hub_access_subject *subject, hub_str tag)
{
    if (subject->tags != NULL && hub_names_have(subject->tags, tag)) {
        return true;
    }
    hub_json_iter it = hub_json_iterate(subject->tags_json);
    hub_str key;
    hub_str value;
    while (hub_json_next(&it, &key, &value)) {
        if (hub_json_string_is(value, tag)) {
            return true;
        }
    }
    return false;
}

static bool tags_fit(const hub_names *tags, const hub_access_subject *subject)
{
    for (size_t i = 0; i < tags->count; i++) {
        if (has_tag(subject, hub_str_of(tags->items[i]))) {
            return true;
        }
    }
    return !tags->set;
}

static bool category_fits(const hub_names *categories, const hub_access_subject *subject)
{
    for (size_t i = 0; i < categories->count; i++) {
        hub_str category = hub_str_of(categories->items[i]);
        bool is_it = subject->category != NULL
                         ? hub_str_is(category, subject->category)
                         : hub_json_string_is(subject->category_json, category);
        if (is_it) {
            return true;
        }
    }
    return !categories->set;
}

static bool flag_fits(hub_access_flag wanted, bool is_so)
{
    return wanted == HUB_ACCESS_EITHER || (wanted == HUB_ACCESS_YES) == is_so;
}

static bool names_meta(const char *glob)
{
    return hub_str_starts(hub_str_of(glob), HUB_STR("_meta:"));
}

/* The hub's own tools are meant by globs that name them, and by no others. */
static bool id_fits(const hub_names *globs, const hub_access_subject *subject)
{
    hub_buf id;
    hub_buf_init(&id, subject->toolset.len + subject->name.len + 1);
    hub_naming_canonical(subject->toolset, subject->name, &id);
    bool fits = false;
    for (size_t i = 0; hub_buf_ok(&id) && !fits && i < globs->count; i++) {
        fits = (!subject->is_own || names_meta(globs->items[i])) &&
               hub_str_glob(hub_str_of(globs->items[i]), hub_buf_str(&id));
    }
    hub_buf_fini(&id);
    return fits;
}

static bool tools_fit(const hub_access_tools *tools, const hub_access_subject *subject)
{
    return flag_fits(tools->read_only, subject->is_read_only) &&
           flag_fits(tools->destructive, subject->is_destructive) &&
           tags_fit(&tools->tags, subject) && category_fits(&tools->categories, subject) &&
           (tools->match.set ? id_fits(&tools->match, subject) : !subject->is_own);
}

/* ---- deciding -------------------------------------------------------------------------------- */

/* The next rule from *at on whose `who` and `tools` fit; NULL: there is none. */
static const hub_access_rule *next_rule(const hub_access_settings *settings,
                                        const hub_access_class *who,
                                        const hub_access_subject *subject, size_t *at)
{
    while (*at < settings->count) {
        size_t i = (*at)++;
        if ((who->bits[i / 64] >> (i % 64) & 1) != 0 &&
            tools_fit(&settings->rules[i].tools, subject)) {
            return &settings->rules[i];
        }
    }
    return NULL;
}

static hub_access_verdict otherwise(const hub_access_settings *settings,
                                    const hub_access_subject *subject)
{
    return subject->is_own ? HUB_ACCESS_ALLOW : settings->otherwise;
}

bool hub_access_shows(const hub_access_settings *settings, const hub_access_class *who,
                      const hub_access_subject *subject)
{
    const hub_access_rule *rule;
    size_t at = 0;
    if (!is_permitted(who, subject)) {
        return false;
    }
    while ((rule = next_rule(settings, who, subject, &at)) != NULL) {
        if (rule->then != HUB_ACCESS_DENY) {
            return true; /* if it has conditions, some arguments fulfil them */
        }
        if (rule->condition_count == 0) {
            return false;
        }
    }
    return otherwise(settings, subject) != HUB_ACCESS_DENY;
}

/* Whether a glob could fit some text that begins so. */
static bool may_begin(hub_str glob, hub_str text)
{
    size_t at = 0;
    for (; at < glob.len && glob.ptr[at] != '*' && at < text.len; at++) {
        if (glob.ptr[at] != '?' && glob.ptr[at] != text.ptr[at]) {
            return false;
        }
    }
    if (at == text.len || (at < glob.len && glob.ptr[at] == '*' && at + 1 == glob.len)) {
        return true;
    }
    if (at == glob.len) {
        return false;
    }
    for (size_t skip = at; skip <= text.len; skip++) { /* what the '*' takes */
        if (may_begin(hub_str_from(glob, at + 1), hub_str_from(text, skip))) {
            return true;
        }
    }
    return false;
}

/* How much of a toolset a part of a rule is about, whatever its tools turn out to be. */
typedef enum reach {
    REACHES_NONE,
    REACHES_SOME,
    REACHES_ALL,
} reach;

static reach reach_of(bool fits, bool is_known)
{
    return !is_known ? REACHES_SOME : fits ? REACHES_ALL : REACHES_NONE;
}

static reach flag_reach(hub_access_flag wanted, bool is_so, bool is_known)
{
    return reach_of(flag_fits(wanted, is_so), is_known || wanted == HUB_ACCESS_EITHER);
}

static reach tags_reach(const hub_names *tags, const hub_access_subject *toolset)
{
    bool fits = tags_fit(tags, toolset);
    return reach_of(fits, fits || !toolset->has_unknown_tags);
}

static reach category_reach(const hub_names *categories, const hub_access_subject *toolset)
{
    bool is_known = !categories->set || toolset->category != NULL || !toolset->has_unknown_tags;
    return reach_of(category_fits(categories, toolset), is_known);
}

/* Whether a glob fits all texts that begin so: its last '*' takes what is not known, and the rest of
 * it a part of what is. */
static bool covers(hub_str glob, hub_str text)
{
    bool does = false;
    if (glob.len == 0 || glob.ptr[glob.len - 1] != '*') {
        return false;
    }
    hub_str head = {.ptr = glob.ptr, .len = glob.len - 1};
    for (size_t len = 0; !does && len <= text.len; len++) {
        does = hub_str_glob(head, (hub_str){.ptr = text.ptr, .len = len});
    }
    return does;
}

/* `id` is that of a tool whose name is one byte, which no glob spells out. */
static reach match_reach(const hub_names *globs, hub_str id)
{
    hub_str prefix = {.ptr = id.ptr, .len = id.len - 1};
    reach found = globs->set ? REACHES_NONE : REACHES_ALL;
    for (size_t i = 0; i < globs->count && found != REACHES_ALL; i++) {
        hub_str glob = hub_str_of(globs->items[i]);
        found = covers(glob, id) ? REACHES_ALL : may_begin(glob, prefix) ? REACHES_SOME : found;
    }
    return found;
}

static reach rule_reach(const hub_access_rule *rule, const hub_access_subject *toolset, hub_str id)
{
    const hub_access_tools *tools = &rule->tools;
    bool are_hints_known = !toolset->has_unknown_hints;
    const reach parts[] = {
        match_reach(&tools->match, id),
        tags_reach(&tools->tags, toolset),
        category_reach(&tools->categories, toolset),
        flag_reach(tools->read_only, toolset->is_read_only, are_hints_known),
        flag_reach(tools->destructive, toolset->is_destructive, are_hints_known),
        rule->condition_count > 0 ? REACHES_SOME : REACHES_ALL,
    };
    reach least = REACHES_ALL;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        least = parts[i] < least ? parts[i] : least;
    }
    return least;
}

bool hub_access_may_show(const hub_access_settings *settings, const hub_access_class *who,
                         const hub_access_subject *toolset)
{
    hub_buf id;
    if (!is_permitted(who, toolset)) {
        return false;
    }
    hub_buf_init(&id, toolset->toolset.len + 2);
    hub_naming_canonical(toolset->toolset, HUB_STR("\x01"), &id);
    bool may = hub_buf_ok(&id) && settings->otherwise != HUB_ACCESS_DENY;
    for (size_t i = 0; hub_buf_ok(&id) && i < settings->count; i++) {
        const hub_access_rule *rule = &settings->rules[i];
        reach reaches = (who->bits[i / 64] >> (i % 64) & 1) != 0
                            ? rule_reach(rule, toolset, hub_buf_str(&id))
                            : REACHES_NONE;
        if (reaches != REACHES_NONE && (rule->then != HUB_ACCESS_DENY || reaches == REACHES_ALL)) {
            may = rule->then != HUB_ACCESS_DENY;
            break;
        }
    }
    hub_buf_fini(&id);
    return may;
}

/* Walk the scopes that this tool needs beside its toolset's: `line` and `rest` are 0 and empty at the
 * beginning. */
static bool next_scope(const hub_access_subject *subject, size_t *line, hub_str *rest,
                       hub_str *ret_scope)
{
    while (rest->len == 0) {
        if (subject->tool_scopes == NULL || *line >= subject->tool_scopes->count) {
            return false;
        }
        hub_str text = hub_str_of(subject->tool_scopes->items[(*line)++]);
        size_t end = hub_str_find(text, HUB_STR("\n"));
        hub_assert(end != SIZE_MAX);
        if (hub_str_glob((hub_str){.ptr = text.ptr, .len = end}, subject->name)) {
            *rest = hub_str_from(text, end + 1);
        }
    }
    size_t end = hub_str_find(*rest, HUB_STR(" "));
    *ret_scope = (hub_str){.ptr = rest->ptr, .len = end < rest->len ? end : rest->len};
    *rest = hub_str_from(*rest, end < rest->len ? end + 1 : rest->len);
    return true;
}

static bool has_scopes(const hub_access_subject *subject, const hub_access_decision *decision,
                       const hub_names *had)
{
    if (subject->scopes != NULL && !has_all(subject->scopes, had)) {
        return false;
    }
    hub_str scope;
    size_t line = 0;
    for (hub_str rest = HUB_STR_EMPTY; next_scope(subject, &line, &rest, &scope);) {
        if (!hub_names_have(had, scope)) {
            return false;
        }
    }
    return decision->verdict != HUB_ACCESS_CHALLENGE || has_all(&decision->rule->who.scopes, had);
}

static bool needs_scopes(const hub_access_subject *subject, const hub_access_decision *decision)
{
    hub_str rest = HUB_STR_EMPTY;
    hub_str scope;
    size_t line = 0;
    return (subject->scopes != NULL && subject->scopes->count > 0) ||
           decision->rule->who.scopes.count > 0 || next_scope(subject, &line, &rest, &scope);
}

hub_err hub_access_decide(const hub_access_settings *settings, const hub_identity *identity,
                          const hub_access_class *who, const hub_access_subject *subject,
                          hub_str arguments, hub_access_decision *ret_decision, hub_error *reterr)
{
    hub_access_decision decision = {.verdict = otherwise(settings, subject)};
    const hub_access_rule *rule;
    size_t at = 0;
    if (!is_permitted(who, subject)) {
        *ret_decision = (hub_access_decision){.verdict = HUB_ACCESS_DENY};
        return HUB_OK;
    }
    while ((rule = next_rule(settings, who, subject, &at)) != NULL) {
        if (rule->condition_count > 0 && !decision.is_conditional) {
            hub_err err = hub_access_check_arguments(arguments, reterr);
            if (err != HUB_OK) {
                return err;
            }
            decision.is_conditional = true;
        }
        bool fits = false;
        hub_err err = hub_access_arguments_fit(rule, arguments, &fits, reterr);
        if (err != HUB_OK) {
            return err;
        }
        if (fits) {
            decision.verdict = rule->then;
            decision.rule = rule;
            break;
        }
    }
    if (decision.verdict != HUB_ACCESS_DENY) {
        bool has = has_scopes(subject, &decision, &identity->scopes);
        if (!has) {
            decision.verdict = HUB_ACCESS_CHALLENGE;
        } else if (decision.verdict == HUB_ACCESS_CHALLENGE && needs_scopes(subject, &decision)) {
            decision.verdict = HUB_ACCESS_ALLOW;
        } /* a challenge that asks for nothing cannot be met */
    }
    *ret_decision = decision;
    return HUB_OK;
}

/* ---- what is missing ------------------------------------------------------------------------- */

static bool has_word(hub_str text, hub_str word)
{
    for (size_t begin = 0; begin <= text.len;) {
        size_t length = hub_str_find(hub_str_from(text, begin), HUB_STR(" "));
        length = length == SIZE_MAX ? text.len - begin : length;
        if (hub_str_eq((hub_str){.ptr = text.ptr + begin, .len = length}, word)) {
            return true;
        }
        begin += length + 1;
    }
    return false;
}

static void add_scope(hub_str scope, hub_buf *out)
{
    if (out->len > 0 && has_word(hub_buf_str(out), scope)) {
        return;
    }
    if (out->len > 0) {
        hub_buf_add_char(out, ' ');
    }
    hub_buf_add(out, scope);
}

static void add_scopes(const hub_names *scopes, hub_buf *out)
{
    for (size_t i = 0; i < scopes->count; i++) {
        add_scope(hub_str_of(scopes->items[i]), out);
    }
}

void hub_access_add_scopes(const hub_access_subject *subject, const hub_access_decision *decision,
                           hub_buf *out)
{
    if (subject->scopes != NULL) {
        add_scopes(subject->scopes, out);
    }
    hub_str scope;
    size_t line = 0;
    for (hub_str rest = HUB_STR_EMPTY; next_scope(subject, &line, &rest, &scope);) {
        add_scope(scope, out);
    }
    if (decision->rule != NULL && decision->rule->then == HUB_ACCESS_CHALLENGE) {
        add_scopes(&decision->rule->who.scopes, out);
    }
}
