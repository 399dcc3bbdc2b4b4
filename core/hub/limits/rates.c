/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/limits/rates.h"

#include "base/clock.h"
#include "base/limits.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/principal.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"

/* The rate that two settings mean; per_second 0: there is none. */
static hub_bucket_rate rate_of(uint32_t per_second, uint32_t burst)
{
    return (hub_bucket_rate){.per_second = per_second, .at_once = burst > 0 ? burst : per_second};
}

hub_rates hub_rates_of(const hub_orchestrator *hub)
{
    const hub_limits *limits = &hub_settings_of(hub)->limits;
    return (hub_rates){
        .own = rate_of(limits->calls_per_second, limits->calls_burst),
        .shared =
            rate_of(limits->calls_per_second_per_principal, limits->calls_burst_per_principal),
    };
}

static hub_bucket *bucket_of_session(const hub_session *session)
{
    const hub_client *client = hub_session_client(session);
    return client != NULL ? hub_client_part(client, &HUB_RATES_STATION)
                          : hub_session_part(session, &HUB_RATES_STATION);
}

static hub_bucket *bucket_of_principal(const hub_principal *principal)
{
    return hub_principal_part(principal, &HUB_RATES_STATION);
}

void hub_rates_say(hub_buf *text, const char *limit, uint32_t per_second, uint32_t wait_ms)
{
    hub_buf_printf(text, "too many requests (%s: %u): try again in %u ms", limit, per_second,
                   wait_ms);
}

static hub_verdict refuse(const hub_request *request, const char *limit, uint32_t per_second,
                          uint32_t wait_ms)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_LOG_LINE_BYTES);
    hub_rates_say(&text, limit, per_second, wait_ms);
    hub_respond_overload(request, limit, hub_buf_str(&text), wait_ms);
    hub_buf_fini(&text);
    return HUB_ANSWERED;
}

static bool wants_hub(const hub_orchestrator *hub)
{
    hub_rates in_force = hub_rates_of(hub);
    return in_force.own.per_second > 0 || in_force.shared.per_second > 0;
}

/* A request that one of the two refuses costs the other nothing. */
static hub_verdict arrive(const hub_request *request)
{
    const hub_session *session = request->session;
    hub_rates in_force = hub_rates_of(hub_session_hub(session));
    hub_bucket_rate own = in_force.own;
    hub_bucket_rate shared = in_force.shared;
    uint64_t now_ms = hub_clock_now_ms();
    hub_bucket *own_bucket = bucket_of_session(session);
    hub_bucket *shared_bucket = bucket_of_principal(hub_session_principal(session));
    uint32_t wait_ms = own.per_second > 0 ? hub_bucket_wait_ms(own_bucket, now_ms, own) : 0;
    if (wait_ms > 0) {
        return refuse(request, "limits.calls_per_second", own.per_second, wait_ms);
    }
    wait_ms = shared.per_second > 0 ? hub_bucket_wait_ms(shared_bucket, now_ms, shared) : 0;
    if (wait_ms > 0) {
        return refuse(request, "limits.calls_per_second_per_principal", shared.per_second, wait_ms);
    }
    if (own.per_second > 0) {
        hub_bucket_spend(own_bucket, now_ms, own);
    }
    if (shared.per_second > 0) {
        hub_bucket_spend(shared_bucket, now_ms, shared);
    }
    return HUB_GO_ON;
}

/* ---- what is remembered ---------------------------------------------------------------------- */

static bool is_owed(const hub_bucket *bucket, hub_bucket_rate rate)
{
    return bucket->full != 0 && rate.per_second > 0 &&
           !hub_bucket_is_full(bucket, hub_clock_now_ms(), rate);
}

/* What was used up is remembered until it would be full again anyhow. */
static bool principal_matters(const hub_orchestrator *hub, const hub_principal *principal)
{
    return is_owed(bucket_of_principal(principal), hub_rates_of(hub).shared);
}

static bool client_matters(const hub_orchestrator *hub, const hub_client *client)
{
    return is_owed(hub_client_part(client, &HUB_RATES_STATION), hub_rates_of(hub).own);
}

/* ---- other rates ----------------------------------------------------------------------------- */

static hub_rates *rates_in_force(const hub_orchestrator *hub)
{
    return hub_hub_part(hub, &HUB_RATES_STATION);
}

static hub_err hub_begins(hub_orchestrator *hub, hub_error *reterr)
{
    (void)reterr;
    *rates_in_force(hub) = hub_rates_of(hub);
    return HUB_OK;
}

static void change_own(const hub_orchestrator *hub, const hub_rates *from, const hub_rates *to)
{
    uint64_t now_ms = hub_clock_now_ms();
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        const hub_session *at = hub_profile_sessions(hub_profile_at(hub, i));
        for (; at != NULL; at = hub_session_next(at)) {
            if (hub_session_client(at) == NULL) {
                hub_bucket_change(bucket_of_session(at), now_ms, from->own, to->own);
            }
        }
    }
    const hub_principal *whose = NULL;
    while ((whose = hub_principal_next(hub, whose)) != NULL) {
        const hub_client *at = NULL;
        while ((at = hub_client_next(whose, at)) != NULL) {
            hub_bucket_change(hub_client_part(at, &HUB_RATES_STATION), now_ms, from->own, to->own);
        }
    }
}

static void change_shared(const hub_orchestrator *hub, const hub_rates *from, const hub_rates *to)
{
    uint64_t now_ms = hub_clock_now_ms();
    const hub_principal *at = NULL;
    while ((at = hub_principal_next(hub, at)) != NULL) {
        hub_bucket_change(bucket_of_principal(at), now_ms, from->shared, to->shared);
    }
}

static bool is_same(hub_bucket_rate a, hub_bucket_rate b)
{
    return a.per_second == b.per_second && a.at_once == b.at_once;
}

/* What somebody has used up of the old rate is used up of the new one, too. */
static void settings_changed(hub_orchestrator *hub)
{
    hub_rates from = *rates_in_force(hub);
    hub_rates to = hub_rates_of(hub);
    if (!is_same(from.own, to.own)) {
        change_own(hub, &from, &to);
    }
    if (!is_same(from.shared, to.shared)) {
        change_shared(hub, &from, &to);
    }
    *rates_in_force(hub) = to;
}

static hub_station_place place;

const hub_station HUB_RATES_STATION = {
    .name = "rates",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(hub_rates),
              [HUB_PART_PRINCIPAL] = sizeof(hub_bucket),
              [HUB_PART_CLIENT] = sizeof(hub_bucket),
              [HUB_PART_SESSION] = sizeof(hub_bucket)},
    .arrive = arrive,
    .wants_hub = wants_hub,
    .hub_begins = hub_begins,
    .settings_changed = settings_changed,
    .principal_matters = principal_matters,
    .client_matters = client_matters,
};
