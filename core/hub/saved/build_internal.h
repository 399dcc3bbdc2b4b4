/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A toolset that is being built: build.c has the steps, build_tools.c finds the tools. Thread: [loop].
 */
#ifndef HUB_HUB_SAVED_BUILD_INTERNAL_H
#define HUB_HUB_SAVED_BUILD_INTERNAL_H

#include "base/arena.h"
#include "base/name_list.h"
#include "hub/kernel/call.h"
#include "hub/saved/document.h"

typedef struct saved_building {
    hub_orchestrator *hub;
    const hub_call_table *calls;
    uint64_t call; /* it may be gone meanwhile: then nothing is saved */
    hub_arena *arena;
    hub_str arguments;
    hub_str meta;
    hub_str principal;
    hub_str from;
    bool replaces;
    bool equips;
    bool is_shared;
    bool has_asked;        /* the servers that were never connected */
    const hub_saved *base; /* what `from` names, while it is there */
    hub_saved saved;       /* what is being made */
    hub_name_list silent;  /* toolsets that are asked for, and have not said what they have */
} saved_building;

/* Copy a text into the arena.
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err saved_keep(saved_building *one, hub_str text, hub_str *ret_text,
                                  hub_error *reterr);

/* Find all tools that the arguments ask for, as who made the call sees them.
 * errors:  HUB_ENOTFOUND (some are not known: the text names them), HUB_ELIMIT, HUB_EINVAL, HUB_ENOMEM */
HUB_MUST_CHECK hub_err saved_add_tools(saved_building *one, const hub_call *call,
                                       hub_error *reterr);

#endif
