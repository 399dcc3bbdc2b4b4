/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking up a name beside the loop: getaddrinfo(3) blocks, so it runs on a thread of its own, which
 * nobody waits for.
 *
 * Thread: [loop].
 */
#ifndef ENGINES_VALKEY_RESOLVE_H
#define ENGINES_VALKEY_RESOLVE_H

#include "base/err.h"

#include <ev.h>

typedef struct valkey_lookup valkey_lookup;

enum {
    VALKEY_ADDRESS_BYTES = 46, /* INET6_ADDRSTRLEN */
    VALKEY_ADDRESSES = 8,      /* of one name; more are not tried */
};

/* Numeric addresses, in the order in which they are to be tried. */
typedef struct valkey_addresses {
    size_t count;
    char text[VALKEY_ADDRESSES][VALKEY_ADDRESS_BYTES];
} valkey_addresses;

/* Told once; the look-up has ended then. None: there is a reason. Both are borrowed for the call. */
typedef void valkey_on_addresses(void *ctx, const valkey_addresses *found, const char *why);

/* Begin. errors: HUB_ESYSTEM (no thread, no descriptor), HUB_ENOMEM */
HUB_MUST_CHECK hub_err valkey_lookup_start(struct ev_loop *loop, const char *host,
                                           valkey_on_addresses *on_found, void *ctx,
                                           valkey_lookup **ret_lookup, hub_error *reterr);

/* What is readable when it has ended; for who waits without the loop, and calls poll then. */
int valkey_lookup_fd(const valkey_lookup *lookup);
void valkey_lookup_poll(valkey_lookup *lookup);

/* Hear nothing of it any more. NULL is fine. */
void valkey_lookup_cancel(valkey_lookup *lookup);

#endif
