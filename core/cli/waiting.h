/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command says on stderr while it waits for servers: nobody looks at a command that is silent
 * for minutes. The first line comes after a while; on a terminal more follow, with the time so far.
 * Thread: [loop].
 */
#ifndef HUB_CLI_WAITING_H
#define HUB_CLI_WAITING_H

#include "cli/cli.h"

#include "base/loop.h"

typedef struct cli_waiting {
    ev_timer timer;
    struct ev_loop *loop;
    hub_orchestrator *hub;
    uint64_t begun_ms;
    bool has_spoken;
} cli_waiting;

/* Watch a hub from here to cli_waiting_end, while its loop runs. */
void cli_waiting_begin(cli_waiting *waiting, struct ev_loop *loop, hub_orchestrator *hub);
void cli_waiting_end(cli_waiting *waiting);

#endif
