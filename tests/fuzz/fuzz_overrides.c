/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command line and the environment say, on top of a manifest. Each line of the input is a
 * flag: a letter that says which, then its text; 'v' is a variable of the environment. What is
 * accepted has to hold what config.h promises; what is refused has to say where.
 */
#include "base/limits.h"
#include "config/config.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FLAGS = 64, MOST_ITEMS = 16 };

static const char NAME[] = "/fuzz/m.yaml";
static const char MANIFEST[] = "toolsets:\n"
                               "  a: {module: x}\n"
                               "  a-b: {command: y, active: false}\n"
                               "  a_b: {url: \"http://z\"}\n"
                               "listen: [{http: 1}, {unix: s, profile: p}]\n"
                               "profiles: {p: {startup: static, toolsets: [a]}}\n";

/* The flags that a line may be, and where their text goes. */
typedef struct given {
    hub_config_overrides overrides;
    const char *lists[8][MOST_ITEMS];
    const char *variables[MOST_FLAGS + 1];
    size_t variable_count;
} given;

static void add_item(hub_names *names, const char **items, const char *text)
{
    if (names->count < MOST_ITEMS) {
        items[names->count++] = text;
    }
    *names = (hub_names){.items = items, .count = names->count, .set = true};
}

static void set_list(given *all, char flag, const char *text)
{
    hub_config_overrides *to = &all->overrides;
    hub_names *const lists[] = {&to->plugin_dirs,   &to->toolsets,       &to->allow,
                                &to->deny,          &to->http,           &to->sockets,
                                &to->allowed_hosts, &to->allowed_origins};
    size_t which = (size_t)(flag - 'A');
    if (which < sizeof lists / sizeof *lists) {
        add_item(lists[which], all->lists[which], text);
    }
}

static void set_text(given *all, char flag, const char *text)
{
    hub_config_overrides *to = &all->overrides;
    const char **const texts[] = {&to->startup,    &to->max_active, &to->naming, &to->log_level,
                                  &to->log_format, &to->tokens,     &to->profile};
    size_t which = (size_t)(flag - 'a');
    if (flag >= 'a' && which < sizeof texts / sizeof *texts) {
        *texts[which] = text;
    }
}

static void take_line(given *all, char *line)
{
    switch (line[0]) {
    case 'v':
        if (all->variable_count < MOST_FLAGS) {
            all->variables[all->variable_count++] = line + 1;
        }
        break;
    case '1':
        all->overrides.insecure = true;
        break;
    case '2':
        all->overrides.no_meta_tools = true;
        break;
    default:
        set_list(all, line[0], line[0] != '\0' ? line + 1 : line);
        set_text(all, line[0], line[0] != '\0' ? line + 1 : line);
    }
}

static void check_config(const hub_config *config)
{
    const hub_settings *settings = &config->settings;
    hub_assert(settings->toolset_count == 3 && settings->profile_count == 2);
    hub_assert(settings->listen_count <= HUB_LIMIT_LISTENERS);
    for (size_t i = 0; i < settings->listen_count; i++) {
        const hub_listen_settings *listen = &settings->listens[i];
        hub_assert(listen->address != NULL && listen->source != NULL);
        hub_assert(listen->kind == HUB_LISTEN_HTTP || listen->address[0] == '/');
    }
    for (size_t i = 0; i < settings->profile_count; i++) {
        const hub_profile_settings *profile = &settings->profiles[i];
        hub_assert((profile->startup == HUB_STARTUP_STATIC) == (profile->toolsets.count > 0));
        hub_assert(profile->naming <= HUB_NAMING_NONE);
    }
    hub_assert(settings->log_level <= HUB_LOG_OFF);
    hub_assert(settings->policy.max_active <= HUB_LIMIT_TOOLSETS);
    hub_assert(config->tokens_file == NULL || config->tokens_file[0] == '/');
}

static bool says_where(const char *text)
{
    static const char *const PLACES[] = {"command line: ", "environment: ", NAME};
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; i++) {
        if (strncmp(text, PLACES[i], strlen(PLACES[i])) == 0) {
            return true;
        }
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static given all;
    char *text = malloc(size + 1);
    hub_config *config = NULL;
    hub_error error = {.text = ""};
    if (text == NULL) {
        return 0;
    }
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0'; /* arguments of a program have no NUL inside */
    memset(&all, 0, sizeof all);
    char *rest = text;
    for (int i = 0; rest != NULL && i < MOST_FLAGS; i++) {
        take_line(&all, strsep(&rest, "\n"));
    }
    hub_err err = hub_config_parse(NAME, hub_str_of(MANIFEST), all.variables, &all.overrides,
                                   &config, &error);
    if (err == HUB_OK) {
        check_config(config);
    } else {
        hub_assert(err == error.code && says_where(error.text));
    }
    hub_config_destroy(config);
    free(text);
    return 0;
}
