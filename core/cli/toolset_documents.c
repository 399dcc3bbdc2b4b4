/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/toolset_documents.h"

#include "base/limits.h"
#include "config/file.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/hub.h"
#include "hub/saved/saved.h"
#include "wire/json.h"

#include <ev.h>
#include <stdlib.h>

static hub_str owner_of(const cli_options *options)
{
    return hub_str_of(options->owner != NULL ? options->owner : HUB_IDENTITY_LOCAL.name);
}

void cli_saved_add_id(const hub_selected *tool, hub_buf *out)
{
    hub_buf_add(out, tool->toolset);
    hub_buf_add_char(out, ':');
    hub_buf_add(out, tool->tool);
}

/* ---- waiting for the store ------------------------------------------------------------------- */

typedef struct waiting {
    bool is_done;
    hub_err err;
    hub_error why;
    cli_saved_found *found;
    void (*on_line)(void *ctx, const hub_saved_line *line);
    void *ctx;
} waiting;

static void wait_for(cli_local *local, const waiting *one)
{
    while (!one->is_done) {
        ev_run(cli_local_loop(local), EVRUN_ONCE);
    }
}

static int complain(const waiting *one)
{
    hub_buf said;
    hub_buf_init(&said, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    cli_saved_add_words(&said, hub_str_of(one->why.text));
    cli_complain(HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&said)));
    hub_buf_fini(&said);
    return one->err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_CONFIG;
}

static void on_found(void *ctx, const hub_saved_found *found)
{
    waiting *one = ctx;
    hub_buf document;
    one->is_done = true;
    one->err = found->err;
    if (found->err != HUB_OK) {
        (void)hub_fail(&one->why, found->err, "%s", found->why);
        return;
    }
    hub_buf_init(&document, HUB_LIMIT_SAVED_FILE_BYTES);
    hub_saved_write(found->saved, &document);
    one->err = hub_buf_ok(&document) ? hub_saved_read(found->saved->name, hub_buf_str(&document),
                                                      &one->found->saved, &one->why)
                                     : hub_fail(&one->why, document.failed, "out of memory");
    one->found->origin = found->origin;
    one->found->version = found->version;
    hub_buf_fini(&document);
}

int cli_saved_find(const cli_options *options, cli_local *local, const char *name,
                   cli_saved_found *ret_found)
{
    waiting one = {.found = ret_found};
    *ret_found = (cli_saved_found){.saved = NULL};
    hub_saved_find(cli_local_hub(local), owner_of(options), hub_str_of(name), on_found, &one);
    wait_for(local, &one);
    hub_str owner = ret_found->origin == HUB_SAVED_OWN ? owner_of(options) : HUB_SAVED_SHARED;
    size_t len = owner.len < sizeof ret_found->owner ? owner.len : 0;
    memcpy(ret_found->owner, len > 0 ? owner.ptr : "", len);
    return one.err == HUB_OK ? EXIT_OK : complain(&one);
}

static void on_put(void *ctx, const hub_state_result *result)
{
    waiting *one = ctx;
    one->is_done = true;
    one->err = result->err;
    if (result->err == HUB_ECONFLICT) {
        (void)hub_fail(&one->why, HUB_ECONFLICT,
                       "it is there already, or was changed meanwhile; "
                       "--replace replaces what is there");
    } else if (result->err != HUB_OK) {
        (void)hub_fail(&one->why, result->err, "%s", result->why);
    }
}

static int put(cli_local *local, hub_str owner, const hub_saved *saved, uint64_t seen)
{
    waiting one = {.is_done = false};
    hub_state_id id = {.kind = &HUB_SAVED_KIND, .owner = owner, .key = saved->name};
    hub_buf document;
    hub_buf_init(&document, HUB_LIMIT_STATE_DOCUMENT_BYTES);
    hub_saved_write(saved, &document);
    one.err = hub_buf_ok(&document)
                  ? hub_state_put(hub_store_of(cli_local_hub(local)), &id, seen,
                                  hub_buf_str(&document), on_put, &one, NULL, &one.why)
                  : hub_fail(&one.why, document.failed, "the saved toolset is too large");
    hub_buf_fini(&document);
    if (one.err == HUB_OK) {
        wait_for(local, &one);
    }
    return one.err == HUB_OK ? EXIT_OK : complain(&one);
}

int cli_saved_put(cli_local *local, const cli_saved_found *found, const hub_saved *saved)
{
    int status = put(local, hub_str_of(found->owner), saved, found->version);
    if (status == EXIT_OK) {
        cli_print(HUB_STR("saved"));
    }
    return status;
}

static void on_list(void *ctx, hub_err err, const char *why, const hub_saved_line *lines,
                    size_t count)
{
    waiting *one = ctx;
    one->is_done = true;
    one->err = err;
    if (err != HUB_OK) {
        (void)hub_fail(&one->why, err, "%s", why);
    }
    for (size_t i = 0; i < count; i++) {
        one->on_line(one->ctx, &lines[i]);
    }
}

/* Of those of the store, when it cannot be read, none: a line on stderr says so. */
static int each_line(const cli_options *options, cli_local *local,
                     void (*on_line)(void *ctx, const hub_saved_line *line), void *ctx)
{
    waiting one = {.on_line = on_line, .ctx = ctx};
    hub_saved_list(cli_local_hub(local), owner_of(options), on_list, &one);
    wait_for(local, &one);
    return one.err == HUB_OK ? EXIT_OK : complain(&one);
}

/* ---- looking --------------------------------------------------------------------------------- */

typedef struct listing {
    cli_local *local;
    hub_buf out;
    bool is_json;
} listing;

static void add_line(void *ctx, const hub_saved_line *line)
{
    listing *all = ctx;
    hub_buf *out = &all->out;
    const hub_audience *audience = hub_session_audience(cli_local_session(all->local));
    bool is_equipped = hub_str_eq(hub_saved_equipped_by(audience).name, line->name);
    if (!all->is_json) {
        hub_buf_printf(out, "%s" HUB_STR_FMT "  %zu tool%s, %s%s%s" HUB_STR_FMT,
                       out->len > 0 ? "\n" : "", HUB_STR_ARG(line->name), line->tool_count,
                       line->tool_count == 1 ? "" : "s", hub_saved_origin_name(line->origin),
                       is_equipped ? ", equipped" : "", line->description.len > 0 ? ": " : "",
                       HUB_STR_ARG(line->description));
        return;
    }
    hub_json_add_comma(out);
    hub_buf_add(out, HUB_STR("{\"name\":"));
    hub_json_add_string(out, line->name);
    hub_json_add_key(out, HUB_STR("description"));
    hub_json_add_string(out, line->description);
    hub_buf_printf(out, ",\"toolCount\":%zu,\"version\":%llu,\"origin\":\"%s\"%s}",
                   line->tool_count, (unsigned long long)line->version,
                   hub_saved_origin_name(line->origin), is_equipped ? ",\"equipped\":true" : "");
}

int cli_saved_list(const cli_options *options, cli_local *local)
{
    listing all = {.local = local, .is_json = options->json};
    hub_str answer;
    /* No request goes past what the principal has chosen: then it is known. */
    (void)cli_local_request(local, "server/discover", HUB_STR("{}"), &answer);
    hub_buf_init(&all.out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_buf_add(&all.out, all.is_json ? HUB_STR("[") : HUB_STR_EMPTY);
    int status = each_line(options, local, add_line, &all);
    if (all.is_json) {
        hub_buf_add_char(&all.out, ']');
        cli_print_json(hub_buf_str(&all.out));
    } else if (all.out.len > 0) {
        cli_print(hub_buf_str(&all.out));
    }
    hub_buf_fini(&all.out);
    return status;
}

typedef struct names {
    void (*on_name)(void *ctx, hub_str name, hub_str about);
    void *ctx;
} names;

static void tell_name(void *ctx, const hub_saved_line *line)
{
    const names *to = ctx;
    to->on_name(to->ctx, line->name, line->description);
}

void cli_saved_each_name(const cli_options *options, cli_local *local,
                         void (*on_name)(void *ctx, hub_str name, hub_str about), void *ctx)
{
    names to = {.on_name = on_name, .ctx = ctx};
    waiting one = {.on_line = tell_name, .ctx = &to};
    hub_saved_list(cli_local_hub(local), owner_of(options), on_list, &one);
    wait_for(local, &one);
}

static void print_document(const hub_saved *saved)
{
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_SAVED_FILE_BYTES);
    hub_saved_write(saved, &out);
    cli_print_json(hub_buf_str(&out));
    hub_buf_fini(&out);
}

int cli_saved_show(const cli_options *options, cli_local *local)
{
    cli_saved_found found;
    int status = cli_saved_find(options, local, options->arguments[1], &found);
    if (status != EXIT_OK) {
        return status;
    }
    const hub_saved *saved = found.saved;
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_SAVED_FILE_BYTES);
    hub_buf_printf(&out, HUB_STR_FMT " (%s, version %llu)%s" HUB_STR_FMT, HUB_STR_ARG(saved->name),
                   hub_saved_origin_name(found.origin), (unsigned long long)saved->version,
                   saved->description.len > 0 ? ": " : "", HUB_STR_ARG(saved->description));
    for (size_t i = 0; i < saved->count; i++) {
        hub_buf_add(&out, HUB_STR("\n  "));
        cli_saved_add_id(&saved->tools[i], &out);
    }
    if (options->json) {
        print_document(saved);
    } else {
        cli_print(hub_buf_str(&out));
    }
    hub_buf_fini(&out);
    hub_saved_destroy(found.saved);
    return EXIT_OK;
}

/* ---- export and import ----------------------------------------------------------------------- */

static int export_one(const cli_options *options, cli_local *local, const char *name, hub_buf *out)
{
    cli_saved_found found;
    int status = cli_saved_find(options, local, name, &found);
    if (status == EXIT_OK) {
        hub_json_add_comma(out);
        hub_saved_write(found.saved, out);
        hub_saved_destroy(found.saved);
    }
    return status;
}

typedef struct wanted {
    char *items[2 * HUB_LIMIT_SAVED_PER_OWNER];
    size_t count;
} wanted;

/* What the manifest has is there already. */
static void note_name(void *ctx, const hub_saved_line *line)
{
    wanted *all = ctx;
    if (line->origin != HUB_SAVED_FIXED && all->count < sizeof all->items / sizeof all->items[0]) {
        all->items[all->count] = hub_str_dup(line->name);
        all->count += all->items[all->count] != NULL;
    }
}

int cli_saved_export(const cli_options *options, cli_local *local)
{
    static wanted all;
    hub_buf out;
    int status = EXIT_OK;
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_buf_add(&out, HUB_STR("{\"toolsets\":["));
    if (options->argument_count == 1) {
        status = each_line(options, local, note_name, &all);
    }
    for (size_t i = 0; status == EXIT_OK && i < all.count; i++) {
        status = export_one(options, local, all.items[i], &out);
    }
    for (size_t i = 1; status == EXIT_OK && i < options->argument_count; i++) {
        status = export_one(options, local, options->arguments[i], &out);
    }
    hub_buf_add(&out, HUB_STR("]}"));
    if (status == EXIT_OK && hub_buf_ok(&out)) {
        cli_print_json(hub_buf_str(&out));
    } else if (status == EXIT_OK) {
        cli_complain("there is too much to export: name some");
        status = EXIT_CONFIG;
    }
    for (size_t i = 0; i < all.count; i++) {
        free(all.items[i]);
    }
    all.count = 0;
    hub_buf_fini(&out);
    return status;
}

/* Read a file, or stdin, as JSON. */
static int read_json(const char *path, hub_buf *text, hub_str *ret_json)
{
    hub_error why = {.text = ""};
    hub_err err = hub_file_read(strcmp(path, "-") == 0 ? "/dev/stdin" : path, text, NULL, &why);
    if (err == HUB_OK) {
        err = hub_json_check(hub_buf_str(text), ret_json, &why);
        if (err != HUB_OK) {
            hub_error_prefix(&why, "%s", path);
        }
    }
    if (err != HUB_OK) {
        cli_complain("%s", why.text);
    }
    return err == HUB_OK ? EXIT_OK : EXIT_CONFIG;
}

/* Of a file as `export` writes it, {"toolsets": […]}, or a list: the one of this name, or the only one. */
static hub_str pick(hub_str json, const char *name)
{
    hub_str list = hub_json_get(json, HUB_STR("toolsets"));
    list = hub_json_type_of(json) == HUB_JSON_ARRAY ? json : list;
    hub_json_iter it = hub_json_iterate(list);
    hub_str key;
    hub_str one;
    hub_str only = HUB_STR_EMPTY;
    if (hub_json_type_of(list) != HUB_JSON_ARRAY) {
        return json;
    }
    while (hub_json_next(&it, &key, &one)) {
        if (hub_json_string_is(hub_json_get(one, HUB_STR("name")), hub_str_of(name))) {
            return one;
        }
        only = one;
    }
    return hub_json_count(list) == 1 ? only : HUB_STR_EMPTY;
}

/* The document of a file. */
static int read_file(const char *path, const char *name, hub_saved **ret_saved)
{
    hub_error why = {.text = ""};
    hub_buf text;
    hub_str json;
    hub_buf_init(&text, HUB_LIMIT_SAVED_FILE_BYTES);
    int status = read_json(path, &text, &json);
    hub_str one = status == EXIT_OK ? pick(json, name) : HUB_STR_EMPTY;
    if (status == EXIT_OK && one.len == 0) {
        cli_complain("%s: there is no saved toolset \"%s\" in it", path, name);
        status = EXIT_CONFIG;
    } else if (status == EXIT_OK && hub_saved_read(HUB_STR_EMPTY, one, ret_saved, &why) != HUB_OK) {
        cli_complain("%s: %s", path, why.text);
        status = EXIT_CONFIG;
    }
    hub_buf_fini(&text);
    return status;
}

static int import_one(const cli_options *options, cli_local *local, hub_str json)
{
    hub_saved *saved = NULL;
    hub_error why = {.text = ""};
    char now[HUB_SAVED_TIME_BYTES];
    if (hub_saved_read(HUB_STR_EMPTY, json, &saved, &why) != HUB_OK) {
        cli_complain("%s", why.text);
        return EXIT_CONFIG;
    }
    hub_saved_now(now);
    saved->owner = owner_of(options);
    saved->updated_at = hub_str_of(now);
    saved->created_at = saved->created_at.len > 0 ? saved->created_at : hub_str_of(now);
    int status = put(local, options->shares ? HUB_SAVED_SHARED : owner_of(options), saved,
                     options->replace ? HUB_STATE_ANY : HUB_STATE_ABSENT);
    if (status == EXIT_OK) {
        cli_print(saved->name);
    } else {
        cli_complain("\"" HUB_STR_FMT "\" is not imported", HUB_STR_ARG(saved->name));
    }
    hub_saved_destroy(saved);
    return status;
}

/* One document, or a list of them, or {"toolsets": […]}. */
int cli_saved_import(const cli_options *options, cli_local *local)
{
    hub_buf text;
    hub_str json;
    hub_buf_init(&text, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    int status = read_json(options->arguments[1], &text, &json);
    if (status == EXIT_OK) {
        hub_str list = hub_json_get(json, HUB_STR("toolsets"));
        list = hub_json_type_of(json) == HUB_JSON_ARRAY ? json : list;
        hub_json_iter it = hub_json_iterate(list);
        hub_str key;
        hub_str one;
        if (hub_json_type_of(list) != HUB_JSON_ARRAY) {
            status = import_one(options, local, json);
        }
        while (hub_json_type_of(list) == HUB_JSON_ARRAY && hub_json_next(&it, &key, &one)) {
            int done = import_one(options, local, one);
            status = status == EXIT_OK ? done : status;
        }
    }
    hub_buf_fini(&text);
    return status;
}

/* ---- differences ----------------------------------------------------------------------------- */

static void print_difference(char sign, const hub_selected *tool, const char *what)
{
    hub_buf line;
    hub_buf_init(&line, SIZE_MAX / 4);
    hub_buf_printf(&line, "%c ", sign);
    cli_saved_add_id(tool, &line);
    hub_buf_add(&line, hub_str_of(what));
    cli_print(hub_buf_str(&line));
    hub_buf_fini(&line);
}

static void print_differences(const hub_selection *before, const hub_selection *now)
{
    for (size_t i = 0; i < hub_selection_count(before); i++) {
        const hub_selected *old = hub_selection_at(before, i);
        const hub_selected *found = hub_selection_find(now, old->toolset, old->tool);
        if (found == NULL) {
            print_difference('-', old, "");
        } else if (old->has_digest && found->has_digest &&
                   memcmp(old->digest, found->digest, HUB_DIGEST_BYTES) != 0) {
            print_difference('~', old, " (another definition)");
        }
    }
    for (size_t i = 0; i < hub_selection_count(now); i++) {
        const hub_selected *added = hub_selection_at(now, i);
        if (hub_selection_find(before, added->toolset, added->tool) == NULL) {
            print_difference('+', added, "");
        }
    }
}

/* Tools as they are now, by the ids of a saved toolset. */
typedef struct present {
    const hub_saved *saved;
    hub_selected *tools; /* room for all of them */
    size_t count;
} present;

/* One of discover-all-tools. */
static void note_present(present *now, hub_str tool)
{
    hub_str hex;
    hub_buf own;
    hub_buf_init(&own, SIZE_MAX / 4);
    bool has = hub_json_plain(hub_json_get(tool, HUB_STR("refId")), &hex);
    for (size_t i = 0; has && i < now->saved->count && now->count < now->saved->count; i++) {
        hub_buf_clear(&own);
        cli_saved_add_id(&now->saved->tools[i], &own);
        if (hub_json_string_is(hub_json_get(tool, HUB_STR("id")), hub_buf_str(&own))) {
            hub_selected *found = &now->tools[now->count];
            *found = now->saved->tools[i];
            found->has_digest = hub_saved_read_digest(hex, found->digest);
            now->count++;
            break;
        }
    }
    hub_buf_fini(&own);
}

/* A page of all tools that there are; `cursor` is the next one's, or empty. */
static bool read_page(cli_local *local, hub_buf *cursor, present *now)
{
    hub_buf params;
    hub_str json;
    hub_str key;
    hub_str tool;
    hub_buf_init(&params, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_add(&params, HUB_STR("{\"name\":\"discover-all-tools\",\"arguments\":{\"refs\":true"));
    hub_buf_add(&params, cursor->len > 0 ? HUB_STR(",\"cursor\":") : HUB_STR_EMPTY);
    hub_buf_add(&params, hub_buf_str(cursor));
    hub_buf_add(&params, HUB_STR("}}"));
    bool good =
        hub_buf_ok(&params) && cli_local_request(local, "tools/call", hub_buf_str(&params), &json);
    hub_str page = good ? hub_json_get(json, HUB_STR("structuredContent")) : HUB_STR_EMPTY;
    hub_json_iter it = hub_json_iterate(hub_json_get(page, HUB_STR("tools")));
    while (hub_json_next(&it, &key, &tool)) {
        note_present(now, tool);
    }
    hub_buf_clear(cursor);
    hub_buf_add(cursor, hub_json_get(page, HUB_STR("nextCursor")));
    hub_buf_fini(&params);
    return good && page.len > 0 && hub_buf_ok(cursor);
}

static int look_now(cli_local *local, present *now)
{
    hub_buf cursor;
    bool good;
    hub_buf_init(&cursor, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    do {
        good = read_page(local, &cursor, now);
    } while (good && cursor.len > 0);
    hub_buf_fini(&cursor);
    if (!good) {
        cli_complain("the tools that there are cannot be looked at");
    }
    return good ? EXIT_OK : EXIT_CONFIG;
}

/* The selection of another one: of a file, or of the store; or of what there is now. */
static int select_other(const cli_options *options, cli_local *local, const hub_saved *saved,
                        hub_selection **ret_selection)
{
    cli_saved_found other = {.saved = NULL};
    hub_err err = HUB_OK;
    int status = EXIT_OK;
    if (options->argument_count == 2) {
        present now = {.saved = saved, .tools = calloc(saved->count + 1, sizeof *now.tools)};
        status = now.tools != NULL ? look_now(local, &now) : EXIT_INTERNAL;
        err = status == EXIT_OK   ? hub_selection_create(now.tools, now.count, ret_selection)
              : now.tools == NULL ? HUB_ENOMEM
                                  : HUB_OK;
        free(now.tools);
    } else {
        const char *name = options->arguments[2];
        status = strpbrk(name, "./") != NULL ? read_file(name, options->arguments[1], &other.saved)
                                             : cli_saved_find(options, local, name, &other);
        err = status == EXIT_OK ? hub_saved_select(other.saved, ret_selection) : HUB_OK;
        hub_saved_destroy(other.saved);
    }
    if (err != HUB_OK) {
        cli_complain("out of memory");
        return EXIT_INTERNAL;
    }
    return status;
}

int cli_saved_diff(const cli_options *options, cli_local *local)
{
    cli_saved_found found;
    hub_selection *before = NULL;
    hub_selection *now = NULL;
    int status = cli_saved_find(options, local, options->arguments[1], &found);
    if (status == EXIT_OK) {
        status = select_other(options, local, found.saved, &now);
    }
    if (status == EXIT_OK && hub_saved_select(found.saved, &before) != HUB_OK) {
        cli_complain("out of memory");
        status = EXIT_INTERNAL;
    }
    if (status == EXIT_OK) {
        print_differences(before, now);
    }
    hub_selection_unref(before);
    hub_selection_unref(now);
    hub_saved_destroy(found.saved);
    return status;
}
