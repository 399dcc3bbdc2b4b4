/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that are lent for longer than a call: who cannot use them at once holds what keeps them
 * where they are, instead of copying them. Thread: the owner's.
 */
#ifndef HUB_BASE_LENT_H
#define HUB_BASE_LENT_H

#include "base/str.h"

typedef struct hub_lent {
    const hub_str *spans; /* what is lent */
    size_t span_count;

    /* Keep them beyond the call, at most once. NULL: out of memory, they are to be copied.
     * owns:    the result, give it to `release` */
    void *(*hold)(void *owner);
    void (*release)(void *held);
    void *owner;
} hub_lent;

#endif
