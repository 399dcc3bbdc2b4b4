/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/meta/page.h"

#include "base/line.h"
#include "hub/kernel/call.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"
#include "wire/json.h"

/* Reading a definition up to its description is that much cheaper than comparing bytes. */
enum { JSON_BYTES_OF_A_STEP = 4 };

/* ---- what is asked for ----------------------------------------------------------------------- */

static void add_word(hub_meta_page *asked, hub_str word)
{
    if (word.len > 0 && asked->word_count < HUB_LIMIT_QUERY_WORDS) {
        asked->words[asked->word_count++] = word;
    }
}

static hub_err read_query(hub_meta_page *asked, hub_str raw, hub_error *reterr)
{
    if (hub_json_type_of(raw) != HUB_JSON_STRING) {
        return HUB_OK;
    }
    if (hub_json_decode(raw, &asked->query) != HUB_OK) {
        return asked->query.failed == HUB_ENOMEM
                   ? hub_fail(reterr, HUB_ENOMEM, "out of memory")
                   : hub_fail(reterr, HUB_EINVAL, "query: more than %d bytes; a few words do",
                              HUB_LIMIT_QUERY_BYTES);
    }
    hub_str text = hub_buf_str(&asked->query);
    size_t begin = 0;
    for (size_t i = 0; i <= text.len; i++) {
        if (i == text.len || (unsigned char)text.ptr[i] <= ' ' || text.ptr[i] == ',') {
            add_word(asked, hub_str_between(text.ptr + begin, text.ptr + i));
            begin = i + 1;
        }
    }
    return HUB_OK;
}

hub_err hub_meta_page_begin(hub_meta_page *asked, hub_call *call, hub_str arguments, size_t usual,
                            hub_buf *out, hub_error *reterr)
{
    uint64_t limit = usual;
    hub_str cursor = hub_json_get(arguments, HUB_STR("cursor"));
    asked->hub = hub_profile_hub(hub_session_profile(hub_call_session(call)));
    asked->sight = hub_call_sight(call);
    asked->out = out;
    hub_buf_init(&asked->query, HUB_LIMIT_QUERY_BYTES);
    (void)hub_json_to_whole(hub_json_get(arguments, HUB_STR("limit")),
                            &limit); /* or it is not there */
    limit = limit < 1 ? 1 : limit;
    asked->limit =
        limit < HUB_LIMIT_META_PAGE_ENTRIES ? (size_t)limit : HUB_LIMIT_META_PAGE_ENTRIES;
    if (hub_json_type_of(cursor) == HUB_JSON_STRING && cursor.len > 2 &&
        !hub_cursor_read(asked->hub, asked->name.text, cursor, &asked->cursor, &asked->after)) {
        return hub_fail(reterr, HUB_EINVAL,
                        "cursor: not one that this list gave; list again without a cursor");
    }
    return read_query(asked, hub_json_get(arguments, HUB_STR("query")), reterr);
}

/* ---- looking for words ----------------------------------------------------------------------- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool has_word(hub_meta_page *asked, hub_str text, hub_str word)
{
    for (size_t at = 0; at + word.len <= text.len; at++) {
        size_t same = 0;
        while (same < word.len && lower(text.ptr[at + same]) == lower(word.ptr[same])) {
            same++;
        }
        asked->steps += (uint32_t)same + 1;
        if (same == word.len) {
            return true;
        }
    }
    return false;
}

unsigned hub_meta_page_miss(hub_meta_page *asked, hub_str text, unsigned missing)
{
    for (size_t w = 0; missing != 0 && w < asked->word_count; w++) {
        if ((missing >> w & 1u) != 0 && has_word(asked, text, asked->words[w])) {
            missing &= ~(1u << w);
        }
    }
    return missing;
}

unsigned hub_meta_page_words(const hub_meta_page *asked)
{
    return (1u << asked->word_count) - 1;
}

/* ---- pages ----------------------------------------------------------------------------------- */

bool hub_meta_page_goes_to(hub_meta_page *asked, hub_str place)
{
    asked->is_full = asked->listed == asked->limit || asked->steps >= HUB_LIMIT_QUERY_STEPS ||
                     asked->out->len - asked->begin >= HUB_LIMIT_META_PAGE_BYTES ||
                     !hub_buf_ok(asked->out) || place.len > sizeof asked->last;
    if (!asked->is_full) {
        memcpy(asked->last, place.ptr, place.len);
        asked->last_len = place.len;
    }
    return !asked->is_full;
}

void hub_meta_page_open(hub_meta_page *asked, const char *key)
{
    hub_json_add_key(asked->out, hub_str_of(key));
    hub_buf_add_char(asked->out, '[');
    asked->begin = asked->out->len;
}

void hub_meta_page_entry(hub_meta_page *asked)
{
    hub_json_add_comma(asked->out);
    asked->listed++;
}

void hub_meta_page_close(hub_meta_page *asked)
{
    hub_buf_add_char(asked->out, ']');
    if (asked->is_full && asked->last_len > 0) {
        hub_buf_add(asked->out, HUB_STR(",\"nextCursor\":\""));
        hub_cursor_add(asked->hub, asked->name.text,
                       (hub_str){.ptr = asked->last, .len = asked->last_len}, asked->out);
        hub_buf_add_char(asked->out, '"');
    }
}

bool hub_meta_page_is_behind(const hub_meta_page *asked, hub_str place)
{
    return asked->after.len == 0 || hub_str_cmp(place, asked->after) > 0;
}

/* ---- tools ----------------------------------------------------------------------------------- */

void hub_meta_page_add_tool_text(const hub_item *tool, size_t max_bytes, hub_buf *text)
{
    hub_str raw = hub_json_get(tool->json, HUB_STR("description"));
    hub_str plain = HUB_STR_EMPTY;
    hub_buf decoded;
    hub_buf_init(&decoded, raw.len + 1);
    if (hub_json_type_of(raw) == HUB_JSON_STRING && !hub_json_plain(raw, &plain) &&
        hub_json_decode(raw, &decoded) == HUB_OK) {
        plain = hub_buf_str(&decoded);
    }
    hub_line_add(text, plain, max_bytes);
    hub_buf_fini(&decoded);
}

bool hub_meta_page_matches_tool(hub_meta_page *asked, const hub_entry *entry, hub_buf *scratch)
{
    unsigned missing = hub_meta_page_miss(asked, entry->exposed, hub_meta_page_words(asked));
    if (missing != 0) {
        hub_buf_clear(scratch);
        hub_meta_page_add_tool_text(entry->item, HUB_LIMIT_DESCRIPTION_BYTES, scratch);
        asked->steps += (uint32_t)(entry->item->json.len / JSON_BYTES_OF_A_STEP);
        missing = hub_meta_page_miss(asked, hub_buf_str(scratch), missing);
    }
    return missing == 0;
}

void hub_meta_page_fini(hub_meta_page *asked)
{
    hub_buf_fini(&asked->query);
}
