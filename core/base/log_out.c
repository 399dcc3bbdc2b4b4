/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log_out.h"

#include "base/limits.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

enum { STUCK_MS = 1000 }; /* how long a thread waits that may wait */

static struct {
    char *path;    /* NULL: stderr */
    int file;      /* of that path */
    bool torn;     /* the file ends in a part of a line */
    bool stuck;    /* stderr has taken nothing for STUCK_MS */
    hub_buf owed;  /* what stderr has not taken: perhaps the rest of a line, then whole lines */
    uint64_t lost; /* lines, since the last that said so */
    void (*on_owed)(void *ctx);
    void *ctx;
} out = {.file = -1, .owed = {.max = HUB_LIMIT_LOG_OWED_BYTES + HUB_LIMIT_LOG_LINE_BYTES}};

static _Thread_local bool never_waits;

void hub_log_never_wait(void)
{
    never_waits = true;
}

/* ---- stderr ---------------------------------------------------------------------------------- */

/* Whether stderr can take something now, or within that time. */
static bool is_ready(int wait_ms)
{
    struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
    int found;
    do {
        found = poll(&ready, 1, wait_ms);
    } while (found < 0 && errno == EINTR);
    return found > 0;
}

/* Write to stderr; returns how much, all of it when nobody reads it any more. It is not asked to be
 * non-blocking, which would change it for whoever else has it: a pipe that poll finds ready takes
 * PIPE_BUF bytes without blocking. */
static size_t write_stderr(hub_str text, int wait_ms)
{
    size_t done = 0;
    while (done < text.len) {
        if (!is_ready(wait_ms)) {
            out.stuck = true;
            return done;
        }
        size_t piece = text.len - done < PIPE_BUF ? text.len - done : PIPE_BUF;
        ssize_t count = write(STDERR_FILENO, text.ptr + done, piece);
        if (count > 0) {
            done += (size_t)count;
            out.stuck = false;
        } else if (count < 0 && errno == EAGAIN) {
            out.stuck = wait_ms == 0 || !is_ready(wait_ms);
            if (out.stuck) {
                return done;
            }
        } else if (count == 0 || errno != EINTR) {
            return text.len; /* there is no one to tell */
        }
    }
    return done;
}

static int patience(void)
{
    return never_waits || out.stuck ? 0 : STUCK_MS;
}

/* Lines that are owed, or the note of those that were lost, in their order. */
static void owe(hub_str line)
{
    if (out.owed.len + line.len > HUB_LIMIT_LOG_OWED_BYTES) {
        out.lost++;
        return;
    }
    if (out.lost > 0) {
        hub_log_add_lost(&out.owed, out.lost);
        out.lost = 0;
    }
    size_t before = out.owed.len;
    hub_buf_add(&out.owed, line);
    if (!hub_buf_ok(&out.owed)) { /* no memory: what is there stays */
        out.owed.failed = HUB_OK;
        out.owed.len = before;
        out.lost++;
    }
}

bool hub_log_out_flush(int wait_ms)
{
    if (out.owed.len > 0) {
        size_t done = write_stderr(hub_buf_str(&out.owed), wait_ms);
        hub_buf_consume(&out.owed, done);
    }
    if (out.owed.len == 0 && out.lost > 0) {
        hub_log_add_lost(&out.owed, out.lost);
        out.lost = 0;
        hub_buf_consume(&out.owed, write_stderr(hub_buf_str(&out.owed), wait_ms));
    }
    if (out.owed.len == 0) {
        hub_buf_fini(&out.owed); /* it is not needed often */
    }
    return out.owed.len == 0;
}

static void put_stderr(hub_str line)
{
    bool is_free = hub_log_out_flush(patience());
    size_t done = is_free ? write_stderr(line, patience()) : 0;
    if (done < line.len) {
        owe(hub_str_from(line, done));
    }
    if (out.owed.len > 0 && out.on_owed != NULL) {
        out.on_owed(out.ctx);
    }
}

void hub_log_out_on_owed(void (*on_owed)(void *ctx), void *ctx)
{
    out.on_owed = on_owed;
    out.ctx = ctx;
}

/* ---- a file ---------------------------------------------------------------------------------- */

static hub_err open_file(const char *path, int *ret_fd, hub_error *reterr)
{
    *ret_fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
    if (*ret_fd < 0) {
        return hub_fail(reterr, HUB_ESYSTEM, "log.file: cannot open %s: %s", path, strerror(errno));
    }
    return HUB_OK;
}

hub_err hub_log_out_open(const char *path, hub_error *reterr)
{
    int file = -1;
    char *kept = NULL;
    bool is_same = path != NULL && out.path != NULL && strcmp(path, out.path) == 0;
    if (is_same || (path == NULL && out.path == NULL)) {
        return HUB_OK;
    }
    if (path != NULL) {
        hub_err err = open_file(path, &file, reterr);
        if (err != HUB_OK) {
            return err;
        }
        kept = strdup(path);
        if (kept == NULL) {
            (void)close(file);
            return hub_fail(reterr, HUB_ENOMEM, "out of memory");
        }
    }
    if (out.file >= 0) {
        (void)close(out.file);
    }
    free(out.path);
    out.path = kept;
    out.file = file;
    out.torn = false;
    return HUB_OK;
}

hub_err hub_log_out_reopen(hub_error *reterr)
{
    int file = -1;
    hub_err err = out.path != NULL ? open_file(out.path, &file, reterr) : HUB_OK;
    if (err == HUB_OK && out.path != NULL) {
        (void)close(out.file);
        out.file = file;
        out.torn = false;
    }
    return err;
}

static bool write_file(hub_str text)
{
    size_t done = 0;
    while (done < text.len) {
        ssize_t count = write(out.file, text.ptr + done, text.len - done);
        if (count > 0) {
            done += (size_t)count;
        } else if (count == 0 || errno != EINTR) {
            out.torn = out.torn || done > 0;
            return false; /* the disk is full, say */
        }
    }
    return true;
}

static void put_file(hub_str line)
{
    bool is_good = true;
    if (out.torn) {
        is_good = write_file(HUB_STR("\n"));
        out.torn = !is_good;
    }
    if (is_good && out.lost > 0) {
        hub_buf note;
        hub_buf_init(&note, HUB_LIMIT_LOG_LINE_BYTES);
        hub_log_add_lost(&note, out.lost);
        is_good = hub_buf_ok(&note) && write_file(hub_buf_str(&note));
        out.lost = is_good ? 0 : out.lost;
        hub_buf_fini(&note);
    }
    if (!is_good || !write_file(line)) {
        out.lost++;
    }
}

void hub_log_out_put(hub_str line)
{
    if (out.path != NULL) {
        put_file(line);
    } else {
        put_stderr(line);
    }
}
