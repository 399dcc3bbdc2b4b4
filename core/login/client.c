/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who the hub is to an authorization server: the client that the entry names, else the one that it has
 * registered there before, else a new one (RFC 7591). A client belongs to one issuer, and is never shown
 * to another.
 */
#include "login/internal.h"

#include "base/digest.h"
#include "base/limits.h"
#include "login/document.h"
#include "login/url.h"
#include "wire/json.h"

#include <stdio.h>
#include <stdlib.h>

enum { DOCUMENT_BYTES = 16 * HUB_LIMIT_LOGIN_TEXT_BYTES };

static void go_on(hub_login *login)
{
    login->settings.grant->begin(login);
}

static void key_of(const hub_login *login, char ret_hex[HUB_DIGEST_HEX_BYTES])
{
    unsigned char digest[HUB_DIGEST_BYTES];
    hub_digest_of(hub_str_of(login->places.issuer), digest);
    hub_digest_hex(digest, ret_hex);
}

/* ---- where browsers come back to ------------------------------------------------------------- */

static const char *on_query(void *ctx, hub_str query)
{
    const char *page = NULL;
    return hub_logins_take_answer(ctx, query, &page) ? page : NULL;
}

/* The port of an address of this machine; 0: it is none, or says none. */
static uint16_t port_of(const char *address)
{
    hub_login_url url;
    if (address == NULL || !hub_login_url_read(hub_str_of(address), &url) || !url.is_loopback ||
        url.is_https) {
        return 0;
    }
    const char *end = url.origin.ptr + url.origin.len;
    unsigned port = 0;
    unsigned factor = 1;
    for (const char *at = end - 1; *at >= '0' && *at <= '9' && factor <= 10000; at--) {
        port += factor * (unsigned)(*at - '0');
        factor *= 10;
    }
    return *(end - 1) >= '0' && port <= UINT16_MAX ? (uint16_t)port : 0;
}

static hub_err open_loopback(hub_login *login, uint16_t port, hub_error *reterr)
{
    hub_logins *all = login->all;
    if (all->loopback == NULL) {
        return hub_loopback_open(all->loop, port, on_query, all, &all->loopback, reterr);
    }
    return HUB_OK;
}

/* Whether a hub's listener serves it (web/oauth). */
static bool is_callback(const char *address)
{
    hub_login_url url;
    return hub_login_url_read(hub_str_of(address), &url) &&
           hub_str_is(url.path, HUB_LOGIN_CALLBACK_PATH);
}

bool hub_login_ends_at_hub(const hub_login *login)
{
    const login_settings *settings = &login->settings;
    return settings->grant->begin == login_ask_user && settings->redirect_uri != NULL &&
           is_callback(settings->redirect_uri);
}

/* Decide on login->flow.redirect_uri; `before`: of the client that is registered. */
static hub_err find_redirect(hub_login *login, const char *before, hub_error *reterr)
{
    const char *given = login->settings.grant->redirect;
    if (given != NULL) {
        login_flow_fini(login);
        login->flow.redirect_uri = login_dup(given);
        return login->flow.redirect_uri != NULL ? HUB_OK
                                                : hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    given = login->settings.redirect_uri;
    uint16_t port = port_of(given != NULL ? given : before);
    bool is_ours = given != NULL && is_callback(given);
    char made[64];
    login_flow_fini(login);
    if (!is_ours && (given == NULL || port != 0)) {
        hub_err err = open_loopback(login, port, reterr);
        if (err != HUB_OK) {
            return err;
        }
        uint16_t is = hub_loopback_port(login->all->loopback);
        if (given != NULL && is != port) {
            return hub_fail(reterr, HUB_EUNAVAILABLE,
                            "port %u of this machine, where browsers are to come back to "
                            "(redirect_uri), is in use",
                            port);
        }
        (void)snprintf(made, sizeof made, "http://127.0.0.1:%u/callback", is);
        given = given != NULL ? given : made;
    }
    login->flow.redirect_uri = login_dup(given);
    return login->flow.redirect_uri != NULL ? HUB_OK
                                            : hub_fail(reterr, HUB_ENOMEM, "out of memory");
}

/* ---- registration ---------------------------------------------------------------------------- */

static const char *method_of(const hub_login_places *places)
{
    return places->takes_none    ? "none"
           : places->takes_basic ? "client_secret_basic"
           : places->takes_post  ? "client_secret_post"
                                 : "none";
}

static void on_client_kept(void *ctx, const hub_state_result *result)
{
    hub_login *login = ctx;
    login->op = NULL;
    (void)result; /* one that is not kept is registered again */
    go_on(login);
}

static void keep_client(hub_login *login)
{
    char key[HUB_DIGEST_HEX_BYTES];
    hub_buf document;
    hub_error why = {.code = HUB_OK};
    key_of(login, key);
    const hub_state_id id = {.kind = &HUB_LOGIN_CLIENT_KIND, .key = hub_str_of(key)};
    hub_buf_init_secret(&document, DOCUMENT_BYTES);
    hub_credential_add(&document, &login->client);
    if (!hub_buf_ok(&document) ||
        hub_state_put(login->all->store, &id, HUB_STATE_ANY, hub_buf_str(&document), on_client_kept,
                      login, &login->op, &why) != HUB_OK) {
        go_on(login);
    }
    hub_buf_fini(&document);
}

static bool take_registered(hub_login *login, hub_str body)
{
    hub_str object;
    hub_credential *client = &login->client;
    if (hub_json_check(body, &object, NULL) != HUB_OK) {
        return false;
    }
    hub_credential_fini(client);
    client->client_id =
        hub_login_dup_member(object, "client_id", HUB_LIMIT_LOGIN_TEXT_BYTES, false);
    client->client_secret =
        hub_login_dup_member(object, "client_secret", HUB_LIMIT_LOGIN_TEXT_BYTES, false);
    client->client_auth = hub_login_dup_member(object, "token_endpoint_auth_method", 64, true);
    (void)hub_json_to_whole(hub_json_get(object, HUB_STR("client_secret_expires_at")),
                            &client->expires_s);
    if (client->client_auth == NULL) {
        client->client_auth =
            login_dup(client->client_secret != NULL ? "client_secret_basic" : "none");
    }
    client->issuer = login_dup(login->places.issuer);
    client->url = login_dup(login->flow.redirect_uri);
    return client->client_id != NULL && client->client_auth != NULL && client->issuer != NULL &&
           client->url != NULL;
}

/* What an answer that is an error says of itself, in words. */
static void end_refused(hub_login *login, const hub_fetched *fetched)
{
    hub_str object;
    char *error = NULL;
    char *words = NULL;
    if (hub_json_check(fetched->body, &object, NULL) == HUB_OK) {
        error = hub_login_dup_member(object, "error", 100, false);
        words = hub_login_dup_member(object, "error_description", 300, false);
    }
    login_end(
        login, HUB_EDENIED,
        "the authorization server %.150s does not register the hub as a client (HTTP %ld%s%s%s%s): "
        "if it knows one, name it in the entry: auth: {issuer, client_id}",
        login->places.issuer, fetched->status, error != NULL ? ", " : "",
        error != NULL ? error : "", words != NULL ? ": " : "", words != NULL ? words : "");
    hub_login_forget_text(&error);
    hub_login_forget_text(&words);
}

static void on_registered(void *ctx, const hub_fetched *fetched)
{
    hub_login *login = ctx;
    login->fetch = NULL;
    if (fetched->status == 0) {
        login_end(login, HUB_EUNAVAILABLE, "the authorization server %.200s: %.200s",
                  login->places.issuer, fetched->why);
    } else if (fetched->status != 200 && fetched->status != 201) {
        end_refused(login, fetched);
    } else if (!take_registered(login, fetched->body)) {
        login_end(login, HUB_EDENIED,
                  "the authorization server %.200s registers the hub, and gives no client_id",
                  login->places.issuer);
    } else {
        keep_client(login);
    }
}

static void add_registration(hub_buf *body, const hub_login *login)
{
    hub_login_url redirect = {.is_loopback = false};
    const login_grant *grant = login->settings.grant;
    bool is_back = grant->redirect == NULL;
    (void)hub_login_url_read(hub_str_of(login->flow.redirect_uri), &redirect);
    hub_buf_add(body, HUB_STR("{\"client_name\":\"Patchbay\",\"redirect_uris\":["));
    if (is_back) {
        hub_json_add_string(body, hub_str_of(login->flow.redirect_uri));
    }
    hub_buf_printf(body,
                   "],\"grant_types\":%s,\"response_types\":[%s],"
                   "\"token_endpoint_auth_method\":",
                   grant->registered, is_back ? "\"code\"" : "");
    hub_json_add_string(body, hub_str_of(method_of(&login->places)));
    hub_buf_add(body, HUB_STR(",\"application_type\":"));
    hub_buf_add(body,
                redirect.is_loopback || !is_back ? HUB_STR("\"native\"}") : HUB_STR("\"web\"}"));
}

static void register_client(hub_login *login)
{
    hub_buf body;
    if (login->places.registration_endpoint == NULL) {
        login_end(
            login, HUB_EDENIED,
            "the authorization server %.200s registers no clients: name the one that it knows "
            "in the server's entry: auth: {issuer, client_id}",
            login->places.issuer);
        return;
    }
    hub_buf_init(&body, 2 * HUB_LIMIT_LOGIN_TEXT_BYTES);
    add_registration(&body, login);
    if (hub_buf_ok(&body)) {
        login_fetch(login,
                    &(hub_fetch_request){.url = login->places.registration_endpoint,
                                         .json = hub_buf_str(&body)},
                    on_registered);
    } else {
        login_end(login, HUB_ENOMEM, "out of memory");
    }
    hub_buf_fini(&body);
}

/* ---- finding --------------------------------------------------------------------------------- */

static bool is_usable(const hub_login *login, const hub_credential *client)
{
    return client->client_id != NULL && client->client_auth != NULL && client->url != NULL &&
           client->issuer != NULL && strcmp(client->issuer, login->places.issuer) == 0 &&
           (client->expires_s == 0 || client->expires_s > login_now_s());
}

static void take_kept(hub_login *login)
{
    hub_error why = {.code = HUB_OK};
    bool is_usable_one = is_usable(login, &login->client);
    if (find_redirect(login, is_usable_one ? login->client.url : NULL, &why) != HUB_OK) {
        login_end(login, why.code, "%s", why.text);
    } else if (is_usable_one && strcmp(login->client.url, login->flow.redirect_uri) == 0) {
        go_on(login);
    } else {
        register_client(login);
    }
}

static void on_client_read(void *ctx, const hub_state_result *result)
{
    hub_login *login = ctx;
    login->op = NULL;
    hub_credential_fini(&login->client);
    if (result->err == HUB_OK &&
        hub_credential_read(result->records[0].document, &login->client) != HUB_OK) {
        hub_credential_fini(&login->client);
    }
    take_kept(login);
}

/* `id`: what the authorization server knows the hub as, without its being registered. */
static void use_configured(hub_login *login, const char *id)
{
    const login_settings *settings = &login->settings;
    hub_error why = {.code = HUB_OK};
    const char *method = settings->key.private_key != NULL ? "private_key_jwt"
                         : settings->client_secret == NULL ? "none"
                         : login->places.takes_basic       ? "client_secret_basic"
                                                           : "client_secret_post";
    hub_credential_fini(&login->client);
    login->client.client_id = login_dup(id);
    login->client.client_secret = login_dup(settings->client_secret);
    login->client.client_auth = login_dup(method);
    login->client.issuer = login_dup(login->places.issuer);
    if (login->client.client_id == NULL || login->client.client_auth == NULL ||
        login->client.issuer == NULL ||
        (settings->client_secret != NULL && login->client.client_secret == NULL)) {
        login_end(login, HUB_ENOMEM, "out of memory");
    } else if (settings->grant->is_kept && find_redirect(login, NULL, &why) != HUB_OK) {
        login_end(login, why.code, "%s", why.text);
    } else {
        go_on(login);
    }
}

void login_find_client(hub_login *login)
{
    char key[HUB_DIGEST_HEX_BYTES];
    hub_error why = {.code = HUB_OK};
    if (login->settings.client_id != NULL) {
        use_configured(login, login->settings.client_id);
        return;
    }
    if (login->settings.document != NULL && login->places.takes_document) {
        use_configured(login, login->settings.document);
        return;
    }
    key_of(login, key);
    const hub_state_id id = {.kind = &HUB_LOGIN_CLIENT_KIND, .key = hub_str_of(key)};
    if (hub_state_get(login->all->store, &id, on_client_read, login, &login->op, &why) != HUB_OK) {
        hub_credential_fini(&login->client);
        take_kept(login);
    }
}

static void on_forgotten(void *ctx, const hub_state_result *result)
{
    (void)result;
    hub_login *login = ctx;
    login->op = NULL;
    login_end(login, HUB_EDENIED,
              "the authorization server does not know the hub as a client any more: log in again");
}

void login_forget_client(hub_login *login)
{
    char key[HUB_DIGEST_HEX_BYTES];
    hub_error why = {.code = HUB_OK};
    unsigned char digest[HUB_DIGEST_BYTES];
    hub_digest_of(hub_str_of(login->client.issuer), digest);
    hub_digest_hex(digest, key);
    const hub_state_id id = {.kind = &HUB_LOGIN_CLIENT_KIND, .key = hub_str_of(key)};
    if (hub_state_delete(login->all->store, &id, HUB_STATE_ANY, on_forgotten, login, &login->op,
                         &why) != HUB_OK) {
        login_end(login, why.code, "%s", why.text);
    }
}
