/* SPDX-License-Identifier: Apache-2.0 */
/* Which traces are recorded, and the ids of those.
 * spec: OpenTelemetry Tracing SDK, TraceIdRatioBased, ParentBased; W3C Trace Context, 3.2.2 */
#include "base/encoding.h"
#include "hub/telemetry/telemetry_internal.h"

#include <sys/random.h>

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
    bool has_parent = hub_trace_of_meta(meta, &own);
    if (!has_parent) {
        if (sampler->bound == 0) {
            return false;
        }
        make_id(telemetry, (HUB_TRACE_ID_BYTES - 1) / 2, own.trace_id);
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
