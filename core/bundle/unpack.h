/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay-unpack (unpack/protocol.h), from the side of who starts it. Blocks. */
#ifndef HUB_BUNDLE_UNPACK_H
#define HUB_BUNDLE_UNPACK_H

#include "base/err.h"

/* Unpack what `fd`, a regular file at its beginning, holds into an empty folder.
 * errors:  HUB_EINVAL (it is no archive, or not one that is taken: the text says why),
 *          HUB_ENOTFOUND (the program is not installed), HUB_ESYSTEM */
HUB_MUST_CHECK hub_err hub_unpack(int fd, const char *folder, hub_error *reterr);

#endif
