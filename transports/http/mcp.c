/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp.h"

#include "base/limits.h"
#include "wire/dialect.h"

static const hub_http_header NONE = {{.ptr = "", .len = 0}, {.ptr = "", .len = 0}};

hub_str hub_http_value(const hub_http_request *request, const char *name)
{
    const hub_http_header *header = hub_http_find_header(request, hub_str_of(name), NULL);
    return header != NULL ? header->value : HUB_STR_EMPTY;
}

bool hub_http_add_value(const hub_http_request *request, hub_str name, hub_buf *value)
{
    const hub_http_header *header = NULL;
    bool is_there = false;
    while ((header = hub_http_find_header(request, name, header)) != NULL) {
        hub_buf_add(value, is_there ? HUB_STR(", ") : HUB_STR_EMPTY);
        hub_buf_add(value, header->value);
        is_there = true;
    }
    return is_there;
}

bool hub_http_task_profile(const hub_http_task *task, char ret_name[HUB_HTTP_PROFILE_BYTES + 1])
{
    if (task->profile.len > HUB_HTTP_PROFILE_BYTES) {
        return false;
    }
    memcpy(ret_name, task->profile.ptr, task->profile.len);
    ret_name[task->profile.len] = '\0';
    return true;
}

void hub_http_answer_late(hub_http_connection *connection, hub_str id)
{
    hub_buf error;
    connection->keep_alive = false;
    hub_buf_init(&error, HUB_LIMIT_LOG_LINE_BYTES);
    hub_dialect_add_error(&error, HUB_RPC_SHUTTING_DOWN,
                          HUB_STR("the hub is shutting down: try again"),
                          HUB_STR("{\"retryable\":true}"));
    hub_http_answer_rpc(connection, 503, (hub_http_header){HUB_STR("Retry-After"), HUB_STR("1")},
                        id, hub_buf_str(&error));
    hub_buf_fini(&error);
}

bool hub_http_task_is_late(const hub_http_task *task, hub_str id)
{
    bool is_late = !hub_orchestrator_takes_work(task->server->hub);
    if (is_late) {
        hub_http_answer_late(task->connection, id);
    }
    return is_late;
}

void hub_http_task_refuse_session(const hub_http_task *task, hub_err err, const hub_error *why)
{
    if (err == HUB_ENOTFOUND) {
        hub_http_answer_refusal(task->connection, 404, NONE, "There is no such profile.");
    } else {
        hub_http_answer_refusal(task->connection, 503,
                                (hub_http_header){HUB_STR("Retry-After"), HUB_STR("1")}, why->text);
    }
}

hub_session *hub_http_task_begin_session(const hub_http_task *task, const char *transport,
                                         hub_client *client, hub_port *port)
{
    char profile[HUB_HTTP_PROFILE_BYTES + 1];
    hub_session *session = NULL;
    hub_error why = {.code = HUB_OK};
    hub_err err = HUB_ENOTFOUND;
    if (hub_http_task_profile(task, profile)) {
        hub_session_options options = {
            .profile = profile[0] != '\0' ? profile : NULL,
            .transport = transport,
            .identity = task->identity,
            .client = client,
            .is_one_request = client != NULL,
            .port = port,
            .listener = task->server,
            .peer = hub_http_connection_peer(task->connection),
            .metadata = task->connection->metadata,
        };
        err = hub_session_create(task->server->hub, &options, &session, &why);
    }
    if (err != HUB_OK) {
        hub_http_task_refuse_session(task, err, &why);
        return NULL;
    }
    return session;
}

void hub_http_answer_no_message(const hub_http_task *task, const hub_message *message, hub_err err,
                                const char *why)
{
    hub_buf text;
    hub_buf_init(&text, 1024);
    hub_buf_printf(&text, "%s: %s", err == HUB_EPARSE ? "Parse error" : "Invalid Request", why);
    /* Of text that is not JSON, an id that was seen is not to be trusted. */
    hub_http_answer_error(task->connection, 400,
                          err == HUB_EPARSE ? HUB_STR_EMPTY : message->at[HUB_M_ID],
                          hub_rpc_code(err), hub_buf_str(&text), HUB_STR_EMPTY);
    hub_buf_fini(&text);
}

static void refuse_version(const hub_http_task *task, const hub_message *message, hub_str version)
{
    hub_buf quoted;
    hub_buf data;
    hub_buf_init(&quoted, HUB_HTTP_LIMIT_HEAD_BYTES * 6);
    hub_buf_init(&data, HUB_HTTP_LIMIT_HEAD_BYTES * 8);
    hub_json_add_string(&quoted, version);
    hub_dialect_add_versions(&data, hub_buf_str(&quoted));
    hub_http_answer_error(task->connection, 400, message->at[HUB_M_ID], HUB_RPC_UNSUPPORTED_VERSION,
                          HUB_STR("Unsupported protocol version"), hub_buf_str(&data));
    hub_buf_fini(&quoted);
    hub_buf_fini(&data);
}

static void post(const hub_http_task *task)
{
    hub_message message;
    hub_error why = {.code = HUB_OK};
    hub_err err = hub_message_scan(task->body, &message, &why);
    if (err != HUB_OK) {
        hub_http_answer_no_message(task, &message, err, why.text);
        return;
    }
    bool is_work = message.kind == HUB_MESSAGE_REQUEST || message.kind == HUB_MESSAGE_BATCH;
    if (is_work && hub_http_task_is_late(task, message.at[HUB_M_ID])) {
        return;
    }
    const hub_http_header *version = hub_http_known(task->request, HUB_HTTP_MCP_PROTOCOL_VERSION);
    hub_revision revision = version != NULL ? hub_revision_parse(version->value) : 0;
    bool is_enveloped = message.at[HUB_M_META_PROTOCOL_VERSION].len > 0 ||
                        message.at[HUB_M_META_CLIENT_CAPABILITIES].len > 0;
    bool is_initialize =
        message.kind == HUB_MESSAGE_REQUEST && hub_str_is(message.method, "initialize");
    bool is_modern = revision != HUB_REVISION_NONE && hub_revision_era(revision) == HUB_ERA_MODERN;
    if (is_enveloped || (is_modern && !is_initialize)) {
        hub_http_modern_post(task, &message);
    } else if (version != NULL && revision == HUB_REVISION_NONE) {
        refuse_version(task, &message, version->value);
    } else if (hub_http_known_value(task->request, HUB_HTTP_MCP_SESSION_ID).len > 0) {
        hub_http_legacy_post(task, &message);
    } else if (is_initialize) {
        hub_http_legacy_initialize(task, &message);
    } else {
        hub_http_answer_error(
            task->connection, 400, message.at[HUB_M_ID], HUB_RPC_INVALID_REQUEST,
            HUB_STR("The request names no session: send initialize first, then the Mcp-Session-Id "
                    "that it gave; or, with 2026-07-28, params._meta and MCP-Protocol-Version"),
            HUB_STR_EMPTY);
    }
}

void hub_http_serve_mcp(const hub_http_task *task)
{
    hub_str version = hub_http_known_value(task->request, HUB_HTTP_MCP_PROTOCOL_VERSION);
    bool has_session = hub_http_known_value(task->request, HUB_HTTP_MCP_SESSION_ID).len > 0;
    hub_revision revision = hub_revision_parse(version);
    if (hub_str_is(task->request->method, "POST")) {
        post(task);
    } else if (!has_session || (version.len > 0 && hub_revision_era(revision) == HUB_ERA_MODERN)) {
        hub_http_answer_refusal(task->connection, 405,
                                (hub_http_header){HUB_STR("Allow"), HUB_STR("POST, OPTIONS")},
                                "Without Mcp-Session-Id there is only POST.");
    } else if (version.len > 0 && revision == HUB_REVISION_NONE) {
        refuse_version(task, &(hub_message){0}, version);
    } else if (hub_str_is(task->request->method, "GET")) {
        hub_http_legacy_get(task);
    } else {
        hub_http_legacy_delete(task);
    }
}
