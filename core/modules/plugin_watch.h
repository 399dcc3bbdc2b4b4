/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notices changes in plugin folders through inotify. It says "look again" and nothing more: what
 * has changed is found out by comparing, so a lost or doubled event does no harm. A path means what
 * is there now: a folder above it that is renamed, or a link on the way that leads elsewhere, is a
 * change, too. A folder that does not exist is waited for in the nearest one above it that does.
 * What is mounted over a folder is not noticed, nor the renaming of one that may be passed through
 * but not read: there are no events for that. Thread: [loop].
 */
#ifndef HUB_MODULES_PLUGIN_WATCH_H
#define HUB_MODULES_PLUGIN_WATCH_H

#include "base/err.h"

#include <ev.h>

enum {
    HUB_PLUGIN_WATCH_DELAY_MS = 50,  /* events of one installation cause one look */
    HUB_PLUGIN_WATCH_QUIET_MS = 500, /* after a write, whether anybody has the file open still */
};

typedef struct hub_plugin_watch hub_plugin_watch;

/* Watch absolute folder paths without trailing slash (borrowed for the watch's life). on_change
 * comes from the loop, HUB_PLUGIN_WATCH_DELAY_MS after the first of any number of events, and once
 * at the start for what happened before.
 * owns:    *ret_watch, destroy it with hub_plugin_watch_destroy
 * errors:  HUB_ESYSTEM (no inotify), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_plugin_watch_create(const char *const *folders, size_t count,
                                               struct ev_loop *loop, void (*on_change)(void *ctx),
                                               void *ctx, hub_plugin_watch **ret_watch,
                                               hub_error *reterr);

/* NULL is fine. */
void hub_plugin_watch_destroy(hub_plugin_watch *watch);

/* Whether somebody is writing to that file right now: it was written to and not closed since. One that
 * was cut by its path (truncate(2)) is so until it is quiet and nobody has it open for writing; what the
 * kernel says of that only to the file's owner, so that others see it with the next event. */
bool hub_plugin_watch_is_busy(const hub_plugin_watch *watch, const char *path);

#endif
