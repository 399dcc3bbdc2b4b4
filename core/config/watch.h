/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notices that a file of the configuration is another one. It watches the folders of the files, and
 * of what they lead to when they are links, so an editor that puts a new file in the place of the
 * old one is noticed, and a volume whose links are exchanged (as Kubernetes does it), be they links
 * to files or to folders, and folders far above that are exchanged. When nothing more can be
 * watched, what was watched until then still is. What has changed is found by comparing: events
 * merely say when to look. A file that is being written is waited for until it is closed, one that
 * is no regular file is not watched. Thread: [loop].
 */
#ifndef HUB_CONFIG_WATCH_H
#define HUB_CONFIG_WATCH_H

#include "config/config.h"

struct ev_loop;

typedef struct hub_config_watch hub_config_watch;

/* Watch the files of a configuration, as they were when they were read. `on_change` is told from
 * the loop, once however many have changed, and again only after the next change.
 * owns:    *ret_watch, destroy it with hub_config_watch_destroy. `config` is not kept
 * errors:  HUB_ESYSTEM (no inotify), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_config_watch_create(const hub_config *config, struct ev_loop *loop,
                                               void (*on_change)(void *ctx), void *ctx,
                                               hub_config_watch **ret_watch, hub_error *reterr);

/* Not from within on_change. NULL is fine. */
void hub_config_watch_destroy(hub_config_watch *watch);

#endif
