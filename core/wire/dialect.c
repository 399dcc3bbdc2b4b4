/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/dialect.h"

#include "base/limits.h"

/* Keys of params._meta that belong to the protocol: each hop writes its own. */
static const hub_str OWNED_META_KEYS[] = {
    {.ptr = "progressToken", .len = 13},
    {.ptr = HUB_META_PROTOCOL_VERSION, .len = sizeof HUB_META_PROTOCOL_VERSION - 1},
    {.ptr = HUB_META_CLIENT_INFO, .len = sizeof HUB_META_CLIENT_INFO - 1},
    {.ptr = HUB_META_CLIENT_CAPABILITIES, .len = sizeof HUB_META_CLIENT_CAPABILITIES - 1},
    {.ptr = HUB_META_LOG_LEVEL, .len = sizeof HUB_META_LOG_LEVEL - 1},
};

/* ---- reading a client's request -------------------------------------------------------------- */

/* The revision that a raw string names, however it spells it. */
static hub_revision revision_of(hub_str raw)
{
    for (int i = HUB_REVISION_2024_11_05; i <= HUB_REVISION_NEWEST; i++) {
        if (hub_json_string_is(raw, hub_str_of(hub_revision_date((hub_revision)i)))) {
            return (hub_revision)i;
        }
    }
    return HUB_REVISION_NONE;
}

/* A string or an integer, by its spelling: 1.0 is not one. */
static hub_err check_token(hub_str raw, hub_error *reterr)
{
    hub_json_type type = hub_json_type_of(raw);
    bool is_integer = type == HUB_JSON_NUMBER && memchr(raw.ptr, '.', raw.len) == NULL &&
                      memchr(raw.ptr, 'e', raw.len) == NULL &&
                      memchr(raw.ptr, 'E', raw.len) == NULL;
    if (type != HUB_JSON_NONE && type != HUB_JSON_STRING && !is_integer) {
        return hub_fail(reterr, HUB_EINVAL, "_meta.progressToken must be a string or an integer");
    }
    if (raw.len > HUB_LIMIT_ID_BYTES) {
        return hub_fail(reterr, HUB_ELIMIT, "_meta.progressToken is longer than %d bytes",
                        HUB_LIMIT_ID_BYTES);
    }
    return HUB_OK;
}

static hub_err fail_missing(hub_error *reterr, const char *key)
{
    return hub_fail(reterr, HUB_EINVAL, "_meta[\"%s\"] is missing: every request carries it", key);
}

static hub_err read_modern(const hub_message *message, hub_request_context *context,
                           hub_error *reterr)
{
    hub_str version = message->at[HUB_M_META_PROTOCOL_VERSION];
    context->era = HUB_ERA_MODERN;
    context->revision = revision_of(version);
    context->capabilities = message->at[HUB_M_META_CLIENT_CAPABILITIES];
    context->client_info = message->at[HUB_M_META_CLIENT_INFO];
    context->log_level = message->at[HUB_M_META_LOG_LEVEL];
    if (version.len == 0) {
        return fail_missing(reterr, HUB_META_PROTOCOL_VERSION);
    }
    if (hub_json_type_of(version) != HUB_JSON_STRING) {
        return hub_fail(reterr, HUB_EINVAL, "_meta[\"%s\"] must be a string",
                        HUB_META_PROTOCOL_VERSION);
    }
    if (context->capabilities.len == 0) {
        return fail_missing(reterr, HUB_META_CLIENT_CAPABILITIES);
    }
    if (hub_json_type_of(context->capabilities) != HUB_JSON_OBJECT) {
        return hub_fail(reterr, HUB_EINVAL, "_meta[\"%s\"] must be an object",
                        HUB_META_CLIENT_CAPABILITIES);
    }
    if (hub_revision_era(context->revision) != HUB_ERA_MODERN) {
        return hub_fail(reterr, HUB_EUNAVAILABLE, "Unsupported protocol version");
    }
    if (context->client_info.len > 0 && hub_json_type_of(context->client_info) != HUB_JSON_OBJECT) {
        return hub_fail(reterr, HUB_EINVAL, "_meta[\"%s\"] must be an object",
                        HUB_META_CLIENT_INFO);
    }
    if (context->log_level.len > 0 && hub_level_read(context->log_level) == HUB_LEVEL_NONE) {
        return hub_fail(reterr, HUB_EINVAL, "_meta[\"%s\"] is not a log level", HUB_META_LOG_LEVEL);
    }
    return HUB_OK;
}

hub_err hub_dialect_read(const hub_message *message, hub_revision legacy,
                         hub_request_context *ret_context, int *ret_code, hub_error *reterr)
{
    hub_request_context context = {
        .era = HUB_ERA_LEGACY,
        .revision = legacy,
        .capabilities = HUB_STR("{}"),
        .progress_token = message->at[HUB_M_META_PROGRESS_TOKEN],
    };
    hub_str meta = message->at[HUB_M_META];
    hub_err err = check_token(context.progress_token, reterr);
    if (err == HUB_OK && meta.len > 0 && hub_json_type_of(meta) != HUB_JSON_OBJECT) {
        err = hub_fail(reterr, HUB_EINVAL, "params._meta must be an object");
    }
    if (err == HUB_OK) {
        if (message->at[HUB_M_META_PROTOCOL_VERSION].len > 0 ||
            message->at[HUB_M_META_CLIENT_CAPABILITIES].len > 0) {
            err = read_modern(message, &context, reterr);
        } else if (legacy == HUB_REVISION_NONE) {
            err = hub_fail(reterr, HUB_EINVAL,
                           "the request carries no _meta[\"%s\"], and there was no initialize",
                           HUB_META_PROTOCOL_VERSION);
        }
    }
    if (err != HUB_OK) {
        *ret_code = err == HUB_EUNAVAILABLE ? HUB_RPC_UNSUPPORTED_VERSION : HUB_RPC_INVALID_PARAMS;
        return err;
    }
    *ret_context = context;
    return HUB_OK;
}

/* ---- framing for a client -------------------------------------------------------------------- */

/* What follows the '{' of an object, without white space; `}` for an empty one. */
static hub_str inside_of(hub_str object)
{
    hub_str rest = hub_str_from(object, 1);
    while (rest.len > 1 && (rest.ptr[0] == ' ' || rest.ptr[0] == '\n' || rest.ptr[0] == '\r' ||
                            rest.ptr[0] == '\t')) {
        rest = hub_str_from(rest, 1);
    }
    return rest;
}

size_t hub_dialect_result(hub_era era, hub_str id, hub_str result, bool has_type,
                          hub_str parts[HUB_FRAME_PARTS])
{
    size_t n = 0;
    parts[n++] = HUB_STR("{\"jsonrpc\":\"2.0\",\"id\":");
    parts[n++] = id;
    if (era == HUB_ERA_MODERN && !has_type) {
        hub_str inside = inside_of(result);
        bool empty = inside.ptr[0] == '}';
        parts[n++] = empty ? HUB_STR(",\"result\":{\"resultType\":\"complete\"")
                           : HUB_STR(",\"result\":{\"resultType\":\"complete\",");
        parts[n++] = inside;
    } else {
        parts[n++] = HUB_STR(",\"result\":");
        parts[n++] = result;
    }
    parts[n++] = HUB_STR("}");
    return n;
}

size_t hub_dialect_cacheable(hub_str id, hub_str result, bool has_type,
                             hub_str parts[HUB_FRAME_PARTS])
{
    hub_str type = has_type ? hub_json_get(result, HUB_STR("resultType")) : HUB_STR_EMPTY;
    bool has_ttl = hub_json_get(result, HUB_STR("ttlMs")).len > 0;
    bool has_scope = hub_json_get(result, HUB_STR("cacheScope")).len > 0;
    if (has_type && ((has_ttl && has_scope) || !hub_json_string_is(type, HUB_STR("complete")))) {
        return hub_dialect_result(HUB_ERA_MODERN, id, result, has_type, parts);
    }
    const hub_str members[] = {
        has_type ? HUB_STR_EMPTY : HUB_STR("\"resultType\":\"complete\""),
        has_ttl ? HUB_STR_EMPTY : HUB_STR("\"ttlMs\":0"),
        has_scope ? HUB_STR_EMPTY : HUB_STR("\"cacheScope\":\"private\""),
        inside_of(result),
    };
    size_t n = 0;
    parts[n++] = HUB_STR("{\"jsonrpc\":\"2.0\",\"id\":");
    parts[n++] = id;
    parts[n++] = HUB_STR(",\"result\":{");
    bool is_first = true;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (members[i].len == 0) {
            continue;
        }
        if (!is_first && members[i].ptr[0] != '}') {
            parts[n++] = HUB_STR(",");
        }
        parts[n++] = members[i];
        is_first = false;
    }
    parts[n++] = HUB_STR("}");
    return n;
}

size_t hub_dialect_list(hub_era era, hub_str id, hub_str key, const hub_str *items,
                        size_t item_count, hub_str tail, hub_str parts[HUB_FRAME_PARTS])
{
    size_t n = 0;
    parts[n++] = HUB_STR("{\"jsonrpc\":\"2.0\",\"id\":");
    parts[n++] = id;
    parts[n++] = era == HUB_ERA_MODERN ? HUB_STR(",\"result\":{\"resultType\":\"complete\",\"")
                                       : HUB_STR(",\"result\":{\"");
    parts[n++] = key;
    parts[n++] = HUB_STR("\":[");
    for (size_t i = 0; i < item_count; i++) {
        parts[n++] = items[i];
    }
    parts[n++] = HUB_STR("]");
    parts[n++] = tail;
    parts[n++] = HUB_STR("}}");
    return n;
}

size_t hub_dialect_error(hub_revision revision, hub_str id, hub_str error,
                         hub_str parts[HUB_FRAME_PARTS])
{
    size_t n = 0;
    if (id.len > 0) {
        parts[n++] = HUB_STR("{\"jsonrpc\":\"2.0\",\"id\":");
        parts[n++] = id;
        parts[n++] = HUB_STR(",\"error\":");
    } else {
        bool null_id = revision != HUB_REVISION_NONE && revision < HUB_REVISION_2025_11_25;
        parts[n++] = null_id ? HUB_STR("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":")
                             : HUB_STR("{\"jsonrpc\":\"2.0\",\"error\":");
    }
    parts[n++] = error;
    parts[n++] = HUB_STR("}");
    return n;
}

void hub_dialect_add_error(hub_buf *out, int code, hub_str message, hub_str data)
{
    hub_buf_printf(out, "{\"code\":%d,\"message\":", code);
    hub_json_add_string(out, message);
    if (data.len > 0) {
        hub_buf_add(out, HUB_STR(",\"data\":"));
        hub_buf_add(out, data);
    }
    hub_buf_add_char(out, '}');
}

void hub_dialect_add_versions(hub_buf *out, hub_str requested)
{
    hub_buf_add(out, HUB_STR("{\"supported\":["));
    for (int i = HUB_REVISION_NEWEST; i > HUB_REVISION_NEWEST_LEGACY; i--) {
        hub_json_add_comma(out);
        hub_json_add_string(out, hub_str_of(hub_revision_date((hub_revision)i)));
    }
    hub_buf_add(out, HUB_STR("],\"requested\":"));
    hub_buf_add(out, requested);
    hub_buf_add_char(out, '}');
}

/* ---- framing for an upstream ----------------------------------------------------------------- */

static bool is_owned(hub_str key)
{
    for (size_t i = 0; i < sizeof OWNED_META_KEYS / sizeof OWNED_META_KEYS[0]; i++) {
        if (hub_json_string_is(key, OWNED_META_KEYS[i])) {
            return true;
        }
    }
    return false;
}

static void add_member(hub_buf *out, hub_str key, hub_str raw)
{
    hub_json_add_key(out, key);
    hub_buf_add(out, raw);
}

/* Append the `_meta` for the upstream: the client's other keys as they are, then our own. */
static void add_meta(const hub_upstream_request *request, hub_buf *out)
{
    hub_json_iter it = hub_json_iterate(request->meta_json);
    hub_str key;
    hub_str value;
    hub_buf_add_char(out, '{');
    while (hub_json_next(&it, &key, &value)) {
        if (!is_owned(key)) {
            hub_json_add_comma(out);
            hub_buf_add(out, key);
            hub_buf_add_char(out, ':');
            hub_buf_add(out, value);
        }
    }
    if (request->wants_progress) {
        hub_json_add_key(out, HUB_STR("progressToken"));
        hub_buf_add_u64(out, request->id);
    }
    if (hub_revision_era(request->revision) == HUB_ERA_MODERN) {
        hub_json_add_key(out, HUB_STR(HUB_META_PROTOCOL_VERSION));
        hub_json_add_string(out, hub_str_of(hub_revision_date(request->revision)));
        add_member(out, HUB_STR(HUB_META_CLIENT_INFO), request->client_info);
        add_member(out, HUB_STR(HUB_META_CLIENT_CAPABILITIES), request->capabilities);
        if (request->log_level.len > 0) {
            add_member(out, HUB_STR(HUB_META_LOG_LEVEL), request->log_level);
        }
    }
    hub_buf_add_char(out, '}');
}

/* Whether the client's `_meta`, or its absence, is what the upstream should get. */
static bool keeps_meta(const hub_upstream_request *request)
{
    if (request->wants_progress || hub_revision_era(request->revision) == HUB_ERA_MODERN) {
        return false;
    }
    hub_json_iter it = hub_json_iterate(request->meta_json);
    hub_str key;
    hub_str value;
    while (hub_json_next(&it, &key, &value)) {
        if (is_owned(key)) {
            return false;
        }
    }
    return true;
}

/* One replacement of bytes within params. */
typedef struct splice {
    hub_str at; /* the slice that goes; empty span at its place: insert before it */
    hub_str with;
} splice;

static size_t apply_splices(hub_str params, splice *splices, size_t count, hub_str *parts)
{
    const char *from = params.ptr;
    size_t n = 0;
    if (count == 2 && splices[1].at.ptr < splices[0].at.ptr) {
        splice swap = splices[0];
        splices[0] = splices[1];
        splices[1] = swap;
    }
    for (size_t i = 0; i < count; i++) {
        hub_assert(splices[i].at.ptr >= from && splices[i].at.ptr <= params.ptr + params.len);
        parts[n++] = hub_str_between(from, splices[i].at.ptr);
        parts[n++] = splices[i].with;
        from = splices[i].at.ptr + splices[i].at.len;
    }
    parts[n++] = hub_str_between(from, params.ptr + params.len);
    return n;
}

static inline char *put(char *at, hub_str text)
{
    memcpy(at, text.ptr, text.len);
    return at + text.len;
}

/* Append a request up to its params: room is made once, for each call has them. */
static void add_head(const hub_upstream_request *request, bool has_params, hub_buf *out)
{
    const hub_str begin = HUB_STR("{\"jsonrpc\":\"2.0\",\"id\":");
    size_t most = sizeof "{\"jsonrpc\":\"2.0\",\"id\":,\"method\":\"\",\"params\":";
    char *at = hub_buf_reserve(out, most + HUB_U64_DIGITS + request->method.len);
    if (at == NULL) {
        return;
    }
    (void)put(at, begin);
    out->len += begin.len;
    hub_buf_add_u64(out, request->id);
    char *rest = out->ptr + out->len;
    at = put(rest, HUB_STR(",\"method\":\""));
    at = put(at, request->method);
    at = has_params ? put(at, HUB_STR("\",\"params\":")) : put(at, HUB_STR("\""));
    out->len += (size_t)(at - rest);
}

size_t hub_dialect_request(const hub_upstream_request *request, hub_buf *scratch,
                           hub_str parts[HUB_FRAME_PARTS])
{
    hub_str params = request->params.len > 0 ? request->params : HUB_STR("{}");
    bool keep_meta = keeps_meta(request);
    hub_buf_clear(scratch);
    /* Everything made here goes into one buffer first: its memory may move while it grows. */
    bool has_params = request->params.len > 0 || !keep_meta;
    add_head(request, has_params, scratch);
    size_t head = scratch->len;
    bool rename = request->name.len > 0 && request->name_json.len > 0 &&
                  !hub_json_string_is(request->name_json, request->name);
    if (rename) {
        hub_json_add_string(scratch, request->name);
    }
    size_t name_end = scratch->len;
    bool insert_meta = !keep_meta && request->meta_json.len == 0;
    if (!keep_meta) {
        hub_buf_add(scratch, insert_meta ? HUB_STR("\"_meta\":") : HUB_STR_EMPTY);
        add_meta(request, scratch);
        bool more = insert_meta && inside_of(params).ptr[0] != '}';
        hub_buf_add(scratch, more ? HUB_STR(",") : HUB_STR_EMPTY);
    }
    if (!hub_buf_ok(scratch)) {
        return 0;
    }
    splice splices[2];
    size_t count = 0;
    hub_str made = hub_buf_str(scratch);
    if (rename) {
        splices[count++] = (splice){.at = request->name_json,
                                    .with = {.ptr = made.ptr + head, .len = name_end - head}};
    }
    if (!keep_meta) {
        hub_str at = insert_meta ? (hub_str){.ptr = params.ptr + 1, .len = 0} : request->meta_json;
        splices[count++] = (splice){.at = at, .with = hub_str_from(made, name_end)};
    }
    size_t n = 0;
    parts[n++] = (hub_str){.ptr = made.ptr, .len = head};
    if (has_params) {
        n += apply_splices(params, splices, count, parts + n);
    }
    parts[n++] = HUB_STR("}");
    return n;
}
