/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows in columns, for people: as wide as what is in them; at a terminal with titles, the last
 * column cut where the line ends, and in bold unless NO_COLOR is set or TERM is dumb.
 */
#ifndef HUB_CLI_COLUMNS_H
#define HUB_CLI_COLUMNS_H

#include "base/buf.h"

enum { CLI_COLUMNS_MOST = 8 };

typedef struct cli_columns {
    hub_buf cells; /* each with a NUL behind it, row by row */
    size_t count;  /* of columns */
    size_t widths[CLI_COLUMNS_MOST];
    const char *const *titles;
} cli_columns;

/* At most CLI_COLUMNS_MOST; titles are borrowed. */
void cli_columns_init(cli_columns *columns, size_t count, const char *const *titles);
void cli_columns_fini(cli_columns *columns);

/* Copies the cells. Control characters become '?'. */
void cli_columns_add(cli_columns *columns, const char *const *cells);

/* To stdout. */
void cli_columns_print(const cli_columns *columns);

/* Whether text on `fd` may be in colours: it is a terminal, NO_COLOR is not set or empty, and TERM
 * is not dumb. */
bool cli_has_colours(int fd);

#endif
