/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

const char *const CLI_OPTIONS_HELP =
    "  --config FILE          manifest (YAML or JSON), or any mcpServers file; may be repeated\n"
    "  --plugins-dir DIR      look for plugins here; may be repeated\n"
    "  --toolsets A,B|ALL     exactly these toolsets, for good (static start-up)\n"
    "  --startup MODE         dynamic: nothing active until asked; static: see --toolsets\n"
    "  --allow A,B            only these toolsets may be enabled\n"
    "  --deny A,B             these may not\n"
    "  --max-active N         at most N toolsets at a time\n"
    "  --naming MODE          prefix (default), flat, dot or none\n"
    "  --http [HOST:]PORT     serve over HTTP and WebSocket; may be repeated\n"
    "  --unix PATH            serve on a Unix socket; may be repeated\n"
    "  --stdio                serve stdin and stdout (the default without a listener)\n"
    "  --tokens FILE          clients over HTTP need a token of this file: see help token\n"
    "  --allowed-host NAME    a name that clients may call this hub by; may be repeated\n"
    "  --allowed-origin URL   a web page's origin that may use it; may be repeated\n"
    "  --insecure             serve other machines although nobody has to authenticate\n"
    "  --profile NAME         serve this profile of the manifest (stdio, --unix)\n"
    "  --no-meta-tools        leave out enable_toolset and the like\n"
    "  --allow-writable-plugins  load plugins that other users could have changed\n"
    "  --connect              check: start every toolset\n"
    "  --json                 list, call, token: print JSON\n"
    "  --expires TIME         token new: good for this long, like 90d or 12h\n"
    "  --log-level LEVEL      debug, info, warning, error or off\n"
    "  --log-format FORMAT    text or json\n"
    "  --help                 show help\n";

typedef enum option_kind {
    KIND_FLAG,
    KIND_TEXT,
    KIND_REPEATED,
    KIND_LIST, /* comma-separated */
    KIND_HELP,
} option_kind;

/* Where an option's value goes: a place in cli_options. */
typedef struct option_row {
    const char *name;
    option_kind kind;
    size_t offset;
    size_t count_offset; /* KIND_REPEATED */
} option_row;

#define AT(member) offsetof(cli_options, member)

static const option_row OPTIONS[] = {
    {"--config", KIND_REPEATED, AT(configs), AT(config_count)},
    {"-c", KIND_REPEATED, AT(configs), AT(config_count)},
    {"--plugins-dir", KIND_REPEATED, AT(plugin_dirs), AT(plugin_dir_count)},
    {"--toolsets", KIND_LIST, AT(overrides.toolsets), 0},
    {"--startup", KIND_TEXT, AT(overrides.startup), 0},
    {"--allow", KIND_LIST, AT(overrides.allow), 0},
    {"--deny", KIND_LIST, AT(overrides.deny), 0},
    {"--max-active", KIND_TEXT, AT(overrides.max_active), 0},
    {"--naming", KIND_TEXT, AT(overrides.naming), 0},
    {"--profile", KIND_TEXT, AT(profile), 0},
    {"--no-meta-tools", KIND_FLAG, AT(overrides.no_meta_tools), 0},
    {"--allow-writable-plugins", KIND_FLAG, AT(overrides.allow_writable), 0},
    {"--http", KIND_REPEATED, AT(http), AT(http_count)},
    {"--unix", KIND_REPEATED, AT(sockets), AT(socket_count)},
    {"--allowed-host", KIND_REPEATED, AT(allowed_hosts), AT(allowed_host_count)},
    {"--allowed-origin", KIND_REPEATED, AT(allowed_origins), AT(allowed_origin_count)},
    {"--tokens", KIND_TEXT, AT(overrides.tokens), 0},
    {"--insecure", KIND_FLAG, AT(overrides.insecure), 0},
    {"--expires", KIND_TEXT, AT(expires), 0},
    {"--stdio", KIND_FLAG, AT(stdio), 0},
    {"--connect", KIND_FLAG, AT(connect), 0},
    {"--json", KIND_FLAG, AT(json), 0},
    {"--log-level", KIND_TEXT, AT(overrides.log_level), 0},
    {"--log-format", KIND_TEXT, AT(overrides.log_format), 0},
    {"--help", KIND_HELP, 0, 0},
    {"-h", KIND_HELP, 0, 0},
};

static const option_row *find_option(hub_str name)
{
    for (size_t i = 0; i < sizeof OPTIONS / sizeof OPTIONS[0]; i++) {
        if (hub_str_is(name, OPTIONS[i].name)) {
            return &OPTIONS[i];
        }
    }
    return NULL;
}

static int unknown_option(hub_str name)
{
    const char *names[sizeof OPTIONS / sizeof OPTIONS[0] + 1] = {NULL};
    for (size_t i = 0; i < sizeof OPTIONS / sizeof OPTIONS[0]; i++) {
        names[i] = OPTIONS[i].name;
    }
    hub_str near = hub_str_nearest(name, names);
    if (near.len > 0) {
        cli_complain("there is no option \"" HUB_STR_FMT "\"; did you mean \"" HUB_STR_FMT "\"?",
                     HUB_STR_ARG(name), HUB_STR_ARG(near));
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
        cli_complain("%s is given too often", name);
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

static int read_option(int argc, char **argv, int *at, cli_options *options)
{
    const char *word = argv[*at];
    const char *equals = strchr(word, '=');
    hub_str name = equals != NULL ? hub_str_between(word, equals) : hub_str_of(word);
    const option_row *row = find_option(name);
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

/* What was given more than once, as the configuration takes it; absent when it was not given. */
static hub_names names_of(const char *const *items, size_t count)
{
    return (hub_names){.items = items, .count = count, .set = count > 0};
}

static int finish(cli_options *options)
{
    int status = make_dirs_absolute(options);
    hub_config_overrides *overrides = &options->overrides;
    overrides->plugin_dirs = names_of(options->plugin_dirs, options->plugin_dir_count);
    overrides->http = names_of(options->http, options->http_count);
    overrides->sockets = names_of(options->sockets, options->socket_count);
    overrides->allowed_hosts = names_of(options->allowed_hosts, options->allowed_host_count);
    overrides->allowed_origins = names_of(options->allowed_origins, options->allowed_origin_count);
    overrides->profile = options->profile;
    return status;
}

int cli_options_read(int argc, char **argv, size_t max_arguments, cli_options *ret_options)
{
    memset(ret_options, 0, sizeof *ret_options);
    bool only_arguments = false;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (!only_arguments && strcmp(word, "--") == 0) {
            only_arguments = true;
        } else if (!only_arguments && word[0] == '-' && word[1] != '\0') {
            int status = read_option(argc, argv, &i, ret_options);
            if (status != EXIT_OK) {
                return status;
            }
        } else if (ret_options->argument_count < max_arguments) {
            ret_options->arguments[ret_options->argument_count++] = word;
        } else {
            cli_complain("\"%s\" is one argument too many", word);
            return EXIT_USAGE;
        }
    }
    return finish(ret_options);
}
