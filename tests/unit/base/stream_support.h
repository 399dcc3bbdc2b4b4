/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of hub_stream: a stream on one end of a socket pair (or of other descriptors), and the
 * test on the other. Nothing sleeps: the loop runs until something has happened, under one alarm.
 */
#ifndef TESTS_UNIT_STREAM_SUPPORT_H
#define TESTS_UNIT_STREAM_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/stream.h"

enum {
    GUARD_SECONDS = 50, /* for one stream; libev blocks 59 s at most, which must not hide a hang */
    MIB = 1024 * 1024,
    LIMIT = 1000, /* bytes of a message, unless a test says otherwise */
};

typedef struct fixture {
    struct ev_loop *loop;
    hub_stream *stream;
    hub_stream_options options;
    int peer;       /* the other end; -1 when closed */
    hub_buf events; /* "[text]" a message, "!" one over the limit, "<reason>" the end */
    size_t messages;
    size_t ends;
    /* Called from the callbacks, after the event was noted. */
    void (*act)(struct fixture *f, hub_str message);
    bool act_on_oversize, act_on_end;
} fixture;

static inline void note_message(void *ctx, hub_str bytes)
{
    fixture *f = ctx;
    f->messages++;
    hub_buf_add_char(&f->events, '[');
    hub_buf_add(&f->events, bytes);
    hub_buf_add_char(&f->events, ']');
    if (f->act != NULL) {
        f->act(f, bytes);
    }
}

static inline void note_oversize(void *ctx)
{
    fixture *f = ctx;
    hub_buf_add_char(&f->events, '!');
    if (f->act_on_oversize) {
        f->act(f, HUB_STR_EMPTY);
    }
}

static inline void note_end(void *ctx, hub_str reason)
{
    fixture *f = ctx;
    f->ends++;
    hub_buf_printf(&f->events, "<" HUB_STR_FMT ">", HUB_STR_ARG(reason));
    if (f->act_on_end) {
        f->act(f, HUB_STR_EMPTY);
    }
}

/* Default options; the descriptors are the test's to set. */
static inline void prepare(fixture *f)
{
    (void)alarm(GUARD_SECONDS); /* a test that hangs is killed */
    memset(f, 0, sizeof *f);
    hub_buf_init(&f->events, SIZE_MAX);
    f->peer = -1;
    f->loop = ev_loop_new(EVFLAG_AUTO);
    assert_non_null(f->loop);
    f->options = (hub_stream_options){
        .read_fd = -1,
        .write_fd = -1,
        .detect_framing = true,
        .max_message_bytes = LIMIT,
        .max_queue_bytes = 64 * MIB,
        .on_message = note_message,
        .on_oversize = note_oversize,
        .on_end = note_end,
        .ctx = f,
    };
}

static inline void open_stream(fixture *f)
{
    assert_int_equal(hub_stream_open(f->loop, &f->options, &f->stream), HUB_OK);
    assert_int_equal(f->events.len, 0);
}

/* A stream on one end of a socket pair; the test keeps the other, non-blocking. */
static inline void open_pair(fixture *f, int type)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), 0);
    f->options.read_fd = ends[0];
    f->options.write_fd = ends[0];
    f->peer = ends[1];
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    open_stream(f);
}

static inline void start(fixture *f)
{
    prepare(f);
    open_pair(f, SOCK_STREAM);
}

static inline void close_peer(fixture *f)
{
    assert_int_equal(close(f->peer), 0);
    f->peer = -1;
}

static inline void finish(fixture *f)
{
    hub_stream_close(f->stream);
    if (f->peer >= 0) {
        close_peer(f);
    }
    ev_loop_destroy(f->loop);
    hub_buf_fini(&f->events);
}

/* Run until all that can happen has happened: an iteration for what is readable, one for each timer
 * and flush that it leads to. */
static inline void settle(fixture *f)
{
    for (int i = 0; i < 6; i++) {
        (void)ev_run(f->loop, EVRUN_NOWAIT);
    }
}

static inline void wait_for_end(fixture *f)
{
    while (f->ends == 0) {
        (void)ev_run(f->loop, EVRUN_ONCE);
    }
}

/* Write it all, with the loop running while the stream does not keep up. */
static inline void peer_says(fixture *f, hub_str bytes)
{
    while (bytes.len > 0) {
        ssize_t count = write(f->peer, bytes.ptr, bytes.len);
        assert_true(count > 0 || errno == EAGAIN);
        if (count > 0) {
            bytes = hub_str_from(bytes, (size_t)count);
        } else {
            (void)ev_run(f->loop, EVRUN_NOWAIT);
        }
    }
}

/* Read what is there, at most `most` bytes. */
static inline size_t peer_reads(const fixture *f, hub_buf *out, size_t most)
{
    char *room = hub_buf_reserve(out, most);
    assert_non_null(room);
    ssize_t count = read(f->peer, room, most);
    assert_true(count >= 0 || errno == EAGAIN);
    out->len += count > 0 ? (size_t)count : 0;
    return count > 0 ? (size_t)count : 0;
}

/* Read until nothing comes any more. */
static inline void peer_reads_all(fixture *f, hub_buf *out)
{
    do {
        settle(f);
    } while (peer_reads(f, out, 256 * 1024) > 0);
}

static inline void assert_text(const hub_buf *buf, const char *text)
{
    if (!hub_str_is(hub_buf_str(buf), text)) {
        print_error("got " HUB_STR_FMT "\nnot %s\n", HUB_STR_ARG(hub_buf_str(buf)), text);
    }
    assert_true(hub_str_is(hub_buf_str(buf), text));
}

static inline void assert_peer_got(fixture *f, const char *text)
{
    hub_buf got;
    hub_buf_init(&got, SIZE_MAX);
    peer_reads_all(f, &got);
    assert_text(&got, text);
    hub_buf_fini(&got);
}

static inline hub_err send_text(fixture *f, hub_str text)
{
    return hub_stream_send(f->stream, &text, 1, NULL);
}

/* `len` bytes that look different everywhere, without newlines; to be freed. */
static inline char *make_text(size_t len, unsigned seed)
{
    char *text = malloc(len + 1);
    assert_non_null(text);
    for (size_t i = 0; i < len; i++) {
        seed = seed * 1664525u + 1013904223u;
        text[i] = (char)('!' + (seed >> 16) % 90);
    }
    text[len] = '\0';
    return text;
}

static inline void ignore_sigpipe(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
}

#endif
