/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of arguments that a server may take for one and the same: libraries exist to which "Path" is
 * "path", too (Go's encoding/json, Jackson, System.Text.Json), each with its own idea of case. Pure
 * functions, any thread.
 * source:  Unicode CaseFolding.txt (simple and full folding)
 */
#ifndef HUB_IDENTITY_SPELLING_H
#define HUB_IDENTITY_SPELLING_H

#include "base/buf.h"

/* Append a text (UTF-8) as the most forgiving server might read it: ASCII letters are small, what is
 * folded or lowered to ASCII letters anywhere is these, and all other characters are one and the
 * same. So two names that some server takes for one have the same bytes here; that two others have
 * them is possible, and harmless. */
void hub_spelling_fold(hub_str text, hub_buf *out);

#endif
