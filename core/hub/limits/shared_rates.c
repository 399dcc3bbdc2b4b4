/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/limits/shared_rates.h"

#include "base/clock.h"
#include "hub/kernel/client.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/principal.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"
#include "hub/limits/rates.h"
#include "hub/limits/takes.h"

#include <stdio.h>

/* With a principal and a client: what this replica's share has left, while the store is gone. */
typedef struct share {
    hub_bucket bucket;
    hub_bucket_rate rate; /* what the bucket counts */
} share;

/* A limit of the sender of a call. */
typedef struct limit {
    const char *name;
    hub_bucket_rate rate;
    share *share;
    char whose[HUB_ADDRESS_TEXT_BYTES + 16]; /* no toolset's key begins with a tab */
} limit;

enum { LIMITS_MOST = 2 };

/* Those of who has made the call: of the client, unless that is a session, and of the principal. */
static size_t limits_of(const hub_session *session, limit ret_limits[LIMITS_MOST])
{
    const hub_orchestrator *hub = hub_session_hub(session);
    hub_rates rates = hub_rates_of(hub);
    hub_client *client = hub_session_client(session);
    size_t count = 0;
    if (client != NULL && rates.own.per_second > 0) {
        limit *of = &ret_limits[count++];
        *of = (limit){.name = "limits.calls_per_second",
                      .rate = rates.own,
                      .share = hub_client_part(client, &HUB_SHARED_RATES_STATION)};
        (void)snprintf(of->whose, sizeof of->whose, "\tclient\t%s", hub_session_peer(session));
    }
    if (rates.shared.per_second > 0) {
        ret_limits[count++] = (limit){
            .name = "limits.calls_per_second_per_principal",
            .rate = rates.shared,
            .share = hub_principal_part(hub_session_principal(session), &HUB_SHARED_RATES_STATION),
            .whose = "\tprincipal"};
    }
    return count;
}

static hub_verdict refuse(hub_call *call, const limit *of, uint32_t wait_ms)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_LOG_LINE_BYTES);
    hub_rates_say(&text, of->name, of->rate.per_second, wait_ms);
    hub_call_refuse_overload(call, hub_str_of(of->name), hub_buf_str(&text), wait_ms);
    hub_buf_fini(&text);
    return HUB_ANSWERED;
}

/* A bucket of another rate counted something else. */
static hub_bucket *bucket_of(share *of, hub_bucket_rate rate)
{
    if (of->rate.per_second != rate.per_second || of->rate.at_once != rate.at_once) {
        *of = (share){.rate = rate};
    }
    return &of->bucket;
}

/* Whether this hub's shares admit it: all of them are charged, or none is. */
static hub_verdict admit_share(hub_call *call, const limit *limits, size_t count)
{
    const hub_orchestrator *hub = hub_session_hub(hub_call_session(call));
    uint64_t now_ms = hub_clock_now_ms();
    for (size_t i = 0; i < count; i++) {
        hub_bucket_rate rate = hub_take_share(hub, limits[i].rate);
        uint32_t wait_ms = hub_bucket_wait_ms(bucket_of(limits[i].share, rate), now_ms, rate);
        if (wait_ms > 0) {
            return refuse(call, &limits[i], wait_ms);
        }
    }
    for (size_t i = 0; i < count; i++) {
        hub_bucket_spend(&limits[i].share->bucket, now_ms, limits[i].share->rate);
    }
    return HUB_GO_ON;
}

/* What the store has said. */
static hub_verdict said(hub_call *call, const hub_way *way, hub_err err, uint32_t wait_ms,
                        size_t over)
{
    limit limits[LIMITS_MOST];
    const hub_session *session = hub_call_session(call);
    (void)way;
    if (session == NULL) {
        return HUB_GO_ON;
    }
    size_t count = limits_of(session, limits);
    if (err != HUB_OK) {
        hub_verdict verdict = hub_take_without(call, hub_session_hub(session));
        return verdict == HUB_HOLD ? admit_share(call, limits, count) : verdict;
    }
    return wait_ms > 0 && over < count ? refuse(call, &limits[over], wait_ms) : HUB_GO_ON;
}

/* With a toolset: calls for it that wait. */
static hub_take **waiting_of(const hub_toolset *toolset)
{
    return hub_toolset_part(toolset, &HUB_SHARED_RATES_STATION);
}

static hub_verdict begin(hub_call *call, hub_way *way)
{
    limit limits[LIMITS_MOST];
    hub_take_limits asked;
    hub_store *store = hub_store_of(hub_toolset_hub(way->toolset));
    const hub_session *session = hub_call_session(call);
    if (session == NULL || hub_call_is_internal(call) || store == NULL ||
        !hub_store_is_shared(store)) {
        return HUB_GO_ON;
    }
    size_t count = limits_of(session, limits);
    hub_str who = hub_str_of(hub_session_who(session));
    hub_take_limits_init(&asked);
    for (size_t i = 0; i < count; i++) {
        hub_take_limits_add(&asked, limits[i].rate, hub_str_of(limits[i].whose), who);
    }
    hub_verdict verdict =
        hub_take_ask(call, way, &HUB_SHARED_RATES_STATION, &asked, said, waiting_of(way->toolset));
    hub_take_limits_fini(&asked);
    return verdict;
}

static void end(hub_call *call, const struct hub_outcome *outcome)
{
    (void)outcome;
    hub_take_end(call, &HUB_SHARED_RATES_STATION);
}

static void fail_all(hub_toolset *toolset)
{
    hub_take_fail_all(waiting_of(toolset));
}

static bool wants_hub(const hub_orchestrator *hub)
{
    hub_rates rates = hub_rates_of(hub);
    return rates.own.per_second > 0 || rates.shared.per_second > 0;
}

/* ---- what is remembered ---------------------------------------------------------------------- */

/* What was used up of a share is remembered until it would be full again anyhow. */
static bool is_owed(const share *of)
{
    return of->rate.per_second > 0 &&
           !hub_bucket_is_full(&of->bucket, hub_clock_now_ms(), of->rate);
}

static bool principal_matters(const hub_orchestrator *hub, const hub_principal *principal)
{
    (void)hub;
    return is_owed(hub_principal_part(principal, &HUB_SHARED_RATES_STATION));
}

static bool client_matters(const hub_orchestrator *hub, const hub_client *client)
{
    (void)hub;
    return is_owed(hub_client_part(client, &HUB_SHARED_RATES_STATION));
}

static hub_station_place place;

const hub_station HUB_SHARED_RATES_STATION = {
    .name = "shared rates",
    .place = &place,
    .bytes = {[HUB_PART_PRINCIPAL] = sizeof(share),
              [HUB_PART_CLIENT] = sizeof(share),
              [HUB_PART_TOOLSET] = sizeof(hub_take *),
              [HUB_PART_CALL] = sizeof(hub_take)},
    .wants_hub = wants_hub,
    .begin = begin,
    .end = end,
    .toolset_unbound = fail_all,
    .principal_matters = principal_matters,
    .client_matters = client_matters,
};
