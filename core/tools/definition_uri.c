/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/definition_uri.h"

#include "base/cidr.h"
#include "tools/definition_text.h"
#include "wire/json.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"

enum {
    SCHEME_BYTES = 6, /* a longer one is none of those below */
    PORT_MOST = 65535,
};

typedef enum uri_kind {
    URI_PLAIN,
    URI_WEB, /* must have a host, and takes a backslash for a slash */
    URI_FILE,
} uri_kind;

/* The beginning of a text, as far as it fits. */
typedef struct short_text {
    char bytes[HUB_ADDRESS_TEXT_BYTES];
    size_t length; /* of all */
} short_text;

static void add(short_text *text, uint32_t c)
{
    if (text->length < sizeof text->bytes) {
        text->bytes[text->length] = c < 0x80 ? (char)c : '?';
    }
    text->length++;
}

static hub_str str_of(const short_text *text)
{
    return (hub_str){.ptr = text->bytes,
                     .len = text->length <= sizeof text->bytes ? text->length : 0};
}

static bool is_among(uint32_t c, const char *any_of)
{
    return c != 0 && c < 0x80 && strchr(any_of, (int)c) != NULL;
}

static bool take_scheme(hub_text_reader *r, uri_kind *ret_kind)
{
    static const char *const WEB[] = {"http", "https", "ws", "wss", "ftp"};
    short_text scheme = {.length = 0};
    const char *allowed = LETTERS;
    while (is_among(hub_text_peek(r), allowed)) {
        add(&scheme, hub_text_next(r));
        allowed = LETTERS DIGITS "+-.";
    }
    if (scheme.length == 0 || !hub_text_take(r, ":")) {
        return false;
    }
    hub_str name = str_of(&scheme);
    *ret_kind = hub_str_eq_nocase(name, HUB_STR("file")) ? URI_FILE : URI_PLAIN;
    for (size_t i = 0; i < sizeof WEB / sizeof WEB[0]; i++) {
        if (hub_str_eq_nocase(name, hub_str_of(WEB[i]))) {
            *ret_kind = URI_WEB;
        }
    }
    return true;
}

/* A host in brackets, behind the first of them. */
static bool take_address(hub_text_reader *r)
{
    char address[HUB_ADDRESS_TEXT_BYTES];
    short_text text = {.length = 0};
    while (hub_text_peek(r) != HUB_TEXT_END && hub_text_peek(r) != ']') {
        add(&text, hub_text_next(r));
    }
    hub_str found = str_of(&text);
    return hub_text_take(r, "]") && hub_str_find(found, HUB_STR(":")) < found.len &&
           hub_address_parse(found, address);
}

/* Whether its last label is a number: then all of it is an IPv4 address. */
static bool is_numeric(hub_str host)
{
    size_t at = host.len;
    while (at > 0 && host.ptr[at - 1] >= '0' && host.ptr[at - 1] <= '9') {
        at--;
    }
    return at < host.len && (at == 0 || host.ptr[at - 1] == '.');
}

static bool take_name(hub_text_reader *r, uri_kind kind, const char *ends, size_t *ret_length)
{
    char address[HUB_ADDRESS_TEXT_BYTES];
    short_text host = {.length = 0};
    for (uint32_t c = hub_text_peek(r); c != HUB_TEXT_END && !is_among(c, ends);
         c = hub_text_peek(r)) {
        bool is_control = c <= ' ' || (c == 0x7f && kind != URI_PLAIN);
        if (is_control || is_among(c, kind == URI_PLAIN ? "<>[]\\^|@" : "<>[]\\^|@%:")) {
            return false;
        }
        add(&host, hub_text_next(r));
    }
    *ret_length = host.length;
    hub_str name = str_of(&host);
    if (name.len > 0 && name.ptr[name.len - 1] == '.') {
        name.len--;
    }
    return kind == URI_PLAIN || !is_numeric(name) || hub_address_parse(name, address);
}

static bool take_port(hub_text_reader *r)
{
    int port = 0;
    while (is_among(hub_text_peek(r), DIGITS)) {
        port = port * 10 + (int)(hub_text_next(r) - '0');
        if (port > PORT_MOST) {
            return false;
        }
    }
    return true;
}

/* Go behind the last @ in front of the path, if there is one. */
static bool take_user(hub_text_reader *r, const char *ends)
{
    bool has_user = false;
    hub_text_reader ahead = *r;
    for (uint32_t c = hub_text_peek(&ahead); c != HUB_TEXT_END && !is_among(c, ends);
         c = hub_text_peek(&ahead)) {
        (void)hub_text_next(&ahead);
        if (c == '@') {
            *r = ahead;
            has_user = true;
        }
    }
    return has_user;
}

static bool is_authority(hub_text_reader *r, uri_kind kind)
{
    const char *ends = kind == URI_WEB ? "/\\?#" : "/?#";
    size_t length = 1;
    bool needs_host = take_user(r, ends) || kind == URI_WEB;
    bool is_good = hub_text_take(r, "[")
                       ? take_address(r)
                       : take_name(r, kind, kind == URI_WEB ? ":/\\?#" : ":/?#", &length);
    bool has_port = is_good && hub_text_take(r, ":");
    is_good = is_good && (!has_port || take_port(r));
    uint32_t end = hub_text_peek(r);
    return is_good && (length > 0 || !(needs_host || has_port)) &&
           (end == HUB_TEXT_END || is_among(end, ends));
}

static bool is_file_host(hub_text_reader *r)
{
    size_t length;
    hub_text_reader drive = *r;
    if (hub_text_take(&drive, LETTERS) && hub_text_take(&drive, ":|") &&
        (hub_text_peek(&drive) == HUB_TEXT_END || is_among(hub_text_peek(&drive), "/\\?#"))) {
        return true;
    }
    return hub_text_take(r, "[") ? take_address(r) && (hub_text_peek(r) == HUB_TEXT_END ||
                                                       is_among(hub_text_peek(r), "/\\?#"))
                                 : take_name(r, URI_FILE, "/\\?#", &length);
}

bool hub_definition_is_uri(hub_str raw)
{
    uri_kind kind;
    if (hub_json_type_of(raw) != HUB_JSON_STRING) {
        return false;
    }
    hub_text_reader r = hub_text_read(raw);
    if (!take_scheme(&r, &kind)) {
        return false;
    }
    if (kind == URI_WEB) {
        while (hub_text_take(&r, "/\\")) {
        }
        return is_authority(&r, kind);
    }
    const char *slashes = kind == URI_FILE ? "/\\" : "/";
    if (!hub_text_take(&r, slashes) || !hub_text_take(&r, slashes)) {
        return true;
    }
    return kind == URI_FILE ? is_file_host(&r) : is_authority(&r, kind);
}
