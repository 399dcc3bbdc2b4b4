/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay toolset … --http or --unix: saved toolsets of a hub that runs, as whoever asks it. */
#include "cli/running.h"
#include "cli/toolset_documents.h"

#include "base/limits.h"
#include "tools/suspects.h"
#include "wire/json.h"

#include <stdio.h>

enum { PATH_BYTES = 512 };

/* What a verb asks for, and how it shows the answer. */
typedef struct asking {
    const cli_options *options;
    cli_running *hub;
} asking;

/* ---- asking ---------------------------------------------------------------------------------- */

/* A path with a name in it: what cannot be a name is no path of the API either. */
static bool make_path(const char *name, const char *behind, char *ret_path)
{
    bool is_good = hub_saved_check_name(hub_str_of(name), NULL) == HUB_OK;
    if (is_good) {
        (void)snprintf(ret_path, PATH_BYTES, "/saved/%s%s", name, behind); /* has room */
    } else {
        cli_complain("\"%s\" is not a name of a saved toolset: 2 to 50 of a-z, 0-9 and -", name);
    }
    return is_good;
}

/* Append a member of an object as text without anything that moves a cursor. */
static void add_shown(hub_buf *line, hub_str object, const char *key)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    if (hub_json_decode(hub_json_get(object, hub_str_of(key)), &text) == HUB_OK) {
        hub_suspects_add_visible(hub_buf_str(&text), line);
    }
    hub_buf_fini(&text);
}

static void print_message(hub_str body)
{
    hub_json_iter it = hub_json_iterate(hub_json_get(body, HUB_STR("warnings")));
    hub_str key;
    hub_str raw;
    hub_buf line;
    hub_buf_init(&line, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    while (hub_json_next(&it, &key, &raw)) {
        hub_buf_clear(&line);
        if (hub_json_decode(raw, &line) == HUB_OK) {
            cli_complain("warning: " HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&line)));
        }
    }
    hub_buf said;
    hub_buf_init(&said, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_buf_clear(&line);
    add_shown(&line, body, "message");
    cli_saved_add_words(&said, hub_buf_str(&line));
    cli_print(hub_buf_str(&said));
    hub_buf_fini(&said);
    hub_buf_fini(&line);
}

/* Ask, and show the answer: as it is, or by `print`. */
static int ask(const asking *one, const cli_api_request *request, void (*print)(hub_str body))
{
    hub_buf answer;
    hub_str body;
    hub_buf_init(&answer, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    int status = cli_running_api(one->hub, request, &answer, &body);
    if (status == EXIT_OK && one->options->json) {
        cli_print_json(body);
    } else if (status == EXIT_OK) {
        print(body);
    }
    hub_buf_fini(&answer);
    return status;
}

/* ---- looking --------------------------------------------------------------------------------- */

/* A line for each of a list: its members, with spaces between. */
static void print_rows(hub_str list, const char *first, const char *second)
{
    hub_json_iter it = hub_json_iterate(list);
    hub_str key;
    hub_str row;
    hub_buf line;
    hub_buf_init(&line, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    while (hub_json_next(&it, &key, &row)) {
        hub_buf_clear(&line);
        add_shown(&line, row, first);
        hub_buf_add(&line, HUB_STR("  "));
        add_shown(&line, row, second);
        cli_print(hub_str_trim(hub_buf_str(&line)));
    }
    hub_buf_fini(&line);
}

static void print_list(hub_str body)
{
    hub_json_iter it = hub_json_iterate(hub_json_get(body, HUB_STR("toolsets")));
    hub_str key;
    hub_str row;
    hub_buf line;
    hub_buf_init(&line, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    while (hub_json_next(&it, &key, &row)) {
        bool is_equipped =
            hub_json_type_of(hub_json_get(row, HUB_STR("equipped"))) == HUB_JSON_TRUE;
        hub_buf_clear(&line);
        add_shown(&line, row, "name");
        hub_buf_add(&line, is_equipped ? HUB_STR("  (equipped)  ") : HUB_STR("  "));
        add_shown(&line, row, "description");
        cli_print(hub_str_trim(hub_buf_str(&line)));
    }
    hub_buf_fini(&line);
}

static void print_one(hub_str body)
{
    hub_buf line;
    hub_buf_init(&line, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    add_shown(&line, body, "name");
    hub_buf_add(&line, HUB_STR("  "));
    add_shown(&line, body, "description");
    cli_print(hub_str_trim(hub_buf_str(&line)));
    print_rows(hub_json_get(body, HUB_STR("tools")), "id", "state");
    hub_buf_fini(&line);
}

static void print_signed(hub_str body, const char *key, char sign, const char *more)
{
    hub_json_iter it = hub_json_iterate(hub_json_get(body, hub_str_of(key)));
    hub_str none;
    hub_str raw;
    hub_buf id;
    hub_buf line;
    hub_buf_init(&id, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_init(&line, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    while (hub_json_next(&it, &none, &raw)) {
        hub_buf_clear(&id);
        hub_buf_clear(&line);
        if (hub_json_decode(raw, &id) == HUB_OK) {
            hub_buf_printf(&line, "%c ", sign);
            hub_suspects_add_visible(hub_buf_str(&id), &line);
            hub_buf_add(&line, hub_str_of(more));
            cli_print(hub_buf_str(&line));
        }
    }
    hub_buf_fini(&line);
    hub_buf_fini(&id);
}

static void print_diff(hub_str body)
{
    print_signed(body, "removed", '-', "");
    print_signed(body, "changed", '~', " (another definition)");
    print_signed(body, "added", '+', "");
}

static int list(const asking *one)
{
    return ask(one, &(cli_api_request){.path = "/saved"}, print_list);
}

static int show(const asking *one)
{
    char path[PATH_BYTES];
    return make_path(one->options->arguments[1], "", path)
               ? ask(one, &(cli_api_request){.path = path}, print_one)
               : EXIT_USAGE;
}

static int diff(const asking *one)
{
    char path[PATH_BYTES];
    char query[PATH_BYTES] = "";
    const char *other = one->options->argument_count > 2 ? one->options->arguments[2] : NULL;
    if (!make_path(one->options->arguments[1], "/diff", path) ||
        (other != NULL && !make_path(other, "", query))) {
        return EXIT_USAGE;
    }
    if (other != NULL) {
        (void)snprintf(query, sizeof query, "other=%s", other); /* a name was checked: has room */
    }
    return ask(one, &(cli_api_request){.path = path, .query = query}, print_diff);
}

/* ---- changing -------------------------------------------------------------------------------- */

/* The ids of the command line from that argument on; patterns, or what are none. */
static void add_ids(const cli_options *options, size_t from, const char *key, bool patterns,
                    bool others, hub_buf *out)
{
    hub_json_add_key(out, hub_str_of(key));
    hub_buf_add_char(out, '[');
    for (size_t i = from; i < options->argument_count; i++) {
        bool is_pattern = strpbrk(options->arguments[i], "*?") != NULL;
        if (is_pattern ? patterns : others) {
            hub_json_add_comma(out);
            hub_json_add_string(out, hub_str_of(options->arguments[i]));
        }
    }
    hub_buf_add_char(out, ']');
}

static int post(const asking *one, hub_buf *body, bool replaces)
{
    if (one->options->description != NULL) {
        hub_json_add_member(body, "description", hub_str_of(one->options->description));
    }
    hub_buf_add(body, replaces ? HUB_STR(",\"replace\":true") : HUB_STR_EMPTY);
    hub_buf_add(body, one->options->shares ? HUB_STR(",\"share\":true}") : HUB_STR("}"));
    return ask(one,
               &(cli_api_request){.method = "POST", .path = "/saved", .body = hub_buf_str(body)},
               print_message);
}

static int build(const asking *one)
{
    hub_buf body;
    hub_buf_init(&body, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_add_char(&body, '{');
    hub_json_add_member(&body, "name", hub_str_of(one->options->arguments[1]));
    add_ids(one->options, 2, "tools", false, true, &body);
    add_ids(one->options, 2, "match", true, false, &body);
    int status = post(one, &body, one->options->replace);
    hub_buf_fini(&body);
    return status;
}

/* Append the ids of a saved toolset as it is. */
static int add_saved_ids(const asking *one, hub_buf *out)
{
    char path[PATH_BYTES];
    hub_buf answer;
    hub_str body = HUB_STR_EMPTY;
    hub_str key;
    hub_str tool;
    hub_buf_init(&answer, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    int status = make_path(one->options->arguments[1], "", path)
                     ? cli_running_api(one->hub, &(cli_api_request){.path = path}, &answer, &body)
                     : EXIT_USAGE;
    hub_json_iter it = hub_json_iterate(hub_json_get(body, HUB_STR("tools")));
    hub_buf_add(out, HUB_STR(",\"tools\":["));
    while (status == EXIT_OK && hub_json_next(&it, &key, &tool)) {
        hub_json_add_comma(out);
        hub_buf_add(out, hub_json_get(tool, HUB_STR("id")));
    }
    hub_buf_add_char(out, ']');
    hub_buf_fini(&answer);
    return status;
}

static int edit(const asking *one)
{
    const cli_options *options = one->options;
    const char *how = options->argument_count > 2 ? options->arguments[2] : "";
    bool has_ids = options->argument_count > 3;
    int status = EXIT_OK;
    hub_buf body;
    hub_buf_init(&body, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_add_char(&body, '{');
    hub_json_add_member(&body, "name", hub_str_of(options->arguments[1]));
    if (strcmp(how, "accept") == 0 && !has_ids) {
        status = add_saved_ids(one, &body);
    } else if ((strcmp(how, "add") == 0 || strcmp(how, "remove") == 0) && has_ids) {
        hub_json_add_member(&body, "from", hub_str_of(options->arguments[1]));
        add_ids(options, 3, strcmp(how, "add") == 0 ? "tools" : "without",
                strcmp(how, "remove") == 0, true, &body);
    } else {
        cli_complain("say what to change: toolset edit NAME add ID…, remove ID…, or accept");
        status = EXIT_USAGE;
    }
    status = status == EXIT_OK ? post(one, &body, true) : status;
    hub_buf_fini(&body);
    return status;
}

static int equip(const asking *one)
{
    hub_buf body;
    hub_buf_init(&body, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_add_char(&body, '{');
    hub_json_add_member(&body, "name", hub_str_of(one->options->arguments[1]));
    hub_buf_add_char(&body, '}');
    int status = ask(
        one, &(cli_api_request){.method = "PUT", .path = "/equipped", .body = hub_buf_str(&body)},
        print_message);
    hub_buf_fini(&body);
    return status;
}

static int unequip(const asking *one)
{
    return ask(one, &(cli_api_request){.method = "DELETE", .path = "/equipped"}, print_message);
}

static int delete_saved(const asking *one)
{
    char path[PATH_BYTES];
    return make_path(one->options->arguments[1], "", path)
               ? ask(one, &(cli_api_request){.method = "DELETE", .path = path}, print_message)
               : EXIT_USAGE;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int (*run)(const asking *one);
} VERBS[] = {
    {"list", list},   {"show", show},       {"build", build},         {"edit", edit},
    {"equip", equip}, {"unequip", unequip}, {"delete", delete_saved}, {"diff", diff},
};

int cli_toolset_running(cli_options *options)
{
    asking one = {.options = options};
    size_t at = 0;
    while (at < sizeof VERBS / sizeof VERBS[0] &&
           strcmp(options->arguments[0], VERBS[at].name) != 0) {
        at++;
    }
    if (at == sizeof VERBS / sizeof VERBS[0]) {
        cli_complain("toolset %s works on files of this machine: leave --http and --unix out",
                     options->arguments[0]);
        return EXIT_USAGE;
    }
    int status = cli_running_open(options, &one.hub);
    status = status == EXIT_OK ? VERBS[at].run(&one) : status;
    cli_running_close(one.hub);
    return status;
}
