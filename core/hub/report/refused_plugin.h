/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A newer build of a toolset's plugin that could not take over: its file was refused, or it could not
 * start. The build before it goes on, so nobody would notice who does not read the log.
 * Thread: [loop].
 */
#ifndef HUB_REPORT_REFUSED_PLUGIN_H
#define HUB_REPORT_REFUSED_PLUGIN_H

#include "base/buf.h"
#include "hub/kernel/types.h"

/* Append ,"refusedPlugin":"/plugins/x.so was refused: …; the build that was loaded at … stays in use",
 * without secrets, and nothing while the toolset has the newest build, or none at all. */
void hub_refused_plugin_add(const hub_toolset *toolset, hub_buf *out);

#endif
