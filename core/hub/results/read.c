/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/results/read.h"

#include "base/limits.h"
#include "hub/access/access.h"
#include "hub/audit/audit.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/meta/schemas.h"
#include "hub/results/pointer.h"
#include "hub/results/results.h"

/* ---- finding --------------------------------------------------------------------------------- */

/* Whether who asks may see what it came from, as things are now. */
static bool is_shown(hub_session *session, hub_sight sight, const hub_result_origin *origin)
{
    const hub_toolset *toolset =
        hub_sight_find_toolset(sight, hub_session_hub(session), origin->toolset);
    if (toolset == NULL || origin->tool.len == 0) {
        return toolset != NULL;
    }
    bool is_active = hub_exposure_source(sight.exposure, origin->toolset) != NULL;
    return (!is_active ||
            hub_sight_find_own(sight, HUB_KIND_TOOL, origin->toolset, origin->tool) != NULL) &&
           hub_access_shows_tool(session, toolset, origin->tool);
}

static const hub_kept_result *find(hub_session *session, hub_sight sight, hub_str id)
{
    const hub_kept_results *kept = hub_results_kept(hub_session_hub(session));
    const hub_kept_result *found =
        hub_kept_find(kept, hub_str_of(hub_session_who(session)),
                      hub_str_of(hub_profile_name(hub_session_profile(session))), id);
    bool is_good =
        found != NULL && sight.exposure != NULL && is_shown(session, sight, &found->origin);
    return is_good ? found : NULL;
}

/* ---- read_result ----------------------------------------------------------------------------- */

/* What is asked for. */
typedef struct page {
    hub_str path; /* decoded */
    uint64_t offset;
    uint64_t limit;
    hub_str text; /* all of what the path leads to */
} page;

/* So many bytes at most, back to the beginning of a character. */
static size_t boundary(hub_str text, size_t at)
{
    while (at > 0 && at < text.len && ((unsigned char)text.ptr[at] & 0xc0) == 0x80) {
        at--;
    }
    return at;
}

static void add_page(const page *asked, hub_buf *out)
{
    hub_str text = asked->text;
    size_t begin = boundary(text, (size_t)asked->offset);
    size_t room = text.len - begin;
    size_t end = boundary(text, begin + (room < asked->limit ? room : (size_t)asked->limit));
    if (end == begin && room > 0) { /* one character at least */
        end = begin + hub_str_utf8_length(hub_str_from(text, begin));
    }
    hub_buf_add(out, HUB_STR("{\"content\":[{\"type\":\"text\",\"text\":"));
    hub_json_add_string(out, hub_str_between(text.ptr + begin, text.ptr + end));
    if (begin > 0 || end < text.len) {
        hub_buf_printf(out, "},{\"type\":\"text\",\"text\":\"[bytes %zu to %zu of %zu", begin, end,
                       text.len);
        if (end < text.len) {
            hub_buf_printf(out, "; read on with offset %zu", end);
        }
        hub_buf_add(out, HUB_STR("]\""));
    }
    hub_buf_add(out, HUB_STR("}],\"_meta\":{\"patchbay/result\":{\"path\":"));
    hub_json_add_string(out, asked->path);
    hub_buf_printf(out, ",\"offset\":%zu,\"bytes\":%zu,\"total\":%zu", begin, end - begin,
                   text.len);
    if (end < text.len) {
        hub_buf_printf(out, ",\"next\":%zu", end);
    }
    hub_buf_add(out, HUB_STR("}}}"));
}

/* Find the text that is asked for: `found` and `decoded` are initialised, and what it may lie in. */
static hub_err find_text(page *asked, hub_str json, hub_buf *found, hub_buf *decoded,
                         hub_error *reterr)
{
    hub_str value;
    hub_err err =
        hub_result_point(json, asked->path, HUB_LIMIT_RESULT_PATH_BYTES, found, &value, reterr);
    if (err != HUB_OK) {
        return err;
    }
    if (hub_json_type_of(value) != HUB_JSON_STRING) {
        asked->text = value;
    } else if (!hub_json_plain(value, &asked->text)) {
        if (hub_json_decode(value, decoded) != HUB_OK) {
            return hub_fail(reterr, HUB_ENOMEM, "out of memory");
        }
        asked->text = hub_buf_str(decoded);
    }
    return asked->offset <= asked->text.len
               ? HUB_OK
               : hub_fail(reterr, HUB_EINVAL, "offset is behind the end: there are %zu bytes",
                          asked->text.len);
}

static uint64_t number_of(hub_str arguments, const char *key, uint64_t fallback)
{
    uint64_t number = fallback;
    (void)hub_json_to_whole(hub_json_get(arguments, hub_str_of(key)), &number);
    return number;
}

/* Read the arguments, which fit the schema; `text` is initialised, and holds what was decoded. */
static hub_err read_arguments(hub_str arguments, hub_buf *text, hub_str *ret_id, page *ret_page)
{
    hub_str path = hub_json_get(arguments, HUB_STR("path"));
    hub_err err = hub_json_decode(hub_json_get(arguments, HUB_STR("id")), text);
    size_t id_bytes = text->len;
    if (err == HUB_OK && hub_json_type_of(path) == HUB_JSON_STRING) {
        err = hub_json_decode(path, text);
    }
    *ret_id = (hub_str){.ptr = text->ptr, .len = id_bytes};
    *ret_page = (page){
        .path = err == HUB_OK ? hub_str_from(hub_buf_str(text), id_bytes) : HUB_STR_EMPTY,
        .offset = number_of(arguments, "offset", 0),
        .limit = number_of(arguments, "limit", HUB_LIMIT_RESULT_PAGE_BYTES),
    };
    return err;
}

/* Append the answer. */
static hub_err read_page(hub_call *call, hub_str arguments, hub_buf *out, hub_error *reterr)
{
    hub_session *session = hub_call_session(call);
    hub_buf text;
    hub_buf found;
    hub_buf decoded;
    hub_str id;
    page asked;
    hub_buf_init(&text, arguments.len + 1);
    hub_buf_init(&found, SIZE_MAX / 4);
    hub_buf_init(&decoded, SIZE_MAX / 4);
    hub_err err = read_arguments(arguments, &text, &id, &asked);
    const hub_kept_result *result = NULL;
    if (err != HUB_OK) {
        err = hub_fail(reterr, err, "%s", hub_err_text(err));
    } else if ((result = find(session, hub_call_sight(call), id)) == NULL) {
        err = hub_fail(reterr, HUB_ENOTFOUND,
                       "no result is kept under that id (any more): call the tool again");
    } else {
        if (asked.path.len == 0 && hub_result_is_text(result->json)) {
            asked.path = HUB_STR("/content/0/text");
        }
        err = find_text(&asked, result->json, &found, &decoded, reterr);
    }
    if (err == HUB_OK) {
        add_page(&asked, out);
        err = hub_buf_ok(out) ? HUB_OK : hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    hub_buf_fini(&decoded);
    hub_buf_fini(&found);
    hub_buf_fini(&text);
    return err;
}

static void read_result(hub_call *call, const hub_way *way)
{
    hub_error why = {.code = HUB_OK};
    hub_buf out;
    hub_buf_init(&out, SIZE_MAX / 4);
    hub_err err = read_page(call, way->arguments, &out, &why);
    if (err == HUB_OK) {
        const hub_outcome outcome = {.status = PATCHBAY_RESULT, .json = hub_buf_str(&out)};
        hub_call_finish(call, &outcome);
    } else { /* HUB_ELIMIT has a code of its own there, about something else */
        hub_meta_reply_failure(call, err == HUB_ELIMIT ? HUB_EINVAL : err, why.text);
    }
    hub_buf_fini(&out);
}

/* ---- resources/read -------------------------------------------------------------------------- */

static void add_contents(const hub_request *request, const hub_kept_result *result, hub_buf *out)
{
    bool is_text = hub_result_is_text(result->json);
    hub_buf_printf(out,
                   "{\"contents\":[{\"uri\":\"" HUB_RESULT_URI "%s\",\"mimeType\":\"%s\",\"text\":",
                   result->id, is_text ? "text/plain" : "application/json");
    if (is_text) {
        hub_json_iter it = hub_json_iterate(hub_json_get(result->json, HUB_STR("content")));
        hub_str key;
        hub_str item = HUB_STR_EMPTY;
        (void)hub_json_next(&it, &key, &item); /* there is one */
        hub_buf_add(out, hub_json_get(item, HUB_STR("text")));
    } else {
        hub_json_add_string(out, result->json);
    }
    hub_buf_add(out, request->context.era == HUB_ERA_MODERN
                         ? HUB_STR("}],\"ttlMs\":0,\"cacheScope\":\"private\"}")
                         : HUB_STR("}]}"));
}

bool hub_results_read(const hub_request *request)
{
    hub_str uri;
    hub_str begins = HUB_STR(HUB_RESULT_URI);
    if (!hub_json_plain(request->message->at[HUB_M_URI], &uri) ||
        uri.len != begins.len + HUB_RESULT_ID_BYTES ||
        memcmp(uri.ptr, begins.ptr, begins.len) != 0) {
        return false;
    }
    const hub_kept_result *result =
        find(request->session, hub_request_sight(request), hub_str_from(uri, begins.len));
    if (result == NULL) {
        return false;
    }
    const char *why = hub_audit_take_answered(request, result->origin.toolset, uri);
    if (why != NULL) {
        hub_respond_error(request, HUB_RPC_UNAVAILABLE, hub_str_of(why), HUB_STR_EMPTY);
        return true;
    }
    hub_buf out;
    hub_buf_init(&out, SIZE_MAX / 4);
    add_contents(request, result, &out);
    if (hub_buf_ok(&out)) {
        hub_respond_result(request, hub_buf_str(&out));
    } else {
        hub_respond_error(request, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"), HUB_STR_EMPTY);
    }
    hub_buf_fini(&out);
    return true;
}

/* ---- the table ------------------------------------------------------------------------------- */

#define READ_SHOWN                                                                                 \
    OBJECT "\"required\":[\"id\"],\"properties\":{\"id\":{\"type\":\"string\"},"                   \
           "\"offset\":{\"type\":\"integer\",\"description\":\"First byte, from 0\"},"             \
           "\"limit\":{\"type\":\"integer\",\"description\":\"Most bytes\"},"                      \
           "\"path\":{\"type\":\"string\",\"description\":\"A part of it: a JSON Pointer, as "     \
           "/structuredContent/items/3\"}}}"
#define READ_ACCEPTED                                                                              \
    OBJECT "\"required\":[\"id\"],\"properties\":{\"id\":{\"type\":\"string\"},"                   \
           "\"offset\":{\"type\":[\"integer\",\"null\"],\"minimum\":0},"                           \
           "\"limit\":{\"type\":[\"integer\",\"null\"],\"minimum\":1,\"maximum\":262144},"         \
           "\"path\":{\"type\":[\"string\",\"null\"]}}}"

_Static_assert(HUB_LIMIT_RESULT_MOST_BYTES == 262144, "the schema says so");

const hub_meta_tool HUB_META_RESULTS_TOOLS[] = {
    {.name = "read_result",
     .in_static = true,
     .description = "Reads on in a result that was too large to be shown whole.",
     .input_schema = READ_SHOWN,
     .accepted_schema = READ_ACCEPTED,
     .annotations = ANNOTATIONS_READ,
     .change = read_result},
    {.name = NULL},
};
