/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of a hub that serves: into its file or the journal, opened again on SIGUSR1, and what a
 * stderr that is full has not taken yet. Thread: [loop].
 */
#ifndef HUB_CLI_LOGGING_H
#define HUB_CLI_LOGGING_H

#include "hub/kernel/settings.h"

#include <ev.h>

/* Embed it; it stays where it is. */
typedef struct cli_logging {
    struct ev_loop *loop; /* NULL: it has not begun */
    ev_signal on_reopen;
    ev_async on_owed;
    ev_io on_writable;
} cli_logging;

/* blocks:  yes, opens a file
 * errors:  HUB_ESYSTEM: the file cannot be opened; the text says why */
HUB_MUST_CHECK hub_err cli_logging_begin(cli_logging *logging, struct ev_loop *loop,
                                         const hub_settings *settings, hub_error *reterr);

/* Write what is owed, for a moment, and end. Twice is once. */
void cli_logging_end(cli_logging *logging);

#endif
