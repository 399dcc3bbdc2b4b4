/* SPDX-License-Identifier: Apache-2.0 */
#include "base/line.h"

#define ELLIPSIS "…"

enum {
    ELLIPSIS_BYTES = sizeof ELLIPSIS - 1,
    READ_FOR_EACH = 16, /* bytes that are read for each that may be added: the rest is not seen */
};

/* The character at the beginning of a text, and its bytes. What is not UTF-8 is one byte. */
static uint32_t read_char(hub_str text, size_t *ret_len)
{
    size_t len = hub_str_utf8_length(text);
    *ret_len = len > 0 ? len : 1;
    return hub_str_character(text, *ret_len);
}

static bool is_space(uint32_t code)
{
    return code == ' ' || (code >= '\t' && code <= '\r') || code == 0x85 || code == 0xa0 ||
           code == 0x2028 || code == 0x2029 || code == 0x3000;
}

/* Cut what was added from `begin` on, so that the ellipsis fits behind it. `room` is the end of the
 * last whole character that leaves room for it, `word` that of the last word. */
static void cut(hub_buf *out, size_t begin, size_t room, size_t word)
{
    out->len = word > begin && word - begin >= (room - begin) / 2 ? word : room;
    hub_buf_add(out, HUB_STR(ELLIPSIS));
}

/* What stands for white space between two words: a space or, where lines are kept, a line break or an
 * empty line. */
static hub_str separator(size_t breaks, bool keeps_lines)
{
    return !keeps_lines || breaks == 0 ? HUB_STR(" ")
           : breaks == 1               ? HUB_STR("\n")
                                       : HUB_STR("\n\n");
}

static void add(hub_buf *out, hub_str text, size_t max_bytes, bool keeps_lines)
{
    size_t begin = out->len;
    size_t room = begin;
    size_t word = begin;
    bool is_apart = false;
    size_t breaks = 0;
    text.len = text.len / READ_FOR_EACH <= max_bytes ? text.len : max_bytes * READ_FOR_EACH;
    while (text.len > 0 && hub_buf_ok(out)) {
        size_t len = 0;
        uint32_t code = read_char(text, &len);
        hub_str bytes = {.ptr = text.ptr, .len = len};
        text = hub_str_from(text, len);
        if (is_space(code)) {
            word = !is_apart && out->len <= room ? out->len : word;
            is_apart = out->len > begin;
            breaks += code == '\n';
            continue;
        }
        if (hub_char_is_unseen(code)) {
            continue;
        }
        hub_str between = is_apart ? separator(breaks, keeps_lines) : HUB_STR_EMPTY;
        if (out->len - begin + between.len + len > max_bytes) {
            cut(out, begin, room, word);
            return;
        }
        hub_buf_add(out, between);
        is_apart = false;
        breaks = 0;
        hub_buf_add(out, bytes);
        room = out->len - begin + ELLIPSIS_BYTES <= max_bytes ? out->len : room;
    }
}

void hub_line_add(hub_buf *out, hub_str text, size_t max_bytes)
{
    add(out, text, max_bytes, false);
}

void hub_lines_add(hub_buf *out, hub_str text, size_t max_bytes)
{
    add(out, text, max_bytes, true);
}
