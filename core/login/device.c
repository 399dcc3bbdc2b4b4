/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A user with a browser on any machine: the authorization server gives a code, which the user enters there,
 * and is asked again and again whether that was done. spec: RFC 8628
 */
#include "login/internal.h"

#include "login/url.h"
#include "wire/json.h"

enum { INTERVAL_S = 5, INTERVAL_MOST_S = 60, USER_CODE_BYTES = 64 };

static void poll(hub_login *login);

static void poll_later(hub_login *login)
{
    login_flow *flow = &login->flow;
    if (flow->interval_s > INTERVAL_MOST_S) {
        flow->interval_s = INTERVAL_MOST_S;
    }
    login_later(login, flow->interval_s, poll);
}

static void on_polled(void *ctx, const hub_fetched *fetched)
{
    hub_login *login = ctx;
    login->fetch = NULL;
    if (fetched->is_there) {
        hub_login_forget_text(&login->flow.link); /* it works once */
        login_take_grant(login, fetched);
    } else if (login_says(fetched, "authorization_pending")) {
        poll_later(login);
    } else if (login_says(fetched, "slow_down")) {
        login->flow.interval_s += INTERVAL_S;
        poll_later(login);
    } else if (fetched->status == 0 || fetched->status >= 500) {
        login->flow.interval_s *= 2; /* section 3.5: it is asked less often, and not given up */
        poll_later(login);
    } else if (login_says(fetched, "access_denied")) {
        login_end(login, HUB_EDENIED, "the login was refused: the user said no");
    } else if (login_says(fetched, "expired_token")) {
        login_end(login, HUB_EUNAVAILABLE, "nobody has logged in in time: try again");
    } else {
        login_end_refused(login, "the authorization server", fetched);
    }
}

static void poll(hub_login *login)
{
    hub_buf form;
    const hub_login_places *places = &login->places;
    if (login_clock_s() > login->flow.until_s) {
        login_end(login, HUB_EUNAVAILABLE, "nobody has logged in in time: try again");
        return;
    }
    hub_buf_init_secret(&form, LOGIN_FORM_BYTES);
    hub_login_add_field(&form, "grant_type", HUB_STR(LOGIN_DEVICE_GRANT));
    hub_login_add_field(&form, "device_code", hub_str_of(login->flow.device_code));
    login_add_resource(login, &form);
    login_ask(login, &login->client, places->token_endpoint, &form, on_polled);
}

static double seconds_of(hub_str object, const char *name, uint64_t otherwise, uint64_t most)
{
    uint64_t seconds = otherwise;
    (void)hub_json_to_whole(hub_json_get(object, hub_str_of(name)), &seconds);
    return (double)(seconds < 1 ? 1 : seconds > most ? most : seconds);
}

/* False: it is no answer that a user could use. */
static bool take_answer(hub_login *login, hub_str body)
{
    hub_str object;
    login_flow *flow = &login->flow;
    if (hub_json_check(body, &object, NULL) != HUB_OK) {
        return false;
    }
    flow->device_code =
        hub_login_dup_member(object, "device_code", HUB_LIMIT_LOGIN_TEXT_BYTES, true);
    flow->user_code = hub_login_dup_member(object, "user_code", USER_CODE_BYTES, false);
    flow->link =
        hub_login_dup_member(object, "verification_uri_complete", HUB_LIMIT_LOGIN_TEXT_BYTES, true);
    if (flow->link == NULL) {
        flow->link =
            hub_login_dup_member(object, "verification_uri", HUB_LIMIT_LOGIN_TEXT_BYTES, true);
    }
    flow->interval_s = seconds_of(object, "interval", INTERVAL_S, INTERVAL_MOST_S);
    flow->until_s = login_clock_s() + seconds_of(object, "expires_in", HUB_LIMIT_LOGIN_USER_S,
                                                 HUB_LIMIT_LOGIN_USER_S);
    return flow->device_code != NULL && flow->user_code != NULL && flow->link != NULL &&
           hub_login_url_may(hub_str_of(flow->link), hub_str_of(login->url));
}

static void on_device(void *ctx, const hub_fetched *fetched)
{
    hub_login *login = ctx;
    login->fetch = NULL;
    if (!fetched->is_there) {
        login_end_refused(login, "the authorization server", fetched);
    } else if (!take_answer(login, fetched->body)) {
        hub_login_forget_text(&login->flow.link); /* nobody was told of it */
        login_end(login, HUB_EDENIED,
                  "the authorization server %.200s gives no code for a device, or no https address "
                  "to enter it at",
                  login->places.issuer);
    } else {
        poll_later(login);
        login->flow.was_shown = true;
        login_tell_link(login);
    }
}

void login_ask_device(hub_login *login)
{
    hub_buf form;
    const hub_login_places *places = &login->places;
    if (places->device_endpoint == NULL) {
        login_end(login, HUB_EDENIED,
                  "the authorization server %.200s gives no codes for devices "
                  "(device_authorization_endpoint): log in with a browser on this machine",
                  places->issuer);
        return;
    }
    login->flow.scope = login_find_scope(login);
    hub_buf_init_secret(&form, LOGIN_FORM_BYTES);
    hub_login_add_field(&form, "scope", hub_str_of(login->flow.scope));
    login_add_resource(login, &form);
    login_ask(login, &login->client, places->device_endpoint, &form, on_device);
}
