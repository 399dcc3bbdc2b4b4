/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hubs that start hubs. A configuration may start another hub as a server, but a hub must not start
 * itself: each copy would start the next one, and the machine would drown in processes. So each hub
 * tells its children, in the environment variable PATCHBAY_CHAIN, which hubs stand above them; a
 * hub that finds its own configuration there refuses to start, before it has started any child.
 *
 *     PATCHBAY_CHAIN=6d0e91c4a7713b02.91c4d0e7713b026a+13b02d0e91c4a776
 *
 * One entry for each hub, the first one first: the digest of the real paths of its configuration
 * files, and of a hub that makes one call only (`patchbay call`) the digest of the tool's name. A
 * hub without a file, or with one that has no path (a pipe), is the entry "-": it equals no other.
 *
 * A wrapper may clear the environment (`env -i`). Then the variable is read from the processes
 * above this one: the guard of each server has it.
 *
 * Circles of hubs that only connect to each other, and start nothing, are wire/lineage.h's.
 * Thread: [init], but hub_chain_admit: [loop]. Does not start or end anything.
 */
#ifndef HUB_MODULES_PROCESS_CHAIN_H
#define HUB_MODULES_PROCESS_CHAIN_H

#include "base/err.h"

#define HUB_CHAIN_VARIABLE "PATCHBAY_CHAIN"

/* Make this process a hub of the chain that it was started in: sets HUB_CHAIN_VARIABLE, which all
 * children get. `files` are the configuration files as the command line names them; `tool` is what
 * a hub calls that makes one call only, else NULL.
 * errors:  HUB_EEXIST (a hub above has the same configuration), HUB_ELIMIT (more than
 *          HUB_LIMIT_CHAIN hubs in a row), HUB_ENOMEM; reterr says what to do */
HUB_MUST_CHECK hub_err hub_chain_join(const char *const *files, size_t file_count, const char *tool,
                                      hub_error *reterr);

/* Whether a hub started this process. */
bool hub_chain_is_below(void);

/* Judge a command before it is started: refuse one that is plainly this program with a
 * configuration of the chain. What hides behind a shell or another wrapper is left to
 * hub_chain_join in that process. `program` is the file of the command; `cwd` may be NULL.
 * errors:  HUB_EEXIST; reterr says what to do */
HUB_MUST_CHECK hub_err hub_chain_admit(const char *program, const char *const *argv,
                                       const char *cwd, hub_error *reterr);

#endif
