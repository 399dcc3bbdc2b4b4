/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Unix socket transport: stdio's framing (newline, or Content-Length when the first bytes ask
 * for it) for many clients, each a session of its own. Who may connect is a matter of the socket's
 * permissions; the principal is "uid:N" of the peer (SO_PEERCRED). A socket file that nobody
 * listens on is replaced; one that a process answers on is not. Thread: [loop].
 * spec: MCP 2026-07-28 basic/transports/stdio (framing)
 */
#ifndef TRANSPORTS_UNIX_UNIX_H
#define TRANSPORTS_UNIX_UNIX_H

#include "base/budget.h"
#include "hub/kernel/settings.h"
#include "hub/kernel/transport.h"

#include <ev.h>

typedef struct hub_unix_server hub_unix_server;

/* Listen on listen->address and serve listen->profile. `settings`, which `listen` is of, are held.
 * owns:    *ret_server, close it with hub_unix_server_close
 * errors:  HUB_EEXIST (another process serves it), HUB_EINVAL (no usable path, no such group),
 *          HUB_ENOTFOUND (no such profile), HUB_ESYSTEM, HUB_ENOMEM; the text names the path */
HUB_MUST_CHECK hub_err hub_unix_server_open(struct ev_loop *loop, hub_orchestrator *hub,
                                            const hub_settings *settings,
                                            const hub_listen_settings *listen,
                                            hub_unix_server **ret_server, hub_error *reterr);

/* What all clients of the hub together may hold, for those that come from now on. */
void hub_unix_server_set_budget(hub_unix_server *server, hub_budget *budget);

/* Other settings from now on: profile and bounds of clients that come. Path, mode and group stay.
 */
void hub_unix_server_reload(hub_unix_server *server, const hub_settings *settings,
                            const hub_listen_settings *listen);

/* Clients that wait for an answer, or have not taken what they were sent. */
size_t hub_unix_server_busy(const hub_unix_server *server);

/* Accept no more and remove the socket file, if it still is ours. */
void hub_unix_server_stop(hub_unix_server *server);

/* Write what waits, for at most `drain_ms` in all, and end every session. NULL is fine. */
void hub_unix_server_close(hub_unix_server *server, unsigned drain_ms);

#endif
