/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mcp-Param-*: the headers that repeat arguments of a tool, as annotations in its schema ask for.
 * The schema is walked once, for its annotations; the arguments once, for what these name; and that
 * is all, however many properties the one or the other has. Pure functions, any thread.
 * spec: MCP 2026-07-28 basic/transports/streamable-http, Custom Headers from Tool Parameters
 */
#ifndef HTTP_PARAM_HEADERS_H
#define HTTP_PARAM_HEADERS_H

#include "base/err.h"
#include "http/request.h"

/* Whether the headers of a request say the same as the arguments (a raw value, or empty), where the
 * schema (likewise) has x-mcp-header. Annotations are reached by chains of `properties` alone; one
 * that is no name for a header is ignored, since no client sends it.
 * `steps` (may be NULL) is added the number of members that were looked at.
 * errors:  HUB_EINVAL (they disagree: say -32020), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_http_check_params(const hub_http_request *request, hub_str schema,
                                             hub_str arguments, size_t *steps, hub_error *reterr);

#endif
