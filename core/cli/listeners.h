/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All listeners of a hub that serves: made from the settings, and taken down together. The
 * composition root's part that knows the transports over the network. Thread: [loop].
 */
#ifndef HUB_CLI_LISTENERS_H
#define HUB_CLI_LISTENERS_H

#include "base/budget.h"
#include "hub/orchestrator/orchestrator.h"
#include "hub/reload/reload.h"

typedef struct cli_listeners cli_listeners;

/* Open every listener of settings->listens, whose clients hold no more than `budget` together, and say of each in the log where it is: event
 * `listen.ready` with `url` or `path`. On failure a line on stderr says which, why, and what to do.
 * owns:    *ret_listeners, close it with cli_listeners_close, also after a failure
 * returns: EXIT_OK, EXIT_LISTEN, EXIT_INTERNAL */
int cli_listeners_open(struct ev_loop *loop, hub_orchestrator *hub, const hub_settings *settings,
                       const hub_listen_settings *replica, hub_budget *budget,
                       cli_listeners **ret_listeners);

/* What a reload makes of them. */
typedef struct cli_listeners_next cli_listeners_next;

/* Open those listeners of the next settings that are not there; all or none.
 * owns:    *ret_next: cli_listeners_switch or cli_listeners_abandon gets it. `settings` are held
 * errors:  as opening them; the text says which, and what to do */
HUB_MUST_CHECK hub_err cli_listeners_prepare(cli_listeners *listeners, const hub_settings *settings,
                                             cli_listeners_next **ret_next, hub_error *reterr);
void cli_listeners_abandon(cli_listeners_next *next); /* NULL is fine */

/* Serve them, and no others, with the next settings: the hub has them. Listeners that are no more
 * close once their clients have been answered, or limits.drain_timeout has passed. What cannot be
 * changed while they listen is added to `restart`. */
void cli_listeners_switch(cli_listeners_next *next, hub_name_list *restart);

/* The same of the listener of the other replicas, whose settings live as long as `settings`. */
void cli_listeners_switch_replica(cli_listeners *listeners, const hub_settings *settings,
                                  const hub_listen_settings *replica, hub_name_list *restart);

/* Whether there are other replicas, to which clients may go. NULL: no. */
bool cli_listeners_have_replicas(const cli_listeners *listeners);

/* The hub is about to end: connections end with their next answer. NULL is fine. */
void cli_listeners_leave(cli_listeners *listeners);

/* Have idle sessions move to the other replicas: how many are still to. NULL: none. */
size_t cli_listeners_move(const cli_listeners *listeners);

/* Before hub_drain_begin: accept no more. Clients that are there get their answers. NULL is fine.
 */
void cli_listeners_drain(cli_listeners *listeners);

/* Whether a client has not taken what it was sent. NULL: no. */
bool cli_listeners_owe(const cli_listeners *listeners);

/* After hub_orchestrator_stop: accept no more, and run the loop until every client has been told
 * what it is owed, at most `drain_ms`; then end every connection. NULL is fine. */
void cli_listeners_close(cli_listeners *listeners, unsigned drain_ms);

#endif
