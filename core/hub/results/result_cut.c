/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/results/result_cut.h"

#include "wire/json.h"

enum {
    NOTE_BYTES = 448,     /* for the item that says what is missing, with every number at its
                             longest */
    MARK_BYTES = 64,      /* for what a cut text ends in */
    LEAST_CUT_BYTES = 16, /* of a text: less of it says nothing */
    ESCAPE_BYTES = 2,     /* \n */
    UNICODE_BYTES = 6,    /* \u00e9 */
    PAIR_BYTES = 12,      /* \ud83d\ude00 */
    FRAME_BYTES = sizeof ",\"content\":[]}" - 1,
};

/* What did not fit. */
typedef struct missing {
    size_t text_bytes;
    size_t items;
    size_t item_bytes;
    size_t structured_bytes;
    size_t members;
    size_t member_bytes;
} missing;

/* ---- text ------------------------------------------------------------------------------------ */

static unsigned hex(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

/* The number of a \uXXXX at the start of `raw`; 0 when there is none. */
static unsigned code_unit(hub_str raw)
{
    if (raw.len < UNICODE_BYTES || raw.ptr[0] != '\\' || raw.ptr[1] != 'u') {
        return 0;
    }
    return hex(raw.ptr[2]) << 12 | hex(raw.ptr[3]) << 8 | hex(raw.ptr[4]) << 4 | hex(raw.ptr[5]);
}

/* The bytes of the escape at the start of `raw`; *ret_decoded: those of what it means. */
static size_t escape_length(hub_str raw, size_t *ret_decoded)
{
    if (raw.ptr[1] != 'u') {
        *ret_decoded = 1;
        return ESCAPE_BYTES;
    }
    unsigned unit = code_unit(raw);
    unsigned next = code_unit(hub_str_from(raw, UNICODE_BYTES));
    if (unit >= 0xd800 && unit < 0xdc00 && next >= 0xdc00 && next < 0xe000) {
        *ret_decoded = 4;
        return PAIR_BYTES;
    }
    *ret_decoded = unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
    return UNICODE_BYTES;
}

/* How many bytes of a raw string's content are whole characters within `most`. */
static size_t whole_characters(hub_str content, size_t most)
{
    size_t at = 0;
    while (at < content.len) {
        hub_str rest = hub_str_from(content, at);
        size_t decoded;
        size_t len =
            rest.ptr[0] == '\\' ? escape_length(rest, &decoded) : hub_str_utf8_length(rest);
        if (len == 0 || at + len > most) {
            break;
        }
        at += len;
    }
    return at;
}

static size_t decoded_length(hub_str content)
{
    size_t total = content.len;
    const char *end = content.ptr + content.len;
    const char *at = content.len > 0 ? memchr(content.ptr, '\\', content.len) : NULL;
    while (at != NULL) {
        size_t decoded;
        size_t len = escape_length(hub_str_between(at, end), &decoded);
        total -= len - decoded;
        at += len;
        at = at < end ? memchr(at, '\\', (size_t)(end - at)) : NULL;
    }
    return total;
}

/* The content of a raw string. */
static hub_str inside(hub_str raw)
{
    return (hub_str){.ptr = raw.ptr + 1, .len = raw.len - 2};
}

/* The text of an item that is one, raw; else the empty span. */
static hub_str text_of(hub_str item)
{
    hub_str text = hub_json_get(item, HUB_STR("text"));
    bool is_text = hub_json_string_is(hub_json_get(item, HUB_STR("type")), HUB_STR("text")) &&
                   hub_json_type_of(text) == HUB_JSON_STRING;
    return is_text ? text : HUB_STR_EMPTY;
}

/* Append a text item as far as `room` bytes go. False when that is not worth while. */
static bool add_cut_text(hub_str item, hub_str text, size_t room, missing *lost, hub_buf *out)
{
    hub_str content = inside(text);
    size_t around = item.len - content.len + MARK_BYTES;
    if (room < around + LEAST_CUT_BYTES) {
        return false;
    }
    size_t kept = whole_characters(content, room - around);
    size_t bytes = decoded_length(hub_str_from(content, kept));
    hub_buf_add(out, hub_str_between(item.ptr, content.ptr + kept));
    hub_buf_printf(out, "\\n[%zu more bytes of this text are missing]", bytes);
    hub_buf_add(out, hub_str_between(content.ptr + content.len, item.ptr + item.len));
    lost->text_bytes += bytes;
    return true;
}

/* ---- members --------------------------------------------------------------------------------- */

static bool is_essential(hub_str key)
{
    return hub_json_string_is(key, HUB_STR("isError")) ||
           hub_json_string_is(key, HUB_STR("resultType"));
}

static bool is_member(hub_str key)
{
    return !hub_json_string_is(key, HUB_STR("content")) &&
           !hub_json_string_is(key, HUB_STR("structuredContent"));
}

static void add_member(hub_str key, hub_str value, hub_buf *out)
{
    hub_json_add_comma(out);
    hub_buf_add(out, key);
    hub_buf_add_char(out, ':');
    hub_buf_add(out, value);
}

/* Append the members of a result but its content, the essential ones first, while they leave room
 * for the rest. What a strange result repeats or inflates does not get in. */
static void add_members(hub_str result, size_t most, missing *lost, hub_buf *out)
{
    for (int pass = 0; pass < 2; pass++) {
        hub_json_iter it = hub_json_iterate(result);
        hub_str key;
        hub_str value;
        while (hub_json_next(&it, &key, &value)) {
            if (!is_member(key) || is_essential(key) != (pass == 0)) {
                continue;
            }
            if (out->len + key.len + value.len + sizeof ",:" - 1 <= most) {
                add_member(key, value, out);
            } else {
                lost->members++;
                lost->member_bytes += value.len;
            }
        }
    }
}

/* ---- content --------------------------------------------------------------------------------- */

static void add_items(hub_str content, size_t most, missing *lost, hub_buf *out)
{
    hub_json_iter it = hub_json_iterate(content);
    hub_str key;
    hub_str item;
    while (hub_json_next(&it, &key, &item)) {
        size_t before = out->len;
        size_t room = most > before + 1 ? most - before - 1 : 0; /* 1: a comma */
        hub_str text = HUB_STR_EMPTY;
        if (item.len > room) {
            text = text_of(item);
        }
        if (item.len <= room) {
            hub_json_add_comma(out);
            hub_buf_add(out, item);
            continue;
        }
        if (text.len > 0) {
            hub_json_add_comma(out);
            if (add_cut_text(item, text, room, lost, out)) {
                continue;
            }
            out->len = before;
        }
        lost->items++;
        lost->item_bytes += item.len;
    }
}

static void add_part(hub_buf *note, bool *is_first, size_t number, const char *what, size_t bytes)
{
    if (number == 0 && bytes == 0) {
        return;
    }
    hub_buf_add(note, *is_first ? HUB_STR(" ") : HUB_STR(", "));
    if (number > 0) {
        hub_buf_printf(note, "%zu %s%s (%zu bytes)", number, what, number == 1 ? "" : "s", bytes);
    } else {
        hub_buf_printf(note, "%zu bytes of %s", bytes, what);
    }
    *is_first = false;
}

static void add_note(const missing *lost, size_t most, hub_str words, hub_buf *out)
{
    bool is_first = true;
    hub_json_add_comma(out);
    hub_buf_printf(out,
                   "{\"type\":\"text\",\"text\":\"[This result was larger than the %zu bytes that "
                   "may be passed on (results.max_bytes). Missing:",
                   most);
    add_part(out, &is_first, 0, "text", lost->text_bytes);
    add_part(out, &is_first, lost->items, "item", lost->item_bytes);
    add_part(out, &is_first, 0, "structuredContent", lost->structured_bytes);
    add_part(out, &is_first, lost->members, "further member", lost->member_bytes);
    hub_buf_add(out, words);
    hub_buf_add(out, HUB_STR("]\"}"));
}

bool hub_result_is_cuttable(hub_str result)
{
    hub_str type = hub_json_get(result, HUB_STR("resultType"));
    return hub_json_type_of(hub_json_get(result, HUB_STR("content"))) == HUB_JSON_ARRAY &&
           (type.len == 0 || hub_json_string_is(type, HUB_STR("complete")));
}

void hub_result_cut(hub_str result, size_t most_bytes, const hub_result_tail *tail, hub_buf *out)
{
    missing lost = {.items = 0};
    hub_str structured = hub_json_get(result, HUB_STR("structuredContent"));
    size_t begin = out->len;
    size_t most = begin + most_bytes - FRAME_BYTES - NOTE_BYTES - tail->words.len -
                  (tail->item.len > 0 ? tail->item.len + 1 : 0);
    hub_buf_add_char(out, '{');
    add_members(result, most, &lost, out);
    hub_json_add_key(out, HUB_STR("content"));
    hub_buf_add_char(out, '[');
    add_items(hub_json_get(result, HUB_STR("content")), most, &lost, out);
    size_t with_structured = out->len + structured.len + sizeof ",\"structuredContent\":" - 1;
    bool has_structured = structured.len > 0 && with_structured <= most;
    if (structured.len > 0 && !has_structured) {
        lost.structured_bytes = structured.len;
    }
    if (lost.text_bytes + lost.items + lost.structured_bytes + lost.members > 0) {
        add_note(&lost, most_bytes, tail->words, out);
    }
    if (tail->item.len > 0) {
        hub_json_add_comma(out);
        hub_buf_add(out, tail->item);
    }
    hub_buf_add_char(out, ']');
    if (has_structured) {
        hub_json_add_key(out, HUB_STR("structuredContent"));
        hub_buf_add(out, structured);
    }
    hub_buf_add_char(out, '}');
}
