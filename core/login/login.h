/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logins to servers: the client side of MCP's authorization. One login is one user's (or the hub's) at one
 * toolset's server. It is read from the store, refreshed when the server refuses its token, and made anew
 * by a user with a browser when there is nothing to refresh. Whoever needs it waits; however many wait,
 * there is one flow. It knows no hub, no toolset and no client: only addresses, names and the store.
 *
 *   login.c       one login: who waits, and what is done next
 *   settings.c    the entry's `auth`
 *   keep.c        in the store: read, kept, followed; who may refresh
 *   discover.c    from the server's 401 to its authorization server
 *   client.c      the hub as that one's client: configured, kept or registered
 *   grant.c       the table of grants: ways to get a token
 *   flow.c        the user's part: the link, and what comes back
 *   device.c      the same with a browser of any other machine
 *   exchange.c    no user's part: a token for the caller's own
 *   token.c       the token endpoint, and the end of a login
 *   loopback.c    the address on this machine that browsers come back to
 *   metadata.c url.c challenge.c credential.c   texts
 *
 * spec: MCP 2026-07-28 basic/authorization; RFC 6749, 7009, 7523, 7591, 7636, 8414, 8628, 8693,
 * 8707, 9207, 9728; MCP extension enterprise-managed-authorization
 * Thread: [loop].
 */
#ifndef HUB_LOGIN_LOGIN_H
#define HUB_LOGIN_LOGIN_H

#include "state/store.h"

typedef struct hub_logins hub_logins;
typedef struct hub_login hub_login;
typedef struct hub_login_wait hub_login_wait;

typedef struct hub_logins_options {
    /* The user has to follow a link now (hub_login_link), or not any more. May be NULL. */
    void (*on_link)(void *ctx, hub_login *login);
    /* There are other tokens, or none. May be NULL. */
    void (*on_change)(void *ctx, hub_login *login);
    /* The newest token that the login's owner has shown, if it is of that issuer and good; NULL: there is
     * none. Borrowed until the loop goes on. May be NULL: nobody knows. */
    const char *(*find_token)(void *ctx, const hub_login *login, const char *issuer);
    void *ctx;
} hub_logins_options;

/* owns:    *ret_logins; the store must outlive it */
HUB_MUST_CHECK hub_err hub_logins_create(struct ev_loop *loop, hub_store *store,
                                         const hub_logins_options *options,
                                         hub_logins **ret_logins);
/* Follow the store no longer, which is about to end, and tell of no link and no change: whoever was told ends, too. */
void hub_logins_stop(hub_logins *logins);
/* Nobody waits any more, all logins are unreferenced, and the store has ended or nothing is asked of it
 * any more. NULL is fine. */
void hub_logins_destroy(hub_logins *logins);

/* Which login, and how. Strings are copied. */
typedef struct hub_login_what {
    const char *toolset;
    const char *owner; /* a principal; "": the hub's own */
    const char *url;   /* of the server; NULL: whatever it is of, to be ended */
    const char *ca;    /* PEM file, instead of the system's authorities; NULL */
    bool only_public;  /* neither the server nor what it names may be at an internal address */
    const char *grant; /* instead of the settings'; NULL */
    const char
        *settings; /* the entry's `auth`, as core/config/login.c writes it; NULL: nothing said */
} hub_login_what;

/* The login; made when it is not there yet.
 * owns:    *ret_login, hub_login_unref
 * errors:  HUB_EINVAL (the url), HUB_ELIMIT (too many), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_login_get(hub_logins *logins, const hub_login_what *what,
                                     hub_login **ret_login, hub_error *reterr);
hub_login *hub_login_ref(hub_login *login);
void hub_login_unref(hub_login *login); /* NULL is fine */

/* All logins that somebody holds: begin with NULL; NULL: no more. Borrowed. */
hub_login *hub_logins_next(const hub_logins *logins, const hub_login *after);

const char *hub_login_toolset(const hub_login *login);
const char *hub_login_owner(const hub_login *login);

/* Whether it is made of its owner's own token: no user can log in. */
bool hub_login_is_of_caller(const hub_login *login);

/* Whether its user's browser comes back to a hub's listener (/oauth/callback): nobody else is told of it. */
bool hub_login_ends_at_hub(const hub_login *login);

/* The value of the header Authorization; empty when there is no token. Borrowed until the loop goes on.
 * *ret_generation: tells this token from others; 0: none. */
hub_str hub_login_header(hub_login *login, uint64_t *ret_generation);

/* Why a token is wanted. */
typedef struct hub_login_need {
    uint64_t generation; /* of the token that was refused; 0: there was none */
    hub_str challenge;   /* WWW-Authenticate; empty: the server has not been asked yet */
    bool is_again;       /* the one before was refused, too: a fresh one is not refreshed */
    bool is_by_user;     /* somebody wants to log in, whatever there is */
} hub_login_need;

/* How waiting has ended: HUB_OK, there is another token; HUB_ENOTFOUND, the server does not say where to
 * log in, and no entry does; anything else: `why` says what to do. Comes once, never before the function
 * has returned. The wait is gone then. */
typedef void hub_login_on_end(void *ctx, hub_err err, const char *why);

/* Get a token. With NULL: only wait until it is known whether there is one.
 * owns:    *ret_wait until on_end or hub_login_wait_cancel
 * errors:  HUB_ELIMIT, HUB_ENOMEM, HUB_EINVAL (its server is not known) */
HUB_MUST_CHECK hub_err hub_login_wait_for(hub_login *login, const hub_login_need *need,
                                          hub_login_on_end *on_end, void *ctx,
                                          hub_login_wait **ret_wait);
void hub_login_wait_cancel(hub_login_wait *wait); /* NULL is fine */

/* End a login: its tokens are revoked where the authorization server does that (RFC 7009), and forgotten;
 * with `must_revoke` only if they were revoked. on_end with HUB_OK and a `why`: that server was not told,
 * and why. As hub_login_wait_for. */
HUB_MUST_CHECK hub_err hub_login_log_out(hub_login *login, bool must_revoke,
                                         hub_login_on_end *on_end, void *ctx,
                                         hub_login_wait **ret_wait);

/* Whether there is none: nobody has logged in, or whoever had has logged out. */
bool hub_login_is_absent(const hub_login *login);

/* Where the user logs in; NULL while nobody has to. */
const char *hub_login_link(const hub_login *login);
/* What the user is asked for there; NULL: nothing. */
const char *hub_login_code(const hub_login *login);

/* What a browser has come back with: the query of the redirect. *ret_page: what to tell its user, a text.
 * False: no login waits for this. */
bool hub_logins_take_answer(hub_logins *logins, hub_str query, const char **ret_page);

#endif
