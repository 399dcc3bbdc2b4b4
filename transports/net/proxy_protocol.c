/* SPDX-License-Identifier: Apache-2.0 */
#include "net/proxy_protocol.h"

#include <arpa/inet.h>

enum {
    V1_BYTES = 107, /* with its line end; section 2.1 */
    V2_HEAD_BYTES = 16,
    V2_LOCAL = 0x20,
    V2_PROXY = 0x21,
    V2_OVER_IPV4 = 1, /* the upper half of the family byte; section 2.2 */
    V2_OVER_IPV6 = 2,
    V2_IPV4_BYTES = 12,
    V2_IPV6_BYTES = 36,
};

static const char V1_BEGIN[] = "PROXY ";
static const char V2_BEGIN[] = "\r\n\r\n\0\r\nQUIT\n";

static bool may_begin(hub_str bytes, const char *begin, size_t len)
{
    return memcmp(bytes.ptr, begin, bytes.len < len ? bytes.len : len) == 0;
}

/* The word in front of the next space. */
static hub_str next_word(hub_str *rest)
{
    size_t len = hub_str_find(*rest, HUB_STR(" "));
    hub_str word = {.ptr = rest->ptr, .len = len == SIZE_MAX ? rest->len : len};
    *rest = hub_str_from(*rest, len == SIZE_MAX ? rest->len : len + 1);
    return word;
}

/* "TCP4 SOURCE DESTINATION PORT PORT", or "UNKNOWN" and whatever. */
static bool read_v1_line(hub_str line, char ret_address[HUB_ADDRESS_TEXT_BYTES])
{
    hub_str family = next_word(&line);
    if (hub_str_is(family, "UNKNOWN")) {
        return true;
    }
    hub_str source = next_word(&line);
    bool is_v6 = hub_str_is(family, "TCP6");
    bool has_colon = hub_str_find(source, HUB_STR(":")) != SIZE_MAX;
    char destination[HUB_ADDRESS_TEXT_BYTES];
    return (is_v6 || hub_str_is(family, "TCP4")) && is_v6 == has_colon &&
           hub_address_parse(source, ret_address) &&
           hub_address_parse(next_word(&line), destination) && next_word(&line).len > 0 &&
           next_word(&line).len > 0 && line.len == 0;
}

static net_proxy_progress read_v1(hub_str bytes, size_t *ret_used,
                                  char ret_address[HUB_ADDRESS_TEXT_BYTES])
{
    size_t end = hub_str_find(bytes, HUB_STR("\r\n"));
    if (end == SIZE_MAX) {
        return bytes.len < V1_BYTES ? NET_PROXY_MORE : NET_PROXY_REFUSED;
    }
    hub_str line = hub_str_between(bytes.ptr + sizeof V1_BEGIN - 1, bytes.ptr + end);
    *ret_used = end + 2;
    return end + 2 <= V1_BYTES && read_v1_line(line, ret_address) ? NET_PROXY_DONE
                                                                  : NET_PROXY_REFUSED;
}

static bool read_v2_source(hub_str said, unsigned family, char ret_address[HUB_ADDRESS_TEXT_BYTES])
{
    char text[HUB_ADDRESS_TEXT_BYTES];
    if (family == V2_OVER_IPV4) {
        return said.len >= V2_IPV4_BYTES &&
               inet_ntop(AF_INET, said.ptr, text, sizeof text) != NULL &&
               hub_address_parse(hub_str_of(text), ret_address);
    }
    if (family == V2_OVER_IPV6) {
        return said.len >= V2_IPV6_BYTES &&
               inet_ntop(AF_INET6, said.ptr, text, sizeof text) != NULL &&
               hub_address_parse(hub_str_of(text), ret_address);
    }
    return true; /* of another kind: the proxy's address has to do */
}

static net_proxy_progress read_v2(hub_str bytes, size_t *ret_used,
                                  char ret_address[HUB_ADDRESS_TEXT_BYTES])
{
    if (bytes.len < V2_HEAD_BYTES) {
        return NET_PROXY_MORE;
    }
    const uint8_t *head = (const uint8_t *)bytes.ptr;
    size_t length = (size_t)head[14] << 8 | head[15];
    if ((head[12] != V2_LOCAL && head[12] != V2_PROXY) ||
        V2_HEAD_BYTES + length > NET_PROXY_HEADER_BYTES) {
        return NET_PROXY_REFUSED;
    }
    if (bytes.len < V2_HEAD_BYTES + length) {
        return NET_PROXY_MORE;
    }
    *ret_used = V2_HEAD_BYTES + length;
    hub_str said = {.ptr = bytes.ptr + V2_HEAD_BYTES, .len = length};
    return head[12] == V2_LOCAL || read_v2_source(said, head[13] >> 4, ret_address)
               ? NET_PROXY_DONE
               : NET_PROXY_REFUSED;
}

net_proxy_progress net_proxy_read(hub_str bytes, size_t *ret_used,
                                  char ret_address[HUB_ADDRESS_TEXT_BYTES])
{
    ret_address[0] = '\0';
    *ret_used = 0;
    if (bytes.len == 0) {
        return NET_PROXY_MORE;
    }
    if (may_begin(bytes, V2_BEGIN, sizeof V2_BEGIN - 1)) {
        return read_v2(bytes, ret_used, ret_address);
    }
    if (!may_begin(bytes, V1_BEGIN, sizeof V1_BEGIN - 1)) {
        return NET_PROXY_REFUSED;
    }
    return bytes.len < sizeof V1_BEGIN - 1 ? NET_PROXY_MORE : read_v1(bytes, ret_used, ret_address);
}
