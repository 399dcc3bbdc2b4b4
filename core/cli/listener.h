/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One listener, of whichever transport; listeners.c has them all. This is the one place that tells
 * the transports over the network apart, and that knows a build without HTTP. Thread: [loop].
 */
#ifndef HUB_CLI_LISTENER_H
#define HUB_CLI_LISTENER_H

#include "base/budget.h"
#include "hub/orchestrator/orchestrator.h"

struct hub_unix_server;
struct hub_http_server;
struct hub_http_replicas;
struct hub_net;
struct hub_api;

/* What listeners share. */
typedef struct cli_listener_home {
    struct ev_loop *loop;
    hub_orchestrator *hub;
    hub_budget *budget;                 /* what all clients together may hold */
    struct hub_api *api;                /* what administers the hub */
    struct hub_net *net;                /* NULL: no listener has needed it, or none can */
    struct hub_http_replicas *replicas; /* NULL: the hub has no others */
} cli_listener_home;

typedef struct cli_listener {
    const hub_listen_settings *listen; /* of the settings that its server holds */
    struct hub_unix_server *socket;    /* for HUB_LISTEN_UNIX */
    struct hub_http_server *http;      /* else */
    bool is_new;
    bool is_stopped;           /* of one that retires: its clients have been let go … */
    uint64_t until_ms;         /* … or may still be answered; monotonic */
    struct cli_listener *next; /* of those that retire */
} cli_listener;

/* Open what `one->listen` says.
 * errors:  those of hub_unix_server_open and hub_http_server_open; the text says which listener,
 *          and what to do */
HUB_MUST_CHECK hub_err cli_listener_open(cli_listener_home *home, const hub_settings *settings,
                                         cli_listener *one, hub_error *reterr);

/* Open what `one->listen` says as the listener of the other replicas, before all others: what these
 * take part in begins with it.
 * errors:  as cli_listener_open */
HUB_MUST_CHECK hub_err cli_listener_open_replica(cli_listener_home *home,
                                                 const hub_settings *settings, cli_listener *one,
                                                 hub_error *reterr);

/* Where it is, as users write it; cut to `room`. */
void cli_listener_print_place(const hub_listen_settings *listen, char *ret_text, size_t room);

/* Say in the log where it is, and to whom it is open. */
void cli_listener_say_ready(const cli_listener *one, const hub_settings *settings);

/* It gets other settings; a new one over HTTP has them already. Whether `listen` is what it holds
 * from now on; what could not be renewed, such as a certificate, is in the log. */
bool cli_listener_reload(const cli_listener *one, const hub_settings *settings,
                         const hub_listen_settings *listen);

/* Clients that wait for something; whether one has not taken what it was sent. */
size_t cli_listener_busy(const cli_listener *one);
bool cli_listener_owes(const cli_listener *one);

/* Whether a client of it waits for a call, or has not taken what it was sent. */
bool cli_listener_is_awaited(const cli_listener_home *home, const cli_listener *one);

/* How many sessions of it will move to other replicas: those that are idle begin to. */
size_t cli_listener_move(const cli_listener *one);

/* Its end, in steps: connections end with their next answer; accept no more; let go of clients as they have been answered; end all. */
void cli_listener_leave(const cli_listener *one);
void cli_listener_drain(const cli_listener *one);
void cli_listener_stop(const cli_listener *one);
void cli_listener_close(const cli_listener *one);

/* The metrics of the hub tell of its connections, from now on; other limits for all; and the end, when
 * no listener is left. */
void cli_listener_home_init(cli_listener_home *home);
void cli_listener_home_limit(cli_listener_home *home, const hub_limits *limits);
void cli_listener_home_fini(cli_listener_home *home);

#endif
