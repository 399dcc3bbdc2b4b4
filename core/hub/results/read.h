/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading results that are kept: `read_result`, and resources/read of their links. Of a result whose
 * tool the client may not see any more, of somebody else's, and of one that is not kept, the same is
 * said. Thread: [loop].
 */
#ifndef HUB_HUB_RESULTS_READ_H
#define HUB_HUB_RESULTS_READ_H

#include "hub/meta/meta_tool.h"

struct hub_request;

extern const hub_meta_tool HUB_META_RESULTS_TOOLS[];

/* Answer a resources/read. False: the URI is that of no result that the client may read, and nothing
 * was answered. */
bool hub_results_read(const struct hub_request *request);

#endif
