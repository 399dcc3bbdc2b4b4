/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dumb relay: starts a server and copies bytes between it and its own stdin and stdout, knowing
 * nothing of them. What any hub between two processes costs at least.
 *
 *   relay COMMAND [ARGUMENT]…
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BUFFER_BYTES = 64 * 1024 };

/* Copy what is there; 0 at the end. */
static int copy_some(int from, int to)
{
    static char buffer[BUFFER_BYTES];
    ssize_t got = read(from, buffer, sizeof buffer);
    if (got <= 0) {
        return got < 0 && errno == EINTR;
    }
    for (ssize_t done = 0; done < got;) {
        ssize_t put = write(to, buffer + done, (size_t)(got - done));
        if (put < 0 && errno != EINTR) {
            return 0;
        }
        done += put > 0 ? put : 0;
    }
    return 1;
}

static pid_t start(char **argv, int *ret_to, int *ret_from)
{
    int to[2];
    int from[2];
    if (pipe(to) != 0 || pipe(from) != 0) {
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(to[0], STDIN_FILENO);
        (void)dup2(from[1], STDOUT_FILENO);
        (void)close(to[0]);
        (void)close(to[1]);
        (void)close(from[0]);
        (void)close(from[1]);
        execvp(argv[0], argv);
        perror(argv[0]);
        _exit(127);
    }
    (void)close(to[0]);
    (void)close(from[1]);
    *ret_to = to[1];
    *ret_from = from[0];
    return pid;
}

int main(int argc, char **argv)
{
    int to;
    int from;
    if (argc < 2) {
        (void)fputs("usage: relay COMMAND [ARGUMENT]…\n", stderr);
        return 2;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    pid_t pid = start(argv + 1, &to, &from);
    if (pid < 0) {
        perror("relay");
        return 1;
    }
    struct pollfd ends[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                             {.fd = from, .events = POLLIN}};
    for (;;) {
        if (poll(ends, 2, -1) < 0 && errno != EINTR) {
            break;
        }
        if (ends[0].revents != 0 && !copy_some(STDIN_FILENO, to)) {
            ends[0].fd = -1; /* the server ends when it has answered */
            (void)close(to);
        }
        if (ends[1].revents != 0 && !copy_some(from, STDOUT_FILENO)) {
            break;
        }
    }
    (void)waitpid(pid, NULL, 0);
    return 0;
}
