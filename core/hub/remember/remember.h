/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What principals have chosen outlives the hub: for each (profile, principal) the store has a record
 * of kind "active", whose owner is the principal and whose key is the profile.
 *
 *     {"enabled": ["a"], "disabled": ["b"], "equipped": "NAME"}
 *
 * It says how the choice differs from what the profile makes active, so that a toolset that is new in
 * the configuration is there for everybody. Every member may be missing; a choice that differs in
 * nothing has no record. Toolsets that are not configured any more stay in the record, without effect:
 * they may come back.
 *
 * Read at a principal's first use: its first requests are held until then, but for no longer than
 * HUB_LIMIT_REMEMBER_READ_MS. A record that comes later takes effect then, unless its principal has
 * chosen something meanwhile, which counts. Written whenever a choice has changed; whoever writes last
 * wins. A hub that listens follows what others write; one that serves standard input alone does not,
 * and has no watch. Without a store, or with `remember: none`, nothing here does anything.
 *
 * For who adds to the record (saved toolsets): the member `equipped` is a name that this feature keeps
 * and does not understand. Choose, then hub_remember_set_equipped, then hub_remember_keep, and answer
 * in its callback. Register once, in hub_begins, with hub_remember_equip_by: the function is called
 * when a record says another name than the audience had, at first use with the request still held, and
 * says hub_remember_equipped_now when it is done, or has failed.
 *
 * Thread: [loop]. Nobody waits for another principal.
 */
#ifndef HUB_HUB_REMEMBER_REMEMBER_H
#define HUB_HUB_REMEMBER_REMEMBER_H

#include "base/buf.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/station.h"
#include "hub/kernel/types.h"

extern const hub_station HUB_REMEMBER_STATION;

/* Whether a request has to wait for what its principal has chosen: then it has been taken, and
 * `handle` is called with it later, or it was answered. Of a hub that remembers nothing: no. */
bool hub_remember_hold(const hub_request *request, hub_request_handler *handle);

/* Told once. `is_lost`: the store could not take it: it holds until the hub ends. */
typedef void hub_remember_on_kept(void *ctx, bool is_lost);

/* Whether requests are held so: each for HUB_LIMIT_REMEMBER_READ_MS at most. */
bool hub_remember_holds(const hub_orchestrator *hub);

/* An audience's choice has changed: write it, and tell when it is on the disk, or cannot be, or took
 * longer than HUB_LIMIT_REMEMBER_KEEP_MS; possibly before this returns. Where nothing is remembered,
 * nothing is lost. */
void hub_remember_keep(hub_audience *audience, hub_remember_on_kept *on_kept, void *ctx);

/* ---- what is equipped ------------------------------------------------------------------------ */

/* Have another name there, at most HUB_LIMIT_REMEMBER_NAME_BYTES; it is written by the next
 * hub_remember_keep. errors:  HUB_ENOMEM, HUB_ELIMIT */
HUB_MUST_CHECK hub_err hub_remember_set_equipped(hub_audience *audience, hub_str name);

/* Who equips what a record says; empty: nothing. It says when it is done, possibly before it
 * returns. */
typedef void hub_remember_equip(hub_audience *audience, hub_str name);
void hub_remember_equip_by(hub_orchestrator *hub, hub_remember_equip *equip);
void hub_remember_equipped_now(const hub_audience *audience);

/* ---- how it is ------------------------------------------------------------------------------- */

typedef enum hub_remembered {
    HUB_REMEMBERED_NOT,    /* nothing is to be remembered of it */
    HUB_REMEMBERED_YES,    /* the store has what is chosen */
    HUB_REMEMBERED_LOST,   /* the store could not take the last change */
    HUB_REMEMBERED_UNREAD, /* nobody knows what was chosen before: the store has not answered */
} hub_remembered;

/* Append to an object who has chosen what: `choices`, an array of at most HUB_LIMIT_REMEMBER_SHOWN
 * objects (`profile`, `principal`, `enabled` and `disabled` beside what the profile has, `ofSession`,
 * `remembered`), and `moreChoices`, when there are more. Of its own principal; of all for an operator:
 * `local`, the user whose hub it is, and who has the scope HUB_SCOPE_ADMIN. */
void hub_remember_add_choices(const hub_session *session, hub_buf *out);

#endif
