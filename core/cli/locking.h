/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `patchbay lock` and `patchbay approve` share: what servers offer now, and what the lock file
 * has of it. Thread: [loop].
 */
#ifndef HUB_CLI_LOCKING_H
#define HUB_CLI_LOCKING_H

#include "cli/cli.h"
#include "config/lock_change.h"

typedef struct cli_locking {
    cli_local *local;
    hub_arena *arena; /* holds what is below */
    const char *path; /* of the lock file */
    hub_file_stamp seen;
    bool is_there; /* the file is */
    hub_lock old;  /* what it has */
    hub_lock now; /* what was found; toolsets that could not be reached are as in `old`, if there */
    size_t cap;   /* of now.toolsets */
    int status;   /* EXIT_OK, or EXIT_UNREACHABLE: a server was not reached, and it was said */
} cli_locking;

/* Read the lock file and ask the servers, or that of one toolset (NULL: all). `replaces`: a file that
 * cannot be read is no obstacle. On failure a line on stderr says why. End it in any case.
 * returns: EXIT_OK, EXIT_USAGE, EXIT_CONFIG, EXIT_INTERNAL */
int cli_locking_begin(cli_options *options, const char *only, bool replaces, cli_locking *locking);
void cli_locking_end(cli_locking *locking);

/* Write a lock, in order, and say how much it has. Returns an exit status. */
int cli_locking_write(cli_locking *locking, const cli_options *options, const hub_lock *lock);

/* What approve is about: TOOLSET or TOOLSET:TOOL; without an argument nothing is written: all.
 * owns:    *ret_toolset; *ret_tool is of the options, or NULL: all tools
 * returns: the code to exit with, after a complaint; EXIT_OK */
int cli_read_scope(const cli_options *options, char **ret_toolset, const char **ret_tool);

/* patchbay approve at a hub that runs, by its API (cli/approve_running.c). */
int cli_approve_running(cli_options *options);

/* Print a change, member by member, or as a row (cli/rows.h) with both texts; `ctx` is a size_t that
 * counts them (cli/lock_diff.c). */
void cli_lock_print(void *ctx, hub_str toolset, const char *what, const hub_lock_entry *old,
                    const hub_lock_entry *now);
void cli_lock_print_row(void *ctx, hub_str toolset, const char *what, const hub_lock_entry *old,
                        const hub_lock_entry *now);

#endif
