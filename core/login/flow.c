/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user's part: a link to the authorization server, and what the browser comes back with. The answer
 * counts once, if it has this flow's own `state` and comes from the issuer that the link leads to (RFC
 * 9207), and only then is anything of it looked at.
 */
#include "login/internal.h"

#include "base/digest.h"
#include "base/limits.h"
#include "identity/base64url.h"
#include "login/url.h"

#include <stdlib.h>

static bool needs_loopback(const hub_login *login)
{
    return login->flow.redirect_uri != NULL;
}

void login_tell_link(hub_login *login)
{
    if (login->all->options.on_link != NULL) {
        login->all->options.on_link(login->all->options.ctx, login);
    }
}

void login_flow_fini(hub_login *login)
{
    login_flow *flow = &login->flow;
    bool is_over = needs_loopback(login);
    bool had_link = flow->link != NULL || flow->was_shown;
    hub_login_forget_text(&flow->redirect_uri);
    hub_login_forget_text(&flow->scope);
    hub_login_forget_text(&flow->link);
    hub_login_forget_text(&flow->device_code);
    hub_login_forget_text(&flow->user_code);
    explicit_bzero(flow->verifier, sizeof flow->verifier);
    explicit_bzero(flow->state, sizeof flow->state);
    if (!is_over) {
        return;
    }
    const hub_login *other = login->all->logins;
    while (other != NULL && !needs_loopback(other)) {
        other = other->next;
    }
    if (other == NULL) {
        hub_loopback_close(login->all->loopback);
        login->all->loopback = NULL;
    }
    if (had_link) {
        flow->was_shown = false;
        login_tell_link(login);
    }
}

/* ---- the link -------------------------------------------------------------------------------- */

static bool has_word(hub_str words, hub_str word)
{
    while (words.len > 0) {
        size_t len = hub_str_find(words, HUB_STR(" "));
        hub_str one = {.ptr = words.ptr, .len = len == SIZE_MAX ? words.len : len};
        if (hub_str_eq(one, word)) {
            return true;
        }
        words = hub_str_from(words, len == SIZE_MAX ? words.len : len + 1);
    }
    return false;
}

static void add_words(hub_buf *scope, const char *words)
{
    hub_str rest = hub_str_of(words);
    while (rest.len > 0) {
        size_t len = hub_str_find(rest, HUB_STR(" "));
        hub_str one = {.ptr = rest.ptr, .len = len == SIZE_MAX ? rest.len : len};
        rest = hub_str_from(rest, len == SIZE_MAX ? rest.len : len + 1);
        if (one.len > 0 && !has_word(hub_buf_str(scope), one)) {
            hub_buf_add(scope, scope->len > 0 ? HUB_STR(" ") : HUB_STR_EMPTY);
            hub_buf_add(scope, one);
        }
    }
}

/* What is asked for: what the operator says; else what the server has asked for, else what it has. With
 * all that was asked for before, should more be needed now. */
char *login_find_scope(const hub_login *login)
{
    hub_buf scope;
    hub_buf_init(&scope, HUB_LIMIT_LOGIN_TEXT_BYTES);
    if (login->wanted_scope != NULL) {
        add_words(&scope, login->kept.scope);
        add_words(&scope, login->wanted_scope);
    }
    if (login->settings.scopes != NULL) {
        add_words(&scope, login->settings.scopes);
    } else if (login->challenge.scope[0] != '\0') {
        add_words(&scope, login->challenge.scope);
    } else {
        add_words(&scope, login->places.resource_scopes);
    }
    if (login->places.offers_access) {
        add_words(&scope, "offline_access");
    }
    char *made = hub_buf_ok(&scope) && scope.len > 0 ? hub_str_dup(hub_buf_str(&scope)) : NULL;
    hub_buf_fini(&scope);
    return made;
}

static void add_challenge(hub_buf *link, const char *verifier)
{
    unsigned char digest[HUB_DIGEST_BYTES];
    hub_buf text;
    hub_buf_init(&text, 2 * HUB_DIGEST_BYTES);
    hub_digest_of(hub_str_of(verifier), digest);
    hub_base64url_add(&text, (hub_str){.ptr = (const char *)digest, .len = sizeof digest});
    hub_login_add_field(link, "code_challenge", hub_buf_str(&text));
    hub_login_add_field(link, "code_challenge_method", HUB_STR("S256"));
    hub_buf_fini(&text);
}

static char *make_link(const hub_login *login)
{
    const login_flow *flow = &login->flow;
    const hub_login_places *places = &login->places;
    const char *resource = places->resource != NULL ? places->resource : login->url;
    hub_buf link;
    hub_buf_init(&link, 4 * HUB_LIMIT_LOGIN_TEXT_BYTES);
    hub_buf_add(&link, hub_str_of(places->authorization_endpoint));
    if (strchr(places->authorization_endpoint, '?') == NULL) {
        hub_buf_add_char(&link, '?');
    }
    hub_login_add_field(&link, "response_type", HUB_STR("code"));
    hub_login_add_field(&link, "client_id", hub_str_of(login->client.client_id));
    hub_login_add_field(&link, "redirect_uri", hub_str_of(flow->redirect_uri));
    hub_login_add_field(&link, "scope", hub_str_of(flow->scope));
    hub_login_add_field(&link, "state", hub_str_of(flow->state));
    add_challenge(&link, flow->verifier);
    hub_login_add_field(&link, "resource", hub_str_of(resource));
    if (has_word(hub_str_of(flow->scope), HUB_STR("offline_access"))) {
        hub_login_add_field(&link, "prompt", HUB_STR("consent")); /* OpenID Connect Core, 11 */
    }
    char *made = hub_buf_ok(&link) ? hub_buf_take(&link) : NULL;
    hub_buf_fini(&link);
    return made;
}

static void on_late(hub_login *login)
{
    login_end(login, HUB_EUNAVAILABLE, "nobody has logged in within %u minutes: try again",
              HUB_LIMIT_LOGIN_USER_S / 60);
}

void login_ask_user(hub_login *login)
{
    login_flow *flow = &login->flow;
    if (login->places.authorization_endpoint == NULL) {
        login_end(login, HUB_EDENIED,
                  "the authorization server %.200s names no authorization_endpoint",
                  login->places.issuer);
        return;
    }
    flow->scope = login_find_scope(login);
    if (login_random(flow->state) && login_random(flow->verifier)) {
        flow->link = make_link(login);
    }
    if (flow->link == NULL) {
        login_end(login, HUB_ENOMEM, "out of memory");
        return;
    }
    login_later(login, HUB_LIMIT_LOGIN_USER_S, on_late);
    flow->was_shown = true;
    login_tell_link(login);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static hub_login *find_flow(const hub_logins *logins, hub_str state)
{
    hub_login *login = logins->logins;
    while (login != NULL && (login->flow.link == NULL || !hub_str_is(state, login->flow.state))) {
        login = login->next;
    }
    return login;
}

/* Whether the answer is of the authorization server that was asked. */
static bool is_of_issuer(const hub_login *login, hub_str query)
{
    hub_buf issuer;
    hub_buf_init(&issuer, HUB_LIMIT_ISSUER_BYTES);
    bool is_there = hub_login_find_field(query, "iss", &issuer);
    bool is_said = hub_str_find(query, HUB_STR("iss=")) != SIZE_MAX;
    bool is_it = is_there ? hub_str_is(hub_buf_str(&issuer), login->places.issuer)
                          : !login->places.says_iss && !is_said;
    hub_buf_fini(&issuer);
    return is_it;
}

static const char *take(hub_login *login, hub_str query)
{
    hub_buf code;
    hub_buf error;
    const char *page = "The login has not worked. The program that you came from says why.";
    hub_buf_init_secret(&code, HUB_LIMIT_LOGIN_TEXT_BYTES);
    hub_buf_init(&error, 100);
    if (!is_of_issuer(login, query)) {
        login_end(login, HUB_EDENIED,
                  "the browser came back with an answer that is not of the authorization server "
                  "%.200s: nothing of it is used",
                  login->places.issuer);
    } else if (hub_login_find_field(query, "error", &error)) {
        bool is_no = hub_str_is(hub_buf_str(&error), "access_denied");
        login_end(login, HUB_EDENIED, "the login was refused%s%.*s%s", is_no ? ": " : " (",
                  is_no ? 0 : (int)error.len, error.len > 0 ? error.ptr : "",
                  is_no ? "the user said no" : ")");
    } else if (!hub_login_find_field(query, "code", &code) || code.len == 0) {
        login_end(login, HUB_EDENIED, "the browser came back without a code");
    } else {
        page = "The login is done. You can close this window.";
        if (login->op != NULL) { /* what others have kept does not matter any more */
            hub_state_cancel(login->op);
            login->op = NULL;
        }
        login_exchange_code(login, hub_buf_str(&code));
    }
    hub_buf_fini(&code);
    hub_buf_fini(&error);
    return page;
}

bool hub_logins_take_answer(hub_logins *logins, hub_str query, const char **ret_page)
{
    hub_buf state;
    hub_buf_init(&state, LOGIN_RANDOM_TEXT);
    bool is_there = hub_login_find_field(query, "state", &state) && state.len > 0;
    hub_login *login = is_there ? find_flow(logins, hub_buf_str(&state)) : NULL;
    hub_buf_fini(&state);
    if (login == NULL) {
        return false;
    }
    *ret_page = take(login, query);
    return true;
}
