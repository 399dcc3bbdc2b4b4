/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay token new|list|revoke: the tokens file, whichever one is meant. */
#include "cli/cli.h"

#include "base/clock.h"
#include "config/file.h"
#include "config/tokens.h"
#include "wire/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    ARENA_MAX_BYTES = 16 * 1024 * 1024,
    MOST_DAYS = 36500,
    OUTPUT_BYTES = 1024 * 1024,
};

/* The file: of --tokens, of the manifest's auth.tokens, or the user's own. The arena's, absolute.
 * The tokens of a manifest that is used for the first time are not there yet: nothing is read. */
static int find_file(cli_options *options, hub_arena *arena, const char **ret_path)
{
    hub_config *config = NULL;
    int status = cli_load_config(options, true, &config);
    if (status != EXIT_OK) {
        return status;
    }
    const char *own = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    if (config->tokens_file != NULL) {
        *ret_path = hub_arena_strdup(arena, hub_str_of(config->tokens_file));
    } else if (options->config_count > 0 && !options->found_config) {
        cli_complain(
            "the manifest names no tokens file: add auth: {tokens: FILE}, or say --tokens");
        status = EXIT_CONFIG;
    } else if (own != NULL && own[0] == '/') { /* others are invalid: XDG base directories */
        *ret_path = hub_arena_printf(arena, "%s/patchbay/tokens.json", own);
    } else if (home != NULL && home[0] == '/') {
        *ret_path = hub_arena_printf(arena, "%s/.config/patchbay/tokens.json", home);
    } else {
        cli_complain("there is no HOME: say where the tokens are with --tokens FILE");
        status = EXIT_USAGE;
    }
    hub_config_destroy(config);
    if (status == EXIT_OK && *ret_path == NULL) {
        cli_complain("out of memory");
        return EXIT_INTERNAL;
    }
    return status;
}

static int complain(hub_err err, const char *why)
{
    cli_complain("%s", why);
    return err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_CONFIG;
}

/* "90d", "12h", "30m": when that will be. */
static bool parse_expiry(const char *text, int64_t now, int64_t *ret_expires)
{
    static const struct {
        const char *unit;
        int64_t seconds;
    } UNITS[] = {{"m", 60}, {"h", 3600}, {"d", 86400}};
    char *end = NULL;
    unsigned long number = text[0] >= '0' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;
    for (size_t i = 0; number > 0 && i < sizeof UNITS / sizeof *UNITS; i++) {
        if (strcmp(end, UNITS[i].unit) == 0 &&
            number <= (unsigned long)(MOST_DAYS * 86400LL / UNITS[i].seconds)) {
            *ret_expires = now + (int64_t)number * UNITS[i].seconds;
            return true;
        }
    }
    return false;
}

/* Not through stdio, whose buffer would keep it. */
static bool print_secret(const char *text)
{
    hub_str left = hub_str_of(text);
    while (left.len > 0) {
        ssize_t count = write(STDOUT_FILENO, left.ptr, left.len);
        if (count <= 0) {
            return false;
        }
        left = hub_str_from(left, (size_t)count);
    }
    return write(STDOUT_FILENO, "\n", 1) == 1;
}

/* "a,b" as names, which lie in the arena. */
static bool split_names(const char *text, hub_arena *arena, hub_names *names)
{
    hub_str rest = hub_str_of(text);
    size_t room = 1;
    for (size_t i = 0; i < rest.len; i++) {
        room += rest.ptr[i] == ',';
    }
    const char **items = hub_arena_array(arena, room, sizeof *items);
    *names = (hub_names){.items = items, .set = true};
    while (items != NULL && rest.len > 0) {
        size_t length = hub_str_find(rest, HUB_STR(","));
        length = length == SIZE_MAX ? rest.len : length;
        hub_str name = hub_str_trim((hub_str){.ptr = rest.ptr, .len = length});
        items[names->count] = hub_arena_strdup(arena, name);
        if (items[names->count++] == NULL) {
            return false;
        }
        rest = hub_str_from(rest, length < rest.len ? length + 1 : length);
    }
    return items != NULL;
}

/* What the options say that the token is good for. */
static int read_rights(const cli_options *options, hub_arena *arena, hub_token *token)
{
    token->profile = options->profile;
    if ((options->scopes != NULL && !split_names(options->scopes, arena, &token->scopes)) ||
        (options->groups != NULL && !split_names(options->groups, arena, &token->groups))) {
        cli_complain("out of memory");
        return EXIT_INTERNAL;
    }
    const char *problem = hub_tokens_rights_problem(token);
    if (problem != NULL) {
        cli_complain("%s", problem);
        return EXIT_USAGE;
    }
    return EXIT_OK;
}

static int make_token(const char *path, hub_token *wanted, const char *lifetime)
{
    const char *name = wanted->name;
    hub_error why = {.code = HUB_OK};
    hub_new_token token = {.text = ""};
    int64_t now = (int64_t)time(NULL);
    if (lifetime != NULL && !parse_expiry(lifetime, now, &wanted->expires)) {
        cli_complain("--expires: wanted a time like \"90d\", \"12h\" or \"30m\", found \"%s\"",
                     lifetime);
        return EXIT_USAGE;
    }
    hub_err err = hub_tokens_add(path, wanted, now, &token, &why);
    if (err != HUB_OK) {
        return err == HUB_EINVAL && hub_tokens_name_problem(hub_str_of(name)) != NULL
                   ? (cli_complain("%s", why.text), EXIT_USAGE)
                   : complain(err, why.text);
    }
    bool printed = print_secret(token.text);
    hub_tokens_wipe(&token);
    if (!printed) {
        cli_complain("the token could not be written; revoke it with `patchbay token revoke %s`",
                     name);
        return EXIT_INTERNAL;
    }
    cli_complain("this is shown once; only its digest is kept, in %s. A hub that runs with "
                 "--tokens %s takes it at once, as Authorization: Bearer TOKEN",
                 path, path);
    return EXIT_OK;
}

static void add_time(hub_buf *out, int64_t seconds, const char *zero)
{
    char text[HUB_CLOCK_TEXT_BYTES];
    if (seconds == 0 || hub_clock_text(seconds, text)[0] == '\0') {
        hub_buf_printf(out, "%-21s", zero);
        return;
    }
    hub_buf_printf(out, "%sZ ", text);
}

static void add_list(hub_buf *out, const char *what, const hub_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        hub_buf_printf(out, "%s%s", i == 0 ? what : ",", names->items[i]);
    }
}

static void add_json_list(hub_buf *out, const char *key, const hub_names *names)
{
    if (names->set) {
        hub_names_add(names, key, out);
    }
}

static void print_table(const hub_tokens *tokens, int64_t now)
{
    hub_buf line;
    hub_buf_init(&line, OUTPUT_BYTES);
    cli_print(HUB_STR("ID           CREATED              EXPIRES              NAME"));
    for (size_t i = 0; i < tokens->count; i++) {
        const hub_token *token = &tokens->tokens[i];
        bool is_over = token->expires != 0 && token->expires <= now;
        hub_buf_clear(&line);
        hub_buf_printf(&line, "%-12s ", token->id);
        add_time(&line, tokens->created[i], "?");
        add_time(&line, token->expires, "never");
        hub_buf_printf(&line, "%s%s", token->name, is_over ? " (expired)" : "");
        add_list(&line, "  scopes ", &token->scopes);
        add_list(&line, "  groups ", &token->groups);
        if (token->profile != NULL) {
            hub_buf_printf(&line, "  profile %s", token->profile);
        }
        cli_print(hub_buf_str(&line));
    }
    hub_buf_fini(&line);
}

static void print_json(const hub_tokens *tokens)
{
    hub_buf out;
    hub_buf_init(&out, OUTPUT_BYTES);
    hub_buf_add(&out, HUB_STR("["));
    for (size_t i = 0; i < tokens->count; i++) {
        const hub_token *token = &tokens->tokens[i];
        hub_json_add_comma(&out);
        hub_buf_add(&out, HUB_STR("{\"name\":"));
        hub_json_add_string(&out, hub_str_of(token->name));
        hub_buf_add(&out, HUB_STR(",\"id\":"));
        hub_json_add_string(&out, hub_str_of(token->id));
        hub_buf_printf(&out, ",\"created\":%" PRId64, tokens->created[i]);
        if (token->expires != 0) {
            hub_buf_printf(&out, ",\"expires\":%" PRId64, token->expires);
        }
        add_json_list(&out, "scopes", &token->scopes);
        add_json_list(&out, "groups", &token->groups);
        if (token->profile != NULL) {
            hub_json_add_key(&out, HUB_STR("profile"));
            hub_json_add_string(&out, hub_str_of(token->profile));
        }
        hub_buf_add(&out, HUB_STR("}"));
    }
    hub_buf_add(&out, HUB_STR("]"));
    cli_print_json(hub_buf_str(&out));
    hub_buf_fini(&out);
}

static int list_tokens(const char *path, hub_arena *arena, bool json)
{
    hub_error why = {.code = HUB_OK};
    hub_tokens tokens = {.count = 0};
    hub_err err = hub_tokens_read(path, arena, &tokens, &why);
    if (err != HUB_OK) {
        return complain(err, why.text);
    }
    if (json) {
        print_json(&tokens);
    } else {
        print_table(&tokens, (int64_t)time(NULL));
    }
    return EXIT_OK;
}

static int revoke_token(const char *path, const char *name_or_id)
{
    hub_error why = {.code = HUB_OK};
    size_t removed = 0;
    hub_err err = hub_tokens_remove(path, name_or_id, &removed, &why);
    if (err != HUB_OK) {
        return complain(err, why.text);
    }
    cli_complain("%zu token%s revoked in %s; a hub that runs with that file refuses %s at once",
                 removed, removed == 1 ? "" : "s", path, removed == 1 ? "it" : "them");
    return EXIT_OK;
}

static int run(cli_options *options, const char *verb, hub_arena *arena)
{
    const char *path = NULL;
    const char *name = options->arguments[1];
    bool is_list = strcmp(verb, "list") == 0;
    bool is_new = strcmp(verb, "new") == 0;
    if (!is_list && !is_new && strcmp(verb, "revoke") != 0) {
        cli_complain("there is no \"token %s\": it is new, list or revoke", verb);
        return EXIT_USAGE;
    }
    if (options->argument_count != (is_list ? 1 : 2)) {
        cli_complain("token %s wants %s", verb,
                     is_list  ? "no name"
                     : is_new ? "a name: that of its user or machine"
                              : "the name or id of a token");
        return EXIT_USAGE;
    }
    hub_token wanted = {.name = name};
    int status = read_rights(options, arena, &wanted);
    if (status == EXIT_OK) {
        options->profile = NULL; /* of the token, and nothing that the manifest has to have */
        status = find_file(options, arena, &path);
    }
    if (status != EXIT_OK) {
        return status;
    }
    return is_list  ? list_tokens(path, arena, options->json)
           : is_new ? make_token(path, &wanted, options->expires)
                    : revoke_token(path, name);
}

int cli_token(cli_options *options)
{
    if (options->argument_count == 0) {
        cli_complain("say what to do: token new NAME, token list, or token revoke NAME");
        return EXIT_USAGE;
    }
    hub_arena *arena = hub_arena_create(ARENA_MAX_BYTES);
    if (arena == NULL) {
        cli_complain("out of memory");
        return EXIT_INTERNAL;
    }
    int status = run(options, options->arguments[0], arena);
    hub_arena_destroy(arena);
    return status;
}
