/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"

#include "base/clock.h"
#include "base/limits.h"
#include "greet.h"
#include "resolve.h"

#include <errno.h>
#include <hiredis/async.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

/* The adapter is a header with functions that not everybody calls. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wconversion"
#include <hiredis/adapters/libev.h>
#pragma GCC diagnostic pop

enum { WHY_BYTES = 384 };

typedef enum link_state {
    LINK_DOWN,
    LINK_RESTING, /* after a failure */
    LINK_RESOLVING,
    LINK_CONNECTING,
    LINK_GREETING,
    LINK_UP,
} link_state;

typedef struct command {
    valkey_link *link;
    valkey_on_reply *on_reply;
    void *ctx;
    unsigned deadline_ms;
    uint64_t until_ms;    /* of the first one; it begins anew with each answer before it */
    struct command *next; /* sent after this */
} command;

struct valkey_link {
    valkey_link_options options;
    link_state state;
    redisAsyncContext *redis; /* NULL: none, or it is ending */
    valkey_lookup *lookup;
    valkey_addresses addresses; /* of the name, and which of them is tried */
    size_t at_address;
    command *first; /* sent and not answered */
    command *last;
    ev_timer timer;     /* a deadline, or the end of the pause */
    unsigned failures;  /* since a command was answered */
    bool is_destroying; /* nobody is told of the link's end */
    char why[WHY_BYTES];
    char notice[256];
};

static void start_timer(valkey_link *link, uint64_t ms)
{
    ev_timer_stop(link->options.loop, &link->timer);
    ev_timer_set(&link->timer, (double)ms / 1e3, 0.);
    ev_timer_start(link->options.loop, &link->timer);
}

/* ---- its end --------------------------------------------------------------------------------- */

/* Longer with each failure, and never the same for all replicas. */
static uint64_t pause_ms(unsigned failures)
{
    unsigned char random = 0;
    uint64_t most = HUB_LIMIT_STATE_PAUSE_MS;
    for (unsigned i = 1; i < failures && most < HUB_LIMIT_STATE_PAUSE_MOST_MS; i++) {
        most *= 2;
    }
    most = most < HUB_LIMIT_STATE_PAUSE_MOST_MS ? most : HUB_LIMIT_STATE_PAUSE_MOST_MS;
    (void)!getrandom(&random, sizeof random, GRND_NONBLOCK); /* without it: the shortest */
    return most / 2 + most * random / 512;
}

static void tell_commands(valkey_link *link)
{
    while (link->first != NULL) {
        command *one = link->first;
        link->first = one->next;
        link->last = one->next != NULL ? link->last : NULL;
        one->on_reply(one->ctx, NULL, link->why);
        free(one);
    }
}

/* The connection has ended, or is no good any more: say why, in two parts, and rest. */
static void go_down(valkey_link *link, const char *what, const char *detail)
{
    redisAsyncContext *redis = link->redis;
    char why[WHY_BYTES];
    (void)snprintf(why, sizeof why, "%s%s", what, detail); /* `detail` may be in the link */
    memcpy(link->why, why, sizeof link->why);
    valkey_lookup_cancel(link->lookup);
    link->lookup = NULL;
    link->redis = NULL;
    link->state = LINK_RESTING;
    link->failures++;
    start_timer(link, pause_ms(link->failures));
    if (redis != NULL) {
        redis->data = NULL; /* its callbacks find nobody */
        redisAsyncFree(redis);
    }
    tell_commands(link);
    if (!link->is_destroying) {
        link->options.on_down(link->options.ctx, link->why);
    }
}

static void try_next(valkey_link *link, const char *why);

/* By hiredis, which frees the context after this: a connection that was there is gone. */
static void on_disconnect(const redisAsyncContext *redis, int status)
{
    valkey_link *link = redis->data;
    (void)status;
    if (link != NULL) {
        link->redis = NULL;
        go_down(link, "the connection to the store has ended: ",
                redis->errstr != NULL && redis->errstr[0] != '\0' ? redis->errstr : "closed");
    }
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    valkey_link *link = timer->data;
    (void)loop;
    (void)events;
    uint64_t now = hub_clock_now_ms();
    if (link->state == LINK_RESTING) {
        link->state = LINK_DOWN;
        link->options.on_rested(link->options.ctx);
    } else if (link->state == LINK_UP && (link->first == NULL || link->first->until_ms > now)) {
        if (link->first != NULL) {
            start_timer(link, link->first->until_ms - now);
        }
    } else if (link->state == LINK_UP || link->state == LINK_GREETING) {
        go_down(link, "the store has not answered in time", "");
    } else {
        go_down(link, "the store cannot be reached in time", "");
    }
}

/* ---- greeting -------------------------------------------------------------------------------- */

static void on_greeted(void *ctx, const char *why, const char *notice)
{
    valkey_link *link = ctx;
    if (why != NULL) {
        go_down(link, "", why);
        return;
    }
    (void)snprintf(link->notice, sizeof link->notice, "%s", notice);
    link->state = LINK_UP;
    ev_timer_stop(link->options.loop, &link->timer);
    if (link->options.channel != NULL) {
        link->failures = 0;
    }
    link->options.on_up(link->options.ctx);
}

static void on_message(void *ctx)
{
    valkey_link *link = ctx;
    link->options.on_message(link->options.ctx);
}

static void on_connect(const redisAsyncContext *redis, int status)
{
    valkey_link *link = redis->data;
    if (link == NULL) {
        return;
    }
    if (status != REDIS_OK) {
        link->redis->data = NULL;
        link->redis = NULL; /* hiredis frees it after this */
        try_next(link, redis->c.errstr);
        return;
    }
    const valkey_greeting greeting = {.redis = link->redis,
                                      .address = link->options.address,
                                      .password = link->options.password,
                                      .channel = link->options.channel,
                                      .on_greeted = on_greeted,
                                      .on_message = on_message,
                                      .ctx = link};
    link->state = LINK_GREETING; /* the time to connect is for both */
    (void)valkey_greet(
        &greeting); /* else the timer ends it: hiredis goes on with the context here */
}

/* ---- connecting ------------------------------------------------------------------------------ */

/* The connection is being made, or cannot be. */
static void take_context(valkey_link *link, redisAsyncContext *redis)
{
    link->state = LINK_CONNECTING;
    if (redis == NULL) {
        go_down(link, "out of memory", "");
        return;
    }
    if (redis->err != 0) {
        char why[WHY_BYTES];
        (void)snprintf(why, sizeof why, "%s", redis->errstr);
        redisAsyncFree(redis);
        try_next(link, why);
        return;
    }
    redis->data = link;
    link->redis = redis;
    if (redisLibevAttach(link->options.loop, redis) != REDIS_OK ||
        redisAsyncSetConnectCallback(redis, on_connect) != REDIS_OK ||
        redisAsyncSetDisconnectCallback(redis, on_disconnect) != REDIS_OK) {
        go_down(link, "out of memory", "");
    }
}

static void try_address(valkey_link *link)
{
    take_context(link, redisAsyncConnect(link->addresses.text[link->at_address],
                                         (int)link->options.address->port));
}

/* One address is no good: the next one of the name, if there is one. */
static void try_next(valkey_link *link, const char *why)
{
    if (link->at_address + 1 < link->addresses.count) {
        link->at_address++;
        try_address(link);
    } else {
        go_down(link, "the store cannot be reached: ", why);
    }
}

static void on_addresses(void *ctx, const valkey_addresses *found, const char *why)
{
    valkey_link *link = ctx;
    link->lookup = NULL;
    link->addresses = *found;
    link->at_address = 0;
    if (found->count == 0) {
        go_down(link, "the store's name cannot be looked up: ", why);
    } else {
        try_address(link);
    }
}

bool valkey_link_want(valkey_link *link, const char **ret_why)
{
    hub_error why = {.code = HUB_OK};
    *ret_why = link->why;
    if (link->state != LINK_DOWN) {
        return link->state != LINK_RESTING;
    }
    link->addresses.count = 0;
    start_timer(link, HUB_LIMIT_STATE_CONNECT_MS);
    if (link->options.address->is_unix) {
        take_context(link, redisAsyncConnectUnix(link->options.address->socket));
    } else {
        link->state = LINK_RESOLVING;
        if (valkey_lookup_start(link->options.loop, link->options.address->host, on_addresses, link,
                                &link->lookup, &why) != HUB_OK) {
            go_down(link, "", why.text);
        }
    }
    return link->state != LINK_RESTING;
}

/* ---- commands -------------------------------------------------------------------------------- */

bool valkey_link_is_up(const valkey_link *link)
{
    return link->state == LINK_UP;
}

/* They are answered in the order in which they were sent. */
static void on_redis_reply(redisAsyncContext *redis, void *reply, void *ctx)
{
    valkey_link *link = redis->data;
    command *one = ctx;
    if (link == NULL || reply == NULL) {
        return; /* the connection has ended, and `one` was told of that, or is going to be */
    }
    link->first = one->next;
    link->last = one->next != NULL ? link->last : NULL;
    link->failures = 0;
    if (link->first !=
        NULL) { /* many that were sent at once have not hung while they are answered */
        link->first->until_ms = hub_clock_now_ms() + link->first->deadline_ms;
    }
    one->on_reply(one->ctx, reply, "");
    free(one);
}

bool valkey_link_send(valkey_link *link, int argc, const char **argv, const size_t *argv_bytes,
                      unsigned deadline_ms, valkey_on_reply *on_reply, void *ctx)
{
    command *one = link->state == LINK_UP ? malloc(sizeof *one) : NULL;
    if (one == NULL || redisAsyncCommandArgv(link->redis, on_redis_reply, one, argc, argv,
                                             argv_bytes) != REDIS_OK) {
        free(one);
        return false;
    }
    *one = (command){.link = link,
                     .on_reply = on_reply,
                     .ctx = ctx,
                     .deadline_ms = deadline_ms,
                     .until_ms = hub_clock_now_ms() + deadline_ms};
    if (link->last != NULL) {
        link->last->next = one;
    } else {
        link->first = one;
        start_timer(link, deadline_ms);
    }
    link->last = one;
    return true;
}

const char *valkey_link_notice(const valkey_link *link)
{
    return link->notice;
}

/* ---- life ------------------------------------------------------------------------------------ */

bool valkey_link_wait(valkey_link *link, int timeout_ms)
{
    struct pollfd one = {.fd = -1, .events = POLLIN};
    const redisLibevEvents *events = link->redis != NULL ? link->redis->ev.data : NULL;
    if (link->lookup != NULL) {
        one.fd = valkey_lookup_fd(link->lookup);
    } else if (events != NULL) {
        one.fd = link->redis->c.fd;
        one.events = (short)((events->reading ? POLLIN : 0) | (events->writing ? POLLOUT : 0));
    }
    if (one.fd < 0 || poll(&one, 1, timeout_ms) <= 0) {
        return false;
    }
    if (link->lookup != NULL) {
        valkey_lookup_poll(link->lookup);
    } else if ((one.revents & POLLOUT) != 0) {
        redisAsyncHandleWrite(link->redis);
    } else {
        redisAsyncHandleRead(link->redis);
    }
    return true;
}

hub_err valkey_link_create(const valkey_link_options *options, valkey_link **ret_link,
                           hub_error *reterr)
{
    valkey_link *link = calloc(1, sizeof *link);
    if (link == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    link->options = *options;
    ev_timer_init(&link->timer, on_timer, 0., 0.);
    link->timer.data = link;
    *ret_link = link;
    return HUB_OK;
}

void valkey_link_destroy(valkey_link *link)
{
    if (link != NULL) {
        link->is_destroying = true;
        go_down(link, "the store has ended", "");
        ev_timer_stop(link->options.loop, &link->timer);
        free(link);
    }
}
