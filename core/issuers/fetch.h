/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small documents over HTTP, for what verifies tokens, and reports to collectors: exchanged by libcurl
 * on the loop, bounded in size and time. Only over https, but with this machine itself, unless a request
 * says otherwise; a redirect is not followed, since an issuer's keys are where the issuer says.
 * Thread: [loop].
 */
#ifndef HUB_ISSUERS_FETCH_H
#define HUB_ISSUERS_FETCH_H

#include "base/err.h"

struct ev_loop;

typedef struct hub_fetcher hub_fetcher;
typedef struct hub_fetch hub_fetch;

typedef struct hub_fetch_request {
    const char *url;
    const char *ca;       /* PEM file, instead of the system's authorities; NULL: those */
    hub_str form;         /* POST: an encoded form; empty: GET */
    hub_str json;         /* POST: a JSON text instead; empty: none */
    bool is_json_lent;    /* `json` stays where it is until the end, and is not copied */
    hub_str headers;      /* more of them, each "Name: value\n"; empty: none */
    uint32_t timeout_ms;  /* 0: HUB_LIMIT_FETCH_MS */
    bool is_plain_ok;     /* http of other machines, too */
    const char *accept;   /* the header that says what may come; NULL: JSON */
    const char *user;     /* a client's id: HTTP Basic (RFC 6749, 2.3.1); NULL: nobody */
    const char *password; /* … its secret; NULL: empty */
    bool only_public;     /* nothing connects to an internal address (patchbay/address.h) */
} hub_fetch_request;

typedef struct hub_fetched {
    bool is_there;      /* status 200, and all of it */
    long status;        /* of an answer that came whole; 0: none did */
    hub_str body;       /* borrowed for the call, as the next */
    hub_str challenge;  /* WWW-Authenticate, its lines joined by commas; empty: none */
    uint32_t max_age_s; /* of Cache-Control; 0: it says nothing */
    uint32_t retry_s;   /* of Retry-After, in seconds; 0: it says nothing, or a date */
    const char *why;    /* not there: why not, for the log; borrowed for the call */
} hub_fetched;

/* Comes exactly once, from the loop, never before hub_fetch_start has returned, unless the fetch is
 * cancelled. It may start and cancel fetches. */
typedef void hub_fetch_on_end(void *ctx, const hub_fetched *fetched);

/* Whether a document may be fetched from there: https, or http of this machine. */
bool hub_fetch_may(const char *url);

/* Costs nothing before the first fetch. NULL when out of memory. */
hub_fetcher *hub_fetcher_create(struct ev_loop *loop);

/* Load libcurl now, which takes 5 ms, and not when the first fetch starts. That tells what is wrong. */
void hub_fetcher_prepare(hub_fetcher *fetcher);
void hub_fetcher_destroy(hub_fetcher *fetcher); /* its fetches are cancelled; NULL is fine */

/* owns:    *ret_fetch lives until on_end is called, or hub_fetch_cancel; the request is copied but for
 *          a `json` that is lent
 * errors:  HUB_EUNAVAILABLE (libcurl), HUB_EDENIED (hub_fetch_may), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_fetch_start(hub_fetcher *fetcher, const hub_fetch_request *request,
                                       hub_fetch_on_end *on_end, void *ctx, hub_fetch **ret_fetch,
                                       hub_error *reterr);
void hub_fetch_cancel(hub_fetch *fetch); /* NULL is fine */

#endif
