/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For whom a proxy speaks, and what these may see: headers of the proxy's own (client_id_header,
 * toolsets_header), which count from trusted_proxies alone. What is missing, there twice, or not
 * readable leaves a client no toolsets. Thread: [loop].
 */
#ifndef HTTP_BEHALF_H
#define HTTP_BEHALF_H

#include "http/internal.h"

/* Put who the request is of in the place of whoever sends it.
 * errors:  HUB_ENOMEM: *identity is as it was */
HUB_MUST_CHECK hub_err hub_http_behalf(const hub_http_task *task, hub_identity **identity);

#endif
