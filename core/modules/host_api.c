/* SPDX-License-Identifier: Apache-2.0 */
/* The host api that every instance gets: what a plugin says is checked here, then reported. */
#include "modules/instance_internal.h"

#include "base/limits.h"
#include "base/log.h"

#include <stdlib.h>

enum { STATUS_MASK = 0xff }; /* a status without its flags */

static void host_log(patchbay_host *host, int32_t level, patchbay_str text)
{
    hub_log_level hub_level = level <= PATCHBAY_LOG_DEBUG     ? HUB_LOG_DEBUG
                              : level == PATCHBAY_LOG_INFO    ? HUB_LOG_INFO
                              : level == PATCHBAY_LOG_WARNING ? HUB_LOG_WARNING
                                                              : HUB_LOG_ERROR;
    hub_log(hub_level, "plugin.log", HUB_F_TEXT("toolset", host->key),
            HUB_F_TEXT("module", host->module->name), HUB_F_STR("text", text));
}

static int32_t host_set_tools(patchbay_host *host, patchbay_str tools_json)
{
    return hub_instance_set_list(host, PATCHBAY_TOOLS, tools_json);
}

/* Whether `json` is an object as MCP's progress notification wants it. */
static bool check_progress(hub_str json, hub_str *ret_value)
{
    return json.len <= HUB_LIMIT_CLIENT_MESSAGE_BYTES &&
           hub_json_check(json, ret_value, NULL) == HUB_OK &&
           hub_json_type_of(*ret_value) == HUB_JSON_OBJECT &&
           hub_json_type_of(hub_json_get(*ret_value, HUB_STR("progress"))) == HUB_JSON_NUMBER;
}

static int32_t host_notify(patchbay_host *host, patchbay_call call, patchbay_str params_json)
{
    hub_str value;
    if (!check_progress(params_json, &value)) {
        return PATCHBAY_EINVAL;
    }
    if (hub_env_on_loop(host->env)) {
        bool known = !host->closing && host->events->on_progress(host->ctx, call.id, value);
        return known ? PATCHBAY_OK : PATCHBAY_ESTALE;
    }
    hub_mail *mail = hub_mail_create(host, HUB_MAIL_PROGRESS, value);
    if (mail != NULL) {
        mail->call = call.id;
    }
    return hub_mail_send(mail);
}

static bool is_error_object(hub_str value)
{
    int64_t code;
    return hub_json_to_i64(hub_json_get(value, HUB_STR("code")), &code) &&
           hub_json_type_of(hub_json_get(value, HUB_STR("message"))) == HUB_JSON_STRING;
}

/* The start of a plain text, whole characters, so long that a client will show it. */
static hub_str cut_text(hub_str text)
{
    if (text.len > HUB_LIMIT_FAILURE_TEXT_BYTES) {
        text.len = HUB_LIMIT_FAILURE_TEXT_BYTES;
        while (text.len > 0 && ((unsigned char)text.ptr[text.len] & 0xc0) == 0x80) {
            text.len--;
        }
    }
    return text;
}

/* Check a result that was not scanned, and see in the same pass what its flags are. */
static bool scan_result(hub_str json, int32_t *status, hub_str *ret_value)
{
    hub_message message;
    if (hub_message_scan_result(json, &message, NULL) != HUB_OK) {
        return false;
    }
    *status = PATCHBAY_RESULT | PATCHBAY_SCANNED | hub_host_result_flags(&message);
    *ret_value = message.whole;
    return true;
}

static bool scan_error(hub_str json, hub_str *ret_value)
{
    return hub_json_check(json, ret_value, NULL) == HUB_OK &&
           hub_json_type_of(*ret_value) == HUB_JSON_OBJECT;
}

/* Check what a finish carries. NULL when it is usable, else what is wrong with it. */
static const char *check_finish(int32_t *status_inout, hub_str json, hub_str *ret_value)
{
    int32_t status = *status_inout;
    int32_t plain = status & STATUS_MASK;
    *ret_value = json;
    if (status < 0 || plain > PATCHBAY_FAILED) {
        return "the tool answered with an unknown status";
    }
    if (plain > PATCHBAY_RPC_ERROR) {
        *ret_value = cut_text(json);
        return NULL;
    }
    if ((status & PATCHBAY_SCANNED) != 0) {
        return NULL; /* and bounded by whoever read it */
    }
    if (json.len > HUB_LIMIT_UPSTREAM_MESSAGE_BYTES) {
        return "the tool's result is too large";
    }
    if (plain == PATCHBAY_RESULT ? !scan_result(json, status_inout, ret_value)
                                 : !scan_error(json, ret_value)) {
        return "the tool's result is not a valid JSON object";
    }
    if (plain == PATCHBAY_RPC_ERROR && !is_error_object(*ret_value)) {
        return "the tool's error is not a JSON-RPC error object";
    }
    return NULL;
}

/* Whether the instance has finished this call itself, not long ago. */
static bool was_finished(const hub_instance *instance, uint64_t call)
{
    for (size_t i = 0; i < HUB_INSTANCE_FINISHED; i++) {
        if (instance->finished[i] == call) {
            return true;
        }
    }
    return false;
}

bool hub_instance_finish(hub_instance *instance, uint64_t call, int32_t status, hub_str json)
{
    int32_t plain = status & STATUS_MASK;
    int32_t flags = plain == PATCHBAY_RESULT ? status & ~STATUS_MASK : 0;
    if (instance->events->on_finish(instance->ctx, call, plain, json, flags)) {
        instance->finished[instance->finished_at++ % HUB_INSTANCE_FINISHED] = call;
        return true;
    }
    if (call != 0 && was_finished(instance, call)) {
        hub_instance_fault(instance, "a call is finished twice");
    } else { /* nobody waits any more: cancelled or timed out, which the plugin need not know */
        hub_log(HUB_LOG_DEBUG, "plugin.late", HUB_F_TEXT("toolset", instance->key));
    }
    return false;
}

static int32_t host_finish(patchbay_host *host, patchbay_call call, int32_t status,
                           patchbay_str json)
{
    hub_str value;
    const char *fault = check_finish(&status, json, &value);
    int32_t result;
    if (fault != NULL) {
        status = PATCHBAY_FAILED;
        value = hub_str_of(fault);
    }
    if (hub_env_on_loop(host->env)) {
        bool known = !host->closing && hub_instance_finish(host, call.id, status, value);
        result = known ? PATCHBAY_OK : PATCHBAY_ESTALE;
        if (fault != NULL) {
            hub_instance_fault(host, fault);
        }
    } else {
        hub_mail *mail = hub_mail_create(host, HUB_MAIL_FINISH, value);
        if (mail != NULL) {
            mail->call = call.id;
            mail->status = status;
            mail->fault = fault;
        } else {
            hub_instance_lose_call(host, call.id);
        }
        result = hub_mail_send(mail);
    }
    return fault == NULL ? result : PATCHBAY_EINVAL;
}

static const void *host_get_interface(patchbay_host *host, const char *id)
{
    static const struct {
        const char *id;
        const void *table;
    } INTERFACES[] = {
        {PATCHBAY_LOOP_V1, &HUB_HOST_LOOP},     {PATCHBAY_WORKER_V1, &HUB_HOST_WORKER},
        {PATCHBAY_STREAM_V1, &HUB_HOST_STREAM}, {PATCHBAY_PROCESS_V1, &HUB_HOST_PROCESS},
        {PATCHBAY_WIRE_V1, &HUB_HOST_WIRE},     {PATCHBAY_CATALOG_V1, &HUB_HOST_CATALOG},
        {PATCHBAY_CLIENT_V1, &HUB_HOST_CLIENT}, {PATCHBAY_LOGIN_V1, &HUB_HOST_LOGIN},
    };
    host->may_ask = host->may_ask || strcmp(id, PATCHBAY_CLIENT_V1) == 0;
    for (size_t i = 0; i < sizeof INTERFACES / sizeof INTERFACES[0]; i++) {
        if (strcmp(INTERFACES[i].id, id) == 0) {
            return INTERFACES[i].table;
        }
    }
    return NULL;
}

const patchbay_host_api HUB_HOST_API = {
    .struct_size = sizeof(patchbay_host_api),
    .abi = PATCHBAY_ABI,
    .log = host_log,
    .set_tools = host_set_tools,
    .notify = host_notify,
    .finish = host_finish,
    .get_interface = host_get_interface,
};
