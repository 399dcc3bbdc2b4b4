/* SPDX-License-Identifier: Apache-2.0 */
/* Which traces are recorded, and the ids of those.
 * spec: OpenTelemetry Tracing SDK, TraceIdRatioBased, ParentBased; W3C Trace Context, 3.2.2 */
#include "base/encoding.h"
#include "hub/telemetry/telemetry_internal.h"

#include <sys/random.h>

enum { HALF_BYTES = (HUB_TRACE_ID_BYTES - 1) / 4 /* of a trace's id */ };

/* The next of a sequence that is spread evenly, in ten instructions: every call draws one, and few are
 * recorded. Whoever sees some can guess others: nothing but sampling may depend on that.
 * source: Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, 2014 (splitmix64) */
static uint64_t draw(hub_telemetry *telemetry)
{
    uint64_t number = telemetry->drawn += UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94d049bb133111eb);
    return number ^ (number >> 31);
}

void hub_telemetry_shuffle(hub_telemetry *telemetry)
{
    (void)!getrandom(&telemetry->drawn, sizeof telemetry->drawn, 0); /* cannot fail so */
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

bool hub_telemetry_look(hub_telemetry *telemetry, hub_str meta)
{
    telemetry->number = draw(telemetry);
    return telemetry->number >> 1 < telemetry->settings.sampler.bound || meta.len > 0;
}

bool hub_telemetry_choose(hub_telemetry *telemetry, hub_str meta, hub_trace *ret_own,
                          char ret_parent[HUB_SPAN_ID_BYTES])
{
    const hub_otel_sampler *sampler = &telemetry->settings.sampler;
    hub_trace own;
    bool has_parent = hub_trace_of_meta(meta, &own);
    if (!has_parent) {
        if (telemetry->number >> 1 >= sampler->bound) {
            return false;
        }
        make_trace_id(telemetry, telemetry->number, own.trace_id);
        own.span_id[0] = '\0';
    }
    bool is_recorded = has_parent && sampler->asks_parent
                           ? own.is_sampled
                           : number_of(own.trace_id) < sampler->bound;
    if (is_recorded) {
        memcpy(ret_parent, own.span_id, HUB_SPAN_ID_BYTES);
        *ret_own = hub_telemetry_next(telemetry, &own);
    }
    return is_recorded;
}

hub_trace hub_telemetry_next(hub_telemetry *telemetry, const hub_trace *of)
{
    hub_trace next = {.is_sampled = true};
    memcpy(next.trace_id, of->trace_id, sizeof next.trace_id);
    make_id(telemetry, (HUB_SPAN_ID_BYTES - 1) / 2, next.span_id);
    return next;
}
