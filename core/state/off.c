/* SPDX-License-Identifier: Apache-2.0 */
/* `state: off`: an engine that keeps nothing, and says so. */
#include "state/engine.h"

static hub_err create(const hub_state_engine_options *options, void **ret_engine, hub_error *reterr)
{
    (void)options;
    (void)reterr;
    *ret_engine = NULL;
    return HUB_OK;
}

static void submit(void *engine, hub_state_job *job)
{
    (void)engine;
    (void)hub_fail(
        &job->error, HUB_EUNAVAILABLE,
        "nothing is kept: the configuration says `state: off`, or there is no HOME to keep "
        "it in");
    hub_state_job_done(job);
}

static void watch(void *engine, bool is_wanted)
{
    (void)engine;
    (void)is_wanted; /* nothing ever changes */
}

static bool destroy(void *engine, unsigned timeout_ms)
{
    (void)engine;
    (void)timeout_ms;
    return true;
}

const hub_state_engine HUB_STATE_ENGINE_OFF = {
    .name = "off",
    .create = create,
    .submit = submit,
    .watch = watch,
    .destroy = destroy,
};
