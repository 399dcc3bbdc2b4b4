/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "cli/call_arguments.h"
#include "cli/missing.h"
#include "cli/remembered.h"
#include "hub/report/describe.h"
#include "tools/suspects.h"
#include "wire/json.h"

#include <unistd.h>

/* All of stdin. */
static bool read_stdin(hub_buf *out)
{
    for (;;) {
        char *room = hub_buf_reserve(out, 65536);
        ssize_t count = room != NULL ? read(STDIN_FILENO, room, 65536) : -1;
        if (count <= 0) {
            return count == 0;
        }
        out->len += (size_t)count;
    }
}

bool cli_read_word(const char *word, hub_buf *out)
{
    if (strcmp(word, "-") == 0) {
        return read_stdin(out);
    }
    hub_buf_add(out, hub_str_of(word));
    return hub_buf_ok(out);
}

/* The arguments as one JSON object, checked; the empty text where they are words that the tool's
 * schema decides on. */
static int read_arguments(const cli_options *options, hub_buf *out, hub_str *ret_json)
{
    hub_error wrong = {.code = HUB_OK};
    if (options->argument_count > 1 && cli_is_argument(options->arguments[1])) {
        hub_err err = cli_make_arguments(&options->arguments[1], options->argument_count - 1,
                                         HUB_STR_EMPTY, out, &wrong);
        if (err != HUB_OK) {
            cli_complain("%s", wrong.text);
        }
        hub_buf_clear(out);
        *ret_json = HUB_STR_EMPTY;
        return err == HUB_OK ? EXIT_OK : EXIT_USAGE;
    }
    if (options->argument_count > 2) {
        cli_complain("\"%s\" is one argument too many: wanted NAME=VALUE..., or one JSON object",
                     options->arguments[2]);
        return EXIT_USAGE;
    }
    const char *word = options->argument_count > 1 ? options->arguments[1] : "{}";
    hub_error why = {.code = HUB_OK};
    if (!cli_read_word(word, out)) {
        cli_complain("stdin cannot be read, or holds more than %u bytes",
                     HUB_LIMIT_CLIENT_MESSAGE_BYTES);
        return EXIT_USAGE;
    }
    if (hub_json_check(hub_buf_str(out), ret_json, &why) != HUB_OK) {
        bool is_word = word[0] != '{' && strcmp(word, "-") != 0;
        cli_complain(is_word ? "\"%s\" is not JSON, and not NAME=VALUE: wanted one of the two"
                             : "the arguments are not JSON: %s",
                     is_word ? word : why.text);
        return EXIT_USAGE;
    }
    if (hub_json_type_of(*ret_json) != HUB_JSON_OBJECT) {
        cli_complain("the arguments must be a JSON object, for example '{\"zone\":\"UTC\"}'");
        return EXIT_USAGE;
    }
    return EXIT_OK;
}

/* Print what a person wants of a result: its text blocks. */
static void print_content(hub_str result)
{
    hub_json_iter it = hub_json_iterate(hub_json_get(result, HUB_STR("content")));
    hub_str key;
    hub_str block;
    while (hub_json_next(&it, &key, &block)) {
        hub_str raw = hub_json_get(block, HUB_STR("text"));
        hub_buf text;
        hub_buf_init(&text, raw.len + 1);
        if (hub_json_decode(raw, &text) == HUB_OK) {
            cli_print(hub_buf_str(&text));
        } else {
            cli_print_json(block);
        }
        hub_buf_fini(&text);
    }
}

void cli_complain_of(hub_str error)
{
    hub_buf text;
    hub_buf_init(&text, error.len + 1);
    if (hub_json_decode(hub_json_get(error, HUB_STR("message")), &text) == HUB_OK) {
        cli_complain(HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&text)));
    } else {
        cli_complain(HUB_STR_FMT, HUB_STR_ARG(error));
    }
    hub_buf_fini(&text);
}

/* Of an unknown tool, say what who runs the hub may know, which is more than every client is told, and
 * who could not be asked; any other error as it is. */
static void complain_of_call(const cli_options *options, cli_local *local, hub_str name,
                             hub_str error)
{
    static const char UNKNOWN[] = "Unknown tool: ";
    hub_buf told;
    hub_buf text;
    hub_buf_init(&told, SIZE_MAX / 4);
    hub_buf_init(&text, SIZE_MAX / 4);
    if (hub_json_decode(hub_json_get(error, HUB_STR("message")), &told) == HUB_OK &&
        hub_str_starts(hub_buf_str(&told), hub_str_of(UNKNOWN))) {
        size_t silent = hub_str_find(hub_buf_str(&told), HUB_STR(" (toolsets that cannot be "));
        hub_buf_add(&text, hub_str_of(UNKNOWN));
        hub_suspects_add_visible(name, &text);
        hub_buf_add(&text, HUB_STR("; "));
        hub_missing_tool(cli_local_hub(local), options->profile, name, &text);
        hub_buf_add(&text,
                    silent != SIZE_MAX ? hub_str_from(hub_buf_str(&told), silent) : HUB_STR_EMPTY);
    }
    if (text.len > 0 && hub_buf_ok(&text)) {
        cli_complain(HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&text)));
    } else {
        cli_complain_of(error);
    }
    hub_buf_fini(&text);
    hub_buf_fini(&told);
}

/* The tool that is meant. */
typedef struct wanted {
    const cli_options *options;
    cli_local *local;
    hub_buf name; /* exposed */
} wanted;

static bool is_known(void *ctx)
{
    wanted *tool = ctx;
    hub_buf_clear(&tool->name);
    return hub_describe_resolve(cli_local_hub(tool->local), tool->options->profile,
                                hub_str_of(tool->options->arguments[0]), &tool->name);
}

/* The inputSchema of a tool, of the list of all; the empty text: it is not there. Into `list`. */
static hub_str find_schema(cli_local *local, hub_str name, hub_buf *list)
{
    hub_str key;
    hub_str tool;
    if (cli_collect(local, "tools", list) != EXIT_OK) {
        return HUB_STR_EMPTY;
    }
    hub_json_iter it = hub_json_iterate(hub_buf_str(list));
    while (hub_json_next(&it, &key, &tool)) {
        if (hub_json_string_is(hub_json_get(tool, HUB_STR("name")), name)) {
            return hub_json_get(tool, HUB_STR("inputSchema"));
        }
    }
    return HUB_STR_EMPTY;
}

/* Words of the command line as the tool wants them; they were looked at before. */
static void add_words(const cli_options *options, cli_local *local, hub_str name, hub_buf *params)
{
    hub_buf list;
    hub_error ignored = {.code = HUB_OK};
    hub_buf_init(&list, SIZE_MAX / 4);
    hub_str schema = find_schema(local, name, &list);
    hub_err err = cli_make_arguments(&options->arguments[1], options->argument_count - 1, schema,
                                     params, &ignored);
    (void)err; /* what cannot be held is seen when the request is made */
    hub_buf_fini(&list);
}

/* Have the hub know the tool, if any server has it. One that is not remembered may be new. */
static void learn(wanted *tool, uint64_t begun_ms)
{
    cli_local_learn(tool->local, is_known, tool);
    if (!is_known(tool)) {
        cli_remembered_ask(tool->local, tool->options->profile, hub_clock_now_ms() - begun_ms,
                           is_known, tool);
    }
}

static int run_call(wanted *tool, hub_str arguments)
{
    hub_buf params;
    hub_str json;
    const cli_options *options = tool->options;
    cli_local *local = tool->local;
    hub_str reference = hub_str_of(options->arguments[0]);
    hub_buf_init(&params, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    bool is_there = is_known(tool);
    if (!is_there) {
        hub_buf_add(&tool->name, reference); /* the hub will say what is wrong */
    }
    hub_buf_add(&params, HUB_STR("{\"name\":"));
    hub_json_add_string(&params, hub_buf_str(&tool->name));
    hub_buf_add(&params, HUB_STR(",\"arguments\":"));
    hub_buf_add(&params, arguments);
    if (arguments.len == 0) {
        add_words(options, local, hub_buf_str(&tool->name), &params);
    }
    hub_buf_add_char(&params, '}');
    bool good = cli_local_request(local, "tools/call", hub_buf_str(&params), &json);
    hub_buf_fini(&params);
    bool failed =
        !good || hub_json_type_of(hub_json_get(json, HUB_STR("isError"))) == HUB_JSON_TRUE;
    if (options->json) {
        cli_print_json(json);
    } else if (good) {
        print_content(json);
    }
    if (!good && (!options->json || !is_there)) {
        complain_of_call(options, local, reference, json);
    }
    return failed ? EXIT_TOOL : EXIT_OK;
}

int cli_call(cli_options *options)
{
    if (options->from != NULL) {
        if (options->argument_count > 1) {
            cli_complain("\"%s\" is one argument too many", options->arguments[1]);
            return EXIT_USAGE;
        }
        return cli_call_block(options);
    }
    if (options->argument_count == 0) {
        cli_complain("no tool to call; usage: patchbay call TOOL [JSON|-|NAME=VALUE...]");
        return EXIT_USAGE;
    }
    hub_buf text;
    hub_str arguments;
    hub_buf_init(&text, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    int status = read_arguments(options, &text, &arguments);
    uint64_t begun_ms = hub_clock_now_ms();
    wanted tool = {.options = options};
    hub_buf_init(&tool.name, 1024);
    options->tool = options->arguments[0];
    if (status == EXIT_OK) {
        status = cli_local_open(options, true, &tool.local);
    }
    if (status == EXIT_OK) {
        learn(&tool, begun_ms);
        status = run_call(&tool, arguments);
    }
    cli_local_close(tool.local);
    hub_buf_fini(&tool.name);
    hub_buf_fini(&text);
    return status;
}
