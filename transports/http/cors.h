/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a browser wants to hear before it lets a page talk to the hub (Fetch standard, CORS
 * protocol). Only for origins that the guard has let through; never "*". Pure functions, any
 * thread.
 */
#ifndef HTTP_CORS_H
#define HTTP_CORS_H

#include "http/response.h"

enum { HUB_HTTP_CORS_HEADERS = 3 };

/* The headers of every response to this origin; its bytes are borrowed. Returns how many. */
size_t hub_http_cors_headers(hub_str origin, hub_http_header ret_headers[HUB_HTTP_CORS_HEADERS]);

/* Whether this asks for leave to make another request. */
bool hub_http_is_preflight(const hub_http_request *request);

/* Append the headers that a client may send: those of MCP, and the Mcp-Param-* that it asks for.
 * errors:  what made `out` fail */
HUB_MUST_CHECK hub_err hub_http_cors_allow_headers(const hub_http_request *request, hub_buf *out);

#endif
