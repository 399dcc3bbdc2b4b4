/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/router/listing.h"

#include "base/limits.h"
#include "hub/access/access.h"
#include "hub/catalogs/announce.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/notices/notifier.h"
#include "hub/meta/cursor.h"
#include "hub/report/gathered.h"
#include "hub/search/found.h"

_Static_assert(HUB_SHOWN_SPANS <= HUB_FRAME_ITEMS, "a page fits into an answer");

#define LIST_KEY(text)                                                                             \
    {                                                                                              \
        .ptr = "" text, .len = sizeof(text) - 1                                                    \
    }

static const hub_str LIST_KEYS[HUB_KINDS] = {
    [HUB_KIND_TOOL] = LIST_KEY("tools"),
    [HUB_KIND_RESOURCE] = LIST_KEY("resources"),
    [HUB_KIND_TEMPLATE] = LIST_KEY("resourceTemplates"),
    [HUB_KIND_PROMPT] = LIST_KEY("prompts"),
};

/* ---- lists ----------------------------------------------------------------------------------- */

static void add_server_info(const hub_settings *settings, hub_buf *out)
{
    hub_buf_add(out, HUB_STR("{\"name\":"));
    hub_json_add_string(out, hub_str_of(settings->name));
    if (settings->title != NULL) {
        hub_json_add_key(out, HUB_STR("title"));
        hub_json_add_string(out, hub_str_of(settings->title));
    }
    hub_buf_add(out, HUB_STR(",\"version\":\"" PATCHBAY_VERSION "\"}"));
}

/* Append what a modern list or discovery says besides its content. The active set may change at any
 * moment and belongs to this caller: fresh for no time, and not to be shared. */
static void add_modern_tail(const hub_settings *settings, hub_buf *out)
{
    hub_buf_add(out,
                HUB_STR(",\"ttlMs\":0,\"cacheScope\":\"private\",\"_meta\":{\"" HUB_META_SERVER_INFO
                        "\":"));
    add_server_info(settings, out);
    hub_buf_add_char(out, '}');
}

static void respond_page(const hub_request *request, hub_kind kind, hub_sight sight,
                         hub_shown *shown)
{
    const hub_profile *profile = hub_session_profile(request->session);
    const hub_orchestrator *hub = hub_profile_hub(profile);
    hub_str cursor = request->message->at[HUB_M_CURSOR];
    hub_shown_place from = {.part = 0};
    hub_shown_page page;
    if (cursor.len > 0 && hub_json_type_of(cursor) != HUB_JSON_NULL) {
        hub_cursor_text text;
        hub_str last;
        if (!hub_cursor_read(hub, LIST_KEYS[kind].ptr, cursor, &text, &last)) {
            hub_respond_error(request, HUB_RPC_INVALID_PARAMS,
                              HUB_STR("Invalid cursor: list again from the beginning"),
                              HUB_STR_EMPTY);
            return;
        }
        from = hub_shown_after(shown, last);
    }
    hub_err err = hub_shown_take(shown, from, hub_settings_of(hub)->limits.list_page, &page);
    if (err != HUB_OK) {
        hub_respond_refusal(request, err);
        return;
    }
    hub_buf tail;
    hub_buf_init(&tail, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    if (!page.is_end) {
        hub_buf_add(&tail, HUB_STR(",\"nextCursor\":\""));
        hub_cursor_add(hub, LIST_KEYS[kind].ptr, page.last->canonical, &tail);
        hub_buf_add_char(&tail, '"');
    }
    if (request->context.era == HUB_ERA_MODERN) {
        add_modern_tail(hub_settings_of(hub), &tail);
    }
    if (hub_buf_ok(&tail)) {
        hub_notifier_seen(hub_notifier_of(hub_session_audience(request->session)), sight, kind);
        if (page.is_end) {
            hub_session_note_listed(request->session, kind, hub_sight_serial(sight, kind));
        }
        hub_lent items = hub_shown_page_lend(&page);
        hub_respond_list(request, LIST_KEYS[kind], &items, hub_buf_str(&tail));
    } else {
        hub_respond_error(request, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"), HUB_STR_EMPTY);
    }
    hub_buf_fini(&tail);
    hub_shown_page_fini(&page);
}

/* Whether it is listed to a session that has found tools, beside those that search. */
static bool is_found(void *ctx, const hub_entry *entry)
{
    const hub_session *session = ctx;
    return entry->owner == hub_meta_toolset(hub_session_hub(session)) ||
           hub_found_has(session, entry->canonical);
}

static hub_err list_found(const hub_request *request, hub_shown **listed)
{
    hub_shown *all = hub_exposure_shown(hub_session_exposure(request->session), HUB_KIND_TOOL);
    hub_shown *narrowed = NULL;
    hub_err err = hub_shown_narrow(all, is_found, request->session, &narrowed);
    if (err == HUB_OK) {
        hub_shown_unref(*listed);
        *listed = narrowed;
    }
    return err;
}

static bool is_for_models(void *ctx, const hub_entry *entry)
{
    (void)ctx;
    return (entry->item->hints & HUB_TOOL_FOR_APPS) == 0;
}

/* A client that shows apps lists all, and knows which ones its model may see. One that does not has
 * no use for tools for apps: they stay out of what is its model's list.
 * spec: MCP Apps 2026-01-26, Tool Visibility, Client<>Server Capability Negotiation */
static hub_err leave_out_app_tools(const hub_request *request, hub_shown **listed)
{
    hub_str extensions = hub_json_get(request->context.capabilities, HUB_STR("extensions"));
    if (hub_json_get(extensions, HUB_STR(HUB_EXTENSION_APPS)).len > 0) {
        return HUB_OK;
    }
    hub_shown *narrowed = NULL;
    hub_err err = hub_shown_narrow(*listed, is_for_models, NULL, &narrowed);
    if (err == HUB_OK) {
        hub_shown_unref(*listed);
        *listed = narrowed;
    }
    return err;
}

/* Whether this client may be listed something else than others who see the same. */
static inline bool is_for_itself(const hub_request *request, const hub_shown *listed)
{
    return listed->has_app_tools ||
           hub_profile_settings_of(hub_session_profile(request->session))->equips_found;
}

/* Take what it is. False: it has been refused. */
static bool fit_to_client(const hub_request *request, hub_shown **listed)
{
    hub_err err = hub_found_is_any(request->session) ? list_found(request, listed) : HUB_OK;
    if (err == HUB_OK && (*listed)->has_app_tools) {
        err = leave_out_app_tools(request, listed);
    }
    if (err != HUB_OK) {
        hub_shown_unref(*listed);
        hub_respond_refusal(request, err);
    }
    return err == HUB_OK;
}

void hub_listing_respond(const hub_request *request, hub_kind kind)
{
    hub_sight sight = hub_request_sight(request);
    hub_shown *listed = NULL;
    hub_err err =
        hub_sight_get_listed(sight.exposure, hub_session_profile(request->session), kind, &listed);
    if (err != HUB_OK) {
        hub_respond_refusal(request, err);
        return;
    }
    if (request->message->at[HUB_M_CURSOR].len == 0) { /* not of parts of another list */
        hub_access_note_told(request->session, kind, listed);
    }
    if (kind == HUB_KIND_TOOL && is_for_itself(request, listed) &&
        !fit_to_client(request, &listed)) {
        return;
    }
    respond_page(request, kind, sight, hub_shown_in(listed, sight.revision));
    hub_shown_unref(listed);
}

/* ---- identity -------------------------------------------------------------------------------- */

static void respond_built(const hub_request *request, hub_buf *result)
{
    if (hub_buf_ok(result)) {
        hub_respond_result(request, hub_buf_str(result));
    } else {
        hub_respond_error(request, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"), HUB_STR_EMPTY);
    }
    hub_buf_fini(result);
}

void hub_listing_respond_discover(const hub_request *request)
{
    const hub_profile *profile = hub_session_profile(request->session);
    const hub_settings *settings = hub_settings_of(hub_profile_hub(profile));
    hub_buf result;
    hub_buf_init(&result, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_printf(&result, "{\"supportedVersions\":[\"%s\"],\"capabilities\":",
                   hub_revision_date(HUB_REVISION_NEWEST));
    (void)hub_capabilities_announce(hub_session_exposure(request->session), HUB_REVISION_NEWEST,
                                    &result);
    hub_gathered_add(request, &result);
    add_modern_tail(settings, &result);
    hub_buf_add_char(&result, '}');
    respond_built(request, &result);
}

void hub_listing_respond_initialize(const hub_request *request, hub_revision revision)
{
    const hub_profile *profile = hub_session_profile(request->session);
    const hub_settings *settings = hub_settings_of(hub_profile_hub(profile));
    hub_buf result;
    hub_buf_init(&result, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_printf(&result,
                   "{\"protocolVersion\":\"%s\",\"capabilities\":", hub_revision_date(revision));
    hub_session_note_announced(
        request->session,
        hub_capabilities_announce(hub_session_exposure(request->session), revision, &result));
    hub_buf_add(&result, HUB_STR(",\"serverInfo\":"));
    add_server_info(settings, &result);
    hub_gathered_add(request, &result);
    hub_buf_add_char(&result, '}');
    respond_built(request, &result);
}
