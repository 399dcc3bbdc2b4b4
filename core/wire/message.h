/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON-RPC envelope of MCP (2026-07-28 basic/index, Messages): one pass over the bytes checks
 * JSON, UTF-8 and limits, and records where the members lie that the hub reads. Nothing is copied:
 * the spans point into the scanned bytes. Any thread.
 */
#ifndef HUB_WIRE_MESSAGE_H
#define HUB_WIRE_MESSAGE_H

#include "wire/json.h"

/* Every member that the hub reads: slot, the object it is in, its key. Raw values. A message in
 * which one of them occurs twice is refused: it would have two readings. The members of one object
 * stand together. */
#define HUB_MEMBERS(X)                                                                             \
    X(JSONRPC, TOP, "jsonrpc")                                                                     \
    X(ID, TOP, "id")                                                                               \
    X(METHOD, TOP, "method")                                                                       \
    X(PARAMS, TOP, "params")                                                                       \
    X(RESULT, TOP, "result")                                                                       \
    X(ERROR, TOP, "error")                                                                         \
    X(NAME, PARAMS, "name")                                                                        \
    X(URI, PARAMS, "uri")                                                                          \
    X(ARGUMENTS, PARAMS, "arguments")                                                              \
    X(CURSOR, PARAMS, "cursor")                                                                    \
    X(META, PARAMS, "_meta")                                                                       \
    X(REQUEST_ID, PARAMS, "requestId")                                                             \
    X(PROGRESS_TOKEN, PARAMS, "progressToken")                                                     \
    X(LEVEL, PARAMS, "level")                                                                      \
    X(PROTOCOL_VERSION, PARAMS, "protocolVersion")                                                 \
    X(CAPABILITIES, PARAMS, "capabilities")                                                        \
    X(CLIENT_INFO, PARAMS, "clientInfo")                                                           \
    X(NOTIFICATIONS, PARAMS, "notifications")                                                      \
    X(REF, PARAMS, "ref")                                                                          \
    X(TASK, PARAMS, "task")                                                                        \
    X(TASK_ID, PARAMS, "taskId")                                                                   \
    X(INPUT_RESPONSES, PARAMS, "inputResponses")                                                   \
    X(REQUEST_STATE, PARAMS, "requestState")                                                       \
    X(META_PROGRESS_TOKEN, META, "progressToken")                                                  \
    X(META_PROTOCOL_VERSION, META, "io.modelcontextprotocol/protocolVersion")                      \
    X(META_CLIENT_INFO, META, "io.modelcontextprotocol/clientInfo")                                \
    X(META_CLIENT_CAPABILITIES, META, "io.modelcontextprotocol/clientCapabilities")                \
    X(META_LOG_LEVEL, META, "io.modelcontextprotocol/logLevel")                                    \
    X(RESULT_TYPE, RESULT, "resultType")                                                           \
    X(RESULT_META, RESULT, "_meta")                                                                \
    X(IS_ERROR, RESULT, "isError")                                                                 \
    X(ERROR_CODE, ERROR, "code")                                                                   \
    X(ERROR_MESSAGE, ERROR, "message")                                                             \
    X(ERROR_DATA, ERROR, "data")

typedef enum hub_member {
#define HUB_MEMBER_NAME(slot, object, key) HUB_M_##slot,
    HUB_MEMBERS(HUB_MEMBER_NAME)
#undef HUB_MEMBER_NAME
        HUB_MEMBER_COUNT
} hub_member;

typedef enum hub_message_kind {
    HUB_MESSAGE_NONE,
    HUB_MESSAGE_REQUEST,
    HUB_MESSAGE_NOTIFICATION,
    HUB_MESSAGE_RESULT,
    HUB_MESSAGE_ERROR,
    /* A JSON array: only 2025-03-26 and 2024-11-05 have it; `at` is not filled. */
    HUB_MESSAGE_BATCH,
} hub_message_kind;

/* An open value struct; spans are as valid as the scanned bytes. */
typedef struct hub_message {
    hub_message_kind kind;
    hub_str whole;                /* the value without white space around it */
    hub_str method;               /* text of the method: no quotes, no escapes */
    hub_str at[HUB_MEMBER_COUNT]; /* raw values, empty when absent */
} hub_message;

/* Check one message and take it apart. On failure the kind is NONE and everything is empty but
 * at[HUB_M_ID]: that is the id if a usable one was found, so that the error can be answered. It is
 * also set when the text is broken behind the id; JSON-RPC answers those (-32700) with a null id.
 * An id that occurs twice is not usable, nor is one that the text ends in.
 *
 * Envelope rules: `jsonrpc` is "2.0"; an id is a string or an integer (no fraction, no exponent),
 * at most HUB_LIMIT_ID_BYTES long as it is written, quotes included, never null; a method is a
 * string without escapes of 1 to 128 bytes; params is an object; a response has an id and either
 * result (an object) or error (an object with an integer code and a string message), not both; an
 * error response alone may have no id or the id null; method does not occur together with result
 * or error. What params contains has its type checked by whoever reads it (-32602, not
 * -32600); unknown members are ignored, and may repeat. Keys are matched by exact bytes
 * after unescaping. Of a batch only the JSON is checked.
 *
 * errors:  HUB_EPARSE (not JSON or not UTF-8: JSON-RPC -32700), HUB_EINVAL (not such a message, or
 *          a member twice: -32600), HUB_ELIMIT (too deep, too many values, id too long: -32600)
 * spec:    MCP 2026-07-28 basic/index, Messages; JSON-RPC 2.0, 4 and 5 */
HUB_MUST_CHECK hub_err hub_message_scan(hub_str bytes, hub_message *ret_message, hub_error *reterr);

/* Check the result of a request by itself: then `whole` and what HUB_MEMBERS has of results are set.
 * Of a member that occurs twice the first counts.
 * errors:  HUB_EPARSE, HUB_EINVAL (no object), HUB_ELIMIT, as above; then everything is empty */
HUB_MUST_CHECK hub_err hub_message_scan_result(hub_str bytes, hub_message *ret_message,
                                               hub_error *reterr);

#endif
