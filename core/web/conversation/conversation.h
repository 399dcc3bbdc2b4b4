/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A face that needs MCP to answer a request: it asks the hub as the client that sent the request
 * would ask it, in messages of MCP 2026-07-28 that pass through the same rules, rates, limits, audit
 * and stations. One conversation belongs to one exchange: one message after the other, then the
 * answer. When the client hangs up, the message that is under way is cancelled. Thread: [loop].
 */
#ifndef HUB_WEB_CONVERSATION_H
#define HUB_WEB_CONVERSATION_H

#include "web/face.h"

typedef struct hub_web_conversation hub_web_conversation;

/* What the hub has answered; borrowed for the callback. */
typedef struct hub_web_heard {
    hub_str result;   /* an object; empty: it is an error */
    hub_str error;    /* an object, of JSON-RPC */
    int code;         /* of the error */
    uint32_t retry_s; /* see hub_outgoing */
} hub_web_heard;

/* `ctx` is the conversation's. One of: ask again, answer, refuse. */
typedef void hub_web_on_heard(hub_web_conversation *talk, void *ctx, const hub_web_heard *heard);

/* Begin: the exchange waits from now on. Forwarded headers of `request` go with all messages. `drop`
 * frees `ctx` when the conversation ends, however it does. The exchange is answered if this fails,
 * and `ctx` dropped. NULL: it has failed.
 * owns:    nothing: it ends with its answer, or when the client has gone */
hub_web_conversation *hub_web_conversation_create(hub_orchestrator *hub,
                                                  const hub_web_request *request,
                                                  hub_web_exchange *exchange, void (*drop)(void *),
                                                  void *ctx);

/* The session of the next message, or of the one that was just answered. */
const hub_session *hub_web_conversation_session(const hub_web_conversation *talk);

/* Ask; `params` is what stands in the object beside `_meta`: members, or nothing. `on_heard` is
 * called later, from the loop. What cannot be asked is answered. */
void hub_web_ask(hub_web_conversation *talk, const char *method, hub_str params,
                 hub_web_on_heard *on_heard);

/* All tools that the caller is shown, as an array of their definitions; borrowed for the callback. */
typedef void hub_web_on_tools(hub_web_conversation *talk, void *ctx, hub_str tools);

/* Ask for all pages of tools/list. An error is answered, and `on_tools` not called. */
void hub_web_ask_tools(hub_web_conversation *talk, hub_web_on_tools *on_tools);

/* Answer the exchange; the conversation ends. */
void hub_web_conversation_answer(hub_web_conversation *talk, const hub_web_answer *answer);

/* Answer with an error that the hub has answered: {"error": …}, with the status that fits its code;
 * `status` instead, unless it is 0. The conversation ends. */
void hub_web_conversation_refuse(hub_web_conversation *talk, const hub_web_heard *heard,
                                 int status);

/* Answer an exchange that has no conversation: {"error": {"message": text}}. */
void hub_web_refuse(hub_web_exchange *exchange, int status, const char *text);

#endif
