/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/watchdog.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "modules/crash.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LOOK_MS = HUB_LOOP_BLOCKED_MS / 2,
    IDLE_LOOKS = 20, /* without anything new, before the thread sleeps */
    SHOWN_BYTES = HUB_LIMIT_TOOL_NAME_BYTES,
};

/* A stay is on the loop's stack, and the loop goes on while the thread looks at it. So the thread
 * takes hold of it first, by the lowest bit of the pointer; enter and leave, which find the bit
 * set, wait for the lock that the thread has until it has let go. */
#define HELD ((uintptr_t)1)

struct hub_watchdog {
    atomic_uintptr_t current; /* the innermost stay, perhaps HELD; 0: no plugin code is running */
    atomic_uint_least64_t entered;
    atomic_bool sleeps;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool is_ending; /* guarded by lock */
    pthread_t thread;
};

/* What the thread has seen of a stay. */
typedef struct sighting {
    uint64_t number; /* 0: none */
    uint64_t since_ms;
    bool is_logged;
    const char *entry;
    char toolset[HUB_LIMIT_TOOLSET_KEY_BYTES + 1];
    char module[HUB_LIMIT_TOOLSET_KEY_BYTES + 1];
    char tool[SHOWN_BYTES + 1];
} sighting;

/* ---- the thread ------------------------------------------------------------------------------ */

/* Copy what is running. False when nothing is. The lock is held. */
static bool look(hub_watchdog *watchdog, sighting *seen)
{
    uintptr_t at = atomic_load(&watchdog->current);
    if (at == 0 || !atomic_compare_exchange_strong(&watchdog->current, &at, at | HELD)) {
        return false; /* or it has changed just now, so that nothing blocks */
    }
    const hub_watchdog_stay *stay = (const hub_watchdog_stay *)at; /* NOLINT: was one */
    if (stay->number != seen->number) {
        *seen = (sighting){
            .number = stay->number, .since_ms = hub_clock_now_ms(), .entry = stay->entry};
        (void)snprintf(seen->toolset, sizeof seen->toolset, "%s", stay->toolset);
        (void)snprintf(seen->module, sizeof seen->module, "%s", stay->module);
        (void)snprintf(seen->tool, sizeof seen->tool, HUB_STR_FMT, HUB_STR_ARG(stay->tool));
    }
    atomic_store(&watchdog->current, at);
    return true;
}

static void judge(sighting *seen)
{
    uint64_t spent_ms = hub_clock_now_ms() - seen->since_ms;
    if (seen->is_logged || spent_ms < HUB_LOOP_BLOCKED_MS) {
        return;
    }
    seen->is_logged = true;
    hub_log(HUB_LOG_WARNING, "plugin.blocks", HUB_F_TEXT("toolset", seen->toolset),
            HUB_F_TEXT("module", seen->module), HUB_F_TEXT("entry", seen->entry),
            HUB_F_TEXT("tool", seen->tool), HUB_F_INT("ms", spent_ms));
}

/* Wait for the next look. The lock is held. */
static void pause_look(hub_watchdog *watchdog)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_cond_timedwait(&watchdog->wake, &watchdog->lock, &until);
}

/* Whether nothing has been entered since. An enter writes `entered`, then `current`, then reads
 * `sleeps`; here it is the other way round, so that one of the two sees the other. */
static bool is_quiet(const hub_watchdog *watchdog, uint64_t entered)
{
    return atomic_load(&watchdog->current) == 0 && atomic_load(&watchdog->entered) == entered;
}

/* Sleep until something is entered that was not when `entered` was read. The lock is held. */
static void sleep_until_entered(hub_watchdog *watchdog, uint64_t entered)
{
    atomic_store(&watchdog->sleeps, true);
    while (!watchdog->is_ending && is_quiet(watchdog, entered)) {
        (void)pthread_cond_wait(&watchdog->wake, &watchdog->lock);
    }
    atomic_store(&watchdog->sleeps, false);
}

static void *watch(void *arg)
{
    hub_watchdog *watchdog = arg;
    sighting seen = {.number = 0};
    uint64_t known = 0;
    unsigned idle = 0;
    (void)pthread_mutex_lock(&watchdog->lock);
    while (!watchdog->is_ending) {
        uint64_t entered = atomic_load(&watchdog->entered);
        bool is_running = look(watchdog, &seen);
        idle = is_running || entered != known ? 0 : idle + 1;
        known = entered;
        if (is_running) {
            judge(&seen);
        }
        if (idle >= IDLE_LOOKS) {
            sleep_until_entered(watchdog, entered);
            idle = 0;
        } else {
            pause_look(watchdog);
        }
    }
    (void)pthread_mutex_unlock(&watchdog->lock);
    return NULL;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Put `next` in the place of `before`; wait while the thread looks at that. */
static void move(hub_watchdog *watchdog, const hub_watchdog_stay *before,
                 const hub_watchdog_stay *next)
{
    for (;;) {
        uintptr_t expected = (uintptr_t)before;
        if (atomic_compare_exchange_strong(&watchdog->current, &expected, (uintptr_t)next)) {
            return;
        }
        (void)pthread_mutex_lock(&watchdog->lock);
        (void)pthread_mutex_unlock(&watchdog->lock);
    }
}

void hub_watchdog_enter(hub_watchdog *watchdog, hub_watchdog_stay *stay)
{
    /* Nobody but this thread changes it, apart from the bit. */
    stay->outer = (hub_watchdog_stay *)(atomic_load(&watchdog->current) & ~HELD);
    stay->number = atomic_load_explicit(&watchdog->entered, memory_order_relaxed) + 1;
    atomic_store_explicit(&watchdog->entered, stay->number, memory_order_relaxed);
    move(watchdog, stay->outer, stay);
    (void)hub_crash_enter(stay);
    if (atomic_load(&watchdog->sleeps)) {
        (void)pthread_mutex_lock(&watchdog->lock);
        (void)pthread_cond_signal(&watchdog->wake);
        (void)pthread_mutex_unlock(&watchdog->lock);
    }
}

void hub_watchdog_leave(hub_watchdog *watchdog, hub_watchdog_stay *stay)
{
    move(watchdog, stay, stay->outer);
    (void)hub_crash_enter(stay->outer);
}

hub_err hub_watchdog_create(hub_watchdog **ret_watchdog)
{
    hub_watchdog *watchdog = calloc(1, sizeof *watchdog);
    pthread_condattr_t attributes;
    sigset_t all;
    sigset_t before;
    if (watchdog == NULL) {
        return HUB_ENOMEM;
    }
    (void)pthread_mutex_init(&watchdog->lock, NULL); /* these cannot fail on Linux */
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&watchdog->wake, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the loop's */
    int failed = pthread_create(&watchdog->thread, NULL, watch, watchdog);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed != 0) {
        (void)pthread_cond_destroy(&watchdog->wake);
        (void)pthread_mutex_destroy(&watchdog->lock);
        free(watchdog);
        return HUB_ESYSTEM;
    }
    *ret_watchdog = watchdog;
    return HUB_OK;
}

void hub_watchdog_destroy(hub_watchdog *watchdog)
{
    if (watchdog == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&watchdog->lock);
    watchdog->is_ending = true;
    (void)pthread_cond_signal(&watchdog->wake);
    (void)pthread_mutex_unlock(&watchdog->lock);
    (void)pthread_join(watchdog->thread, NULL);
    (void)pthread_cond_destroy(&watchdog->wake);
    (void)pthread_mutex_destroy(&watchdog->lock);
    free(watchdog);
}
