/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stream.h"

#include "base/buf.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    READ_CHUNK_BYTES = 64 * 1024,  /* the capacity of a Linux pipe */
    KEEP_BYTES = 256 * 1024,       /* an idle buffer larger than this is given back */
    DIRECT_BYTES = 16 * 1024,      /* messages from this size on are not copied to be batched */
    READS_PER_EVENT = 16,          /* then others get their turn */
    HEADER_MAX_BYTES = 4096,       /* of a Content-Length frame */
};

typedef enum framing {
    FRAMING_UNKNOWN,
    FRAMING_LINES,
    FRAMING_HEADERS,
} framing;

struct hub_stream {
    hub_stream_options options;
    struct ev_loop *loop;
    ev_io reader;
    ev_io writer;
    ev_prepare flusher; /* active while something was sent in this loop iteration */
    ev_timer ender;     /* delivers on_end from the loop, never from inside a call */
    int read_flags;     /* as found, to be restored */
    int write_flags;
    framing framing;
    hub_buf in;
    size_t searched;      /* bytes of `in` known to hold no newline */
    size_t discard;       /* Content-Length: bytes of an oversized body still to skip */
    bool discarding_line; /* lines: skip to the next newline */
    hub_buf out;
    size_t out_done; /* bytes of `out` already written */
    bool ended;      /* on_end is due or delivered */
    bool paused;     /* reading waits for the queue to shrink */
    bool in_callback;
    bool closed; /* close() came during a callback: free afterwards */
    char reason[128];
};

static void end_stream(hub_stream *stream, const char *reason)
{
    if (stream->ended) {
        return;
    }
    stream->ended = true;
    (void)snprintf(stream->reason, sizeof stream->reason, "%s", reason);
    ev_io_stop(stream->loop, &stream->reader);
    ev_io_stop(stream->loop, &stream->writer);
    ev_prepare_stop(stream->loop, &stream->flusher);
    ev_timer_set(&stream->ender, 0., 0.);
    ev_timer_start(stream->loop, &stream->ender);
}

static void free_stream(hub_stream *stream)
{
    hub_buf_fini(&stream->in);
    hub_buf_fini(&stream->out);
    free(stream);
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
        end_stream(stream, "a message is larger than the limit");
        return;
    }
    stream->in_callback = true;
    stream->options.on_oversize(stream->options.ctx);
    stream->in_callback = false;
}

static bool is_blank(hub_str line)
{
    return hub_str_trim(line).len == 0;
}

/* Deliver the next line of `in` behind `from`. False when there is no complete one. */
static bool take_line(hub_stream *stream, size_t *from)
{
    size_t begin = *from + stream->searched;
    const char *newline =
        begin < stream->in.len ? memchr(stream->in.ptr + begin, '\n', stream->in.len - begin) : NULL;
    if (newline == NULL) {
        stream->searched = stream->in.len - *from;
        if (stream->discarding_line) {
            stream->in.len = *from; /* nothing of an oversized line is kept */
            stream->searched = 0;
        } else if (stream->searched > stream->options.max_message_bytes) {
            stream->discarding_line = true;
            refuse_oversize(stream);
        }
        return false;
    }
    hub_str line = hub_str_between(stream->in.ptr + *from, newline);
    *from = (size_t)(newline + 1 - stream->in.ptr);
    stream->searched = 0;
    if (stream->discarding_line) {
        stream->discarding_line = false;
        return true;
    }
    if (line.len > 0 && line.ptr[line.len - 1] == '\r') {
        line.len--;
    }
    if (line.len > stream->options.max_message_bytes) {
        refuse_oversize(stream);
    } else if (!is_blank(line)) {
        deliver(stream, line);
    }
    return true;
}

/* The length of the header block at the start of `text` with its blank line; 0 when incomplete. */
static size_t header_length(hub_str text)
{
    size_t crlf = hub_str_find(text, HUB_STR("\r\n\r\n"));
    size_t lf = hub_str_find(text, HUB_STR("\n\n"));
    if (crlf == SIZE_MAX && lf == SIZE_MAX) {
        return 0;
    }
    return crlf < lf ? crlf + 4 : lf + 2;
}

/* The value of Content-Length in a header block, or SIZE_MAX. */
static size_t content_length(hub_str headers)
{
    static const char NAME[] = "content-length:";
    const char *at = headers.ptr;
    const char *end = headers.ptr + headers.len;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        hub_str line = hub_str_trim(hub_str_between(at, newline != NULL ? newline : end));
        if (line.len > sizeof NAME - 1 && strncasecmp(line.ptr, NAME, sizeof NAME - 1) == 0) {
            hub_str digits = hub_str_trim(hub_str_from(line, sizeof NAME - 1));
            size_t value = 0;
            if (digits.len == 0 || digits.len > 18) {
                return SIZE_MAX;
            }
            for (size_t i = 0; i < digits.len; i++) {
                if (digits.ptr[i] < '0' || digits.ptr[i] > '9') {
                    return SIZE_MAX;
                }
                value = value * 10 + (size_t)(digits.ptr[i] - '0');
            }
            return value;
        }
        at = newline != NULL ? newline + 1 : end;
    }
    return SIZE_MAX;
}

/* Deliver the next Content-Length frame of `in` behind `from`. False when it is not complete. */
static bool take_frame(hub_stream *stream, size_t *from)
{
    hub_str rest = hub_str_between(stream->in.ptr + *from, stream->in.ptr + stream->in.len);
    if (stream->discard > 0) {
        size_t skip = rest.len < stream->discard ? rest.len : stream->discard;
        stream->discard -= skip;
        *from += skip;
        return stream->discard == 0 && rest.len > skip;
    }
    while (rest.len > 0 && (rest.ptr[0] == '\r' || rest.ptr[0] == '\n')) {
        rest = hub_str_from(rest, 1); /* tolerated between frames */
        *from += 1;
    }
    size_t header = header_length(rest);
    if (header == 0) {
        if (rest.len > HEADER_MAX_BYTES) {
            end_stream(stream, "the header of a Content-Length frame does not end");
        }
        return false;
    }
    size_t length = content_length((hub_str){.ptr = rest.ptr, .len = header});
    if (length == SIZE_MAX) {
        end_stream(stream, "a frame has no valid Content-Length");
        return false;
    }
    if (length > stream->options.max_message_bytes) {
        *from += header;
        stream->discard = length;
        refuse_oversize(stream);
        return !stream->ended;
    }
    if (rest.len - header < length) {
        return false;
    }
    *from += header + length;
    deliver(stream, (hub_str){.ptr = rest.ptr + header, .len = length});
    return true;
}

/* Content-Length frames begin with a header name, JSON never does. */
static void detect_framing(hub_stream *stream)
{
    hub_str seen = hub_str_trim(hub_buf_str(&stream->in));
    if (seen.len > 0) {
        bool header = (seen.ptr[0] == 'C' || seen.ptr[0] == 'c') && stream->options.detect_framing;
        stream->framing = header ? FRAMING_HEADERS : FRAMING_LINES;
    }
}

/* Deliver every complete message in `in`, then move the rest to its front. */
static void take_messages(hub_stream *stream)
{
    size_t from = 0;
    bool more = true;
    if (stream->framing == FRAMING_UNKNOWN) {
        detect_framing(stream);
    }
    while (more && !stream->closed && !stream->ended && !stream->paused) {
        more = stream->framing == FRAMING_HEADERS ? take_frame(stream, &from)
                                                  : take_line(stream, &from);
    }
    hub_buf_consume(&stream->in, from);
    if (stream->in.len == 0 && stream->in.cap > KEEP_BYTES) {
        hub_buf_fini(&stream->in);
    }
}

/* At the end of file a last line needs no newline. */
static void take_last_line(hub_stream *stream)
{
    hub_buf_add_char(&stream->in, '\n');
    take_messages(stream);
}

/* Room for the next read: a chunk, or as much again when a large message is on its way. */
static size_t read_room(const hub_stream *stream)
{
    size_t have = stream->in.len;
    return have > READ_CHUNK_BYTES ? have : READ_CHUNK_BYTES;
}

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)loop;
    (void)events;
    hub_stream *stream = watcher->data;
    take_messages(stream); /* what a pause left behind */
    for (int i = 0; i < READS_PER_EVENT && !stream->ended && !stream->paused; i++) {
        size_t room = read_room(stream);
        char *at = hub_buf_reserve(&stream->in, room);
        if (at == NULL) {
            end_stream(stream, "out of memory");
            break;
        }
        ssize_t count = read(stream->options.read_fd, at, room);
        if (count < 0) {
            if (errno != EAGAIN && errno != EINTR) {
                end_stream(stream, strerror(errno));
            }
            break;
        }
        if (count == 0) {
            take_last_line(stream);
            end_stream(stream, "end of file");
            break;
        }
        stream->in.len += (size_t)count;
        take_messages(stream);
        if ((size_t)count < room) {
            break;
        }
    }
    if (stream->closed) {
        free_stream(stream);
    }
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
        ev_feed_event(stream->loop, &stream->reader, EV_READ); /* `in` may hold whole messages */
    }
}

/* Write what waits. False when the stream ended. */
static bool flush(hub_stream *stream)
{
    while (hub_stream_queued(stream) > 0) {
        ssize_t count = write(stream->options.write_fd, stream->out.ptr + stream->out_done,
                              hub_stream_queued(stream));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0 && errno == EAGAIN) {
            ev_io_start(stream->loop, &stream->writer);
            break;
        }
        if (count < 0) {
            end_stream(stream, strerror(errno));
            return false;
        }
        stream->out_done += (size_t)count;
    }
    if (hub_stream_queued(stream) == 0) {
        hub_buf_clear(&stream->out);
        stream->out_done = 0;
        ev_io_stop(stream->loop, &stream->writer);
        if (stream->out.cap > KEEP_BYTES) {
            hub_buf_fini(&stream->out);
        }
    }
    pause_or_resume(stream);
    return true;
}

static void on_writable(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)loop;
    (void)events;
    (void)flush(watcher->data);
}

static void on_flush(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    (void)events;
    hub_stream *stream = watcher->data;
    ev_prepare_stop(loop, watcher);
    if (!ev_is_active(&stream->writer)) {
        (void)flush(stream);
    }
}

static void on_end(struct ev_loop *loop, ev_timer *watcher, int events)
{
    (void)loop;
    (void)events;
    hub_stream *stream = watcher->data;
    stream->in_callback = true;
    stream->options.on_end(stream->options.ctx, hub_str_of(stream->reason));
    stream->in_callback = false;
    if (stream->closed) {
        free_stream(stream);
    }
}

/* Queue the bytes of `iov` from byte `skip` on. */
static void queue_rest(hub_stream *stream, const struct iovec *iov, size_t count, size_t skip)
{
    for (size_t i = 0; i < count; i++) {
        if (skip >= iov[i].iov_len) {
            skip -= iov[i].iov_len;
            continue;
        }
        hub_buf_add(&stream->out, (hub_str){.ptr = (const char *)iov[i].iov_base + skip,
                                            .len = iov[i].iov_len - skip});
        skip = 0;
    }
}

/* Write a large message from where it lies, when nothing waits before it. Bytes written. */
static size_t write_direct(hub_stream *stream, const struct iovec *iov, size_t count)
{
    ssize_t done = writev(stream->options.write_fd, iov, (int)count);
    return done > 0 ? (size_t)done : 0; /* an error shows again when the rest is flushed */
}

hub_err hub_stream_send(hub_stream *stream, const hub_str *parts, size_t count)
{
    struct iovec iov[HUB_STREAM_PARTS + 2];
    char header[48];
    size_t total = 0;
    size_t used = 1;
    hub_assert(count <= HUB_STREAM_PARTS);
    if (stream->ended) {
        return HUB_ESTATE;
    }
    for (size_t i = 0; i < count; i++) {
        union {
            const char *from;
            void *to;
        } unconst = {.from = parts[i].ptr}; /* iovec has no const; writev only reads */
        if (parts[i].len > 0) {
            iov[used++] = (struct iovec){.iov_base = unconst.to, .iov_len = parts[i].len};
            total += parts[i].len;
        }
    }
    char newline = '\n';
    iov[0] = (struct iovec){.iov_base = header, .iov_len = 0};
    if (stream->framing == FRAMING_HEADERS) {
        int len = snprintf(header, sizeof header, "Content-Length: %zu\r\n\r\n", total);
        iov[0].iov_len = (size_t)len;
    } else {
        iov[used++] = (struct iovec){.iov_base = &newline, .iov_len = 1};
    }
    if (hub_stream_queued(stream) + total > stream->options.max_queue_bytes) {
        return HUB_ELIMIT;
    }
    size_t done = 0;
    if (total >= DIRECT_BYTES && (hub_stream_queued(stream) == 0 || flush(stream))) {
        if (stream->ended) {
            return HUB_ESTATE;
        }
        done = hub_stream_queued(stream) == 0 ? write_direct(stream, iov, used) : 0;
    }
    if (done < total + iov[0].iov_len + (stream->framing == FRAMING_HEADERS ? 0 : 1)) {
        if (stream->out_done > KEEP_BYTES) {
            hub_buf_consume(&stream->out, stream->out_done);
            stream->out_done = 0;
        }
        if (hub_buf_reserve(&stream->out, total + sizeof header) == NULL) {
            if (done > 0) {
                end_stream(stream, "out of memory in the middle of a message");
            }
            stream->out.failed = HUB_OK;
            return HUB_ENOMEM;
        }
        queue_rest(stream, iov, used, done);
        ev_prepare_start(stream->loop, &stream->flusher);
    }
    pause_or_resume(stream);
    return HUB_OK;
}

void hub_stream_drain(hub_stream *stream, unsigned timeout_ms)
{
    uint64_t deadline = hub_clock_now_ms() + timeout_ms;
    while (!stream->ended && flush(stream) && hub_stream_queued(stream) > 0) {
        uint64_t now = hub_clock_now_ms();
        struct pollfd ready = {.fd = stream->options.write_fd, .events = POLLOUT};
        if (now >= deadline || poll(&ready, 1, (int)(deadline - now)) <= 0) {
            return;
        }
    }
}

/* ---- opening and closing ---------------------------------------------------------------------- */

static void close_fds(const hub_stream_options *options)
{
    if (options->keep_fds_open) {
        return;
    }
    (void)close(options->read_fd); /* nothing can be done about a failing close */
    if (options->write_fd != options->read_fd) {
        (void)close(options->write_fd);
    }
}

hub_err hub_stream_open(struct ev_loop *loop, const hub_stream_options *options,
                        hub_stream **ret_stream)
{
    hub_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL) {
        close_fds(options);
        return HUB_ENOMEM;
    }
    stream->options = *options;
    stream->loop = loop;
    stream->read_flags = fcntl(options->read_fd, F_GETFL);
    stream->write_flags = fcntl(options->write_fd, F_GETFL);
    if (stream->read_flags < 0 || stream->write_flags < 0 ||
        fcntl(options->read_fd, F_SETFL, stream->read_flags | O_NONBLOCK) < 0 ||
        fcntl(options->write_fd, F_SETFL, stream->write_flags | O_NONBLOCK) < 0) {
        close_fds(options);
        free(stream);
        return HUB_ESYSTEM;
    }
    hub_buf_init(&stream->in, options->max_message_bytes * 2 + 4 * READ_CHUNK_BYTES);
    hub_buf_init(&stream->out, options->max_queue_bytes * 2 + KEEP_BYTES);
    ev_io_init(&stream->reader, on_readable, options->read_fd, EV_READ);
    ev_io_init(&stream->writer, on_writable, options->write_fd, EV_WRITE);
    ev_prepare_init(&stream->flusher, on_flush);
    ev_timer_init(&stream->ender, on_end, 0., 0.);
    stream->reader.data = stream;
    stream->writer.data = stream;
    stream->flusher.data = stream;
    stream->ender.data = stream;
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
    ev_timer_stop(stream->loop, &stream->ender);
    if (stream->options.keep_fds_open) {
        (void)fcntl(stream->options.read_fd, F_SETFL, stream->read_flags);
        (void)fcntl(stream->options.write_fd, F_SETFL, stream->write_flags);
    }
    close_fds(&stream->options);
    stream->closed = true;
    stream->ended = true;
    if (!stream->in_callback) {
        free_stream(stream);
    }
}
