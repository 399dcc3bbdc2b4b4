/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making a tool's result smaller, so that it still is one: valid JSON, valid UTF-8, whole items.
 * What fits is kept byte by byte, in its order. A text that does not is cut between two characters
 * and says how many bytes are missing; any other item, structuredContent and further members are
 * left out whole. A last item of text says what is missing. isError is always kept. A pure
 * function, any thread.
 * spec: MCP 2026-07-28 server/tools, Tool Result; 2025-11-25 likewise
 */
#ifndef HUB_HUB_RESULTS_RESULT_CUT_H
#define HUB_HUB_RESULTS_RESULT_CUT_H

#include "base/buf.h"

/* Whether it is the result of a tool that can be cut: it has a list of content, and is complete. */
bool hub_result_is_cuttable(hub_str result);

/* What is said behind what is left; both may be empty, and have 512 bytes together at most. */
typedef struct hub_result_tail {
    hub_str words; /* behind what is missing, as in a raw string */
    hub_str item;  /* a last item of the content, raw */
} hub_result_tail;

/* Append `result`, which is cuttable, within `most_bytes`, at least HUB_LIMIT_LEAST_RESULT_BYTES.
 */
void hub_result_cut(hub_str result, size_t most_bytes, const hub_result_tail *tail, hub_buf *out);

#endif
