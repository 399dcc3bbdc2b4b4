/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other replicas, as this one calls them: connections over HTTP that begin with a greeting and are
 * kept for the next request (hub/replicas/replicas.h says what is proven). One connection carries one
 * request at a time. Answers are handed on as they come, byte for byte.
 *
 * A replica that has said nothing for HUB_HTTP_LIMIT_PEER_SILENT_MS while somebody waits for it is
 * greeted again; if it does not answer within HUB_HTTP_LIMIT_PEER_GREET_MS, it counts as gone, and
 * everybody who waits for it is told. Thread: [loop].
 */
#ifndef HTTP_PEERS_H
#define HTTP_PEERS_H

#include "base/buf.h"
#include "hub/replicas/replicas.h"

struct ev_loop;
typedef struct hub_http_peers hub_http_peers;
typedef struct hub_http_errand hub_http_errand;

/* How an errand ended that has no answer, or not all of one. */
typedef enum hub_http_loss {
    HUB_HTTP_LOSS_UNSENT,  /* the peer cannot be reached: it knows nothing of the request */
    HUB_HTTP_LOSS_UNKNOWN, /* the peer is gone, and may have done what was asked */
    HUB_HTTP_LOSS_CUT,     /* … after its answer had begun */
} hub_http_loss;

/* Told from the loop; exactly one of on_done and on_lost, and nothing afterwards. */
typedef struct hub_http_errand_events {
    /* The head of the answer, with the empty line behind it; borrowed. */
    void (*on_head)(void *ctx, int status, hub_str head);
    void (*on_body)(void *ctx, hub_str bytes); /* as they came, chunks and all; borrowed */
    void (*on_done)(void *ctx, bool closes);   /* `closes`: the answer says that it is the last */
    void (*on_lost)(void *ctx, hub_http_loss loss);
} hub_http_errand_events;

/* NULL when out of memory. */
hub_http_peers *hub_http_peers_create(struct ev_loop *loop, hub_orchestrator *hub);

/* Errands under way are not told. NULL is fine. */
void hub_http_peers_destroy(hub_http_peers *peers);

/* Send a request. `head` is its head without the empty line and without Content-Length, `body` its
 * body; both are borrowed for as long as the errand lasts.
 * owns:    *ret_errand, until on_done or on_lost, or hub_http_errand_cancel
 * errors:  HUB_ENOMEM, HUB_ESYSTEM */
HUB_MUST_CHECK hub_err hub_http_peers_send(hub_http_peers *peers, const hub_replica_place *place,
                                           hub_str head, hub_str body,
                                           const hub_http_errand_events *events, void *ctx,
                                           hub_http_errand **ret_errand);

/* Nobody waits for it any more: the peer notices that its connection ends. */
void hub_http_errand_cancel(hub_http_errand *errand);

/* The headers between replicas; the seal is the last one of its head, and has at most so many bytes with
 * all that is behind the head that it seals. */
enum { HUB_HTTP_PEER_SEAL_BYTES = 256 };

#define HUB_HTTP_PEER_PATH      "/patchbay/replica"
#define HUB_HTTP_PEER_CHALLENGE "Patchbay-Challenge"
#define HUB_HTTP_PEER_PROOF     "Patchbay-Proof"
#define HUB_HTTP_PEER_CALLER    "Patchbay-Caller"
#define HUB_HTTP_PEER_DIGEST    "Patchbay-Digest"
#define HUB_HTTP_PEER_SEAL      "Patchbay-Seal"
#define HUB_HTTP_PEER_ELSEWHERE "Patchbay-Elsewhere" /* of an answer: the session is not here */

#endif
