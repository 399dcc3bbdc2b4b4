/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

/* The arguments, as the configuration has them. */
typedef struct arguments {
    patchbay_str properties; /* raw object; empty: none */
    patchbay_str required;   /* raw array; of input_schema only */
    int is_short;
} arguments;

static int is_object(patchbay_str raw)
{
    return raw.len > 0 && raw.ptr[0] == '{';
}

static int is_required(const arguments *args, const char *name)
{
    patchbay_json_iter it = patchbay_json_iterate(args->required);
    patchbay_str unused;
    patchbay_str entry;
    while (patchbay_json_next(&it, &unused, &entry)) {
        if (patchbay_json_is(entry, patchbay_str_of(name))) {
            return 1;
        }
    }
    return 0;
}

static int32_t find_arguments(patchbay_str raw_tool, arguments *ret, const command_fault *fault)
{
    patchbay_str schema = patchbay_json_get(raw_tool, "input_schema");
    patchbay_str args = patchbay_json_get(raw_tool, "args");
    memset(ret, 0, sizeof *ret);
    if (schema.len > 0 && args.len > 0) {
        return command_fail(fault, PATCHBAY_EINVAL, "give input_schema or args, not both");
    }
    ret->is_short = schema.len == 0;
    ret->properties = ret->is_short ? args : patchbay_json_get(schema, "properties");
    ret->required = patchbay_json_get(schema, "required");
    if ((schema.len > 0 && !is_object(schema)) || (args.len > 0 && !is_object(args))) {
        return command_fail(fault, PATCHBAY_EINVAL, "input_schema and args are objects");
    }
    if (schema.len > 0 &&
        !patchbay_json_is(patchbay_json_get(schema, "type"), patchbay_str_of("object"))) {
        return command_fail(fault, PATCHBAY_EINVAL, "input_schema must have \"type\": \"object\"");
    }
    return PATCHBAY_OK;
}

/* ---- placeholders ---------------------------------------------------------------------------- */

static int32_t check_piece(const arguments *args, command_piece *piece, const char *where,
                           const command_fault *fault)
{
    patchbay_str property = patchbay_json_get(args->properties, piece->text);
    patchbay_str type = patchbay_json_get(property, "type");
    if (property.len == 0) {
        return command_fail(fault, PATCHBAY_EINVAL,
                            "%s: there is no argument '%.64s' (%s does not define it)", where,
                            piece->text, args->is_short ? "args" : "input_schema");
    }
    piece->fallback = patchbay_json_get(property, "default");
    if (piece->kind == COMMAND_SPREAD && type.len > 0 && type.ptr[0] == '"' &&
        !patchbay_json_is(type, patchbay_str_of("array"))) {
        return command_fail(fault, PATCHBAY_EINVAL,
                            "%s: {%.64s...} wants an argument of type array", where, piece->text);
    }
    /* In the short form what {name} stands for is required by that. */
    if (piece->kind == COMMAND_VALUE && !args->is_short && piece->fallback.len == 0 &&
        !is_required(args, piece->text)) {
        return command_fail(fault, PATCHBAY_EINVAL,
                            "%s: argument '%.64s' may be absent; write {%.64s?}, or require it, or "
                            "give it a default",
                            where, piece->text, piece->text);
    }
    return PATCHBAY_OK;
}

static int32_t check_template(const arguments *args, const command_template *template,
                              const char *where, const command_fault *fault)
{
    int32_t result = PATCHBAY_OK;
    for (size_t i = 0; i < template->count && result == PATCHBAY_OK; i++) {
        if (template->pieces[i].kind != COMMAND_TEXT) {
            result = check_piece(args, &template->pieces[i], where, fault);
        }
    }
    return result;
}

static int uses(const command_template *template, patchbay_str key, command_piece_kind kind)
{
    for (size_t i = 0; i < template->count; i++) {
        const command_piece *piece = &template->pieces[i];
        if (piece->kind == kind && patchbay_json_is(key, patchbay_str_of(piece->text))) {
            return 1;
        }
    }
    return 0;
}

/* ---- the schema ------------------------------------------------------------------------------ */

/* The short form: properties as they are, required what a {name} without default stands for. */
static void out_short(patchbay_out *out, const arguments *args, const command_tool *tool)
{
    patchbay_json_iter it = patchbay_json_iterate(args->properties);
    patchbay_str key;
    patchbay_str value;
    int count = 0;
    patchbay_out_text(out, "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[");
    while (patchbay_json_next(&it, &key, &value)) {
        int needed = uses(&tool->input, key, COMMAND_VALUE);
        for (size_t i = 0; i < tool->word_count; i++) {
            needed |= uses(&tool->words[i], key, COMMAND_VALUE);
        }
        if (needed && patchbay_json_get(value, "default").len == 0) {
            patchbay_out_text(out, count++ > 0 ? "," : "");
            patchbay_out_raw(out, key);
        }
    }
    patchbay_out_text(out, "],\"properties\":");
    patchbay_out_raw(out, args->properties.len > 0 ? args->properties : patchbay_str_of("{}"));
    patchbay_out_text(out, "}");
}

int32_t command_schema(command_set *set, patchbay_str raw_tool, command_tool *tool,
                       const char **ret_schema, const command_fault *fault)
{
    arguments args;
    char where[32];
    int32_t result = find_arguments(raw_tool, &args, fault);
    for (size_t i = 0; i < tool->word_count && result == PATCHBAY_OK; i++) {
        (void)snprintf(where, sizeof where, "argv[%zu]", i);
        result = check_template(&args, &tool->words[i], where, fault);
    }
    if (result == PATCHBAY_OK) {
        result = check_template(&args, &tool->input, "stdin", fault);
    }
    if (result != PATCHBAY_OK) {
        return result;
    }
    patchbay_out text;
    memset(&text, 0, sizeof text);
    if (args.is_short) {
        out_short(&text, &args, tool);
    } else {
        patchbay_out_raw(&text, patchbay_json_get(raw_tool, "input_schema"));
    }
    *ret_schema =
        text.failed ? NULL : command_keep_text(set, patchbay_str_make(text.ptr, text.len));
    patchbay_out_free(&text);
    return *ret_schema != NULL ? PATCHBAY_OK
                               : command_fail(fault, PATCHBAY_ENOMEM, "out of memory");
}

/* ---- the result's ---------------------------------------------------------------------------- */

#define OUTPUT_SCHEMA(member)                                                                      \
    "{\"type\":\"object\","                                                                        \
    "\"required\":[\"exit_code\",\"stderr\",\"duration_ms\",\"truncated\"],"                       \
    "\"properties\":{"                                                                             \
    "\"exit_code\":{\"type\":[\"integer\",\"null\"]},"                                             \
    "\"signal\":{\"type\":\"string\"},"                                                            \
    "\"timed_out\":{\"type\":\"boolean\"}," member "\"stdout\":{\"type\":\"string\"},"             \
    "\"stderr\":{\"type\":\"string\"},"                                                            \
    "\"lossy\":{\"type\":\"boolean\",\"description\":\"bytes that are not UTF-8 were replaced\"}," \
    "\"duration_ms\":{\"type\":\"integer\"},"                                                      \
    "\"truncated\":{\"type\":\"boolean\"}}}"

const char *command_output_schema(command_output output)
{
    static const char *const schemas[] = {
        [COMMAND_OUTPUT_TEXT] = OUTPUT_SCHEMA(""),
        [COMMAND_OUTPUT_JSON] = OUTPUT_SCHEMA("\"output\":{},"),
        [COMMAND_OUTPUT_LINES] =
            OUTPUT_SCHEMA("\"lines\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"),
    };
    return schemas[output];
}
