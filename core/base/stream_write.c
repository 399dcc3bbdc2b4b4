/* SPDX-License-Identifier: Apache-2.0 */
/* Writing to a stream: messages wait, are batched, and leave when the peer takes them. */
#include "base/clock.h"
#include "base/loop.h"
#include "base/stream_internal.h"

#include <errno.h>
#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    BATCH_BYTES = 4 * 1024,   /* see is_batch() */
    DIRECT_BYTES = 16 * 1024, /* messages from this size on are not copied to be batched */
    HOLD_BYTES = 64 * 1024,   /* rests from this size on are not copied when they are lent */
};

size_t hub_stream_queued(const hub_stream *stream)
{
    size_t lent = stream->lent != NULL ? hub_stream_lent_left(stream->lent) : 0;
    return lent + stream->out.len - stream->out_done;
}

static void end_lent(hub_stream *stream)
{
    if (stream->lent != NULL) {
        hub_stream_lent_end(stream->lent);
        stream->lent = NULL;
        (void)hub_stream_settle(stream, 0); /* less is never refused */
    }
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
    end_lent(stream);
    hub_buf_clear(&stream->out);
    stream->out_done = 0;
    ev_io_stop(stream->loop, &stream->writer);
    if (stream->out.cap > HUB_STREAM_KEEP_BYTES) {
        hub_buf_fini(&stream->out);
        (void)hub_stream_settle(stream, 0); /* less is never refused */
    }
}

/* The peer does not read any more. What it has written may still be worth reading. */
static void end_writing(hub_stream *stream, const char *reason)
{
    stream->broken = true;
    ev_prepare_stop(stream->loop, &stream->flusher);
    drop_queue(stream);
    if (!stream->ended) {
        hub_stream_set_reason(stream, reason);
        stream->paused = false;
        ev_io_start(stream->loop, &stream->reader);
        ev_timer_start(stream->loop, &stream->waker);
    }
}

/* Write some of what waits, as write(2) does. */
static ssize_t write_some(hub_stream *stream)
{
    int fd = stream->options.write_fd;
    if (stream->lent != NULL) {
        ssize_t count = hub_stream_lent_write(stream->lent, fd);
        if (hub_stream_lent_left(stream->lent) == 0) {
            end_lent(stream);
        }
        return count;
    }
    ssize_t count =
        write(fd, stream->out.ptr + stream->out_done, stream->out.len - stream->out_done);
    stream->out_done += count > 0 ? (size_t)count : 0;
    return count;
}

/* Write what waits. False when writing has failed. */
static bool flush(hub_stream *stream)
{
    while (hub_stream_queued(stream) > 0) {
        ssize_t count = write_some(stream);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count == 0 || (count < 0 && errno == EAGAIN)) {
            if (hub_stream_queued(stream) > HUB_STREAM_READ_CHUNK_BYTES && !stream->is_wide_out) {
                hub_stream_widen(stream->options.write_fd, &stream->is_wide_out);
                continue; /* there may be room now */
            }
            ev_io_start(stream->loop, &stream->writer);
            break;
        }
        if (count < 0) {
            end_writing(stream, strerror(errno));
            return false;
        }
    }
    if (hub_stream_queued(stream) == 0) {
        drop_queue(stream);
    }
    pause_or_resume(stream);
    return true;
}

void hub_stream_on_writable(struct ev_loop *loop, ev_io *watcher, int events)
{
    if (!hub_loop_mend(loop, watcher, events)) {
        (void)flush(watcher->data); /* a failure is told by on_end */
    }
}

void hub_stream_on_flush(struct ev_loop *loop, ev_prepare *watcher, int events)
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

/* Copy a message from byte `skip` on. */
static void copy_rest(char *to, const hub_framed *message, size_t skip)
{
    size_t i = 0;
    for (; i < message->count && skip >= message->parts[i].len; i++) {
        skip -= message->parts[i].len;
    }
    for (; i < message->count; i++, skip = 0) {
        hub_str part = message->parts[i];
        if (part.len > 0) {
            memcpy(to, part.ptr + skip, part.len - skip);
            to += part.len - skip;
        }
    }
}

/* Queue a message from byte `skip` on. `is_clean`: hub_framing_needs_cleaning() has said no. */
static hub_err queue_rest(hub_stream *stream, const hub_framed *message, size_t skip, bool is_clean)
{
    if (stream->out_done > HUB_STREAM_KEEP_BYTES &&
        stream->out_done >= stream->out.len - stream->out_done) {
        hub_buf_consume(&stream->out, stream->out_done); /* moves less than was written */
        stream->out_done = 0;
    }
    if (hub_stream_settle(stream, message->total_bytes - skip) != HUB_OK) {
        return HUB_ELIMIT;
    }
    size_t len = message->total_bytes - skip;
    char *at = hub_buf_reserve(&stream->out, len);
    if (at == NULL) {
        stream->out.failed = HUB_OK;
        return HUB_ENOMEM;
    }
    copy_rest(at, message, skip);
    if (message->is_line && !is_clean) {
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

/* Queue the rest of a message that is held where it lies. False: it is to be copied. */
static bool hold_rest(hub_stream *stream, const hub_framed *message, size_t skip,
                      const hub_lent *lent)
{
    size_t rest = message->total_bytes - skip;
    if (lent == NULL || hub_stream_queued(stream) > 0 || rest < HOLD_BYTES ||
        hub_stream_settle(stream, rest) != HUB_OK) {
        return false;
    }
    stream->lent = hub_stream_lent_begin(message, skip, lent);
    if (stream->lent != NULL) {
        ev_prepare_start(stream->loop, &stream->flusher);
    }
    return stream->lent != NULL;
}

hub_err hub_stream_send(hub_stream *stream, const hub_str *parts, size_t count,
                        const hub_lent *lent)
{
    hub_framed message;
    if (stream->broken || stream->closed) {
        return HUB_ESTATE;
    }
    hub_framing_wrap(&stream->framing, parts, count, &message);
    if (message.total_bytes > stream->options.max_queue_bytes - hub_stream_queued(stream)) {
        return HUB_ELIMIT;
    }
    bool is_clean = message.total_bytes >= DIRECT_BYTES && !hub_framing_needs_cleaning(&message);
    size_t done = is_clean ? write_direct(stream, &message) : 0;
    if (stream->broken) {
        return HUB_ESTATE;
    }
    lent = is_clean ? lent : NULL;
    hub_err err = done < message.total_bytes && !hold_rest(stream, &message, done, lent)
                      ? queue_rest(stream, &message, done, is_clean)
                      : HUB_OK;
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
