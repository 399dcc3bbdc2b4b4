/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a raw JSON string, character by character, without memory for a decoded copy.
 * Internal to definition*.c.
 */
#ifndef HUB_TOOLS_DEFINITION_TEXT_H
#define HUB_TOOLS_DEFINITION_TEXT_H

#include "base/str.h"

/* What lies behind the last character. */
#define HUB_TEXT_END UINT32_MAX

typedef struct hub_text_reader {
    const char *at;
    const char *end;
} hub_text_reader;

/* At the first character of a raw string (checked by hub_json_check). */
hub_text_reader hub_text_read(hub_str raw);

/* The next character as a code point, and take it; a lone surrogate is itself. */
uint32_t hub_text_next(hub_text_reader *reader);

/* The next character without taking it. */
uint32_t hub_text_peek(const hub_text_reader *reader);

/* Take the next character if it is one of these (ASCII). */
bool hub_text_take(hub_text_reader *reader, const char *any_of);

#endif
