/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a manifest has done with every call of a toolset, between its end and its client
 * (hub.middleware, toolsets.KEY.middleware):
 *
 *   log   one line when it is over: who, what, how long, how it ended. Never arguments, never results
 *   time  the duration in milliseconds in the result, as _meta["patchbay/duration_ms"]
 *
 * Large results are hub/results' affair, also as `max_result_bytes`. Where nothing is configured, bytes
 * pass as they are, and nothing is looked at. Thread: [loop].
 */
#ifndef HUB_HUB_MIDDLEWARE_MIDDLEWARE_H
#define HUB_HUB_MIDDLEWARE_MIDDLEWARE_H

#include "hub/kernel/station.h"

extern const hub_station HUB_MIDDLEWARE_STATION;

#endif
