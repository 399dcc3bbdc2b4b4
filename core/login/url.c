/* SPDX-License-Identifier: Apache-2.0 */
#include "login/url.h"

#include "base/encoding.h"

static bool is_printable(hub_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] <= 0x20 || text.ptr[i] >= 0x7f) {
            return false;
        }
    }
    return true;
}

static bool is_this_machine(hub_str host)
{
    static const char *const NAMES[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        hub_str name = hub_str_of(NAMES[i]);
        if (hub_str_starts(host, name) && (host.len == name.len || host.ptr[name.len] == ':')) {
            return true;
        }
    }
    return false;
}

/* As many bytes as come before one of `these`. */
static size_t span_before(hub_str text, const char *these)
{
    size_t len = 0;
    while (len < text.len && strchr(these, text.ptr[len]) == NULL) {
        len++;
    }
    return len;
}

bool hub_login_url_read(hub_str text, hub_login_url *ret_url)
{
    bool is_https = hub_str_starts(text, HUB_STR("https://"));
    if (!is_printable(text) || (!is_https && !hub_str_starts(text, HUB_STR("http://")))) {
        return false;
    }
    hub_str behind = hub_str_from(text, is_https ? 8 : 7);
    hub_str host = {.ptr = behind.ptr, .len = span_before(behind, "/?#")};
    hub_str rest = hub_str_from(behind, host.len);
    if (host.len == 0 || host.ptr[0] == ':' || hub_str_find(host, HUB_STR("@")) != SIZE_MAX ||
        hub_str_find(text, HUB_STR("#")) != SIZE_MAX ||
        hub_str_find(text, HUB_STR("\\")) != SIZE_MAX) {
        return false;
    }
    hub_str path = {.ptr = rest.ptr, .len = span_before(rest, "?")};
    *ret_url = (hub_login_url){
        .origin = hub_str_between(text.ptr, host.ptr + host.len),
        .path = path,
        .query = hub_str_from(rest, path.len < rest.len ? path.len + 1 : rest.len),
        .is_https = is_https,
        .is_loopback = is_this_machine(host),
    };
    return true;
}

bool hub_login_url_may(hub_str url, hub_str of)
{
    hub_login_url to;
    hub_login_url from;
    if (!hub_login_url_read(url, &to) || !hub_login_url_read(of, &from)) {
        return false;
    }
    return to.is_https || (to.is_loopback && !from.is_https && from.is_loopback);
}

bool hub_login_url_is_beneath(hub_str url, hub_str above)
{
    hub_login_url under;
    hub_login_url over;
    if (!hub_login_url_read(url, &under) || !hub_login_url_read(above, &over) ||
        !hub_str_eq_nocase(under.origin, over.origin)) {
        return false;
    }
    hub_str path = over.path;
    if (path.len > 0 && path.ptr[path.len - 1] == '/') {
        path.len--;
    }
    return hub_str_starts(under.path, path) &&
           (under.path.len == path.len || under.path.ptr[path.len] == '/');
}

static bool has_path(const hub_login_url *url)
{
    return url->path.len > 1;
}

void hub_login_url_add_inserted(hub_buf *out, const hub_login_url *of, hub_str well_known)
{
    hub_buf_add(out, of->origin);
    hub_buf_add(out, well_known);
    hub_buf_add(out, has_path(of) ? of->path : HUB_STR_EMPTY);
}

void hub_login_url_add_appended(hub_buf *out, const hub_login_url *of, hub_str well_known)
{
    hub_str path = has_path(of) ? of->path : HUB_STR_EMPTY;
    if (path.len > 0 && path.ptr[path.len - 1] == '/') {
        path.len--;
    }
    hub_buf_add(out, of->origin);
    hub_buf_add(out, path);
    hub_buf_add(out, well_known);
}

void hub_login_add_field(hub_buf *out, const char *name, hub_str value)
{
    if (value.len == 0) {
        return;
    }
    if (out->len > 0 && out->ptr[out->len - 1] != '?' && out->ptr[out->len - 1] != '&') {
        hub_buf_add_char(out, '&');
    }
    hub_buf_add(out, hub_str_of(name));
    hub_buf_add_char(out, '=');
    hub_percent_encode(value, out);
}

bool hub_login_find_field(hub_str query, const char *name, hub_buf *value)
{
    bool is_found = false;
    while (query.len > 0) {
        hub_str pair = {.ptr = query.ptr, .len = span_before(query, "&")};
        hub_str key = {.ptr = pair.ptr, .len = span_before(pair, "=")};
        query = hub_str_from(query, pair.len < query.len ? pair.len + 1 : query.len);
        if (!hub_str_is(key, name)) {
            continue;
        }
        hub_str text = hub_str_from(pair, key.len < pair.len ? key.len + 1 : pair.len);
        if (is_found || !hub_percent_decode(text, true, value) || !hub_buf_ok(value)) {
            return false;
        }
        is_found = true;
    }
    return is_found;
}
