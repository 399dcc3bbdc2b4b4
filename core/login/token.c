/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The token endpoint. Its answer becomes what is kept, and is kept before anybody uses it. A refresh token
 * is used by one process at a time: whoever wants to use it says so in the store first.
 */
#include "login/internal.h"

#include "base/limits.h"
#include "login/url.h"
#include "wire/json.h"

#include <stdio.h>
#include <stdlib.h>

enum { LIFE_MOST_S = 366 * 86400 };

static const char SERVER[] = "the authorization server";

/* ---- the request ----------------------------------------------------------------------------- */

/* Append a proof that the hub is this client, signed with the key that the entry has for it. */
static hub_err add_assertion(hub_login *login, const hub_credential *client, hub_buf *form,
                             hub_error *reterr)
{
    bool is_provider = client == &login->at_provider;
    const login_key *key = is_provider ? &login->settings.provider.key : &login->settings.key;
    hub_signer **signer = is_provider ? &login->provider_signer : &login->signer;
    hub_buf proof;
    hub_err err = HUB_OK;
    if (key->private_key == NULL) {
        return hub_fail(reterr, HUB_EDENIED, "the entry has no private_key any more");
    }
    if (*signer == NULL) {
        err = hub_signer_create(hub_str_of(key->private_key), key->algorithm, key->key_id, signer,
                                reterr);
    }
    hub_buf_init_secret(&proof, HUB_LIMIT_JWS_BYTES);
    if (err == HUB_OK) {
        err = hub_signer_assert(*signer, hub_str_of(client->client_id), hub_str_of(client->issuer),
                                (int64_t)login_now_s(), &proof);
        if (err != HUB_OK) {
            (void)hub_fail(reterr, err, "cannot sign: %s", hub_err_text(err));
        }
    }
    if (err == HUB_OK) {
        hub_login_add_field(form, "client_assertion_type", HUB_STR(HUB_CLIENT_ASSERTION_TYPE));
        hub_login_add_field(form, "client_assertion", hub_buf_str(&proof));
    }
    hub_buf_fini(&proof);
    return err;
}

static bool is_basic(const hub_credential *client)
{
    return client->client_auth != NULL && client->client_secret != NULL &&
           strcmp(client->client_auth, "client_secret_basic") == 0;
}

/* Add who asks to the form, unless HTTP says it. */
static hub_err add_client(hub_login *login, const hub_credential *client, hub_buf *form,
                          hub_error *reterr)
{
    const char *method = client->client_auth != NULL ? client->client_auth : "none";
    if (is_basic(client)) {
        return HUB_OK;
    }
    hub_login_add_field(form, "client_id", hub_str_of(client->client_id));
    if (strcmp(method, "client_secret_post") == 0) {
        hub_login_add_field(form, "client_secret", hub_str_of(client->client_secret));
    }
    return strcmp(method, "private_key_jwt") == 0 ? add_assertion(login, client, form, reterr)
                                                  : HUB_OK;
}

void login_ask(hub_login *login, const hub_credential *client, const char *endpoint, hub_buf *form,
               hub_fetch_on_end *on_end)
{
    hub_error why = {.code = HUB_OK};
    hub_err err = add_client(login, client, form, &why);
    if (err != HUB_OK) {
        login_end(login, err, "%s", why.text);
    } else if (!hub_buf_ok(form)) {
        login_end(login, HUB_ENOMEM, "out of memory");
    } else {
        login_fetch(login,
                    &(hub_fetch_request){.url = endpoint,
                                         .form = hub_buf_str(form),
                                         .user = is_basic(client) ? client->client_id : NULL,
                                         .password = client->client_secret},
                    on_end);
    }
    hub_buf_fini(form);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void done(hub_login *login)
{
    hub_login_forget_text(&login->wanted_scope);
    login->is_fresh = true;
    login_changed(login);
    login_end(login, HUB_OK, "%s", "");
}

/* Keep what an answer has. False: it is none. */
static bool take_tokens(hub_login *login, hub_str body)
{
    hub_str object;
    uint64_t life_s = 0;
    hub_credential *kept = &login->kept;
    if (hub_json_check(body, &object, NULL) != HUB_OK) {
        return false;
    }
    char *type = hub_login_dup_member(object, "token_type", 16, true);
    char *access = hub_login_dup_member(object, "access_token", HUB_LIMIT_LOGIN_TEXT_BYTES, true);
    bool is_bearer =
        type != NULL && hub_str_eq_nocase(hub_str_of(type), HUB_STR("bearer")) && access != NULL;
    hub_login_forget_text(&type);
    if (!is_bearer) {
        hub_login_forget_text(&access);
        return false;
    }
    char *refresh =
        hub_login_dup_member(object, "refresh_token", HUB_LIMIT_LOGIN_TEXT_BYTES, false);
    char *scope = hub_login_dup_member(object, "scope", HUB_LIMIT_LOGIN_TEXT_BYTES, false);
    hub_login_forget_text(&kept->access_token);
    kept->access_token = access;
    if (refresh != NULL) { /* else the one that there is stays good */
        hub_login_forget_text(&kept->refresh_token);
        kept->refresh_token = refresh;
    }
    if (scope != NULL) {
        hub_login_forget_text(&kept->scope);
        kept->scope = scope;
    }
    (void)hub_json_to_whole(hub_json_get(object, HUB_STR("expires_in")), &life_s);
    kept->expires_s =
        life_s > 0 ? login_now_s() + (life_s < LIFE_MOST_S ? life_s : LIFE_MOST_S) : 0;
    hub_login_forget_text(&kept->lease);
    kept->lease_until_s = 0;
    return true;
}

bool login_says(const hub_fetched *fetched, const char *error)
{
    hub_str object;
    return hub_json_check(fetched->body, &object, NULL) == HUB_OK &&
           hub_json_string_is(hub_json_get(object, HUB_STR("error")), hub_str_of(error));
}

void login_end_refused(hub_login *login, const char *who, const hub_fetched *fetched)
{
    hub_str object;
    char *error = NULL;
    if (hub_json_check(fetched->body, &object, NULL) == HUB_OK) {
        error = hub_login_dup_member(object, "error", 100, false);
    }
    if (fetched->status == 0) {
        login_end(login, HUB_EUNAVAILABLE, "%.200s gives no token: %.200s", who, fetched->why);
    } else {
        login_end(login, HUB_EDENIED, "%.200s gives no token: HTTP %ld%s%s", who, fetched->status,
                  error != NULL ? ", " : "", error != NULL ? error : "");
    }
    hub_login_forget_text(&error);
}

/* ---- a code ---------------------------------------------------------------------------------- */

static void put(char **at, const char *text)
{
    hub_login_forget_text(at);
    *at = login_dup(text);
}

/* What the flow was made of, with the tokens that it brought. */
static void note_places(hub_login *login)
{
    hub_credential *kept = &login->kept;
    const hub_login_places *places = &login->places;
    put(&kept->url, login->url);
    put(&kept->resource, places->resource != NULL ? places->resource : login->url);
    put(&kept->issuer, places->issuer);
    put(&kept->token_endpoint, places->token_endpoint);
    put(&kept->revocation_endpoint, places->revocation_endpoint);
    put(&kept->client_id, login->client.client_id);
    put(&kept->client_secret, login->client.client_secret);
    put(&kept->client_auth, login->client.client_auth);
}

void login_take_grant(hub_login *login, const hub_fetched *fetched)
{
    if (!fetched->is_there && login_says(fetched, "invalid_client") &&
        login->settings.client_id == NULL) {
        login_forget_client(login);
        return;
    }
    if (!fetched->is_there) {
        login_end_refused(login, SERVER, fetched);
        return;
    }
    hub_login_forget_text(&login->kept.refresh_token); /* it was another login's */
    hub_login_forget_text(&login->kept.scope);
    put(&login->kept.scope, login->flow.scope); /* unless the answer says otherwise */
    if (!take_tokens(login, fetched->body)) {
        login_end(login, HUB_EDENIED, "the authorization server's answer has no bearer token");
        return;
    }
    note_places(login);
    if (login->settings.grant->is_kept) {
        login_keep(login, done);
    } else { /* it can always be had again, if that is still allowed */
        hub_login_forget_text(&login->kept.refresh_token);
        done(login);
    }
}

static void on_code_exchanged(void *ctx, const hub_fetched *fetched)
{
    hub_login *login = ctx;
    login->fetch = NULL;
    login_take_grant(login, fetched);
}

void login_add_resource(const hub_login *login, hub_buf *form)
{
    const char *named = login->places.resource;
    hub_login_add_field(form, "resource", hub_str_of(named != NULL ? named : login->url));
}

void login_exchange_code(hub_login *login, hub_str code)
{
    hub_buf form;
    const hub_login_places *places = &login->places;
    hub_buf_init_secret(&form, LOGIN_FORM_BYTES);
    hub_login_add_field(&form, "grant_type", HUB_STR("authorization_code"));
    hub_login_add_field(&form, "code", code);
    hub_login_add_field(&form, "redirect_uri", hub_str_of(login->flow.redirect_uri));
    hub_login_add_field(&form, "code_verifier", hub_str_of(login->flow.verifier));
    login_add_resource(login, &form);
    hub_login_forget_text(&login->flow.link); /* it works once */
    ev_timer_stop(login->all->loop, &login->timer);
    login_ask(login, &login->client, places->token_endpoint, &form, on_code_exchanged);
}

void login_ask_as_client(hub_login *login)
{
    hub_buf form;
    const hub_login_places *places = &login->places;
    hub_buf_init_secret(&form, LOGIN_FORM_BYTES);
    hub_login_add_field(&form, "grant_type", HUB_STR("client_credentials"));
    hub_login_add_field(&form, "scope",
                        hub_str_of(login->settings.scopes != NULL      ? login->settings.scopes
                                   : login->challenge.scope[0] != '\0' ? login->challenge.scope
                                                                       : places->resource_scopes));
    login_add_resource(login, &form);
    login_ask(login, &login->client, places->token_endpoint, &form, on_code_exchanged);
}

/* ---- a refresh token ------------------------------------------------------------------------- */

/* The refresh token is no good any more, unless another process has a newer one. */
static void lose(hub_login *login)
{
    hub_login_forget_text(&login->kept.access_token);
    hub_login_forget_text(&login->kept.refresh_token);
    hub_login_forget_text(&login->kept.lease);
    login->kept.lease_until_s = 0;
    login_changed(login);
    login_keep(login, login_go_on);
}

static void on_refreshed(void *ctx, const hub_fetched *fetched)
{
    hub_login *login = ctx;
    login->fetch = NULL;
    if (fetched->is_there && take_tokens(login, fetched->body)) {
        login_keep(login, done);
    } else if (!fetched->is_there &&
               (login_says(fetched, "invalid_grant") || login_says(fetched, "invalid_client") ||
                login_says(fetched, "unauthorized_client"))) {
        lose(login);
    } else {
        login_end_refused(login, SERVER, fetched);
    }
}

static void refresh(hub_login *login)
{
    hub_buf form;
    const hub_credential *kept = &login->kept;
    hub_buf_init_secret(&form, LOGIN_FORM_BYTES);
    hub_login_add_field(&form, "grant_type", HUB_STR("refresh_token"));
    hub_login_add_field(&form, "refresh_token", hub_str_of(kept->refresh_token));
    hub_login_add_field(&form, "resource", hub_str_of(kept->resource));
    login_ask(login, kept, kept->token_endpoint, &form, on_refreshed);
}

static void look_again(hub_login *login)
{
    login->awaits_lease = false;
    login->has_changed = true;
    login_go_on(login);
}

/* How long another process may still need, in seconds; 0: nobody refreshes it. Clocks of machines differ, so
 * the time runs from when its lease was seen first, by this process's own clock; theirs only tells a lease
 * that somebody left behind long ago. */
static double lease_left(hub_login *login, uint64_t now_s)
{
    const hub_credential *kept = &login->kept;
    double now = login_clock_s();
    if (kept->lease == NULL || strcmp(kept->lease, login->all->self) == 0 ||
        kept->lease_until_s + HUB_LIMIT_LOGIN_SKEW_S < now_s) {
        return 0;
    }
    if (login->lease_version != login->version) {
        login->lease_version = login->version;
        login->lease_seen = now;
    }
    return login->lease_seen + HUB_LIMIT_LOGIN_LEASE_S - now;
}

void login_refresh(hub_login *login)
{
    hub_credential *kept = &login->kept;
    uint64_t now_s = login_now_s();
    login->is_busy = true;
    if (kept->token_endpoint == NULL || kept->client_id == NULL) {
        lose(login);
        return;
    }
    double left_s = lease_left(login, now_s);
    if (left_s > 0) {
        login->awaits_lease = true; /* it is heard of when that is done */
        login_later(login, left_s, look_again);
        return;
    }
    put(&kept->lease, login->all->self);
    kept->lease_until_s = now_s + HUB_LIMIT_LOGIN_LEASE_S;
    login_keep(login, refresh);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* `why`: they were not. */
static void end_revocation(hub_login *login, const char *why)
{
    hub_login_forget_text(&login->not_revoked);
    login->not_revoked = login_dup(why);
    if (why == NULL || login_may_forget(login)) {
        login_delete(login);
    } else {
        login_end_logout(login, HUB_EUNAVAILABLE, why);
    }
}

static void on_revoked(void *ctx, const hub_fetched *fetched)
{
    hub_login *login = ctx;
    login->fetch = NULL;
    end_revocation(login, fetched->is_there ? NULL : fetched->why);
}

void login_log_out(hub_login *login)
{
    const hub_credential *kept = &login->kept;
    bool has_refresh = kept->refresh_token != NULL;
    const char *token = has_refresh ? kept->refresh_token : kept->access_token;
    hub_buf form;
    if (token == NULL || kept->revocation_endpoint == NULL || kept->client_id == NULL) {
        end_revocation(login, token != NULL ? "it revokes no tokens" : "there is no login");
        return;
    }
    hub_buf_init_secret(&form, LOGIN_FORM_BYTES);
    hub_login_add_field(&form, "token", hub_str_of(token));
    hub_login_add_field(&form, "token_type_hint",
                        has_refresh ? HUB_STR("refresh_token") : HUB_STR("access_token"));
    login_ask(login, kept, kept->revocation_endpoint, &form, on_revoked);
}
