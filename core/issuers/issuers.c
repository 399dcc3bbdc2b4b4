/* SPDX-License-Identifier: Apache-2.0 */
#include "issuers/internal.h"

#include "base/log.h"
#include "base/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REFUSED_S = 30, UNAVAILABLE_S = 2 };

/* ---- lists ----------------------------------------------------------------------------------- */

static void unlink_token(hub_issuers_token *token)
{
    hub_issuers *issuers = token->owner;
    if (token->prev != NULL) {
        token->prev->next = token->next;
    } else {
        issuers->lists[token->state].first = token->next;
    }
    if (token->next != NULL) {
        token->next->prev = token->prev;
    } else {
        issuers->lists[token->state].last = token->prev;
    }
    token->next = NULL;
    token->prev = NULL;
}

static void link_token(hub_issuers_token *token, token_state state)
{
    hub_issuers *issuers = token->owner;
    token->state = state;
    token->prev = issuers->lists[state].last;
    if (token->prev != NULL) {
        token->prev->next = token;
    } else {
        issuers->lists[state].first = token;
    }
    issuers->lists[state].last = token;
}

static bool is_open(token_state state)
{
    return state == TOKEN_QUEUED || state == TOKEN_WAITING;
}

static void arm(hub_issuers *issuers)
{
    if (issuers->lists[TOKEN_QUEUED].first != NULL && !ev_is_active(&issuers->turn)) {
        hub_loop_start_timer(issuers->loop, &issuers->turn, 0.);
    }
}

void issuers_move(hub_issuers_token *token, token_state state)
{
    token->owner->open -= is_open(token->state);
    token->owner->open += is_open(state);
    unlink_token(token);
    link_token(token, state);
    arm(token->owner);
}

static void free_text(hub_issuers_token *token)
{
    if (token->text != NULL) {
        explicit_bzero(token->text, strlen(token->text));
        free(token->text);
        token->text = NULL;
    }
}

/* Who waits looks again, and finds nothing. */
static void tell(hub_issuers_token *token)
{
    hub_issuers_waiter *waiter;
    token->is_told = true;
    while ((waiter = token->waiters) != NULL) {
        hub_issuers_leave(waiter);
        waiter->on_judged(waiter);
    }
    token->is_told = false;
}

static void drop(hub_issuers_token *token)
{
    hub_issuers *issuers = token->owner;
    while (token->waiters != NULL) {
        hub_issuers_leave(token->waiters);
    }
    hub_fetch_cancel(token->question);
    issuers->open -= is_open(token->state);
    issuers->count--;
    unlink_token(token);
    HASH_DEL(issuers->tokens, token);
    hub_identity_unref(token->identity);
    free_text(token);
    free(token);
}

void issuers_end_token(hub_issuers_token *token, token_state state, int64_t until_s,
                       const char *reason)
{
    issuers_move(token, state);
    token->until_s = until_s;
    (void)snprintf(token->reason, sizeof token->reason, "%s", reason != NULL ? reason : "");
    for (char *at = token->reason; *at != '\0'; at++) {
        *at = *at == '"' || *at == '\\' ? '\'' : *at; /* it is quoted itself */
    }
    free_text(token);
    tell(token);
}

void issuers_accept(hub_issuers_token *token, hub_identity *identity, int64_t until_s)
{
    token->identity = identity;
    token->print = token->issuer->settings->print;
    identity->source = token->print;
    if (token->owner->keeps_tokens) {
        identity->token = token->text;
        token->text = NULL;
    }
    issuers_end_token(token, TOKEN_GOOD, until_s, NULL);
}

/* ---- verifying ------------------------------------------------------------------------------- */

static issuer_state *find_issuer(const hub_issuers *issuers, hub_str name)
{
    issuer_state *at = issuers->issuers;
    while (at != NULL && !hub_str_is(name, at->settings->jwt.issuer)) {
        at = at->next;
    }
    return at;
}

/* The token has to wait for keys; or it cannot, because they were asked for a moment ago. */
static void await_keys(hub_issuers_token *token, const hub_error *why, int64_t now)
{
    issuer_state *issuer = token->issuer;
    if (issuer->fetch != NULL ||
        (issuer_may_fetch(issuer, now) && issuer_fetch_keys(issuer, now))) {
        token->has_new_keys = true;
        issuers_move(token, TOKEN_WAITING);
    } else if (issuer->keys == NULL) {
        issuers_end_token(token, TOKEN_UNAVAILABLE, now + UNAVAILABLE_S, NULL);
    } else {
        issuers_end_token(token, TOKEN_REFUSED, now + REFUSED_S, why->text);
    }
}

static void verify(hub_issuers_token *token, const hub_jwt *jwt, int64_t now)
{
    issuer_state *issuer = token->issuer;
    hub_error why = {.code = HUB_OK};
    if (issuer->keys == NULL) {
        await_keys(token, &why, now);
        return;
    }
    hub_identity *identity = NULL;
    hub_err err = hub_jwt_verify(jwt, &issuer->settings->jwt, issuer->keys, now, &token->tries,
                                 &identity, &why);
    if (err == HUB_EBUSY) {
        issuers_move(token, TOKEN_QUEUED); /* behind the others */
    } else if (err == HUB_OK) {
        issuers_accept(token, identity, identity->expires);
    } else if (err == HUB_ENOTFOUND && !token->has_new_keys) {
        await_keys(token, &why, now);
    } else if (err == HUB_ENOMEM) {
        issuers_end_token(token, TOKEN_UNAVAILABLE, now + UNAVAILABLE_S, NULL);
    } else {
        issuers_end_token(token, TOKEN_REFUSED, now + REFUSED_S, why.text);
    }
    /* Keys grow old: others are asked for while these still do. */
    if (issuer->keys != NULL && now >= issuer->fresh_until_s && issuer_may_fetch(issuer, now)) {
        (void)issuer_fetch_keys(issuer, now);
    }
}

static issuer_state *find_asked(const hub_issuers *issuers)
{
    issuer_state *at = issuers->issuers;
    while (at != NULL && at->settings->introspection.client_id == NULL) {
        at = at->next;
    }
    return at;
}

static void judge_one(hub_issuers_token *token, int64_t now)
{
    hub_jwt jwt;
    hub_error why = {.code = HUB_OK};
    hub_str text = hub_str_of(token->text);
    issuer_state *asked = find_asked(token->owner);
    if (asked != NULL && !hub_issuers_is_signed(text)) {
        token->issuer = asked;
        issuer_ask(asked, token);
        return;
    }
    hub_err err = hub_jwt_read(text, &jwt, &why);
    if (err == HUB_OK) {
        token->issuer = find_issuer(token->owner, hub_buf_str(&jwt.issuer));
    }
    if (err == HUB_OK && token->issuer != NULL) {
        verify(token, &jwt, now);
    } else if (err == HUB_ENOMEM) {
        issuers_end_token(token, TOKEN_UNAVAILABLE, now + UNAVAILABLE_S, NULL);
    } else {
        issuers_end_token(token, TOKEN_REFUSED, now + REFUSED_S,
                          err != HUB_OK ? why.text : "the token is of an issuer that is not known");
    }
    hub_jwt_fini(&jwt);
}

/* One key of one token each turn: between two of them everybody else has theirs. */
static void on_turn(struct ev_loop *loop, ev_timer *timer, int events)
{
    hub_issuers *issuers = timer->data;
    (void)loop;
    (void)events;
    if (issuers->lists[TOKEN_QUEUED].first != NULL) {
        judge_one(issuers->lists[TOKEN_QUEUED].first, time(NULL));
    }
    arm(issuers);
}

void issuers_requeue(issuer_state *issuer)
{
    hub_issuers_token *next;
    for (hub_issuers_token *at = issuer->owner->lists[TOKEN_WAITING].first; at != NULL; at = next) {
        next = at->next;
        if (at->issuer == issuer && at->question == NULL) {
            issuers_move(at, TOKEN_QUEUED);
        }
    }
}

/* What is said of its tokens is not so for sure any more. */
void issuers_forget_of(issuer_state *issuer, bool is_all)
{
    hub_issuers_token *at;
    hub_issuers_token *next;
    HASH_ITER(hh, issuer->owner->tokens, at, next)
    {
        if (at->issuer != issuer || (at->was_asked && !is_all)) {
            continue;
        }
        at->tries = 0;
        if (!is_open(at->state)) {
            drop(at);
        } else if (is_all) {
            hub_fetch_cancel(at->question);
            at->question = NULL;
            at->issuer = NULL;
            at->has_new_keys = false;
            issuers_move(at, TOKEN_QUEUED);
        }
    }
}

/* ---- looking --------------------------------------------------------------------------------- */

bool hub_issuers_is_signed(hub_str token)
{
    size_t dots = 0;
    for (size_t i = 0; i < token.len; i++) {
        dots += token.ptr[i] == '.';
    }
    return dots == 2;
}

/* Room for one more: refusals make way first, then what was judged first. */
static bool make_room(hub_issuers *issuers)
{
    static const token_state ORDER[] = {TOKEN_UNAVAILABLE, TOKEN_REFUSED, TOKEN_GOOD};
    if (issuers->open >= HUB_LIMIT_TOKENS_OPEN) {
        return false;
    }
    for (size_t i = 0; i < sizeof ORDER / sizeof ORDER[0]; i++) {
        if (issuers->count < HUB_LIMIT_TOKENS_JUDGED) {
            return true;
        }
        hub_issuers_token *oldest = issuers->lists[ORDER[i]].first;
        if (oldest != NULL && oldest->is_told) {
            oldest = oldest->next;
        }
        if (oldest != NULL) {
            drop(oldest);
        }
    }
    return issuers->count < HUB_LIMIT_TOKENS_JUDGED;
}

static hub_issuers_token *add_token(hub_issuers *issuers, hub_str text, const uint8_t *digest)
{
    hub_issuers_token *token = make_room(issuers) ? calloc(1, sizeof *token) : NULL;
    if (token == NULL) {
        return NULL;
    }
    token->owner = issuers;
    token->text = hub_str_dup(text);
    memcpy(token->digest, digest, sizeof token->digest);
    if (token->text != NULL) {
        HASH_ADD(hh, issuers->tokens, digest, sizeof token->digest, token);
    }
    if (token->text == NULL || !hub_map_has_taken(&token->hh)) {
        free_text(token);
        free(token);
        return NULL;
    }
    issuers->count++;
    issuers->open++;
    link_token(token, TOKEN_QUEUED);
    arm(issuers);
    return token;
}

static void wait_for(hub_issuers_waiter *waiter, hub_issuers_token *token)
{
    waiter->token = token;
    waiter->prev = NULL;
    waiter->next = token->waiters;
    if (waiter->next != NULL) {
        waiter->next->prev = waiter;
    }
    token->waiters = waiter;
}

void hub_issuers_leave(hub_issuers_waiter *waiter)
{
    if (waiter->token == NULL) {
        return;
    }
    if (waiter->prev != NULL) {
        waiter->prev->next = waiter->next;
    } else {
        waiter->token->waiters = waiter->next;
    }
    if (waiter->next != NULL) {
        waiter->next->prev = waiter->prev;
    }
    waiter->token = NULL;
}

hub_issuers_verdict hub_issuers_judge(hub_issuers *issuers, hub_str token, int64_t now,
                                      hub_issuers_waiter *waiter, hub_identity **ret_identity,
                                      const char **ret_reason)
{
    hub_issuers_token *found = NULL;
    uint8_t digest[HUB_DIGEST_BYTES];
    *ret_reason = "";
    if (token.len > HUB_LIMIT_JWS_BYTES || issuers->issuers == NULL) {
        *ret_reason = "the token is not one of this hub";
        return HUB_ISSUERS_REFUSED;
    }
    hub_digest_of(token, digest);
    HASH_FIND(hh, issuers->tokens, digest, sizeof digest, found);
    if (found != NULL && !is_open(found->state) && found->until_s <= now && !found->is_told) {
        drop(found);
        found = NULL;
    }
    if (found == NULL && (found = add_token(issuers, token, digest)) == NULL) {
        return HUB_ISSUERS_UNAVAILABLE;
    }
    switch (found->state) {
    case TOKEN_GOOD:
        *ret_identity = hub_identity_ref(found->identity);
        return HUB_ISSUERS_GOOD;
    case TOKEN_REFUSED:
        *ret_reason = found->reason;
        return HUB_ISSUERS_REFUSED;
    case TOKEN_UNAVAILABLE:
        return HUB_ISSUERS_UNAVAILABLE;
    default:
        if (waiter != NULL) {
            wait_for(waiter, found);
        }
        return HUB_ISSUERS_LATER;
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

hub_issuers *hub_issuers_create(struct ev_loop *loop)
{
    hub_issuers *issuers = calloc(1, sizeof *issuers);
    if (issuers == NULL || (issuers->fetcher = hub_fetcher_create(loop)) == NULL) {
        free(issuers);
        return NULL;
    }
    issuers->loop = loop;
    ev_timer_init(&issuers->turn, on_turn, 0., 0.);
    issuers->turn.data = issuers;
    return issuers;
}

static void end_issuer(issuer_state *issuer)
{
    issuers_forget_of(issuer, true);
    issuer_finish(issuer);
    free(issuer);
}

/* A new issuer, or one that was there with the same settings. */
static issuer_state *take_issuer(hub_issuers *issuers, const hub_issuer_settings *settings)
{
    issuer_state **link = &issuers->issuers;
    while (*link != NULL && (*link)->settings->print != settings->print) {
        link = &(*link)->next;
    }
    issuer_state *issuer = *link;
    if (issuer != NULL) {
        *link = issuer->next;
        return issuer;
    }
    issuer = calloc(1, sizeof *issuer);
    if (issuer != NULL) {
        issuer->owner = issuers;
        hub_buf_init(&issuer->text, HUB_LIMIT_JWKS_BYTES);
        hub_buf_init(&issuer->keys_url, HUB_LIMIT_JWKS_BYTES);
    }
    return issuer;
}

hub_err hub_issuers_configure(hub_issuers *issuers, const hub_auth_settings *auth)
{
    issuer_state *all = NULL;
    issuer_state **end = &all;
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < auth->issuer_count; i++) {
        issuer_state *issuer = take_issuer(issuers, &auth->issuers[i]);
        if (issuer == NULL) {
            err = HUB_ENOMEM;
            break;
        }
        issuer->settings = &auth->issuers[i];
        issuer->next = NULL;
        *end = issuer;
        end = &issuer->next;
        err = issuer_read_own_keys(issuer);
    }
    /* Those that are left are gone; so are all of them, rather than some, without memory. */
    while (issuers->issuers != NULL) {
        issuer_state *gone = issuers->issuers;
        issuers->issuers = gone->next;
        end_issuer(gone);
    }
    issuers->issuers = all;
    issuers->auth = auth;
    if (issuers->keeps_tokens != auth->keeps_tokens) {
        issuers->keeps_tokens = auth->keeps_tokens;
        for (issuer_state *at = all; at != NULL; at = at->next) {
            issuers_forget_of(at,
                              true); /* with their tokens, or without, when they are shown again */
        }
    }
    return err;
}

void hub_issuers_destroy(hub_issuers *issuers)
{
    hub_issuers_token *at;
    hub_issuers_token *next;
    if (issuers == NULL) {
        return;
    }
    HASH_ITER(hh, issuers->tokens, at, next)
    {
        drop(at);
    }
    while (issuers->issuers != NULL) {
        issuer_state *gone = issuers->issuers;
        issuers->issuers = gone->next;
        end_issuer(gone);
    }
    ev_timer_stop(issuers->loop, &issuers->turn);
    hub_fetcher_destroy(issuers->fetcher);
    free(issuers);
}
