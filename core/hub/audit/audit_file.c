/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/audit/audit_file.h"

#include "base/io.h"
#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static hub_err explain(const char *path, hub_error *reterr)
{
    return hub_fail(reterr, HUB_ESYSTEM, "the audit file %s cannot be written: %s", path,
                    strerror(errno));
}

static bool is_same(const hub_audit_file *file, const char *path)
{
    struct stat there;
    struct stat here;
    return stat(path, &there) == 0 && fstat(file->fd, &here) == 0 && there.st_dev == here.st_dev &&
           there.st_ino == here.st_ino;
}

hub_err hub_audit_file_open(hub_audit_file *file, const char *path, hub_error *reterr)
{
    if (file->fd >= 0 && is_same(file, path)) {
        return HUB_OK;
    }
    hub_audit_file_close(file);
    /* A pipe that nobody reads is an error, and one that is full: neither is waited for. */
    file->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
    if (file->fd < 0) {
        return explain(path, reterr);
    }
    hub_buf end;
    hub_buf_init(&end, HUB_LIMIT_AUDIT_LINE_BYTES);
    hub_audit_file_add_end(file, path, &end);
    file->is_torn = end.len > 0 && end.ptr[end.len - 1] != '\n';
    hub_buf_fini(&end);
    return HUB_OK;
}

void hub_audit_file_add_end(const hub_audit_file *file, const char *path, hub_buf *out)
{
    struct stat info;
    if (fstat(file->fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) {
        return;
    }
    size_t len = info.st_size < (off_t)HUB_LIMIT_AUDIT_LINE_BYTES ? (size_t)info.st_size
                                                                  : HUB_LIMIT_AUDIT_LINE_BYTES;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    char *at = fd >= 0 ? hub_buf_reserve(out, len) : NULL;
    ssize_t count = at != NULL ? pread(fd, at, len, info.st_size - (off_t)len) : -1;
    out->len += count > 0 ? (size_t)count : 0;
    if (fd >= 0) {
        (void)close(fd);
    }
}

/* Whether a file could be made there; errno says why not. */
static bool may_create(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash != NULL ? strndup(path, slash > path ? (size_t)(slash - path) : 1) : NULL;
    bool may = folder == NULL || access(folder, W_OK | X_OK) == 0;
    int why = errno;
    free(folder);
    errno = why;
    return may;
}

hub_err hub_audit_file_check(const char *path, hub_error *reterr)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 && (errno != ENOENT || !may_create(path))) {
        return explain(path, reterr);
    }
    if (fd >= 0) {
        (void)close(fd); /* nothing was written */
    }
    return HUB_OK;
}

hub_err hub_audit_file_write(hub_audit_file *file, const char *path, hub_str lines,
                             hub_error *reterr)
{
    hub_err err = hub_audit_file_open(file, path, reterr);
    if (err != HUB_OK) {
        return err;
    }
    if (file->is_torn && hub_write_all(file->fd, HUB_STR("\n")) != 1) {
        return explain(path, reterr);
    }
    file->is_torn = false;
    struct stat before;
    bool can_cut = fstat(file->fd, &before) == 0 && S_ISREG(before.st_mode);
    size_t done = hub_write_all(file->fd, lines);
    if (done == lines.len) {
        return HUB_OK;
    }
    err = explain(path, reterr);
    file->is_torn = done > 0 && !(can_cut && ftruncate(file->fd, before.st_size) == 0);
    return err;
}

void hub_audit_file_close(hub_audit_file *file)
{
    if (file->fd >= 0) {
        (void)close(file->fd); /* what was written was answered for */
    }
    *file = (hub_audit_file){.fd = -1};
}
