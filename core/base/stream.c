/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stream.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/framing.h"
#include "base/limits.h"
#include "base/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    READ_CHUNK_BYTES = 64 * 1024, /* the capacity of a Linux pipe */
    WIDE_PIPE_BYTES = 256 * 1024, /* more takes longer: it leaves the cache of the processor */
    KEEP_BYTES = 256 * 1024,      /* an idle buffer larger than this is given back */
    BATCH_BYTES = 4 * 1024,       /* see is_batch() */
    DIRECT_BYTES = 16 * 1024,     /* messages from this size on are not copied to be batched */
    READS_PER_EVENT = 16,         /* then others get their turn */
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

static void set_reason(hub_stream *stream, const char *reason)
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
    set_reason(stream, reason);
    ev_io_stop(stream->loop, &stream->reader);
    ev_timer_start(stream->loop, &stream->waker);
}

/* Say what the buffers hold, with `more` bytes that are to be queued. Small ones, which each stream
 * has, do not count. */
static hub_err settle(const hub_stream *stream, size_t more)
{
    size_t out =
        stream->out.len + more > stream->out.cap ? stream->out.len + more : stream->out.cap;
    size_t bytes = stream->in.cap + out;
    return stream->options.account == NULL
               ? HUB_OK
               : hub_budget_settle(stream->options.account, bytes > KEEP_BYTES ? bytes : 0);
}

/* A large message goes through a pipe in fewer pieces when that holds more. Only once there is such
 * a message, because what all pipes of a user may hold together is limited: then, and when this is
 * no pipe, it stays as it is. */
static void widen(int fd, bool *ret_is_wide)
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
    while (more && !stream->ended && !stream->paused) {
        size_t used;
        hub_str message;
        hub_frame frame = hub_framing_next(&stream->framing, rest, &used, &message);
        rest = hub_str_from(rest, used);
        more = take_frame(stream, frame, message);
    }
    hub_buf_consume(&stream->in, stream->in.len - rest.len);
    if (stream->in.len == 0 && stream->in.cap > KEEP_BYTES) {
        hub_buf_fini(&stream->in);
        (void)settle(stream, 0); /* less is never refused */
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
    size_t room = have > READ_CHUNK_BYTES ? have : READ_CHUNK_BYTES;
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
    if (settle(stream, 0) != HUB_OK) {
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
    if (stream->in.len > READ_CHUNK_BYTES && !stream->closed) {
        widen(stream->options.read_fd, &stream->is_wide_in);
    }
    return (size_t)count == room || stream->broken;
}

static void read_messages(hub_stream *stream)
{
    bool more = true;
    take_messages(stream); /* what a pause left behind */
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

/* ---- writing --------------------------------------------------------------------------------- */

size_t hub_stream_queued(const hub_stream *stream)
{
    return stream->out.len - stream->out_done;
}

static void pause_or_resume(hub_stream *stream)
{
    size_t above = stream->options.pause_above_bytes;
    if (above == 0 || stream->ended) {
        return;
    }
    size_t queued = hub_stream_queued(stream);
    if (!stream->paused && queued > above) {
        stream->paused = true;
        ev_io_stop(stream->loop, &stream->reader);
    } else if (stream->paused && queued <= above / 2) {
        stream->paused = false;
        ev_io_start(stream->loop, &stream->reader);
        /* `in` may hold whole messages. A timer, because this may be the prepare phase: what is
         * sent there would wait for the loop to block once. */
        ev_timer_start(stream->loop, &stream->waker);
    }
}

static void drop_queue(hub_stream *stream)
{
    hub_buf_clear(&stream->out);
    stream->out_done = 0;
    ev_io_stop(stream->loop, &stream->writer);
    if (stream->out.cap > KEEP_BYTES) {
        hub_buf_fini(&stream->out);
        (void)settle(stream, 0); /* less is never refused */
    }
}

/* The peer does not read any more. What it has written may still be worth reading. */
static void end_writing(hub_stream *stream, const char *reason)
{
    stream->broken = true;
    ev_prepare_stop(stream->loop, &stream->flusher);
    drop_queue(stream);
    if (!stream->ended) {
        set_reason(stream, reason);
        stream->paused = false;
        ev_io_start(stream->loop, &stream->reader);
        ev_timer_start(stream->loop, &stream->waker);
    }
}

/* Write what waits. False when writing has failed. */
static bool flush(hub_stream *stream)
{
    while (hub_stream_queued(stream) > 0) {
        ssize_t count = write(stream->options.write_fd, stream->out.ptr + stream->out_done,
                              hub_stream_queued(stream));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count == 0 || (count < 0 && errno == EAGAIN)) {
            if (hub_stream_queued(stream) > READ_CHUNK_BYTES && !stream->is_wide_out) {
                widen(stream->options.write_fd, &stream->is_wide_out);
                continue; /* there may be room now */
            }
            ev_io_start(stream->loop, &stream->writer);
            break;
        }
        if (count < 0) {
            end_writing(stream, strerror(errno));
            return false;
        }
        stream->out_done += (size_t)count;
    }
    if (hub_stream_queued(stream) == 0) {
        drop_queue(stream);
    }
    pause_or_resume(stream);
    return true;
}

static void on_writable(struct ev_loop *loop, ev_io *watcher, int events)
{
    if (!hub_loop_mend(loop, watcher, events)) {
        (void)flush(watcher->data); /* a failure is told by on_end */
    }
}

static void on_flush(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    (void)events;
    hub_stream *stream = watcher->data;
    ev_prepare_stop(loop, watcher);
    if (!ev_is_active(&stream->writer)) {
        (void)flush(stream); /* a failure is told by on_end */
    }
}

/* Write a large message from where it lies, when nothing waits before it. Bytes written. */
static size_t write_direct(hub_stream *stream, const hub_framed *message)
{
    struct iovec pieces[HUB_FRAMING_PARTS + 1];
    if (hub_stream_queued(stream) > 0 && (!flush(stream) || hub_stream_queued(stream) > 0)) {
        return 0;
    }
    for (size_t i = 0; i < message->count; i++) {
        union {
            const char *from;
            void *to;
        } unconst = {.from = message->parts[i].ptr}; /* iovec has no const; writev only reads */
        pieces[i] = (struct iovec){.iov_base = unconst.to, .iov_len = message->parts[i].len};
    }
    ssize_t done = writev(stream->options.write_fd, pieces, (int)message->count);
    return done > 0 ? (size_t)done : 0; /* an error shows again when the rest is flushed */
}

/* Queue a message from byte `skip` on. */
static hub_err queue_rest(hub_stream *stream, const hub_framed *message, size_t skip)
{
    if (stream->out_done > KEEP_BYTES && stream->out_done >= hub_stream_queued(stream)) {
        hub_buf_consume(&stream->out, stream->out_done); /* moves less than was written */
        stream->out_done = 0;
    }
    if (settle(stream, message->total_bytes - skip) != HUB_OK) {
        return HUB_ELIMIT;
    }
    char *at = hub_buf_reserve(&stream->out, message->total_bytes - skip);
    if (at == NULL) {
        stream->out.failed = HUB_OK;
        return HUB_ENOMEM;
    }
    size_t len = 0;
    for (size_t i = 0; i < message->count; i++) {
        hub_str part = message->parts[i];
        size_t from = skip < part.len ? skip : part.len;
        skip -= from;
        if (part.len > from) {
            memcpy(at + len, part.ptr + from, part.len - from);
            len += part.len - from;
        }
    }
    if (message->is_line) {
        hub_framing_clean(at, len - 1); /* but for the newline that ends it */
    }
    stream->out.len += len;
    ev_prepare_start(stream->loop, &stream->flusher);
    return HUB_OK;
}

/* Whether what waits is worth a system call of its own: the peer begins with it while the rest of
 * a large batch is made, instead of after that. */
static bool is_batch(hub_stream *stream)
{
    return hub_stream_queued(stream) >= BATCH_BYTES && !ev_is_active(&stream->writer);
}

hub_err hub_stream_send(hub_stream *stream, const hub_str *parts, size_t count)
{
    hub_framed message;
    if (stream->broken || stream->closed) {
        return HUB_ESTATE;
    }
    hub_framing_wrap(&stream->framing, parts, count, &message);
    if (message.total_bytes > stream->options.max_queue_bytes - hub_stream_queued(stream)) {
        return HUB_ELIMIT;
    }
    size_t done = 0;
    if (message.total_bytes >= DIRECT_BYTES && !hub_framing_needs_cleaning(&message)) {
        done = write_direct(stream, &message);
    }
    if (stream->broken) {
        return HUB_ESTATE;
    }
    hub_err err = done < message.total_bytes ? queue_rest(stream, &message, done) : HUB_OK;
    if (err != HUB_OK && done > 0) {
        end_writing(stream, "no memory is left for the rest of a message");
    } else if (done == 0 && is_batch(stream)) {
        (void)flush(stream); /* a failure is told by on_end */
        return err;
    }
    pause_or_resume(stream);
    return err;
}

void hub_stream_drain(hub_stream *stream, unsigned timeout_ms)
{
    uint64_t deadline = hub_clock_now_ms() + timeout_ms;
    while (!stream->closed && flush(stream) && hub_stream_queued(stream) > 0) {
        uint64_t now = hub_clock_now_ms();
        uint64_t left = now < deadline ? deadline - now : 0;
        struct pollfd ready = {.fd = stream->options.write_fd, .events = POLLOUT};
        int count = poll(&ready, 1, left < INT_MAX ? (int)left : INT_MAX);
        if (left == 0 || (count < 0 && errno != EINTR)) {
            return;
        }
    }
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
    ev_io_init(&stream->writer, on_writable, stream->options.write_fd, EV_WRITE);
    ev_prepare_init(&stream->flusher, on_flush);
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
    hub_buf_init(&stream->in, saturated_sum(options->max_message_bytes,
                                            READ_CHUNK_BYTES + HUB_LIMIT_FRAME_HEADER_BYTES));
    /* Written bytes stay in front of the others until they are the larger half. */
    hub_buf_init(&stream->out,
                 saturated_sum(saturated_sum(options->max_queue_bytes, options->max_queue_bytes),
                               KEEP_BYTES));
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
