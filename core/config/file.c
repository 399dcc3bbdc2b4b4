/* SPDX-License-Identifier: Apache-2.0 */
#include "config/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_STEP_BYTES = 32 * 1024 };

static hub_err fail_errno(const char *path, hub_error *reterr)
{
    int cause = errno;
    char text[128];
    return hub_fail(reterr, cause == ENOENT || cause == ENOTDIR ? HUB_ENOTFOUND : HUB_ESYSTEM,
                    "%s: %s", path, strerror_r(cause, text, sizeof text));
}

/* The buffer's maximum is tested by reading one byte more than it may hold. */
static hub_err read_all(int fd, const char *path, hub_buf *out, hub_error *reterr)
{
    for (;;) {
        size_t left = out->max - out->len;
        size_t step = left < READ_STEP_BYTES ? left : READ_STEP_BYTES;
        char beyond;
        char *into = left == 0 ? &beyond : hub_buf_reserve(out, step);
        if (into == NULL) {
            return hub_fail(reterr, out->failed, "%s: %s", path, hub_err_text(out->failed));
        }
        ssize_t count = read(fd, into, left == 0 ? 1 : step);
        if (count == 0) {
            return HUB_OK;
        }
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return fail_errno(path, reterr);
        }
        if (left == 0) {
            return hub_fail(reterr, HUB_ELIMIT, "%s: longer than %zu bytes", path, out->max);
        }
        out->len += (size_t)count;
    }
}

hub_err hub_file_read(const char *path, hub_buf *out, unsigned *ret_mode, hub_error *reterr)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return fail_errno(path, reterr);
    }
    struct stat status;
    if (ret_mode != NULL) {
        bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
        *ret_mode = regular ? (unsigned)status.st_mode & 07777u : 0;
    }
    hub_err err = read_all(fd, path, out, reterr);
    (void)close(fd); /* read only: nothing can be lost */
    return err;
}

char *hub_file_absolute(const char *folder, const char *path, hub_arena *arena)
{
    if (path[0] == '/') {
        return hub_arena_strdup(arena, hub_str_of(path));
    }
    while (path[0] == '.' && path[1] == '/') {
        path += 2;
        path += strspn(path, "/");
    }
    char *here = folder == NULL ? getcwd(NULL, 0) : NULL;
    if (folder == NULL && here == NULL) {
        return NULL;
    }
    const char *base = folder == NULL ? here : folder;
    bool is_root = strcmp(base, "/") == 0;
    bool is_same = path[0] == '\0' || strcmp(path, ".") == 0;
    char *joined = is_same ? hub_arena_strdup(arena, hub_str_of(base))
                           : hub_arena_printf(arena, "%s/%s", is_root ? "" : base, path);
    free(here);
    return joined;
}

char *hub_file_folder(const char *path, hub_arena *arena)
{
    char *folder = hub_file_absolute(NULL, path, arena);
    if (folder == NULL) {
        return NULL;
    }
    char *slash = strrchr(folder, '/'); /* there is one: the path is absolute */
    slash[slash == folder ? 1 : 0] = '\0';
    return folder;
}
