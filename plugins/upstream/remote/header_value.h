/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of HTTP headers that mirror a request: MCP 2026-07-28 basic/transports/streamable-http,
 * Value Encoding. Pure functions.
 */
#ifndef MCP_REMOTE_HEADER_VALUE_H
#define MCP_REMOTE_HEADER_VALUE_H

#include <patchbay/json.h>

/* Append the header line "NAME: VALUE\n". A value that a header cannot carry as it is becomes
 * =?base64?…?=; an empty one is "NAME;", as http_client wants it. */
void header_add(patchbay_out *lines, const char *name, patchbay_str value);

/* Whether `text` is a token (RFC 9110, section 5.6.2): what a header's name can be. */
int header_is_token(patchbay_str text);

/* Whether a header says what the message is, in any case: another value would be a lie. */
int header_is_own(patchbay_str name);

#endif
