/* SPDX-License-Identifier: Apache-2.0 */
#include "login/metadata.h"

#include "base/limits.h"
#include "login/credential.h"
#include "login/url.h"
#include "wire/json.h"

enum { SCOPES_BYTES = 4096 };

void hub_login_places_fini(hub_login_places *places)
{
    char **const texts[] = {
        &places->resource,
        &places->resource_scopes,
        &places->issuer,
        &places->token_endpoint,
        &places->registration_endpoint,
        &places->authorization_endpoint,
        &places->revocation_endpoint,
        &places->device_endpoint,
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        hub_login_forget_text(texts[i]);
    }
    *places = (hub_login_places){.resource = NULL};
}

static bool has_text(hub_str array, hub_str text)
{
    hub_json_iter it = hub_json_iterate(array);
    hub_str key;
    hub_str value;
    bool is_array = hub_json_type_of(array) == HUB_JSON_ARRAY;
    while (is_array && hub_json_next(&it, &key, &value)) {
        if (hub_json_string_is(value, text)) {
            return true;
        }
    }
    return false;
}

/* ---- the server ------------------------------------------------------------------------------ */

static bool is_scope(hub_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] <= 0x20 || text.ptr[i] >= 0x7f || text.ptr[i] == '"' ||
            text.ptr[i] == '\\') {
            return false;
        }
    }
    return text.len > 0;
}

/* Scopes with spaces between; NULL when there are none, or too many. */
static char *dup_scopes(hub_str array)
{
    hub_buf scopes;
    hub_buf one;
    hub_json_iter it = hub_json_iterate(array);
    hub_str key;
    hub_str value;
    bool is_array = hub_json_type_of(array) == HUB_JSON_ARRAY;
    hub_buf_init(&scopes, SCOPES_BYTES);
    hub_buf_init(&one, SCOPES_BYTES);
    while (is_array && hub_json_next(&it, &key, &value)) {
        hub_buf_clear(&one);
        if (hub_json_type_of(value) == HUB_JSON_STRING && hub_json_decode(value, &one) == HUB_OK &&
            is_scope(hub_buf_str(&one))) {
            hub_buf_add(&scopes, scopes.len > 0 ? HUB_STR(" ") : HUB_STR_EMPTY);
            hub_buf_add(&scopes, hub_buf_str(&one));
        }
    }
    char *made = hub_buf_ok(&scopes) && scopes.len > 0 ? hub_str_dup(hub_buf_str(&scopes)) : NULL;
    hub_buf_fini(&one);
    hub_buf_fini(&scopes);
    return made;
}

/* The first of its authorization servers, or the one that is wanted. NULL: it is not there. */
static char *dup_issuer(hub_str object, const char *wanted)
{
    hub_str array = hub_json_get(object, HUB_STR("authorization_servers"));
    hub_json_iter it = hub_json_iterate(array);
    hub_str key;
    hub_str value;
    if (hub_json_type_of(array) != HUB_JSON_ARRAY) {
        return NULL;
    }
    if (wanted != NULL) {
        return has_text(array, hub_str_of(wanted)) ? hub_str_dup(hub_str_of(wanted)) : NULL;
    }
    char *made = NULL;
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_ISSUER_BYTES);
    if (hub_json_next(&it, &key, &value) && hub_json_type_of(value) == HUB_JSON_STRING &&
        hub_json_decode(value, &text) == HUB_OK) {
        made = hub_str_dup(hub_buf_str(&text));
    }
    hub_buf_fini(&text);
    return made;
}

hub_err hub_login_read_resource(hub_str json, hub_str url, const char *issuer,
                                hub_login_places *places, hub_error *reterr)
{
    hub_str object;
    if (hub_json_check(json, &object, NULL) != HUB_OK ||
        hub_json_type_of(object) != HUB_JSON_OBJECT) {
        return hub_fail(reterr, HUB_EINVAL, "the server's metadata is not a JSON object");
    }
    hub_login_places_fini(places);
    places->resource = hub_login_dup_member(object, "resource", HUB_LIMIT_LOGIN_TEXT_BYTES, true);
    if (places->resource == NULL) {
        return hub_fail(reterr, HUB_EINVAL, "the server's metadata names no resource");
    }
    if (!hub_login_url_is_beneath(url, hub_str_of(places->resource))) {
        return hub_fail(reterr, HUB_EINVAL, "the server's metadata is of another resource (%.200s)",
                        places->resource);
    }
    places->issuer = dup_issuer(object, issuer);
    if (places->issuer == NULL && issuer != NULL) {
        return hub_fail(reterr, HUB_EINVAL,
                        "the server does not name the authorization server of its entry (%.200s): "
                        "it may have changed",
                        issuer);
    }
    if (places->issuer == NULL || !hub_login_url_may(hub_str_of(places->issuer), url)) {
        return hub_fail(reterr, HUB_EINVAL,
                        "the server names no authorization server that can be used: it must be at "
                        "an https address");
    }
    places->resource_scopes = dup_scopes(hub_json_get(object, HUB_STR("scopes_supported")));
    return HUB_OK;
}

bool hub_login_resource_place(hub_str url, unsigned at, hub_buf *out)
{
    static const hub_str WELL_KNOWN = {.ptr = "/.well-known/oauth-protected-resource", .len = 37};
    hub_login_url of;
    if (!hub_login_url_read(url, &of)) {
        return false;
    }
    bool has_path = of.path.len > 1;
    if (at > 1 || (at == 1 && !has_path)) {
        return false;
    }
    of.path = at == 0 ? of.path : HUB_STR_EMPTY;
    hub_login_url_add_inserted(out, &of, WELL_KNOWN);
    return hub_buf_ok(out);
}

/* ---- its authorization server ---------------------------------------------------------------- */

static bool is_one_slash_off(hub_str a, hub_str b)
{
    return a.len == b.len + 1 && a.ptr[b.len] == '/' && hub_str_starts(a, b);
}

static hub_err read_endpoint(hub_str object, const char *name, hub_str url, char **ret_endpoint,
                             hub_error *reterr)
{
    *ret_endpoint = hub_login_dup_member(object, name, HUB_LIMIT_LOGIN_TEXT_BYTES, true);
    if (*ret_endpoint != NULL && !hub_login_url_may(hub_str_of(*ret_endpoint), url)) {
        return hub_fail(reterr, HUB_EINVAL,
                        "the authorization server's %s (%.200s) is not at an https address", name,
                        *ret_endpoint);
    }
    return HUB_OK;
}

static hub_err read_endpoints(hub_str object, hub_str url, hub_login_places *places,
                              hub_error *reterr)
{
    const struct {
        const char *name;
        char **at;
        bool is_needed;
    } endpoints[] = {
        {"authorization_endpoint", &places->authorization_endpoint, false},
        {"token_endpoint", &places->token_endpoint, true},
        {"registration_endpoint", &places->registration_endpoint, false},
        {"revocation_endpoint", &places->revocation_endpoint, false},
        {"device_authorization_endpoint", &places->device_endpoint, false},
    };
    for (size_t i = 0; i < sizeof endpoints / sizeof endpoints[0]; i++) {
        hub_err err = read_endpoint(object, endpoints[i].name, url, endpoints[i].at, reterr);
        if (err != HUB_OK) {
            return err;
        }
        if (*endpoints[i].at == NULL && endpoints[i].is_needed) {
            return hub_fail(reterr, HUB_EINVAL, "the authorization server names no %s",
                            endpoints[i].name);
        }
    }
    return HUB_OK;
}

static hub_err check_issuer(hub_str object, hub_login_places *places, hub_error *reterr)
{
    char *issuer = hub_login_dup_member(object, "issuer", HUB_LIMIT_ISSUER_BYTES, false);
    if (issuer == NULL) {
        return hub_fail(reterr, HUB_EINVAL, "the authorization server's metadata names no issuer");
    }
    hub_str is = hub_str_of(issuer);
    hub_str wanted = hub_str_of(places->issuer);
    /* A server without metadata of its own names nobody: its origin stands for the issuer. */
    bool is_same =
        hub_str_eq(is, wanted) || (places->resource == NULL && is_one_slash_off(is, wanted));
    hub_err err = is_same ? HUB_OK
                          : hub_fail(reterr, HUB_EINVAL,
                                     "the authorization server %.150s says that it is another one "
                                     "(%.150s)",
                                     places->issuer, issuer);
    if (err == HUB_OK && !hub_str_eq(is, wanted)) {
        hub_login_forget_text(&places->issuer);
        places->issuer = issuer;
        return HUB_OK;
    }
    hub_login_forget_text(&issuer);
    return err;
}

hub_err hub_login_read_server(hub_str json, hub_str url, hub_login_places *places,
                              hub_error *reterr)
{
    hub_str object;
    if (hub_json_check(json, &object, NULL) != HUB_OK ||
        hub_json_type_of(object) != HUB_JSON_OBJECT) {
        return hub_fail(reterr, HUB_EPARSE,
                        "the authorization server's metadata is not a JSON object");
    }
    hub_err err = check_issuer(object, places, reterr);
    if (err == HUB_OK) {
        err = read_endpoints(object, url, places, reterr);
    }
    hub_str methods = hub_json_get(object, HUB_STR("token_endpoint_auth_methods_supported"));
    bool is_said = hub_json_type_of(methods) == HUB_JSON_ARRAY;
    places->takes_basic = !is_said || has_text(methods, HUB_STR("client_secret_basic"));
    places->takes_post = is_said && has_text(methods, HUB_STR("client_secret_post"));
    places->takes_none = !is_said || has_text(methods, HUB_STR("none"));
    places->has_s256 = has_text(hub_json_get(object, HUB_STR("code_challenge_methods_supported")),
                                HUB_STR("S256"));
    places->says_iss =
        hub_json_type_of(hub_json_get(
            object, HUB_STR("authorization_response_iss_parameter_supported"))) == HUB_JSON_TRUE;
    places->takes_document =
        hub_json_type_of(hub_json_get(object, HUB_STR("client_id_metadata_document_supported"))) ==
        HUB_JSON_TRUE;
    places->offers_access =
        has_text(hub_json_get(object, HUB_STR("scopes_supported")), HUB_STR("offline_access"));
    return err;
}

hub_err hub_login_assume_server(hub_login_places *places)
{
    const struct {
        const char *path;
        char **at;
    } endpoints[] = {
        {"/authorize", &places->authorization_endpoint},
        {"/token", &places->token_endpoint},
        {"/register", &places->registration_endpoint},
    };
    for (size_t i = 0; i < sizeof endpoints / sizeof endpoints[0]; i++) {
        hub_buf text;
        hub_buf_init(&text, HUB_LIMIT_LOGIN_TEXT_BYTES);
        hub_buf_add(&text, hub_str_of(places->issuer));
        hub_buf_add(&text, hub_str_of(endpoints[i].path));
        *endpoints[i].at = hub_buf_ok(&text) ? hub_buf_take(&text) : NULL;
        hub_buf_fini(&text);
        if (*endpoints[i].at == NULL) {
            return HUB_ENOMEM;
        }
    }
    places->has_s256 = true; /* that revision demands it */
    places->takes_basic = places->takes_none = true;
    return HUB_OK;
}

bool hub_login_server_place(hub_str issuer, unsigned at, hub_buf *out)
{
    static const hub_str OAUTH = {.ptr = "/.well-known/oauth-authorization-server", .len = 39};
    static const hub_str OPENID = {.ptr = "/.well-known/openid-configuration", .len = 33};
    hub_login_url of;
    if (!hub_login_url_read(issuer, &of) || at > (of.path.len > 1 ? 2U : 1U)) {
        return false;
    }
    if (at == 2) {
        hub_login_url_add_appended(out, &of, OPENID);
    } else {
        hub_login_url_add_inserted(out, &of, at == 0 ? OAUTH : OPENID);
    }
    return hub_buf_ok(out);
}
