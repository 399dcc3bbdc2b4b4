/* SPDX-License-Identifier: Apache-2.0 */
/* A C++ plugin whose handlers throw: before a reply, after one, on the loop, and at an answer. */
#include <patchbay/toolset.h>

#include <stdexcept>

static void throw_first(patchbay_tool_call *)
{
    throw std::runtime_error("nobody catches this");
}

static void throw_last(patchbay_tool_call *call)
{
    patchbay_reply_text(call, patchbay_str_of("said before"));
    throw 1;
}

/* With a newline, which no line of the log may have. */
static void throw_lines(patchbay_tool_call *)
{
    throw std::runtime_error("two\nlines");
}

/* Somebody else replies. */
static void throw_deferred(patchbay_tool_call *call)
{
    patchbay_defer(call);
    throw std::runtime_error("deferred");
}

static void throw_at_answer(patchbay_tool_call *, const patchbay_answer *)
{
    throw std::runtime_error("nor this");
}

static void ask(patchbay_tool_call *call)
{
    patchbay_ask_roots(call, "x", throw_at_answer);
}

static patchbay_tool make(const char *name, void (*handler)(patchbay_tool_call *), uint64_t flags)
{
    patchbay_tool tool{};
    tool.name = name;
    tool.handler = handler;
    tool.flags = flags;
    return tool;
}

static const patchbay_tool tools[] = {
    make("first", throw_first, 0),
    make("last", throw_last, 0),
    make("on_loop", throw_first, PATCHBAY_TOOL_NONBLOCKING),
    make("then", ask, 0),
    make("lines", throw_lines, PATCHBAY_TOOL_NONBLOCKING),
    make("deferred", throw_deferred, PATCHBAY_TOOL_NONBLOCKING),
};

static int32_t setup(patchbay_toolset *, patchbay_str config_json, void **, patchbay_error *)
{
    if (patchbay_json_get(config_json, "fail").len > 0) {
        throw std::runtime_error("no such thing");
    }
    return PATCHBAY_OK;
}

static patchbay_toolset_info make_info()
{
    patchbay_toolset_info info{};
    info.tools = tools;
    info.setup = setup;
    info.tool_count = sizeof tools / sizeof tools[0];
    return info;
}

static const patchbay_toolset_info info = make_info();

PATCHBAY_TOOLSET_OF("throwing", "1.0.0", "Throws.", "{\"type\":\"object\"}", info)
