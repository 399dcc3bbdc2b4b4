/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/plugin_trial.h"

#include "base/clock.h"
#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Shared with the child, which may write anything: what is read is bounded. */
typedef struct verdict {
    int is_done;
    hub_err err;
    char text[sizeof((hub_error *)NULL)->text];
} verdict;

struct hub_plugin_trial {
    pid_t pid;
    int pidfd;
    verdict *said;
};

/* All descriptors but the image: the child is not to keep anything open that the hub closes, nor to
 * write to a client, nor to say what the hub will hear again when it links the same. */
static void close_all_but(int kept)
{
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++) {
        (void)dup2(null, fd);
    }
    (void)syscall(SYS_close_range, STDERR_FILENO + 1U, (unsigned)kept - 1U, 0U);
    (void)syscall(SYS_close_range, (unsigned)kept + 1U, UINT_MAX, 0U);
}

static _Noreturn void run_child(const hub_plugin_image *image, const char *path,
                                hub_plugin_trial_work *work, verdict *said, pid_t parent)
{
    static const int FATAL[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
    hub_error why = {.code = HUB_OK};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(EXIT_FAILURE);
    }
    for (size_t i = 0; i < sizeof FATAL / sizeof FATAL[0]; i++) {
        (void)signal(FATAL[i], SIG_DFL);
    }
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    close_all_but(image->fd);
    said->err = work(image, path, &why);
    memcpy(said->text, why.text, sizeof said->text);
    said->is_done = 1;
    _exit(EXIT_SUCCESS); /* the destructors of the hub's own libraries are the hub's */
}

hub_err hub_plugin_trial_start(const hub_plugin_image *image, const char *path,
                               hub_plugin_trial_work *work, hub_plugin_trial **ret_trial,
                               hub_error *reterr)
{
    hub_plugin_trial *trial = calloc(1, sizeof *trial);
    if (trial == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "%s", hub_err_text(HUB_ENOMEM));
    }
    trial->said =
        mmap(NULL, sizeof *trial->said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (trial->said == MAP_FAILED) {
        free(trial);
        return hub_fail(reterr, HUB_ENOMEM, "%s", hub_err_text(HUB_ENOMEM));
    }
    pid_t self = getpid();
    trial->pid = fork();
    if (trial->pid == 0) {
        run_child(image, path, work, trial->said, self);
    }
    trial->pidfd = trial->pid > 0 ? (int)syscall(SYS_pidfd_open, trial->pid, 0) : -1;
    if (trial->pidfd < 0) {
        hub_err err = hub_fail(reterr, HUB_ESYSTEM, "cannot be tried in a process of its own: %s",
                               strerrordesc_np(errno));
        if (trial->pid > 0) {
            (void)kill(trial->pid, SIGKILL);
            (void)waitpid(trial->pid, NULL, 0);
        }
        (void)munmap(trial->said, sizeof *trial->said);
        free(trial);
        return err;
    }
    *ret_trial = trial;
    return HUB_OK;
}

int hub_plugin_trial_fd(const hub_plugin_trial *trial)
{
    return trial->pidfd;
}

static bool has_ended(const hub_plugin_trial *trial, int timeout_ms)
{
    struct pollfd end = {.fd = trial->pidfd, .events = POLLIN};
    return poll(&end, 1, timeout_ms) > 0;
}

void hub_plugin_trial_await(const hub_plugin_trial *trial)
{
    uint64_t end_ms = hub_clock_now_ms() + HUB_LIMIT_PROBE_MS;
    for (uint64_t now_ms; (now_ms = hub_clock_now_ms()) < end_ms;) {
        if (has_ended(trial, (int)(end_ms - now_ms))) {
            return;
        }
    }
}

static hub_err judge(const hub_plugin_trial *trial, int status, bool in_time, hub_error *reterr)
{
    hub_str text = {.ptr = trial->said->text,
                    .len = strnlen(trial->said->text, sizeof trial->said->text)};
    if (!in_time) {
        return hub_fail(reterr, HUB_EABI, "linking it does not come to an end within %d ms",
                        HUB_LIMIT_PROBE_MS);
    }
    if (WIFSIGNALED(status)) {
        const char *name = sigabbrev_np(WTERMSIG(status));
        return hub_fail(reterr, HUB_EABI,
                        "linking it crashes (SIG%s): the file is damaged, or its constructors are",
                        name != NULL ? name : "?");
    }
    if (trial->said->is_done == 0) {
        return hub_fail(reterr, HUB_EABI, "linking it ends the process, with status %d",
                        WEXITSTATUS(status));
    }
    return trial->said->err == HUB_OK ? HUB_OK
                                      : hub_fail(reterr, HUB_EABI, HUB_STR_FMT, HUB_STR_ARG(text));
}

hub_err hub_plugin_trial_end(hub_plugin_trial *trial, hub_error *reterr)
{
    int status = 0;
    bool in_time = has_ended(trial, 0);
    if (!in_time) {
        (void)kill(trial->pid, SIGKILL);
    }
    while (waitpid(trial->pid, &status, 0) < 0 && errno == EINTR) {
        /* it has ended, or was */
    }
    hub_err err = judge(trial, status, in_time, reterr);
    (void)close(trial->pidfd);
    (void)munmap(trial->said, sizeof *trial->said);
    free(trial);
    return err;
}
