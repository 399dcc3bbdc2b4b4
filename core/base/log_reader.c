/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log_reader.h"

#include "base/log.h"

#include <ev.h>
#include <pthread.h>
#include <stdlib.h>

typedef struct line {
    struct line *next;
    size_t len;
    char json[];
} line;

struct hub_log_reader {
    hub_log_watcher watcher;
    struct ev_loop *loop;
    size_t most;
    hub_log_reader_on_line *on_line;
    void *ctx;
    ev_async wake;

    pthread_mutex_t lock; /* guards what follows */
    line *first;
    line *last; /* unless there is none */
    size_t count;
    uint64_t lost;
};

/* Under the log's lock, in any thread. */
static void keep_line(hub_log_watcher *watcher, const char *event, hub_str json)
{
    hub_log_reader *reader = (hub_log_reader *)watcher; /* its first member */
    (void)event;
    line *one = malloc(sizeof *one + json.len);
    if (one != NULL) {
        one->next = NULL;
        one->len = json.len;
        memcpy(one->json, json.ptr, json.len);
    }
    (void)pthread_mutex_lock(&reader->lock);
    bool has_room = one != NULL && reader->count < reader->most;
    if (!has_room) {
        reader->lost++;
    } else if (reader->first == NULL) {
        reader->first = one;
    } else {
        reader->last->next = one;
    }
    if (has_room) {
        reader->last = one;
        reader->count++;
    }
    (void)pthread_mutex_unlock(&reader->lock);
    if (has_room) {
        ev_async_send(reader->loop, &reader->wake);
    } else {
        free(one);
    }
}

static line *take_all(hub_log_reader *reader)
{
    (void)pthread_mutex_lock(&reader->lock);
    line *first = reader->first;
    reader->first = NULL;
    reader->count = 0;
    (void)pthread_mutex_unlock(&reader->lock);
    return first;
}

static void on_wake(struct ev_loop *loop, ev_async *wake, int events)
{
    hub_log_reader *reader = wake->data;
    line *one = take_all(reader);
    (void)loop;
    (void)events;
    while (one != NULL) {
        line *next = one->next;
        reader->on_line(reader->ctx, (hub_str){.ptr = one->json, .len = one->len});
        free(one);
        one = next;
    }
}

hub_log_reader *hub_log_reader_create(struct ev_loop *loop, size_t most,
                                      hub_log_reader_on_line *on_line, void *ctx)
{
    hub_log_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        return NULL;
    }
    reader->watcher.on_line = keep_line;
    reader->loop = loop;
    reader->most = most;
    reader->on_line = on_line;
    reader->ctx = ctx;
    (void)pthread_mutex_init(&reader->lock, NULL); /* cannot fail on Linux */
    ev_async_init(&reader->wake, on_wake);
    reader->wake.data = reader;
    ev_async_start(loop, &reader->wake);
    ev_unref(loop); /* it keeps no loop running */
    hub_log_watch(&reader->watcher);
    return reader;
}

void hub_log_reader_destroy(hub_log_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    hub_log_unwatch(&reader->watcher);
    ev_ref(reader->loop);
    ev_async_stop(reader->loop, &reader->wake);
    for (line *one = take_all(reader); one != NULL;) {
        line *next = one->next;
        free(one);
        one = next;
    }
    (void)pthread_mutex_destroy(&reader->lock);
    free(reader);
}

uint64_t hub_log_reader_lost(hub_log_reader *reader)
{
    (void)pthread_mutex_lock(&reader->lock);
    uint64_t lost = reader->lost;
    (void)pthread_mutex_unlock(&reader->lock);
    return lost;
}
