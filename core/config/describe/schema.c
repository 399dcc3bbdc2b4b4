/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON Schema of a manifest: first as one line, which is then broken into many. */
#include "config/describe/describe.h"

#include "base/limits.h"
#include "wire/json.h"

enum { INDENT = 2 };

/* Maps that have a name of their own in the schema, since more than one place has them. */
typedef struct definition {
    const char *name;
    const hub_config_key *keys;
    const char *about;
} definition;

static const definition DEFINITIONS[] = {
    {"middleware", HUB_CONFIG_MIDDLEWARE_KEYS, "Steps that each call passes on its way."},
    {"results", HUB_CONFIG_RESULT_KEYS, "How large results of tools may be."},
    {"toolset", HUB_CONFIG_TOOLSET_KEYS,
     "A plugin with its config, or a server: the keys of an mcpServers entry."},
    {"policy", HUB_CONFIG_POLICY_KEYS, "Limits to the tools that can be exposed at all."},
    {"profile", HUB_CONFIG_PROFILE_KEYS, "An endpoint with an exposure of its own."},
    {"listener", HUB_CONFIG_LISTEN_KEYS,
     "An address over TCP (HTTP and WebSocket), or a Unix socket."},
};

enum { DEFINITION_COUNT = sizeof DEFINITIONS / sizeof *DEFINITIONS };

/* Of kinds whose schema has no part of the row's. */
static const char *const FIXED[] = {
    [HUB_CONFIG_TEXT] = "\"type\":\"string\",\"minLength\":1",
    [HUB_CONFIG_BOOL] = "\"type\":\"boolean\"",
    [HUB_CONFIG_DURATION] = "\"$ref\":\"#/$defs/duration\"",
    [HUB_CONFIG_NAMES] = "\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":1}",
    [HUB_CONFIG_TOOLSET_NAMES] = "\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/toolset_key\"}",
    [HUB_CONFIG_FOLDERS] = "\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":1}",
    [HUB_CONFIG_PATH] = "\"type\":\"string\",\"minLength\":1",
    [HUB_CONFIG_ARGUMENTS] =
        "\"type\":\"array\",\"items\":{\"type\":[\"string\",\"number\",\"boolean\"]}",
    [HUB_CONFIG_VARIABLES] =
        "\"type\":[\"object\",\"null\"],\"propertyNames\":{\"pattern\":\"^[^=]+$\"},"
        "\"additionalProperties\":{\"type\":[\"string\",\"number\",\"boolean\"]}",
    [HUB_CONFIG_HEADERS] =
        "\"type\":[\"object\",\"null\"],\"propertyNames\":{\"pattern\":"
        "\"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$\"},"
        "\"additionalProperties\":{\"type\":[\"string\",\"number\",\"boolean\"]}",
    [HUB_CONFIG_OTHER] = NULL, /* the last kind */
};

static const char DURATION[] = "{\"description\":\"A time with its unit.\",\"type\":\"string\","
                               "\"pattern\":\"^[0-9]+ *(ms|s|m|h)$\"}";

static const char SIZE_TEXT[] = "{\"type\":\"string\",\"pattern\":\"^[0-9]+ *(B|KiB|MiB|GiB)$\"}";

static void add_object(const hub_config_key *keys, bool may_be_null, hub_buf *out);

static void add_raw_key(hub_buf *out, const char *key)
{
    hub_json_add_key(out, hub_str_of(key));
}

static void add_text(hub_buf *out, const char *key, const char *text)
{
    add_raw_key(out, key);
    hub_json_add_string(out, hub_str_of(text));
}

static void add_count(hub_buf *out, const char *key, uint32_t count)
{
    add_raw_key(out, key);
    hub_buf_add_u64(out, count);
}

/* Members that are written already, into the object that is open. */
static void add_members(hub_buf *out, const char *members)
{
    hub_json_add_comma(out);
    hub_buf_add(out, hub_str_of(members));
}

/* The members of an object that is written already. */
static void add_members_of(hub_buf *out, const char *object)
{
    hub_str text = hub_str_of(object);
    hub_json_add_comma(out);
    hub_buf_add(out, (hub_str){.ptr = text.ptr + 1, .len = text.len - 2});
}

static void add_size(const hub_config_key *key, hub_buf *out)
{
    add_raw_key(out, "anyOf");
    hub_buf_add_char(out, '[');
    if (key->has_zero) {
        hub_buf_add(out, HUB_STR("{\"const\":0}"));
    }
    hub_json_add_comma(out);
    hub_buf_printf(out, "{\"type\":\"integer\",\"minimum\":%u,\"maximum\":%u},%s]", key->least,
                   key->most, SIZE_TEXT);
}

static void add_words(const hub_config_word *words, hub_buf *out)
{
    add_text(out, "type", "string");
    add_raw_key(out, "enum");
    hub_buf_add_char(out, '[');
    for (; words->word != NULL; words++) {
        hub_json_add_comma(out);
        hub_json_add_string(out, hub_str_of(words->word));
    }
    hub_buf_add_char(out, ']');
}

/* The schema of one of the maps behind a key, whole. */
static void add_inner(const hub_config_key *key, bool may_be_null, hub_buf *out)
{
    for (size_t i = 0; i < DEFINITION_COUNT; i++) {
        if (DEFINITIONS[i].keys == key->keys) {
            hub_buf_printf(out, "{\"$ref\":\"#/$defs/%s\"}", DEFINITIONS[i].name);
            return;
        }
    }
    hub_buf_add_char(out, '{');
    add_object(key->keys, may_be_null, out);
    if (key->schema != NULL) {
        add_members_of(out, key->schema);
    }
    hub_buf_add_char(out, '}');
}

static void add_map(const hub_config_key *key, hub_buf *out)
{
    hub_buf inner;
    hub_buf_init(&inner, HUB_LIMIT_CONFIG_BYTES);
    add_inner(key, true, &inner);
    hub_buf_add_char(&inner, '\0');
    if (hub_buf_ok(&inner)) {
        add_members_of(out, inner.ptr);
    }
    hub_buf_fini(&inner);
}

static void add_map_of(const hub_config_key *key, hub_buf *out)
{
    add_members(out, "\"type\":[\"object\",\"null\"]");
    add_count(out, "maxProperties", key->most);
    add_raw_key(out, "propertyNames");
    hub_buf_add(out, hub_str_of(key->schema));
    add_raw_key(out, "additionalProperties");
    add_inner(key, true, out);
}

static void add_list_of(const hub_config_key *key, hub_buf *out)
{
    add_text(out, "type", "array");
    add_count(out, "maxItems", key->most);
    add_raw_key(out, "items");
    add_inner(key, false, out);
}

static void add_kind(const hub_config_key *key, hub_buf *out)
{
    switch (key->kind) {
    case HUB_CONFIG_COUNT:
        add_text(out, "type", "integer");
        add_count(out, "minimum", key->least);
        add_count(out, "maximum", key->most);
        break;
    case HUB_CONFIG_SIZE:
        add_size(key, out);
        break;
    case HUB_CONFIG_WORD:
    case HUB_CONFIG_CHOICE:
        add_words(key->words, out);
        break;
    case HUB_CONFIG_MAP:
        add_map(key, out);
        break;
    case HUB_CONFIG_MAP_OF:
        add_map_of(key, out);
        break;
    case HUB_CONFIG_LIST_OF:
        add_list_of(key, out);
        break;
    case HUB_CONFIG_OTHER:
        add_members_of(out, key->schema);
        if (key->most > 0) {
            add_count(out, "maxItems", key->most);
        }
        break;
    default:
        add_members(out, FIXED[key->kind]);
    }
}

static void add_default(const hub_config_key *key, hub_buf *out)
{
    bool is_plain = key->kind == HUB_CONFIG_BOOL || key->kind == HUB_CONFIG_COUNT ||
                    (key->kind == HUB_CONFIG_SIZE && key->fallback == 0);
    add_raw_key(out, "default");
    if (is_plain) {
        hub_config_add_default(out, key);
        return;
    }
    hub_buf_add_char(out, '"'); /* words, times and the like need no escapes */
    hub_config_add_default(out, key);
    hub_buf_add_char(out, '"');
}

static void add_description(const hub_config_key *key, hub_buf *out)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_add(&text, hub_str_of(key->about));
    if (key->kind != HUB_CONFIG_COUNT) { /* whose schema has them */
        hub_describe_bounds(key, &text);
    }
    add_raw_key(out, "description");
    hub_json_add_string(out, hub_buf_str(&text));
    hub_buf_fini(&text);
}

/* The members of the schema of a map with these keys. */
static void add_object(const hub_config_key *keys, bool may_be_null, hub_buf *out)
{
    add_members(out, may_be_null ? "\"type\":[\"object\",\"null\"]" : "\"type\":\"object\"");
    add_members(out, "\"additionalProperties\":false");
    add_raw_key(out, "properties");
    hub_buf_add_char(out, '{');
    for (const hub_config_key *key = keys; key->name != NULL; key++) {
        if (key->kind == HUB_CONFIG_NO_KEY) {
            continue;
        }
        add_raw_key(out, key->name);
        hub_buf_add_char(out, '{');
        add_description(key, out);
        add_kind(key, out);
        if (hub_config_has_default(key)) {
            add_default(key, out);
        }
        hub_buf_add_char(out, '}');
    }
    hub_buf_add_char(out, '}');
}

/* ---- rules between keys ---------------------------------------------------------------------- */

static void add_required(hub_buf *out, const char *name)
{
    hub_json_add_comma(out);
    hub_buf_printf(out, "{\"required\":[\"%s\"]}", name);
}

/* "anyOf": one of the keys is there that belong to some of `of` and to none of `not_of`. */
static void add_any_of(const hub_config_key *keys, unsigned of, unsigned not_of, hub_buf *out)
{
    add_raw_key(out, "anyOf");
    hub_buf_add_char(out, '[');
    for (; keys->name != NULL; keys++) {
        if ((keys->of & of) != 0 && (keys->of & not_of) == 0) {
            add_required(out, keys->name);
        }
    }
    hub_buf_add_char(out, ']');
}

static void add_none_of(const hub_config_key *keys, unsigned of, unsigned not_of, hub_buf *out)
{
    add_raw_key(out, "not");
    hub_buf_add_char(out, '{');
    add_any_of(keys, of, not_of, out);
    hub_buf_add_char(out, '}');
}

static const char IS_ISOLATED[] =
    "{\"properties\":{\"isolation\":{\"const\":\"process\"}},\"required\":[\"isolation\"]}";
static const char IS_SERVER[] = "\"anyOf\":[{\"required\":[\"command\"]},{\"required\":[\"url\"]}]";
static const char HAS_MODULE[] = "{\"required\":[\"module\"]},{\"required\":[\"config\"]}";

/* {"if": an object that …, "then": …}: `is` are the members of the first, up to its end. */
static void begin_rule(hub_buf *out, const char *is)
{
    hub_json_add_comma(out);
    hub_buf_printf(out, "{\"if\":{\"type\":\"object\"%s%s", is[0] != '\0' ? "," : "", is);
}

static void add_toolset_rules(hub_buf *out)
{
    const hub_config_key *keys = HUB_CONFIG_TOOLSET_KEYS;
    add_raw_key(out, "allOf");
    hub_buf_add(out,
                HUB_STR("[{\"not\":{\"type\":\"object\",\"required\":[\"command\",\"url\"]}}"));
    begin_rule(out, "\"required\":[\"command\"]},\"then\":{");
    add_none_of(keys, HUB_CONFIG_OF_URL, HUB_CONFIG_OF_COMMAND, out);
    hub_buf_add(out, HUB_STR("}}"));
    begin_rule(out, "\"required\":[\"url\"]},\"then\":{");
    add_none_of(keys, HUB_CONFIG_OF_COMMAND, HUB_CONFIG_OF_URL, out);
    hub_buf_add(out, HUB_STR("}}"));
    begin_rule(out, "\"properties\":{\"url\":{\"pattern\":\"^[Uu][Nn][Ii][Xx]:\"}},"
                    "\"required\":[\"url\"]},\"then\":{"
                    "\"properties\":{\"url\":{\"pattern\":\"^.....(//)?/\"}}");
    add_none_of(keys, HUB_CONFIG_OF_URL, HUB_CONFIG_OF_SOCKET, out);
    hub_buf_add(out, HUB_STR("}}"));
    begin_rule(out, "");
    add_any_of(keys, HUB_CONFIG_OF_SERVER, HUB_CONFIG_OF_PROCESS, out);
    hub_buf_printf(out, "},\"then\":{%s,\"not\":{\"anyOf\":[%s,%s]}}}", IS_SERVER, HAS_MODULE,
                   IS_ISOLATED);
    begin_rule(out, "");
    add_any_of(keys, HUB_CONFIG_OF_PROCESS, 0, out);
    hub_buf_printf(out, ",\"not\":%s},\"then\":{%s,\"not\":{\"anyOf\":[%s]}}}]", IS_ISOLATED,
                   IS_SERVER, HAS_MODULE);
    add_members(out, "\"dependentRequired\":{\"certificate\":[\"key\"],\"key\":[\"certificate\"]}");
}

static void add_listener_rules(hub_buf *out)
{
    static const struct {
        const char *name;
        unsigned other;
    } KINDS[] = {{"http", HUB_CONFIG_OF_UNIX}, {"unix", HUB_CONFIG_OF_HTTP}};
    add_raw_key(out, "oneOf");
    hub_buf_add_char(out, '[');
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        hub_json_add_comma(out);
        hub_buf_printf(out, "{\"required\":[\"%s\"]", KINDS[i].name);
        add_none_of(HUB_CONFIG_LISTEN_KEYS, KINDS[i].other, 0, out);
        hub_buf_add_char(out, '}');
    }
    hub_buf_add_char(out, ']');
}

static void add_definition(const definition *about, hub_buf *out)
{
    add_raw_key(out, about->name);
    hub_buf_add_char(out, '{');
    add_text(out, "description", about->about);
    add_object(about->keys, about->keys != HUB_CONFIG_LISTEN_KEYS, out);
    if (about->keys == HUB_CONFIG_TOOLSET_KEYS) {
        add_toolset_rules(out);
    } else if (about->keys == HUB_CONFIG_LISTEN_KEYS) {
        add_listener_rules(out);
    }
    hub_buf_add_char(out, '}');
}

static void add_line(hub_buf *out)
{
    hub_buf_add(
        out,
        HUB_STR("{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
                "\"$id\":\"https://patchbay.dev/schemas/manifest.schema.json\","
                "\"$comment\":\"Written by patchbay-settings from the tables in core/config.\","
                "\"title\":\"Patchbay manifest\","
                "\"description\":\"Configuration of the MCP hub Patchbay, in YAML or JSON. "
                "examples/manifest-reference.yaml shows all of it.\""));
    add_object(HUB_CONFIG_MANIFEST_KEYS, true, out);
    add_raw_key(out, "$defs");
    hub_buf_add_char(out, '{');
    add_raw_key(out, "toolset_key");
    hub_buf_printf(out,
                   "{\"type\":\"string\",\"pattern\":\"^(?!.*__)(?!.*_$)[a-z][a-z0-9_-]{0,%d}$\","
                   "\"description\":\"Key of a toolset.\"}",
                   HUB_LIMIT_TOOLSET_KEY_BYTES - 1);
    add_raw_key(out, "duration");
    hub_buf_add(out, hub_str_of(DURATION));
    for (size_t i = 0; i < DEFINITION_COUNT; i++) {
        add_definition(&DEFINITIONS[i], out);
    }
    hub_buf_add(out, HUB_STR("}}"));
}

/* ---- layout ---------------------------------------------------------------------------------- */

static void break_line(hub_buf *out, size_t depth)
{
    hub_buf_printf(out, "\n%*s", (int)(depth * INDENT), "");
}

/* A character outside of strings. `after`: what follows it. */
static void add_laid_out(hub_buf *out, char c, char after, size_t *depth)
{
    bool is_open = c == '{' || c == '[';
    bool is_close = c == '}' || c == ']';
    if (is_close && out->ptr[out->len - 1] != '{' && out->ptr[out->len - 1] != '[') {
        break_line(out, *depth - 1);
    }
    *depth -= is_close;
    hub_buf_add_char(out, c);
    *depth += is_open;
    if (c == ':') {
        hub_buf_add_char(out, ' ');
    } else if (c == ',' || (is_open && after != '}' && after != ']')) {
        break_line(out, *depth);
    }
}

static void add_indented(hub_str line, hub_buf *out)
{
    size_t depth = 0;
    bool is_string = false;
    for (size_t i = 0; i < line.len; i++) {
        char c = line.ptr[i];
        if (c == '"' && (i == 0 || line.ptr[i - 1] != '\\')) {
            is_string = !is_string;
        }
        if (is_string || c == '"') {
            hub_buf_add_char(out, c);
        } else {
            add_laid_out(out, c, i + 1 < line.len ? line.ptr[i + 1] : '\0', &depth);
        }
    }
    hub_buf_add_char(out, '\n');
}

void hub_describe_schema(hub_buf *out)
{
    hub_buf line;
    hub_buf_init(&line, HUB_LIMIT_CONFIG_BYTES);
    add_line(&line);
    add_indented(hub_buf_str(&line), out);
    hub_buf_fini(&line);
}
