/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Owned by the thread and by the loop's side: the second to leave frees it. */
struct valkey_lookup {
    struct ev_loop *loop;
    ev_io watcher;
    valkey_on_addresses *on_found;
    void *ctx;
    int fd; /* an eventfd: readable when the thread is done */

    pthread_mutex_t lock; /* guards the next two */
    bool is_done;
    bool is_left; /* nobody waits for it */

    /* The thread's, until it is done. */
    int failed; /* of getaddrinfo */
    valkey_addresses found;
    char host[];
};

static void free_lookup(valkey_lookup *lookup)
{
    (void)close(lookup->fd);
    (void)pthread_mutex_destroy(&lookup->lock); /* nobody holds it */
    free(lookup);
}

static int find_addresses(valkey_lookup *lookup)
{
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    struct addrinfo *found = NULL;
    valkey_addresses *all = &lookup->found;
    int failed = getaddrinfo(lookup->host, NULL, &wanted, &found);
    for (struct addrinfo *at = found; at != NULL && all->count < VALKEY_ADDRESSES;
         at = at->ai_next) {
        all->count += getnameinfo(at->ai_addr, at->ai_addrlen, all->text[all->count],
                                  sizeof all->text[0], NULL, 0, NI_NUMERICHOST) == 0;
    }
    if (found != NULL) {
        freeaddrinfo(found);
    }
    return failed == 0 && all->count == 0 ? EAI_NONAME : failed;
}

static void *run(void *arg)
{
    valkey_lookup *lookup = arg;
    lookup->failed = find_addresses(lookup);
    (void)pthread_mutex_lock(&lookup->lock);
    bool is_left = lookup->is_left;
    lookup->is_done = true;
    if (!is_left) {
        uint64_t one = 1;
        (void)!write(lookup->fd, &one, sizeof one); /* the counter is 0: it has room */
    }
    (void)pthread_mutex_unlock(&lookup->lock);
    if (is_left) {
        free_lookup(lookup);
    }
    return NULL;
}

/* Its signals are blocked before it exists: no handler runs there. */
static bool start_thread(valkey_lookup *lookup)
{
    sigset_t all;
    sigset_t before;
    pthread_t thread;
    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) {
        return false;
    }
    int failed = pthread_create(&thread, NULL, run, lookup);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL); /* a mask that it had before: cannot fail */
    if (failed == 0) {
        (void)pthread_detach(thread); /* nobody has joined it */
    }
    return failed == 0;
}

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)loop;
    (void)events;
    valkey_lookup_poll(watcher->data);
}

hub_err valkey_lookup_start(struct ev_loop *loop, const char *host, valkey_on_addresses *on_found,
                            void *ctx, valkey_lookup **ret_lookup, hub_error *reterr)
{
    size_t len = strlen(host) + 1;
    valkey_lookup *lookup = calloc(1, sizeof *lookup + len);
    if (lookup == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    memcpy(lookup->host, host, len);
    lookup->loop = loop;
    lookup->on_found = on_found;
    lookup->ctx = ctx;
    lookup->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    (void)pthread_mutex_init(&lookup->lock, NULL); /* cannot fail on Linux */
    ev_io_init(&lookup->watcher, on_readable, lookup->fd, EV_READ);
    lookup->watcher.data = lookup;
    if (lookup->fd < 0 || !start_thread(lookup)) {
        free_lookup(lookup);
        return hub_fail(reterr, HUB_ESYSTEM, "no thread can be had to look up \"%s\"", host);
    }
    ev_io_start(loop, &lookup->watcher);
    *ret_lookup = lookup;
    return HUB_OK;
}

int valkey_lookup_fd(const valkey_lookup *lookup)
{
    return lookup->fd;
}

void valkey_lookup_poll(valkey_lookup *lookup)
{
    (void)pthread_mutex_lock(&lookup->lock);
    bool is_done = lookup->is_done;
    (void)pthread_mutex_unlock(&lookup->lock);
    if (!is_done) {
        return;
    }
    valkey_on_addresses *on_found = lookup->on_found;
    void *ctx = lookup->ctx;
    int failed = lookup->failed;
    valkey_addresses found = lookup->found;
    ev_io_stop(lookup->loop, &lookup->watcher);
    free_lookup(lookup);
    on_found(ctx, &found, failed == 0 ? "" : gai_strerror(failed));
}

void valkey_lookup_cancel(valkey_lookup *lookup)
{
    if (lookup == NULL) {
        return;
    }
    ev_io_stop(lookup->loop, &lookup->watcher);
    (void)pthread_mutex_lock(&lookup->lock);
    bool is_done = lookup->is_done;
    lookup->is_left = true;
    (void)pthread_mutex_unlock(&lookup->lock);
    if (is_done) {
        free_lookup(lookup);
    }
}
