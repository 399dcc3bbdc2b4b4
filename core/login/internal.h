/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this room share. Nobody else includes it. */
#ifndef HUB_LOGIN_INTERNAL_H
#define HUB_LOGIN_INTERNAL_H

#include "base/limits.h"
#include "identity/signer.h"
#include "issuers/fetch.h"
#include "login/challenge.h"
#include "login/credential.h"
#include "login/loopback.h"
#include "login/login.h"
#include "login/metadata.h"
#include "redact/redact.h"

#include <ev.h>

enum {
    LOGIN_RANDOM_BYTES = 32,
    LOGIN_RANDOM_TEXT = 44, /* in base64url, with a NUL */
};

#define LOGIN_DEVICE_GRANT     "urn:ietf:params:oauth:grant-type:device_code"
#define LOGIN_JWT_BEARER_GRANT "urn:ietf:params:oauth:grant-type:jwt-bearer"

/* A way to get a token: one row of the table in grant.c. */
typedef struct login_grant {
    const char *name; /* as an entry has it */
    bool wants_pkce;
    bool is_kept;      /* in the store: it cannot be had again without a user */
    bool is_of_caller; /* it is made of the caller's own token */
    /* No browser comes back: what a client is kept under, instead of where one would. Else NULL. */
    const char *redirect;
    const char *registered; /* grant_types that a new client has, JSON; NULL: none is made */
    void (*begin)(hub_login *login); /* the client is known: get one */
} login_grant;

/* What proves who the client is, instead of a secret. */
typedef struct login_key {
    char *private_key; /* PEM; NULL: there is none */
    char *algorithm;
    char *key_id;
} login_key;

/* The entry's `auth.identity_provider`. */
typedef struct login_provider {
    char *issuer; /* NULL: there is none */
    char *client_id;
    char *client_secret;
    login_key key;
} login_provider;

/* The entry's `auth`. */
typedef struct login_settings {
    bool is_sure;
    const login_grant *grant;
    char *issuer;
    char *client_id;
    char *client_secret;
    char *scopes;
    char *redirect_uri;
    char *document; /* where a document of the hub as a client is: its client_id then */
    login_key key;
    /* What is exchanged, and for what. */
    char *audience;
    char *
        subject_token; /* its kind: the last word of a type of RFC 8693, section 3; NULL: the grant's */
    char *subject_issuer; /* whose tokens they are; NULL: of who exchanges them */
    login_provider provider;
} login_settings;

struct hub_logins {
    struct ev_loop *loop;
    hub_store *store;
    hub_logins_options options;
    hub_fetcher *fetcher;
    hub_state_watch *watch;
    hub_loopback *loopback; /* while somebody logs in */
    hub_login *logins;
    size_t count;
    bool is_stopped;
    char self[LOGIN_RANDOM_TEXT]; /* this process, in leases */
};

struct hub_login_wait {
    hub_login *login;
    struct hub_login_wait *next;
    struct hub_login_wait *prev;
    hub_login_on_end *on_end;
    void *ctx;
    uint64_t generation;
    bool only_reads; /* … whether there is one */
    bool is_by_user;
    bool is_logout;
    bool must_revoke; /* … or the login stays */
    bool is_ending;   /* what was being done has failed; who comes now waits for the next attempt */
};

/* A user at the browser. */
typedef struct login_flow {
    char state[LOGIN_RANDOM_TEXT];
    char verifier[LOGIN_RANDOM_TEXT];
    char *redirect_uri;
    char *scope;
    char *link; /* NULL: not made yet, or used */
    bool was_shown;
    /* RFC 8628 */
    char *device_code;
    char *user_code;
    double interval_s; /* from one question whether the user has said yes to the next */
    double until_s;    /* of login_clock_s */
} login_flow;

struct hub_login {
    hub_logins *all;
    hub_login *next;
    hub_login *prev;
    size_t refs;
    char *toolset;
    char *owner;
    char *url;
    char *ca;
    bool only_public;
    char *settings_text;
    char *grant_text;
    login_settings settings;

    hub_credential kept;   /* of the store, as of `version` */
    hub_credential client; /* the hub at its authorization server; its url is the redirect's */
    uint64_t version;
    uint64_t generation; /* of the access token; counted in this process */
    bool is_fresh; /* this process has asked for it; others' may be as old as the one before */
    bool is_read;
    bool has_changed; /* in the store, while something was being done */
    hub_buf header;
    hub_redact_set *secrets;
    hub_signer *signer; /* by settings.key; NULL: not needed yet */

    /* What is being done: one thing at a time. */
    bool is_busy;
    bool awaits_lease;      /* another process refreshes it */
    uint64_t lease_version; /* of the record, when a lease of others was seen first, … */
    double lease_seen;      /* … by the loop's clock */
    hub_state_op *op;
    hub_fetch *fetch;
    ev_timer timer; /* to the end of the user's time, of somebody else's lease, or of this turn */
    void (*on_timer)(hub_login *login);
    void (*on_kept)(hub_login *login);
    unsigned place; /* which address is tried next */
    hub_login_challenge challenge;
    bool wants_user;    /* refreshing will not help */
    char *wanted_scope; /* of the step up; NULL */
    char *not_revoked;  /* logging out: why the authorization server was not told; NULL: it was */
    hub_login_places places;
    hub_login_places *looked_for;       /* these, or the provider's: whose metadata are read, … */
    void (*on_found)(hub_login *login); /* … and what is done with them */
    login_flow flow;

    /* An enterprise's identity provider, where its users' tokens are exchanged. */
    hub_login_places provider;
    hub_credential at_provider;  /* the hub as its client */
    hub_signer *provider_signer; /* by settings.provider.key; NULL: not needed yet */

    hub_login_wait *waits;
    size_t wait_count;
};

/* ---- login.c ---- */
/* What was being done has ended: everybody who waits is told, or what they wait for goes on. */
void login_end(hub_login *login, hub_err err, const char *format, ...) HUB_PRINTF(3, 4);
/* Whoever wanted the login to end is told. */
void login_end_logout(hub_login *login, hub_err err, const char *why);
/* Whether somebody wants it forgotten though its tokens cannot be revoked. */
bool login_may_forget(const hub_login *login);
/* Go on with whoever waits. */
void login_go_on(hub_login *login);
/* Do this when the loop comes round, or after some time. */
void login_later(hub_login *login, double seconds, void (*then)(hub_login *login));
/* The tokens are others now: hide them, and tell. */
void login_changed(hub_login *login);
/* Random text. False: none can be had. */
bool login_random(char ret_text[LOGIN_RANDOM_TEXT]);
char *login_dup(const char *text); /* NULL stays NULL */
uint64_t login_now_s(void);

/* Seconds of a clock that nobody sets: for how long something takes. */
double login_clock_s(void);

/* ---- settings.c ---- */
/* `json`: NULL: nothing is said. False: it is none, or there is no memory; to be finished all the same. */
bool login_settings_read(const char *json, login_settings *settings);
void login_settings_fini(login_settings *settings); /* wipes */
/* Whose tokens are exchanged. */
const char *login_subject_issuer(const hub_login *login);

/* ---- keep.c ---- */
void login_read(hub_login *login); /* then login_go_on */
/* Write login->kept if nobody else has; then `then`, or login_read and login_go_on. */
void login_keep(hub_login *login, void (*then)(hub_login *login));
/* Delete it, whatever is there; then login_end_logout. */
void login_delete(hub_login *login);
hub_err login_watch(hub_logins *logins);

/* ---- discover.c ---- */
void login_discover(hub_login *login); /* then login_find_client, or the end */
/* Read the metadata of the identity provider of the entry; then `then`, or the end. */
void login_read_provider(hub_login *login, void (*then)(hub_login *login));
/* Ask for a document. What cannot be started ends later, as one that failed. */
void login_fetch(hub_login *login, const hub_fetch_request *request, hub_fetch_on_end *on_end);

/* ---- client.c ---- */
void login_find_client(hub_login *login); /* then login_ask_user, or login_ask_as_client */
/* The authorization server does not know it any more. */
void login_forget_client(hub_login *login);

/* ---- flow.c ---- */
void login_ask_user(hub_login *login);
/* The user has a link now. */
void login_tell_link(hub_login *login);
/* What to ask for. owns: the result; NULL: nothing, or out of memory */
char *login_find_scope(const hub_login *login);
void login_flow_fini(hub_login *login);

/* ---- grant.c ---- */
/* NULL: that of a user with a browser; without a row: NULL. */
const login_grant *login_grant_find(const char *name);

/* ---- device.c ---- */
void login_ask_device(hub_login *login);

/* ---- exchange.c ---- */
void login_exchange_token(hub_login *login);
void login_ask_by_assertion(hub_login *login);

/* ---- token.c ---- */
void login_refresh(hub_login *login);
enum { LOGIN_FORM_BYTES = 8 * HUB_LIMIT_LOGIN_TEXT_BYTES };
/* Ask `endpoint` as `client`, with its credentials in the form or beside it. Frees `form`. */
void login_ask(hub_login *login, const hub_credential *client, const char *endpoint, hub_buf *form,
               hub_fetch_on_end *on_end);
/* What the token endpoint has answered to a grant becomes the login. */
void login_take_grant(hub_login *login, const hub_fetched *fetched);
/* … and that it was not granted by `who`, is its end. */
void login_end_refused(hub_login *login, const char *who, const hub_fetched *fetched);
/* Add the resource that the tokens are to be for (RFC 8707). */
void login_add_resource(const hub_login *login, hub_buf *form);
/* Whether an answer is this error. */
bool login_says(const hub_fetched *fetched, const char *error);
void login_exchange_code(hub_login *login, hub_str code);
void login_ask_as_client(hub_login *login);
/* Tell the authorization server that the tokens are not needed any more, and forget them. */
void login_log_out(hub_login *login);

#endif
