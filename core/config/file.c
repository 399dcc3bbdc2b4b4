/* SPDX-License-Identifier: Apache-2.0 */
#include "config/file.h"

#include "base/io.h"
#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { READ_STEP_BYTES = 32 * 1024 };

static hub_err fail_errno(const char *path, hub_error *reterr)
{
    int cause = errno;
    char text[128];
    return hub_fail(reterr, cause == ENOENT || cause == ENOTDIR ? HUB_ENOTFOUND : HUB_ESYSTEM,
                    "%s: %s", path, strerror_r(cause, text, sizeof text));
}

/* A pipe that has a name: whether anybody will ever write to it is not known. One without (/dev/stdin,
 * or <(…) of a shell) has somebody at its other end. */
static bool is_named_pipe(const char *path)
{
    struct stat status;
    struct statfs system;
    return stat(path, &status) == 0 && S_ISFIFO(status.st_mode) && statfs(path, &system) == 0 &&
           system.f_type != PIPEFS_MAGIC;
}

static hub_err await_writer(int fd, const char *path, hub_error *reterr)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    int count;
    do {
        count = poll(&ready, 1, HUB_LIMIT_PIPE_MS);
    } while (count < 0 && errno == EINTR);
    return count != 0
               ? HUB_OK
               : hub_fail(reterr, HUB_ESYSTEM, "%s: nothing was written to this pipe within %d ms",
                          path, HUB_LIMIT_PIPE_MS);
}

/* The buffer's maximum is tested by reading one byte more than it may hold. */
static hub_err read_all(int fd, bool is_pipe, const char *path, hub_buf *out, hub_error *reterr)
{
    for (;;) {
        hub_err err = is_pipe ? await_writer(fd, path, reterr) : HUB_OK;
        if (err != HUB_OK) {
            return err;
        }
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
        if (count < 0 && (errno == EINTR || (is_pipe && errno == EAGAIN))) {
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
    bool is_pipe = is_named_pipe(path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (is_pipe ? O_NONBLOCK : 0));
    if (fd < 0) {
        return fail_errno(path, reterr);
    }
    struct stat status;
    if (ret_mode != NULL) {
        bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
        *ret_mode = regular ? (unsigned)status.st_mode & 07777u : 0;
    }
    hub_err err = read_all(fd, is_pipe, path, out, reterr);
    (void)close(fd); /* read only: nothing can be lost */
    return err;
}

static int64_t to_ns(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

hub_file_stamp hub_file_look(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        return (hub_file_stamp){.inode = 0};
    }
    return (hub_file_stamp){
        .device = status.st_dev,
        .inode = status.st_ino,
        .size = status.st_size,
        .modified_ns = to_ns(status.st_mtim),
        .changed_ns = to_ns(status.st_ctim),
        .is_regular = S_ISREG(status.st_mode),
    };
}

bool hub_file_stamp_equal(const hub_file_stamp *a, const hub_file_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->modified_ns == b->modified_ns && a->changed_ns == b->changed_ns;
}

static hub_err check_private(int fd, const char *path, hub_error *reterr)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        return fail_errno(path, reterr);
    }
    if (!S_ISREG(status.st_mode)) {
        return hub_fail(reterr, HUB_EINVAL, "%s: not a regular file", path);
    }
    if (status.st_uid != geteuid()) {
        return hub_fail(reterr, HUB_EDENIED,
                        "%s: belongs to user %u, and this process is user %u: chown it, or use a "
                        "file of your own",
                        path, (unsigned)status.st_uid, (unsigned)geteuid());
    }
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return hub_fail(reterr, HUB_EDENIED,
                        "%s: other users have access to it (mode %04o): chmod 600 it, and make new "
                        "tokens if they may have read or changed it",
                        path, (unsigned)status.st_mode & 07777u);
    }
    return HUB_OK;
}

hub_err hub_file_read_private(const char *path, hub_buf *out, hub_error *reterr)
{
    /* Not to wait for whoever opens the other end of a pipe. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        return fail_errno(path, reterr);
    }
    hub_err err = check_private(fd, path, reterr);
    if (err == HUB_OK) {
        err = read_all(fd, false, path, out, reterr);
    }
    (void)close(fd); /* read only: nothing can be lost */
    return err;
}

/* That the name is there after a power cut, too. */
static bool sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL   ? hub_str_dup(HUB_STR("."))
                   : slash == path ? hub_str_dup(HUB_STR("/"))
                                   : hub_str_dup(hub_str_between(path, slash));
    int fd = folder == NULL ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) {
        (void)close(fd); /* read only */
    }
    free(folder);
    return synced;
}

/* mkostemp makes it 0600. */
static hub_err replace(const char *path, hub_str content, hub_error *reterr)
{
    char *temporary = NULL;
    if (asprintf(&temporary, "%s.XXXXXX", path) < 0) {
        return hub_fail(reterr, HUB_ENOMEM, "%s: out of memory", path);
    }
    int fd = mkostemp(temporary, O_CLOEXEC);
    bool is_kept = fd >= 0 && hub_write_all(fd, content) == content.len && fsync(fd) == 0;
    hub_err err = is_kept ? HUB_OK : fail_errno(path, reterr);
    if (fd >= 0 && close(fd) != 0 && err == HUB_OK) {
        err = fail_errno(path, reterr);
    }
    if (err == HUB_OK && (rename(temporary, path) != 0 || !sync_folder(path))) {
        err = fail_errno(path, reterr);
    }
    if (err != HUB_OK && fd >= 0) {
        (void)unlink(temporary); /* it may have its new name already */
    }
    free(temporary);
    return err;
}

/* Where the file of this name is, or will be: release with free. A link that leads nowhere is the
 * user's, too: nothing takes its place. */
static hub_err follow(const char *path, char **ret_target, hub_error *reterr)
{
    struct stat there;
    char *target = realpath(path, NULL);
    if (target == NULL && errno != ENOENT) {
        return fail_errno(path, reterr);
    }
    if (target == NULL && lstat(path, &there) == 0) {
        return hub_fail(reterr, HUB_ENOTFOUND, "%s: it is a link to a file that is not there",
                        path);
    }
    *ret_target = target != NULL ? target : hub_str_dup(hub_str_of(path));
    return *ret_target != NULL ? HUB_OK : hub_fail(reterr, HUB_ENOMEM, "%s: out of memory", path);
}

hub_err hub_file_replace_private(const char *path, hub_str content, hub_error *reterr)
{
    char *target = NULL;
    hub_err err = follow(path, &target, reterr);
    if (err == HUB_OK) {
        err = replace(target, content, reterr);
    }
    free(target);
    return err;
}

hub_err hub_file_make_folder(const char *folder, hub_error *reterr)
{
    char *partial = hub_str_dup(hub_str_of(folder));
    if (partial == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "%s: out of memory", folder);
    }
    hub_err err = HUB_OK;
    for (char *at = partial + 1; err == HUB_OK && at[-1] != '\0'; at++) {
        if (*at == '/' || *at == '\0') {
            char end = *at;
            *at = '\0';
            if (mkdir(partial, 0700) != 0 && errno != EEXIST) {
                err = hub_fail(reterr, HUB_ESYSTEM, "%s: %s", partial, strerrordesc_np(errno));
            }
            *at = end;
        }
    }
    free(partial);
    return err;
}

hub_err hub_file_lock_folder(const char *folder, int *ret_fd, hub_error *reterr)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int locked = -1;
    while (fd >= 0 && (locked = flock(fd, LOCK_EX)) != 0 && errno == EINTR) {
    }
    if (locked != 0) {
        hub_err err = hub_fail(reterr, HUB_ESYSTEM, "%s: %s", folder, strerrordesc_np(errno));
        if (fd >= 0) {
            (void)close(fd); /* read only */
        }
        return err;
    }
    *ret_fd = fd;
    return HUB_OK;
}

/* The temporary file's name in a message, as the user knows it. */
static void rename_in(hub_error *why, const char *temporary, const char *path)
{
    hub_buf text;
    hub_buf_init(&text, sizeof why->text);
    hub_str rest = hub_str_of(why->text);
    size_t at = hub_str_find(rest, hub_str_of(temporary));
    if (at != SIZE_MAX) {
        hub_buf_add(&text, (hub_str){.ptr = rest.ptr, .len = at});
        hub_buf_add(&text, hub_str_of(path));
        hub_buf_add(&text, hub_str_from(rest, at + strlen(temporary)));
        hub_str made = hub_buf_str(&text);
        (void)snprintf(why->text, sizeof why->text, HUB_STR_FMT, HUB_STR_ARG(made));
    }
    hub_buf_fini(&text);
}

/* Whose it was and who may read it stays. Only root can give files away. */
static bool keep_owner(int fd, const struct stat *was)
{
    bool is_ours = was->st_uid == geteuid() && was->st_gid == getegid();
    return (is_ours || fchown(fd, was->st_uid, was->st_gid) == 0) &&
           fchmod(fd, was->st_mode & 07777) == 0;
}

/* The content under another name, as the file at `target` is or will be. Closes the descriptor. */
static hub_err write_beside(int fd, const char *target, hub_str content, hub_error *reterr)
{
    struct stat was;
    bool is_there = stat(target, &was) == 0;
    bool is_kept = hub_write_all(fd, content) == content.len &&
                   (!is_there || keep_owner(fd, &was)) && fsync(fd) == 0;
    hub_err err = is_kept ? HUB_OK : fail_errno(target, reterr);
    if (close(fd) != 0 && err == HUB_OK) {
        err = fail_errno(target, reterr);
    }
    return err;
}

static hub_err ask_whether_good(const char *target, const hub_file_change *change,
                                const char *temporary, hub_error *reterr)
{
    hub_error why = {.code = HUB_OK};
    hub_err err = change->check != NULL ? change->check(change->ctx, temporary, &why) : HUB_OK;
    if (err != HUB_OK) {
        rename_in(&why, temporary, target);
        return hub_fail(reterr, err, "%s", why.text);
    }
    hub_file_stamp now = hub_file_look(target);
    return hub_file_stamp_equal(&now, &change->seen)
               ? HUB_OK
               : hub_fail(reterr, HUB_ECONFLICT,
                          "%s: somebody else has changed it in the meantime: try again", target);
}

static hub_err replace_checked(const char *target, const hub_file_change *change, char *temporary,
                               hub_error *reterr)
{
    const char *base = strrchr(target, '/');
    const char *dot = strrchr(base != NULL ? base : target, '.');
    int fd = mkostemps(temporary, dot != NULL ? (int)strlen(dot) : 0, O_CLOEXEC);
    if (fd < 0) {
        return fail_errno(target, reterr);
    }
    hub_err err = write_beside(fd, target, change->content, reterr);
    if (err == HUB_OK) {
        err = ask_whether_good(target, change, temporary, reterr);
    }
    if (err == HUB_OK && !change->only_check &&
        (rename(temporary, target) != 0 || !sync_folder(target))) {
        err = fail_errno(target, reterr);
    }
    if (err != HUB_OK || change->only_check) {
        (void)unlink(temporary); /* it may have its new name already */
    }
    return err;
}

hub_err hub_file_replace(const char *path, const hub_file_change *change, hub_error *reterr)
{
    char *target = NULL;
    hub_err err = follow(path, &target, reterr);
    if (err != HUB_OK) {
        return err;
    }
    const char *slash = strrchr(target, '/');
    const char *base = slash != NULL ? slash + 1 : target;
    const char *dot = strrchr(base, '.');
    char *temporary = NULL;
    if (asprintf(&temporary, "%.*s.patchbay-XXXXXX%s", (int)(base - target), target,
                 dot != NULL ? dot : "") < 0) {
        err = hub_fail(reterr, HUB_ENOMEM, "%s: out of memory", path);
    } else {
        err = replace_checked(target, change, temporary, reterr);
        free(temporary);
    }
    free(target);
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
