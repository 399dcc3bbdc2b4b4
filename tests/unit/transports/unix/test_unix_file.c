/* SPDX-License-Identifier: Apache-2.0 */
/* The socket file of the Unix transport: what it replaces, what it leaves alone, who may use it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "unix/listening.h"

enum { PATH_BYTES = 256 };

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/patchbay-unix-XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* a test leaves nothing */
}

/* Instead of the C library's, to see what stands at the path before the hub opens it to others. */
static mode_t mode_before_chmod;

int chmod(const char *path, mode_t mode)
{
    struct stat found;
    mode_before_chmod = stat(path, &found) == 0 ? found.st_mode & 07777 : 07777;
    return fchmodat(AT_FDCWD, path, mode, 0);
}

static const char *in_folder(const char *name)
{
    static char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    assert_true(strlen(path) < sizeof address.sun_path);
    memcpy(address.sun_path, path, strlen(path));
    return address;
}

/* A socket file; the caller may close the descriptor and leave the file stale. */
static int bind_at(const char *path, int type)
{
    struct sockaddr_un address = address_of(path);
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static bool can_connect(const char *path)
{
    struct sockaddr_un address = address_of(path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    bool connected = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    assert_int_equal(close(fd), 0);
    return connected;
}

static ino_t inode_of(const char *path)
{
    struct stat found;
    assert_int_equal(lstat(path, &found), 0);
    return found.st_ino;
}

static void assert_refused(const char *path, const char *group, hub_err expected, const char *why)
{
    int fd = -1;
    hub_unix_file file;
    hub_error reason = {.code = HUB_OK};
    assert_int_equal(hub_unix_listen(path, 0600, group, &fd, &file, &reason), expected);
    assert_int_equal(fd, -1);
    if (strstr(reason.text, why) == NULL || strstr(reason.text, path) == NULL) {
        fail_msg("%s", reason.text);
    }
}

static void assert_listens(const char *path, unsigned mode, const char *group)
{
    int fd = -1;
    hub_unix_file file;
    hub_error reason = {.code = HUB_OK};
    if (hub_unix_listen(path, mode, group, &fd, &file, &reason) != HUB_OK) {
        fail_msg("%s", reason.text);
    }
    struct stat found;
    assert_int_equal(lstat(path, &found), 0);
    assert_true(S_ISSOCK(found.st_mode));
    assert_int_equal(found.st_mode & 07777, mode);
    assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    assert_true((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
    assert_true(can_connect(path));
    hub_unix_remove(path, &file);
    assert_int_equal(close(fd), 0);
    assert_int_equal(access(path, F_OK), -1);
}

/* The mode is the one asked for, whatever the umask says; and the umask is not changed. */
static void test_mode(void **state)
{
    (void)state;
    static const unsigned modes[] = {0600, 0660, 0666, 0700, 0777, 0620};
    static const mode_t masks[] = {0, 022, 077, 0777};
    for (size_t m = 0; m < sizeof masks / sizeof masks[0]; m++) {
        mode_t before = umask(masks[m]);
        for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
            assert_listens(in_folder("s"), modes[i], NULL);
        }
        assert_int_equal(umask(before), masks[m]);
    }
}

/* There is no moment at which others than the owner could connect before they may. */
static void test_closed_at_first(void **state)
{
    (void)state;
    mode_t before = umask(0);
    mode_before_chmod = 07777;
    assert_listens(in_folder("s"), 0666, NULL);
    assert_int_equal(mode_before_chmod, 0600);
    (void)umask(before);
}

static void test_group(void **state)
{
    (void)state;
    gid_t gid = getuid() == 0 ? 1 : getgid(); /* a group that this user may give away to */
    char number[32];
    (void)snprintf(number, sizeof number, "%u", (unsigned)gid);
    const struct group *entry = getgrgid(gid);
    const char *names[] = {number, entry != NULL ? entry->gr_name : number};
    for (size_t i = 0; i < 2; i++) {
        int fd = -1;
        hub_unix_file file;
        struct stat found;
        char name[64];
        (void)snprintf(name, sizeof name, "%s", names[i]);
        assert_int_equal(hub_unix_listen(in_folder("s"), 0660, name, &fd, &file, NULL), HUB_OK);
        assert_int_equal(lstat(in_folder("s"), &found), 0);
        assert_int_equal(found.st_gid, gid);
        assert_int_equal(found.st_mode & 0777, 0660);
        hub_unix_remove(in_folder("s"), &file);
        assert_int_equal(close(fd), 0);
    }
    assert_refused(in_folder("s"), "no-such-group-here", HUB_EINVAL, "no-such-group-here");
    assert_refused(in_folder("s"), "12x", HUB_EINVAL, "12x");
    assert_refused(in_folder("s"), "4294967295", HUB_EINVAL, "4294967295");
    assert_refused(in_folder("s"), "", HUB_EINVAL, "no group");
    assert_int_equal(access(in_folder("s"), F_OK), -1);
}

/* A group that may not be given away to: nothing is left behind. */
static void test_foreign_group(void **state)
{
    (void)state;
    if (getuid() != 0) {
        skip();
    }
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(setegid(12345), 0);
    assert_int_equal(seteuid(12345), 0);
    assert_refused(in_folder("s"), "1", HUB_ESYSTEM, "group cannot be set");
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(setegid(0), 0);
    assert_int_equal(access(in_folder("s"), F_OK), -1);
}

static void test_stale_is_replaced(void **state)
{
    (void)state;
    assert_int_equal(close(bind_at(in_folder("s"), SOCK_STREAM)), 0);
    assert_int_equal(access(in_folder("s"), F_OK), 0);
    assert_listens(in_folder("s"), 0600, NULL);
}

static void test_live_is_refused(void **state)
{
    (void)state;
    int live = bind_at(in_folder("s"), SOCK_STREAM);
    assert_int_equal(listen(live, 1), 0);
    ino_t before = inode_of(in_folder("s"));
    assert_refused(in_folder("s"), NULL, HUB_EEXIST, "another process serves it");
    assert_true(inode_of(in_folder("s")) == before);
    assert_int_equal(close(live), 0);

    /* nobody accepts there, and nobody else gets in line */
    assert_int_equal(unlink(in_folder("s")), 0);
    int busy = bind_at(in_folder("s"), SOCK_STREAM | SOCK_NONBLOCK);
    assert_int_equal(listen(busy, 0), 0);
    struct sockaddr_un address = address_of(in_folder("s"));
    int fds[8];
    for (size_t i = 0; i < 8; i++) {
        fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        (void)connect(fds[i], (struct sockaddr *)&address, sizeof address);
    }
    assert_refused(in_folder("s"), NULL, HUB_EEXIST, "another process serves it");
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(close(fds[i]), 0);
    }
    assert_int_equal(close(busy), 0);
    assert_int_equal(unlink(in_folder("s")), 0);

    /* a socket of another type is somebody's, too */
    int datagrams = bind_at(in_folder("s"), SOCK_DGRAM);
    assert_refused(in_folder("s"), NULL, HUB_EEXIST, "another process serves it");
    assert_int_equal(close(datagrams), 0);
    assert_int_equal(unlink(in_folder("s")), 0);
}

static void test_other_files_stay(void **state)
{
    (void)state;
    int fd = open(in_folder("s"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(write(fd, "mine", 4) == 4);
    assert_int_equal(close(fd), 0);
    assert_refused(in_folder("s"), NULL, HUB_EINVAL, "is not a socket");
    struct stat found;
    assert_int_equal(stat(in_folder("s"), &found), 0);
    assert_int_equal(found.st_size, 4);

    /* a symbolic link, to the file and then to a stale socket */
    char link_path[PATH_BYTES];
    (void)snprintf(link_path, sizeof link_path, "%s", in_folder("link"));
    assert_int_equal(symlink(in_folder("s"), link_path), 0);
    assert_refused(link_path, NULL, HUB_EINVAL, "is not a socket");
    assert_int_equal(unlink(in_folder("s")), 0);
    assert_int_equal(close(bind_at(in_folder("s"), SOCK_STREAM)), 0);
    assert_refused(link_path, NULL, HUB_EINVAL, "is not a socket");
    assert_int_equal(unlink(in_folder("s")), 0);
    assert_refused(link_path, NULL, HUB_EINVAL, "is not a socket"); /* it leads nowhere now */
    assert_int_equal(lstat(link_path, &found), 0);
    assert_int_equal(unlink(link_path), 0);

    assert_int_equal(mkdir(in_folder("s"), 0700), 0);
    assert_refused(in_folder("s"), NULL, HUB_EINVAL, "is not a socket");
    assert_refused(in_folder("missing/s"), NULL, HUB_ESYSTEM, "No such file");
    assert_int_equal(rmdir(in_folder("s")), 0);
}

/* sockaddr_un holds 107 bytes and a NUL. */
static void test_path_length(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    size_t most = sizeof((struct sockaddr_un *)NULL)->sun_path - 1;
    memset(path, 'x', sizeof path);
    size_t len = strlen(folder);
    memcpy(path, folder, len);
    path[len] = '/';
    path[most] = '\0';
    assert_listens(path, 0600, NULL);
    path[most] = 'x';
    path[most + 1] = '\0';
    assert_refused(path, NULL, HUB_EINVAL, "may have 107 bytes, this one has 108");
    assert_refused("", NULL, HUB_EINVAL, "empty");
}

/* What is at the path by then is removed only if it is the file that was made. */
static void test_remove(void **state)
{
    (void)state;
    int fd = -1;
    hub_unix_file file;
    assert_int_equal(hub_unix_listen(in_folder("s"), 0600, NULL, &fd, &file, NULL), HUB_OK);
    assert_int_equal(unlink(in_folder("s")), 0);
    int successor = bind_at(in_folder("s"), SOCK_STREAM);
    hub_unix_remove(in_folder("s"), &file);
    assert_int_equal(access(in_folder("s"), F_OK), 0);
    assert_int_equal(unlink(in_folder("s")), 0);
    assert_int_equal(close(successor), 0);
    hub_unix_remove(in_folder("s"), &file); /* nothing there */
    assert_int_equal(close(fd), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_mode, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_closed_at_first, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_group, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_foreign_group, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_stale_is_replaced, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_live_is_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_other_files_stay, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_path_length, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_remove, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
