/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of editors in the entries that import takes over, and files of environment variables. */
#ifndef HUB_CLI_IMPORT_TEXT_H
#define HUB_CLI_IMPORT_TEXT_H

#include "config/node.h"

typedef struct import_source {
    const char *file;       /* for messages */
    const char *name;       /* of the entry, likewise */
    const char *workspace;  /* what ${workspaceFolder} is; NULL: nobody knows */
    const hub_node *inputs; /* a list of what ${input:ID} stands for; may be NULL */
    bool has_braces;        /* its variables are {env:NAME} and {file:PATH} */
    bool has_bare_names;    /* $NAME is a variable, too */
    const char *env_file;   /* whose variables were taken over; NULL: none */
    hub_arena *arena;
} import_source;

/* Append an entry's JSON with its variables as the hub has them. What has to be done is told on
 * stderr. False: it asks for what only the editor knows, which is told, too. */
bool import_translate(const import_source *source, hub_str json, hub_buf *out);

/* Append `"env":{…}` of what an envFile says and what the entry's own `env` (may be NULL) says, which
 * wins. A file that cannot be read is told. */
void import_add_env_file(import_source *source, const hub_node *env_file, const hub_node *env,
                         hub_buf *json);

/* Append the path of a working folder, as a text: one of a project is relative to that. */
void import_add_path(const import_source *source, hub_str path, hub_buf *json);

/* A program starts the servers of a project in its folder: add that as `cwd` to an entry's JSON that
 * names a path there and no folder. */
void import_add_folder(const import_source *source, hub_buf *json);

/* The folder that a project's file (.vscode/mcp.json, .mcp.json) belongs to; NULL: it is the user's. */
const char *import_find_workspace(const char *file, hub_arena *arena);

#endif
