/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meta-tools that search: which tools a text in plain words means, and what they are. They speak of
 * nothing that the caller may not see, and tell no scores, which would speak of it.
 */
#include "hub/router/meta_tools_search.h"

#include "base/limits.h"
#include "base/line.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/report/unknown.h"
#include "hub/meta/schemas.h"
#include "hub/search/finder.h"
#include "hub/search/found.h"

#include <stdlib.h>

enum { TAGS_MOST = 16 };

/* What is known of a toolset, for the one who asks. */
typedef enum standing {
    NOT_ASKED,
    HIDDEN,
    OFF, /* it may be enabled */
    ACTIVE,
} standing;

typedef enum amount {
    NAME,
    SUMMARY,
    FULL,
} amount;

typedef struct search {
    const hub_orchestrator *hub;
    hub_session *session; /* whose list grows by what is found; NULL: nobody's */
    bool has_news;        /* it has */
    hub_sight sight;
    bool may_enable;
    hub_buf text; /* decoded arguments */
    hub_str query;
    hub_str toolset; /* empty: any */
    hub_filter_rule tags;
    const char *tag_texts[TAGS_MOST];
    size_t limit;
    amount detail;
    standing *standings; /* by number of toolset */
} search;

/* ---- what may be seen ------------------------------------------------------------------------ */

static standing standing_of(const search *asked, hub_str toolset)
{
    if (hub_exposure_source(asked->sight.exposure, toolset) != NULL) {
        return ACTIVE;
    }
    return asked->may_enable && hub_sight_find_toolset(asked->sight, asked->hub, toolset) != NULL
               ? OFF
               : HIDDEN;
}

/* The tool as it is now, if it is shown, or would be if its toolset were active; else NULL. */
static const hub_entry *find_now(const search *asked, hub_str toolset, hub_str name,
                                 hub_section **ret_section)
{
    hub_shown_part part = {.section = NULL};
    if (!hub_exposure_tools_of(asked->sight.exposure, toolset, &part)) {
        return NULL;
    }
    if (hub_exposure_selection(asked->sight.exposure) != NULL &&
        hub_sight_find_own(asked->sight, HUB_KIND_TOOL, toolset, name) == NULL) {
        return NULL; /* what is equipped does not have it */
    }
    size_t at = hub_section_find_own(part.section, name);
    if (at == part.section->count || !hub_mask_has(part.bits, at) ||
        !hub_sight_tells_of(asked->sight, part.section->entries[at].item)) {
        return NULL;
    }
    *ret_section = part.section;
    return &part.section->entries[at];
}

static bool has_tags(const search *asked, const hub_entry *entry)
{
    const hub_toolset *toolset = entry->owner;
    const hub_toolset_settings *settings = hub_toolset_settings_of(toolset);
    hub_filter_subject subject = {.toolset = hub_str_of(hub_toolset_key(toolset)),
                                  .tags = &settings->tags,
                                  .category = settings->category,
                                  .trusts_tags =
                                      settings->trusts_tags || hub_toolset_is_native(toolset)};
    return asked->tags.values.count == 0 || hub_filter_matches(&asked->tags, &subject, entry->item);
}

static bool may_see(void *ctx, const hub_finder_tool *tool)
{
    search *asked = ctx;
    standing *known = &asked->standings[tool->toolset_number];
    hub_section *section;
    if (asked->toolset.len > 0 && !hub_str_eq(asked->toolset, tool->toolset)) {
        return false;
    }
    if (*known == NOT_ASKED) {
        *known = standing_of(asked, tool->toolset);
    }
    if (*known == HIDDEN) {
        return false;
    }
    const hub_entry *entry = find_now(asked, tool->toolset, tool->entry->item->name, &section);
    return entry != NULL && has_tags(asked, entry);
}

/* ---- what is asked for ----------------------------------------------------------------------- */

/* A text of the arguments, which stays where it is: the buffer has room for all of them. */
static hub_str add_decoded(search *asked, hub_str raw)
{
    size_t begin = asked->text.len;
    if (hub_json_type_of(raw) != HUB_JSON_STRING || hub_json_decode(raw, &asked->text) != HUB_OK) {
        return HUB_STR_EMPTY;
    }
    hub_str text = hub_str_from(hub_buf_str(&asked->text), begin);
    hub_buf_add_char(&asked->text, '\0');
    return text;
}

static void read_tags(search *asked, hub_str raw)
{
    hub_json_iter it = hub_json_iterate(raw);
    hub_str key;
    hub_str value;
    size_t count = 0;
    while (hub_json_type_of(raw) == HUB_JSON_ARRAY && count < TAGS_MOST &&
           hub_json_next(&it, &key, &value)) {
        asked->tag_texts[count++] = add_decoded(asked, value).ptr;
    }
    asked->tags =
        (hub_filter_rule){.kind = HUB_FILTER_TAGS_ALL,
                          .values = {.items = asked->tag_texts, .count = count, .set = count > 0}};
}

static hub_err read_search(search *asked, const hub_call *call, hub_str arguments,
                           hub_error *reterr)
{
    const hub_profile *profile = hub_session_profile(hub_call_session(call));
    hub_str detail = hub_json_get(arguments, HUB_STR("detail"));
    uint64_t limit = HUB_LIMIT_SEARCH_USUAL;
    asked->hub = hub_profile_hub(profile);
    asked->sight = hub_call_sight(call);
    asked->may_enable = hub_profile_settings_enable(hub_profile_settings_of(profile));
    if (hub_buf_reserve(&asked->text, arguments.len + 1) == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    (void)hub_json_to_whole(hub_json_get(arguments, HUB_STR("limit")),
                            &limit); /* or it is absent */
    asked->limit = limit < HUB_LIMIT_SEARCH_RESULTS ? (size_t)limit : HUB_LIMIT_SEARCH_RESULTS;
    asked->detail = hub_json_string_is(detail, HUB_STR("full"))   ? FULL
                    : hub_json_string_is(detail, HUB_STR("name")) ? NAME
                                                                  : SUMMARY;
    asked->query = hub_str_trim(add_decoded(asked, hub_json_get(arguments, HUB_STR("query"))));
    asked->toolset = hub_str_trim(add_decoded(asked, hub_json_get(arguments, HUB_STR("toolset"))));
    read_tags(asked, hub_json_get(arguments, HUB_STR("tags")));
    if (asked->query.len == 0) {
        return hub_fail(reterr, HUB_EINVAL, "query: say in a few words what the tool should do");
    }
    if (asked->toolset.len > 0 && standing_of(asked, asked->toolset) == HIDDEN) {
        return hub_sight_fail_toolset(asked->sight, asked->hub, asked->toolset, true, reterr);
    }
    return HUB_OK;
}

/* ---- what is told ---------------------------------------------------------------------------- */

/* The description of a tool, decoded, one short line. */
static void add_summary(const hub_item *tool, hub_buf *out)
{
    hub_str raw = hub_json_get(tool->json, HUB_STR("description"));
    hub_buf decoded;
    hub_buf line;
    hub_buf_init(&decoded, raw.len + 1);
    hub_buf_init(&line, HUB_LIMIT_TOOL_SUMMARY_BYTES + 1);
    if (hub_json_type_of(raw) == HUB_JSON_STRING && hub_json_decode(raw, &decoded) == HUB_OK) {
        hub_line_add(&line, hub_buf_str(&decoded), HUB_LIMIT_TOOL_SUMMARY_BYTES);
    }
    if (line.len > 0) {
        hub_json_add_key(out, HUB_STR("description"));
        hub_json_add_string(out, hub_buf_str(&line));
    }
    hub_buf_fini(&line);
    hub_buf_fini(&decoded);
}

/* Add a tool that may be seen; `off`: its toolset has to be enabled first. */
static void add_tool(const hub_section *section, const hub_entry *entry, bool off, amount detail,
                     hub_buf *out)
{
    hub_json_add_comma(out);
    hub_buf_add(out, HUB_STR("{\"name\":"));
    hub_json_add_string(out, entry->exposed);
    if (detail == SUMMARY) {
        add_summary(entry->item, out);
    }
    if (detail != NAME && (entry->item->hints & HUB_TOOL_READ_ONLY) != 0) {
        hub_buf_add(out, HUB_STR(",\"readOnly\":true"));
    }
    if (off) {
        hub_json_add_key(out, HUB_STR("enable"));
        hub_json_add_string(out, hub_str_of(hub_toolset_key(entry->owner)));
    }
    if (detail == FULL) {
        hub_buf_add(out, HUB_STR(",\"definition\":"));
        hub_buf_add(out, hub_section_definition(section, entry));
    }
    hub_buf_add_char(out, '}');
}

static void add_found(search *asked, const hub_finder_tool *tools, size_t count, hub_buf *out)
{
    size_t told = 0;
    hub_buf_add(out, HUB_STR("{\"tools\":["));
    for (; told < count && out->len < HUB_LIMIT_META_PAGE_BYTES; told++) {
        const hub_finder_tool *tool = &tools[told];
        hub_section *section;
        const hub_entry *entry = find_now(asked, tool->toolset, tool->entry->item->name, &section);
        if (entry != NULL) {
            bool is_off = asked->standings[tool->toolset_number] == OFF;
            add_tool(section, entry, is_off, asked->detail, out);
            if (asked->session != NULL && !is_off &&
                hub_found_note(asked->session, entry->canonical)) {
                asked->has_news = true;
            }
        }
    }
    hub_buf_add_char(out, ']');
    if (told < count) {
        hub_buf_add(out, HUB_STR(",\"message\":\"There are more: ask for a shorter detail.\""));
    } else if (count == 0) {
        hub_buf_add(out, HUB_STR(",\"message\":\"No tool has these words: try others.\""));
    }
    hub_buf_add_char(out, '}');
}

static hub_err run_search(search *asked, const hub_finder_index *index, hub_buf *out,
                          hub_error *reterr)
{
    hub_finder_tool tools[HUB_LIMIT_SEARCH_RESULTS];
    size_t count = asked->limit;
    asked->standings = calloc(hub_finder_toolsets(index) + 1, sizeof *asked->standings);
    if (asked->standings == NULL ||
        hub_finder_query(index, asked->query, may_see, asked, tools, &count) != HUB_OK) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    add_found(asked, tools, count, out);
    return HUB_OK;
}

static void on_ready(hub_call *call, hub_str arguments, const hub_finder_index *index)
{
    search asked = {.limit = 0};
    hub_error why = {.code = HUB_OK};
    hub_buf out;
    hub_buf_init(&asked.text, SIZE_MAX / 4);
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_err err = index != NULL ? read_search(&asked, call, arguments, &why)
                                : hub_fail(&why, HUB_ENOMEM, "out of memory");
    asked.session = hub_found_is_wanted(hub_call_session(call)) ? hub_call_session(call) : NULL;
    if (err == HUB_OK) {
        err = run_search(&asked, index, &out, &why);
    }
    free(asked.standings);
    hub_buf_fini(&asked.text);
    if (err == HUB_OK) {
        if (asked.has_news) {
            hub_found_tell(asked.session);
        }
        hub_meta_reply(call, &out, false);
    } else {
        hub_buf_fini(&out);
        hub_meta_reply_failure(call, err, why.text);
    }
}

static void search_tools(hub_call *call, const hub_way *way)
{
    hub_err err = hub_finder_ask(call, way->arguments, on_ready);
    if (err != HUB_OK) {
        hub_meta_reply_failure(call, err == HUB_ELIMIT ? HUB_EBUSY : err,
                               err == HUB_ELIMIT
                                   ? "too many of your searches are waiting: try again"
                                   : "out of memory");
    }
}

/* ---- describe_tools -------------------------------------------------------------------------- */

/* Add what is known of the tool that is called so, or that there is none. */
static void describe(const search *asked, hub_str name, hub_buf *out)
{
    const hub_entry *known =
        hub_base_find(hub_exposure_base(asked->sight.exposure), HUB_KIND_TOOL, name);
    hub_section *section = NULL;
    const hub_entry *entry = NULL;
    standing is = HIDDEN;
    if (known != NULL) {
        hub_str toolset = {.ptr = known->canonical.ptr,
                           .len = known->canonical.len - known->item->name.len - 1};
        is = standing_of(asked, toolset);
        entry = is != HIDDEN ? find_now(asked, toolset, known->item->name, &section) : NULL;
    }
    if (entry != NULL) {
        add_tool(section, entry, is == OFF, FULL, out);
        return;
    }
    hub_json_add_comma(out);
    hub_buf_add(out, HUB_STR("{\"name\":"));
    hub_json_add_string(out, name);
    hub_str nearest = hub_unknown_nearest(hub_sight_shown(asked->sight, HUB_KIND_TOOL), name);
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 4);
    if (nearest.len > 0 && !hub_str_eq(nearest, name)) {
        hub_buf_printf(&text, "There is no such tool; did you mean \"" HUB_STR_FMT "\"?",
                       HUB_STR_ARG(nearest));
    } else {
        hub_buf_add(&text, HUB_STR("There is no such tool: search_tools has the names."));
    }
    hub_json_add_key(out, HUB_STR("error"));
    hub_json_add_string(out, hub_buf_str(&text));
    hub_buf_fini(&text);
    hub_buf_add_char(out, '}');
}

static hub_err describe_tools(hub_call *call, hub_str arguments, hub_buf *out, hub_error *reterr)
{
    const hub_profile *profile = hub_session_profile(hub_call_session(call));
    hub_json_iter it = hub_json_iterate(hub_json_get(arguments, HUB_STR("names")));
    hub_str key;
    hub_str raw;
    size_t left_out = 0;
    search asked = {
        .hub = hub_profile_hub(profile),
        .sight = hub_call_sight(call),
        .may_enable = hub_profile_settings_enable(hub_profile_settings_of(profile)),
    };
    (void)reterr;
    hub_buf_init(&asked.text, arguments.len + 1);
    hub_buf_add(out, HUB_STR("{\"tools\":["));
    while (hub_json_next(&it, &key, &raw)) {
        hub_buf_clear(&asked.text);
        if (out->len >= HUB_LIMIT_META_PAGE_BYTES) {
            left_out++;
        } else if (hub_json_decode(raw, &asked.text) == HUB_OK) { /* the schema demands strings */
            describe(&asked, hub_str_trim(hub_buf_str(&asked.text)), out);
        }
    }
    hub_buf_add_char(out, ']');
    if (left_out > 0) {
        hub_buf_printf(out, ",\"message\":\"The last %zu are left out: ask for them alone.\"",
                       left_out);
    }
    hub_buf_add_char(out, '}');
    hub_buf_fini(&asked.text);
    return HUB_OK;
}

/* ---- calling --------------------------------------------------------------------------------- */

/* What the router could not take for the call of another tool (through.h). */
static void refuse_call(hub_call *call, const hub_way *way)
{
    (void)way;
    hub_meta_reply_failure(call, HUB_EINVAL,
                           "give \"name\" and \"arguments\" once each, and this tool's own name "
                           "without escapes");
}

/* ---- the table ------------------------------------------------------------------------------- */

#define SEARCH_SHOWN                                                                               \
    OBJECT "\"required\":[\"query\"],\"properties\":{\"query\":{\"type\":\"string\","              \
           "\"description\":\"What the tool should do\"},\"limit\":{\"type\":\"integer\","         \
           "\"description\":\"Most tools\"},"                                                      \
           "\"toolset\":{\"type\":\"string\",\"description\":\"Only of this one\"},"               \
           "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"                         \
           "\"description\":\"Only with all of these\"},\"detail\":{\"type\":\"string\","          \
           "\"enum\":[\"name\",\"summary\",\"full\"],\"description\":\"What to say of each\"}}}"
#define SEARCH_ACCEPTED                                                                            \
    OBJECT "\"required\":[\"query\"],\"properties\":{\"query\":{\"type\":\"string\"},"             \
           "\"limit\":{\"type\":[\"integer\",\"null\"],\"minimum\":1},"                            \
           "\"toolset\":{\"type\":[\"string\",\"null\"]},"                                         \
           "\"tags\":{\"type\":[\"array\",\"null\"],\"items\":{\"type\":\"string\"},"              \
           "\"maxItems\":16},"                                                                     \
           "\"detail\":{\"enum\":[\"name\",\"summary\",\"full\",null]}}}"
#define NAMES_SHOWN                                                                                \
    OBJECT "\"required\":[\"names\"],\"properties\":{\"names\":{\"type\":\"array\","               \
           "\"items\":{\"type\":\"string\"},\"description\":\"As search_tools has them\"}}}"
#define NAMES_ACCEPTED                                                                             \
    OBJECT "\"required\":[\"names\"],\"properties\":{\"names\":{\"type\":\"array\","               \
           "\"items\":{\"type\":\"string\"},\"minItems\":1,\"maxItems\":20}}}"
#define CALL_SHOWN                                                                                 \
    OBJECT "\"required\":[\"name\"],\"properties\":{\"name\":{\"type\":\"string\","                \
           "\"description\":\"As search_tools has it\"},\"arguments\":{\"type\":\"object\","       \
           "\"description\":\"Those of that tool\"}}}"
#define CALL_ACCEPTED                                                                              \
    OBJECT "\"required\":[\"name\"],\"properties\":{\"name\":{\"type\":\"string\"},"               \
           "\"arguments\":{\"type\":[\"object\",\"null\"]}}}"

_Static_assert(TAGS_MOST == 16 && HUB_LIMIT_DESCRIBED_TOOLS == 20, "the schemas say so");

const hub_meta_tool HUB_META_SEARCH_TOOLS[] = {
    {.name = "search_tools",
     .in_static = true,
     .description = "Finds tools by what they do, best first. One with \\\"enable\\\" needs that "
                    "toolset enabled first. Call what you found by its name or, if it is not in "
                    "your list, through call_read_tool or call_tool.",
     .input_schema = SEARCH_SHOWN,
     .accepted_schema = SEARCH_ACCEPTED,
     .annotations = ANNOTATIONS_READ,
     .change = search_tools},
    {.name = "describe_tools",
     .in_static = true,
     .description = "Shows the definitions of tools, with their arguments.",
     .input_schema = NAMES_SHOWN,
     .accepted_schema = NAMES_ACCEPTED,
     .annotations = ANNOTATIONS_READ,
     .look = describe_tools},
    {.name = "call_read_tool",
     .in_static = true,
     .description = "Calls a tool that only reads (\\\"readOnly\\\" in search_tools).",
     .input_schema = CALL_SHOWN,
     .accepted_schema = CALL_ACCEPTED,
     .annotations = "{\"readOnlyHint\":true}",
     .change = refuse_call},
    {.name = "call_tool",
     .in_static = true,
     .description = "Calls any tool. It may change or destroy things.",
     .input_schema = CALL_SHOWN,
     .accepted_schema = CALL_ACCEPTED,
     .annotations = "{\"readOnlyHint\":false,\"destructiveHint\":true}",
     .change = refuse_call},
    {.name = NULL},
};
