/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include "base/nearest.h"
#include "identity/identity.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum option_kind {
    KIND_FLAG,
    KIND_TEXT,
    KIND_REPEATED,
    KIND_LIST, /* comma-separated */
    KIND_HELP,
} option_kind;

/* The commands that an option means something to: each has a bit, by its place. */
#define COMMANDS_WITH_OPTIONS(X)                                                                   \
    X(SERVE, "serve")                                                                              \
    X(LIST, "list")                                                                                \
    X(STATUS, "status")                                                                            \
    X(UI, "ui")                                                                                    \
    X(CALL, "call")                                                                                \
    X(READ, "read")                                                                                \
    X(CHECK, "check")                                                                              \
    X(TOKEN, "token")                                                                              \
    X(MODULE, "module")                                                                            \
    X(MODULE_HOST, "module-host")                                                                  \
    X(STATE, "state")                                                                              \
    X(ACCESS, "access")                                                                            \
    X(INIT, "init")                                                                                \
    X(ADD, "add")                                                                                  \
    X(REMOVE, "remove")                                                                            \
    X(ENABLE, "enable")                                                                            \
    X(DISABLE, "disable")                                                                          \
    X(SET, "set")                                                                                  \
    X(UNSET, "unset")                                                                              \
    X(IMPORT, "import")                                                                            \
    X(CONNECT, "connect")                                                                          \
    X(DOCTOR, "doctor")                                                                            \
    X(SECRET, "secret")                                                                            \
    X(LOGIN, "login")                                                                              \
    X(LOCK, "lock")                                                                                \
    X(APPROVE, "approve")                                                                          \
    X(EXPORT, "export")                                                                            \
    X(TOOLSET, "toolset")                                                                          \
    X(SEARCH, "search")                                                                            \
    X(RUN_BUNDLE, "run-bundle")                                                                    \
    X(VERSION, "version")

#define PLACE(id, name) PLACE_##id,
enum { COMMANDS_WITH_OPTIONS(PLACE) COMMAND_COUNT };
#undef PLACE

#define BIT(id, name) id = INT64_C(1) << PLACE_##id,
__extension__ enum { /* wider than int: C23 has it, compilers did long before */
                     COMMANDS_WITH_OPTIONS(BIT) EDITS =
                         IMPORT | CONNECT | INIT | ADD | REMOVE | ENABLE | DISABLE | SET | UNSET,
                     LOCKS = LOCK | APPROVE,
                     ASKS = STATUS | UI, /* those that ask a hub that runs */
                     HUBS = SERVE | LIST | CALL | READ | CHECK | EXPORT |
                            TOOLSET,                 /* those that make a hub */
                     KEEPS = STATE | SECRET | LOGIN, /* those that work on the store */
                     LOGS = HUBS | ASKS | TOKEN | MODULE_HOST | STATE | ACCESS | LOCKS,
                     OTHERS = INT64_C(1) << 62, /* what every command has, is theirs, too */
                     ANY = -1,
};
#undef BIT
_Static_assert(COMMAND_COUNT <= 62, "a command has no bit left");

#define NAME(id, name) name,
static const char *const COMMANDS[] = {COMMANDS_WITH_OPTIONS(NAME)};
#undef NAME

/* Where an option's value goes: a place in cli_options. An option that means several things to
 * several commands has a row for each of these. */
typedef struct option_row {
    const char *name;
    option_kind kind;
    size_t offset;
    size_t count_offset; /* KIND_REPEATED */
    int64_t commands;
    const char *value; /* what it is called in help; NULL: it takes none */
    const char *help;  /* NULL: another name of the row above */
} option_row;

#define AT(member) offsetof(cli_options, member)

static const option_row OPTIONS[] = {
    {"--config", KIND_REPEATED, AT(configs), AT(config_count),
     HUBS | ASKS | TOKEN | KEEPS | ACCESS | EDITS | DOCTOR | LOCKS | MODULE, "FILE",
     "manifest (YAML or JSON), or any mcpServers file; may be repeated"},
    {"-c", KIND_REPEATED, AT(configs), AT(config_count),
     HUBS | ASKS | TOKEN | KEEPS | ACCESS | EDITS | DOCTOR | LOCKS | MODULE, "FILE", NULL},
    {"--env", KIND_REPEATED, AT(envs), AT(env_count), ADD, "NAME=VALUE",
     "a variable of the server's environment; may be repeated"},
    {"--header", KIND_REPEATED, AT(headers), AT(header_count), ADD, "NAME:VALUE",
     "a header of requests to the server; may be repeated"},
    {"--module", KIND_TEXT, AT(module), 0, ADD, "PLUGIN", "the toolset is one of this plugin"},
    {"--cwd", KIND_TEXT, AT(cwd), 0, ADD, "DIR", "the folder that the server works in"},
    {"--description", KIND_TEXT, AT(description), 0, ADD | TOOLSET, "TEXT",
     "what the toolset is for"},
    {"--owner", KIND_TEXT, AT(owner), 0, TOOLSET, "PRINCIPAL",
     "principal of these saved toolsets, as status shows it: token:NAME, uid:1000; otherwise "
     "local"},
    {"--device", KIND_FLAG, AT(device), 0, LOGIN, NULL,
     "log in with a browser of any machine, by a code that is entered there"},
    {"--principal", KIND_TEXT, AT(owner), 0, LOGIN, "PRINCIPAL",
     "principal of the login, as login list shows it: token:ann; else the hub's own, or local's"},
    {"--share", KIND_FLAG, AT(shares), 0, TOOLSET, NULL, "build, edit, import: for all"},
    {"--registry", KIND_TEXT, AT(registry), 0, ADD | SEARCH, "URL",
     "another registry of MCP servers than the official one"},
    {"--name", KIND_TEXT, AT(name), 0, ADD, "KEY", "SERVER: the toolset's name in the manifest"},
    {"--input", KIND_REPEATED, AT(inputs), AT(input_count), ADD, "NAME=VALUE",
     "SERVER: a value that it asks for; may be repeated"},
    {"--package", KIND_TEXT, AT(package), 0, ADD, "KIND",
     "SERVER: this kind of it: npm, pypi, oci, mcpb or remote"},
    {"--digest", KIND_TEXT, AT(digest), 0, ADD, "DIGEST",
     "SERVER, FILE: of an image that the registry names without, or of a bundle: sha256:HEX"},
    {"--digest", KIND_TEXT, AT(digest), 0, RUN_BUNDLE, "HEX",
     "what the files of the folder must have"},
    {"--yes", KIND_FLAG, AT(yes), 0, ADD, NULL, "SERVER: add it without being asked"},
    {"--disabled", KIND_FLAG, AT(disabled), 0, ADD, NULL, "add it switched off"},
    {"--remove", KIND_FLAG, AT(removes), 0, CONNECT, NULL, "take the hub out again"},
    {"--undo", KIND_FLAG, AT(removes), 0, CONNECT, NULL, NULL},
    {"--workspace", KIND_TEXT, AT(workspace), 0, IMPORT, "DIR",
     "the project's folder, which ${workspaceFolder} is; of a project's file its own"},
    {"--dry-run", KIND_FLAG, AT(dry_run), 0, EDITS, NULL,
     "write nothing: print what the file would be"},
    {"--plugins-dir", KIND_REPEATED, AT(plugin_dirs), AT(plugin_dir_count),
     HUBS | DOCTOR | ASKS | LOCKS | ACCESS, "DIR",
     "look for plugins here, and nowhere else; may be repeated"},
    {"--toolsets", KIND_LIST, AT(overrides.toolsets), 0, HUBS, "A,B|ALL",
     "serve exactly these toolsets, for the life of the process"},
    {"--startup", KIND_TEXT, AT(overrides.startup), 0, HUBS, "MODE",
     "default: the toolsets that the manifest makes active; dynamic: none until a client "
     "enables one; static: those of --toolsets, which no client can change"},
    {"--allow", KIND_LIST, AT(overrides.allow), 0, HUBS, "A,B",
     "clients may enable only these toolsets"},
    {"--deny", KIND_LIST, AT(overrides.deny), 0, HUBS, "A,B",
     "clients may not enable these toolsets"},
    {"--max-active", KIND_TEXT, AT(overrides.max_active), 0, HUBS, "N",
     "at most N toolsets are active at a time"},
    {"--naming", KIND_TEXT, AT(overrides.naming), 0, HUBS, "MODE",
     "names of tools: prefix (default), flat, dot or none"},
    {"--http", KIND_REPEATED, AT(http), AT(http_count), SERVE | CHECK, "[HOST:]PORT",
     "serve over HTTP and WebSocket; may be repeated"},
    {"--http", KIND_REPEATED, AT(http), AT(http_count), ASKS | TOOLSET | APPROVE, "URL|[HOST:]PORT",
     "ask the hub there; may be repeated, until one answers"},
    {"--unix", KIND_REPEATED, AT(sockets), AT(socket_count), SERVE | CHECK, "PATH",
     "serve on a Unix socket; may be repeated"},
    {"--unix", KIND_REPEATED, AT(sockets), AT(socket_count), ASKS | TOOLSET | APPROVE, "PATH",
     "ask the hub at this Unix socket; may be repeated, until one answers"},
    {"--stdio", KIND_FLAG, AT(stdio), 0, SERVE, NULL,
     "serve stdin and stdout (the default without a listener)"},
    {"--tokens", KIND_TEXT, AT(overrides.tokens), 0, SERVE | CHECK, "FILE",
     "HTTP clients need a token from this file: see help token"},
    {"--tokens", KIND_TEXT, AT(overrides.tokens), 0, ACCESS, "FILE",
     "the tokens file that says what a token is good for"},
    {"--tokens", KIND_TEXT, AT(overrides.tokens), 0, TOKEN, "FILE",
     "the tokens file (give the hub the same option)"},
    {"--allowed-host", KIND_REPEATED, AT(allowed_hosts), AT(allowed_host_count), SERVE | CHECK,
     "NAME", "a host name that clients may use for this hub; may be repeated"},
    {"--allowed-origin", KIND_REPEATED, AT(allowed_origins), AT(allowed_origin_count),
     SERVE | CHECK, "URL", "the origin of a web page that may use this hub; may be repeated"},
    {"--insecure", KIND_FLAG, AT(overrides.insecure), 0, SERVE | CHECK, NULL,
     "serve other machines without authentication"},
    {"--profile", KIND_TEXT, AT(profile), 0, HUBS, "NAME",
     "use this profile of the manifest; serve: for clients on stdio and --unix"},
    {"--equip", KIND_TEXT, AT(overrides.equip), 0, HUBS, "NAME",
     "equip this saved toolset from the start"},
    {"--no-meta-tools", KIND_FLAG, AT(overrides.no_meta_tools), 0, HUBS, NULL,
     "leave out the hub's own tools, such as enable_toolset"},
    {"--allow-writable-plugins", KIND_FLAG, AT(overrides.allow_writable), 0,
     HUBS | ASKS | MODULE | MODULE_HOST | LOCKS, NULL,
     "load plugins that other users could have changed"},
    {"--connect", KIND_FLAG, AT(connect), 0, CHECK | DOCTOR, NULL, "start every server"},
    {"--diff", KIND_FLAG, AT(diff), 0, LOCK, NULL, "write nothing: print what has changed"},
    {"--show", KIND_FLAG, AT(diff), 0, APPROVE, NULL, "approve nothing: print what would be"},
    {"--refresh", KIND_FLAG, AT(refresh), 0, LIST, NULL,
     "ask the servers, instead of showing what is remembered"},
    {"--format", KIND_TEXT, AT(format), 0, EXPORT, "FORMAT",
     "openai, openai-responses, anthropic, gemini, mcp or openapi"},
    {"--from", KIND_TEXT, AT(from), 0, CALL, "API",
     "call what a model asked for: its block for anthropic or openai"},
    {"--strict", KIND_FLAG, AT(strict), 0, EXPORT, NULL,
     "leave out tools of which something would be lost"},
    {"--json", KIND_FLAG, AT(json), 0,
     LIST | DOCTOR | CALL | READ | STATUS | TOKEN | KEEPS | TOOLSET | SEARCH | CHECK | ACCESS |
         LOCKS | IMPORT | VERSION,
     NULL, "print JSON"},
    {"--decrypt", KIND_FLAG, AT(decrypt), 0, STATE, NULL, "export: write secrets as they are"},
    {"--keep", KIND_FLAG, AT(keep), 0, STATE, NULL,
     "import: records that are in the store stay as they are"},
    {"--replace", KIND_FLAG, AT(replace), 0, STATE, NULL,
     "import: records that are in the store are replaced"},
    {"--replace", KIND_FLAG, AT(replace), 0, TOOLSET, NULL,
     "build, import: also what is there under that name"},
    {"--ca", KIND_TEXT, AT(ca), 0, ASKS | TOOLSET | APPROVE | ADD | SEARCH, "FILE",
     "for https addresses: the certificate authorities to trust (PEM)"},
    {"--token-file", KIND_TEXT, AT(token_file), 0, ASKS | TOOLSET | APPROVE, "FILE",
     "a file whose first line is the bearer token to send"},
    {"--config-json", KIND_TEXT, AT(config_json), 0, MODULE | MODULE_HOST, "FILE",
     "the plugin's configuration: a file; -: the first line of stdin; '{...}': itself"},
    {"--memory-limit", KIND_TEXT, AT(memory_limit), 0, MODULE_HOST, "SIZE",
     "the most memory that the plugin's process may use, like 128MiB"},
    {"--expires", KIND_TEXT, AT(expires), 0, TOKEN, "TIME",
     "lifetime of the new token, like 90d or 12h"},
    {"--scopes", KIND_TEXT, AT(scopes), 0, TOKEN, "A,B", "scopes of the new token"},
    {"--groups", KIND_TEXT, AT(groups), 0, TOKEN, "A,B", "groups of the new token's owner"},
    {"--profile", KIND_TEXT, AT(profile), 0, ACCESS, "NAME",
     "explain: in this profile, and not in `default`"},
    {"--profile", KIND_TEXT, AT(profile), 0, TOKEN, "NAME",
     "the only profile that the new token opens"},
    {"--arguments", KIND_TEXT, AT(access_arguments), 0, ACCESS, "JSON",
     "the arguments of the call to be explained"},
    {"--log-level", KIND_TEXT, AT(overrides.log_level), 0, LOGS, "LEVEL",
     "debug, info, warning, error or off"},
    {"--log-format", KIND_TEXT, AT(overrides.log_format), 0, LOGS, "FORMAT", "text or json"},
    {"--help", KIND_HELP, 0, 0, ANY, NULL, "show help"},
    {"-h", KIND_HELP, 0, 0, ANY, NULL, NULL},
};

/* Options that take one of a few words. */
static const struct {
    const char *name;
    const hub_config_word *words;
} WORDS[] = {
    {"--startup", HUB_CONFIG_STARTUPS},
    {"--naming", HUB_CONFIG_NAMINGS},
    {"--log-level", HUB_CONFIG_LEVELS},
    {"--log-format", HUB_CONFIG_FORMATS},
};

/* ---- help ------------------------------------------------------------------------------------ */

typedef struct owner_list {
    char text[512]; /* "list, call"; all commands fit */
} owner_list;

static owner_list list_owners(int64_t commands)
{
    owner_list owners = {.text = ""};
    size_t used = 0;
    for (size_t i = 0; i < sizeof COMMANDS / sizeof COMMANDS[0]; i++) {
        if ((commands & INT64_C(1) << i) != 0) {
            int len = snprintf(owners.text + used, sizeof owners.text - used, "%s%s",
                               used > 0 ? ", " : "", COMMANDS[i]);
            used += len > 0 ? (size_t)len : 0;
        }
    }
    return owners;
}

/* Commands that have the options of another one. */
static const struct {
    const char *name;
    const char *like;
} LIKE[] = {{"top", "status"}, {"tail", "status"}};

static int64_t bit_of(const char *command)
{
    for (size_t i = 0; i < sizeof LIKE / sizeof LIKE[0]; i++) {
        command = strcmp(LIKE[i].name, command) == 0 ? LIKE[i].like : command;
    }
    for (size_t i = 0; i < sizeof COMMANDS / sizeof COMMANDS[0]; i++) {
        if (strcmp(COMMANDS[i], command) == 0) {
            return INT64_C(1) << i;
        }
    }
    return OTHERS;
}

static void print_option(size_t at)
{
    const option_row *row = &OPTIONS[at];
    bool has_alias = at + 1 < sizeof OPTIONS / sizeof OPTIONS[0] && OPTIONS[at + 1].help == NULL;
    int used = printf("  %s%s%s%s%s", row->name, has_alias ? ", " : "",
                      has_alias ? OPTIONS[at + 1].name : "", row->value != NULL ? " " : "",
                      row->value != NULL ? row->value : "");
    (void)printf("%*s", used < 24 ? 25 - used : 2, "");
    (void)puts(row->help);
}

void cli_print_options(const char *command)
{
    int64_t wanted = bit_of(command);
    for (size_t i = 0; i < sizeof OPTIONS / sizeof OPTIONS[0]; i++) {
        if (OPTIONS[i].help != NULL && (OPTIONS[i].commands & wanted) != 0) {
            print_option(i);
        }
    }
}

static const hub_config_word *words_of(const char *option)
{
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        if (strcmp(WORDS[i].name, option) == 0) {
            return WORDS[i].words;
        }
    }
    return NULL;
}

bool cli_option_next(size_t *at, const char *command, cli_option *ret_option)
{
    int64_t wanted = bit_of(command);
    while (*at < sizeof OPTIONS / sizeof OPTIONS[0]) {
        const option_row *row = &OPTIONS[(*at)++];
        if (row->help != NULL && (row->commands & wanted) != 0) {
            bool has_alias = *at < sizeof OPTIONS / sizeof OPTIONS[0] && OPTIONS[*at].help == NULL;
            *ret_option = (cli_option){.name = row->name,
                                       .alias = has_alias ? OPTIONS[*at].name : NULL,
                                       .value = row->value,
                                       .help = row->help,
                                       .words = words_of(row->name)};
            return true;
        }
    }
    return false;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The row that means something to the command; NULL: none. All that have it are added to
 * *ret_owners. */
static const option_row *find_option(hub_str name, int64_t command, int64_t *ret_owners)
{
    const option_row *found = NULL;
    for (size_t i = 0; i < sizeof OPTIONS / sizeof OPTIONS[0]; i++) {
        if (hub_str_is(name, OPTIONS[i].name)) {
            *ret_owners |= OPTIONS[i].commands;
            found = (OPTIONS[i].commands & command) != 0 ? &OPTIONS[i] : found;
        }
    }
    return found;
}

static int unknown_option(hub_str name)
{
    hub_nearest near;
    if (hub_str_is(name, "--version") || hub_str_is(name, "-V")) {
        cli_complain(HUB_STR_FMT " stands alone and takes no value: patchbay --version",
                     HUB_STR_ARG(name));
        return EXIT_USAGE;
    }
    size_t dashes = strspn(name.ptr, "-");
    dashes = dashes < name.len ? dashes : name.len;
    hub_nearest_begin(&near, (hub_str){.ptr = name.ptr + dashes, .len = name.len - dashes});
    for (size_t i = 0; name.len - dashes > 1 && i < sizeof OPTIONS / sizeof OPTIONS[0]; i++) {
        if (strncmp(OPTIONS[i].name, "--", 2) == 0) { /* every letter is near every other one */
            hub_nearest_offer(&near, hub_str_of(OPTIONS[i].name + 2));
        }
    }
    if (near.found.len > 0) {
        cli_complain("there is no option \"" HUB_STR_FMT "\"; did you mean \"--" HUB_STR_FMT "\"?",
                     HUB_STR_ARG(name), HUB_STR_ARG(near.found));
    } else {
        cli_complain("there is no option \"" HUB_STR_FMT "\": see patchbay help",
                     HUB_STR_ARG(name));
    }
    return EXIT_USAGE;
}

/* Split "a,b" in place of a copy that lives as long as the process; the empty text is no name. */
static int read_list(const char *name, const char *value, hub_names *ret_names)
{
    static const char *items[4][CLI_MAX_LIST]; /* one for each option of this kind */
    static size_t used;
    char *copy = hub_str_dup(hub_str_of(value));
    if (copy == NULL || used == sizeof items / sizeof items[0]) {
        cli_complain("%s is given too often: give it once", name);
        free(copy);
        return EXIT_USAGE;
    }
    const char **list = items[used++];
    size_t count = 0;
    for (char *at = strtok_r(copy, ",", &copy); at != NULL; at = strtok_r(NULL, ",", &copy)) {
        if (count == CLI_MAX_LIST) {
            cli_complain("%s names more than %d things", name, CLI_MAX_LIST);
            return EXIT_USAGE;
        }
        list[count++] = at;
    }
    *ret_names = (hub_names){.items = list, .count = count, .set = true};
    return EXIT_OK;
}

static int store(const option_row *row, const char *value, cli_options *options)
{
    char *base = (char *)options;
    void *place = base + row->offset;
    switch (row->kind) {
    case KIND_FLAG:
        *(bool *)place = true;
        return EXIT_OK;
    case KIND_TEXT:
        *(const char **)place = value;
        return EXIT_OK;
    case KIND_REPEATED: {
        size_t *count = (size_t *)(void *)(base + row->count_offset);
        if (*count == CLI_MAX_LIST) {
            cli_complain("%s is given more than %d times", row->name, CLI_MAX_LIST);
            return EXIT_USAGE;
        }
        ((const char **)place)[(*count)++] = value;
        return EXIT_OK;
    }
    case KIND_LIST:
        return read_list(row->name, value, place);
    case KIND_HELP:
        break;
    }
    return -1;
}

static int read_option(int argc, char **argv, const char *command, int *at, cli_options *options)
{
    const char *word = argv[*at];
    const char *equals = strchr(word, '=');
    hub_str name = equals != NULL ? hub_str_between(word, equals) : hub_str_of(word);
    int64_t owners = 0;
    const option_row *row = find_option(name, bit_of(command), &owners);
    if (row == NULL && owners != 0) {
        cli_complain("\"%s\" has no such option: " HUB_STR_FMT " is for %s", command,
                     HUB_STR_ARG(name), list_owners(owners).text);
        return EXIT_USAGE;
    }
    if (row == NULL) {
        return unknown_option(name);
    }
    bool wants_value = row->kind != KIND_FLAG && row->kind != KIND_HELP;
    if (!wants_value && equals != NULL) {
        cli_complain("%s takes no value", row->name);
        return EXIT_USAGE;
    }
    const char *value = equals != NULL ? equals + 1 : NULL;
    if (wants_value && value == NULL) {
        if (*at + 1 >= argc) {
            cli_complain("%s needs a value", row->name);
            return EXIT_USAGE;
        }
        value = argv[++*at];
    }
    return store(row, value, options);
}

/* Make relative folders absolute: the resolver takes no others. */
static int make_dirs_absolute(cli_options *options)
{
    for (size_t i = 0; i < options->plugin_dir_count; i++) {
        char *absolute = realpath(options->plugin_dirs[i], NULL); /* lives as long as the process */
        if (absolute == NULL) {
            cli_complain("--plugins-dir %s: there is no such folder", options->plugin_dirs[i]);
            return EXIT_USAGE;
        }
        options->plugin_dirs[i] = absolute;
    }
    return EXIT_OK;
}

static int check_ca(const char *path)
{
    if (path != NULL && access(path, R_OK) != 0) {
        cli_complain("--ca %s: the file cannot be read: %s", path, strerrordesc_np(errno));
        return EXIT_USAGE;
    }
    return EXIT_OK;
}

/* What was given more than once, as the configuration takes it; absent when it was not given. */
static hub_names names_of(const char *const *items, size_t count)
{
    return (hub_names){.items = items, .count = count, .set = count > 0};
}

/* A command that wants a manifest, and was told none, takes the one that is in its place. */
static void find_config(cli_options *options, int64_t command)
{
    const char *found = NULL;
    bool wants = (command &
                  ((HUBS & ~CHECK) | ASKS | TOKEN | KEEPS | ACCESS | LOCKS | DOCTOR | MODULE)) != 0;
    if (options->config_count == 0 && wants) {
        found = cli_find_manifest();
    }
    if (found != NULL) {
        options->configs[options->config_count++] = found;
        options->found_config = true;
    }
}

bool cli_is_principal(const char *text)
{
    bool is_one = hub_principal_has_kind(hub_str_of(text));
    if (!is_one) {
        cli_complain("wanted a principal with its kind: " HUB_PRINCIPAL_KINDS ", found \"%s\"",
                     text);
    }
    return is_one;
}

static int finish(cli_options *options, const cli_command *command)
{
    find_config(options, bit_of(command->name));
    int status = make_dirs_absolute(options);
    hub_config_overrides *overrides = &options->overrides;
    overrides->plugin_dirs = names_of(options->plugin_dirs, options->plugin_dir_count);
    overrides->http = names_of(options->http, options->http_count);
    overrides->sockets = names_of(options->sockets, options->socket_count);
    overrides->allowed_hosts = names_of(options->allowed_hosts, options->allowed_host_count);
    overrides->allowed_origins = names_of(options->allowed_origins, options->allowed_origin_count);
    overrides->profile = options->profile;
    return status == EXIT_OK ? check_ca(options->ca) : status;
}

int cli_options_read(int argc, char **argv, const cli_command *command, cli_options *ret_options)
{
    memset(ret_options, 0, sizeof *ret_options);
    bool only_arguments = false;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (!only_arguments && strcmp(word, "--") == 0) {
            only_arguments = true;
        } else if (!only_arguments && word[0] == '-' && word[1] != '\0') {
            int status = read_option(argc, argv, command->name, &i, ret_options);
            if (status != EXIT_OK) {
                return status;
            }
        } else if (ret_options->argument_count < command->max_arguments) {
            ret_options->arguments[ret_options->argument_count++] = word;
        } else {
            cli_complain("\"%s\" is one argument too many", word);
            return EXIT_USAGE;
        }
    }
    const char *owner = ret_options->owner; /* "": the hub itself, which has logins, too */
    if (owner != NULL && owner[0] != '\0' && !cli_is_principal(owner)) {
        return EXIT_USAGE;
    }
    return finish(ret_options, command);
}
