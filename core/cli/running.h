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

/* One that has answered, and is asked more than once. */
typedef struct cli_running cli_running;

/* The first hub that answers. On failure a line on stderr says why.
 * owns:    *ret_hub, cli_running_close
 * returns: as cli_running_ask */
int cli_running_open(cli_options *options, cli_running **ret_hub);
void cli_running_close(cli_running *hub); /* NULL is fine */

/* A request of the administration API (docs/API.md). */
typedef struct cli_api_request {
    const char *method; /* NULL: GET */
    const char *path;   /* beneath /api/v1 */
    const char *query;  /* NULL: none */
    hub_str body;       /* an object; empty: none */
} cli_api_request;

/* Have it answered; *ret_body is in `answer`, which is empty before. On failure a line on stderr says why.
 * returns: EXIT_OK, EXIT_CONFIG (the hub refuses), CLI_EXIT_NO_HUB */
int cli_running_api(cli_running *hub, const cli_api_request *request, hub_buf *answer,
                    hub_str *ret_body);

#endif
