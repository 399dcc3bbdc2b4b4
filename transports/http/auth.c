/* SPDX-License-Identifier: Apache-2.0 */
#include "http/auth.h"

#include "base/digest.h"
#include "base/limits.h"
#include "http/syntax.h"

#include <openssl/crypto.h>

enum {
    MOST_TOKEN_BYTES = HUB_LIMIT_JWS_BYTES,
    DIGEST_BYTES = sizeof((hub_token *)0)->sha256,
    SECRET_CHARS = 43, /* 256 bits in base64url without padding */
};

static const char SCHEME[] = "Bearer";
static const char PREFIX[] = "pbt_";

/* b64token of RFC 6750 section 2.1: 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"=" */
static bool is_b64token(hub_str text)
{
    size_t end = text.len;
    while (end > 0 && text.ptr[end - 1] == '=') {
        end--;
    }
    for (size_t i = 0; i < end; i++) {
        char c = text.ptr[i];
        if (!hub_http_is_alnum(c) && (c == '\0' || strchr("-._~+/", c) == NULL)) {
            return false;
        }
    }
    return end > 0;
}

/* "Bearer", spaces, one token: RFC 9110 section 11.4 allows several spaces, and no other scheme is
 * of use here. */
bool hub_auth_read_bearer(hub_str authorization, hub_str *ret_token)
{
    hub_str value = authorization;
    size_t scheme = sizeof SCHEME - 1;
    if (value.len <= scheme || value.ptr[scheme] != ' ' ||
        !hub_str_eq_nocase((hub_str){.ptr = value.ptr, .len = scheme}, hub_str_of(SCHEME))) {
        return false;
    }
    size_t begin = scheme;
    while (begin < value.len && value.ptr[begin] == ' ') {
        begin++;
    }
    *ret_token = hub_str_from(value, begin);
    return ret_token->len <= MOST_TOKEN_BYTES && is_b64token(*ret_token);
}

/* The part of "pbt_ID_SECRET" that says which token it is; empty when it is no such token. Both
 * parts may hold "_", but the secret's length is known; that there is one between them, the digest
 * knows. */
static hub_str id_of(hub_str token)
{
    size_t around = sizeof PREFIX - 1 + 1 + SECRET_CHARS;
    if (token.len <= around || !hub_str_starts(token, hub_str_of(PREFIX))) {
        return HUB_STR_EMPTY;
    }
    return (hub_str){.ptr = token.ptr + sizeof PREFIX - 1, .len = token.len - around};
}

bool hub_auth_is_own(hub_str token)
{
    return id_of(token).len > 0;
}

/* Ids are no secret: the one that does not compare in constant time is this. */
static const hub_token *find(const hub_auth_settings *auth, hub_str id)
{
    for (size_t i = 0; i < auth->token_count; i++) {
        if (hub_str_is(id, auth->tokens[i].id)) {
            return &auth->tokens[i];
        }
    }
    return NULL;
}

/* The same work whether there is such a token or not. */
static bool fits(hub_str text, const hub_token *token)
{
    static const uint8_t NOBODYS[DIGEST_BYTES];
    uint8_t digest[DIGEST_BYTES];
    hub_digest_of(text, digest);
    const uint8_t *wanted = token != NULL ? token->sha256 : NOBODYS;
    bool is_equal = CRYPTO_memcmp(digest, wanted, DIGEST_BYTES) == 0;
    OPENSSL_cleanse(digest, sizeof digest);
    return is_equal && token != NULL;
}

hub_auth_result hub_auth_check(const hub_auth_settings *auth, const hub_str *authorization,
                               int64_t now, hub_identity **ret_identity)
{
    if (!auth->required) {
        *ret_identity = hub_identity_ref(&HUB_IDENTITY_ANONYMOUS);
        return HUB_AUTH_OK;
    }
    if (authorization == NULL) {
        return HUB_AUTH_MISSING;
    }
    hub_str text;
    if (!hub_auth_read_bearer(*authorization, &text)) {
        return HUB_AUTH_MALFORMED;
    }
    const hub_token *token = find(auth, id_of(text));
    if (!fits(text, token) || (token->expires != 0 && token->expires <= now)) {
        return HUB_AUTH_REFUSED;
    }
    hub_identity *identity = hub_token_identify(token);
    if (identity == NULL) {
        return HUB_AUTH_REFUSED;
    }
    *ret_identity = identity;
    return HUB_AUTH_OK;
}
