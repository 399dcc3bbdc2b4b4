/* SPDX-License-Identifier: Apache-2.0 */
/* A login in the store. Other processes keep logins there, too: what one of them writes is read again. */
#include "login/internal.h"

#include "base/limits.h"

enum { DOCUMENT_BYTES = 16 * HUB_LIMIT_LOGIN_TEXT_BYTES };

static hub_state_id id_of(const hub_login *login)
{
    return (hub_state_id){.kind = &HUB_LOGIN_KIND,
                          .owner = hub_str_of(login->owner),
                          .key = hub_str_of(login->toolset)};
}

/* What the store has is the login from now on. That of another server is not: its tokens are nobody
 * else's; nor is what was kept by another grant, where this one keeps nothing. */
static void take(hub_login *login, hub_credential *read)
{
    bool is_to_end = login->url == NULL;
    if (is_to_end) {
        login->url = login_dup(read->url);
    } else if (!login->settings.grant->is_kept) {
        hub_credential_fini(read);
        return;
    }
    if (read->url != NULL && login->url != NULL && strcmp(read->url, login->url) != 0) {
        hub_credential_fini(read);
    }
    bool is_other = !hub_str_same_text(read->access_token, login->kept.access_token);
    hub_credential_fini(&login->kept);
    login->kept = *read;
    if (is_other) {
        login->is_fresh = false;
        login_changed(login);
    }
}

/* What was read is what there is. */
static void take_result(hub_login *login, const hub_state_result *result)
{
    hub_credential read = {.url = NULL};
    login->is_read = true;
    login->version = result->err == HUB_OK ? result->records[0].version : HUB_STATE_ABSENT;
    if (result->err == HUB_OK &&
        hub_credential_read(result->records[0].document, &read) != HUB_OK) {
        hub_credential_fini(&read); /* it is none of this version */
    }
    take(login, &read);
}

static void on_read(void *ctx, const hub_state_result *result)
{
    hub_login *login = ctx;
    login->op = NULL;
    bool is_off = hub_store_health(login->all->store).condition == HUB_STATE_OFF;
    if (result->err != HUB_OK && result->err != HUB_ENOTFOUND && !is_off) {
        login_end(login, result->err, "logins are kept in the store, which cannot be read: %.200s",
                  result->why);
        return;
    }
    take_result(login, result);
    login_go_on(login);
}

/* The store takes nothing now. */
static void fail_store(hub_login *login, const hub_error *why)
{
    login_end(login, HUB_EUNAVAILABLE, "logins are kept in the store, which cannot be used: %.200s",
              why->text);
}

void login_read(hub_login *login)
{
    hub_error why = {.code = HUB_OK};
    const hub_state_id id = id_of(login);
    login->is_busy = true;
    if (login->waits == NULL && !login->is_read) {
        login->is_busy = false; /* nobody wants to know */
    } else if (hub_state_get(login->all->store, &id, on_read, login, &login->op, &why) != HUB_OK) {
        fail_store(login, &why);
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

static void on_written(void *ctx, const hub_state_result *result)
{
    hub_login *login = ctx;
    login->op = NULL;
    if (result->err == HUB_OK) {
        login->version = result->records != NULL ? result->records[0].version : 0;
        login->on_kept(login);
    } else if (result->err == HUB_ECONFLICT) { /* another process was faster */
        login->has_changed = true;
        login_go_on(login);
    } else {
        login_end(login, result->err, "the login cannot be kept in the store: %.200s", result->why);
    }
}

void login_keep(hub_login *login, void (*then)(hub_login *login))
{
    hub_buf document;
    hub_error why = {.code = HUB_OK};
    const hub_state_id id = id_of(login);
    hub_buf_init_secret(&document, DOCUMENT_BYTES);
    hub_credential_add(&document, &login->kept);
    login->on_kept = then;
    hub_err err = hub_buf_ok(&document)
                      ? hub_state_put(login->all->store, &id, login->version,
                                      hub_buf_str(&document), on_written, login, &login->op, &why)
                      : hub_fail(&why, HUB_ENOMEM, "out of memory");
    hub_buf_fini(&document);
    if (err != HUB_OK) {
        fail_store(login, &why);
    }
}

static void on_deleted(void *ctx, const hub_state_result *result)
{
    hub_login *login = ctx;
    login->op = NULL;
    if (result->err != HUB_OK && result->err != HUB_ENOTFOUND) {
        login_end_logout(login, result->err, result->why);
        return;
    }
    hub_credential_fini(&login->kept);
    hub_credential_fini(&login->client); /* the next login reads it again */
    login->version = HUB_STATE_ABSENT;
    login_changed(login);
    login_end_logout(login, HUB_OK, login->not_revoked != NULL ? login->not_revoked : "");
}

void login_delete(hub_login *login)
{
    hub_error why = {.code = HUB_OK};
    const hub_state_id id = id_of(login);
    if (hub_state_delete(login->all->store, &id, HUB_STATE_ANY, on_deleted, login, &login->op,
                         &why) != HUB_OK) {
        login_end_logout(login, why.code, why.text);
    }
}

/* ---- following ------------------------------------------------------------------------------- */

/* While its user is at the browser, somebody else has logged in, perhaps: then that is enough. */
static void on_read_aside(void *ctx, const hub_state_result *result)
{
    hub_login *login = ctx;
    uint64_t before = login->generation;
    login->op = NULL;
    if (login->flow.link == NULL || (result->err != HUB_OK && result->err != HUB_ENOTFOUND)) {
        return; /* what is being done now goes on */
    }
    login->has_changed = false;
    take_result(login, result);
    if (login->generation != before && login->header.len > 0) {
        login_end(login, HUB_OK, "%s", "");
    }
}

/* What is known of it may be old: read it, now or when what is being done has ended. */
static void doubt(hub_login *login)
{
    const hub_state_id id = id_of(login);
    login->has_changed = true;
    if ((!login->is_busy && login->is_read) || login->awaits_lease) {
        login->awaits_lease = false;
        login_go_on(login);
    } else if (login->flow.link != NULL && login->op == NULL &&
               hub_state_get(login->all->store, &id, on_read_aside, login, &login->op, NULL) !=
                   HUB_OK) {
        login->op = NULL;
    }
}

static void on_change(void *ctx, hub_state_event event, const hub_state_record *changed)
{
    hub_logins *logins = ctx;
    for (hub_login *login = logins->logins; login != NULL; login = login->next) {
        bool is_all = event != HUB_STATE_CHANGED;
        if (is_all ||
            (hub_str_is(changed->key, login->toolset) && hub_str_is(changed->owner, login->owner) &&
             (changed->version != login->version || changed->is_gone))) {
            doubt(login);
        }
    }
}

hub_err login_watch(hub_logins *logins)
{
    const hub_state_range range = {.kind = &HUB_LOGIN_KIND, .is_of_all = true};
    return hub_state_watch_create(logins->store, &range, on_change, logins, &logins->watch, NULL);
}
