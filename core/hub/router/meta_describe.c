/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe_toolset. A server that was never connected is asked first what it has, as for enabling: so it
 * is used for as long as that takes, and by nobody afterwards.
 */
#include "hub/catalogs/discovery.h"
#include "hub/kernel/call.h"
#include "hub/kernel/toolset.h"
#include "hub/router/meta_tools_look.h"

#include <stdlib.h>

/* A description that waits for a server. */
typedef struct waiting_look {
    hub_catalog_waiter waiter; /* first: a waiter is its look */
    hub_toolset *toolset;
    const hub_call_table *calls;
    uint64_t call; /* it may be gone meanwhile */
    char *arguments;
} waiting_look;

static void on_known(hub_catalog_waiter *waiter, hub_err err, hub_str reason)
{
    waiting_look *look = (waiting_look *)waiter;
    hub_call *call = hub_call_find(look->calls, look->call, NULL);
    (void)err; /* the description says why nothing is known */
    (void)reason;
    if (call != NULL) {
        hub_meta_answer_look(call, hub_str_of(look->arguments), hub_meta_describe_toolset);
    }
    if (!hub_toolset_is_own(look->toolset)) {
        hub_toolset_unuse(look->toolset);
    }
    free(look->arguments);
    free(look);
}

/* Use it for that long; a principal's own instance is used as long as it lives. */
static bool use(hub_toolset *toolset)
{
    return hub_toolset_is_own(toolset) || hub_toolset_use(toolset, NULL) == HUB_OK;
}

/* Have the toolset's server asked, and answer then. False: it cannot be. */
static bool describe_later(hub_call *call, const hub_way *way, hub_toolset *toolset)
{
    waiting_look *look = malloc(sizeof *look);
    char *arguments = hub_str_dup(way->arguments);
    if (look == NULL || arguments == NULL || !use(toolset)) {
        free(arguments);
        free(look);
        return false;
    }
    *look = (waiting_look){.waiter = {.on_known = on_known},
                           .toolset = toolset,
                           .calls = hub_call_table_of(call),
                           .call = hub_call_id(call),
                           .arguments = arguments};
    hub_discovery_run *run =
        hub_discovery_begin(hub_toolset_hub(toolset), 1, way->message->at[HUB_M_META]);
    hub_discovery_want(toolset, &look->waiter, run);
    hub_discovery_asked(run);
    return true;
}

void hub_meta_describe(hub_call *call, const hub_way *way)
{
    hub_toolset *toolset = hub_meta_named_toolset(call, way->arguments);
    bool is_unknown = toolset != NULL && hub_toolset_list(toolset, HUB_KIND_TOOL) == NULL;
    if (!is_unknown || !describe_later(call, way, toolset)) {
        hub_meta_answer_look(call, way->arguments, hub_meta_describe_toolset);
    }
}
