/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stream_internal.h"

#include "base/limits.h"
#include "base/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    WIDE_PIPE_BYTES = 256 * 1024, /* more takes longer: it leaves the cache of the processor */
    READS_PER_EVENT = 16,         /* then others get their turn */
};

void hub_stream_set_reason(hub_stream *stream, const char *reason)
{
    if (stream->reason[0] == '\0') { /* the first one is the cause of the others */
        (void)snprintf(stream->reason, sizeof stream->reason, "%s", reason);
    }
}

static void end_reading(hub_stream *stream, const char *reason)
{
    if (stream->ended) {
        return;
    }
    stream->ended = true;
    hub_stream_set_reason(stream, reason);
    ev_io_stop(stream->loop, &stream->reader);
    ev_timer_start(stream->loop, &stream->waker);
}

hub_err hub_stream_settle(const hub_stream *stream, size_t more)
{
    size_t out =
        stream->out.len + more > stream->out.cap ? stream->out.len + more : stream->out.cap;
    size_t lent = stream->lent != NULL ? hub_stream_lent_left(stream->lent) : 0;
    size_t bytes = stream->in.cap + out + lent;
    return stream->options.account == NULL
               ? HUB_OK
               : hub_budget_settle(stream->options.account,
                                   bytes > HUB_STREAM_KEEP_BYTES ? bytes : 0);
}

void hub_stream_widen(int fd, bool *ret_is_wide)
{
    if (!*ret_is_wide) {
        *ret_is_wide = true;
        if (fcntl(fd, F_GETPIPE_SZ) < WIDE_PIPE_BYTES) { /* whoever made it may want it wider */
            (void)fcntl(fd, F_SETPIPE_SZ, WIDE_PIPE_BYTES);
        }
    }
}

static void free_stream(hub_stream *stream)
{
    hub_buf_fini(&stream->in);
    hub_buf_fini(&stream->out);
    hub_stream_lent_end(stream->lent);
    free(stream);
}

static void free_if_closed(hub_stream *stream)
{
    if (stream->closed) {
        free_stream(stream);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

static void deliver(hub_stream *stream, hub_str message)
{
    stream->in_callback = true;
    stream->options.on_message(stream->options.ctx, message);
    stream->in_callback = false;
}

static void refuse_oversize(hub_stream *stream)
{
    if (stream->options.on_oversize == NULL) {
        char reason[sizeof stream->reason];
        (void)snprintf(reason, sizeof reason, "a message is larger than the limit of %zu bytes",
                       stream->options.max_message_bytes);
        end_reading(stream, reason);
        return;
    }
    stream->in_callback = true;
    stream->options.on_oversize(stream->options.ctx);
    stream->in_callback = false;
}

/* Act on what the framing found. False when it needs more bytes. */
static bool take_frame(hub_stream *stream, hub_frame frame, hub_str message)
{
    switch (frame) {
    case HUB_FRAME_MORE:
        return false;
    case HUB_FRAME_MESSAGE:
        deliver(stream, message);
        return true;
    case HUB_FRAME_OVERSIZE:
        refuse_oversize(stream);
        return true;
    case HUB_FRAME_BROKEN:
        break;
    }
    deliver(stream, message);
    if (!stream->closed) {
        end_reading(stream, "a frame has no valid Content-Length header");
    }
    return false;
}

/* Deliver every complete message in `in`, then move the rest to its front. */
static void take_messages(hub_stream *stream)
{
    hub_str rest = hub_buf_str(&stream->in);
    bool more = true;
    while (more && rest.len > 0 && !stream->ended && !stream->paused) {
        size_t used;
        hub_str message;
        hub_frame frame = hub_framing_next(&stream->framing, rest, &used, &message);
        rest = hub_str_from(rest, used);
        more = take_frame(stream, frame, message);
    }
    hub_buf_consume(&stream->in, stream->in.len - rest.len);
    if (stream->in.len == 0 && stream->in.cap > HUB_STREAM_KEEP_BYTES) {
        hub_buf_fini(&stream->in);
        (void)hub_stream_settle(stream, 0); /* less is never refused */
    }
}

static void take_end_of_file(hub_stream *stream)
{
    hub_str message;
    hub_frame frame = hub_framing_last(&stream->framing, hub_buf_str(&stream->in), &message);
    if (frame != HUB_FRAME_BROKEN) {
        (void)take_frame(stream, frame, message); /* there is nothing behind it */
    }
    if (!stream->closed) {
        end_reading(stream, frame == HUB_FRAME_BROKEN ? "end of file in the middle of a message"
                                                      : "end of file");
    }
}

/* Room for the next read: a chunk, or as much again when a large message is on its way, but no more
 * than a chunk beyond the limit. */
static size_t read_room(const hub_stream *stream)
{
    size_t have = stream->in.len;
    size_t room = have > HUB_STREAM_READ_CHUNK_BYTES ? have : HUB_STREAM_READ_CHUNK_BYTES;
    size_t most = stream->in.max - have;
    return room < most ? room : most;
}

/* Read once. False when there is nothing more to read for now. */
static bool read_some(hub_stream *stream)
{
    size_t room = read_room(stream);
    char *at = hub_buf_reserve(&stream->in, room);
    if (at == NULL) {
        end_reading(stream, "out of memory");
        return false;
    }
    if (hub_stream_settle(stream, 0) != HUB_OK) {
        hub_buf_fini(&stream->in);
        end_reading(stream, "limits.client_memory is used up");
        return false;
    }
    ssize_t count = read(stream->options.read_fd, at, room);
    if (count < 0) {
        if (errno != EAGAIN && errno != EINTR) {
            end_reading(stream, strerror(errno));
        } else if (errno == EAGAIN && stream->broken) {
            end_reading(stream, "");
        }
        return false;
    }
    if (count == 0) {
        take_end_of_file(stream);
        return false;
    }
    stream->in.len += (size_t)count;
    take_messages(stream);
    if (stream->in.len > HUB_STREAM_READ_CHUNK_BYTES && !stream->closed) {
        hub_stream_widen(stream->options.read_fd, &stream->is_wide_in);
    }
    return (size_t)count == room || stream->broken;
}

static void read_messages(hub_stream *stream)
{
    bool more = true;
    if (stream->in.len > 0) {
        take_messages(stream); /* what a pause left behind */
    }
    for (int i = 0; more && i < READS_PER_EVENT && !stream->ended && !stream->paused; i++) {
        more = read_some(stream);
    }
}

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
    hub_stream *stream = watcher->data;
    if (hub_loop_mend(loop, watcher, events)) {
        return;
    }
    read_messages(stream);
    free_if_closed(stream);
}

static void on_wake(struct ev_loop *loop, ev_timer *watcher, int events)
{
    (void)loop;
    (void)events;
    hub_stream *stream = watcher->data;
    if (!stream->ended) {
        read_messages(stream);
    } else if (!stream->told_end) {
        stream->told_end = true;
        stream->in_callback = true;
        stream->options.on_end(stream->options.ctx, hub_str_of(stream->reason));
        stream->in_callback = false;
    }
    free_if_closed(stream);
}

/* ---- opening and closing --------------------------------------------------------------------- */

static void release_fds(const hub_stream *stream)
{
    const hub_stream_options *options = &stream->options;
    if (options->keep_fds_open) {
        if (stream->read_flags >= 0) {
            (void)fcntl(options->read_fd, F_SETFL, stream->read_flags);
        }
        if (stream->write_flags >= 0) {
            (void)fcntl(options->write_fd, F_SETFL, stream->write_flags);
        }
        return;
    }
    (void)close(options->read_fd); /* nothing can be done about a failing close */
    if (options->write_fd != options->read_fd) {
        (void)close(options->write_fd);
    }
}

static size_t saturated_sum(size_t a, size_t b)
{
    return a < SIZE_MAX - b ? a + b : SIZE_MAX;
}

static void init_watchers(hub_stream *stream)
{
    ev_io_init(&stream->reader, on_readable, stream->options.read_fd, EV_READ);
    ev_io_init(&stream->writer, hub_stream_on_writable, stream->options.write_fd, EV_WRITE);
    ev_prepare_init(&stream->flusher, hub_stream_on_flush);
    ev_timer_init(&stream->waker, on_wake, 0., 0.);
    stream->reader.data = stream;
    stream->writer.data = stream;
    stream->flusher.data = stream;
    stream->waker.data = stream;
}

hub_err hub_stream_open(struct ev_loop *loop, const hub_stream_options *options,
                        hub_stream **ret_stream)
{
    hub_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL) {
        const hub_stream none = {.options = *options, .read_flags = -1, .write_flags = -1};
        release_fds(&none);
        return HUB_ENOMEM;
    }
    stream->options = *options;
    stream->loop = loop;
    stream->read_flags = fcntl(options->read_fd, F_GETFL);
    stream->write_flags = fcntl(options->write_fd, F_GETFL);
    if (stream->read_flags < 0 || stream->write_flags < 0 ||
        fcntl(options->read_fd, F_SETFL, stream->read_flags | O_NONBLOCK) < 0 ||
        fcntl(options->write_fd, F_SETFL, stream->write_flags | O_NONBLOCK) < 0) {
        release_fds(stream);
        free(stream);
        return HUB_ESYSTEM;
    }
    hub_framing_init(&stream->framing, options->max_message_bytes, options->detect_framing);
    hub_buf_init(&stream->in,
                 saturated_sum(options->max_message_bytes,
                               HUB_STREAM_READ_CHUNK_BYTES + HUB_LIMIT_FRAME_HEADER_BYTES));
    /* Written bytes stay in front of the others until they are the larger half. */
    hub_buf_init(&stream->out,
                 saturated_sum(saturated_sum(options->max_queue_bytes, options->max_queue_bytes),
                               HUB_STREAM_KEEP_BYTES));
    init_watchers(stream);
    ev_io_start(loop, &stream->reader);
    *ret_stream = stream;
    return HUB_OK;
}

void hub_stream_close(hub_stream *stream)
{
    if (stream == NULL || stream->closed) {
        return;
    }
    ev_io_stop(stream->loop, &stream->reader);
    ev_io_stop(stream->loop, &stream->writer);
    ev_prepare_stop(stream->loop, &stream->flusher);
    ev_timer_stop(stream->loop, &stream->waker);
    release_fds(stream);
    stream->closed = true;
    stream->ended = true;
    stream->options.account = NULL;
    if (!stream->in_callback) {
        free_stream(stream);
    }
}
