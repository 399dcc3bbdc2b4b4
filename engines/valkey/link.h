/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection to the server: it is made when it is wanted, greets (password, database, what kind
 * of server it is, scripts), and then carries commands, each with its deadline, or listens to a
 * channel. When it ends there is a pause, longer each time until a command is answered: the breaker.
 * The link does not come back by itself: who wants it says so again (valkey_link_want).
 *
 * hiredis never sees a name: names are looked up beside the loop (resolve.h), at each connect.
 *
 * Thread: [loop].
 */
#ifndef ENGINES_VALKEY_LINK_H
#define ENGINES_VALKEY_LINK_H

#include "base/err.h"
#include "state/address.h"

#include <ev.h>
#include <hiredis/hiredis.h>

typedef struct valkey_link valkey_link;

typedef struct valkey_link_options {
    struct ev_loop *loop;
    const hub_state_address *address; /* borrowed */
    const char *password;             /* borrowed; NULL: there is none */
    const char *channel;              /* listen to that, and nothing else; NULL: commands */
    void (*on_up)(void *ctx);
    void (*on_down)(void *ctx, const char *why); /* after all commands were told */
    void (*on_rested)(void *ctx);                /* the pause after that is over */
    void (*on_message)(void *ctx);
    void *ctx;
} valkey_link_options;

/* What a command was answered; NULL: nothing, for a reason. Errors are replies. */
typedef void valkey_on_reply(void *ctx, const redisReply *reply, const char *why);

HUB_MUST_CHECK hub_err valkey_link_create(const valkey_link_options *options,
                                          valkey_link **ret_link, hub_error *reterr);
void valkey_link_destroy(valkey_link *link); /* commands are told; NULL is fine */

/* Have it made, unless it is there, or on its way. False: it rests after a failure (`*ret_why`,
 * borrowed). */
bool valkey_link_want(valkey_link *link, const char **ret_why);

bool valkey_link_is_up(const valkey_link *link);

/* Send a command of a link that is up; told once, never before this returns. False: it cannot be
 * sent, and nobody is told. */
HUB_MUST_CHECK bool valkey_link_send(valkey_link *link, int argc, const char **argv,
                                     const size_t *argv_bytes, unsigned deadline_ms,
                                     valkey_on_reply *on_reply, void *ctx);

/* Wait without the loop for whatever comes next, at most so long; false: nothing came. */
bool valkey_link_wait(valkey_link *link, int timeout_ms);

/* What the server said of itself, when the link came up: a sentence that an operator should know, or
 * "". */
const char *valkey_link_notice(const valkey_link *link);

#endif
