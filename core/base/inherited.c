/* SPDX-License-Identifier: Apache-2.0 */
#include "base/inherited.h"

#include "base/str.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST = 3, MOST = 64 };

static char *names; /* with colons between; lives as long as the process */
static int count;

static int read_number(const char *variable)
{
    const char *text = getenv(variable);
    char *end = NULL;
    long number = text != NULL ? strtol(text, &end, 10) : -1;
    return text != NULL && *end == '\0' && end != text && number >= 0 && number <= 1 << 30
               ? (int)number
               : -1;
}

void hub_inherited_init(void)
{
    const char *given = getenv("LISTEN_FDNAMES");
    int fds = read_number("LISTEN_FDS");
    if (read_number("LISTEN_PID") == (int)getpid() && fds > 0) {
        names = hub_str_dup(hub_str_of(given != NULL ? given : ""));
        count = names == NULL ? 0 : fds < MOST ? fds : MOST;
        for (int fd = FIRST; fd < FIRST + count; fd++) {
            (void)fcntl(fd, F_SETFD, FD_CLOEXEC); /* what is not open is no socket, either */
        }
    }
    (void)unsetenv("LISTEN_PID");
    (void)unsetenv("LISTEN_FDS");
    (void)unsetenv("LISTEN_FDNAMES");
}

int hub_inherited_copy(const char *name, unsigned nth)
{
    const char *at = names;
    for (int i = 0; i < count; i++) {
        size_t len = strcspn(at, ":");
        bool is_named = strlen(name) == len && memcmp(name, at, len) == 0;
        if (is_named && nth-- == 0) {
            int copy = fcntl(FIRST + i, F_DUPFD_CLOEXEC, FIRST + MOST);
            int flags = copy >= 0 ? fcntl(copy, F_GETFL) : -1;
            if (flags >= 0 && fcntl(copy, F_SETFL, flags | O_NONBLOCK) == 0) {
                return copy;
            }
            if (copy >= 0) {
                (void)close(copy); /* not ours to flush */
            }
            return -1;
        }
        at += len + (at[len] == ':');
    }
    return -1;
}
