/* SPDX-License-Identifier: Apache-2.0 */
/* Host interfaces loop/1, worker/1, stream/1 and process/1: thin, tracked wrappers. */
#include "modules/instance_internal.h"

#include "modules/crash.h"

#include "base/clock.h"
#include "base/loop.h"
#include "base/stream.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- loop/1: descriptors --------------------------------------------------------------------- */

struct patchbay_watch {
    hub_holding holding; /* first: a holding is its watch */
    hub_instance *instance;
    ev_io io;
    void (*on_ready)(void *ctx, uint32_t events);
    void *ctx;
};

static int to_ev(uint32_t events)
{
    return ((events & PATCHBAY_READABLE) ? EV_READ : 0) |
           ((events & PATCHBAY_WRITABLE) ? EV_WRITE : 0);
}

static void on_io(struct ev_loop *loop, ev_io *io, int events)
{
    if (hub_loop_mend(loop, io, events)) {
        return;
    }
    patchbay_watch *watch = io->data;
    hub_watchdog *watchdog = watch->instance->env->watchdog; /* the watch may be freed meanwhile */
    hub_watchdog_stay stay;
    hub_instance_enter(watch->instance, &stay, "on_ready", HUB_STR_EMPTY);
    watch->on_ready(watch->ctx, ((events & EV_READ) ? PATCHBAY_READABLE : 0u) |
                                    ((events & EV_WRITE) ? PATCHBAY_WRITABLE : 0u));
    hub_watchdog_leave(watchdog, &stay);
}

static void loop_unwatch(patchbay_watch *watch)
{
    if (watch != NULL) {
        ev_io_stop(watch->instance->env->loop, &watch->io);
        hub_instance_release(watch->instance, &watch->holding);
        free(watch);
    }
}

static void release_watch(hub_holding *holding)
{
    loop_unwatch((patchbay_watch *)holding);
}

static void loop_rewatch(patchbay_watch *watch, uint32_t events)
{
    struct ev_loop *loop = watch->instance->env->loop;
    ev_io_stop(loop, &watch->io);
    ev_io_set(&watch->io, watch->io.fd, to_ev(events));
    if (events != 0) {
        ev_io_start(loop, &watch->io);
    }
}

static patchbay_watch *loop_watch(patchbay_host *host, int fd, uint32_t events,
                                  void (*on_ready)(void *ctx, uint32_t events), void *ctx)
{
    patchbay_watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL) {
        return NULL;
    }
    watch->holding.release = release_watch;
    watch->instance = host;
    watch->on_ready = on_ready;
    watch->ctx = ctx;
    ev_io_init(&watch->io, on_io, fd, to_ev(events));
    watch->io.data = watch;
    hub_instance_hold(host, &watch->holding);
    if (events != 0) {
        ev_io_start(host->env->loop, &watch->io);
    }
    return watch;
}

/* ---- loop/1: time ---------------------------------------------------------------------------- */

struct patchbay_timer {
    hub_holding holding;
    hub_instance *instance;
    ev_timer timer;
    void (*on_time)(void *ctx);
    void *ctx;
};

static uint64_t loop_now_ms(patchbay_host *host)
{
    (void)host; /* not libev's time: that is the wall clock, which jumps */
    return hub_clock_turn_us() / 1000;
}

static void on_timer(struct ev_loop *loop, ev_timer *watcher, int events)
{
    (void)loop;
    (void)events;
    patchbay_timer *timer = watcher->data;
    hub_watchdog *watchdog = timer->instance->env->watchdog;
    hub_watchdog_stay stay;
    hub_instance_enter(timer->instance, &stay, "on_time", HUB_STR_EMPTY);
    timer->on_time(timer->ctx);
    hub_watchdog_leave(watchdog, &stay);
}

static void loop_timer_stop(patchbay_timer *timer)
{
    ev_timer_stop(timer->instance->env->loop, &timer->timer);
}

static void loop_timer_free(patchbay_timer *timer)
{
    if (timer != NULL) {
        loop_timer_stop(timer);
        hub_instance_release(timer->instance, &timer->holding);
        free(timer);
    }
}

static void release_timer(hub_holding *holding)
{
    loop_timer_free((patchbay_timer *)holding);
}

static patchbay_timer *loop_timer(patchbay_host *host, void (*on_time)(void *ctx), void *ctx)
{
    patchbay_timer *timer = calloc(1, sizeof *timer);
    if (timer == NULL) {
        return NULL;
    }
    timer->holding.release = release_timer;
    timer->instance = host;
    timer->on_time = on_time;
    timer->ctx = ctx;
    ev_timer_init(&timer->timer, on_timer, 0., 0.);
    ev_set_priority(&timer->timer,
                    EV_MINPRI); /* most are deadlines: what is there already counts */
    timer->timer.data = timer;
    hub_instance_hold(host, &timer->holding);
    return timer;
}

static void loop_timer_start(patchbay_timer *timer, uint64_t delay_ms)
{
    loop_timer_stop(timer);
    ev_timer_set(&timer->timer, (double)delay_ms / 1000., 0.);
    ev_timer_start(timer->instance->env->loop, &timer->timer);
}

const patchbay_loop_v1 HUB_HOST_LOOP = {
    .struct_size = sizeof(patchbay_loop_v1),
    .now_ms = loop_now_ms,
    .watch = loop_watch,
    .rewatch = loop_rewatch,
    .unwatch = loop_unwatch,
    .timer = loop_timer,
    .timer_start = loop_timer_start,
    .timer_stop = loop_timer_stop,
    .timer_free = loop_timer_free,
    .post = hub_instance_post,
};

/* ---- worker/1 -------------------------------------------------------------------------------- */

enum { JOB_TOOL_BYTES = 128 }; /* of the tool's name: for the last line of a crash */

typedef struct worker_job {
    struct hub_mail *ticket;
    void (*work)(void *arg);
    void *arg;
    hub_watchdog_stay stay; /* where a crash would be */
    char tool[JOB_TOOL_BYTES];
} worker_job;

static void run_job(void *arg)
{
    const worker_job *job = arg;
    (void)hub_crash_enter(&job->stay);
    job->work(job->arg);
    (void)hub_crash_enter(NULL);
}

/* A job that is submitted during a call is taken for a part of it. */
static void note_place(worker_job *job, const hub_instance *instance)
{
    const hub_watchdog_stay *caller = hub_crash_place();
    size_t len = caller != NULL ? caller->tool.len : 0;
    len = len < sizeof job->tool ? len : sizeof job->tool;
    if (len > 0) {
        memcpy(job->tool, caller->tool.ptr, len);
    }
    job->stay = (hub_watchdog_stay){.toolset = instance->key,
                                    .module = instance->module->name,
                                    .entry = "worker",
                                    .tool = {.ptr = job->tool, .len = len}};
}

static void end_job(void *arg, bool ran)
{
    worker_job *job = arg;
    (void)ran; /* a dropped job's call has been failed, and is freed with the instance */
    hub_instance_end_job(job->ticket);
    free(job);
}

static int32_t worker_submit(patchbay_host *host, void (*work)(void *arg), void *arg)
{
    worker_job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        return PATCHBAY_ENOMEM;
    }
    job->work = work;
    job->arg = arg;
    note_place(job, host);
    int32_t result = hub_instance_begin_job(host, &job->ticket);
    if (result != PATCHBAY_OK) {
        free(job);
        return result;
    }
    hub_err err = hub_worker_submit_in(host->env->workers, &host->jobs, run_job, end_job, job);
    if (err == HUB_OK) {
        return PATCHBAY_OK;
    }
    end_job(job, false);
    return err == HUB_ELIMIT   ? PATCHBAY_ELIMIT
           : err == HUB_ENOMEM ? PATCHBAY_ENOMEM
                               : PATCHBAY_ESTATE;
}

const patchbay_worker_v1 HUB_HOST_WORKER = {
    .struct_size = sizeof(patchbay_worker_v1),
    .submit = worker_submit,
};

/* ---- stream/1 -------------------------------------------------------------------------------- */

struct patchbay_stream {
    hub_holding holding;
    hub_instance *instance;
    hub_stream *stream;
    patchbay_stream_options options;
};

static void on_stream_message(void *ctx, hub_str bytes)
{
    const patchbay_stream *stream = ctx;
    hub_watchdog *watchdog = stream->instance->env->watchdog;
    hub_watchdog_stay stay;
    hub_instance_enter(stream->instance, &stay, "on_message", HUB_STR_EMPTY);
    stream->options.on_message(stream->options.ctx, bytes);
    hub_watchdog_leave(watchdog, &stay);
}

static void on_stream_end(void *ctx, hub_str reason)
{
    const patchbay_stream *stream = ctx;
    hub_watchdog *watchdog = stream->instance->env->watchdog;
    hub_watchdog_stay stay;
    hub_instance_enter(stream->instance, &stay, "on_end", HUB_STR_EMPTY);
    stream->options.on_end(stream->options.ctx, reason);
    hub_watchdog_leave(watchdog, &stay);
}

static void stream_close(patchbay_stream *stream)
{
    if (stream != NULL) {
        hub_stream_close(stream->stream);
        hub_instance_release(stream->instance, &stream->holding);
        free(stream);
    }
}

static void release_stream(hub_holding *holding)
{
    stream_close((patchbay_stream *)holding);
}

static void close_ends(const patchbay_stream_options *options)
{
    (void)close(options->read_fd); /* nothing can be done about a failing close */
    if (options->write_fd != options->read_fd) {
        (void)close(options->write_fd);
    }
}

static int32_t stream_open(patchbay_host *host, const patchbay_stream_options *options,
                           patchbay_stream **ret_stream)
{
    patchbay_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL) {
        close_ends(options);
        return PATCHBAY_ENOMEM;
    }
    stream->instance = host;
    stream->options = *options;
    stream->holding.release = release_stream;
    hub_stream_options inner = {
        .read_fd = options->read_fd,
        .write_fd = options->write_fd,
        .max_message_bytes = options->max_message_bytes < host->env->max_message_bytes
                                 ? options->max_message_bytes
                                 : host->env->max_message_bytes,
        .max_queue_bytes = options->max_queue_bytes,
        .on_message = on_stream_message,
        .on_end = on_stream_end,
        .ctx = stream,
    };
    hub_err err = hub_stream_open(host->env->loop, &inner, &stream->stream);
    if (err != HUB_OK) {
        free(stream);
        return err == HUB_ENOMEM ? PATCHBAY_ENOMEM : PATCHBAY_EINVAL;
    }
    hub_instance_hold(host, &stream->holding);
    *ret_stream = stream;
    return PATCHBAY_OK;
}

static int32_t stream_send(patchbay_stream *stream, const patchbay_str *parts, uint32_t count)
{
    if (count > HUB_STREAM_PARTS) {
        return PATCHBAY_EINVAL;
    }
    hub_err err = hub_stream_send(stream->stream, parts, count, NULL);
    return err == HUB_OK       ? PATCHBAY_OK
           : err == HUB_ELIMIT ? PATCHBAY_ELIMIT
           : err == HUB_ENOMEM ? PATCHBAY_ENOMEM
                               : PATCHBAY_ESTATE;
}

const patchbay_stream_v1 HUB_HOST_STREAM = {
    .struct_size = sizeof(patchbay_stream_v1),
    .open = stream_open,
    .send = stream_send,
    .close = stream_close,
};

/* ---- process/1 ------------------------------------------------------------------------------- */

struct patchbay_process {
    hub_holding holding;
    hub_instance *instance;
    hub_process *process;
};

static void process_free(patchbay_process *process)
{
    if (process != NULL) {
        hub_process_free(process->process);
        hub_instance_release(process->instance, &process->holding);
        free(process);
    }
}

static void release_process(hub_holding *holding)
{
    process_free((patchbay_process *)holding);
}

static int32_t process_code(hub_err err)
{
    switch (err) {
    case HUB_OK:
        return PATCHBAY_OK;
    case HUB_EINVAL:
        return PATCHBAY_EINVAL;
    case HUB_ENOTFOUND:
        return PATCHBAY_ENOTFOUND;
    case HUB_ENOMEM:
        return PATCHBAY_ENOMEM;
    default:
        return PATCHBAY_ESYSTEM;
    }
}

static int32_t process_spawn(patchbay_host *host, const patchbay_spawn_options *options,
                             patchbay_process **ret_process, int *ret_stdin_fd, int *ret_stdout_fd,
                             int *ret_stderr_fd, patchbay_error *reterr)
{
    patchbay_process *process = calloc(1, sizeof *process);
    if (process == NULL) {
        return PATCHBAY_ENOMEM;
    }
    hub_error why = {.code = HUB_OK};
    uint64_t begin_ms = hub_clock_coarse_ms();
    bool is_server = (host->module->table->flags & PATCHBAY_PLUGIN_PROXY) != 0;
    hub_err err = is_server && host->env->admit != NULL
                      ? host->env->admit(host->env->admit_ctx, host->key, &why)
                      : HUB_OK;
    if (err == HUB_OK) {
        err =
            hub_process_spawn(host->env->processes, hub_str_of(host->key), options,
                              &process->process, ret_stdin_fd, ret_stdout_fd, ret_stderr_fd, &why);
    }
    if (err == HUB_OK && is_server) {
        hub_process_note_server(process->process);
    }
    host->env->lent_ms += hub_clock_coarse_ms() - begin_ms;
    if (err != HUB_OK) {
        hub_str text = hub_str_of(why.text);
        size_t len = text.len < sizeof reterr->text - 1 ? text.len : sizeof reterr->text - 1;
        memcpy(reterr->text, text.ptr, len);
        reterr->text[len] = '\0';
        reterr->code = process_code(err);
        free(process);
        return process_code(err);
    }
    process->instance = host;
    process->holding.release = release_process;
    hub_instance_hold(host, &process->holding);
    *ret_process = process;
    return PATCHBAY_OK;
}

static int32_t process_pid(patchbay_process *process)
{
    return hub_process_pid(process->process);
}

static patchbay_str process_stderr_tail(patchbay_process *process)
{
    return hub_process_stderr_tail(process->process);
}

static void process_stop(patchbay_process *process, uint64_t grace_ms)
{
    hub_process_stop(process->process, grace_ms);
}

const patchbay_process_v1 HUB_HOST_PROCESS = {
    .struct_size = sizeof(patchbay_process_v1),
    .spawn = process_spawn,
    .pid = process_pid,
    .stderr_tail = process_stderr_tail,
    .stop = process_stop,
    .free = process_free,
};
