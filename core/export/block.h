/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The block by which a model asks for a call of a tool, and the one that answers it, in the shapes of
 * other APIs: Anthropic's `tool_use` and `tool_result`; OpenAI's entries of `tool_calls` and messages
 * of the role tool, or `function_call` and `function_call_output`. Pure functions; any thread.
 */
#ifndef HUB_EXPORT_BLOCK_H
#define HUB_EXPORT_BLOCK_H

#include "base/buf.h"

typedef enum hub_block_kind {
    HUB_BLOCK_ANTHROPIC, /* tool_use */
    HUB_BLOCK_OPENAI,    /* of tool_calls */
    HUB_BLOCK_RESPONSES, /* function_call */
} hub_block_kind;

typedef struct hub_block {
    hub_block_kind kind;
    hub_str id;        /* a raw string */
    hub_str name;      /* likewise: what the API calls the tool */
    hub_str arguments; /* an object; in `text` when the API has them as a text */
} hub_block;

/* Read a block that hub_json_check accepted: the two of OpenAI are told apart. `text` is initialised.
 * errors:  HUB_EINVAL (the text says what is wrong), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_block_read(bool is_anthropic, hub_str json, hub_buf *text,
                                      hub_block *ret_block, hub_error *reterr);

/* Append the answer: `result` is a tool's result, or, with `is_error`, may be a JSON-RPC error. What the
 * API has no place for (resources, links, audio) is there as its JSON.
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_block_answer(const hub_block *block, hub_str result, bool is_error,
                                        hub_buf *out);

#endif
