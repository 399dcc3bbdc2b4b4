/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linking a plugin where it can do no harm first: in a child of this process, which is what the hub
 * is at that moment but for its descriptors. Only what the child survives is linked here. What it
 * says is taken for the reason of a refusal, and for nothing else.
 */
#ifndef HUB_MODULES_PLUGIN_TRIAL_H
#define HUB_MODULES_PLUGIN_TRIAL_H

#include "modules/plugin_image.h"

typedef struct hub_plugin_trial hub_plugin_trial;

/* What the child does: link the image of the file at `path`, and check what it exports. */
typedef hub_err hub_plugin_trial_work(const hub_plugin_image *image, const char *path,
                                      hub_error *reterr);

/* Begin. Image and path are needed by the child alone, which has its own from now on.
 * owns:    *ret_trial, end it with hub_plugin_trial_end
 * thread:  [loop]
 * errors:  HUB_ESYSTEM (no process can be had), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_plugin_trial_start(const hub_plugin_image *image, const char *path,
                                              hub_plugin_trial_work *work,
                                              hub_plugin_trial **ret_trial, hub_error *reterr);

/* Readable when the child has ended. Borrowed. */
int hub_plugin_trial_fd(const hub_plugin_trial *trial);

/* What has come of it, and free it. A child that has not ended is killed: its plugin hangs.
 * blocks:  until the child is gone, which is at once
 * errors:  what `work` returned, HUB_EABI (the child has crashed, ended or hung) */
HUB_MUST_CHECK hub_err hub_plugin_trial_end(hub_plugin_trial *trial, hub_error *reterr);

/* Wait for the end, HUB_LIMIT_PROBE_MS at most. */
void hub_plugin_trial_await(const hub_plugin_trial *trial);

#endif
