/* SPDX-License-Identifier: Apache-2.0 */
/* Which rule decides about a tool: for the caller, and for somebody who may read for others, as whom
 * nothing is done. */
#include "base/limits.h"
#include "hub/access/explain.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/sight.h"
#include "web/api/route.h"

#include <stdlib.h>

typedef struct asking {
    const hub_api_asked *asked;
    hub_access_question question;
    hub_buf *out;
} asking;

/* A transport by which such a principal comes. */
static const char *transport_of(hub_str principal)
{
    return hub_str_is(principal, "local")               ? "stdio"
           : hub_str_starts(principal, HUB_STR("uid:")) ? "unix"
                                                        : "http";
}

static void explain_one(asking *one, const hub_identity *who)
{
    hub_access_question *question = &one->question;
    question->who = who;
    question->profile = who->profile != NULL          ? who->profile
                        : one->asked->profile != NULL ? one->asked->profile
                                                      : "default";
    question->transport = transport_of(hub_str_of(who->name));
    hub_json_add_comma(one->out);
    hub_access_explain(one->asked->hub, question, one->out);
}

/* Each token of that name: they may have different rights. How many there are. */
static size_t explain_tokens(asking *one, hub_str name)
{
    const hub_auth_settings *auth = &hub_settings_of(one->asked->hub)->auth;
    size_t found = 0;
    for (size_t i = 0; i < auth->token_count; i++) {
        hub_identity *identity =
            hub_str_is(name, auth->tokens[i].name) ? hub_token_identify(&auth->tokens[i]) : NULL;
        if (identity != NULL) {
            explain_one(one, identity);
            hub_identity_unref(identity);
            found++;
        }
    }
    return found;
}

static void explain_for(asking *one, const hub_buf *principal)
{
    static const char TOKEN[] = "token:";
    hub_str name = hub_buf_str(principal);
    bool is_self = name.len == 0 || hub_str_is(name, one->asked->identity->name);
    if (is_self) {
        explain_one(one, one->asked->identity);
    } else if (!hub_str_starts(name, hub_str_of(TOKEN)) ||
               explain_tokens(one, hub_str_from(name, sizeof TOKEN - 1)) == 0) {
        char *text = hub_str_dup(name);
        const hub_identity plain = {.name = text != NULL ? text : ""};
        explain_one(one, &plain); /* without scopes and groups: nobody knows them */
        free(text);
    }
}

static void answer(asking *one, const hub_buf *principal)
{
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    one->out = &out;
    hub_buf_add_char(&out, '{');
    hub_json_add_member(&out, "tool", one->asked->named[0]);
    hub_buf_add(&out, HUB_STR(",\"answers\":["));
    explain_for(one, principal);
    hub_buf_add(&out, HUB_STR("]}"));
    hub_api_answer(one->asked->exchange, 200, &out);
}

static void serve_explain(hub_api_asked *asked)
{
    asking one = {
        .asked = asked,
        .question = {.arguments = HUB_STR("{}"), .shows_rules = asked->right >= HUB_API_READ}};
    hub_buf principal;
    hub_session *session = hub_api_look(asked);
    if (session == NULL) {
        return;
    }
    hub_str key;
    hub_str exposed;
    const hub_item *item = hub_api_find_tool(asked, hub_session_exposure(session), &key, &exposed);
    hub_session_close(session);
    hub_buf_init(&principal, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    bool is_other = hub_api_query(asked, "principal", &principal) &&
                    !hub_str_is(hub_buf_str(&principal), asked->identity->name);
    if (is_other && asked->right < HUB_API_READ) {
        hub_api_fail(asked->exchange, 403, "insufficient_scope",
                     "what holds for others is for the scope " HUB_SCOPE_ADMIN_READ);
    } else if (item == NULL) {
        hub_api_fail(asked->exchange, 404, "not_found", "there is no tool \"" HUB_STR_FMT "\"",
                     HUB_STR_ARG(asked->named[0]));
    } else {
        one.question.toolset = hub_find_toolset(asked->hub, key);
        one.question.item = item;
        one.question.name = item->name;
        answer(&one, &principal);
    }
    hub_buf_fini(&principal);
}

static const hub_api_param PARAMS[] = {
    {"principal", "{\"type\":\"string\"}",
     "For whom; without it, for the caller. Others need the scope admin:read."},
    {NULL, NULL, NULL},
};

const hub_api_route HUB_API_EXPLAIN_ROUTES[] = {
    {.method = "GET",
     .path = "/tools/{id}/access",
     .scope = HUB_API_CALLER,
     .summary = "Which rule decides about a call of a tool without arguments, and what it decides.",
     .params = PARAMS,
     .handle = serve_explain},
    {.method = NULL},
};
