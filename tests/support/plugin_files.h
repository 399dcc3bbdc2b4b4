/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plugin files for tests: private folders, and copies of a built plugin that call themselves
 * something else. Names and versions are changed in the bytes, so that one built plugin gives any
 * number of different ones.
 */
#ifndef PATCHBAY_TESTS_PLUGIN_FILES_H
#define PATCHBAY_TESTS_PLUGIN_FILES_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What good_v1_0.so says of itself; replacements must be as long. */
#define GOOD_NAME    "good_v1_0"
#define GOOD_VERSION "1.0.0000"

enum { PATH_BYTES = 512 };

typedef struct path {
    char text[PATH_BYTES];
} path;

static inline path join(const char *folder, const char *name)
{
    path joined;
    int len = snprintf(joined.text, sizeof joined.text, "%s/%s", folder, name);
    assert_in_range(len, 1, PATH_BYTES - 1);
    return joined;
}

/* A folder that nobody else can write to. */
static inline path make_scratch(void)
{
    path folder = {"/tmp/patchbay-test-XXXXXX"};
    assert_non_null(mkdtemp(folder.text));
    return folder;
}

static inline path make_folder(const char *in, const char *name)
{
    path folder = join(in, name);
    assert_int_equal(mkdir(folder.text, 0755), 0);
    assert_int_equal(chmod(folder.text, 0755), 0); /* whatever the umask */
    return folder;
}

static inline int remove_entry(const char *name, const struct stat *about, int kind,
                               struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    return remove(name);
}

static inline void remove_tree(const char *folder)
{
    (void)nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* All bytes of a file; the caller frees them. */
static inline char *read_whole(const char *name, size_t *ret_size)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    struct stat about;
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &about), 0);
    size_t size = (size_t)about.st_size;
    char *bytes = malloc(size + 1);
    assert_non_null(bytes);
    assert_int_equal(read(fd, bytes, size), size);
    (void)close(fd);
    *ret_size = size;
    return bytes;
}

static inline void write_whole(const char *name, const char *bytes, size_t size, mode_t mode)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, mode), 0);
    assert_int_equal(write(fd, bytes, size), size);
    (void)close(fd);
}

static inline void replace_all(char *bytes, size_t size, const char *from, const char *to)
{
    size_t len = strlen(from);
    assert_int_equal(strlen(to), len);
    char *at = memmem(bytes, size, from, len);
    for (; at != NULL; at = memmem(at, size - (size_t)(at - bytes), from, len)) {
        memcpy(at, to, len);
        at += len; /* `to` may be `from` */
    }
}

/* The bytes of a plugin of that name and version; the caller frees them. */
static inline char *plugin_bytes(const char *name, const char *version, size_t *ret_size)
{
    char *bytes = read_whole(ABI_PLUGIN_DIR "/" GOOD_NAME ".so", ret_size);
    replace_all(bytes, *ret_size, GOOD_NAME, name);
    replace_all(bytes, *ret_size, GOOD_VERSION, version);
    return bytes;
}

/* FOLDER/NAME.so, written in place. */
static inline path write_plugin(const char *folder, const char *name, const char *version)
{
    char file[80];
    size_t size;
    (void)snprintf(file, sizeof file, "%s.so", name);
    path to = join(folder, file);
    char *bytes = plugin_bytes(name, version, &size);
    write_whole(to.text, bytes, size, 0644);
    free(bytes);
    return to;
}

#endif
