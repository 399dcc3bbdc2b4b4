/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary tree for the tests of `files`, and calls with their checks. Part of test_files.c.
 *
 *     base/in/        the root "in", and what most tests configure
 *     base/secret.txt what nothing may ever read */
#ifndef FILES_TREE_H
#define FILES_TREE_H

#include "fake_host.h"

#include <patchbay/json.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SECRET "TOP-SECRET-NEVER-SHOWN"

typedef struct tree {
    char base[64];
    char in[80];
    fake_host *host;
} tree;

#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
static char *
format(const char *template, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, template);
    int len = vasprintf(&text, template, args);
    va_end(args);
    assert_true(len >= 0);
    return text;
}

/* ---- the tree -------------------------------------------------------------------------------- */

static void put_bytes(const tree *t, const char *rel, const void *bytes, size_t len)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", t->base, rel);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, len), (ssize_t)len);
    (void)close(fd);
}

static void put(const tree *t, const char *rel, const char *text)
{
    put_bytes(t, rel, text, strlen(text));
}

static void put_folder(const tree *t, const char *rel)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", t->base, rel);
    assert_int_equal(mkdir(path, 0755), 0);
}

static void put_link(const tree *t, const char *target, const char *rel)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", t->base, rel);
    assert_int_equal(symlink(target, path), 0);
}

/* The content of a file, to be freed; NULL when there is none. */
static char *get(const tree *t, const char *rel)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", t->base, rel);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return NULL;
    }
    char *text = (char *)calloc(1, 1 << 20);
    assert_non_null(text);
    (void)fread(text, 1, (1 << 20) - 1, file);
    (void)fclose(file);
    return text;
}

static void assert_content(const tree *t, const char *rel, const char *wanted)
{
    char *text = get(t, rel);
    assert_non_null(text);
    assert_string_equal(text, wanted);
    free(text);
}

static int exists(const tree *t, const char *rel)
{
    char path[PATH_MAX];
    struct stat status;
    (void)snprintf(path, sizeof path, "%s/%s", t->base, rel);
    return lstat(path, &status) == 0;
}

static void remove_below(int dir_fd)
{
    DIR *dir = fdopendir(dir_fd);
    const struct dirent *entry;
    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        if (entry->d_type == DT_DIR) {
            int fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
            assert_true(fd >= 0);
            remove_below(fd);
        }
        int flags = entry->d_type == DT_DIR ? AT_REMOVEDIR : 0;
        assert_int_equal(unlinkat(dirfd(dir), entry->d_name, flags), 0);
    }
    (void)closedir(dir);
}

static int make_tree(void **state)
{
    tree *made = (tree *)calloc(1, sizeof *made);
    assert_non_null(made);
    (void)snprintf(made->base, sizeof made->base, "/tmp/patchbay-files-XXXXXX");
    assert_non_null(mkdtemp(made->base));
    (void)snprintf(made->in, sizeof made->in, "%s/in", made->base);
    put_folder(made, "in");
    put(made, "secret.txt", SECRET);
    *state = made;
    return 0;
}

static int drop_tree(void **state)
{
    tree *made = (tree *)*state;
    fake_host_unload(made->host);
    int fd = open(made->base, O_RDONLY | O_DIRECTORY);
    assert_true(fd >= 0);
    remove_below(fd);
    assert_int_equal(rmdir(made->base), 0);
    free(made);
    return 0;
}

/* ---- the host -------------------------------------------------------------------------------- */

/* Load with this configuration; owns: `config` moves in. */
static void load_config(tree *t, char *config)
{
    char error[FAKE_HOST_ERROR_BYTES] = "";
    t->host = fake_host_load(PLUGIN_PATH, config, error);
    if (t->host == NULL) {
        print_error("%s\n", error);
    }
    assert_non_null(t->host);
    free(config);
}

static void load(tree *t)
{
    load_config(t, format("{\"roots\":[\"%s\"]}", t->in));
}

static void load_writable(tree *t)
{
    load_config(t, format("{\"roots\":[\"%s\"],\"write\":true}", t->in));
}

static void assert_setup_fails(char *config, const char *wanted)
{
    char error[FAKE_HOST_ERROR_BYTES] = "";
    fake_host *host = fake_host_load(PLUGIN_PATH, config, error);
    assert_null(host);
    if (strstr(error, wanted) == NULL) {
        print_error("'%s' does not contain '%s'\n", error, wanted);
    }
    assert_non_null(strstr(error, wanted));
    free(config);
}

/* ---- calls; `args` moves in everywhere ------------------------------------------------------- */

static fake_result call(const tree *t, const char *tool, char *args)
{
    fake_result result = fake_host_call(t->host, tool, args);
    /* Whatever a test tries: this may not come out. */
    assert_null(memmem(result.json, result.json_len, SECRET, strlen(SECRET)));
    free(args);
    return result;
}

/* The whole result, to be json_decref'ed. */
static json_t *call_result(const tree *t, const char *tool, char *args)
{
    fake_result result = call(t, tool, args);
    if (result.status != PATCHBAY_RESULT) {
        print_error("%s: %s\n", tool, result.json);
    }
    assert_int_equal(result.status, PATCHBAY_RESULT);
    json_t *parsed = json_loadb(result.json, result.json_len, JSON_ALLOW_NUL, NULL);
    assert_non_null(parsed);
    fake_result_free(&result);
    return parsed;
}

static json_t *call_ok(const tree *t, const char *tool, char *args)
{
    json_t *result = call_result(t, tool, args);
    json_t *structured = json_incref(json_object_get(result, "structuredContent"));
    assert_true(json_is_object(structured));
    json_decref(result);
    return structured;
}

static void assert_refused(const tree *t, const char *tool, char *args, int status,
                           const char *wanted)
{
    fake_result result = call(t, tool, args);
    if (result.status != status || strstr(result.json, wanted) == NULL) {
        print_error("%s: status %d, '%s' does not contain '%s'\n", tool, (int)result.status,
                    result.json, wanted);
    }
    assert_int_equal(result.status, status);
    assert_non_null(strstr(result.json, wanted));
    fake_result_free(&result);
}

/* One block of a result's content. */
static const char *block_text(const json_t *result, size_t i)
{
    return json_string_value(
        json_object_get(json_array_get(json_object_get(result, "content"), i), "text"));
}

/* Read a file, and hold the first block against `wanted`, the second against `note`. */
static void assert_reads(const tree *t, char *args, const char *wanted, const char *note)
{
    json_t *result = call_result(t, "read", args);
    assert_string_equal(block_text(result, 0), wanted);
    if (note == NULL) {
        assert_null(block_text(result, 1));
    } else {
        assert_string_equal(block_text(result, 1), note);
    }
    json_decref(result);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "(none)";
}

/* The values of `key` in an array of objects, joined by spaces; to be freed. */
static char *join(const json_t *array, const char *key)
{
    size_t i;
    const json_t *entry;
    char *all = format("%s", "");
    json_array_foreach(array, i, entry)
    {
        char *longer = format("%s%s%s", all, i > 0 ? " " : "", text_of(entry, key));
        free(all);
        all = longer;
    }
    return all;
}

/* Call a tool, and hold the paths in `member` of its result against `wanted`. */
static void assert_paths(const tree *t, const char *tool, char *args, const char *member,
                         const char *wanted)
{
    json_t *structured = call_ok(t, tool, args);
    char *paths = join(json_object_get(structured, member), "path");
    assert_string_equal(paths, wanted);
    free(paths);
    json_decref(structured);
}

static size_t count_open_files(void)
{
    size_t count = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir) != NULL) {
        count++;
    }
    (void)closedir(dir);
    return count;
}

#endif
