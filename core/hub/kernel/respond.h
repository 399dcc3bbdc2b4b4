/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing to a client: results, errors and notifications in its dialect. A message that cannot be
 * written (the client does not read, or is gone) is counted and dropped; the transport ends such a
 * session. Thread: [loop].
 */
#ifndef HUB_HUB_KERNEL_RESPOND_H
#define HUB_HUB_KERNEL_RESPOND_H

#include "base/lent.h"
#include "hub/kernel/call.h"

typedef struct hub_request hub_request;

/* What answers the requests of a method. */
typedef void hub_request_handler(const hub_request *request);

/* A request as the router sees it, before (or without) becoming a call. */
struct hub_request {
    hub_session *session;
    hub_port *port;
    const hub_message *message;
    hub_request_context context;
    hub_request_handler *handle;
    hub_call *call; /* it was held, and is this one already; else NULL */
};

/* Make it a call, unless it is one. NULL: it cannot be, and was answered. */
hub_call *hub_request_begin(const hub_request *request);

/* Take a request that was held on, as `call`: its handler is called with `message`, which is the
 * same as then. If that answers it without sending the call on its way, the call is over. */
void hub_request_resume(hub_call *call, const hub_message *message, hub_request_handler *handle);

/* It is refused: stations that note such things are told. The answer is the caller's. */
void hub_request_refuse(const hub_request *request);

/* Answer with a result object. */
void hub_respond_result(const hub_request *request, hub_str result);

/* Answer with a list: see hub_dialect_list. Its items are what is lent. */
void hub_respond_list(const hub_request *request, hub_str key, const hub_lent *items, hub_str tail);

/* Answer with a JSON-RPC error; `data` is raw JSON or empty. */
void hub_respond_error(const hub_request *request, int code, hub_str message, hub_str data);

/* Refuse and answer a request that cannot become a call: HUB_EEXIST (its id is in flight), HUB_ELIMIT
 * (too many are), or another reason. */
void hub_respond_refusal(const hub_request *request, hub_err err);

/* Refuse and answer a request that is over a limit, which the data of the error name (may be NULL);
 * it may be worth another try. `text` says so, `wait_ms` when. */
void hub_respond_overload(const hub_request *request, const char *limit, hub_str text,
                          uint32_t wait_ms);

/* Append those data: {"limit": …, "retryAfter": SECONDS, "retryable": true}. `limit` may be empty. */
void hub_respond_add_overload(hub_buf *data, hub_str limit, uint32_t wait_ms);

/* Answer something that is not a request: `id` may be empty. */
void hub_respond_fault(hub_session *session, hub_port *port, hub_str id, int code, hub_str message);

/* Answer a call. A failure of a tool becomes a tool result with isError (MCP server/tools, Error
 * Handling); of anything else, a JSON-RPC error. */
void hub_respond_outcome(const hub_call *call, const hub_outcome *outcome);

/* Whether an outcome of the call is a failure: none, or a tool's result that says so. */
bool hub_outcome_is_error(const hub_call *call, const hub_outcome *outcome);

/* Send a notification; `params` is a JSON object or empty. */
void hub_respond_notify(hub_port *port, hub_str method, hub_str params);

/* The text without secrets; `memory` holds it if it has any. For what the hub says in its own words
 * or quotes in them: what a server answers is passed on as it is. */
hub_str hub_respond_mask(hub_str text, hub_buf *memory);

/* Append the cause of a failure that the hub words itself, as members of its data: "code" of the
 * closed set (REQUIREMENTS S4.10) and "retryable". `status` is one of PATCHBAY_…, as of finish(). */
void hub_respond_add_cause(hub_buf *data, int32_t status);

/* Append a failed tool result: text, _meta["patchbay/error"], and structuredContent if asked for.
 * `code` is one of REQUIREMENTS S4.10 or S1.37. */
void hub_respond_add_tool_error(hub_buf *out, const char *code, hub_str message, bool retryable,
                                bool structured);

#endif
