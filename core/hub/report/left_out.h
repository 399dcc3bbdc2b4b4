/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which definitions of a server no client is shown, and why: those that the schema of MCP does not
 * allow, beside what the log says of them. Thread: [loop].
 */
#ifndef HUB_REPORT_LEFT_OUT_H
#define HUB_REPORT_LEFT_OUT_H

#include "base/buf.h"
#include "hub/kernel/toolset.h"
#include "tools/exposure.h"

/* Append ,"leftOut":["tool \"x\" is left out: …", …] of every list, without secrets, and nothing
 * where there are none; of each list at most `most`, up to HUB_CATALOG_KEPT, and "moreLeftOut", how
 * many others there are. `seen`: only what would be exposed there; NULL: all. */
void hub_left_out_add(const hub_toolset *toolset, const hub_exposure *seen, size_t most,
                      hub_buf *out);

#endif
