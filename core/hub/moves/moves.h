/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions that move. A replica that ends puts a record of each session of a handshake client into the store,
 * once nothing binds the session to it; the first replica that is asked for the session writes itself into the
 * record, if that still is what it saw, and makes the session anew, under the same id. The record stays for as
 * long as the session lives, since its id names the home that it had first.
 *
 *     session PRINCIPAL/ID: {"format":1,"at":1790000000,"home":"10.0.0.5","port":8790,
 *                            "profile":"dev","streams":3,"sequence":7,"delivered":7,"messages":[…]}
 *
 * `messages` are what its client would have to say to have the same session: initialize, initialized,
 * logging/setLevel, resources/subscribe. Port 0: it has no home. No payload of a call is in it. A record of
 * another format is left alone, and its session is told to begin anew. Thread: [loop].
 */
#ifndef HUB_HUB_MOVES_MOVES_H
#define HUB_HUB_MOVES_MOVES_H

#include "base/buf.h"
#include "hub/kernel/transport.h"
#include "hub/replicas/replicas.h"
#include "state/store.h"

enum { HUB_MOVE_FORMAT = 1 };

/* What a record says; spans are borrowed from it. */
typedef struct hub_move {
    hub_replica_place home; /* port 0: it has none */
    int64_t recorded_s;     /* when it was written; of one that is read */
    hub_str profile;
    uint32_t streams;   /* how many the session has had */
    uint64_t sequence;  /* of the latest event of its own stream … */
    uint64_t delivered; /* … and the latest one that was written to a connection */
    hub_str messages;   /* raw, an array */
} hub_move;

/* What keeps a session where it is, as a setting that has it so; NULL: nothing does. */
const char *hub_move_obstacle(const hub_session *session);

/* Append the messages that make the session, with the brackets. */
void hub_move_add_messages(const hub_session *session, hub_buf *out);

/* Read the document of a record.
 * errors:  HUB_EPARSE (it is none), HUB_EINVAL (of another format) */
HUB_MUST_CHECK hub_err hub_move_read(hub_str document, hub_move *ret_move);

/* Whether a record may have a message of that method: whoever writes into the store calls no tool by it. */
bool hub_move_has_method(hub_str method);

/* Its client has heard nothing since the session was recorded: the lists may be others. */
void hub_move_tell_lists(const hub_session *session);

/* ---- records ---------------------------------------------------------------------------------- */

/* Whose session, and its id. */
typedef struct hub_move_id {
    const char *principal;
    const char *session;
} hub_move_id;

/* Read, write, list or delete records: as hub_state_get, hub_state_put, hub_state_list and hub_state_delete.
 * `on_done` of a put may be NULL. */
HUB_MUST_CHECK hub_err hub_moves_get(const hub_orchestrator *hub, hub_move_id id,
                                     hub_state_done on_done, void *ctx, hub_state_op **ret_op);
HUB_MUST_CHECK hub_err hub_moves_put(const hub_orchestrator *hub, hub_move_id id, uint64_t seen,
                                     const hub_move *move, hub_state_done on_done, void *ctx,
                                     hub_state_op **ret_op);
HUB_MUST_CHECK hub_err hub_moves_list(const hub_orchestrator *hub, const hub_state_record *after,
                                      hub_state_done on_done, void *ctx, hub_state_op **ret_op);
void hub_moves_delete(const hub_orchestrator *hub, hub_move_id id, uint64_t seen);

/* Whether there is a store for them; whether it takes one more of them now. */
bool hub_moves_are_kept(const hub_orchestrator *hub);
bool hub_moves_have_room(const hub_orchestrator *hub);

#endif
