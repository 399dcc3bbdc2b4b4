/* SPDX-License-Identifier: Apache-2.0 */
#include "upstream.h"

/* ---- lists of calls -----------------------------------------------------------------------------
 */

static int list_add(const mcp_server *server, call_list *list, patchbay_call call)
{
    if (list->count == list->cap) {
        size_t cap = list->cap == 0 ? 32 : list->cap * 2;
        listed_call *items = realloc(list->items, cap * sizeof *items);
        if (items == NULL) {
            return 0;
        }
        list->items = items;
        list->cap = cap;
    }
    list->items[list->count++] = (listed_call){.call = call, .after = server->last_request};
    return 1;
}

/* Take a call out of the list; 0 when it is not there. The newest are looked at first. */
static int list_remove(call_list *list, patchbay_call call)
{
    for (size_t i = list->count; i > 0; i--) {
        if (list->items[i - 1].call.id == call.id) {
            list->items[i - 1] = list->items[--list->count];
            return 1;
        }
    }
    return 0;
}

void upstream_finish(mcp_server *server, patchbay_call call, int32_t status, patchbay_str json)
{
    (void)server->api->finish(server->host, call, status, json); /* stale: nobody waits */
}

void upstream_finish_text(mcp_server *server, patchbay_call call, int32_t status, const char *text)
{
    upstream_finish(server, call, status, patchbay_str_of(text));
}

/* ---- holding
 * ------------------------------------------------------------------------------------- */

static patchbay_str copy_slice(char **at, patchbay_str text)
{
    patchbay_str copy = patchbay_str_make(*at, text.len);
    if (text.len > 0) {
        memcpy(*at, text.ptr, text.len);
        *at += text.len;
    }
    return copy;
}

/* The same slice of the copied params; a slice of something else is copied by itself. */
static patchbay_str move_slice(char **at, patchbay_str from, patchbay_str to, patchbay_str slice)
{
    if (slice.len > 0 && slice.ptr >= from.ptr && slice.ptr + slice.len <= from.ptr + from.len) {
        return patchbay_str_make(to.ptr + (slice.ptr - from.ptr), slice.len);
    }
    return copy_slice(at, slice);
}

static int hold(mcp_server *server, patchbay_call call, const patchbay_request *request)
{
    if (server->held_count >= UPSTREAM_HELD_CALLS) {
        return 0;
    }
    size_t size = request->params_json.len + request->tool.len + request->method.len +
                  request->args_json.len + request->meta_json.len + request->name_json.len;
    held_call *held = calloc(1, sizeof *held + size);
    if (held == NULL) {
        return 0;
    }
    char *at = held->bytes;
    held->call = call;
    held->request = *request;
    patchbay_str params = copy_slice(&at, request->params_json);
    held->request.params_json = params;
    held->request.tool = copy_slice(&at, request->tool);
    held->request.method = copy_slice(&at, request->method);
    held->request.args_json = move_slice(&at, request->params_json, params, request->args_json);
    held->request.meta_json = move_slice(&at, request->params_json, params, request->meta_json);
    held->request.name_json = move_slice(&at, request->params_json, params, request->name_json);
    held_call **end = &server->held;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = held;
    server->held_count++;
    return 1;
}

static held_call *take_held(mcp_server *server)
{
    held_call *held = server->held;
    if (held != NULL) {
        server->held = held->next;
        server->held_count--;
    }
    return held;
}

/* ---- forwarding
 * ----------------------------------------------------------------------------------- */

/* A call that cannot be sent. What was to be subscribed to is not. */
static void fail_unsent(mcp_server *server, patchbay_call call, int32_t status, const char *why)
{
    upstream_subscribed(server, call, 0);
    upstream_finish_text(server, call, status, why);
}

static void forward(mcp_server *server, call_list *list, patchbay_call call,
                    const patchbay_request *request)
{
    patchbay_str parts[PATCHBAY_FRAME_PARTS];
    patchbay_peer peer = {.struct_size = sizeof peer, .version = patchbay_str_of(server->version)};
    int32_t count =
        server->wire->frame_request(server->host, call, request, &peer, request->tool, parts);
    if (count == PATCHBAY_ESTALE) {
        upstream_subscribed(server, call, 0);
        return; /* cancelled while it was held */
    }
    if (count <= 0 || !list_add(server, list, call)) {
        fail_unsent(server, call, PATCHBAY_FAILED, "out of memory");
        return;
    }
    upstream_outgoing message = {
        .parts = parts,
        .part_count = (uint32_t)count,
        .kind = PATCHBAY_MSG_REQUEST,
        .method = request->method,
        .call = call,
        .request = request,
    };
    int32_t sent = server->channel->send(server, &message);
    if (sent != PATCHBAY_OK) {
        (void)list_remove(list, call);
        fail_unsent(server, call, PATCHBAY_UNAVAILABLE,
                    sent == PATCHBAY_ELIMIT ? "the server does not read its input: try again later"
                    : sent == PATCHBAY_ENOMEM
                        ? "out of memory: try again"
                        : "the connection to the server has ended: try again");
    }
}

void upstream_forward_errand(mcp_server *server, patchbay_call call,
                             const patchbay_request *request)
{
    forward(server, &server->errands, call, request);
}

/* ---- what is no mere forwarding
 * ------------------------------------------------------------------- */

/* Whether the call can wait for the server. One that cannot is finished with the reason. */
static int may_wait(mcp_server *server, patchbay_call call)
{
    char text[UPSTREAM_REASON_BYTES + 160];
    int is_far = upstream_restart_is_far(server, text, sizeof text);
    if (is_far) {
        upstream_finish_text(server, call, server->last_status, text);
    }
    return !is_far;
}

/* A planned attempt is near, or there is none. */
static void hold_or_fail(mcp_server *server, patchbay_call call, int is_kept)
{
    if (is_kept && server->retry_ms == 0) {
        upstream_connect(server);
    } else if (!is_kept) {
        upstream_finish_text(server, call, PATCHBAY_UNAVAILABLE,
                             "too many calls wait for the server to start, or the hub is out of "
                             "memory: try again later");
    }
}

static void discover(mcp_server *server, patchbay_call call, const patchbay_request *request)
{
    int is_old = patchbay_json_true(patchbay_json_get(request->params_json, "refresh"));
    if (patchbay_json_true(patchbay_json_get(request->params_json, "now"))) {
        upstream_restart_now(server);
    }
    if (is_old) {
        upstream_handshake_mend(server);
    }
    if (server->phase != PHASE_READY) {
        if (may_wait(server, call)) {
            hold_or_fail(server, call, list_add(server, &server->discoverers, call));
        }
    } else if (!is_old || !list_add(server, &server->discoverers, call)) {
        upstream_finish_text(server, call, PATCHBAY_RESULT, "{}");
    } else if (!upstream_lists_reread(server)) {
        upstream_calls_ready(server); /* it tells of changes, so nothing is old */
    }
}

/* The level is kept for the next process. A modern server is told with each call instead. */
static void set_level(mcp_server *server, patchbay_call call, const patchbay_request *request)
{
    patchbay_str level = patchbay_json_get(request->params_json, "level");
    if (level.len > 0 && level.len < sizeof server->level) {
        memcpy(server->level, level.ptr, level.len);
        server->level[level.len] = '\0';
    }
    if (server->phase == PHASE_READY && server->has_levels) {
        upstream_forward_errand(server, call, request);
    } else {
        upstream_finish_text(server, call, PATCHBAY_RESULT, "{}");
    }
}

static void subscribe(mcp_server *server, patchbay_call call, const patchbay_request *request)
{
    if (server->phase == PHASE_READY) {
        upstream_subscribe(server, call, request);
    } else if (may_wait(server, call)) {
        hold_or_fail(server, call, hold(server, call, request));
    }
}

void upstream_call(mcp_server *server, patchbay_call call, const patchbay_request *request)
{
    static const struct {
        const char *method;
        void (*take)(mcp_server *server, patchbay_call call, const patchbay_request *request);
    } OWN[] = {
        {PATCHBAY_METHOD_DISCOVER, discover},
        {"logging/setLevel", set_level},
        {"resources/subscribe", subscribe},
        {"resources/unsubscribe", upstream_unsubscribe},
        {"notifications/roots/list_changed", upstream_roots_changed},
        {"patchbay/rest", upstream_rest}, /* the hub's own; no client can send it */
    };
    int is_tool = patchbay_str_eq(request->method, patchbay_str_of("tools/call"));
    server->active_ms = server->loop->now_ms(server->host);
    for (size_t i = 0; !is_tool && i < sizeof OWN / sizeof OWN[0]; i++) {
        if (patchbay_str_eq(request->method, patchbay_str_of(OWN[i].method))) {
            OWN[i].take(server, call, request);
            return;
        }
    }
    if (server->phase == PHASE_READY) {
        forward(server, &server->in_flight, call, request);
    } else if (may_wait(server, call)) {
        hold_or_fail(server, call, hold(server, call, request));
    }
}

/* ---- the end of calls
 * ----------------------------------------------------------------------------- */

static void drop_held(mcp_server *server, patchbay_call call)
{
    held_call **link = &server->held;
    while (*link != NULL && (*link)->call.id != call.id) {
        link = &(*link)->next;
    }
    held_call *held = *link;
    if (held != NULL) {
        *link = held->next;
        server->held_count--;
        free(held);
    }
}

void upstream_cancel(mcp_server *server, patchbay_call call)
{
    int is_sent = list_remove(&server->in_flight, call) || list_remove(&server->errands, call);
    upstream_subscribed(server, call, 0);
    if (is_sent) {
        char id[24];
        int len = snprintf(id, sizeof id, "%llu", (unsigned long long)call.id);
        server->channel->cancel(server, patchbay_str_make(id, (size_t)len));
    } else if (!list_remove(&server->discoverers, call)) {
        drop_held(server, call);
    }
}

void upstream_answer(mcp_server *server, const patchbay_message *message)
{
    patchbay_call call = {.id = message->id_number};
    int is_error = message->kind == PATCHBAY_MSG_ERROR;
    server->active_ms = server->loop->now_ms(server->host);
    if (!list_remove(&server->in_flight, call)) {
        if (!list_remove(&server->errands, call)) {
            upstream_stray(server, message->id);
            return;
        }
        upstream_subscribed(server, call, !is_error);
    }
    if (is_error) {
        upstream_finish(server, call, PATCHBAY_RPC_ERROR | PATCHBAY_SCANNED, message->error);
        return;
    }
    int32_t status = PATCHBAY_RESULT | PATCHBAY_SCANNED | (int32_t)message->result_flags;
    status |= message->result_type.len > 0 ? PATCHBAY_TYPED : 0; /* of hubs without flags */
    if (server->pace.idle_ms != 0 && !server->has_tasks) {
        server->has_tasks = patchbay_json_get(message->result, "task").len > 0 ||
                            patchbay_json_is(message->result_type, patchbay_str_of("task"));
    }
    upstream_finish(server, call, status, message->result);
}

void upstream_fail_call(mcp_server *server, patchbay_call call, int32_t status, const char *why)
{
    if (list_remove(&server->in_flight, call) || list_remove(&server->errands, call)) {
        upstream_subscribed(server, call, 0);
        upstream_finish_text(server, call, status, why);
    }
}

static int list_has(const call_list *list, patchbay_call call)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].call.id == call.id) {
            return 1;
        }
    }
    return 0;
}

int upstream_is_out(const mcp_server *server, patchbay_call call)
{
    return list_has(&server->in_flight, call) || list_has(&server->errands, call);
}

patchbay_call upstream_only_call(const mcp_server *server)
{
    static const patchbay_call NONE = {.id = 0};
    int is_asking = server->phase != PHASE_READY || server->pulse.questions > 0 ||
                    server->opening != 0 || server->retelling > 0;
    for (uint32_t kind = 0; kind < UPSTREAM_LISTS; kind++) {
        is_asking = is_asking || server->lists[kind].request != 0;
    }
    if (is_asking || server->in_flight.count + server->errands.count != 1) {
        return NONE;
    }
    return server->in_flight.count == 1 ? server->in_flight.items[0].call
                                        : server->errands.items[0].call;
}

void upstream_calls_ready(mcp_server *server)
{
    uint32_t connection = server->connection;
    while (server->connection == connection && server->phase == PHASE_READY &&
           server->discoverers.count > 0) {
        patchbay_call call = server->discoverers.items[--server->discoverers.count].call;
        upstream_finish_text(server, call, PATCHBAY_RESULT, "{}");
    }
    while (server->connection == connection && server->phase == PHASE_READY &&
           server->held != NULL) {
        held_call *held = take_held(server);
        upstream_call(server, held->call, &held->request);
        free(held);
    }
}

/* What the hub does when it hears of the end may bring new calls: those are not meant. */
void upstream_fail_calls(mcp_server *server, int32_t status, const char *reason)
{
    call_list lists[] = {server->discoverers, server->in_flight, server->errands};
    held_call *held = server->held;
    memset(&server->discoverers, 0, sizeof server->discoverers);
    memset(&server->in_flight, 0, sizeof server->in_flight);
    memset(&server->errands, 0, sizeof server->errands);
    server->held = NULL;
    server->held_count = 0;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        while (lists[i].count > 0) {
            upstream_finish_text(server, lists[i].items[--lists[i].count].call, status, reason);
        }
        free(lists[i].items);
    }
    while (held != NULL) {
        held_call *next = held->next;
        upstream_finish_text(server, held->call, status, reason);
        free(held);
        held = next;
    }
}

void upstream_free_calls(mcp_server *server)
{
    free(server->in_flight.items);
    free(server->errands.items);
    free(server->discoverers.items);
    while (server->held != NULL) {
        free(take_held(server));
    }
}
