/* SPDX-License-Identifier: Apache-2.0 */
/* The spans of requests and calls. */
#include "base/clock.h"
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

static bool is_of_tool(hub_str method)
{
    return hub_str_is(method, "tools/call");
}

/* Whether the name of what a method is for is told. */
static bool is_named(hub_str method)
{
    return is_of_tool(method) || hub_str_is(method, "prompts/get");
}

/* What the method is for: `name` as the other end knows it. */
static void describe(hub_span *span, hub_str method, hub_str name)
{
    if (is_of_tool(method)) {
        hub_span_add_text(span, HUB_SPAN_TEXT("gen_ai.tool.name"), name);
        hub_span_add_word(span, HUB_SPAN_TEXT("gen_ai.operation.name"), HUB_STR("execute_tool"));
    } else if (is_named(method)) {
        hub_span_add_text(span, HUB_SPAN_TEXT("gen_ai.prompt.name"), name);
    }
}

static void add_network(hub_span *span, const char *transport)
{
    hub_span_add_word(span, HUB_SPAN_TEXT("network.transport"),
                      hub_str_of(hub_metrics_network_of(transport)));
    if (strcmp(transport, "http") == 0 || strcmp(transport, "sse") == 0) {
        hub_span_add_word(span, HUB_SPAN_TEXT("network.protocol.name"), HUB_STR("http"));
    } else if (strcmp(transport, "websocket") == 0) {
        hub_span_add_word(span, HUB_SPAN_TEXT("network.protocol.name"), HUB_STR("websocket"));
    }
}

static void add_session(hub_span *span, const hub_session *session, bool keeps_content)
{
    add_network(span, hub_session_transport(session));
    if (!hub_session_is_one_request(session)) {
        hub_span_add_digits(span, HUB_SPAN_TEXT("mcp.session.id"), hub_session_number(session));
    }
    if (keeps_content) {
        hub_span_add_text(span, HUB_SPAN_TEXT("client.address"),
                          hub_str_of(hub_session_peer(session)));
    }
}

/* Where HTTP says that it came from, which is another matter than the request's own trace. */
static void add_link(hub_span_start *start, const hub_request_context *context)
{
    hub_str header;
    if (context->headers.len > 0 &&
        hub_forwarded_find(context->headers, HUB_STR("traceparent"), &header)) {
        start->has_link = hub_trace_read(hub_str_trim(header), &start->link);
    }
}

/* The state of the parent's trace, which other vendors read, as a raw string. Longer than everybody has to
 * pass on is left out. spec: W3C Trace Context, 3.3.1.5 */
static hub_str state_of(hub_str meta)
{
    enum { MOST = 512 };
    hub_str raw = hub_json_get(meta, HUB_STR("tracestate"));
    hub_str state;
    return hub_json_plain(raw, &state) && state.len > 0 && state.len <= MOST ? raw : HUB_STR_EMPTY;
}

/* A request that may be recorded. */
typedef struct asked {
    const hub_session *session;
    const hub_request_context *context;
    const hub_message *message;
    hub_str method;    /* as its span is named */
    bool is_known;     /* its name is one of few: the span is named by it, too */
    uint64_t since_us; /* monotonic */
} asked;

static void add_request(hub_span *span, const asked *from, hub_str name, bool keeps,
                        hub_buf *memory)
{
    const hub_message *message = from->message;
    describe(span, message->method, name);
    if (hub_str_is(message->method, "resources/read")) {
        hub_span_add_text(span, HUB_SPAN_TEXT("mcp.resource.uri"),
                          uri_shown(shown_raw(message->at[HUB_M_URI], memory), keeps));
    }
    hub_span_add_text(span, HUB_SPAN_TEXT("jsonrpc.request.id"),
                      shown_raw(message->at[HUB_M_ID], memory));
    if (from->context->revision != HUB_REVISION_NONE) {
        hub_span_add_word(span, HUB_SPAN_TEXT("mcp.protocol.version"),
                          hub_str_of(hub_revision_date(from->context->revision)));
    }
    add_session(span, from->session, keeps);
    if (keeps) {
        hub_span_add_content(span, HUB_SPAN_TEXT("gen_ai.tool.call.arguments"),
                             message->at[HUB_M_ARGUMENTS]);
    }
}

/* A SERVER span for a request that was looked at, if it is recorded; else NULL. */
static hub_span *begin_server(hub_telemetry *telemetry, const asked *from)
{
    const hub_message *message = from->message;
    hub_str meta = message->at[HUB_M_META];
    hub_span_start start = {
        .kind = HUB_SPAN_SERVER, .method = message->method, .name = from->method};
    hub_buf memory;
    if (!hub_telemetry_choose(telemetry, meta, &start.own, start.parent_id) ||
        hub_str_starts(message->method, HUB_STR(OWN_METHODS))) {
        return NULL;
    }
    hub_buf_init(&memory, message->whole.len + 1);
    hub_str name =
        is_named(message->method) ? shown_raw(message->at[HUB_M_NAME], &memory) : HUB_STR_EMPTY;
    start.is_remote = start.parent_id[0] != '\0';
    start.state = start.is_remote ? state_of(meta) : HUB_STR_EMPTY;
    start.target = from->is_known ? name : HUB_STR_EMPTY;
    start.begin_us = from->since_us;
    start.begin_ns = hub_clock_wall_ns() - (hub_clock_now_us() - from->since_us) * 1000;
    add_link(&start, from->context);
    hub_span *span = hub_span_create(&start);
    if (span != NULL) {
        add_request(span, from, name, telemetry->settings.keeps_content, &memory);
    }
    hub_buf_fini(&memory);
    return span;
}

/* It is over: send it. NULL is fine. */
static void finish(hub_telemetry *telemetry, hub_span *span, uint64_t now_us)
{
    if (span != NULL) {
        hub_span_end(span, now_us);
        hub_exporter_put(telemetry->exporters[HUB_OTEL_TRACES], &span->text);
        hub_span_destroy(span);
    }
}

/* A message may quote what a client has sent, so it is told only where that is. */
static void fail_by_code(hub_span *span, int64_t code, hub_str message, bool keeps_content)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRId64, code); /* fits */
    hub_span_add_text(span, HUB_SPAN_TEXT("rpc.response.status_code"), hub_str_of(text));
    hub_span_fail(span, hub_str_of(text), keeps_content ? message : HUB_STR_EMPTY);
}

/* ---- requests that are no calls -------------------------------------------------------------- */

void hub_telemetry_answered(const hub_request *request, int code, hub_str message)
{
    hub_telemetry *telemetry = hub_telemetry_of(hub_session_hub(request->session));
    if (!hub_telemetry_look(telemetry, request->message->at[HUB_M_META])) {
        return;
    }
    bool is_anybodys_word = code == HUB_RPC_METHOD_NOT_FOUND;
    bool has_begun = request->call != NULL && hub_call_begin_us(request->call) > 0;
    hub_span *span = begin_server(
        telemetry,
        &(asked){.session = request->session,
                 .context = &request->context,
                 .message = request->message,
                 .method = is_anybodys_word ? HUB_STR("_OTHER") : request->message->method,
                 .is_known = code == 0,
                 .since_us = has_begun ? hub_call_begin_us(request->call) : hub_clock_turn_us()});
    if (span != NULL && code != 0) {
        fail_by_code(span, code, message, telemetry->settings.keeps_content);
    }
    finish(telemetry, span, hub_clock_now_us());
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Apart, so that a call that is not recorded has no stack to prepare for it. */
__attribute__((noinline)) static hub_verdict begin_call(hub_telemetry *telemetry, hub_call *call,
                                                        const hub_way *way)
{
    hub_span *span = begin_server(telemetry, &(asked){.session = hub_call_session(call),
                                                      .context = hub_call_context(call),
                                                      .message = way->message,
                                                      .method = way->message->method,
                                                      .is_known = true,
                                                      .since_us = hub_clock_turn_us()});
    if (span == NULL) {
        return HUB_PASS;
    }
    call_spans *part = hub_call_part_of(call, &HUB_TELEMETRY_STATION);
    hub_span_add_text(span, HUB_SPAN_TEXT("patchbay.toolset"),
                      hub_str_of(hub_toolset_key(way->toolset)));
    part->telemetry = telemetry;
    part->server = span;
    hub_call_set_trace(call, &span->own);
    return HUB_GO_ON;
}

hub_verdict hub_telemetry_begin(hub_call *call, hub_way *way)
{
    hub_telemetry *telemetry = hub_telemetry_of(hub_toolset_hub(way->toolset));
    bool is_passed = hub_call_session(call) == NULL ||
                     !hub_telemetry_look(telemetry, way->message->at[HUB_M_META]);
    return is_passed ? HUB_PASS : begin_call(telemetry, call, way);
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
    hub_span_add_text(span, HUB_SPAN_TEXT("server.address"), split_port(rest, &port));
    hub_span_add_digits(span, HUB_SPAN_NUMBER("server.port"), port);
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
        hub_span_add_text(span, HUB_SPAN_TEXT("server.address"), hub_str_from(url, local.len));
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
    bool is_followed = !has_meta && hub_str_skip_space(behind).ptr[0] != '}';
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
    hub_telemetry *telemetry = part->telemetry;
    const hub_span *server = part->server;
    const hub_message *message = way->message;
    hub_span_start start = {.own = hub_telemetry_next(telemetry, &server->own),
                            .kind = HUB_SPAN_CLIENT,
                            .state = hub_span_state(server),
                            .method = message->method,
                            .name = message->method,
                            .target = is_named(message->method) ? way->name : HUB_STR_EMPTY,
                            .begin_us = hub_clock_now_us()};
    memcpy(start.parent_id, server->own.span_id, sizeof start.parent_id);
    /* By one clock, whatever becomes of the other. */
    start.begin_ns = server->begin_ns + (start.begin_us - server->begin_us) * 1000;
    hub_span *span = hub_span_create(&start);
    if (span == NULL) {
        return HUB_GO_ON;
    }
    describe(span, message->method, way->name);
    if (hub_str_is(message->method, "resources/read")) {
        hub_span_add_text(span, HUB_SPAN_TEXT("mcp.resource.uri"),
                          uri_shown(way->name, telemetry->settings.keeps_content));
    }
    hub_span_add_digits(span, HUB_SPAN_TEXT("jsonrpc.request.id"), hub_call_id(call));
    hub_span_add_text(span, HUB_SPAN_TEXT("mcp.protocol.version"),
                      hub_str_of(hub_toolset_health_of(way->toolset)->protocol));
    add_server(span, way->toolset);
    hub_span_add_text(span, HUB_SPAN_TEXT("patchbay.toolset"),
                      hub_str_of(hub_toolset_key(way->toolset)));
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
        hub_span_add_content(span, HUB_SPAN_TEXT("gen_ai.tool.call.result"), outcome->json);
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
