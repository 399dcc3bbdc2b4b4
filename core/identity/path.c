/* SPDX-License-Identifier: Apache-2.0 */
#include "identity/path.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* "%2e", "%2f", "%5c", "%25" and "%00" in any case: a dot, the two separators, '%', NUL. */
static bool is_telling_escape(hub_str rest)
{
    static const char *const ESCAPES[] = {"2e", "2f", "5c", "25", "00"};
    for (size_t i = 0; rest.len >= 3 && i < sizeof ESCAPES / sizeof *ESCAPES; i++) {
        if (lower(rest.ptr[1]) == ESCAPES[i][0] && lower(rest.ptr[2]) == ESCAPES[i][1]) {
            return true;
        }
    }
    return false;
}

static bool is_plain(hub_str path)
{
    for (size_t i = 0; i < path.len; i++) {
        unsigned char c = (unsigned char)path.ptr[i];
        if (c < 0x20 || c == 0x7f || c == '\\' ||
            (c == '%' && is_telling_escape(hub_str_from(path, i)))) {
            return false;
        }
    }
    return path.len > 0 && path.ptr[0] == '/';
}

/* The length of `out` without its last segment. */
static size_t parent(const hub_buf *out)
{
    size_t len = out->len;
    while (len > 0 && out->ptr[--len] != '/') {
    }
    return len;
}

bool hub_path_normalise(hub_str path, hub_buf *out)
{
    if (!is_plain(path)) {
        return false;
    }
    for (size_t at = 0; at < path.len;) {
        size_t length = hub_str_find(hub_str_from(path, at), HUB_STR("/"));
        length = length == SIZE_MAX ? path.len - at : length;
        hub_str segment = {.ptr = path.ptr + at, .len = length};
        at += length + 1;
        if (hub_str_is(segment, "..")) {
            out->len = parent(out);
        } else if (segment.len > 0 && !hub_str_is(segment, ".")) {
            hub_buf_add_char(out, '/');
            hub_buf_add(out, segment);
        }
    }
    if (out->len == 0) {
        hub_buf_add_char(out, '/');
    }
    return hub_buf_ok(out);
}

bool hub_path_is_beneath(hub_str path, hub_str folder)
{
    if (hub_str_is(folder, "/")) {
        return true;
    }
    return hub_str_starts(path, folder) && (path.len == folder.len || path.ptr[folder.len] == '/');
}
