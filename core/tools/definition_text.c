/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/definition_text.h"

#include "wire/json_scan.h"

enum { UNIT_BYTES = sizeof "\\u0000" - 1 };

hub_text_reader hub_text_read(hub_str raw)
{
    return (hub_text_reader){.at = raw.ptr + 1, .end = raw.ptr + raw.len - 1};
}

/* The UTF-16 unit of the escape \u at `at`, or HUB_TEXT_END when there is none. */
static uint32_t unit_at(const char *at, const char *end)
{
    if (end - at < UNIT_BYTES || at[0] != '\\' || at[1] != 'u') {
        return HUB_TEXT_END;
    }
    uint32_t unit = 0;
    for (int i = 2; i < UNIT_BYTES; i++) {
        unit = unit * 16 + (uint32_t)hub_str_hex_digit(at[i]);
    }
    return unit;
}

static uint32_t next_escape(hub_text_reader *reader)
{
    static const char NAMES[] = "bfnrt";
    static const char BYTES[] = "\b\f\n\r\t";
    uint32_t unit = unit_at(reader->at, reader->end);
    if (unit == HUB_TEXT_END) {
        char letter = reader->at[1];
        const char *name = strchr(NAMES, letter);
        reader->at += 2;
        return (unsigned char)(name != NULL ? BYTES[name - NAMES] : letter);
    }
    reader->at += UNIT_BYTES;
    bool is_high = unit >= 0xd800 && unit <= 0xdbff;
    uint32_t low = is_high ? unit_at(reader->at, reader->end) : 0;
    if (low < 0xdc00 || low > 0xdfff) {
        return unit;
    }
    reader->at += UNIT_BYTES;
    return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

uint32_t hub_text_next(hub_text_reader *reader)
{
    if (reader->at == reader->end) {
        return HUB_TEXT_END;
    }
    unsigned char lead = (unsigned char)*reader->at;
    if (lead == '\\') {
        return next_escape(reader);
    }
    if (lead < 0x80) {
        reader->at++;
        return lead;
    }
    size_t length = hub_json_utf8_length(reader->at, reader->end);
    uint32_t code = lead & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        code = code << 6 | ((unsigned char)reader->at[i] & 0x3f);
    }
    reader->at += length;
    return code;
}

uint32_t hub_text_peek(const hub_text_reader *reader)
{
    hub_text_reader copy = *reader;
    return hub_text_next(&copy);
}

bool hub_text_take(hub_text_reader *reader, const char *any_of)
{
    hub_text_reader copy = *reader;
    uint32_t c = hub_text_next(&copy);
    if (c == 0 || c >= 0x80 || strchr(any_of, (int)c) == NULL) {
        return false;
    }
    *reader = copy;
    return true;
}
