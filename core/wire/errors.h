/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every error that the hub itself answers, once: its code, why it is answered, and what helps.
 * docs/ERRORS.md is written from here (ninja settings), and tests/check_errors.py holds the code to
 * it. What servers behind the hub answer passes unchanged, and is not here.
 *
 * Causes and cures are one sentence each, for people.
 */
#ifndef HUB_WIRE_ERRORS_H
#define HUB_WIRE_ERRORS_H

/* JSON-RPC and MCP codes: name, code, cause, cure. From -31001 on they are the hub's own, outside of
 * the range that JSON-RPC reserves.
 * spec: MCP 2026-07-28 basic/index, Error Codes */
#define HUB_RPC_ERRORS(X)                                                                          \
    X(PARSE_ERROR, -32700, "the message is not JSON text, or exceeds a limit of one",              \
      "send one JSON text in UTF-8; the message says at which byte it goes wrong")                 \
    X(INVALID_REQUEST, -32600,                                                                     \
      "the message is JSON but no request, comes at the wrong time, or its id is in flight",       \
      "correct the client; the message names the member")                                          \
    X(METHOD_NOT_FOUND, -32601, "the protocol revision of this session has no such method",        \
      "ask only for what `initialize` or `server/discover` announced")                             \
    X(INVALID_PARAMS, -32602,                                                                      \
      "a parameter is missing or wrong, or there is no such tool, prompt, resource or cursor",     \
      "list again; the message says what was meant, or that its toolset is off")                   \
    X(INTERNAL_ERROR, -32603, "the hub has no memory left, or the operating system refused",       \
      "look into the hub's log")                                                                   \
    X(HEADER_MISMATCH, -32020, "an HTTP header says something else than the body",                 \
      "correct the client, or the proxy that rewrites headers")                                    \
    X(NO_RESOURCE_LEGACY, -32002, "there is no such resource (revisions before 2026-07-28)",       \
      "list the resources again")                                                                  \
    X(URL_ELICITATION, -32042, "the user must open a page first (revision 2025-11-25)",            \
      "open the URL in the error's data, then call again")                                         \
    X(MISSING_CAPABILITY, -32021, "the call needs something that the client has not declared",     \
      "use a client with the capability that the data name")                                       \
    X(UNSUPPORTED_VERSION, -32022, "the hub does not speak this protocol revision",                \
      "use one of those in the error's data")                                                      \
    X(OVERLOADED, -31001, "a limit is reached; the data name it",                                  \
      "try again after `retryAfter` seconds, or raise the limit")                                  \
    X(UNAVAILABLE, -31002, "the server behind the request cannot be reached",                      \
      "see `patchbay status` for the reason; the hub goes on trying")                              \
    X(SHUTTING_DOWN, -31004, "the hub is about to end", "try again in a moment")                   \
    X(INSUFFICIENT_SCOPE, -31005, "an access rule wants more than this credential has",            \
      "log in again with the scopes in the error's data")                                          \
    X(NOT_CONFIRMED, -31006, "an access rule wants the user to say yes, and nobody did",           \
      "answer the question, or use a client that can show one")

/* Of results with `isError`, in `_meta["patchbay/error"].code`: name, whether another try may help
 * (a cause may say otherwise), cause, cure. */
#define HUB_TOOL_ERRORS(X)                                                                         \
    X(NOT_IMPLEMENTED, false, "the toolset lists the tool and has no code for it",                 \
      "update the plugin")                                                                         \
    X(INVALID_INPUT, false,                                                                        \
      "the same call would fail again: its arguments are wrong, nothing has that name, or the "    \
      "entry of the tool's server is wrong (no such program, a refused credential, HTTP 404)",     \
      "correct the argument, the name or the manifest's entry that the message names")             \
    X(UNAVAILABLE, true, "the server cannot be reached, is starting, or ended during the call",    \
      "try again later; `patchbay status` has the reason")                                         \
    X(EXECUTION_FAILED, false, "the tool failed, or its answer cannot be used",                    \
      "read the message; the log has more")

/* Of results of the hub's own tools that change toolsets: name, cause, cure. */
#define HUB_OPERATION_ERRORS(X)                                                                    \
    X(VALIDATION, "there is no such toolset, or the arguments are wrong",                          \
      "call list_toolsets for the names")                                                          \
    X(POLICY_DENIED, "the operator's policy does not allow the toolset",                           \
      "ask the operator of the hub")                                                               \
    X(POLICY_MAX_ACTIVE, "as many toolsets are in use as may be",                                  \
      "disable one that is not needed")                                                            \
    X(UNAVAILABLE, "the toolset's server cannot be reached now",                                   \
      "nothing: it is wanted from now on, and its tools appear when it comes")                     \
    X(BUSY, "another change of the same toolsets is under way", "try again in a moment")           \
    X(HUB_LOOP, "the hub would be behind itself",                                                  \
      "take the entry that leads back out of one of the hubs")                                     \
    X(INTERNAL, "the hub has no memory left, or its own code failed", "look into the hub's log")

/* HTTP: status, cause, cure. The body is a JSON-RPC error wherever the request was a message. */
#define HUB_HTTP_ERRORS(X)                                                                         \
    X(400, "the request, its framing or its headers are not well-formed, or a header is missing",  \
      "correct the client; the text says what")                                                    \
    X(401, "a credential is missing, wrong or out of date",                                        \
      "send `Authorization: Bearer TOKEN`; `patchbay token new` makes one")                        \
    X(403, "the Host or the Origin is not allowed, or the credential has too few rights",          \
      "add the name to `hosts` or `origins` of the listener, or log in with more scopes")          \
    X(404, "there is no such path, profile or session", "begin again with `initialize`")           \
    X(405, "the path has no such method", "use one of those in `Allow`")                           \
    X(406, "the client does not accept what the hub answers with",                                 \
      "accept `application/json` and `text/event-stream`")                                         \
    X(408, "the request did not arrive in time", "look at the network, or raise the limit")        \
    X(411, "a POST says nothing of its length", "send Content-Length or chunks")                   \
    X(413, "the body is too large", "send less, or raise the limit that the text names")           \
    X(414, "the request line is too long", "send less of it")                                      \
    X(415, "the body is not JSON by its type", "send `Content-Type: application/json`")            \
    X(417, "the request expects something that the hub does not do", "leave out `Expect`")         \
    X(426, "the path is a WebSocket's", "connect with an upgrade to version 13")                   \
    X(429, "a limit for this client is reached, or too many bad credentials came from there",      \
      "try again after `Retry-After` seconds")                                                     \
    X(431, "the headers are too large", "send fewer of them")                                      \
    X(500, "the hub's own code failed", "look into the hub's log")                                 \
    X(501, "the request is coded in a way that the hub does not read", "send it plain")            \
    X(502, "a server behind the hub answered with an error of its own, or the replica ended",      \
      "read the error in the body; a request to a replica that ended may have been done")          \
    X(503, "the hub is full, has no memory left, or is about to end", "try again in a moment")     \
    X(505, "the request is of another version of HTTP", "use HTTP/1.1")

#endif
