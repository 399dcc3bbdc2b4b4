/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/import_text.h"

#include "base/limits.h"
#include "cli/cli.h"
#include "config/expand.h"
#include "config/file.h"
#include "registry/launch.h"
#include "wire/json.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- variables -------------------------------------------------------------------------------- */

/* Text of this machine inside a JSON string. */
static void add_text(const import_source *source, const char *text, hub_buf *out)
{
    hub_buf quoted;
    hub_buf_init(&quoted, HUB_LIMIT_CONFIG_BYTES);
    const char *escaped = hub_launch_escape(text, source->arena);
    hub_json_add_string(&quoted, hub_str_of(escaped != NULL ? escaped : ""));
    hub_str inside = hub_buf_str(&quoted);
    if (inside.len >= 2) {
        hub_buf_add(out, (hub_str){.ptr = inside.ptr + 1, .len = inside.len - 2});
    }
    hub_buf_fini(&quoted);
}

static const hub_node *find_input(const import_source *source, hub_str id)
{
    const hub_node *one = source->inputs != NULL ? source->inputs->first : NULL;
    for (; one != NULL; one = one->next) {
        const hub_node *own = hub_node_find(one, "id");
        if (own != NULL && hub_str_eq(own->text, id)) {
            return one;
        }
    }
    return NULL;
}

/* api-key as a variable's name: API_KEY. */
static void add_variable_name(hub_str id, hub_buf *out)
{
    for (size_t i = 0; i < id.len; i++) {
        char c = id.ptr[i];
        bool is_small = c >= 'a' && c <= 'z';
        bool is_kept = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9' && i > 0);
        hub_buf_add_char(out, is_small ? (char)(c - 'a' + 'A') : is_kept ? c : '_');
    }
}

/* What an input falls back to, if it can stand in a variable; else the empty text. */
static hub_str find_fallback(const hub_node *input)
{
    const hub_node *fallback = input != NULL ? hub_node_find(input, "default") : NULL;
    bool is_plain = fallback != NULL && fallback->kind == HUB_NODE_TEXT &&
                    strpbrk(fallback->text.ptr, "\"\\{}$\n\t") == NULL;
    return is_plain ? fallback->text : HUB_STR_EMPTY;
}

/* ${input:api-key} is a variable API_KEY, or, where what is typed is not shown, a secret. */
static void add_input(const import_source *source, hub_str id, hub_buf *out)
{
    const hub_node *input = find_input(source, id);
    const hub_node *hidden = input != NULL ? hub_node_find(input, "password") : NULL;
    if (hidden != NULL && hidden->kind == HUB_NODE_TRUE && hub_is_secret_name(id)) {
        hub_buf_printf(out, "${secret:" HUB_STR_FMT "}", HUB_STR_ARG(id));
        cli_complain(
            "%s: \"%s\": the program asks its user for a secret: patchbay secret set " HUB_STR_FMT,
            source->file, source->name, HUB_STR_ARG(id));
        return;
    }
    hub_str fallback = find_fallback(input);
    size_t from = out->len + 2;
    hub_buf_add(out, HUB_STR("${"));
    add_variable_name(id, out);
    hub_str name = hub_str_from(hub_buf_str(out), from);
    cli_complain(
        "%s: \"%s\": the program asks its user for a value: set the variable ${" HUB_STR_FMT
        "} for the hub%s",
        source->file, source->name, HUB_STR_ARG(name),
        fallback.len > 0 ? ", unless its default is good" : "");
    hub_buf_add(out, fallback.len > 0 ? HUB_STR(":-") : HUB_STR_EMPTY);
    hub_buf_add(out, fallback);
    hub_buf_add_char(out, '}');
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

typedef enum variable_use { NO_VARIABLE, REPLACED, UNKNOWN } variable_use;

/* What nobody but the editor can say. */
static bool is_of_editor(hub_str name)
{
    return hub_str_starts(name, HUB_STR("workspaceFolder:")) ||
           hub_str_starts(name, HUB_STR("command:")) || hub_str_starts(name, HUB_STR("config:"));
}

/* What stands between ${ and }. */
static variable_use add_variable(const import_source *source, hub_str name, hub_buf *out)
{
    bool is_folder = hub_str_is(name, "workspaceFolder") || hub_str_is(name, "workspaceRoot");
    bool is_last = hub_str_is(name, "workspaceFolderBasename");
    if (hub_str_is(name, "userHome")) {
        hub_buf_add(out, HUB_STR("${HOME}"));
    } else if (hub_str_is(name, "$")) { /* of an envFile: add_line */
        hub_buf_add(out, HUB_STR("$$"));
    } else if (hub_str_is(name, "pathSeparator") || hub_str_is(name, "/")) {
        hub_buf_add_char(out, '/');
    } else if ((is_folder || is_last) && source->workspace != NULL) {
        add_text(source, is_last ? last_part(source->workspace) : source->workspace, out);
    } else if (hub_str_starts(name, HUB_STR("input:"))) {
        add_input(source, hub_str_from(name, sizeof "input:" - 1), out);
    } else if (is_folder || is_last || is_of_editor(name)) {
        return UNKNOWN;
    } else {
        return NO_VARIABLE;
    }
    return REPLACED;
}

/* The length of the name in $NAME; 0: it is none, or the program has no such variables. */
static size_t bare_name(const import_source *source, hub_str json)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char MORE[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    bool is_one = source->has_bare_names && json.len > 1 && json.ptr[0] == '$' &&
                  json.ptr[1] != '\0' && strchr(LETTERS, json.ptr[1]) != NULL;
    size_t len = is_one ? 1 : 0;
    while (len > 0 && len + 1 < json.len && json.ptr[len + 1] != '\0' &&
           strchr(MORE, json.ptr[len + 1]) != NULL) {
        len++;
    }
    return len;
}

/* One character that begins no ${…}; two dollars are two for the program, and one for the hub. */
static size_t add_plain(const import_source *source, hub_str json, hub_buf *out)
{
    bool is_braced = source->has_braces && (hub_str_starts(json, HUB_STR("{env:")) ||
                                            hub_str_starts(json, HUB_STR("{file:")));
    size_t name_len = bare_name(source, json);
    if (name_len > 0) {
        hub_buf_printf(out, "${%.*s}", (int)name_len, json.ptr + 1);
        return name_len + 1;
    }
    bool needs_dollar = is_braced || hub_str_starts(json, HUB_STR("$$"));
    hub_buf_add(out, needs_dollar ? HUB_STR("$") : HUB_STR_EMPTY);
    hub_buf_add_char(out, json.ptr[0]);
    return 1;
}

bool import_translate(const import_source *source, hub_str json, hub_buf *out)
{
    while (json.len > 0) {
        size_t end =
            hub_str_starts(json, HUB_STR("${")) ? hub_str_find(json, HUB_STR("}")) : SIZE_MAX;
        hub_str name =
            end != SIZE_MAX ? (hub_str){.ptr = json.ptr + 2, .len = end - 2} : HUB_STR_EMPTY;
        variable_use use = end != SIZE_MAX ? add_variable(source, name, out) : NO_VARIABLE;
        if (use == UNKNOWN) {
            cli_complain("%s: left out: \"%s\" asks for ${" HUB_STR_FMT
                         "}, which the hub does not have: write the folder or the value there, or "
                         "import with --workspace DIR",
                         source->file, source->name, HUB_STR_ARG(name));
            return false;
        }
        size_t len = use == REPLACED ? end + 1 : add_plain(source, json, out);
        json = hub_str_from(json, len);
    }
    return true;
}

/* ---- envFile ---------------------------------------------------------------------------------- */

/* The value of a line: in quotes, or up to a comment. */
static hub_str read_value(hub_str value)
{
    if (value.len >= 2 && (value.ptr[0] == '"' || value.ptr[0] == '\'')) {
        const char *end = memchr(value.ptr + 1, value.ptr[0], value.len - 1);
        return end != NULL ? hub_str_between(value.ptr + 1, end) : value;
    }
    size_t comment = hub_str_find(value, HUB_STR(" #"));
    return hub_str_trim(comment != SIZE_MAX ? (hub_str){.ptr = value.ptr, .len = comment} : value);
}

static void add_line(const import_source *source, hub_str line, const hub_node *env, hub_buf *json)
{
    line = hub_str_trim(line);
    if (hub_str_starts(line, HUB_STR("export "))) {
        line = hub_str_trim(hub_str_from(line, sizeof "export " - 1));
    }
    size_t equals = hub_str_find(line, HUB_STR("="));
    if (line.len == 0 || line.ptr[0] == '#' || equals == SIZE_MAX || equals == 0) {
        return;
    }
    char *name =
        hub_arena_strdup(source->arena, hub_str_trim((hub_str){.ptr = line.ptr, .len = equals}));
    char *value =
        hub_arena_strdup(source->arena, read_value(hub_str_trim(hub_str_from(line, equals + 1))));
    if (name == NULL || value == NULL || (env != NULL && hub_node_find(env, name) != NULL)) {
        return;
    }
    hub_json_add_key(json, hub_str_of(name));
    hub_buf escaped;
    hub_buf_init_secret(&escaped, 4 * HUB_EXPAND_FILE_BYTES);
    for (const char *at = value; *at != '\0'; at++) { /* what the file says is no variable */
        hub_buf_add(&escaped, *at == '$' ? HUB_STR("${$}") : (hub_str){.ptr = at, .len = 1});
    }
    hub_json_add_string(json, hub_buf_str(&escaped));
    hub_buf_fini(&escaped);
}

/* Where it is: variables of editors, a relative one below the workspace. NULL: nobody knows. */
static const char *find_env_file(const import_source *source, const char *said)
{
    static const struct {
        const char *prefix;
        bool is_home;
    } PREFIXES[] = {{"${workspaceFolder}/", false},
                    {"${workspaceRoot}/", false},
                    {"${userHome}/", true},
                    {"${HOME}/", true},
                    {"~/", true},
                    {"./", false},
                    {"", false}};
    if (said[0] == '/') {
        return said;
    }
    size_t i = 0;
    while (strncmp(said, PREFIXES[i].prefix, strlen(PREFIXES[i].prefix)) != 0) {
        i++;
    }
    const char *folder = PREFIXES[i].is_home ? getenv("HOME") : source->workspace;
    const char *rest = said + strlen(PREFIXES[i].prefix);
    return folder != NULL && strstr(rest, "${") == NULL
               ? hub_arena_printf(source->arena, "%s/%s", folder, rest)
               : NULL;
}

static void add_file(import_source *source, const hub_node *env_file, const hub_node *env,
                     hub_buf *json)
{
    const char *said = env_file->kind == HUB_NODE_TEXT ? env_file->text.ptr : "";
    const char *path = find_env_file(source, said);
    hub_error why = {.code = HUB_OK};
    hub_buf text;
    hub_buf_init_secret(&text, HUB_EXPAND_FILE_BYTES);
    hub_err err = path != NULL
                      ? hub_file_read(path, &text, NULL, &why)
                      : hub_fail(&why, HUB_ENOTFOUND,
                                 "%s: of which folder is not known (--workspace DIR)", said);
    if (err == HUB_OK && !hub_is_utf8(hub_buf_str(&text))) {
        err = hub_fail(&why, HUB_EINVAL, "%s: not UTF-8", path);
    }
    if (err != HUB_OK) {
        cli_complain(
            "%s: \"%s\": its envFile is not taken over: %s. Say what it sets with patchbay "
            "set toolsets.NAME.env.VARIABLE",
            source->file, source->name, why.text);
    }
    for (hub_str rest = hub_buf_str(&text); err == HUB_OK && rest.len > 0;) {
        size_t end = hub_str_find(rest, HUB_STR("\n"));
        size_t len = end != SIZE_MAX ? end : rest.len;
        add_line(source, (hub_str){.ptr = rest.ptr, .len = len}, env, json);
        rest = hub_str_from(rest, end != SIZE_MAX ? end + 1 : rest.len);
    }
    source->env_file = err == HUB_OK ? path : NULL;
    hub_buf_fini(&text);
}

void import_add_env_file(import_source *source, const hub_node *env_file, const hub_node *env,
                         hub_buf *json)
{
    hub_json_add_key(json, HUB_STR("env"));
    hub_buf_add_char(json, '{');
    add_file(source, env_file, env, json);
    const hub_node *one = env != NULL && env->kind == HUB_NODE_MAP ? env->first : NULL;
    for (; one != NULL; one = one->next) {
        hub_json_add_key(json, hub_str_of(one->key));
        hub_json_add_string(json, one->text);
    }
    hub_buf_add_char(json, '}');
}

/* ---- the folder of a project ------------------------------------------------------------------ */

/* Whether a word is a path in the folder: "./…", or what is there. */
static bool is_inside(const char *folder, const char *word, hub_arena *arena)
{
    if (word[0] == '\0' || strchr("/-~$", word[0]) != NULL) {
        return false;
    }
    const char *path = hub_arena_printf(arena, "%s/%s", folder, word);
    return strncmp(word, "./", 2) == 0 || strncmp(word, "../", 3) == 0 ||
           (path != NULL && access(path, F_OK) == 0);
}

void import_add_path(const import_source *source, hub_str path, hub_buf *json)
{
    bool is_relative = path.len > 0 && strchr("/~$", path.ptr[0]) == NULL;
    const char *whole =
        source->workspace != NULL && is_relative
            ? hub_arena_printf(source->arena, "${workspaceFolder}/" HUB_STR_FMT, HUB_STR_ARG(path))
            : NULL;
    hub_json_add_string(json, whole != NULL ? hub_str_of(whole) : path);
}

void import_add_folder(const import_source *source, hub_buf *json)
{
    const hub_node *entry = NULL;
    hub_error why = {.code = HUB_OK};
    if (source->workspace == NULL ||
        hub_node_parse("server.json", hub_buf_str(json), source->arena, &entry, &why) != HUB_OK) {
        return;
    }
    const hub_node *command = hub_node_find(entry, "command");
    const hub_node *args = hub_node_find(entry, "args");
    bool is_path = command != NULL && strchr(command->text.ptr, '/') != NULL;
    bool has_path = is_path && is_inside(source->workspace, command->text.ptr, source->arena);
    const hub_node *one = args != NULL ? args->first : NULL;
    for (; one != NULL && !has_path; one = one->next) {
        has_path = is_inside(source->workspace, one->text.ptr, source->arena);
    }
    if (command != NULL && has_path && hub_node_find(entry, "cwd") == NULL) {
        json->len--; /* the bracket */
        hub_json_add_key(json, HUB_STR("cwd"));
        hub_buf_add(json, HUB_STR("\"${workspaceFolder}\"}"));
    }
}

const char *import_find_workspace(const char *file, hub_arena *arena)
{
    const char *home = getenv("HOME");
    char *folder = hub_file_folder(file, arena);
    char *slash = folder != NULL ? strrchr(folder, '/') : NULL;
    if (slash != NULL && slash[1] == '.' && slash != folder) {
        *slash = '\0'; /* .vscode, .cursor: of the folder around it */
    }
    return folder != NULL && home != NULL && strcmp(folder, home) == 0 ? NULL : folder;
}
