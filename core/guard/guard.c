/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patchbay-guard: stands between the hub and one command, so that nothing the command ever started
 * outlives it or the hub: not what made a session of its own (setsid), not what was forked twice,
 * not what ignores signals. It is the reaper of all that descends from it, and has no other memory
 * than a page or two.
 *
 * It ends when its last descendant has: after the command itself, what that left behind is killed.
 * It obeys the hub (protocol.h) and notices its death. Signals that it gets itself go to the
 * command's process group.
 */
#include "guard/protocol.h"
#include "guard/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    FAILED = 127,   /* the status a shell would use */
    AGAIN_MS = 100, /* between two looks at what does not die */
    FIRST_ROUNDS = 100,
    MORE_ROUNDS = 4,
    FIRST_ARG = 3,   /* argv of the command */
    STDIO_COUNT = 3, /* 0, 1, 2 */
};

/* Passed on. The others keep their meaning: SIGKILL and SIGSTOP cannot be had. */
static const int FORWARDED[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

typedef struct failure {
    int stage;
    int error;
} failure;

static struct {
    pid_t hub;
    pid_t command; /* and process group; 0: it has ended */
    int signals;   /* signalfd */
    enum { RUNNING, ENDING, KILLING } stage;
    bool is_told;    /* SIGTERM was sent */
    bool is_orphan;  /* the hub is gone */
    bool is_killing; /* SIGKILL was sent */
    int64_t kill_ms; /* of ENDING: when that is due */
} guard = {.signals = -1};

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail */
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void report(int what, int value, int detail)
{
    const hub_guard_report message = {.what = what, .value = value, .detail = detail};
    /* Without a hub nobody wants to know. */
    (void)send(HUB_GUARD_FD, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ---- starting ------------------------------------------------------------------------------ */

static _Noreturn void fail_command(int pipe_fd, int stage)
{
    const failure failed = {.stage = stage, .error = errno};
    (void)!write(pipe_fd, &failed, sizeof failed); /* no one else to tell */
    _exit(FAILED);
}

static _Noreturn void run_command(char **argv, pid_t parent, int pipe_fd)
{
    sigset_t none;
    (void)sigemptyset(&none);
    /* Should the guard be killed: what it was to look after is not left alone. */
    if (setpgid(0, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ||
        sigprocmask(SIG_SETMASK, &none, NULL) != 0) {
        fail_command(pipe_fd, HUB_GUARD_STAGE_SETUP);
    }
    if (getppid() != parent) {
        _exit(FAILED); /* it died before the line above */
    }
    if (argv[1][0] != '\0' && chdir(argv[1]) != 0) {
        fail_command(pipe_fd, HUB_GUARD_STAGE_CWD);
    }
    (void)execv(argv[2], argv + FIRST_ARG);
    fail_command(pipe_fd, HUB_GUARD_STAGE_EXEC);
}

/* Start the command; what failed is reported. The pipe is closed by exec, or says why not. */
static bool start_command(char **argv)
{
    int fds[2];
    failure failed = {.stage = HUB_GUARD_STAGE_SETUP};
    pid_t self = getpid();
    if (pipe2(fds, O_CLOEXEC) != 0) {
        report(HUB_GUARD_FAILED, errno, HUB_GUARD_STAGE_SETUP);
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        run_command(argv, self, fds[1]);
    }
    int error = errno;
    (void)close(fds[1]);
    ssize_t n = pid < 0 ? 0 : read(fds[0], &failed, sizeof failed); /* signals are blocked */
    (void)close(fds[0]);
    if (pid < 0 || n == (ssize_t)sizeof failed) {
        report(HUB_GUARD_FAILED, pid < 0 ? error : failed.error, failed.stage);
        return false;
    }
    guard.command = pid;
    report(HUB_GUARD_STARTED, pid, 0);
    return true;
}

static bool set_up(void)
{
    sigset_t watched;
    (void)sigemptyset(&watched);
    (void)sigaddset(&watched, SIGCHLD);
    for (size_t i = 0; i < sizeof FORWARDED / sizeof FORWARDED[0]; i++) {
        (void)sigaddset(&watched, FORWARDED[i]);
    }
    (void)prctl(PR_SET_NAME, "patchbay-guard"); /* it may have been exec'ed by descriptor */
    guard.hub = getppid();
    guard.signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    return guard.signals >= 0 && sigprocmask(SIG_SETMASK, &watched, NULL) == 0 &&
           prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

/* The pipes are the command's alone: the hub must see their ends. But somebody reads what the
 * command writes until it ends, or might: what it says when the hub has told it to, or has gone
 * ahead, is no broken pipe. Where there is no /proc, it is. */
static void let_go_of_stdio(void)
{
    (void)open("/proc/self/fd/1", O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* closed by this one's end */
    (void)open("/proc/self/fd/2", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < STDIO_COUNT; fd++) {
        if (null < 0 || dup2(null, fd) != fd) {
            (void)close(fd);
        }
    }
    if (null >= STDIO_COUNT) {
        (void)close(null);
    }
}

/* ---- ending -------------------------------------------------------------------------------- */

static void tell_to_end(void)
{
    if (!guard.is_told && guard.stage != KILLING && guard_tree_signal(SIGTERM) == 0 &&
        guard.command > 0) {
        (void)kill(-guard.command, SIGTERM); /* there is no /proc */
    }
    guard.is_told = true;
}

static void kill_all(void)
{
    if (guard.command > 0) {
        (void)kill(-guard.command, SIGKILL);
    }
    guard_tree_kill(guard.is_killing ? MORE_ROUNDS : FIRST_ROUNDS);
    guard.stage = KILLING;
    guard.is_killing = true;
}

static void on_hub_gone(void)
{
    if (guard.is_orphan) {
        return;
    }
    guard.is_orphan = true;
    if (guard.stage == RUNNING) {
        tell_to_end();
        guard.stage = ENDING;
        guard.kill_ms = now_ms() + HUB_GUARD_GRACE_MS;
    }
}

static void take_order(void)
{
    char order = 0;
    ssize_t n = recv(HUB_GUARD_FD, &order, sizeof order, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        on_hub_gone();
    } else if (n > 0 && order == HUB_GUARD_TERM) {
        tell_to_end();
    } else if (n > 0 && order == HUB_GUARD_KILL) {
        kill_all();
    }
}

/* Reap all that has ended. Returns whether there is any descendant left. */
static bool reap(void)
{
    for (;;) {
        siginfo_t ended = {.si_pid = 0};
        if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG) != 0) {
            return errno != ECHILD;
        }
        if (ended.si_pid == 0) {
            return true;
        }
        if (ended.si_pid == guard.command) {
            guard.command = 0;
            guard.stage = KILLING;
            report(HUB_GUARD_ENDED, ended.si_status, ended.si_code);
        }
    }
}

static void take_signals(void)
{
    struct signalfd_siginfo got;
    while (read(guard.signals, &got, sizeof got) == (ssize_t)sizeof got) {
        if (got.ssi_signo == SIGTERM && getppid() != guard.hub) {
            on_hub_gone(); /* the parent-death signal */
        } else if (got.ssi_signo != SIGCHLD && guard.command > 0) {
            (void)kill(-guard.command, (int)got.ssi_signo);
        }
    }
}

static int timeout_of(void)
{
    if (guard.stage == KILLING) {
        return AGAIN_MS;
    }
    int64_t left = guard.kill_ms - now_ms();
    return guard.stage == RUNNING ? -1 : left > 0 ? (int)left : 0;
}

static void watch(void)
{
    while (reap()) {
        if (guard.stage == KILLING || (guard.stage == ENDING && now_ms() >= guard.kill_ms)) {
            kill_all();
        }
        struct pollfd ready[] = {{.fd = guard.signals, .events = POLLIN},
                                 {.fd = guard.is_orphan ? -1 : HUB_GUARD_FD, .events = POLLIN}};
        if (poll(ready, 2, timeout_of()) > 0) {
            take_signals();
            if (ready[1].revents != 0) {
                take_order();
            }
        }
    }
}

int main(int argc, char **argv)
{
    if (argc <= FIRST_ARG || fcntl(HUB_GUARD_FD, F_SETFD, FD_CLOEXEC) != 0) {
        (void)fputs("patchbay-guard is started by patchbay, for the servers that it runs.\n",
                    stderr);
        return 2;
    }
    if (!set_up()) {
        report(HUB_GUARD_FAILED, errno, HUB_GUARD_STAGE_SETUP);
        return FAILED;
    }
    if (!start_command(argv)) {
        return FAILED; /* the process that did not become the command has ended, and is init's */
    }
    let_go_of_stdio();
    watch();
    return 0;
}
