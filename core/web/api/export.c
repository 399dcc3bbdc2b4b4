/* SPDX-License-Identifier: Apache-2.0 */
/* Tools as other APIs take them, and calls in their shapes: export/export.h, export/block.h. */
#include "base/limits.h"
#include "export/block.h"
#include "export/export.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "web/api/route.h"

enum { MOST_WORD = 64 }; /* bytes of the name of a format */

/* Append the definitions of all tools that a session's client can call now, but for the hub's own: an
 * array. */
static void add_definitions(const hub_api_asked *asked, const hub_session *session, hub_buf *out)
{
    hub_sight sight = hub_session_sight(session);
    hub_buf_add_char(out, '[');
    for (size_t i = 0; i < hub_toolset_total(asked->hub) && sight.exposure != NULL; i++) {
        hub_str key = hub_str_of(hub_toolset_key(hub_toolset_at(asked->hub, i)));
        hub_shown_part part = {.section = NULL};
        if (hub_exposure_source(sight.exposure, key) == NULL ||
            !hub_exposure_tools_of(sight.exposure, key, &part)) {
            continue;
        }
        for (size_t at = 0; at < part.section->count && hub_buf_ok(out); at++) {
            const hub_entry *entry = &part.section->entries[at];
            if (hub_mask_has(part.bits, at) && hub_sight_tells_of(sight, entry->item) &&
                hub_sight_find_own(sight, HUB_KIND_TOOL, key, entry->item->name) != NULL) {
                hub_json_add_comma(out);
                hub_buf_add(out, hub_section_definition(part.section, entry));
            }
        }
    }
    hub_buf_add_char(out, ']');
}

/* The definitions of the caller; false: that has been answered. */
static bool read_tools(const hub_api_asked *asked, hub_buf *tools)
{
    hub_session *session = hub_api_look(asked);
    if (session == NULL) {
        return false;
    }
    add_definitions(asked, session, tools);
    hub_session_close(session);
    if (!hub_buf_ok(tools)) {
        hub_api_fail(asked->exchange, 503, "unavailable",
                     "out of memory, or there are too many tools for one answer");
    }
    return hub_buf_ok(tools);
}

/* ---- GET /export ----------------------------------------------------------------------------- */

typedef struct notes {
    hub_buf warnings;
    hub_buf left_out;
} notes;

static void on_note(void *ctx, bool is_left_out, hub_str text)
{
    notes *all = ctx;
    hub_buf *out = is_left_out ? &all->left_out : &all->warnings;
    hub_json_add_comma(out);
    hub_json_add_string(out, text);
}

static void answer_export(const hub_api_asked *asked, const hub_export_format *format,
                          bool is_strict)
{
    notes all;
    hub_buf tools;
    hub_buf out;
    hub_buf_init(&tools, HUB_LIMIT_WEB_TOOLS_BYTES);
    hub_buf_init(&out, 4 * HUB_LIMIT_WEB_TOOLS_BYTES);
    hub_buf_init(&all.warnings, HUB_LIMIT_WEB_TOOLS_BYTES);
    hub_buf_init(&all.left_out, HUB_LIMIT_WEB_TOOLS_BYTES);
    hub_buf_add_char(&all.warnings, '[');
    hub_buf_add_char(&all.left_out, '[');
    if (read_tools(asked, &tools)) {
        hub_buf_printf(&out, "{\"format\":\"%s\",\"tools\":", hub_export_name(format));
        hub_err err = hub_export_tools(format, hub_buf_str(&tools), is_strict, on_note, &all, &out);
        hub_buf_add(&out, HUB_STR(",\"warnings\":"));
        hub_buf_add(&out, hub_buf_str(&all.warnings));
        hub_buf_add(&out, HUB_STR("],\"leftOut\":"));
        hub_buf_add(&out, hub_buf_str(&all.left_out));
        hub_buf_add(&out, HUB_STR("]}"));
        if (err != HUB_OK || !hub_buf_ok(&all.warnings) || !hub_buf_ok(&all.left_out)) {
            out.failed = HUB_ENOMEM;
        }
        hub_api_answer(asked->exchange, 200, &out); /* and frees it */
    } else {
        hub_buf_fini(&out);
    }
    hub_buf_fini(&all.left_out);
    hub_buf_fini(&all.warnings);
    hub_buf_fini(&tools);
}

static void serve_export(hub_api_asked *asked)
{
    hub_buf word;
    hub_buf strict;
    hub_buf_init(&word, MOST_WORD);
    hub_buf_init(&strict, MOST_WORD);
    bool is_said = hub_api_query(asked, "format", &word);
    bool is_strict =
        hub_api_query(asked, "strict", &strict) && !hub_str_is(hub_buf_str(&strict), "false");
    const hub_export_format *format =
        hub_export_find(is_said ? hub_buf_str(&word) : HUB_STR("mcp"));
    if (format != NULL) {
        answer_export(asked, format, is_strict);
    } else {
        hub_api_fail(asked->exchange, 400, "invalid_input",
                     "format must be openai, openai-responses, anthropic, gemini, mcp or openapi");
    }
    hub_buf_fini(&strict);
    hub_buf_fini(&word);
}

/* ---- POST /blocks ---------------------------------------------------------------------------- */

/* Find the tool that the other API calls so, and call it. */
static void call_block(hub_api_asked *asked, bool is_anthropic, hub_str raw, const hub_block *block)
{
    const hub_export_format *format =
        hub_export_find(is_anthropic ? HUB_STR("anthropic") : HUB_STR("openai"));
    hub_buf tools;
    hub_buf name;
    hub_buf own;
    hub_buf_init(&tools, HUB_LIMIT_WEB_TOOLS_BYTES);
    hub_buf_init(&name, block->name.len + 1);
    hub_buf_init(&own, HUB_LIMIT_WEB_TOOLS_BYTES);
    if (read_tools(asked, &tools)) {
        hub_str found = HUB_STR_EMPTY;
        if (hub_json_decode(block->name, &name) == HUB_OK) {
            found = hub_export_find_tool(format, hub_buf_str(&tools), hub_buf_str(&name));
        }
        if (hub_json_decode(found.len > 0 ? found : block->name, &own) == HUB_OK) {
            hub_api_call_block(asked, hub_buf_str(&own), block->arguments, is_anthropic, raw);
        } else {
            hub_api_fail(asked->exchange, 503, "unavailable", "out of memory");
        }
    }
    hub_buf_fini(&own);
    hub_buf_fini(&name);
    hub_buf_fini(&tools);
}

static void serve_block(hub_api_asked *asked)
{
    hub_str from = hub_json_get(asked->request->body, HUB_STR("from"));
    hub_str raw = hub_json_get(asked->request->body, HUB_STR("block"));
    bool is_anthropic = hub_json_string_is(from, HUB_STR("anthropic"));
    hub_error why = {.code = HUB_OK};
    hub_block block;
    hub_buf text;
    hub_buf_init(&text, raw.len + 1);
    if (!is_anthropic && !hub_json_string_is(from, HUB_STR("openai"))) {
        hub_api_fail(asked->exchange, 400, "invalid_input", "from must be anthropic or openai");
    } else if (hub_json_type_of(raw) != HUB_JSON_OBJECT) {
        hub_api_fail(asked->exchange, 400, "invalid_input",
                     "block must be an object, as the model has it");
    } else if (hub_block_read(is_anthropic, raw, &text, &block, &why) != HUB_OK) {
        hub_api_fail(asked->exchange, 400, "invalid_input", "%s", why.text);
    } else {
        call_block(asked, is_anthropic, raw, &block);
    }
    hub_buf_fini(&text);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const hub_api_param EXPORT_PARAMS[] = {
    {"format",
     "{\"enum\":[\"openai\",\"openai-responses\",\"anthropic\",\"gemini\",\"mcp\",\"openapi\"]}",
     "In which API's shape; mcp unless it is said."},
    {"strict", "{\"type\":\"boolean\"}", "Leave out tools that would lose something."},
    {.name = NULL},
};

const hub_api_route HUB_API_EXPORT_ROUTES[] = {
    {.method = "GET",
     .path = "/export",
     .scope = HUB_API_CALLER,
     .summary = "The tools that the caller can call now, in the shape of another API.",
     .params = EXPORT_PARAMS,
     .handle = serve_export},
    {.method = "POST",
     .path = "/blocks",
     .scope = HUB_API_CALLER,
     .summary = "Make the call that a model asked for, and answer in the same shape.",
     .body = "{\"type\":\"object\",\"required\":[\"from\",\"block\"],\"properties\":{\"from\":{"
             "\"enum\":[\"anthropic\",\"openai\"]},\"block\":{\"type\":\"object\"}}}",
     .handle = serve_block},
    {.method = NULL},
};
