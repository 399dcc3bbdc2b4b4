/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for manual pages, as scdoc(5) reads it. Pure functions, any thread.
 */
#ifndef HUB_CONFIG_MANUAL_TEXT_H
#define HUB_CONFIG_MANUAL_TEXT_H

#include "base/buf.h"

/* Append text with what scdoc takes for markup escaped. */
void hub_manual_add(hub_buf *out, hub_str text);

/* Append a paragraph with an empty line in front, indented by `depth` and broken at words; lines of
 * `text` are joined. */
void hub_manual_add_paragraph(hub_buf *out, unsigned depth, hub_str text);

#endif
