/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URIs as the official SDKs demand them of resources. Internal to definition.c.
 */
#ifndef HUB_TOOLS_DEFINITION_URI_H
#define HUB_TOOLS_DEFINITION_URI_H

#include "base/str.h"

/* Whether a raw string is a URI with a scheme, and with a host and a port that there can be where it
 * has some (WHATWG URL, as the SDK 1.x for Python reads it). Any character may stand behind them. A
 * name that only IDNA refuses passes. False for all but strings. */
bool hub_definition_is_uri(hub_str raw);

#endif
