/* SPDX-License-Identifier: Apache-2.0 */
#include "upstream.h"

/* ---- lists of calls -----------------------------------------------------------------------------
 */

static int list_add(call_list *list, patchbay_call call)
{
    if (list->count == list->cap) {
        size_t cap = list->cap == 0 ? 32 : list->cap * 2;
        patchbay_call *items = realloc(list->items, cap * sizeof *items);
        if (items == NULL) {
            return 0;
        }
        list->items = items;
        list->cap = cap;
    }
    list->items[list->count++] = call;
    return 1;
}

/* Take a call out of the list; 0 when it is not there. The newest are looked at first. */
static int list_remove(call_list *list, patchbay_call call)
{
    for (size_t i = list->count; i > 0; i--) {
        if (list->items[i - 1].id == call.id) {
            list->items[i - 1] = list->items[--list->count];
            return 1;
        }
    }
    return 0;
}

static void finish(const mcp_server *server, patchbay_call call, int32_t status, patchbay_str json)
{
    (void)server->api->finish(server->host, call, status, json); /* stale: nobody waits */
}

static void fail_list(const mcp_server *server, call_list *list, const char *reason)
{
    while (list->count > 0) {
        finish(server, list->items[--list->count], PATCHBAY_UNAVAILABLE, patchbay_str_of(reason));
    }
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

static void forward(mcp_server *server, patchbay_call call, const patchbay_request *request)
{
    patchbay_str parts[PATCHBAY_FRAME_PARTS];
    patchbay_peer peer = {.struct_size = sizeof peer, .version = patchbay_str_of(server->version)};
    int32_t count =
        server->wire->frame_request(server->host, call, request, &peer, request->tool, parts);
    if (count == PATCHBAY_ESTALE) {
        return; /* cancelled while it was held */
    }
    if (count <= 0 || !list_add(&server->in_flight, call)) {
        finish(server, call, PATCHBAY_FAILED, patchbay_str_of("out of memory"));
        return;
    }
    int32_t sent = server->streams->send(server->stream, parts, (uint32_t)count);
    if (sent != PATCHBAY_OK) {
        (void)list_remove(&server->in_flight, call);
        finish(server, call, PATCHBAY_UNAVAILABLE,
               patchbay_str_of(sent == PATCHBAY_ELIMIT
                                   ? "the server does not read its input: try again later"
                                   : "the connection to the server has ended: try again"));
    }
}

void upstream_call(mcp_server *server, patchbay_call call, const patchbay_request *request)
{
    int discover = patchbay_str_eq(request->method, patchbay_str_of(PATCHBAY_METHOD_DISCOVER));
    if (server->phase == PHASE_READY && discover) {
        finish(server, call, PATCHBAY_RESULT, patchbay_str_of("{}"));
        return;
    }
    if (server->phase == PHASE_READY) {
        forward(server, call, request);
        return;
    }
    int kept = discover ? list_add(&server->discoverers, call) : hold(server, call, request);
    if (!kept) {
        finish(server, call, PATCHBAY_UNAVAILABLE,
               patchbay_str_of("too many calls wait for the server to start: try again later"));
        return;
    }
    upstream_connect(server);
}

void upstream_cancel(mcp_server *server, patchbay_call call)
{
    if (list_remove(&server->in_flight, call)) {
        char text[128];
        int len = snprintf(text, sizeof text,
                           "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                           "\"params\":{\"requestId\":%llu}}",
                           (unsigned long long)call.id);
        patchbay_str part = patchbay_str_make(text, (size_t)len);
        upstream_send(server, &part, 1);
        return;
    }
    if (list_remove(&server->discoverers, call)) {
        return;
    }
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

void upstream_answer(mcp_server *server, const patchbay_message *message)
{
    patchbay_call call = {.id = message->id_number};
    if (!list_remove(&server->in_flight, call)) {
        return; /* late, repeated, or made up */
    }
    if (message->kind == PATCHBAY_MSG_ERROR) {
        finish(server, call, PATCHBAY_RPC_ERROR | PATCHBAY_SCANNED, message->error);
        return;
    }
    int32_t typed = message->result_type.len > 0 ? PATCHBAY_TYPED : 0;
    finish(server, call, PATCHBAY_RESULT | PATCHBAY_SCANNED | typed, message->result);
}

void upstream_ready(mcp_server *server)
{
    while (server->discoverers.count > 0) {
        patchbay_call call = server->discoverers.items[--server->discoverers.count];
        finish(server, call, PATCHBAY_RESULT, patchbay_str_of("{}"));
    }
    while (server->phase == PHASE_READY && server->held != NULL) {
        held_call *held = take_held(server);
        forward(server, held->call, &held->request);
        free(held);
    }
}

void upstream_fail_calls(mcp_server *server, const char *reason)
{
    fail_list(server, &server->discoverers, reason);
    fail_list(server, &server->in_flight, reason);
    held_call *held;
    while ((held = take_held(server)) != NULL) {
        finish(server, held->call, PATCHBAY_UNAVAILABLE, patchbay_str_of(reason));
        free(held);
    }
}

void upstream_free_calls(mcp_server *server)
{
    free(server->in_flight.items);
    free(server->discoverers.items);
    while (server->held != NULL) {
        free(take_held(server));
    }
}
