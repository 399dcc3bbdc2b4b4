/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets that listen already when the hub starts: systemd hands them over, each by a name
 * (sd_listen_fds(3)). They stay open as long as the process lives; who serves one works on a copy.
 * hub_inherited_init before the first child and thread; the rest on the loop's thread.
 */
#ifndef HUB_BASE_INHERITED_H
#define HUB_BASE_INHERITED_H

/* See what is there, and keep it and its variables from children. */
void hub_inherited_init(void);

/* A copy of the nth socket of that name, which does not block and no child gets; -1: there is none.
 * owns: the caller closes it */
int hub_inherited_copy(const char *name, unsigned nth);

#endif
