/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library to preload: one call of the program fails, once. For tests of what a hub does when the
 * system has nothing left.
 *
 *     PATCHBAY_FAIL=malloc:37          the 37th allocation (malloc, calloc, realloc, strdup, …)
 *     PATCHBAY_FAIL=vhost:3            the third that libwebsockets makes for a vhost
 *     PATCHBAY_FAIL=read:3:EIO         the third read(), with that error
 *     PATCHBAY_FAIL_LOG=FILE           gets a line "NAME N" and a stack when it has failed, and at
 *                                      the end of the process "NAME of COUNT"
 *
 * Allocations are counted whoever makes them, but for the beginnings of the sanitizer's threads;
 * those that libcurl makes do not fail, because it dies of some and takes others for something
 * else. System calls are counted only as made through the C library's function of that name, which
 * leaves out what the C library calls within. Neither are those that concern an eventfd: that is
 * how libev wakes itself, without looking at what becomes of it; nor epoll_ctl for an accepted TCP
 * connection, which libwebsockets watches in the same way. Children are left alone: both variables
 * and LD_PRELOAD leave the environment at once.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

enum { STACK_FRAMES = 24, NAME_BYTES = 32 };

static const struct {
    const char *name;
    int number;
} ERRORS[] = {
    {"EINTR", EINTR},   {"EAGAIN", EAGAIN}, {"EMFILE", EMFILE},
    {"ENOSPC", ENOSPC}, {"EIO", EIO},       {"ENOMEM", ENOMEM},
    {"EPIPE", EPIPE},   {"ENFILE", ENFILE}, {"ECONNABORTED", ECONNABORTED},
};

static char wanted[NAME_BYTES]; /* empty: nothing fails */
static unsigned long fail_at;
static int fail_with = ENOMEM;
static int log_fd = -1;
static pid_t process;
static atomic_ulong count;
static _Thread_local bool is_reporting; /* what the report itself calls is not counted */
static _Thread_local bool is_in_vhost;  /* between call and return of lws_create_vhost */

/* The next definition of a function, which a pointer of another type is made of: POSIX dlsym. */
#define REAL(name)                                                                                 \
    static __typeof__(name) *real;                                                                 \
    if (real == NULL) {                                                                            \
        void *found = dlsym(RTLD_NEXT, #name);                                                     \
        memcpy(&real, &found, sizeof real);                                                        \
    }

static void report(unsigned long number)
{
    char line[NAME_BYTES + 32];
    void *stack[STACK_FRAMES];
    is_reporting = true;
    int len = snprintf(line, sizeof line, "%s %lu\n", wanted, number);
    if (write(log_fd, line, (size_t)len) == len) {
        backtrace_symbols_fd(stack, backtrace(stack, STACK_FRAMES), log_fd);
    }
    is_reporting = false;
}

static bool is_wanted(const char *name)
{
    return wanted[0] != '\0' && !is_reporting && strcmp(name, wanted) == 0 && getpid() == process;
}

/* Whether nobody looks at what becomes of calls with this descriptor. */
static bool is_unchecked(int fd)
{
    char path[32];
    char target[32] = "";
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return readlink(path, target, sizeof target - 1) > 0 &&
           strcmp(target, "anon_inode:[eventfd]") == 0;
}

static bool is_tcp_connection(int fd)
{
    int domain = 0;
    int listens = 0;
    socklen_t len = sizeof domain;
    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_INET &&
           getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) == 0 && !listens;
}

/* Whether this call is made by libcurl, and not by somebody that libcurl has called. */
static bool is_of_libcurl(void)
{
    void *stack[STACK_FRAMES];
    bool is_its = false;
    is_reporting = true;
    int count_of_frames = backtrace(stack, STACK_FRAMES);
    is_reporting = false;
    for (int i = 0; i < count_of_frames && !is_its; i++) {
        Dl_info place;
        if (dladdr(stack[i], &place) == 0 || place.dli_fname == NULL) {
            continue;
        }
        is_its = strstr(place.dli_fname, "/libcurl") != NULL;
        if (strstr(place.dli_fname, "/proc/self/fd") != NULL ||
            strstr(place.dli_fname, "/core/patchbay") != NULL) {
            break;
        }
    }
    return is_its;
}

static bool fails(const char *name)
{
    if (!is_wanted(name)) {
        return false;
    }
    unsigned long number = atomic_fetch_add(&count, 1) + 1;
    if (number != fail_at || (strcmp(name, "malloc") == 0 && is_of_libcurl())) {
        return false;
    }
    report(number);
    errno = fail_with;
    return true;
}

static void read_error(const char *name)
{
    for (size_t i = 0; i < sizeof ERRORS / sizeof ERRORS[0]; i++) {
        if (strcmp(name, ERRORS[i].name) == 0) {
            fail_with = ERRORS[i].number;
            return;
        }
    }
    abort();
}

__attribute__((constructor)) static void begin(void)
{
    void *stack[1];
    char what[NAME_BYTES];
    char error[NAME_BYTES] = "ENOMEM";
    const char *plan = getenv("PATCHBAY_FAIL");
    const char *path = getenv("PATCHBAY_FAIL_LOG");
    if (plan == NULL || path == NULL ||
        sscanf(plan, "%31[^:]:%lu:%31s", what, &fail_at, error) < 2) {
        return;
    }
    read_error(error);
    log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    log_fd = fcntl(log_fd, F_DUPFD_CLOEXEC, 700); /* out of the way of what the hub counts */
    (void)unsetenv("PATCHBAY_FAIL");
    (void)unsetenv("PATCHBAY_FAIL_LOG");
    (void)unsetenv("LD_PRELOAD");
    process = getpid();
    (void)backtrace(stack, 1); /* loads a library the first time */
    memcpy(wanted, what, sizeof wanted);
}

__attribute__((destructor)) static void end(void)
{
    char line[NAME_BYTES + 32];
    if (wanted[0] != '\0' && getpid() == process) {
        is_reporting = true;
        int len = snprintf(line, sizeof line, "%s of %lu\n", wanted, atomic_load(&count));
        if (write(log_fd, line, (size_t)len) != len) {
            abort();
        }
        is_reporting = false;
    }
}

/* ---- allocations ----------------------------------------------------------------------------- */

static bool allocation_fails(void)
{
    return fails("malloc") || (is_wanted("vhost") && is_in_vhost && fails("vhost"));
}

void *malloc(size_t size)
{
    REAL(malloc)
    return allocation_fails() ? NULL : real(size);
}

void *calloc(size_t items, size_t size)
{
    REAL(calloc)
    return allocation_fails() ? NULL : real(items, size);
}

void *realloc(void *old, size_t size)
{
    REAL(realloc)
    return allocation_fails() ? NULL : real(old, size);
}

/* What it allocates counts for "vhost". The types are those of libwebsockets, which no one here
 * looks into. */
void *lws_create_vhost(void *context, const void *info)
{
    static void *(*real)(void *, const void *);
    void *found = dlsym(RTLD_NEXT, "lws_create_vhost");
    memcpy(&real, &found, sizeof real);
    is_in_vhost = true;
    void *vhost = real(context, info);
    is_in_vhost = false;
    return vhost;
}

/* AddressSanitizer asks for this as each thread begins, and cannot bear that it fails. */
int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes)
{
    REAL(pthread_getattr_np)
    bool was = is_reporting;
    is_reporting = true;
    int result = real(thread, attributes);
    is_reporting = was;
    return result;
}

/* ---- system calls ---------------------------------------------------------------------------- */

#define FAILING(type, name, parameters, ...)                                                       \
    type name parameters                                                                           \
    {                                                                                              \
        REAL(name)                                                                                 \
        return fails(#name) ? -1 : real(__VA_ARGS__);                                              \
    }

ssize_t read(int fd, void *at, size_t size)
{
    REAL(read)
    return is_wanted("read") && !is_unchecked(fd) && fails("read") ? -1 : real(fd, at, size);
}

ssize_t write(int fd, const void *from, size_t size)
{
    REAL(write)
    return is_wanted("write") && !is_unchecked(fd) && fails("write") ? -1 : real(fd, from, size);
}

int epoll_ctl(int epoll, int what, int fd, struct epoll_event *event)
{
    REAL(epoll_ctl)
    bool counts = is_wanted("epoll_ctl") && !is_unchecked(fd) && !is_tcp_connection(fd);
    return counts && fails("epoll_ctl") ? -1 : real(epoll, what, fd, event);
}

FAILING(ssize_t, writev, (int fd, const struct iovec *parts, int parts_count), fd, parts,
        parts_count)
FAILING(ssize_t, recv, (int fd, void *at, size_t size, int flags), fd, at, size, flags)
FAILING(ssize_t, send, (int fd, const void *from, size_t size, int flags), fd, from, size, flags)
FAILING(int, accept4, (int fd, __SOCKADDR_ARG address, socklen_t *restrict len, int flags), fd,
        address, len, flags)
FAILING(pid_t, fork, (void))
FAILING(int, pipe2, (int ends[2], int flags), ends, flags)
FAILING(int, socketpair, (int domain, int type, int protocol, int ends[2]), domain, type, protocol,
        ends)
FAILING(int, epoll_wait, (int epoll, struct epoll_event *events, int max, int wait_ms), epoll,
        events, max, wait_ms)
FAILING(int, epoll_create1, (int flags), flags)
FAILING(int, fsync, (int fd), fd)
FAILING(int, rename, (const char *from, const char *to), from, to)
FAILING(int, renameat, (int from_fd, const char *from, int to_fd, const char *to), from_fd, from,
        to_fd, to)
FAILING(int, socket, (int domain, int type, int protocol), domain, type, protocol)
FAILING(int, timerfd_create, (int clock, int flags), clock, flags)
FAILING(int, connect, (int fd, __CONST_SOCKADDR_ARG address, socklen_t len), fd, address, len)

/* The mode is there whenever the flags say so; an int too many harms nobody. */
static int mode_of(int flags, va_list more)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;
}

int open(const char *path, int flags, ...)
{
    REAL(open)
    va_list more;
    va_start(more, flags);
    int mode = mode_of(flags, more);
    va_end(more);
    return fails("open") ? -1 : real(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    REAL(openat)
    va_list more;
    va_start(more, flags);
    int mode = mode_of(flags, more);
    va_end(more);
    return fails("open") ? -1 : real(folder, path, flags, mode);
}
