/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a service manager is told: that the hub is ready, lives, and ends. The protocol is datagrams
 * of "NAME=value" lines to the socket that $NOTIFY_SOCKET names; without one nothing is sent. That
 * the hub lives is said from its loop alone, so a loop that stands still is noticed by the manager
 * (RELIABILITY L05). Thread: [loop].
 * spec: systemd, sd_notify(3) and sd_watchdog_enabled(3)
 */
#ifndef HUB_CLI_SERVICE_H
#define HUB_CLI_SERVICE_H

#include "base/err.h"

#include <ev.h>
#include <stdbool.h>

typedef struct cli_service {
    struct ev_loop *loop;
    int fd; /* -1: there is no manager */
    ev_timer alive;
} cli_service;

/* Read what the manager left in the environment, and take it out: it is not for children.
 * blocks: no. [init] */
void cli_service_init(cli_service *service, struct ev_loop *loop);
void cli_service_fini(cli_service *service);

/* All listeners are open. From now on the watchdog is told, if there is one. */
void cli_service_ready(cli_service *service);

/* The hub ends, and may take `left_ms` for it, whatever the manager thought. */
void cli_service_stopping(cli_service *service, unsigned left_ms);

#endif
