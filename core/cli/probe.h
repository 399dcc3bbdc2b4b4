/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking at plugins without being hurt: what loads them runs in a process of its own, because
 * their constructors run before anything could be checked, and may crash, exit or never end.
 */
#ifndef HUB_CLI_PROBE_H
#define HUB_CLI_PROBE_H

#include "base/err.h"

/* What the process is doing, for the report of its end; shared with the one that watches it. */
typedef struct cli_probe cli_probe;

/* Say what is done next: that it comes to this is a sign of life, too. The text is cut. */
void cli_probe_step(cli_probe *probe, const char *what);

/* Run work(ctx, probe) in a child process, whose exit status is the result; stdout and stderr are
 * shared with it. When it crashes, a line on stderr names plugin and tool (modules/crash.h); when it
 * takes longer than HUB_LIMIT_PROBE_MS over one step, which step. It is not to come back from a
 * plugin's exit: one before the end is such a failure, too.
 * blocks:  until the child has ended
 * returns: what work() returned, EXIT_CONFIG, EXIT_INTERNAL (no process can be had) */
int cli_probe_run(int (*work)(void *ctx, cli_probe *probe), void *ctx);

#endif
