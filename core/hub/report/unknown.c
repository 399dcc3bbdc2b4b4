/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/report/unknown.h"

#include "base/limits.h"
#include "base/line.h"
#include "base/nearest.h"
#include "hub/catalogs/parking.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/station.h"
#include "hub/kernel/toolset.h"
#include "tools/suspects.h"

enum {
    SILENT_SHOWN = 4, /* toolsets that are named as the reason */
    NAME_SHOWN = 200, /* bytes of a name that is quoted */
};

/* ---- who could not be asked ------------------------------------------------------------------ */

typedef struct silence {
    hub_buf text;
    size_t told;
    int32_t status;
    const hub_toolset *first;
} silence;

static void on_silent(void *ctx, const hub_toolset *toolset, const char *reason, int32_t status)
{
    silence *all = ctx;
    hub_buf_printf(&all->text, "%stoolset \"%s\": %s", all->told > 0 ? "; " : "",
                   hub_toolset_key(toolset), reason);
    all->status = all->told == 0 || all->status == status ? status : PATCHBAY_UNAVAILABLE;
    all->first = all->told == 0 ? toolset : all->first;
    all->told++;
}

/* Whether a station knows better what to say. */
static bool is_answered(hub_call *call, const silence *all)
{
    for (size_t row = 0; all->told == 1 && row < hub_stations_count(); row++) {
        const hub_station *station = hub_stations_at(row);
        if (station->toolset_is_silent != NULL &&
            station->toolset_is_silent(call, all->first) == HUB_ANSWERED) {
            return true;
        }
    }
    return false;
}

/* A failure that the hub words itself: of the closed set. */
static int32_t status_of(int32_t status)
{
    return status == PATCHBAY_INVALID_INPUT || status == PATCHBAY_FAILED ? status
                                                                         : PATCHBAY_UNAVAILABLE;
}

/* The name says whose it is, and that toolset cannot say whether it has it. */
static void respond_silent(const hub_request *request, hub_kind kind, const silence *all)
{
    hub_call *call = hub_request_begin(request);
    if (call == NULL) {
        return;
    }
    hub_request_refuse(request);
    hub_call_set_of_tool(call, kind == HUB_KIND_TOOL, true);
    if (!is_answered(call, all)) {
        hub_call_refuse(call, status_of(all->status), hub_buf_str(&all->text));
    }
}

/* ---- whose toolset is off -------------------------------------------------------------------- */

/* Whether the client has this tool of the hub's own. */
static bool has_own(const hub_request *request, hub_str name)
{
    const hub_entry *entry = hub_sight_find(hub_request_sight(request), HUB_KIND_TOOL, name);
    return entry != NULL && hub_toolset_is_meta(entry->owner);
}

static bool is_equipped(const hub_request *request)
{
    return hub_exposure_selection(hub_session_exposure(request->session)) != NULL;
}

/* Whether the client could have the toolset by asking for it: it has the tool for that, and no
 * policy is in the way. How many are active does not matter. */
static bool could_enable(const hub_request *request, const hub_toolset *toolset)
{
    hub_str key = hub_str_of(hub_toolset_key(toolset));
    bool has_tool = has_own(request, HUB_STR("enable_toolset")) ||
                    (is_equipped(request) && has_own(request, HUB_STR("unequip-toolset")));
    return has_tool && hub_toolset_settings_of(toolset)->enabled &&
           hub_exposure_may_tell_of(hub_session_exposure(request->session), key);
}

/* Whether a toolset that is off has, as far as is known, what would be called so. */
static bool may_have(const hub_request *request, hub_toolset *toolset, hub_kind kind, hub_str name)
{
    const hub_exposure *exposure = hub_session_exposure(request->session);
    hub_source source = hub_toolset_source(toolset);
    bool is_named = false;
    const hub_catalog *list = hub_toolset_list(toolset, kind);
    if (hub_exposure_source(exposure, source.toolset) != NULL) {
        return false;
    }
    if (list == NULL) { /* of all that are not known, only whose key the name has */
        return hub_toolset_list(toolset, HUB_KIND_TOOL) == NULL &&
               hub_exposure_may_show(exposure, &source, kind, name, &is_named) && is_named;
    }
    return hub_exposure_would_show(exposure, &source, kind, name);
}

/* A toolset that is off and would have it; NULL: none that the client may enable. */
static const hub_toolset *find_off(const hub_request *request, hub_kind kind, hub_str name)
{
    const hub_orchestrator *hub = hub_session_hub(request->session);
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        hub_toolset *toolset = hub_toolset_at(hub, i);
        if (may_have(request, toolset, kind, name) && could_enable(request, toolset)) {
            return toolset;
        }
    }
    return NULL;
}

/* How to have the toolset; or why nobody can, as list_toolsets says it, too. */
static void add_off(const hub_request *request, const hub_toolset *toolset, hub_buf *text)
{
    const char *key = hub_toolset_key(toolset);
    if (hub_toolset_unusable(toolset)[0] != '\0') {
        hub_buf_printf(text, "; toolset \"%s\" cannot be used: ", key);
        hub_line_add(text, hub_str_of(hub_toolset_unusable(toolset)), HUB_LIMIT_REASON_BYTES);
        return;
    }
    if (is_equipped(request)) {
        hub_buf_printf(text, "; the saved toolset that is equipped has nothing of \"%s\"%s", key,
                       has_own(request, HUB_STR("unequip-toolset"))
                           ? ": call unequip-toolset, then try again"
                           : "");
        return;
    }
    hub_buf_printf(text,
                   "; toolset \"%s\" is off: call enable_toolset with "
                   "{\"toolsets\": [\"%s\"]}, then try again",
                   key, key);
}

/* ---- which one was meant --------------------------------------------------------------------- */

/* How much of both begins alike. */
static size_t common(hub_str a, hub_str b)
{
    size_t most = a.len < b.len ? a.len : b.len;
    size_t i = 0;
    while (i < most && a.ptr[i] == b.ptr[i]) {
        i++;
    }
    return i;
}

/* The first entry whose toolset calls it so: who asks has left the toolset out. */
static hub_str find_own(const hub_shown *shown, hub_str name)
{
    hub_shown_place at = {.part = 0};
    for (const hub_entry *entry = hub_shown_next(shown, &at); entry != NULL;
         entry = hub_shown_next(shown, &at)) {
        if (hub_str_eq(entry->item->shown, name)) {
            return entry->exposed;
        }
    }
    return HUB_STR_EMPTY;
}

/* Offer the entries of a part. */
static void offer_part(hub_nearest *nearest, const hub_shown *shown, size_t part)
{
    hub_shown_place at = {.part = part};
    for (const hub_entry *entry = hub_shown_next(shown, &at); entry != NULL && at.part <= part;
         entry = hub_shown_next(shown, &at)) {
        hub_nearest_offer(nearest, entry->exposed);
    }
}

hub_str hub_unknown_nearest(const hub_shown *shown, hub_str name)
{
    hub_nearest nearest;
    size_t first = SIZE_MAX;
    size_t most = 0;
    hub_nearest_begin(&nearest, name);
    for (size_t i = 0; i < shown->part_count; i++) { /* the toolset whose names begin like it */
        const hub_section *section = shown->parts[i]->section;
        size_t alike =
            section != NULL && section->count > 0 ? common(section->entries[0].exposed, name) : 0;
        if (alike > most) {
            most = alike;
            first = i;
        }
    }
    if (first != SIZE_MAX) {
        offer_part(&nearest, shown, first);
    }
    for (size_t i = 0; i < shown->part_count; i++) {
        if (i != first) {
            offer_part(&nearest, shown, i);
        }
    }
    return nearest.found.len > 0 ? nearest.found : find_own(shown, name);
}

/* ---- answering ------------------------------------------------------------------------------- */

static void add_quoted(hub_buf *text, hub_str name)
{
    size_t len = name.len < NAME_SHOWN ? name.len : NAME_SHOWN;
    hub_suspects_add_visible((hub_str){.ptr = name.ptr, .len = len}, text);
}

static const char *const WHAT[] = {
    [HUB_KIND_TOOL] = "Unknown tool: ",
    [HUB_KIND_RESOURCE] = "Resource not found: ",
    [HUB_KIND_TEMPLATE] = "Resource not found: ",
    [HUB_KIND_PROMPT] = "Unknown prompt: ",
};

/* What may help: whose toolset is off, who cannot be reached, what was meant. */
static void add_help(const hub_request *request, hub_kind kind, hub_str name, const silence *silent,
                     size_t silent_count, hub_buf *text)
{
    bool is_uri = kind == HUB_KIND_RESOURCE || kind == HUB_KIND_TEMPLATE;
    const hub_toolset *off = is_uri ? NULL : find_off(request, kind, name);
    hub_str nearest =
        is_uri || off != NULL
            ? HUB_STR_EMPTY
            : hub_unknown_nearest(hub_sight_shown(hub_request_sight(request), kind), name);
    if (off != NULL) {
        add_off(request, off, text);
    } else if (nearest.len > 0 && !hub_str_eq(nearest, name)) {
        hub_buf_printf(text, "; did you mean \"" HUB_STR_FMT "\"?", HUB_STR_ARG(nearest));
    }
    if (silent_count > 0) {
        hub_buf_add(text, HUB_STR(" (toolsets that cannot be reached: "));
        hub_buf_add(text, hub_buf_str(&silent->text));
        if (silent_count > silent->told) {
            hub_buf_printf(text, "; and %zu more", silent_count - silent->told);
        }
        hub_buf_add_char(text, ')');
    }
}

/* What an error says: release both with hub_buf_fini. */
typedef struct saying {
    int code;
    hub_buf text;
    hub_buf data;
} saying;

static void make_saying(const hub_request *request, hub_kind kind, hub_str name,
                        const silence *silent, size_t silent_count, saying *ret_saying)
{
    bool is_uri = kind == HUB_KIND_RESOURCE || kind == HUB_KIND_TEMPLATE;
    hub_buf *text = &ret_saying->text;
    hub_buf *data = &ret_saying->data;
    ret_saying->code = is_uri ? hub_rpc_no_resource(request->context.era) : HUB_RPC_INVALID_PARAMS;
    hub_buf_init(text, HUB_LIMIT_LOG_LINE_BYTES + SILENT_SHOWN * HUB_LIMIT_REASON_BYTES);
    hub_buf_init(data, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_add(text, hub_str_of(WHAT[kind]));
    add_quoted(text, name);
    add_help(request, kind, name, silent, silent_count, text);
    hub_buf_add(data, HUB_STR("{"));
    if (is_uri) {
        hub_json_add_key(data, HUB_STR("uri"));
        hub_json_add_string(data, name);
        hub_buf_add_char(data, ',');
    }
    /* Who cannot be reached may have it. */
    hub_respond_add_cause(data,
                          silent_count > 0 ? status_of(silent->status) : PATCHBAY_INVALID_INPUT);
    hub_buf_add_char(data, '}');
    if (!hub_buf_ok(data)) {
        hub_buf_clear(data);
    }
}

static void respond_unknown(const hub_request *request, hub_kind kind, hub_str name,
                            const silence *silent, size_t silent_count)
{
    saying said;
    hub_request_refuse(request);
    make_saying(request, kind, name, silent, silent_count, &said);
    hub_respond_error(request, said.code, hub_buf_str(&said.text), hub_buf_str(&said.data));
    hub_buf_fini(&said.data);
    hub_buf_fini(&said.text);
}

void hub_unknown_add_error(const hub_call *call, hub_kind kind, hub_str name, hub_buf *out)
{
    const hub_request request = {.session = hub_call_session(call),
                                 .port = hub_call_port(call),
                                 .context = *hub_call_context(call)};
    bool is_named = false;
    saying said;
    silence silent = {.told = 0};
    hub_buf_init(&silent.text, HUB_LIMIT_LOG_LINE_BYTES + SILENT_SHOWN * HUB_LIMIT_REASON_BYTES);
    size_t count =
        hub_parking_explain(&request, kind, name, on_silent, &silent, SILENT_SHOWN, &is_named);
    make_saying(&request, kind, name, &silent, count, &said);
    hub_dialect_add_error(out, said.code, hub_buf_str(&said.text), hub_buf_str(&said.data));
    hub_buf_fini(&said.data);
    hub_buf_fini(&said.text);
    hub_buf_fini(&silent.text);
}

void hub_unknown_respond(const hub_request *request, hub_kind kind, hub_str name)
{
    bool is_named = false;
    silence silent = {.told = 0};
    hub_buf_init(&silent.text, HUB_LIMIT_LOG_LINE_BYTES + SILENT_SHOWN * HUB_LIMIT_REASON_BYTES);
    size_t count =
        hub_parking_explain(request, kind, name, on_silent, &silent, SILENT_SHOWN, &is_named);
    if (is_named && count > 0) {
        respond_silent(request, kind, &silent);
    } else {
        respond_unknown(request, kind, name, &silent, count);
    }
    hub_buf_fini(&silent.text);
}
