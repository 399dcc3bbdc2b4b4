/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first words on a connection: password, database, and whether the server is of a kind that can
 * be used. One that listens subscribes; one that carries commands brings its scripts.
 *
 * Thread: [loop].
 */
#ifndef ENGINES_VALKEY_GREET_H
#define ENGINES_VALKEY_GREET_H

#include "state/address.h"

#include <hiredis/async.h>

typedef struct valkey_greeting {
    redisAsyncContext *redis;
    const hub_state_address *address;
    const char *password; /* NULL: none */
    const char *channel;  /* to listen to; NULL: for commands */
    /* Told once, unless the connection ends before. `why` is NULL: it can be used; else a sentence
     * that says why not. `notice`: what an operator should know, or "". */
    void (*on_greeted)(void *ctx, const char *why, const char *notice);
    void (*on_message)(void *ctx);
    void *ctx; /* redis->data is NULL once nobody wants to be told */
} valkey_greeting;

/* Begin. False: out of memory; nobody is told. */
bool valkey_greet(const valkey_greeting *greeting);

/* An error of the server as a sentence, into `why`. */
void valkey_explain(const char *error, char *ret_why, size_t size);

#endif
