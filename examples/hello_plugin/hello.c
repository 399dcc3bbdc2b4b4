/* SPDX-License-Identifier: Apache-2.0 */
#include <patchbay/toolset.h>

static void greet(patchbay_tool_call *call)
{
    patchbay_reply_textf(call, "Hello, %s!", patchbay_arg_text(call, "name"));
}

static const char greet_schema[] = PATCHBAY_JSON({
    "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}
});

static const patchbay_tool tools[] = {
    {.name = "greet",
     .description = "Greets somebody by name.",
     .input_schema = greet_schema,
     .flags = PATCHBAY_TOOL_READ_ONLY,
     .handler = greet},
};

PATCHBAY_TOOLSET("hello", "1.0.0", "Greets people.", tools)
