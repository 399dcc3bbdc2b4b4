/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the toolset `files`: which file holds what, and the types that they share.
 *
 *     root.c    configuration: the allowed roots, each opened once
 *     path.c    an argument becomes (root, relative path); every open beneath a root
 *     text.c    names for display, problems, arguments
 *     walk.c    directory trees in stable order
 *     glob.c    name patterns
 *     matcher.c   whether a line holds what is searched
 *     list.c read.c search_name.c search_text.c write.c edit.c diff.c move.c   the tools
 *     files.c   the table of tools
 *
 * Confinement rests on one function: files_open_beneath. No other opens a path that a caller named,
 * and no other system call takes one with a slash in it. The set is constant after setup but for
 * its lock; handlers run on worker threads.
 */
#ifndef FILES_H
#define FILES_H

#include <patchbay/toolset.h>

#include <limits.h>
#include <sys/stat.h>

#define FILES_ROOTS_MAX   64             /* each holds a descriptor, and is named in refusals */
#define FILES_DEPTH_MAX   32             /* of a walk; each level holds a descriptor */
#define FILES_NAMES_MAX   100000         /* of one directory, held in memory while it is walked */
#define FILES_RESULT_MAX  (1024u * 1024) /* bytes of a list, whatever its limit of entries */
#define FILES_READ_MAX    (8u * 1024 * 1024) /* the most that max_read_bytes may say */
#define FILES_READ_USUAL  (256u * 1024)
#define FILES_EDIT_MAX    (16u * 1024 * 1024) /* a file that `edit` takes into memory */
#define FILES_SHOWN_BYTES 256                 /* of a path in a refusal */

/* One folder that the configuration allows. */
typedef struct files_root {
    char *name;      /* first part of "name/rel/path" */
    char *path;      /* as configured, without superfluous slashes */
    char *real_path; /* with symbolic links resolved */
    int fd;          /* O_PATH */
    int writable;
} files_root;

/* What setup makes and all handlers share. */
typedef struct files_set {
    files_root *roots;
    size_t root_count;
    size_t max_read_bytes;
    uint64_t resolve;           /* RESOLVE_… flags of every open */
    pthread_mutex_t write_lock; /* serialises writers: an edit reads, then replaces */
} files_set;

/* Where an argument points. `rel` is "." for the root itself; it lives as long as the call. */
typedef struct files_path {
    const files_root *root;
    const char *rel;
    char shown[FILES_SHOWN_BYTES]; /* the argument, for refusals */
} files_path;

/* Why a call fails: a status of patchbay_host_api.finish, and a sentence. */
typedef struct files_problem {
    int32_t status;
    char text[900];
} files_problem;

/* ---- root.c ---- */

int32_t files_setup(patchbay_toolset *toolset, patchbay_str config_json, void **ret_data,
                    patchbay_error *reterr);
void files_teardown(void *data);

/* ---- files.c ---- */

/* Publish the tools: those that change something only when `writable`. [loop] */
int32_t files_publish(patchbay_toolset *toolset, int writable);

/* ---- path.c: functions return 0 or a descriptor, or -1 with the problem set ---- */

/* openat2 with RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS, close-on-exec; `resolve` adds flags.
 * returns: a descriptor, or -1 with errno */
int files_open_beneath(int dir_fd, const char *rel, int flags, uint64_t resolve);

/* Read the path in argument `key`. Absent: the root when there is one, else a problem. */
int files_arg_path(patchbay_tool_call *call, const char *key, files_path *ret,
                   files_problem *problem);

/* Open a regular file for reading. Anything else is looked at, but never opened. */
int files_open_regular(const files_set *set, const files_path *path, struct stat *ret_status,
                       files_problem *problem);
/* The same for an entry of an open directory, which must not be a symbolic link.
 * returns: a descriptor, or -1 with errno, which is 0 when it is no regular file */
int files_open_entry(int dir_fd, const char *name);

int files_open_folder(const files_set *set, const files_path *path, files_problem *problem);

/* Open the folder that holds the path's last component (O_PATH), and copy that component. Refuses
 * a root that is read-only, the root itself, "." and "..". */
int files_open_parent(const files_set *set, const files_path *path, char ret_name[NAME_MAX + 1],
                      files_problem *problem);

/* Name what went wrong with a path: `code` is an errno. */
void files_explain(const files_set *set, const char *shown, int code, files_problem *problem);

/* ---- text.c ---- */

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void files_refuse(files_problem *problem, int32_t status, const char *format, ...);

/* Complete the call with the problem. */
void files_reply_problem(patchbay_tool_call *call, const files_problem *problem);

/* An integer argument between min and max, `otherwise` when absent; 3.0 is an integer. */
int files_arg_number(patchbay_tool_call *call, const char *key, int64_t otherwise, int64_t min,
                     int64_t max, int64_t *ret_number, files_problem *problem);

/* A string argument that must be there. */
int files_arg_string(patchbay_tool_call *call, const char *key, patchbay_str *ret_text,
                     files_problem *problem);

/* Index of the first byte that is not UTF-8; `len` when all is. */
size_t files_utf8_length(const char *text, size_t len);

/* Append members "path" and, when the name is not UTF-8 and so had to be escaped, "escaped". */
void files_out_path(patchbay_out *out, const files_path *base, const char *rel);

/* Append members "type", "size" (files only) and "mtime". */
void files_out_status(patchbay_out *out, const struct stat *status);
const char *files_type_name(mode_t mode);

/* ---- walk.c ---- */

typedef struct files_walk files_walk;

/* What a walk is at. Everything is borrowed until the next step. */
typedef struct files_entry {
    const char *name; /* raw bytes, as the file system has them */
    const char *rel;  /* the same from where the walk began */
    int dir_fd;       /* the directory that holds it */
    mode_t type;      /* S_IFMT bits */
} files_entry;

struct files_glob;

/* Walk the tree below an open directory: depth first, names in byte order, symbolic links reported
 * and not followed. Stops when the call is cancelled. `exclude` (may be NULL) is matched against
 * names, and leaves out whole folders.
 * owns:    dir_fd moves in, also on failure
 * returns: NULL when out of memory, or the directory cannot be read */
files_walk *files_walk_create(const patchbay_tool_call *call, int dir_fd, size_t max_depth,
                              const struct files_glob *exclude);
int files_walk_next(files_walk *walk, files_entry *ret_entry); /* 0 at the end */
void files_walk_destroy(files_walk *walk);                     /* NULL is fine */
/* Directories that could not be read, or held more than FILES_NAMES_MAX names. */
size_t files_walk_unread(const files_walk *walk);

/* ---- glob.c ---- */

/* Patterns: "*" and "?" within a name, "**" over slashes, "[a-z]" and "[!a-z]", "{a,b}". One that
 * has no slash is matched against the name, another against the whole path. */
typedef struct files_glob {
    char **patterns;
    size_t count;
    int ignore_case;
} files_glob;

/* Read `key`: a string, or an array of strings; absent leaves the glob empty. */
int files_arg_glob(patchbay_tool_call *call, const char *key, int ignore_case, files_glob *ret_glob,
                   files_problem *problem);
int files_glob_add(files_glob *glob, patchbay_str pattern, files_problem *problem);
int files_glob_matches(const files_glob *glob, const char *name, const char *rel);
void files_glob_fini(files_glob *glob);

/* ---- diff.c ---- */

/* Append the difference that replacing each `old` (at `places`, ascending) by `new` makes, as a
 * unified diff with three lines of context. Cut at 64 KiB. */
void files_diff(patchbay_out *out, patchbay_str text, const size_t *places, size_t count,
                size_t old_len, patchbay_str replacement);

/* ---- write.c ---- */

/* A file to be replaced, and what must be found there. */
typedef struct files_target {
    int dir_fd;
    const char *name;
    const char *shown;
    const struct stat *same; /* not NULL: the file that was read; refused when it has changed */
    int absent;              /* nothing by that name may exist */
} files_target;

/* Write a file beside the target and rename it over: all of it is seen, or nothing. The caller
 * holds write_lock. */
int files_replace(const files_set *set, const files_target *target, patchbay_str bytes,
                  files_problem *problem);

/* ---- handlers ---- */

void files_list(patchbay_tool_call *call);
void files_stat(patchbay_tool_call *call);
void files_read(patchbay_tool_call *call);
void files_search_name(patchbay_tool_call *call);
void files_search_text(patchbay_tool_call *call);
void files_write(patchbay_tool_call *call);
void files_edit(patchbay_tool_call *call);
void files_mkdir(patchbay_tool_call *call);
void files_move(patchbay_tool_call *call);
void files_delete(patchbay_tool_call *call);

#endif
