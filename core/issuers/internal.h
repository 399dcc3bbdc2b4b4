/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share; nobody else includes it. */
#ifndef HUB_ISSUERS_INTERNAL_H
#define HUB_ISSUERS_INTERNAL_H

#include "base/digest.h"
#include "base/limits.h"
#include "base/map.h"
#include "identity/jwt.h"
#include "issuers/fetch.h"
#include "issuers/issuers.h"

#include <ev.h>

/* One issuer, and the keys that it signs with. */
typedef struct issuer_state {
    struct issuer_state *next;
    hub_issuers *owner;
    const hub_issuer_settings *settings;
    hub_jwks *keys;        /* NULL: not fetched yet */
    hub_buf text;          /* … and what they were read from, to see whether others have come */
    hub_buf keys_url;      /* as the issuer says; empty: not known */
    hub_fetch *fetch;      /* under way; NULL: none */
    unsigned step;         /* which of the places of discovery is asked */
    int64_t tried_s;       /* when keys were asked for last while there were none; 0: never */
    int64_t said_s;        /* when the log was told last that it does not answer */
    int64_t looked_s;      /* … and when others were asked for than those that there are */
    int64_t fresh_until_s; /* until when the keys are not asked for again */
} issuer_state;

typedef enum token_state {
    TOKEN_QUEUED,  /* to be verified */
    TOKEN_WAITING, /* for its issuer's keys, or for the issuer's answer */
    TOKEN_GOOD,
    TOKEN_REFUSED,
    TOKEN_UNAVAILABLE,
    TOKEN_STATES,
} token_state;

/* A token that is to be judged, or was. */
typedef struct hub_issuers_token {
    UT_hash_handle hh;
    uint8_t digest[HUB_DIGEST_BYTES];
    hub_issuers *owner;
    token_state state;
    struct hub_issuers_token *next; /* of that state, oldest first */
    struct hub_issuers_token *prev;
    issuer_state *issuer;   /* NULL: not known yet, or nobody's */
    uint64_t print;         /* of the issuer's settings when it was judged */
    char *text;             /* until it is judged */
    hub_fetch *question;    /* put to the issuer; NULL: none */
    bool was_asked;         /* the issuer has answered: its keys have no part in that */
    bool is_told;           /* its waiters are at work: it stays */
    bool has_new_keys;      /* keys were fetched for it already */
    size_t tries;           /* keys that it was tried with in vain */
    hub_identity *identity; /* GOOD */
    char reason[128];       /* REFUSED */
    int64_t until_s;        /* judged again from then on */
    hub_issuers_waiter *waiters;
} hub_issuers_token;

struct hub_issuers {
    struct ev_loop *loop;
    const hub_auth_settings *auth;
    bool keeps_tokens; /* with the identities that they make */
    hub_fetcher *fetcher;
    issuer_state *issuers;
    hub_issuers_token *tokens; /* uthash, by digest */
    size_t count;
    size_t open; /* that are not judged */
    struct {
        hub_issuers_token *first;
        hub_issuers_token *last;
    } lists[TOKEN_STATES];
    ev_timer turn; /* 0 s: the next token */
};

/* issuers.c */
void issuers_move(hub_issuers_token *token, token_state state);
/* It is good: who it makes its owner. Takes the identity over. */
void issuers_accept(hub_issuers_token *token, hub_identity *identity, int64_t until_s);
void issuers_requeue(issuer_state *issuer); /* all that wait for its keys */
/* What was judged by its keys, or all, is judged anew. */
void issuers_forget_of(issuer_state *issuer, bool is_all);
void issuers_end_token(hub_issuers_token *token, token_state state, int64_t until_s,
                       const char *reason);

/* keys.c */
/* Fetch keys, unless a fetch is under way. False: they cannot be asked for now. */
bool issuer_fetch_keys(issuer_state *issuer, int64_t now);
bool issuer_may_fetch(const issuer_state *issuer, int64_t now);
hub_err issuer_read_own_keys(issuer_state *issuer);
/* Say in the log that it does not answer, not too often. */
void issuer_complain(issuer_state *issuer, const char *what, const char *why);
void issuer_finish(issuer_state *issuer);

/* introspection.c */
/* The issuer is asked of an opaque token. */
void issuer_ask(issuer_state *issuer, hub_issuers_token *token);

#endif
