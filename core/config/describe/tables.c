/* SPDX-License-Identifier: Apache-2.0 */
/* The first part of docs/REFERENCE.md: the keys of a manifest, and the hub's own tools. */
#include "config/describe/describe.h"

#include "base/limits.h"
#include "hub/kernel/settings.h"
#include "hub/router/meta_tools.h"
#include "tools/catalog.h"
#include "wire/json.h"

#include <string.h>

/* What a value is called; of other kinds the row's schema says it. */
static const char *const KINDS[] = {
    [HUB_CONFIG_TEXT] = "text",
    [HUB_CONFIG_BOOL] = "true or false",
    [HUB_CONFIG_COUNT] = "number",
    [HUB_CONFIG_SIZE] = "size",
    [HUB_CONFIG_DURATION] = "time",
    [HUB_CONFIG_WORD] = "word",
    [HUB_CONFIG_CHOICE] = "word",
    [HUB_CONFIG_NAMES] = "list of names",
    [HUB_CONFIG_TOOLSET_NAMES] = "list of toolsets",
    [HUB_CONFIG_FOLDERS] = "list of paths",
    [HUB_CONFIG_PATH] = "path",
    [HUB_CONFIG_ARGUMENTS] = "list",
    [HUB_CONFIG_VARIABLES] = "map",
    [HUB_CONFIG_HEADERS] = "map",
    [HUB_CONFIG_MAP] = "map",
    [HUB_CONFIG_MAP_OF] = "map",
    [HUB_CONFIG_LIST_OF] = "list",
    [HUB_CONFIG_OTHER] = NULL, /* the last kind */
};

/* What JSON Schema calls a type, and people do. */
static const struct {
    const char *type;
    const char *word;
} TYPES[] = {
    {"string", "text"}, {"integer", "number"},        {"number", "number"},
    {"array", "list"},  {"boolean", "true or false"}, {"object", "map"},
};

/* Which entries a key belongs to, by the bits of `of`. */
static const char *const TOOLSETS_OF[] = {"command", "url", "a Unix socket", "isolation: process",
                                          "a plugin"};
static const char *const LISTENERS_OF[] = {"http", "unix"};

static void add_keys(const char *path, const hub_config_key *keys, hub_buf *out);

/* Text in a cell of a table; what Markdown takes for markup is escaped, but not in `code`. */
static void add_cell(hub_str text, hub_buf *out)
{
    bool is_code = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        is_code ^= c == '`';
        if (c == '|' || (!is_code && (c == '*' || c == '<'))) {
            hub_buf_add_char(out, '\\');
        }
        hub_buf_add_char(out, c == '\n' ? ' ' : c);
    }
}

/* A type's word, once in the text behind `begin`, and with "or" in front where there is another. */
static void add_type(hub_str raw, size_t begin, hub_buf *out)
{
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        hub_str word = hub_str_of(TYPES[i].word);
        bool is_new = hub_str_find(hub_str_from(hub_buf_str(out), begin), word) == SIZE_MAX;
        if (is_new && hub_json_string_is(raw, hub_str_of(TYPES[i].type))) {
            hub_buf_add(out, out->len > begin ? HUB_STR(" or ") : HUB_STR_EMPTY);
            hub_buf_add(out, word);
        }
    }
}

/* The types that a schema allows, "text or list". `null` is what any key may be; what has no type
 * has words. */
static void add_types(hub_str schema, hub_buf *out)
{
    size_t begin = out->len;
    hub_str type = hub_json_get(schema, HUB_STR("type"));
    bool is_list = hub_json_type_of(type) == HUB_JSON_ARRAY;
    hub_json_iter it = hub_json_iterate(is_list ? type : hub_json_get(schema, HUB_STR("anyOf")));
    hub_str key;
    hub_str one;
    add_type(type, begin, out);
    while (hub_json_next(&it, &key, &one)) {
        hub_buf_add(out, hub_json_get(one, HUB_STR("const")));
        add_type(is_list ? one : hub_json_get(one, HUB_STR("type")), begin, out);
    }
    hub_buf_add(out, out->len == begin ? HUB_STR("word") : HUB_STR_EMPTY);
}

static void add_kind(const hub_config_key *key, hub_buf *out)
{
    if (KINDS[key->kind] != NULL) {
        hub_buf_add(out, hub_str_of(KINDS[key->kind]));
    } else {
        add_types(hub_str_of(key->schema), out);
    }
    if (key->most > 0 && (key->kind == HUB_CONFIG_MAP_OF || key->kind == HUB_CONFIG_LIST_OF)) {
        hub_buf_printf(out, " of at most %u", key->most);
    }
}

static void add_entries(const hub_config_key *key, bool is_listener, hub_buf *out)
{
    const char *const *names = is_listener ? LISTENERS_OF : TOOLSETS_OF;
    size_t count = is_listener ? sizeof LISTENERS_OF / sizeof *LISTENERS_OF
                               : sizeof TOOLSETS_OF / sizeof *TOOLSETS_OF;
    const char *before = " Only with ";
    for (size_t i = 0; i < count; i++) {
        if ((key->of & 1u << i) != 0) {
            hub_buf_printf(out, "%s%s", before, names[i]);
            before = ", ";
        }
    }
    hub_buf_add(out, key->of != 0 ? HUB_STR(".") : HUB_STR_EMPTY);
}

/* A row, and those of the map within: names of the user's choice are NAME, elements of a list []. */
static void add_key(const char *path, const hub_config_key *key, bool is_listener, hub_buf *out)
{
    hub_buf name;
    hub_buf about;
    hub_buf value;
    hub_buf_init(&name, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_init(&about, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_init(&value, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_printf(&name, "%s%s", path, key->name);
    hub_describe_about(key, &about);
    add_entries(key, is_listener, &about);
    if (hub_config_has_default(key)) {
        hub_config_add_default(&value, key);
    }
    hub_buf_printf(out, "| `" HUB_STR_FMT "` | ", HUB_STR_ARG(hub_buf_str(&name)));
    add_kind(key, out);
    hub_buf_printf(out, value.len > 0 ? " | `" HUB_STR_FMT "` | " : " |" HUB_STR_FMT " | ",
                   HUB_STR_ARG(hub_buf_str(&value)));
    add_cell(hub_buf_str(&about), out);
    hub_buf_add(out, HUB_STR(" |\n"));
    if (key->keys != NULL) {
        hub_buf_printf(&name, "%s",
                       key->kind == HUB_CONFIG_MAP_OF    ? ".NAME."
                       : key->kind == HUB_CONFIG_LIST_OF ? "[]."
                                                         : ".");
        add_keys(hub_buf_ok(&name) ? name.ptr : "", key->keys, out);
    }
    if (!hub_buf_ok(&name) || !hub_buf_ok(&about) || !hub_buf_ok(&value)) {
        out->failed = HUB_ENOMEM;
    }
    hub_buf_fini(&name);
    hub_buf_fini(&about);
    hub_buf_fini(&value);
}

static bool is_shown(const hub_config_key *key)
{
    return key->kind != HUB_CONFIG_NO_KEY && key->stands_for == NULL;
}

static void add_keys(const char *path, const hub_config_key *keys, hub_buf *out)
{
    for (const hub_config_key *key = keys; key->name != NULL; key++) {
        if (is_shown(key)) {
            add_key(path, key, keys == HUB_CONFIG_LISTEN_KEYS, out);
        }
    }
}

/* ---- the hub's own tools ----------------------------------------------------------------------- */

static void add_decoded(hub_str raw, hub_buf *out)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_CONFIG_BYTES);
    if (hub_json_decode(raw, &text) == HUB_OK) {
        add_cell(hub_buf_str(&text), out);
    }
    hub_buf_fini(&text);
}

static bool is_required(hub_str schema, hub_str raw_name)
{
    hub_json_iter it = hub_json_iterate(hub_json_get(schema, HUB_STR("required")));
    hub_str key;
    hub_str one;
    while (hub_json_next(&it, &key, &one)) {
        if (hub_str_eq(one, raw_name)) {
            return true;
        }
    }
    return false;
}

static void add_arguments(hub_str schema, hub_buf *out)
{
    hub_json_iter it = hub_json_iterate(hub_json_get(schema, HUB_STR("properties")));
    hub_str name;
    hub_str property;
    const char *before = "";
    while (hub_json_next(&it, &name, &property)) {
        hub_str about = hub_json_get(property, HUB_STR("description"));
        hub_buf_printf(out, "%s`", before);
        add_decoded(name, out);
        hub_buf_add(out, HUB_STR("` ("));
        add_types(property, out);
        hub_buf_add(out, is_required(schema, name) ? HUB_STR(", required)") : HUB_STR(")"));
        hub_buf_add(out, about.len > 0 ? HUB_STR(": ") : HUB_STR_EMPTY);
        add_decoded(about, out);
        before = "; ";
    }
}

static void add_group(const char *name, unsigned group, hub_buf *out)
{
    hub_catalog *catalog = NULL;
    if (hub_meta_catalog(group, false, &catalog) != HUB_OK) {
        out->failed = HUB_ENOMEM;
        return;
    }
    for (size_t i = 0; i < catalog->count; i++) {
        const hub_item *tool = &catalog->items[i];
        hub_buf_printf(out, "| `" HUB_STR_FMT "` | `%s` | ", HUB_STR_ARG(tool->name), name);
        add_arguments(hub_json_get(tool->json, HUB_STR("inputSchema")), out);
        hub_buf_add(out, HUB_STR(" | "));
        add_decoded(hub_json_get(tool->json, HUB_STR("description")), out);
        hub_buf_add(out, HUB_STR(" |\n"));
    }
    hub_catalog_unref(catalog);
}

static const char HEAD[] =
    "# Reference\n\n"
    "Every key of a manifest, the hub's own tools, every command and option: written from the "
    "tables that the program itself reads\n"
    "(`ninja -C build/dev settings`). How to write a manifest is in "
    "[CONFIGURATION.md](CONFIGURATION.md), the same keys as a file in\n"
    "[manifest-reference.yaml](../examples/manifest-reference.yaml); errors are in "
    "[ERRORS.md](ERRORS.md). Bounds that no key changes\n"
    "are named in `core/base/limits.h` of the source.\n\n"
    "## Manifest\n\n"
    "A size is a number of bytes, or `64KiB`, `4MiB`, `1GiB`; a time has its unit: `500ms`, `30s`, "
    "`2m`, `1h`. `NAME` is a name of your\n"
    "choice, `[]` each element of a list.\n";

static const char KEY_COLUMNS[] = "| key | type | default | meaning |\n|---|---|---|---|\n";

static const char TOOLS_HEAD[] =
    "\n## The hub's own tools\n\n"
    "`hub.meta_tools` names the groups that a client is shown; the tool of the group `results` is "
    "there where results may be kept.\n"
    "What the tools are for is in [META-TOOLS.md](META-TOOLS.md).\n\n"
    "| tool | group | arguments | what it does |\n|---|---|---|---|\n";

void hub_describe_tables(hub_buf *out)
{
    hub_buf_add(out, hub_str_of(HEAD));
    for (const hub_config_key *key = HUB_CONFIG_MANIFEST_KEYS; key->name != NULL; key++) {
        if (is_shown(key)) {
            hub_buf_printf(out, "\n### %s\n\n%s", key->name, KEY_COLUMNS);
            add_key("", key, false, out);
        }
    }
    hub_buf_add(out, hub_str_of(TOOLS_HEAD));
    for (const hub_config_word *group = HUB_CONFIG_META_GROUPS; group->word != NULL; group++) {
        add_group(group->word, group->value, out);
    }
    add_group("results", HUB_META_RESULTS, out);
}
