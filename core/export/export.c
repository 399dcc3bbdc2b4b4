/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export.h"

#include "base/digest.h"
#include "base/map.h"
#include "export/loss.h"
#include "wire/json.h"

#include <stdlib.h>

enum {
    NAME_BYTES = 64,  /* the most that these APIs take */
    DIGEST_CHARS = 9, /* "_" and 8 hexadecimal digits */
};

/* What the documentation of each API says that it does not obey in the schema of arguments. */
#define GEMINI_LOSES                                                                               \
    (HUB_LOSS_ALL_OF | HUB_LOSS_NOT | HUB_LOSS_PATTERN | HUB_LOSS_MIN_LENGTH |                     \
     HUB_LOSS_MAX_LENGTH | HUB_LOSS_CONST | HUB_LOSS_DEFAULT)

/* With one of these at the top of one tool's schema an API refuses the whole request, and with it all tools:
 * OpenAI says so of five, Anthropic of three. */
static const char *const REFUSED_BY_OPENAI[] = {"oneOf", "anyOf", "allOf", "enum", "not", NULL};
static const char *const REFUSED_BY_ANTHROPIC[] = {"oneOf", "anyOf", "allOf", NULL};

struct hub_export_format {
    const char *name;
    const char *begin; /* of the whole … */
    const char *end;
    uint32_t loses; /* HUB_LOSS_… */
    const char *const *refused_at_top;
    bool keeps_definition; /* nothing is converted */
    bool loses_members;    /* outputSchema and annotations have no place */
    /* Append one tool. */
    void (*add)(hub_str name, hub_str description, hub_str schema, hub_str tool, hub_buf *out);
};

/* ---- names ----------------------------------------------------------------------------------- */

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static bool is_plain_name(hub_str name)
{
    bool is = name.len > 0 && name.len <= NAME_BYTES;
    for (size_t i = 0; is && i < name.len; i++) {
        is = is_plain(name.ptr[i]);
    }
    return is;
}

hub_err hub_export_add_tool_name(const hub_export_format *format, hub_str name, hub_buf *out)
{
    if (format->keeps_definition || is_plain_name(name)) {
        hub_buf_add(out, name);
        return out->failed;
    }
    unsigned char digest[HUB_DIGEST_BYTES];
    hub_digest_of(name, digest);
    for (size_t i = 0; i < name.len && i < NAME_BYTES - DIGEST_CHARS; i++) {
        hub_buf_add_char(out, is_plain(name.ptr[i]) ? name.ptr[i] : '_');
    }
    hub_buf_printf(out, "_%02x%02x%02x%02x", digest[0], digest[1], digest[2], digest[3]);
    return out->failed;
}

bool hub_export_is_made_name(hub_str name)
{
    bool is =
        name.len >= DIGEST_CHARS && is_plain_name(name) && name.ptr[name.len - DIGEST_CHARS] == '_';
    for (size_t i = name.len - (DIGEST_CHARS - 1); is && i < name.len; i++) {
        is = (name.ptr[i] >= '0' && name.ptr[i] <= '9') ||
             (name.ptr[i] >= 'a' && name.ptr[i] <= 'f');
    }
    return is;
}

/* Append the API's name of the tool with that raw one. */
static hub_err add_name_of(const hub_export_format *format, hub_str raw, hub_buf *out)
{
    hub_buf decoded;
    hub_buf_init(&decoded, raw.len + 1);
    hub_err err = hub_json_decode(raw, &decoded);
    err = err == HUB_OK ? hub_export_add_tool_name(format, hub_buf_str(&decoded), out) : err;
    hub_buf_fini(&decoded);
    return err;
}

hub_str hub_export_find_tool(const hub_export_format *format, hub_str tools, hub_str name)
{
    hub_str key;
    hub_str tool;
    hub_str found = HUB_STR_EMPTY;
    hub_buf other;
    hub_buf_init(&other, SIZE_MAX / 4);
    for (hub_json_iter it = hub_json_iterate(tools);
         found.len == 0 && hub_json_next(&it, &key, &tool);) {
        hub_str raw = hub_json_get(tool, HUB_STR("name"));
        hub_buf_clear(&other);
        if (add_name_of(format, raw, &other) == HUB_OK && hub_str_eq(hub_buf_str(&other), name)) {
            found = raw;
        }
    }
    hub_buf_fini(&other);
    return found;
}

/* ---- formats --------------------------------------------------------------------------------- */

static void add_member(const char *key, hub_str raw, hub_buf *out)
{
    if (raw.len > 0) {
        hub_json_add_key(out, hub_str_of(key));
        hub_buf_add(out, raw);
    }
}

static void add_named(hub_str name, hub_str description, hub_buf *out)
{
    hub_json_add_key(out, HUB_STR("name"));
    hub_json_add_string(out, name);
    add_member("description", description, out);
}

static void add_openai(hub_str name, hub_str description, hub_str schema, hub_str tool,
                       hub_buf *out)
{
    (void)tool;
    hub_buf_add(out, HUB_STR("{\"type\":\"function\",\"function\":{"));
    add_named(name, description, out);
    add_member("parameters", schema, out);
    hub_buf_add(out, HUB_STR("}}"));
}

/* There `strict` is true unless it is said, and refuses most schemas. */
static void add_responses(hub_str name, hub_str description, hub_str schema, hub_str tool,
                          hub_buf *out)
{
    (void)tool;
    hub_buf_add(out, HUB_STR("{\"type\":\"function\""));
    add_named(name, description, out);
    add_member("parameters", schema, out);
    hub_buf_add(out, HUB_STR(",\"strict\":false}"));
}

static void add_anthropic(hub_str name, hub_str description, hub_str schema, hub_str tool,
                          hub_buf *out)
{
    (void)tool;
    hub_buf_add_char(out, '{');
    add_named(name, description, out);
    add_member("input_schema", schema, out);
    hub_buf_add_char(out, '}');
}

static void add_gemini(hub_str name, hub_str description, hub_str schema, hub_str tool,
                       hub_buf *out)
{
    (void)tool;
    hub_buf_add_char(out, '{');
    add_named(name, description, out);
    add_member("parametersJsonSchema", schema, out);
    hub_buf_add_char(out, '}');
}

static void add_mcp(hub_str name, hub_str description, hub_str schema, hub_str tool, hub_buf *out)
{
    (void)name;
    (void)description;
    (void)schema;
    hub_buf_add(out, tool);
}

/* A schema with references to itself gets an $id, or they would lead into the document around it.
 * spec: OpenAPI 3.1.1, 4.8.24.1 Schema Object; JSON Schema 2020-12 core, 8.2.1 */
static void add_embedded(hub_str name, hub_str schema, hub_buf *out)
{
    bool needs_id =
        (hub_loss_of(schema) & HUB_LOSS_REF) != 0 && hub_json_get(schema, HUB_STR("$id")).len == 0;
    if (!needs_id) {
        hub_buf_add(out, schema);
        return;
    }
    hub_buf_printf(out, "{\"$id\":\"urn:patchbay:tool:" HUB_STR_FMT "\",", HUB_STR_ARG(name));
    hub_buf_add(out, hub_str_from(schema, 1)); /* it has a member: the reference */
}

static void add_openapi(hub_str name, hub_str description, hub_str schema, hub_str tool,
                        hub_buf *out)
{
    (void)tool;
    hub_buf_printf(out, "\"/tools/" HUB_STR_FMT "\":{\"post\":{\"operationId\":\"" HUB_STR_FMT "\"",
                   HUB_STR_ARG(name), HUB_STR_ARG(name));
    add_member("description", description, out);
    hub_buf_add(out, HUB_STR(",\"requestBody\":{\"required\":true,\"content\":{"
                             "\"application/json\":{\"schema\":"));
    add_embedded(name, schema, out);
    hub_buf_add(out,
                HUB_STR("}}},\"responses\":{\"200\":{\"description\":\"The result, also of a "
                        "tool that failed (isError)\",\"content\":{\"application/json\":{"
                        "\"schema\":{\"$ref\":\"#/components/schemas/Result\"}}}},\"default\":{"
                        "\"$ref\":\"#/components/responses/Failure\"}}}}"));
}

/* What every operation refers to. Who asks shows a token where the hub wants one. */
static const char OPENAPI_END[] =
    "},\"components\":{\"schemas\":{\"Result\":{\"type\":\"object\",\"description\":\"The result "
    "of a "
    "tool, as in "
    "MCP\",\"properties\":{\"content\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
    "\"properties\":{\"type\":{\"type\":\"string\"},\"text\":{\"type\":\"string\"}},\"required\":["
    "\"type\"]}},\"structuredContent\":{},\"isError\":{\"type\":\"boolean\"}}},\"Failure\":{"
    "\"type\":"
    "\"object\",\"properties\":{\"error\":{\"type\":\"object\",\"properties\":{\"code\":{\"type\":"
    "\"integer\"},\"message\":{\"type\":\"string\"},\"data\":{}},\"required\":[\"message\"]}},"
    "\"required\":[\"error\"]}},\"responses\":{\"Failure\":{\"description\":\"The call was "
    "refused, or "
    "could not be made\",\"content\":{\"application/json\":{\"schema\":{\"$ref\":"
    "\"#/components/schemas/Failure\"}}}}},\"securitySchemes\":{\"bearer\":{\"type\":\"http\","
    "\"scheme\":\"bearer\"}}},\"security\":[{},{\"bearer\":[]}]}";

static const hub_export_format FORMATS[] = {
    {.name = "openai",
     .begin = "[",
     .end = "]",
     .refused_at_top = REFUSED_BY_OPENAI,
     .loses_members = true,
     .add = add_openai},
    {.name = "openai-responses",
     .begin = "[",
     .end = "]",
     .refused_at_top = REFUSED_BY_OPENAI,
     .loses_members = true,
     .add = add_responses},
    {.name = "anthropic",
     .begin = "[",
     .end = "]",
     .refused_at_top = REFUSED_BY_ANTHROPIC,
     .loses_members = true,
     .add = add_anthropic},
    {.name = "gemini",
     .begin = "[{\"functionDeclarations\":[",
     .end = "]}]",
     .loses = GEMINI_LOSES,
     .loses_members = true,
     .add = add_gemini},
    {.name = "mcp", .begin = "[", .end = "]", .keeps_definition = true, .add = add_mcp},
    {.name = "openapi",
     .begin =
         "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Patchbay\",\"version\":\"1\"},\"paths\":{",
     .end = OPENAPI_END,
     .loses_members = true,
     .add = add_openapi},
};

enum { FORMAT_COUNT = sizeof FORMATS / sizeof FORMATS[0] };

const hub_export_format *hub_export_next(const hub_export_format *format)
{
    const hub_export_format *next = format != NULL ? format + 1 : FORMATS;
    return next < FORMATS + FORMAT_COUNT ? next : NULL;
}

const hub_export_format *hub_export_find(hub_str name)
{
    const hub_export_format *at = hub_export_next(NULL);
    while (at != NULL && !hub_str_is(name, at->name)) {
        at = hub_export_next(at);
    }
    return at;
}

const char *hub_export_name(const hub_export_format *format)
{
    return format->name;
}

/* ---- one tool -------------------------------------------------------------------------------- */

/* A name that was given. */
typedef struct taken {
    UT_hash_handle hh;
    char text[NAME_BYTES];
} taken;

typedef struct exporter {
    const hub_export_format *format;
    bool is_strict;
    hub_export_on_note *on_note;
    void *ctx;
    taken *names; /* that were given, where they might meet */
    hub_err err;
    hub_buf *out;
} exporter;

static void tell(const exporter *e, bool is_left_out, hub_str id, hub_str what)
{
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 4);
    hub_buf_printf(&text, "tool \"" HUB_STR_FMT "\" ", HUB_STR_ARG(id));
    hub_buf_add(&text, is_left_out ? HUB_STR("is left out: ") : HUB_STR_EMPTY);
    hub_buf_add(&text, what);
    if (hub_buf_ok(&text)) {
        e->on_note(e->ctx, is_left_out, hub_buf_str(&text));
    }
    hub_buf_fini(&text);
}

/* Append what the format has no place for, by name. */
static void add_losses(const exporter *e, hub_str tool, hub_str schema, hub_buf *out)
{
    static const char *const MEMBERS[] = {"outputSchema", "annotations"};
    uint32_t lost = hub_loss_of(schema) & e->format->loses;
    for (unsigned bit = 0; bit < HUB_LOSSES; bit++) {
        if ((lost & 1u << bit) != 0) {
            hub_buf_printf(out, "%s%s", out->len > 0 ? ", " : "", hub_loss_name(bit));
        }
    }
    for (size_t i = 0; e->format->loses_members && i < sizeof MEMBERS / sizeof MEMBERS[0]; i++) {
        if (hub_json_get(tool, hub_str_of(MEMBERS[i])).len > 0) {
            hub_buf_printf(out, "%s%s", out->len > 0 ? ", " : "", MEMBERS[i]);
        }
    }
}

/* Whether the API's name of a tool is new; then it is noted. */
static bool take_name(exporter *e, hub_str name)
{
    taken *found = NULL;
    if (e->format->keeps_definition) {
        return true; /* it is what the hub calls the tool, and no other */
    }
    HASH_FIND(hh, e->names, name.ptr, name.len, found);
    if (found != NULL) {
        return false;
    }
    taken *made = calloc(1, sizeof *made);
    if (made != NULL) {
        memcpy(made->text, name.ptr, name.len);
        HASH_ADD(hh, e->names, text, name.len, made);
    }
    if (made == NULL || !hub_map_has_taken(&made->hh)) {
        free(made);
        e->err = HUB_ENOMEM;
    }
    return true;
}

static void forget_names(exporter *e)
{
    taken *next;
    for (taken *at = e->names; at != NULL; at = next) {
        next = at->hh.next;
        HASH_DELETE(hh, e->names, at);
        free(at);
    }
}

/* Whether the API would refuse the tool, and all others with it; then it is told. */
static bool is_refused(const exporter *e, hub_str id, hub_str schema)
{
    for (const char *const *word = e->format->refused_at_top; word != NULL && *word != NULL;
         word++) {
        if (hub_json_get(schema, hub_str_of(*word)).len > 0) {
            hub_buf why;
            hub_buf_init(&why, SIZE_MAX / 4);
            hub_buf_printf(&why, "%s refuses all tools for one whose schema has %s at the top",
                           e->format->name, *word);
            tell(e, true, id, hub_buf_str(&why));
            hub_buf_fini(&why);
            return true;
        }
    }
    return false;
}

static void add_tool(exporter *e, hub_str tool, hub_str id, hub_buf *name, hub_buf *losses)
{
    hub_str schema = hub_json_get(tool, HUB_STR("inputSchema"));
    hub_str description = hub_json_get(tool, HUB_STR("description"));
    if (hub_json_type_of(schema) != HUB_JSON_OBJECT) {
        tell(e, true, id, HUB_STR("it has no inputSchema that is an object"));
        return;
    }
    if (is_refused(e, id, schema)) {
        return;
    }
    add_losses(e, tool, schema, losses);
    if (losses->len > 0 && e->is_strict) {
        hub_buf why;
        hub_buf_init(&why, SIZE_MAX / 4);
        hub_buf_printf(&why, "%s would lose " HUB_STR_FMT, e->format->name,
                       HUB_STR_ARG(hub_buf_str(losses)));
        tell(e, true, id, hub_buf_str(&why));
        hub_buf_fini(&why);
        return;
    }
    if (hub_export_add_tool_name(e->format, id, name) != HUB_OK ||
        !take_name(e, hub_buf_str(name))) {
        tell(e, true, id, HUB_STR("another tool has the name that it would get"));
        return;
    }
    if (losses->len > 0) {
        hub_buf what;
        hub_buf_init(&what, SIZE_MAX / 4);
        hub_buf_printf(&what, "loses in %s: " HUB_STR_FMT, e->format->name,
                       HUB_STR_ARG(hub_buf_str(losses)));
        tell(e, false, id, hub_buf_str(&what));
        hub_buf_fini(&what);
    }
    hub_json_add_comma(e->out);
    bool has_text = hub_json_type_of(description) == HUB_JSON_STRING;
    e->format->add(hub_buf_str(name), has_text ? description : HUB_STR_EMPTY, schema, tool, e->out);
}

hub_err hub_export_tools(const hub_export_format *format, hub_str tools, bool is_strict,
                         hub_export_on_note *on_note, void *ctx, hub_buf *out)
{
    exporter e = {
        .format = format, .is_strict = is_strict, .on_note = on_note, .ctx = ctx, .out = out};
    hub_buf texts[3]; /* the tool's own name, the API's, what is lost */
    hub_str key;
    hub_str tool;
    hub_err err = HUB_OK;
    for (size_t i = 0; i < 3; i++) {
        hub_buf_init(&texts[i], SIZE_MAX / 4);
    }
    hub_buf_add(out, hub_str_of(format->begin));
    for (hub_json_iter it = hub_json_iterate(tools);
         err == HUB_OK && hub_json_next(&it, &key, &tool);) {
        for (size_t i = 0; i < 3; i++) {
            hub_buf_clear(&texts[i]);
        }
        if (hub_json_decode(hub_json_get(tool, HUB_STR("name")), &texts[0]) == HUB_OK) {
            add_tool(&e, tool, hub_buf_str(&texts[0]), &texts[1], &texts[2]);
        } else {
            tell(&e, true, HUB_STR("?"), HUB_STR("it has no name"));
        }
        err = e.err != HUB_OK ? e.err : texts[0].failed;
    }
    hub_buf_add(out, hub_str_of(format->end));
    for (size_t i = 0; i < 3; i++) {
        hub_buf_fini(&texts[i]);
    }
    forget_names(&e);
    return err == HUB_OK ? out->failed : err;
}
