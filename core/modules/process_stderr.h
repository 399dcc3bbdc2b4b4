/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stderr of one child: read whenever there is something, so that the child never blocks on it;
 * logged line by line as "upstream.stderr", at a bounded rate; the end of it kept. What is not
 * logged is counted, and the count is logged as "upstream.stderr_dropped". Thread: [loop].
 */
#ifndef HUB_MODULES_PROCESS_STDERR_H
#define HUB_MODULES_PROCESS_STDERR_H

#include "base/err.h"
#include "base/limits.h"

#include <ev.h>

enum {
    HUB_PROCESS_STDERR_TAIL_BYTES = 4096,     /* kept for error messages: some screens of text */
    HUB_PROCESS_STDERR_LINES_PER_SECOND = 100 /* logged: a crash report, but no flood */
};

typedef struct hub_process_stderr {
    struct ev_loop *loop;
    const char *toolset; /* borrowed */
    ev_io readable;      /* its fd is -1 when there is nothing to read any more */
    ev_timer window;     /* runs while lines are being dropped */
    uint64_t window_start_ms;
    unsigned logged;  /* lines in this window */
    uint64_t dropped; /* lines not logged yet to have been dropped */
    size_t line_len;
    bool line_cut; /* the line was longer than `line`: its rest is skipped */
    bool tail_cut; /* output older than `tail` is gone */
    size_t tail_len;
    char line[HUB_LIMIT_LOG_VALUE_BYTES];
    char tail[HUB_PROCESS_STDERR_TAIL_BYTES];
} hub_process_stderr;

/* Take `fd` (non-blocking; -1: there is no stderr to read) and start reading. `reader` must not
 * move and `toolset` must outlive it. */
void hub_process_stderr_init(hub_process_stderr *reader, struct ev_loop *loop, const char *toolset,
                             int fd);

/* Read what the child left behind, log it all, and stop reading. The tail stays readable. Calling
 * it again is fine. */
void hub_process_stderr_end(hub_process_stderr *reader);

/* The last lines, see hub_process_stderr_tail in process.h. */
hub_str hub_process_stderr_get_tail(const hub_process_stderr *reader);

#endif
