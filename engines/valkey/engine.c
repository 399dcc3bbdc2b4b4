/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Valkey as an engine: jobs become commands on one connection. A second one listens, while somebody
 * watches; what is heard there is a hint, and so is that the connection came back: the truth is in the
 * numbers of changes, which a look compares.
 */
#include "engine.h"

#include "base/clock.h"
#include "base/limits.h"
#include "greet.h"
#include "scripts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

enum { MOST_ARGUMENTS = 1024, FIXED_ARGUMENTS = 5 + VALKEY_KEYS };

/* A command of a job, in its arena. */
typedef struct asked {
    valkey_engine *engine;
    hub_state_job *job;
    valkey_step *on_reply;
    const hub_str *args;
    size_t count;
    unsigned deadline_ms;
    bool is_whole; /* the server did not know the script, and was given it */
} asked;

static void pump(valkey_engine *engine);

/* ---- giving back ----------------------------------------------------------------------------- */

static void add_notice(const valkey_engine *engine, hub_state_job *job)
{
    (void)snprintf(job->notice, sizeof job->notice, "%s", valkey_link_notice(engine->link));
}

void valkey_finish(valkey_engine *engine, hub_state_job *job)
{
    bool was_alone = engine->is_alone;
    engine->at_work--;
    engine->is_alone = false;
    add_notice(engine, job);
    engine->options.give_back(job);
    if (was_alone) {
        pump(engine);
    }
}

void valkey_fail(valkey_engine *engine, hub_state_job *job, hub_err err, const char *why)
{
    (void)hub_fail(&job->error, err, "%s: %s", engine->options.place, why);
    valkey_finish(engine, job);
}

/* All that were not begun. */
static void fail_waiting(valkey_engine *engine, const char *why)
{
    while (engine->first != NULL) {
        hub_state_job *job = engine->first;
        engine->first = job->next;
        engine->last = job->next != NULL ? engine->last : NULL;
        (void)hub_fail(&job->error, HUB_EUNAVAILABLE, "%s: %s", engine->options.place, why);
        engine->options.give_back(job);
    }
}

/* ---- commands -------------------------------------------------------------------------------- */

static bool send_asked(asked *one);

static void on_reply(void *ctx, const redisReply *reply, const char *why)
{
    asked *one = ctx;
    char text[256];
    if (reply == NULL) {
        valkey_fail(one->engine, one->job, HUB_EUNAVAILABLE, why);
    } else if (reply->type != REDIS_REPLY_ERROR) {
        one->on_reply(one->engine, one->job, reply);
    } else if (!one->is_whole && hub_str_starts(valkey_text(reply), HUB_STR("NOSCRIPT"))) {
        one->is_whole = true;
        if (!send_asked(one)) {
            valkey_fail(one->engine, one->job, HUB_EUNAVAILABLE, "the connection has ended");
        }
    } else {
        valkey_explain(reply->str, text, sizeof text);
        valkey_fail(one->engine, one->job, HUB_EUNAVAILABLE, text);
    }
}

static bool send_asked(asked *one)
{
    const char *argv[MOST_ARGUMENTS];
    size_t bytes[MOST_ARGUMENTS];
    int argc = 0;
    const char *fixed[FIXED_ARGUMENTS] = {one->is_whole ? "EVAL" : "EVALSHA",
                                          one->is_whole ? VALKEY_STATE_SCRIPT : VALKEY_STATE_SHA,
                                          VALKEY_KEYS_TEXT};
    for (size_t i = 0; i < VALKEY_KEYS; i++) {
        fixed[3 + i] = i + 1 < VALKEY_KEYS ? VALKEY_KEY_NAMES[i] : one->engine->stage;
    }
    for (; argc < 3 + VALKEY_KEYS; argc++) {
        argv[argc] = fixed[argc];
        bytes[argc] = strlen(fixed[argc]);
    }
    for (size_t i = 0; i < one->count; i++) {
        if (i == 1) { /* behind the verb */
            argv[argc] = one->engine->channel;
            bytes[argc++] = strlen(one->engine->channel);
        }
        argv[argc] = one->args[i].len > 0 ? one->args[i].ptr : "";
        bytes[argc++] = one->args[i].len;
    }
    return valkey_link_send(one->engine->link, argc, argv, bytes, one->deadline_ms, on_reply, one);
}

void valkey_ask(valkey_engine *engine, hub_state_job *job, const hub_str *args, size_t count,
                unsigned deadline_ms, valkey_step *step)
{
    hub_assert(count > 1 && count + FIXED_ARGUMENTS <= MOST_ARGUMENTS);
    asked *one = hub_arena_alloc(job->arena, sizeof *one);
    hub_str *kept = hub_arena_array(job->arena, count, sizeof *kept);
    if (one == NULL || kept == NULL) {
        valkey_fail(engine, job, HUB_ENOMEM, "out of memory");
        return;
    }
    memcpy(kept, args, count * sizeof *kept);
    *one = (asked){.engine = engine,
                   .job = job,
                   .on_reply = step,
                   .args = kept,
                   .count = count,
                   .deadline_ms = deadline_ms};
    if (!send_asked(one)) {
        valkey_fail(engine, job, HUB_EUNAVAILABLE, "the connection has ended");
    }
}

/* Begin what can be begun. */
static void pump(valkey_engine *engine)
{
    while (engine->first != NULL && !engine->is_alone && valkey_link_is_up(engine->link)) {
        hub_state_job *job = engine->first;
        bool is_long = valkey_is_long(engine, job);
        if (is_long && engine->at_work > 0) {
            return;
        }
        engine->first = job->next;
        engine->last = job->next != NULL ? engine->last : NULL;
        job->next = NULL;
        engine->is_alone = is_long;
        engine->at_work++;
        valkey_begin(engine, job);
    }
}

/* ---- the connections ------------------------------------------------------------------------- */

static void stir(const valkey_engine *engine)
{
    if (engine->is_watching && !engine->is_ending) {
        engine->options.on_stir(engine->options.ctx);
    }
}

static void on_up(void *ctx)
{
    valkey_engine *engine = ctx;
    pump(engine);
    stir(engine); /* what happened while it was away */
}

static void on_down(void *ctx, const char *why)
{
    fail_waiting(ctx, why);
    stir(ctx); /* which fails: who follows the store knows that it cannot be used */
}

/* Who watches wants to know when the store is back. */
static void on_rested(void *ctx)
{
    valkey_engine *engine = ctx;
    const char *why;
    if (engine->is_watching) {
        (void)valkey_link_want(engine->link, &why);
    }
}

static void on_message(void *ctx)
{
    stir(ctx);
}

static void on_listening(void *ctx)
{
    stir(ctx); /* what was said before */
}

static void on_not_listening(void *ctx, const char *why)
{
    (void)ctx;
    (void)why; /* the connection for commands says what is wrong; and there is the timer */
}

static void on_listener_rested(void *ctx)
{
    valkey_engine *engine = ctx;
    const char *why;
    (void)valkey_link_want(engine->listener, &why);
}

static void on_truth(struct ev_loop *loop, ev_timer *timer, int events)
{
    const valkey_engine *engine = timer->data;
    (void)loop;
    (void)events;
    if (valkey_link_is_up(engine->link)) {
        stir(engine);
    }
}

/* ---- the engine ------------------------------------------------------------------------------ */

static void free_engine(valkey_engine *engine)
{
    valkey_link_destroy(engine->link);
    valkey_link_destroy(engine->listener);
    free(engine);
}

static hub_err create(const hub_state_engine_options *options, void **ret_engine, hub_error *reterr)
{
    valkey_engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    engine->options = *options;
    hub_err err =
        hub_state_address_read(hub_str_of(options->place), &engine->address, NULL, reterr);
    if (err == HUB_OK && engine->address.is_tls) {
        err = hub_fail(reterr, HUB_EINVAL,
                       "%s: the installed hiredis has no TLS: use a Unix socket, or a tunnel "
                       "(stunnel) beside the hub",
                       options->place);
    }
    (void)snprintf(engine->channel, sizeof engine->channel, VALKEY_CHANNEL,
                   engine->address.database);
    uint64_t number = 0;
    if (err == HUB_OK && getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) {
        err = hub_fail(reterr, HUB_ESYSTEM, "no random numbers can be had");
    }
    (void)snprintf(engine->stage, sizeof engine->stage, "%s:%016" PRIx64,
                   VALKEY_KEY_NAMES[VALKEY_KEYS - 1], number);
    ev_timer_init(&engine->truth, on_truth, 0., HUB_LIMIT_STATE_TRUTH_MS / 1e3);
    engine->truth.data = engine;
    const valkey_link_options of_link = {.loop = options->loop,
                                         .address = &engine->address,
                                         .password = options->password,
                                         .on_up = on_up,
                                         .on_down = on_down,
                                         .on_rested = on_rested,
                                         .ctx = engine};
    if (err == HUB_OK) {
        err = valkey_link_create(&of_link, &engine->link, reterr);
    }
    if (err != HUB_OK) {
        free_engine(engine);
        return err;
    }
    *ret_engine = engine;
    return HUB_OK;
}

static void submit(void *self, hub_state_job *job)
{
    valkey_engine *engine = self;
    const char *why = NULL;
    job->next = NULL;
    if (engine->last != NULL) {
        engine->last->next = job;
    } else {
        engine->first = job;
    }
    engine->last = job;
    if (valkey_link_want(engine->link, &why)) {
        pump(engine);
    } else {
        fail_waiting(engine, why);
    }
}

static void start_watching(valkey_engine *engine)
{
    hub_error why = {.code = HUB_OK};
    const char *resting;
    const valkey_link_options of_link = {.loop = engine->options.loop,
                                         .address = &engine->address,
                                         .password = engine->options.password,
                                         .channel = engine->channel,
                                         .on_up = on_listening,
                                         .on_down = on_not_listening,
                                         .on_rested = on_listener_rested,
                                         .on_message = on_message,
                                         .ctx = engine};
    if (valkey_link_create(&of_link, &engine->listener, &why) != HUB_OK) {
        engine->options.on_deaf(engine->options.ctx, why.text);
        return;
    }
    (void)valkey_link_want(engine->listener, &resting);
    ev_timer_again(engine->options.loop, &engine->truth);
}

static void watch(void *self, bool is_wanted)
{
    valkey_engine *engine = self;
    if (is_wanted && !engine->is_watching) {
        engine->is_watching = true;
        start_watching(engine);
    } else if (!is_wanted && engine->is_watching) {
        engine->is_watching = false;
        ev_timer_stop(engine->options.loop, &engine->truth);
        valkey_link_destroy(engine->listener);
        engine->listener = NULL;
    }
}

/* What was accepted still happens, as far as there is time. */
static bool destroy(void *self, unsigned timeout_ms)
{
    valkey_engine *engine = self;
    uint64_t end_ms = hub_clock_now_ms() + timeout_ms;
    uint64_t now_ms = hub_clock_now_ms();
    watch(engine, false);
    engine->is_ending = true;
    bool comes = true;
    while (comes && (engine->first != NULL || engine->at_work > 0) && now_ms < end_ms) {
        comes = valkey_link_wait(engine->link, (int)(end_ms - now_ms));
        now_ms = hub_clock_now_ms();
    }
    fail_waiting(engine, "the hub has ended before the store answered");
    free_engine(engine);
    return true;
}

static const hub_state_engine ENGINE = {
    .name = "valkey",
    .create = create,
    .submit = submit,
    .watch = watch,
    .destroy = destroy,
};

__attribute__((visibility("default"))) extern const hub_state_engine_part patchbay_engine_part;

const hub_state_engine_part patchbay_engine_part = {
    .built = HUB_STATE_ENGINE_BUILT,
    .job_bytes = sizeof(hub_state_job),
    .engine = &ENGINE,
};
