/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host interface "patchbay.process/1": child processes, started and supervised by the hub.
 *
 * A child gets its own process group, pipes for stdin and stdout, no other descriptors, default
 * signal dispositions, and an environment made of a short allow-list (HOME, PATH, USER, LOGNAME,
 * SHELL, LANG, LC_*, TERM, TMPDIR, TZ) plus what the caller adds, and PATCHBAY_CHAIN, by which a
 * hub that it may start notices that it is behind itself. Whatever it starts ends with it,
 * and it ends with the hub, however that dies (SIGTERM, two seconds later SIGKILL): a guard process
 * stands between them. Its stderr is drained always: lines go to the hub's log under the toolset's
 * name, at a bounded rate, and the last ones are kept for error messages. There is never a shell.
 */
#ifndef PATCHBAY_PROCESS_H
#define PATCHBAY_PROCESS_H

#include <patchbay/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PATCHBAY_PROCESS_V1 "patchbay.process/1"

/* patchbay_spawn_options.flags */
#define PATCHBAY_SPAWN_INHERIT_ENV 0x1u /* start from the hub's whole environment */
#define PATCHBAY_SPAWN_STDERR_PIPE 0x2u /* give stderr to the caller instead of the log */
#define PATCHBAY_SPAWN_STDIN_NULL  0x4u /* stdin is /dev/null; ret_stdin_fd is -1 */

typedef struct patchbay_process patchbay_process;

typedef struct patchbay_spawn_options {
    uint32_t struct_size;
    uint32_t flags;
    const char *const *argv; /* NULL-terminated; argv[0] is looked up in the child's PATH */
    const char *const *env;  /* NULL-terminated "NAME=value" additions; may be NULL */
    const char *cwd;         /* NULL: the hub's */

    /* The child has been reaped. `status` is plain text ("exited with code 1", "killed by
     * SIGKILL"). Called exactly once, never before spawn() returned; the handle must then be freed.
     * [loop] */
    void (*on_exit)(void *ctx, patchbay_str status);
    void *ctx;
} patchbay_spawn_options;

typedef struct patchbay_process_v1 {
    uint32_t struct_size;
    uint32_t reserved;

    /* Start a child. The descriptors become the caller's, non-blocking and close-on-exec.
     * `reterr` says what failed and for which command ("npx: no such file or directory in PATH").
     * thread: [loop]     blocks: until the child has exec'ed or failed to (bounded by the kernel)
     * returns: PATCHBAY_OK; PATCHBAY_ENOTFOUND (no such program), PATCHBAY_EINVAL (it cannot be
     *          run, or not in that folder): trying again does not help; PATCHBAY_ESYSTEM,
     *          PATCHBAY_ENOMEM */
    int32_t (*spawn)(patchbay_host *host, const patchbay_spawn_options *options,
                     patchbay_process **ret_process, int *ret_stdin_fd, int *ret_stdout_fd,
                     int *ret_stderr_fd, patchbay_error *reterr);

    int32_t (*pid)(patchbay_process *process); /* [loop] */

    /* The last lines of stderr, at most 4 KiB, one string. Borrowed until the next event. [loop] */
    patchbay_str (*stderr_tail)(patchbay_process *process);

    /* Make the child end: its stdin should be closed already; SIGTERM to it and all that it started
     * after `grace_ms`, SIGKILL to them `grace_ms` later. on_exit() follows.
     * thread: [loop]     blocks: no */
    void (*stop)(patchbay_process *process, uint64_t grace_ms);

    /* Give the handle back. A child that still runs is stopped and reaped by the hub, silently.
     * NULL is fine.
     * thread: [loop]     blocks: no */
    void (*free)(patchbay_process *process);
} patchbay_process_v1;

#ifdef __cplusplus
}
#endif

#endif
