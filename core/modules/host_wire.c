/* SPDX-License-Identifier: Apache-2.0 */
/* Host interface wire/1: the hub's scanner and dialects. */
#include "modules/instance_internal.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "wire/lineage.h"

/* What the clients of a shared connection can be asked between them; which of them can, is looked
 * at with each question (patchbay/client.h). */
#define HUB_CLIENT_CAPABILITIES                                                                    \
    "\"roots\":{\"listChanged\":true},\"sampling\":{\"context\":{},\"tools\":{}},"                 \
    "\"elicitation\":{\"form\":{},\"url\":{}}"

#define HUB_CLIENT_INFO "{\"name\":\"patchbay\",\"version\":\"" PATCHBAY_VERSION "\"}"

static const uint32_t KINDS[] = {
    [HUB_MESSAGE_REQUEST] = PATCHBAY_MSG_REQUEST,
    [HUB_MESSAGE_NOTIFICATION] = PATCHBAY_MSG_NOTIFICATION,
    [HUB_MESSAGE_RESULT] = PATCHBAY_MSG_RESULT,
    [HUB_MESSAGE_ERROR] = PATCHBAY_MSG_ERROR,
    [HUB_MESSAGE_BATCH] = 0,
};

static void explain(patchbay_error *reterr, int32_t code, const hub_error *why)
{
    hub_str text = hub_str_of(why->text);
    size_t len = text.len < sizeof reterr->text - 1 ? text.len : sizeof reterr->text - 1;
    reterr->code = code;
    memcpy(reterr->text, text.ptr, len);
    reterr->text[len] = '\0';
}

/* Which limit it is that the scanner speaks of: `byte N: nested too deep`. */
static void name_limits(hub_error *why)
{
    size_t len = strlen(why->text);
    if (why->code == HUB_ELIMIT && strncmp(why->text, "byte ", 5) == 0) {
        (void)snprintf(why->text + len, sizeof why->text - len,
                       " (a message has at most %d values, nested %d deep)", HUB_LIMIT_JSON_VALUES,
                       HUB_LIMIT_JSON_DEPTH);
    }
}

static uint64_t number_or_max(hub_str raw)
{
    uint64_t number;
    return hub_json_to_u64(raw, &number) && number < (UINT64_C(1) << 53) ? number : UINT64_MAX;
}

int32_t hub_host_result_flags(const hub_message *message)
{
    bool is_error = hub_json_type_of(message->at[HUB_M_IS_ERROR]) == HUB_JSON_TRUE;
    return (is_error ? PATCHBAY_IS_ERROR : PATCHBAY_NO_ERROR) |
           (message->at[HUB_M_RESULT_TYPE].len > 0 ? PATCHBAY_TYPED : 0);
}

static int32_t wire_scan(patchbay_host *host, patchbay_str bytes, patchbay_message *ret_message,
                         patchbay_error *reterr)
{
    (void)host;
    hub_message message;
    hub_error why; /* not cleared for each message: a failure fills it */
    hub_err err = hub_message_scan(bytes, &message, &why);
    if (err == HUB_OK && message.kind == HUB_MESSAGE_BATCH) {
        err = hub_fail(&why, HUB_EINVAL, "a batch is not expected here");
    }
    if (err != HUB_OK) {
        int32_t code = err == HUB_ELIMIT ? PATCHBAY_ELIMIT : PATCHBAY_EINVAL;
        name_limits(&why);
        explain(reterr, code, &why);
        return code;
    }
    ret_message->kind = KINDS[message.kind];
    ret_message->id = message.at[HUB_M_ID];
    ret_message->id_number = number_or_max(message.at[HUB_M_ID]);
    ret_message->method = message.method;
    ret_message->params = message.at[HUB_M_PARAMS];
    ret_message->result = message.at[HUB_M_RESULT];
    ret_message->error = message.at[HUB_M_ERROR];
    ret_message->progress_token_number = number_or_max(message.at[HUB_M_PROGRESS_TOKEN]);
    ret_message->result_type = message.at[HUB_M_RESULT_TYPE];
    if (ret_message->struct_size >= offsetof(patchbay_message, reserved)) {
        ret_message->result_flags =
            message.kind == HUB_MESSAGE_RESULT ? (uint32_t)hub_host_result_flags(&message) : 0;
    }
    return PATCHBAY_OK;
}

static int32_t wire_frame_request(patchbay_host *host, patchbay_call call,
                                  const patchbay_request *request, const patchbay_peer *peer,
                                  patchbay_str name, patchbay_str *ret_parts)
{
    const hub_request_context *context = host->events->get_context(host->ctx, call.id);
    hub_revision revision = hub_revision_parse(peer->version);
    if (context == NULL) {
        return PATCHBAY_ESTALE;
    }
    if (revision == HUB_REVISION_NONE) {
        return PATCHBAY_EINVAL;
    }
    hub_upstream_request upstream = {
        .revision = revision,
        .id = call.id,
        .method = request->method,
        .params = request->params_json,
        .name_json = request->name_json,
        .meta_json = request->meta_json,
        .name = name,
        .wants_progress = (request->flags & PATCHBAY_WANTS_PROGRESS) != 0,
        .capabilities = context->capabilities,
        .client_info = HUB_STR(HUB_CLIENT_INFO),
        .log_level = context->log_level,
    };
    size_t count = hub_dialect_request(&upstream, &host->env->scratch, ret_parts);
    return count > 0 ? (int32_t)count : PATCHBAY_ENOMEM;
}

static patchbay_str wire_introduce(patchbay_host *host, const patchbay_peer *peer)
{
    hub_buf *out = &host->env->scratch;
    const hub_lineage *lineage = host->env->lineage;
    hub_buf_clear(out);
    if (hub_revision_era(hub_revision_parse(peer->version)) == HUB_ERA_MODERN) {
        hub_buf_add(out, HUB_STR("{\"_meta\":{\"" HUB_META_PROTOCOL_VERSION "\":"));
        hub_json_add_string(out, peer->version);
        hub_buf_add(out, HUB_STR(",\"" HUB_META_CLIENT_INFO "\":" HUB_CLIENT_INFO
                                 ",\"" HUB_META_CLIENT_CAPABILITIES "\":{}"));
        if (lineage != NULL) {
            hub_buf_add(out, HUB_STR(",\"" HUB_META_HUBS "\":"));
            hub_lineage_add(lineage, hub_clock_now_ms(), out);
        }
        hub_buf_add(out, HUB_STR("}}"));
    } else {
        hub_buf_add(out, HUB_STR("{\"protocolVersion\":"));
        hub_json_add_string(out, peer->version);
        hub_buf_add(out, HUB_STR(",\"capabilities\":{" HUB_CLIENT_CAPABILITIES));
        if (lineage != NULL) {
            hub_buf_add(out, HUB_STR(",\"experimental\":{\"" HUB_META_HUBS "\":"));
            hub_lineage_add(lineage, hub_clock_now_ms(), out);
            hub_buf_add_char(out, '}');
        }
        hub_buf_add(out, HUB_STR("},\"clientInfo\":" HUB_CLIENT_INFO "}"));
    }
    return hub_buf_ok(out) ? hub_buf_str(out) : HUB_STR_EMPTY;
}

static uint64_t wire_max_message_bytes(patchbay_host *host)
{
    return host->env->max_message_bytes;
}

const patchbay_wire_v1 HUB_HOST_WIRE = {
    .struct_size = sizeof(patchbay_wire_v1),
    .scan = wire_scan,
    .frame_request = wire_frame_request,
    .introduce = wire_introduce,
    .max_message_bytes = wire_max_message_bytes,
};
