/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <fcntl.h>
#include <unistd.h>

static void reply_path(patchbay_tool_call *call, const files_path *path, const char *member,
                       int value)
{
    patchbay_out *out = patchbay_structured(call);
    patchbay_out_text(out, "{");
    files_out_path(out, path, NULL);
    patchbay_out_printf(out, ",\"%s\":%s}", member, value ? "true" : "false");
    patchbay_reply(call);
}

/* ---- mkdir ----------------------------------------------------------------------------------- */

/* Make one folder. returns: 1 made, 0 it is there already, -1 with the problem */
static int make_one(const files_set *set, const files_path *path, files_problem *problem)
{
    char name[NAME_MAX + 1];
    int fd = files_open_parent(set, path, name, problem);
    if (fd < 0) {
        return -1;
    }
    int result = mkdirat(fd, name, 0777) == 0 ? 1 : -1;
    if (result < 0 && errno == EEXIST) {
        /* What a link leads to counts only below the root. */
        int look =
            files_open_beneath(path->root->fd, path->rel, O_PATH | O_DIRECTORY, set->resolve);
        result = look >= 0 ? 0 : -1;
        if (look >= 0) {
            (void)close(look);
        }
        errno = EEXIST;
    }
    if (result < 0) {
        files_explain(set, path->shown, errno, problem);
    }
    (void)close(fd);
    return result;
}

/* Make the folders above the last one. Each is looked up from the root again, so that nothing that
 * happens meanwhile can lead out. */
static int make_parents(const files_set *set, const files_path *path, files_problem *problem)
{
    char rel[PATH_MAX];
    files_path part = *path;
    part.rel = rel;
    (void)snprintf(rel, sizeof rel, "%s", path->rel);
    char *begin = rel;
    for (char *slash = strchr(rel, '/'); slash != NULL; slash = strchr(begin, '/')) {
        *slash = '\0';
        int is_name = *begin != '\0' && strcmp(begin, ".") != 0 && strcmp(begin, "..") != 0;
        int is_last = slash[1 + strspn(slash + 1, "/")] == '\0';
        if (is_name && !is_last && make_one(set, &part, problem) < 0) {
            return -1;
        }
        *slash = '/';
        begin = slash + 1;
    }
    return 0;
}

void files_mkdir(patchbay_tool_call *call)
{
    files_set *set = (files_set *)patchbay_toolset_data(call);
    files_problem problem;
    files_path path;
    int made = files_arg_path(call, "path", &path, &problem);
    if (made == 0) {
        (void)pthread_mutex_lock(&set->write_lock);
        if (patchbay_arg_bool(call, "parents", 0)) {
            made = make_parents(set, &path, &problem);
        }
        made = made == 0 ? make_one(set, &path, &problem) : -1;
        (void)pthread_mutex_unlock(&set->write_lock);
    }
    if (made < 0) {
        files_reply_problem(call, &problem);
    } else {
        reply_path(call, &path, "created", made);
    }
}

/* ---- move ------------------------------------------------------------------------------------ */

typedef struct move_end {
    files_path path;
    int fd;
    char name[NAME_MAX + 1];
} move_end;

static int rename_ends(const files_set *set, const move_end *from, const move_end *to,
                       int overwrite, files_problem *problem)
{
    struct stat status;
    unsigned flags = overwrite ? 0 : RENAME_NOREPLACE;
    if (fstatat(from->fd, from->name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        files_explain(set, from->path.shown, errno, problem);
        return -1;
    }
    if (renameat2(from->fd, from->name, to->fd, to->name, flags) == 0) {
        return 0;
    }
    if (errno == EXDEV) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT,
                     "'%s' and '%s' are on different file systems; read, write and delete instead",
                     from->path.shown, to->path.shown);
    } else {
        files_explain(set, to->path.shown, errno, problem);
    }
    return -1;
}

void files_move(patchbay_tool_call *call)
{
    files_set *set = (files_set *)patchbay_toolset_data(call);
    files_problem problem;
    move_end from = {.fd = -1};
    move_end to = {.fd = -1};
    int done = -1;
    if (files_arg_path(call, "from", &from.path, &problem) == 0 &&
        files_arg_path(call, "to", &to.path, &problem) == 0) {
        from.fd = files_open_parent(set, &from.path, from.name, &problem);
        to.fd = from.fd >= 0 ? files_open_parent(set, &to.path, to.name, &problem) : -1;
    }
    if (from.fd >= 0 && to.fd >= 0) {
        (void)pthread_mutex_lock(&set->write_lock);
        done = rename_ends(set, &from, &to, patchbay_arg_bool(call, "overwrite", 0), &problem);
        (void)pthread_mutex_unlock(&set->write_lock);
    }
    if (from.fd >= 0) {
        (void)close(from.fd);
    }
    if (to.fd >= 0) {
        (void)close(to.fd);
    }
    if (done == 0) {
        reply_path(call, &to.path, "moved", 1);
    } else {
        files_reply_problem(call, &problem);
    }
}

/* ---- delete ---------------------------------------------------------------------------------- */

void files_delete(patchbay_tool_call *call)
{
    files_set *set = (files_set *)patchbay_toolset_data(call);
    files_problem problem;
    files_path path;
    struct stat status;
    char name[NAME_MAX + 1];
    int fd = files_arg_path(call, "path", &path, &problem);
    fd = fd == 0 ? files_open_parent(set, &path, name, &problem) : -1;
    if (fd < 0) {
        files_reply_problem(call, &problem);
        return;
    }
    (void)pthread_mutex_lock(&set->write_lock);
    int done = fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW);
    if (done == 0) {
        done = unlinkat(fd, name, S_ISDIR(status.st_mode) ? AT_REMOVEDIR : 0);
    }
    int code = errno;
    (void)pthread_mutex_unlock(&set->write_lock);
    (void)close(fd);
    if (done == 0) {
        reply_path(call, &path, "deleted", 1);
    } else {
        files_explain(set, path.shown, code, &problem);
        files_reply_problem(call, &problem);
    }
}
