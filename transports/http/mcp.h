/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MCP endpoint: which era a request belongs to. The request itself says, in this order:
 *
 *   1  params._meta has the protocol version or the client's capabilities      modern
 *   2  MCP-Protocol-Version names a modern revision (and it is no initialize)  modern
 *   3  MCP-Protocol-Version names nothing that is served                       400, -32022
 *   4  Mcp-Session-Id                                                          that session, or 404
 *   5  the method is initialize                                                a new session
 *   6  anything else                                                           400
 *
 * So a modern request is served without state whatever session it names, an initialize begins a
 * handshake whatever the headers say, and a client that has lost its session learns that it has
 * to begin anew. GET and DELETE are legacy: they need Mcp-Session-Id, and get 405 without.
 *
 * spec: MCP 2026-07-28 basic/versioning (Backward Compatibility with Initialization-Based
 * Versions), basic/transports/streamable-http (Protocol Version Header, Backward Compatibility);
 * 2025-11-25 basic/transports (Protocol Version Header, Session Management)
 */
#ifndef HTTP_MCP_H
#define HTTP_MCP_H

#include "http/internal.h"
#include "wire/message.h"

/* A modern POST: a request, or something that is none (modern.c). */
void hub_http_modern_post(const hub_http_task *task, const hub_message *message);

/* Legacy (legacy.c): begin a session; serve one that Mcp-Session-Id names. */
void hub_http_legacy_initialize(const hub_http_task *task, const hub_message *message);
void hub_http_legacy_post(const hub_http_task *task, const hub_message *message);
void hub_http_legacy_get(const hub_http_task *task);
void hub_http_legacy_delete(const hub_http_task *task);

/* Answer 400 to what is no message, as hub_message_scan found it. */
void hub_http_answer_no_message(const hub_http_task *task, const hub_message *message, hub_err err,
                                const char *why);

/* Whether the headers that repeat parts of a modern request agree with it (modern_headers.c).
 * errors:  HUB_EINVAL: say -32020; the text names the header. HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_http_check_headers(const hub_http_request *request,
                                              const hub_session *session,
                                              const hub_message *message, hub_error *reterr);

#endif
