/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of JSON, compared as they are written and not as doubles. Pure functions. Thread: [any]. */
#ifndef HUB_TOOLS_SCHEMA_NUMBER_H
#define HUB_TOOLS_SCHEMA_NUMBER_H

#include "base/str.h"

/* ±digits * 10^exponent, exactly; the digits stay where they are in the text. */
typedef struct hub_schema_number {
    const char *digits; /* the first significant one; a '.' may stand between them */
    size_t count;       /* none leading, none trailing is '0'; the number 0 has no digits */
    int64_t exponent;   /* of the last digit; saturates far beyond what a double can hold */
    bool is_negative;
} hub_schema_number;

hub_schema_number hub_schema_number_of(hub_str raw);
bool hub_schema_number_is_integer(const hub_schema_number *number);
int hub_schema_number_cmp(const hub_schema_number *a, const hub_schema_number *b);
uint64_t hub_schema_number_hash(const hub_schema_number *number);

/* The value of a non-negative integer, UINT64_MAX when it is greater; false for other numbers. */
bool hub_schema_number_to_count(const hub_schema_number *number, uint64_t *ret_count);

/* `divisor` is greater than 0. Exact while it has at most 18 significant digits; else by double. */
bool hub_schema_number_is_multiple(hub_str value, hub_str divisor);

#endif
