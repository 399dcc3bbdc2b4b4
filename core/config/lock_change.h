/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What servers offer now, as a lock file would have it; how that is different from the lock file that
 * there is; and the lock file that has some of it approved. For the command line, and for a hub that
 * runs. Thread: [loop].
 */
#ifndef HUB_CONFIG_LOCK_CHANGE_H
#define HUB_CONFIG_LOCK_CHANGE_H

#include "config/lock_file.h"
#include "hub/kernel/types.h"

/* What a toolset offers now; all of it is copied into the arena.
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_lock_gather(const hub_toolset *toolset, hub_arena *arena,
                                       hub_lock_toolset *ret_now);

/* A difference. `what` is "tool", "prompt", "instructions" or "origin"; `old` and `now` are NULL where
 * there is none (of the origin, `definition` is the text, not raw). */
typedef void hub_lock_on_change(void *ctx, hub_str toolset, const char *what,
                                const hub_lock_entry *old, const hub_lock_entry *now);

/* What is different of a toolset, either of which may be NULL: told in the order of the file. */
void hub_lock_compare(const hub_lock_toolset *old, const hub_lock_toolset *now,
                      hub_lock_on_change *on_change, void *ctx);

/* What is approved: all that `now` has, or of it … */
typedef struct hub_lock_scope {
    hub_str tool;       /* … the tools and prompts of that name; empty: all */
    hub_str digest;     /* … if its definition has this digest; empty: whatever it is */
    bool spares_origin; /* … but no command or URL */
} hub_lock_scope;

/* Whether a change is meant by it. */
bool hub_lock_scope_has(const hub_lock_scope *of, const char *what, const hub_lock_entry *old,
                        const hub_lock_entry *now);

/* The lock file with what is meant of `now` instead of what it had; `old` is not changed, and shares its
 * texts. `on_change` is told of each change that is made.
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_lock_approve(const hub_lock *old, const hub_lock *now,
                                        const hub_lock_scope *of, hub_arena *arena,
                                        hub_lock_on_change *on_change, void *ctx,
                                        hub_lock *ret_lock);

#endif
