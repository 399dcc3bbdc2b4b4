/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker pool: threads that run what may block, with a bounded queue. Threads are started when
 * first needed, never more than there is work for, and block all signals. Jobs run in parallel: they
 * end in no particular order. Whoever submits counts its own jobs through `done`.
 *
 * Who has a lane of its own keeps nobody else from the threads: lanes take turns, the jobs of each in the
 * order they came; each has its share of the queue; and while the jobs of one run on all threads, there
 * is one thread more for the others.
 */
#ifndef HUB_MODULES_WORKER_H
#define HUB_MODULES_WORKER_H

#include "base/err.h"

typedef struct hub_worker_pool hub_worker_pool;

/* The jobs of somebody who shares the pool with others. All zero is one without jobs. The fields are the
 * pool's; it stays where it is until the `done` of its last job. */
typedef struct hub_worker_lane {
    struct job *first;
    struct job *last;
    struct hub_worker_lane *next; /* of those with jobs that wait */
    struct hub_worker_lane *prev;
    size_t waiting;
    unsigned running;
} hub_worker_lane;

/* A pool of at most `threads` (1 … HUB_LIMIT_WORKER_THREADS) threads, and one more as above, and
 * HUB_LIMIT_WORKER_QUEUE waiting jobs of each lane (a share: base/share.h).
 * owns:    *ret_pool, destroy it with hub_worker_pool_destroy
 * thread:  [init]
 * errors:  HUB_EINVAL (`threads` out of range), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_worker_pool_create(unsigned threads, hub_worker_pool **ret_pool,
                                              hub_error *reterr);

/* Drop what waits (its `done` runs here, with ran = false), wait for what runs (at most
 * `timeout_ms`), end the threads. False when a job still runs: its thread is left behind and frees
 * the pool should it ever end; the process should exit. Nobody may submit after this returned, and
 * a job must not call it. NULL is fine and true.
 * thread:  [loop]     blocks: up to timeout_ms */
bool hub_worker_pool_destroy(hub_worker_pool *pool, unsigned timeout_ms);

/* Run work(arg) on a pool thread, then done(arg, true) on the same thread; done also runs, with
 * false, when the job is dropped at destroy, so that it can give back what arg holds. `done` may be
 * NULL. On failure neither is called.
 * thread:  [any], also from within a job      blocks: no
 * errors:  HUB_ELIMIT (queue full), HUB_ESTATE (ending), HUB_ENOMEM, HUB_ESYSTEM (no thread at all)
 */
HUB_MUST_CHECK hub_err hub_worker_submit(hub_worker_pool *pool, void (*work)(void *arg),
                                         void (*done)(void *arg, bool ran), void *arg);

/* The same in a lane.
 * thread:  [any], also from within a job      blocks: no
 * errors:  as hub_worker_submit; HUB_ELIMIT: its share of the queue is full */
HUB_MUST_CHECK hub_err hub_worker_submit_in(hub_worker_pool *pool, hub_worker_lane *lane,
                                            void (*work)(void *arg),
                                            void (*done)(void *arg, bool ran), void *arg);

#endif
