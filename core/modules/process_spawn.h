/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork and exec of a guard (process_guard.h), which does the same for the command, and nothing
 * else: no shell, no look-up, no supervision. Failures before or at the command's exec come back as
 * an error of the call.
 */
#ifndef HUB_MODULES_PROCESS_SPAWN_H
#define HUB_MODULES_PROCESS_SPAWN_H

#include "base/err.h"

#include <sys/types.h>

typedef struct hub_process_plan {
    const char *program; /* path, relative to cwd unless absolute */
    const char *const *argv;
    const char *const *env;
    const char *cwd; /* NULL: this process's */
    bool stdin_null; /* no pipe for stdin */
    int guard;       /* the guard's program: hub_guard_open() */
} hub_process_plan;

/* A command that has been exec'ed. The caller owns the five descriptors; the three pipe ends do not
 * block, all are close-on-exec. The guard, which is the child, must be reaped through pidfd. */
typedef struct hub_process_started {
    pid_t pid;    /* of the command, and its process group */
    int pidfd;    /* of the guard */
    int channel;  /* to and from the guard; closing it tells it that the hub is dead */
    int stdin_fd; /* -1 with stdin_null */
    int stdout_fd;
    int stderr_fd;
} hub_process_started;

/* blocks:  until the command has been exec'ed or failed to be
 * thread:  [loop]: the parent-death signal follows the thread
 * errors:  HUB_ENOTFOUND (no such program), HUB_ESYSTEM */
HUB_MUST_CHECK hub_err hub_process_start(const hub_process_plan *plan,
                                         hub_process_started *ret_started, hub_error *reterr);

#endif
