/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requestState: what a client of 2026-07-28 brings back with its answers, so that the hub finds the
 * call that asked. It passes through the client, so it is trusted no more than anything else: it
 * names a call and a round of it, and is signed (HMAC-SHA256) together with everything that it is
 * bound to. It is no secret: whoever can read it could also have read the request.
 * Pure functions but for the key, any thread.
 * spec: MCP 2026-07-28 basic/patterns/mrtr, Server Requirements
 */
#ifndef HUB_HUB_ASK_REQUEST_STATE_H
#define HUB_HUB_ASK_REQUEST_STATE_H

#include "base/digest.h"
#include "hub/kernel/hub.h"
#include "wire/json.h"

enum {
    HUB_REQUEST_STATE_DIGITS = 2 * (3 * 8 + 32),
    /* As text: the prefix, then call, serial, expiry and signature in hexadecimal digits.
     * Behind them the home may be named (hub/replicas). */
    HUB_REQUEST_STATE_BYTES = 4 + HUB_REQUEST_STATE_DIGITS,
};

typedef struct hub_request_state {
    uint64_t call;
    uint64_t serial;     /* of the round: each is good for one retry */
    uint64_t expires_ms; /* monotonic */
} hub_request_state;

/* Who may bring it back, and with which request. */
typedef struct hub_state_binding {
    hub_str principal;
    hub_str profile;
    const unsigned char *digest; /* HUB_DIGEST_BYTES, of hub_request_digest */
} hub_state_binding;

/* Digest of what a retry has in common with the request that it repeats: the method, and params
 * without `_meta`, `inputResponses` and `requestState`. The members of params and of
 * params.arguments may change their order, since maps of some clients have none; the bytes of a
 * value may not.
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_request_digest(hub_str method, hub_str params,
                                          unsigned char ret_digest[HUB_DIGEST_BYTES]);

/* Append a state as text: nothing in it needs escaping in JSON. */
void hub_request_state_add(hub_buf *out, const hub_key *key, const hub_request_state *state,
                           const hub_state_binding *binding);

/* Whether a raw JSON string looks as if the hub had made it, whatever it is worth: servers behind
 * the hub have states of their own. */
bool hub_request_state_is_ours(hub_str raw);

/* Read a raw JSON string that a client brought.
 * errors:  HUB_EINVAL (not made by this hub for this binding, or changed) */
HUB_MUST_CHECK hub_err hub_request_state_read(const hub_key *key, hub_str raw,
                                              const hub_state_binding *binding,
                                              hub_request_state *ret_state);

#endif
