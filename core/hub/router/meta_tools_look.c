/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/router/meta_tools_look.h"

#include "base/limits.h"
#include "base/line.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/report/describe.h"
#include "hub/router/cursor.h"

#include <stdio.h>

/* Reading a definition up to its description is that much cheaper than comparing bytes. */
enum { JSON_BYTES_OF_A_STEP = 4 };

/* ---- what is asked for ----------------------------------------------------------------------- */

/* The name of a list as cursors have it: describe_toolset has one for each toolset. */
typedef struct list_name {
    char text[32 + HUB_LIMIT_TOOLSET_KEY_BYTES];
} list_name;

/* A list that is asked for, and its page as it grows. */
typedef struct look {
    const hub_orchestrator *hub;
    hub_sight sight;
    list_name name;
    hub_buf query; /* decoded; `words` point into it */
    hub_str words[HUB_LIMIT_QUERY_WORDS];
    size_t word_count;
    size_t limit;
    hub_cursor_text cursor;
    hub_str after; /* the page begins behind this place; empty: at the beginning */
    hub_buf *out;
    size_t begin;   /* of the page within `out` */
    size_t listed;  /* entries of the page */
    uint32_t steps; /* taken for the query */
    bool is_full;
    char last[HUB_CURSOR_BYTES]; /* the place that was looked at last */
    size_t last_len;
} look;

static void add_word(look *asked, hub_str word)
{
    if (word.len > 0 && asked->word_count < HUB_LIMIT_QUERY_WORDS) {
        asked->words[asked->word_count++] = word;
    }
}

static hub_err read_query(look *asked, hub_str raw, hub_error *reterr)
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

/* Read query, limit and cursor, for a list whose pages have that many entries unless it is said. */
static hub_err begin_look(look *asked, hub_call *call, hub_str arguments, size_t usual,
                          hub_buf *out, hub_error *reterr)
{
    uint64_t limit = usual;
    hub_str cursor = hub_json_get(arguments, HUB_STR("cursor"));
    asked->hub = hub_profile_hub(hub_session_profile(hub_call_session(call)));
    asked->sight = hub_call_sight(call);
    asked->out = out;
    hub_buf_init(&asked->query, HUB_LIMIT_QUERY_BYTES);
    (void)hub_json_to_u64(hub_json_get(arguments, HUB_STR("limit")),
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

static bool has_word(look *asked, hub_str text, hub_str word)
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

/* Of the words with a bit in `missing`, those that are not in the text either. */
static unsigned miss_words(look *asked, hub_str text, unsigned missing)
{
    for (size_t w = 0; missing != 0 && w < asked->word_count; w++) {
        if ((missing >> w & 1u) != 0 && has_word(asked, text, asked->words[w])) {
            missing &= ~(1u << w);
        }
    }
    return missing;
}

static unsigned all_words(const look *asked)
{
    return (1u << asked->word_count) - 1;
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* Whether the page has room for what comes at that place, which is then the last one looked at. */
static bool go_to(look *asked, hub_str place)
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

static void begin_page(look *asked, const char *key)
{
    hub_json_add_key(asked->out, hub_str_of(key));
    hub_buf_add_char(asked->out, '[');
    asked->begin = asked->out->len;
}

static void begin_entry(look *asked)
{
    hub_json_add_comma(asked->out);
    asked->listed++;
}

static void end_page(look *asked)
{
    hub_buf_add_char(asked->out, ']');
    if (asked->is_full && asked->last_len > 0) {
        hub_buf_add(asked->out, HUB_STR(",\"nextCursor\":\""));
        hub_cursor_add(asked->hub, asked->name.text,
                       (hub_str){.ptr = asked->last, .len = asked->last_len}, asked->out);
        hub_buf_add_char(asked->out, '"');
    }
}

static bool is_behind(const look *asked, hub_str place)
{
    return asked->after.len == 0 || hub_str_cmp(place, asked->after) > 0;
}

/* ---- toolsets -------------------------------------------------------------------------------- */

/* Add what is wrong with a toolset, if anything is. */
static void add_trouble(const hub_toolset *toolset, bool active, hub_buf *out)
{
    hub_buf why;
    hub_buf_init(&why, HUB_LIMIT_REASON_BYTES);
    const char *trouble = hub_describe_trouble(toolset, active, &why);
    if (trouble != NULL) {
        hub_json_add_key(out, HUB_STR("state"));
        hub_json_add_string(out, hub_str_of(trouble));
    }
    if (why.len > 0) {
        hub_json_add_key(out, HUB_STR("reason"));
        hub_json_add_string(out, hub_buf_str(&why));
    }
    hub_buf_fini(&why);
}

/* Whether that tool of a toolset is one for this caller: shown, and of the caller's revision. */
static bool has_tool(const look *asked, const hub_shown_part *tools, size_t at)
{
    return hub_mask_has(tools->bits, at) &&
           hub_sight_has(asked->sight, tools->section->entries[at].item);
}

static size_t count_tools(const look *asked, const hub_shown_part *tools)
{
    size_t count = 0;
    if (tools->section == NULL || tools->section->validity == NULL) {
        return tools->count; /* all are of every revision */
    }
    for (size_t i = 0; tools->bits != NULL && i < tools->section->count; i++) {
        count += has_tool(asked, tools, i);
    }
    return count;
}

/* Add key, active, toolCount, description of at most so many bytes, and what is wrong. */
static void add_toolset(look *asked, hub_toolset *toolset, size_t description_bytes)
{
    hub_buf *out = asked->out;
    hub_str key = hub_str_of(hub_toolset_key(toolset));
    bool active = hub_exposure_source(asked->sight.exposure, key) != NULL;
    hub_shown_part tools = {.section = NULL};
    bool is_known = hub_exposure_tools_of(asked->sight.exposure, key, &tools) ||
                    hub_toolset_list(toolset, HUB_KIND_TOOL) != NULL;
    hub_buf_add(out, HUB_STR("\"key\":"));
    hub_json_add_string(out, key);
    hub_buf_add(out, active ? HUB_STR(",\"active\":true") : HUB_STR(",\"active\":false"));
    if (is_known) {
        hub_json_add_key(out, HUB_STR("toolCount"));
        hub_buf_add_u64(out, count_tools(asked, &tools));
    }
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_DESCRIPTION_BYTES + 1);
    hub_line_add(&text, hub_describe_purpose(toolset), description_bytes);
    if (text.len > 0) {
        hub_json_add_key(out, HUB_STR("description"));
        hub_json_add_string(out, hub_buf_str(&text));
    }
    hub_buf_fini(&text);
    add_trouble(toolset, active, out);
}

/* Whether the query is about the toolset: its key, what it is for, the names of its tools. */
static bool matches_toolset(look *asked, const hub_toolset *toolset)
{
    hub_shown_part tools = {.section = NULL};
    hub_str key = hub_str_of(hub_toolset_key(toolset));
    unsigned missing = miss_words(asked, key, all_words(asked));
    missing = miss_words(asked, hub_describe_purpose(toolset), missing);
    if (missing == 0) {
        return true;
    }
    (void)hub_exposure_tools_of(asked->sight.exposure, key, &tools); /* or there are none */
    bool has = false;
    for (size_t i = 0; !has && tools.bits != NULL && i < tools.section->count &&
                       asked->steps < HUB_LIMIT_QUERY_STEPS;
         i++) {
        has = has_tool(asked, &tools, i) &&
              miss_words(asked, tools.section->entries[i].item->name, missing) == 0;
    }
    return has;
}

static void list_toolsets(look *asked)
{
    size_t total = 0;
    size_t active = 0;
    begin_page(asked, "toolsets");
    for (size_t i = 0; i < hub_toolset_total(asked->hub); i++) {
        hub_toolset *toolset = hub_toolset_at(asked->hub, i);
        hub_str key = hub_str_of(hub_toolset_key(toolset));
        if (!hub_sight_may_tell_of(asked->sight, toolset)) {
            continue;
        }
        total++;
        active += hub_exposure_source(asked->sight.exposure, key) != NULL;
        if (!asked->is_full && is_behind(asked, key) && go_to(asked, key) &&
            matches_toolset(asked, toolset)) {
            begin_entry(asked);
            hub_buf_add_char(asked->out, '{');
            add_toolset(asked, toolset, HUB_LIMIT_SUMMARY_BYTES);
            hub_buf_add_char(asked->out, '}');
        }
    }
    end_page(asked);
    hub_buf_printf(asked->out, ",\"totalToolsets\":%zu,\"activeCount\":%zu", total, active);
}

hub_err hub_meta_list_toolsets(hub_call *call, hub_str arguments, hub_buf *out, hub_error *reterr)
{
    enum { USUAL = 100 };
    look asked = {.name = {"list_toolsets"}};
    hub_err err = begin_look(&asked, call, arguments, USUAL, out, reterr);
    if (err == HUB_OK) {
        hub_buf_add_char(out, '{');
        list_toolsets(&asked);
        hub_buf_add_char(out, '}');
    }
    hub_buf_fini(&asked.query);
    return err;
}

/* ---- the tools of one ------------------------------------------------------------------------ */

/* The description of a tool, decoded, one line of at most so many bytes. */
static void add_tool_text(const hub_item *tool, size_t max_bytes, hub_buf *text)
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

static bool matches_tool(look *asked, const hub_entry *entry, hub_buf *scratch)
{
    unsigned missing = miss_words(asked, entry->exposed, all_words(asked));
    if (missing != 0) {
        hub_buf_clear(scratch);
        add_tool_text(entry->item, HUB_LIMIT_DESCRIPTION_BYTES, scratch);
        asked->steps += (uint32_t)(entry->item->json.len / JSON_BYTES_OF_A_STEP);
        missing = miss_words(asked, hub_buf_str(scratch), missing);
    }
    return missing == 0;
}

/* What is shown of it; of a toolset that is not active, what would be, under the names it will have. */
static void describe_tools(look *asked, const hub_shown_part *tools, hub_buf *scratch)
{
    begin_page(asked, "tools");
    for (size_t i = 0; tools->bits != NULL && i < tools->section->count; i++) {
        const hub_entry *entry = &tools->section->entries[i];
        if (!has_tool(asked, tools, i) || !is_behind(asked, entry->item->name)) {
            continue;
        }
        if (!go_to(asked, entry->item->name)) {
            break;
        }
        if (!matches_tool(asked, entry, scratch)) {
            continue;
        }
        begin_entry(asked);
        hub_buf_add(asked->out, HUB_STR("{\"name\":"));
        hub_json_add_string(asked->out, entry->exposed);
        hub_buf_clear(scratch);
        add_tool_text(entry->item, HUB_LIMIT_TOOL_SUMMARY_BYTES, scratch);
        if (scratch->len > 0) {
            hub_json_add_key(asked->out, HUB_STR("description"));
            hub_json_add_string(asked->out, hub_buf_str(scratch));
        }
        hub_buf_add_char(asked->out, '}');
    }
    end_page(asked);
}

/* Of other things than tools, how many there are. */
static void add_other_counts(const look *asked, const hub_toolset *toolset, hub_buf *out)
{
    bool is_gated = hub_is_gated(hub_toolset_hub(toolset));
    static const char *const KEYS[HUB_KINDS] = {[HUB_KIND_RESOURCE] = "resourceCount",
                                                [HUB_KIND_TEMPLATE] = "resourceTemplateCount",
                                                [HUB_KIND_PROMPT] = "promptCount"};
    for (int i = 0; i < HUB_KINDS; i++) {
        const hub_catalog *list = hub_toolset_list(toolset, (hub_kind)i);
        size_t known = list != NULL ? list->count - list->withheld_count : 0;
        size_t count = is_gated
                           ? hub_exposure_count(asked->sight.exposure,
                                                hub_str_of(hub_toolset_key(toolset)), (hub_kind)i)
                           : known;
        if (KEYS[i] != NULL && count > 0) {
            hub_json_add_key(out, hub_str_of(KEYS[i]));
            hub_buf_add_u64(out, count);
        }
    }
}

static void describe(look *asked, hub_toolset *toolset)
{
    hub_shown_part tools = {.section = NULL};
    hub_buf scratch;
    hub_buf_init(&scratch, HUB_LIMIT_DESCRIPTION_BYTES + 1);
    (void)hub_exposure_tools_of(asked->sight.exposure, hub_str_of(hub_toolset_key(toolset)),
                                &tools); /* or none is known */
    hub_buf_add_char(asked->out, '{');
    add_toolset(asked, toolset, HUB_LIMIT_DESCRIPTION_BYTES);
    if (hub_toolset_about(toolset)->title != NULL) {
        hub_json_add_key(asked->out, HUB_STR("title"));
        hub_json_add_string(asked->out, hub_str_of(hub_toolset_about(toolset)->title));
    }
    add_other_counts(asked, toolset, asked->out);
    describe_tools(asked, &tools, &scratch);
    hub_buf_add_char(asked->out, '}');
    if (!hub_buf_ok(&scratch)) {
        asked->out->failed = scratch.failed;
    }
    hub_buf_fini(&scratch);
}

/* The toolset that an argument names; HUB_ENOTFOUND: there is none of which anything may be said. */
static hub_err find_toolset(const hub_call *call, hub_str raw, hub_toolset **ret_toolset,
                            hub_error *reterr)
{
    const hub_orchestrator *hub = hub_profile_hub(hub_session_profile(hub_call_session(call)));
    hub_buf text;
    hub_buf_init(&text, raw.len + 1);
    hub_err err = HUB_OK;
    if (hub_json_decode(raw, &text) != HUB_OK) {
        err = hub_fail(reterr, HUB_ENOMEM, "out of memory");
    } else {
        hub_str key = hub_str_trim(hub_buf_str(&text));
        *ret_toolset = hub_sight_find_toolset(hub_call_sight(call), hub, key);
        if (*ret_toolset == NULL) {
            err = hub_sight_fail_toolset(hub_call_sight(call), hub, key, true, reterr);
        }
    }
    hub_buf_fini(&text);
    return err;
}

hub_toolset *hub_meta_named_toolset(const hub_call *call, hub_str arguments)
{
    hub_toolset *toolset = NULL;
    (void)find_toolset(call, hub_json_get(arguments, HUB_STR("toolset")), &toolset, NULL);
    return toolset;
}

hub_err hub_meta_describe_toolset(hub_call *call, hub_str arguments, hub_buf *out,
                                  hub_error *reterr)
{
    enum { USUAL = 50 };
    look asked = {.limit = 0};
    hub_toolset *toolset = NULL;
    hub_err err = find_toolset(call, hub_json_get(arguments, HUB_STR("toolset")), &toolset, reterr);
    if (err != HUB_OK) {
        return err;
    }
    (void)snprintf(asked.name.text, sizeof asked.name.text, "describe_toolset/%s",
                   hub_toolset_key(toolset));
    err = begin_look(&asked, call, arguments, USUAL, out, reterr);
    if (err == HUB_OK) {
        describe(&asked, toolset);
    }
    hub_buf_fini(&asked.query);
    return err;
}

/* ---- the names of all ------------------------------------------------------------------------ */

static void list_tools(look *asked)
{
    hub_shown *tools = hub_sight_shown(asked->sight, HUB_KIND_TOOL);
    hub_shown_place at = {.part = 0};
    hub_buf scratch;
    hub_buf_init(&scratch, HUB_LIMIT_DESCRIPTION_BYTES + 1);
    if (asked->after.len > 0) {
        at = hub_shown_after(tools, asked->after);
    }
    begin_page(asked, "tools");
    for (const hub_entry *entry = hub_shown_next(tools, &at);
         entry != NULL && go_to(asked, entry->canonical); entry = hub_shown_next(tools, &at)) {
        if (matches_tool(asked, entry, &scratch)) {
            begin_entry(asked);
            hub_json_add_string(asked->out, entry->exposed);
        }
    }
    end_page(asked);
    hub_buf_printf(asked->out, ",\"totalTools\":%zu", tools->count);
    if (!hub_buf_ok(&scratch)) {
        asked->out->failed = scratch.failed;
    }
    hub_buf_fini(&scratch);
}

hub_err hub_meta_list_tools(hub_call *call, hub_str arguments, hub_buf *out, hub_error *reterr)
{
    enum { USUAL = 200 };
    look asked = {.name = {"list_tools"}};
    hub_err err = begin_look(&asked, call, arguments, USUAL, out, reterr);
    if (err == HUB_OK) {
        hub_buf_add_char(out, '{');
        list_tools(&asked);
        hub_buf_add_char(out, '}');
    }
    hub_buf_fini(&asked.query);
    return err;
}
