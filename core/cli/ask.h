/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to who types at a terminal. Blocks. */
#ifndef HUB_CLI_ASK_H
#define HUB_CLI_ASK_H

#include "base/buf.h"

/* Append what is left of stdin, or a line of it with its newline, not through stdio, whose buffer
 * would keep a secret. False when it cannot be read; errno says why. */
bool cli_ask_read(hub_buf *value, bool is_line);

/* Ask on stderr and append the line that is typed, with its newline. `is_hidden`: it is not shown.
 * False when stdin is no terminal, or cannot be read. */
bool cli_ask_line(const char *question, bool is_hidden, hub_buf *value);

/* Ask for y or n. False for all but yes, and without a terminal. */
bool cli_ask_yes(const char *question);

/* Whether somebody can be asked. */
bool cli_ask_can(void);

#endif
