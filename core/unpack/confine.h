/* SPDX-License-Identifier: Apache-2.0 */
/* What this program may do from now on. */
#ifndef HUB_UNPACK_CONFINE_H
#define HUB_UNPACK_CONFINE_H

#include <stdbool.h>

/* Bounds on memory, time and files, and a filter of system calls: files are read, made and written,
 * nothing else. Any other call ends the program at once. False: it cannot be had; errno says why. */
bool unpack_confine(void);

#endif
