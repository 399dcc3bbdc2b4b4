/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of IP addresses ("10.0.0.0/8", "fd00::/8", "192.0.2.7"), and whether an address lies in one.
 * An IPv4 address that is written as an IPv6 one ("::ffff:192.0.2.7") is the IPv4 address.
 *
 * Thread: any, one at a time.
 */
#ifndef HUB_BASE_CIDR_H
#define HUB_BASE_CIDR_H

#include "base/str.h"

#define HUB_CIDR_BYTES 16

/* The longest text of an address, with its NUL. */
#define HUB_ADDRESS_TEXT_BYTES 46

typedef struct hub_cidr {
    uint8_t bytes[HUB_CIDR_BYTES]; /* of IPv4 the first four */
    uint8_t bits;                  /* that count */
    bool is_v6;
} hub_cidr;

/* Read a block, or a single address. False when it is neither, or has bits set beyond its length,
 * which is a mistyped block. */
bool hub_cidr_parse(hub_str text, hub_cidr *ret_cidr);

/* Read an address, and write it in its usual form. False when it is not an address. */
bool hub_address_parse(hub_str text, char ret_text[HUB_ADDRESS_TEXT_BYTES]);

/* Whether an address in its usual form lies in one of the blocks. */
bool hub_cidr_any_has(const hub_cidr *blocks, size_t count, const char *address);

#endif
