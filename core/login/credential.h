/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of a login, and of the hub as a client of an authorization server: texts, as JSON in the
 * store. Thread: [any].
 */
#ifndef HUB_LOGIN_CREDENTIAL_H
#define HUB_LOGIN_CREDENTIAL_H

#include "base/buf.h"
#include "state/store.h"

/* Kinds of the store, both secret. A login is kept under its owner and its toolset; a client, which all
 * owners share, under the digest of its issuer. */
extern const hub_state_kind HUB_LOGIN_KIND;
extern const hub_state_kind HUB_LOGIN_CLIENT_KIND;

/* All on the heap; NULL: there is none. */
typedef struct hub_credential {
    char *url;      /* of the server; for another one it is not used */
    char *resource; /* what the tokens are for */
    char *issuer;
    char *token_endpoint;
    char *revocation_endpoint;
    char *client_id;
    char *client_secret;
    char *client_auth; /* token_endpoint_auth_method */
    char *scope;
    char *access_token;
    char *refresh_token;
    char *lease; /* who refreshes it now; … */
    uint64_t lease_until_s;
    uint64_t expires_s; /* since 1970; 0: nobody says */
} hub_credential;

void hub_credential_fini(hub_credential *credential); /* wipes */

/* errors:  HUB_EPARSE (no such document), HUB_ENOMEM. Zeros are expected. */
HUB_MUST_CHECK hub_err hub_credential_read(hub_str json, hub_credential *ret_credential);
void hub_credential_add(hub_buf *out, const hub_credential *credential);

/* Append what people may know of the login of `owner` (empty: the hub's own) to a toolset, a JSON object:
 * no token, no secret. */
void hub_credential_add_public(hub_buf *out, hub_str toolset, hub_str owner,
                               const hub_credential *credential);

/* Wipe a text and free it, set it to NULL. */
void hub_login_forget_text(char **text);

/* The text of a member of an object, of at most `most` bytes of printable ASCII; with `is_word` without
 * spaces. NULL when it is none of that, or no memory. owns:    the result */
char *hub_login_dup_member(hub_str object, const char *name, size_t most, bool is_word);

#endif
