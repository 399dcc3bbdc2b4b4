/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the hub and the guard of one child say to each other, over a SOCK_SEQPACKET pair: each
 * message is one packet. The end of the hub's side means that the hub is dead, and is an order,
 * too: SIGTERM to all descendants, HUB_GUARD_GRACE_MS later SIGKILL.
 *
 *     patchbay-guard CWD PROGRAM ARGV0 [ARG…]     CWD "": where it is; environment, 0, 1 and 2: the
 *                                                 command's
 */
#ifndef HUB_GUARD_PROTOCOL_H
#define HUB_GUARD_PROTOCOL_H

#include <stdint.h>

enum {
    HUB_GUARD_FD = 3, /* the guard's end */
    HUB_GUARD_GRACE_MS = 2000,
};

/* Orders, a byte each. A guard that has no descendants left ends by itself. */
enum {
    HUB_GUARD_TERM = 'T', /* SIGTERM to every descendant, once */
    HUB_GUARD_KILL = 'K', /* SIGKILL to every descendant, until there is none */
};

/* What a report is about. The first one is STARTED or FAILED. */
enum {
    HUB_GUARD_STARTED, /* the command has been exec'ed; value: its process id */
    HUB_GUARD_FAILED,  /* it has not; value: errno, detail: HUB_GUARD_STAGE_… */
    HUB_GUARD_ENDED,   /* it has ended; value: si_status, detail: si_code, see waitid(2) */
};

/* Where starting failed. */
enum { HUB_GUARD_STAGE_SETUP, HUB_GUARD_STAGE_CWD, HUB_GUARD_STAGE_EXEC };

typedef struct hub_guard_report {
    int32_t what;
    int32_t value;
    int32_t detail;
} hub_guard_report;

#endif
