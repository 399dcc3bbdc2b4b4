/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Child processes: started without a shell, each under a guard of its own (core/guard), which is
 * what is watched through a pidfd, reaped (never waitpid(-1): plugins and libraries may have
 * children too) and told to stop: stdin closed by its owner, SIGTERM, SIGKILL to all that descends
 * from the guard.
 *
 * A child gets: a process group; the descriptors 0, 1, 2 and no other; default signal dispositions
 * and an empty mask; an environment of the allow-list in patchbay/process.h plus what is asked for.
 * Its stderr is always drained: each line goes to the log as "upstream.stderr" with toolset=, at
 * most 100 lines per second (the rest are counted), and the last 4 KiB are kept.
 *
 * Nothing outlives a child: what descends from it is killed when the child itself has ended, asked
 * for or not, and when the hub has, whatever sessions it made (setsid), however it was forked, and
 * whatever signals it ignores.
 *
 * libev's own child watchers are not used (they call waitpid(-1)), so any loop will do. It must run
 * on the thread that spawns, and that thread must live as long as the hub: the kernel sends the
 * parent-death signal when the *thread* ends.
 *
 * Files: process.c (the table, handles, stopping and reaping), process_spawn.c (fork and exec),
 * process_guard.c (the guard), process_env.c (environment and program look-up), process_stderr.c.
 * Thread: [loop].
 */
#ifndef HUB_MODULES_PROCESS_H
#define HUB_MODULES_PROCESS_H

#include "base/err.h"

#include <patchbay/process.h>

#include <ev.h>

typedef struct hub_process hub_process;

/* All children of one hub, so that shutdown can stop and reap every one of them. */
typedef struct hub_process_table hub_process_table;

/* owns:    *ret_table, destroy it with hub_process_table_destroy; `loop` must outlive it
 * errors:  HUB_ENOTFOUND, HUB_ESYSTEM (there is no guard: process_guard.h), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_process_table_create(struct ev_loop *loop, hub_process_table **ret_table,
                                                hub_error *reterr);

/* Let go of all children that still run: their guards end them as if this process were gone (SIGTERM
 * at once, SIGKILL two seconds later), whether or not it is. Nobody's on_exit is called; handles stay
 * valid, for hub_process_free only. For the end of a process: nobody reaps the guards but its heir. */
void hub_process_table_leave(hub_process_table *table);

/* How long the end of this process may wait for its children, at most timeout_ms: clients wait less
 * than a second for a hub, and servers may take several. A hub waits longer whose own end would kill
 * the guards, too: as the first process of a container, or below another hub's guard. */
unsigned hub_process_patience(unsigned timeout_ms);

/* Children that still run are killed (SIGKILL) and reaped; nobody's on_exit is called.
 * Handles that were not given back stay valid, for hub_process_free only. NULL is fine.
 * blocks:  until the killed are gone, normally microseconds, at most 2 s all together */
void hub_process_table_destroy(hub_process_table *table);

/* It is a server; and how many of those run, but for those that were told to stop. */
void hub_process_note_server(hub_process *process);
size_t hub_process_servers(const hub_process_table *table);

/* Number of children not reaped yet. */
size_t hub_process_count(const hub_process_table *table);

/* Start a child for `toolset` (its name in the log, copied). See patchbay/process.h for options and
 * results; everything in `options` is read during the call only, but for on_exit and ctx.
 * argv[0] without '/' is looked up in the absolute folders of the child's own PATH (/usr/local/bin:
 * /usr/bin:/bin when it has none), before anything is started; with '/' it is relative to cwd.
 * PATCHBAY_SPAWN_STDERR_PIPE gives stderr to the caller *instead of* the log: whoever asks for it
 * drains it, and there is no tail. Without it `ret_stderr_fd` may be NULL, else it becomes -1.
 * The child's last output may still be in its pipes when on_exit is called: read them to the end.
 * blocks:  until the child has exec'ed or failed to
 * errors:  HUB_EINVAL, HUB_ENOTFOUND (no such command; the text names it and the PATH searched),
 *          HUB_ESYSTEM (not executable, no such cwd, fork failed), HUB_ENOMEM; the text begins
 *          `cannot start "COMMAND": ` */
HUB_MUST_CHECK hub_err hub_process_spawn(hub_process_table *table, hub_str toolset,
                                         const patchbay_spawn_options *options,
                                         hub_process **ret_process, int *ret_stdin_fd,
                                         int *ret_stdout_fd, int *ret_stderr_fd, hub_error *reterr);

/* The process id of the command, which is also its group's. It is the guard's to reap: no target
 * for kill. */
int hub_process_pid(const hub_process *process);

/* The last lines of stderr, at most 4 KiB, without the newline at the end and, if earlier output
 * was dropped, beginning with a whole line. Borrowed until the next event. */
hub_str hub_process_stderr_tail(const hub_process *process);

/* The same of a child of that toolset, of one that runs if there is any; empty: there is none. */
hub_str hub_process_tail_of(const hub_process_table *table, hub_str toolset);

/* SIGTERM to all that descends from the guard unless the child exits within grace_ms (its stdin
 * should be closed already), SIGKILL another grace_ms later; on_exit follows. With 0 both are due
 * at once. Stopping again can only bring the next step forward, never put it off. */
void hub_process_stop(hub_process *process, uint64_t grace_ms);

/* Forget on_exit; a child that still runs is stopped with HUB_LIMIT_STOP_GRACE_MS and reaped by the
 * table. Fine within on_exit. NULL is fine. */
void hub_process_free(hub_process *process);

#endif
