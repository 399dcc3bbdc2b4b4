/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/process_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    FIRST_FREE_FD = 3,    /* 0, 1 and 2 are the child's own */
    CHILD_FAILED = 127,   /* the status a shell would use; never seen, the pipe says more */
    FDS_CLOSED = 1 << 20, /* without close_range: do not count to an unlimited RLIMIT_NOFILE */
};

/* Both ends of the pipes between hub and child. -1: not open. */
typedef struct pipes {
    int child[3];  /* what becomes 0, 1, 2 in the child */
    int parent[3]; /* the other ends */
    int error[2];  /* the child writes a `failure` here, or exec closes it */
} pipes;

/* Where a child failed. The order is that of the steps. */
typedef enum stage { STAGE_SETUP, STAGE_CWD, STAGE_EXEC } stage;

typedef struct failure {
    stage stage;
    int error;
} failure;

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

/* Move fd out of 0 … 2, so that the child's dup2 calls can never overwrite one another's source. A
 * hub that was started with a closed stdin gets such numbers. */
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
           make_pipe(&to->parent[2], &to->child[2]) && make_pipe(&to->error[0], &to->error[1]) &&
           (to->parent[0] < 0 || set_nonblocking(to->parent[0])) &&
           set_nonblocking(to->parent[1]) && set_nonblocking(to->parent[2]);
}

/* From here to run_child: in the child. Memory is a copy of a process that may have had other
 * threads, holding locks: only async-signal-safe calls, no malloc, no stdio. */

static _Noreturn void report(const pipes *ends, stage where, int error)
{
    failure failed = {.stage = where, .error = error};
    (void)!write(ends->error[1], &failed, sizeof failed); /* no one else to tell */
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

/* Have everything but 0, 1, 2 closed, by exec itself where the kernel can: the error pipe is needed
 * until then. */
static void close_others(const pipes *ends, int fd_limit)
{
    if (close_range(FIRST_FREE_FD, ~0U, CLOSE_RANGE_CLOEXEC) == 0) {
        return;
    }
    for (int fd = FIRST_FREE_FD; fd < fd_limit; fd++) {
        if (fd != ends->error[1]) {
            (void)close(fd); /* most are not open */
        }
    }
}

static _Noreturn void run_child(const hub_process_plan *plan, const pipes *ends, pid_t parent,
                                int fd_limit)
{
    union {
        const char *const *in;
        char *const *out;
    } argv = {.in = plan->argv}, env = {.in = plan->env}; /* execve takes them without const */

    if (setpgid(0, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) {
        report(ends, STAGE_SETUP, errno);
    }
    if (getppid() != parent) {
        _exit(CHILD_FAILED); /* the hub died before the line above: no signal will come */
    }
    for (int fd = 0; fd < FIRST_FREE_FD; fd++) {
        if (dup2(ends->child[fd], fd) != fd) {
            report(ends, STAGE_SETUP, errno);
        }
    }
    close_others(ends, fd_limit);
    if (plan->cwd != NULL && chdir(plan->cwd) != 0) {
        report(ends, STAGE_CWD, errno);
    }
    reset_signals();
    (void)execve(plan->program, argv.out, env.out);
    report(ends, STAGE_EXEC, errno);
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
static pid_t fork_child(const hub_process_plan *plan, const pipes *ends)
{
    pid_t self = getpid();
    int fd_limit = find_fd_limit();
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* cannot fail with these arguments */
    pid_t pid = fork();
    if (pid == 0) {
        run_child(plan, ends, self, fd_limit);
    }
    int error = errno;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return pid;
}

/* Whether the child has exec'ed; if not, why. A child that died before it could say (out of memory,
 * killed) looks like one that exec'ed and ended at once, which on_exit tells. */
static bool await_exec(int error_fd, failure *ret_failure)
{
    size_t got = 0;
    while (got < sizeof *ret_failure) {
        ssize_t n = read(error_fd, (char *)ret_failure + got, sizeof *ret_failure - got);
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return true;
        }
        got += n > 0 ? (size_t)n : 0;
    }
    return false;
}

static void discard_child(pid_t pid)
{
    (void)kill(-pid, SIGKILL); /* the group, if it came to that */
    (void)kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        /* killed: it ends at once */
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

static hub_err explain(const hub_process_plan *plan, const failure *failed, hub_error *reterr)
{
    const char *why = strerrordesc_np(failed->error);
    why = why == NULL ? "unknown error" : why;
    if (failed->stage == STAGE_CWD) {
        return hub_fail(reterr, HUB_ESYSTEM, "cwd \"%s\": %s", plan->cwd, why);
    }
    if (failed->stage == STAGE_SETUP) {
        return hub_fail(reterr, HUB_ESYSTEM, "cannot prepare the process: %s", why);
    }
    switch (failed->error) {
    case ENOENT:
        return program_exists(plan)
                   ? hub_fail(reterr, HUB_ESYSTEM,
                              "%s exists, but its interpreter (\"#!\" line or loader) does not",
                              plan->program)
                   : hub_fail(reterr, HUB_ENOTFOUND, "%s: no such file", plan->program);
    case ENOEXEC:
        return hub_fail(reterr, HUB_ESYSTEM,
                        "%s is neither a program of this machine nor a script with a \"#!\" line",
                        plan->program);
    case EACCES:
        return hub_fail(reterr, HUB_ESYSTEM, "%s is not executable", plan->program);
    default:
        return hub_fail(reterr, HUB_ESYSTEM, "%s: %s", plan->program, why);
    }
}

hub_err hub_process_start(const hub_process_plan *plan, hub_process_started *ret_started,
                          hub_error *reterr)
{
    pipes ends = {.child = {-1, -1, -1}, .parent = {-1, -1, -1}, .error = {-1, -1}};
    hub_err err = HUB_ESYSTEM;
    if (!open_pipes(plan, &ends)) {
        (void)hub_fail(reterr, err, "cannot make pipes: %s", strerrordesc_np(errno));
        goto out;
    }
    pid_t pid = fork_child(plan, &ends);
    if (pid < 0) {
        (void)hub_fail(reterr, err, "cannot fork: %s", strerrordesc_np(errno));
        goto out;
    }
    close_fd(&ends.error[1]); /* else there is no end of file when the child execs */
    failure failed;
    if (!await_exec(ends.error[0], &failed)) {
        discard_child(pid);
        err = explain(plan, &failed, reterr);
        goto out;
    }
    /* Not reaped yet, so the number cannot mean another process. */
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0) {
        (void)hub_fail(reterr, err, "cannot watch the process: %s", strerrordesc_np(errno));
        discard_child(pid);
        goto out;
    }
    *ret_started = (hub_process_started){.pid = pid,
                                         .pidfd = pidfd,
                                         .stdin_fd = ends.parent[0],
                                         .stdout_fd = ends.parent[1],
                                         .stderr_fd = ends.parent[2]};
    ends.parent[0] = ends.parent[1] = ends.parent[2] = -1; /* the caller's now */
    err = HUB_OK;
out:
    close_all(ends.child, 3);
    close_all(ends.parent, 3);
    close_all(ends.error, 2);
    return err;
}

void hub_process_started_close(hub_process_started *started)
{
    close_fd(&started->pidfd);
    close_fd(&started->stdin_fd);
    close_fd(&started->stdout_fd);
    close_fd(&started->stderr_fd);
}
