/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saved toolsets at work: which one an audience has equipped, and what follows from its changes. To
 * equip one is to find it (keep.h) and to choose its tools (active/choice.h): one operation, so that
 * another is refused from the first step on, and unequipping waits its turn.
 *
 * A saved toolset that is changed while it is equipped, by whomever, is what its audiences see from
 * then on; one that is deleted is unequipped. Tools that come with their server, or whose definition
 * becomes another than was saved, are named in the log and to legacy clients that want messages.
 * Thread: [loop].
 */
#ifndef HUB_HUB_SAVED_SAVED_H
#define HUB_HUB_SAVED_SAVED_H

#include "hub/active/choice.h"
#include "hub/saved/keep.h"
#include "tools/exposure.h"

extern const hub_station HUB_SAVED_STATION;

/* What an audience has equipped. */
typedef struct hub_saved_equipped {
    hub_str name; /* empty: nothing */
    hub_saved_origin origin;
    uint64_t version; /* of the document */
} hub_saved_equipped;

/* Borrowed until the loop goes on. */
hub_saved_equipped hub_saved_equipped_by(const hub_audience *audience);

/* What became of it; borrowed for the callback. */
typedef struct hub_saved_outcome {
    hub_err err; /* HUB_OK, or all is as it was: those of hub_saved_found and hub_choice_outcome */
    const char *why;        /* for people: "Failed to equip toolset: …"; empty for HUB_OK */
    hub_audience *audience; /* HUB_OK */
    bool was_nothing;       /* unequip: nothing was equipped */
    hub_str name;           /* what is, or was, equipped */
    const hub_manager_result *toolsets; /* that it draws on; or that are back */
    size_t count;
} hub_saved_outcome;

typedef void hub_saved_on_done(void *ctx, const hub_saved_outcome *outcome);

/* Equip the one of that name for a session's audience of choice, as its principal sees it. `meta` is
 * that of the request. Told once, possibly before this returns.
 * errors:  HUB_EBUSY (an operation is in progress), HUB_ENOMEM: on_done is not told */
HUB_MUST_CHECK hub_err hub_saved_equip(hub_session *session, hub_str name, hub_str meta,
                                       hub_saved_on_done *on_done, void *ctx, hub_error *reterr);

/* Show what is enabled again, now or when the operation in progress has ended.
 * errors:  HUB_ENOMEM: on_done is not told */
HUB_MUST_CHECK hub_err hub_saved_unequip(hub_session *session, hub_str meta,
                                         hub_saved_on_done *on_done, void *ctx, hub_error *reterr);

/* Equip at start what the settings of a profile say, for all who have chosen nothing: now if it is in
 * the manifest, else when the store has answered. What cannot be is logged. */
void hub_saved_start(hub_profile *profile);

/* The settings, or the toolsets that there are, are others: what the settings have equipped is what they
 * say now, and what clients have chosen is taken anew. */
void hub_saved_review(hub_orchestrator *hub);

/* ---- of what is equipped --------------------------------------------------------------------- */

/* Why a tool of what is equipped is not shown. */
typedef enum hub_saved_absence {
    HUB_SAVED_SHOWN,
    HUB_SAVED_NOT_THERE, /* its server has not answered, or does not have it */
    HUB_SAVED_CHANGED,   /* its definition is another one than was saved */
    HUB_SAVED_HIDDEN,    /* policy or access hide it, or its toolset is not configured */
} hub_saved_absence;

/* How a selected tool is in what somebody sees. */
hub_saved_absence hub_saved_absence_of(const hub_exposure *exposure, const hub_orchestrator *hub,
                                       const hub_selected *selected);

#endif
