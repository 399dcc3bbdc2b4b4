/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hub's side of patchbay-guard (guard/protocol.h): where the program is, and what is said to
 * and heard from the guard of one child. Thread: [loop].
 */
#ifndef HUB_MODULES_PROCESS_GUARD_H
#define HUB_MODULES_PROCESS_GUARD_H

#include "base/err.h"
#include "guard/protocol.h"

/* Find the guard and open it, so that it is the same one as long as the hub runs, whatever is
 * installed meanwhile. It is looked for in the folder of this program, then where it is installed:
 * from there, and as configured when the hub was built.
 * owns:    *ret_fd: close-on-exec, above HUB_GUARD_FD, fit for execveat(2)
 * errors:  HUB_ENOTFOUND (the text names the places), HUB_ESYSTEM, HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_guard_open(int *ret_fd, hub_error *reterr);

/* Send an order, HUB_GUARD_TERM or HUB_GUARD_KILL. To a guard that has ended it means nothing. */
void hub_guard_order(int channel, char order);

/* Receive the next report. `wait`: until there is one, or there will be none any more.
 * returns: whether there was one */
bool hub_guard_receive(int channel, bool wait, hub_guard_report *ret_report);

#endif
