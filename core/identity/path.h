/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths as text, without asking any file system: a server's may be another machine's. Symbolic links
 * are not seen. Pure functions, any thread.
 */
#ifndef HUB_IDENTITY_PATH_H
#define HUB_IDENTITY_PATH_H

#include "base/buf.h"

/* Append an absolute path without "//", "/./", "/../" and a '/' at its end. False, with the buffer
 * in any state, when nobody can say where it leads: it is not absolute, has a backslash, a control
 * character, or a '%' that a server may decode to a separator, a dot or another '%'. */
bool hub_path_normalise(hub_str path, hub_buf *out);

/* Whether a normalised path is that folder or lies in it. */
bool hub_path_is_beneath(hub_str path, hub_str folder);

#endif
