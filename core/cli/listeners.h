/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All listeners of a hub that serves: made from the settings, and taken down together. The
 * composition root's part that knows the transports over the network. Thread: [loop].
 */
#ifndef HUB_CLI_LISTENERS_H
#define HUB_CLI_LISTENERS_H

#include "hub/orchestrator.h"

typedef struct cli_listeners cli_listeners;

/* Open every listener of settings->listens, and say of each in the log where it is: event
 * `listen.ready` with `url` or `path`. On failure a line on stderr says which, why, and what to do.
 * `settings` is borrowed for the life of the result.
 * owns:    *ret_listeners, close it with cli_listeners_close, also after a failure
 * returns: EXIT_OK, EXIT_LISTEN, EXIT_INTERNAL */
int cli_listeners_open(struct ev_loop *loop, hub_orchestrator *hub, const hub_settings *settings,
                       cli_listeners **ret_listeners);

/* After hub_orchestrator_stop: accept no more, and run the loop until every client has been told
 * what it is owed, at most `drain_ms`; then end every connection. NULL is fine. */
void cli_listeners_close(cli_listeners *listeners, unsigned drain_ms);

#endif
