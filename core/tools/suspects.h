/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a definition a person does not see who reads it, and a model does: characters without a
 * picture, such that turn the direction of writing, commands for a terminal, and tag characters
 * (U+E0000 to U+E007F), which spell a second text behind the first. Such a definition is only
 * named, never changed. Pure; any thread.
 */
#ifndef HUB_TOOLS_SUSPECTS_H
#define HUB_TOOLS_SUSPECTS_H

#include "base/buf.h"

enum {
    HUB_SUSPECT_HIDDEN = 0x1,
    HUB_SUSPECT_BIDI = 0x2,
    HUB_SUSPECT_ESCAPE = 0x4,
    HUB_SUSPECT_TAG = 0x8,
};

/* What a raw definition (checked JSON) has of that, escaped or not. One pass. */
unsigned hub_suspects_in(hub_str definition);

/* Append it in words: "hidden characters, tag characters". */
void hub_suspects_add(unsigned suspects, hub_buf *out);

/* Append a text with each such character as \\u{HEX}, so that people see it. */
void hub_suspects_add_visible(hub_str text, hub_buf *out);

/* Called with a word that may be the name of a tool; true: it is, and of another toolset's. */
typedef bool hub_suspects_is_foreign(void *ctx, hub_str word);

/* Find the first word of a definition's description that has the form of a tool's name (with '_',
 * '-', '.', ':' or a capital letter in it), and is one to `is_foreign`; HUB_LIMIT_SUSPECT_WORDS are
 * looked at. It is appended to `word`.
 * errors:  HUB_ENOTFOUND, HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_suspects_find_foreign(hub_str definition,
                                                 hub_suspects_is_foreign *is_foreign, void *ctx,
                                                 hub_buf *word);

#endif
