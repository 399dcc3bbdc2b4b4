/* SPDX-License-Identifier: Apache-2.0 */
/* A folder for remembered catalogs, which is gone after the test. */
#ifndef PATCHBAY_TESTS_CATALOG_FILE_SUPPORT_H
#define PATCHBAY_TESTS_CATALOG_FILE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "hub/catalogs/catalog_file.h"

enum { CACHE_PATH_BYTES = 512, CACHE_ENTRY_BYTES = 256 };

static char cache_root[64];
static char cache_folder[CACHE_PATH_BYTES]; /* below it, not made yet */

static inline int make_cache_root(void **state)
{
    (void)state;
    (void)snprintf(cache_root, sizeof cache_root, "/tmp/patchbay-cache-XXXXXX");
    if (mkdtemp(cache_root) == NULL) {
        return -1;
    }
    (void)snprintf(cache_folder, sizeof cache_folder, "%s/a/b", cache_root);
    return 0;
}

static inline int remove_entry(const char *path, const struct stat *status, int flag,
                               struct FTW *walk)
{
    (void)status;
    (void)flag;
    (void)walk;
    return remove(path);
}

static inline int remove_cache_root(void **state)
{
    (void)state;
    return nftw(cache_root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static inline const char *cache_path(const char *name)
{
    static char path[2 * CACHE_PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", cache_folder, name);
    return path;
}

/* How many files of that ending the folder has, and the name of the last one. */
static inline size_t count_files(const char *ending, char ret_name[CACHE_ENTRY_BYTES])
{
    size_t count = 0;
    DIR *entries = opendir(cache_folder);
    const struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        size_t len = strlen(entry->d_name);
        if (len > strlen(ending) && strcmp(entry->d_name + len - strlen(ending), ending) == 0) {
            count++;
            if (ret_name != NULL) {
                (void)snprintf(ret_name, CACHE_ENTRY_BYTES, "%s", entry->d_name);
            }
        }
    }
    if (entries != NULL) {
        (void)closedir(entries);
    }
    return count;
}

static inline void read_back(const char *name, hub_buf *out)
{
    hub_error failure;
    hub_buf_init(out, HUB_LIMIT_CATALOG_FILE_BYTES);
    if (hub_catalog_file_load(cache_folder, name, out, &failure) != HUB_OK) {
        fail_msg("%s", failure.text);
    }
}

static inline void put_file(const char *name, hub_str text, unsigned mode)
{
    int fd = open(cache_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_true(write(fd, text.ptr, text.len) == (ssize_t)text.len);
    assert_int_equal(fchmod(fd, mode), 0);
    assert_int_equal(close(fd), 0);
}

#endif
