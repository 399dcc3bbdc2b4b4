/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/limits.h"
#include "hub/report/describe.h"
#include "hub/report/missing.h"
#include "wire/json.h"

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

/* One line: two members of an object, the first in a column. */
static void print_row(hub_str object, const char *first, const char *second)
{
    hub_buf row;
    hub_buf_init(&row, HUB_LIMIT_CATALOG_BYTES);
    add_first_line(&row, hub_json_get(object, hub_str_of(first)));
    do {
        hub_buf_add_char(&row, ' ');
    } while (hub_buf_ok(&row) && row.len < 32);
    add_first_line(&row, hub_json_get(object, hub_str_of(second)));
    cli_print(hub_str_trim(hub_buf_str(&row)));
    hub_buf_fini(&row);
}

static void print_rows(hub_str array, const char *first, const char *second)
{
    hub_json_iter it = hub_json_iterate(array);
    hub_str key;
    hub_str row;
    while (hub_json_next(&it, &key, &row)) {
        print_row(row, first, second);
    }
}

/* All pages of tools/list, as one array. */
static int collect_tools(cli_local *local, hub_buf *out)
{
    hub_buf params;
    hub_str json;
    hub_buf_init(&params, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_add(&params, HUB_STR("{}"));
    hub_buf_add_char(out, '[');
    for (;;) {
        if (!cli_local_request(local, "tools/list", hub_buf_str(&params), &json)) {
            cli_complain("the tools cannot be listed: " HUB_STR_FMT, HUB_STR_ARG(json));
            hub_buf_fini(&params);
            return EXIT_INTERNAL;
        }
        hub_str tools = hub_json_get(json, HUB_STR("tools"));
        if (tools.len > 2) {
            hub_json_add_comma(out);
            hub_buf_add(out, (hub_str){.ptr = tools.ptr + 1, .len = tools.len - 2});
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

static int list_tools(cli_local *local, const char *profile, hub_buf *out)
{
    int status = collect_tools(local, out);
    return status == EXIT_OK ? report_missing(local, profile) : status;
}

/* Servers of which nothing is known are asked, so that the list can say how they are. */
static int list_toolsets(cli_local *local, const char *profile, hub_buf *out)
{
    hub_str ignored;
    (void)cli_local_request(local, "tools/list", HUB_STR("{}"), &ignored);
    hub_describe_toolsets(cli_local_hub(local), profile, out);
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
    /* Append a JSON array. EXIT_OK, EXIT_UNREACHABLE (some are missing), or there is none. */
    int (*collect)(cli_local *local, const char *profile, hub_buf *out);
} LISTS[] = {
    {"tools", {"name", "description"}, list_tools},
    {"toolsets", {"key", "summary"}, list_toolsets},
    {"modules", {"name", "summary"}, list_modules},
};

int cli_list(cli_options *options)
{
    const char *word = options->argument_count > 0 ? options->arguments[0] : "tools";
    size_t i = 0;
    while (i < sizeof LISTS / sizeof LISTS[0] && strcmp(LISTS[i].word, word) != 0) {
        i++;
    }
    if (i == sizeof LISTS / sizeof LISTS[0]) {
        cli_complain("\"%s\" cannot be listed: say toolsets, tools or modules", word);
        return EXIT_USAGE;
    }
    cli_local *local = NULL;
    options->asks_anew = LISTS[i].collect == list_tools;
    options->links_all = LISTS[i].collect == list_modules;
    int status = cli_local_open(options, true, &local);
    hub_buf out;
    hub_buf_init(&out, SIZE_MAX / 4);
    if (status == EXIT_OK) {
        status = LISTS[i].collect(local, options->profile, &out);
        bool wants_any = options->links_all || cli_local_config(local)->settings.toolset_count == 0;
        if (wants_any) { /* else each toolset was complained of that lacks one */
            report_no_modules(local);
        }
    }
    bool is_there = status == EXIT_OK || status == EXIT_UNREACHABLE;
    if (is_there && options->json) {
        cli_print_json(hub_buf_str(&out));
    } else if (is_there) {
        print_rows(hub_buf_str(&out), LISTS[i].columns[0], LISTS[i].columns[1]);
    }
    cli_local_close(local);
    hub_buf_fini(&out);
    return status;
}
