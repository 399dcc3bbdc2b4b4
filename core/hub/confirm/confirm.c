/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/confirm/confirm.h"

#include "base/limits.h"
#include "base/share.h"
#include "hub/access/access.h"
#include "hub/ask/ask.h"
#include "hub/confirm/question.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"

#include <stdlib.h>
#include <utlist.h>

/* With a call: its user is asked. */
typedef struct asked {
    hub_call *call;
    hub_kept_way *kept; /* NULL: it waits no more */
    hub_share *share;   /* of its client; what it holds is taken from it */
    struct asked *next; /* of the toolset's */
    struct asked *prev;
} asked;

/* With a toolset. */
typedef struct toolset_confirm {
    asked *first;
} toolset_confirm;

/* With the hub: what calls that wait hold, in bytes. */
typedef struct hub_confirm {
    hub_pool held;
} hub_confirm;

static toolset_confirm *part_of(const hub_toolset *toolset)
{
    return hub_toolset_part(toolset, &HUB_CONFIRM_STATION);
}

static hub_confirm *part_in(const hub_toolset *toolset)
{
    return hub_hub_part(hub_toolset_hub(toolset), &HUB_CONFIRM_STATION);
}

/* owns:    the result */
static hub_kept_way *stop_waiting(asked *one)
{
    hub_kept_way *kept = one->kept;
    toolset_confirm *of = part_of(kept->way.toolset);
    DL_DELETE(of->first, one);
    hub_share_give(one->share, hub_kept_way_bytes(kept));
    one->kept = NULL;
    return kept;
}

static void on_said(hub_call *call, hub_said said)
{
    asked *one = hub_call_find_part(call, &HUB_CONFIRM_STATION);
    hub_kept_way *kept = stop_waiting(one);
    if (said == HUB_SAID_NO) {
        hub_access_refuse_unconfirmed(call, "The user did not allow this call");
    } else if (said == HUB_SAID_NOTHING) {
        hub_access_refuse_unconfirmed(
            call, "This call has to be confirmed by its user, whom the client did not ask");
    } else if (hub_access_take_yes(call, &kept->way) == HUB_GO_ON) {
        hub_call_send_from(call, &HUB_CONFIRM_STATION, kept);
    }
    free(kept);
}

/* Ask the client of a call; what cannot be asked is refused. */
static hub_verdict ask(hub_call *call, const hub_way *way, const char *reason)
{
    hub_buf text;
    hub_buf masked;
    hub_buf_init(&text, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_init(&masked, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    confirm_add_question(hub_str_of(hub_toolset_key(way->toolset)), way->name, way->arguments,
                         reason, &text);
    int32_t result = PATCHBAY_ENOMEM;
    if (hub_buf_ok(&text)) {
        result = hub_ask_yes_or_no(call, hub_respond_mask(hub_buf_str(&text), &masked), on_said);
    }
    hub_buf_fini(&masked);
    hub_buf_fini(&text);
    switch (result) {
    case PATCHBAY_OK:
        return HUB_HOLD;
    case PATCHBAY_ESTATE:
        hub_access_refuse_unconfirmed(
            call, "This call has to be confirmed by its user, whom this client cannot ask");
        break;
    case PATCHBAY_ELIMIT:
        hub_call_refuse_rpc(call, HUB_RPC_OVERLOADED,
                            HUB_STR("too many calls wait for answers of their users: try again"));
        break;
    default:
        hub_call_refuse_rpc(call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
    }
    return HUB_ANSWERED;
}

/* Its client has as many calls that wait for their user as it may, or others leave it no more. */
static void refuse_to_hold(hub_call *call, hub_str whose)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_FAILURE_TEXT_BYTES);
    hub_buf_printf(&text,
                   "the calls of \"" HUB_STR_FMT "\" that wait for answers of their user hold as "
                   "much as they may: answer or cancel some of them, then try again",
                   HUB_STR_ARG(whose));
    hub_call_refuse_rpc(call, HUB_RPC_OVERLOADED, hub_buf_str(&text));
    hub_buf_fini(&text);
}

static hub_verdict begin(hub_call *call, hub_way *way)
{
    const char *reason;
    char text[HUB_WHOSE_BYTES];
    hub_share *share = NULL;
    if (!hub_access_wants_yes(call, &reason)) {
        return HUB_GO_ON;
    }
    hub_str whose = hub_session_whose(hub_call_session(call), text);
    hub_kept_way *kept = hub_way_keep(way);
    hub_err err = kept == NULL ? HUB_ENOMEM
                               : hub_pool_take(&part_in(way->toolset)->held, whose,
                                               hub_kept_way_bytes(kept), &share);
    if (err != HUB_OK) {
        free(kept);
        if (err == HUB_ELIMIT) {
            refuse_to_hold(call, whose);
        } else {
            hub_call_refuse_rpc(call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
        }
        return HUB_ANSWERED;
    }
    asked *one = hub_call_part_of(call, &HUB_CONFIRM_STATION);
    *one = (asked){.call = call, .kept = kept, .share = share};
    DL_APPEND(part_of(way->toolset)->first, one);
    return ask(call, way, reason);
}

/* A call that waits is over. */
static void end(hub_call *call, const hub_outcome *outcome)
{
    asked *one = hub_call_find_part(call, &HUB_CONFIRM_STATION);
    (void)outcome;
    if (one != NULL && one->kept != NULL) {
        free(stop_waiting(one));
    }
}

/* ---- toolsets that go ------------------------------------------------------------------------ */

static void fail(asked *one)
{
    free(stop_waiting(one));
    hub_call_fail(one->call, PATCHBAY_UNAVAILABLE, HUB_STR("the toolset was disabled"));
}

static void fail_all(hub_toolset *toolset)
{
    while (part_of(toolset)->first != NULL) {
        fail(part_of(toolset)->first);
    }
}

/* A call that waits, and whose client does not see the toolset any more. */
static asked *find_lost(const hub_toolset *toolset)
{
    asked *one = part_of(toolset)->first;
    while (one != NULL &&
           (hub_call_session(one->call) == NULL ||
            hub_audience_has(hub_session_audience(hub_call_session(one->call)), toolset))) {
        one = one->next;
    }
    return one;
}

static void sweep(hub_toolset *toolset, bool at_once)
{
    asked *lost;
    while (at_once && (lost = find_lost(toolset)) != NULL) {
        fail(lost);
    }
}

static void end_toolset(hub_toolset *toolset)
{
    hub_assert(part_of(toolset)->first == NULL);
}

static hub_err begin_hub(hub_orchestrator *hub, hub_error *reterr)
{
    hub_confirm *all = hub_hub_part(hub, &HUB_CONFIRM_STATION);
    (void)reterr;
    all->held.most = HUB_LIMIT_CONFIRM_HELD_BYTES;
    return HUB_OK;
}

static void drop_hub(hub_orchestrator *hub)
{
    const hub_confirm *all = hub_hub_part(hub, &HUB_CONFIRM_STATION);
    hub_assert(all->held.used == 0);
}

static bool wants_hub(const hub_orchestrator *hub)
{
    return hub_access_asks(hub);
}

static hub_station_place place;

const hub_station HUB_CONFIRM_STATION = {
    .name = "confirm",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(hub_confirm),
              [HUB_PART_TOOLSET] = sizeof(toolset_confirm),
              [HUB_PART_CALL] = sizeof(asked)},
    .wants_hub = wants_hub,
    .begin = begin,
    .end = end,
    .hub_begins = begin_hub,
    .hub_drops = drop_hub,
    .toolset_less = sweep,
    .toolset_unbound = fail_all,
    .toolset_ends = end_toolset,
};
