/* SPDX-License-Identifier: Apache-2.0 */
/* The definition of a tool as an override has it: changes of its text, and of nothing else. */
#include "tools/override.h"

#include "base/limits.h"
#include "tools/override_flat.h"
#include "wire/json_edit.h"

bool hub_override_has_argument(hub_str definition, hub_str key)
{
    hub_str schema = hub_json_get(definition, HUB_STR("inputSchema"));
    return hub_json_get(hub_json_get(schema, HUB_STR("properties")), key).len > 0;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static bool is_taken_out(const hub_override_argument *argument)
{
    return argument->fixed.len > 0 || argument->is_hidden;
}

/* The schema of one argument that stays. */
static bool edit_property(hub_json_edits *edits, const hub_override_argument *argument,
                          hub_str schema)
{
    hub_json_change changes[] = {
        {.key = HUB_STR("description"),
         .value = argument->description,
         .is_kept = argument->description.len == 0},
        {.key = HUB_STR("default"),
         .value = argument->fallback,
         .is_kept = argument->fallback.len == 0},
    };
    if (hub_json_type_of(schema) == HUB_JSON_OBJECT) {
        return hub_json_edit_members(edits, schema, changes, 2);
    }
    if (hub_json_type_of(schema) != HUB_JSON_TRUE ||
        argument->description.len + argument->fallback.len == 0) {
        return true; /* `false` stays: it allows no value */
    }
    hub_buf text; /* `true` is the schema that says nothing */
    hub_buf_init(&text, SIZE_MAX / 4);
    hub_buf_add_char(&text, '{');
    for (size_t i = 0; i < 2; i++) {
        if (changes[i].value.len > 0) {
            hub_json_add_key(&text, changes[i].key);
            hub_buf_add(&text, changes[i].value);
        }
    }
    hub_buf_add_char(&text, '}');
    edits->failed = edits->failed || !hub_buf_ok(&text);
    hub_json_edit_replace(edits, schema, hub_buf_str(&text));
    hub_buf_fini(&text);
    return true;
}

/* `flat`: what comes from alternatives. */
static bool edit_properties(hub_json_edits *edits, const hub_override *override, hub_str properties,
                            const hub_override_flat *flat)
{
    hub_json_change changes[HUB_LIMIT_OVERRIDE_ARGUMENTS + HUB_LIMIT_FLAT_ARGUMENTS];
    size_t count = override->argument_count;
    bool is_single = true;
    hub_str key;
    hub_str schema;
    for (size_t i = 0; i < override->argument_count; i++) {
        const hub_override_argument *argument = &override->arguments[i];
        changes[i] = (hub_json_change){.key = argument->key, .is_kept = !is_taken_out(argument)};
    }
    for (hub_json_iter it = hub_json_iterate(properties); hub_json_next(&it, &key, &schema);) {
        for (size_t i = 0; i < override->argument_count; i++) {
            const hub_override_argument *argument = &override->arguments[i];
            if (!is_taken_out(argument) && hub_json_string_is(key, argument->key)) {
                is_single = edit_property(edits, argument, schema) && is_single;
            }
        }
    }
    for (size_t i = 0; i < flat->count; i++) {
        changes[count++] = flat->changes[i];
    }
    return hub_json_edit_members(edits, properties, changes, count) && is_single;
}

/* The same where there are none. */
static void write_properties(const hub_override_flat *flat, hub_buf *out)
{
    hub_buf_add_char(out, '{');
    for (size_t i = 0; i < flat->count; i++) {
        hub_json_add_key(out, flat->changes[i].key);
        hub_buf_add(out, flat->changes[i].value);
    }
    hub_buf_add_char(out, '}');
}

/* Nobody has to send what the hub sends. Returns whether the list stays: one of which nothing is left
 * goes as a whole, because older dialects of JSON Schema want it to have an element. */
static bool edit_required(hub_json_edits *edits, const hub_override *override, hub_str required)
{
    hub_json_change changes[HUB_LIMIT_OVERRIDE_ARGUMENTS];
    hub_json_edits own;
    if (hub_json_type_of(required) != HUB_JSON_ARRAY || hub_json_count(required) == 0) {
        return true;
    }
    for (size_t i = 0; i < override->argument_count; i++) {
        const hub_override_argument *argument = &override->arguments[i];
        changes[i] = (hub_json_change){.key = argument->key};
        changes[i].is_kept = !is_taken_out(argument) && argument->fallback.len == 0;
    }
    hub_json_edits_init(&own);
    bool stays = hub_json_edit_strings(&own, required, changes, override->argument_count) > 0;
    hub_json_edits_fini(&own);
    if (stays) {
        (void)hub_json_edit_strings(edits, required, changes, override->argument_count);
    }
    return stays;
}

static bool edit_members(hub_json_edits *edits, const hub_override *override, hub_str schema,
                         const hub_override_flat *flat)
{
    enum { READ = 2 };
    bool is_flat = hub_json_type_of(override->flat) == HUB_JSON_TRUE;
    hub_json_change members[] = {{.key = HUB_STR("properties"), .is_kept = true},
                                 {.key = HUB_STR("required"), .is_kept = true},
                                 {.key = HUB_STR("oneOf")},
                                 {.key = HUB_STR("anyOf")},
                                 {.key = HUB_STR("allOf")},
                                 {.key = HUB_STR("enum")},
                                 {.key = HUB_STR("not")}};
    hub_str properties = hub_json_get(schema, members[0].key);
    bool is_single = true;
    hub_buf made;
    hub_buf_init(&made, SIZE_MAX / 4);
    if (flat->count > 0 && properties.len == 0) {
        write_properties(flat, &made);
        members[0] = (hub_json_change){.key = HUB_STR("properties"), .value = hub_buf_str(&made)};
    } else if (override->argument_count + flat->count > 0) {
        is_single = edit_properties(edits, override, properties, flat);
    }
    if (override->argument_count > 0) {
        hub_str required = hub_json_get(schema, members[1].key);
        members[1].is_kept = edit_required(edits, override, required);
    }
    size_t count = is_flat                        ? sizeof members / sizeof members[0]
                   : override->argument_count > 0 ? READ
                                                  : 0;
    edits->failed = edits->failed || !hub_buf_ok(&made);
    is_single = hub_json_edit_members(edits, schema, members, count) && is_single;
    hub_buf_fini(&made);
    return is_single;
}

static bool edit_schema(hub_json_edits *edits, const hub_override *override, hub_str schema)
{
    hub_override_flat flat;
    bool is_flat = hub_json_type_of(override->flat) == HUB_JSON_TRUE;
    hub_override_flat_init(&flat, override, is_flat ? schema : HUB_STR_EMPTY);
    bool is_single = edit_members(edits, override, schema, &flat);
    hub_override_flat_fini(&flat);
    return is_single;
}

/* ---- the rest -------------------------------------------------------------------------------- */

/* Hints, and the title as clients before 2025-06-18 read it. Returns the raw text of a new object,
 * where there is none. */
static bool edit_annotations(hub_json_edits *edits, const hub_override *override,
                             hub_str annotations, hub_buf *made)
{
    hub_json_change changes[] = {
        {.key = HUB_STR("readOnlyHint"),
         .value = override->read_only,
         .is_kept = override->read_only.len == 0},
        {.key = HUB_STR("destructiveHint"),
         .value = override->destructive,
         .is_kept = override->destructive.len == 0},
        {.key = HUB_STR("title"), .value = override->title, .is_kept = true},
    };
    if (hub_json_type_of(annotations) == HUB_JSON_OBJECT) {
        changes[2].is_kept =
            override->title.len == 0 || hub_json_get(annotations, HUB_STR("title")).len == 0;
        return hub_json_edit_members(edits, annotations, changes, 3);
    }
    for (size_t i = 0; i < 2; i++) {
        if (!changes[i].is_kept) {
            hub_buf_add(made, made->len == 0 ? HUB_STR("{") : HUB_STR_EMPTY);
            hub_json_add_key(made, changes[i].key);
            hub_buf_add(made, changes[i].value);
        }
    }
    hub_buf_add(made, made->len > 0 ? HUB_STR("}") : HUB_STR_EMPTY);
    return true;
}

hub_err hub_override_definition(const hub_override *override, hub_str definition, hub_buf *out)
{
    hub_json_edits edits;
    hub_buf annotations;
    hub_json_edits_init(&edits);
    hub_buf_init(&annotations, 256);
    bool is_single = edit_annotations(
        &edits, override, hub_json_get(definition, HUB_STR("annotations")), &annotations);
    is_single = edit_schema(&edits, override, hub_json_get(definition, HUB_STR("inputSchema"))) &&
                is_single;
    hub_json_change changes[] = {
        {.key = HUB_STR("title"), .value = override->title, .is_kept = override->title.len == 0},
        {.key = HUB_STR("description"),
         .value = override->description,
         .is_kept = override->description.len == 0},
        {.key = HUB_STR("annotations"),
         .value = hub_buf_str(&annotations),
         .is_kept = annotations.len == 0},
    };
    is_single = hub_json_edit_members(&edits, definition, changes, 3) && is_single;
    hub_err err = is_single ? HUB_OK : HUB_EINVAL;
    if (err == HUB_OK && edits.count > 0) {
        err = hub_json_edits_apply(&edits, definition, out);
    } else if (err == HUB_OK) {
        hub_buf_add(out, definition);
        err = out->failed;
    }
    hub_buf_fini(&annotations);
    hub_json_edits_fini(&edits);
    return err;
}
