/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a server's address to what is known of its authorization server. What the server says in its
 * challenge comes first, then the well-known addresses, and at last what 2025-03-26 takes for granted.
 * No address that a server names is asked unless it may send the hub there (url.h).
 */
#include "login/internal.h"

#include "base/limits.h"
#include "login/url.h"

static void read_server(hub_login *login);

void login_fetch(hub_login *login, const hub_fetch_request *request, hub_fetch_on_end *on_end)
{
    hub_error why = {.code = HUB_OK};
    hub_fetch_request whole = *request;
    whole.ca = login->ca;
    whole.only_public = login->only_public;
    if (!hub_login_url_may(hub_str_of(request->url), hub_str_of(login->url))) {
        login_end(login, HUB_EDENIED, "the server sends the hub to %.200s, which is not at https",
                  request->url);
        return;
    }
    if (hub_fetch_start(login->all->fetcher, &whole, on_end, login, &login->fetch, &why) !=
        HUB_OK) {
        login_end(login, why.code, "cannot ask %.200s: %.200s", request->url, why.text);
    }
}

/* The next address of `add`, for `of`. NULL: there are no more. owns:    the result */
static char *next_place(hub_login *login, bool (*add)(hub_str of, unsigned at, hub_buf *out),
                        const char *of)
{
    hub_buf url;
    hub_buf_init(&url, HUB_LIMIT_LOGIN_TEXT_BYTES);
    char *made = add(hub_str_of(of), login->place++, &url) ? hub_buf_take(&url) : NULL;
    hub_buf_fini(&url);
    return made;
}

static void ask(hub_login *login, char *url, hub_fetch_on_end *on_end)
{
    login_fetch(login, &(hub_fetch_request){.url = url}, on_end);
    hub_login_forget_text(&url);
}

/* ---- the authorization server ---------------------------------------------------------------- */

static void take_server(hub_login *login)
{
    if (login->settings.grant->wants_pkce && !login->places.has_s256) {
        login_end(login, HUB_EDENIED,
                  "the authorization server %.200s does not say that it knows PKCE with S256 "
                  "(code_challenge_methods_supported): without it a login is not safe",
                  login->places.issuer);
    } else {
        login_find_client(login);
    }
}

static void on_server(void *ctx, const hub_fetched *fetched)
{
    hub_login *login = ctx;
    hub_error why = {.code = HUB_OK};
    login->fetch = NULL;
    if (!fetched->is_there) {
        if (fetched->status == 0 || fetched->status >= 500) {
            login_end(login, HUB_EUNAVAILABLE, "the authorization server %.200s: %.200s",
                      login->looked_for->issuer, fetched->why);
        } else {
            read_server(login);
        }
        return;
    }
    hub_err err =
        hub_login_read_server(fetched->body, hub_str_of(login->url), login->looked_for, &why);
    if (err == HUB_EPARSE) {
        read_server(login); /* some answer everything with a page of theirs */
    } else if (err != HUB_OK) {
        login_end(login, HUB_EDENIED, "%s", why.text);
    } else {
        login->on_found(login);
    }
}

static void read_server(hub_login *login)
{
    char *url = next_place(login, hub_login_server_place, login->looked_for->issuer);
    if (url != NULL) {
        ask(login, url, on_server);
    } else if (login->looked_for != &login->places || login->places.resource != NULL) {
        login_end(login, HUB_EUNAVAILABLE,
                  "the authorization server %.200s publishes no metadata, neither of OAuth nor of "
                  "OpenID",
                  login->looked_for->issuer);
    } else if (!login->settings.is_sure) {
        login_end(login, HUB_ENOTFOUND, "the server does not say where to log in");
    } else if (hub_login_assume_server(&login->places) != HUB_OK) {
        login_end(login, HUB_ENOMEM, "out of memory");
    } else {
        take_server(login);
    }
}

/* Read what is known of an authorization server, of which only the issuer is there so far. */
static void look_for(hub_login *login, hub_login_places *places, void (*then)(hub_login *login))
{
    login->place = 0;
    login->looked_for = places;
    login->on_found = then;
    read_server(login);
}

void login_read_provider(hub_login *login, void (*then)(hub_login *login))
{
    hub_login_places_fini(&login->provider);
    login->provider.issuer = login_dup(login->settings.provider.issuer);
    if (login->provider.issuer == NULL) {
        login_end(login, HUB_ENOMEM, "out of memory");
    } else {
        look_for(login, &login->provider, then);
    }
}

/* ---- the server ------------------------------------------------------------------------------ */

static void read_resource(hub_login *login);

/* It has no metadata, as servers of 2025-03-26: its origin is where to log in. */
static void assume_issuer(hub_login *login)
{
    hub_login_url url;
    hub_login_places_fini(&login->places);
    if (login->settings.issuer != NULL) {
        login->places.issuer = login_dup(login->settings.issuer);
    } else if (hub_login_url_read(hub_str_of(login->url), &url)) {
        login->places.issuer = hub_str_dup(url.origin);
    }
    if (login->places.issuer == NULL) {
        login_end(login, HUB_ENOMEM, "out of memory");
    } else {
        look_for(login, &login->places, take_server);
    }
}

static void take_resource(hub_login *login, const hub_fetched *fetched)
{
    hub_error why = {.code = HUB_OK};
    if (hub_login_read_resource(fetched->body, hub_str_of(login->url), login->settings.issuer,
                                &login->places, &why) != HUB_OK) {
        login_end(login, HUB_EDENIED, "%s", why.text);
        return;
    }
    look_for(login, &login->places, take_server);
}

static void on_resource(void *ctx, const hub_fetched *fetched)
{
    hub_login *login = ctx;
    login->fetch = NULL;
    if (fetched->is_there) {
        take_resource(login, fetched);
    } else if (fetched->status == 0 || fetched->status >= 500) {
        login_end(login, HUB_EUNAVAILABLE, "the server's metadata cannot be had: %.200s",
                  fetched->why);
    } else {
        read_resource(login);
    }
}

static void read_resource(hub_login *login)
{
    char *url = next_place(login, hub_login_resource_place, login->url);
    if (url != NULL) {
        ask(login, url, on_resource);
    } else if (login->settings.is_sure || login->challenge.is_bearer) {
        assume_issuer(login);
    } else {
        login_end(login, HUB_ENOTFOUND, "the server does not say where to log in");
    }
}

/* What the challenge names is not to be looked for elsewhere. */
static void on_named(void *ctx, const hub_fetched *fetched)
{
    hub_login *login = ctx;
    login->fetch = NULL;
    if (fetched->is_there) {
        take_resource(login, fetched);
    } else {
        login_end(login, HUB_EUNAVAILABLE, "the metadata that the server names (%.200s): %.200s",
                  login->challenge.resource_metadata, fetched->why);
    }
}

static void begin(hub_login *login)
{
    login->place = 0;
    if (login->challenge.resource_metadata[0] == '\0') {
        read_resource(login);
        return;
    }
    login_fetch(login, &(hub_fetch_request){.url = login->challenge.resource_metadata}, on_named);
}

/* ---- nobody has asked the server yet --------------------------------------------------------- */

static void on_probed(void *ctx, const hub_fetched *fetched)
{
    hub_login *login = ctx;
    login->fetch = NULL;
    if (fetched->status == 0) {
        login_end(login, HUB_EUNAVAILABLE, "cannot reach %.200s: %.200s", login->url, fetched->why);
        return;
    }
    hub_login_challenge_read(fetched->challenge, &login->challenge);
    begin(login);
}

void login_discover(hub_login *login)
{
    hub_login_places_fini(&login->places);
    if (login->challenge.is_bearer) {
        begin(login);
        return;
    }
    login_fetch(
        login,
        &(hub_fetch_request){.url = login->url,
                             .accept = "Accept: application/json, text/event-stream",
                             .json = HUB_STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}")},
        on_probed);
}
