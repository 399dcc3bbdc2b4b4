/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An identity: who is asking, as a credential says it. The name has its kind in front (`token:NAME`,
 * `jwt:ISSUER#SUB`, `cert:NAME`, `uid:N`, `client:ID@` in front of the name of a proxy), or is `local` (stdio) or `anonymous` (HTTP without
 * authentication): no kind can imitate another. Two credentials of one principal have the same name
 * and may have different rights. Immutable and reference-counted. Decides nothing: access.h does.
 *
 * Thread: [loop].
 */
#ifndef HUB_IDENTITY_IDENTITY_H
#define HUB_IDENTITY_IDENTITY_H

#include "tools/rules.h"

/* Bytes of the digest that tells credentials apart. */
#define HUB_IDENTITY_DIGEST_BYTES 32

typedef struct hub_identity {
    unsigned refs;       /* 0: a constant, which nobody frees */
    const char *name;    /* never NULL */
    hub_names scopes;    /* what the credential was given */
    hub_names groups;    /* whom its owner belongs to */
    hub_str claims;      /* a JSON object that was checked; empty: there are none */
    const char *profile; /* the only profile that it is good for; NULL: any */
    const char *client;  /* whom a proxy speaks for, which is in `name`, too; NULL: for itself */
    hub_names toolsets;  /* the only ones that a proxy permits, sorted; not set: all */
    int64_t expires;     /* seconds since 1970; 0: never */
    uint64_t source; /* which settings of an issuer it was judged by (issuer.h); 0: of no issuer */
    uint8_t credential[HUB_IDENTITY_DIGEST_BYTES];  /* of a token; zeros: of no token */
    uint8_t certificate[HUB_IDENTITY_DIGEST_BYTES]; /* likewise, of a client's certificate */
    /* The token itself, where some toolset exchanges those of its callers (hub_auth_settings), of an issuer
     * alone, and of nobody that a proxy speaks for; NULL: it is not kept. Wiped with the identity. */
    char *token;
} hub_identity;

/* The scope of those who may see and change what belongs to others. */
#define HUB_SCOPE_ADMIN "admin"

/* … and of those who may only see it. */
#define HUB_SCOPE_ADMIN_READ "admin:read"

/* The two that need no credential. */
extern hub_identity HUB_IDENTITY_LOCAL;
extern hub_identity HUB_IDENTITY_ANONYMOUS;

/* Of a credential that is no more; has no rights, and has expired. */
extern hub_identity HUB_IDENTITY_NOBODY;

/* A copy of a draft, whose refs are ignored, in one block.
 * owns:    the result, one reference; NULL: out of memory */
hub_identity *hub_identity_make(const hub_identity *draft);

hub_identity *hub_identity_ref(hub_identity *identity);
void hub_identity_unref(hub_identity *identity); /* NULL is fine */

/* The same, of the client that a proxy speaks for (empty: for itself), with these toolsets alone (not
 * set: all). `client` was checked by hub_client_id_is_good.
 * owns:    the result, one reference; NULL: out of memory */
hub_identity *hub_identity_narrow(const hub_identity *identity, hub_str client,
                                  const hub_names *toolsets);

/* Whether a text can be the id of a client: at most HUB_LIMIT_CLIENT_ID_BYTES letters, digits and
 * "-", ".", "_", "~". */
bool hub_client_id_is_good(hub_str text);

/* What a principal's name looks like, for people. */
#define HUB_PRINCIPAL_KINDS "token:NAME, jwt:ISSUER#SUB, cert:NAME, uid:N, local or anonymous"

/* Whether a name begins with the kind of a principal. A bare name, which is what a token is called, is
 * nobody's. */
bool hub_principal_has_kind(hub_str name);

/* The principal of the credential itself: of `client:ID@NAME`, NAME. */
const char *hub_principal_of_credential(const char *principal);

/* Whether a token made it; whether a client's certificate did. */
bool hub_identity_is_of_token(const hub_identity *identity);
bool hub_identity_is_of_certificate(const hub_identity *identity);

/* Whether its scopes let it read what belongs to others. NULL: no. */
bool hub_identity_may_read_all(const hub_identity *identity);

/* Whether it says the same in everything but the time when it ends. */
bool hub_identity_has_same_rights(const hub_identity *a, const hub_identity *b);

/* What is wrong with the name of a scope (RFC 6749 section 3.3), or of a group: a static sentence, or
 * NULL. */
const char *hub_scope_problem(hub_str scope);
const char *hub_group_problem(hub_str group);

/* Whether it has expired. `now`: seconds since 1970. */
static inline bool hub_identity_is_over(const hub_identity *identity, int64_t now)
{
    return identity->expires != 0 && identity->expires <= now;
}

#endif
