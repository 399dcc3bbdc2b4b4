/* SPDX-License-Identifier: Apache-2.0 */
#include "http/forwarded.h"

#include "http/internal.h"

/* Of a chain of proxies; what is in front of so many is nobody's that is trusted. */
enum { MOST_HOPS = 32 };

static hub_str trim(hub_str text)
{
    while (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t')) {
        text = hub_str_from(text, 1);
    }
    while (text.len > 0 && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t')) {
        text.len--;
    }
    return text;
}

/* The last element of a list, which is then one shorter. False when there is none left. */
static bool take_last(hub_str *list, char separator, hub_str *ret_element)
{
    if (list->ptr == NULL) {
        return false;
    }
    size_t begin = list->len;
    while (begin > 0 && list->ptr[begin - 1] != separator) {
        begin--;
    }
    *ret_element = trim(hub_str_from(*list, begin));
    *list = begin > 0 ? (hub_str){.ptr = list->ptr, .len = begin - 1} : (hub_str){.ptr = NULL};
    return true;
}

static hub_str unquote(hub_str text)
{
    bool is_quoted = text.len >= 2 && text.ptr[0] == '"' && text.ptr[text.len - 1] == '"';
    return is_quoted ? (hub_str){.ptr = text.ptr + 1, .len = text.len - 2} : text;
}

/* "192.0.2.7", "192.0.2.7:4711", "2001:db8::7", "[2001:db8::7]", "[2001:db8::7]:4711". */
static bool read_node(hub_str node, char ret_address[HUB_ADDRESS_TEXT_BYTES])
{
    size_t colon = hub_str_find(node, HUB_STR(":"));
    if (node.len > 0 && node.ptr[0] == '[') {
        size_t end = hub_str_find(node, HUB_STR("]"));
        node = end == SIZE_MAX ? HUB_STR_EMPTY : hub_str_between(node.ptr + 1, node.ptr + end);
    } else if (colon != SIZE_MAX &&
               hub_str_find(hub_str_from(node, colon + 1), HUB_STR(":")) == SIZE_MAX) {
        node.len = colon;
    }
    return hub_address_parse(node, ret_address);
}

/* The value of a parameter of an element of Forwarded; empty: it has none. */
static hub_str parameter(hub_str element, const char *name)
{
    hub_str pair;
    while (take_last(&element, ';', &pair)) {
        size_t equals = hub_str_find(pair, HUB_STR("="));
        hub_str own = {.ptr = pair.ptr, .len = equals == SIZE_MAX ? 0 : equals};
        if (own.len > 0 && hub_str_eq_nocase(own, hub_str_of(name))) {
            return unquote(hub_str_from(pair, equals + 1));
        }
    }
    return HUB_STR_EMPTY;
}

/* From the hub outwards: the first address that is not a trusted proxy's is the client's. What cannot
 * be read ends the way. */
static void walk(hub_str list, bool is_rfc7239, const hub_listen_settings *listen,
                 char ret_client[HUB_ADDRESS_TEXT_BYTES])
{
    hub_str element;
    for (int hop = 0; hop < MOST_HOPS && take_last(&list, ',', &element); hop++) {
        char address[HUB_ADDRESS_TEXT_BYTES];
        if (!read_node(is_rfc7239 ? parameter(element, "for") : element, address)) {
            return;
        }
        memcpy(ret_client, address, sizeof address);
        if (!hub_cidr_any_has(listen->trusted_proxies, listen->trusted_proxy_count, address)) {
            return;
        }
    }
}

/* The hop that is nearest to the hub has said it last. */
static bool is_https(const hub_http_request *request, hub_str forwarded)
{
    hub_str element;
    hub_str proto = HUB_STR_EMPTY;
    hub_str list = hub_http_value(request, "x-forwarded-proto");
    if (list.len > 0) {
        (void)take_last(&list, ',', &proto);
    } else if (forwarded.len > 0 && take_last(&forwarded, ',', &element)) {
        proto = parameter(element, "proto");
    }
    return hub_str_eq_nocase(proto, HUB_STR("https"));
}

void hub_http_forwarded_read(const hub_http_request *request, const hub_listen_settings *listen,
                             const char *peer, hub_http_forwarded *ret_forwarded)
{
    *ret_forwarded = (hub_http_forwarded){.client = ""};
    if (!hub_cidr_any_has(listen->trusted_proxies, listen->trusted_proxy_count, peer)) {
        return;
    }
    hub_buf usual;
    hub_buf standard;
    hub_buf_init(&usual, HUB_HTTP_LIMIT_HEAD_BYTES);
    hub_buf_init(&standard, HUB_HTTP_LIMIT_HEAD_BYTES);
    bool has_usual = hub_http_add_value(request, HUB_STR("x-forwarded-for"), &usual);
    bool has_standard = hub_http_add_value(request, HUB_STR("forwarded"), &standard);
    ret_forwarded->is_trusted = true;
    if (hub_buf_ok(&usual) && hub_buf_ok(&standard)) {
        char other[HUB_ADDRESS_TEXT_BYTES] = "";
        if (has_usual) {
            walk(hub_buf_str(&usual), false, listen, ret_forwarded->client);
        }
        if (has_standard) {
            walk(hub_buf_str(&standard), true, listen, has_usual ? other : ret_forwarded->client);
        }
        if (has_usual && has_standard && strcmp(other, ret_forwarded->client) != 0) {
            ret_forwarded->client[0] = '\0';
        }
        ret_forwarded->is_secure = is_https(request, hub_buf_str(&standard));
    }
    hub_buf_fini(&usual);
    hub_buf_fini(&standard);
}
