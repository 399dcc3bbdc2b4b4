/* SPDX-License-Identifier: Apache-2.0 */
/* The spans of requests and calls. */
#include "base/clock.h"
#include "base/limits.h"
#include "hub/audit/audit.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"
#include "hub/metrics/metrics.h"
#include "hub/telemetry/telemetry_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* What is between hubs alone is nobody's trace. */
#define OWN_METHODS "patchbay/"

/* ---- what a request is ----------------------------------------------------------------------- */

/* Append a raw string decoded; anything else as it is written. */
static hub_str shown_raw(hub_str raw, hub_buf *memory)
{
    hub_str text;
    if (hub_json_type_of(raw) != HUB_JSON_STRING) {
        return raw;
    }
    if (hub_json_plain(raw, &text)) {
        return text;
    }
    hub_buf_clear(memory);
    return hub_json_decode(raw, memory) == HUB_OK ? hub_buf_str(memory) : HUB_STR_EMPTY;
}

/* Query and fragment of a URI may hold what is nobody's business. */
static hub_str uri_shown(hub_str uri, bool keeps_content)
{
    for (size_t i = 0; i < uri.len && !keeps_content; i++) {
        if (uri.ptr[i] == '?' || uri.ptr[i] == '#') {
            uri.len = i;
        }
    }
    return uri;
}

/* The key under which the name of what a method is for is told; NULL: none is. */
static const char *name_key(hub_str method)
{
    if (hub_str_is(method, "tools/call")) {
        return "gen_ai.tool.name";
    }
    return hub_str_is(method, "prompts/get") ? "gen_ai.prompt.name" : NULL;
}

/* The method, and what it is for: `name` as the other end knows it. With `is_known` that is one of few,
 * and the span is named by it, too. */
static void describe(hub_span *span, hub_str method, hub_str name, bool is_known)
{
    const char *key = name_key(method);
    hub_span_set_name(span, method, key != NULL && is_known ? name : HUB_STR_EMPTY);
    hub_span_add_text(span, "mcp.method.name", method);
    if (key != NULL) {
        hub_span_add_text(span, key, name);
    }
    if (hub_str_is(method, "tools/call")) {
        hub_span_add_word(span, "gen_ai.operation.name", HUB_STR("execute_tool"));
    }
}

static void add_network(hub_span *span, const char *transport)
{
    hub_span_add_word(span, "network.transport", hub_str_of(hub_metrics_network_of(transport)));
    if (strcmp(transport, "http") == 0 || strcmp(transport, "sse") == 0) {
        hub_span_add_word(span, "network.protocol.name", HUB_STR("http"));
    } else if (strcmp(transport, "websocket") == 0) {
        hub_span_add_word(span, "network.protocol.name", HUB_STR("websocket"));
    }
}

static void add_session(hub_span *span, const hub_session *session, bool keeps_content)
{
    add_network(span, hub_session_transport(session));
    if (!hub_session_is_one_request(session)) {
        hub_span_add_digits(span, "mcp.session.id", hub_session_number(session));
    }
    if (keeps_content) {
        hub_span_add_text(span, "client.address", hub_str_of(hub_session_peer(session)));
    }
}

/* Where HTTP says that it came from, which is another matter than the request's own trace. */
static void add_link(hub_span *span, const hub_request_context *context)
{
    hub_str header;
    if (context->headers.len > 0 &&
        hub_forwarded_find(context->headers, HUB_STR("traceparent"), &header)) {
        span->has_link = hub_trace_read(hub_str_trim(header), &span->link);
    }
}

/* The state of the parent's trace, which other vendors read. Longer than everybody has to pass on is
 * left out. spec: W3C Trace Context, 3.3.1.5 */
static void add_state(hub_span *span, hub_str meta)
{
    enum { MOST = 512 };
    hub_str state;
    if (span->is_remote && hub_json_plain(hub_json_get(meta, HUB_STR("tracestate")), &state) &&
        state.len <= MOST) {
        hub_buf_add(&span->state, state);
    }
}

/* A SERVER span for a request that was looked at, if it is recorded; else NULL. */
static hub_span *begin_server(hub_telemetry *telemetry, const hub_session *session,
                              const hub_request_context *context, const hub_message *message,
                              bool is_known)
{
    bool keeps = telemetry->settings.keeps_content;
    hub_str meta = message->at[HUB_M_META];
    char parent[HUB_SPAN_ID_BYTES];
    hub_trace own;
    if (hub_str_starts(message->method, HUB_STR(OWN_METHODS)) ||
        !hub_telemetry_choose(telemetry, meta, &own, parent)) {
        return NULL;
    }
    hub_span *span = hub_span_create(&own, HUB_SPAN_SERVER);
    if (span == NULL) {
        return NULL;
    }
    hub_buf memory;
    hub_buf_init(&memory, message->whole.len + 1);
    memcpy(span->parent_id, parent, sizeof parent);
    span->is_remote = parent[0] != '\0';
    add_state(span, meta);
    add_link(span, context);
    describe(span, message->method, shown_raw(message->at[HUB_M_NAME], &memory), is_known);
    if (hub_str_is(message->method, "resources/read")) {
        hub_span_add_text(span, "mcp.resource.uri",
                          uri_shown(shown_raw(message->at[HUB_M_URI], &memory), keeps));
    }
    hub_span_add_text(span, "jsonrpc.request.id", shown_raw(message->at[HUB_M_ID], &memory));
    if (context->revision != HUB_REVISION_NONE) {
        hub_span_add_word(span, "mcp.protocol.version",
                          hub_str_of(hub_revision_date(context->revision)));
    }
    add_session(span, session, keeps);
    if (keeps) {
        hub_span_add_content(span, "gen_ai.tool.call.arguments", message->at[HUB_M_ARGUMENTS]);
    }
    hub_buf_fini(&memory);
    return span;
}

/* It is over: send it. NULL is fine. */
static void finish(hub_telemetry *telemetry, hub_span *span, uint64_t now_us)
{
    hub_buf text;
    if (span != NULL) {
        hub_buf_init(&text, SIZE_MAX / 4);
        hub_span_write(span, now_us, &text);
        hub_exporter_put(telemetry->exporters[HUB_OTEL_TRACES], &text);
        hub_span_destroy(span);
    }
}

/* A message may quote what a client has sent, so it is told only where that is. */
static void fail_by_code(hub_span *span, int64_t code, hub_str message, bool keeps_content)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRId64, code); /* fits */
    hub_span_add_text(span, "rpc.response.status_code", hub_str_of(text));
    hub_span_fail(span, hub_str_of(text), keeps_content ? message : HUB_STR_EMPTY);
}

/* ---- requests that are no calls -------------------------------------------------------------- */

void hub_telemetry_answered(const hub_request *request, int code, hub_str message)
{
    hub_telemetry *telemetry = hub_telemetry_of(hub_session_hub(request->session));
    hub_span *span = hub_telemetry_look(telemetry, request->message->at[HUB_M_META])
                         ? begin_server(telemetry, request->session, &request->context,
                                        request->message, code == 0)
                         : NULL;
    if (span == NULL) {
        return;
    }
    uint64_t now_us = hub_clock_now_us();
    uint64_t since_us = request->call != NULL && hub_call_begin_us(request->call) > 0
                            ? hub_call_begin_us(request->call)
                            : hub_clock_turn_us();
    if (since_us < now_us) { /* it is answered already */
        span->begin_ns -= (now_us - since_us) * 1000;
        span->begin_us = since_us;
    }
    if (code == HUB_RPC_METHOD_NOT_FOUND) {
        hub_span_set_name(span, HUB_STR("_OTHER"), HUB_STR_EMPTY); /* anybody's word */
    }
    if (code != 0) {
        fail_by_code(span, code, message, telemetry->settings.keeps_content);
    }
    finish(telemetry, span, now_us);
}

/* ---- calls ----------------------------------------------------------------------------------- */

hub_verdict hub_telemetry_begin(hub_call *call, hub_way *way)
{
    hub_telemetry *telemetry = hub_telemetry_of(hub_toolset_hub(way->toolset));
    const hub_session *session = hub_call_session(call);
    if (session == NULL || !hub_telemetry_look(telemetry, way->message->at[HUB_M_META])) {
        return HUB_PASS;
    }
    hub_span *span = begin_server(telemetry, session, hub_call_context(call), way->message, true);
    if (span == NULL) {
        return HUB_PASS;
    }
    call_spans *part = hub_call_part_of(call, &HUB_TELEMETRY_STATION);
    hub_span_add_text(span, "patchbay.toolset", hub_str_of(hub_toolset_key(way->toolset)));
    part->telemetry = telemetry;
    part->server = span;
    hub_call_set_trace(call, &span->own);
    return HUB_GO_ON;
}

/* The host of an authority, and its port if it says one. */
static hub_str split_port(hub_str authority, uint64_t *port)
{
    size_t digits = authority.len;
    while (digits > 0 && authority.ptr[digits - 1] >= '0' && authority.ptr[digits - 1] <= '9') {
        digits--;
    }
    if (digits > 0 && digits < authority.len && authority.ptr[digits - 1] == ':') {
        (void)hub_json_to_u64(hub_str_from(authority, digits), port); /* digits are a number */
        authority.len = digits - 1;
    }
    return authority;
}

/* Host and port of what follows "://"; never who logs in there. */
static void add_address(hub_span *span, hub_str rest, uint64_t port)
{
    for (size_t i = 0; i < rest.len; i++) {
        if (rest.ptr[i] == '/' || rest.ptr[i] == '?' || rest.ptr[i] == '#') {
            rest.len = i;
        }
    }
    const char *user = rest.len > 0 ? memchr(rest.ptr, '@', rest.len) : NULL;
    rest = user != NULL ? hub_str_between(user + 1, rest.ptr + rest.len) : rest;
    hub_span_add_text(span, "server.address", split_port(rest, &port));
    hub_span_add_number(span, "server.port", (int64_t)port);
}

/* Where the server behind a toolset is: a child at the other end of pipes, or what its URL says. */
static void add_server(hub_span *span, const hub_toolset *toolset)
{
    static const struct {
        const char *scheme;
        const char *transport;
        uint64_t port;
    } ROWS[] = {{"http://", "http", 80},
                {"https://", "http", 443},
                {"ws://", "websocket", 80},
                {"wss://", "websocket", 443}};
    hub_str config = hub_str_of(hub_toolset_settings_of(toolset)->config_json);
    hub_str local = HUB_STR("unix://");
    hub_str url = HUB_STR_EMPTY;
    if (!hub_json_plain(hub_json_get(config, HUB_STR("url")), &url)) {
        add_network(span, "stdio");
    } else if (hub_str_starts(url, local)) {
        add_network(span, "unix");
        hub_span_add_text(span, "server.address", hub_str_from(url, local.len));
    }
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        hub_str scheme = hub_str_of(ROWS[i].scheme);
        if (hub_str_starts(url, scheme)) {
            add_network(span, ROWS[i].transport);
            add_address(span, hub_str_from(url, scheme.len), ROWS[i].port);
        }
    }
}

/* Where a slice of the params lies in the text that has taken their place: what is before and behind
 * `gone` was moved there as it is. */
static hub_str moved(hub_str slice, hub_str params, hub_str gone, hub_str text)
{
    hub_str before = hub_str_between(params.ptr, gone.ptr);
    hub_str behind = hub_str_between(gone.ptr + gone.len, params.ptr + params.len);
    hub_str found = hub_str_moved(slice, before, text.ptr);
    return found.ptr != slice.ptr ? found
                                  : hub_str_moved(slice, behind, text.ptr + text.len - behind.len);
}

/* The params with the span's traceparent in their `_meta`; other bytes stay as they are. */
static void inject(call_spans *part, patchbay_request *request, bool belongs)
{
    hub_str params = request->params_json;
    hub_str meta = request->meta_json;
    bool has_meta = meta.len > 0;
    if (has_meta && hub_json_type_of(meta) != HUB_JSON_OBJECT) {
        return; /* its receiver says what is wrong with it */
    }
    hub_str gone = has_meta ? meta : (hub_str){.ptr = params.ptr + 1, .len = 0};
    hub_str behind = hub_str_between(gone.ptr + gone.len, params.ptr + params.len);
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 4);
    hub_buf_add(&text, hub_str_between(params.ptr, gone.ptr));
    hub_buf_add(&text, has_meta ? HUB_STR_EMPTY : HUB_STR("\"_meta\":"));
    size_t meta_at = text.len;
    hub_trace_add_meta(&text, meta, &part->client->own, belongs);
    size_t meta_len = text.len - meta_at;
    bool is_followed = !has_meta && hub_json_count(params) > 0;
    hub_buf_add(&text, is_followed ? HUB_STR(",") : HUB_STR_EMPTY);
    hub_buf_add(&text, behind);
    size_t len = text.len;
    part->params = hub_buf_take(&text);
    hub_buf_fini(&text);
    if (part->params != NULL) { /* else it goes on as it is */
        hub_str made = {.ptr = part->params, .len = len};
        request->args_json = moved(request->args_json, params, gone, made);
        request->name_json = moved(request->name_json, params, gone, made);
        request->params_json = made;
        request->meta_json = (hub_str){.ptr = made.ptr + meta_at, .len = meta_len};
    }
}

hub_verdict hub_telemetry_hand_over(hub_call *call, hub_handover *handover)
{
    call_spans *part = hub_call_find_part(call, &HUB_TELEMETRY_STATION);
    const hub_way *way = handover->way;
    if (part == NULL || part->client != NULL || hub_toolset_is_native(way->toolset)) {
        return HUB_GO_ON;
    }
    hub_telemetry *telemetry = hub_telemetry_of(hub_toolset_hub(way->toolset));
    hub_trace own = hub_telemetry_next(telemetry, &part->server->own);
    hub_span *span = hub_span_create(&own, HUB_SPAN_CLIENT);
    if (span == NULL) {
        return HUB_GO_ON;
    }
    const char *protocol = hub_toolset_health_of(way->toolset)->protocol;
    /* By one clock, whatever becomes of the other. */
    span->begin_ns = part->server->begin_ns + (span->begin_us - part->server->begin_us) * 1000;
    memcpy(span->parent_id, part->server->own.span_id, sizeof span->parent_id);
    if (part->server->state.len > 0) {
        hub_buf_add(&span->state, hub_buf_str(&part->server->state));
    }
    describe(span, way->message->method, way->name, true);
    if (hub_str_is(way->message->method, "resources/read")) {
        hub_span_add_text(span, "mcp.resource.uri",
                          uri_shown(way->name, telemetry->settings.keeps_content));
    }
    hub_span_add_digits(span, "jsonrpc.request.id", hub_call_id(call));
    hub_span_add_text(span, "mcp.protocol.version", hub_str_of(protocol));
    add_server(span, way->toolset);
    hub_span_add_text(span, "patchbay.toolset", hub_str_of(hub_toolset_key(way->toolset)));
    part->client = span;
    inject(part, &handover->request, part->server->is_remote);
    return HUB_GO_ON;
}

/* What an outcome says of a span. */
static void conclude(hub_span *span, const hub_call *call, const hub_outcome *outcome, bool keeps)
{
    const char *word = hub_audit_outcome_word(call, outcome);
    int64_t code = 0;
    hub_buf memory;
    hub_buf_init(&memory, SIZE_MAX / 4);
    if (outcome != NULL && outcome->status == PATCHBAY_RPC_ERROR &&
        hub_json_to_i64(hub_json_get(outcome->json, HUB_STR("code")), &code)) {
        fail_by_code(span, code,
                     shown_raw(hub_json_get(outcome->json, HUB_STR("message")), &memory), keeps);
    } else if (strcmp(word, "ok") != 0) {
        bool is_text = keeps && outcome != NULL && outcome->status != PATCHBAY_RESULT;
        hub_span_fail(span, hub_str_of(word), is_text ? outcome->json : HUB_STR_EMPTY);
    } else if (keeps && span->kind == HUB_SPAN_SERVER && hub_call_is_of_tool(call)) {
        hub_span_add_content(span, "gen_ai.tool.call.result", outcome->json);
    }
    hub_buf_fini(&memory);
}

void hub_telemetry_end(hub_call *call, const hub_outcome *outcome)
{
    call_spans *part = hub_call_find_part(call, &HUB_TELEMETRY_STATION);
    if (part == NULL || part->server == NULL) {
        return;
    }
    hub_telemetry *telemetry = part->telemetry;
    uint64_t now_us = hub_clock_now_us();
    if (part->client != NULL) {
        conclude(part->client, call, outcome, telemetry->settings.keeps_content);
    }
    conclude(part->server, call, outcome, telemetry->settings.keeps_content);
    finish(telemetry, part->client, now_us);
    finish(telemetry, part->server, now_us);
    part->client = NULL;
    part->server = NULL;
    hub_call_set_trace(call, NULL);
}

void hub_telemetry_drop(hub_call *call)
{
    call_spans *part = hub_call_find_part(call, &HUB_TELEMETRY_STATION);
    if (part != NULL) {
        hub_span_destroy(part->client); /* of a call that never ended; mostly NULL */
        hub_span_destroy(part->server);
        free(part->params);
    }
}
