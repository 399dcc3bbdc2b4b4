/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions that leave a replica that ends, and those that are made anew at another one (hub/moves/moves.h).
 * Thread: [loop].
 */
#ifndef HTTP_MOVING_H
#define HTTP_MOVING_H

#include "http/legacy.h"
#include "hub/moves/moves.h"

/* Put the sessions of a server that nothing binds to it into the store, and end them here as soon as they are
 * there. To be called again whenever something has happened.
 * returns: how many there are that will move */
size_t hub_http_sessions_move(hub_http_server *server);

/* The session is on its way: answer the request when it has left. */
void hub_http_moving_await(const hub_http_task *task, hub_http_session *session,
                           hub_str request_id);

/* Make a session anew for whoever sent the request in work on a connection, or answer why not. */
bool hub_http_session_remake(hub_http_connection *connection, const char *id, const hub_move *move);

/* The session ends for good: what the store has of it, and what it waits for. */
void hub_http_moving_end(hub_http_session *session);

/* Answer a replica that its session is not, or no longer, here: the other one looks where it is. */
void hub_http_answer_not_here(hub_http_connection *connection, hub_str request_id);

#endif
