/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One operation of the DynamicToolManager on toolsets: what was asked for, what is held meanwhile,
 * and what became of each. Only files of this folder include this. Thread: [loop].
 */
#ifndef HUB_HUB_ACTIVE_OPERATION_H
#define HUB_HUB_ACTIVE_OPERATION_H

#include "hub/active/choice.h"
#include "hub/active/manager.h"
#include "hub/catalogs/discovery.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"

/* One toolset of an operation. */
typedef struct hub_operation_item {
    hub_catalog_waiter waiter; /* first: a waiter is its item */
    struct hub_operation *operation;
    hub_toolset *toolset; /* the one that is meant, when the operation may work on it; or NULL */
    bool is_used;         /* the operation holds a use of it */
    bool is_new;          /* its turn has just come */
    bool waiting;         /* for its catalog */
} hub_operation_item;

/* An enable or a choice in progress, or what waits for its end: a disable, or the end of a choice. An
 * open struct, for files of this folder alone. */
typedef struct hub_operation {
    struct hub_operation *next;
    hub_manager *manager;
    const hub_audience *audience; /* the manager's */
    struct ev_loop *loop;
    hub_manager_on_done *on_done;
    hub_choice_on_done *on_chosen; /* instead of on_done: it is about a choice */
    void *ctx;
    hub_selection *selection; /* of a choice; NULL: it is the end of one */
    hub_err err;              /* of a choice as a whole … */
    hub_error why;            /* … when it is not HUB_OK */
    ev_timer timeout;
    size_t waiting; /* items that wait */
    size_t down;    /* items whose place was given to others, because they cannot be reached */
    char *by;       /* who causes it (base/cause.h) */
    uint64_t asker; /* the number of that client's session; 0: of none */
    bool is_asked;  /* by a client, who is told of no toolset that is hidden from it */
    bool held;      /* its items are being looked at: who answers now does not finish it */
    bool has_asked; /* servers: the end of that is logged with the registry */
    bool has_begun; /* each had its first turn */
    size_t count;
    hub_operation_item *items;
    hub_manager_result *results;
    char *names;                    /* the toolset names, copied */
    char trace[HUB_TRACE_ID_BYTES]; /* of who asked; empty: nobody said */
} hub_operation;

/* An operation on the toolsets of these names, which are copied and trimmed; NULL when out of
 * memory. */
hub_operation *hub_operation_create(hub_manager *manager, const hub_audience *audience,
                                    const hub_str *toolsets, size_t count,
                                    hub_manager_on_done *on_done, void *ctx);

/* Free it without telling anybody. */
void hub_operation_destroy(hub_operation *operation);

/* Tell what became of it, then free it. */
void hub_operation_done(hub_operation *operation);

/* The toolset that an item names, as that audience sees it.
 * errors:  HUB_EINVAL (empty name), HUB_ENOTFOUND; the text suggests a name that was meant */
HUB_MUST_CHECK hub_err hub_operation_find(const hub_operation *operation, size_t at,
                                          const hub_audience *audience, hub_toolset **ret_toolset,
                                          hub_error *reterr);

/* Whether an earlier item of the operation is the same toolset. */
bool hub_operation_repeats(const hub_operation *operation, size_t at);

/* What was named twice is what it is the first time. */
void hub_operation_follow_first(hub_operation *operation, size_t at);

/* Log what became of an item: `done` when it is what it was asked to be; nothing when it was so
 * already. */
void hub_operation_log(const hub_operation *operation, size_t at, const char *done);

#endif
