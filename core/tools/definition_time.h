/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dates and times as the official SDKs demand them of `lastModified`. Internal to definition.c.
 */
#ifndef HUB_TOOLS_DEFINITION_TIME_H
#define HUB_TOOLS_DEFINITION_TIME_H

#include "base/str.h"

/* Whether a raw string is a date that exists, with seconds and a zone: "2026-07-28T12:00:00.5Z",
 * "2026-07-28T12:00:00+02:00". False for all but strings. */
bool hub_definition_is_time(hub_str raw);

#endif
