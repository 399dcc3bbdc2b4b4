/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/limits/rates.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/map.h"
#include "hub/audit/audit.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/respond.h"

#include <stdlib.h>
#include <utlist.h>

struct hub_account {
    size_t sessions;
    size_t calls; /* in flight */
    hub_bucket bucket;
    hub_account *next; /* of those without a session */
    hub_account *prev;
    UT_hash_handle hh;
    char principal[];
};

/* The rate that two settings mean; per_second 0: there is none. */
static hub_bucket_rate rate_of(uint32_t per_second, uint32_t burst)
{
    return (hub_bucket_rate){.per_second = per_second, .at_once = burst > 0 ? burst : per_second};
}

/* ---- accounts -------------------------------------------------------------------------------- */

static void forget(hub_accounts *accounts, hub_account *account)
{
    HASH_DEL(accounts->all, account);
    free(account);
}

static void take_off_idle(hub_accounts *accounts, hub_account *account)
{
    DL_DELETE(accounts->idle, account);
    accounts->idle_count--;
}

/* Forget the accounts of which nothing need be remembered. The one that was left first is the first
 * to be full again, or nearly so. */
static void sweep(hub_accounts *accounts, uint64_t now_ms)
{
    hub_account *first;
    while ((first = accounts->idle) != NULL && (accounts->idle_count > HUB_LIMIT_IDLE_ACCOUNTS ||
                                                hub_bucket_is_full(&first->bucket, now_ms))) {
        take_off_idle(accounts, first);
        forget(accounts, first);
    }
}

hub_account *hub_rates_join(hub_orchestrator *hub, const char *principal)
{
    hub_accounts *accounts = &hub->accounts;
    size_t len = strlen(principal);
    hub_account *account;
    if (accounts->idle != NULL) {
        sweep(accounts, hub_clock_now_ms());
    }
    HASH_FIND(hh, accounts->all, principal, (unsigned)len, account);
    if (account == NULL) {
        account = calloc(1, sizeof *account + len + 1);
        if (account == NULL) {
            return NULL;
        }
        memcpy(account->principal, principal, len);
        HASH_ADD_KEYPTR(hh, accounts->all, account->principal, (unsigned)len, account);
        if (!hub_map_has_taken(&account->hh)) {
            free(account);
            return NULL;
        }
    } else if (account->sessions == 0) {
        take_off_idle(accounts, account);
    }
    account->sessions++;
    return account;
}

void hub_rates_leave(hub_orchestrator *hub, hub_account *account)
{
    hub_accounts *accounts = &hub->accounts;
    if (account == NULL || --account->sessions > 0) {
        return;
    }
    if (account->bucket.full_ns == 0) { /* nothing was ever counted */
        forget(accounts, account);
        return;
    }
    DL_APPEND(accounts->idle, account);
    accounts->idle_count++;
    sweep(accounts, hub_clock_now_ms());
}

void hub_rates_end(hub_orchestrator *hub)
{
    hub_accounts *accounts = &hub->accounts;
    while (accounts->idle != NULL) {
        hub_account *account = accounts->idle;
        take_off_idle(accounts, account);
        forget(accounts, account);
    }
    hub_assert(accounts->all == NULL);
}

/* ---- calls in flight ------------------------------------------------------------------------- */

size_t hub_rates_in_flight(const hub_account *account)
{
    return account->calls;
}

bool hub_rates_has_place(const hub_session *session)
{
    uint32_t most = session->profile->hub->settings->limits.calls_per_principal;
    return most == 0 || session->account->calls < most;
}

void hub_rates_call_began(hub_account *account)
{
    account->calls++;
}

void hub_rates_call_ended(hub_account *account)
{
    account->calls--;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void respond(const hub_request *request, const hub_buf *text, const hub_buf *data)
{
    request->session->profile->hub->accounts.refused++;
    hub_audit_refuse(request);
    hub_respond_error(request, HUB_RPC_OVERLOADED, hub_buf_str(text),
                      hub_buf_ok(data) ? hub_buf_str(data) : HUB_STR_EMPTY);
}

void hub_rates_refuse(const hub_request *request)
{
    const hub_session *session = request->session;
    const hub_limits *limits = &session->profile->hub->settings->limits;
    const char *limit = NULL;
    uint32_t most = 0;
    if (session->call_count >= limits->calls_per_session) {
        limit = "limits.calls_per_session";
        most = limits->calls_per_session;
    } else if (!hub_rates_has_place(session)) {
        limit = "limits.calls_per_principal";
        most = limits->calls_per_principal;
    }
    hub_buf text;
    hub_buf data;
    hub_buf_init(&text, HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_init(&data, HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_add(&text, HUB_STR("too many requests in flight"));
    hub_buf_add_char(&data, '{');
    if (limit != NULL) {
        hub_buf_printf(&text, " (%s: %u)", limit, most);
        hub_buf_printf(&data, "\"limit\":\"%s\",", limit);
    }
    hub_buf_add(&text, HUB_STR(": wait for an answer, then try again"));
    hub_buf_add(&data, HUB_STR("\"retryable\":true}"));
    respond(request, &text, &data);
    hub_buf_fini(&data);
    hub_buf_fini(&text);
}

/* `retryAfter` is in seconds, as HTTP's header of that name. */
static void refuse_rate(const hub_request *request, const char *limit, uint32_t per_second,
                        uint32_t wait_ms)
{
    hub_buf text;
    hub_buf data;
    hub_buf_init(&text, HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_init(&data, HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_printf(&text, "too many requests (%s: %u): try again in %u ms", limit, per_second,
                   wait_ms);
    hub_buf_printf(&data, "{\"limit\":\"%s\",\"retryAfter\":%u.%03u,\"retryable\":true}", limit,
                   wait_ms / 1000, wait_ms % 1000);
    respond(request, &text, &data);
    hub_buf_fini(&data);
    hub_buf_fini(&text);
}

bool hub_rates_admit(const hub_request *request)
{
    hub_session *session = request->session;
    const hub_limits *limits = &session->profile->hub->settings->limits;
    hub_bucket_rate own = rate_of(limits->calls_per_second, limits->calls_burst);
    hub_bucket_rate shared =
        rate_of(limits->calls_per_second_per_principal, limits->calls_burst_per_principal);
    if (request->resumed || (own.per_second == 0 && shared.per_second == 0)) {
        return true;
    }
    uint64_t now_ms = hub_clock_now_ms();
    hub_bucket *own_bucket = &session->rates.calls;
    hub_bucket *shared_bucket = &session->account->bucket;
    uint32_t wait_ms = own.per_second > 0 ? hub_bucket_wait_ms(own_bucket, now_ms, own) : 0;
    if (wait_ms > 0) {
        refuse_rate(request, "limits.calls_per_second", own.per_second, wait_ms);
        return false;
    }
    wait_ms = shared.per_second > 0 ? hub_bucket_wait_ms(shared_bucket, now_ms, shared) : 0;
    if (wait_ms > 0) {
        refuse_rate(request, "limits.calls_per_second_per_principal", shared.per_second, wait_ms);
        return false;
    }
    if (own.per_second > 0) {
        hub_bucket_spend(own_bucket, now_ms, own);
    }
    if (shared.per_second > 0) {
        hub_bucket_spend(shared_bucket, now_ms, shared);
    }
    return true;
}
