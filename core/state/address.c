/* SPDX-License-Identifier: Apache-2.0 */
#include "state/address.h"

#include "base/encoding.h"

#include <stdlib.h>

enum { DEFAULT_PORT = 6379, MOST_PORT = 65535, MOST_DATABASE = 65535 };

static const struct {
    const char *name;
    bool is_unix;
    bool is_tls;
} SCHEMES[] = {
    {"valkey://", false, false}, {"redis://", false, false},      {"valkeys://", false, true},
    {"rediss://", false, true},  {"valkey+unix://", true, false}, {"redis+unix://", true, false},
};

/* What other programs call ways to reach several servers. */
static const char *const SEVERAL[] = {"sentinel", "cluster"};

enum { SCHEME_COUNT = sizeof SCHEMES / sizeof SCHEMES[0] };

static size_t find_scheme(hub_str place)
{
    size_t at = 0;
    while (at < SCHEME_COUNT && !hub_str_starts(place, hub_str_of(SCHEMES[at].name))) {
        at++;
    }
    return at;
}

bool hub_state_address_is(hub_str place)
{
    size_t colon = hub_str_find(place, HUB_STR("://"));
    size_t slash = hub_str_find(place, HUB_STR("/"));
    return colon < place.len && slash == colon + 1;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Digits as a number up to `most`. */
static bool read_number(hub_str text, unsigned most, unsigned *ret_number)
{
    unsigned number = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || number > most) {
            return false;
        }
        number = number * 10 + (unsigned)(text.ptr[i] - '0');
    }
    *ret_number = number;
    return text.len > 0 && number <= most;
}

static bool copy(hub_str text, char *ret_text, size_t size)
{
    bool fits = text.len > 0 && text.len < size && memchr(text.ptr, '\0', text.len) == NULL;
    if (fits) {
        memcpy(ret_text, text.ptr, text.len);
        ret_text[text.len] = '\0';
    }
    return fits;
}

/* Where `what` is; text.len: nowhere. */
static size_t find(hub_str text, const char *what)
{
    size_t at = hub_str_find(text, hub_str_of(what));
    return at < text.len ? at : text.len;
}

/* Where the last `c` is; text.len: nowhere. */
static size_t find_last(hub_str text, char c)
{
    size_t at = text.len;
    while (at > 0 && text.ptr[at - 1] != c) {
        at--;
    }
    return at > 0 ? at - 1 : text.len;
}

/* "USER[:PASSWORD]" of what stands behind the scheme, and the place of the colon. */
static hub_str find_user(hub_str rest, size_t *ret_colon)
{
    hub_str authority = {.ptr = rest.ptr, .len = find(rest, "/")};
    size_t at = find_last(authority, '@');
    hub_str user = {.ptr = rest.ptr, .len = at < authority.len ? at : 0};
    *ret_colon = find(user, ":");
    return user;
}

static bool has_nul(const hub_buf *text)
{
    return text->len > 0 && memchr(text->ptr, '\0', text->len) != NULL;
}

static hub_err read_user(hub_str user, size_t colon, hub_state_address *address, hub_buf *password,
                         hub_error *reterr)
{
    hub_buf decoded;
    bool has_password = colon < user.len;
    hub_str name = {.ptr = user.ptr, .len = has_password ? colon : user.len};
    hub_str secret = has_password ? hub_str_from(user, colon + 1) : HUB_STR_EMPTY;
    hub_buf_init(&decoded, HUB_STATE_USER_BYTES - 1);
    bool is_good =
        hub_percent_decode(name, false, &decoded) && hub_buf_ok(&decoded) &&
        (decoded.len == 0 || copy(hub_buf_str(&decoded), address->user, sizeof address->user));
    hub_buf_fini(&decoded);
    if (!is_good) {
        return hub_fail(reterr, HUB_EINVAL,
                        "the user name of the store's address has 1 to %d bytes, percent-encoded",
                        HUB_STATE_USER_BYTES - 1);
    }
    if (has_password && password == NULL) {
        return hub_fail(reterr, HUB_EINVAL, "the store's address has a password here");
    }
    return !has_password || (hub_percent_decode(secret, false, password) && !has_nul(password))
               ? HUB_OK
               : hub_fail(reterr, HUB_EINVAL,
                          "the password in the store's address is not percent-encoded: write %%25 "
                          "for a %% sign");
}

static hub_err read_socket(hub_str rest, hub_state_address *address, hub_error *reterr)
{
    size_t question = find(rest, "?db=");
    hub_str path = {.ptr = rest.ptr, .len = question};
    bool is_good =
        path.len > 0 && path.ptr[0] == '/' && copy(path, address->socket, sizeof address->socket) &&
        (question == rest.len ||
         read_number(hub_str_from(rest, question + 4), MOST_DATABASE, &address->database));
    return is_good ? HUB_OK
                   : hub_fail(reterr, HUB_EINVAL,
                              "the store's address wants an absolute path of at most %d bytes, as "
                              "in valkey+unix:///run/valkey/valkey.sock or with ?db=1 behind it",
                              HUB_STATE_SOCKET_BYTES - 1);
}

/* "HOST", "HOST:PORT", "[ADDRESS]" or "[ADDRESS]:PORT". */
static bool split_host(hub_str text, hub_state_address *address)
{
    size_t bracket = find_last(text, ']');
    size_t colon = find_last(text, ':');
    bool is_bracketed = text.len > 0 && text.ptr[0] == '[' && bracket < text.len;
    bool has_port = colon < text.len && (!is_bracketed || colon == bracket + 1);
    hub_str host = {.ptr = text.ptr, .len = has_port ? colon : text.len};
    if (is_bracketed) {
        host = (hub_str){.ptr = text.ptr + 1, .len = bracket - 1};
    }
    return copy(host, address->host, sizeof address->host) &&
           (!has_port || (read_number(hub_str_from(text, colon + 1), MOST_PORT, &address->port) &&
                          address->port > 0));
}

static hub_err read_host(hub_str rest, hub_state_address *address, hub_error *reterr)
{
    size_t slash = find(rest, "/");
    hub_str host = {.ptr = rest.ptr, .len = slash};
    hub_str database = slash < rest.len ? hub_str_from(rest, slash + 1) : HUB_STR_EMPTY;
    if (find(host, ",") < host.len) {
        return hub_fail(reterr, HUB_EINVAL,
                        "the store's address names several servers: Patchbay uses one primary. "
                        "Put one name in front of them that follows the primary");
    }
    bool is_good = split_host(host, address) &&
                   (database.len == 0 || read_number(database, MOST_DATABASE, &address->database));
    return is_good ? HUB_OK
                   : hub_fail(reterr, HUB_EINVAL,
                              "the store's address is valkey://[USER[:PASSWORD]@]HOST[:PORT][/DB], "
                              "with a port of 1 to %d and the number of a database",
                              MOST_PORT);
}

hub_err hub_state_address_read(hub_str place, hub_state_address *ret_address, hub_buf *password,
                               hub_error *reterr)
{
    hub_state_address address = {.port = DEFAULT_PORT};
    size_t scheme = find_scheme(place);
    for (size_t i = 0; scheme == SCHEME_COUNT && i < sizeof SEVERAL / sizeof SEVERAL[0]; i++) {
        if (find(place, SEVERAL[i]) < find(place, "://")) {
            return hub_fail(reterr, HUB_EINVAL,
                            "Patchbay does not speak to %s: give the address of one primary, "
                            "valkey://HOST:PORT, or a name that follows it",
                            SEVERAL[i]);
        }
    }
    if (scheme == SCHEME_COUNT) {
        return hub_fail(reterr, HUB_EINVAL,
                        "the store's address begins with valkey://, valkeys:// (TLS) or "
                        "valkey+unix://, or with redis in the place of valkey");
    }
    size_t colon;
    hub_str rest = hub_str_from(place, strlen(SCHEMES[scheme].name));
    hub_str user = find_user(rest, &colon);
    address.is_unix = SCHEMES[scheme].is_unix;
    address.is_tls = SCHEMES[scheme].is_tls;
    hub_err err = read_user(user, colon, &address, password, reterr);
    bool has_user = user.len < rest.len && rest.ptr[user.len] == '@';
    rest = hub_str_from(rest, has_user ? user.len + 1 : 0);
    if (err == HUB_OK) {
        err = address.is_unix ? read_socket(rest, &address, reterr)
                              : read_host(rest, &address, reterr);
    }
    if (err == HUB_OK && password != NULL && !hub_buf_ok(password)) {
        err = hub_fail(reterr, HUB_EINVAL, "the password in the store's address is too long");
    }
    *ret_address = address;
    return err;
}

void hub_state_address_add_shown(hub_str place, hub_buf *out)
{
    size_t scheme = find_scheme(place);
    size_t begin = scheme < SCHEME_COUNT ? strlen(SCHEMES[scheme].name) : 0;
    size_t colon;
    hub_str user = find_user(hub_str_from(place, begin), &colon);
    hub_buf_add(out,
                (hub_str){.ptr = place.ptr, .len = begin + (colon < user.len ? colon : user.len)});
    hub_buf_add(out, hub_str_from(place, begin + user.len));
}
