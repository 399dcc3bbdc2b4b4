/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- replacing a file ------------------------------------------------------------------------ */

/* Make a file beside the target, under a name that nobody can guess or has. */
static int create_temp(int dir_fd, mode_t mode, char ret_name[40])
{
    int fd = -1;
    for (int tries = 0; tries < 16; tries++) {
        uint64_t bits[2];
        if (getrandom(bits, sizeof bits, 0) != (ssize_t)sizeof bits) {
            return -1;
        }
        (void)snprintf(ret_name, 40, ".pb-%016llx%08x.tmp", (unsigned long long)bits[0],
                       (unsigned)(bits[1] & 0xffffffffu));
        fd = openat(dir_fd, ret_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST) {
            break;
        }
    }
    return fd;
}

static int write_all(int fd, patchbay_str bytes)
{
    size_t done = 0;
    while (done < bytes.len) {
        ssize_t n = write(fd, bytes.ptr + done, bytes.len - done);
        if (n < 0 && errno != EINTR) {
            return -1;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* Give the new file what the old one had. The bits that raise privileges are not carried over to
 * new content; the owner only as far as the hub is allowed to. */
static int keep_mode(int fd, const struct stat *old)
{
    if (fchown(fd, old->st_uid, old->st_gid) != 0 && errno != EPERM && errno != EINVAL) {
        return -1;
    }
    return fchmod(fd, old->st_mode & 0777);
}

static int rename_over(int dir_fd, const char *temp, const char *name, int absent)
{
    if (!absent) {
        return renameat(dir_fd, temp, dir_fd, name);
    }
    if (renameat2(dir_fd, temp, dir_fd, name, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return -1;
    }
    /* The file system cannot: a link fails for a name that exists, too. */
    return linkat(dir_fd, temp, dir_fd, name, 0) == 0 ? unlinkat(dir_fd, temp, 0) : -1;
}

static int is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Whether the target is what the caller expects. returns: 1 there is a file, 0 none, -1 refused */
static int check_target(const files_set *set, const files_target *target, struct stat *ret_old,
                        files_problem *problem)
{
    if (fstatat(target->dir_fd, target->name, ret_old, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno != ENOENT) {
            files_explain(set, target->shown, errno, problem);
            return -1;
        }
        if (target->same == NULL) {
            return 0;
        }
        ret_old->st_mode = S_IFREG; /* gone: changed */
    }
    if (target->absent) {
        files_explain(set, target->shown, EEXIST, problem);
    } else if (!S_ISREG(ret_old->st_mode)) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT,
                     "'%s' is a %s; only files are written, and symbolic links not followed for it",
                     target->shown, files_type_name(ret_old->st_mode));
    } else if (target->same != NULL && !is_same(target->same, ret_old)) {
        files_refuse(problem, PATCHBAY_UNAVAILABLE,
                     "'%s' was changed by somebody else meanwhile; read it again", target->shown);
    } else {
        return 1;
    }
    return -1;
}

int files_replace(const files_set *set, const files_target *target, patchbay_str bytes,
                  files_problem *problem)
{
    struct stat old;
    char temp[40];
    int exists = check_target(set, target, &old, problem);
    if (exists < 0) {
        return -1;
    }
    int fd = create_temp(target->dir_fd, exists ? 0600 : 0666, temp);
    if (fd < 0) {
        files_explain(set, target->shown, errno, problem);
        return -1;
    }
    int ok = write_all(fd, bytes) == 0 && (!exists || keep_mode(fd, &old) == 0) && fsync(fd) == 0;
    ok = ok && rename_over(target->dir_fd, temp, target->name, target->absent) == 0;
    int code = errno;
    (void)close(fd);
    if (!ok) {
        (void)unlinkat(target->dir_fd, temp, 0);
        files_explain(set, target->shown, code, problem);
        return -1;
    }
    /* The new name is on disk when its folder is; failing that it is in place all the same. */
    int folder = openat(target->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        (void)fsync(folder);
        (void)close(folder);
    }
    return 0;
}

/* ---- base64 ---------------------------------------------------------------------------------- */

static int digit_value(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c != '\0' ? strchr(digits, c) : NULL;
    return found != NULL ? (int)(found - digits) : -1;
}

/* Decode in place (RFC 4648 section 4, padding optional, no line breaks); 0 when it is not base64.
 */
static int decode_base64(char *text, size_t *len)
{
    size_t in = *len;
    size_t out = 0;
    uint32_t bits = 0;
    for (int i = 0; i < 2 && in > 0 && text[in - 1] == '='; i++) {
        in--;
    }
    if (in % 4 == 1 || (in < *len && *len % 4 != 0)) {
        return 0;
    }
    for (size_t i = 0; i < in; i++) {
        int value = digit_value(text[i]);
        if (value < 0) {
            return 0;
        }
        bits = bits << 6 | (uint32_t)value;
        if (i % 4 != 0) {
            text[out++] = (char)(bits >> (6 - 2 * (i % 4)) & 0xff);
        }
    }
    *len = out;
    return 1;
}

/* ---- the tool -------------------------------------------------------------------------------- */

static int read_content(patchbay_tool_call *call, patchbay_str *ret_bytes, files_problem *problem)
{
    int has_text = patchbay_arg(call, "text").len > 0;
    if (has_text == (patchbay_arg(call, "data").len > 0)) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT, "say either text, or data (base64)");
        return -1;
    }
    if (files_arg_string(call, has_text ? "text" : "data", ret_bytes, problem) != 0) {
        return -1;
    }
    if (!has_text) {
        char *copy = (char *)patchbay_call_alloc(call, ret_bytes->len + 1);
        size_t len = ret_bytes->len;
        if (copy != NULL) {
            memcpy(copy, ret_bytes->ptr, len);
        }
        if (copy == NULL || !decode_base64(copy, &len)) {
            files_refuse(problem, PATCHBAY_INVALID_INPUT, "'data' is not base64");
            return -1;
        }
        *ret_bytes = patchbay_str_make(copy, len);
    }
    return 0;
}

void files_write(patchbay_tool_call *call)
{
    files_set *set = (files_set *)patchbay_toolset_data(call);
    files_problem problem;
    files_path path;
    patchbay_str bytes;
    char name[NAME_MAX + 1];
    int fd = -1;
    if (read_content(call, &bytes, &problem) == 0 &&
        files_arg_path(call, "path", &path, &problem) == 0) {
        fd = files_open_parent(set, &path, name, &problem);
    }
    if (fd < 0) {
        files_reply_problem(call, &problem);
        return;
    }
    files_target target = {.dir_fd = fd,
                           .name = name,
                           .shown = path.shown,
                           .absent = patchbay_arg_bool(call, "create_only", 0)};
    (void)pthread_mutex_lock(&set->write_lock);
    struct stat old;
    int existed = fstatat(fd, name, &old, AT_SYMLINK_NOFOLLOW) == 0;
    int done = files_replace(set, &target, bytes, &problem);
    (void)pthread_mutex_unlock(&set->write_lock);
    (void)close(fd);
    if (done != 0) {
        files_reply_problem(call, &problem);
        return;
    }
    patchbay_out *out = patchbay_structured(call);
    patchbay_out_text(out, "{");
    files_out_path(out, &path, NULL);
    patchbay_out_printf(out, ",\"size\":%zu,\"created\":%s}", bytes.len,
                        existed ? "false" : "true");
    patchbay_reply(call);
}
