/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/process_stderr.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/loop.h"

enum {
    READ_BYTES = 64 * 1024, /* one pipe full: a flood costs one such read per turn of the loop */
    LAST_READS = 16,        /* after the child's end: others may hold the pipe and go on writing */
    WINDOW_MS = 1000,
};

static void log_dropped(hub_process_stderr *reader)
{
    if (reader->dropped > 0) {
        hub_log(HUB_LOG_WARNING, "upstream.stderr_dropped", HUB_F_TEXT("toolset", reader->toolset),
                HUB_F_INT("lines", reader->dropped));
    }
    reader->dropped = 0;
}

static void start_window(hub_process_stderr *reader, uint64_t now_ms)
{
    ev_timer_stop(reader->loop, &reader->window);
    log_dropped(reader);
    reader->window_start_ms = now_ms;
    reader->logged = 0;
}

static void on_window_end(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_process_stderr *reader = timer->data;
    start_window(reader, hub_clock_now_ms());
}

/* Log the collected line, or count it. */
static void end_line(hub_process_stderr *reader)
{
    hub_str line = hub_str_trim((hub_str){.ptr = reader->line, .len = reader->line_len});
    reader->line_len = 0;
    reader->line_cut = false;
    if (line.len == 0) {
        return;
    }
    uint64_t now_ms = hub_clock_now_ms();
    if (now_ms - reader->window_start_ms >= WINDOW_MS) {
        start_window(reader, now_ms);
    }
    if (reader->logged < HUB_PROCESS_STDERR_LINES_PER_SECOND) {
        reader->logged++;
        hub_log(HUB_LOG_INFO, "upstream.stderr", HUB_F_TEXT("toolset", reader->toolset),
                HUB_F_STR("text", line));
        return;
    }
    if (reader->dropped++ == 0) {
        ev_timer_set(&reader->window, (double)WINDOW_MS / 1000.0, 0.0);
        ev_timer_start(reader->loop, &reader->window);
    }
}

static void add_to_line(hub_process_stderr *reader, hub_str text)
{
    size_t room = sizeof reader->line - reader->line_len;
    size_t added = text.len < room ? text.len : room;
    memcpy(reader->line + reader->line_len, text.ptr, added);
    reader->line_len += added;
    reader->line_cut = reader->line_cut || added < text.len;
}

static void add_to_tail(hub_process_stderr *reader, hub_str text)
{
    size_t size = sizeof reader->tail;
    if (text.len > size) {
        text = hub_str_from(text, text.len - size);
        reader->tail_cut = true;
    }
    size_t kept = reader->tail_len;
    if (kept > size - text.len) {
        kept = size - text.len;
        memmove(reader->tail, reader->tail + reader->tail_len - kept, kept);
        reader->tail_cut = true;
    }
    memcpy(reader->tail + kept, text.ptr, text.len);
    reader->tail_len = kept + text.len;
}

static void add_output(hub_process_stderr *reader, hub_str text)
{
    add_to_tail(reader, text);
    while (text.len > 0) {
        const char *newline = memchr(text.ptr, '\n', text.len);
        size_t len = newline == NULL ? text.len : (size_t)(newline - text.ptr);
        add_to_line(reader, (hub_str){.ptr = text.ptr, .len = len});
        if (newline == NULL) {
            return;
        }
        end_line(reader);
        text = hub_str_from(text, len + 1);
    }
}

static void close_pipe(hub_process_stderr *reader)
{
    if (reader->readable.fd < 0) {
        return;
    }
    int fd = reader->readable.fd;
    ev_io_stop(reader->loop, &reader->readable);
    ev_io_set(&reader->readable, -1, EV_READ);
    (void)close(fd);
    end_line(reader); /* a last line without newline */
}

/* Read once. False when there is nothing more to read now, or ever. */
static bool read_some(hub_process_stderr *reader)
{
    static char chunk[READ_BYTES]; /* [loop] only, and empty between calls */
    ssize_t n = read(reader->readable.fd, chunk, sizeof chunk);
    if (n > 0) {
        add_output(reader, (hub_str){.ptr = chunk, .len = (size_t)n});
        return true;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        close_pipe(reader);
    }
    return false;
}

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
    if (!hub_loop_mend(loop, watcher, events)) {
        (void)read_some(watcher->data); /* the watcher tells when there is more */
    }
}

void hub_process_stderr_init(hub_process_stderr *reader, struct ev_loop *loop, const char *toolset,
                             int fd)
{
    *reader = (hub_process_stderr){.loop = loop, .toolset = toolset};
    reader->window_start_ms = hub_clock_now_ms();
    ev_timer_init(&reader->window, on_window_end, 0.0, 0.0);
    reader->window.data = reader;
    ev_io_init(&reader->readable, on_readable, fd, EV_READ);
    reader->readable.data = reader;
    if (fd >= 0) {
        ev_io_start(loop, &reader->readable);
    }
}

void hub_process_stderr_end(hub_process_stderr *reader)
{
    for (int i = 0; i < LAST_READS && reader->readable.fd >= 0 && read_some(reader); i++) {
        /* the last words are often the reason */
    }
    close_pipe(reader);
    ev_timer_stop(reader->loop, &reader->window);
    log_dropped(reader);
}

hub_str hub_process_stderr_get_tail(const hub_process_stderr *reader)
{
    hub_str tail = {.ptr = reader->tail, .len = reader->tail_len};
    while (tail.len > 0 && strchr("\r\n", tail.ptr[tail.len - 1]) != NULL) {
        tail.len--;
    }
    if (reader->tail_cut) {
        size_t newline = hub_str_find(tail, HUB_STR("\n"));
        tail = newline == SIZE_MAX ? tail : hub_str_from(tail, newline + 1);
    }
    return tail;
}
