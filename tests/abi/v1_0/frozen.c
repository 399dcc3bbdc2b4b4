/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin of ABI 1.0, as an author wrote it before hub 0.2.0. frozen.so beside it was built of it with the
 * headers of 2026-11-25, when the hub still called itself 0.1.0, and is never built again:
 *
 *     cc -O2 -shared -fPIC -fvisibility=hidden -pthread -s -I include -o frozen.so frozen.c     (x86-64)
 *
 * Both must go on to work: the binary in every later hub of ABI 1, the source with every later SDK
 * (tests/blackbox/frozen_plugins.py).
 */
#include <patchbay/toolset.h>

static void greet(patchbay_tool_call *call)
{
    patchbay_progress(call, 1, 2, "half");
    patchbay_reply_textf(call, "%s, %s!", (const char *)patchbay_toolset_data(call),
                         patchbay_arg_text(call, "name"));
}

static void count(patchbay_tool_call *call)
{
    patchbay_out *out = patchbay_structured(call);
    patchbay_out_text(out, "{");
    patchbay_out_key(out, "next");
    patchbay_out_number(out, (double)patchbay_arg_int(call, "from", 0) + 1);
    patchbay_out_text(out, "}");
    patchbay_reply(call);
}

static void refuse(patchbay_tool_call *call)
{
    patchbay_reply_error(call, PATCHBAY_INVALID_INPUT, "not this one");
}

static void say_hello(patchbay_tool_call *call, const patchbay_answer *answer)
{
    const char *name = patchbay_answer_text(call, answer, "name");
    patchbay_reply_textf(call, "Hello, %s!", name != NULL ? name : "stranger");
}

static void ask(patchbay_tool_call *call)
{
    patchbay_elicit(call, "name", "Who are you?",
                    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}}}", say_hello);
}

static void read_page(patchbay_tool_call *call)
{
    patchbay_reply_textf(call, "page %s", patchbay_arg_text(call, "number"));
}

static void review(patchbay_tool_call *call)
{
    patchbay_reply_textf(call, "Review: %s", patchbay_arg_text(call, "text"));
}

static const patchbay_tool tools[] = {
    {.name = "greet",
     .description = "Greets somebody.",
     .input_schema = "{\"type\":\"object\",\"required\":[\"name\"],\"properties\":{\"name\":{\"type\":"
                     "\"string\"}}}",
     .flags = PATCHBAY_TOOL_READ_ONLY,
     .handler = greet},
    {.name = "count",
     .input_schema = "{\"type\":\"object\",\"properties\":{\"from\":{\"type\":\"integer\"}}}",
     .output_schema = "{\"type\":\"object\",\"properties\":{\"next\":{\"type\":\"number\"}}}",
     .flags = PATCHBAY_TOOL_NONBLOCKING,
     .handler = count},
    {.name = "refuse", .handler = refuse},
    {.name = "ask", .handler = ask},
};

static const patchbay_resource_template templates[] = {
    {.uri_template = "book://pages/{number}", .name = "page", .mime_type = "text/plain", .handler = read_page},
};

static const patchbay_prompt_argument arguments[] = {{.name = "text", .is_required = 1}};

static const patchbay_prompt prompts[] = {
    {.name = "review", .arguments = arguments, .argument_count = 1, .handler = review},
};

static int32_t setup(patchbay_toolset *toolset, patchbay_str config_json, void **ret_data,
                     patchbay_error *reterr)
{
    patchbay_out word = {0};
    (void)toolset;
    if (!patchbay_json_decode(patchbay_json_get(config_json, "word"), &word)) {
        (void)snprintf(reterr->text, sizeof reterr->text, "word is missing");
        return PATCHBAY_EINVAL;
    }
    *ret_data = word.ptr;
    return PATCHBAY_OK;
}

static const patchbay_toolset_info info = {
    .tools = tools,
    .tool_count = sizeof tools / sizeof tools[0],
    .templates = templates,
    .template_count = 1,
    .prompts = prompts,
    .prompt_count = 1,
    .setup = setup,
    .teardown = free,
};

PATCHBAY_TOOLSET_OF("frozen", "1.0.0", "A plugin of ABI 1.0.",
                    "{\"type\":\"object\",\"required\":[\"word\"],\"properties\":{\"word\":{\"type\":"
                    "\"string\"}}}",
                    info)
