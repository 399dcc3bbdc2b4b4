/* SPDX-License-Identifier: Apache-2.0 */
/* Built with the SDK of ABI 1.1, and says that it cannot do without. */
#include <patchbay/plugin.h>

#undef PATCHBAY_ABI
#define PATCHBAY_ABI       PATCHBAY_ABI_VERSION(1, 1)
#define PATCHBAY_NEEDS_ABI PATCHBAY_ABI_VERSION(1, 1)

#include <patchbay/toolset.h>

static void greet(patchbay_tool_call *call)
{
    patchbay_reply_textf(call, "hello");
}

static const patchbay_tool tools[] = {{.name = "greet", .handler = greet}};

PATCHBAY_TOOLSET("bad_needs_newer", "1.0.0", "A plugin for tests.", tools)
