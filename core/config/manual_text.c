/* SPDX-License-Identifier: Apache-2.0 */
#include "config/manual_text.h"

/* mandoc complains of lines of the page's source over 80 bytes; escapes make them longer. */
enum { COLUMNS = 64, MORE = 14 /* for what may not begin a line */ };

void hub_manual_add(hub_buf *out, hub_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (memchr("*_\\`#[]<>~.'", text.ptr[i], 12) != NULL) {
            hub_buf_add_char(out, '\\');
        }
        hub_buf_add_char(out, text.ptr[i]);
    }
}

static void add_line(hub_buf *out, unsigned depth, hub_str line)
{
    for (unsigned i = 0; i < depth; i++) {
        hub_buf_add_char(out, '\t');
    }
    if (line.ptr[0] == '-') {
        hub_buf_add_char(out, '\\'); /* else it begins a list */
    }
    hub_manual_add(out, line);
    hub_buf_add_char(out, '\n');
}

/* The bytes of the next word, which begins `text`. */
static size_t word_length(hub_str text)
{
    size_t len = 0;
    while (len < text.len && text.ptr[len] != ' ' && text.ptr[len] != '\n') {
        len++;
    }
    return len;
}

void hub_manual_add_paragraph(hub_buf *out, unsigned depth, hub_str text)
{
    char line[COLUMNS + MORE];
    size_t used = 0;
    hub_buf_add_char(out, '\n');
    for (text = hub_str_skip_space(text); text.len > 0; text = hub_str_skip_space(text)) {
        hub_str word = {.ptr = text.ptr, .len = word_length(text)};
        text = hub_str_from(text, word.len);
        /* To roff, a line that begins with these is a macro. */
        bool is_macro = word.ptr[0] == '.' || word.ptr[0] == '\'';
        size_t most = is_macro ? sizeof line : COLUMNS;
        if (used > 0 && used + 1 + word.len > most) {
            add_line(out, depth, (hub_str){.ptr = line, .len = used});
            used = 0;
        }
        if (word.len > COLUMNS) {
            add_line(out, depth, word);
            continue;
        }
        if (used > 0) {
            line[used++] = ' ';
        }
        memcpy(line + used, word.ptr, word.len);
        used += word.len;
    }
    if (used > 0) {
        add_line(out, depth, (hub_str){.ptr = line, .len = used});
    }
}
