/* SPDX-License-Identifier: Apache-2.0 */
/* Logins to the servers of toolsets: which there are, beginning one, ending one. */
#include "base/limits.h"
#include "base/log.h"
#include "hub/kernel/hub.h"
#include "web/api/route.h"

#ifdef PATCHBAY_HTTP

#include "hub/login/asking.h"
#include "hub/login/logins.h"
#include "hub/login/work.h"
#include "web/api/pending.h"

#include <stdlib.h>
#include <utlist.h>

typedef struct waiting_login {
    hub_api_pending pending; /* first: what is pending is its work */
    hub_api *api;
    hub_orchestrator *hub;
    hub_web_exchange *exchange;
    hub_login_work *work;
    char *toolset;
    char *owner;
    bool sees_all; /* a list: of everybody */
} waiting_login;

static void drop(waiting_login *one)
{
    if (one != NULL) {
        free(one->toolset);
        free(one->owner);
        free(one);
    }
}

static void leave(waiting_login *one)
{
    hub_api_pending **list = hub_api_pending_of(one->api);
    DL_DELETE(*list, &one->pending);
}

static void on_gone(void *ctx)
{
    waiting_login *one = ctx;
    leave(one);
    hub_login_work_cancel(one->work);
    drop(one);
}

static void end(hub_api_pending *pending)
{
    waiting_login *one = (waiting_login *)pending;
    leave(one);
    hub_login_work_cancel(one->work);
    hub_api_fail(one->exchange, 503, "unavailable", "the hub is shutting down: try again");
    drop(one);
}

/* owns: the result; NULL: out of memory, which has been answered */
static waiting_login *make(const hub_api_asked *asked, hub_str toolset, hub_str owner)
{
    waiting_login *made = calloc(1, sizeof *made);
    if (made != NULL) {
        *made = (waiting_login){.pending = {.end = end, .identity = asked->identity},
                                .api = asked->api,
                                .hub = asked->hub,
                                .exchange = asked->exchange,
                                .toolset = hub_str_dup(toolset),
                                .owner = hub_str_dup(owner)};
    }
    if (made == NULL || made->toolset == NULL || made->owner == NULL) {
        drop(made);
        hub_api_fail(asked->exchange, 503, "unavailable", "out of memory");
        return NULL;
    }
    return made;
}

/* It is taken: it waits, or that it cannot has been answered. */
static void wait_for(waiting_login *one, hub_err err, const hub_error *why)
{
    static const hub_web_waiter WAITER = {.on_gone = on_gone};
    if (err != HUB_OK) {
        hub_api_fail_with(one->exchange, why);
        drop(one);
        return;
    }
    hub_api_pending **list = hub_api_pending_of(one->api);
    DL_APPEND(*list, &one->pending);
    hub_web_wait(one->exchange, &WAITER, one);
}

/* The beginning of an answer about one login. */
static void add_subject(const waiting_login *one, hub_buf *out)
{
    hub_buf_init_secret(out, HUB_LIMIT_CLIENT_MESSAGE_BYTES); /* a link has the flow's state */
    hub_buf_add(out, HUB_STR("{\"toolset\":"));
    hub_json_add_string(out, hub_str_of(one->toolset));
    hub_buf_add(out, HUB_STR(",\"principal\":"));
    hub_json_add_string(out, hub_str_of(one->owner));
}

static void answer(waiting_login *one, hub_err err, const char *why, hub_buf *out)
{
    leave(one);
    if (err == HUB_OK) {
        hub_api_answer(one->exchange, 200, out);
    } else {
        hub_error error = {.code = err};
        (void)hub_fail(&error, err, "%s", why);
        hub_api_fail_with(one->exchange, &error);
    }
    drop(one);
}

/* ---- who may --------------------------------------------------------------------------------- */

/* Whether the caller may begin or end the login of `owner`: its own; the hub's, if it may log the hub in. */
static bool may(const hub_api_asked *asked, hub_str owner)
{
    hub_str who = hub_str_of(asked->identity->name);
    return asked->right >= HUB_API_ADMIN ||
           (owner.len == 0 ? hub_login_may(who) : hub_str_eq(owner, who));
}

static bool check(const hub_api_asked *asked, hub_str owner)
{
    bool is_good = may(asked, owner);
    if (!is_good) {
        hub_api_fail(asked->exchange, 403, "denied",
                     owner.len == 0 ? "this login is the hub's own: it is for who runs the hub, "
                                      "with the scope admin or by `patchbay login`"
                                    : "this login is another principal's");
    }
    return is_good;
}

/* ---- GET /logins ----------------------------------------------------------------------------- */

/* Logins whose user has to follow a link now. The link itself is for who begins one. */
static void add_wanted(const waiting_login *one, hub_buf *out)
{
    const hub_logins *logins = hub_logins_of(one->hub);
    const hub_login *login = logins != NULL ? hub_logins_next(logins, NULL) : NULL;
    hub_buf_add(out, HUB_STR(",\"wanted\":["));
    for (; login != NULL; login = hub_logins_next(logins, login)) {
        const char *owner = hub_login_owner(login);
        if (hub_login_link(login) != NULL && (one->sees_all || strcmp(owner, one->owner) == 0)) {
            hub_json_add_comma(out);
            hub_buf_add(out, HUB_STR("{\"toolset\":"));
            hub_json_add_string(out, hub_str_of(hub_login_toolset(login)));
            hub_buf_add(out, HUB_STR(",\"principal\":"));
            hub_json_add_string(out, hub_str_of(owner));
            hub_buf_add_char(out, '}');
        }
    }
    hub_buf_add_char(out, ']');
}

static void on_listed(void *ctx, hub_err err, const char *text, const char *code)
{
    (void)code;
    waiting_login *one = ctx;
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    if (err == HUB_OK) {
        hub_buf_add(&out, HUB_STR("{\"logins\":"));
        hub_buf_add(&out, hub_str_of(text));
        add_wanted(one, &out);
        hub_buf_add_char(&out, '}');
    }
    answer(one, err, text, &out);
    hub_buf_fini(&out);
}

static void serve_list(hub_api_asked *asked)
{
    hub_error why = {.code = HUB_OK};
    hub_str who = hub_str_of(asked->identity->name);
    waiting_login *one = make(asked, HUB_STR_EMPTY, hub_login_may(who) ? HUB_STR_EMPTY : who);
    if (one != NULL) {
        one->sees_all = asked->right >= HUB_API_READ;
        wait_for(one,
                 hub_login_work_list(asked->hub, one->sees_all ? NULL : one->owner, on_listed, one,
                                     &one->work, &why),
                 &why);
    }
}

/* ---- POST /logins/{toolset} ------------------------------------------------------------------ */

static void on_begun(void *ctx, hub_err err, const char *text, const char *code)
{
    waiting_login *one = ctx;
    hub_buf out;
    add_subject(one, &out);
    if (text[0] != '\0' && err == HUB_OK) {
        hub_json_add_key(&out, HUB_STR("url"));
        hub_json_add_string(&out, hub_str_of(text));
    }
    if (code != NULL && err == HUB_OK) {
        hub_json_add_key(&out, HUB_STR("code"));
        hub_json_add_string(&out, hub_str_of(code));
    }
    hub_buf_printf(&out, ",\"state\":\"%s\"}", text[0] != '\0' ? "wanted" : "logged_in");
    answer(one, err, text, &out);
    hub_buf_fini(&out);
}

static void serve_begin(hub_api_asked *asked)
{
    hub_error why = {.code = HUB_OK};
    hub_toolset *toolset = hub_api_find_toolset(asked);
    if (toolset == NULL) {
        return;
    }
    const char *owner = hub_logins_owner(toolset, asked->identity->name);
    if (!check(asked, hub_str_of(owner))) {
        return;
    }
    waiting_login *one = make(asked, asked->named[0], hub_str_of(owner));
    if (one != NULL) {
        hub_log(HUB_LOG_INFO, "login.begun", HUB_F_TEXT("toolset", one->toolset),
                HUB_F_TEXT("by", asked->identity->name));
        wait_for(one, hub_login_work_begin(toolset, owner, on_begun, one, &one->work, &why), &why);
    }
}

/* ---- DELETE /logins/{toolset} ---------------------------------------------------------------- */

static void on_ended(void *ctx, hub_err err, const char *text, const char *code)
{
    (void)code;
    waiting_login *one = ctx;
    hub_buf out;
    add_subject(one, &out);
    hub_buf_printf(&out, ",\"revoked\":%s", text[0] == '\0' ? "true" : "false");
    if (text[0] != '\0') {
        hub_json_add_key(&out, HUB_STR("reason"));
        hub_json_add_string(&out, hub_str_of(text));
    }
    hub_buf_add_char(&out, '}');
    answer(one, err, text, &out);
    hub_buf_fini(&out);
}

static void serve_end(hub_api_asked *asked)
{
    hub_error why = {.code = HUB_OK};
    hub_buf owner;
    hub_buf_init(&owner, asked->request->query.len + 1 + HUB_LIMIT_PRINCIPAL_BYTES);
    const hub_toolset *toolset = hub_find_toolset(asked->hub, asked->named[0]);
    if (!hub_api_query(asked, "principal", &owner) && toolset != NULL) {
        hub_buf_add(&owner, hub_str_of(hub_logins_owner(toolset, asked->identity->name)));
    }
    waiting_login *one = check(asked, hub_buf_str(&owner))
                             ? make(asked, asked->named[0], hub_buf_str(&owner))
                             : NULL;
    hub_buf_fini(&owner);
    if (one != NULL) {
        hub_log(HUB_LOG_INFO, "login.ended", HUB_F_TEXT("toolset", one->toolset),
                HUB_F_TEXT("by", asked->identity->name));
        wait_for(one,
                 hub_login_work_end(asked->hub, one->toolset, one->owner, on_ended, one, &one->work,
                                    &why),
                 &why);
    }
}

static const hub_api_param WHOSE[] = {
    {.name = "principal",
     .schema = "{\"type\":\"string\"}",
     .about = "The principal of the login; empty: the hub's own. Default: the "
              "login that the caller uses."},
    {.name = NULL},
};

const hub_api_route HUB_API_LOGIN_ROUTES[] = {
    {.method = "GET",
     .path = "/logins",
     .scope = HUB_API_CALLER,
     .summary = "Logins to servers without their tokens, and which a user has to make now.",
     .handle = serve_list},
    {.method = "POST",
     .path = "/logins/{key}",
     .scope = HUB_API_CALLER,
     .summary = "Begin a login to the server of a toolset: the address that its user opens.",
     .body = "{\"type\":\"object\",\"additionalProperties\":false}",
     .handle = serve_begin},
    {.method = "DELETE",
     .path = "/logins/{key}",
     .scope = HUB_API_CALLER,
     .summary = "End a login: its tokens are revoked where the server does that, and forgotten.",
     .params = WHOSE,
     .handle = serve_end},
    {.method = NULL},
};

#else

const hub_api_route HUB_API_LOGIN_ROUTES[] = {{.method = NULL}};

#endif
