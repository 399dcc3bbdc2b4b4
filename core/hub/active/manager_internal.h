/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a manager, which its files share. */
#ifndef HUB_HUB_ACTIVE_MANAGER_INTERNAL_H
#define HUB_HUB_ACTIVE_MANAGER_INTERNAL_H

#include "hub/active/operation.h"

struct hub_manager {
    hub_audience *audience;   /* NULL: it has not begun, or has ended */
    bool is_resting;          /* it uses nothing: see release.h */
    hub_operation *enabling;  /* an enable or a choice; NULL: none in progress */
    hub_operation *waiting;   /* what waits for its end, in order */
    uint64_t asker;           /* the session that asks next */
    hub_selection *selection; /* what is chosen; NULL: nothing is */
    char **kept;              /* keys of the toolsets that are enabled meanwhile … */
    size_t kept_count;        /* … none unless something is chosen */
};

/* Whether it is about what is chosen: a choice, or the end of one. */
static inline bool manager_is_choice(const hub_operation *operation)
{
    return operation->on_chosen != NULL;
}

/* The hub of a manager's audience. */
static inline hub_orchestrator *manager_hub(const hub_manager *manager)
{
    return hub_audience_hub(manager->audience);
}

/* ---- uses.c: steps 1 to 3 -------------------------------------------------------------------- */

/* Whether the audience has that toolset active. */
bool manager_has(const hub_manager *manager, hub_str key);

/* Whether a toolset may become active next to so many, by the policies of hub and profile. */
HUB_MUST_CHECK hub_err manager_admit(const hub_manager *manager, hub_str key, size_t active,
                                     hub_error *reterr);

/* Use those of an operation that were not used yet, or had no place, and ask them what they offer. Each
 * that waits tells; after the last of them follows manager_all_known. */
void manager_use_items(hub_operation *operation);

/* Wait no longer for those that have not answered. */
void manager_stop_waiting(hub_operation *operation);

/* Whether a toolset still may become active: the world may have changed while catalogs were asked
 * for. */
void manager_admit_again(hub_operation *operation, size_t at, size_t active);

/* Use the toolsets of an operation next to so many active ones without asking their servers; ask
 * those that nobody is to wait for. */
void manager_use_now(hub_operation *operation, size_t active);
void manager_ask_eager(hub_operation *operation);

/* ---- registration.c: steps 4 and 5 ------------------------------------------------------------ */

/* Register the tools of an operation's toolsets, or give the toolsets back; and log what became of each.
 * The second returns whether any toolset has become active. */
void manager_register(hub_operation *operation);
bool manager_register_all(hub_operation *operation);

/* ---- manager.c ------------------------------------------------------------------------------- */

/* No item of the operation waits: give places away, or finish it. */
void manager_all_known(hub_operation *operation);

/* Begin an operation that waits for catalogs; it ends in choice_commit, or in that of an enable.
 * errors:  HUB_EBUSY: the operation is freed, and nobody told */
HUB_MUST_CHECK hub_err manager_begin(hub_manager *manager, hub_operation *operation, hub_str meta,
                                     hub_error *reterr);

/* Run what is to be done now or when the operation in progress has ended; takes it. */
void manager_run_or_queue(hub_manager *manager, hub_operation *operation, hub_str meta);

/* Do something while an audience that rests (release.h) uses what it sees. */
void manager_wake(hub_manager *manager);
void manager_rest_again(hub_manager *manager, bool was_resting);

/* ---- choice.c -------------------------------------------------------------------------------- */

/* Whether a choice has failed before its catalogs are known: there is nothing to wait for. */
bool choice_has_failed(const hub_operation *operation);

/* Show the selection of an operation whose toolsets are used. False: give them back. */
bool choice_commit(hub_operation *operation);

/* Make a choice at once, and tell who wants to know. */
void choice_run_now(hub_operation *operation);

/* End the choice, and tell who wants to know. */
void choice_run_end(hub_operation *operation);

/* Enable or disable while something is chosen: among those that are kept. */
void choice_enable_kept(hub_operation *operation);
void choice_disable_kept(hub_operation *operation);

/* Another manager has chosen the same, and keeps the same. */
HUB_MUST_CHECK hub_err choice_copy(hub_manager *manager, const hub_manager *from);
bool choice_is_same(const hub_manager *a, const hub_manager *b);
void choice_fini(hub_manager *manager);

#endif
