/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay state check|export|import|rekey: the store as a whole, for whoever runs the hub. */
#include "cli/cli.h"

#include "base/io.h"
#include "base/limits.h"
#include "base/loop.h"
#include "config/file.h"
#include "state/address.h"
#include "state/admin.h"
#include "state/export.h"
#include "state/secrets.h"
#include "wire/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    END_MS = 60000,
    LINES_BYTES = 64 * 1024 * 1024, /* a page of records, as text */
    ANSWER_BYTES = 64 * 1024,
};

/* One command at its work. */
typedef struct work {
    cli_options *options;
    const hub_state_settings *settings;
    struct ev_loop *loop;
    hub_store *store;
    bool is_done;
    hub_err err;
    char why[sizeof((hub_error *)NULL)->text];
    hub_state_report report;
    char journal[16];
    char safety[256];
    hub_buf lines;         /* export: those of the page */
    hub_arena *arena;      /* export: the name of the last record … */
    hub_state_record last; /* … of the page */
    bool has_more;
    bool is_begun;
    size_t left_out;
} work;

static int complain(const work *at)
{
    cli_complain("%s", at->why);
    return at->err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_CONFIG;
}

static void on_done(void *ctx, const hub_state_result *result, const hub_state_report *report)
{
    work *at = ctx;
    at->is_done = true;
    at->err = result->err;
    at->has_more = result->has_more;
    at->report = *report;
    (void)snprintf(at->why, sizeof at->why, "%s", result->why);
    (void)snprintf(at->journal, sizeof at->journal, "%s",
                   report->journal != NULL ? report->journal : "");
    (void)snprintf(at->safety, sizeof at->safety, "%s",
                   report->safety != NULL ? report->safety : "");
}

/* Wait for what was begun with `err`. */
static hub_err wait_for(work *at, hub_err err, const hub_error *why)
{
    if (err != HUB_OK) {
        at->err = err;
        (void)snprintf(at->why, sizeof at->why, "%s", why->text);
    }
    while (err == HUB_OK && !at->is_done) {
        (void)ev_run(at->loop, EVRUN_ONCE);
    }
    at->is_done = false;
    return at->err;
}

static bool print(hub_str text)
{
    return hub_write_all(STDOUT_FILENO, text) == text.len;
}

/* ---- check ----------------------------------------------------------------------------------- */

static void print_check_json(const work *at, bool is_there)
{
    hub_buf out;
    hub_buf_init(&out, ANSWER_BYTES);
    hub_buf_printf(&out, "{\"engine\":\"%s\",\"path\":", hub_store_health(at->store).engine);
    hub_json_add_string(&out, hub_str_of(at->settings->place));
    hub_buf_add(&out, HUB_STR(",\"scope\":"));
    hub_json_add_string(&out, hub_str_of(at->settings->scope));
    hub_buf_printf(&out, ",\"exists\":%s,\"journal\":\"%s\",\"epoch\":\"%s\"",
                   is_there ? "true" : "false", at->journal, at->report.epoch);
    hub_buf_printf(&out,
                   ",\"records\":%" PRIu64 ",\"key\":%s,\"secrets\":{\"encrypted\":%" PRIu64
                   ",\"plain\":%" PRIu64 ",\"unreadable\":%" PRIu64 "}",
                   at->report.records, hub_store_health(at->store).has_key ? "true" : "false",
                   at->report.sealed, at->report.plain, at->report.unreadable);
    hub_buf_add(&out, HUB_STR(",\"notSafeBecause\":"));
    hub_json_add_string(&out, hub_str_of(at->safety));
    hub_buf_add_char(&out, '}');
    cli_print_json(hub_buf_str(&out));
    hub_buf_fini(&out);
}

static void print_check(const work *at, bool is_there)
{
    hub_buf out;
    hub_buf_init(&out, ANSWER_BYTES);
    hub_state_health health = hub_store_health(at->store);
    bool is_shared = hub_state_address_is(hub_str_of(at->settings->place));
    hub_buf_printf(&out, "store: %s (%s)\nscope: %s\n", at->settings->place, health.engine,
                   at->settings->scope);
    if (is_shared) {
        hub_buf_printf(&out, "server: OK%s%s\n", health.notice[0] != '\0' ? ", but " : "",
                       health.notice);
    }
    if (is_there && !is_shared) {
        hub_buf_printf(&out, "file: OK, journal mode %s\n", at->journal);
    }
    if (is_there) {
        hub_buf_printf(&out, "records: %" PRIu64 "\n", at->report.records);
        hub_buf_printf(&out,
                       "secrets: %" PRIu64 " encrypted, %" PRIu64 " not encrypted, %" PRIu64
                       " unreadable\n",
                       at->report.sealed, at->report.plain, at->report.unreadable);
    } else {
        hub_buf_add(&out, is_shared ? HUB_STR("records: none yet\n")
                                    : HUB_STR("file: none yet; the first record makes it\n"));
    }
    if (health.has_key) {
        hub_buf_add(&out, HUB_STR("key: yes, secrets are encrypted"));
    } else if (at->safety[0] != '\0') {
        hub_buf_printf(&out, "key: no, and secrets are refused: %s", at->safety);
    } else {
        hub_buf_add(&out, HUB_STR("key: no, secrets are kept as they are, in files that only you "
                                  "can read"));
    }
    cli_report(hub_buf_str(&out));
    hub_buf_fini(&out);
}

static int check(work *at)
{
    hub_error why = {.code = HUB_OK};
    hub_err err = wait_for(at, hub_state_check(at->store, on_done, at, &why), &why);
    if (err != HUB_OK && err != HUB_ENOTFOUND) {
        return complain(at);
    }
    bool is_there = err == HUB_OK;
    if (at->options->json) {
        print_check_json(at, is_there);
    } else {
        print_check(at, is_there);
    }
    if (at->report.unreadable > 0) {
        cli_complain("secrets that cannot be read (%" PRIu64
                     "): they are encrypted with a key that is "
                     "not given here, or damaged",
                     at->report.unreadable);
        return EXIT_CONFIG;
    }
    return EXIT_OK;
}

/* ---- export ---------------------------------------------------------------------------------- */

static bool keep_name(work *at, const hub_state_record *record)
{
    hub_arena_destroy(at->arena);
    at->arena = hub_arena_create(ANSWER_BYTES);
    if (at->arena == NULL) {
        return false;
    }
    const hub_str from[] = {record->scope, record->kind, record->owner, record->key};
    hub_str *const to[] = {&at->last.scope, &at->last.kind, &at->last.owner, &at->last.key};
    bool is_kept = true;
    for (size_t i = 0; is_kept && i < sizeof from / sizeof from[0]; i++) {
        char *copy = hub_arena_strdup(at->arena, from[i]);
        *to[i] = (hub_str){.ptr = copy, .len = from[i].len};
        is_kept = copy != NULL;
    }
    return is_kept;
}

static void on_page(void *ctx, const hub_state_result *result, const hub_state_report *report)
{
    work *at = ctx;
    bool decrypts = at->options->decrypt;
    if (result->err == HUB_OK && !at->is_begun) {
        hub_state_export_begin(report->epoch, &at->lines);
        at->is_begun = true;
    }
    for (size_t i = 0; i < result->count; i++) {
        const hub_state_record *record = &result->records[i];
        at->left_out += record->is_secret && record->key_id.len == 0 && !decrypts;
        hub_state_export_add(record, decrypts, &at->lines);
    }
    on_done(ctx, result, report);
    if ((result->count > 0 && !keep_name(at, &result->records[result->count - 1])) ||
        !hub_buf_ok(&at->lines)) {
        at->err = HUB_ENOMEM;
        (void)snprintf(at->why, sizeof at->why, "out of memory");
    }
}

static int export_all(work *at)
{
    hub_error why = {.code = HUB_OK};
    hub_err err = HUB_OK;
    bool is_written = true;
    hub_buf_init(&at->lines, LINES_BYTES);
    do {
        const hub_state_record *after = at->last.key.len > 0 ? &at->last : NULL;
        err = wait_for(
            at, hub_state_scan(at->store, after, at->options->decrypt, on_page, at, &why), &why);
        is_written = err != HUB_OK || print(hub_buf_str(&at->lines));
        hub_buf_clear(&at->lines);
    } while (err == HUB_OK && is_written && at->has_more);
    hub_buf_fini(&at->lines);
    hub_arena_destroy(at->arena);
    if (err != HUB_OK) {
        return complain(at);
    }
    if (!is_written) {
        cli_complain("the export could not be written: it is not complete");
        return EXIT_INTERNAL;
    }
    if (at->left_out > 0) {
        cli_complain(
            "secrets that are not encrypted were left out (%zu): --decrypt exports them as "
            "they are",
            at->left_out);
    }
    return EXIT_OK;
}

/* ---- import ---------------------------------------------------------------------------------- */

static void print_import(const work *at, size_t left_out)
{
    const hub_state_report *report = &at->report;
    hub_buf out;
    hub_buf_init(&out, ANSWER_BYTES);
    if (at->options->json) {
        hub_buf_printf(&out,
                       "{\"added\":%" PRIu64 ",\"replaced\":%" PRIu64 ",\"kept\":%" PRIu64
                       ",\"same\":%" PRIu64 ",\"leftOut\":%zu}",
                       report->added, report->replaced, report->kept, report->same, left_out);
        cli_print_json(hub_buf_str(&out));
    } else {
        hub_buf_printf(&out,
                       "%" PRIu64 " added, %" PRIu64 " replaced, %" PRIu64
                       " kept as the store has them, %" PRIu64 " the same already",
                       report->added, report->replaced, report->kept, report->same);
        cli_report(hub_buf_str(&out));
    }
    hub_buf_fini(&out);
    if (left_out > 0) {
        cli_complain("secrets that this export does not have (%zu): it was made without --decrypt",
                     left_out);
    }
}

static int import_text(work *at, hub_str text, const char *file)
{
    hub_error why = {.code = HUB_OK};
    hub_state_import_text found = {.count = 0};
    hub_state_clash clash = at->options->replace ? HUB_STATE_CLASH_REPLACE
                            : at->options->keep  ? HUB_STATE_CLASH_KEEP
                                                 : HUB_STATE_CLASH_REFUSE;
    hub_arena *arena = hub_arena_create(2 * (size_t)HUB_LIMIT_STATE_IMPORT_BYTES);
    hub_err err = arena != NULL ? hub_state_export_read(text, arena, &found, &why)
                                : hub_fail(&why, HUB_ENOMEM, "out of memory");
    if (err != HUB_OK) {
        hub_error_prefix(&why, "%s", file);
    }
    if (err == HUB_OK) {
        err = hub_state_import(at->store, found.records, found.count, clash, on_done, at, &why);
    }
    err = wait_for(at, err, &why);
    hub_arena_destroy(arena);
    if (err != HUB_OK) {
        return complain(at);
    }
    print_import(at, found.left_out);
    return EXIT_OK;
}

static int import_file(work *at)
{
    const char *file = at->options->arguments[1];
    const char *path = strcmp(file, "-") == 0 ? "/dev/stdin" : file;
    hub_error why = {.code = HUB_OK};
    hub_buf text;
    if (at->options->keep && at->options->replace) {
        cli_complain("--keep and --replace exclude each other: say which records are to stay");
        return EXIT_USAGE;
    }
    hub_buf_init(&text, HUB_LIMIT_STATE_IMPORT_BYTES);
    hub_err err = hub_file_read(path, &text, NULL, &why);
    if (err != HUB_OK) {
        cli_complain("%s", why.text);
        hub_buf_fini(&text);
        return EXIT_CONFIG;
    }
    int status = import_text(at, hub_buf_str(&text), file);
    hub_buf_fini(&text);
    return status;
}

/* ---- rekey ----------------------------------------------------------------------------------- */

static int rekey(work *at)
{
    hub_error why = {.code = HUB_OK};
    if (!hub_store_health(at->store).has_key) {
        cli_complain("there is no key to encrypt with: write one to a file (openssl rand -hex 32), "
                     "name it with `state: {key: FILE}`, or give it in " HUB_STATE_KEY_VARIABLE);
        return EXIT_CONFIG;
    }
    if (wait_for(at, hub_state_rekey(at->store, on_done, at, &why), &why) != HUB_OK) {
        return complain(at);
    }
    if (at->options->json) {
        (void)printf("{\"encrypted\":%" PRIu64 "}\n", at->report.sealed);
    } else {
        (void)printf("encrypted with the current key: %" PRIu64 "; older keys are not needed any "
                     "more\n",
                     at->report.sealed);
    }
    return EXIT_OK;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t arguments;
    int (*run)(work *at);
} VERBS[] = {{"check", 1, check},
             {"export", 1, export_all},
             {"import", 2, import_file},
             {"rekey", 1, rekey}};

/* The store of the configuration, for the verb. */
static int run(work *at, size_t verb)
{
    hub_error why = {.code = HUB_OK};
    hub_store_options options = {.place = at->settings->place,
                                 .password = at->settings->password,
                                 .scope = at->settings->scope};
    hub_err err = hub_state_keys_load(at->settings->key, &options.keys, &why);
    if (err == HUB_OK) {
        at->loop = hub_loop_new();
        err = at->loop != NULL ? hub_store_create(at->loop, &options, &at->store, &why)
                               : hub_fail(&why, HUB_ENOMEM, "out of memory");
    }
    if (err != HUB_OK) {
        if (at->loop != NULL) {
            hub_loop_destroy(at->loop);
        }
        cli_complain("%s", why.text);
        return err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_CONFIG;
    }
    int status = VERBS[verb].run(at);
    if (!hub_store_destroy(at->store, END_MS)) {
        cli_complain("%s does not answer: is its file system reachable?", at->settings->place);
        _exit(EXIT_INTERNAL);
    }
    hub_loop_destroy(at->loop);
    return status;
}

int cli_state(cli_options *options)
{
    hub_config *config = NULL;
    size_t verb = 0;
    const char *word = options->argument_count > 0 ? options->arguments[0] : "";
    while (verb < sizeof VERBS / sizeof VERBS[0] && strcmp(word, VERBS[verb].name) != 0) {
        verb++;
    }
    if (verb == sizeof VERBS / sizeof VERBS[0]) {
        cli_complain(
            "say what to do: state check, state export, state import FILE, or state rekey");
        return EXIT_USAGE;
    }
    if (options->argument_count != VERBS[verb].arguments) {
        cli_complain("state %s wants %s", word,
                     VERBS[verb].arguments == 1 ? "no argument" : "a file, or - for stdin");
        return EXIT_USAGE;
    }
    int status = cli_load_config(options, true, &config);
    if (status != EXIT_OK) {
        return status;
    }
    work at = {.options = options, .settings = &config->settings.state};
    if (strcmp(at.settings->place, HUB_STATE_PLACE_OFF) == 0) {
        cli_complain("there is no store: the configuration says `state: off`, or there is no HOME "
                     "to keep one in");
        status = EXIT_CONFIG;
    } else {
        status = run(&at, verb);
    }
    hub_config_destroy(config);
    return status;
}
