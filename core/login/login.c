/* SPDX-License-Identifier: Apache-2.0 */
#include "login/internal.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/loop.h"
#include "identity/base64url.h"
#include "login/url.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <utlist.h>

/* ---- small things ---------------------------------------------------------------------------- */

bool login_random(char ret_text[LOGIN_RANDOM_TEXT])
{
    char bytes[LOGIN_RANDOM_BYTES];
    hub_buf text;
    hub_buf_init_secret(&text, LOGIN_RANDOM_TEXT);
    bool is_good = getrandom(bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes;
    hub_base64url_add(&text, (hub_str){.ptr = bytes, .len = sizeof bytes});
    is_good = is_good && hub_buf_ok(&text) && text.len < LOGIN_RANDOM_TEXT;
    if (is_good) {
        memcpy(ret_text, text.ptr, text.len);
        ret_text[text.len] = '\0';
    }
    explicit_bzero(bytes, sizeof bytes);
    hub_buf_fini(&text);
    return is_good;
}

char *login_dup(const char *text)
{
    return text != NULL ? hub_str_dup(hub_str_of(text)) : NULL;
}

double login_clock_s(void)
{
    return (double)hub_clock_now_ms() / 1000.;
}

uint64_t login_now_s(void)
{
    int64_t now_ms = hub_clock_wall_ms();
    return now_ms > 0 ? (uint64_t)now_ms / 1000 : 0;
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    hub_login *login = timer->data;
    (void)loop;
    (void)events;
    login->on_timer(login);
}

void login_later(hub_login *login, double seconds, void (*then)(hub_login *login))
{
    ev_timer_stop(login->all->loop, &login->timer);
    login->on_timer = then;
    hub_loop_start_timer(login->all->loop, &login->timer, seconds);
}

/* ---- life ------------------------------------------------------------------------------------ */

hub_err hub_logins_create(struct ev_loop *loop, hub_store *store, const hub_logins_options *options,
                          hub_logins **ret_logins)
{
    hub_logins *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return HUB_ENOMEM;
    }
    made->loop = loop;
    made->store = store;
    made->options = *options;
    made->fetcher = hub_fetcher_create(loop);
    if (made->fetcher == NULL || !login_random(made->self)) {
        hub_logins_destroy(made);
        return HUB_ENOMEM;
    }
    *ret_logins = made;
    return HUB_OK;
}

void hub_logins_stop(hub_logins *logins)
{
    hub_state_watch_destroy(logins->watch);
    logins->watch = NULL;
    logins->is_stopped = true;
    logins->options = (hub_logins_options){.ctx = NULL};
}

void hub_logins_destroy(hub_logins *logins)
{
    if (logins == NULL) {
        return;
    }
    hub_assert(logins->logins == NULL);
    hub_logins_stop(logins);
    hub_loopback_close(logins->loopback);
    hub_fetcher_destroy(logins->fetcher);
    free(logins);
}

static void destroy(hub_login *login)
{
    if (login->op != NULL) {
        hub_state_cancel(login->op);
    }
    hub_fetch_cancel(login->fetch);
    ev_timer_stop(login->all->loop, &login->timer);
    login_flow_fini(login);
    hub_credential_fini(&login->kept);
    hub_credential_fini(&login->client);
    hub_login_places_fini(&login->places);
    hub_login_places_fini(&login->provider);
    hub_credential_fini(&login->at_provider);
    hub_login_forget_text(&login->wanted_scope);
    hub_login_forget_text(&login->not_revoked);
    hub_login_forget_text(&login->settings_text);
    login_settings_fini(&login->settings);
    hub_buf_fini(&login->header);
    hub_redact_set_destroy(login->secrets);
    hub_signer_destroy(login->signer);
    hub_signer_destroy(login->provider_signer);
    free(login->toolset);
    free(login->owner);
    free(login->url);
    free(login->grant_text);
    free(login->ca);
    free(login);
}

static bool is_it(const hub_login *login, const hub_login_what *what)
{
    return strcmp(login->toolset, what->toolset) == 0 && strcmp(login->owner, what->owner) == 0 &&
           hub_str_same_text(login->url, what->url) && hub_str_same_text(login->ca, what->ca) &&
           login->only_public == what->only_public &&
           hub_str_same_text(login->grant_text, what->grant) &&
           hub_str_same_text(login->settings_text, what->settings);
}

static hub_login *make(hub_logins *logins, const hub_login_what *what)
{
    hub_login *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    made->all = logins;
    made->refs = 1;
    made->toolset = login_dup(what->toolset);
    made->owner = login_dup(what->owner);
    made->url = login_dup(what->url);
    made->ca = login_dup(what->ca);
    made->only_public = what->only_public;
    made->settings_text = login_dup(what->settings);
    made->grant_text = login_dup(what->grant);
    hub_buf_init_secret(&made->header, HUB_LIMIT_LOGIN_TEXT_BYTES + sizeof "Bearer ");
    ev_timer_init(&made->timer, on_timer, 0., 0.);
    made->timer.data = made;
    if (made->toolset == NULL || made->owner == NULL || !hub_str_same_text(made->url, what->url) ||
        !hub_str_same_text(made->ca, what->ca) ||
        !hub_str_same_text(made->settings_text, what->settings) ||
        !hub_str_same_text(made->grant_text, what->grant) ||
        !login_settings_read(what->settings, &made->settings)) {
        destroy(made);
        return NULL;
    }
    if (what->grant != NULL) {
        made->settings.grant = login_grant_find(what->grant);
        hub_assert(made->settings.grant != NULL);
    }
    return made;
}

hub_err hub_login_get(hub_logins *logins, const hub_login_what *what, hub_login **ret_login,
                      hub_error *reterr)
{
    hub_login_url url;
    if (what->url != NULL && !hub_login_url_read(hub_str_of(what->url), &url)) {
        return hub_fail(reterr, HUB_EINVAL, "the address of the server is not one of https");
    }
    for (hub_login *login = logins->logins; login != NULL; login = login->next) {
        if (is_it(login, what)) {
            login->refs++;
            *ret_login = login;
            return HUB_OK;
        }
    }
    if (logins->count >= HUB_LIMIT_LOGINS) {
        return hub_fail(reterr, HUB_ELIMIT, "there are too many logins at once");
    }
    bool is_watched = logins->is_stopped || logins->watch != NULL || login_watch(logins) == HUB_OK;
    hub_login *made = is_watched ? make(logins, what) : NULL;
    if (made == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    DL_APPEND(logins->logins, made);
    logins->count++;
    *ret_login = made;
    return HUB_OK;
}

hub_login *hub_login_ref(hub_login *login)
{
    login->refs++;
    return login;
}

void hub_login_unref(hub_login *login)
{
    if (login != NULL && --login->refs == 0) {
        hub_assert(login->waits == NULL);
        DL_DELETE(login->all->logins, login);
        login->all->count--;
        destroy(login);
    }
}

hub_login *hub_logins_next(const hub_logins *logins, const hub_login *after)
{
    return after != NULL ? after->next : logins->logins;
}

const char *hub_login_toolset(const hub_login *login)
{
    return login->toolset;
}

const char *hub_login_owner(const hub_login *login)
{
    return login->owner;
}

bool hub_login_is_of_caller(const hub_login *login)
{
    return login->settings.grant->is_of_caller;
}

hub_str hub_login_header(hub_login *login, uint64_t *ret_generation)
{
    *ret_generation = login->header.len > 0 ? login->generation : 0;
    return hub_buf_str(&login->header);
}

bool hub_login_is_absent(const hub_login *login)
{
    return login->is_read && login->version == HUB_STATE_ABSENT && login->header.len == 0;
}

const char *hub_login_link(const hub_login *login)
{
    return login->flow.link;
}

const char *hub_login_code(const hub_login *login)
{
    return login->flow.user_code;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static void hide(hub_login *login)
{
    const char *const secrets[] = {login->kept.access_token, login->kept.refresh_token,
                                   login->kept.client_secret, login->settings.client_secret,
                                   login->settings.provider.client_secret};
    hub_redact_set *set = hub_redact_set_create();
    for (size_t i = 0; set != NULL && i < sizeof secrets / sizeof secrets[0]; i++) {
        if (secrets[i] != NULL && hub_redact_set_add(set, hub_str_of(secrets[i])) != HUB_OK) {
            break; /* there is no room: nobody writes them either way */
        }
    }
    hub_redact_set_destroy(login->secrets);
    login->secrets = set;
}

void login_changed(hub_login *login)
{
    hub_buf_fini(&login->header);
    if (login->kept.access_token != NULL) {
        hub_buf_add(&login->header, HUB_STR("Bearer "));
        hub_buf_add(&login->header, hub_str_of(login->kept.access_token));
    }
    login->generation++;
    hide(login);
    if (login->all->options.on_change != NULL) {
        login->all->options.on_change(login->all->options.ctx, login);
    }
}

/* ---- who waits ------------------------------------------------------------------------------- */

static void end_wait(hub_login_wait *wait, hub_err err, const char *why)
{
    hub_login *login = wait->login;
    hub_login_on_end *on_end = wait->on_end;
    void *ctx = wait->ctx;
    DL_DELETE(login->waits, wait);
    login->wait_count--;
    free(wait);
    on_end(ctx, err, why);
}

/* Whether there is what it waits for. */
static bool is_served(const hub_login_wait *wait)
{
    const hub_login *login = wait->login;
    bool has_newer = login->header.len > 0 && login->generation != wait->generation;
    return login->is_read && !wait->is_logout &&
           (wait->only_reads || (has_newer && !wait->is_by_user));
}

static hub_login_wait *find_logout(const hub_login *login)
{
    hub_login_wait *wait = login->waits;
    while (wait != NULL && !wait->is_logout) {
        wait = wait->next;
    }
    return wait;
}

bool login_may_forget(const hub_login *login)
{
    const hub_login_wait *wait = login->waits;
    while (wait != NULL && (!wait->is_logout || wait->must_revoke)) {
        wait = wait->next;
    }
    return wait != NULL;
}

void login_end_logout(hub_login *login, hub_err err, const char *why)
{
    hub_login_wait *wait;
    login->refs++;
    login->is_busy = true;
    while ((wait = find_logout(login)) != NULL) {
        end_wait(wait, err, why);
    }
    login_go_on(login);
    hub_login_unref(login);
}

static hub_login_wait *find_served(const hub_login *login)
{
    hub_login_wait *wait = login->waits;
    while (wait != NULL && !is_served(wait)) {
        wait = wait->next;
    }
    return wait;
}

static void decide(hub_login *login)
{
    login->is_busy = false;
    if (!login->is_read || login->has_changed) {
        login->has_changed = false;
        login_read(login);
    } else if (login->waits == NULL) {
        return;
    } else if (find_logout(login) != NULL) {
        login->is_busy = true;
        login_log_out(login);
    } else if (login->kept.refresh_token != NULL && !login->wants_user) {
        login_refresh(login);
    } else if (hub_store_health(login->all->store).condition == HUB_STATE_OFF &&
               login->settings.grant->is_kept) {
        login_end(login, HUB_EUNAVAILABLE,
                  "logins are kept in the store, and there is none (state: off)");
    } else {
        login->is_busy = true;
        login_discover(login);
    }
}

static void go_on(hub_login *login)
{
    hub_login_wait *served;
    login->refs++;
    login->is_busy = true; /* who is told may want something at once */
    while ((served = find_served(login)) != NULL) {
        end_wait(served, HUB_OK, "");
    }
    if (login->waits == NULL) {
        login->wants_user = false;
    }
    decide(login);
    hub_login_unref(login);
}

void login_go_on(hub_login *login)
{
    login->is_busy = true;
    login_later(login, 0., go_on);
}

static hub_login_wait *find_ending(const hub_login *login)
{
    hub_login_wait *wait = login->waits;
    while (wait != NULL && !wait->is_ending) {
        wait = wait->next;
    }
    return wait;
}

/* `spares_logouts`: whoever wants it to end goes on. */
static void end_all(hub_login *login, bool spares_logouts, hub_err err, const char *why)
{
    login->refs++;
    login->is_busy = true;
    login->wants_user = false;
    ev_timer_stop(login->all->loop, &login->timer);
    hub_fetch_cancel(login->fetch);
    login->fetch = NULL;
    login_flow_fini(login);
    for (hub_login_wait *wait = login->waits; wait != NULL; wait = wait->next) {
        wait->is_by_user = false;
        wait->is_ending = err != HUB_OK && !(spares_logouts && wait->is_logout);
    }
    hub_login_wait *ending;
    while ((ending = find_ending(login)) != NULL) {
        end_wait(ending, err, why);
    }
    login_go_on(login);
    hub_login_unref(login);
}

void login_end(hub_login *login, hub_err err, const char *format, ...)
{
    char why[sizeof((hub_error *)NULL)->text];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why, sizeof why, format, args);
    va_end(args);
    end_all(login, false, err, why);
}

/* Its user is at the browser, and need not come back. */
static void give_up(hub_login *login)
{
    if (login->op != NULL) {
        hub_state_cancel(login->op); /* what others have kept does not matter any more */
        login->op = NULL;
    }
    end_all(login, true, HUB_EUNAVAILABLE, "somebody has logged out meanwhile: try again");
}

/* What the server has said, and what follows from it. */
static void note_need(hub_login *login, const hub_login_need *need)
{
    hub_login_challenge said;
    hub_login_challenge_read(need->challenge, &said);
    bool is_step_up = strcmp(said.error, "insufficient_scope") == 0;
    if (!login->is_busy || login->challenge.resource_metadata[0] == '\0') {
        login->challenge = said;
    }
    login->wants_user |= need->is_by_user || (need->is_again && login->is_fresh) || is_step_up;
    if (is_step_up && said.scope[0] != '\0') {
        hub_login_forget_text(&login->wanted_scope);
        login->wanted_scope = login_dup(said.scope);
    }
}

hub_err hub_login_wait_for(hub_login *login, const hub_login_need *need, hub_login_on_end *on_end,
                           void *ctx, hub_login_wait **ret_wait)
{
    if (login->wait_count >= HUB_LIMIT_LOGIN_WAITERS) {
        return HUB_ELIMIT;
    }
    if (login->url == NULL && need != NULL) {
        return HUB_EINVAL;
    }
    hub_login_wait *wait = calloc(1, sizeof *wait);
    if (wait == NULL) {
        return HUB_ENOMEM;
    }
    *wait = (hub_login_wait){.login = login,
                             .on_end = on_end,
                             .ctx = ctx,
                             .only_reads = need == NULL,
                             .generation = need != NULL ? need->generation : 0,
                             .is_by_user = need != NULL && need->is_by_user};
    DL_APPEND(login->waits, wait);
    login->wait_count++;
    *ret_wait = wait;
    if (need != NULL && !is_served(wait) && login->flow.link == NULL) {
        note_need(login, need);
    }
    if (!login->is_busy) {
        login_go_on(login);
    }
    return HUB_OK;
}

hub_err hub_login_log_out(hub_login *login, bool must_revoke, hub_login_on_end *on_end, void *ctx,
                          hub_login_wait **ret_wait)
{
    hub_err err = hub_login_wait_for(login, NULL, on_end, ctx, ret_wait);
    if (err == HUB_OK) {
        (*ret_wait)->is_logout = true;
        (*ret_wait)->must_revoke = must_revoke;
        if (login->flow.link != NULL) {
            login_later(login, 0., give_up);
        }
    }
    return err;
}

void hub_login_wait_cancel(hub_login_wait *wait)
{
    if (wait != NULL) {
        DL_DELETE(wait->login->waits, wait);
        wait->login->wait_count--;
        free(wait);
    }
}
