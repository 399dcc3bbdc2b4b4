/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command says piece by piece, for programs: with --json each thing is an object on a line of
 * its own on stdout (JSON Lines), as soon as it is known. Text is masked like cli_report.
 * Thread: [main].
 */
#ifndef HUB_CLI_ROWS_H
#define HUB_CLI_ROWS_H

#include "base/buf.h"

/* Begin a row in `row`, add members, and print it. Ends with the buffer finished. */
void cli_row_begin(hub_buf *row);
void cli_row_add(hub_buf *row, const char *key, hub_str text);
void cli_row_add_count(hub_buf *row, const char *key, size_t count);
void cli_row_add_bool(hub_buf *row, const char *key, bool is_so);
void cli_row_add_json(hub_buf *row, const char *key, hub_str json);
void cli_row_print(hub_buf *row);

/* From now on what cli_complain says is a row, too: {"level":…,"text":…}, for commands whose answer
 * is what they complain of. The level is "warning" or "info" where the text begins with that word and a
 * colon, else `level`. */
void cli_complain_in_rows(const char *level);

/* Print such a row; false, and nothing done, unless cli_complain_in_rows was called. */
bool cli_row_complain(hub_str text);

#endif
