/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hubs behind one address: where a session lives, and how a replica proves to another that a request
 * comes from it. Pure decisions over the settings and the keys that replicas share: sockets are the
 * transport's, which alone asks here.
 *
 * A *home* is the replica that made a session. The session's id names it, encrypted and signed: no
 * store is asked, no client learns an address, and an id that nobody of these hubs made names none.
 * What an id names counts only if the settings have it among the peers, too.
 *
 * A connection between two replicas begins with a greeting: the caller sends a number that it has never
 * sent before, the other one answers with another (the *challenge*) and proves by both that it has the
 * keys. Each request then carries a *seal* over the challenge, its own number on the connection, and all
 * of its head, in which the digest of its body is. So nothing can be forged, changed, or sent twice:
 * not on the same connection, for the number is over; nor on another, whose challenge is another.
 *
 * Thread: [loop].
 */
#ifndef HUB_HUB_REPLICAS_REPLICAS_H
#define HUB_HUB_REPLICAS_REPLICAS_H

#include "base/buf.h"
#include "base/cidr.h"
#include "base/digest.h"
#include "base/err.h"
#include "hub/kernel/settings.h"
#include "hub/kernel/station.h"

enum {
    HUB_REPLICA_HOME_DIGITS = 64,      /* what names the home in an id */
    HUB_REPLICA_CHALLENGE_DIGITS = 32, /* 128 random bits */
};

/* Where a replica takes the requests of others. */
typedef struct hub_replica_place {
    char address[HUB_ADDRESS_TEXT_BYTES];
    uint16_t port;
} hub_replica_place;

bool hub_replica_places_eq(const hub_replica_place *a, const hub_replica_place *b);

/* Tell a hub where it takes the requests of others (an IP address and a port), and whom it trusts
 * (trusted_proxies): before its first listener is opened, and with each reload. `listen` is borrowed until
 * the next call. Its place is what the first call has said: what was named by it is still named.
 * `address` NULL: nobody brings any, and none are passed on.
 * returns: whether the place is still that one */
bool hub_replicas_configure(hub_orchestrator *hub, const hub_listen_settings *listen);

/* Where this replica takes them; NULL: it does not. */
const hub_replica_place *hub_replicas_own(const hub_orchestrator *hub);

/* Whether an address is one of the peers. */
bool hub_replicas_trust(const hub_orchestrator *hub, const char *address);

/* ---- homes ----------------------------------------------------------------------------------- */

/* Name this replica, which takes requests, as the home of what has this random text. */
void hub_replicas_name_home(const hub_orchestrator *hub, hub_str random,
                            char ret_digits[HUB_REPLICA_HOME_DIGITS + 1]);

/* Name it behind the last `count` bytes of a text that clients bring back (a requestState, the id of a
 * task), which are random digits behind its first point. Nothing where no requests are taken. */
void hub_replicas_add_home(const hub_orchestrator *hub, hub_buf *out, size_t count);

typedef enum hub_replica_home {
    HUB_HOME_NOWHERE,   /* no replica made that name, or the one that did is no peer (any more) */
    HUB_HOME_HERE,      /* this one did */
    HUB_HOME_ELSEWHERE, /* *ret_place did */
} hub_replica_home;

/* Whose place that is, where requests are taken. */
hub_replica_home hub_replicas_judge_home(const hub_orchestrator *hub,
                                         const hub_replica_place *place);

/* Read what hub_replicas_name_home wrote for the same random text. */
hub_replica_home hub_replicas_find_home(const hub_orchestrator *hub, hub_str random, hub_str digits,
                                        hub_replica_place *ret_place);

/* Read what hub_replicas_add_home wrote into a text, raw or not; the empty span has none. */
hub_replica_home hub_replicas_find_home_in(const hub_orchestrator *hub, hub_str text,
                                           hub_replica_place *ret_place);

/* ---- proofs ---------------------------------------------------------------------------------- */

/* Random digits. errors:  HUB_ESYSTEM */
HUB_MUST_CHECK hub_err hub_replicas_challenge(char ret_digits[HUB_REPLICA_CHALLENGE_DIGITS + 1]);

/* What a proof is of: each part with its length, so that no two lists are the same bytes. */
typedef struct hub_replica_claim {
    hub_str use;       /* "greeting", or "request" */
    hub_str challenge; /* of the connection; in a greeting of both sides, one behind the other */
    uint64_t number;   /* of the request on its connection, from 1; 0 in a greeting */
    hub_str text;      /* the head in front of the proof */
} hub_replica_claim;

/* Prove it by the key that signs. */
void hub_replicas_prove(const hub_orchestrator *hub, const hub_replica_claim *claim,
                        char ret_proof[HUB_DIGEST_HEX_BYTES]);

/* Whether one of the keys proves it. */
bool hub_replicas_accept(const hub_orchestrator *hub, const hub_replica_claim *claim,
                         hub_str proof);

/* Its row in the table of stations: it keeps the place, and keys for both uses. */
extern const hub_station HUB_REPLICAS_STATION;

#endif
