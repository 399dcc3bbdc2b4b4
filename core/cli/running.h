/* SPDX-License-Identifier: Apache-2.0 */
/* Asking a hub that runs, at the listeners of a manifest, or where flags say. [init] */
#ifndef HUB_CLI_RUNNING_H
#define HUB_CLI_RUNNING_H

#include "cli/cli.h"

#include "base/buf.h"

enum { CLI_EXIT_NO_HUB = 3 }; /* nobody answers, or it is no hub */

typedef struct cli_question {
    const char *method; /* HUB_STATUS_METHOD, HUB_ADMIN_METHOD */
    hub_str params;     /* an object without _meta */
} cli_question;

/* Append the result of the first hub that answers. On failure a line on stderr says why.
 * returns: EXIT_OK, CLI_EXIT_NO_HUB, EXIT_USAGE, EXIT_CONFIG, EXIT_INTERNAL */
int cli_running_ask(cli_options *options, const cli_question *question, hub_buf *ret_answer);

#endif
