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

/* Room for credentials of `bytes` bytes, so that appending them frees no copy of those that are there:
 * what is outgrown is overwritten. Without memory `lines` has failed. */
void header_make_room(patchbay_out *lines, size_t bytes);

/* patchbay_out_free for lines with credentials: they are overwritten. */
void header_wipe(patchbay_out *lines);

/* Whether `text` is a token (RFC 9110, section 5.6.2): what a header's name can be. */
int header_is_token(patchbay_str text);

/* Whether a header says what the message is, in any case: another value would be a lie. */
int header_is_own(patchbay_str name);

#endif
