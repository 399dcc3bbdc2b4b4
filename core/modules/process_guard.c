/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/process_guard.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const char NAME[] = "patchbay-guard";

/* Open `folder`/patchbay-guard if it is a program. */
static int open_guard(hub_str folder)
{
    char path[PATH_MAX];
    struct stat about;
    int len = snprintf(path, sizeof path, HUB_STR_FMT "/%s", HUB_STR_ARG(folder), NAME);
    if (len < 0 || (size_t)len >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    bool is_program = fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
                      faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
    int moved = is_program ? fcntl(fd, F_DUPFD_CLOEXEC, HUB_GUARD_FD + 1) : -1;
    (void)close(fd);
    return moved;
}

hub_err hub_guard_open(int *ret_fd, hub_error *reterr)
{
    char self[PATH_MAX];
    char installed[2 * PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self);
    while (len > 0 && self[len - 1] != '/') {
        len--;
    }
    hub_str folder = {.ptr = self, .len = len > 1 ? (size_t)len - 1 : 0};
    (void)snprintf(installed, sizeof installed, HUB_STR_FMT "/%s", HUB_STR_ARG(folder),
                   PATCHBAY_LIBEXEC_FROM_BIN); /* fits */
    const hub_str places[] = {folder, hub_str_of(installed), HUB_STR(PATCHBAY_LIBEXEC_DIR)};
    int fd = -1;
    int error = ENOENT;
    for (size_t i = len > 1 ? 0 : 2; fd < 0 && i < sizeof places / sizeof places[0]; i++) {
        fd = open_guard(places[i]);
        error = fd < 0 && errno != ENOENT ? errno : error; /* that it is not there says least */
    }
    if (fd < 0) {
        return hub_fail(reterr, HUB_ENOTFOUND,
                        "the program %s, which servers are run under, is neither in " HUB_STR_FMT
                        " nor in %s: install it there (%s)",
                        NAME, HUB_STR_ARG(folder), PATCHBAY_LIBEXEC_DIR, strerrordesc_np(error));
    }
    *ret_fd = fd;
    return HUB_OK;
}

void hub_guard_order(int channel, char order)
{
    /* The queue has room for more orders than there are. */
    (void)send(channel, &order, sizeof order, MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool hub_guard_receive(int channel, bool wait, hub_guard_report *ret_report)
{
    ssize_t n;
    do {
        n = recv(channel, ret_report, sizeof *ret_report, wait ? 0 : MSG_DONTWAIT);
        /* A guard that ended before it took its last order resets the connection; that is told
         * once, before what it said. */
    } while (n < 0 && (errno == EINTR || errno == ECONNRESET));
    return n == (ssize_t)sizeof *ret_report;
}
