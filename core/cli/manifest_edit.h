/* SPDX-License-Identifier: Apache-2.0 */
/* A change of a manifest on disk: read, edited in place, checked, replaced. */
#ifndef HUB_CLI_MANIFEST_EDIT_H
#define HUB_CLI_MANIFEST_EDIT_H

#include "cli/cli.h"
#include "config/edit.h"

typedef struct manifest_edit {
    cli_options *options;
    const char *path;
    hub_arena *arena;
    int lock;
    hub_file_stamp seen;
    hub_buf text;        /* as it will be */
    const char *servers; /* the key that the toolsets of the file are under */
    const char *inner;   /* … and that one's own, where they lie deeper; else NULL */
    bool is_foreign;     /* a file of another program */
    const char *touched; /* the toolset that is changed, or NULL */
    hub_error why;
} manifest_edit;

/* Read the manifest that the options name, or the user's own; `may_create`: it need not be there.
 * On failure a line on stderr says why, and nothing has to be ended. */
int cli_manifest_begin(manifest_edit *edit, cli_options *options, bool may_create);

/* Give a path a value, or take it away with NULL; one after another. errors: those of hub_edit_put
 */
HUB_MUST_CHECK hub_err cli_manifest_change(manifest_edit *edit, const hub_edit_path *path,
                                           const hub_node *value);

/* The path of a toolset, and of a key of it where that is not NULL. */
hub_edit_path cli_manifest_toolset(const manifest_edit *edit, const char *name, const char *key);

/* The value at a path, or NULL. */
const hub_node *cli_manifest_find(manifest_edit *edit, const hub_edit_path *path);

/* End it without a change. */
void cli_manifest_abandon(manifest_edit *edit);

/* Check what came of it and write it, unless the options say --dry-run. `err` is what went wrong
 * before. On failure a line on stderr says why. Ends the edit. */
int cli_manifest_end(manifest_edit *edit, hub_err err);

#endif
