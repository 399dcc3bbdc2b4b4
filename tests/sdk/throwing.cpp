/* SPDX-License-Identifier: Apache-2.0 */
/* A C++ plugin whose handlers throw: before a reply, after one, and on the loop. */
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
};

PATCHBAY_TOOLSET("throwing", "1.0.0", "Throws.", tools)
