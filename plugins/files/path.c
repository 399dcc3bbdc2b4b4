/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A lookup through ".." is refused with EAGAIN while something else is renamed; then try again. */
#define OPEN_TRIES 128

/* ---- the one way in -------------------------------------------------------------------------- */

int files_open_beneath(int dir_fd, const char *rel, int flags, uint64_t resolve)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve,
    };
    long fd = -1;
    for (int tries = 0; tries < OPEN_TRIES; tries++) {
        fd = syscall(SYS_openat2, dir_fd, rel, &how, sizeof how);
        if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) {
            break;
        }
    }
    return (int)fd;
}

/* ---- refusals -------------------------------------------------------------------------------- */

/* "docs (/srv/docs), src (/srv/src, read-only)" */
static void name_roots(const files_set *set, char *text, size_t size)
{
    size_t len = 0;
    text[0] = '\0';
    for (size_t i = 0; i < set->root_count && len < size; i++) {
        const files_root *root = &set->roots[i];
        int n = snprintf(text + len, size - len, "%s%s (%s, %s)", i > 0 ? ", " : "", root->name,
                         root->path, root->writable ? "writable" : "read-only");
        len += n > 0 ? (size_t)n : 0;
    }
}

static void refuse_outside(const files_set *set, const char *shown, const char *why,
                           files_problem *problem)
{
    char roots[512];
    name_roots(set, roots, sizeof roots);
    files_refuse(problem, PATCHBAY_INVALID_INPUT, "'%s' %s. Allowed roots: %s", shown, why, roots);
}

typedef struct errno_text {
    int code;
    int32_t status;
    const char *text;
} errno_text;

static const errno_text errno_texts[] = {
    {ENOENT, PATCHBAY_INVALID_INPUT, "does not exist"},
    {ENOTDIR, PATCHBAY_INVALID_INPUT, "has a part that is not a directory"},
    {EISDIR, PATCHBAY_INVALID_INPUT, "is a directory"},
    {EEXIST, PATCHBAY_INVALID_INPUT, "exists already"},
    {ENOTEMPTY, PATCHBAY_INVALID_INPUT, "is a directory that is not empty"},
    {ENAMETOOLONG, PATCHBAY_INVALID_INPUT, "is too long, or has a part that is"},
    {ELOOP, PATCHBAY_INVALID_INPUT,
     "leads through a symbolic link that is not followed here, or that leads to itself"},
    {EINVAL, PATCHBAY_INVALID_INPUT, "cannot be used like this (a folder cannot move into itself)"},
    {EACCES, PATCHBAY_FAILED, "may not be used by the hub: permission denied"},
    {EPERM, PATCHBAY_FAILED, "may not be used by the hub: operation not permitted"},
    {EROFS, PATCHBAY_FAILED, "is on a file system that is read-only"},
    {ENOSPC, PATCHBAY_FAILED, "cannot be written: no space left"},
    {EDQUOT, PATCHBAY_FAILED, "cannot be written: the quota is used up"},
    {EBUSY, PATCHBAY_UNAVAILABLE, "is in use; try again later"},
    {EAGAIN, PATCHBAY_UNAVAILABLE, "is being changed at this moment; try again"},
    {EMFILE, PATCHBAY_UNAVAILABLE, "cannot be opened now: too many open files; try again later"},
    {ENFILE, PATCHBAY_UNAVAILABLE, "cannot be opened now: too many open files; try again later"},
    {ENOSYS, PATCHBAY_FAILED,
     "was not opened: this kernel has no openat2 (Linux 5.6), without which no access is safe"},
};

void files_explain(const files_set *set, const char *shown, int code, files_problem *problem)
{
    if (code == EXDEV) { /* what RESOLVE_BENEATH says */
        refuse_outside(set, shown, "leads out of its root", problem);
        return;
    }
    for (size_t i = 0; i < sizeof errno_texts / sizeof errno_texts[0]; i++) {
        if (errno_texts[i].code == code) {
            files_refuse(problem, errno_texts[i].status, "'%s' %s", shown, errno_texts[i].text);
            return;
        }
    }
    char reason[128];
    files_refuse(problem, PATCHBAY_FAILED, "'%s' cannot be used: %s", shown,
                 strerror_r(code, reason, sizeof reason));
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* The rest of `text` behind `prefix` and a slash, or NULL. */
static const char *strip_prefix(const char *text, const char *prefix)
{
    size_t len = strlen(prefix);
    while (len > 0 && prefix[len - 1] == '/') { /* the root "/" itself */
        len--;
    }
    if (strncmp(text, prefix, len) != 0 || (text[len] != '/' && text[len] != '\0')) {
        return NULL;
    }
    return text + len;
}

static int find_absolute(const files_set *set, const char *text, files_path *path)
{
    size_t best = 0;
    for (size_t i = 0; i < set->root_count; i++) {
        const char *names[] = {set->roots[i].path, set->roots[i].real_path};
        for (size_t n = 0; n < 2; n++) {
            const char *rest = strip_prefix(text, names[n]);
            if (rest != NULL && (path->root == NULL || strlen(names[n]) > best)) {
                best = strlen(names[n]);
                path->root = &set->roots[i];
                path->rel = rest;
            }
        }
    }
    return path->root != NULL;
}

static int find_relative(const files_set *set, const char *text, files_path *path)
{
    while (text[0] == '.' && text[1] == '/') {
        text += 2 + strspn(text + 2, "/");
    }
    for (size_t i = 0; i < set->root_count && path->root == NULL; i++) {
        path->rel = strip_prefix(text, set->roots[i].name);
        if (path->rel != NULL) {
            path->root = &set->roots[i];
        }
    }
    if (path->root == NULL && set->root_count == 1) {
        path->root = &set->roots[0];
        path->rel = text;
    }
    return path->root != NULL;
}

static void shorten(const char *text, char shown[FILES_SHOWN_BYTES])
{
    static const char mark[] = "…";
    size_t len = strlen(text);
    if (len < FILES_SHOWN_BYTES) {
        memcpy(shown, text, len + 1);
        return;
    }
    size_t kept = files_utf8_length(text, FILES_SHOWN_BYTES - sizeof mark);
    memcpy(shown, text, kept);
    memcpy(shown + kept, mark, sizeof mark);
}

int files_arg_path(patchbay_tool_call *call, const char *key, files_path *ret,
                   files_problem *problem)
{
    const files_set *set = (const files_set *)patchbay_toolset_data(call);
    patchbay_str text = patchbay_str_of("");
    memset(ret, 0, sizeof *ret);
    if (patchbay_arg(call, key).len > 0 && files_arg_string(call, key, &text, problem) != 0) {
        return -1;
    }
    if (memchr(text.ptr, '\0', text.len) != NULL) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT, "'%s' contains a NUL character", key);
        return -1;
    }
    shorten(text.len > 0 ? text.ptr : key, ret->shown);
    if (text.len >= PATH_MAX) {
        files_explain(set, ret->shown, ENAMETOOLONG, problem);
        return -1;
    }
    int found =
        text.ptr[0] == '/' ? find_absolute(set, text.ptr, ret) : find_relative(set, text.ptr, ret);
    if (!found) {
        refuse_outside(set, ret->shown, "is not in an allowed root", problem);
        return -1;
    }
    ret->rel += strspn(ret->rel, "/");
    if (ret->rel[0] == '\0') {
        ret->rel = ".";
    }
    return 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Look before opening: to open a FIFO or a device can have effects, even without reading it. */
static int open_looked_at(int dir_fd, const char *rel, uint64_t resolve, struct stat *ret_status)
{
    int look = files_open_beneath(dir_fd, rel, O_PATH, resolve);
    if (look < 0) {
        return -1;
    }
    int known = fstat(look, ret_status);
    (void)close(look);
    if (known != 0 || !S_ISREG(ret_status->st_mode)) {
        errno = known != 0 ? errno : 0;
        return -1;
    }
    int fd = files_open_beneath(dir_fd, rel, O_RDONLY | O_NONBLOCK | O_NOCTTY, resolve);
    if (fd >= 0 && (fstat(fd, ret_status) != 0 || !S_ISREG(ret_status->st_mode))) {
        (void)close(fd); /* swapped in between */
        errno = 0;
        return -1;
    }
    return fd;
}

int files_open_regular(const files_set *set, const files_path *path, struct stat *ret_status,
                       files_problem *problem)
{
    int fd = open_looked_at(path->root->fd, path->rel, set->resolve, ret_status);
    if (fd < 0 && errno == 0) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT, "'%s' is a %s, not a file", path->shown,
                     files_type_name(ret_status->st_mode));
    } else if (fd < 0) {
        files_explain(set, path->shown, errno, problem);
    }
    return fd;
}

int files_open_entry(int dir_fd, const char *name)
{
    struct stat status;
    return open_looked_at(dir_fd, name, RESOLVE_NO_SYMLINKS, &status);
}

int files_open_folder(const files_set *set, const files_path *path, files_problem *problem)
{
    int fd = files_open_beneath(path->root->fd, path->rel, O_RDONLY | O_DIRECTORY, set->resolve);
    if (fd < 0 && errno == ENOTDIR) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT, "'%s' is not a directory", path->shown);
    } else if (fd < 0) {
        files_explain(set, path->shown, errno, problem);
    }
    return fd;
}

int files_open_parent(const files_set *set, const files_path *path, char ret_name[NAME_MAX + 1],
                      files_problem *problem)
{
    char parent[PATH_MAX];
    size_t len = strlen(path->rel);
    if (!path->root->writable) {
        refuse_outside(set, path->shown, "is in a root that is read-only", problem);
        return -1;
    }
    while (len > 0 && path->rel[len - 1] == '/') {
        len--;
    }
    size_t begin = len;
    while (begin > 0 && path->rel[begin - 1] != '/') {
        begin--;
    }
    size_t name_len = len - begin;
    if (name_len > NAME_MAX) {
        files_explain(set, path->shown, ENAMETOOLONG, problem);
        return -1;
    }
    memcpy(ret_name, path->rel + begin, name_len);
    ret_name[name_len] = '\0';
    if (strcmp(ret_name, ".") == 0 || strcmp(ret_name, "..") == 0) {
        refuse_outside(set, path->shown, "does not end in a name below its root", problem);
        return -1;
    }
    (void)snprintf(parent, sizeof parent, "%.*s", (int)begin, path->rel);
    int fd = files_open_beneath(path->root->fd, begin > 0 ? parent : ".", O_PATH | O_DIRECTORY,
                                set->resolve);
    if (fd < 0 && errno == ENOENT) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT, "the folder of '%s' does not exist",
                     path->shown);
    } else if (fd < 0) {
        files_explain(set, path->shown, errno, problem);
    }
    return fd;
}
