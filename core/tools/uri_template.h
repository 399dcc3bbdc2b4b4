/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URI templates, as far as the hub needs them: to tell which toolset a URI belongs to that no list
 * of resources has. Values of variables are not taken out, and nothing is expanded: the toolset
 * does that. Pure functions, any thread.
 * spec: RFC 6570; MCP 2026-07-28 server/resources, Resource Templates
 */
#ifndef HUB_TOOLS_URI_TEMPLATE_H
#define HUB_TOOLS_URI_TEMPLATE_H

#include "base/err.h"

/* Whether each '{' has its '}' and something between, and there are no others. */
bool hub_uri_template_is_valid(hub_str pattern);

/* Whether `uri` (at most HUB_LIMIT_URI_BYTES) can be an expansion of a valid template. {var} stands
 * for at least one character other than '/', '?' and '#', {+var} for any; {#var}, {.var}, {/var},
 * {;var}, {?var} and {&var} for nothing, or for their sign and what may follow it.
 * `is_lax`: {var} may be of several segments, too. RFC 6570 would have their slashes escaped;
 * there are servers that do without (file:///{path}).
 * returns: how many characters of the URI the template's own text matches; -1: it does not match */
int hub_uri_template_match(hub_str pattern, hub_str uri, bool is_lax);

#endif
