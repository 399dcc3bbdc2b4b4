/* SPDX-License-Identifier: Apache-2.0 */
/* What a request that was refused is about, which its handler has not read. */
#include "hub/audit/audit.h"

#include "base/limits.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"

/* Note it as what the toolset calls it, or as the client said it when nobody has it. */
static void note(const hub_request *request, const hub_entry *entry, hub_str name)
{
    const hub_toolset *toolset = entry != NULL ? entry->owner : NULL;
    hub_audit_refused(
        request,
        toolset != NULL ? hub_str_of(hub_toolset_settings_of(toolset)->key) : HUB_STR_EMPTY, name);
}

static void note_named(const hub_request *request, hub_kind kind, hub_str name)
{
    const hub_entry *entry = hub_sight_find(hub_request_sight(request), kind, name);
    note(request, entry, entry != NULL ? entry->item->name : name);
}

static void note_resource(const hub_request *request, hub_str uri)
{
    const hub_entry *entry = NULL;
    hub_buf own;
    hub_buf_init(&own, HUB_LIMIT_URI_BYTES);
    if (uri.len <= HUB_LIMIT_URI_BYTES) {
        entry = hub_sight_find_resource(hub_request_sight(request), uri, &own);
    }
    note(request, entry, entry != NULL && own.len > 0 ? hub_buf_str(&own) : uri);
    hub_buf_fini(&own);
}

/* The raw name or URI of what it asks for, and what that is; false when it is nothing of a toolset.
 */
static bool read_target(const hub_message *message, hub_str *ret_raw, hub_kind *ret_kind)
{
    hub_str uri = hub_json_get(message->at[HUB_M_REF], HUB_STR("uri"));
    *ret_raw = message->at[HUB_M_NAME];
    *ret_kind = HUB_KIND_PROMPT;
    if (hub_str_is(message->method, "tools/call")) {
        *ret_kind = HUB_KIND_TOOL;
    } else if (hub_str_is(message->method, "resources/read")) {
        *ret_raw = message->at[HUB_M_URI];
        *ret_kind = HUB_KIND_RESOURCE;
    } else if (hub_str_is(message->method, "completion/complete")) {
        *ret_raw = uri.len > 0 ? uri : hub_json_get(message->at[HUB_M_REF], HUB_STR("name"));
        *ret_kind = uri.len > 0 ? HUB_KIND_RESOURCE : HUB_KIND_PROMPT;
    } else {
        return hub_str_is(message->method, "prompts/get");
    }
    return true;
}

void hub_audit_note_refused(const hub_request *request)
{
    hub_str raw;
    hub_kind kind;
    if (!read_target(request->message, &raw, &kind)) {
        return;
    }
    hub_buf name;
    hub_buf_init(&name, raw.len);
    if (hub_json_decode(raw, &name) != HUB_OK) {
        hub_buf_clear(&name); /* it is none, which is why it was refused */
    }
    if (kind == HUB_KIND_RESOURCE) {
        note_resource(request, hub_buf_str(&name));
    } else {
        note_named(request, kind, hub_buf_str(&name));
    }
    hub_buf_fini(&name);
}
