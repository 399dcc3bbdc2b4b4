/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/saved/ask.h"

#include "hub/catalogs/discovery.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"

#include <stdlib.h>

typedef struct asked {
    hub_catalog_waiter waiter; /* first: a waiter is what is asked */
    struct asking *of;
    hub_toolset *toolset;
} asked;

typedef struct asking {
    const hub_call_table *calls;
    uint64_t call; /* it may be gone meanwhile */
    hub_saved_on_asked *on_asked;
    void *ctx;
    size_t waiting; /* … and one while they are being asked */
    size_t count;
    asked items[];
} asking;

static void end_one(asking *all)
{
    if (--all->waiting > 0) {
        return;
    }
    all->on_asked(hub_call_find(all->calls, all->call, NULL), all->ctx);
    for (size_t i = 0; i < all->count; i++) {
        hub_toolset_unuse(all->items[i].toolset);
    }
    free(all);
}

static void on_known(hub_catalog_waiter *waiter, hub_err err, hub_str reason)
{
    (void)err; /* what is answered says what is not known */
    (void)reason;
    end_one(((asked *)waiter)->of);
}

bool hub_saved_is_silent(hub_sight sight, const hub_toolset *toolset)
{
    return hub_toolset_list(toolset, HUB_KIND_TOOL) == NULL &&
           hub_toolset_settings_of(toolset)->enabled && hub_sight_may_tell_of(sight, toolset);
}

/* Those that are unknown, each used; NULL: there is none, or no memory. */
static asking *create(hub_call *call)
{
    const hub_orchestrator *hub = hub_session_hub(hub_call_session(call));
    hub_sight sight = hub_call_sight(call);
    size_t unknown = 0;
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        unknown += hub_saved_is_silent(sight, hub_toolset_at(hub, i));
    }
    asking *all = unknown > 0 ? calloc(1, sizeof *all + unknown * sizeof all->items[0]) : NULL;
    for (size_t i = 0; all != NULL && i < hub_toolset_total(hub); i++) {
        hub_toolset *toolset = hub_toolset_at(hub, i);
        if (all->count < unknown && hub_saved_is_silent(sight, toolset) &&
            hub_toolset_use(toolset, NULL) == HUB_OK) {
            all->items[all->count++] =
                (asked){.waiter = {.on_known = on_known}, .of = all, .toolset = toolset};
        }
    }
    return all;
}

void hub_saved_ask(hub_call *call, hub_str meta, hub_saved_on_asked *on_asked, void *ctx)
{
    hub_orchestrator *hub = hub_session_hub(hub_call_session(call));
    asking *all = create(call);
    if (all == NULL) {
        on_asked(call, ctx);
        return;
    }
    all->calls = hub_call_table_of(call);
    all->call = hub_call_id(call);
    all->on_asked = on_asked;
    all->ctx = ctx;
    all->waiting = all->count + 1;
    hub_discovery_run *run = hub_discovery_begin(hub, all->count, meta);
    for (size_t i = 0; i < all->count; i++) {
        hub_discovery_want(all->items[i].toolset, &all->items[i].waiter, run);
    }
    hub_discovery_asked(run);
    end_one(all);
}
