/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which resources are watched, and how the server is told: a legacy one with resources/subscribe
 * and resources/unsubscribe; a modern one with a subscriptions/listen stream that has them all, and
 * the changes of lists. The stream is replaced when the set changes: the new one is acknowledged
 * before the old one is cancelled, so nothing is missed. One is being opened at a time, and one
 * more if the set changed again meanwhile.
 *
 * The hub counts its clients: it subscribes once per resource. What is watched is told to every new
 * process of the server, a few at a time, and then said to have changed, since it may have.
 * spec: MCP 2025-11-25 server/resources (Subscriptions); 2026-07-28 basic/patterns/subscriptions
 */
#include "upstream.h"

enum { CODE_NOT_WATCHED = -32602 };

static const patchbay_call NO_CALL = {.id = 0};

static patchbay_str uri_of(const watched_resource *resource)
{
    return patchbay_str_make(resource->uri, resource->len);
}

static watched_resource **find(mcp_server *server, patchbay_str uri)
{
    watched_resource **link = &server->watched;
    while (*link != NULL && !patchbay_str_eq(uri_of(*link), uri)) {
        link = &(*link)->next;
    }
    return link;
}

/* The call of a subscription is answered, or will not be. Returns it. */
static patchbay_call end_waiting(mcp_server *server, watched_resource *resource)
{
    patchbay_call call = resource->call;
    if (call.id != 0) {
        server->subscribing--;
    }
    resource->call = NO_CALL;
    return call;
}

static void take_out(mcp_server *server, watched_resource **link)
{
    watched_resource *resource = *link;
    (void)end_waiting(server, resource);
    if (server->telling == resource) {
        server->telling = resource->next;
    }
    if (server->retold == resource) {
        server->retold = resource->next;
    }
    *link = resource->next;
    server->watched_count--;
    free(resource);
}

/* What the hub does with it may end a subscription: take_out() looks after the place. */
static void say_all_changed(mcp_server *server)
{
    server->telling = server->watched;
    while (server->telling != NULL) {
        const watched_resource *resource = server->telling;
        server->telling = resource->next;
        (void)server->catalog->updated(server->host, uri_of(resource));
    }
}

/* ---- listening to a modern server ---------------------------------------------------------- */

static void cancel_stream(mcp_server *server, uint32_t number)
{
    char id[24];
    int len = snprintf(id, sizeof id, "\"listen-%u\"", (unsigned)number);
    server->channel->cancel(server, patchbay_str_make(id, (size_t)len));
}

/* Append what is to be heard of, as members of an object; 0 when it is nothing. */
static int add_filter(mcp_server *server, patchbay_out *out)
{
    static const struct {
        uint32_t kind;
        const char *key;
    } CHANGES[] = {
        {PATCHBAY_TOOLS, "toolsListChanged"},
        {PATCHBAY_RESOURCES, "resourcesListChanged"},
        {PATCHBAY_PROMPTS, "promptsListChanged"},
    };
    int any = server->watched != NULL;
    for (size_t i = 0; i < sizeof CHANGES / sizeof CHANGES[0]; i++) {
        if (server->lists[CHANGES[i].kind].is_told) {
            patchbay_out_key(out, CHANGES[i].key);
            patchbay_out_text(out, "true");
            any = 1;
        }
    }
    if (server->watched != NULL) {
        patchbay_out_key(out, "resourceSubscriptions");
        patchbay_out_text(out, "[");
        for (watched_resource *at = server->watched; at != NULL; at = at->next) {
            patchbay_out_text(out, at == server->watched ? "" : ",");
            patchbay_out_string(out, uri_of(at));
            at->state = WATCHED_ASKED;
        }
        patchbay_out_text(out, "]");
    }
    return any;
}

/* Make the stream what is wanted now. */
static void listen(mcp_server *server)
{
    int is_up = server->phase == PHASE_READY || server->phase == PHASE_LISTING;
    if (server->era != ERA_MODERN || !is_up) {
        return;
    }
    if (server->opening != 0) {
        server->listen_again = 1;
        return;
    }
    server->listen_again = 0;
    patchbay_out params = {0};
    patchbay_out_text(&params, "{\"notifications\":{");
    int any = add_filter(server, &params);
    patchbay_out_text(&params, "}");
    upstream_add_meta(server, &params);
    patchbay_out_text(&params, "}");
    if (params.failed) {
        upstream_fail(server, "cannot be listened to: out of memory");
    } else if (any) {
        uint32_t number = upstream_request(server, "listen", "subscriptions/listen",
                                           patchbay_str_make(params.ptr, params.len));
        server->opening = number != 0 ? number : server->opening;
    } else if (server->listening != 0) {
        cancel_stream(server, server->listening);
        server->listening = 0;
    }
    patchbay_out_free(&params);
}

/* What was asked for, in the order of its URIs. */
typedef struct asked_resource {
    patchbay_str uri;
    watched_resource *resource;
} asked_resource;

static int compare_uris(const void *a, const void *b)
{
    patchbay_str left = ((const asked_resource *)a)->uri;
    patchbay_str right = ((const asked_resource *)b)->uri;
    if (left.len != right.len) {
        return left.len < right.len ? -1 : 1;
    }
    return left.len > 0 ? memcmp(left.ptr, right.ptr, left.len) : 0;
}

static void note_one(patchbay_str raw, const asked_resource *asked, size_t count)
{
    patchbay_out uri = {0};
    if (patchbay_json_decode(raw, &uri) && !uri.failed) {
        const asked_resource key = {.uri = patchbay_str_make(uri.ptr, uri.len)};
        const asked_resource *found = bsearch(&key, asked, count, sizeof *asked, compare_uris);
        if (found != NULL) {
            found->resource->state = WATCHED_TAKEN;
        }
    }
    patchbay_out_free(&uri);
}

/* Note which of the resources that were asked for the server has taken. It may name them in any
 * order, but no more than can have been asked for: what follows is not looked at. */
static void note_taken(mcp_server *server, patchbay_str taken)
{
    patchbay_json_iter it = patchbay_json_iterate(taken);
    patchbay_str key;
    patchbay_str value;
    size_t count = 0;
    if (server->watched_count == 0 || taken.len == 0) {
        return;
    }
    asked_resource *asked = calloc(server->watched_count, sizeof *asked);
    if (asked == NULL) {
        upstream_fail(server, "cannot be listened to: out of memory");
        return;
    }
    for (watched_resource *at = server->watched; at != NULL; at = at->next) {
        if (at->state == WATCHED_ASKED) {
            asked[count++] = (asked_resource){.uri = uri_of(at), .resource = at};
        }
    }
    qsort(asked, count, sizeof *asked, compare_uris);
    for (size_t i = 0; i < UPSTREAM_WATCHED && patchbay_json_next(&it, &key, &value); i++) {
        note_one(value, asked, count);
    }
    free(asked);
}

/* One whose call waits and is settled by the stream that was opened; NULL when there is none. */
static watched_resource **find_settled(mcp_server *server)
{
    watched_resource **link = &server->watched;
    while (server->subscribing > 0 && *link != NULL) {
        if ((*link)->call.id != 0 && (*link)->state != WATCHED_NEW) {
            return link;
        }
        link = &(*link)->next;
    }
    return NULL;
}

/* Answer those who waited for the stream. Those that it has not are told `error`, or that they
 * will hear nothing. What the hub does with an answer may change the list: it is searched anew. */
static void answer_waiting(mcp_server *server, patchbay_str error)
{
    char text[160];
    int len = snprintf(text, sizeof text,
                       "{\"code\":%d,\"message\":\"the server does not tell when this resource "
                       "changes\"}",
                       CODE_NOT_WATCHED);
    patchbay_str refusal = error.len > 0 ? error : patchbay_str_make(text, (size_t)len);
    watched_resource **link;
    while ((link = find_settled(server)) != NULL) {
        int is_taken = (*link)->state == WATCHED_TAKEN;
        patchbay_call call = end_waiting(server, *link);
        if (!is_taken) {
            take_out(server, link);
        }
        upstream_finish(server, call, is_taken ? PATCHBAY_RESULT : PATCHBAY_RPC_ERROR,
                        is_taken ? patchbay_str_of("{}") : refusal);
    }
}

void upstream_listen_acknowledged(mcp_server *server, uint32_t number, patchbay_str notifications)
{
    if (number == 0 || number != server->opening) {
        return;
    }
    uint32_t connection = server->connection;
    uint32_t old = server->listening;
    server->listening = number;
    server->opening = 0;
    if (old != 0) {
        cancel_stream(server, old);
    }
    if (server->has_gap && server->connection == connection) {
        server->has_gap = 0;
        say_all_changed(server);
        if (server->phase == PHASE_READY) { /* else they are being read for the first time */
            upstream_list_read_all(server);
        }
    }
    if (server->connection == connection) {
        note_taken(server, patchbay_json_get(notifications, "resourceSubscriptions"));
    }
    if (server->connection == connection) {
        answer_waiting(server, patchbay_str_make(NULL, 0));
    }
    if (server->connection == connection && server->listen_again) {
        listen(server);
    }
}

/* A stream that served for a while is opened again. One that does not last is left alone until
 * something new is to be heard of: opening it again and again would be all that happens. */
static void listen_once_more(mcp_server *server)
{
    uint64_t now = server->loop->now_ms(server->host);
    server->has_gap = 1;
    if (server->opened_ms == 0 || now - server->opened_ms >= UPSTREAM_LISTEN_MS) {
        server->opened_ms = now;
        listen(server);
    } else {
        upstream_log(server, PATCHBAY_LOG_WARNING,
                     "the server keeps ending subscriptions/listen: changes are not noticed");
    }
}

void upstream_listen_ended(mcp_server *server, uint32_t number, patchbay_str error)
{
    if (number == 0) {
        return;
    }
    if (number == server->listening) {
        server->listening = 0;
        if (server->opening == 0) {
            listen_once_more(server);
        }
    } else if (number == server->opening) {
        uint32_t connection = server->connection;
        server->opening = 0;
        if (server->subscribing == 0) {
            upstream_log(server, PATCHBAY_LOG_WARNING,
                         "the server refuses subscriptions/listen: changes are not noticed");
        }
        answer_waiting(server, error);
        if (server->connection == connection && server->listen_again) {
            listen(server);
        }
    }
}

int upstream_listen_hears(const mcp_server *server, patchbay_str params)
{
    patchbay_str name;
    if (server->era != ERA_MODERN) {
        return 1;
    }
    patchbay_str id = patchbay_json_get(patchbay_json_get(params, "_meta"),
                                        "io.modelcontextprotocol/subscriptionId");
    uint32_t number = upstream_read_id(id, &name);
    uint32_t in_use = server->listening != 0 ? server->listening : server->opening;
    return id.len == 0 || (number != 0 && number == in_use);
}

/* ---- what the hub wants -------------------------------------------------------------------- */

static watched_resource *add(mcp_server *server, patchbay_call call, patchbay_str uri)
{
    if (server->watched_count >= UPSTREAM_WATCHED) {
        return NULL;
    }
    watched_resource *made = calloc(1, sizeof *made + uri.len);
    if (made != NULL) {
        made->call = call;
        made->len = uri.len;
        memcpy(made->uri, uri.ptr, uri.len);
        made->next = server->watched;
        server->watched = made;
        server->watched_count++;
        server->subscribing++;
    }
    return made;
}

void upstream_subscribe(mcp_server *server, patchbay_call call, const patchbay_request *request)
{
    if (*find(server, request->tool) != NULL) {
        upstream_finish_text(server, call, PATCHBAY_RESULT, "{}");
        return;
    }
    if (add(server, call, request->tool) == NULL) {
        char why[128];
        (void)snprintf(why, sizeof why,
                       "too many resources of this server are watched (%d): end a subscription",
                       UPSTREAM_WATCHED);
        upstream_finish_text(server, call, PATCHBAY_FAILED, why);
        return;
    }
    if (server->era == ERA_MODERN) {
        listen(server);
    } else {
        upstream_forward_errand(server, call, request);
    }
}

void upstream_unsubscribe(mcp_server *server, patchbay_call call, const patchbay_request *request)
{
    watched_resource **link = find(server, request->tool);
    if (*link != NULL) {
        take_out(server, link);
        listen(server);
    }
    if (server->phase == PHASE_READY && server->era == ERA_LEGACY) {
        upstream_forward_errand(server, call, request);
    } else { /* no process, or a stream that has it no more */
        upstream_finish_text(server, call, PATCHBAY_RESULT, "{}");
    }
}

void upstream_subscribed(mcp_server *server, patchbay_call call, int is_done)
{
    watched_resource **link = &server->watched;
    if (server->subscribing == 0) {
        return;
    }
    while (*link != NULL && (*link)->call.id != call.id) {
        link = &(*link)->next;
    }
    if (*link == NULL) {
        return;
    }
    if (is_done) {
        (void)end_waiting(server, *link);
    } else {
        take_out(server, link);
        listen(server);
    }
}

/* ---- one process and the next -------------------------------------------------------------- */

static void subscribe_again(mcp_server *server, const watched_resource *resource)
{
    patchbay_out params = {0};
    patchbay_out_text(&params, "{\"uri\":");
    patchbay_out_string(&params, uri_of(resource));
    patchbay_out_text(&params, "}");
    if (params.failed) {
        upstream_fail(server, "cannot be told what is watched: out of memory");
    } else {
        (void)upstream_request(server, "subscribe", "resources/subscribe",
                               patchbay_str_make(params.ptr, params.len));
    }
    patchbay_out_free(&params);
}

/* Tell a legacy server that was started again, a few at a time: over HTTP each takes a connection.
 * When it has answered all, what is watched is said to have changed, since it may have. Requests
 * are only queued here: the list does not change meanwhile, unless the connection ends. */
static void retell(mcp_server *server)
{
    uint32_t connection = server->connection;
    while (server->retold != NULL && server->retelling < UPSTREAM_RETELLING) {
        const watched_resource *resource = server->retold;
        server->retold = resource->next;
        server->retelling++;
        subscribe_again(server, resource);
        if (server->connection != connection) {
            return; /* sending has ended it, and what is watched may be gone */
        }
    }
    if (server->retold == NULL && server->retelling == 0) {
        say_all_changed(server);
    }
}

void upstream_retold(mcp_server *server, uint32_t number)
{
    if (server->retelling > 0 && number > server->retold_after) {
        server->retelling--;
        retell(server);
    }
}

void upstream_subscriptions_begin(mcp_server *server)
{
    server->has_gap = server->watched != NULL && server->era == ERA_MODERN;
    server->opened_ms = 0;
    server->retelling = 0;
    server->retold = NULL;
    server->retold_after = server->last_request;
    if (server->era == ERA_MODERN) {
        listen(server);
    } else if (server->watched != NULL) {
        server->retold = server->watched;
        retell(server);
    }
}

void upstream_subscriptions_disconnect(mcp_server *server, const char *reason)
{
    server->listening = 0;
    server->opening = 0;
    server->listen_again = 0;
    server->retold = NULL;
    server->retelling = 0;
    while (server->subscribing > 0) {
        watched_resource **link = &server->watched;
        while ((*link)->call.id == 0) {
            link = &(*link)->next;
        }
        patchbay_call call = end_waiting(server, *link);
        take_out(server, link);
        if (server->era == ERA_MODERN) { /* a legacy one's are calls in flight */
            upstream_finish_text(server, call, PATCHBAY_UNAVAILABLE, reason);
        }
    }
}

void upstream_subscriptions_free(mcp_server *server)
{
    while (server->watched != NULL) {
        take_out(server, &server->watched);
    }
}
