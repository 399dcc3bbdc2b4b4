/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "cli/columns.h"
#include "cli/missing.h"
#include "cli/remembered.h"
#include "hub/report/describe.h"
#include "wire/json.h"

#include <stdio.h>

/* Append the decoded text of a raw string, up to its first line end. */
static void add_first_line(hub_buf *out, hub_str raw)
{
    hub_buf text;
    hub_buf_init(&text, raw.len + 1);
    if (hub_json_decode(raw, &text) == HUB_OK) {
        hub_str all = hub_buf_str(&text);
        size_t end = hub_str_find(all, HUB_STR("\n"));
        hub_buf_add(out, end == SIZE_MAX ? all : (hub_str){.ptr = all.ptr, .len = end});
    }
    hub_buf_fini(&text);
}

/* Two members of each object, side by side. */
static void print_rows(hub_str array, const char *const members[2], const char *const titles[2])
{
    hub_json_iter it = hub_json_iterate(array);
    hub_str key;
    hub_str object;
    cli_columns columns;
    hub_buf cells[2];
    cli_columns_init(&columns, 2, titles);
    hub_buf_init(&cells[0], HUB_LIMIT_CATALOG_BYTES);
    hub_buf_init(&cells[1], HUB_LIMIT_CATALOG_BYTES);
    while (hub_json_next(&it, &key, &object)) {
        for (size_t i = 0; i < 2; i++) {
            hub_buf_clear(&cells[i]);
            add_first_line(&cells[i], hub_json_get(object, hub_str_of(members[i])));
            hub_buf_add_char(&cells[i], '\0');
        }
        if (hub_buf_ok(&cells[0]) && hub_buf_ok(&cells[1])) {
            cli_columns_add(&columns, (const char *const[]){cells[0].ptr, cells[1].ptr});
        }
    }
    cli_columns_print(&columns);
    cli_columns_fini(&columns);
    hub_buf_fini(&cells[0]);
    hub_buf_fini(&cells[1]);
}

int cli_collect(cli_local *local, const char *kind, hub_buf *out)
{
    char method[64];
    hub_buf params;
    hub_str json;
    hub_buf_init(&params, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_add(&params, HUB_STR("{}"));
    hub_buf_add_char(out, '[');
    (void)snprintf(method, sizeof method, "%s/list", kind);
    for (;;) {
        if (!cli_local_request(local, method, hub_buf_str(&params), &json)) {
            cli_complain("the %s cannot be listed: " HUB_STR_FMT, kind, HUB_STR_ARG(json));
            hub_buf_fini(&params);
            return EXIT_INTERNAL;
        }
        hub_str entries = hub_json_get(json, hub_str_of(kind));
        if (entries.len > 2) {
            hub_json_add_comma(out);
            hub_buf_add(out, (hub_str){.ptr = entries.ptr + 1, .len = entries.len - 2});
        }
        hub_str cursor = hub_json_get(json, HUB_STR("nextCursor"));
        if (cursor.len == 0) {
            break;
        }
        hub_buf_clear(&params);
        hub_buf_add(&params, HUB_STR("{\"cursor\":"));
        hub_buf_add(&params, cursor);
        hub_buf_add_char(&params, '}');
    }
    hub_buf_add_char(out, ']');
    hub_buf_fini(&params);
    return EXIT_OK;
}

/* A time in words: "20 s", "4 min", "3 h", "2 days". */
static void add_age(uint64_t ms, hub_buf *out)
{
    static const struct {
        uint64_t ms;
        const char *unit;
    } UNITS[] = {{2 * 86400000, "days"}, {3600000, "h"}, {60000, "min"}, {0, "s"}};
    static const uint64_t DIVISORS[] = {86400000, 3600000, 60000, 1000};
    size_t i = 0;
    while (ms < UNITS[i].ms) {
        i++;
    }
    hub_buf_printf(out, "%llu %s", (unsigned long long)(ms / DIVISORS[i]), UNITS[i].unit);
}

/* Say how old is what is shown, where no server was asked. */
static void report_age(cli_local *local, const char *profile, uint64_t elapsed_ms)
{
    uint64_t oldest_ms;
    hub_buf age;
    hub_buf_init(&age, 64);
    size_t count = cli_remembered_count(local, profile, elapsed_ms, &oldest_ms);
    if (count > 0) {
        add_age(oldest_ms, &age);
        cli_complain("%zu %s not asked but shown as remembered (%s" HUB_STR_FMT
                     " old): --refresh asks",
                     count, count == 1 ? "server was" : "servers were",
                     count == 1 ? "" : "at most ", HUB_STR_ARG(hub_buf_str(&age)));
    }
    hub_buf_fini(&age);
}

static void on_missing(void *ctx, const char *key, const char *reason)
{
    int *status = ctx;
    *status = EXIT_UNREACHABLE;
    if (strstr(reason, "toolset \"") != NULL) {
        cli_complain("%s", reason); /* which says of whom */
    } else {
        cli_complain("toolset \"%s\": %s", key, reason);
    }
}

/* Say which toolsets should be there, and are not. */
static int report_missing(cli_local *local, const char *profile)
{
    int status = EXIT_OK;
    hub_missing_toolsets(cli_local_hub(local), profile, on_missing, &status);
    return status;
}

static int list_entries(cli_local *local, const char *kind, const char *profile, hub_buf *out)
{
    int status = cli_collect(local, kind, out);
    return status == EXIT_OK ? report_missing(local, profile) : status;
}

static int list_tools(cli_local *local, const char *profile, hub_buf *out)
{
    return list_entries(local, "tools", profile, out);
}

static int list_resources(cli_local *local, const char *profile, hub_buf *out)
{
    return list_entries(local, "resources", profile, out);
}

static int list_prompts(cli_local *local, const char *profile, hub_buf *out)
{
    return list_entries(local, "prompts", profile, out);
}

/* Servers of which nothing is known are asked, so that the list can say how they are. */
static int list_toolsets(cli_local *local, const char *profile, hub_buf *out)
{
    hub_str ignored;
    (void)cli_local_request(local, "tools/list", HUB_STR("{}"), &ignored);
    hub_describe_toolsets(cli_local_hub(local), profile, true, out);
    return report_missing(local, profile);
}

/* Say where modules were looked for, if there are none. */
static void report_no_modules(cli_local *local)
{
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 4);
    hub_missing_modules(cli_local_hub(local), &text);
    if (text.len > 0 && hub_buf_ok(&text)) {
        cli_complain(HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&text)));
    }
    hub_buf_fini(&text);
}

static int list_modules(cli_local *local, const char *profile, hub_buf *out)
{
    (void)profile;
    hub_describe_modules(cli_local_hub(local), out);
    return EXIT_OK;
}

static const struct {
    const char *word;
    const char *columns[2];
    const char *titles[2];
    /* Append a JSON array. EXIT_OK, EXIT_UNREACHABLE (some are missing), or there is none. */
    int (*collect)(cli_local *local, const char *profile, hub_buf *out);
} LISTS[] = {
    {"tools", {"name", "description"}, {"TOOL", "DESCRIPTION"}, list_tools},
    {"resources", {"uri", "name"}, {"RESOURCE", "NAME"}, list_resources},
    {"prompts", {"name", "description"}, {"PROMPT", "DESCRIPTION"}, list_prompts},
    {"toolsets", {"key", "summary"}, {"TOOLSET", "STATE"}, list_toolsets},
    {"modules", {"name", "summary"}, {"PLUGIN", "DESCRIPTION"}, list_modules},
};

enum { LIST_COUNT = sizeof LISTS / sizeof LISTS[0] };

/* LIST_COUNT: nothing is called so. */
static size_t find_list(const char *word)
{
    size_t i = 0;
    while (i < LIST_COUNT && strcmp(LISTS[i].word, word) != 0) {
        i++;
    }
    return i;
}

void cli_print_list(const char *word, hub_str array)
{
    size_t i = find_list(word);
    print_rows(array, LISTS[i].columns, LISTS[i].titles);
}

int cli_list(cli_options *options)
{
    const char *word = options->argument_count > 0 ? options->arguments[0] : "tools";
    size_t i = find_list(word);
    if (i == LIST_COUNT) {
        cli_complain("\"%s\" cannot be listed: say tools, resources, prompts, modules or "
                     "toolsets",
                     word);
        return EXIT_USAGE;
    }
    cli_local *local = NULL;
    uint64_t begun_ms = hub_clock_now_ms();
    options->asks_anew = options->refresh;
    options->links_all = LISTS[i].collect == list_modules;
    int status = cli_local_open(options, true, &local);
    hub_buf out;
    hub_buf_init(&out, SIZE_MAX / 4);
    if (status == EXIT_OK) {
        status = LISTS[i].collect(local, options->profile, &out);
        if (!options->links_all) {
            report_age(local, options->profile, hub_clock_now_ms() - begun_ms);
        }
        bool wants_any = options->links_all || cli_local_config(local)->settings.toolset_count == 0;
        if (wants_any) { /* else each toolset was complained of that lacks one */
            report_no_modules(local);
        }
    }
    bool is_there = status == EXIT_OK || status == EXIT_UNREACHABLE;
    if (is_there && options->json) {
        cli_print_json(hub_buf_str(&out));
    } else if (is_there) {
        cli_print_list(word, hub_buf_str(&out));
    }
    cli_local_close(local);
    hub_buf_fini(&out);
    return status;
}
