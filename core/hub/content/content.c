/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/content/content.h"

#include "base/limits.h"
#include "hub/catalogs/parking.h"
#include "hub/kernel/call.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/way.h"
#include "hub/report/unknown.h"

#include <stdio.h>

/* ---- what a request means -------------------------------------------------------------------- */

static void respond_invalid(const hub_request *request, const char *text)
{
    hub_respond_error(request, HUB_RPC_INVALID_PARAMS, hub_str_of(text), HUB_STR_EMPTY);
}

/* Decode a raw string of 1 to `max_bytes` bytes. When that fails the request has been answered:
 * with `wanted`, unless memory was short. */
static bool decode(const hub_request *request, hub_str raw, size_t max_bytes, const char *wanted,
                   hub_buf *decoded)
{
    hub_buf_init(decoded, raw.len);
    if (hub_json_decode(raw, decoded) == HUB_OK && decoded->len > 0 && decoded->len <= max_bytes) {
        return true;
    }
    if (decoded->failed == HUB_ENOMEM) {
        hub_respond_error(request, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"), HUB_STR_EMPTY);
    } else {
        respond_invalid(request, wanted);
    }
    hub_buf_fini(decoded);
    return false;
}

bool hub_content_read_uri(const hub_request *request, hub_str raw, hub_buf *decoded)
{
    char wanted[64];
    (void)snprintf(wanted, sizeof wanted, "the uri must be a string of 1 to %d bytes",
                   HUB_LIMIT_URI_BYTES);
    return decode(request, raw, HUB_LIMIT_URI_BYTES, wanted, decoded);
}

void hub_content_miss_resource(const hub_request *request, hub_str uri)
{
    if (!hub_parking_await(request, HUB_KIND_RESOURCE, uri)) {
        hub_unknown_respond(request, HUB_KIND_RESOURCE, uri);
    }
}

bool hub_content_refuse_ambiguous(const hub_request *request, hub_kind kind, hub_str name)
{
    hub_buf rivals;
    hub_buf_init(&rivals, HUB_LIMIT_LOG_LINE_BYTES / 2);
    size_t count = hub_sight_add_rivals(hub_request_sight(request), kind, name, &rivals);
    if (count > 0) {
        hub_buf text;
        hub_buf_init(&text, HUB_LIMIT_LOG_LINE_BYTES);
        hub_buf_printf(&text, "The %s name \"%.*s\" is ambiguous: use " HUB_STR_FMT,
                       hub_kind_noun(kind, 1), (int)(name.len < 200 ? name.len : 200), name.ptr,
                       HUB_STR_ARG(hub_buf_str(&rivals)));
        hub_request_refuse(request);
        hub_respond_error(request, HUB_RPC_INVALID_PARAMS, hub_buf_str(&text), HUB_STR_EMPTY);
        hub_buf_fini(&text);
    }
    hub_buf_fini(&rivals);
    return count > 0;
}

static void miss_prompt(const hub_request *request, hub_str name)
{
    if (!hub_content_refuse_ambiguous(request, HUB_KIND_PROMPT, name) &&
        !hub_parking_await(request, HUB_KIND_PROMPT, name)) {
        hub_unknown_respond(request, HUB_KIND_PROMPT, name);
    }
}

/* ---- forwarding ------------------------------------------------------------------------------ */

/* Make the request a call of the toolset behind an entry: `name` is the toolset's own name or URI,
 * `name_json` where the client said it. */
static void forward(const hub_request *request, const hub_entry *entry, hub_str name,
                    hub_str name_json)
{
    hub_toolset *toolset = entry->owner;
    const hub_message *message = request->message;
    hub_call *call = hub_request_begin(request);
    if (call == NULL) {
        return;
    }
    if (hub_str_is(message->method, "resources/read")) {
        hub_call_set_reading(call);
    }
    hub_str arguments = message->at[HUB_M_ARGUMENTS];
    hub_way way = {.toolset = toolset,
                   .item = entry->item,
                   .name = name,
                   .name_json = name_json,
                   .arguments =
                       hub_json_type_of(arguments) == HUB_JSON_OBJECT ? arguments : HUB_STR("{}"),
                   .message = message};
    hub_call_send(call, &way);
}

/* The toolset may change its list while it answers, so what the name lies in is kept. */
static void forward_item(const hub_request *request, hub_kind kind, const hub_entry *entry,
                         hub_str name_json)
{
    hub_shown *shown = hub_shown_ref(hub_sight_shown(hub_request_sight(request), kind));
    forward(request, entry, entry->item->name, name_json);
    hub_shown_unref(shown);
}

/* The same for the resource that a URI belongs to. */
static void forward_resource(const hub_request *request, hub_str uri, hub_str uri_json)
{
    hub_buf own;
    hub_buf_init(&own, HUB_LIMIT_URI_BYTES);
    const hub_entry *entry = hub_sight_find_resource(hub_request_sight(request), uri, &own);
    if (!hub_buf_ok(&own)) {
        hub_respond_refusal(request, own.failed);
    } else if (entry == NULL) {
        hub_content_miss_resource(request, uri);
    } else {
        forward(request, entry, hub_buf_str(&own), uri_json);
    }
    hub_buf_fini(&own);
}

static const hub_entry *find_prompt(const hub_request *request, hub_str name)
{
    return hub_sight_find(hub_request_sight(request), HUB_KIND_PROMPT, name);
}

/* ---- the methods ----------------------------------------------------------------------------- */

void hub_content_read(const hub_request *request)
{
    hub_str raw = request->message->at[HUB_M_URI];
    hub_buf uri;
    if (!hub_content_read_uri(request, raw, &uri)) {
        return;
    }
    forward_resource(request, hub_buf_str(&uri), raw);
    hub_buf_fini(&uri);
}

/* Go on with the prompt that a raw string names. */
static void use_prompt(const hub_request *request, hub_str raw)
{
    hub_buf name;
    if (!decode(request, raw, HUB_LIMIT_CLIENT_MESSAGE_BYTES,
                "the name of the prompt must be a string", &name)) {
        return;
    }
    const hub_entry *entry = find_prompt(request, hub_buf_str(&name));
    if (entry == NULL) {
        miss_prompt(request, hub_buf_str(&name));
    } else {
        forward_item(request, HUB_KIND_PROMPT, entry, raw);
    }
    hub_buf_fini(&name);
}

void hub_content_get_prompt(const hub_request *request)
{
    hub_json_type type = hub_json_type_of(request->message->at[HUB_M_ARGUMENTS]);
    if (type != HUB_JSON_NONE && type != HUB_JSON_NULL && type != HUB_JSON_OBJECT) {
        respond_invalid(request, "params.arguments must be an object");
        return;
    }
    use_prompt(request, request->message->at[HUB_M_NAME]);
}

/* A reference to a resource is a template as it is listed, or a URI. */
static void complete_resource(const hub_request *request, hub_str raw)
{
    hub_buf uri;
    if (!hub_content_read_uri(request, raw, &uri)) {
        return;
    }
    const hub_entry *entry =
        hub_sight_find(hub_request_sight(request), HUB_KIND_TEMPLATE, hub_buf_str(&uri));
    if (entry != NULL) {
        forward_item(request, HUB_KIND_TEMPLATE, entry, raw);
    } else {
        forward_resource(request, hub_buf_str(&uri), raw);
    }
    hub_buf_fini(&uri);
}

void hub_content_complete(const hub_request *request)
{
    hub_str params = request->message->at[HUB_M_PARAMS];
    hub_str ref = request->message->at[HUB_M_REF];
    hub_str argument = hub_json_get(params, HUB_STR("argument"));
    hub_str type = hub_json_get(ref, HUB_STR("type"));
    if (hub_json_type_of(hub_json_get(argument, HUB_STR("name"))) != HUB_JSON_STRING ||
        hub_json_type_of(hub_json_get(argument, HUB_STR("value"))) != HUB_JSON_STRING) {
        respond_invalid(request, "params.argument must have a name and a value, both strings");
    } else if (hub_json_string_is(type, HUB_STR("ref/prompt"))) {
        use_prompt(request, hub_json_get(ref, HUB_STR("name")));
    } else if (hub_json_string_is(type, HUB_STR("ref/resource"))) {
        complete_resource(request, hub_json_get(ref, HUB_STR("uri")));
    } else {
        respond_invalid(request, "params.ref.type must be ref/prompt or ref/resource");
    }
}
