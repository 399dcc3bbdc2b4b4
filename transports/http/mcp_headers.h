/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The headers that repeat parts of an MCP request, and whether they say the same as its body (MCP
 * 2026-07-28 basic/transports/streamable-http, Request Metadata). A proxy may have obeyed the
 * header; the hub obeys the body: they must agree. Which header belongs to which value is the
 * caller's to know, as is the answer: 400 with -32020. Pure functions, any thread.
 */
#ifndef HTTP_MCP_HEADERS_H
#define HTTP_MCP_HEADERS_H

#include "base/buf.h"

typedef enum hub_mcp_encoding {
    HUB_MCP_PLAIN,  /* Mcp-Method, MCP-Protocol-Version: as it is */
    HUB_MCP_BASE64, /* Mcp-Name, Mcp-Param-*: =?base64?…?= where the value cannot be written */
} hub_mcp_encoding;

/* Append what a header value says: the value without white space around it, or what its Base64 form
 * encodes. That form begins with "=?base64?" and ends with "?=" exactly so; in another case it is
 * plain text. It must be canonical (RFC 4648 sections 3.3 to 3.5) and hold UTF-8. Plain text is
 * visible ASCII, spaces and tabs.
 * errors:  HUB_EINVAL (invalid characters or encoding), or what made `out` fail
 * spec:    Value Encoding */
HUB_MUST_CHECK hub_err hub_mcp_header_decode(hub_str value, hub_mcp_encoding encoding, hub_buf *out,
                                             hub_error *reterr);

/* Whether a header agrees with a value of the body. `value` is NULL when there is no such header.
 * `json` is the raw JSON value; empty when there is none. Strings must be equal byte by byte,
 * integers as numbers ("42.0" is 42) of at most 2^53-1 either way, booleans as written; null and no
 * value at all want no header; nothing agrees with other values.
 * errors:  HUB_EINVAL (they disagree, or one is invalid: say -32020), HUB_ENOMEM
 * spec:    Server Behavior for Custom Headers; Server Validation */
HUB_MUST_CHECK hub_err hub_mcp_header_check(const hub_str *value, hub_mcp_encoding encoding,
                                            hub_str json, hub_error *reterr);

#endif
