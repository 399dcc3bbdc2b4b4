/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/respond.h"

#include "base/limits.h"
#include "base/log.h"
#include "hub/kernel/objects.h"
#include "hub/kernel/session.h"
#include "hub/kernel/transport.h"
#include "redact/redact.h"
#include "tools/suspects.h"

static void send_message(hub_port *port, const hub_outgoing *message)
{
    hub_err err = port->ops->send(port, message);
    if (err != HUB_OK) {
        hub_log(HUB_LOG_DEBUG, "client.dropped", HUB_F_TEXT("reason", hub_err_name(err)));
    }
}

static void send_answer(hub_port *port, const hub_str *parts, size_t count, int code)
{
    send_message(port, &(hub_outgoing){.parts = parts, .count = count, .last = true, .code = code});
}

/* When to try again, as the data of an error say it: in seconds, perhaps a fraction. An error may be
 * a server's own, so there may be anything. */
static uint32_t retry_s_of(hub_str data)
{
    hub_str text = hub_json_get(data, HUB_STR("retryAfter"));
    uint32_t seconds = 0;
    size_t at = 0;
    for (; at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9'; at++) {
        if (seconds < HUB_LIMIT_RETRY_S) {
            seconds = seconds * 10 + (uint32_t)(text.ptr[at] - '0');
        }
    }
    while (at < text.len && (text.ptr[at] == '.' || text.ptr[at] == '0')) {
        at++;
    }
    seconds += at < text.len; /* rounded up */
    if (seconds == 0) {
        return 1;
    }
    return seconds < HUB_LIMIT_RETRY_S ? seconds : HUB_LIMIT_RETRY_S;
}

static void send_error(hub_port *port, const hub_str *parts, size_t count, int code, hub_str data)
{
    send_message(port, &(hub_outgoing){
                           .parts = parts,
                           .count = count,
                           .last = true,
                           .code = code,
                           .retry_s = code == HUB_RPC_OVERLOADED ? retry_s_of(data) : 0,
                       });
}

/* Stations that want to know what became of a request. One that nobody has is a stream's, which ends. */
static void tell_answered(const hub_request *request, int code, hub_str message)
{
    if (request->session == NULL) {
        return;
    }
    hub_station_mask left = request->session->profile->hub->wanted & hub_stations_told_answers();
    for (; left != 0; left &= left - 1) {
        hub_stations_at((size_t)__builtin_ctzll(left))->answered(request, code, message);
    }
}

void hub_respond_result(const hub_request *request, hub_str result)
{
    hub_str parts[HUB_FRAME_PARTS];
    size_t count = hub_dialect_result(request->context.era, request->message->at[HUB_M_ID], result,
                                      false, parts);
    tell_answered(request, 0, HUB_STR_EMPTY);
    send_answer(request->port, parts, count, 0);
}

void hub_respond_list(const hub_request *request, hub_str key, const hub_lent *items, hub_str tail)
{
    hub_str parts[HUB_FRAME_PARTS];
    size_t count = hub_dialect_list(request->context.era, request->message->at[HUB_M_ID], key,
                                    items->spans, items->span_count, tail, parts);
    tell_answered(request, 0, HUB_STR_EMPTY);
    send_message(request->port,
                 &(hub_outgoing){.parts = parts, .count = count, .lent = items, .last = true});
}

/* An answer that takes no memory, when there was none for the right one. */
static void respond_no_memory(hub_port *port, hub_revision revision, hub_str id)
{
    hub_str parts[HUB_FRAME_PARTS];
    size_t count = hub_dialect_error(
        revision, id, HUB_STR("{\"code\":-32603,\"message\":\"out of memory\"}"), parts);
    send_answer(port, parts, count, HUB_RPC_INTERNAL_ERROR);
}

static void respond_error(hub_port *port, hub_revision revision, hub_str id, int code,
                          hub_str message, hub_str data)
{
    hub_buf error;
    hub_buf shown; /* it quotes what was sent, maybe with characters that nobody sees */
    hub_buf_init(&error, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_init(&shown, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_suspects_add_visible(message, &shown);
    hub_dialect_add_error(&error, code, hub_buf_str(&shown), data);
    if (hub_buf_ok(&error) && hub_buf_ok(&shown)) {
        hub_str parts[HUB_FRAME_PARTS];
        size_t count = hub_dialect_error(revision, id, hub_buf_str(&error), parts);
        send_error(port, parts, count, code, data);
    } else {
        respond_no_memory(port, revision, id);
    }
    hub_buf_fini(&shown);
    hub_buf_fini(&error);
}

void hub_respond_error(const hub_request *request, int code, hub_str message, hub_str data)
{
    tell_answered(request, code, message);
    respond_error(request->port, request->context.revision, request->message->at[HUB_M_ID], code,
                  message, data);
}

void hub_respond_add_overload(hub_buf *data, hub_str limit, uint32_t wait_ms)
{
    hub_buf_add_char(data, '{');
    if (limit.len > 0) {
        hub_buf_add(data, HUB_STR("\"limit\":"));
        hub_json_add_string(data, limit);
        hub_buf_add_char(data, ',');
    }
    /* In seconds, as HTTP's header of that name. */
    hub_buf_printf(data, "\"retryAfter\":%u.%03u,\"retryable\":true}", wait_ms / 1000,
                   wait_ms % 1000);
}

void hub_respond_overload(const hub_request *request, const char *limit, hub_str text,
                          uint32_t wait_ms)
{
    hub_buf data;
    hub_buf_init(&data, HUB_LIMIT_LOG_LINE_BYTES);
    hub_respond_add_overload(&data, limit != NULL ? hub_str_of(limit) : HUB_STR_EMPTY, wait_ms);
    request->session->profile->hub->refused++;
    hub_request_refuse(request);
    hub_respond_error(request, HUB_RPC_OVERLOADED, text,
                      hub_buf_ok(&data) ? hub_buf_str(&data) : HUB_STR_EMPTY);
    hub_buf_fini(&data);
}

/* Too many are in flight: of the session, of its principal, or of all. */
static void respond_too_many(const hub_request *request)
{
    const hub_session *session = request->session;
    const hub_limits *limits = &session->profile->hub->settings->limits;
    const char *limit = NULL;
    uint32_t most = 0;
    if (hub_session_client_in_flight(session) >= limits->calls_per_session) {
        limit = "limits.calls_per_session";
        most = limits->calls_per_session;
    } else if (!hub_session_has_place(session)) {
        limit = "limits.calls_per_principal";
        most = limits->calls_per_principal;
    }
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_add(&text, HUB_STR("too many requests in flight"));
    if (limit != NULL) {
        hub_buf_printf(&text, " (%s: %u)", limit, most);
    }
    hub_buf_add(&text, HUB_STR(": wait for an answer, then try again"));
    hub_respond_overload(request, limit, hub_buf_str(&text), HUB_LIMIT_RETRY_MS);
    hub_buf_fini(&text);
}

void hub_respond_refusal(const hub_request *request, hub_err err)
{
    switch (err) {
    case HUB_EEXIST:
        hub_request_refuse(request);
        hub_respond_error(request, HUB_RPC_INVALID_REQUEST,
                          HUB_STR("a request with this id is in flight already"), HUB_STR_EMPTY);
        break;
    case HUB_ELIMIT:
        respond_too_many(request);
        break;
    default:
        hub_request_refuse(request);
        hub_respond_error(request, HUB_RPC_INTERNAL_ERROR, hub_str_of(hub_err_text(err)),
                          HUB_STR_EMPTY);
    }
}

void hub_respond_fault(hub_session *session, hub_port *port, hub_str id, int code, hub_str message)
{
    respond_error(port, session->revision, id, code, message, HUB_STR_EMPTY);
}

void hub_respond_notify(hub_port *port, hub_str method, hub_str params)
{
    hub_str parts[5];
    size_t n = 0;
    parts[n++] = HUB_STR("{\"jsonrpc\":\"2.0\",\"method\":\"");
    parts[n++] = method;
    parts[n++] = params.len > 0 ? HUB_STR("\",\"params\":") : HUB_STR("\"");
    parts[n++] = params;
    parts[n++] = HUB_STR("}");
    send_message(port, &(hub_outgoing){.parts = parts, .count = n});
}

hub_str hub_respond_mask(hub_str text, hub_buf *memory)
{
    if (!hub_redact(text, memory)) {
        return text;
    }
    return hub_buf_ok(memory) ? hub_buf_str(memory) : HUB_STR(HUB_REDACTED);
}

void hub_respond_add_tool_error(hub_buf *out, const char *code, hub_str message, bool retryable,
                                bool structured)
{
    hub_buf error;
    hub_buf masked;
    hub_buf_init(&error, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_init(&masked, SIZE_MAX / 4);
    message = hub_respond_mask(message, &masked);
    hub_buf_printf(&error, "{\"code\":\"%s\",\"message\":", code);
    hub_json_add_string(&error, message);
    hub_buf_printf(&error, ",\"retryable\":%s}", retryable ? "true" : "false");

    hub_buf_add(out, HUB_STR("{\"content\":[{\"type\":\"text\",\"text\":"));
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_printf(&text, "%s: ", code);
    hub_buf_add(&text, message);
    hub_json_add_string(out, hub_buf_str(&text));
    hub_buf_add(out, HUB_STR("}],\"isError\":true"));
    if (structured) {
        hub_buf_add(out, HUB_STR(",\"structuredContent\":"));
        hub_buf_add(out, hub_buf_str(&error));
    }
    hub_buf_add(out, HUB_STR(",\"_meta\":{\"patchbay/error\":"));
    hub_buf_add(out, hub_buf_str(&error));
    hub_buf_add(out, HUB_STR("}}"));
    if (!hub_buf_ok(&error) || !hub_buf_ok(&text)) {
        out->failed = HUB_ENOMEM;
    }
    hub_buf_fini(&text);
    hub_buf_fini(&masked);
    hub_buf_fini(&error);
}

/* Of results that the hub has made itself. Almost none has the member: looking for its name is cheaper than reading the result, and
 * looking for its one capital is cheaper still. */
static bool names_is_error(hub_str result)
{
    static const hub_str after = {.ptr = "Error\"", .len = 6};
    const char *end = result.ptr + result.len;
    for (const char *at = result.ptr; at < end; at++) {
        at = memchr(at, 'E', (size_t)(end - at));
        if (at == NULL) {
            return false;
        }
        if (hub_str_starts(hub_str_between(at, end), after)) {
            return true;
        }
    }
    return false;
}

bool hub_outcome_is_error(const hub_call *call, const hub_outcome *outcome)
{
    if (outcome->status != PATCHBAY_RESULT) {
        return true;
    }
    hub_str result = outcome->json;
    if (outcome->judged != NULL && outcome->judged == result.ptr) {
        return call->is_tool_call && outcome->is_error;
    }
    return call->is_tool_call && names_is_error(result) &&
           hub_json_type_of(hub_json_get(result, HUB_STR("isError"))) == HUB_JSON_TRUE;
}

static hub_tool_error tool_error_of(int32_t status)
{
    switch (status) {
    case PATCHBAY_NOT_IMPLEMENTED:
        return HUB_TOOL_NOT_IMPLEMENTED;
    case PATCHBAY_INVALID_INPUT:
        return HUB_TOOL_INVALID_INPUT;
    case PATCHBAY_UNAVAILABLE:
        return HUB_TOOL_UNAVAILABLE;
    default:
        return HUB_TOOL_EXECUTION_FAILED;
    }
}

void hub_respond_add_cause(hub_buf *data, int32_t status)
{
    hub_tool_error error = tool_error_of(status);
    hub_buf_printf(data, "\"code\":\"%s\",\"retryable\":%s", hub_tool_error_code(error),
                   hub_tool_error_retryable(error) ? "true" : "false");
}

static int rpc_error_of(int32_t status)
{
    switch (status) {
    case PATCHBAY_NOT_IMPLEMENTED:
        return HUB_RPC_METHOD_NOT_FOUND;
    case PATCHBAY_INVALID_INPUT:
        return HUB_RPC_INVALID_PARAMS;
    case PATCHBAY_UNAVAILABLE:
        return HUB_RPC_UNAVAILABLE;
    default:
        return HUB_RPC_INTERNAL_ERROR;
    }
}

static void respond_tool_failure(const hub_call *call, const hub_outcome *outcome)
{
    hub_tool_error error = tool_error_of(outcome->status);
    hub_buf result;
    hub_buf_init(&result, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_respond_add_tool_error(&result, hub_tool_error_code(error), outcome->json,
                               hub_tool_error_retryable(error), call->structured_errors);
    if (hub_buf_ok(&result)) {
        hub_str parts[HUB_FRAME_PARTS];
        size_t count = hub_dialect_result(call->context.era, call->client_id, hub_buf_str(&result),
                                          false, parts);
        send_answer(call->port, parts, count, 0);
    } else {
        respond_no_memory(call->port, call->context.revision, call->client_id);
    }
    hub_buf_fini(&result);
}

/* The code of an error object that was checked. */
static int code_of(hub_str error)
{
    int64_t code = HUB_RPC_INTERNAL_ERROR;
    (void)hub_json_to_i64(hub_json_get(error, HUB_STR("code")), &code);
    return (int)code;
}

/* The error of a resource that is not there, in the code of the client's revisions; the rest of the
 * error stays. -32602 means other things, too: then its data name no URI.
 * spec: MCP 2026-07-28 server/resources, Error Handling; 2025-11-25 likewise */
static hub_str translate_missing(const hub_call *call, hub_str error, hub_buf *text)
{
    hub_str code = hub_json_get(error, HUB_STR("code"));
    hub_str uri = hub_json_get(hub_json_get(error, HUB_STR("data")), HUB_STR("uri"));
    int is = code_of(error);
    int wanted = hub_rpc_no_resource(call->context.era);
    bool is_missing =
        is == HUB_RPC_NO_RESOURCE_LEGACY || (is == HUB_RPC_INVALID_PARAMS && call->is_reading &&
                                             hub_json_type_of(uri) == HUB_JSON_STRING);
    if (!is_missing || is == wanted) {
        return error;
    }
    hub_buf_add(text, hub_str_between(error.ptr, code.ptr));
    hub_buf_printf(text, "%d", wanted);
    hub_buf_add(text, hub_str_between(code.ptr + code.len, error.ptr + error.len));
    return hub_buf_ok(text) ? hub_buf_str(text) : error;
}

static void respond_rpc_error(const hub_call *call, hub_str error, bool is_refused)
{
    hub_str parts[HUB_FRAME_PARTS];
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 2);
    error = translate_missing(call, error, &text);
    size_t count = hub_dialect_error(call->context.revision, call->client_id, error, parts);
    int code = code_of(error);
    /* To a transport the one would say that the hub does not know the client's method, the other
     * that the hub asks for a credential: a server cannot. */
    bool is_servers =
        code == HUB_RPC_METHOD_NOT_FOUND || (code == HUB_RPC_INSUFFICIENT_SCOPE && !is_refused);
    send_error(call->port, parts, count, is_servers ? 0 : code,
               hub_json_get(error, HUB_STR("data")));
    hub_buf_fini(&text);
}

/* A failure in plain text: of the hub, or of a plugin that quotes others. */
static void respond_failure(const hub_call *call, const hub_outcome *outcome)
{
    if (call->is_tool_call) {
        respond_tool_failure(call, outcome);
        return;
    }
    hub_buf masked;
    hub_buf data;
    hub_buf_init(&masked, SIZE_MAX / 4);
    hub_buf_init(&data, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_add_char(&data, '{');
    hub_respond_add_cause(&data, outcome->status);
    hub_buf_add_char(&data, '}');
    respond_error(call->port, call->context.revision, call->client_id,
                  rpc_error_of(outcome->status), hub_respond_mask(outcome->json, &masked),
                  hub_buf_ok(&data) ? hub_buf_str(&data) : HUB_STR_EMPTY);
    hub_buf_fini(&data);
    hub_buf_fini(&masked);
}

void hub_respond_outcome(const hub_call *call, const hub_outcome *outcome)
{
    hub_str parts[HUB_FRAME_PARTS];
    size_t count;
    switch (outcome->status) {
    case PATCHBAY_RESULT:
        count =
            call->is_reading && call->context.era == HUB_ERA_MODERN
                ? hub_dialect_cacheable(call->client_id, outcome->json, outcome->has_type, parts)
                : hub_dialect_result(call->context.era, call->client_id, outcome->json,
                                     outcome->has_type, parts);
        send_answer(call->port, parts, count, 0);
        return;
    case PATCHBAY_RPC_ERROR:
        respond_rpc_error(call, outcome->json, outcome->is_refused);
        return;
    default:
        respond_failure(call, outcome);
    }
}
