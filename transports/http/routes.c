/* SPDX-License-Identifier: Apache-2.0 */
#include "http/routes.h"

#include "base/clock.h"
#include "base/log.h"
#include "http/cors.h"
#include "http/face.h"
#include "http/judge.h"
#include "http/media.h"
#include "http/peer_gate.h"

enum { HAS_PROFILE = 1, HAS_STREAM = 2, HAS_SESSION = 4 };

typedef struct hub_http_route {
    const char *path;
    int flags; /* HAS_PROFILE: /NAME may follow; HAS_STREAM: GET is one; HAS_SESSION: of one */
    const char *allow;
    void (*serve)(const hub_http_task *task);
} hub_http_route;

static const hub_http_header NONE = {{.ptr = "", .len = 0}, {.ptr = "", .len = 0}};

/* ---- the table ------------------------------------------------------------------------------- */

static const hub_http_route ROUTES[] = {
    {"/mcp", HAS_PROFILE | HAS_STREAM | HAS_SESSION, "GET, POST, DELETE, OPTIONS",
     hub_http_serve_mcp},
    {"/sse", HAS_PROFILE | HAS_STREAM, "GET, OPTIONS", hub_http_serve_sse},
    {"/messages", HAS_SESSION, "POST, OPTIONS", hub_http_serve_messages},
    {"/ws", HAS_PROFILE, "GET, OPTIONS", hub_http_serve_upgrade},
};

static const hub_http_route *find_route(hub_str path, hub_str *ret_profile)
{
    for (size_t i = 0; i < sizeof ROUTES / sizeof ROUTES[0]; i++) {
        hub_str base = hub_str_of(ROUTES[i].path);
        *ret_profile = HUB_STR_EMPTY;
        if (hub_str_eq(path, base)) {
            return &ROUTES[i];
        }
        if ((ROUTES[i].flags & HAS_PROFILE) != 0 && hub_str_starts(path, base) &&
            path.len > base.len + 1 && path.ptr[base.len] == '/') {
            *ret_profile = hub_str_from(path, base.len + 1);
            return &ROUTES[i];
        }
    }
    return NULL;
}

static bool allows(const hub_http_route *route, hub_str method)
{
    hub_str rest = hub_str_of(route->allow);
    hub_str allowed;
    while (hub_http_next_element(&rest, &allowed)) {
        if (hub_str_eq(allowed, method)) {
            return true;
        }
    }
    return false;
}

/* ---- guards ---------------------------------------------------------------------------------- */

static bool refuse(const hub_http_task *task, int status, hub_http_header header,
                   const char *reason)
{
    hub_http_answer_refusal(task->connection, status, header, reason);
    return false;
}

#define HOST_ADVICE                                                                                \
    "if this hub is to be called so, add the name to hosts of the listener, or say --allowed-host"
#define ORIGIN_ADVICE                                                                              \
    "if that page may use this hub, add its origin to origins of the listener, or say "            \
    "--allowed-origin"

/* Whoever runs the hub wants to know why a client is turned away; whoever floods it is not to fill
 * the disk (R10). */
static void log_refusal(const hub_http_task *task, const char *reason, const char *advice)
{
    hub_http_server *server = task->server;
    uint64_t now_ms = hub_clock_now_ms();
    if (server->logged_ms != 0 && now_ms - server->logged_ms < HUB_HTTP_LOG_MS) {
        server->unlogged++;
        return;
    }
    hub_log(HUB_LOG_WARNING, "http.refused", HUB_F_TEXT("reason", reason),
            HUB_F_TEXT("advice", advice), HUB_F_STR("host", task->request->host),
            HUB_F_STR("origin", hub_http_value(task->request, "origin")),
            HUB_F_TEXT("peer", hub_http_connection_peer(task->connection)),
            HUB_F_INT("not_logged", server->unlogged));
    server->logged_ms = now_ms;
    server->unlogged = 0;
}

/* NULL: Host and Origin (NULL: there is none) are as they have to be here. */
static const char *find_origin_fault(const hub_http_task *task, const hub_str *origin)
{
    const hub_http_origins *allowed = &task->server->allowed;
    hub_str host = task->request->host;
    const char *reason = hub_http_origin_refusal(allowed, host, origin);
    bool is_own = task->place != NULL && task->place->rows[0].face->refuses_neighbours;
    bool is_neighbour =
        reason == NULL && is_own && origin != NULL && hub_http_is_neighbour(allowed, host, *origin);
    return is_neighbour ? "This origin is of another port, which is not allowed here." : reason;
}

/* A page whose name was rebound to this address gets nothing (H08); a page that is welcome gets
 * the headers that its browser wants. */
static bool check_origin(const hub_http_task *task)
{
    const hub_http_header *origin = hub_http_known(task->request, HUB_HTTP_ORIGIN);
    const char *reason = find_origin_fault(task, origin != NULL ? &origin->value : NULL);
    if (reason != NULL) {
        bool is_host = !hub_http_is_host_allowed(&task->server->allowed, task->request->host);
        log_refusal(task, reason, is_host ? HOST_ADVICE : ORIGIN_ADVICE);
        return refuse(task, 403, NONE, reason);
    }
    if (origin != NULL) {
        task->connection->origin = hub_str_dup(origin->value);
    }
    return true;
}

/* Any name will do, but a page of elsewhere is told nothing. */
static bool check_page(const hub_http_task *task)
{
    bool is_host = hub_http_is_host_allowed(&task->server->allowed, task->request->host);
    bool is_page = hub_http_known(task->request, HUB_HTTP_ORIGIN) != NULL;
    return is_host || is_page ? check_origin(task) : true;
}

/* A bad credential of an address that may show some more. One line tells of each address that has
 * shown too many, for as long as it is not judged. */
static void note_failure(const hub_http_task *task, const char *peer)
{
    uint64_t now_ms = hub_clock_now_ms();
    if (hub_http_failures_note(task->server->failures, peer, now_ms)) {
        hub_log(
            HUB_LOG_WARNING, "auth.locked_out", HUB_F_TEXT("peer", peer),
            HUB_F_INT("failures", HUB_HTTP_LIMIT_AUTH_FAILURES),
            HUB_F_INT("seconds", hub_http_failures_wait_s(task->server->failures, peer, now_ms)),
            HUB_F_TEXT("advice", "bad tokens from there are answered with 429; valid ones work"));
    }
}

static bool refuse_locked_out(const hub_http_task *task, uint32_t wait_s)
{
    hub_http_retry_text text;
    return refuse(task, 429, hub_http_retry_after(wait_s, &text),
                  "Too many bad tokens have come from this address: try again later.");
}

/* Who is asking. Only the header counts: a token in the query is not looked at (A11). */
static bool authenticate(hub_http_task *task)
{
    hub_http_failures *failures = task->server->failures;
    const char *peer = hub_http_connection_peer(task->connection);
    const char *reason;
    hub_http_note_metadata(task);
    bool may_wait = !task->connection->was_judged;
    task->connection->was_judged = false;
    hub_auth_result result = hub_http_judge(task, may_wait, &task->connection->identity, &reason);
    if (result == HUB_AUTH_OK) {
        task->identity = task->connection->identity;
        return true;
    }
    if (result == HUB_AUTH_LATER && may_wait) {
        task->is_later = true;
        return false;
    }
    bool is_bad = result == HUB_AUTH_MALFORMED || result == HUB_AUTH_REFUSED;
    if (is_bad && hub_http_is_guess(task)) {
        uint32_t wait_s = hub_http_failures_wait_s(failures, peer, hub_clock_now_ms());
        if (wait_s > 0) {
            return refuse_locked_out(task, wait_s);
        }
        note_failure(task, peer);
    }
    if (result == HUB_AUTH_UNCERTIFIED) {
        log_refusal(task, "The client certificate is not accepted.", reason);
    }
    if (is_bad) {
        log_refusal(task, "The credential is not valid.",
                    reason != NULL && reason[0] != '\0'
                        ? reason
                        : "patchbay token list shows those that are");
    }
    hub_http_refuse_credential(task, result == HUB_AUTH_LATER ? HUB_AUTH_UNAVAILABLE : result,
                               reason);
    return false;
}

static const char *allow_of(const hub_http_task *task)
{
    return task->place != NULL ? task->place->allow : task->route->allow;
}

/* What is nobody's has the methods of MCP: who is not known is not told what is there. */
static hub_str preflight_methods(const hub_http_task *task)
{
    return task->place != NULL ? hub_str_of(task->place->allow)
                               : HUB_STR("GET, POST, DELETE, OPTIONS");
}

static bool answer_preflight(const hub_http_task *task)
{
    hub_buf allowed;
    hub_buf_init(&allowed, HUB_HTTP_LIMIT_HEAD_BYTES);
    if (hub_http_cors_allow_headers(task->request, &allowed) != HUB_OK) {
        hub_buf_clear(&allowed); /* nothing is allowed then */
    }
    const hub_http_header headers[] = {
        {HUB_STR("Access-Control-Allow-Methods"), preflight_methods(task)},
        {HUB_STR("Access-Control-Allow-Headers"), hub_buf_str(&allowed)},
        {HUB_STR("Access-Control-Max-Age"), HUB_STR("600")},
    };
    (void)hub_http_answer_whole(
        task->connection, &(hub_http_answer){.status = 204, .headers = headers, .header_count = 3});
    hub_buf_fini(&allowed);
    return false;
}

static bool answer_options(const hub_http_task *task)
{
    hub_http_header allow = {HUB_STR("Allow"), hub_str_of(allow_of(task))};
    (void)hub_http_answer_whole(
        task->connection, &(hub_http_answer){.status = 204, .headers = &allow, .header_count = 1});
    return false;
}

/* Whether what is sent and what is wanted back are of a kind that MCP has. */
static bool check_media(const hub_http_task *task)
{
    const hub_http_request *request = task->request;
    bool is_post = hub_str_is(request->method, "POST");
    bool is_stream = hub_str_is(request->method, "GET") && (task->route->flags & HAS_STREAM) != 0;
    if (is_post && !hub_http_is_json(request)) {
        return refuse(task, 415, NONE, "The Content-Type must be application/json.");
    }
    if ((is_stream && !hub_http_accepts(request, HUB_STR("text/event-stream"))) ||
        (is_post && (task->route->flags & HAS_STREAM) != 0 && !hub_http_accepts_answers(request))) {
        return refuse(task, 406, NONE,
                      is_post ? "Accept must list application/json and text/event-stream."
                              : "Accept must list text/event-stream.");
    }
    if (is_post && request->framing == HUB_HTTP_NO_BODY) {
        return refuse(task, 411, NONE, "A POST needs Content-Length or chunked encoding.");
    }
    return true;
}

/* ---- the gate -------------------------------------------------------------------------------- */

/* Where the hub asks nobody for a token, callers on this machine are those whom it was made for. */
static bool check_local(hub_http_task *task)
{
    if (!authenticate(task)) {
        return false;
    }
    if (!task->server->settings->auth.required && !hub_identity_is_of_certificate(task->identity) &&
        !hub_http_is_loopback(hub_http_connection_peer(task->connection))) {
        return refuse(task, 403, NONE,
                      "This path is for callers on the hub's own machine, or for those with a "
                      "token: make one with `patchbay token new NAME`, and name its file with "
                      "--tokens.");
    }
    return true;
}

/* What is checked for each need, in two steps: a preflight is answered between them. */
static const struct {
    bool (*place)(
        const hub_http_task *task);      /* whom the request takes the hub for, and from where */
    bool (*caller)(hub_http_task *task); /* NULL: nobody is asked */
} GATES[] = {
    [HUB_WEB_ANY_HOST] = {check_page, NULL},
    [HUB_WEB_OPEN] = {check_origin, NULL},
    [HUB_WEB_CALLER] = {check_origin, authenticate},
    [HUB_WEB_TOKEN_OR_LOOPBACK] = {check_origin, check_local},
};

/* Find who answers; what it needs. */
static hub_web_need find_need(hub_http_task *task)
{
    const hub_http_request *request = task->request;
    task->route = find_route(request->path, &task->profile);
    if (task->route == NULL) {
        task->place = hub_http_face_table_find(task->server->faces, request->path);
    }
    if (task->place == NULL) {
        return HUB_WEB_CALLER;
    }
    const hub_web_face *face = task->place->rows[0].face;
    if (face->is_served != NULL && !face->is_served(task->server->listen)) {
        task->place = NULL;
        return HUB_WEB_CALLER;
    }
    task->row = hub_http_place_row(task->place, request->method);
    return task->row != NULL ? task->row->row->need : task->place->need;
}

static bool check_method(const hub_http_task *task)
{
    hub_str method = task->request->method;
    if (hub_str_is(method, "OPTIONS")) {
        return answer_options(task);
    }
    if (task->place != NULL ? task->row == NULL : !allows(task->route, method)) {
        return refuse(task, 405, (hub_http_header){HUB_STR("Allow"), hub_str_of(allow_of(task))},
                      "The method is not allowed here.");
    }
    return true;
}

/* The body must not be more than the row takes. One without a length is measured as it comes. */
static bool check_size(hub_http_task *task)
{
    const hub_http_request *request = task->request;
    size_t most = task->row->row->max_body_bytes;
    task->max_body_bytes = most < task->max_body_bytes ? most : task->max_body_bytes;
    if (request->framing == HUB_HTTP_LENGTH && request->content_length > task->max_body_bytes) {
        return refuse(task, 413, NONE,
                      most > 0 ? "The body is larger than this path takes."
                               : "This path takes no body.");
    }
    return true;
}

bool hub_http_routes_find_session_route(hub_http_task *task)
{
    task->route = find_route(task->request->path, &task->profile);
    return task->route != NULL && (task->route->flags & HAS_SESSION) != 0 &&
           allows(task->route, task->request->method);
}

bool hub_http_routes_admit(hub_http_task *task)
{
    task->max_body_bytes = task->server->settings->limits.client_message_bytes;
    if (task->server->is_replica) {
        return hub_http_peer_admit(task);
    }
    hub_web_need need = find_need(task);
    if (!GATES[need].place(task)) {
        return false;
    }
    if (hub_http_is_preflight(task->request)) {
        return answer_preflight(task);
    }
    if (GATES[need].caller != NULL && !GATES[need].caller(task)) {
        return false;
    }
    if (task->route == NULL && task->place == NULL) {
        return refuse(task, 404, NONE,
                      "There is nothing at this path: MCP is at /mcp, and at /sse and /ws. The "
                      "dashboard, the API and the metrics are there if the listener says ui: true, "
                      "api: true or metrics: true.");
    }
    return check_method(task) && (task->row != NULL ? check_size(task) : check_media(task));
}

const char *hub_http_routes_identify(const hub_http_task *task)
{
    hub_http_failures *failures = task->server->failures;
    const char *peer = hub_http_connection_peer(task->connection);
    const char *reason;
    hub_identity **identity = &task->connection->identity;
    if (*identity != NULL) {
        return (*identity)->name;
    }
    if (!hub_http_is_host_allowed(&task->server->allowed, task->request->host)) {
        return NULL; /* a page whose name was rebound, for all that is known */
    }
    hub_auth_result result = hub_http_judge(task, false, identity, &reason);
    if ((result == HUB_AUTH_REFUSED || result == HUB_AUTH_MALFORMED) && hub_http_is_guess(task) &&
        hub_http_failures_wait_s(failures, peer, hub_clock_now_ms()) == 0) {
        note_failure(task, peer);
    }
    return result == HUB_AUTH_OK ? (*identity)->name : NULL;
}

/* Whether a path of a face is one of MCP's, or beneath it. */
static bool is_taken(hub_str path)
{
    for (size_t i = 0; i < sizeof ROUTES / sizeof ROUTES[0]; i++) {
        hub_str base = hub_str_of(ROUTES[i].path);
        if (hub_str_starts(path, base) && (path.len == base.len || path.ptr[base.len] == '/')) {
            return true;
        }
    }
    return false;
}

hub_err hub_http_routes_check_faces(const hub_web_served *faces, size_t count, hub_error *reterr)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < faces[i].face->count; k++) {
            const char *path = faces[i].face->rows[k].path;
            if (is_taken(hub_str_of(path))) {
                return hub_fail(reterr, HUB_ECOLLISION, "face '%s', %s: the path is MCP's own",
                                faces[i].face->name, path);
            }
        }
    }
    return HUB_OK;
}

void hub_http_routes_serve(const hub_http_task *task)
{
    if (task->server->is_replica && !hub_http_peer_has_body(task)) {
        return;
    }
    if (task->row != NULL) {
        hub_http_face_serve(task);
    } else {
        task->route->serve(task);
    }
}
