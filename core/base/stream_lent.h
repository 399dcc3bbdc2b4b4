/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rest of a message that leaves a stream from where it lies: what is lent is held, the small
 * parts around it are copied. Thread: [loop].
 */
#ifndef HUB_BASE_STREAM_LENT_H
#define HUB_BASE_STREAM_LENT_H

#include "base/framing.h"
#include "base/lent.h"

#include <sys/types.h>

typedef struct hub_stream_lent hub_stream_lent;

/* Take over a message from byte `skip` on.
 * owns:    the result, hub_stream_lent_end it. NULL: out of memory */
hub_stream_lent *hub_stream_lent_begin(const hub_framed *message, size_t skip,
                                       const hub_lent *lent);

/* Bytes that are left. */
size_t hub_stream_lent_left(const hub_stream_lent *rest);

/* Write some of it, as writev(2) does. */
ssize_t hub_stream_lent_write(hub_stream_lent *rest, int fd);

void hub_stream_lent_end(hub_stream_lent *rest); /* NULL is fine */

#endif
