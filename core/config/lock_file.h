/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock file: what somebody has read and approved of what servers offer. It lies beside the
 * manifest, is the operator's, and is made for a version control system: sorted, one definition a
 * line.
 *
 *     { "lock": 1,
 *       "toolsets": {
 *         "KEY": {
 *           "origin": "its command or URL",
 *           "instructions": { "digest": "sha256:HEX", "text": "…" },
 *           "tools": { "NAME": { "digest": "sha256:HEX", "definition": {…} } },
 *           "prompts": likewise } } }
 *
 * The digests decide (tools/pin.h). The definitions are there to show what has changed; without
 * them nobody can say more than that something has. Members that are not known are ignored.
 * Any thread; reading a file blocks.
 */
#ifndef HUB_CONFIG_LOCK_FILE_H
#define HUB_CONFIG_LOCK_FILE_H

#include "base/arena.h"
#include "base/buf.h"

#define HUB_LOCK_FILE "patchbay.lock"

typedef struct hub_lock_entry {
    hub_str name;       /* decoded */
    hub_str digest;     /* hexadecimal, without "sha256:" */
    hub_str definition; /* raw; empty: it was not kept */
} hub_lock_entry;

/* Sorted by name, each once. */
typedef struct hub_lock_list {
    hub_lock_entry *items;
    size_t count;
} hub_lock_list;

typedef struct hub_lock_toolset {
    hub_str key;
    hub_str origin;              /* decoded; empty: none was approved */
    hub_lock_entry instructions; /* `definition` is the text as a raw string; no digest: none */
    hub_lock_list tools;
    hub_lock_list prompts;
} hub_lock_toolset;

/* Sorted by key, each once. */
typedef struct hub_lock {
    hub_lock_toolset *toolsets;
    size_t count;
} hub_lock;

/* Read a lock file. All of it lies in the arena.
 * errors:  HUB_ENOTFOUND, HUB_ESYSTEM, HUB_ELIMIT (HUB_LIMIT_LOCK_BYTES, HUB_LIMIT_TOOLSETS,
 *          HUB_LIMIT_TOOLS_PER_TOOLSET), HUB_EPARSE, HUB_EINVAL (it is not a lock file),
 *          HUB_ENOMEM; the text begins with `path` and says what helps. `ret_mode` as of
 *          hub_file_read */
HUB_MUST_CHECK hub_err hub_lock_read(const char *path, hub_arena *arena, hub_lock *ret_lock,
                                     unsigned *ret_mode, hub_error *reterr);

/* The same of a text, which is called `path` in messages. It is borrowed for the life of the lock. */
HUB_MUST_CHECK hub_err hub_lock_parse(const char *path, hub_str text, hub_arena *arena,
                                      hub_lock *ret_lock, hub_error *reterr);

/* NULL when there is none. */
const hub_lock_toolset *hub_lock_find(const hub_lock *lock, hub_str key);
const hub_lock_entry *hub_lock_find_entry(const hub_lock_list *list, hub_str name);

/* Put a list in order. False: a name occurs twice. */
bool hub_lock_sort(hub_lock_list *list);

void hub_lock_sort_toolsets(hub_lock *lock);

/* Append it as a file. */
void hub_lock_write(const hub_lock *lock, hub_buf *out);

#endif
