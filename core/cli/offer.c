/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/offer.h"

#include "base/limits.h"
#include "cli/ask.h"
#include "cli/manifest_edit.h"
#include "config/expand.h"
#include "config/reader.h"
#include "config/stored_secrets.h"
#include "wire/json.h"

#include <stdio.h>
#include <string.h>

enum { ARENA_BYTES = 64 * 1024 * 1024, SHOWN_BYTES = 1024 * 1024 };

/* Whether it can be the key of a new toolset of the manifest. */
static int check_key(cli_options *options, const char *key)
{
    manifest_edit edit;
    if (!hub_config_is_key(hub_str_of(key))) {
        cli_complain("\"%s\" cannot be the key of a toolset: say another with --name", key);
        return EXIT_USAGE;
    }
    int status = cli_manifest_begin(&edit, options, true);
    if (status != EXIT_OK) {
        return status;
    }
    const hub_edit_path path = cli_manifest_toolset(&edit, key, NULL);
    if (cli_manifest_find(&edit, &path) != NULL) {
        cli_complain("%s: there is a toolset \"%s\" already: remove it first, or say another key "
                     "with --name",
                     edit.path, key);
        status = EXIT_CONFIG;
    }
    cli_manifest_abandon(&edit);
    return status;
}

int cli_offer_begin(cli_offer *offer, cli_options *options, hub_str name)
{
    *offer = (cli_offer){.options = options, .arena = hub_arena_create(ARENA_BYTES)};
    hub_str word = name;
    for (size_t at; (at = hub_str_find(word, HUB_STR("/"))) != SIZE_MAX;) {
        word = hub_str_from(word, at + 1);
    }
    char *key = offer->arena != NULL
                    ? hub_arena_alloc(offer->arena, word.len + HUB_CONFIG_KEY_EXTRA)
                    : NULL;
    if (options->envs[0] != NULL || options->headers[0] != NULL || options->cwd != NULL ||
        options->module != NULL || options->description != NULL) {
        cli_complain("--env, --header, --cwd, --description and --module are for a server that you "
                     "describe yourself: this one says what it needs, and you with --input");
        return EXIT_USAGE;
    }
    if (key == NULL) {
        cli_complain("out of memory");
        return EXIT_INTERNAL;
    }
    hub_config_make_key(word, key);
    offer->key = options->name != NULL ? options->name : key;
    return check_key(options, offer->key);
}

void cli_offer_end(cli_offer *offer)
{
    hub_arena_destroy(offer->arena);
}

/* The nth --input of that name; an option's dashes may be left off. */
static const char *find_given(cli_offer *offer, const char *name, size_t nth)
{
    const char *bare = name + strspn(name, "-");
    for (size_t i = 0; i < offer->options->input_count; i++) {
        hub_str given = hub_str_of(offer->options->inputs[i]);
        size_t equals = hub_str_find(given, HUB_STR("="));
        hub_str left = {.ptr = given.ptr, .len = equals == SIZE_MAX ? 0 : equals};
        if (!hub_str_is(left, name) && !hub_str_is(left, bare)) {
            continue;
        }
        if (nth-- == 0) {
            offer->is_used[i] = true;
            return given.ptr + equals + 1;
        }
    }
    return NULL;
}

static const char *ask_for(cli_offer *offer, const hub_launch_input *input)
{
    hub_buf line;
    hub_buf_init_secret(&line, HUB_LIMIT_SECRET_VALUE_BYTES);
    const char *question = hub_arena_printf(
        offer->arena, "%s%s%s%s: ", input->name, input->description != NULL ? ", " : "",
        input->description != NULL ? input->description : "",
        input->is_secret ? " (it is not shown, and kept in the store)" : "");
    bool is_read = question != NULL && cli_ask_line(question, input->is_secret, &line);
    hub_str text = hub_buf_str(&line);
    text.len -= text.len > 0 && text.ptr[text.len - 1] == '\n';
    const char *value = is_read && text.len > 0 ? hub_arena_strdup(offer->arena, text) : NULL;
    /* What is typed is meant as it is typed. */
    value = value != NULL && !input->is_secret ? hub_launch_escape(value, offer->arena) : value;
    hub_buf_fini(&line);
    return value;
}

/* What the name of a secret may have. */
static const char NAME_CHARACTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789._-";

/* A secret's place in the store instead of it. */
static const char *keep_secret(cli_offer *offer, const char *name, size_t nth, const char *value)
{
    char *place = nth == 0 ? hub_arena_printf(offer->arena, "%s.%s", offer->key, name)
                           : hub_arena_printf(offer->arena, "%s.%s.%zu", offer->key, name, nth);
    for (char *at = place; at != NULL && *at != '\0'; at++) {
        *at = strchr(NAME_CHARACTERS, *at) != NULL ? *at : '_';
    }
    if (place == NULL || !hub_is_secret_name(hub_str_of(place)) ||
        offer->secret_count == CLI_OFFER_SECRETS || !hub_is_utf8(hub_str_of(value)) ||
        strlen(value) > HUB_LIMIT_SECRET_VALUE_BYTES) {
        cli_complain("the value of %s cannot be kept as a secret: wanted UTF-8 text of at most %u "
                     "bytes, and at most %d secrets",
                     name, HUB_LIMIT_SECRET_VALUE_BYTES, CLI_OFFER_SECRETS);
        offer->is_failed = true;
        return NULL;
    }
    offer->secrets[offer->secret_count].name = place;
    offer->secrets[offer->secret_count++].value = value;
    return hub_arena_printf(offer->arena, "${secret:%s}", place);
}

static const char *give(cli_offer *offer, const hub_launch_input *input, size_t nth)
{
    const char *value = find_given(offer, input->name, nth);
    bool may_ask = nth == 0 && input->is_required && input->fallback == NULL && cli_ask_can() &&
                   !offer->options->yes;
    value = value == NULL && may_ask ? ask_for(offer, input) : value;
    bool is_reference = value != NULL && strncmp(value, "${", 2) == 0;
    return value != NULL && input->is_secret && !is_reference
               ? keep_secret(offer, input->name, nth, value)
               : value;
}

const char *cli_offer_give(void *ctx, const hub_launch_input *input, size_t nth)
{
    cli_offer *offer = ctx;
    for (size_t i = 0; i < offer->answer_count; i++) {
        if (offer->answers[i].nth == nth && strcmp(offer->answers[i].name, input->name) == 0) {
            return offer->answers[i].value;
        }
    }
    const char *value = give(offer, input, nth);
    if (offer->answer_count < CLI_MAX_LIST) {
        offer->answers[offer->answer_count].name = input->name;
        offer->answers[offer->answer_count].nth = nth;
        offer->answers[offer->answer_count++].value = value;
    }
    return value;
}

/* ---- what is shown ---------------------------------------------------------------------------- */

void cli_add_word(hub_buf *out, hub_str word)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "@%+=:,./_-{}$";
    bool is_plain = word.len > 0;
    for (size_t i = 0; i < word.len; i++) {
        is_plain = is_plain && word.ptr[i] != '\0' && strchr(PLAIN, word.ptr[i]) != NULL;
    }
    hub_buf_add(out, out->len > 0 ? HUB_STR(" ") : HUB_STR_EMPTY);
    hub_buf_add(out, is_plain ? HUB_STR_EMPTY : HUB_STR("'"));
    for (size_t i = 0; i < word.len; i++) {
        hub_str one = {.ptr = word.ptr + i, .len = 1};
        hub_buf_add(out, word.ptr[i] == '\'' ? HUB_STR("'\\''") : one);
    }
    hub_buf_add(out, is_plain ? HUB_STR_EMPTY : HUB_STR("'"));
}

static void show_line(const char *label, const hub_buf *line)
{
    hub_buf out;
    hub_buf_init(&out, SHOWN_BYTES);
    hub_buf_printf(&out, "  %-6s ", label);
    cli_add_line(&out, hub_buf_str(line));
    cli_print(hub_buf_ok(&out) ? hub_buf_str(&out) : HUB_STR("  too long to be shown"));
    hub_buf_fini(&out);
}

static void show_map(const hub_node *map, const char *label)
{
    for (const hub_node *one = map != NULL ? map->first : NULL; one != NULL; one = one->next) {
        hub_buf line;
        hub_buf_init(&line, SHOWN_BYTES);
        hub_buf_printf(&line, "%s=" HUB_STR_FMT, one->key, HUB_STR_ARG(one->text));
        show_line(label, &line);
        hub_buf_fini(&line);
    }
}

static void show_entry(const hub_node *entry)
{
    hub_buf line;
    hub_buf_init(&line, SHOWN_BYTES);
    const hub_node *command = hub_node_find(entry, "command");
    const hub_node *url = hub_node_find(entry, "url");
    const hub_node *args = hub_node_find(entry, "args");
    cli_add_word(&line, command != NULL ? command->text : url != NULL ? url->text : HUB_STR_EMPTY);
    for (const hub_node *one = args != NULL ? args->first : NULL; one != NULL; one = one->next) {
        cli_add_word(&line, one->text);
    }
    show_line(command != NULL ? "runs" : "asks", &line);
    hub_buf_fini(&line);
    show_map(hub_node_find(entry, "env"), "sets");
    show_map(hub_node_find(entry, "headers"), "sends");
}

static bool has_unused(const cli_offer *offer)
{
    for (size_t i = 0; i < offer->options->input_count; i++) {
        if (!offer->is_used[i]) {
            cli_complain("--input %.*s: the server asks for nothing of that name",
                         (int)strcspn(offer->options->inputs[i], "="), offer->options->inputs[i]);
            return true;
        }
    }
    return false;
}

/* Which server it is, in its own words. */
static void show_title(const hub_launch *launch, const char *digest)
{
    const struct {
        const char *before;
        const char *text;
    } parts[] = {{"", launch->name},
                 {" ", launch->version},
                 {"\n  ", launch->description},
                 {"\n  sha256 ", digest}};
    hub_buf out;
    hub_buf_init(&out, SHOWN_BYTES);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].text != NULL) {
            hub_buf_add(&out, hub_str_of(parts[i].before));
            cli_add_line(&out, hub_str_of(parts[i].text));
        }
    }
    cli_print(hub_buf_ok(&out) ? hub_buf_str(&out) : HUB_STR("too long to be shown"));
    hub_buf_fini(&out);
}

int cli_offer_decide(cli_offer *offer, const hub_launch *launch, const char *digest)
{
    hub_str entry = hub_buf_str(&launch->entry);
    const char *note = launch->note;
    const hub_node *node = NULL;
    hub_error why = {.code = HUB_OK};
    if (offer->is_failed || has_unused(offer)) {
        return EXIT_USAGE;
    }
    if (hub_node_parse("entry.json", entry, offer->arena, &node, &why) != HUB_OK) {
        cli_complain("%s", why.text);
        return EXIT_CONFIG;
    }
    if (!offer->options->dry_run) {
        show_title(launch, digest);
        show_entry(node);
        if (note != NULL) {
            hub_buf line;
            hub_buf_init(&line, SHOWN_BYTES);
            hub_buf_add(&line, hub_str_of(note));
            show_line("note", &line);
            hub_buf_fini(&line);
        }
        (void)fflush(stdout);
    }
    if (offer->options->yes || offer->options->dry_run) {
        return EXIT_OK;
    }
    if (!cli_ask_can()) {
        cli_complain(
            "nothing is added: there is no terminal to ask at; say --yes when that is what "
            "you want");
        return EXIT_USAGE;
    }
    const char *question =
        hub_arena_printf(offer->arena, "Add it as toolset \"%s\"? [y/N] ", offer->key);
    if (question == NULL || !cli_ask_yes(question)) {
        cli_complain("nothing is added");
        return EXIT_USAGE;
    }
    return EXIT_OK;
}

/* ---- what is done ----------------------------------------------------------------------------- */

static int keep_secrets(cli_offer *offer)
{
    hub_state_sync *store = NULL;
    hub_error why = {.code = HUB_OK};
    if (offer->secret_count == 0 || offer->options->dry_run) {
        return EXIT_OK;
    }
    int status = cli_open_store(offer->options, &store, NULL);
    hub_err err = HUB_OK;
    for (size_t i = 0; status == EXIT_OK && err == HUB_OK && i < offer->secret_count; i++) {
        const hub_state_id id = {.kind = &HUB_SECRET_KIND,
                                 .key = hub_str_of(offer->secrets[i].name)};
        hub_buf document;
        hub_buf_init_secret(&document, 8 * HUB_LIMIT_SECRET_VALUE_BYTES);
        hub_json_add_string(&document, hub_str_of(offer->secrets[i].value));
        err = hub_buf_ok(&document)
                  ? hub_state_sync_put(store, &id, HUB_STATE_ANY, hub_buf_str(&document), &why)
                  : hub_fail(&why, HUB_ENOMEM, "out of memory");
        hub_buf_fini(&document);
    }
    hub_state_sync_close(store);
    if (err != HUB_OK) {
        cli_complain("%s", why.text);
        status = err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_CONFIG;
    }
    return status;
}

int cli_offer_add(cli_offer *offer, hub_str entry)
{
    int status = keep_secrets(offer);
    return status == EXIT_OK ? cli_add_entry(offer->options, offer->key, entry) : status;
}
