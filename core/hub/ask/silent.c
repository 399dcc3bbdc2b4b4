/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/ask/silent.h"

#include "base/clock.h"
#include "base/share.h"
#include "hub/ask/ask_internal.h"

#include <stdlib.h>

/* Whose a call is, also while its client is away. */
static hub_str whose_of(const hub_call *call, char text[HUB_WHOSE_BYTES])
{
    const hub_session *session = hub_call_session(call);
    const hub_asking *asking = hub_asking_find(call);
    return session != NULL                           ? hub_session_whose(session, text)
           : asking != NULL && asking->whose != NULL ? hub_str_of(asking->whose)
                                                     : HUB_STR_EMPTY;
}

/* When its user was asked what is not answered yet; UINT64_MAX: it does not wait for one. */
static uint64_t asked_ms(const hub_call *call)
{
    const hub_asking *asking = hub_asking_find(call);
    return asking != NULL && asking->first != NULL ? asking->first->asked_ms : UINT64_MAX;
}

/* How many of each client's calls wait for their user. */
typedef struct counts {
    hub_pool silent;
    hub_share **shares; /* for each that was counted */
    size_t count;
    size_t own; /* places of the client that wants one */
} counts;

static bool count_all(counts *all, const hub_binding *binding, hub_str whose)
{
    char text[HUB_WHOSE_BYTES];
    hub_call *call = hub_binding_calls(binding);
    for (; call != NULL; call = hub_call_next_of_binding(call)) {
        hub_str at = whose_of(call, text);
        bool has_place = hub_call_has_place(call);
        all->own += has_place && hub_str_eq(at, whose);
        if (has_place && asked_ms(call) != UINT64_MAX) {
            if (hub_pool_take(&all->silent, at, 1, &all->shares[all->count]) != HUB_OK) {
                return false;
            }
            all->count++;
        }
    }
    return true;
}

/* Of the calls whose users have been silent so long the one that was asked first, among those of clients with
 * at least two such calls more than `whose` has places: where one goes, nobody has less than whom it
 * goes to. NULL: there is none, or no memory to find out. */
static hub_call *find(const hub_binding *binding, hub_str whose, uint64_t silent_ms)
{
    char text[HUB_WHOSE_BYTES];
    counts all = {.silent = {.most = SIZE_MAX / 2},
                  .shares = calloc(hub_binding_places(binding) + 1, sizeof(hub_share *))};
    hub_call *found = NULL;
    uint64_t before_ms = hub_clock_now_ms() - silent_ms;
    bool is_known = all.shares != NULL && count_all(&all, binding, whose);
    hub_call *call = is_known ? hub_binding_calls(binding) : NULL;
    for (; call != NULL; call = hub_call_next_of_binding(call)) {
        uint64_t since_ms = asked_ms(call);
        if (hub_call_has_place(call) && since_ms <= before_ms &&
            (found == NULL || since_ms <= asked_ms(found)) &&
            hub_pool_own(&all.silent, whose_of(call, text)) >= all.own + 2) {
            found = call;
        }
    }
    while (all.count > 0) {
        hub_share_give(all.shares[--all.count], 1);
    }
    free(all.shares);
    return found;
}

static void give_up(hub_call *call)
{
    hub_asking *asking = hub_asking_find(call);
    asking->reason = "others waited for the place of the call";
    if (asking->is_away) {
        hub_call_drop(call);
    } else {
        hub_call_abort(call, PATCHBAY_UNAVAILABLE,
                       HUB_STR("the client was asked for input and did not answer, while calls of "
                               "others waited for a place of the toolset (max_calls): try again"));
    }
}

void hub_silent_give_way(hub_toolset *toolset, hub_str whose, uint64_t waited_ms)
{
    const hub_binding *binding = hub_toolset_binding(toolset);
    hub_call *silent = binding != NULL ? find(binding, whose, waited_ms) : NULL;
    if (silent != NULL) {
        give_up(silent);
    }
}
