/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/columns.h"

#include "tools/suspects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    CELLS_BYTES = 64 * 1024 * 1024,
    GAP = 2,
    LEAST_LAST = 10, /* of the last column, however narrow the terminal */
};

bool cli_has_colours(int fd)
{
    const char *off = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    return isatty(fd) == 1 && (off == NULL || off[0] == '\0') && term != NULL &&
           strcmp(term, "dumb") != 0;
}

/* Characters, as far as UTF-8 tells: one for each that does not go on another. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (const char *at = text; *at != '\0'; at++) {
        width += ((unsigned char)*at & 0xc0) != 0x80;
    }
    return width;
}

void cli_columns_init(cli_columns *columns, size_t count, const char *const *titles)
{
    *columns = (cli_columns){.count = count, .titles = titles};
    hub_buf_init(&columns->cells, CELLS_BYTES);
    for (size_t i = 0; i < count; i++) {
        columns->widths[i] = isatty(STDOUT_FILENO) == 1 ? width_of(titles[i]) : 0;
    }
}

void cli_columns_fini(cli_columns *columns)
{
    hub_buf_fini(&columns->cells);
}

void cli_columns_add(cli_columns *columns, const char *const *cells)
{
    for (size_t i = 0; i < columns->count; i++) {
        size_t begin = columns->cells.len;
        hub_suspects_add_visible(hub_str_of(cells[i]), &columns->cells);
        hub_buf_add_char(&columns->cells, '\0');
        if (!hub_buf_ok(&columns->cells)) {
            return;
        }
        for (char *at = columns->cells.ptr + begin; *at != '\0'; at++) {
            unsigned char c = (unsigned char)*at;
            *at = c < 0x20 || c == 0x7f ? '?' : *at;
        }
        size_t width = width_of(columns->cells.ptr + begin);
        columns->widths[i] = width > columns->widths[i] ? width : columns->widths[i];
    }
}

/* How wide the terminal is; SIZE_MAX: there is none. */
static size_t find_room(void)
{
    struct winsize size = {.ws_col = 0};
    if (isatty(STDOUT_FILENO) != 1) {
        return SIZE_MAX;
    }
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* The bytes of the first `width` characters. */
static size_t cut(const char *text, size_t width)
{
    size_t at = 0;
    size_t seen = 0;
    while (text[at] != '\0') {
        seen += ((unsigned char)text[at] & 0xc0) != 0x80;
        if (seen > width) {
            break;
        }
        at++;
    }
    return at;
}

/* One row; returns what is behind it. */
static const char *print_row(const cli_columns *columns, const char *const *titles,
                             const char *cells, size_t room)
{
    size_t used = 0;
    size_t pad = 0; /* that is printed when something follows */
    for (size_t i = 0; i < columns->count; i++) {
        const char *text = titles != NULL ? titles[i] : cells;
        size_t width = width_of(text);
        bool is_last = i + 1 == columns->count;
        if (width > 0) {
            (void)printf("%*s", (int)pad, "");
            pad = 0;
        }
        if (is_last) {
            size_t left = room > used + LEAST_LAST ? room - used : LEAST_LAST;
            bool is_cut = width > left;
            (void)fwrite(text, 1, is_cut ? cut(text, left - 1) : strlen(text), stdout);
            (void)fputs(is_cut ? "…" : "", stdout);
        } else {
            (void)fputs(text, stdout);
            pad += columns->widths[i] + GAP - width;
            used += columns->widths[i] + GAP;
        }
        cells = titles != NULL ? cells : cells + strlen(cells) + 1;
    }
    return cells;
}

void cli_columns_print(const cli_columns *columns)
{
    size_t room = find_room();
    bool is_bold = cli_has_colours(STDOUT_FILENO);
    const char *cells = columns->cells.ptr;
    const char *end = cells + columns->cells.len;
    if (!hub_buf_ok(&columns->cells) || cells == NULL) {
        return;
    }
    if (room != SIZE_MAX) {
        (void)fputs(is_bold ? "\033[1m" : "", stdout);
        (void)print_row(columns, columns->titles, NULL, room);
        (void)fputs(is_bold ? "\033[0m\n" : "\n", stdout);
    }
    while (cells < end) {
        cells = print_row(columns, NULL, cells, room);
        (void)putchar('\n');
    }
}
