/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/crash.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STACK_BYTES = 16384 }; /* for the handler alone, which needs a tenth of it */

static const struct {
    int number;
    const char *name;
} SIGNALS[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGILL, "SIGILL"},
               {SIGFPE, "SIGFPE"},   {SIGABRT, "SIGABRT"}, {SIGTRAP, "SIGTRAP"}};

static _Thread_local const hub_watchdog_stay *place;
static int line_fd = STDERR_FILENO;

typedef struct last_line {
    char text[HUB_CRASH_LINE_BYTES];
    size_t len;
} last_line;

/* Everything from here to write_line() runs in a signal handler: no allocation, no lock, no libc
 * but what signal-safety(7) lists. */
static void put(last_line *line, const char *text, size_t len)
{
    for (size_t i = 0; i < len && line->len < sizeof line->text - 1; i++) {
        line->text[line->len++] = (unsigned char)text[i] < ' ' ? '?' : text[i];
    }
}

static void put_named(last_line *line, const char *before, const char *text, size_t len)
{
    put(line, before, strlen(before));
    put(line, " \"", 2);
    put(line, text, len);
    put(line, "\"", 1);
}

static void write_line(const char *signal_name)
{
    const hub_watchdog_stay *stay = place;
    static const char OUTSIDE[] = ") in the hub itself, or in a thread that a plugin made";
    last_line line = {.len = 0};
    put(&line, "patchbay: crashed (", 19);
    put(&line, signal_name, strlen(signal_name));
    if (stay == NULL) {
        put(&line, OUTSIDE, sizeof OUTSIDE - 1);
    } else {
        put_named(&line, ") in the plugin", stay->module, strlen(stay->module));
        if (stay->tool.len > 0) {
            put_named(&line, ", tool", stay->tool.ptr, stay->tool.len);
        }
        if (stay->toolset != NULL) {
            put_named(&line, ", toolset", stay->toolset, strlen(stay->toolset));
        }
        put_named(&line, ", entry", stay->entry, strlen(stay->entry));
    }
    line.text[line.len++] = '\n';
    (void)!write(line_fd, line.text, line.len); /* nobody is left to tell */
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    const char *name = "a signal";
    (void)context;
    for (size_t i = 0; i < sizeof SIGNALS / sizeof SIGNALS[0]; i++) {
        name = SIGNALS[i].number == number ? SIGNALS[i].name : name;
    }
    write_line(name);
    /* By now the default action is back. A fault happens again on return; what somebody sent would
     * not, and is held back until then. */
    if (info->si_code <= 0) {
        (void)raise(number);
    }
}

/* Else a hub that a plugin ends with exit() says nothing at all. */
static void on_exit_within(void)
{
    if (place != NULL) {
        write_line("exit() was called");
    }
}

void hub_crash_setup(void)
{
    (void)atexit(on_exit_within); /* without memory for it, it is not told */
    struct sigaction ours = {.sa_sigaction = on_crash,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND};
    (void)sigemptyset(&ours.sa_mask);
    for (size_t i = 0; i < sizeof SIGNALS / sizeof SIGNALS[0]; i++) {
        struct sigaction before;
        if (sigaction(SIGNALS[i].number, NULL, &before) == 0 && before.sa_handler == SIG_DFL) {
            (void)sigaction(SIGNALS[i].number, &ours, NULL); /* known numbers: cannot fail */
        }
    }
    hub_crash_watch_thread();
}

void hub_crash_tell(int fd)
{
    line_fd = fd;
}

void hub_crash_watch_thread(void)
{
    static _Thread_local char memory[STACK_BYTES];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    stack_t before;
    if (sigaltstack(NULL, &before) == 0 && (before.ss_flags & SS_DISABLE) != 0) {
        (void)sigaltstack(&stack, NULL); /* without one, only a used-up stack goes unreported */
    }
    /* A fault kills at once where its signal is blocked. */
    sigset_t faults;
    (void)sigemptyset(&faults);
    for (size_t i = 0; i < sizeof SIGNALS / sizeof SIGNALS[0]; i++) {
        (void)sigaddset(&faults, SIGNALS[i].number);
    }
    (void)pthread_sigmask(SIG_UNBLOCK, &faults, NULL); /* a valid set: cannot fail */
}

const hub_watchdog_stay *hub_crash_enter(const hub_watchdog_stay *stay)
{
    const hub_watchdog_stay *before = place;
    place = stay;
    return before;
}

const hub_watchdog_stay *hub_crash_place(void)
{
    return place;
}
