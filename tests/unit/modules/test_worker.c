/* SPDX-License-Identifier: Apache-2.0 */
/* The worker pool. Threads wait for one another through semaphores, never by sleeping. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "modules/worker.h"

enum {
    GUARD_SECONDS = 120,
    LONG_MS = 60000, /* of a wait that is expected to end at once */
    SUBMITTERS = 4,
    JOBS_EACH = 5000,
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

/* What a job did, and two gates for it. */
typedef struct probe {
    hub_worker_pool *pool;
    pthread_t work_thread;
    pthread_t done_thread;
    sigset_t mask;
    sem_t started;
    sem_t release;
    sem_t finished;
    atomic_int works;
    atomic_int done_ran;
    atomic_int done_dropped;
    hub_err submitted;
} probe;

static void init_probe(probe *p, unsigned threads)
{
    memset(p, 0, sizeof *p);
    assert_int_equal(sem_init(&p->started, 0, 0), 0);
    assert_int_equal(sem_init(&p->release, 0, 0), 0);
    assert_int_equal(sem_init(&p->finished, 0, 0), 0);
    assert_int_equal(hub_worker_pool_create(threads, &p->pool, NULL), HUB_OK);
}

static void fini_probe(probe *p)
{
    (void)sem_destroy(&p->started);
    (void)sem_destroy(&p->release);
    (void)sem_destroy(&p->finished);
}

static void work_quickly(void *arg)
{
    probe *p = arg;
    p->work_thread = pthread_self();
    (void)pthread_sigmask(SIG_BLOCK, NULL, &p->mask);
    p->works++;
}

/* Likewise, on several threads at once. */
static void count_work(void *arg)
{
    probe *p = arg;
    p->works++;
}

static void work_until_released(void *arg)
{
    probe *p = arg;
    (void)sem_post(&p->started);
    while (sem_wait(&p->release) != 0) {
    }
    p->works++;
}

static void note_done(void *arg, bool ran)
{
    probe *p = arg;
    p->done_thread = pthread_self();
    *(ran ? &p->done_ran : &p->done_dropped) += 1;
    (void)sem_post(&p->finished);
}

static void count_done(void *arg, bool ran)
{
    probe *p = arg;
    *(ran ? &p->done_ran : &p->done_dropped) += 1;
}

static void submit_again(void *arg, bool ran)
{
    probe *p = arg;
    p->submitted = hub_worker_submit(p->pool, work_quickly, NULL, p);
    count_done(arg, ran);
}

static void await(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0) {
    }
}

/* Threads of pools; a sanitizer may have one of its own. */
static size_t count_threads(void)
{
    size_t count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
        char name[300];
        char line[32] = "";
        (void)snprintf(name, sizeof name, "/proc/self/task/%s/comm", task->d_name);
        FILE *comm = fopen(name, "re");
        if (comm != NULL) {
            count +=
                fgets(line, sizeof line, comm) != NULL && strcmp(line, "patchbay-worker\n") == 0;
            (void)fclose(comm);
        }
    }
    (void)closedir(tasks);
    return count;
}

/* A joined thread is listed for a moment longer: wait, and have the guard say no. */
static void await_threads(size_t count)
{
    while (count_threads() != count) {
        (void)sched_yield();
    }
}

static void runs_a_job_elsewhere_and_done_after_it(void **state)
{
    (void)state;
    probe p;
    init_probe(&p, 2);
    assert_int_equal(hub_worker_submit(p.pool, work_quickly, note_done, &p), HUB_OK);
    await(&p.finished);
    assert_int_equal(p.works, 1);
    assert_int_equal(p.done_ran, 1);
    assert_int_equal(p.done_dropped, 0);
    assert_false(pthread_equal(p.work_thread, pthread_self()));
    assert_true(pthread_equal(p.work_thread, p.done_thread));
    assert_true(hub_worker_pool_destroy(p.pool, LONG_MS));
    fini_probe(&p);
}

static void runs_a_job_without_done(void **state)
{
    (void)state;
    probe p;
    init_probe(&p, 1);
    assert_int_equal(hub_worker_submit(p.pool, work_until_released, NULL, &p), HUB_OK);
    await(&p.started);
    (void)sem_post(&p.release);
    assert_true(hub_worker_pool_destroy(p.pool, LONG_MS));
    assert_int_equal(p.works, 1);
    fini_probe(&p);
}

static void blocks_all_signals_in_its_threads(void **state)
{
    (void)state;
    probe p;
    sigset_t mine;
    init_probe(&p, 1);
    assert_int_equal(hub_worker_submit(p.pool, work_quickly, note_done, &p), HUB_OK);
    await(&p.finished);
    static const int SIGNALS[] = {SIGTERM, SIGINT, SIGCHLD, SIGHUP, SIGPIPE, SIGALRM, SIGUSR1};
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &mine), 0);
    for (size_t i = 0; i < sizeof SIGNALS / sizeof SIGNALS[0]; i++) {
        assert_true(sigismember(&p.mask, SIGNALS[i]));
        assert_false(sigismember(&mine, SIGNALS[i])); /* and the submitter's mask is as before */
    }
    assert_true(hub_worker_pool_destroy(p.pool, LONG_MS));
    fini_probe(&p);
}

/* Every job waits until all of them run: this ends only when all threads are used. */
static void runs_as_many_jobs_at_once_as_it_has_threads(void **state)
{
    (void)state;
    static const unsigned THREADS[] = {1, 3, HUB_LIMIT_WORKER_THREADS};
    for (size_t i = 0; i < sizeof THREADS / sizeof THREADS[0]; i++) {
        probe p;
        init_probe(&p, THREADS[i]);
        await_threads(0); /* none before there is work */
        for (unsigned job = 0; job < THREADS[i] + 1; job++) {
            assert_int_equal(hub_worker_submit(p.pool, work_until_released, count_done, &p),
                             HUB_OK);
        }
        for (unsigned job = 0; job < THREADS[i]; job++) {
            await(&p.started);
        }
        await_threads(THREADS[i]);
        assert_int_equal(sem_trywait(&p.started), -1); /* the last one waits for a thread */
        for (unsigned job = 0; job < THREADS[i] + 1; job++) {
            (void)sem_post(&p.release);
        }
        await(&p.started);
        assert_true(hub_worker_pool_destroy(p.pool, LONG_MS));
        assert_int_equal(p.done_ran, THREADS[i] + 1);
        fini_probe(&p);
    }
}

static void refuses_one_job_beyond_the_queue_and_drops_what_waits(void **state)
{
    (void)state;
    probe p;
    init_probe(&p, 1);
    assert_int_equal(hub_worker_submit(p.pool, work_until_released, count_done, &p), HUB_OK);
    await(&p.started); /* it is not waiting any more */
    for (int i = 0; i < HUB_LIMIT_WORKER_QUEUE; i++) {
        assert_int_equal(hub_worker_submit(p.pool, work_quickly, count_done, &p), HUB_OK);
    }
    assert_int_equal(hub_worker_submit(p.pool, work_quickly, count_done, &p), HUB_ELIMIT);
    assert_int_equal(p.done_ran + p.done_dropped, 0);
    assert_false(hub_worker_pool_destroy(p.pool, 1)); /* the first one still runs */
    assert_int_equal(p.works, 0);
    assert_int_equal(p.done_ran, 0);
    assert_int_equal(p.done_dropped, HUB_LIMIT_WORKER_QUEUE);
    (void)sem_post(&p.release); /* its thread frees the pool: the leak checker sees to it */
    while (p.done_ran == 0) {
        (void)sched_yield();
    }
    fini_probe(&p);
}

/* One toolset has all threads and all of its queue: the jobs of others run all the same, in turns, and
 * it is as if it were alone. */
static void one_lane_harms_itself_alone(void **state)
{
    (void)state;
    static const unsigned THREADS[] = {1, 2, HUB_LIMIT_WORKER_THREADS};
    for (size_t i = 0; i < sizeof THREADS / sizeof THREADS[0]; i++) {
        probe hog;
        probe other;
        hub_worker_lane hogs = {.waiting = 0};
        hub_worker_lane others = {.waiting = 0};
        init_probe(&hog, THREADS[i]);
        init_probe(&other, 1);
        for (unsigned job = 0; job < THREADS[i]; job++) {
            assert_int_equal(
                hub_worker_submit_in(hog.pool, &hogs, work_until_released, count_done, &hog),
                HUB_OK);
            await(&hog.started);
        }
        for (int job = 0; job < HUB_LIMIT_WORKER_QUEUE; job++) {
            assert_int_equal(hub_worker_submit_in(hog.pool, &hogs, count_work, count_done, &hog),
                             HUB_OK);
        }
        assert_int_equal(hub_worker_submit_in(hog.pool, &hogs, count_work, count_done, &hog),
                         HUB_ELIMIT);
        await_threads(THREADS[i]); /* it gets no more of them */
        for (int job = 0; job < 3; job++) {
            assert_int_equal(hub_worker_submit_in(hog.pool, &others, count_work, note_done, &other),
                             HUB_OK);
            await(&other.finished);
        }
        assert_int_equal(hub_worker_submit(hog.pool, count_work, note_done, &other), HUB_OK);
        await(&other.finished);
        assert_int_equal(hog.works, 0);
        await_threads(THREADS[i] + 1);
        for (unsigned job = 0; job < THREADS[i]; job++) {
            (void)sem_post(&hog.release);
        }
        assert_true(hub_worker_pool_destroy(hog.pool, LONG_MS));
        assert_int_equal(hog.done_ran + hog.done_dropped, (int)THREADS[i] + HUB_LIMIT_WORKER_QUEUE);
        assert_int_equal(hogs.waiting + hogs.running + others.waiting + others.running, 0);
        assert_null(hogs.next);
        assert_true(hub_worker_pool_destroy(other.pool, LONG_MS));
        fini_probe(&hog);
        fini_probe(&other);
    }
}

/* Of another lane: how many jobs of the first had run before it did. */
typedef struct turn {
    probe *of;
    int works;
    sem_t finished;
} turn;

static void note_turn(void *arg)
{
    turn *t = arg;
    t->works = t->of->works;
    (void)sem_post(&t->finished);
}

/* Both threads are busy, the spare one among them, and the queue of one lane is full; who comes last is
 * next but one. */
static void lanes_take_turns(void **state)
{
    (void)state;
    probe blocker;
    probe other;
    probe many;
    hub_worker_lane lanes[3] = {{.waiting = 0}, {.waiting = 0}, {.waiting = 0}};
    init_probe(&blocker, 1);
    init_probe(&other, 1);
    init_probe(&many, 1);
    turn late = {.of = &many, .works = -1};
    assert_int_equal(sem_init(&late.finished, 0, 0), 0);
    hub_worker_pool *pool = blocker.pool;
    assert_int_equal(hub_worker_submit(pool, work_until_released, count_done, &blocker), HUB_OK);
    await(&blocker.started);
    assert_int_equal(hub_worker_submit_in(pool, &lanes[0], work_until_released, count_done, &other),
                     HUB_OK);
    await(&other.started);
    for (int job = 0; job < HUB_LIMIT_WORKER_QUEUE; job++) {
        assert_int_equal(hub_worker_submit_in(pool, &lanes[1], count_work, count_done, &many),
                         HUB_OK);
    }
    assert_int_equal(hub_worker_submit_in(pool, &lanes[2], note_turn, NULL, &late), HUB_OK);
    (void)sem_post(&blocker.release);
    await(&late.finished);
    assert_int_equal(late.works, 1);
    (void)sem_post(&other.release);
    assert_true(hub_worker_pool_destroy(pool, LONG_MS));
    assert_true(hub_worker_pool_destroy(other.pool, LONG_MS));
    assert_true(hub_worker_pool_destroy(many.pool, LONG_MS));
    (void)sem_destroy(&late.finished);
    fini_probe(&blocker);
    fini_probe(&other);
    fini_probe(&many);
}

static void waits_for_what_runs(void **state)
{
    (void)state;
    probe p;
    init_probe(&p, 1);
    assert_int_equal(hub_worker_submit(p.pool, work_until_released, count_done, &p), HUB_OK);
    await(&p.started);
    (void)sem_post(&p.release);
    assert_true(hub_worker_pool_destroy(p.pool, LONG_MS));
    assert_int_equal(p.works, 1);
    assert_int_equal(p.done_ran, 1);
    fini_probe(&p);
}

static void gives_up_after_the_timeout(void **state)
{
    (void)state;
    enum { TIMEOUT_MS = 30 };
    probe p;
    init_probe(&p, 1);
    assert_int_equal(hub_worker_submit(p.pool, work_until_released, note_done, &p), HUB_OK);
    await(&p.started);
    uint64_t start_ms = hub_clock_now_ms();
    assert_false(hub_worker_pool_destroy(p.pool, TIMEOUT_MS));
    assert_in_range(hub_clock_now_ms() - start_ms, TIMEOUT_MS, LONG_MS / 2);
    (void)sem_post(&p.release);
    await(&p.finished);
    assert_int_equal(p.done_ran, 1);
    fini_probe(&p);
}

static void takes_no_job_while_it_ends(void **state)
{
    (void)state;
    probe p;
    init_probe(&p, 1);
    assert_int_equal(hub_worker_submit(p.pool, work_until_released, count_done, &p), HUB_OK);
    await(&p.started);
    assert_int_equal(hub_worker_submit(p.pool, work_quickly, submit_again, &p), HUB_OK);
    assert_false(hub_worker_pool_destroy(p.pool, 0));
    assert_int_equal(p.submitted, HUB_ESTATE);
    assert_int_equal(p.done_dropped, 1);
    (void)sem_post(&p.release);
    while (p.done_ran == 0) {
        (void)sched_yield();
    }
    fini_probe(&p);
}

static void takes_jobs_from_jobs(void **state)
{
    (void)state;
    probe p;
    init_probe(&p, 1);
    p.submitted = HUB_ESTATE;
    assert_int_equal(hub_worker_submit(p.pool, work_quickly, submit_again, &p), HUB_OK);
    assert_int_equal(hub_worker_submit(p.pool, work_quickly, note_done, &p), HUB_OK);
    await(&p.finished);
    assert_int_equal(p.submitted, HUB_OK);
    assert_true(hub_worker_pool_destroy(p.pool, LONG_MS));
    fini_probe(&p);
}

static void *submit_counted(void *arg)
{
    probe *p = arg;
    for (int i = 0; i < JOBS_EACH; i++) {
        while (hub_worker_submit(p->pool, count_work, count_done, p) == HUB_ELIMIT) {
            (void)sched_yield();
        }
    }
    return NULL;
}

static void loses_nothing_under_load(void **state)
{
    (void)state;
    probe p;
    pthread_t submitters[SUBMITTERS];
    init_probe(&p, 8);
    for (int i = 0; i < SUBMITTERS; i++) {
        assert_int_equal(pthread_create(&submitters[i], NULL, submit_counted, &p), 0);
    }
    for (int i = 0; i < SUBMITTERS; i++) {
        assert_int_equal(pthread_join(submitters[i], NULL), 0);
    }
    assert_true(hub_worker_pool_destroy(p.pool, LONG_MS));
    assert_int_equal(p.works, p.done_ran);
    assert_int_equal(p.done_ran + p.done_dropped, SUBMITTERS * JOBS_EACH);
    fini_probe(&p);
}

static void says_when_there_is_no_thread_at_all(void **state)
{
    (void)state;
    if (IS_SANITIZED) {
        skip(); /* the sanitizers need address space of their own */
    }
    probe p;
    struct rlimit before;
    init_probe(&p, 1);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    struct rlimit none = {.rlim_cur = 1, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
    hub_err refused = hub_worker_submit(p.pool, work_quickly, note_done, &p);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(refused, HUB_ESYSTEM);
    assert_int_equal(hub_worker_submit(p.pool, work_quickly, note_done, &p), HUB_OK);
    await(&p.finished);
    assert_int_equal(p.works, 1);
    assert_true(hub_worker_pool_destroy(p.pool, LONG_MS));
    fini_probe(&p);
}

static void refuses_a_number_of_threads_out_of_range(void **state)
{
    (void)state;
    hub_error error;
    hub_worker_pool *pool = NULL;
    assert_int_equal(hub_worker_pool_create(0, &pool, &error), HUB_EINVAL);
    assert_string_equal(error.text, "0 worker threads, wanted 1 to 64");
    assert_int_equal(hub_worker_pool_create(HUB_LIMIT_WORKER_THREADS + 1, &pool, &error),
                     HUB_EINVAL);
    assert_null(pool);
    assert_true(hub_worker_pool_destroy(NULL, 0));
}

int main(void)
{
    static const struct CMUnitTest TESTS[] = {
        cmocka_unit_test(says_when_there_is_no_thread_at_all), /* first: no cached stacks yet */
        cmocka_unit_test(runs_a_job_elsewhere_and_done_after_it),
        cmocka_unit_test(runs_a_job_without_done),
        cmocka_unit_test(blocks_all_signals_in_its_threads),
        cmocka_unit_test(runs_as_many_jobs_at_once_as_it_has_threads),
        cmocka_unit_test(refuses_one_job_beyond_the_queue_and_drops_what_waits),
        cmocka_unit_test(one_lane_harms_itself_alone),
        cmocka_unit_test(lanes_take_turns),
        cmocka_unit_test(waits_for_what_runs),
        cmocka_unit_test(gives_up_after_the_timeout),
        cmocka_unit_test(takes_no_job_while_it_ends),
        cmocka_unit_test(takes_jobs_from_jobs),
        cmocka_unit_test(loses_nothing_under_load),
        cmocka_unit_test(refuses_a_number_of_threads_out_of_range),
    };
    (void)alarm(GUARD_SECONDS);
    return cmocka_run_group_tests(TESTS, NULL, NULL);
}
