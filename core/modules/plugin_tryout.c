/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/plugin_tryout.h"

#include "base/limits.h"
#include "base/loop.h"

/* End the child, and have what it was for as it was before. */
static void *take_end(hub_plugin_tryout *tryout, hub_plugin_image *image, hub_err *err,
                      hub_error *why)
{
    void *subject = tryout->subject;
    ev_io_stop(tryout->loop, &tryout->ended);
    ev_timer_stop(tryout->loop, &tryout->patience);
    *err = hub_plugin_trial_end(tryout->trial, why);
    *image = tryout->image;
    tryout->trial = NULL;
    tryout->subject = NULL;
    return subject;
}

static void end(hub_plugin_tryout *tryout)
{
    hub_plugin_image image;
    hub_error why = {.text = ""};
    hub_err err;
    void *subject = take_end(tryout, &image, &err, &why);
    tryout->on_tried(tryout->ctx, subject, &image, err, &why);
    hub_plugin_image_fini(&image);
}

static void on_ended(struct ev_loop *loop, ev_io *watcher, int events)
{
    if (!hub_loop_mend(loop, watcher, events)) {
        end(watcher->data);
    }
}

static void on_patience(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    end(timer->data);
}

void hub_plugin_tryout_init(hub_plugin_tryout *tryout, struct ev_loop *loop,
                            hub_plugin_on_tried *on_tried, void *ctx)
{
    *tryout = (hub_plugin_tryout){.loop = loop, .on_tried = on_tried, .ctx = ctx};
    ev_timer_init(&tryout->patience, on_patience, 0., 0.);
    tryout->patience.data = tryout;
}

hub_err hub_plugin_tryout_start(hub_plugin_tryout *tryout, hub_plugin_image *image,
                                const char *path, hub_plugin_trial_work *work, void *subject,
                                hub_error *reterr)
{
    hub_err err = hub_plugin_trial_start(image, path, work, &tryout->trial, reterr);
    if (err != HUB_OK) {
        return err;
    }
    tryout->image = *image;
    tryout->subject = subject;
    ev_io_init(&tryout->ended, on_ended, hub_plugin_trial_fd(tryout->trial), EV_READ);
    tryout->ended.data = tryout;
    ev_io_start(tryout->loop, &tryout->ended);
    hub_loop_start_timer(tryout->loop, &tryout->patience, HUB_LIMIT_PROBE_MS / 1000.);
    return HUB_OK;
}

void hub_plugin_tryout_stop(hub_plugin_tryout *tryout)
{
    hub_plugin_image image;
    hub_error why;
    hub_err err;
    if (tryout->subject != NULL) {
        (void)take_end(tryout, &image, &err, &why);
        hub_plugin_image_fini(&image);
    }
}
