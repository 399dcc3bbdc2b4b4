/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <unistd.h>

/* One name of a directory: where it is in the frame's text. */
typedef struct walk_name {
    size_t at;
    unsigned char type; /* DT_… */
} walk_name;

/* A directory on the way from the start to the current entry. */
typedef struct walk_frame {
    DIR *dir;          /* kept open: its folders are opened relative to it */
    patchbay_out text; /* the names, each with a NUL */
    walk_name *names;
    size_t count;
    size_t next;
    size_t rel_len; /* of the path up to this directory, with a slash */
} walk_frame;

struct files_walk {
    const patchbay_tool_call *call;
    const files_glob *exclude;
    size_t max_depth;
    size_t depth; /* frames in use */
    size_t unread;
    int descend; /* the entry last reported is a directory to enter */
    char rel[PATH_MAX];
    walk_frame frames[FILES_DEPTH_MAX];
};

/* ---- frames ---------------------------------------------------------------------------------- */

static void free_frame(walk_frame *frame)
{
    if (frame->dir != NULL) {
        (void)closedir(frame->dir);
    }
    patchbay_out_free(&frame->text);
    free(frame->names);
    memset(frame, 0, sizeof *frame);
}

static int add_name(walk_frame *frame, size_t *cap, const struct dirent *found)
{
    if (frame->count == *cap) {
        size_t grown_cap = *cap * 2 + 64;
        walk_name *grown = (walk_name *)realloc(frame->names, grown_cap * sizeof *grown);
        if (grown == NULL) {
            return 0;
        }
        frame->names = grown;
        *cap = grown_cap;
    }
    frame->names[frame->count++] = (walk_name){frame->text.len, found->d_type};
    patchbay_out_raw(&frame->text, patchbay_str_make(found->d_name, strlen(found->d_name) + 1));
    return !frame->text.failed;
}

static int compare_names(const void *a, const void *b, void *text)
{
    const walk_name *left = (const walk_name *)a;
    const walk_name *right = (const walk_name *)b;
    return strcmp((const char *)text + left->at, (const char *)text + right->at);
}

/* Read all names of the frame's directory, sorted. */
static int fill_frame(files_walk *walk, walk_frame *frame)
{
    size_t cap = 0;
    const struct dirent *found;
    while ((found = readdir(frame->dir)) != NULL && !patchbay_cancelled(walk->call)) {
        const char *name = found->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            (walk->exclude != NULL && files_glob_matches(walk->exclude, name, name))) {
            continue;
        }
        if (frame->count == FILES_NAMES_MAX) {
            walk->unread++;
            break;
        }
        if (!add_name(frame, &cap, found)) {
            return 0;
        }
    }
    if (frame->count > 1) {
        qsort_r(frame->names, frame->count, sizeof *frame->names, compare_names, frame->text.ptr);
    }
    return 1;
}

/* owns: dir_fd moves in */
static int push_frame(files_walk *walk, int dir_fd)
{
    walk_frame *frame = &walk->frames[walk->depth];
    frame->dir = fdopendir(dir_fd);
    if (frame->dir == NULL) {
        (void)close(dir_fd);
        return 0;
    }
    frame->rel_len = strlen(walk->rel);
    if (!fill_frame(walk, frame)) {
        free_frame(frame);
        return 0;
    }
    walk->depth++;
    return 1;
}

/* Enter the directory that was reported last. One that cannot be read is counted and passed over.
 */
static void enter(files_walk *walk, const walk_frame *frame, const char *name)
{
    size_t len = strlen(walk->rel);
    int fd = files_open_beneath(dirfd(frame->dir), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
                                RESOLVE_NO_SYMLINKS);
    if (fd < 0 || len + 1 >= sizeof walk->rel) {
        walk->unread++;
        if (fd >= 0) {
            (void)close(fd);
        }
        return;
    }
    walk->rel[len] = '/';
    walk->rel[len + 1] = '\0';
    if (!push_frame(walk, fd)) {
        walk->unread++;
    }
}

/* ---- the walk -------------------------------------------------------------------------------- */

files_walk *files_walk_create(const patchbay_tool_call *call, int dir_fd, size_t max_depth,
                              const files_glob *exclude)
{
    files_walk *walk = (files_walk *)calloc(1, sizeof *walk);
    if (walk == NULL) {
        (void)close(dir_fd);
        return NULL;
    }
    walk->call = call;
    walk->exclude = exclude;
    walk->max_depth = max_depth < FILES_DEPTH_MAX ? max_depth : FILES_DEPTH_MAX;
    if (!push_frame(walk, dir_fd)) {
        files_walk_destroy(walk);
        return NULL;
    }
    return walk;
}

static mode_t find_type(int dir_fd, const char *name, unsigned char type)
{
    struct stat status;
    if (type != DT_UNKNOWN) {
        return (mode_t)DTTOIF(type);
    }
    return fstatat(dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status.st_mode & S_IFMT : 0;
}

int files_walk_next(files_walk *walk, files_entry *ret_entry)
{
    if (walk->descend) {
        walk->descend = 0;
        walk_frame *frame = &walk->frames[walk->depth - 1];
        enter(walk, frame, frame->text.ptr + frame->names[frame->next - 1].at);
    }
    while (walk->depth > 0 && !patchbay_cancelled(walk->call)) {
        walk_frame *frame = &walk->frames[walk->depth - 1];
        if (frame->next == frame->count) {
            free_frame(frame);
            walk->depth--;
            continue;
        }
        const walk_name *found = &frame->names[frame->next++];
        const char *name = frame->text.ptr + found->at;
        size_t len = strlen(name);
        if (frame->rel_len + len >= sizeof walk->rel) {
            walk->unread++;
            continue;
        }
        memcpy(walk->rel + frame->rel_len, name, len + 1);
        ret_entry->name = name;
        ret_entry->rel = walk->rel;
        ret_entry->dir_fd = dirfd(frame->dir);
        ret_entry->type = find_type(ret_entry->dir_fd, name, found->type);
        walk->descend = S_ISDIR(ret_entry->type) && walk->depth < walk->max_depth;
        return 1;
    }
    return 0;
}

size_t files_walk_unread(const files_walk *walk)
{
    return walk->unread;
}

void files_walk_destroy(files_walk *walk)
{
    if (walk == NULL) {
        return;
    }
    for (size_t i = 0; i < walk->depth; i++) {
        free_frame(&walk->frames[i]);
    }
    free(walk);
}
