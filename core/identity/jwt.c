/* SPDX-License-Identifier: Apache-2.0 */
#include "identity/jwt.h"

#include "base/digest.h"
#include "base/limits.h"
#include "wire/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

/* ---- reading --------------------------------------------------------------------------------- */

/* Access tokens say so, or say nothing special: ID tokens of some issuers differ in nothing else. */
static bool is_access_token(hub_str type)
{
    static const char *const TYPES[] = {"at+jwt", "application/at+jwt", "JWT", "application/jwt"};
    bool is_known = type.len == 0;
    for (size_t i = 0; i < sizeof TYPES / sizeof TYPES[0]; i++) {
        is_known = is_known || hub_str_eq_nocase(type, hub_str_of(TYPES[i]));
    }
    return is_known;
}

static hub_err read_issuer(hub_str claims, hub_buf *ret_issuer, hub_error *reterr)
{
    hub_str name = HUB_STR_EMPTY;
    hub_buf_init(ret_issuer, HUB_LIMIT_JWS_BYTES);
    if (hub_json_type_of(claims) == HUB_JSON_OBJECT) {
        name = hub_json_get(claims, HUB_STR("iss"));
    }
    if (hub_json_decode(name, ret_issuer) == HUB_EINVAL) {
        return hub_fail(reterr, HUB_EPARSE, "the token does not say who issued it");
    }
    return hub_buf_ok(ret_issuer) ? HUB_OK : hub_fail(reterr, HUB_ENOMEM, "out of memory");
}

hub_err hub_jwt_read(hub_str token, hub_jwt *ret_jwt, hub_error *reterr)
{
    *ret_jwt = (hub_jwt){.text = token};
    hub_err err = hub_jws_read(token, &ret_jwt->jws, reterr);
    if (err != HUB_OK) {
        return err;
    }
    if (!is_access_token(hub_buf_str(&ret_jwt->jws.type))) {
        return hub_fail(reterr, HUB_EDENIED, "the token is not an access token, as its typ says");
    }
    /* What passes here may be shown to rules as text, which the hub's own scanner has to accept. */
    hub_str text;
    if (hub_json_check(hub_buf_str(&ret_jwt->jws.payload), &text, NULL) != HUB_OK) {
        return hub_fail(reterr, HUB_EPARSE, "the token's claims are not JSON");
    }
    return read_issuer(text, &ret_jwt->issuer, reterr);
}

void hub_jwt_fini(hub_jwt *jwt)
{
    hub_jws_fini(&jwt->jws);
    hub_buf_fini(&jwt->issuer);
}

/* ---- claims ---------------------------------------------------------------------------------- */

/* Seconds since 1970; false when it is none. */
static bool read_date(const json_t *claims, const char *name, double *ret_date)
{
    const json_t *value = json_object_get(claims, name);
    *ret_date = json_number_value(value);
    return json_is_number(value) && isfinite(*ret_date);
}

static hub_err check_times(const json_t *claims, int64_t now, hub_error *reterr)
{
    double date;
    if (!read_date(claims, "exp", &date)) {
        return hub_fail(reterr, HUB_EDENIED, "the token does not say when it expires");
    }
    if (date + HUB_JWT_LEEWAY_S <= (double)now) {
        return hub_fail(reterr, HUB_EDENIED, "the token has expired");
    }
    if (json_object_get(claims, "nbf") == NULL) {
        return HUB_OK;
    }
    if (!read_date(claims, "nbf", &date) || date - HUB_JWT_LEEWAY_S > (double)now) {
        return hub_fail(reterr, HUB_EDENIED, "the token is not valid yet");
    }
    return HUB_OK;
}

static bool is_named(const json_t *value, const hub_names *names)
{
    return json_is_string(value) && strlen(json_string_value(value)) == json_string_length(value) &&
           hub_names_have(names, hub_str_of(json_string_value(value)));
}

static bool is_for_us(const json_t *claims, const hub_names *audiences)
{
    const json_t *value = json_object_get(claims, "aud");
    if (!json_is_array(value)) {
        return is_named(value, audiences);
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        if (is_named(json_array_get(value, i), audiences)) {
            return true;
        }
    }
    return false;
}

/* One step of a pointer: `token` is escaped. */
static json_t *step_into(const json_t *value, hub_str token)
{
    char name[HUB_LIMIT_JWT_POINTER_BYTES + 1];
    size_t len = 0;
    for (size_t i = 0; i < token.len && len + 1 < sizeof name; i++) {
        char c = token.ptr[i];
        if (c == '~' && i + 1 < token.len) {
            c = token.ptr[++i] == '1' ? '/' : '~';
        }
        name[len++] = c;
    }
    name[len] = '\0';
    if (!json_is_array(value)) {
        return json_object_get(value, name);
    }
    char *end;
    unsigned long index = strtoul(name, &end, 10);
    return end != name && *end == '\0' ? json_array_get(value, index) : NULL;
}

/* RFC 6901; NULL: there is no such claim. */
static const json_t *claim_at(const json_t *claims, const char *pointer)
{
    hub_str rest = hub_str_of(pointer);
    const json_t *value = claims;
    while (value != NULL && rest.len > 0) {
        rest = hub_str_from(rest, 1); /* the slash */
        size_t len = hub_str_find(rest, HUB_STR("/"));
        len = len == SIZE_MAX ? rest.len : len;
        value = step_into(value, (hub_str){.ptr = rest.ptr, .len = len});
        rest = hub_str_from(rest, len);
    }
    return value;
}

/* ---- scopes and groups ----------------------------------------------------------------------- */

typedef struct name_list {
    const char *items[HUB_LIMIT_JWT_NAMES];
    size_t count;
    hub_buf text; /* what the items point into; reserved once, so that it stays where it is */
    const char *(*problem)(hub_str name);
} name_list;

/* What could not be written into a rule is nobody's scope or group, and is left out. */
static void add_name(name_list *names, hub_str name)
{
    if (names->count == HUB_LIMIT_JWT_NAMES || names->problem(name) != NULL) {
        return;
    }
    size_t begin = names->text.len;
    hub_buf_add(&names->text, name);
    hub_buf_add_char(&names->text, '\0');
    if (hub_buf_ok(&names->text)) {
        names->items[names->count++] = names->text.ptr + begin;
    }
}

static void add_words(name_list *names, hub_str text)
{
    for (text = hub_str_skip_space(text); text.len > 0; text = hub_str_skip_space(text)) {
        size_t len = hub_str_find(text, HUB_STR(" "));
        len = len == SIZE_MAX ? text.len : len;
        add_name(names, (hub_str){.ptr = text.ptr, .len = len});
        text = hub_str_from(text, len);
    }
}

static hub_str text_of(const json_t *value)
{
    return (hub_str){.ptr = json_string_value(value), .len = json_string_length(value)};
}

static hub_err read_names(const json_t *value, name_list *names)
{
    hub_buf_init(&names->text, 2 * HUB_LIMIT_JWS_BYTES);
    /* Each name is shorter than its JSON: quotes or a space against a NUL. */
    if (hub_buf_reserve(&names->text, HUB_LIMIT_JWS_BYTES) == NULL) {
        return HUB_ENOMEM;
    }
    if (json_is_string(value)) {
        add_words(names, text_of(value));
    }
    for (size_t i = 0; json_is_array(value) && i < json_array_size(value); i++) {
        const json_t *item = json_array_get(value, i);
        if (json_is_string(item)) {
            add_name(names, text_of(item));
        }
    }
    return HUB_OK;
}

static const json_t *scopes_of(const json_t *claims, const hub_jwt_issuer *issuer)
{
    if (issuer->scopes_at != NULL) {
        return claim_at(claims, issuer->scopes_at);
    }
    const json_t *scope = json_object_get(claims, "scope");
    return scope != NULL ? scope : json_object_get(claims, "scp");
}

/* ---- verifying ------------------------------------------------------------------------------- */

static const hub_jwk *next_key(const hub_jws *jws, const hub_jwks *keys, const hub_jwk *after)
{
    return hub_jwks_find(keys, jws->algorithm, hub_buf_str(&jws->kid), after);
}

/* By the first key that was not tried yet. */
static hub_err check_signature(const hub_jws *jws, const hub_jwks *keys, size_t *tries,
                               hub_error *reterr)
{
    const hub_jwk *key = next_key(jws, keys, NULL);
    if (key == NULL) {
        return hub_fail(reterr, HUB_ENOTFOUND, "no key of the issuer fits the token");
    }
    for (size_t i = 0; key != NULL && i < *tries; i++) {
        key = next_key(jws, keys, key);
    }
    if (key != NULL && hub_jws_is_signed_by(jws, key)) {
        return HUB_OK;
    }
    if (key != NULL && ++*tries < HUB_LIMIT_JWS_TRIES && next_key(jws, keys, key) != NULL) {
        return HUB_EBUSY;
    }
    return hub_fail(reterr, HUB_EDENIED, "the token's signature is wrong");
}

/* A name that can be written into logs, rules and the store. */
static bool is_writable(const char *subject, size_t len)
{
    hub_str rest = {.ptr = subject, .len = len};
    while (rest.len > 0) {
        size_t length = hub_str_utf8_length(rest);
        if (length == 0 || hub_str_is_control(rest, length)) {
            return false;
        }
        rest = hub_str_from(rest, length);
    }
    return len > 0;
}

typedef struct judged_claims {
    const json_t *claims;
    hub_str text;  /* of them */
    hub_str token; /* that they are of */
} judged_claims;

static hub_err make_identity(const judged_claims *judged, const hub_jwt_issuer *issuer,
                             const name_list *scopes, const name_list *groups,
                             hub_identity **ret_identity, hub_error *reterr)
{
    const json_t *subject = json_object_get(judged->claims, "sub");
    const json_t *end = json_object_get(judged->claims, "exp");
    size_t len = json_string_length(subject);
    char name[HUB_LIMIT_PRINCIPAL_BYTES + 1];
    if (subject == NULL || !is_writable(json_string_value(subject), len) ||
        len + strlen(issuer->issuer) + sizeof "jwt:#" > sizeof name) {
        return hub_fail(reterr, HUB_EDENIED, "the token does not say whose it is, or not plainly");
    }
    (void)snprintf(name, sizeof name, "jwt:%s#%s", issuer->issuer, json_string_value(subject));
    hub_identity draft = {
        .name = name,
        .scopes = {.items = scopes->items, .count = scopes->count, .set = true},
        .groups = {.items = groups->items, .count = groups->count, .set = true},
        .claims = judged->text,
        .expires = end != NULL ? (int64_t)fmin(json_number_value(end), 1e15) + HUB_JWT_LEEWAY_S : 0,
    };
    hub_digest_of(judged->token, draft.credential);
    *ret_identity = hub_identity_make(&draft);
    return *ret_identity != NULL ? HUB_OK : hub_fail(reterr, HUB_ENOMEM, "out of memory");
}

/* The claims are true: who they say it is. */
static hub_err identify(const judged_claims *judged, const hub_jwt_issuer *issuer,
                        hub_identity **ret_identity, hub_error *reterr)
{
    name_list scopes = {.problem = hub_scope_problem};
    name_list groups = {.problem = hub_group_problem};
    const char *groups_at = issuer->groups_at != NULL ? issuer->groups_at : "/groups";
    hub_err err = read_names(scopes_of(judged->claims, issuer), &scopes);
    if (err == HUB_OK) {
        err = read_names(claim_at(judged->claims, groups_at), &groups);
    }
    err = err == HUB_OK ? make_identity(judged, issuer, &scopes, &groups, ret_identity, reterr)
                        : hub_fail(reterr, err, "out of memory");
    hub_buf_fini(&scopes.text);
    hub_buf_fini(&groups.text);
    return err;
}

static hub_err check_audience(const json_t *claims, const hub_jwt_issuer *issuer, hub_error *reterr)
{
    return is_for_us(claims, &issuer->audiences)
               ? HUB_OK
               : hub_fail(reterr, HUB_EDENIED, "the token is for another audience");
}

/* The claims as a tree: only once they are known to be signed.
 * returns: NULL: *ret_err says why; else free it with json_decref */
static json_t *parse_claims(hub_str text, hub_err *ret_err, hub_error *reterr)
{
    json_error_t why;
    json_t *claims = json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES, &why);
    if (claims == NULL && json_error_code(&why) == json_error_out_of_memory) {
        *ret_err = hub_fail(reterr, HUB_ENOMEM, "out of memory");
    } else if (claims == NULL) {
        *ret_err = hub_fail(reterr, HUB_EPARSE,
                            "the token's claims have a name twice, or what cannot be read");
    }
    return claims;
}

hub_err hub_jwt_verify(const hub_jwt *jwt, const hub_jwt_issuer *issuer, const hub_jwks *keys,
                       int64_t now, size_t *tries, hub_identity **ret_identity, hub_error *reterr)
{
    judged_claims judged = {.text = hub_str_trim(hub_buf_str(&jwt->jws.payload)),
                            .token = jwt->text};
    if (!hub_str_is(hub_buf_str(&jwt->issuer), issuer->issuer)) {
        return hub_fail(reterr, HUB_EDENIED, "the token is of another issuer");
    }
    hub_err err = check_signature(&jwt->jws, keys, tries, reterr);
    if (err != HUB_OK) {
        return err;
    }
    json_t *claims = parse_claims(judged.text, &err, reterr);
    judged.claims = claims;
    if (err == HUB_OK) {
        err = check_times(claims, now, reterr);
    }
    if (err == HUB_OK) {
        err = check_audience(claims, issuer, reterr);
    }
    if (err == HUB_OK) {
        err = identify(&judged, issuer, ret_identity, reterr);
    }
    json_decref(claims);
    return err;
}

/* ---- what an issuer says of a token ---------------------------------------------------------- */

static hub_err check_answer(const json_t *claims, const hub_jwt_issuer *issuer, int64_t now,
                            hub_error *reterr)
{
    const char *name = json_string_value(json_object_get(claims, "iss"));
    if (!json_is_boolean(json_object_get(claims, "active"))) {
        return hub_fail(reterr, HUB_EPARSE, "the answer does not say whether the token is active");
    }
    if (!json_is_true(json_object_get(claims, "active"))) {
        return hub_fail(reterr, HUB_EDENIED, "the token is not active");
    }
    if (json_object_get(claims, "iss") != NULL &&
        (name == NULL || strcmp(name, issuer->issuer) != 0)) {
        return hub_fail(reterr, HUB_EDENIED, "the token is of another issuer");
    }
    hub_err err =
        json_object_get(claims, "exp") != NULL ? check_times(claims, now, reterr) : HUB_OK;
    return err == HUB_OK ? check_audience(claims, issuer, reterr) : err;
}

hub_err hub_jwt_accept_claims(hub_str answer, hub_str token, const hub_jwt_issuer *issuer,
                              int64_t now, hub_identity **ret_identity, hub_error *reterr)
{
    judged_claims judged = {.token = token};
    if (hub_json_check(answer, &judged.text, NULL) != HUB_OK) {
        return hub_fail(reterr, HUB_EPARSE, "the answer is not JSON");
    }
    json_t *claims = json_loadb(judged.text.ptr, judged.text.len, JSON_REJECT_DUPLICATES, NULL);
    judged.claims = claims;
    hub_err err = json_is_object(claims)
                      ? check_answer(claims, issuer, now, reterr)
                      : hub_fail(reterr, HUB_EPARSE, "the answer is not a JSON object");
    if (err == HUB_OK) {
        err = identify(&judged, issuer, ret_identity, reterr);
    }
    json_decref(claims);
    return err;
}
