/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay import: servers out of the configuration of other programs into the manifest. */
#include "base/limits.h"
#include "cli/clients.h"
#include "cli/import_text.h"
#include "cli/manifest_edit.h"
#include "cli/rows.h"
#include "config/file.h"
#include "wire/json.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What becomes of a key of a server. */
typedef enum entry_use {
    USE_AS,      /* it is the key `own` of the hub */
    USE_COMMAND, /* a word, a list with the arguments, or {path, args, env} */
    USE_TYPE,
    USE_URL,
    USE_FOLDER,
    USE_TIMEOUT,
    USE_ENV_FILE,
    USE_NOTHING, /* between that program and its user */
} entry_use;

typedef struct import_key {
    const char *key;
    entry_use use;
    const char *own;
} import_key;

static const import_key KEYS[] = {
    {"command", USE_COMMAND, NULL},
    {"args", USE_AS, "args"},
    {"env", USE_AS, "env"},
    {"environment", USE_AS, "env"},
    {"cwd", USE_FOLDER, NULL},
    {"working_dir", USE_FOLDER, NULL},
    {"url", USE_URL, NULL},
    {"serverUrl", USE_AS, "url"},
    {"httpUrl", USE_AS, "url"},
    {"headers", USE_AS, "headers"},
    {"http_headers", USE_AS, "headers"},
    {"description", USE_AS, "description"},
    {"disabled", USE_AS, "disabled"},
    {"enabled", USE_AS, "enabled"},
    {"type", USE_TYPE, NULL},
    {"transport", USE_TYPE, NULL},
    {"transportType", USE_TYPE, NULL},
    {"timeout", USE_TIMEOUT, NULL},
    {"envFile", USE_ENV_FILE, NULL},
    {"name", USE_NOTHING, NULL},
    {"autoApprove", USE_NOTHING, NULL},
    {"alwaysAllow", USE_NOTHING, NULL},
    {"trust", USE_NOTHING, NULL},
    {"icon", USE_NOTHING, NULL},
    {"dev", USE_NOTHING, NULL},
    {"gallery", USE_NOTHING, NULL},
    {"version", USE_NOTHING, NULL},
    {"source", USE_NOTHING, NULL},
    {"settings", USE_NOTHING, NULL},
};

typedef struct importing {
    manifest_edit edit;
    const cli_client *client; /* NULL: a file that was named */
    const char *file;
    const char *workspace;  /* see import_text.h */
    const hub_node *inputs; /* likewise */
    size_t added;
    hub_err err; /* what ends all of it: no memory */
} importing;

static const hub_edit_layout FLOW = {.is_json = true, .step = 2, .eol = "\n"};

static void add_raw(hub_buf *json, const char *key, const hub_node *value)
{
    hub_json_add_key(json, hub_str_of(key));
    hub_edit_add_flow(json, &FLOW, value);
}

/* A whole command line in one text, as some programs take it: words with spaces between. */
static bool add_words(hub_buf *json, hub_str line)
{
    static const char SPACES[] = " \t";
    bool has_words = line.ptr[strcspn(line.ptr, SPACES)] != '\0';
    if (!has_words || strpbrk(line.ptr, "'\"\\") != NULL || access(line.ptr, F_OK) == 0) {
        return false;
    }
    const char *at = line.ptr + strspn(line.ptr, SPACES);
    size_t len = strcspn(at, SPACES);
    hub_json_add_key(json, HUB_STR("command"));
    hub_json_add_string(json, (hub_str){.ptr = at, .len = len});
    hub_json_add_key(json, HUB_STR("args"));
    hub_buf_add_char(json, '[');
    for (at += len + strspn(at + len, SPACES); *at != '\0'; at += len + strspn(at + len, SPACES)) {
        len = strcspn(at, SPACES);
        hub_json_add_comma(json);
        hub_json_add_string(json, (hub_str){.ptr = at, .len = len});
    }
    hub_buf_add_char(json, ']');
    return true;
}

static void add_command(hub_buf *json, const hub_node *entry, const hub_node *value)
{
    if (value->kind == HUB_NODE_TEXT && hub_node_find(entry, "args") == NULL &&
        add_words(json, value->text)) {
        return;
    }
    const hub_node *first = value;
    const hub_node *args = NULL;
    if (value->kind == HUB_NODE_LIST && value->first != NULL) {
        first = value->first;
        args = first->next;
        hub_json_add_key(json, HUB_STR("args"));
        hub_buf_add_char(json, '[');
        for (; args != NULL; args = args->next) {
            hub_json_add_comma(json);
            hub_edit_add_flow(json, &FLOW, args);
        }
        hub_buf_add_char(json, ']');
    } else if (value->kind == HUB_NODE_MAP && hub_node_find(value, "path") != NULL) {
        first = hub_node_find(value, "path");
        if ((args = hub_node_find(value, "args")) != NULL) {
            add_raw(json, "args", args);
        }
        if ((args = hub_node_find(value, "env")) != NULL && args->kind == HUB_NODE_MAP) {
            add_raw(json, "env", args);
        }
    }
    add_raw(json, "command", first);
}

static void add_type(hub_buf *json, hub_str type)
{
    bool is_socket =
        hub_str_eq_nocase(type, HUB_STR("ws")) || hub_str_eq_nocase(type, HUB_STR("websocket"));
    if (is_socket || hub_str_eq_nocase(type, HUB_STR("sse"))) {
        hub_json_add_key(json, HUB_STR("type"));
        hub_json_add_string(json, is_socket ? HUB_STR("websocket") : HUB_STR("sse"));
    }
}

/* The row of a key; NULL: the hub has nothing for it. */
static const import_key *find_key(const char *key)
{
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        if (strcmp(KEYS[i].key, key) == 0) {
            return &KEYS[i];
        }
    }
    return NULL;
}

/* One key of a server. False: the hub has nothing for it. */
static bool add_key(const importing *all, const import_source *source, hub_buf *json,
                    const hub_node *entry, const hub_node *value)
{
    const import_key *row = find_key(value->key);
    const char *unit = all->client != NULL ? all->client->unit : "ms";
    const char *url_type = all->client != NULL ? all->client->url_type : NULL;
    bool is_typed = hub_node_find(entry, "type") != NULL;
    if (row == NULL) {
        return false;
    }
    switch (row->use) {
    case USE_AS:
        add_raw(json, row->own, value);
        break;
    case USE_COMMAND:
        add_command(json, entry, value);
        break;
    case USE_URL:
        add_raw(json, "url", value);
        add_type(json, url_type != NULL && !is_typed ? hub_str_of(url_type) : HUB_STR_EMPTY);
        break;
    case USE_FOLDER:
        hub_json_add_key(json, HUB_STR("cwd"));
        import_add_path(source, value->text, json);
        break;
    case USE_TYPE:
        add_type(json, value->text);
        break;
    case USE_TIMEOUT:
        hub_json_add_key(json, HUB_STR("timeout"));
        hub_buf_printf(json, "\"" HUB_STR_FMT "%s\"", HUB_STR_ARG(value->text),
                       value->kind == HUB_NODE_NUMBER ? unit : "");
        break;
    case USE_ENV_FILE: /* with `env`: import_entry */
    case USE_NOTHING:
        break;
    }
    return true;
}

/* Whether the hub would take it alone. */
static bool is_good(importing *all, const char *name, const char *key, hub_str json)
{
    hub_buf document;
    hub_buf_init(&document, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_printf(&document, "{\"toolsets\":{\"%s\":" HUB_STR_FMT "}}", key, HUB_STR_ARG(json));
    const hub_config_overrides lenient = {.lenient_variables = true};
    hub_config *config = NULL;
    hub_error why = {.code = HUB_OK};
    const char *const none[] = {NULL};
    hub_err err =
        hub_config_parse("server.json", hub_buf_str(&document), none, &lenient, &config, &why);
    hub_config_destroy(config);
    hub_buf_fini(&document);
    if (err != HUB_OK) {
        const char *place = hub_arena_printf(all->edit.arena, "server.json:1: toolsets.%s.", key);
        size_t len = place != NULL ? strlen(place) : 0; /* a document that nobody else has seen */
        bool has_place = place != NULL && strncmp(why.text, place, len) == 0;
        cli_complain("%s: left out: \"%s\": %s", all->file, name,
                     has_place ? why.text + len : why.text);
    }
    return err == HUB_OK;
}

/* A client that has this hub, and a hub that has the client's servers, is no circle; a hub that has
 * itself is one. */
static bool is_hub(const hub_node *entry)
{
    const hub_node *command = hub_node_find(entry, "command");
    command = command != NULL && command->kind == HUB_NODE_LIST ? command->first : command;
    if (command == NULL || command->kind != HUB_NODE_TEXT) {
        return false;
    }
    const char *slash = strrchr(command->text.ptr, '/');
    return strcmp(slash != NULL ? slash + 1 : command->text.ptr, "patchbay") == 0;
}

static void add_server(importing *all, const char *name, const char *key, hub_str json)
{
    const hub_edit_path path = cli_manifest_toolset(&all->edit, key, NULL);
    const hub_node *value = NULL;
    if (cli_manifest_find(&all->edit, &path) != NULL) {
        cli_complain("%s: left out: \"%s\": the manifest has a toolset \"%s\" already", all->file,
                     name, key);
        return;
    }
    hub_err err = hub_node_parse("server.json", json, all->edit.arena, &value, &all->edit.why);
    err = err == HUB_OK ? cli_manifest_change(&all->edit, &path, value) : err;
    all->err = err;
    all->added += err == HUB_OK;
    if (err == HUB_OK && all->edit.options->json) {
        hub_buf row;
        cli_row_begin(&row);
        cli_row_add(&row, "toolset", hub_str_of(key));
        cli_row_add(&row, "name", hub_str_of(name));
        cli_row_add(&row, "from", hub_str_of(all->file));
        cli_row_print(&row);
    }
}

/* Why an entry is no server; NULL: it may be one. */
static const char *find_problem(const hub_node *entry, const char *key)
{
    static const char *const PLACES[] = {"command", "url", "serverUrl", "httpUrl"};
    if (entry->kind != HUB_NODE_MAP) {
        return "is not a server: wanted a map";
    }
    bool is_somewhere = false;
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; i++) {
        is_somewhere = is_somewhere || hub_node_find(entry, PLACES[i]) != NULL;
    }
    return !is_somewhere    ? "is not a server: it has no \"command\" and no \"url\""
           : key[0] == '\0' ? "has a name of which no key can be made"
           : is_hub(entry)  ? "is this hub"
                            : NULL;
}

static void add_keys(const importing *all, import_source *source, const hub_node *entry,
                     hub_buf *json)
{
    const hub_node *env_file = hub_node_find(entry, "envFile");
    const hub_node *env = hub_node_find(entry, "env");
    hub_buf_add_char(json, '{');
    for (const hub_node *child = entry->first; child != NULL; child = child->next) {
        bool says_nothing = child->kind == HUB_NODE_NULL;
        if (says_nothing || (env_file != NULL && child == env)) {
            continue;
        }
        if (!add_key(all, source, json, entry, child)) {
            cli_complain("%s: \"%s\": \"%s\" is not taken over: the hub has nothing like it, and "
                         "serves the entry without it",
                         all->file, source->name, child->key);
        }
    }
    if (env_file != NULL) {
        import_add_env_file(source, env_file, env, json);
    }
    hub_buf_add_char(json, '}');
    import_add_folder(source, json);
}

static void import_server(importing *all, const hub_node *entry, hub_str name)
{
    char *key = hub_arena_alloc(all->edit.arena, name.len + HUB_CONFIG_KEY_EXTRA);
    char *shown = hub_arena_strdup(all->edit.arena, name);
    if (key == NULL || shown == NULL) {
        all->err = hub_fail(&all->edit.why, HUB_ENOMEM, "out of memory");
        return;
    }
    hub_config_make_key(name, key);
    hub_error why = {.code = HUB_OK};
    if (hub_node_check(entry, NULL, &why) != HUB_OK) { /* a key twice, in it or of it */
        cli_complain("%s: left out: \"%s\"", why.text, shown);
        return;
    }
    const char *problem = find_problem(entry, key);
    if (problem != NULL) {
        cli_complain("%s: left out: \"%s\" %s", all->file, shown, problem);
        return;
    }
    hub_buf json;
    hub_buf translated;
    hub_buf_init(&json, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_init(&translated, HUB_LIMIT_CONFIG_BYTES);
    import_source source = {.file = all->file,
                            .has_braces = all->client != NULL && all->client->has_command_list,
                            .has_bare_names = all->client != NULL && all->client->has_bare_names,
                            .name = shown,
                            .workspace = all->workspace,
                            .inputs = all->inputs,
                            .arena = all->edit.arena};
    add_keys(all, &source, entry, &json);
    if (import_translate(&source, hub_buf_str(&json), &translated) &&
        is_good(all, shown, key, hub_buf_str(&translated))) {
        add_server(all, shown, key, hub_buf_str(&translated));
        if (source.env_file != NULL) {
            cli_complain(
                "%s: \"%s\": the variables of %s are written into the manifest as they are "
                "now",
                all->file, shown, source.env_file);
        }
    }
    hub_buf_fini(&json);
    hub_buf_fini(&translated);
}

static const hub_node *find_servers(const importing *all, const hub_node *root)
{
    static const char *const MORE[] = {"context_servers", "mcp"};
    const hub_node *found =
        all->client != NULL ? hub_node_find(root, all->client->key) : hub_config_find_servers(root);
    for (size_t i = 0; found == NULL && all->client == NULL && i < 2; i++) {
        found = hub_node_find(root, MORE[i]);
    }
    return found;
}

static void import_servers(importing *all, const hub_node *servers)
{
    const hub_node *node = servers != NULL ? servers->first : NULL;
    for (; all->err == HUB_OK && node != NULL; node = node->next) {
        const hub_node *name = node->key == NULL ? hub_node_find(node, "name") : NULL;
        hub_str word = name != NULL ? name->text : HUB_STR_EMPTY;
        import_server(all, node, node->key != NULL ? hub_str_of(node->key) : word);
    }
}

/* What a program keeps of single projects; NULL: nothing. */
static const hub_node *find_projects(const importing *all, const hub_node *root)
{
    bool may_have = all->client == NULL || all->client->has_projects;
    const hub_node *projects = may_have ? hub_node_find(root, "projects") : NULL;
    return projects != NULL && projects->kind == HUB_NODE_MAP ? projects : NULL;
}

/* The servers of the project that was named; of the others it is told how they are taken over. */
static void import_projects(importing *all, const hub_node *projects)
{
    const hub_node *one = projects != NULL ? projects->first : NULL;
    for (; one != NULL; one = one->next) {
        const hub_node *servers = hub_node_find(one, "mcpServers");
        bool is_meant = all->workspace != NULL && strcmp(one->key, all->workspace) == 0;
        if (is_meant) {
            import_servers(all, servers);
        } else if (servers != NULL && servers->count > 0) {
            cli_complain("%s: the %zu server%s of the project %s %s not taken over: patchbay "
                         "import %s --workspace '%s' does",
                         all->file, servers->count, servers->count == 1 ? "" : "s", one->key,
                         servers->count == 1 ? "is" : "are",
                         all->client != NULL ? all->client->name : all->file, one->key);
        }
    }
}

/* Everything of one file; what is wrong with it is told, and is no end of the others. */
static void import_file(importing *all)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_CONFIG_BYTES);
    const hub_node *root = NULL;
    hub_error why = {.code = HUB_OK};
    hub_err err = hub_file_read(all->file, &text, NULL, &why);
    if (err == HUB_OK) {
        err = hub_node_read(all->file, hub_buf_str(&text), all->edit.arena, &root, &why);
    }
    hub_buf_fini(&text);
    const hub_node *servers = root != NULL ? find_servers(all, root) : NULL;
    const hub_node *projects = root != NULL ? find_projects(all, root) : NULL;
    if (err != HUB_OK || (servers == NULL && projects == NULL)) {
        cli_complain("%s%s", err != HUB_OK ? why.text : all->file,
                     err != HUB_OK ? "" : ": there are no servers in it");
        return;
    }
    const hub_node *settings = hub_node_find(root, "mcp");
    all->inputs = hub_node_find(root, "inputs");
    if (all->inputs == NULL && settings != NULL) {
        all->inputs = hub_node_find(settings, "inputs");
    }
    import_servers(all, servers);
    import_projects(all, projects);
}

static void import_client(importing *all, const cli_client *client, bool is_named)
{
    all->client = client;
    all->file = cli_client_file(client, all->edit.arena);
    if (all->file == NULL || (!is_named && access(all->file, F_OK) != 0)) {
        return;
    }
    import_file(all);
}

static void import_all(importing *all, const char *wanted)
{
    const cli_client *one = wanted != NULL ? cli_find_client(wanted) : NULL;
    if (one != NULL) {
        import_client(all, one, true);
        return;
    }
    if (wanted != NULL && strpbrk(wanted, "./") == NULL && access(wanted, F_OK) != 0) {
        hub_buf names;
        hub_buf_init(&names, 4096);
        cli_name_clients(&names);
        cli_complain(
            "there is no file \"%s\", and no such program is known; those known are " HUB_STR_FMT,
            wanted, HUB_STR_ARG(hub_buf_str(&names)));
        hub_buf_fini(&names);
        return;
    }
    if (wanted != NULL) {
        all->file = wanted;
        all->workspace = all->workspace != NULL ? all->workspace
                                                : import_find_workspace(wanted, all->edit.arena);
        import_file(all);
        return;
    }
    for (const cli_client *client = CLI_CLIENTS; client->name != NULL; client++) {
        import_client(all, client, false);
    }
}

static void report(const cli_options *options, const char *path, size_t added)
{
    hub_buf row;
    if (!options->json) {
        cli_complain("%s: %zu server%s imported", path, added, added == 1 ? "" : "s");
        return;
    }
    cli_row_begin(&row);
    cli_row_add(&row, "manifest", hub_str_of(path));
    cli_row_add_count(&row, "imported", added);
    cli_row_print(&row);
}

int cli_import(cli_options *options)
{
    importing all = {.added = 0};
    if (options->json) {
        cli_complain_in_rows("warning");
    }
    int status = cli_manifest_begin(&all.edit, options, true);
    if (status != EXIT_OK) {
        return status;
    }
    const char *path = all.edit.path;
    const char *said = options->workspace;
    char *folder = said != NULL ? hub_file_absolute(NULL, said, all.edit.arena) : NULL;
    for (size_t len = folder != NULL ? strlen(folder) : 0; len > 1 && folder[len - 1] == '/';) {
        folder[--len] = '\0';
    }
    all.workspace = folder;
    import_all(&all, options->argument_count > 0 ? options->arguments[0] : NULL);
    if (all.err == HUB_OK && all.added == 0) {
        cli_complain("no server is imported; %s stays as it is", path);
        cli_manifest_abandon(&all.edit);
        return EXIT_CONFIG;
    }
    status = cli_manifest_end(&all.edit, all.err);
    if (status == EXIT_OK && !options->dry_run) {
        report(options, path, all.added);
    }
    return status;
}
