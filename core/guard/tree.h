/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that descends from this process, whatever sessions and groups it made of itself: parents that
 * end leave their children to the guard (PR_SET_CHILD_SUBREAPER), so nothing gets out of the tree.
 * Reads /proc; on a machine without it only the command's process group can be reached.
 */
#ifndef HUB_GUARD_TREE_H
#define HUB_GUARD_TREE_H

#include <stdbool.h>
#include <sys/types.h>

/* Send a signal to every descendant, once to each.
 * returns: how many there were to send it to; of SIGSTOP, those that had not stopped yet */
unsigned guard_tree_signal(int number);

/* Kill every descendant. They are stopped first, so that none can make new ones meanwhile: at most
 * `rounds` walks, since one may fork faster than it is stopped, or cannot be stopped. What slips
 * through is for the next call. */
void guard_tree_kill(int rounds);

#endif
