/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reloading, as `patchbay serve` does it: on SIGHUP, and when a file of the configuration changes.
 * The files are read and checked by a thread of its own, so nobody waits meanwhile; then listeners,
 * tokens, log and hub (hub/reload/reload.h) change, all or none. The log says what came of it.
 * Thread: [loop].
 */
#ifndef HUB_CLI_RELOAD_H
#define HUB_CLI_RELOAD_H

#include "cli/cli.h"
#include "cli/listeners.h"

#include <ev.h>

typedef struct cli_reloader cli_reloader;

/* Reload what `options` name into the hub and its listeners, which were made of *config; that is
 * replaced each time. All are borrowed for the reloader's life.
 * owns:    *ret_reloader
 * errors:  HUB_ENOMEM; that files are not watched is a warning in the log only */
HUB_MUST_CHECK hub_err cli_reloader_create(struct ev_loop *loop, cli_options *options,
                                           hub_config **config, hub_orchestrator *hub,
                                           cli_listeners *listeners, cli_reloader **ret_reloader,
                                           hub_error *reterr);

/* Before listeners and hub. False when a file is still being read: its thread is left behind, and
 * the process must end with _exit. NULL is fine, and true. */
bool cli_reloader_destroy(cli_reloader *reloader);

/* Reload now, or when the reload under way has ended; `by`: a word of base/cause.h. */
void cli_reload(cli_reloader *reloader, const char *by);

#endif
