/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choices: an audience may see the tools of a selection, and no others, instead of those of the
 * toolsets that are enabled. While it does, the selection alone decides: the toolsets that it draws
 * on are active and count towards max_active, whether they are enabled or not; the list of those that
 * are enabled is kept, changes meanwhile without effect, and returns with the end of the choice.
 *
 * Choosing is an operation of the manager like enabling (manager.h): one at a time, at the end all of
 * it or nothing, and one list_changed. A server that cannot be reached is no failure: its tools appear
 * when it comes. A toolset that is not there, or that a policy refuses, has nothing to show; but when
 * max_active is in the way, or a toolset cannot be made, nothing is chosen. The end of a choice waits
 * its turn. Thread: [loop].
 */
#ifndef HUB_HUB_ACTIVE_CHOICE_H
#define HUB_HUB_ACTIVE_CHOICE_H

#include "hub/active/manager.h"
#include "tools/selection.h"

/* What became of a choice. All of it is borrowed for the callback. */
typedef struct hub_choice_outcome {
    hub_err err;     /* HUB_OK, or nothing has changed: HUB_ELIMIT (max_active), HUB_ENOTFOUND
                        (none of its toolsets is there), … */
    const char *why; /* a sentence; empty for HUB_OK */
    const hub_manager_result *toolsets; /* that it draws on; at the end of one, that are back */
    size_t count;
} hub_choice_outcome;

typedef void hub_choice_on_done(void *ctx, const hub_choice_outcome *outcome);

/* Show the tools of a selection, which is referenced, instead of what is shown. `meta` as in
 * hub_manager_enable.
 * errors:  HUB_EBUSY (an operation is in progress), HUB_ENOMEM: on_done is not told */
HUB_MUST_CHECK hub_err hub_choice_make(hub_manager *manager, hub_selection *selection, hub_str meta,
                                       hub_choice_on_done *on_done, void *ctx, hub_error *reterr);

/* The same without waiting for catalogs, and without telling clients, now or when the operation in
 * progress has ended: for whoever starts, or follows a selection that has become another. What cannot
 * be used is left out, and logged. Told once, possibly before this returns.
 * errors:  HUB_ENOMEM: on_done is not told */
HUB_MUST_CHECK hub_err hub_choice_make_now(hub_manager *manager, hub_selection *selection,
                                           hub_choice_on_done *on_done, void *ctx,
                                           hub_error *reterr);

/* Show what is enabled again, now or when the operation in progress has ended. Nothing chosen is fine.
 * errors:  HUB_ENOMEM: on_done is not told */
HUB_MUST_CHECK hub_err hub_choice_end(hub_manager *manager, hub_str meta,
                                      hub_choice_on_done *on_done, void *ctx, hub_error *reterr);

/* The selection that is shown; NULL: there is none. Borrowed until the loop goes on. */
hub_selection *hub_choice_of(const hub_manager *manager);

/* Keys of the toolsets that are enabled but not shown meanwhile, in the order in which they became
 * so. Borrowed until the next change. */
const char *const *hub_choice_kept(const hub_manager *manager, size_t *ret_count);

/* The toolsets that are enabled for an audience, whatever is shown of them: those that are kept or,
 * where nothing is chosen, those that are active. Empty: that place has none. Borrowed. */
size_t hub_choice_places(const hub_audience *audience);
hub_str hub_choice_enabled_at(const hub_audience *audience, size_t place);
bool hub_choice_enables(const hub_audience *audience, hub_str toolset);

/* Have a toolset among those that are kept: something is chosen. errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_choice_keep(hub_manager *manager, hub_str toolset);

#endif
