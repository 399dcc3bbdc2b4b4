/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prompts of a toolset: messages that people start a conversation with (MCP server/prompts).
 *
 *     static const patchbay_prompt_argument arguments[] = {
 *         {.name = "text", .description = "What to review", .is_required = 1},
 *     };
 *     static const patchbay_prompt prompts[] = {
 *         {.name = "review",
 *          .arguments = arguments,
 *          .argument_count = 1,
 *          .handler = review},                (patchbay_arg_text(call, "text") is there)
 *     };
 *
 * A handler adds messages with the functions of content.h, of the user's or, after
 * patchbay_set_role, of the assistant's. Part of toolset.h, which includes it.
 */
#ifndef PATCHBAY_PROMPT_H
#define PATCHBAY_PROMPT_H

#include <patchbay/resource.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One argument of a prompt: always a text. */
typedef struct patchbay_prompt_argument {
    const char *name;
    const char *title;           /* for people; may be NULL */
    const char *description;     /* may be NULL */
    uint64_t is_required;        /* not 0: no handler runs without it */
    patchbay_handler *completer; /* suggests values, as patchbay_completer.handler; may be NULL */
} patchbay_prompt_argument;

/* One prompt. Strings are UTF-8; NULL where a member does not apply. */
typedef struct patchbay_prompt {
    const char *name;
    const char *title;
    const char *description;
    const patchbay_prompt_argument *arguments; /* NULL: takes none */
    size_t argument_count;
    patchbay_handler *handler;
    void *data;     /* for the handler: patchbay_tool_data */
    uint64_t flags; /* PATCHBAY_NONBLOCKING, PATCHBAY_TAKES_NUL */
} patchbay_prompt;

/* ---- private --------------------------------------------------------------------------------- */

static inline void patchbay_prompt_json_(patchbay_out *out, const patchbay_prompt *prompt)
{
    patchbay_out_text(out, "{");
    patchbay_member_(out, "name", prompt->name);
    patchbay_member_(out, "title", prompt->title);
    patchbay_member_(out, "description", prompt->description);
    patchbay_out_key(out, "arguments");
    patchbay_out_text(out, "[");
    for (size_t i = 0; i < prompt->argument_count; i++) {
        const patchbay_prompt_argument *argument = &prompt->arguments[i];
        patchbay_out_text(out, i > 0 ? ",{" : "{");
        patchbay_member_(out, "name", argument->name);
        patchbay_member_(out, "title", argument->title);
        patchbay_member_(out, "description", argument->description);
        patchbay_out_key(out, "required");
        patchbay_out_text(out, argument->is_required != 0 ? "true}" : "false}");
    }
    patchbay_out_text(out, "]}");
}

/* The first argument that is wrong: required and not there, or no text; NULL: none. */
static inline const char *patchbay_prompt_wrong_argument_(const patchbay_prompt *prompt,
                                                          patchbay_str args)
{
    for (size_t i = 0; i < prompt->argument_count; i++) {
        const patchbay_prompt_argument *argument = &prompt->arguments[i];
        patchbay_str value = patchbay_json_get(args, argument->name);
        if (value.len > 0 ? value.ptr[0] != '"' : argument->is_required != 0) {
            return argument->name;
        }
    }
    return NULL;
}

#ifdef __cplusplus
}
#endif

#endif
