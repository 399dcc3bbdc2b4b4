/* SPDX-License-Identifier: Apache-2.0 */
#include "http/origin.h"

#include "http/syntax.h"

enum { PORT_DIGITS = 5, PORT_MAX = 65535 };

static const hub_str LOCAL_HOSTS[] = {
    {.ptr = "localhost", .len = 9},
    {.ptr = "127.0.0.1", .len = 9},
    {.ptr = "[::1]", .len = 5},
};

const hub_http_origins HUB_HTTP_LOCAL_ORIGINS = {
    .hosts = LOCAL_HOSTS,
    .host_count = sizeof LOCAL_HOSTS / sizeof LOCAL_HOSTS[0],
};

/* ":" and a number from 1 to 65535 without leading zeros. */
static bool is_port(hub_str text)
{
    unsigned port = 0;
    if (text.len < 2 || text.len > 1 + PORT_DIGITS || text.ptr[0] != ':' || text.ptr[1] == '0') {
        return false;
    }
    for (size_t i = 1; i < text.len; i++) {
        if (!hub_http_is_digit(text.ptr[i])) {
            return false;
        }
        port = port * 10 + (unsigned)(text.ptr[i] - '0');
    }
    return port <= PORT_MAX;
}

/* The listed name must be the whole authority, or all of it but a port. With that, user
 * information, a trailing dot, other spellings of an address and longer names need no rules of
 * their own. */
static bool is_listed(const hub_http_origins *allowed, hub_str host)
{
    for (size_t i = 0; i < allowed->host_count; i++) {
        hub_str listed = allowed->hosts[i];
        hub_str begin = {.ptr = host.ptr, .len = listed.len};
        if (listed.len == 0 || host.len < listed.len || !hub_str_eq_nocase(begin, listed)) {
            continue;
        }
        hub_str rest = hub_str_from(host, listed.len);
        if (rest.len == 0 || is_port(rest)) {
            return true;
        }
    }
    return false;
}

/* ":8080" of "localhost:8080" and of "[::1]:8080"; empty where the scheme says it. */
static hub_str port_of(hub_str authority)
{
    for (size_t i = authority.len; i > 0 && authority.ptr[i - 1] != ']'; i--) {
        if (authority.ptr[i - 1] == ':') {
            return hub_str_from(authority, i - 1);
        }
    }
    return HUB_STR_EMPTY;
}

bool hub_http_is_host_allowed(const hub_http_origins *allowed, hub_str host)
{
    for (size_t i = 0; i < allowed->host_count; i++) {
        if (hub_str_is(allowed->hosts[i], "*")) {
            return true;
        }
    }
    return is_listed(allowed, host);
}

/* Browsers serialise schemes in lower case (RFC 6454 section 6.1): nothing else is an origin. */
bool hub_http_is_origin_allowed(const hub_http_origins *allowed, hub_str origin)
{
    static const hub_str SCHEMES[] = {{.ptr = "http://", .len = 7}, {.ptr = "https://", .len = 8}};
    for (size_t i = 0; i < 2; i++) {
        if (hub_str_starts(origin, SCHEMES[i]) &&
            is_listed(allowed, hub_str_from(origin, SCHEMES[i].len))) {
            return true;
        }
    }
    for (size_t i = 0; i < allowed->origin_count; i++) {
        if (origin.len > 0 && hub_str_eq_nocase(origin, allowed->origins[i])) {
            return true;
        }
    }
    return false;
}

/* Where every name is the hub's, a page of the name that was asked for is of the hub's own. */
static bool is_same_origin(hub_str host, hub_str origin)
{
    size_t scheme = hub_str_find(origin, HUB_STR("://"));
    bool is_web =
        hub_str_starts(origin, HUB_STR("http://")) || hub_str_starts(origin, HUB_STR("https://"));
    return is_web && host.len > 0 && hub_str_eq_nocase(hub_str_from(origin, scheme + 3), host);
}

bool hub_http_is_neighbour(const hub_http_origins *allowed, hub_str host, hub_str origin)
{
    for (size_t i = 0; i < allowed->origin_count; i++) {
        if (hub_str_eq_nocase(origin, allowed->origins[i])) {
            return false;
        }
    }
    size_t scheme = hub_str_find(origin, HUB_STR("://"));
    hub_str page = scheme != SIZE_MAX ? hub_str_from(origin, scheme + 3) : HUB_STR_EMPTY;
    for (size_t i = 0; i < allowed->host_count; i++) { /* one with its port is just that page */
        if (port_of(page).len > 0 && hub_str_eq_nocase(page, allowed->hosts[i])) {
            return false;
        }
    }
    return is_listed(&HUB_HTTP_LOCAL_ORIGINS, page) && !hub_str_eq(port_of(page), port_of(host));
}

const char *hub_http_origin_refusal(const hub_http_origins *allowed, hub_str host,
                                    const hub_str *origin)
{
    if (!hub_http_is_host_allowed(allowed, host)) {
        return "This host name is not allowed here.";
    }
    if (origin != NULL && !hub_http_is_origin_allowed(allowed, *origin) &&
        !is_same_origin(host, *origin)) {
        return "This origin is not allowed here.";
    }
    return NULL;
}
