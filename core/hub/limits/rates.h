/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much a client may ask for: requests per second, of one session and of all the sessions of a
 * principal, and calls in flight of the latter (limits.calls_per_…). One place for all transports:
 * what is over a limit is a JSON-RPC error, whose data say which limit it is and when to try again.
 * `initialize` and `ping` are free, and so is what was asked for before and waited.
 *
 * A principal's account outlives its sessions for as long as its bucket is not full, because a
 * request over HTTP may be a session of its own. Thread: [loop].
 */
#ifndef HUB_HUB_LIMITS_RATES_H
#define HUB_HUB_LIMITS_RATES_H

#include "base/bucket.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct hub_orchestrator;
struct hub_request;
struct hub_session;

/* What a session has left. */
typedef struct hub_session_rates {
    hub_bucket calls;
    hub_bucket updates; /* notices of changed resources (update_pace.h) */
    hub_bucket log_messages;
    uint64_t log_dropped; /* messages that were not sent, and not told of yet */
} hub_session_rates;

/* A principal's. */
typedef struct hub_account hub_account;

/* The accounts of a hub. */
typedef struct hub_accounts {
    hub_account *all;  /* uthash over the principal */
    hub_account *idle; /* without a session, longest first … */
    size_t idle_count; /* … at most HUB_LIMIT_IDLE_ACCOUNTS */
    uint64_t refused;  /* requests, for a rate or for too many in flight */
} hub_accounts;

/* A session begins: its account, made if need be. NULL when out of memory. */
hub_account *hub_rates_join(struct hub_orchestrator *hub, const char *principal);

/* It has ended. NULL is fine. */
void hub_rates_leave(struct hub_orchestrator *hub, hub_account *account);

/* Free the accounts that nobody uses: the hub ends. */
void hub_rates_end(struct hub_orchestrator *hub);

/* Whether the request may be worked on as far as rates go; if not, it has been answered. */
bool hub_rates_admit(const struct hub_request *request);

/* Calls in flight of the principal. */
size_t hub_rates_in_flight(const hub_account *account);

/* Whether its principal may have one call more in flight; and count one that begins or has ended.
 */
bool hub_rates_has_place(const struct hub_session *session);
void hub_rates_call_began(hub_account *account);
void hub_rates_call_ended(hub_account *account);

/* Answer a request that cannot become a call because too many are in flight: of the session, of the
 * principal, or of all. */
void hub_rates_refuse(const struct hub_request *request);

#endif
