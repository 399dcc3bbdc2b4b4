/* SPDX-License-Identifier: Apache-2.0 */
#include "base/encoding.h"
#include "base/limits.h"
#include "hub/audit/audit.h"
#include "web/api/route.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Every group of routes. */
static const hub_api_route *const GROUPS[] = {
    HUB_API_ABOUT_ROUTES,    HUB_API_STATUS_ROUTES,        HUB_API_TOOLSET_ROUTES,
    HUB_API_TOOL_ROUTES,     HUB_API_EXPLAIN_ROUTES,       HUB_API_SAVED_ROUTES,
    HUB_API_APPROVAL_ROUTES, HUB_API_PRINCIPAL_ROUTES,     HUB_API_TOKEN_ROUTES,
    HUB_API_LOGIN_ROUTES,    HUB_API_CONFIGURATION_ROUTES, HUB_API_AUDIT_ROUTES,
    HUB_API_CALL_ROUTES,     HUB_API_EXPORT_ROUTES,        HUB_API_EVENT_ROUTES,
    HUB_API_SESSION_ROUTES,
};

const hub_api_route *hub_api_next_route(size_t *group, size_t *at)
{
    while (*group < sizeof GROUPS / sizeof GROUPS[0]) {
        const hub_api_route *route = &GROUPS[*group][*at];
        if (route->method != NULL) {
            ++*at;
            return route;
        }
        ++*group;
        *at = 0;
    }
    return NULL;
}

/* ---- finding --------------------------------------------------------------------------------- */

/* The text in front of the next slash, and behind which *rest goes on. False after the last. */
static bool next_part(hub_str *rest, char mark, hub_str *ret_part)
{
    if (rest->ptr == NULL) {
        return false;
    }
    const char *end = rest->len > 0 ? memchr(rest->ptr, mark, rest->len) : NULL;
    *ret_part = end != NULL ? hub_str_between(rest->ptr, end) : *rest;
    *rest = end != NULL ? hub_str_from(*rest, ret_part->len + 1) : (hub_str){.ptr = NULL, .len = 0};
    return true;
}

/* Whether a path, which begins with a slash, is that of a route; its named segments are kept. */
static bool fits(const hub_api_route *route, hub_str path, hub_str ret_named[HUB_API_NAMED])
{
    hub_str pattern = hub_str_of(route->path);
    hub_str wanted;
    hub_str given;
    size_t count = 0;
    while (next_part(&pattern, '/', &wanted)) {
        if (!next_part(&path, '/', &given)) {
            return false;
        }
        if (wanted.len > 0 && wanted.ptr[0] == '{') {
            if (given.len == 0) {
                return false;
            }
            hub_assert(count < HUB_API_NAMED);
            ret_named[count++] = given;
        } else if (!hub_str_eq(wanted, given)) {
            return false;
        }
    }
    return path.ptr == NULL;
}

/* The route of a request; NULL: there is none. *ret_is_there: of another method. */
static const hub_api_route *find(const hub_web_request *request, hub_str path,
                                 hub_str ret_named[HUB_API_NAMED], bool *ret_is_there)
{
    size_t group = 0;
    size_t at = 0;
    const hub_api_route *route;
    *ret_is_there = false;
    while ((route = hub_api_next_route(&group, &at)) != NULL) {
        if (fits(route, path, ret_named)) {
            *ret_is_there = true;
            if (hub_str_is(request->method, route->method)) {
                return route;
            }
        }
    }
    return NULL;
}

/* ---- letting in ------------------------------------------------------------------------------ */

static hub_api_scope right_of(const hub_identity *identity, bool is_operator)
{
    if (is_operator || hub_names_have(&identity->scopes, HUB_STR(HUB_SCOPE_ADMIN))) {
        return HUB_API_ADMIN;
    }
    return hub_identity_may_read_all(identity) ? HUB_API_READ : HUB_API_CALLER;
}

/* What a page may send without asking first is no JSON. */
static bool is_json(const hub_api_asked *asked)
{
    hub_str type;
    if (!hub_web_find_header(asked->request, HUB_STR("Content-Type"), &type)) {
        return false;
    }
    const char *end = type.len > 0 ? memchr(type.ptr, ';', type.len) : NULL;
    type = hub_str_trim(end != NULL ? hub_str_between(type.ptr, end) : type);
    return hub_str_eq_nocase(type, HUB_STR("application/json"));
}

static bool check_body(const hub_api_asked *asked)
{
    hub_str body = asked->request->body;
    hub_error why = {.code = HUB_OK};
    if (asked->route->body == NULL && body.len == 0) {
        return true;
    }
    if (asked->route->body == NULL) {
        hub_api_fail(asked->exchange, 400, "invalid_input", "this route takes no body");
        return false;
    }
    if (!is_json(asked)) {
        hub_api_fail(asked->exchange, 415, "invalid_input",
                     "the Content-Type must be application/json");
        return false;
    }
    if (hub_json_check(body, NULL, &why) != HUB_OK ||
        hub_json_type_of(hub_str_skip_space(body)) != HUB_JSON_OBJECT) {
        hub_api_fail(asked->exchange, 400, "invalid_input", "the body must be a JSON object%s%s",
                     why.text[0] != '\0' ? ": " : "", why.text);
        return false;
    }
    return true;
}

static void decode_names(hub_api_asked *asked)
{
    size_t ends[HUB_API_NAMED] = {0};
    for (size_t i = 0; i < HUB_API_NAMED; i++) {
        (void)hub_percent_decode(asked->named[i], false, &asked->names); /* as the path has it */
        ends[i] = asked->names.len;
    }
    size_t begin = 0;
    for (size_t i = 0; i < HUB_API_NAMED && hub_buf_ok(&asked->names); i++) {
        asked->named[i] = (hub_str){.ptr = asked->names.ptr + begin, .len = ends[i] - begin};
        begin = ends[i];
    }
}

/* Who looks at what is not its own, or changes something, is in the audit. Why it may not be, else NULL. */
static const char *note(const hub_api_asked *asked, bool is_refused)
{
    const hub_web_request *request = asked->request;
    bool only_looks = hub_str_is(request->method, "GET");
    if (only_looks && asked->right == HUB_API_CALLER && !is_refused) {
        return NULL;
    }
    hub_buf what;
    hub_buf_init(&what, request->method.len + request->path.len + sizeof HUB_API_PREFIX + 2);
    hub_buf_add(&what, request->method);
    hub_buf_add_char(&what, ' ');
    hub_buf_add(&what, request->path);
    const hub_audit_look look = {
        .who = hub_str_of(asked->identity != NULL ? asked->identity->name : "anonymous"),
        .transport = hub_str_of(asked->is_operator ? "unix" : "http"),
        .profile = hub_str_of(asked->profile),
        .method = HUB_STR("api"),
        .what = hub_buf_str(&what),
        .only_looks = only_looks,
        .is_refused = is_refused};
    const char *reason = hub_audit_take_look(asked->hub, &look);
    hub_buf_fini(&what);
    return reason;
}

void hub_api_serve(hub_api *api, const hub_web_request *request, hub_web_exchange *exchange,
                   bool is_operator, const char *profile)
{
    hub_str prefix = HUB_STR(HUB_API_PREFIX);
    hub_str path = hub_str_starts(request->path, prefix) ? hub_str_from(request->path, prefix.len)
                                                         : HUB_STR("/");
    hub_api_asked asked = {.api = api,
                           .hub = hub_api_hub(api),
                           .request = request,
                           .exchange = exchange,
                           .identity = hub_web_find_identity(request),
                           .is_operator = is_operator,
                           .profile = profile};
    bool is_there;
    asked.route = find(request, path, asked.named, &is_there);
    asked.right = asked.identity != NULL ? right_of(asked.identity, is_operator) : 0;
    if (asked.route == NULL) {
        hub_api_fail(exchange, is_there ? 405 : 404, is_there ? "invalid_input" : "not_found",
                     is_there ? "this route has no such method"
                              : "there is no such route: " HUB_API_PREFIX
                                "/openapi.json names them all");
        return;
    }
    const char *unnoted = note(&asked, asked.right < asked.route->scope);
    if (asked.right < asked.route->scope) {
        const char *scope =
            asked.route->scope == HUB_API_READ ? HUB_SCOPE_ADMIN_READ : HUB_SCOPE_ADMIN;
        hub_api_fail(exchange, 403, "insufficient_scope",
                     "this needs a token with the scope %s, as `patchbay token new NAME --scopes "
                     "%s` makes one, or the Unix socket of the hub's own user",
                     scope, scope);
        return;
    }
    if (unnoted != NULL) {
        hub_api_fail(exchange, 503, "unavailable", "%s", unnoted);
        return;
    }
    if (!check_body(&asked)) {
        return;
    }
    hub_buf_init(&asked.names, request->path.len + 1);
    decode_names(&asked);
    asked.route->handle(&asked);
    hub_buf_fini(&asked.names);
}

/* ---- what is asked --------------------------------------------------------------------------- */

bool hub_api_query(const hub_api_asked *asked, const char *name, hub_buf *out)
{
    hub_str rest = asked->request->query;
    hub_str part;
    while (next_part(&rest, '&', &part)) {
        hub_str value = part;
        hub_str key;
        if (next_part(&value, '=', &key) && hub_str_is(key, name)) {
            (void)hub_percent_decode(value, true, out); /* what stands for nothing stays */
            return true;
        }
    }
    return false;
}

bool hub_api_query_number(const hub_api_asked *asked, const char *name, uint64_t otherwise,
                          uint64_t most, uint64_t *ret_number)
{
    hub_buf text;
    hub_buf_init(&text, asked->request->query.len + 1);
    bool is_good = true;
    *ret_number = otherwise;
    if (hub_api_query(asked, name, &text)) {
        is_good = hub_json_to_u64(hub_buf_str(&text), ret_number) && *ret_number <= most;
    }
    hub_buf_fini(&text);
    if (!is_good) {
        hub_api_fail(asked->exchange, 400, "invalid_input", "%s must be a number from 0 to %llu",
                     name, (unsigned long long)most);
    }
    return is_good;
}

/* ---- what is answered ------------------------------------------------------------------------ */

static void answer(hub_web_exchange *exchange, int status, hub_str json)
{
    const hub_web_header headers[] = {{HUB_STR("Cache-Control"), HUB_STR("no-store")},
                                      {HUB_STR("X-Content-Type-Options"), HUB_STR("nosniff")}};
    (void)hub_web_answer_with(/* whoever asks will ask again */
                              exchange, &(hub_web_answer){.status = status,
                                                          .type = "application/json",
                                                          .headers = headers,
                                                          .header_count = 2,
                                                          .parts = &json,
                                                          .count = 1});
}

void hub_api_answer(hub_web_exchange *exchange, int status, hub_buf *json)
{
    if (hub_buf_ok(json)) {
        answer(exchange, status, hub_buf_str(json));
    } else {
        answer(exchange, 503,
               HUB_STR("{\"error\":{\"code\":\"unavailable\",\"message\":\"out of memory, or the "
                       "answer is too large\"}}"));
    }
    hub_buf_fini(json);
}

void hub_api_fail(hub_web_exchange *exchange, int status, const char *code, const char *format, ...)
{
    char text[HUB_LIMIT_REASON_BYTES];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list); /* cut */
    va_end(list);
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_printf(&out, "{\"error\":{\"code\":\"%s\"", code);
    hub_json_add_key(&out, HUB_STR("message"));
    hub_json_add_string(&out, hub_str_of(text));
    hub_buf_add(&out, HUB_STR("}}"));
    hub_api_answer(exchange, status, &out);
}

void hub_api_fail_with(hub_web_exchange *exchange, const hub_error *why)
{
    static const struct {
        hub_err err;
        int status;
        const char *code;
    } ROWS[] = {
        {HUB_ENOTFOUND, 404, "not_found"}, {HUB_EINVAL, 400, "invalid_input"},
        {HUB_EDENIED, 403, "denied"},      {HUB_EBUSY, 409, "busy"},
        {HUB_ECONFLICT, 409, "conflict"},  {HUB_EEXIST, 409, "conflict"},
        {HUB_ELIMIT, 429, "limit"},
    };
    const char *text = why->text[0] != '\0' ? why->text : hub_err_text(why->code);
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        if (ROWS[i].err == why->code) {
            hub_api_fail(exchange, ROWS[i].status, ROWS[i].code, "%s", text);
            return;
        }
    }
    hub_api_fail(exchange, 503, "unavailable", "%s", text);
}
