/* SPDX-License-Identifier: Apache-2.0 */
#include "unix/listening.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { GROUP_RECORD_BYTES = 64 * 1024 }; /* a group's members with it */

static hub_err fill_address(const char *path, struct sockaddr_un *ret_address, hub_error *reterr)
{
    size_t len = strlen(path);
    size_t most = sizeof ret_address->sun_path - 1;
    if (len == 0) {
        return hub_fail(reterr, HUB_EINVAL, "the path of the Unix socket is empty");
    }
    if (len > most) {
        return hub_fail(reterr, HUB_EINVAL,
                        "%s: the path of a Unix socket may have %zu bytes, this one has %zu: "
                        "choose a shorter one",
                        path, most, len);
    }
    *ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(ret_address->sun_path, path, len);
    return HUB_OK;
}

static hub_err find_group(const char *path, const char *group, gid_t *ret_gid, hub_error *reterr)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(group, &end, 10);
    if (group[0] >= '0' && group[0] <= '9' && *end == '\0' && errno == 0 &&
        number < (gid_t)-1) { /* -1 means "leave it" to chown */
        *ret_gid = (gid_t)number;
        return HUB_OK;
    }
    struct group record;
    struct group *found = NULL;
    char *room = malloc(GROUP_RECORD_BYTES);
    if (room == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    int failure = getgrnam_r(group, &record, room, GROUP_RECORD_BYTES, &found);
    if (found != NULL) {
        *ret_gid = found->gr_gid;
    }
    free(room);
    if (found == NULL) {
        return hub_fail(reterr, HUB_EINVAL, "%s: there is no group \"%s\"%s%s", path, group,
                        failure != 0 ? ": " : "", failure != 0 ? strerror(failure) : "");
    }
    return HUB_OK;
}

static int open_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* Whether a process listens on the socket file. Non-blocking: a full backlog is an answer, too. */
static bool is_served(const struct sockaddr_un *address)
{
    int fd = open_socket();
    if (fd < 0) {
        return true; /* unknown, so leave it alone */
    }
    bool refused = connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
                   errno == ECONNREFUSED;
    (void)close(fd);
    return !refused;
}

/* Make room at the path: remove the socket file of a process that is gone, and nothing else. */
static hub_err clear_path(const struct sockaddr_un *address, hub_error *reterr)
{
    const char *path = address->sun_path;
    struct stat found;
    if (lstat(path, &found) != 0) {
        if (errno == ENOENT) {
            return HUB_OK;
        }
        return hub_fail(reterr, HUB_ESYSTEM, "%s: %s", path, strerror(errno));
    }
    if (!S_ISSOCK(found.st_mode)) {
        return hub_fail(reterr, HUB_EINVAL,
                        "%s: the path is not a socket; it is left alone: remove it or "
                        "choose another path",
                        path);
    }
    if (is_served(address)) {
        return hub_fail(reterr, HUB_EEXIST,
                        "%s: another process serves it: stop that one or choose another path",
                        path);
    }
    hub_unix_remove(path, &(hub_unix_file){.device = found.st_dev, .inode = found.st_ino});
    return HUB_OK;
}

/* Give the socket file its group and its mode, by a descriptor, so that it is this file and no
 * other that changes. */
static hub_err set_access(const char *path, unsigned mode, const gid_t *group,
                          hub_unix_file *ret_file, hub_error *reterr)
{
    struct stat made;
    char name[64];
    int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return hub_fail(reterr, HUB_ESYSTEM, "%s: %s", path, strerror(errno));
    }
    hub_err err = HUB_OK;
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (fstat(fd, &made) != 0 || !S_ISSOCK(made.st_mode)) {
        err = hub_fail(reterr, HUB_ESYSTEM, "%s: somebody else has changed it meanwhile", path);
    } else if (group != NULL && fchownat(fd, "", (uid_t)-1, *group, AT_EMPTY_PATH) != 0) {
        err =
            hub_fail(reterr, HUB_ESYSTEM, "%s: its group cannot be set: %s", path, strerror(errno));
    } else if (chmod(name, mode) != 0) {
        err =
            hub_fail(reterr, HUB_ESYSTEM, "%s: its mode cannot be set: %s", path, strerror(errno));
    } else {
        *ret_file = (hub_unix_file){.device = made.st_dev, .inode = made.st_ino};
    }
    (void)close(fd);
    return err;
}

/* Bind and listen. The socket's own mode, without group and others, becomes the new file's, less
 * the umask, which is not touched: it is the whole process's. */
static hub_err bind_closed(int fd, const struct sockaddr_un *address, hub_error *reterr)
{
    const char *path = address->sun_path;
    if (fchmod(fd, S_IRUSR | S_IWUSR) != 0 ||
        bind(fd, (const struct sockaddr *)address, sizeof *address) != 0) {
        hub_err err = errno == EADDRINUSE ? HUB_EEXIST : HUB_ESYSTEM;
        return hub_fail(reterr, err, "%s: cannot make a socket there: %s", path, strerror(errno));
    }
    if (listen(fd, SOMAXCONN) != 0) {
        hub_err err = hub_fail(reterr, HUB_ESYSTEM, "%s: cannot listen: %s", path, strerror(errno));
        (void)unlink(path);
        return err;
    }
    return HUB_OK;
}

hub_err hub_unix_listen(const char *path, unsigned mode, const char *group, int *ret_fd,
                        hub_unix_file *ret_file, hub_error *reterr)
{
    struct sockaddr_un address;
    gid_t gid = 0;
    hub_err err = fill_address(path, &address, reterr);
    if (err == HUB_OK && group != NULL) {
        err = find_group(path, group, &gid, reterr);
    }
    if (err == HUB_OK) {
        err = clear_path(&address, reterr);
    }
    if (err != HUB_OK) {
        return err;
    }
    int fd = open_socket();
    if (fd < 0) {
        return hub_fail(reterr, HUB_ESYSTEM, "%s: no socket can be had: %s", path, strerror(errno));
    }
    err = bind_closed(fd, &address, reterr);
    if (err != HUB_OK) {
        (void)close(fd);
        return err;
    }
    err = set_access(path, mode, group != NULL ? &gid : NULL, ret_file, reterr);
    if (err != HUB_OK) {
        (void)unlink(path);
        (void)close(fd);
        return err;
    }
    *ret_fd = fd;
    return HUB_OK;
}

bool hub_unix_is_bound_to(int fd, const char *path)
{
    struct sockaddr_un bound = {.sun_family = AF_UNSPEC};
    socklen_t len = sizeof bound;
    int listens = 0;
    socklen_t size = sizeof listens;
    return getsockname(fd, (struct sockaddr *)&bound, &len) == 0 && bound.sun_family == AF_UNIX &&
           len < sizeof bound && strcmp(bound.sun_path, path) == 0 &&
           getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0;
}

void hub_unix_remove(const char *path, const hub_unix_file *file)
{
    struct stat found;
    if (lstat(path, &found) == 0 && S_ISSOCK(found.st_mode) && found.st_dev == file->device &&
        found.st_ino == file->inode) {
        (void)unlink(path); /* where it cannot be, the next start says so */
    }
}
