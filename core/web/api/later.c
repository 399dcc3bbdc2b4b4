/* SPDX-License-Identifier: Apache-2.0 */
#include "web/api/later.h"

#include "hub/kernel/hub.h"
#include "modules/worker.h"

#include <ev.h>
#include <pthread.h>
#include <stdlib.h>
#include <utlist.h>

enum { END_MS = 500 /* how long a file may still take when the hub stops */ };

/* ---- waiting --------------------------------------------------------------------------------- */

static void stop_waiting(hub_api_later *later)
{
    hub_api_pending **list = hub_api_pending_of(later->asked.api);
    DL_DELETE(*list, &later->pending);
    later->is_over = true;
}

static void destroy(hub_api_later *later)
{
    free(later->profile);
    hub_buf_fini(&later->names);
    hub_identity_unref(later->held);
    free(later);
}

static void on_gone(void *ctx)
{
    stop_waiting(ctx);
}

static const hub_web_waiter WAITER = {.on_gone = on_gone};

/* The hub stops. What is under way ends later, unheard. */
static void end(hub_api_pending *pending)
{
    hub_api_later *later = (hub_api_later *)pending;
    stop_waiting(later);
    hub_api_fail(later->asked.exchange, 503, "unavailable", "the hub is shutting down: try again");
}

/* Copy what the request says: it is gone when the handler returns. */
static bool keep(const hub_api_asked *asked, hub_api_later *later)
{
    size_t room = 1;
    for (size_t i = 0; i < HUB_API_NAMED; i++) {
        room += asked->named[i].len;
    }
    later->asked = *asked;
    later->asked.request = NULL;
    later->held = hub_identity_ref(asked->identity);
    later->asked.identity = later->held;
    later->profile = asked->profile != NULL ? hub_str_dup(hub_str_of(asked->profile)) : NULL;
    later->asked.profile = later->profile;
    hub_buf_init(&later->names, room);
    size_t begins[HUB_API_NAMED];
    for (size_t i = 0; i < HUB_API_NAMED; i++) {
        begins[i] = later->names.len;
        hub_buf_add(&later->names, asked->named[i]);
    }
    for (size_t i = 0; hub_buf_ok(&later->names) && i < HUB_API_NAMED; i++) {
        later->asked.named[i].ptr = later->names.ptr + begins[i];
    }
    return hub_buf_ok(&later->names) && (asked->profile == NULL || later->profile != NULL);
}

bool hub_api_later_begin(hub_api_asked *asked, hub_api_later *later)
{
    if (later == NULL || !keep(asked, later)) {
        hub_api_fail(asked->exchange, 503, "unavailable", "out of memory");
        if (later != NULL) {
            destroy(later);
        }
        return false;
    }
    hub_api_pending **list = hub_api_pending_of(asked->api);
    later->pending = (hub_api_pending){.end = end, .identity = later->held};
    DL_APPEND(*list, &later->pending);
    later->is_inside = true;
    return true;
}

void hub_api_later_wait(hub_api_later *later)
{
    later->is_inside = false;
    if (later->is_over) {
        destroy(later);
    } else {
        hub_web_wait(later->asked.exchange, &WAITER, later);
    }
}

hub_web_exchange *hub_api_later_exchange(hub_api_later *later)
{
    if (later->is_over) {
        return NULL;
    }
    stop_waiting(later);
    return later->asked.exchange;
}

void hub_api_later_free(hub_api_later *later)
{
    hub_assert(later->is_over);
    if (!later->is_inside) {
        destroy(later);
    }
}

/* ---- the thread ------------------------------------------------------------------------------ */

struct hub_api_thread {
    struct ev_loop *loop;
    hub_worker_pool *pool;
    ev_async on_done;
    pthread_mutex_t lock; /* guards `done` */
    hub_api_later *done;  /* newest first */
};

/* [worker] */
static void run(void *arg)
{
    hub_api_later *later = arg;
    later->work(later);
}

/* [worker], or [loop] for one that was dropped */
static void note_done(void *arg, bool ran)
{
    (void)ran; /* `finish` finds nothing done */
    hub_api_later *later = arg;
    hub_api_thread *thread = hub_api_thread_of(later->asked.api);
    (void)pthread_mutex_lock(&thread->lock);
    later->next_done = thread->done;
    thread->done = later;
    (void)pthread_mutex_unlock(&thread->lock);
    ev_async_send(thread->loop, &thread->on_done);
}

static void finish_all(hub_api_thread *thread)
{
    (void)pthread_mutex_lock(&thread->lock);
    hub_api_later *list = thread->done;
    thread->done = NULL;
    (void)pthread_mutex_unlock(&thread->lock);
    while (list != NULL) {
        hub_api_later *later = list;
        list = list->next_done;
        later->finish(later);
    }
}

static void on_done(struct ev_loop *loop, ev_async *async, int events)
{
    (void)loop;
    (void)events;
    finish_all(async->data);
}

hub_api_thread *hub_api_thread_create(hub_orchestrator *hub)
{
    hub_api_thread *thread = calloc(1, sizeof *thread);
    if (thread == NULL || hub_worker_pool_create(1, &thread->pool, NULL) != HUB_OK) {
        free(thread);
        return NULL;
    }
    thread->loop = hub_loop(hub);
    (void)pthread_mutex_init(&thread->lock, NULL); /* of the default kind: it cannot fail */
    ev_async_init(&thread->on_done, on_done);
    thread->on_done.data = thread;
    ev_async_start(thread->loop, &thread->on_done);
    ev_unref(thread->loop); /* nobody waits for it */
    return thread;
}

void hub_api_thread_destroy(hub_api_thread *thread)
{
    if (thread == NULL) {
        return;
    }
    ev_ref(thread->loop);
    ev_async_stop(thread->loop, &thread->on_done);
    if (!hub_worker_pool_destroy(thread->pool, END_MS)) {
        return; /* it is left behind in the file system, with what it uses */
    }
    finish_all(thread);
    (void)pthread_mutex_destroy(&thread->lock);
    free(thread);
}

void hub_api_work(hub_api_asked *asked, hub_api_later *later, void (*work)(hub_api_later *later),
                  void (*finish)(hub_api_later *later))
{
    if (!hub_api_later_begin(asked, later)) {
        return;
    }
    later->work = work;
    later->finish = finish;
    hub_err err = hub_worker_submit(hub_api_thread_of(asked->api)->pool, run, note_done, later);
    if (err != HUB_OK) {
        hub_api_fail_with(hub_api_later_exchange(later), &(hub_error){.code = err});
    }
    hub_api_later_wait(later);
}
