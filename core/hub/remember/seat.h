/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seats: what the hub knows of the record of one (profile, principal). What the files of this folder
 * share; nobody else includes it. Thread: [loop].
 */
#ifndef HUB_HUB_REMEMBER_SEAT_H
#define HUB_HUB_REMEMBER_SEAT_H

#include "base/limits.h"
#include "base/map.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/principal.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"
#include "hub/remember/record.h"
#include "hub/remember/remember.h"
#include "state/store.h"

#include <ev.h>

typedef struct seat seat;

/* With a call: it is held. */
typedef struct held {
    hub_call *call;
    hub_request_handler *handle; /* NULL: it is not held */
    char *bytes;                 /* the request, whole */
    size_t len;
    struct held **list; /* of the seat, or of those that go on */
    struct held *next;
    struct held *prev;
} held;

/* Somebody waits for a choice to be kept. */
typedef struct keeper {
    hub_remember_on_kept *on_kept;
    void *ctx;
    struct keeper *next;
} keeper;

struct seat {
    hub_orchestrator *hub;
    seat *next; /* least recently used first */
    seat *prev;
    UT_hash_handle hh;
    hub_state_op *op;       /* a read or a write in progress */
    bool is_reading;        /* it is a read … */
    bool is_first;          /* … before which nothing is known of the record … */
    bool is_late;           /* … and which nobody waits for any more */
    bool is_stale;          /* the record has changed since the read began */
    bool is_unread;         /* the last read has failed … */
    uint64_t failed_at_ms;  /* … at that time */
    bool has_chosen;        /* since before the first read has ended */
    bool is_dirty;          /* the choice is to be written … */
    bool has_failed;        /* … which went wrong the last time */
    bool is_restoring;      /* the record takes effect … */
    bool is_equipping;      /* … and who equips is at it */
    bool is_missing_some;   /* the record names toolsets that are not configured */
    bool is_listed;         /* its record was in the list of all (follow.c) */
    uint64_t version;       /* of the record; 0: there is none */
    remember_record record; /* as it was read or written last */
    char *equipped;         /* the name that is written next; NULL: the record's */
    char *next_text;        /* the document that is written next; NULL: it is yet to be made */
    held *held;             /* requests, oldest first */
    keeper *keepers;
    ev_timer read_timer;
    ev_timer keep_timer;
    hub_str profile;
    hub_str principal;
    char key[];
};

/* With the hub. */
typedef struct remember {
    seat *seats; /* uthash over the key: PROFILE \n PRINCIPAL */
    seat *used;  /* the same, least recently used first */
    size_t count;
    held *going; /* requests that go on next */
    hub_state_watch *watch;
    hub_state_op *listing; /* a page of all records, because changes were missed … */
    bool lists_again;
    bool is_other; /* … for the store is another one */
    hub_remember_equip *equip;
    ev_timer later; /* after a reload: what was missing may be there */
    bool is_on;
    bool is_ending;
} remember;

extern const hub_state_kind REMEMBER_KIND;

remember *remember_of(const hub_orchestrator *hub);

/* ---- seats.c --------------------------------------------------------------------------------- */

seat *seat_find(const hub_orchestrator *hub, hub_str profile, hub_str principal);
seat *seat_of(const hub_audience *audience);

/* One that is new, or NULL: too many are in use, or no memory is left. */
seat *seat_make(hub_orchestrator *hub, hub_str profile, hub_str principal);
void seat_touch(seat *of);

/* Nothing is under way: it may go, and be read again. */
bool seat_is_quiet(const seat *of);
void seat_drop(seat *of);

hub_state_id seat_id(const seat *of);

/* NULL: it is not configured any more. */
hub_profile *seat_profile(const seat *of);

/* The audience of its choice, or NULL; and a session that may make one. */
hub_audience *seat_audience(const seat *of);
hub_session *seat_session(const seat *of);

/* ---- read.c ---------------------------------------------------------------------------------- */

/* Read the record, and have it take effect. */
void seat_read(seat *of);

/* Requests that are held go on. */
void seat_let_go(seat *of);

/* A request that is held ends. */
void remember_end_held(hub_call *call);

/* ---- keep.c ---------------------------------------------------------------------------------- */

/* Write what is to be written, unless something is under way. */
void seat_write(seat *of);

/* Its audience is about to end: what is to be written is what it is now. */
void seat_settle(seat *of);

/* Tell those that wait. */
void seat_tell(seat *of, bool is_lost);

/* ---- restore.c ------------------------------------------------------------------------------- */

/* Have the record take effect. `is_first`: its principal has seen nothing yet. False: nobody is there
 * for whom it could. */
bool seat_restore(seat *of, bool is_first);

/* Whether the record names toolsets that are not configured. */
void seat_note_missing(seat *of);

/* ---- follow.c -------------------------------------------------------------------------------- */

/* Begin to follow what others write, or end it, as the settings say. */
void remember_follow(hub_orchestrator *hub);
void remember_unfollow(hub_orchestrator *hub);

#endif
