/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/schema_number.h"

#include "base/err.h"
#include "wire/json.h"

#include <math.h>

enum { MAX_DIVISOR_DIGITS = 18 }; /* so that remainder * 10 + 9 fits in 64 bits */

static const int64_t MAX_EXPONENT = INT64_C(1000000000000000);

static int64_t parse_exponent(const char *at, const char *end)
{
    if (at == end) {
        return 0;
    }
    at++; /* the 'e' */
    bool is_negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) {
        at++;
    }
    int64_t exponent = 0;
    for (; at < end && exponent < MAX_EXPONENT; at++) {
        exponent = exponent * 10 + (*at - '0');
    }
    exponent = exponent < MAX_EXPONENT ? exponent : MAX_EXPONENT;
    return is_negative ? -exponent : exponent;
}

/* The digit at *at, which moves on to the next one. */
static unsigned take_digit(const char **at)
{
    if (**at == '.') {
        (*at)++;
    }
    return (unsigned)(*(*at)++ - '0');
}

/* |a| against |b|: the place of the first digit decides, then digit by digit. */
static int compare_magnitude(const hub_schema_number *a, const hub_schema_number *b)
{
    if (a->count == 0 || b->count == 0) {
        return (a->count > 0) - (b->count > 0);
    }
    int64_t top_a = a->exponent + (int64_t)a->count;
    int64_t top_b = b->exponent + (int64_t)b->count;
    if (top_a != top_b) {
        return top_a < top_b ? -1 : 1;
    }
    const char *at_a = a->digits;
    const char *at_b = b->digits;
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        unsigned digit_a = take_digit(&at_a);
        unsigned digit_b = take_digit(&at_b);
        if (digit_a != digit_b) {
            return digit_a < digit_b ? -1 : 1;
        }
    }
    return (a->count > b->count) - (a->count < b->count);
}

hub_schema_number hub_schema_number_of(hub_str raw)
{
    const char *at = raw.ptr;
    const char *end = raw.ptr + raw.len;
    hub_schema_number number = {.is_negative = at < end && *at == '-'};
    int64_t digits = 0;  /* seen */
    int64_t integer = 0; /* of them before the point */
    int64_t last = 0;    /* the place of the last significant one */
    size_t zeros = 0;    /* since then */
    bool is_fraction = false;
    for (at += number.is_negative; at < end && *at != 'e' && *at != 'E'; at++) {
        if (*at == '.') {
            is_fraction = true;
            continue;
        }
        digits++;
        integer += !is_fraction;
        if (*at == '0') {
            zeros += number.count > 0;
            continue;
        }
        number.digits = number.count == 0 ? at : number.digits;
        number.count += zeros + 1;
        zeros = 0;
        last = digits;
    }
    if (number.count == 0) {
        return (hub_schema_number){.digits = NULL}; /* -0 is 0 */
    }
    number.exponent = integer - last + parse_exponent(at, end);
    return number;
}

bool hub_schema_number_is_integer(const hub_schema_number *number)
{
    return number->exponent >= 0;
}

int hub_schema_number_cmp(const hub_schema_number *a, const hub_schema_number *b)
{
    if (a->is_negative != b->is_negative) {
        return a->is_negative ? -1 : 1;
    }
    int order = compare_magnitude(a, b);
    return a->is_negative ? -order : order;
}

uint64_t hub_schema_number_hash(const hub_schema_number *number)
{
    uint64_t hash = (uint64_t)number->exponent * 31 + number->is_negative;
    const char *at = number->digits;
    for (size_t i = 0; i < number->count; i++) {
        hash = hash * UINT64_C(1099511628211) + take_digit(&at);
    }
    return hash;
}

bool hub_schema_number_to_count(const hub_schema_number *number, uint64_t *ret_count)
{
    if (number->is_negative || number->exponent < 0) {
        return false;
    }
    uint64_t count = 0;
    const char *at = number->digits;
    /* Beyond 20 digits the outcome is known: no loop over an exponent of a billion. */
    for (size_t i = 0; i < number->count || (i - number->count < (uint64_t)number->exponent); i++) {
        unsigned digit = i < number->count ? take_digit(&at) : 0;
        if (count > (UINT64_MAX - digit) / 10) {
            count = UINT64_MAX;
            break;
        }
        count = count * 10 + digit;
    }
    *ret_count = count;
    return true;
}

/* value / divisor is an integer if and only if the digits of the value can be divided by the digits
 * of the divisor, once the surplus powers of ten are taken into account. */
bool hub_schema_number_is_multiple(hub_str value, hub_str divisor)
{
    hub_schema_number a = hub_schema_number_of(value);
    hub_schema_number b = hub_schema_number_of(divisor);
    if (a.count == 0) {
        return true;
    }
    if (a.exponent < b.exponent) {
        return false; /* the last digit of `a` is not 0, so 10 does not divide it */
    }
    if (b.count > MAX_DIVISOR_DIGITS) {
        double x = 0;
        double y = 0;
        (void)hub_json_to_double(value, &x); /* both are numbers */
        (void)hub_json_to_double(divisor, &y);
        return isfinite(x) && y > 0 && fmod(x, y) == 0;
    }
    uint64_t by = 0;
    const char *at = b.digits;
    for (size_t i = 0; i < b.count; i++) {
        by = by * 10 + take_digit(&at);
    }
    int64_t tens = a.exponent - b.exponent;
    for (int64_t i = 0; i < tens && by % 2 == 0; i++) {
        by /= 2;
    }
    for (int64_t i = 0; i < tens && by % 5 == 0; i++) {
        by /= 5;
    }
    hub_assert(by > 0); /* the first digit is significant */
    uint64_t rest = 0;
    at = a.digits;
    for (size_t i = 0; i < a.count; i++) {
        rest = (rest * 10 + take_digit(&at)) % by;
    }
    return rest == 0;
}
