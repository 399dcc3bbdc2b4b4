/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An address on this machine that a browser is sent back to: http://127.0.0.1:PORT/callback, open while
 * somebody logs in. It reads one request line of each connection, answers with a page, and closes.
 * Thread: [loop].
 */
#ifndef HUB_LOGIN_LOOPBACK_H
#define HUB_LOGIN_LOOPBACK_H

#include "base/buf.h"
#include "base/err.h"

struct ev_loop;
typedef struct hub_loopback hub_loopback;

/* A browser has come back with a query. Returns the page, a text; NULL: this is for nobody. */
typedef const char *hub_loopback_on_query(void *ctx, hub_str query);

/* Listen on `port` if it is free, else on any.
 * errors:  HUB_ESYSTEM, HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_loopback_open(struct ev_loop *loop, uint16_t port,
                                         hub_loopback_on_query *on_query, void *ctx,
                                         hub_loopback **ret_loopback, hub_error *reterr);
/* It takes nobody any more, and goes when the pages have been sent. NULL is fine. */
void hub_loopback_close(hub_loopback *loopback);

uint16_t hub_loopback_port(const hub_loopback *loopback);

/* A whole page around a sentence. */
void hub_loopback_add_page(hub_buf *out, hub_str sentence);

#endif
