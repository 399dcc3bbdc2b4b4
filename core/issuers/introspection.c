/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens that say nothing by themselves: their issuer is asked (RFC 7662). */
#include "issuers/internal.h"

#include "base/encoding.h"

#include <time.h>

enum { REFUSED_S = 30, UNAVAILABLE_S = 2 };

/* What the issuer says holds for so long at most: it may take the token back. */
enum { MOST_S = 60 };

static void take_answer(hub_issuers_token *token, hub_str body, int64_t now)
{
    issuer_state *issuer = token->issuer;
    hub_error why = {.code = HUB_OK};
    hub_identity *identity = NULL;
    hub_err err = hub_jwt_accept_claims(body, hub_str_of(token->text), &issuer->settings->jwt, now,
                                        &identity, &why);
    if (err == HUB_OK) {
        int64_t until = now + MOST_S;
        bool ends_first = identity->expires != 0 && identity->expires < until;
        issuers_accept(token, identity, ends_first ? identity->expires : until);
    } else if (err == HUB_ENOMEM || err == HUB_EPARSE) {
        issuer_complain(token->issuer, "introspection", why.text);
        issuers_end_token(token, TOKEN_UNAVAILABLE, now + UNAVAILABLE_S, NULL);
    } else {
        issuers_end_token(token, TOKEN_REFUSED, now + REFUSED_S, why.text);
    }
}

static void on_answer(void *ctx, const hub_fetched *fetched)
{
    hub_issuers_token *token = ctx;
    int64_t now = time(NULL);
    token->question = NULL;
    token->was_asked = true;
    if (fetched->is_there) {
        take_answer(token, fetched->body, now);
        return;
    }
    issuer_complain(token->issuer, "introspection", fetched->why);
    issuers_end_token(token, TOKEN_UNAVAILABLE, now + UNAVAILABLE_S, NULL);
}

void issuer_ask(issuer_state *issuer, hub_issuers_token *token)
{
    const hub_introspection_settings *settings = &issuer->settings->introspection;
    hub_error why = {.code = HUB_OK};
    hub_buf form;
    hub_buf_init_secret(&form, 4 * HUB_LIMIT_JWS_BYTES);
    hub_buf_add(&form, HUB_STR("token_type_hint=access_token&token="));
    hub_percent_encode(hub_str_of(token->text), &form);
    hub_fetch_request request = {.url = settings->url,
                                 .ca = issuer->settings->ca,
                                 .only_public = issuer->settings->only_public,
                                 .form = hub_buf_str(&form),
                                 .user = settings->client_id,
                                 .password = settings->client_secret};
    hub_err err = hub_buf_ok(&form) ? hub_fetch_start(issuer->owner->fetcher, &request, on_answer,
                                                      token, &token->question, &why)
                                    : HUB_ENOMEM;
    hub_buf_fini(&form);
    if (err == HUB_OK) {
        issuers_move(token, TOKEN_WAITING);
        return;
    }
    issuer_complain(token->issuer, "introspection", why.text);
    issuers_end_token(token, TOKEN_UNAVAILABLE, time(NULL) + UNAVAILABLE_S, NULL);
}
