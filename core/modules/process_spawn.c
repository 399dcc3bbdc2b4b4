/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/process_spawn.h"

#include "modules/process_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    FIRST_FREE_FD = HUB_GUARD_FD + 1, /* 0, 1 and 2 are the command's, then the guard's own */
    GUARD_ARGS = 3,                   /* its name, the folder, the program */
    CHILD_FAILED = 127,               /* the status a shell would use; the report says more */
    FDS_CLOSED = 1 << 20, /* without close_range: do not count to an unlimited RLIMIT_NOFILE */
};

/* What hub and child have in common. -1: not open. */
typedef struct pipes {
    int child[HUB_GUARD_FD + 1]; /* what becomes 0, 1, 2 and HUB_GUARD_FD in the child */
    int parent[3];               /* the other ends of the pipes */
    int channel;                 /* … and of the guard's */
} pipes;

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd); /* Linux closes it whatever it returns */
    }
    *fd = -1;
}

static void close_all(int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        close_fd(&fds[i]);
    }
}

/* Move fd out of the numbers that are the child's, so that its dup2 calls can never overwrite one
 * another's source. A hub that was started with a closed stdin gets such numbers. */
static int move_up(int fd)
{
    if (fd < 0 || fd >= FIRST_FREE_FD) {
        return fd;
    }
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
    (void)close(fd);
    return moved;
}

static bool make_pipe(int *ret_read, int *ret_write)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) {
        return false;
    }
    *ret_read = move_up(fds[0]);
    *ret_write = move_up(fds[1]);
    return *ret_read >= 0 && *ret_write >= 0;
}

static bool make_channel(int *ret_child, int *ret_parent)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
        return false;
    }
    *ret_child = move_up(fds[0]);
    *ret_parent = move_up(fds[1]);
    return *ret_child >= 0 && *ret_parent >= 0;
}

static bool set_nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

static bool open_pipes(const hub_process_plan *plan, pipes *to)
{
    if (plan->stdin_null) {
        to->child[0] = move_up(open("/dev/null", O_RDONLY | O_CLOEXEC));
    } else if (!make_pipe(&to->child[0], &to->parent[0])) {
        return false;
    }
    return to->child[0] >= 0 && make_pipe(&to->parent[1], &to->child[1]) &&
           make_pipe(&to->parent[2], &to->child[2]) &&
           make_channel(&to->child[HUB_GUARD_FD], &to->channel) &&
           (to->parent[0] < 0 || set_nonblocking(to->parent[0])) &&
           set_nonblocking(to->parent[1]) && set_nonblocking(to->parent[2]);
}

/* From here to run_child: in the child. Memory is a copy of a process that may have had other
 * threads, holding locks: only async-signal-safe calls, no malloc, no stdio. */

static _Noreturn void report_failure(const pipes *ends, int error)
{
    const hub_guard_report failed = {
        .what = HUB_GUARD_FAILED, .value = error, .detail = HUB_GUARD_STAGE_SETUP};
    (void)send(ends->child[HUB_GUARD_FD], &failed, sizeof failed, MSG_NOSIGNAL);
    _exit(CHILD_FAILED);
}

/* Ignored signals stay ignored across exec, and so does the mask: a child must not inherit the
 * hub's ignored SIGPIPE. */
static void reset_signals(void)
{
    struct sigaction defaults = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++) {
        (void)sigaction(number, &defaults,
                        NULL); /* fails for SIGKILL, SIGSTOP and libc's own two */
    }
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Have everything but the child's own closed, by exec itself where the kernel can. */
static void close_others(int guard, int fd_limit)
{
    if (close_range(FIRST_FREE_FD, ~0U, CLOSE_RANGE_CLOEXEC) == 0) {
        return;
    }
    for (int fd = FIRST_FREE_FD; fd < fd_limit; fd++) {
        if (fd != guard) {
            (void)close(fd); /* most are not open */
        }
    }
}

/* The process group is the guard's own: what the command does to its group does not reach it. */
static _Noreturn void run_child(const hub_process_plan *plan, const char *const *guard_argv,
                                const pipes *ends, pid_t parent, int fd_limit)
{
    if (setpgid(0, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) {
        report_failure(ends, errno);
    }
    if (getppid() != parent) {
        _exit(CHILD_FAILED); /* the hub died before the line above: no signal will come */
    }
    for (int fd = 0; fd < FIRST_FREE_FD; fd++) {
        if (dup2(ends->child[fd], fd) != fd) {
            report_failure(ends, errno);
        }
    }
    close_others(plan->guard, fd_limit);
    reset_signals();
    (void)syscall(SYS_execveat, plan->guard, "", guard_argv, plan->env, AT_EMPTY_PATH);
    report_failure(ends, errno);
}

/* Upper bound of descriptor numbers, for kernels without close_range. */
static int find_fd_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > FDS_CLOSED) {
        return FDS_CLOSED;
    }
    return (int)limit.rlim_cur;
}

/* fork with all signals blocked, so that none of the hub's handlers can run in the child, where it
 * would act on the hub's descriptors. run_child sets the final mask. */
static pid_t fork_child(const hub_process_plan *plan, const char *const *guard_argv,
                        const pipes *ends)
{
    pid_t self = getpid();
    int fd_limit = find_fd_limit();
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* cannot fail with these arguments */
    pid_t pid = fork();
    if (pid == 0) {
        run_child(plan, guard_argv, ends, self, fd_limit);
    }
    int error = errno;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return pid;
}

/* The end of a guard whose command is not wanted, or was not started. */
static void discard_child(pid_t guard, int channel)
{
    hub_guard_order(channel, HUB_GUARD_KILL);
    while (waitpid(guard, NULL, 0) < 0 && errno == EINTR) {
        /* it ends at once */
    }
}

/* Whether plan->program exists as the child saw it. */
static bool program_exists(const hub_process_plan *plan)
{
    int folder = AT_FDCWD;
    if (plan->cwd != NULL) {
        folder = open(plan->cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    bool exists = faccessat(folder, plan->program, F_OK, 0) == 0;
    if (folder >= 0) {
        (void)close(folder);
    }
    return exists;
}

/* The program as a path that says in which folder it was looked for. owns: the result, free it;
 * NULL: out of memory */
static char *whole_path(const hub_process_plan *plan)
{
    const char *program = plan->program;
    if (program[0] == '/') {
        return strdup(program);
    }
    while (program[0] == '.' && program[1] == '/') {
        program += 2;
    }
    char *path = NULL;
    char *here = plan->cwd == NULL ? getcwd(NULL, 0) : NULL;
    const char *folder = plan->cwd != NULL ? plan->cwd : here;
    if (folder == NULL || asprintf(&path, "%s/%s", folder, program) < 0) {
        path = NULL;
    }
    free(here);
    return path;
}

static hub_err explain_exec(const hub_process_plan *plan, int cause, const char *program,
                            const char *why, hub_error *reterr)
{
    switch (cause) {
    case ENOENT:
        return program_exists(plan)
                   ? hub_fail(reterr, HUB_EINVAL,
                              "%s exists, but its interpreter (\"#!\" line or loader) does not",
                              program)
                   : hub_fail(reterr, HUB_ENOTFOUND, "%s: no such file", program);
    case ENOEXEC:
        return hub_fail(reterr, HUB_EINVAL,
                        "%s is neither a program of this machine nor a script with a \"#!\" line",
                        program);
    case EACCES:
        return hub_fail(reterr, HUB_EINVAL, "%s is not executable", program);
    default:
        return hub_fail(reterr, HUB_ESYSTEM, "%s: %s", program, why);
    }
}

/* Whether it is about the path that was asked for, and not about the state of the system. */
static bool is_of_path(int error)
{
    return error == ENOENT || error == ENOTDIR || error == EACCES || error == ELOOP ||
           error == ENAMETOOLONG;
}

static hub_err explain(const hub_process_plan *plan, const hub_guard_report *failed,
                       hub_error *reterr)
{
    const char *why = strerrordesc_np(failed->value);
    why = why == NULL ? "unknown error" : why;
    if (failed->detail == HUB_GUARD_STAGE_CWD) {
        hub_err err = is_of_path(failed->value) ? HUB_EINVAL : HUB_ESYSTEM;
        return hub_fail(reterr, err, "cwd \"%s\": %s", plan->cwd, why);
    }
    if (failed->detail == HUB_GUARD_STAGE_SETUP) {
        return hub_fail(reterr, HUB_ESYSTEM, "cannot prepare the process: %s", why);
    }
    char *path = whole_path(plan);
    hub_err err =
        explain_exec(plan, failed->value, path != NULL ? path : plan->program, why, reterr);
    free(path);
    return err;
}

/* The guard's arguments (guard/protocol.h). owns: the result, free it; NULL when out of memory */
static const char **build_guard_argv(const hub_process_plan *plan)
{
    size_t count = 0;
    while (plan->argv[count] != NULL) {
        count++;
    }
    const char **argv = calloc(GUARD_ARGS + count + 1, sizeof *argv);
    if (argv != NULL) {
        argv[0] = "patchbay-guard";
        argv[1] = plan->cwd != NULL ? plan->cwd : "";
        argv[2] = plan->program;
        memcpy(argv + GUARD_ARGS, plan->argv, count * sizeof *argv);
    }
    return argv;
}

/* Wait until the guard says what became of the command, and take hold of the guard. */
static hub_err await_start(const hub_process_plan *plan, pid_t guard, int channel, pid_t *ret_pid,
                           int *ret_pidfd, hub_error *reterr)
{
    hub_guard_report first;
    if (!hub_guard_receive(channel, true, &first)) {
        return hub_fail(reterr, HUB_ESYSTEM, "its guard ended before it had started it");
    }
    if (first.what != HUB_GUARD_STARTED) {
        return explain(plan, &first, reterr);
    }
    /* Not reaped yet, so the number cannot mean another process. */
    *ret_pidfd = (int)syscall(SYS_pidfd_open, guard, 0);
    *ret_pid = first.value;
    return *ret_pidfd >= 0 ? HUB_OK
                           : hub_fail(reterr, HUB_ESYSTEM, "cannot watch the process: %s",
                                      strerrordesc_np(errno));
}

hub_err hub_process_start(const hub_process_plan *plan, hub_process_started *ret_started,
                          hub_error *reterr)
{
    pipes ends = {.child = {-1, -1, -1, -1}, .parent = {-1, -1, -1}, .channel = -1};
    pid_t pid = -1;
    int pidfd = -1;
    hub_err err = HUB_ESYSTEM;
    const char **guard_argv = build_guard_argv(plan);
    if (guard_argv == NULL || !open_pipes(plan, &ends)) {
        (void)hub_fail(reterr, err, "cannot make pipes: %s", strerrordesc_np(errno));
        goto out;
    }
    pid_t guard = fork_child(plan, guard_argv, &ends);
    if (guard < 0) {
        (void)hub_fail(reterr, err, "cannot fork: %s", strerrordesc_np(errno));
        goto out;
    }
    close_all(ends.child, sizeof ends.child / sizeof ends.child[0]); /* else its end is not seen */
    err = await_start(plan, guard, ends.channel, &pid, &pidfd, reterr);
    if (err != HUB_OK) {
        discard_child(guard, ends.channel);
        goto out;
    }
    *ret_started = (hub_process_started){.pid = pid,
                                         .pidfd = pidfd,
                                         .channel = ends.channel,
                                         .stdin_fd = ends.parent[0],
                                         .stdout_fd = ends.parent[1],
                                         .stderr_fd = ends.parent[2]};
    ends.parent[0] = ends.parent[1] = ends.parent[2] = ends.channel = -1; /* the caller's now */
out:
    free(guard_argv);
    close_all(ends.child, sizeof ends.child / sizeof ends.child[0]);
    close_all(ends.parent, sizeof ends.parent / sizeof ends.parent[0]);
    close_fd(&ends.channel);
    return err;
}
