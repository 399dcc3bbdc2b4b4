/* SPDX-License-Identifier: Apache-2.0 */
/* Content negotiation, as far as MCP needs it (RFC 9110 sections 8.3.1, 12.5.1). Pure functions,
 * any thread. */
#ifndef HTTP_MEDIA_H
#define HTTP_MEDIA_H

#include "http/request.h"

/* Whether a client takes a response of this media type ("application/json"): it says so in Accept,
 * by name or by range, with a weight that is not 0; or it says nothing. The most specific range
 * that matches decides. */
bool hub_http_accepts(const hub_http_request *request, hub_str type);

/* Whether a client takes both of what a POST of MCP may be answered with. */
bool hub_http_accepts_answers(const hub_http_request *request);

/* Whether the content is application/json, in UTF-8 if it says. */
bool hub_http_is_json(const hub_http_request *request);

#endif
