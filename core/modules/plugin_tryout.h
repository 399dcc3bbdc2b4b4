/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trial (plugin_trial.h) while the loop goes on: one at a time. Thread: [loop].
 */
#ifndef HUB_MODULES_PLUGIN_TRYOUT_H
#define HUB_MODULES_PLUGIN_TRYOUT_H

#include "modules/plugin_trial.h"

#include <ev.h>

/* The child has ended, or was killed after HUB_LIMIT_PROBE_MS. `image` is what was tried, freed
 * after this; `err` and `why` say what came of it. From the loop; another one may be started. */
typedef void hub_plugin_on_tried(void *ctx, void *subject, const hub_plugin_image *image,
                                 hub_err err, const hub_error *why);

typedef struct hub_plugin_tryout {
    struct ev_loop *loop;
    hub_plugin_on_tried *on_tried;
    void *ctx;
    void *subject; /* NULL: there is none under way */
    hub_plugin_image image;
    hub_plugin_trial *trial;
    ev_io ended;
    ev_timer patience;
} hub_plugin_tryout;

/* Watches nothing until something is started. */
void hub_plugin_tryout_init(hub_plugin_tryout *tryout, struct ev_loop *loop,
                            hub_plugin_on_tried *on_tried, void *ctx);

/* Begin one for `subject`, while there is none under way.
 * owns:    the image is taken, if it succeeds
 * errors:  as hub_plugin_trial_start */
HUB_MUST_CHECK hub_err hub_plugin_tryout_start(hub_plugin_tryout *tryout, hub_plugin_image *image,
                                               const char *path, hub_plugin_trial_work *work,
                                               void *subject, hub_error *reterr);

/* End what is under way without a word; nothing happens when there is nothing. */
void hub_plugin_tryout_stop(hub_plugin_tryout *tryout);

#endif
