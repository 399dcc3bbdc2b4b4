/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patchbay toolset …: saved toolsets without a client. A hub inside this process does what a client's
 * calls would, for the principal that --owner names; a hub that runs hears of it by the store.
 */
#include "cli/cli.h"
#include "cli/toolset_documents.h"

#include "base/limits.h"
#include "hub/saved/keep.h"
#include "wire/json.h"

#include <stdlib.h>
#include <string.h>

/* ---- calls of the hub's own tools ------------------------------------------------------------ */

void cli_saved_add_words(hub_buf *out, hub_str text)
{
    static const char *const WORDS[][2] = {
        {"discover-all-tools", "`patchbay list tools`"},
        {"list-saved-toolsets", "`patchbay toolset list`"},
        {"equip-toolset", "`patchbay toolset equip`"},
        {"say replace", "say --replace"},
    };
    while (text.len > 0) {
        size_t i = 0;
        while (i < sizeof WORDS / sizeof *WORDS && !hub_str_starts(text, hub_str_of(WORDS[i][0]))) {
            i++;
        }
        if (i < sizeof WORDS / sizeof *WORDS) {
            hub_buf_add(out, hub_str_of(WORDS[i][1]));
            text = hub_str_from(text, strlen(WORDS[i][0]));
        } else {
            hub_buf_add_char(out, text.ptr[0]);
            text = hub_str_from(text, 1);
        }
    }
}

static void complain_of(hub_str result)
{
    hub_str failure =
        hub_json_get(hub_json_get(result, HUB_STR("structuredContent")), HUB_STR("message"));
    hub_str raw = failure.len > 0 ? failure : hub_json_get(result, HUB_STR("message"));
    hub_buf text;
    hub_buf said;
    hub_buf_init(&text, raw.len + 1);
    hub_buf_init(&said, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    if (hub_json_decode(raw, &text) == HUB_OK) {
        cli_saved_add_words(&said, hub_buf_str(&text));
    } else {
        hub_buf_add(&said, result);
    }
    cli_complain(HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&said)));
    hub_buf_fini(&said);
    hub_buf_fini(&text);
}

/* Call one with arguments, an object: its structured result, valid until the next request. */
static int call(cli_local *local, const char *tool, hub_str arguments, hub_str *ret_result)
{
    hub_buf params;
    hub_str json;
    hub_buf_init(&params, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_printf(&params, "{\"name\":\"%s\",\"arguments\":", tool);
    hub_buf_add(&params, arguments);
    hub_buf_add_char(&params, '}');
    bool good =
        hub_buf_ok(&params) && cli_local_request(local, "tools/call", hub_buf_str(&params), &json);
    if (!hub_buf_ok(&params)) {
        cli_complain("the arguments are too long");
    } else if (!good || hub_json_type_of(hub_json_get(json, HUB_STR("isError"))) == HUB_JSON_TRUE) {
        complain_of(json);
        good = false;
    } else {
        *ret_result = hub_json_get(json, HUB_STR("structuredContent"));
    }
    hub_buf_fini(&params);
    return good ? EXIT_OK : EXIT_CONFIG;
}

/* What came of it: its message and its warnings, or all of it. */
static void report(const cli_options *options, hub_str result)
{
    if (options->json) {
        cli_print_json(result);
        return;
    }
    hub_json_iter it = hub_json_iterate(hub_json_get(result, HUB_STR("warnings")));
    hub_str key;
    hub_str raw;
    hub_buf text;
    hub_buf_init(&text, result.len + 1);
    while (hub_json_next(&it, &key, &raw)) {
        hub_buf_clear(&text);
        if (hub_json_decode(raw, &text) == HUB_OK) {
            cli_complain("warning: " HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&text)));
        }
    }
    hub_buf_clear(&text);
    if (hub_json_decode(hub_json_get(result, HUB_STR("message")), &text) == HUB_OK) {
        hub_buf said;
        hub_buf_init(&said, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
        cli_saved_add_words(&said, hub_buf_str(&text));
        cli_print(hub_buf_str(&said));
        hub_buf_fini(&said);
    }
    hub_buf_fini(&text);
}

static int call_by_name(const cli_options *options, cli_local *local, const char *tool)
{
    hub_buf arguments;
    hub_str result;
    hub_buf_init(&arguments, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_add(&arguments, HUB_STR("{\"name\":"));
    hub_json_add_string(&arguments, hub_str_of(options->arguments[1]));
    hub_buf_add_char(&arguments, '}');
    int status = call(local, tool, hub_buf_str(&arguments), &result);
    if (status == EXIT_OK) {
        report(options, result);
    }
    hub_buf_fini(&arguments);
    return status;
}

static int equip(const cli_options *options, cli_local *local)
{
    return call_by_name(options, local, "equip-toolset");
}

static int delete_saved(const cli_options *options, cli_local *local)
{
    return call_by_name(options, local, "delete-toolset");
}

static int unequip(const cli_options *options, cli_local *local)
{
    hub_str result;
    int status = call(local, "unequip-toolset", HUB_STR("{}"), &result);
    if (status == EXIT_OK) {
        report(options, result);
    }
    return status;
}

/* ---- building -------------------------------------------------------------------------------- */

/* Those of the command line from that argument on; patterns go to `match`. */
static void add_ids(const cli_options *options, size_t from, bool is_pattern, hub_buf *out)
{
    hub_json_add_key(out, is_pattern ? HUB_STR("match") : HUB_STR("tools"));
    hub_buf_add_char(out, '[');
    for (size_t i = from; i < options->argument_count; i++) {
        if ((strpbrk(options->arguments[i], "*?") != NULL) == is_pattern) {
            hub_json_add_comma(out);
            hub_json_add_string(out, hub_str_of(options->arguments[i]));
        }
    }
    hub_buf_add_char(out, ']');
}

static void add_flags(const cli_options *options, bool replaces, hub_buf *out)
{
    if (options->description != NULL) {
        hub_json_add_key(out, HUB_STR("description"));
        hub_json_add_string(out, hub_str_of(options->description));
    }
    hub_buf_add(out, replaces ? HUB_STR(",\"replace\":true") : HUB_STR_EMPTY);
    hub_buf_add(out, options->shares ? HUB_STR(",\"share\":true") : HUB_STR_EMPTY);
    hub_buf_add_char(out, '}');
}

static int run_build(const cli_options *options, cli_local *local, hub_buf *arguments)
{
    hub_str result;
    int status = call(local, "build-toolset", hub_buf_str(arguments), &result);
    if (status == EXIT_OK) {
        report(options, result);
    }
    return status;
}

static int build(const cli_options *options, cli_local *local)
{
    hub_buf arguments;
    hub_buf_init(&arguments, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_add(&arguments, HUB_STR("{\"name\":"));
    hub_json_add_string(&arguments, hub_str_of(options->arguments[1]));
    add_ids(options, 2, false, &arguments);
    add_ids(options, 2, true, &arguments);
    add_flags(options, options->replace, &arguments);
    int status = run_build(options, local, &arguments);
    hub_buf_fini(&arguments);
    return status;
}

/* ---- editing --------------------------------------------------------------------------------- */

/* Further tools: the others stay as they were saved. */
static int edit_add(const cli_options *options, cli_local *local, const hub_saved *saved)
{
    hub_buf arguments;
    hub_buf_init(&arguments, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_add(&arguments, HUB_STR("{\"name\":"));
    hub_json_add_string(&arguments, saved->name);
    hub_json_add_key(&arguments, HUB_STR("from"));
    hub_json_add_string(&arguments, saved->name);
    hub_json_add_key(&arguments, HUB_STR("description"));
    hub_json_add_string(&arguments, options->description != NULL ? hub_str_of(options->description)
                                                                 : saved->description);
    add_ids(options, 3, false, &arguments);
    hub_buf_add(&arguments, HUB_STR(",\"replace\":true"));
    hub_buf_add(&arguments, options->shares ? HUB_STR(",\"share\":true}") : HUB_STR("}"));
    int status = run_build(options, local, &arguments);
    hub_buf_fini(&arguments);
    return status;
}

/* All of its tools as they are now: what their servers have changed is accepted. */
static int edit_accept(const cli_options *options, cli_local *local, const hub_saved *saved)
{
    hub_buf arguments;
    hub_buf_init(&arguments, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_add(&arguments, HUB_STR("{\"name\":"));
    hub_json_add_string(&arguments, saved->name);
    hub_json_add_key(&arguments, HUB_STR("description"));
    hub_json_add_string(&arguments, saved->description);
    hub_buf_add(&arguments, HUB_STR(",\"tools\":["));
    for (size_t i = 0; i < saved->count; i++) {
        hub_buf id;
        hub_buf_init(&id, SIZE_MAX / 4);
        cli_saved_add_id(&saved->tools[i], &id);
        hub_json_add_comma(&arguments);
        hub_json_add_string(&arguments, hub_buf_str(&id));
        hub_buf_fini(&id);
    }
    hub_buf_add(&arguments, HUB_STR("],\"replace\":true"));
    hub_buf_add(&arguments, options->shares ? HUB_STR(",\"share\":true}") : HUB_STR("}"));
    int status = run_build(options, local, &arguments);
    hub_buf_fini(&arguments);
    return status;
}

static bool is_named(const cli_options *options, const hub_selected *tool)
{
    hub_buf id;
    bool is = false;
    hub_buf_init(&id, SIZE_MAX / 4);
    cli_saved_add_id(tool, &id);
    for (size_t i = 3; !is && i < options->argument_count; i++) {
        is = hub_str_glob(hub_str_of(options->arguments[i]), hub_buf_str(&id));
    }
    hub_buf_fini(&id);
    return is;
}

/* Take tools out; patterns will do. */
static int edit_remove(const cli_options *options, cli_local *local, const cli_saved_found *found)
{
    hub_saved changed = *found->saved;
    char now[HUB_SAVED_TIME_BYTES];
    size_t kept = 0;
    for (size_t i = 0; i < changed.count; i++) {
        if (!is_named(options, &changed.tools[i])) {
            changed.tools[kept++] = changed.tools[i]; /* the document is ours */
        }
    }
    if (kept == changed.count || kept == 0) {
        cli_complain(kept == 0 ? "nothing would be left of \"%s\": delete it instead"
                               : "\"%s\" has none of these tools",
                     options->arguments[1]);
        return EXIT_CONFIG;
    }
    changed.count = kept;
    changed.version++;
    hub_saved_now(now);
    changed.updated_at = hub_str_of(now);
    return cli_saved_put(local, found, &changed);
}

static int edit(const cli_options *options, cli_local *local)
{
    const char *how = options->argument_count > 2 ? options->arguments[2] : "";
    bool has_ids = options->argument_count > 3;
    cli_saved_found found = {.saved = NULL};
    int status = cli_saved_find(options, local, options->arguments[1], &found);
    if (status == EXIT_OK && found.origin == HUB_SAVED_FIXED) {
        cli_complain("\"%s\" is the manifest's: change it there", options->arguments[1]);
        status = EXIT_CONFIG;
    } else if (status == EXIT_OK && strcmp(how, "add") == 0 && has_ids) {
        status = edit_add(options, local, found.saved);
    } else if (status == EXIT_OK && strcmp(how, "remove") == 0 && has_ids) {
        status = edit_remove(options, local, &found);
    } else if (status == EXIT_OK && strcmp(how, "accept") == 0 && !has_ids) {
        status = edit_accept(options, local, found.saved);
    } else if (status == EXIT_OK) {
        cli_complain("say what to change: toolset edit NAME add ID…, remove ID…, or accept");
        status = EXIT_USAGE;
    }
    hub_saved_destroy(found.saved);
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct verb {
    const char *name;
    size_t least; /* arguments, with the verb */
    size_t most;
    cli_saves saves; /* choices begin as the profile starts */
    int (*run)(const cli_options *options, cli_local *local);
    const char *usage;
} VERBS[] = {
    {"list", 1, 1, CLI_SAVES_LOOK, cli_saved_list, "toolset list"},
    {"show", 2, 2, CLI_SAVES, cli_saved_show, "toolset show NAME"},
    {"build", 3, CLI_MAX_LIST, CLI_SAVES, build, "toolset build NAME ID…"},
    {"edit", 3, CLI_MAX_LIST, CLI_SAVES, edit, "toolset edit NAME add ID…, remove ID…, or accept"},
    {"equip", 2, 2, CLI_SAVES_CHOICE, equip, "toolset equip NAME"},
    {"unequip", 1, 1, CLI_SAVES_CHOICE, unequip, "toolset unequip"},
    {"delete", 2, 2, CLI_SAVES, delete_saved, "toolset delete NAME"},
    {"export", 1, CLI_MAX_LIST, CLI_SAVES, cli_saved_export, "toolset export [NAME…]"},
    {"import", 2, 2, CLI_SAVES, cli_saved_import, "toolset import FILE"},
    {"diff", 2, 3, CLI_SAVES, cli_saved_diff, "toolset diff NAME [OTHER]"},
};

enum { VERB_COUNT = sizeof VERBS / sizeof VERBS[0] };

int cli_toolset(cli_options *options)
{
    const char *word = options->argument_count > 0 ? options->arguments[0] : "";
    cli_local *local = NULL;
    size_t at = 0;
    while (at < VERB_COUNT && strcmp(word, VERBS[at].name) != 0) {
        at++;
    }
    if (at == VERB_COUNT) {
        cli_complain("say what to do: toolset list, show, build, edit, equip, unequip, delete, "
                     "export, import, or diff");
        return EXIT_USAGE;
    }
    if (options->argument_count < VERBS[at].least || options->argument_count > VERBS[at].most) {
        cli_complain("usage: patchbay %s", VERBS[at].usage);
        return EXIT_USAGE;
    }
    if (options->http_count + options->socket_count > 0) {
        return cli_toolset_running(options);
    }
    options->saves = VERBS[at].saves;
    int status = cli_local_open(options, true, &local);
    if (status == EXIT_OK) {
        status = VERBS[at].run(options, local);
    }
    cli_local_close(local);
    return status;
}
