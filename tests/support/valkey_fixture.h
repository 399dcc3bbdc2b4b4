/* SPDX-License-Identifier: Apache-2.0 */
/* A server of the distribution, Valkey's or Redis's, on a Unix socket in a test's folder. Header-only. */
#ifndef PATCHBAY_TESTS_VALKEY_FIXTURE_H
#define PATCHBAY_TESTS_VALKEY_FIXTURE_H

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct valkey_server {
    pid_t pid;
    char socket[64];
    char place[88]; /* as `state` names it */
} valkey_server;

static inline const char *valkey_find_program(void)
{
    static const char *const PROGRAMS[] = {"/usr/bin/valkey-server", "/usr/bin/redis-server"};
    for (size_t i = 0; i < sizeof PROGRAMS / sizeof PROGRAMS[0]; i++) {
        if (access(PROGRAMS[i], X_OK) == 0) {
            return PROGRAMS[i];
        }
    }
    return NULL;
}

/* Start it; returns when it takes connections. `options`, ended by NULL: more of its arguments. */
static inline void valkey_start(valkey_server *server, const char *folder,
                                const char *const *options)
{
    const char *program = valkey_find_program();
    const char *argv[32] = {program, "--port",       "0",           "--save",
                            "",      "--appendonly", "no",          "--daemonize",
                            "no",    "--unixsocket", server->socket};
    int count = 11;
    int out[2];
    char line[512];
    assert_non_null(program); /* apt install valkey-server, or redis-server */
    (void)snprintf(server->socket, sizeof server->socket, "%s/valkey.sock", folder);
    (void)snprintf(server->place, sizeof server->place, "valkey+unix://%s", server->socket);
    while (options != NULL && *options != NULL && count < 31) {
        argv[count++] = *options++;
    }
    assert_int_equal(pipe(out), 0);
    server->pid = fork();
    assert_true(server->pid >= 0);
    if (server->pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)dup2(out[1], STDOUT_FILENO);
        (void)close(out[0]);
        (void)close(out[1]);
        (void)chdir(folder);
        (void)execv(program, (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    (void)close(out[1]);
    FILE *said = fdopen(out[0], "r");
    assert_non_null(said);
    bool is_ready = false;
    while (!is_ready && fgets(line, sizeof line, said) != NULL) {
        is_ready = strstr(line, "ready to accept connections") != NULL ||
                   strstr(line, "Ready to accept connections") != NULL;
    }
    assert_true(is_ready);
    (void)fclose(said); /* it ignores SIGPIPE */
}

static inline void valkey_stop(valkey_server *server)
{
    if (server->pid > 0) {
        (void)kill(server->pid, SIGCONT);
        assert_int_equal(kill(server->pid, SIGKILL), 0);
        assert_int_equal(waitpid(server->pid, NULL, 0), server->pid);
        (void)unlink(server->socket);
        server->pid = 0;
    }
}

/* Say one inline command, and wait for its answer's first line. */
static inline void valkey_say(const valkey_server *server, const char *command, char *ret_answer,
                              size_t size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", server->socket);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(write(fd, command, strlen(command)), (ssize_t)strlen(command));
    assert_int_equal(write(fd, "\r\n", 2), 2);
    ssize_t got = read(fd, ret_answer, size - 1);
    assert_true(got > 0);
    ret_answer[got] = '\0';
    (void)close(fd);
}

static inline void valkey_do(const valkey_server *server, const char *command)
{
    char answer[256];
    valkey_say(server, command, answer, sizeof answer);
    assert_true(answer[0] != '-');
}

#endif
