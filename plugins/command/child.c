/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4u
#endif

#define FIRST_FREE_FD 3

/* What the child reports when it cannot become the command. */
typedef enum start_stage { STAGE_SETUP, STAGE_FOLDER, STAGE_PROGRAM } start_stage;

typedef struct start_failure {
    int stage;
    int code;
} start_failure;

/* What the child needs, all made before the fork. */
typedef struct start_plan {
    const command_tool *tool;
    char *const *argv;
    pid_t parent;
    int input_fd;
    int out_fd;
    int err_fd;
    int report_fd;
} start_plan;

/* ---- in the child: nothing but async-signal-safe calls --------------------------------------- */

static _Noreturn void report(const start_plan *plan, start_stage stage, int code)
{
    start_failure failure = {.stage = (int)stage, .code = code};
    ssize_t n = write(plan->report_fd, &failure, sizeof failure);
    _exit(n == (ssize_t)sizeof failure ? 127 : 126);
}

/* A hub may ignore or catch what a command expects to die of. */
static void default_signals(void)
{
    struct sigaction action;
    sigset_t none;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    for (int i = 1; i < NSIG; i++) {
        (void)sigaction(i, &action, NULL); /* SIGKILL, SIGSTOP and libc's own refuse */
    }
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Whatever else is open in the hub closes when the command starts. */
static void close_others(void)
{
    struct rlimit limit;
    if (syscall(SYS_close_range, (unsigned)FIRST_FREE_FD, ~0u, CLOSE_RANGE_CLOEXEC) == 0) {
        return;
    }
    int max = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (int)limit.rlim_cur
                                                                              : 65536;
    for (int fd = FIRST_FREE_FD; fd < max; fd++) {
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
}

/* The search of execvp, without its fall back to a shell for what is no program. */
static int exec_first(const start_plan *plan)
{
    int code = ENOENT;
    for (const char **at = plan->tool->candidates; *at != NULL; at++) {
        (void)execve(*at, plan->argv, plan->tool->env);
        if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) {
            return errno;
        }
        code = errno == EACCES ? EACCES : code;
    }
    return code;
}

static _Noreturn void become_command(const start_plan *plan)
{
    (void)setpgid(0, 0);
    /* Should the hub be killed, so is the command. It may have been already. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != plan->parent) {
        _exit(126);
    }
    default_signals();
    int input = plan->input_fd >= 0 ? plan->input_fd : open("/dev/null", O_RDONLY);
    if (input < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(plan->out_fd, STDOUT_FILENO) < 0 ||
        dup2(plan->err_fd, STDERR_FILENO) < 0) {
        report(plan, STAGE_SETUP, errno);
    }
    close_others();
    if (plan->tool->cwd != NULL && chdir(plan->tool->cwd) != 0) {
        report(plan, STAGE_FOLDER, errno);
    }
    report(plan, STAGE_PROGRAM, exec_first(plan));
}

/* ---- in the hub ------------------------------------------------------------------------------ */

/* A pipe, close-on-exec, whose ends are not 0, 1 or 2, even if the hub runs without those. */
static int make_pipe(int fds[2])
{
    if (pipe2(fds, O_CLOEXEC) != 0) {
        return -1;
    }
    for (int i = 0; i < 2; i++) {
        if (fds[i] < FIRST_FREE_FD) {
            int moved = fcntl(fds[i], F_DUPFD_CLOEXEC, FIRST_FREE_FD);
            (void)close(fds[i]);
            fds[i] = moved;
        }
    }
    if (fds[0] >= 0 && fds[1] >= 0) {
        return 0;
    }
    int code = errno;
    for (int i = 0; i < 2; i++) {
        if (fds[i] >= 0) {
            (void)close(fds[i]);
        }
    }
    errno = code;
    return -1;
}

static void close_pipe(int fds[2])
{
    for (int i = 0; i < 2; i++) {
        if (fds[i] >= 0) {
            (void)close(fds[i]);
            fds[i] = -1;
        }
    }
}

/* Fork with all signals blocked, so that no handler of the hub runs in the child. */
static pid_t fork_child(const start_plan *plan)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0) {
        become_command(plan);
    }
    int code = errno;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return pid;
}

/* Wait until the child has become the command, or said why not. returns: 0 or an errno */
static int await_exec(int report_fd, const command_tool *tool, const char **about)
{
    start_failure failure;
    ssize_t n;
    do {
        n = read(report_fd, &failure, sizeof failure);
    } while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof failure) {
        return 0; /* closed by exec */
    }
    *about = failure.stage == STAGE_FOLDER    ? tool->cwd
             : failure.stage == STAGE_PROGRAM ? tool->words[0].pieces[0].text
                                              : "its pipes";
    return failure.code;
}

static int start_with(start_plan *plan, int out[2], int err[2], int failed[2],
                      command_child *ret_child, const char **about)
{
    pid_t pid = fork_child(plan);
    if (pid < 0) {
        *about = "a process";
        return errno;
    }
    (void)setpgid(pid, pid); /* the child does it too: whoever is first */
    (void)close(out[1]);
    (void)close(err[1]);
    (void)close(failed[1]);
    out[1] = err[1] = failed[1] = -1;
    ret_child->pid = pid;
    ret_child->lost = 0;
    ret_child->out_fd = out[0];
    ret_child->err_fd = err[0];
    ret_child->pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
    out[0] = err[0] = -1;
    int code = await_exec(failed[0], plan->tool, about);
    if (code != 0) {
        (void)command_reap(ret_child);
    }
    return code;
}

int command_start(const command_tool *tool, char *const *argv, int input_fd,
                  command_child *ret_child, const char **about)
{
    int out[2] = {-1, -1};
    int err[2] = {-1, -1};
    int failed[2] = {-1, -1};
    int code = 0;
    *about = "a pipe";
    if (make_pipe(out) != 0 || make_pipe(err) != 0 || make_pipe(failed) != 0 ||
        fcntl(out[0], F_SETFL, O_NONBLOCK) != 0 || fcntl(err[0], F_SETFL, O_NONBLOCK) != 0) {
        code = errno;
    } else {
        start_plan plan = {.tool = tool,
                           .argv = argv,
                           .parent = getpid(),
                           .input_fd = input_fd,
                           .out_fd = out[1],
                           .err_fd = err[1],
                           .report_fd = failed[1]};
        code = start_with(&plan, out, err, failed, ret_child, about);
    }
    close_pipe(out);
    close_pipe(err);
    close_pipe(failed);
    return code;
}

void command_signal(const command_child *child, int signal_number)
{
    if (!child->lost) {
        (void)kill(-child->pid, signal_number);
    }
}

int command_has_ended(command_child *child)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    int result = waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    child->lost = result != 0 && errno == ECHILD;
    return child->lost || info.si_pid != 0;
}

command_end command_reap(command_child *child)
{
    command_end end = {0};
    siginfo_t info;
    int result;
    memset(&info, 0, sizeof info);
    do { /* this pid alone: the hub, and others in it, have children of their own */
        result = waitid(P_PID, (id_t)child->pid, &info, WEXITED);
    } while (result != 0 && errno == EINTR);
    if (result == 0) {
        end.known = 1;
        end.exit_code = info.si_code == CLD_EXITED ? info.si_status : 0;
        end.signal_number = info.si_code == CLD_EXITED ? 0 : info.si_status;
    }
    int *fds[] = {&child->pid_fd, &child->out_fd, &child->err_fd};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (*fds[i] >= 0) {
            (void)close(*fds[i]);
            *fds[i] = -1;
        }
    }
    return end;
}
