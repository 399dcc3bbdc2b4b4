/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite as an engine: one thread has the file, and does job after job. The thread begins with the
 * first job that needs it, the file is opened by the first that needs that: to read what is not
 * there, neither is needed. What fails closes the file, and the next job opens it again.
 *
 * Changes of others: inotify (sqlite_stir.c) says that somebody has written, and the store looks.
 */
#include "state/sqlite_file.h"

#include "base/clock.h"
#include "state/sqlite_stir.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

typedef struct sqlite_engine {
    char *path;
    hub_state_keys *keys; /* borrowed */
    hub_state_engine_options options;
    hub_sqlite_stir *stir;

    pthread_mutex_t lock; /* guards what follows, up to the thread's own */
    pthread_cond_t wake;  /* a job waits, or it is the end */
    pthread_cond_t ended; /* is_over became true */
    hub_state_job *first;
    hub_state_job *last;
    bool is_running; /* the thread was begun */
    bool is_ending;
    bool is_over;
    pthread_t thread;

    hub_sqlite_file file; /* the thread's own */
} sqlite_engine;

/* ---- the thread ------------------------------------------------------------------------------ */

/* Without a file there is nothing to find, and nothing to forget. */
static void answer_empty(hub_state_job *job)
{
    bool fails = job->verb == HUB_STATE_GET || job->verb == HUB_STATE_CHECK ||
                 (job->verb == HUB_STATE_DELETE && (job->seen == 0 || job->seen == HUB_STATE_ANY));
    job->error = (hub_error){.code = HUB_OK};
    if (job->verb == HUB_STATE_LOOK) {
        job->event = job->epoch[0] != '\0' ? HUB_STATE_OTHER : HUB_STATE_CHANGED;
        job->epoch[0] = '\0';
        job->seen = 0;
    } else if (fails) {
        (void)hub_fail(&job->error, HUB_ENOTFOUND, "there is no such record");
    } else if (job->verb == HUB_STATE_DELETE) {
        hub_state_record none = job->record;
        none.document = HUB_STR_EMPTY;
        (void)hub_fail(&job->error, hub_state_job_add(job, &none) ? HUB_ECONFLICT : HUB_ENOMEM,
                       "the record was changed by somebody else in the meantime");
    }
}

static bool writes(const hub_state_job *job)
{
    return (job->verb == HUB_STATE_PUT && (job->seen == 0 || job->seen == HUB_STATE_ANY)) ||
           job->verb == HUB_STATE_IMPORT;
}

/* A put that expects a version, where there is no file. */
static void refuse_missing(hub_state_job *job)
{
    hub_state_record none = job->record;
    none.document = HUB_STR_EMPTY;
    (void)hub_fail(&job->error, hub_state_job_add(job, &none) ? HUB_ECONFLICT : HUB_ENOMEM,
                   "the record was deleted by somebody else in the meantime");
}

static void run_job(sqlite_engine *engine, hub_state_job *job)
{
    hub_sqlite_file *file = &engine->file;
    if (file->db != NULL && !hub_sqlite_file_is_there(file)) {
        hub_sqlite_file_close(file);
    }
    hub_err err = file->db != NULL ? HUB_OK
                                   : hub_sqlite_file_open(engine->path, engine->keys, writes(job),
                                                          file, &job->error);
    if (err == HUB_ENOTFOUND && job->verb == HUB_STATE_PUT) {
        refuse_missing(job);
        return;
    }
    if (err == HUB_ENOTFOUND) {
        answer_empty(job);
        return;
    }
    if (err == HUB_OK) {
        hub_sqlite_file_do(file, job);
    }
    if (job->error.code == HUB_EUNAVAILABLE) {
        hub_sqlite_file_close(file);
    }
}

/* The next job, waited for; NULL: it is the end. */
static hub_state_job *take_job(sqlite_engine *engine)
{
    (void)pthread_mutex_lock(&engine->lock);
    while (engine->first == NULL && !engine->is_ending) {
        (void)pthread_cond_wait(&engine->wake, &engine->lock);
    }
    hub_state_job *job = engine->first;
    if (job != NULL) {
        engine->first = job->next;
        engine->last = job->next != NULL ? engine->last : NULL;
        job->next = NULL;
    }
    (void)pthread_mutex_unlock(&engine->lock);
    return job;
}

static void *run(void *arg)
{
    sqlite_engine *engine = arg;
    for (hub_state_job *job = take_job(engine); job != NULL; job = take_job(engine)) {
        run_job(engine, job);
        hub_state_job_done(job);
    }
    hub_sqlite_file_close(&engine->file);
    (void)pthread_mutex_lock(&engine->lock);
    engine->is_over = true;
    (void)pthread_cond_signal(&engine->ended);
    (void)pthread_mutex_unlock(&engine->lock);
    return NULL;
}

/* Its signals are blocked before it exists: no handler runs there, and a file that may not become
 * any longer is an error, not the end (SIGXFSZ). */
static bool start_thread(sqlite_engine *engine)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) {
        return false;
    }
    int failed = pthread_create(&engine->thread, NULL, run, engine);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL); /* a mask that it had before: cannot fail */
    if (failed == 0) {
        (void)pthread_setname_np(engine->thread, "patchbay-state"); /* for top and gdb */
    }
    return failed == 0;
}

/* ---- the engine ------------------------------------------------------------------------------ */

static void free_engine(sqlite_engine *engine)
{
    hub_sqlite_stir_destroy(engine->stir);
    (void)pthread_cond_destroy(&engine->ended); /* nobody waits */
    (void)pthread_cond_destroy(&engine->wake);
    (void)pthread_mutex_destroy(&engine->lock);
    free(engine->path);
    free(engine);
}

static hub_err create(const hub_state_engine_options *options, void **ret_engine, hub_error *reterr)
{
    sqlite_engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    pthread_condattr_t by_clock;
    (void)pthread_condattr_init(&by_clock); /* none of these fails on Linux */
    (void)pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&engine->lock, NULL);
    (void)pthread_cond_init(&engine->wake, NULL);
    (void)pthread_cond_init(&engine->ended, &by_clock);
    (void)pthread_condattr_destroy(&by_clock);
    engine->options = *options;
    engine->keys = options->keys;
    engine->path = hub_str_dup(hub_str_of(options->place));
    if (engine->path == NULL) {
        free_engine(engine);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    engine->options.place = engine->path;
    *ret_engine = engine;
    return HUB_OK;
}

static void submit(void *self, hub_state_job *job)
{
    sqlite_engine *engine = self;
    if (!engine->is_running) {
        engine->is_running = start_thread(engine);
    }
    if (!engine->is_running) {
        (void)hub_fail(&job->error, HUB_EUNAVAILABLE, "%s: no thread can be had for the store",
                       engine->path);
        hub_state_job_done(job);
        return;
    }
    (void)pthread_mutex_lock(&engine->lock);
    if (engine->last != NULL) {
        engine->last->next = job;
    } else {
        engine->first = job;
    }
    engine->last = job;
    (void)pthread_cond_signal(&engine->wake);
    (void)pthread_mutex_unlock(&engine->lock);
}

static void watch(void *self, bool is_wanted)
{
    sqlite_engine *engine = self;
    hub_error why = {.code = HUB_OK};
    if (!is_wanted) {
        hub_sqlite_stir_destroy(engine->stir);
        engine->stir = NULL;
    } else if (engine->stir == NULL &&
               hub_sqlite_stir_create(&engine->options, &engine->stir, &why) != HUB_OK) {
        engine->options.on_deaf(engine->options.ctx, why.text);
    }
}

/* Wait for the thread's end. False: it takes too long. */
static bool wait_for_end(sqlite_engine *engine, unsigned timeout_ms)
{
    struct timespec until;
    uint64_t end_ms = hub_clock_now_ms() + timeout_ms;
    until.tv_sec = (time_t)(end_ms / 1000);
    until.tv_nsec = (long)(end_ms % 1000) * 1000000;
    (void)pthread_mutex_lock(&engine->lock);
    engine->is_ending = true;
    (void)pthread_cond_signal(&engine->wake);
    int waited = 0;
    while (!engine->is_over && waited != ETIMEDOUT) {
        waited = pthread_cond_timedwait(&engine->ended, &engine->lock, &until);
    }
    bool is_over = engine->is_over;
    (void)pthread_mutex_unlock(&engine->lock);
    return is_over;
}

static bool destroy(void *self, unsigned timeout_ms)
{
    sqlite_engine *engine = self;
    if (engine->is_running) {
        if (!wait_for_end(engine, timeout_ms)) {
            return false;
        }
        (void)pthread_join(engine->thread, NULL); /* it ends, and nobody else joins it */
    }
    free_engine(engine);
    return true;
}

const hub_state_engine HUB_STATE_ENGINE_SQLITE = {
    .name = "sqlite",
    .create = create,
    .submit = submit,
    .watch = watch,
    .destroy = destroy,
};
