/* SPDX-License-Identifier: Apache-2.0 */
/* Which features a schema uses that an API may not obey (REQUIREMENTS S2.44). Any thread. */
#ifndef HUB_EXPORT_LOSS_H
#define HUB_EXPORT_LOSS_H

#include "base/str.h"

#include <stdint.h>

/* Bits, in the order of hub_loss_name. */
enum {
    HUB_LOSS_REF = 1 << 0,
    HUB_LOSS_DEFS = 1 << 1,
    HUB_LOSS_ANY_OF = 1 << 2,
    HUB_LOSS_ONE_OF = 1 << 3,
    HUB_LOSS_ALL_OF = 1 << 4,
    HUB_LOSS_NOT = 1 << 5,
    HUB_LOSS_PATTERN = 1 << 6,
    HUB_LOSS_FORMAT = 1 << 7,
    HUB_LOSS_ADDITIONAL = 1 << 8,
    HUB_LOSS_MINIMUM = 1 << 9,
    HUB_LOSS_MAXIMUM = 1 << 10,
    HUB_LOSS_MIN_LENGTH = 1 << 11,
    HUB_LOSS_MAX_LENGTH = 1 << 12,
    HUB_LOSS_ENUM = 1 << 13,
    HUB_LOSS_CONST = 1 << 14,
    HUB_LOSS_DEFAULT = 1 << 15,
    HUB_LOSSES = 16,
};

/* What a schema uses anywhere in it: keywords where schemas stand, not names of properties. The depth is
 * bounded by that of JSON, and each byte is read at most once per level. */
uint32_t hub_loss_of(hub_str schema);

const char *hub_loss_name(unsigned bit_number);

#endif
