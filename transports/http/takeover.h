/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a session is that is not at the home which its id names (hub/moves/moves.h): at the replica that its
 * record in the store names, or from now on here, if the record names none. Of several replicas that look at the
 * same time one gets it, and the others find it there. Thread: [loop].
 */
#ifndef HTTP_TAKEOVER_H
#define HTTP_TAKEOVER_H

#include "http/internal.h"
#include "hub/replicas/replicas.h"

typedef struct hub_http_finding hub_http_finding;

typedef enum hub_http_found {
    HUB_HTTP_FOUND_NOWHERE,  /* nobody has it */
    HUB_HTTP_FOUND_UNKNOWN,  /* the store does not say, now */
    HUB_HTTP_FOUND_AT,       /* `place`, which may be this replica's own */
    HUB_HTTP_FOUND_ANSWERED, /* it could have been here, and the client was told why it is not */
} hub_http_found;

/* Told once, from the loop. */
typedef void (*hub_http_on_found)(void *ctx, hub_http_found found, const hub_replica_place *place);

/* Look for a session of whoever sent the request in work on a connection.
 * owns:    *ret_finding, until it is told, or hub_http_finding_cancel
 * errors:  HUB_ENOMEM, those of hub_state_get */
HUB_MUST_CHECK hub_err hub_http_find_moved(hub_http_connection *connection, const char *id,
                                           hub_http_on_found on_found, void *ctx,
                                           hub_http_finding **ret_finding);
void hub_http_finding_cancel(hub_http_finding *finding);

#endif
