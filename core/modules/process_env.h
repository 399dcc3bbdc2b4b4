/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a child is started with: its environment, and the file that its command means. Borrows
 * every string, since they are used before the caller returns. Reads folders, starts nothing.
 */
#ifndef HUB_MODULES_PROCESS_ENV_H
#define HUB_MODULES_PROCESS_ENV_H

#include "base/err.h"

/* The environment of a child: of `inherited` (NULL-terminated NAME=value) everything, or just the
 * allow-list of patchbay/process.h; then `additions` (may be NULL), each of which replaces an
 * earlier variable of its name. HUB_CHAIN_VARIABLE is always as inherited (process_chain.h).
 * owns:    *ret_env (one block, free it); the strings stay borrowed
 * errors:  HUB_EINVAL (an addition is not NAME=value), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_process_env_build(const char *const *inherited, bool inherit_all,
                                             const char *const *additions, const char ***ret_env,
                                             hub_error *reterr);

/* The file that `command` means with this environment: itself when it contains '/', else the first
 * executable file of that name in PATH. Only absolute folders count: with "." or an empty entry in
 * PATH whoever fills the current folder would choose the program.
 * owns:    *ret_program, free it
 * errors:  HUB_ENOTFOUND, HUB_ESYSTEM (found, but not executable), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_process_env_find_program(const char *const *env, const char *command,
                                                    char **ret_program, hub_error *reterr);

#endif
