/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/router/router.h"

#include "base/clock.h"
#include "base/limits.h"
#include "hub/admin/act.h"
#include "hub/admin/admin.h"
#include "hub/ask/ask.h"
#include "hub/ask/roots.h"
#include "hub/catalogs/discovery.h"
#include "hub/catalogs/parking.h"
#include "hub/content/content.h"
#include "hub/forward/forward.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/way.h"
#include "hub/notices/listen.h"
#include "hub/notices/logging.h"
#include "hub/notices/notifier.h"
#include "hub/notices/subscription.h"
#include "hub/remember/remember.h"
#include "hub/report/status.h"
#include "hub/report/unknown.h"
#include "hub/results/read.h"
#include "hub/router/binding_events.h"
#include "hub/router/listing.h"
#include "hub/router/meta_tools.h"
#include "hub/router/own_tools.h"
#include "hub/router/through.h"
#include "hub/skills/skills.h"
#include "hub/tasks/tasks.h"

enum {
    LEGACY = 1,
    MODERN = 2,
    BOTH = LEGACY | MODERN,
    NEWEST_LEGACY = 4, /* the newest of these revisions alone */
};

typedef struct method_row {
    hub_str name;
    int dialects;
    void (*handle)(const hub_request *request);
    bool shows; /* tells what there is, as hubs ask their upstreams */
} method_row;

/* ---- tools ----------------------------------------------------------------------------------- */

/* Whether what is listed of that kind depends on what servers say. */
static bool waits_for_servers(const hub_session *session, hub_kind kind)
{
    return kind != HUB_KIND_TOOL ||
           !hub_profile_settings_of(hub_session_profile(session))->lists_search;
}

static void handle_list(const hub_request *request, hub_kind kind)
{
    if (waits_for_servers(request->session, kind) && hub_parking_list(request)) {
        return;
    }
    hub_listing_respond(request, kind);
    hub_discovery_refresh(request->session, request->message->at[HUB_M_META]);
}

static void handle_tools_list(const hub_request *request)
{
    handle_list(request, HUB_KIND_TOOL);
}

static void handle_resources_list(const hub_request *request)
{
    handle_list(request, HUB_KIND_RESOURCE);
}

static void handle_templates_list(const hub_request *request)
{
    handle_list(request, HUB_KIND_TEMPLATE);
}

static void handle_resources_read(const hub_request *request)
{
    if (!hub_results_read(request) && !hub_skills_read(request)) {
        hub_content_read(request);
    }
}

static void handle_prompts_list(const hub_request *request)
{
    handle_list(request, HUB_KIND_PROMPT);
}

/* The entry that params.name means, or NULL with an answer given or the request parked. */
static const hub_entry *find_tool(const hub_request *request, hub_sight sight)
{
    hub_str raw = request->message->at[HUB_M_NAME];
    hub_str name;
    hub_buf decoded;
    hub_buf_init(&decoded, raw.len);
    if (!hub_json_plain(raw, &name)) {
        if (hub_json_decode(raw, &decoded) != HUB_OK) {
            hub_respond_error(request, HUB_RPC_INVALID_PARAMS,
                              HUB_STR("params.name must be a string"), HUB_STR_EMPTY);
            hub_buf_fini(&decoded);
            return NULL;
        }
        name = hub_buf_str(&decoded);
    }
    const hub_entry *entry = hub_sight_find(sight, HUB_KIND_TOOL, name);
    if (entry != NULL || hub_content_refuse_ambiguous(request, HUB_KIND_TOOL, name)) {
        hub_buf_fini(&decoded);
        return entry;
    }
    if (!hub_parking_await(request, HUB_KIND_TOOL, name)) {
        hub_unknown_respond(request, HUB_KIND_TOOL, name);
    }
    hub_buf_fini(&decoded);
    return NULL;
}

/* The arguments of a call; some clients write null for none. The empty span when they are of
 * another type. */
static hub_str arguments_of(const hub_message *message)
{
    hub_str arguments = message->at[HUB_M_ARGUMENTS];
    switch (hub_json_type_of(arguments)) {
    case HUB_JSON_OBJECT:
        return arguments;
    case HUB_JSON_NONE:
    case HUB_JSON_NULL:
        return HUB_STR("{}");
    default:
        return HUB_STR_EMPTY;
    }
}

/* Make the request a call, and send it on its way to whoever has the tool. */
static void call_tool(const hub_request *request, const hub_entry *entry)
{
    const hub_message *message = request->message;
    hub_str arguments = arguments_of(message);
    if (arguments.len == 0) {
        hub_request_refuse(request);
        hub_respond_error(request, HUB_RPC_INVALID_PARAMS,
                          HUB_STR("params.arguments must be an object"), HUB_STR_EMPTY);
        return;
    }
    hub_call *call = hub_request_begin(request);
    if (call == NULL) {
        return;
    }
    hub_call_set_of_tool(call, true, !entry->item->has_output_schema);
    hub_way way = {.toolset = entry->owner,
                   .item = entry->item,
                   .name = entry->item->name,
                   .name_json = message->at[HUB_M_NAME],
                   .arguments = arguments,
                   .message = message};
    hub_call_send(call, &way);
}

static void handle_tools_call(const hub_request *request)
{
    hub_sight sight = hub_request_sight(request);
    const hub_entry *entry = find_tool(request, sight);
    if (entry != NULL && hub_meta_searches(entry) && hub_parking_list(request)) {
        return; /* what servers have not said cannot be found */
    }
    if (entry != NULL) {
        /* A tool may change the list while it runs; what it was given lies in this one. */
        hub_shown *shown = hub_shown_ref(hub_sight_shown(sight, HUB_KIND_TOOL));
        call_tool(request, entry);
        hub_shown_unref(shown);
    }
}

/* ---- calls through others ---------------------------------------------------------------------- */

/* Answer as a tool that refuses its arguments. */
static void refuse_through(const hub_request *request, hub_str why)
{
    hub_request_refuse(request);
    hub_call *call = hub_request_begin(request);
    if (call != NULL) {
        hub_call_set_of_tool(call, true, true);
        hub_call_fail(call, PATCHBAY_INVALID_INPUT, why);
    }
}

/* `request` names the tool that is meant. */
static void call_through(const hub_request *request, bool reads)
{
    const hub_entry *entry = find_tool(request, hub_request_sight(request));
    if (entry == NULL) {
        return;
    }
    if (hub_toolset_is_meta(entry->owner)) {
        refuse_through(request, HUB_STR("name: this is a tool of the hub's own; call it itself"));
    } else if (reads && (entry->item->hints & HUB_TOOL_READ_ONLY) == 0) {
        refuse_through(request, HUB_STR("name: this tool does not say that it only reads; "
                                        "call it through call_tool"));
    } else {
        handle_tools_call(request);
    }
}

static void handle_call_tool(const hub_request *request)
{
    call_through(request, false);
}

static void handle_call_read_tool(const hub_request *request)
{
    call_through(request, true);
}

/* Whether the call is one through another tool, which the client has: then the request and its
 * message are the ones that are meant. */
static void take_through(hub_request *request, hub_buf *text, hub_message *inner)
{
    hub_str raw = request->message->at[HUB_M_NAME];
    hub_through through = hub_through_of(raw);
    const hub_entry *entry = NULL;
    hub_str name;
    if (through != HUB_THROUGH_NONE && hub_json_plain(raw, &name)) {
        entry = hub_sight_find(hub_request_sight(request), HUB_KIND_TOOL, name);
    }
    if (entry != NULL && hub_toolset_is_meta(entry->owner) &&
        hub_through_read(request->message, text, inner)) {
        request->message = inner;
        request->handle = through == HUB_THROUGH_READ ? handle_call_read_tool : handle_call_tool;
    }
}

/* ---- handshake and discovery ----------------------------------------------------------------- */

static void handle_ping(const hub_request *request)
{
    hub_respond_result(request, HUB_STR("{}"));
}

static void handle_listen(const hub_request *request)
{
    if (!hub_tasks_refuse_listen(request)) {
        hub_listen_open(request);
    }
}

/* What can be announced depends on what is active. */
static void greet(const hub_request *request)
{
    hub_listing_respond_initialize(request, hub_session_revision(request->session));
    hub_notifier_begin_to_tell(request->session);
}

static void handle_initialize(const hub_request *request)
{
    hub_session *session = request->session;
    const hub_message *message = request->message;
    hub_str date;
    if (hub_session_revision(session) != HUB_REVISION_NONE) {
        hub_respond_error(request, HUB_RPC_INVALID_REQUEST,
                          HUB_STR("the session is initialized already"), HUB_STR_EMPTY);
        return;
    }
    if (hub_json_type_of(message->at[HUB_M_PROTOCOL_VERSION]) != HUB_JSON_STRING) {
        hub_respond_error(request, HUB_RPC_INVALID_PARAMS,
                          HUB_STR("params.protocolVersion must be a string"), HUB_STR_EMPTY);
        return;
    }
    hub_revision revision = HUB_REVISION_NONE;
    if (hub_json_plain(message->at[HUB_M_PROTOCOL_VERSION], &date)) {
        revision = hub_revision_parse(date);
    }
    if (revision == HUB_REVISION_NONE || hub_revision_era(revision) != HUB_ERA_LEGACY) {
        revision = HUB_REVISION_NEWEST_LEGACY;
    }
    hub_str capabilities = message->at[HUB_M_CAPABILITIES];
    char *declared = hub_tasks_dup_capabilities(
        hub_json_type_of(capabilities) == HUB_JSON_OBJECT ? capabilities : HUB_STR("{}"));
    if (declared == NULL) {
        hub_respond_error(request, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"), HUB_STR_EMPTY);
        return;
    }
    hub_session_agree(session, revision, declared);
    if (!hub_remember_hold(request, greet)) {
        greet(request);
    }
}

static void handle_status(const hub_request *request)
{
    hub_status_respond(request, hub_remember_add_choices);
}

/* ---- the table ------------------------------------------------------------------------------- */

#define METHOD(text)                                                                               \
    {                                                                                              \
        .ptr = "" text, .len = sizeof(text) - 1                                                    \
    }

static const method_row METHODS[] = {
    {METHOD("tools/call"), BOTH, handle_tools_call, false},
    {METHOD("tools/list"), BOTH, handle_tools_list, true},
    {METHOD("resources/list"), BOTH, handle_resources_list, true},
    {METHOD("resources/templates/list"), BOTH, handle_templates_list, true},
    {METHOD("resources/read"), BOTH, handle_resources_read, false},
    {METHOD("prompts/list"), BOTH, handle_prompts_list, true},
    {METHOD("prompts/get"), BOTH, hub_content_get_prompt, false},
    {METHOD("completion/complete"), BOTH, hub_content_complete, false},
    {METHOD("skills/list"), BOTH, hub_skills_list, true},
    {METHOD("skills/get"), BOTH, hub_skills_get, false},
    {METHOD("resources/directory/read"), BOTH, hub_skills_read_directory, false},
    {METHOD("tasks/get"), NEWEST_LEGACY | MODERN, hub_tasks_forward, false},
    {METHOD("tasks/cancel"), NEWEST_LEGACY | MODERN, hub_tasks_forward, false},
    {METHOD("tasks/result"), NEWEST_LEGACY, hub_tasks_forward, false},
    {METHOD("tasks/update"), MODERN, hub_tasks_forward, false},
    {METHOD("server/discover"), MODERN, hub_listing_respond_discover, true},
    {METHOD("subscriptions/listen"), MODERN, handle_listen, true},
    {METHOD("ping"), LEGACY, handle_ping, false},
    {METHOD("initialize"), LEGACY, handle_initialize, true},
    {METHOD("logging/setLevel"), LEGACY, hub_logging_set_level, false},
    {METHOD("resources/subscribe"), LEGACY, hub_subscription_open, false},
    {METHOD("resources/unsubscribe"), LEGACY, hub_subscription_close, false},
    {METHOD(HUB_STATUS_METHOD), BOTH, handle_status, false}, /* the hub's own; announced nowhere */
    {METHOD(HUB_ADMIN_METHOD), BOTH, hub_admin_respond, false},
    {METHOD(HUB_ACT_OWN_TOOL), MODERN, hub_own_tools_respond, false},
};

static const method_row *find_method(hub_str name)
{
    for (size_t i = 0; i < sizeof METHODS / sizeof METHODS[0]; i++) {
        if (hub_str_eq(name, METHODS[i].name)) {
            return &METHODS[i];
        }
    }
    return NULL;
}

static void respond_unknown_method(const hub_request *request)
{
    hub_buf text;
    hub_buf_init(&text, 256);
    hub_buf_printf(&text, "Method not found: " HUB_STR_FMT, HUB_STR_ARG(request->message->method));
    hub_respond_error(request, HUB_RPC_METHOD_NOT_FOUND, hub_buf_str(&text), HUB_STR_EMPTY);
    hub_buf_fini(&text);
}

static void respond_bad_context(const hub_request *request, int code, const char *text)
{
    hub_buf data;
    hub_buf_init(&data, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    if (code == HUB_RPC_UNSUPPORTED_VERSION) {
        hub_dialect_add_versions(&data, request->message->at[HUB_M_META_PROTOCOL_VERSION]);
    }
    hub_respond_error(request, code, hub_str_of(text), hub_buf_str(&data));
    hub_buf_fini(&data);
}

/* Whether the client may be shown what there is: no hub may be behind itself. */
static bool is_welcome(const hub_request *request)
{
    hub_orchestrator *hub = hub_session_hub(request->session);
    const hub_str *at = request->message->at;
    hub_str says = at[HUB_M_CAPABILITIES].len > 0
                       ? hub_json_get(at[HUB_M_CAPABILITIES], HUB_STR("experimental"))
                       : at[HUB_M_META];
    if (says.len == 0) {
        return true;
    }
    hub_error why = {.code = HUB_OK};
    hub_err err = hub_lineage_take(hub_lineage_of(hub), says, hub_clock_now_ms(), &why);
    if (err != HUB_OK) {
        hub_respond_error(request, HUB_RPC_INVALID_REQUEST, hub_str_of(why.text),
                          HUB_STR("{\"code\":\"" HUB_LOOP_CODE "\"}"));
    }
    return err == HUB_OK;
}

/* The stations that look at each request, or at what this one has. */
static bool arrive(const hub_request *request)
{
    const hub_orchestrator *hub = hub_session_hub(request->session);
    const hub_str *at = request->message->at;
    bool has_state = at[HUB_M_REQUEST_STATE].len + at[HUB_M_INPUT_RESPONSES].len > 0;
    hub_station_mask left =
        hub_wanted(hub) | (has_state ? hub_stations_triggered(HUB_ON_STATE) : 0);
    for (; left != 0; left &= left - 1) {
        const hub_station *station = hub_stations_at((size_t)__builtin_ctzll(left));
        if (station->arrive != NULL && station->arrive(request) != HUB_GO_ON) {
            return false;
        }
    }
    return true;
}

/* What it is about is what its principal has chosen, which may have to be read first, and is followed
 * from then on. `initialize` waits by itself. */
static void handle(const hub_request *request)
{
    const hub_orchestrator *hub = hub_session_hub(request->session);
    bool may_wait = (hub_wanted(hub) & HUB_REMEMBER_STATION.place->bit) != 0 &&
                    request->handle != handle_ping && request->handle != handle_initialize;
    if (!may_wait || !hub_remember_hold(request, request->handle)) {
        request->handle(request);
    }
}

/* A call that may be one through another tool. */
static void handle_through(hub_request *request)
{
    hub_message inner;
    hub_buf text;
    hub_buf_init(&text, request->message->whole.len + 1);
    take_through(request, &text, &inner);
    if (arrive(request)) {
        handle(request);
    }
    hub_buf_fini(&text);
}

/* Read the context, then call the method's handler. `initialize` and `ping` need no context. */
static void handle_request(const hub_request *request)
{
    hub_request known = *request;
    const method_row *method = find_method(request->message->method);
    hub_revision legacy = hub_session_revision(request->session);
    bool opens =
        method != NULL && (method->handle == handle_initialize || method->handle == handle_ping);
    int code = 0;
    hub_error why; /* not cleared for each request: a failure fills it */
    if (opens && legacy == HUB_REVISION_NONE) {
        legacy = HUB_REVISION_NEWEST_LEGACY;
    }
    known.context = (hub_request_context){.revision = legacy};
    if (hub_dialect_read(request->message, legacy, &known.context, &code, &why) != HUB_OK) {
        respond_bad_context(&known, code, why.text);
        return;
    }
    hub_str declared = hub_session_capabilities(request->session);
    if (known.context.era == HUB_ERA_LEGACY && declared.len > 0) {
        known.context.capabilities = declared;
        known.context.log_level = hub_session_log_level(request->session);
    }
    known.context.headers = request->context.headers;
    int dialect = known.context.era == HUB_ERA_MODERN ? MODERN : LEGACY;
    if (known.context.revision == HUB_REVISION_NEWEST_LEGACY) {
        dialect |= NEWEST_LEGACY;
    }
    if (method == NULL || (method->dialects & dialect) == 0) {
        respond_unknown_method(&known);
        return;
    }
    known.handle = method->handle;
    if (method->handle == handle_tools_call &&
        hub_through_of(request->message->at[HUB_M_NAME]) != HUB_THROUGH_NONE) {
        handle_through(&known);
    } else if ((opens || arrive(&known)) && (!method->shows || is_welcome(&known))) {
        handle(&known);
    }
}

static void take_request(hub_session *session, hub_port *port, const hub_message *message)
{
    const hub_orchestrator *hub = hub_session_hub(session);
    hub_request request = {.session = session, .port = port, .message = message};
    hub_str id = message->at[HUB_M_ID];
    request.context.revision = hub_session_revision(session); /* for framing an error */
    if (hub_is_stopping(hub)) {
        hub_request_refuse(&request);
        hub_respond_error(&request, HUB_RPC_SHUTTING_DOWN,
                          HUB_STR("the hub is shutting down: try again"),
                          HUB_STR("{\"retryable\":true}"));
        return;
    }
    if (hub_session_has_request(session, id)) {
        hub_respond_refusal(&request, HUB_EEXIST);
        return;
    }
    if (port == NULL || port->ops->add_header == NULL || hub_forwarded_names(hub)->count == 0) {
        handle_request(&request);
        return;
    }
    hub_buf headers;
    hub_buf_init(&headers, SIZE_MAX / 2);
    hub_forward_collect(hub, port, &headers);
    request.context.headers = hub_buf_str(&headers);
    if (hub_buf_ok(&headers)) {
        handle_request(&request);
    } else {
        hub_respond_refusal(&request, headers.failed);
    }
    hub_buf_fini(&headers);
}

/* ---- notifications --------------------------------------------------------------------------- */

/* Only the session that made a request may cancel it: ids are looked up within it. */
static void cancel(hub_session *session, const hub_message *message)
{
    hub_str id = message->at[HUB_M_REQUEST_ID];
    hub_call *call = id.len > 0 ? hub_session_find_call(session, id) : NULL;
    if (call != NULL) {
        hub_subscription_cancel(call);
        hub_call_drop(call);
    } else {
        hub_listen_cancel(session, id);
    }
}

static void take_notification(hub_session *session, const hub_message *message)
{
    if (hub_str_is(message->method, "notifications/cancelled")) {
        cancel(session, message);
    } else if (hub_str_is(message->method, "notifications/initialized") &&
               hub_session_revision(session) != HUB_REVISION_NONE) {
        hub_session_note_initialized(session);
    } else if (hub_str_is(message->method, "notifications/roots/list_changed") &&
               hub_session_is_initialized(session)) {
        hub_roots_changed(session);
    }
}

/* ---- for the kernel -------------------------------------------------------------------------- */

const hub_hub_ops HUB_ROUTER_OPS = {
    .request = take_request,
    .notification = take_notification,
    .response = hub_ask_take_answer,
    .instance_events = &HUB_BINDING_EVENTS,
};
