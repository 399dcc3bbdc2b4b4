/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the official conformance suite (@modelcontextprotocol/conformance, server mode) wants of a
 * server, as a plugin: written against the public SDK alone. Names and texts are the suite's.
 */
#include "conformance_data.h"

#include <patchbay/toolset.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define LOOP         PATCHBAY_NONBLOCKING

/* ---- content --------------------------------------------------------------------------------- */

static void simple_text(patchbay_tool_call *call)
{
    patchbay_reply_textf(call, "This is a simple text response for testing.");
}

static void image_content(patchbay_tool_call *call)
{
    patchbay_add_media(call, "image", "image/png", png, sizeof png);
    patchbay_reply(call);
}

static void audio_content(patchbay_tool_call *call)
{
    patchbay_add_media(call, "audio", "audio/wav", wav, sizeof wav);
    patchbay_reply(call);
}

static void embedded_resource(patchbay_tool_call *call)
{
    patchbay_add_resource_text(call, "test://embedded-resource", "text/plain",
                               patchbay_str_of("This is an embedded resource content."));
    patchbay_reply(call);
}

static void multiple_content_types(patchbay_tool_call *call)
{
    patchbay_add_text(call, patchbay_str_of("Multiple content types test:"));
    patchbay_add_media(call, "image", "image/png", png, sizeof png);
    patchbay_add_resource_text(call, "test://mixed-content-resource", "application/json",
                               patchbay_str_of("{\"test\":\"data\",\"value\":123}"));
    patchbay_reply(call);
}

static void error_handling(patchbay_tool_call *call)
{
    patchbay_reply_tool_error(
        call, patchbay_str_of("This tool intentionally returns an error for testing"));
}

static void progress(patchbay_tool_call *call)
{
    for (int done = 0; done <= 100; done += 50) {
        patchbay_progress(call, done, 100, NULL);
    }
    patchbay_reply_textf(call, "Progress was reported three times.");
}

static void logging(patchbay_tool_call *call)
{
    patchbay_message(call, "info", "Tool execution started");
    patchbay_message(call, "info", "Tool processing data");
    patchbay_message(call, "info", "Tool execution completed");
    patchbay_reply_textf(call, "Three messages were logged.");
}

static void reconnection(patchbay_tool_call *call)
{
    patchbay_release(call);
    patchbay_reply_textf(call, "Reconnection test completed successfully.");
}

static void echo_arguments(patchbay_tool_call *call)
{
    patchbay_reply_text(call, patchbay_args(call));
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* Answer with what the client said, in the words of the tool (its data). */
static void say_answer(patchbay_tool_call *call, const patchbay_answer *answer)
{
    if (answer->status == PATCHBAY_ESTATE) {
        patchbay_reply_tool_error(call, answer->json);
        return;
    }
    patchbay_str action = patchbay_json_get(answer->json, "action");
    patchbay_str content = patchbay_json_get(answer->json, "content");
    patchbay_reply_textf(call, "%s: action=%.*s, content=%.*s",
                         (const char *)patchbay_tool_data(call), (int)action.len, action.ptr,
                         (int)content.len, content.ptr);
}

static void say_sample(patchbay_tool_call *call, const patchbay_answer *answer)
{
    patchbay_str text = patchbay_answer_sample(call, answer);
    if (text.ptr == NULL) {
        patchbay_reply_tool_error(call, answer->json);
    } else {
        patchbay_reply_textf(call, "LLM response: %s", text.ptr);
    }
}

static void sampling(patchbay_tool_call *call)
{
    patchbay_sample(call, "completion", patchbay_arg_text(call, "prompt"), 100, say_sample);
}

static void elicitation(patchbay_tool_call *call)
{
    patchbay_elicit(call, "user", patchbay_arg_text(call, "message"), USER_FORM, say_answer);
}

static void elicitation_defaults(patchbay_tool_call *call)
{
    patchbay_elicit(call, "defaults", "Please review these values", DEFAULTS_FORM, say_answer);
}

static void elicitation_enums(patchbay_tool_call *call)
{
    patchbay_elicit(call, "enums", "Please choose", ENUMS_FORM, say_answer);
}

static void streaming_elicitation(patchbay_tool_call *call)
{
    patchbay_elicit(call, "confirm", "Please confirm", OK_FORM, say_answer);
}

static void missing_capability(patchbay_tool_call *call)
{
    if (patchbay_client_has(call, "sampling")) {
        patchbay_sample(call, "completion", "Say anything.", 10, say_sample);
    } else {
        patchbay_reply_missing_capability(call, "{\"sampling\":{}}");
    }
}

static void refuse_answer(patchbay_tool_call *call)
{
    patchbay_reply_rpc_error(call, PATCHBAY_RPC_INVALID_PARAMS,
                             "the answer is not what was asked for", patchbay_str_make(NULL, 0));
}

static void greet(patchbay_tool_call *call, const patchbay_answer *answer)
{
    const char *name = patchbay_answer_text(call, answer, "name");
    if (name != NULL) {
        patchbay_reply_textf(call, "Hello, %s!", name);
    } else {
        refuse_answer(call);
    }
}

static void ask_name(patchbay_tool_call *call)
{
    patchbay_elicit(call, "user_name", "What is your name?", NAME_FORM, greet);
}

static void ask_capital(patchbay_tool_call *call)
{
    patchbay_sample(call, "capital_question", "What is the capital of France?", 100, say_sample);
}

static void say_roots(patchbay_tool_call *call, const patchbay_answer *answer)
{
    patchbay_str roots = patchbay_answer_roots(answer);
    patchbay_reply_textf(call, "Roots: %.*s", (int)roots.len, roots.ptr);
}

static void ask_roots(patchbay_tool_call *call)
{
    patchbay_ask_roots(call, "client_roots", say_roots);
}

static void confirmed(patchbay_tool_call *call, const patchbay_answer *answer)
{
    if (patchbay_json_true(patchbay_answer_field(answer, "ok"))) {
        patchbay_reply_textf(call, "state-ok");
    } else {
        refuse_answer(call);
    }
}

static void ask_confirmation(patchbay_tool_call *call)
{
    patchbay_elicit(call, "confirm", "Please confirm", OK_FORM, confirmed);
}

static void say_all(patchbay_tool_call *call, const patchbay_answer *answer)
{
    (void)answer; /* the last one counts for all */
    if (patchbay_open_questions(call) > 0) {
        return;
    }
    const patchbay_answer *name = patchbay_answer_to(call, "user_name");
    const patchbay_answer *greeting = patchbay_answer_to(call, "greeting");
    const patchbay_answer *roots = patchbay_answer_to(call, "client_roots");
    const char *text = patchbay_answer_text(call, name, "name");
    patchbay_str said = patchbay_answer_sample(call, greeting);
    patchbay_str folders = patchbay_answer_roots(roots);
    patchbay_reply_textf(call, "%s %s %.*s", said.ptr != NULL ? said.ptr : "Hello",
                         text != NULL ? text : "whoever", (int)folders.len, folders.ptr);
}

static void ask_all(patchbay_tool_call *call)
{
    patchbay_elicit(call, "user_name", "What is your name?", NAME_FORM, say_all);
    patchbay_sample(call, "greeting", "Generate a greeting", 50, say_all);
    patchbay_ask_roots(call, "client_roots", say_all);
}

static void say_color(patchbay_tool_call *call, const patchbay_answer *answer)
{
    const char *name = patchbay_answer_text(call, patchbay_answer_to(call, "step1"), "name");
    const char *color = patchbay_answer_text(call, answer, "color");
    if (name != NULL && color != NULL) {
        patchbay_reply_textf(call, "%s likes %s.", name, color);
    } else {
        refuse_answer(call);
    }
}

static void ask_color(patchbay_tool_call *call, const patchbay_answer *answer)
{
    if (patchbay_answer_accepted(answer)) {
        patchbay_elicit(call, "step2", "Step 2: What is your favorite color?", COLOR_FORM,
                        say_color);
    } else {
        refuse_answer(call);
    }
}

static void ask_in_rounds(patchbay_tool_call *call)
{
    patchbay_elicit(call, "step1", "Step 1: What is your name?", NAME_FORM, ask_color);
}

static void count_answers(patchbay_tool_call *call, const patchbay_answer *answer)
{
    (void)answer;
    if (patchbay_open_questions(call) == 0) {
        patchbay_reply_textf(call, "All questions were answered.");
    }
}

static void ask_what_it_can(patchbay_tool_call *call)
{
    int asks = 0;
    if (patchbay_client_has(call, "elicitation")) {
        patchbay_elicit(call, "user_name", "What is your name?", NAME_FORM, count_answers);
        asks = 1;
    }
    if (patchbay_client_has(call, "sampling")) {
        patchbay_sample(call, "greeting", "Generate a greeting", 50, count_answers);
        asks = 1;
    }
    if (!asks) {
        patchbay_reply_textf(call, "The client can be asked nothing.");
    }
}

/* ---- resources ------------------------------------------------------------------------------- */

static void static_text(patchbay_tool_call *call)
{
    patchbay_reply_textf(call, "This is the content of the static text resource.");
}

static void static_binary(patchbay_tool_call *call)
{
    patchbay_add_resource_blob(call, NULL, NULL, png, sizeof png);
    patchbay_reply(call);
}

static void template_data(patchbay_tool_call *call)
{
    patchbay_reply_textf(call, "{\"id\":\"%s\",\"templateTest\":true}",
                         patchbay_arg_text(call, "id"));
}

static const patchbay_resource resources[] = {
    {.uri = "test://static-text",
     .name = "Static text",
     .description = "A text that never changes.",
     .mime_type = "text/plain",
     .handler = static_text},
    {.uri = "test://static-binary",
     .name = "Static image",
     .description = "An image that never changes.",
     .mime_type = "image/png",
     .size = sizeof png,
     .handler = static_binary},
    {.uri = "test://watched-resource",
     .name = "Watched resource",
     .description = "A text that can be subscribed to.",
     .mime_type = "text/plain",
     .annotations = "{\"audience\":[\"user\"],\"priority\":0.5}",
     .handler = static_text},
};

static const patchbay_resource_template templates[] = {
    {.uri_template = "test://template/{id}/data",
     .name = "Template",
     .description = "Some data for any id.",
     .mime_type = "application/json",
     .handler = template_data},
};

/* ---- prompts --------------------------------------------------------------------------------- */

static void simple_prompt(patchbay_tool_call *call)
{
    patchbay_reply_textf(call, "This is a simple prompt for testing.");
}

static void prompt_with_arguments(patchbay_tool_call *call)
{
    patchbay_reply_textf(call, "Prompt with arguments: arg1='%s', arg2='%s'",
                         patchbay_arg_text(call, "arg1"), patchbay_arg_text(call, "arg2"));
}

static void prompt_with_resource(patchbay_tool_call *call)
{
    patchbay_add_resource_text(call, patchbay_arg_text(call, "resourceUri"), "text/plain",
                               patchbay_str_of("Embedded resource content for testing."));
    patchbay_reply_textf(call, "Please process the embedded resource above.");
}

static void prompt_with_image(patchbay_tool_call *call)
{
    patchbay_add_media(call, "image", "image/png", png, sizeof png);
    patchbay_reply_textf(call, "Please analyze the image above.");
}

static void say_context(patchbay_tool_call *call, const patchbay_answer *answer)
{
    const char *context = patchbay_answer_text(call, answer, "context");
    if (context != NULL) {
        patchbay_reply_textf(call, "Use this context: %s", context);
    } else {
        refuse_answer(call);
    }
}

static void prompt_with_question(patchbay_tool_call *call)
{
    patchbay_elicit(call, "user_context", "What context should the prompt use?",
                    OBJECT("\"context\":{\"type\":\"string\"}", "\"context\""), say_context);
}

static void complete_city(patchbay_tool_call *call)
{
    static const char *const words[] = {"paris", "park", "party", "london"};
    patchbay_reply_matches(call, words, COUNT(words));
}

static const patchbay_prompt_argument two_arguments[] = {
    {.name = "arg1",
     .description = "First test argument",
     .is_required = 1,
     .completer = complete_city},
    {.name = "arg2", .description = "Second test argument", .is_required = 1},
};

static const patchbay_prompt_argument resource_argument[] = {
    {.name = "resourceUri", .description = "URI of the resource to embed", .is_required = 1},
};

/* The last one comes and goes. */
static const patchbay_prompt prompts[] = {
    {.name = "test_simple_prompt",
     .description = "A prompt without arguments",
     .handler = simple_prompt},
    {.name = "test_prompt_with_arguments",
     .description = "A prompt with two arguments",
     .arguments = two_arguments,
     .argument_count = COUNT(two_arguments),
     .handler = prompt_with_arguments},
    {.name = "test_prompt_with_embedded_resource",
     .description = "A prompt with a resource in it",
     .arguments = resource_argument,
     .argument_count = COUNT(resource_argument),
     .handler = prompt_with_resource},
    {.name = "test_prompt_with_image",
     .description = "A prompt with an image in it",
     .handler = prompt_with_image},
    {.name = "test_input_required_result_prompt",
     .description = "A prompt that asks the user first",
     .handler = prompt_with_question},
    {.name = "test_changing_prompt", .description = "Comes and goes", .handler = simple_prompt},
};

/* ---- tools ----------------------------------------------------------------------------------- */

/* What comes and goes. Only the loop's thread gets here. */
typedef struct changing {
    size_t tools;
    size_t prompts;
} changing;

static void trigger_tool_change(patchbay_tool_call *call);
static void trigger_prompt_change(patchbay_tool_call *call);

/* A tool without arguments, and one with. */
#define TOOL(name_, description_, handler_)                                                        \
    {                                                                                              \
        .name = (name_), .description = (description_), .handler = (handler_),                     \
        .data = (void *)(uintptr_t) "Elicitation completed", .flags = LOOP                         \
    }
#define TOOL_OF(name_, description_, schema_, handler_)                                            \
    {                                                                                              \
        .name = (name_), .description = (description_), .input_schema = (schema_),                 \
        .handler = (handler_), .data = (void *)(uintptr_t) "User response"                         \
    }

/* The last one comes and goes. */
static const patchbay_tool tools[] = {
    TOOL("test_simple_text", "Answers with a text", simple_text),
    TOOL("test_image_content", "Answers with an image", image_content),
    TOOL("test_audio_content", "Answers with a sound", audio_content),
    TOOL("test_embedded_resource", "Answers with a resource", embedded_resource),
    TOOL("test_multiple_content_types", "Answers with several blocks", multiple_content_types),
    TOOL("test_error_handling", "Fails", error_handling),
    TOOL("test_tool_with_progress", "Reports progress", progress),
    TOOL("test_tool_with_logging", "Logs messages", logging),
    TOOL("test_logging_tool", "Logs messages", logging),
    TOOL("test_reconnection", "Lets go of its connection", reconnection),
    TOOL("test_elicitation_sep1034_defaults", "Asks with defaults", elicitation_defaults),
    TOOL("test_elicitation_sep1330_enums", "Asks with enumerations", elicitation_enums),
    TOOL("test_streaming_elicitation", "Asks for a confirmation", streaming_elicitation),
    TOOL("test_missing_capability", "Needs sampling", missing_capability),
    TOOL("test_trigger_tool_change", "Changes the list of tools", trigger_tool_change),
    TOOL("test_trigger_prompt_change", "Changes the list of prompts", trigger_prompt_change),
    TOOL("test_input_required_result_elicitation", "Asks the user", ask_name),
    TOOL("test_input_required_result_sampling", "Asks the model", ask_capital),
    TOOL("test_input_required_result_list_roots", "Asks for the roots", ask_roots),
    TOOL("test_input_required_result_request_state", "Remembers", ask_confirmation),
    TOOL("test_input_required_result_multiple_inputs", "Asks three things", ask_all),
    TOOL("test_input_required_result_multi_round", "Asks twice", ask_in_rounds),
    TOOL("test_input_required_result_tampered_state", "Remembers", ask_confirmation),
    TOOL("test_input_required_result_capabilities", "Asks what it can", ask_what_it_can),
    TOOL_OF("test_sampling", "Asks the model", TEXT_SCHEMA("prompt"), sampling),
    TOOL_OF("test_elicitation", "Asks the user", TEXT_SCHEMA("message"), elicitation),
    TOOL_OF("json_schema_2020_12_tool", "Has a long schema", SCHEMA_2020_12, echo_arguments),
    TOOL_OF("test_x_mcp_header", "Has a header", HEADER_SCHEMA, echo_arguments),
    TOOL("test_changing_tool", "Comes and goes", simple_text),
};

static void trigger_tool_change(patchbay_tool_call *call)
{
    changing *state = (changing *)patchbay_toolset_data(call);
    state->tools = COUNT(tools) + COUNT(tools) - 1 - state->tools;
    int32_t result = patchbay_set_tools(patchbay_call_toolset(call), tools, state->tools);
    patchbay_reply_textf(call, "The list of tools was changed: %d", (int)result);
}

static void trigger_prompt_change(patchbay_tool_call *call)
{
    changing *state = (changing *)patchbay_toolset_data(call);
    state->prompts = COUNT(prompts) + COUNT(prompts) - 1 - state->prompts;
    int32_t result = patchbay_set_prompts(patchbay_call_toolset(call), prompts, state->prompts);
    patchbay_reply_textf(call, "The list of prompts was changed: %d", (int)result);
}

static int32_t setup(patchbay_toolset *toolset, patchbay_str config_json, void **ret_data,
                     patchbay_error *reterr)
{
    (void)config_json;
    (void)reterr;
    changing *state = (changing *)calloc(1, sizeof *state);
    if (state == NULL) {
        return PATCHBAY_ENOMEM;
    }
    state->tools = COUNT(tools) - 1;
    state->prompts = COUNT(prompts) - 1;
    *ret_data = state;
    int32_t result = patchbay_set_tools(toolset, tools, state->tools);
    result =
        result == PATCHBAY_OK ? patchbay_set_prompts(toolset, prompts, state->prompts) : result;
    if (result != PATCHBAY_OK) {
        free(state);
    }
    return result;
}

static const patchbay_toolset_info info = {
    .setup = setup,
    .teardown = free,
    .resources = resources,
    .resource_count = COUNT(resources),
    .templates = templates,
    .template_count = COUNT(templates),
    .flags = PATCHBAY_TOOLSET_SUBSCRIBABLE | PATCHBAY_TOOLSET_SENDS_MESSAGES,
};

PATCHBAY_TOOLSET_OF("conformance", "1.0.0", "What the conformance suite wants.", NULL, info)
