/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `patchbay doctor` finds, and who looks for it: each file looks at one part of an installation
 * and tells what it finds (a finding, whose it is, a cure). Thread: [main].
 */
#ifndef HUB_CLI_DOCTOR_H
#define HUB_CLI_DOCTOR_H

#include "cli/cli.h"

typedef struct cli_examination {
    cli_options *options;
    hub_config *config; /* NULL: it cannot be read */
    hub_buf json;
    hub_buf failed; /* keys of toolsets that have a problem, each with a NUL behind it */
    bool is_unsafe; /* a plugin has ended the process that looked at it: load none here */
    size_t problems;
    size_t warnings;
} cli_examination;

typedef enum cli_finding { CLI_FINE, CLI_DOUBTFUL, CLI_BAD } cli_finding;

/* Say one thing. `cure` may be NULL; both are finished texts. */
void cli_doctor_tell(cli_examination *all, cli_finding how, const char *subject, const char *text,
                     const char *cure);

/* The same of a toolset. Of each only the first problem is told: the others come of it. */
void cli_doctor_tell_of(cli_examination *all, cli_finding how, const char *key, const char *text,
                        const char *cure);

/* The value of a text or list in a toolset's configuration; empty: it has none. */
hub_str cli_doctor_value(const hub_toolset_settings *toolset, const char *key);

/* Whether it is a server that the hub starts, and is switched on. */
bool cli_doctor_starts(const hub_toolset_settings *toolset);

/* The programs that servers are started with: whether they are there, and recent enough.
 * (doctor_programs.c); blocks: asks each for its version, RUNTIME_MS at most */
void cli_doctor_programs(cli_examination *all);

/* What `check` says of toolsets and policies. (doctor_toolsets.c); blocks: loads plugins, in a process of
 * its own, HUB_LIMIT_PROBE_MS at most for each */
void cli_doctor_toolsets(cli_examination *all);

/* Proxies and authorities of the environment, and whether servers get them. (doctor_network.c) */
void cli_doctor_environment(cli_examination *all);

/* Listeners: addresses that are taken, certificates that end. (doctor_network.c) */
void cli_doctor_listeners(cli_examination *all);

/* Folders that the hub writes to. (doctor_folders.c) */
void cli_doctor_folders(cli_examination *all);

/* Other hubs that share the store: whether they have this manifest. (doctor_replicas.c); blocks: reads the
 * store, HUB_LIMIT_STATE_SYNC_MS at most for each page */
void cli_doctor_replicas(cli_examination *all);

#endif
