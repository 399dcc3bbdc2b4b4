/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A token for the caller's own, without a user: the authorization server of the server exchanges it (RFC 8693),
 * or the identity provider of an enterprise gives an assertion for it (ID-JAG), which the authorization server
 * takes (RFC 7523). The caller's token goes to the token endpoint of the issuer that the entry names, and to
 * nobody else; so does an assertion to the authorization server that it was asked for. Neither is kept.
 * spec: RFC 8693 section 2; MCP extension enterprise-managed-authorization, sections 4 and 5
 */
#include "login/internal.h"

#include "base/limits.h"
#include "identity/base64url.h"
#include "login/url.h"
#include "wire/json.h"

#include <stdio.h>

#define EXCHANGE   "urn:ietf:params:oauth:grant-type:token-exchange"
#define TOKEN_TYPE "urn:ietf:params:oauth:token-type:"
#define ID_JAG     TOKEN_TYPE "id-jag"

/* ---- the question ---------------------------------------------------------------------------- */

/* Add the caller's token. False: there is none, and that is the end. */
static bool add_subject(hub_login *login, const char *kind, hub_buf *form)
{
    const hub_logins_options *options = &login->all->options;
    const char *issuer = login_subject_issuer(login);
    const char *token =
        options->find_token != NULL ? options->find_token(options->ctx, login, issuer) : NULL;
    char type[sizeof TOKEN_TYPE + 32];
    if (token == NULL) {
        login_end(login, HUB_EDENIED,
                  "its users log in by calling the hub with a token of %.200s, and this one has "
                  "shown none that is good now: begin a new session with one",
                  issuer);
        return false;
    }
    (void)snprintf(type, sizeof type, TOKEN_TYPE "%.31s",
                   login->settings.subject_token != NULL ? login->settings.subject_token : kind);
    hub_login_add_field(form, "grant_type", HUB_STR(EXCHANGE));
    hub_login_add_field(form, "subject_token", hub_str_of(token));
    hub_login_add_field(form, "subject_token_type", hub_str_of(type));
    return true;
}

/* What the new token is to be good for. */
static void add_wish(hub_login *login, hub_buf *form)
{
    hub_login_forget_text(&login->flow.scope);
    login->flow.scope = login_find_scope(login);
    if (login->flow.scope != NULL) {
        hub_login_add_field(form, "scope", hub_str_of(login->flow.scope));
    }
    login_add_resource(login, form);
}

static bool is_of_type(hub_str object, const char *type)
{
    return hub_json_string_is(hub_json_get(object, HUB_STR("issued_token_type")), hub_str_of(type));
}

/* ---- RFC 8693 -------------------------------------------------------------------------------- */

static void on_exchanged(void *ctx, const hub_fetched *fetched)
{
    hub_login *login = ctx;
    hub_str object;
    login->fetch = NULL;
    if (fetched->is_there && (hub_json_check(fetched->body, &object, NULL) != HUB_OK ||
                              !(is_of_type(object, TOKEN_TYPE "access_token") ||
                                is_of_type(object, TOKEN_TYPE "jwt")))) {
        login_end(login, HUB_EDENIED,
                  "the authorization server %.200s exchanges the caller's token for something that "
                  "it does not call an access token (issued_token_type)",
                  login->places.issuer);
        return;
    }
    login_take_grant(login, fetched);
}

void login_exchange_token(hub_login *login)
{
    hub_buf form;
    hub_buf_init_secret(&form, LOGIN_FORM_BYTES);
    if (!add_subject(login, "access_token", &form)) {
        return;
    }
    hub_login_add_field(&form, "requested_token_type", HUB_STR(TOKEN_TYPE "access_token"));
    if (login->settings.audience != NULL) {
        hub_login_add_field(&form, "audience", hub_str_of(login->settings.audience));
    }
    add_wish(login, &form);
    login_ask(login, &login->client, login->places.token_endpoint, &form, on_exchanged);
}

/* ---- an assertion of the identity provider --------------------------------------------------- */

static void on_granted(void *ctx, const hub_fetched *fetched)
{
    hub_login *login = ctx;
    login->fetch = NULL;
    login_take_grant(login, fetched);
}

/* Section 5: the assertion is the grant. */
static void show_assertion(hub_login *login, const char *assertion)
{
    hub_buf form;
    hub_buf_init_secret(&form, LOGIN_FORM_BYTES);
    hub_login_add_field(&form, "grant_type", HUB_STR(LOGIN_JWT_BEARER_GRANT));
    hub_login_add_field(&form, "assertion", hub_str_of(assertion));
    add_wish(login, &form);
    login_ask(login, &login->client, login->places.token_endpoint, &form, on_granted);
}

/* Whether a text says of itself that it is an assertion (section 4.3): any other token of the identity
 * provider would be somebody else's to have. */
static bool is_assertion(hub_str text)
{
    hub_buf header;
    hub_str object;
    size_t end = hub_str_find(text, HUB_STR("."));
    hub_str first = {.ptr = text.ptr, .len = end != SIZE_MAX ? end : 0};
    hub_buf_init_secret(&header, HUB_LIMIT_JWS_BYTES);
    bool is_it =
        hub_base64url_decode(first, &header) == HUB_OK &&
        hub_json_check(hub_buf_str(&header), &object, NULL) == HUB_OK &&
        hub_json_string_is(hub_json_get(object, HUB_STR("typ")), HUB_STR("oauth-id-jag+jwt"));
    hub_buf_fini(&header);
    return is_it;
}

/* The assertion of an answer (section 4.2); NULL: it has none. owns:    the result */
static char *dup_assertion(hub_str body)
{
    hub_str object;
    if (hub_json_check(body, &object, NULL) != HUB_OK || !is_of_type(object, ID_JAG)) {
        return NULL;
    }
    char *text = hub_login_dup_member(object, "access_token", HUB_LIMIT_LOGIN_TEXT_BYTES, true);
    if (text != NULL && !is_assertion(hub_str_of(text))) {
        hub_login_forget_text(&text);
    }
    return text;
}

static void on_assertion(void *ctx, const hub_fetched *fetched)
{
    hub_login *login = ctx;
    login->fetch = NULL;
    if (!fetched->is_there) {
        login_end_refused(login, "the identity provider", fetched);
        return;
    }
    char *assertion = dup_assertion(fetched->body);
    if (assertion == NULL) {
        login_end(login, HUB_EDENIED,
                  "the identity provider %.200s gives something that is not an assertion for an "
                  "authorization server (issued_token_type id-jag, typ oauth-id-jag+jwt): it is "
                  "shown to nobody",
                  login->provider.issuer);
        return;
    }
    show_assertion(login, assertion);
    hub_login_forget_text(&assertion);
}

/* The hub as a client of the identity provider. False: out of memory. */
static bool know_provider(hub_login *login)
{
    const login_provider *provider = &login->settings.provider;
    hub_credential *client = &login->at_provider;
    const char *method = provider->key.private_key != NULL ? "private_key_jwt"
                         : provider->client_secret == NULL ? "none"
                         : login->provider.takes_basic     ? "client_secret_basic"
                                                           : "client_secret_post";
    hub_credential_fini(client);
    client->issuer = login_dup(provider->issuer);
    client->client_id = login_dup(provider->client_id);
    client->client_secret = login_dup(provider->client_secret);
    client->client_auth = login_dup(method);
    return client->issuer != NULL && client->client_id != NULL && client->client_auth != NULL &&
           (client->client_secret == NULL) == (provider->client_secret == NULL);
}

/* Section 4: its metadata are known. */
static void ask_provider(hub_login *login)
{
    hub_buf form;
    hub_buf_init_secret(&form, LOGIN_FORM_BYTES);
    if (!know_provider(login)) {
        login_end(login, HUB_ENOMEM, "out of memory");
        return;
    }
    if (!add_subject(login, "id_token", &form)) {
        return;
    }
    hub_login_add_field(&form, "requested_token_type", HUB_STR(ID_JAG));
    hub_login_add_field(&form, "audience", hub_str_of(login->places.issuer));
    add_wish(login, &form);
    login_ask(login, &login->at_provider, login->provider.token_endpoint, &form, on_assertion);
}

void login_ask_by_assertion(hub_login *login)
{
    login_read_provider(login, ask_provider);
}
