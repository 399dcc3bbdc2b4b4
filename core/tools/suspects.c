/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/suspects.h"

#include "base/limits.h"
#include "wire/json.h"

typedef struct span {
    uint32_t first;
    uint32_t last;
    unsigned suspect;
} span;

/* Characters of scripts that have no picture of their own. Joiners (U+200C, U+200D) are looked at
 * with what stands before them: in an emoji, or in Persian, they belong there. */
static const span SPANS[] = {
    {0x7f, 0x9f, HUB_SUSPECT_ESCAPE},     {0xad, 0xad, HUB_SUSPECT_HIDDEN},
    {0x115f, 0x1160, HUB_SUSPECT_HIDDEN}, {0x180e, 0x180e, HUB_SUSPECT_HIDDEN},
    {0x200b, 0x200b, HUB_SUSPECT_HIDDEN}, {0x61c, 0x61c, HUB_SUSPECT_BIDI},
    {0x200e, 0x200f, HUB_SUSPECT_BIDI},   {0x202a, 0x202e, HUB_SUSPECT_BIDI},
    {0x2060, 0x2064, HUB_SUSPECT_HIDDEN}, {0x2066, 0x2069, HUB_SUSPECT_BIDI},
    {0x206a, 0x206f, HUB_SUSPECT_HIDDEN}, {0x3164, 0x3164, HUB_SUSPECT_HIDDEN},
    {0xfeff, 0xfeff, HUB_SUSPECT_HIDDEN}, {0xfff9, 0xfffb, HUB_SUSPECT_HIDDEN},
    {0xe0000, 0xe007f, HUB_SUSPECT_TAG},  {0xe0100, 0xe01ef, HUB_SUSPECT_HIDDEN},
};

static unsigned judge(uint32_t character, uint32_t before)
{
    if (character < 0x7f) {
        return character == 0x1b ? HUB_SUSPECT_ESCAPE : 0;
    }
    bool is_joiner = character == 0x200c || character == 0x200d;
    if (is_joiner) {
        return before < 0x80 ? HUB_SUSPECT_HIDDEN : 0;
    }
    for (size_t i = 0; i < sizeof SPANS / sizeof SPANS[0]; i++) {
        if (character >= SPANS[i].first && character <= SPANS[i].last) {
            return SPANS[i].suspect;
        }
    }
    return 0;
}

static uint32_t read_hex(const char *at)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        unsigned char c = (unsigned char)at[i];
        value = value * 16 + (c <= '9' ? c - (unsigned)'0' : (c | 0x20u) - (unsigned)'a' + 10);
    }
    return value;
}

/* The character that begins at an escape, and how many bytes it takes. */
static uint32_t read_escape(hub_str text, size_t at, size_t *ret_len)
{
    *ret_len = 2;
    if (text.ptr[at + 1] != 'u') {
        return (unsigned char)text.ptr[at + 1];
    }
    uint32_t high = read_hex(text.ptr + at + 2);
    *ret_len = 6;
    bool is_pair = high >= 0xd800 && high < 0xdc00 && at + 11 < text.len &&
                   text.ptr[at + 6] == '\\' && text.ptr[at + 7] == 'u';
    uint32_t low = is_pair ? read_hex(text.ptr + at + 8) : 0;
    if (low < 0xdc00 || low > 0xdfff) {
        return high;
    }
    *ret_len = 12;
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

/* The same of a character in UTF-8 that is not of ASCII. */
static uint32_t read_utf8(hub_str text, size_t at, size_t *ret_len)
{
    unsigned char lead = (unsigned char)text.ptr[at];
    size_t len = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    uint32_t value = lead & (0xffu >> (len + 1));
    for (size_t i = 1; i < len && at + i < text.len; i++) {
        value = value << 6 | ((unsigned char)text.ptr[at + i] & 0x3fu);
    }
    *ret_len = len;
    return value;
}

unsigned hub_suspects_in(hub_str definition)
{
    unsigned found = 0;
    uint32_t before = 0;
    for (size_t at = 0; at < definition.len;) {
        unsigned char c = (unsigned char)definition.ptr[at];
        size_t len = 1;
        uint32_t character = c;
        if (c == '\\') {
            character = read_escape(definition, at, &len);
        } else if (c >= 0x80) {
            character = read_utf8(definition, at, &len);
        }
        found |= len > 1 ? judge(character, before) : 0;
        before = character;
        at += len;
    }
    return found;
}

void hub_suspects_add_visible(hub_str text, hub_buf *out)
{
    uint32_t before = 0;
    for (size_t at = 0; at < text.len;) {
        unsigned char c = (unsigned char)text.ptr[at];
        size_t len = 1;
        uint32_t character = c >= 0x80 ? read_utf8(text, at, &len) : c;
        len = at + len <= text.len ? len : text.len - at;
        if (judge(character, before) != 0) {
            hub_buf_printf(out, "\\u{%x}", (unsigned)character);
        } else {
            hub_buf_add(out, (hub_str){.ptr = text.ptr + at, .len = len});
        }
        before = character;
        at += len;
    }
}

void hub_suspects_add(unsigned suspects, hub_buf *out)
{
    static const struct {
        unsigned suspect;
        const char *words;
    } WORDS[] = {
        {HUB_SUSPECT_HIDDEN, "hidden characters"},
        {HUB_SUSPECT_BIDI, "characters that turn the direction of writing"},
        {HUB_SUSPECT_ESCAPE, "escape sequences of terminals"},
        {HUB_SUSPECT_TAG, "tag characters"},
    };
    const char *between = "";
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        if ((suspects & WORDS[i].suspect) != 0) {
            hub_buf_printf(out, "%s%s", between, WORDS[i].words);
            between = ", ";
        }
    }
}

/* ---- names of others ------------------------------------------------------------------------- */

static bool is_of_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("_-.:", c) != NULL);
}

/* Whether it is like `read_file`, `docs:search` or `readFile`, and not like a word of a sentence. */
static bool is_like_name(hub_str word)
{
    for (size_t i = 1; i + 1 < word.len; i++) {
        bool is_inner_capital = word.ptr[i] >= 'A' && word.ptr[i] <= 'Z' &&
                                word.ptr[i - 1] >= 'a' && word.ptr[i - 1] <= 'z';
        if (is_inner_capital || strchr("_-.:", word.ptr[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* The next word at *at or behind it; empty: there is none. */
static hub_str next_word(hub_str text, size_t *at)
{
    while (*at < text.len && !is_of_word(text.ptr[*at])) {
        ++*at;
    }
    size_t begin = *at;
    while (*at < text.len && is_of_word(text.ptr[*at])) {
        ++*at;
    }
    hub_str word = {.ptr = text.ptr + begin, .len = *at - begin};
    while (word.len > 0 && strchr(".:-", word.ptr[word.len - 1]) != NULL) {
        word.len--; /* the end of a sentence */
    }
    return word;
}

hub_err hub_suspects_find_foreign(hub_str definition, hub_suspects_is_foreign *is_foreign,
                                  void *ctx, hub_buf *word)
{
    hub_str raw = hub_json_get(definition, HUB_STR("description"));
    hub_buf text;
    hub_err err = HUB_ENOTFOUND;
    hub_buf_init(&text, raw.len + 1);
    if (hub_json_type_of(raw) == HUB_JSON_STRING && hub_json_decode(raw, &text) != HUB_OK) {
        err = HUB_ENOMEM;
    }
    size_t at = 0;
    for (size_t i = 0; err == HUB_ENOTFOUND && i < HUB_LIMIT_SUSPECT_WORDS && at < text.len; i++) {
        hub_str next = next_word(hub_buf_str(&text), &at);
        if (is_like_name(next) && next.len <= HUB_LIMIT_TOOL_NAME_BYTES && is_foreign(ctx, next)) {
            hub_buf_add(word, next);
            err = hub_buf_ok(word) ? HUB_OK : HUB_ENOMEM;
        }
    }
    hub_buf_fini(&text);
    return err;
}
