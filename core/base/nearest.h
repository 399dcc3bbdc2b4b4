/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of many words one has mistyped: the nearest by edit distance, upper and lower case alike,
 * when it is near enough to be a typing error (a distance of at most 1 + len/4). Words are offered
 * one by one, and the work for all of them is bounded: of 10,000 names that are much alike, the last
 * may not be looked at. Pure functions, any thread.
 */
#ifndef HUB_BASE_NEAREST_H
#define HUB_BASE_NEAREST_H

#include "base/str.h"

#include <stdint.h>

typedef struct hub_nearest {
    hub_str word;
    hub_str found;   /* a slice of who was offered; empty: none is near enough */
    size_t distance; /* of `found`; before, the first that is too far */
    size_t steps;    /* that are left: comparisons of two bytes, and looks at one */
} hub_nearest;

/* Look for `word`, which is borrowed. A word of more than 64 bytes is near nothing. */
void hub_nearest_begin(hub_nearest *nearest, hub_str word);

/* Offer one, whose bytes have to last. Of several as near, the first is found. */
void hub_nearest_offer(hub_nearest *nearest, hub_str candidate);

#endif
