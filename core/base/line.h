/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of others as one line for people and models: bounded, without line breaks, and without
 * characters that change how the rest is read but are not seen. Any thread.
 */
#ifndef HUB_BASE_LINE_H
#define HUB_BASE_LINE_H

#include "base/buf.h"

/* Append a text (UTF-8) as one line of at most `max_bytes`. White space becomes single spaces; control
 * characters, zero-width ones, those that turn the direction of writing, and tag characters are left
 * out. What is too long ends behind a word, if one ends in its second half, and with "…". */
void hub_line_add(hub_buf *out, hub_str text, size_t max_bytes);

/* The same, but that line breaks stay: of several in a row two. */
void hub_lines_add(hub_buf *out, hub_str text, size_t max_bytes);

#endif
