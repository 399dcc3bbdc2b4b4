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
};

static patchbay_toolset_info make_info()
{
    patchbay_toolset_info info{};
    info.tools = tools;
    info.tool_count = sizeof tools / sizeof tools[0];
    return info;
}

static const patchbay_toolset_info info = make_info();

PATCHBAY_TOOLSET_OF("throwing", "1.0.0", "Throws.", nullptr, info)
