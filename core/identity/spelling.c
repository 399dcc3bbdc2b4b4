/* SPDX-License-Identifier: Apache-2.0 */
#include "identity/spelling.h"

/* Characters beyond ASCII that become ASCII letters when case is folded, raised or lowered: U+0130,
 * U+0131, U+017F, U+1E9E, U+00DF, U+212A, and the ligatures U+FB00 to U+FB06. */
static const struct folding {
    const char *from;
    const char *to;
} FOLDINGS[] = {
    {"\xc4\xb0", "i"},       {"\xc4\xb1", "i"},       {"\xc5\xbf", "s"},
    {"\xc3\x9f", "ss"},      {"\xe1\xba\x9e", "ss"},  {"\xe2\x84\xaa", "k"},
    {"\xef\xac\x80", "ff"},  {"\xef\xac\x81", "fi"},  {"\xef\xac\x82", "fl"},
    {"\xef\xac\x83", "ffi"}, {"\xef\xac\x84", "ffl"}, {"\xef\xac\x85", "st"},
    {"\xef\xac\x86", "st"},
};

static const struct folding *find_folding(hub_str rest)
{
    for (size_t i = 0; i < sizeof FOLDINGS / sizeof *FOLDINGS; i++) {
        if (hub_str_starts(rest, hub_str_of(FOLDINGS[i].from))) {
            return &FOLDINGS[i];
        }
    }
    return NULL;
}

static bool is_continued(hub_str text, size_t at)
{
    return at < text.len && ((unsigned char)text.ptr[at] & 0xc0) == 0x80;
}

/* U+0307, which lowering leaves behind an i that was U+0130. */
static bool is_dot_above(hub_str rest)
{
    return hub_str_starts(rest, HUB_STR("\xcc\x87"));
}

void hub_spelling_fold(hub_str text, hub_buf *out)
{
    for (size_t at = 0; at < text.len;) {
        hub_str rest = hub_str_from(text, at);
        unsigned char c = (unsigned char)text.ptr[at++];
        if (c < 0x80) {
            hub_buf_add_char(out, (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c));
            continue;
        }
        const struct folding *folding = find_folding(rest);
        if (folding != NULL) {
            hub_buf_add(out, hub_str_of(folding->to));
        } else if (!is_dot_above(rest)) {
            hub_buf_add_char(out, '\x7f');
        }
        while (is_continued(text, at)) {
            at++;
        }
    }
}
