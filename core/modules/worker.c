/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/worker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/share.h"
#include "modules/crash.h"

typedef struct job {
    struct job *next;
    void (*work)(void *arg);
    void (*done)(void *arg, bool ran);
    void *arg;
    hub_worker_lane *lane;
} job;

struct hub_worker_pool {
    pthread_mutex_t lock;   /* guards everything below; never held while a job or a `done` runs */
    pthread_cond_t wake;    /* a job waits, or the pool is ending */
    pthread_cond_t ended;   /* `alive` became 0 */
    hub_worker_lane *lanes; /* those with jobs that wait, a ring: its turn; NULL: none */
    hub_worker_lane own;    /* of jobs that are nobody's */
    size_t waiting;         /* jobs in all lanes */
    size_t full;            /* lanes whose jobs run on as many threads as may */
    unsigned limit;         /* threads allowed, and one more where one lane has all of them */
    unsigned started;       /* entries of `threads`; none ends before the pool does */
    unsigned alive;         /* threads that may still touch the pool */
    unsigned idle;          /* threads that wait for `wake` */
    bool ending;
    bool abandoned; /* destroy gave up: the last thread frees the pool */
    pthread_t threads[HUB_LIMIT_WORKER_THREADS + 1];
};

/* Locking a normal mutex that is initialised, and that this thread does not hold, cannot fail. */
static void lock(hub_worker_pool *pool)
{
    (void)pthread_mutex_lock(&pool->lock);
}

static void unlock(hub_worker_pool *pool)
{
    (void)pthread_mutex_unlock(&pool->lock);
}

static void free_pool(hub_worker_pool *pool)
{
    (void)pthread_cond_destroy(&pool->ended); /* nobody waits any more: cannot fail */
    (void)pthread_cond_destroy(&pool->wake);
    (void)pthread_mutex_destroy(&pool->lock);
    free(pool);
}

static void finish_job(job *finished, bool ran)
{
    if (finished->done != NULL) {
        finished->done(finished->arg, ran);
    }
    free(finished);
}

/* ---- lanes, with the lock held --------------------------------------------------------------- */

static void join_ring(hub_worker_pool *pool, hub_worker_lane *lane)
{
    if (pool->lanes == NULL) {
        lane->next = lane;
        lane->prev = lane;
        pool->lanes = lane;
        return;
    }
    lane->next = pool->lanes; /* behind all others */
    lane->prev = pool->lanes->prev;
    lane->prev->next = lane;
    lane->next->prev = lane;
}

static void leave_ring(hub_worker_pool *pool, hub_worker_lane *lane)
{
    lane->prev->next = lane->next;
    lane->next->prev = lane->prev;
    if (pool->lanes == lane) {
        pool->lanes = lane->next != lane ? lane->next : NULL;
    }
    lane->next = NULL;
    lane->prev = NULL;
}

/* Put a job at the end of its lane. */
static void add_job(hub_worker_pool *pool, job *added)
{
    hub_worker_lane *lane = added->lane;
    if (lane->first == NULL) {
        lane->first = added;
        join_ring(pool, lane);
    } else {
        lane->last->next = added;
    }
    lane->last = added;
    lane->waiting++;
    pool->waiting++;
}

/* Its turn is over. */
static job *take_first(hub_worker_pool *pool, hub_worker_lane *lane)
{
    job *taken = lane->first;
    pool->lanes = lane->next;
    lane->first = taken->next;
    if (lane->first == NULL) {
        leave_ring(pool, lane);
    }
    lane->waiting--;
    pool->waiting--;
    return taken;
}

/* The lane whose turn it is, of those that have not all threads; NULL: none. */
static hub_worker_lane *find_lane(const hub_worker_pool *pool)
{
    hub_worker_lane *lane = pool->lanes;
    if (lane == NULL || lane->running < pool->limit) {
        return lane;
    }
    do {
        lane = lane->next;
    } while (lane != pool->lanes && lane->running >= pool->limit);
    return lane != pool->lanes ? lane : NULL;
}

static void note_begun(hub_worker_pool *pool, hub_worker_lane *lane)
{
    pool->full += ++lane->running == pool->limit;
}

static void note_ended(hub_worker_pool *pool, hub_worker_lane *lane)
{
    pool->full -= lane->running-- == pool->limit;
}

static void *run_thread(void *arg);

/* Start one more thread, with the lock held. Its signals are blocked before it exists, so that no
 * handler of the hub or of a plugin ever runs on it, but that of a crash. */
static bool start_thread(hub_worker_pool *pool)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) {
        return false;
    }
    int failed = pthread_create(&pool->threads[pool->started], NULL, run_thread, pool);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL); /* a mask that it had before: cannot fail */
    if (failed != 0) {
        hub_log(HUB_LOG_WARNING, "worker.no_thread", HUB_F_TEXT("reason", strerrordesc_np(failed)));
        return false;
    }
    (void)pthread_setname_np(pool->threads[pool->started], "patchbay-worker"); /* for top and gdb */
    pool->started++;
    pool->alive++;
    return true;
}

/* Somebody has just begun a job, or ended one before that: have another thread look at what waits. */
static void pass_on(hub_worker_pool *pool)
{
    if (pool->waiting == 0 || pool->ending || find_lane(pool) == NULL) {
        return;
    }
    if (pool->idle > 0) {
        (void)pthread_cond_signal(&pool->wake); /* never fails */
    } else if (pool->full > 0 && pool->started == pool->limit) {
        (void)start_thread(pool); /* without it they wait longer */
    }
}

/* The next job, waiting for one if need be; NULL when the pool ends. Called with the lock held. */
static job *take_job(hub_worker_pool *pool)
{
    hub_worker_lane *lane;
    while ((lane = find_lane(pool)) == NULL && !pool->ending) {
        pool->idle++;
        (void)pthread_cond_wait(&pool->wake, &pool->lock); /* a spurious return is harmless */
        pool->idle--;
    }
    if (lane == NULL) {
        return NULL;
    }
    job *taken = take_first(pool, lane);
    note_begun(pool, lane);
    pass_on(pool);
    return taken;
}

static void *run_thread(void *arg)
{
    hub_worker_pool *pool = arg;
    hub_crash_watch_thread();
    lock(pool);
    for (job *next = take_job(pool); next != NULL; next = take_job(pool)) {
        hub_worker_lane *lane = next->lane;
        unlock(pool);
        next->work(next->arg);
        lock(pool);
        note_ended(pool, lane); /* whose it is may be gone with `done` */
        unlock(pool);
        finish_job(next, true);
        lock(pool);
    }
    bool last = --pool->alive == 0;
    bool abandoned = pool->abandoned;
    if (last) {
        (void)pthread_cond_signal(&pool->ended); /* never fails */
    }
    unlock(pool);
    if (last && abandoned) {
        free_pool(pool);
    }
    return NULL;
}

/* Whether one more thread would have something to do, with the lock held. */
static bool wants_thread(const hub_worker_pool *pool, const hub_worker_lane *lane)
{
    bool is_spare = pool->started == pool->limit; /* for all others, where one lane has the rest */
    return pool->waiting >= pool->idle &&
           (pool->started < pool->limit ||
            (is_spare && pool->full > 0 && lane->running < pool->limit));
}

/* Accept a job or say why not, with the lock held. */
static hub_err accept_job(hub_worker_pool *pool, job *accepted)
{
    if (pool->ending) {
        return HUB_ESTATE;
    }
    if (!hub_share_may(HUB_LIMIT_WORKER_QUEUE, pool->waiting, accepted->lane->waiting, 1)) {
        return HUB_ELIMIT;
    }
    if (wants_thread(pool, accepted->lane) && !start_thread(pool) && pool->started == 0) {
        return HUB_ESYSTEM; /* with at least one thread the job merely waits longer */
    }
    add_job(pool, accepted);
    (void)pthread_cond_signal(&pool->wake); /* never fails */
    return HUB_OK;
}

static struct timespec deadline_in(unsigned timeout_ms)
{
    struct timespec at;
    (void)clock_gettime(CLOCK_MONOTONIC, &at); /* cannot fail with this clock on Linux */
    at.tv_sec += (time_t)(timeout_ms / 1000u);
    at.tv_nsec += (long)(timeout_ms % 1000u) * 1000000L;
    if (at.tv_nsec >= 1000000000L) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000L;
    }
    return at;
}

/* All jobs that wait, with the lock held. */
static job *take_all(hub_worker_pool *pool)
{
    job *all = NULL;
    job **end = &all;
    while (pool->lanes != NULL) {
        *end = take_first(pool, pool->lanes);
        end = &(*end)->next;
    }
    *end = NULL;
    return all;
}

/* Wait until no thread is left, with the lock held; false after timeout_ms. */
static bool wait_for_threads(hub_worker_pool *pool, unsigned timeout_ms)
{
    struct timespec deadline = deadline_in(timeout_ms);
    int waited = 0;
    while (pool->alive > 0 && waited != ETIMEDOUT) {
        waited = pthread_cond_timedwait(&pool->ended, &pool->lock, &deadline);
    }
    return pool->alive == 0;
}

hub_err hub_worker_pool_create(unsigned threads, hub_worker_pool **ret_pool, hub_error *reterr)
{
    if (threads < 1 || threads > HUB_LIMIT_WORKER_THREADS) {
        return hub_fail(reterr, HUB_EINVAL, "%u worker threads, wanted 1 to %d", threads,
                        HUB_LIMIT_WORKER_THREADS);
    }
    hub_worker_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "%s", hub_err_text(HUB_ENOMEM));
    }
    pool->limit = threads;
    pthread_condattr_t monotonic; /* a clock that a person sets must not end a wait early */
    (void)pthread_condattr_init(&monotonic); /* glibc: none of these can fail */
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&pool->lock, NULL);
    (void)pthread_cond_init(&pool->wake, NULL);
    (void)pthread_cond_init(&pool->ended, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    *ret_pool = pool;
    return HUB_OK;
}

bool hub_worker_pool_destroy(hub_worker_pool *pool, unsigned timeout_ms)
{
    if (pool == NULL) {
        return true;
    }
    lock(pool);
    pool->ending = true;
    job *dropped = take_all(pool);
    (void)pthread_cond_broadcast(&pool->wake); /* never fails */
    unlock(pool);
    while (dropped != NULL) {
        job *next = dropped->next;
        finish_job(dropped, false);
        dropped = next;
    }
    lock(pool);
    bool all_ended = wait_for_threads(pool, timeout_ms);
    for (unsigned i = 0; !all_ended && i < pool->started; i++) {
        (void)pthread_detach(pool->threads[i]); /* ours and not joined: cannot fail */
    }
    pool->abandoned = !all_ended;
    unlock(pool);
    if (!all_ended) {
        return false;
    }
    for (unsigned i = 0; i < pool->started; i++) {
        (void)pthread_join(pool->threads[i], NULL); /* short: each is past its last job */
    }
    free_pool(pool);
    return true;
}

hub_err hub_worker_submit(hub_worker_pool *pool, void (*work)(void *arg),
                          void (*done)(void *arg, bool ran), void *arg)
{
    return hub_worker_submit_in(pool, &pool->own, work, done, arg);
}

hub_err hub_worker_submit_in(hub_worker_pool *pool, hub_worker_lane *lane, void (*work)(void *arg),
                             void (*done)(void *arg, bool ran), void *arg)
{
    job *submitted = malloc(sizeof *submitted);
    if (submitted == NULL) {
        return HUB_ENOMEM;
    }
    *submitted = (job){.work = work, .done = done, .arg = arg, .lane = lane};
    lock(pool);
    hub_err err = accept_job(pool, submitted);
    unlock(pool);
    if (err != HUB_OK) {
        free(submitted);
    }
    return err;
}
