/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of files by one digest. Any thread; blocks. */
#ifndef HUB_BUNDLE_TREE_H
#define HUB_BUNDLE_TREE_H

#include "base/digest.h"
#include "base/err.h"

/* The SHA-256 over all files below `folder`, in the order of their paths: of each the path, whether
 * it may be run, its size and its content. Folders count only by what is in them. Links are not
 * followed.
 * errors:  HUB_EINVAL (something that is neither file nor folder), HUB_ELIMIT (more than an archive
 *          may have: unpack/protocol.h), HUB_ENOTFOUND, HUB_ESYSTEM, HUB_ENOMEM; the text begins with
 *          the folder */
HUB_MUST_CHECK hub_err hub_tree_digest(const char *folder, char ret_hex[HUB_DIGEST_HEX_BYTES],
                                       hub_error *reterr);

/* Take all rights to write away, or, for an end, delete all of it. errors: as above */
HUB_MUST_CHECK hub_err hub_tree_close(const char *folder, hub_error *reterr);
HUB_MUST_CHECK hub_err hub_tree_delete(const char *folder, hub_error *reterr);

#endif
