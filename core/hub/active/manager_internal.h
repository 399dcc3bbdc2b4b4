/* SPDX-License-Identifier: Apache-2.0 */
/* What manager.c and choice.c share: the inside of a manager. */
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

/* Whether a toolset may become active next to so many, by the policies of hub and profile. */
HUB_MUST_CHECK hub_err manager_admit(const hub_manager *manager, hub_str key, size_t active,
                                     hub_error *reterr);

/* Begin an operation that waits for catalogs; it ends in choice_commit, or in that of an enable.
 * errors:  HUB_EBUSY: the operation is freed, and nobody told */
HUB_MUST_CHECK hub_err manager_begin(hub_manager *manager, hub_operation *operation, hub_str meta,
                                     hub_error *reterr);

/* Use the toolsets of an operation without asking their servers; ask those that nobody is to wait
 * for. */
void manager_use_now(hub_operation *operation);
void manager_ask_eager(hub_operation *operation);

/* Whether a toolset still may become active: the world may have changed while catalogs were asked
 * for. */
void manager_admit_again(hub_operation *operation, size_t at, size_t active);

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
