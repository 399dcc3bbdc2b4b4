/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/limits/rates.h"

#include "base/bucket.h"
#include "base/clock.h"
#include "base/limits.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/principal.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"

/* The rate that two settings mean; per_second 0: there is none. */
static hub_bucket_rate rate_of(uint32_t per_second, uint32_t burst)
{
    return (hub_bucket_rate){.per_second = per_second, .at_once = burst > 0 ? burst : per_second};
}

static void refuse(const hub_request *request, const char *limit, uint32_t per_second,
                   uint32_t wait_ms)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_printf(&text, "too many requests (%s: %u): try again in %u ms", limit, per_second,
                   wait_ms);
    hub_respond_overload(request, limit, hub_buf_str(&text), wait_ms);
    hub_buf_fini(&text);
}

static bool wants_hub(const hub_orchestrator *hub)
{
    const hub_limits *limits = &hub_settings_of(hub)->limits;
    return limits->calls_per_second > 0 || limits->calls_per_second_per_principal > 0;
}

static hub_verdict arrive(const hub_request *request)
{
    const hub_session *session = request->session;
    const hub_limits *limits = &hub_settings_of(hub_session_hub(session))->limits;
    hub_bucket_rate own = rate_of(limits->calls_per_second, limits->calls_burst);
    hub_bucket_rate shared =
        rate_of(limits->calls_per_second_per_principal, limits->calls_burst_per_principal);
    uint64_t now_ms = hub_clock_now_ms();
    hub_bucket *own_bucket = hub_session_part(session, &HUB_RATES_STATION);
    hub_bucket *shared_bucket =
        hub_principal_part(hub_session_principal(session), &HUB_RATES_STATION);
    uint32_t wait_ms = own.per_second > 0 ? hub_bucket_wait_ms(own_bucket, now_ms, own) : 0;
    if (wait_ms > 0) {
        refuse(request, "limits.calls_per_second", own.per_second, wait_ms);
        return HUB_ANSWERED;
    }
    wait_ms = shared.per_second > 0 ? hub_bucket_wait_ms(shared_bucket, now_ms, shared) : 0;
    if (wait_ms > 0) {
        refuse(request, "limits.calls_per_second_per_principal", shared.per_second, wait_ms);
        return HUB_ANSWERED;
    }
    if (own.per_second > 0) {
        hub_bucket_spend(own_bucket, now_ms, own);
    }
    if (shared.per_second > 0) {
        hub_bucket_spend(shared_bucket, now_ms, shared);
    }
    return HUB_GO_ON;
}

/* What a principal has used up is remembered until it would be full again anyhow. */
static bool matters(const hub_principal *principal)
{
    const hub_bucket *bucket = hub_principal_part(principal, &HUB_RATES_STATION);
    return bucket->full_ns != 0 && !hub_bucket_is_full(bucket, hub_clock_now_ms());
}

static hub_station_place place;

const hub_station HUB_RATES_STATION = {
    .name = "rates",
    .place = &place,
    .bytes = {[HUB_PART_PRINCIPAL] = sizeof(hub_bucket), [HUB_PART_SESSION] = sizeof(hub_bucket)},
    .arrive = arrive,
    .wants_hub = wants_hub,
    .principal_matters = matters,
};
