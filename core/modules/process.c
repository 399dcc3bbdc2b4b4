/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/loop.h"
#include "modules/process_chain.h"
#include "modules/process_env.h"
#include "modules/process_guard.h"
#include "modules/process_spawn.h"
#include "modules/process_stderr.h"

enum {
    PROCESS_MAGIC = 0x50524f43, /* "PROC": processes travel through watchers and plugins */
    KILLED_WAIT_MS = 2000,      /* a killed process can only be kept by a file system that hangs */
    STATUS_BYTES = 64,
};

/* What a version 1.0 caller has of the options: all of them. */
#define OPTIONS_SIZE_1_0                                                                           \
    (offsetof(patchbay_spawn_options, ctx) + sizeof(((patchbay_spawn_options *)NULL)->ctx))

typedef enum next_step { STEP_NONE, STEP_TERM, STEP_KILL } next_step;

struct hub_process {
    unsigned magic;
    hub_process_table *table; /* NULL once the table is gone */
    hub_process *prev;        /* in the table's list, where it is until it is freed */
    hub_process *next;
    char *toolset;
    pid_t pid;         /* of the command */
    int channel;       /* to and from its guard; -1 once reaped */
    ev_io exited;      /* on the guard's pidfd; its fd is -1 once reaped */
    ev_timer stop_due; /* when next_step is due */
    next_step step;    /* of stopping; STEP_NONE: nothing is planned */
    double grace;      /* seconds between SIGTERM and SIGKILL */
    bool is_server;
    bool released; /* the handle was given back: free it when reaped */
    void (*on_exit)(void *ctx, patchbay_str status);
    void *ctx;
    hub_process_stderr errors;
};

struct hub_process_table {
    struct ev_loop *loop;
    int guard; /* its program */
    hub_process *first;
    size_t running; /* not reaped */
};

static hub_process *process_of(void *data)
{
    hub_process *process = data;
    hub_assert(process->magic == PROCESS_MAGIC);
    return process;
}

static bool is_running(const hub_process *process)
{
    return process->exited.fd >= 0;
}

static void link_process(hub_process_table *table, hub_process *process)
{
    process->table = table;
    process->next = table->first;
    if (table->first != NULL) {
        table->first->prev = process;
    }
    table->first = process;
}

static void unlink_process(hub_process *process)
{
    if (process->table == NULL) {
        return;
    }
    if (process->prev != NULL) {
        process->prev->next = process->next;
    } else {
        process->table->first = process->next;
    }
    if (process->next != NULL) {
        process->next->prev = process->prev;
    }
    process->table = NULL;
}

static void destroy_process(hub_process *process)
{
    unlink_process(process);
    process->magic = 0;
    free(process->toolset);
    free(process);
}

/* How the command ended, by the last report of its guard. */
static void describe_end(const hub_process *process, char *ret_text, size_t size)
{
    hub_guard_report ended;
    bool is_told = hub_guard_receive(process->channel, false, &ended);
    const char *name = is_told ? sigabbrev_np(ended.value) : NULL;
    if (!is_told) {
        (void)snprintf(ret_text, size, "was killed, because its guard was"); /* by others */
    } else if (ended.detail == CLD_EXITED) {
        (void)snprintf(ret_text, size, "exited with code %d", ended.value); /* fits */
    } else if (name != NULL) {
        (void)snprintf(ret_text, size, "killed by SIG%s", name);
    } else {
        (void)snprintf(ret_text, size, "killed by signal %d", ended.value);
    }
}

/* Let go of everything that belongs to the child, which is not running any more as far as we care.
 */
static void forget_child(hub_process *process)
{
    struct ev_loop *loop = process->table->loop;
    int pidfd = process->exited.fd;
    hub_process_stderr_end(&process->errors);
    ev_timer_stop(loop, &process->stop_due);
    ev_io_stop(loop, &process->exited);
    ev_io_set(&process->exited, -1, EV_READ);
    (void)close(pidfd);
    (void)close(process->channel);
    process->channel = -1;
    process->table->running--;
}

/* Reap a guard that has ended, and with it all that it guarded. False when it has not ended. Code
 * that waits for any child (waitpid(-1) in a plugin) may have reaped it: that changes nothing. */
static bool reap(hub_process *process, char *ret_status, size_t size)
{
    siginfo_t info = {.si_pid = 0};
    if (waitid(P_PIDFD, (id_t)process->exited.fd, &info, WEXITED | WNOHANG) == 0 &&
        info.si_pid == 0) {
        return false;
    }
    describe_end(process, ret_status, size);
    forget_child(process);
    return true;
}

/* Wait for the end of a killed child; false when it does not come. */
static bool reap_until(hub_process *process, uint64_t deadline_ms)
{
    char status[STATUS_BYTES];
    while (!reap(process, status, sizeof status)) {
        uint64_t now_ms = hub_clock_now_ms();
        struct pollfd ended = {.fd = process->exited.fd, .events = POLLIN};
        if (now_ms >= deadline_ms ||
            (poll(&ended, 1, (int)(deadline_ms - now_ms)) < 0 && errno != EINTR)) {
            return false;
        }
    }
    return true;
}

static void on_exited(struct ev_loop *loop, ev_io *watcher, int events)
{
    if (hub_loop_mend(loop, watcher, events)) {
        return;
    }
    hub_process *process = process_of(watcher->data);
    char status[STATUS_BYTES];
    if (!reap(process, status, sizeof status)) {
        return;
    }
    if (process->released) {
        destroy_process(process);
    } else if (process->on_exit != NULL) {
        process->on_exit(process->ctx, hub_str_of(status)); /* may free the process */
    }
}

static void plan_step(hub_process *process, next_step step, double delay)
{
    struct ev_loop *loop = process->table->loop;
    ev_now_update(loop); /* a timer counts from the loop's idea of now, which may be old */
    ev_timer_stop(loop, &process->stop_due);
    ev_timer_set(&process->stop_due, delay, 0.0);
    ev_timer_start(loop, &process->stop_due);
    process->step = step;
}

static void on_stop_due(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_process *process = process_of(timer->data);
    if (process->step == STEP_TERM) {
        hub_guard_order(process->channel, HUB_GUARD_TERM);
        plan_step(process, STEP_KILL, process->grace);
    } else {
        hub_guard_order(process->channel, HUB_GUARD_KILL); /* nothing follows but its end */
    }
}

static hub_err check_options(const patchbay_spawn_options *options, const int *ret_stderr_fd,
                             hub_error *reterr)
{
    if (options->struct_size < OPTIONS_SIZE_1_0) {
        return hub_fail(reterr, HUB_EINVAL, "spawn options: struct_size is %u, wanted at least %zu",
                        options->struct_size, OPTIONS_SIZE_1_0);
    }
    if (options->argv == NULL || options->argv[0] == NULL || options->argv[0][0] == '\0') {
        return hub_fail(reterr, HUB_EINVAL, "spawn options: there is no command");
    }
    if ((options->flags & PATCHBAY_SPAWN_STDERR_PIPE) != 0 && ret_stderr_fd == NULL) {
        return hub_fail(reterr, HUB_EINVAL, "spawn options: nowhere to put the stderr descriptor");
    }
    return HUB_OK;
}

/* A bare name is looked for in PATH alone. Where the working folder has such a file, say so. */
static hub_err explain_missing(const patchbay_spawn_options *options, hub_err err,
                               hub_error *reterr)
{
    char *path = NULL;
    const char *name = options->argv[0];
    if (err != HUB_ENOTFOUND || options->cwd == NULL ||
        asprintf(&path, "%s/%s", options->cwd, name) < 0) {
        return err;
    }
    if (access(path, F_OK) == 0) {
        err = hub_fail(reterr, err, "not found in PATH; to run %s write \"./%s\"", path, name);
    }
    free(path);
    return err;
}

/* Start what the options ask for; nothing is left behind on failure. */
static hub_err start_program(const patchbay_spawn_options *options, int guard,
                             hub_process_started *ret_started, hub_error *reterr)
{
    const char **env = NULL;
    char *program = NULL;
    bool inherit_all = (options->flags & PATCHBAY_SPAWN_INHERIT_ENV) != 0;
    hub_err err = hub_process_env_build((const char *const *)environ, inherit_all, options->env,
                                        &env, reterr);
    if (err != HUB_OK) {
        goto out;
    }
    err = hub_process_env_find_program(env, options->argv[0], &program, reterr);
    if (err == HUB_OK) {
        err = hub_chain_admit(program, options->argv, options->cwd, reterr);
    }
    if (err != HUB_OK) {
        err = explain_missing(options, err, reterr);
        goto out;
    }
    hub_process_plan plan = {.program = program,
                             .argv = options->argv,
                             .env = env,
                             .cwd = options->cwd,
                             .stdin_null = (options->flags & PATCHBAY_SPAWN_STDIN_NULL) != 0,
                             .guard = guard};
    err = hub_process_start(&plan, ret_started, reterr);
out:
    free(program);
    free(env);
    if (err != HUB_OK) {
        hub_error_prefix(reterr, "cannot start \"%s\"", options->argv[0]);
    }
    return err;
}

static hub_process *create_process(hub_str toolset, const patchbay_spawn_options *options)
{
    hub_process *process = calloc(1, sizeof *process);
    char *name = hub_str_dup(toolset);
    if (process == NULL || name == NULL) {
        free(process);
        free(name);
        return NULL;
    }
    process->magic = PROCESS_MAGIC;
    process->toolset = name;
    process->on_exit = options->on_exit;
    process->ctx = options->ctx;
    return process;
}

/* Hand a started child to the loop. */
static void watch_process(hub_process_table *table, hub_process *process,
                          const hub_process_started *started, bool read_stderr)
{
    process->pid = started->pid;
    process->channel = started->channel;
    hub_process_stderr_init(&process->errors, table->loop, process->toolset,
                            read_stderr ? started->stderr_fd : -1);
    ev_timer_init(&process->stop_due, on_stop_due, 0.0, 0.0);
    process->stop_due.data = process;
    ev_io_init(&process->exited, on_exited, started->pidfd, EV_READ);
    process->exited.data = process;
    ev_io_start(table->loop, &process->exited);
    link_process(table, process);
    table->running++;
}

hub_err hub_process_table_create(struct ev_loop *loop, hub_process_table **ret_table,
                                 hub_error *reterr)
{
    hub_process_table *table = calloc(1, sizeof *table);
    if (table == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "%s", hub_err_text(HUB_ENOMEM));
    }
    hub_err err = hub_guard_open(&table->guard, reterr);
    if (err != HUB_OK) {
        free(table);
        return err;
    }
    table->loop = loop;
    *ret_table = table;
    return HUB_OK;
}

void hub_process_table_destroy(hub_process_table *table)
{
    if (table == NULL) {
        return;
    }
    for (hub_process *process = table->first; process != NULL; process = process->next) {
        if (is_running(process)) {
            /* All first, then wait: they end side by side. */
            hub_guard_order(process->channel, HUB_GUARD_KILL);
        }
    }
    uint64_t deadline_ms = hub_clock_now_ms() + KILLED_WAIT_MS;
    while (table->first != NULL) {
        hub_process *process = table->first;
        if (is_running(process) && !reap_until(process, deadline_ms)) {
            hub_log(HUB_LOG_ERROR, "process.stuck", HUB_F_TEXT("toolset", process->toolset),
                    HUB_F_INT("pid", process->pid));
            forget_child(process);
        }
        if (process->released) {
            destroy_process(process);
        } else {
            unlink_process(process); /* its owner frees it */
        }
    }
    (void)close(table->guard);
    free(table);
}

void hub_process_table_leave(hub_process_table *table)
{
    size_t count = table->running;
    for (hub_process *process = table->first; process != NULL; process = process->next) {
        if (is_running(process)) {
            forget_child(process);
        }
    }
    if (count > 0) {
        hub_log(HUB_LOG_INFO, "process.left_to_guards", HUB_F_INT("processes", count));
    }
}

unsigned hub_process_patience(unsigned timeout_ms)
{
    bool takes_others_along = getpid() == 1 || hub_chain_is_below();
    return takes_others_along || timeout_ms < HUB_LIMIT_LEAVE_MS ? timeout_ms : HUB_LIMIT_LEAVE_MS;
}

size_t hub_process_count(const hub_process_table *table)
{
    return table->running;
}

hub_err hub_process_spawn(hub_process_table *table, hub_str toolset,
                          const patchbay_spawn_options *options, hub_process **ret_process,
                          int *ret_stdin_fd, int *ret_stdout_fd, int *ret_stderr_fd,
                          hub_error *reterr)
{
    hub_err err = check_options(options, ret_stderr_fd, reterr);
    if (err != HUB_OK) {
        return err;
    }
    hub_process *process = create_process(toolset, options);
    if (process == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "%s", hub_err_text(HUB_ENOMEM));
    }
    hub_process_started started;
    err = start_program(options, table->guard, &started, reterr);
    if (err != HUB_OK) {
        destroy_process(process);
        return err;
    }
    bool give_stderr = (options->flags & PATCHBAY_SPAWN_STDERR_PIPE) != 0;
    watch_process(table, process, &started, !give_stderr);
    *ret_process = process;
    *ret_stdin_fd = started.stdin_fd;
    *ret_stdout_fd = started.stdout_fd;
    if (ret_stderr_fd != NULL) {
        *ret_stderr_fd = give_stderr ? started.stderr_fd : -1;
    }
    return HUB_OK;
}

void hub_process_note_server(hub_process *process)
{
    process->is_server = true;
}

size_t hub_process_servers(const hub_process_table *table)
{
    size_t count = 0;
    for (const hub_process *at = table->first; at != NULL; at = at->next) {
        count += at->is_server && is_running(at) && !at->released && at->step == STEP_NONE;
    }
    return count;
}

int hub_process_pid(const hub_process *process)
{
    return process->pid;
}

hub_str hub_process_stderr_tail(const hub_process *process)
{
    return hub_process_stderr_get_tail(&process->errors);
}

hub_str hub_process_tail_of(const hub_process_table *table, hub_str toolset)
{
    const hub_process *found = NULL;
    for (const hub_process *at = table->first; at != NULL; at = at->next) {
        bool is_newer = found == NULL || at->channel >= 0 || found->channel < 0;
        found = hub_str_is(toolset, at->toolset) && is_newer ? at : found;
    }
    return found != NULL ? hub_process_stderr_tail(found) : HUB_STR_EMPTY;
}

void hub_process_stop(hub_process *process, uint64_t grace_ms)
{
    if (!is_running(process)) {
        return;
    }
    double grace = (double)grace_ms / 1000.0;
    bool sooner = !ev_is_active(&process->stop_due) ||
                  grace < ev_timer_remaining(process->table->loop, &process->stop_due);
    bool killed = process->step == STEP_KILL && !ev_is_active(&process->stop_due);
    if (killed || !sooner) {
        return;
    }
    process->grace = grace;
    plan_step(process, process->step == STEP_NONE ? STEP_TERM : process->step, grace);
}

void hub_process_free(hub_process *process)
{
    if (process == NULL) {
        return;
    }
    hub_assert(process->magic == PROCESS_MAGIC);
    process->on_exit = NULL;
    if (!is_running(process)) {
        destroy_process(process);
        return;
    }
    process->released = true;
    hub_process_stop(process, HUB_LIMIT_STOP_GRACE_MS);
}
