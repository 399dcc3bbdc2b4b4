/* SPDX-License-Identifier: Apache-2.0 */
/* What reading (stream.c) and writing (stream_write.c) share of a stream. Nobody else includes it. */
#ifndef HUB_BASE_STREAM_INTERNAL_H
#define HUB_BASE_STREAM_INTERNAL_H

#include "base/buf.h"
#include "base/framing.h"
#include "base/stream.h"
#include "base/stream_lent.h"

#include <ev.h>

enum {
    HUB_STREAM_READ_CHUNK_BYTES = 64 * 1024, /* the capacity of a Linux pipe */
    HUB_STREAM_KEEP_BYTES = 256 * 1024,      /* an idle buffer larger than this is given back */
};

struct hub_stream {
    hub_stream_options options;
    struct ev_loop *loop;
    ev_io reader;
    ev_io writer;
    ev_prepare flusher; /* active while something was sent in this loop iteration */
    ev_timer waker;     /* goes on with reading, or delivers on_end, soon but never in a call */
    int read_flags;     /* as found, to be restored */
    int write_flags;
    hub_framing framing;
    hub_buf in;
    hub_stream_lent *lent; /* what leaves before `out`; mostly NULL */
    hub_buf out;
    size_t out_done; /* bytes of `out` already written */
    bool is_wide_in; /* see widen() */
    bool is_wide_out;
    bool paused; /* reading waits for the queue to shrink */
    bool broken; /* writing has failed: nothing is queued any more */
    bool ended;  /* reading has ended: on_end is due or delivered */
    bool told_end;
    bool in_callback;
    bool closed; /* close() came during a callback: free afterwards */
    char reason[128];
};

/* Why it ends: the first reason is the cause of the others. */
void hub_stream_set_reason(hub_stream *stream, const char *reason);

/* Say what the buffers hold, with `more` bytes that are to be queued. Small ones, which each stream
 * has, do not count. */
hub_err hub_stream_settle(const hub_stream *stream, size_t more);

/* A large message goes through a pipe in fewer pieces when that holds more. Only once there is such
 * a message, because what all pipes of a user may hold together is limited: then, and when this is
 * no pipe, it stays as it is. */
void hub_stream_widen(int fd, bool *ret_is_wide);

/* What waits can be written; the loop is about to block, and something was sent. */
void hub_stream_on_writable(struct ev_loop *loop, ev_io *watcher, int events);
void hub_stream_on_flush(struct ev_loop *loop, ev_prepare *watcher, int events);

#endif
