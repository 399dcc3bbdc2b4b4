/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cidr.h"

#include <arpa/inet.h>

enum { V4_BYTES = 4, V4_BITS = 32, V6_BITS = 128, DIGITS = 3, MAPPED_BYTES = 12 };

static bool is_mapped(const uint8_t *bytes)
{
    static const uint8_t PREFIX[MAPPED_BYTES] = {[10] = 0xff, [11] = 0xff};
    return memcmp(bytes, PREFIX, sizeof PREFIX) == 0;
}

/* A single address. */
static bool read_address(hub_str text, hub_cidr *ret_cidr)
{
    char copy[HUB_ADDRESS_TEXT_BYTES];
    *ret_cidr = (hub_cidr){.bits = 0};
    if (text.len == 0 || text.len >= sizeof copy || memchr(text.ptr, '\0', text.len) != NULL) {
        return false;
    }
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    ret_cidr->bits = V4_BITS;
    if (inet_pton(AF_INET, copy, ret_cidr->bytes) == 1) {
        return true;
    }
    ret_cidr->is_v6 = inet_pton(AF_INET6, copy, ret_cidr->bytes) == 1;
    ret_cidr->bits = V6_BITS;
    if (ret_cidr->is_v6 && is_mapped(ret_cidr->bytes)) {
        hub_cidr v4 = {.bits = V4_BITS};
        memcpy(v4.bytes, ret_cidr->bytes + MAPPED_BYTES, V4_BYTES);
        *ret_cidr = v4;
        return true;
    }
    return ret_cidr->is_v6;
}

/* The first `bits` of both are the same. */
static bool are_alike(const uint8_t *a, const uint8_t *b, unsigned bits)
{
    unsigned whole = bits / 8;
    unsigned rest = bits % 8;
    return memcmp(a, b, whole) == 0 &&
           (rest == 0 || ((unsigned)(a[whole] ^ b[whole]) >> (8 - rest)) == 0);
}

static bool read_bits(hub_str text, unsigned most, uint8_t *ret_bits)
{
    unsigned bits = 0;
    for (size_t i = 0; i < text.len && text.len <= DIGITS; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return false;
        }
        bits = bits * 10 + (unsigned)(text.ptr[i] - '0');
    }
    *ret_bits = (uint8_t)bits;
    return text.len > 0 && text.len <= DIGITS && bits <= most;
}

bool hub_cidr_parse(hub_str text, hub_cidr *ret_cidr)
{
    size_t slash = hub_str_find(text, HUB_STR("/"));
    hub_str address = slash == SIZE_MAX ? text : (hub_str){.ptr = text.ptr, .len = slash};
    if (!read_address(address, ret_cidr)) {
        return false;
    }
    if (slash != SIZE_MAX && !read_bits(hub_str_from(text, slash + 1),
                                        ret_cidr->is_v6 ? V6_BITS : V4_BITS, &ret_cidr->bits)) {
        return false;
    }
    /* Beyond its length everything is zero: else somebody meant another block. */
    hub_cidr bare = *ret_cidr;
    for (unsigned bit = bare.bits; bit < 8 * HUB_CIDR_BYTES; bit++) {
        bare.bytes[bit / 8] &= (uint8_t) ~(0x80u >> (bit % 8));
    }
    return memcmp(bare.bytes, ret_cidr->bytes, sizeof bare.bytes) == 0;
}

bool hub_address_parse(hub_str text, char ret_text[HUB_ADDRESS_TEXT_BYTES])
{
    hub_cidr address;
    return read_address(text, &address) &&
           inet_ntop(address.is_v6 ? AF_INET6 : AF_INET, address.bytes, ret_text,
                     HUB_ADDRESS_TEXT_BYTES) != NULL;
}

bool hub_cidr_any_has(const hub_cidr *blocks, size_t count, const char *address)
{
    hub_cidr single;
    if (count == 0 || !read_address(hub_str_of(address), &single)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (blocks[i].is_v6 == single.is_v6 &&
            are_alike(blocks[i].bytes, single.bytes, blocks[i].bits)) {
            return true;
        }
    }
    return false;
}
