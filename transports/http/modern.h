/* SPDX-License-Identifier: Apache-2.0 */
/* Modern requests that have been answered from within the hub. Thread: [loop]. */
#ifndef HTTP_MODERN_H
#define HTTP_MODERN_H

#include "http/internal.h"

/* End their sessions. From the loop. */
void hub_http_modern_reap(hub_http_server *server);

#endif
