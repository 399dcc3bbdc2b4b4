/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of saved toolsets at work share: saved.c (equipping and unequipping), news.c (tools
 * that come, and that become others) and following.c (documents that change). Thread: [loop].
 */
#ifndef HUB_HUB_SAVED_SAVED_INTERNAL_H
#define HUB_HUB_SAVED_SAVED_INTERNAL_H

#include "hub/kernel/audience.h"
#include "hub/saved/saved.h"

/* Something under way. The audience may end before it does. */
typedef struct saved_task {
    struct saved_task *next;
    struct saved_task *prev;
    hub_orchestrator *hub;
    hub_audience *audience;     /* NULL: it has ended */
    hub_saved_on_done *on_done; /* NULL: it is the hub's own doing */
    void *ctx;
    char *name; /* of what is to be equipped, or looked for anew; NULL: it is to be unequipped */
    char *principal;   /* as whom it is found */
    char *meta;        /* of the request */
    char *by;          /* who causes it (base/cause.h) */
    uint64_t asker;    /* number of the session */
    bool is_waiting;   /* for its turn */
    bool is_of_record; /* it is what is remembered (hub/remember) */
    hub_saved_origin origin;
    uint64_t version;
} saved_task;

/* What an audience has of it. */
typedef struct saved_of_audience {
    char *name;      /* what is equipped; NULL: nothing */
    char *principal; /* as whom it was found */
    hub_saved_origin origin;
    uint64_t version;
    saved_task *tasks;     /* all that are under way, in order */
    saved_task *equipping; /* one of them; NULL: none */
    saved_task *following; /* likewise: what is equipped is being looked for anew */
    bool is_stale;         /* … and has changed once more since */
    bool *was_shown;       /* of each tool of the selection … */
    size_t count;
} saved_of_audience;

typedef struct hub_saved_hub {
    hub_state_watch *watch; /* NULL: nobody has equipped anything of the store yet */
} hub_saved_hub;

static inline saved_of_audience *saved_part_of(const hub_audience *audience)
{
    return hub_audience_part(audience, &HUB_SAVED_STATION);
}

/* ---- saved.c --------------------------------------------------------------------------------- */

/* `name` empty: to unequip. NULL: out of memory. */
saved_task *saved_task_create(hub_audience *audience, hub_str principal, hub_str name,
                              hub_str meta);
void saved_task_destroy(saved_task *one);

/* The hub's own doing: what was equipped is no more, or is not what is remembered. */
void saved_unequip_quietly(hub_audience *audience, bool is_of_record);

void saved_log_equipped(const hub_audience *audience, const char *event);

/* ---- news.c ---------------------------------------------------------------------------------- */

/* Note which tools of what is equipped are shown now. Without memory, nothing is told of what comes
 * later. */
void saved_note_shown(const hub_audience *audience);
void saved_forget_shown(saved_of_audience *own);

/* An entry of the station: a toolset has another list. */
void saved_toolset_listed(hub_toolset *toolset, hub_kind kind);

/* ---- following.c ----------------------------------------------------------------------------- */

/* Look for what an audience has equipped anew, and take it as it is now. */
void saved_follow(hub_audience *audience);

/* Follow the store from now on: something of it is equipped. */
void saved_watch_store(hub_orchestrator *hub);

#endif
