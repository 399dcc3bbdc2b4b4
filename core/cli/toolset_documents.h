/* SPDX-License-Identifier: Apache-2.0 */
/* What `patchbay toolset` does with documents: finds, shows, compares, exports and imports them. */
#ifndef HUB_CLI_TOOLSET_DOCUMENTS_H
#define HUB_CLI_TOOLSET_DOCUMENTS_H

#include "base/limits.h"
#include "cli/cli.h"
#include "hub/saved/keep.h"

/* One that was found; free `saved` with hub_saved_destroy. */
typedef struct cli_saved_found {
    hub_saved *saved;
    hub_saved_origin origin;
    uint64_t version; /* of its record */
    char owner[HUB_LIMIT_STATE_OWNER_BYTES + 1];
} cli_saved_found;

/* Find one by name, as the principal sees it. Complains when there is none. */
int cli_saved_find(const cli_options *options, cli_local *local, const char *name,
                   cli_saved_found *ret_found);

/* Write it in place of what was found, and say so. */
int cli_saved_put(cli_local *local, const cli_saved_found *found, const hub_saved *saved);

/* Append "toolset:tool". */
void cli_saved_add_id(const hub_selected *tool, hub_buf *out);

int cli_saved_list(const cli_options *options, cli_local *local);
int cli_saved_show(const cli_options *options, cli_local *local);
int cli_saved_export(const cli_options *options, cli_local *local);
int cli_saved_import(const cli_options *options, cli_local *local);
int cli_saved_diff(const cli_options *options, cli_local *local);

/* Append a message of the hub's own tools. It names tools, as models know them; here these are commands. */
void cli_saved_add_words(hub_buf *out, hub_str text);

/* The same at a hub that runs, by its API (cli/toolset_running.c). The words are as many as they may be. */
int cli_toolset_running(cli_options *options);

/* The names that a principal sees, for completion. */
void cli_saved_each_name(const cli_options *options, cli_local *local,
                         void (*on_name)(void *ctx, hub_str name, hub_str about), void *ctx);

#endif
