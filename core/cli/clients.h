/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that use servers: where the configuration of each is, and what it looks like. */
#ifndef HUB_CLI_CLIENTS_H
#define HUB_CLI_CLIENTS_H

#include "base/arena.h"
#include "base/buf.h"

typedef struct cli_client {
    const char *name;
    const char *title;
    const char *folder;     /* a variable that names the folder, where it is set; else NULL */
    const char *place;      /* below that, or below the home folder; "~c/": $XDG_CONFIG_HOME */
    const char *key;        /* what the servers are under */
    const char *unit;       /* of a timeout that is a number */
    const char *url_type;   /* what `url` without a type means, if that is not http; else NULL */
    const char *entry_type; /* the `type` of a server that it starts; NULL: none */
    bool has_command_list;  /* `command` is a list with the arguments */
    bool has_bare_names;    /* $NAME is a variable, as ${NAME} is */
    bool has_projects;      /* servers of single projects are under "projects", by their folders */
    bool may_be_jsonc;      /* where that file is not there, the one with a "c" at its end is it */
} cli_client;

extern const cli_client CLI_CLIENTS[]; /* ended by a name of NULL */

const cli_client *cli_find_client(const char *name); /* NULL: there is none */
void cli_name_clients(hub_buf *out);                 /* "claude, claude-code, …" */

/* The client's file, be it there or not. The arena's; NULL: there is no home, or no memory. */
const char *cli_client_file(const cli_client *client, hub_arena *arena);

#endif
