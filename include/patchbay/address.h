/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether an address of the Internet Protocol is a public one: an address that a server anywhere may have.
 * All others lead to this machine, to its networks or to no single machine; where an operator says
 * `addresses: public`, nothing connects there. Header-only, any thread.
 *
 * spec: IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890), as of 2026; RFC 4291, 6052, 3056
 */
#ifndef PATCHBAY_ADDRESS_H
#define PATCHBAY_ADDRESS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the first `bits` bits of two addresses are the same. */
static inline int patchbay_address_begins_(const uint8_t *address, const uint8_t *with,
                                           unsigned bits)
{
    for (unsigned i = 0; i < bits; i += 8) {
        unsigned left = bits - i;
        unsigned mask = left >= 8 ? 0xffU : (0xffU << (8 - left)) & 0xffU;
        if (((address[i / 8] ^ with[i / 8]) & mask) != 0) {
            return 0;
        }
    }
    return 1;
}

/* `address`: 4 bytes, in the order of the network. */
static inline int patchbay_address_is_public_v4(const uint8_t *address)
{
    static const struct {
        uint8_t with[4];
        unsigned bits;
    } INTERNAL[] = {
        {{0, 0, 0, 0}, 8},      /* this network */
        {{10, 0, 0, 0}, 8},     /* private use */
        {{100, 64, 0, 0}, 10},  /* shared, of carriers */
        {{127, 0, 0, 0}, 8},    /* this machine */
        {{169, 254, 0, 0}, 16}, /* this link; metadata of clouds */
        {{172, 16, 0, 0}, 12},  /* private use */
        {{192, 0, 0, 0}, 24},   /* assignments of protocols */
        {{192, 0, 2, 0}, 24},   /* documentation, as two more below */
        {{192, 88, 99, 0}, 24}, /* relays that were */
        {{192, 168, 0, 0}, 16}, /* private use */
        {{198, 18, 0, 0}, 15},  /* benchmarks */
        {{198, 51, 100, 0}, 24}, {{203, 0, 113, 0}, 24},
        {{224, 0, 0, 0}, 3}, /* multicast, reserved, broadcast */
    };
    for (size_t i = 0; i < sizeof INTERNAL / sizeof INTERNAL[0]; i++) {
        if (patchbay_address_begins_(address, INTERNAL[i].with, INTERNAL[i].bits)) {
            return 0;
        }
    }
    return 1;
}

/* `address`: 16 bytes, in the order of the network. One that stands for an address of version 4 is as that
 * address is. */
static inline int patchbay_address_is_public_v6(const uint8_t *address)
{
    static const struct {
        uint8_t with[16];
        unsigned bits;
        unsigned at; /* where the address of version 4 begins in it; 0: it stands for none */
    } SPECIAL[] = {
        {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96, 12}, /* mapped */
        {{0, 0x64, 0xff, 0x9b}, 96, 12},                      /* translated */
        {{0x20, 0x02}, 16, 2},                                /* 6to4 */
        {{0x20, 0x01, 0}, 23, 0},                             /* assignments of protocols, Teredo */
        {{0x20, 0x01, 0x0d, 0xb8}, 32, 0},                    /* documentation */
        {{0x3f, 0xff}, 20, 0},                                /* documentation */
    };
    static const uint8_t GLOBAL[1] = {
        0x20}; /* 2000::/3: all that is assigned to machines anywhere */
    for (size_t i = 0; i < sizeof SPECIAL / sizeof SPECIAL[0]; i++) {
        if (patchbay_address_begins_(address, SPECIAL[i].with, SPECIAL[i].bits)) {
            return SPECIAL[i].at != 0 && patchbay_address_is_public_v4(address + SPECIAL[i].at);
        }
    }
    return patchbay_address_begins_(address, GLOBAL, 3);
}

#ifdef __cplusplus
}
#endif

#endif
