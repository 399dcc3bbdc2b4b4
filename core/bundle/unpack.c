/* SPDX-License-Identifier: Apache-2.0 */
#include "bundle/unpack.h"

#include "base/buf.h"
#include "unpack/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAID_BYTES = 4096 };

/* Beside this program, where it is installed seen from it, or as configured. */
static hub_err find_program(char *path, size_t size, hub_error *reterr)
{
    char self[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self);
    while (len > 0 && self[len - 1] != '/') {
        len--;
    }
    const char *const places[] = {"", PATCHBAY_LIBEXEC_FROM_BIN "/", NULL};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int made =
            places[i] != NULL
                ? snprintf(path, size, "%.*s%s%s", (int)len, self, places[i], HUB_UNPACK_PROGRAM)
                : snprintf(path, size, "%s/%s", PATCHBAY_LIBEXEC_DIR, HUB_UNPACK_PROGRAM);
        if (made > 0 && (size_t)made < size && access(path, X_OK) == 0) {
            return HUB_OK;
        }
    }
    return hub_fail(reterr, HUB_ENOTFOUND,
                    "the program %s, which unpacks bundles, is not beside %.*s: install it there",
                    HUB_UNPACK_PROGRAM, (int)len, self);
}

static void read_said(int fd, hub_buf *said)
{
    for (;;) {
        char piece[512];
        ssize_t len = read(fd, piece, sizeof piece);
        if (len < 0 && errno == EINTR) {
            continue;
        }
        if (len <= 0) {
            return;
        }
        hub_buf_add(said, (hub_str){.ptr = piece, .len = (size_t)len});
    }
}

static hub_err judge(int status, const hub_buf *said, hub_error *reterr)
{
    hub_str why = hub_str_trim(hub_buf_str(said));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return HUB_OK;
    }
    if (WIFSIGNALED(status)) {
        return hub_fail(
            reterr, HUB_EINVAL,
            "the bundle cannot be unpacked: it took more memory, time or rights than it "
            "may (signal %d)",
            WTERMSIG(status));
    }
    return hub_fail(reterr, HUB_EINVAL, "the bundle is not taken: " HUB_STR_FMT,
                    HUB_STR_ARG(hub_buf_ok(said) && why.len > 0 ? why : HUB_STR("it is broken")));
}

hub_err hub_unpack(int fd, const char *folder, hub_error *reterr)
{
    char path[3 * PATH_MAX];
    int pipes[2];
    pid_t child = -1;
    char name[] = HUB_UNPACK_PROGRAM;
    char *const words[] = {name, NULL};
    char *const nothing[] = {NULL};
    hub_err err = find_program(path, sizeof path, reterr);
    if (err != HUB_OK) {
        return err;
    }
    if (pipe2(pipes, O_CLOEXEC) != 0) {
        return hub_fail(reterr, HUB_ESYSTEM, "%s", strerrordesc_np(errno));
    }
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
        error = error != 0 ? error : posix_spawn_file_actions_adddup2(&actions, pipes[1], 2);
        error = error != 0 ? error
                           : posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null",
                                                              O_WRONLY, 0);
        error = error != 0 ? error : posix_spawn_file_actions_addchdir_np(&actions, folder);
        error = error != 0 ? error : posix_spawn(&child, path, &actions, NULL, words, nothing);
        (void)posix_spawn_file_actions_destroy(&actions); /* cannot fail */
    }
    (void)close(pipes[1]);
    hub_buf said;
    hub_buf_init(&said, SAID_BYTES);
    int status = 0;
    if (error == 0) {
        read_said(pipes[0], &said);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        err = judge(status, &said, reterr);
    } else {
        err = hub_fail(reterr, HUB_ESYSTEM, "%s: %s", path, strerrordesc_np(error));
    }
    (void)close(pipes[0]);
    hub_buf_fini(&said);
    return err;
}
