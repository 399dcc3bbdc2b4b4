/* SPDX-License-Identifier: Apache-2.0 */
/* URI references, as far as $id and $ref need them (RFC 3986). Nothing is ever fetched. */
#include "tools/schema_internal.h"

#include "base/encoding.h"

char *hub_schema_new_text(hub_schema_compiler *compiler, size_t bytes)
{
    return hub_schema_alloc(&compiler->schema->memory, bytes + 1, 1);
}

size_t hub_schema_char_find(hub_str text, size_t from, char c)
{
    size_t at = from;
    while (at < text.len && text.ptr[at] != c) {
        at++;
    }
    return at;
}

/* The length of "scheme:", or 0. */
static size_t scheme_len(hub_str uri)
{
    for (size_t i = 0; i < uri.len; i++) {
        char c = uri.ptr[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (c == ':') {
            return i > 0 ? i + 1 : 0;
        }
        if (!is_letter && (i == 0 || strchr("0123456789+-.", c) == NULL)) {
            return 0;
        }
    }
    return 0;
}

/* Where the path begins: behind "scheme://authority". */
static size_t path_start(hub_str uri)
{
    size_t at = scheme_len(uri);
    if (!hub_str_starts(hub_str_from(uri, at), HUB_STR("//"))) {
        return at;
    }
    size_t slash = hub_schema_char_find(uri, at + 2, '/');
    size_t query = hub_schema_char_find(uri, at + 2, '?');
    return slash < query ? slash : query;
}

/* 5.2.4: take "." and ".." out of a path, in place. Returns the new length. */
static size_t remove_dots(char *path, size_t len)
{
    size_t used = 0;
    size_t at = 0;
    bool is_rooted = len > 0 && path[0] == '/';
    while (at < len) {
        hub_str rest = {.ptr = path + at, .len = len - at};
        size_t end = at + hub_schema_char_find(rest, 0, '/');
        hub_str segment = {.ptr = path + at, .len = end - at};
        bool is_last = end == len;
        if (hub_str_is(segment, "..")) {
            used -= used > is_rooted; /* the slash in front */
            while (used > 0 && path[used - 1] != '/') {
                used--;
            }
        } else if (!hub_str_is(segment, ".")) {
            memmove(path + used, segment.ptr, segment.len);
            used += segment.len;
            if (!is_last) {
                path[used++] = '/';
            }
        }
        at = end + 1;
    }
    return used;
}

hub_err hub_schema_uri_resolve(hub_schema_compiler *compiler, hub_str base, hub_str ref,
                               hub_str *ret_uri)
{
    if (scheme_len(ref) > 0) {
        *ret_uri = ref;
        return HUB_OK;
    }
    size_t path = path_start(base);
    size_t query = hub_schema_char_find(base, path, '?');
    size_t keep = query; /* bytes of the base in front of the reference */
    if (hub_str_starts(ref, HUB_STR("//"))) {
        keep = scheme_len(base);
    } else if (hub_str_starts(ref, HUB_STR("/"))) {
        keep = path;
    } else if (!hub_str_starts(ref, HUB_STR("?"))) {
        while (keep > path && base.ptr[keep - 1] != '/') {
            keep--;
        }
    }
    char *uri = hub_schema_new_text(compiler, keep + ref.len);
    if (uri == NULL) {
        return hub_schema_refuse_memory(compiler);
    }
    if (keep > 0) {
        memcpy(uri, base.ptr, keep);
    }
    memcpy(uri + keep, ref.ptr, ref.len);
    hub_str joined = {.ptr = uri, .len = keep + ref.len};
    path = path_start(joined);
    size_t end = hub_schema_char_find(joined, path, '?');
    size_t len = path + remove_dots(uri + path, end - path);
    memmove(uri + len, uri + end, joined.len - end);
    *ret_uri = (hub_str){.ptr = uri, .len = len + joined.len - end};
    return HUB_OK;
}

hub_err hub_schema_uri_decode(hub_schema_compiler *compiler, hub_str text, hub_str *ret_text)
{
    char *decoded = hub_schema_new_text(compiler, text.len);
    if (decoded == NULL) {
        return hub_schema_refuse_memory(compiler);
    }
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        int byte = text.ptr[i] == '%' ? hub_percent_byte(text, i) : -1;
        decoded[len++] = byte >= 0 ? (char)byte : text.ptr[i];
        i += byte >= 0 ? 2 : 0;
    }
    *ret_text = (hub_str){.ptr = decoded, .len = len};
    return HUB_OK;
}
