/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/replicas/caller.h"

#include "base/arena.h"
#include "base/encoding.h"
#include "base/limits.h"
#include "wire/json.h"

#include <stdio.h>

/* ---- writing --------------------------------------------------------------------------------- */

static void add_text(hub_buf *out, const char *key, const char *text)
{
    if (text != NULL) {
        hub_json_add_key(out, hub_str_of(key));
        hub_json_add_string(out, hub_str_of(text));
    }
}

static void add_names(hub_buf *out, const char *key, const hub_names *names)
{
    if (names->set || names->count > 0) {
        hub_names_add(names, key, out);
    }
}

static void add_digest(hub_buf *out, const char *key,
                       const uint8_t digest[HUB_IDENTITY_DIGEST_BYTES], bool is_there)
{
    if (is_there) {
        hub_json_add_key(out, hub_str_of(key));
        hub_buf_add_char(out, '"');
        hub_hex_add(out, (hub_str){.ptr = (const char *)digest, .len = HUB_IDENTITY_DIGEST_BYTES});
        hub_buf_add_char(out, '"');
    }
}

void hub_replica_caller_add(hub_buf *out, const hub_identity *identity)
{
    hub_buf_add_char(out, '{');
    add_text(out, "name", identity->name);
    add_names(out, "scopes", &identity->scopes);
    add_names(out, "groups", &identity->groups);
    add_names(out, "toolsets", &identity->toolsets);
    if (identity->claims.len > 0) {
        hub_json_add_key(out, HUB_STR("claims"));
        hub_json_add_compact(out, identity->claims);
    }
    add_text(out, "profile", identity->profile);
    add_text(out, "client", identity->client);
    if (identity->expires != 0) {
        hub_json_add_key(out, HUB_STR("expires"));
        hub_buf_printf(out, "%lld", (long long)identity->expires);
    }
    if (identity->source != 0) {
        hub_json_add_key(out, HUB_STR("source"));
        hub_buf_printf(out, "\"%llx\"", (unsigned long long)identity->source);
    }
    add_digest(out, "credential", identity->credential, hub_identity_is_of_token(identity));
    add_digest(out, "certificate", identity->certificate, hub_identity_is_of_certificate(identity));
    hub_buf_add_char(out, '}');
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A string, NUL-terminated. */
static hub_err decode(hub_str raw, hub_arena *arena, const char **ret_text)
{
    hub_buf text;
    hub_buf_init(&text, raw.len);
    hub_err err =
        hub_json_type_of(raw) == HUB_JSON_STRING ? hub_json_decode(raw, &text) : HUB_EPARSE;
    if (err == HUB_OK && text.len > 0 && memchr(text.ptr, '\0', text.len) != NULL) {
        err = HUB_EPARSE;
    }
    if (err == HUB_OK) {
        *ret_text = hub_arena_strdup(arena, hub_buf_str(&text));
        err = *ret_text != NULL ? HUB_OK : HUB_ENOMEM;
    }
    hub_buf_fini(&text);
    return err;
}

/* A string that may be absent. */
static hub_err read_text(hub_str object, const char *key, hub_arena *arena, const char **ret_text)
{
    hub_str raw = hub_json_get(object, hub_str_of(key));
    return raw.len > 0 ? decode(raw, arena, ret_text) : HUB_OK;
}

static hub_err read_names(hub_str object, const char *key, hub_arena *arena, hub_names *ret_names)
{
    hub_str raw = hub_json_get(object, hub_str_of(key));
    if (raw.len == 0) {
        return HUB_OK;
    }
    if (hub_json_type_of(raw) != HUB_JSON_ARRAY) {
        return HUB_EPARSE;
    }
    size_t count = hub_json_count(raw);
    const char **items = hub_arena_array(arena, count > 0 ? count : 1, sizeof *items);
    hub_json_iter it = hub_json_iterate(raw);
    hub_str none;
    hub_str item;
    hub_err err = items != NULL ? HUB_OK : HUB_ENOMEM;
    for (size_t i = 0; err == HUB_OK && hub_json_next(&it, &none, &item); i++) {
        err = decode(item, arena, &items[i]);
    }
    if (err == HUB_OK) {
        *ret_names = (hub_names){.items = items, .count = count, .set = true};
    }
    return err;
}

static hub_err read_digest(hub_str object, const char *key,
                           uint8_t ret_digest[HUB_IDENTITY_DIGEST_BYTES])
{
    hub_str raw = hub_json_get(object, hub_str_of(key));
    hub_str digits;
    if (raw.len == 0) {
        return HUB_OK;
    }
    bool is_good =
        hub_json_plain(raw, &digits) && hub_hex_read(digits, ret_digest, HUB_IDENTITY_DIGEST_BYTES);
    return is_good ? HUB_OK : HUB_EPARSE;
}

static hub_err read_numbers(hub_str object, hub_identity *draft)
{
    hub_str expires = hub_json_get(object, HUB_STR("expires"));
    hub_str source = hub_json_get(object, HUB_STR("source"));
    hub_str digits = HUB_STR_EMPTY;
    bool is_good = expires.len == 0 || hub_json_to_i64(expires, &draft->expires);
    is_good = is_good && (source.len == 0 || (hub_json_plain(source, &digits) && digits.len <= 16));
    for (size_t i = 0; is_good && i < digits.len; i++) {
        int value = hub_str_hex_digit(digits.ptr[i]);
        is_good = value >= 0;
        draft->source = draft->source << 4 | (uint64_t)(value & 15);
    }
    return is_good ? HUB_OK : HUB_EPARSE;
}

static hub_err read_members(hub_str object, hub_arena *arena, hub_identity *draft)
{
    hub_err err = read_text(object, "name", arena, &draft->name);
    err = err == HUB_OK ? read_names(object, "scopes", arena, &draft->scopes) : err;
    err = err == HUB_OK ? read_names(object, "groups", arena, &draft->groups) : err;
    err = err == HUB_OK ? read_names(object, "toolsets", arena, &draft->toolsets) : err;
    err = err == HUB_OK ? read_text(object, "profile", arena, &draft->profile) : err;
    err = err == HUB_OK ? read_text(object, "client", arena, &draft->client) : err;
    err = err == HUB_OK ? read_numbers(object, draft) : err;
    err = err == HUB_OK ? read_digest(object, "credential", draft->credential) : err;
    err = err == HUB_OK ? read_digest(object, "certificate", draft->certificate) : err;
    draft->claims = hub_json_get(object, HUB_STR("claims"));
    bool is_whole = draft->name != NULL && draft->name[0] != '\0' &&
                    (draft->claims.len == 0 || hub_json_type_of(draft->claims) == HUB_JSON_OBJECT);
    return err == HUB_OK && !is_whole ? HUB_EPARSE : err;
}

hub_err hub_replica_caller_read(hub_str text, hub_identity **ret_identity)
{
    hub_identity draft = {.refs = 0};
    hub_str object;
    if (hub_json_check(text, &object, NULL) != HUB_OK ||
        hub_json_type_of(object) != HUB_JSON_OBJECT) {
        return HUB_EPARSE;
    }
    hub_arena *arena = hub_arena_create(4 * text.len + HUB_LIMIT_LOG_LINE_BYTES);
    hub_err err = arena != NULL ? read_members(object, arena, &draft) : HUB_ENOMEM;
    if (err == HUB_OK) {
        *ret_identity = hub_identity_make(&draft);
        err = *ret_identity != NULL ? HUB_OK : HUB_ENOMEM;
    }
    hub_arena_destroy(arena);
    return err;
}
