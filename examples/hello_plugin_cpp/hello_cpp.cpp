/* SPDX-License-Identifier: Apache-2.0 */
#include <patchbay/toolset.h>

#include <string>

static void greet(patchbay_tool_call *call)
{
    std::string text = "Hello, ";
    text += patchbay_arg_text(call, "name");
    text += "!"; /* an exception, should one escape, fails the call and nothing else */
    patchbay_reply_text(call, patchbay_str_make(text.data(), text.size()));
}

static patchbay_tool make_greet()
{
    patchbay_tool tool{};
    tool.name = "greet";
    tool.description = "Greets somebody by name.";
    tool.input_schema = R"({"type":"object","required":["name"],
                            "properties":{"name":{"type":"string"}}})";
    tool.flags = PATCHBAY_TOOL_READ_ONLY;
    tool.handler = greet;
    return tool;
}

static const patchbay_tool tools[] = {make_greet()};

PATCHBAY_TOOLSET("hello_cpp", "1.0.0", "Greets people, in C++.", tools)
