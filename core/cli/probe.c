/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/probe.h"

#include "base/clock.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "modules/crash.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEP_BYTES = 4096 };

/* Of what the last line begins with, and each that this process says. */
enum { PREFIX_BYTES = sizeof "patchbay: " - 1 };

struct cli_probe {
    int line[2];           /* a pipe, for the last line of one that crashes */
    atomic_ullong step_ms; /* when the last step began */
    atomic_bool is_done;   /* work() has returned: the exit status is its own */
    char what[STEP_BYTES];
};

void cli_probe_step(cli_probe *probe, const char *what)
{
    (void)snprintf(probe->what, sizeof probe->what, "%s", what);
    atomic_store(&probe->step_ms, hub_clock_now_ms());
}

static _Noreturn void run_child(int (*work)(void *ctx, cli_probe *probe), void *ctx,
                                cli_probe *probe, pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* else it outlives whoever is interrupted */
    if (getppid() != parent) {
        _exit(EXIT_INTERNAL);
    }
    hub_crash_tell(probe->line[1]);
    int status = cli_finish_output(work(ctx, probe));
    atomic_store(&probe->is_done, true);
    exit(status); /* with all that the end of a process does, so that leaks are seen */
}

/* What is left of a step's time. What is done has no more steps, and ends when it ends. */
static int left_ms(const cli_probe *probe)
{
    if (atomic_load(&probe->is_done)) {
        return -1;
    }
    uint64_t end_ms = atomic_load(&probe->step_ms) + HUB_LIMIT_PROBE_MS;
    uint64_t now_ms = hub_clock_now_ms();
    return end_ms > now_ms ? (int)(end_ms - now_ms) : 0;
}

/* Wait until the child has ended, or is over one step for too long. False for the latter. */
static bool await_end(int pidfd, const cli_probe *probe)
{
    struct pollfd end = {.fd = pidfd, .events = POLLIN};
    for (;;) {
        int left = left_ms(probe);
        int ready = poll(&end, 1, left);
        if (ready > 0) {
            return true;
        }
        bool is_broken = ready < 0 && errno != EINTR;
        if (is_broken || (ready == 0 && left == 0)) {
            return false;
        }
    }
}

/* Say the last line of a child that has crashed; false: it has left none. */
static bool complain_as_it_did(const cli_probe *probe)
{
    char line[HUB_CRASH_LINE_BYTES + 1];
    ssize_t n = read(probe->line[0], line, sizeof line - 1); /* written at once, or not at all */
    size_t skip = PREFIX_BYTES;
    if (n <= (ssize_t)skip) {
        return false;
    }
    line[line[n - 1] == '\n' ? n - 1 : n] = '\0';
    cli_complain("%s", line + skip);
    return true;
}

/* The child has ended; say how if that was none of its own doing. */
static int judge(int status, const cli_probe *probe)
{
    if (!atomic_load(&probe->is_done) && complain_as_it_did(probe)) {
        return EXIT_CONFIG;
    }
    if (WIFSIGNALED(status)) {
        const char *name = sigabbrev_np(WTERMSIG(status));
        cli_complain("%s: it crashed (SIG%s)", probe->what, name != NULL ? name : "?");
        return EXIT_CONFIG;
    }
    if (!atomic_load(&probe->is_done)) {
        cli_complain("%s: it ended the process, with status %d", probe->what, WEXITSTATUS(status));
        return EXIT_CONFIG;
    }
    return WEXITSTATUS(status);
}

static int watch(pid_t pid, const cli_probe *probe)
{
    int status = 0;
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    bool has_ended = pidfd < 0 || await_end(pidfd, probe); /* an old kernel: no limit */
    if (!has_ended) {
        (void)kill(pid, SIGKILL);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        /* it ends, or was ended */
    }
    if (pidfd >= 0) {
        (void)close(pidfd);
    }
    if (!has_ended) {
        cli_complain("%s: loading does not come to an end within %d ms", probe->what,
                     HUB_LIMIT_PROBE_MS);
        return EXIT_CONFIG;
    }
    return judge(status, probe);
}

/* NULL: it has been said why. */
static cli_probe *make_probe(void)
{
    cli_probe *probe =
        mmap(NULL, sizeof *probe, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (probe == MAP_FAILED) {
        cli_complain("out of memory");
        return NULL;
    }
    if (pipe2(probe->line, O_CLOEXEC | O_NONBLOCK) != 0) {
        cli_complain("cannot start a process: %s", strerrordesc_np(errno));
        (void)munmap(probe, sizeof *probe);
        return NULL;
    }
    atomic_store(&probe->step_ms, hub_clock_now_ms());
    return probe;
}

int cli_probe_run(int (*work)(void *ctx, cli_probe *probe), void *ctx)
{
    cli_probe *probe = make_probe();
    if (probe == NULL) {
        return EXIT_INTERNAL;
    }
    (void)fflush(NULL); /* else both would write what is not written yet */
    pid_t self = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        run_child(work, ctx, probe, self);
    }
    int status = EXIT_INTERNAL;
    if (pid < 0) {
        cli_complain("cannot start a process: %s", strerrordesc_np(errno));
    } else {
        status = watch(pid, probe);
    }
    (void)close(probe->line[0]);
    (void)close(probe->line[1]);
    (void)munmap(probe, sizeof *probe);
    return status;
}
