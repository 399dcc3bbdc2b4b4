/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of child processes. The children are the test program itself, called with "child:MODE";
 * what they see of their world they print. Waits are for events, under one global alarm.
 */
#ifndef PATCHBAY_TESTS_PROCESS_SUPPORT_H
#define PATCHBAY_TESTS_PROCESS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "modules/process.h"

enum {
    GUARD_SECONDS = 300,
    OUTPUT_BYTES = 256 * 1024,
    SECRETS = 50,
    SPAWNS = 1000,
    SOON_MS = 20000, /* for what should take no time, on a machine that is very busy */
    FLOOD_LINE_BYTES = 64,
    FLOOD_LINES = 1024 * 1024, /* 64 MiB */
    TAIL_LINES = 10000,
    SCATTERED = 4,
};

static char self[512];

/* ---- The children ---- */

static inline void say(const char *text)
{
    size_t len = strlen(text);
    if (write(STDOUT_FILENO, text, len) != (ssize_t)len) {
        _exit(99);
    }
}

static inline void say_number(const char *what, int number)
{
    char line[64];
    (void)snprintf(line, sizeof line, "%s%d\n", what, number);
    say(line);
}

static inline _Noreturn void wait_for_ever(void)
{
    for (;;) {
        (void)pause();
    }
}

static inline int child_fds(char **args)
{
    (void)args;
    for (int fd = 0; fd < 4096; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) {
            say_number("fd ", fd);
        }
    }
    return 0;
}

static inline int child_env(char **args)
{
    (void)args;
    for (char **variable = environ; *variable != NULL; variable++) {
        say(*variable);
        say("\n");
    }
    return 0;
}

static inline int child_signals(char **args)
{
    (void)args;
    sigset_t mask;
    (void)sigprocmask(SIG_BLOCK, NULL, &mask);
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN) {
            say_number("ignored ", number);
        }
        if (sigismember(&mask, number) == 1) {
            say_number("blocked ", number);
        }
    }
    int on_death = 0;
    (void)prctl(PR_GET_PDEATHSIG, &on_death);
    say_number("on death ", on_death);
    say_number("own group ", getpgrp() == getpid());
    return 0;
}

static inline int child_cwd(char **args)
{
    char folder[512];
    (void)args;
    say(getcwd(folder, sizeof folder) != NULL ? folder : "?");
    return 0;
}

/* Arguments in brackets, one NUL after each. */
static inline int child_args(char **args)
{
    for (; *args != NULL; args++) {
        say(*args);
        (void)!write(STDOUT_FILENO, "", 1);
    }
    return 0;
}

static inline int child_cat(char **args)
{
    char chunk[4096];
    (void)args;
    for (ssize_t n; (n = read(STDIN_FILENO, chunk, sizeof chunk)) > 0;) {
        (void)!write(STDOUT_FILENO, chunk, (size_t)n);
    }
    return 0;
}

static inline int child_exit(char **args)
{
    return (int)strtol(args[0], NULL, 10);
}

static inline int child_kill(char **args)
{
    (void)kill(getpid(), (int)strtol(args[0], NULL, 10));
    return 0;
}

static inline int child_wait(char **args)
{
    (void)args;
    say("ready\n");
    wait_for_ever();
}

static inline int child_stubborn(char **args)
{
    (void)signal(SIGTERM, SIG_IGN);
    return child_wait(args);
}

/* Lets go of its pipes, and stays. */
static inline int child_mute(char **args)
{
    (void)args;
    (void)close(STDIN_FILENO);
    (void)close(STDOUT_FILENO);
    wait_for_ever();
}

/* Leaves a process behind that holds stdout, in the same group, and ignores SIGTERM. */
static inline int child_parent(char **args)
{
    if (fork() == 0) {
        return child_stubborn(args);
    }
    if (strcmp(args[0], "stay") == 0) {
        wait_for_ever();
    }
    return 0;
}

/* Tells through a FIFO that it lives, and by its closing that it does not. */
static inline int child_fifo(char **args)
{
    int fd = open(args[0], O_WRONLY);
    (void)!write(fd, "x", 1);
    wait_for_ever();
}

static inline void ignore_all_signals(void)
{
    for (int number = 1; number < NSIG; number++) {
        (void)signal(number, SIG_IGN);
    }
}

static inline _Noreturn void stay_apart(int fd)
{
    (void)setsid();
    ignore_all_signals();
    (void)!write(fd, "x", 1);
    wait_for_ever();
}

/* Never the same process for long. */
static inline _Noreturn void hop(int fd)
{
    ignore_all_signals();
    (void)!write(fd, "x", 1);
    for (;;) {
        if (fork() > 0) {
            _exit(0);
        }
        (void)setsid();
    }
}

static inline void *scatter_from_a_thread(void *fd)
{
    if (fork() == 0) {
        stay_apart(*(int *)fd);
    }
    wait_for_ever();
}

/* Leaves descendants behind that want to stay, each of which writes an "x" (SCATTERED in all) and
 * holds its descriptor: stdout, or a FIFO. "leave": ends with its input. "hop": some are restless.
 */
static inline int child_scatter(char **args)
{
    static int fd = STDOUT_FILENO;
    pthread_t thread;
    bool leaves = strcmp(args[0], "leave") == 0;
    fd = args[1] != NULL ? open(args[1], O_WRONLY) : fd;
    if (!leaves) {
        ignore_all_signals(); /* before any "x": who has read them all may stop it */
    }
    if (fork() == 0) {
        stay_apart(fd);
    }
    if (fork() == 0) { /* its parent goes at once */
        if (fork() == 0) {
            stay_apart(fd);
        }
        _exit(0);
    }
    if (fork() == 0) {
        if (strcmp(args[0], "hop") == 0) {
            hop(fd);
        }
        stay_apart(fd);
    }
    (void)pthread_create(&thread, NULL, scatter_from_a_thread, &fd);
    for (char byte; leaves && read(STDIN_FILENO, &byte, 1) > 0;) {
        /* until its end */
    }
    if (!leaves) {
        wait_for_ever();
    }
    return 0;
}

static inline int child_flood(char **args)
{
    static char lines[1024][FLOOD_LINE_BYTES];
    (void)args;
    memset(lines, 'e', sizeof lines);
    for (size_t i = 0; i < 1024; i++) {
        lines[i][FLOOD_LINE_BYTES - 1] = '\n';
    }
    for (size_t sent = 0; sent < FLOOD_LINES; sent += 1024) {
        for (size_t done = 0; done < sizeof lines;) {
            ssize_t n = write(STDERR_FILENO, (const char *)lines + done, sizeof lines - done);
            if (n < 0) {
                return 1;
            }
            done += (size_t)n;
        }
    }
    return 0;
}

static inline int child_stderr(char **args)
{
    (void)!write(STDERR_FILENO, args[0], strlen(args[0]));
    return 0;
}

static inline int child_lines(char **args)
{
    (void)args;
    for (int i = 0; i < TAIL_LINES; i++) {
        (void)fprintf(stderr, "line %d\n", i);
    }
    return 0;
}

static const struct {
    const char *mode;
    int (*run)(char **args);
} MODES[] = {
    {"child:fds", child_fds},         {"child:env", child_env},
    {"child:signals", child_signals}, {"child:cwd", child_cwd},
    {"child:args", child_args},       {"child:cat", child_cat},
    {"child:exit", child_exit},       {"child:kill", child_kill},
    {"child:wait", child_wait},       {"child:stubborn", child_stubborn},
    {"child:parent", child_parent},   {"child:fifo", child_fifo},
    {"child:flood", child_flood},     {"child:stderr", child_stderr},
    {"child:lines", child_lines},     {"child:scatter", child_scatter},
    {"child:mute", child_mute},
};

/* ---- The tests' side ---- */

static struct ev_loop *loop;
static hub_process_table *table;

typedef struct child {
    hub_process *process;
    int in;
    int out;
    int err;
    int exits; /* calls of on_exit */
    char status[128];
    char output[OUTPUT_BYTES];
} child;

static child shared; /* large: not on the stack */

static struct {
    size_t lines; /* "upstream.stderr" */
    uint64_t dropped;
    char last[2048]; /* the last line of the log, of any event */
} logged;

static inline void see_line(void *ctx, hub_str line)
{
    (void)ctx;
    static const char DROPPED[] = " upstream.stderr_dropped toolset=test lines=";
    (void)snprintf(logged.last, sizeof logged.last, HUB_STR_FMT, HUB_STR_ARG(line));
    const char *dropped = strstr(logged.last, DROPPED);
    logged.dropped += dropped == NULL ? 0 : strtoull(dropped + sizeof DROPPED - 1, NULL, 10);
    logged.lines += strstr(logged.last, " info upstream.stderr toolset=test text=") != NULL;
}

static inline void note_exit(void *ctx, patchbay_str status)
{
    child *of = ctx;
    of->exits++;
    (void)snprintf(of->status, sizeof of->status, HUB_STR_FMT, HUB_STR_ARG(status));
}

static inline int set_up(void **state)
{
    (void)state;
    loop = ev_loop_new(EVFLAG_AUTO);
    memset(&logged, 0, sizeof logged);
    return loop == NULL || hub_process_table_create(loop, &table, NULL) != HUB_OK;
}

static inline int tear_down(void **state)
{
    (void)state;
    hub_process_table_destroy(table);
    ev_loop_destroy(loop);
    errno = 0;
    return waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD; /* no child, no zombie */
}

static inline hub_err spawn_with(child *ret, const patchbay_spawn_options *wanted,
                                 hub_error *reterr)
{
    patchbay_spawn_options options = *wanted;
    options.struct_size = sizeof options;
    options.on_exit = note_exit;
    options.ctx = ret;
    *ret = (child){.in = -1, .out = -1, .err = -1};
    return hub_process_spawn(table, HUB_STR("test"), &options, &ret->process, &ret->in, &ret->out,
                             &ret->err, reterr);
}

/* Start a child of that mode, with one argument or none. */
static inline child *start(const char *mode, const char *arg)
{
    const char *argv[] = {self, mode, arg, NULL};
    hub_error error;
    hub_err err = spawn_with(&shared, &(patchbay_spawn_options){.argv = argv}, &error);
    if (err != HUB_OK) {
        fail_msg("%s", error.text);
    }
    return &shared;
}

static inline void close_end(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
    }
    *fd = -1;
}

/* Read the child's stdout to the end or up to `until`, while the loop does what it has to. */
static inline void read_output(child *of, const char *until)
{
    size_t len = strlen(of->output);
    while (until == NULL || strstr(of->output, until) == NULL) {
        ssize_t n = read(of->out, of->output + len, sizeof of->output - len - 1);
        if (n == 0) {
            break;
        }
        if (n < 0) {
            struct pollfd readable = {.fd = of->out, .events = POLLIN};
            assert_int_equal(errno, EAGAIN);
            (void)ev_run(loop, EVRUN_NOWAIT);
            (void)poll(&readable, 1, 10);
            continue;
        }
        len += (size_t)n;
        assert_true(len + 1 < sizeof of->output);
    }
}

static inline void await_exit(child *of)
{
    while (of->exits == 0) {
        (void)ev_run(loop, EVRUN_ONCE);
    }
    assert_int_equal(of->exits, 1);
}

/* The end of a child that was started and is not needed any more. */
static inline void finish(child *of)
{
    close_end(&of->in);
    close_end(&of->out);
    close_end(&of->err);
    hub_process_free(of->process);
    of->process = NULL;
}

/* Everything a child of that mode prints. */
static inline const char *output_of(const char *mode, const char *arg)
{
    child *of = start(mode, arg);
    close_end(&of->in);
    read_output(of, NULL);
    await_exit(of);
    finish(of);
    return of->output;
}

static inline size_t count_fds(void)
{
    size_t count = 0;
    DIR *fds = opendir("/proc/self/fd");
    assert_non_null(fds);
    while (readdir(fds) != NULL) {
        count++;
    }
    (void)closedir(fds);
    return count;
}

static inline void make_file(const char *name, const char *text, mode_t mode)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    (void)close(fd);
}

/* In a child: does what the mode says and does not return. */
static inline bool be_a_child(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof MODES / sizeof MODES[0]; i++) {
        if (strcmp(argv[1], MODES[i].mode) == 0) {
            exit(MODES[i].run(argv + 2));
        }
    }
    return false;
}

static inline bool prepare(void)
{
    (void)alarm(GUARD_SECONDS);
    (void)signal(SIGPIPE, SIG_IGN);
    hub_log_capture(see_line, NULL);
    return readlink("/proc/self/exe", self, sizeof self - 1) > 0;
}

#define PROCESS_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
