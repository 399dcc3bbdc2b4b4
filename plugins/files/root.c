/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <unistd.h>

#define HOW_TO                                                                                     \
    "say which folders may be used: roots: [\"/srv/docs\", {path: \"/srv/src\", name: src, "       \
    "write: true}]"

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static int32_t
fail(patchbay_error *reterr, int32_t code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reterr->text, sizeof reterr->text, format, args);
    va_end(args);
    reterr->text[files_utf8_length(reterr->text, strlen(reterr->text))] = '\0';
    reterr->code = code;
    return code;
}

/* A member's string, to be freed; NULL when it is absent, no string, or holds a NUL. */
static char *dup_string(patchbay_str raw)
{
    patchbay_out text;
    memset(&text, 0, sizeof text);
    if (!patchbay_json_decode(raw, &text) || text.failed || text.len == 0 ||
        memchr(text.ptr, '\0', text.len) != NULL) {
        patchbay_out_free(&text);
    }
    return text.ptr;
}

static int is_true(patchbay_str raw, int otherwise)
{
    return raw.len == 0 ? otherwise : raw.ptr[0] == 't';
}

/* Collapse "//" and "/./", and drop slashes at the end, so that prefixes can be compared. */
static void tidy_path(char *path)
{
    char *to = path;
    for (const char *from = path; *from != '\0';) {
        from += strspn(from, "/");
        size_t len = strcspn(from, "/");
        if (len > 0 && !(len == 1 && from[0] == '.')) {
            *to++ = '/';
            memmove(to, from, len);
            to += len;
        }
        from += len;
    }
    if (to == path) {
        *to++ = '/';
    }
    *to = '\0';
}

static int32_t name_root(files_set *set, files_root *root, patchbay_error *reterr)
{
    if (root->name == NULL) {
        const char *base = strrchr(root->path, '/') + 1;
        root->name = strdup(*base != '\0' ? base : "root");
    }
    if (root->name == NULL) {
        return fail(reterr, PATCHBAY_ENOMEM, "out of memory");
    }
    if (strchr(root->name, '/') != NULL || strcmp(root->name, ".") == 0 ||
        strcmp(root->name, "..") == 0) {
        return fail(reterr, PATCHBAY_EINVAL,
                    "root '%.100s': a name has no slash, and is not . or ..", root->name);
    }
    for (const files_root *other = set->roots; other < root; other++) {
        if (strcmp(other->name, root->name) == 0) {
            return fail(reterr, PATCHBAY_EINVAL,
                        "two roots are called '%.60s'; give one another name: "
                        "{path: \"%.80s\", name: …}",
                        root->name, root->path);
        }
    }
    return PATCHBAY_OK;
}

static int32_t open_root(const files_set *set, files_root *root, patchbay_error *reterr)
{
    root->real_path = realpath(root->path, NULL);
    /* The resolved path is opened, so that both forms mean one folder. */
    root->fd = root->real_path == NULL
                   ? -1
                   : open(root->real_path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (root->fd < 0) {
        char reason[100];
        return fail(reterr, PATCHBAY_ESYSTEM, "root '%.100s' cannot be opened: %s", root->path,
                    strerror_r(errno, reason, sizeof reason));
    }
    int probe = files_open_beneath(root->fd, ".", O_PATH, set->resolve);
    if (probe < 0) {
        char reason[100];
        return fail(reterr, PATCHBAY_ESYSTEM,
                    "openat2 does not work here (%s): it needs Linux 5.6, and a container that "
                    "permits it; there is no other safe way to confine access",
                    strerror_r(errno, reason, sizeof reason));
    }
    (void)close(probe);
    return PATCHBAY_OK;
}

/* Add one element of `roots`: a path, or an object around one. */
static int32_t add_root(files_set *set, patchbay_str raw, int writable, patchbay_error *reterr)
{
    int is_object = raw.ptr[0] == '{';
    files_root *root = &set->roots[set->root_count];
    root->fd = -1;
    set->root_count++; /* from here on teardown frees it */
    root->path = dup_string(is_object ? patchbay_json_get(raw, "path") : raw);
    if (root->path == NULL || root->path[0] != '/') {
        return fail(reterr, PATCHBAY_EINVAL, "root %zu: '%.100s' is not an absolute path",
                    set->root_count, root->path != NULL ? root->path : "");
    }
    tidy_path(root->path);
    if (is_object) {
        root->name = dup_string(patchbay_json_get(raw, "name"));
        writable = is_true(patchbay_json_get(raw, "write"), writable);
    }
    root->writable = writable;
    int32_t result = name_root(set, root, reterr);
    return result == PATCHBAY_OK ? open_root(set, root, reterr) : result;
}

static int32_t add_roots(files_set *set, patchbay_str config_json, patchbay_error *reterr)
{
    int writable = is_true(patchbay_json_get(config_json, "write"), 0);
    patchbay_json_iter it = patchbay_json_iterate(patchbay_json_get(config_json, "roots"));
    patchbay_str key;
    patchbay_str value;
    int32_t result = PATCHBAY_OK;
    while (result == PATCHBAY_OK && patchbay_json_next(&it, &key, &value)) {
        if (set->root_count == FILES_ROOTS_MAX) {
            return fail(reterr, PATCHBAY_ELIMIT, "more than %d roots", FILES_ROOTS_MAX);
        }
        result = add_root(set, value, writable, reterr);
    }
    if (result == PATCHBAY_OK && set->root_count == 0) {
        result = fail(reterr, PATCHBAY_EINVAL, "no roots: %s", HOW_TO);
    }
    return result;
}

static int32_t configure(files_set *set, patchbay_str config_json, patchbay_error *reterr)
{
    int64_t number = FILES_READ_USUAL;
    patchbay_str raw = patchbay_json_get(config_json, "max_read_bytes");
    if (raw.len > 0 &&
        (!patchbay_json_int(raw, &number) || number < 1 || number > (int64_t)FILES_READ_MAX)) {
        return fail(reterr, PATCHBAY_EINVAL, "max_read_bytes must be an integer from 1 to %u",
                    FILES_READ_MAX);
    }
    set->max_read_bytes = (size_t)number;
    raw = patchbay_json_get(config_json, "follow_symlinks");
    if (patchbay_json_is(raw, patchbay_str_of("never"))) {
        set->resolve = RESOLVE_NO_SYMLINKS;
    } else if (raw.len > 0 && !patchbay_json_is(raw, patchbay_str_of("inside"))) {
        return fail(reterr, PATCHBAY_EINVAL, "follow_symlinks must be \"inside\" or \"never\"");
    }
    return add_roots(set, config_json, reterr);
}

int32_t files_setup(patchbay_toolset *toolset, patchbay_str config_json, void **ret_data,
                    patchbay_error *reterr)
{
    files_set *set = (files_set *)calloc(1, sizeof *set);
    files_root *roots = (files_root *)calloc(FILES_ROOTS_MAX, sizeof *roots);
    if (set == NULL || roots == NULL) {
        free(set);
        free(roots);
        return fail(reterr, PATCHBAY_ENOMEM, "out of memory");
    }
    set->roots = roots;
    (void)pthread_mutex_init(&set->write_lock, NULL);
    int32_t result = configure(set, config_json, reterr);
    if (result == PATCHBAY_OK) {
        int writable = 0;
        for (size_t i = 0; i < set->root_count; i++) {
            writable |= set->roots[i].writable;
        }
        result = files_publish(toolset, writable);
        if (result != PATCHBAY_OK) {
            (void)fail(reterr, result, "the hub refused the list of tools");
        }
    }
    if (result != PATCHBAY_OK) {
        files_teardown(set);
        return result;
    }
    *ret_data = set;
    return PATCHBAY_OK;
}

void files_teardown(void *data)
{
    files_set *set = (files_set *)data;
    if (set == NULL) {
        return;
    }
    for (size_t i = 0; i < set->root_count; i++) {
        files_root *root = &set->roots[i];
        if (root->fd >= 0) {
            (void)close(root->fd);
        }
        free(root->name);
        free(root->path);
        free(root->real_path);
    }
    (void)pthread_mutex_destroy(&set->write_lock);
    free(set->roots);
    free(set);
}
