/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/login/work.h"

#include "base/limits.h"
#include "base/loop.h"
#include "hub/kernel/hub.h"
#include "hub/login/logins.h"
#include "login/credential.h"
#include "wire/json.h"

#include <stdlib.h>
#include <utlist.h>

struct hub_login_work {
    hub_login_work *next;
    hub_login_work *prev;
    hub_orchestrator *hub;
    hub_login_on_work *on_work; /* NULL: nobody listens any more */
    void *ctx;
    hub_login *login; /* held; NULL: this lists */
    hub_login_wait *wait;
    hub_state_op *op;
    char *owner;  /* whose logins are listed; NULL: everybody's */
    hub_buf list; /* what was read of them so far */
    bool is_begun;
};

/* With the hub. */
typedef struct hub_part_works {
    hub_login_work *works;
    ev_timer again; /* somebody came when there was a link already */
} hub_part_works;

static hub_part_works *part_of(const hub_orchestrator *hub)
{
    return hub_hub_part(hub, &HUB_LOGIN_WORKS_STATION);
}

static void drop(hub_login_work *work)
{
    hub_part_works *part = part_of(work->hub);
    DL_DELETE(part->works, work);
    hub_login_wait_cancel(work->wait);
    hub_login_unref(work->login);
    if (work->op != NULL) {
        hub_state_cancel(work->op);
    }
    free(work->owner);
    hub_buf_fini(&work->list);
    free(work);
}

/* Whoever listens does so no longer. */
static void tell(hub_login_work *work, hub_err err, const char *text)
{
    hub_login_on_work *on_work = work->on_work;
    work->on_work = NULL;
    if (on_work != NULL) {
        on_work(work->ctx, err, text, work->is_begun ? hub_login_code(work->login) : NULL);
    }
}

static hub_login_work *make(hub_orchestrator *hub, hub_login_on_work *on_work, void *ctx)
{
    hub_part_works *part = part_of(hub);
    hub_login_work *made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->hub = hub;
        made->on_work = on_work;
        made->ctx = ctx;
        hub_buf_init(&made->list, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
        DL_APPEND(part->works, made);
    }
    return made;
}

/* Of a work that nobody listens to: whether another one already sees to it that the same goes on. One is
 * enough, and each takes a place among those who wait for the login. */
static bool is_spare(const hub_part_works *part, const hub_login_work *work)
{
    const hub_login_work *other = part->works;
    while (other != NULL && (other == work || other->on_work != NULL ||
                             other->login != work->login || other->is_begun != work->is_begun)) {
        other = other->next;
    }
    return other != NULL;
}

void hub_login_work_cancel(hub_login_work *work)
{
    if (work == NULL) {
        return;
    }
    work->on_work = NULL;
    if (work->login == NULL || is_spare(part_of(work->hub), work)) {
        drop(work);
    }
}

/* ---- begin and end --------------------------------------------------------------------------- */

static void on_end(void *ctx, hub_err err, const char *why)
{
    hub_login_work *work = ctx;
    work->wait = NULL;
    tell(work, err, why);
    drop(work);
}

static void tell_links(hub_part_works *part, const hub_login *login)
{
    hub_login_work *next;
    for (hub_login_work *work = part->works; work != NULL; work = next) {
        next = work->next;
        if (!work->is_begun || work->on_work == NULL || (login != NULL && work->login != login) ||
            hub_login_link(work->login) == NULL) {
            continue;
        }
        tell(work, HUB_OK, hub_login_link(work->login));
        if (is_spare(part, work)) {
            drop(work);
        }
    }
}

void hub_login_works_tell(hub_orchestrator *hub, const hub_login *login)
{
    tell_links(part_of(hub), login);
}

static void on_again(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    tell_links(timer->data, NULL);
}

static void tell_soon(hub_orchestrator *hub)
{
    hub_part_works *part = part_of(hub);
    if (part->again.data == NULL) {
        ev_timer_init(&part->again, on_again, 0., 0.);
        part->again.data = part;
    }
    ev_timer_stop(hub_loop(hub), &part->again);
    hub_loop_start_timer(hub_loop(hub), &part->again, 0.);
}

static hub_err fail_memory(hub_login_work *work, hub_err err, hub_error *reterr)
{
    if (work != NULL) {
        drop(work);
    }
    return hub_fail(reterr, err, "%s",
                    err == HUB_ELIMIT ? "too many wait for this login" : hub_err_text(err));
}

hub_err hub_login_work_begin(hub_toolset *toolset, const char *owner, hub_login_on_work *on_work,
                             void *ctx, hub_login_work **ret_work, hub_error *reterr)
{
    const hub_login_need need = {.is_by_user = true};
    hub_orchestrator *hub = hub_toolset_hub(toolset);
    hub_login *login = hub_logins_get(toolset, owner);
    if (login == NULL) {
        return hub_fail(reterr, HUB_ENOTFOUND,
                        "toolset \"%s\" has no login: its server is not at an http or https "
                        "address, or its entry says `auth: none`",
                        hub_toolset_key(toolset));
    }
    hub_login_work *work = make(hub, on_work, ctx);
    if (work == NULL) {
        hub_login_unref(login);
        return fail_memory(work, HUB_ENOMEM, reterr);
    }
    work->is_begun = true;
    work->login = login;
    hub_err err = hub_login_wait_for(login, &need, on_end, work, &work->wait);
    if (err != HUB_OK) {
        return fail_memory(work, err, reterr);
    }
    if (hub_login_link(login) != NULL) {
        tell_soon(hub);
    }
    *ret_work = work;
    return HUB_OK;
}

/* Of a toolset that is not there any more, what is kept says where its tokens are revoked. */
static hub_err find_kept(hub_orchestrator *hub, const char *key, const char *owner,
                         hub_login **ret_login, hub_error *reterr)
{
    hub_toolset *toolset = hub_find_toolset(hub, hub_str_of(key));
    hub_login *found = toolset != NULL ? hub_logins_get(toolset, owner) : NULL;
    hub_logins *logins = hub_logins_of(hub);
    const hub_login_what what = {.toolset = key, .owner = owner};
    if (found != NULL) {
        *ret_login = found;
        return HUB_OK;
    }
    return logins != NULL ? hub_login_get(logins, &what, ret_login, reterr)
                          : hub_fail(reterr, HUB_ENOMEM, "out of memory");
}

hub_err hub_login_work_end(hub_orchestrator *hub, const char *toolset, const char *owner,
                           hub_login_on_work *on_work, void *ctx, hub_login_work **ret_work,
                           hub_error *reterr)
{
    hub_login_work *work = make(hub, on_work, ctx);
    hub_err err = work != NULL ? find_kept(hub, toolset, owner, &work->login, reterr) : HUB_ENOMEM;
    if (err == HUB_OK) {
        err = hub_login_log_out(work->login, false, on_end, work, &work->wait);
    }
    if (err != HUB_OK) {
        return fail_memory(work, err, reterr);
    }
    *ret_work = work;
    return HUB_OK;
}

/* ---- list ------------------------------------------------------------------------------------ */

static hub_err read_page(hub_login_work *work, const hub_state_record *after, hub_error *reterr);

static void end_list(hub_login_work *work, hub_err err, const char *why)
{
    hub_buf_add(&work->list, HUB_STR("]"));
    hub_buf_add_char(&work->list, '\0');
    if (err == HUB_OK && !hub_buf_ok(&work->list)) {
        tell(work, HUB_ELIMIT, "there are too many logins to list");
    } else {
        tell(work, err, err == HUB_OK ? work->list.ptr : why);
    }
    drop(work);
}

static void on_page(void *ctx, const hub_state_result *result)
{
    hub_login_work *work = ctx;
    hub_error why = {.code = HUB_OK};
    work->op = NULL;
    for (size_t i = 0; result->err == HUB_OK && i < result->count; i++) {
        hub_credential kept = {.url = NULL};
        const hub_state_record *record = &result->records[i];
        if (hub_credential_read(record->document, &kept) == HUB_OK) {
            hub_json_add_comma(&work->list);
            hub_credential_add_public(&work->list, record->key, record->owner, &kept);
        }
        hub_credential_fini(&kept);
    }
    if (result->err != HUB_OK) {
        end_list(work, result->err, result->why);
    } else if (!result->has_more) {
        end_list(work, HUB_OK, "");
    } else if (read_page(work, &result->records[result->count - 1], &why) != HUB_OK) {
        end_list(work, why.code, why.text);
    }
}

static hub_err read_page(hub_login_work *work, const hub_state_record *after, hub_error *reterr)
{
    const hub_state_range range = {.kind = &HUB_LOGIN_KIND,
                                   .owner = hub_str_of(work->owner != NULL ? work->owner : ""),
                                   .is_of_all = work->owner == NULL,
                                   .after_owner = after != NULL ? after->owner : HUB_STR_EMPTY,
                                   .after_key = after != NULL ? after->key : HUB_STR_EMPTY};
    return hub_state_list(hub_store_of(work->hub), &range, on_page, work, &work->op, reterr);
}

hub_err hub_login_work_list(hub_orchestrator *hub, const char *owner, hub_login_on_work *on_work,
                            void *ctx, hub_login_work **ret_work, hub_error *reterr)
{
    hub_login_work *work = make(hub, on_work, ctx);
    if (work != NULL && owner != NULL) {
        work->owner = hub_str_dup(hub_str_of(owner));
    }
    if (work == NULL || (owner != NULL && work->owner == NULL)) {
        return fail_memory(work, HUB_ENOMEM, reterr);
    }
    hub_buf_add_char(&work->list, '[');
    hub_err err = read_page(work, NULL, reterr);
    if (err != HUB_OK) {
        drop(work);
        return err;
    }
    *ret_work = work;
    return HUB_OK;
}

/* ---- the station ----------------------------------------------------------------------------- */

static void stop_hub(hub_orchestrator *hub)
{
    hub_part_works *part = part_of(hub);
    if (part->again.data != NULL) {
        ev_timer_stop(hub_loop(hub), &part->again);
    }
    while (part->works != NULL) {
        hub_login_work *work = part->works;
        tell(work, HUB_EUNAVAILABLE, "the hub is shutting down: try again");
        drop(work);
    }
}

static hub_station_place place;

const hub_station HUB_LOGIN_WORKS_STATION = {
    .name = "login-works",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(hub_part_works)},
    .hub_ends = stop_hub,
};
