/* SPDX-License-Identifier: Apache-2.0 */
/* call --from: what a model asked for in the shape of another API, and the answer in that shape. */
#include "cli/cli.h"

#include "base/limits.h"
#include "export/block.h"
#include "export/export.h"
#include "wire/json.h"

static int read_block(const cli_options *options, bool is_anthropic, hub_buf *source, hub_buf *text,
                      hub_block *ret_block)
{
    hub_error why = {.code = HUB_OK};
    hub_str json = HUB_STR_EMPTY;
    if (!cli_read_word(options->argument_count > 0 ? options->arguments[0] : "-", source)) {
        cli_complain("stdin cannot be read, or holds more than %u bytes",
                     HUB_LIMIT_CLIENT_MESSAGE_BYTES);
        return EXIT_USAGE;
    }
    if (hub_json_check(hub_buf_str(source), &json, &why) != HUB_OK) {
        cli_complain("the block is not JSON: %s", why.text);
        return EXIT_USAGE;
    }
    if (hub_block_read(is_anthropic, json, text, ret_block, &why) != HUB_OK) {
        cli_complain("%s", why.text);
        return EXIT_USAGE;
    }
    return EXIT_OK;
}

/* Append the params of the call: the tool is the one that the API knows by the block's name. */
static int make_params(cli_local *local, const char *api, const hub_block *block, hub_buf *out)
{
    hub_buf tools;
    hub_buf name;
    hub_buf_init(&tools, SIZE_MAX / 4);
    hub_buf_init(&name, block->name.len + 1);
    int status = cli_collect(local, "tools", &tools);
    if (status == EXIT_OK && hub_json_decode(block->name, &name) == HUB_OK) {
        hub_str found = hub_export_find_tool(hub_export_find(hub_str_of(api)), hub_buf_str(&tools),
                                             hub_buf_str(&name));
        hub_buf_add(out, HUB_STR("{\"name\":"));
        hub_buf_add(out, found.len > 0 ? found : block->name); /* the hub says that there is none */
        hub_buf_add(out, HUB_STR(",\"arguments\":"));
        hub_buf_add(out, block->arguments);
        hub_buf_add_char(out, '}');
    }
    if (status == EXIT_OK && (!hub_buf_ok(out) || name.failed != HUB_OK)) {
        cli_complain("out of memory");
        status = EXIT_INTERNAL;
    }
    hub_buf_fini(&name);
    hub_buf_fini(&tools);
    return status;
}

static int run(cli_local *local, const char *api, const hub_block *block)
{
    hub_str json;
    hub_buf params;
    hub_buf answer;
    hub_buf_init(&params, SIZE_MAX / 4);
    hub_buf_init(&answer, SIZE_MAX / 4);
    int status = make_params(local, api, block, &params);
    if (status == EXIT_OK) {
        bool good = cli_local_request(local, "tools/call", hub_buf_str(&params), &json);
        bool failed =
            !good || hub_json_type_of(hub_json_get(json, HUB_STR("isError"))) == HUB_JSON_TRUE;
        status = failed ? EXIT_TOOL : EXIT_OK;
        if (hub_block_answer(block, json, failed, &answer) == HUB_OK) {
            cli_print_json(hub_buf_str(&answer));
        } else {
            cli_complain("out of memory");
            status = EXIT_INTERNAL;
        }
    }
    hub_buf_fini(&answer);
    hub_buf_fini(&params);
    return status;
}

int cli_call_block(cli_options *options)
{
    bool is_anthropic = strcmp(options->from, "anthropic") == 0;
    if (!is_anthropic && strcmp(options->from, "openai") != 0) {
        cli_complain("--from \"%s\": say anthropic or openai", options->from);
        return EXIT_USAGE;
    }
    hub_buf source;
    hub_buf text;
    hub_block block;
    cli_local *local = NULL;
    hub_buf_init(&source, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_init(&text, SIZE_MAX / 4);
    int status = read_block(options, is_anthropic, &source, &text, &block);
    options->overrides.no_meta_tools = true;
    status = status == EXIT_OK ? cli_local_open(options, true, &local) : status;
    status = status == EXIT_OK ? run(local, options->from, &block) : status;
    cli_local_close(local);
    hub_buf_fini(&text);
    hub_buf_fini(&source);
    return status;
}
