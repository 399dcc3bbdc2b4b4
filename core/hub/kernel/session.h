/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions: conversations with clients, as the hub sees them; how transports see them is
 * transport.h. Thread: [loop].
 */
#ifndef HUB_HUB_KERNEL_SESSION_H
#define HUB_HUB_KERNEL_SESSION_H

#include "base/cidr.h"
#include "hub/kernel/capabilities.h"
#include "hub/kernel/client.h"
#include "hub/kernel/principal.h"
#include "identity/credentials.h"
#include "hub/kernel/transport.h"
#include "hub/kernel/types.h"
#include "tools/catalog.h"

hub_orchestrator *hub_session_hub(const hub_session *session);
hub_profile *hub_session_profile(const hub_session *session);
hub_session *hub_session_next(const hub_session *session); /* of the same profile */
uint64_t hub_session_number(const hub_session *session);   /* its own in the life of the hub */
uint64_t hub_session_begun_us(const hub_session *session); /* monotonic */
hub_port *hub_session_port(const hub_session *session);
hub_principal *hub_session_principal(const hub_session *session);
hub_client *hub_session_client(const hub_session *session); /* NULL: the session is one itself */
const char *hub_session_who(const hub_session *session);    /* the principal's name */

/* The newest credential that it was used with; borrowed until the loop goes on. */
hub_identity *hub_session_identity(const hub_session *session);

/* The settings are others: by a token that is there still, it has what that one is good for now; by
 * one that is gone, or without memory, nothing. */
void hub_session_renew(hub_session *session, const hub_auth_settings *auth);
const char *hub_session_transport(const hub_session *session);

/* The operator: the user whose hub it is, and root, on a Unix socket. */
bool hub_session_is_operator(const hub_session *session);

/* Who may know how all toolsets fare: the operator, and whose credential says so. */
bool hub_session_may_read_all(const hub_session *session);
const void *hub_session_listener(const hub_session *session); /* only compared */
const char *hub_session_peer(const hub_session *session);     /* where its client is; "": nowhere */

/* Whose share of a pool (base/share.h) it takes: its principal's; of those whom nobody knows, that of all at
 * its address, or its own, where there is none. Borrowed from the session, or in `text`. */
enum { HUB_WHOSE_BYTES = HUB_ADDRESS_TEXT_BYTES + 32 };
hub_str hub_session_whose(const hub_session *session, char text[HUB_WHOSE_BYTES]);

/* Where the metadata is that say where to get a token (RFC 9728); NULL: nowhere that is known. */
const char *hub_session_metadata(const hub_session *session);

/* It ends with the answer to its only request. */
bool hub_session_is_one_request(const hub_session *session);

/* It is no client: somebody has a request answered as if it were one (hub/admin/act.h). */
bool hub_session_acts(const hub_session *session);

/* Nothing is written to it any more. */
bool hub_session_is_closing(const hub_session *session);

/* Its client has said notifications/initialized: it may be sent requests and notifications. */
bool hub_session_is_initialized(const hub_session *session);
void hub_session_note_initialized(hub_session *session);

/* Legacy: agree on a revision, of a client that declares `capabilities` (taken, on the heap). */
void hub_session_agree(hub_session *session, hub_revision revision, char *capabilities);

/* Legacy: what `initialize` declared, a JSON object; empty before. Borrowed from the session. */
hub_str hub_session_capabilities(const hub_session *session);

/* Legacy: the least serious level of messages that it asked for, a raw string; empty: for none.
 * `level_json` is a constant. */
hub_str hub_session_log_level(const hub_session *session);
void hub_session_note_log_level(hub_session *session, hub_str level_json);

/* Legacy: what the answer to `initialize` said. */
const hub_announced *hub_session_announced(const hub_session *session);
void hub_session_note_announced(hub_session *session, hub_announced announced);

/* The serial of the view whose list of a kind it was given, to its end. */
uint64_t hub_session_listed(const hub_session *session, hub_kind kind);
void hub_session_note_listed(hub_session *session, hub_kind kind, uint64_t serial);

/* Its calls in flight, newest first (hub_call_next_of_session); how many somebody waits for is
 * hub_session_in_flight. */
hub_call *hub_session_calls(const hub_session *session);

/* Its call with that raw id, or NULL. */
hub_call *hub_session_find_call(const hub_session *session, hub_str client_id);

/* Whether one of its requests with that raw id is open: a call, or one that a station holds. */
bool hub_session_has_request(const hub_session *session, hub_str client_id);

/* A station holds requests of it open that are no calls (its entry holds_id), or none any more. */
void hub_session_set_holding(hub_session *session, const hub_station *station, bool is_holding);

/* Calls in flight of its client: its own, if it is one itself. */
size_t hub_session_client_in_flight(const hub_session *session);

/* Whether it may have one call more in flight: of its client, and of its principal. */
bool hub_session_has_place(const hub_session *session);

/* Keep bytes of it for later. False when its client has kept as much as it may, in all its sessions
 * (hub_session_whose; a share of HUB_LIMIT_HELD_BYTES), or there is no memory. */
bool hub_session_hold(hub_session *session, size_t bytes);
void hub_session_release(hub_session *session, size_t bytes);

/* A station's state with the session. */
void *hub_session_part(const hub_session *session, const hub_station *station);

#endif
