/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a shared store is: a server that speaks the protocol of Valkey and Redis.
 *
 *     valkey://[USER[:PASSWORD]@]HOST[:PORT][/DB]              redis:// is the same
 *     valkeys://…                                              with TLS; rediss:// is the same
 *     valkey+unix://[USER[:PASSWORD]@]/PATH/TO/SOCKET[?db=DB]  redis+unix:// is the same
 *
 * USER and PASSWORD are percent-encoded where they have to be. Pure functions, any thread.
 */
#ifndef HUB_STATE_ADDRESS_H
#define HUB_STATE_ADDRESS_H

#include "base/buf.h"
#include "base/err.h"

enum {
    HUB_STATE_HOST_BYTES = 256,
    HUB_STATE_SOCKET_BYTES = 108, /* as unix(7) has it */
    HUB_STATE_USER_BYTES = 129,
};

typedef struct hub_state_address {
    bool is_unix;
    bool is_tls;
    unsigned port;
    unsigned database;
    char user[HUB_STATE_USER_BYTES]; /* "": the server's default */
    char host[HUB_STATE_HOST_BYTES]; /* a name or a numeric address, without brackets */
    char socket[HUB_STATE_SOCKET_BYTES];
} hub_state_address;

/* Whether the place of a store is such an address, good or bad; else it is a file. */
bool hub_state_address_is(hub_str place);

/* Read it. The password is appended to `password` (may be NULL: then it may have none).
 * errors:  HUB_EINVAL with a sentence that does not repeat the password; Sentinel and cluster are
 *          refused by name; HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_state_address_read(hub_str place, hub_state_address *ret_address,
                                              hub_buf *password, hub_error *reterr);

/* Append the place as it may be shown: without its password. */
void hub_state_address_add_shown(hub_str place, hub_buf *out);

#endif
