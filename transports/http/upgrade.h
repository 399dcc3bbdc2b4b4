/* SPDX-License-Identifier: Apache-2.0 */
/* The WebSockets that came in through this server. They own themselves. Thread: [loop]. */
#ifndef HTTP_UPGRADE_H
#define HTTP_UPGRADE_H

#include "http/internal.h"

/* Say goodbye to all of them; they end from the loop. */
void hub_http_upgraded_close(hub_http_server *server);

/* Whether something that was sent waits for one of their peers. */
bool hub_http_upgraded_owe(const hub_http_server *server);

size_t hub_http_upgraded_count(const hub_http_server *server);

#endif
