/* SPDX-License-Identifier: Apache-2.0 */
#include "identity/credentials.h"

#include <stdio.h>

enum { NAME_BYTES = 128 }; /* the kind, and a token's name of 64 characters (config/tokens.h) */

static const char KIND[] = "token:";
static const char ISSUED[] = "jwt:";

hub_identity *hub_token_identify(const hub_token *token)
{
    char name[NAME_BYTES];
    int len = snprintf(name, sizeof name, "%s%s", KIND, token->name);
    hub_assert(len > 0 && (size_t)len < sizeof name);
    hub_identity draft = {.name = name,
                          .scopes = token->scopes,
                          .groups = token->groups,
                          .profile = token->profile,
                          .expires = token->expires};
    memcpy(draft.credential, token->sha256, sizeof draft.credential);
    return hub_identity_make(&draft);
}

static const hub_token *find_token(const hub_auth_settings *auth, const hub_identity *identity)
{
    for (size_t i = 0; i < auth->token_count; i++) {
        if (memcmp(auth->tokens[i].sha256, identity->credential, HUB_IDENTITY_DIGEST_BYTES) == 0) {
            return &auth->tokens[i];
        }
    }
    return NULL;
}

static bool has_source(const hub_auth_settings *auth, uint64_t source)
{
    for (size_t i = 0; i < auth->issuer_count; i++) {
        if (auth->issuers[i].print == source) {
            return true;
        }
    }
    return false;
}

bool hub_auth_renew(const hub_auth_settings *auth, hub_identity **identity)
{
    if (!auth->required || !hub_identity_is_of_token(*identity)) {
        return !auth->required && !hub_identity_is_of_token(*identity);
    }
    if ((*identity)->source != 0) {
        return has_source(auth, (*identity)->source);
    }
    const hub_token *token = find_token(auth, *identity);
    hub_identity *next = token != NULL ? hub_token_identify(token) : NULL;
    if (next != NULL && ((*identity)->client != NULL || (*identity)->toolsets.set)) {
        hub_identity *whole = next;
        next = hub_identity_narrow(whole, hub_str_of((*identity)->client), &(*identity)->toolsets);
        hub_identity_unref(whole);
    }
    if (next == NULL || strcmp(next->name, (*identity)->name) != 0) {
        hub_identity_unref(next);
        return false;
    }
    hub_identity_unref(*identity);
    *identity = next;
    return true;
}

bool hub_auth_knows(const hub_auth_settings *auth, const char *principal)
{
    principal = hub_principal_of_credential(principal);
    if (!auth->required) {
        return strcmp(principal, HUB_IDENTITY_ANONYMOUS.name) == 0;
    }
    for (size_t i = 0; i < auth->token_count; i++) {
        if (hub_str_starts(hub_str_of(principal), hub_str_of(KIND)) &&
            strcmp(auth->tokens[i].name, principal + sizeof KIND - 1) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < auth->issuer_count; i++) {
        hub_str rest = hub_str_of(principal);
        hub_str issuer = hub_str_of(auth->issuers[i].jwt.issuer);
        if (hub_str_starts(rest, hub_str_of(ISSUED)) &&
            hub_str_starts(hub_str_from(rest, sizeof ISSUED - 1), issuer) &&
            principal[sizeof ISSUED - 1 + issuer.len] == '#') {
            return true;
        }
    }
    return false;
}
