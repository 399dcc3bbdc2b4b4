/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES 65536u
#define TICK_MS     50u   /* how often cancellation is looked at: there is nothing to wait for */
#define DRAIN_MS    1000u /* for what the command left behind to write its last */

/* A run under way. */
typedef struct session {
    patchbay_tool_call *call;
    const command_tool *tool;
    command_child child;
    command_run *run;
    char *block;
    uint64_t kill_at; /* SIGKILL; 0: SIGTERM has not been sent */
    uint64_t end_at;  /* stop reading; 0: the command still runs */
} session;

static uint64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- output ---------------------------------------------------------------------------------- */

static void capture_head(command_capture *capture, const char *bytes, size_t len)
{
    size_t kept = capture->max - capture->len < len ? capture->max - capture->len : len;
    memcpy(capture->bytes + capture->len, bytes, kept);
    capture->len += kept;
    capture->cut |= kept < len;
}

/* The buffer has room for twice the maximum, so that bytes are moved rarely. */
static void capture_tail(command_capture *capture, const char *bytes, size_t len)
{
    if (len > capture->max) {
        bytes += len - capture->max;
        len = capture->max;
        capture->len = 0;
        capture->cut = 1;
    }
    if (capture->len + len > 2 * capture->max) {
        size_t kept = capture->max;
        memmove(capture->bytes, capture->bytes + capture->len - kept, kept);
        capture->len = kept;
        capture->cut = 1;
    }
    memcpy(capture->bytes + capture->len, bytes, len);
    capture->len += len;
}

/* Begin and end at whole characters where bytes were cut off. */
static void trim_capture(command_capture *capture)
{
    if (capture->len > capture->max) {
        memmove(capture->bytes, capture->bytes + capture->len - capture->max, capture->max);
        capture->len = capture->max;
        capture->cut = 1;
    }
    if (!capture->cut || capture->len == 0) {
        return;
    }
    if (capture->keep_tail) {
        size_t skipped = 0;
        while (skipped < 3 && skipped < capture->len && (capture->bytes[skipped] & 0xc0) == 0x80) {
            skipped++;
        }
        memmove(capture->bytes, capture->bytes + skipped, capture->len - skipped);
        capture->len -= skipped;
        return;
    }
    const char *end = capture->bytes + capture->len;
    size_t back = 1;
    while (back < 4 && back < capture->len && (end[-(ptrdiff_t)back] & 0xc0) == 0x80) {
        back++;
    }
    if ((end[-(ptrdiff_t)back] & 0xc0) == 0xc0 && patchbay_utf8_length(end - back, end) == 0) {
        capture->len -= back;
    }
}

/* Take what there is; closes the descriptor at its end. */
static void read_output(session *session_, int *fd, command_capture *capture)
{
    ssize_t n = read(*fd, session_->block, BLOCK_BYTES);
    if (n > 0 && capture->keep_tail) {
        capture_tail(capture, session_->block, (size_t)n);
    } else if (n > 0) {
        capture_head(capture, session_->block, (size_t)n);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        (void)close(*fd);
        *fd = -1;
    }
}

/* ---- time ------------------------------------------------------------------------------------ */

static void stop(session *session_, command_stop why, uint64_t now)
{
    session_->run->stop = why;
    session_->kill_at = now + COMMAND_GRACE_MS;
    command_signal(&session_->child, SIGTERM);
    command_signal(&session_->child, SIGCONT); /* or a stopped one would not hear it */
}

/* Do what is due. */
static void check_time(session *session_, uint64_t started, uint64_t now)
{
    if (session_->end_at == 0 && command_has_ended(&session_->child)) {
        session_->end_at = now + DRAIN_MS;
        session_->run->duration_ms = now - started;
    }
    if (session_->end_at != 0) {
        return;
    }
    if (session_->kill_at == 0 && patchbay_cancelled(session_->call)) {
        stop(session_, COMMAND_CANCELLED, now);
    } else if (session_->kill_at == 0 && now - started >= session_->tool->timeout_ms) {
        stop(session_, COMMAND_TIMED_OUT, now);
    } else if (session_->kill_at != 0 && now >= session_->kill_at) {
        command_signal(&session_->child, SIGKILL);
    }
}

static int next_tick(const session *session_, uint64_t started, uint64_t now)
{
    uint64_t due = session_->end_at != 0    ? session_->end_at
                   : session_->kill_at != 0 ? session_->kill_at
                                            : started + session_->tool->timeout_ms;
    uint64_t left = due > now ? due - now : 0;
    return (int)(left < TICK_MS ? left + 1 : TICK_MS);
}

static void serve(session *session_)
{
    uint64_t started = now_ms();
    for (;;) {
        command_child *child = &session_->child;
        uint64_t now = now_ms();
        check_time(session_, started, now);
        int drained = child->out_fd < 0 && child->err_fd < 0;
        if (session_->end_at != 0 && (drained || now >= session_->end_at)) {
            break;
        }
        /* poll passes over descriptors that are -1 */
        struct pollfd fds[] = {
            {.fd = child->out_fd, .events = POLLIN},
            {.fd = child->err_fd, .events = POLLIN},
            {.fd = session_->end_at == 0 ? child->pid_fd : -1, .events = POLLIN}};
        if (poll(fds, sizeof fds / sizeof *fds, next_tick(session_, started, now)) <= 0) {
            continue;
        }
        if (fds[0].revents != 0) {
            read_output(session_, &child->out_fd, &session_->run->out);
        }
        if (fds[1].revents != 0) {
            read_output(session_, &child->err_fd, &session_->run->err);
        }
    }
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* Input as a file in memory: no writing beside the reading, and no SIGPIPE. */
static int make_input(patchbay_str input)
{
    int fd = memfd_create("patchbay-stdin", MFD_CLOEXEC);
    size_t done = 0;
    while (fd >= 0 && done < input.len) {
        ssize_t n = write(fd, input.ptr + done, input.len - done);
        if (n < 0 && errno != EINTR) {
            int code = errno;
            (void)close(fd);
            errno = code;
            return -1;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0 && lseek(fd, 0, SEEK_SET) != 0) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

static int make_captures(const command_tool *tool, command_run *run)
{
    run->out = (command_capture){.max = tool->max_output};
    run->err = (command_capture){.max = tool->max_output, .keep_tail = 1};
    run->out.bytes = (char *)malloc(run->out.max);
    run->err.bytes = (char *)malloc(2 * run->err.max);
    return run->out.bytes != NULL && run->err.bytes != NULL;
}

/* From the start to the reaping. */
static int run_command(session *session_, char *const *argv, int input_fd, const char **about)
{
    int code = command_start(session_->tool, argv, input_fd, &session_->child, about);
    if (code != 0) {
        return code;
    }
    serve(session_);
    /* While its leader is not reaped the group's number is its own: what is left of it ends now. */
    command_signal(&session_->child, SIGKILL);
    session_->run->end = command_reap(&session_->child);
    trim_capture(&session_->run->out);
    trim_capture(&session_->run->err);
    return 0;
}

int command_execute(patchbay_tool_call *call, const command_tool *tool, char *const *argv,
                    patchbay_str input, command_run *ret_run, const char **about)
{
    session session_ = {.call = call, .tool = tool, .run = ret_run};
    int input_fd = -1;
    int code = 0;
    *about = "memory";
    memset(ret_run, 0, sizeof *ret_run);
    session_.block = (char *)malloc(BLOCK_BYTES);
    if (session_.block == NULL || !make_captures(tool, ret_run)) {
        code = ENOMEM;
    }
    if (code == 0 && tool->has_input) {
        input_fd = make_input(input);
        code = input_fd < 0 ? errno : 0;
        *about = "its input";
    }
    if (code == 0) {
        code = run_command(&session_, argv, input_fd, about);
    }
    if (input_fd >= 0) {
        (void)close(input_fd);
    }
    free(session_.block);
    return code;
}

void command_run_fini(command_run *run)
{
    free(run->out.bytes);
    free(run->err.bytes);
}
