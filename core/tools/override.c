/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/override.h"

#include "base/limits.h"

bool hub_override_is_glob(hub_str text)
{
    return memchr(text.len > 0 ? text.ptr : "", '*', text.len) != NULL ||
           memchr(text.len > 0 ? text.ptr : "", '?', text.len) != NULL;
}

/* The text of a raw string: a span in it, or a copy in the arena. */
static hub_err decode(hub_arena *arena, hub_str raw, hub_str *ret_text)
{
    if (hub_json_plain(raw, ret_text)) {
        return HUB_OK;
    }
    hub_buf text;
    hub_buf_init(&text, raw.len + 1);
    hub_err err = hub_json_decode(raw, &text);
    char *copy = err == HUB_OK ? hub_arena_strdup(arena, hub_buf_str(&text)) : NULL;
    *ret_text = (hub_str){.ptr = copy, .len = text.len};
    hub_buf_fini(&text);
    return copy != NULL ? HUB_OK : HUB_ENOMEM;
}

hub_err hub_overrides_read(hub_arena *arena, hub_str json, hub_overrides *ret_overrides)
{
    size_t count = hub_json_count(json);
    hub_override_rule *rules = hub_arena_array(arena, count + 1, sizeof *rules);
    hub_err err = rules != NULL ? HUB_OK : HUB_ENOMEM;
    hub_str key;
    hub_str body;
    size_t at = 0;
    for (hub_json_iter it = hub_json_iterate(json);
         err == HUB_OK && hub_json_next(&it, &key, &body);) {
        rules[at].body = body;
        err = decode(arena, key, &rules[at++].glob);
    }
    *ret_overrides = (hub_overrides){.rules = rules, .count = at};
    return err;
}

/* ---- what is said of one tool ---------------------------------------------------------------- */

static void take(hub_str *member, hub_str body, const char *key)
{
    if (member->len == 0) {
        *member = hub_json_get(body, hub_str_of(key));
    }
}

/* What is read of the rules for one tool. */
typedef struct override_reading {
    hub_arena *arena;
    hub_override *override;
    hub_str definition;
    hub_str hide;
    hub_str name;
    bool is_exact; /* the rule names the tool */
} override_reading;

/* Nothing is put into a call that the tool may not take. */
static void spare(const override_reading *reading, hub_override_argument *argument)
{
    if (!reading->is_exact && reading->definition.len > 0 &&
        !hub_override_has_argument(reading->definition, argument->key)) {
        argument->is_hidden = argument->is_hidden || argument->fixed.len > 0;
        argument->fixed = HUB_STR_EMPTY;
        argument->fallback = HUB_STR_EMPTY;
    }
}

static hub_err take_argument(const override_reading *reading, hub_str raw_key, hub_str body)
{
    hub_override *override = reading->override;
    for (size_t i = 0; i < override->argument_count; i++) {
        if (hub_json_string_is(raw_key, override->arguments[i].key)) {
            return HUB_OK; /* a rule before this one has said it */
        }
    }
    if (override->argument_count == HUB_LIMIT_OVERRIDE_ARGUMENTS) {
        return HUB_ELIMIT;
    }
    hub_override_argument *argument = &override->arguments[override->argument_count++];
    *argument = (hub_override_argument){
        .fixed = hub_json_get(body, HUB_STR("fixed")),
        .fallback = hub_json_get(body, HUB_STR("default")),
        .description = hub_json_get(body, HUB_STR("description")),
        .is_hidden = hub_json_type_of(hub_json_get(body, HUB_STR("hide"))) == HUB_JSON_TRUE,
    };
    hub_err err = decode(reading->arena, raw_key, &argument->key);
    if (err == HUB_OK) {
        spare(reading, argument);
    }
    override->looks = override->looks || argument->fixed.len > 0 || argument->fallback.len > 0 ||
                      argument->is_hidden;
    return err;
}

static hub_err take_arguments(const override_reading *reading, hub_str arguments)
{
    hub_override *override = reading->override;
    hub_err err = HUB_OK;
    hub_str key;
    hub_str body;
    if (override->arguments == NULL && hub_json_count(arguments) > 0) {
        override->arguments = hub_arena_array(reading->arena, HUB_LIMIT_OVERRIDE_ARGUMENTS,
                                              sizeof *override->arguments);
        err = override->arguments != NULL ? HUB_OK : HUB_ENOMEM;
    }
    for (hub_json_iter it = hub_json_iterate(arguments);
         err == HUB_OK && hub_json_next(&it, &key, &body);) {
        err = take_argument(reading, key, body);
    }
    return err;
}

static void take_results(hub_override *override, hub_str results)
{
    hub_str over = hub_json_get(results, HUB_STR("over"));
    uint64_t most = 0;
    if (!override->has_max_result &&
        hub_json_to_whole(hub_json_get(results, HUB_STR("max_bytes")), &most)) {
        override->has_max_result = true;
        override->max_result_bytes = (uint32_t)most;
    }
    if (!override->has_over && over.len > 0) {
        override->has_over = true;
        override->over = hub_json_string_is(over, HUB_STR("spill"))      ? HUB_OVER_SPILL
                         : hub_json_string_is(over, HUB_STR("truncate")) ? HUB_OVER_TRUNCATE
                                                                         : HUB_OVER_ERROR;
    }
}

/* What a rule says beside those that came before it. */
static hub_err take_rule(override_reading *reading, hub_str body)
{
    hub_override *override = reading->override;
    take(&reading->name, body, "name");
    take(&reading->hide, body, "hide");
    take(&override->title, body, "title");
    take(&override->description, body, "description");
    take(&override->tags, body, "tags");
    take(&override->category, body, "category");
    take(&override->read_only, body, "read_only");
    take(&override->destructive, body, "destructive");
    take(&override->validate, body, "validate");
    take(&override->flat, body, "flat");
    take_results(override, hub_json_get(body, HUB_STR("results")));
    return take_arguments(reading, hub_json_get(body, HUB_STR("arguments")));
}

/* Whether the rule is in its turn: those that name one tool come first. */
static bool fits(const hub_override_rule *rule, bool is_exact, hub_str tool)
{
    return is_exact ? hub_str_eq(rule->glob, tool)
                    : !hub_str_eq(rule->glob, tool) && hub_str_glob(rule->glob, tool);
}

hub_err hub_overrides_find(const hub_overrides *overrides, hub_arena *arena, hub_str tool,
                           hub_str definition, const hub_override **ret_override)
{
    override_reading reading = {.arena = arena, .definition = definition};
    hub_err err = HUB_OK;
    for (int turn = 0; turn < 2; turn++) {
        reading.is_exact = turn == 0;
        for (size_t i = 0; err == HUB_OK && i < overrides->count; i++) {
            const hub_override_rule *rule = &overrides->rules[i];
            if (!fits(rule, reading.is_exact, tool)) {
                continue;
            }
            if (reading.override == NULL) {
                reading.override = hub_arena_alloc(arena, sizeof *reading.override);
            }
            err = reading.override != NULL ? take_rule(&reading, rule->body) : HUB_ENOMEM;
        }
    }
    hub_override *found = reading.override;
    if (err == HUB_OK && found != NULL) {
        found->is_hidden = hub_json_type_of(reading.hide) == HUB_JSON_TRUE;
        err = reading.name.len > 0 ? decode(arena, reading.name, &found->name) : HUB_OK;
    }
    *ret_override = found;
    return err;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* An argument that a client sent and may not. */
static const hub_override_argument *find_forbidden(const hub_override *override, hub_str key)
{
    for (size_t i = 0; i < override->argument_count; i++) {
        const hub_override_argument *argument = &override->arguments[i];
        if ((argument->fixed.len > 0 || argument->is_hidden) &&
            hub_str_eq_nocase(argument->key, key)) {
            return argument;
        }
    }
    return NULL;
}

static hub_err check_sent(const hub_override *override, hub_str arguments, hub_error *reterr)
{
    hub_buf decoded;
    hub_str key;
    hub_str value;
    hub_err err = HUB_OK;
    hub_buf_init(&decoded, arguments.len + 1);
    for (hub_json_iter it = hub_json_iterate(arguments);
         err == HUB_OK && hub_json_next(&it, &key, &value);) {
        hub_buf_clear(&decoded);
        err = hub_json_decode(key, &decoded);
        const hub_override_argument *argument =
            err == HUB_OK ? find_forbidden(override, hub_buf_str(&decoded)) : NULL;
        if (err != HUB_OK) {
            err = hub_fail(reterr, err, "%s", hub_err_text(err));
        } else if (argument != NULL) {
            err = hub_fail(reterr, HUB_EINVAL,
                           "the argument \"" HUB_STR_FMT "\" is not for clients to set: leave it "
                           "out",
                           HUB_STR_ARG(argument->key));
        }
    }
    hub_buf_fini(&decoded);
    return err;
}

static bool has_key(hub_str object, hub_str wanted)
{
    hub_str key;
    hub_str value;
    for (hub_json_iter it = hub_json_iterate(object); hub_json_next(&it, &key, &value);) {
        if (hub_json_string_is(key, wanted)) {
            return true;
        }
    }
    return false;
}

hub_err hub_override_call(const hub_override *override, hub_str arguments, hub_buf *out,
                          hub_error *reterr)
{
    hub_err err = check_sent(override, arguments, reterr);
    if (err != HUB_OK) {
        return err;
    }
    bool has_more = hub_json_count(arguments) > 0;
    size_t end = arguments.len - 1; /* its closing bracket */
    for (size_t i = 0; i < override->argument_count; i++) {
        const hub_override_argument *argument = &override->arguments[i];
        hub_str value = argument->fixed.len > 0 ? argument->fixed : argument->fallback;
        if (value.len == 0 || has_key(arguments, argument->key)) {
            continue;
        }
        if (out->len == 0) {
            hub_buf_add(out, (hub_str){.ptr = arguments.ptr, .len = end});
        }
        if (has_more) {
            hub_buf_add_char(out, ',');
        }
        hub_json_add_string(out, argument->key);
        hub_buf_add_char(out, ':');
        hub_buf_add(out, value);
        has_more = true;
    }
    if (out->len > 0) {
        hub_buf_add_char(out, '}');
    }
    return hub_buf_ok(out) ? HUB_OK : hub_fail(reterr, HUB_ENOMEM, "out of memory");
}
