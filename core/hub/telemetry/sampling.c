/* SPDX-License-Identifier: Apache-2.0 */
/* Which traces are recorded, and the ids of those.
 * spec: OpenTelemetry Tracing SDK, TraceIdRatioBased, ParentBased; W3C Trace Context, 3.2.2 */
#include "base/encoding.h"
#include "hub/telemetry/telemetry_internal.h"

#include <math.h>
#include <sys/random.h>

enum { HALF_BYTES = (HUB_TRACE_ID_BYTES - 1) / 4 /* of a trace's id */ };

/* The next of a sequence that is spread evenly. Whoever sees some can guess others: nothing but sampling
 * may depend on that.
 * source: Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, 2014 (splitmix64) */
static uint64_t draw(hub_telemetry *telemetry)
{
    uint64_t number = telemetry->drawn += UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94d049bb133111eb);
    return number ^ (number >> 31);
}

/* How many requests are passed over before the next one, each of which is recorded with the same
 * probability, whatever became of those before it: the logarithm of a number that is spread evenly between
 * 0 and 1, by that of the probability that one is not recorded.
 * source: Devroye, Non-Uniform Random Variate Generation, 1986, X.2 (geometric distribution) */
static uint64_t draw_gap(hub_telemetry *telemetry)
{
    uint64_t bound = telemetry->settings.sampler.bound;
    if (bound >= HUB_OTEL_ALL_TRACES) {
        return 0;
    }
    double share = (double)bound / (double)HUB_OTEL_ALL_TRACES;
    double even = ((double)(draw(telemetry) >> 11) + 0.5) / (double)(UINT64_C(1) << 53);
    double gap = share > 0. ? log(even) / log1p(-share) : HUGE_VAL;
    return gap < (double)UINT64_MAX ? (uint64_t)gap : UINT64_MAX;
}

void hub_telemetry_shuffle(hub_telemetry *telemetry)
{
    (void)!getrandom(&telemetry->drawn, sizeof telemetry->drawn, 0); /* cannot fail so */
    telemetry->passing = draw_gap(telemetry);
}

/* Whether a request whose trace begins here is recorded: what was passed over, is counted. */
static bool is_next(hub_telemetry *telemetry)
{
    if (telemetry->passing > 0) {
        telemetry->passing--;
        return false;
    }
    telemetry->passing = draw_gap(telemetry);
    return true;
}

/* A number for the id of a trace that is recorded: evenly below the bound, but for the last bit. */
static uint64_t draw_number(hub_telemetry *telemetry)
{
    uint64_t bound = telemetry->settings.sampler.bound;
    uint64_t mask = UINT64_MAX >> __builtin_clzll(bound); /* 0 of a hub that records none */
    uint64_t number;
    do {
        number = draw(telemetry);
    } while ((number >> 1 & mask) >= bound); /* every other one, at most */
    return (number >> 1 & mask) << 1 | (number & 1);
}

/* As many random bytes, in hexadecimal, never all zeros. */
static void make_id(hub_telemetry *telemetry, size_t bytes, char *ret_hex)
{
    bool is_zero = true;
    if (telemetry->random_left < bytes) {
        (void)!getrandom(telemetry->random, sizeof telemetry->random, 0); /* cannot fail so */
        telemetry->random_left = sizeof telemetry->random;
    }
    telemetry->random_left -= bytes;
    const unsigned char *id = telemetry->random + telemetry->random_left;
    for (size_t i = 0; i < bytes; i++) {
        is_zero = is_zero && id[i] == 0;
    }
    hub_hex_write(id, bytes, ret_hex);
    ret_hex[2 * bytes - 1] = is_zero ? '1' : ret_hex[2 * bytes - 1];
    ret_hex[2 * bytes] = '\0';
}

/* The id of a trace that begins here: its second half says that it is recorded, the first is what nobody
 * can guess. */
static void make_trace_id(hub_telemetry *telemetry, uint64_t number, char *ret_hex)
{
    unsigned char bytes[HALF_BYTES];
    for (size_t i = HALF_BYTES; i > 0; i--) {
        bytes[i - 1] = (unsigned char)number;
        number >>= 8;
    }
    make_id(telemetry, HALF_BYTES, ret_hex);
    hub_hex_write(bytes, HALF_BYTES, ret_hex + 2 * HALF_BYTES);
    ret_hex[4 * HALF_BYTES] = '\0';
}

/* The second half of a trace's id, without its last bit. */
static uint64_t number_of(const char trace_id[HUB_TRACE_ID_BYTES])
{
    uint64_t number = 0;
    for (size_t i = (HUB_TRACE_ID_BYTES - 1) / 2; i < HUB_TRACE_ID_BYTES - 1; i++) {
        number = number << 4 | (uint64_t)hub_str_hex_digit(trace_id[i]);
    }
    return number >> 1;
}

bool hub_telemetry_choose(hub_telemetry *telemetry, hub_str meta, hub_trace *ret_own,
                          char ret_parent[HUB_SPAN_ID_BYTES])
{
    const hub_otel_sampler *sampler = &telemetry->settings.sampler;
    hub_trace own;
    if (hub_trace_of_meta(meta, &own)) {
        if (!(sampler->asks_parent ? own.is_sampled : number_of(own.trace_id) < sampler->bound)) {
            return false;
        }
    } else if (is_next(telemetry)) {
        make_trace_id(telemetry, draw_number(telemetry), own.trace_id);
        own.span_id[0] = '\0';
    } else {
        return false;
    }
    memcpy(ret_parent, own.span_id, HUB_SPAN_ID_BYTES);
    *ret_own = hub_telemetry_next(telemetry, &own);
    return true;
}

hub_trace hub_telemetry_next(hub_telemetry *telemetry, const hub_trace *of)
{
    hub_trace next = {.is_sampled = true};
    memcpy(next.trace_id, of->trace_id, sizeof next.trace_id);
    make_id(telemetry, (HUB_SPAN_ID_BYTES - 1) / 2, next.span_id);
    return next;
}
