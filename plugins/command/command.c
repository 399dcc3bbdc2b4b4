/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

static const char config_schema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"tools\"],\"properties\":{"
    "\"tools\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":1000,\"items\":{"
    "\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"name\",\"argv\"],"
    "\"properties\":{"
    "\"name\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9_.-]{1,128}$\"},"
    "\"title\":{\"type\":\"string\"},"
    "\"description\":{\"type\":\"string\"},"
    "\"argv\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":4096,\"items\":{\"type\":\"string\"},"
    "\"description\":\"words with {name}, {name?} and {name...}; never a shell\"},"
    "\"input_schema\":{\"type\":\"object\"},"
    "\"args\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"object\"},"
    "\"description\":\"the properties of an input_schema, in short\"},"
    "\"stdin\":{\"type\":\"string\"},"
    "\"timeout\":{\"type\":\"string\",\"pattern\":\"^[0-9]{1,9}(ms|s|m|h)$\"},"
    "\"max_output\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":4194304},"
    "\"cwd\":{\"type\":\"string\",\"pattern\":\"^/\"},"
    "\"env\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}},"
    "\"inherit_env\":{\"type\":\"boolean\"},"
    "\"output\":{\"enum\":[\"text\",\"json\",\"lines\"]},"
    "\"ok_exit_codes\":{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"minimum\":0,"
    "\"maximum\":255}},"
    "\"allow_dash\":{\"type\":\"boolean\"},"
    "\"annotations\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
    "\"read_only\":{\"type\":\"boolean\"},\"destructive\":{\"type\":\"boolean\"},"
    "\"idempotent\":{\"type\":\"boolean\"},\"open_world\":{\"type\":\"boolean\"}}},"
    "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"^[^,]+$\"}},"
    "\"category\":{\"type\":\"string\"}"
    "}}}}}";

/* Why a command did not start: what the caller, or whoever configured it, can do. */
static void reply_not_started(patchbay_tool_call *call, const char *about, int code)
{
    static const struct {
        int code;
        int32_t status;
        const char *text;
    } texts[] = {
        {ENOENT, PATCHBAY_FAILED, "does not exist"},
        {EACCES, PATCHBAY_FAILED, "is not executable, or may not be used by the hub"},
        {ENOEXEC, PATCHBAY_FAILED, "is not a program (a script needs a first line like #!/bin/sh)"},
        {ENOTDIR, PATCHBAY_FAILED, "has a part that is not a folder"},
        {E2BIG, PATCHBAY_INVALID_INPUT, "was given arguments that are too long; shorten them"},
        {EAGAIN, PATCHBAY_UNAVAILABLE, "cannot be made now: too many processes; try again later"},
        {EMFILE, PATCHBAY_UNAVAILABLE, "cannot be opened now: too many open files; try later"},
        {ENFILE, PATCHBAY_UNAVAILABLE, "cannot be opened now: too many open files; try later"},
        {ENOMEM, PATCHBAY_UNAVAILABLE, "cannot be had now: out of memory; try again later"},
    };
    char reason[100];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i].code == code) {
            patchbay_reply_error(call, texts[i].status, "the command was not started: '%.200s' %s",
                                 about, texts[i].text);
            return;
        }
    }
    patchbay_reply_error(call, PATCHBAY_FAILED, "the command was not started: '%.200s': %s", about,
                         strerror_r(code, reason, sizeof reason));
}

void command_call(patchbay_tool_call *call)
{
    const command_tool *tool = (const command_tool *)patchbay_tool_data(call);
    command_words words;
    patchbay_out input;
    char why[256] = "";
    memset(&input, 0, sizeof input);
    if (command_fill_words(call, tool, &words, why) != 0 ||
        command_fill_input(call, tool, &input, why) != 0) {
        patchbay_out_free(&input);
        patchbay_reply_error(call, PATCHBAY_INVALID_INPUT, "%s", why);
        return;
    }
    command_run run;
    const char *about = "";
    int code = command_execute(call, tool, words.words, patchbay_str_make(input.ptr, input.len),
                               &run, &about);
    patchbay_out_free(&input);
    if (code != 0) {
        reply_not_started(call, about, code);
    } else if (run.stop == COMMAND_CANCELLED) {
        patchbay_reply_error(call, PATCHBAY_UNAVAILABLE, "cancelled; the command was stopped");
    } else {
        command_reply(call, tool, &run);
    }
    command_run_fini(&run);
}

PATCHBAY_TOOLSET_WITH("command", "1.0.0", "Turns command lines into tools.", NULL, 0, config_schema,
                      command_setup, command_teardown)
