/* SPDX-License-Identifier: Apache-2.0 */
/* Tools as other APIs take them: see export/export.h. */
#include "cli/cli.h"

#include "export/export.h"

static void on_note(void *ctx, bool is_left_out, hub_str text)
{
    size_t *left_out = ctx;
    *left_out += is_left_out;
    cli_complain("%s" HUB_STR_FMT, is_left_out ? "" : "warning: ", HUB_STR_ARG(text));
}

static const hub_export_format *find_format(const char *name)
{
    const hub_export_format *format = name != NULL ? hub_export_find(hub_str_of(name)) : NULL;
    hub_buf words;
    if (format != NULL) {
        return format;
    }
    hub_buf_init(&words, SIZE_MAX / 4);
    for (const hub_export_format *at = hub_export_next(NULL); at != NULL;
         at = hub_export_next(at)) {
        hub_buf_printf(&words, "%s%s", words.len > 0 ? ", " : "", hub_export_name(at));
    }
    cli_complain("%s%s%s: give --format one of " HUB_STR_FMT, name != NULL ? "\"" : "",
                 name != NULL ? name : "no format", name != NULL ? "\" is not a format" : "",
                 HUB_STR_ARG(hub_buf_str(&words)));
    hub_buf_fini(&words);
    return NULL;
}

static int export_tools(const cli_options *options, const hub_export_format *format,
                        cli_local *local)
{
    size_t left_out = 0;
    hub_buf tools;
    hub_buf out;
    hub_buf_init(&tools, SIZE_MAX / 4);
    hub_buf_init(&out, SIZE_MAX / 4);
    int status = cli_collect(local, "tools", &tools);
    if (status == EXIT_OK) {
        hub_err err = hub_export_tools(format, hub_buf_str(&tools), options->strict, on_note,
                                       &left_out, &out);
        status = err != HUB_OK ? EXIT_INTERNAL : left_out > 0 ? EXIT_TOOL : EXIT_OK;
        if (err != HUB_OK) {
            cli_complain("%s", hub_err_text(err));
        } else {
            cli_print_json(hub_buf_str(&out));
        }
    }
    hub_buf_fini(&out);
    hub_buf_fini(&tools);
    return status;
}

int cli_export(cli_options *options)
{
    const hub_export_format *format = find_format(options->format);
    cli_local *local = NULL;
    if (format == NULL) {
        return EXIT_USAGE;
    }
    options->overrides.no_meta_tools = true;
    int status = cli_local_open(options, true, &local);
    if (status == EXIT_OK) {
        status = export_tools(options, format, local);
    }
    cli_local_close(local);
    return status;
}
