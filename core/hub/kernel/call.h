/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls: requests in flight through the hub, from admission to their single completion. This is
 * where a call is completed: hub_call_finish, whatever the cause (result, error, cancel, timeout,
 * death of the module). Its way to a module is way.h.
 *
 * A call's id is the hub's own, below 2^53, and not used again for 2^37 calls: an upstream gets it
 * as JSON-RPC id and progress token, so an answer that comes too late, or is forged, finds nothing.
 * The client's id is kept verbatim, `1` apart from `"1"`. Memory: calls are recycled; in steady
 * state one costs no allocation. Thread: [loop].
 */
#ifndef HUB_HUB_KERNEL_CALL_H
#define HUB_HUB_KERNEL_CALL_H

#include "hub/kernel/station.h"
#include "hub/kernel/types.h"
#include "hub/kernel/values.h"
#include "wire/dialect.h"
#include "wire/trace.h"

#include <ev.h>

/* owns:    *ret_table. The hub is called back when a deadline passes. */
HUB_MUST_CHECK hub_err hub_call_table_create(struct ev_loop *loop, hub_call_table **ret_table);
void hub_call_table_destroy(hub_call_table *table); /* no call may be in flight; NULL is fine */

/* Calls in flight in the whole hub. */
size_t hub_call_count(const hub_call_table *table);

/* ---- beginning ------------------------------------------------------------------------------- */

/* Begin a call of a client: `id`, which none of the session's calls has, and `context` are copied.
 * errors:  HUB_ELIMIT (too many in flight, for the hub, the session or its principal), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_call_begin(hub_session *session, hub_port *port, hub_str id,
                                      const hub_request_context *context, hub_call **ret_call);

/* Begin a call of the hub's own. `on_outcome` is told exactly once, unless hub_call_drop comes. */
HUB_MUST_CHECK hub_err hub_call_begin_internal(hub_orchestrator *hub,
                                               hub_call_on_outcome *on_outcome, void *ctx,
                                               hub_call **ret_call);

/* Note who works on it. With `takes_place` it counts against the toolset's max_calls. */
void hub_call_bind(hub_call *call, hub_binding *binding, bool takes_place);

/* Make a call of the hub's own end with a session, whose client it speaks to; nobody there waits for
 * it. */
void hub_call_attend(hub_call *call, hub_session *session);

/* ---- what it is ------------------------------------------------------------------------------ */

uint64_t hub_call_id(const hub_call *call);
hub_call_table *hub_call_table_of(const hub_call *call);
struct ev_loop *hub_call_loop(const hub_call *call); /* of its timers */
hub_session *hub_call_session(const hub_call *call); /* NULL: nobody's, or the client is away */
hub_port *hub_call_port(const hub_call *call);
hub_binding *hub_call_binding(const hub_call *call); /* NULL: nobody works on it */
hub_toolset *hub_call_toolset(const hub_call *call); /* of the binding; NULL likewise */
const hub_request_context *hub_call_context(const hub_call *call);
hub_call *hub_call_next_of_session(const hub_call *call);
hub_call *hub_call_next_of_binding(const hub_call *call);

/* The hub's own: no client waits for its outcome. */
bool hub_call_is_internal(const hub_call *call);

/* Of a session, but nobody there waits for it (hub_call_attend). */
bool hub_call_is_unasked(const hub_call *call);

/* Whether it has one of the places of its toolset (max_calls). */
bool hub_call_has_place(const hub_call *call);

/* Bound, but nobody works on it: its instance is not told when it ends. */
bool hub_call_is_idle(const hub_call *call);
void hub_call_set_idle(hub_call *call, bool is_idle);

/* How failures are told: as tool results, with structuredContent; as those of a resource. */
bool hub_call_is_of_tool(const hub_call *call);
void hub_call_set_of_tool(hub_call *call, bool is_tool_call, bool structured_errors);
void hub_call_set_reading(hub_call *call);

/* It is a modern client's, of a method that may be answered with `input_required`.
 * spec: MCP 2026-07-28 basic/patterns/mrtr, Supported Requests */
bool hub_call_may_ask(const hub_call *call);

/* Its outcome is known, and on its way back. */
bool hub_call_is_ending(const hub_call *call);

/* The span that it is, if somebody records it, or NULL. It lives until stations have dropped the call;
 * whoever notes something about the call notes it with it. */
const hub_trace *hub_call_trace(const hub_call *call);
void hub_call_set_trace(hub_call *call, const hub_trace *trace);

/* What a call is for that the gate has let by (hub.h), and whose client can be asked something: the
 * toolset's own name, and the value in the params that said it. False: they were not kept. */
bool hub_call_names(const hub_call *call, hub_str *ret_name, hub_str *ret_name_json);

/* A station's state with the call: zeros when it is first asked for. From then on the station hears
 * of the call's end. */
void *hub_call_part_of(hub_call *call, const hub_station *station);

/* The same, or NULL while nobody has asked for it. */
void *hub_call_find_part(const hub_call *call, const hub_station *station);

/* ---- time ------------------------------------------------------------------------------------ */

/* What the call takes is counted from now on. */
void hub_call_begin_clock(hub_call *call);
uint64_t hub_call_begin_us(const hub_call *call); /* monotonic; 0: it has not begun */
uint64_t hub_call_begin_ms(const hub_call *call);

/* After `timeout_ms` without progress, or `ceiling_ms` in all, the call fails. Both count from the
 * beginning of its clock, which is now unless it has begun. */
void hub_call_set_deadline(hub_call *call, uint32_t timeout_ms, uint32_t ceiling_ms);

/* When the module has to be done, as it is told; monotonic, milliseconds. `since_ms`: the call has
 * been silent since then. */
uint64_t hub_call_deadline_ms(const hub_call *call, uint64_t since_ms);

/* Progress was reported: the timeout starts anew, the ceiling does not. */
void hub_call_touch(hub_call *call);

/* The clock stands still: the call waits for its client. Neither timeout nor ceiling comes nearer
 * until it goes on. */
void hub_call_pause(hub_call *call);
void hub_call_unpause(hub_call *call);

/* While the call is held, call `on_time` after that many milliseconds; it ends with the hold. */
void hub_call_wait(hub_call *call, uint64_t wait_ms,
                   void (*on_time)(struct ev_loop *loop, ev_timer *timer, int events));
void hub_call_stop_waiting(hub_call *call);

/* ---- its client ------------------------------------------------------------------------------ */

/* Answer the client for now, and let go of it: the call lives on without one. */
void hub_call_send_away(hub_call *call, const hub_outcome *outcome);

/* The client is back with another request: it is the call's from now on. `id` and `context` are
 * copied; what of the older one was handed out stays valid.
 * errors:  HUB_ELIMIT (as hub_call_begin, or the call has been taken up too often), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_call_meet_client(hub_call *call, hub_session *session, hub_port *port,
                                            hub_str id, const hub_request_context *context);

/* ---- finding --------------------------------------------------------------------------------- */

/* The call with that id, or NULL. */
hub_call *hub_call_at(const hub_call_table *table, uint64_t id);

/* The call with that id if `binding` works on it, else NULL. */
hub_call *hub_call_find(const hub_call_table *table, uint64_t id, const hub_binding *binding);

/* Give it a new id: whatever is said under the old one finds nothing. */
void hub_call_renew(hub_call *call);

/* ---- ending ---------------------------------------------------------------------------------- */

/* Complete a call: take the outcome back past its stations, answer the client (or tell on_outcome),
 * forget it. A station may hold it on that way: then the call lives on, and is finished by
 * hub_call_finish_from. */
void hub_call_finish(hub_call *call, const hub_outcome *outcome);

/* Go on with an outcome that `station` has held. */
void hub_call_finish_from(hub_call *call, const hub_station *station, const hub_outcome *outcome);

/* Nobody works on it any more: its outcome is known. */
void hub_call_unbind(hub_call *call);

/* Complete it with a failure and a sentence; as one that the hub did not let through. */
void hub_call_fail(hub_call *call, int32_t status, hub_str text);
void hub_call_refuse(hub_call *call, int32_t status, hub_str text);

/* Complete it with a JSON-RPC error. */
void hub_call_fail_rpc(hub_call *call, int code, hub_str message);
void hub_call_refuse_rpc(hub_call *call, int code, hub_str message);

/* … that it is over a limit: as hub_respond_overload of a request. */
void hub_call_refuse_overload(hub_call *call, hub_str limit, hub_str text, uint32_t wait_ms);

/* Complete it with a failure and a sentence, and tell who works on it that nobody waits. */
void hub_call_abort(hub_call *call, int32_t status, hub_str text);

/* Forget a call without an answer, and tell who works on it: cancelled, or the client is gone. */
void hub_call_drop(hub_call *call);

#endif
