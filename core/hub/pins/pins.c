/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/pins/pins.h"

#include "base/cause.h"
#include "base/limits.h"
#include "base/log.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/toolset.h"
#include "tools/suspects.h"

/* ---- what is suspect ------------------------------------------------------------------------- */

/* A search for names of other toolsets' tools: all that it looks up is bounded. */
typedef struct search {
    const hub_base *base; /* NULL: there is none */
    hub_str toolset;
    size_t left; /* of HUB_LIMIT_SUSPECT_LOOKUPS */
} search;

static search begin_search(const hub_toolset *toolset)
{
    const hub_orchestrator *hub = hub_toolset_hub(toolset);
    const hub_exposure *exposure =
        hub_profile_total(hub) > 0 ? hub_profile_exposure(hub_profile_at(hub, 0)) : NULL;
    return (search){.base = exposure != NULL ? hub_exposure_base(exposure) : NULL,
                    .toolset = hub_str_of(hub_toolset_key(toolset)),
                    .left = HUB_LIMIT_SUSPECT_LOOKUPS};
}

static bool has_tool(const hub_section *tools, hub_str name)
{
    return tools != NULL && hub_section_find_own(tools, name) < tools->count;
}

/* What stands behind a toolset's key and what separates it from a tool; empty: nothing does. */
static hub_str behind_key(hub_str word, hub_str toolset)
{
    hub_str rest = hub_str_starts(word, toolset) ? hub_str_from(word, toolset.len) : HUB_STR_EMPTY;
    bool is_sign = rest.len > 0 && (rest.ptr[0] == ':' || rest.ptr[0] == '.');
    return is_sign                               ? hub_str_from(rest, 1)
           : hub_str_starts(rest, HUB_STR("__")) ? hub_str_from(rest, 2)
                                                 : HUB_STR_EMPTY;
}

/* Whether a word is the name of a tool of another toolset, with that one's key in front or without,
 * and of none of its own. */
static bool is_foreign(void *ctx, hub_str word)
{
    search *of = ctx;
    bool is = false;
    for (size_t i = 0; i < hub_base_count(of->base) && of->left > 0; i++, of->left--) {
        const hub_source *source = hub_base_source_at(of->base, i);
        const hub_section *tools = hub_base_section_at(of->base, i, HUB_KIND_TOOL);
        hub_str rest = source->bare ? HUB_STR_EMPTY : behind_key(word, source->toolset);
        if (!source->bare && hub_str_eq(source->toolset, of->toolset)) {
            if (has_tool(tools, word)) {
                return false;
            }
        } else if (!source->bare) {
            is = is || has_tool(tools, word) || (rest.len > 0 && has_tool(tools, rest));
        }
    }
    return is;
}

/* What is suspect about a definition; nothing is appended when nothing is. */
static void add_suspicion(search *of, const hub_item *item, hub_buf *out)
{
    hub_buf word;
    hub_buf_init(&word, HUB_LIMIT_TOOL_NAME_BYTES + 1);
    hub_suspects_add(hub_suspects_in(item->original), out);
    if (of->base != NULL &&
        hub_suspects_find_foreign(item->original, is_foreign, of, &word) == HUB_OK) {
        hub_buf_printf(out, "%sthe name of the tool \"" HUB_STR_FMT "\" of another toolset",
                       out->len > 0 ? ", " : "", HUB_STR_ARG(hub_buf_str(&word)));
    }
    hub_buf_fini(&word);
}

/* ---- the log --------------------------------------------------------------------------------- */

static void log_names(const hub_toolset *toolset, hub_kind kind, const char *event,
                      const hub_name_list *names, bool is_withheld)
{
    if (names->count > 0) {
        hub_log(HUB_LOG_WARNING, event, HUB_F_TEXT("toolset", hub_toolset_key(toolset)),
                HUB_F_TEXT("list", hub_kind_noun(kind, 0)), HUB_F_INT("count", names->count),
                HUB_F_TEXT("names", names->text),
                HUB_F_TEXT("withheld", is_withheld ? "yes" : "no"), HUB_F_BY);
    }
}

/* Of definitions that nobody has approved as they are, what is suspect. */
static void log_suspects(const hub_toolset *toolset, const hub_catalog *list)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_LOG_LINE_BYTES);
    size_t told = 0;
    search of = begin_search(toolset);
    for (size_t i = 0; i < list->count && told < HUB_LIMIT_SUSPECTS_TOLD; i++) {
        const hub_item *item = &list->items[i];
        hub_buf_clear(&text);
        if (item->pin == HUB_PIN_CHANGED || item->pin == HUB_PIN_NEW) {
            add_suspicion(&of, item, &text);
        }
        if (text.len > 0) {
            told++;
            hub_log(HUB_LOG_WARNING, "pins.suspect",
                    HUB_F_TEXT("toolset", hub_toolset_key(toolset)), HUB_F_STR("name", item->name),
                    HUB_F_STR("contains", hub_buf_str(&text)));
        }
    }
    hub_buf_fini(&text);
}

static void toolset_listed(hub_toolset *toolset, hub_kind kind)
{
    const hub_catalog *list = hub_toolset_list(toolset, kind);
    if (list == NULL || list->pinned == NULL) {
        return;
    }
    hub_str pins = hub_str_of(list->rules.pins);
    bool withholds_all = list->rules.withholds_all;
    log_names(toolset, kind, "pins.changed", &list->pinned->changed,
              withholds_all || hub_pins_say(pins, "changed"));
    log_names(toolset, kind, "pins.new", &list->pinned->added,
              withholds_all || hub_pins_say(pins, "new"));
    log_names(toolset, kind, "pins.missing", &list->pinned->missing, false);
    if (list->pinned->changed.count + list->pinned->added.count > 0) {
        log_suspects(toolset, list);
    }
}

static void toolset_recalled(hub_toolset *toolset)
{
    toolset_listed(toolset, HUB_KIND_TOOL);
    toolset_listed(toolset, HUB_KIND_PROMPT);
}

/* ---- instructions ---------------------------------------------------------------------------- */

static hub_pin judge_instructions(const hub_toolset *toolset, bool *ret_is_withheld)
{
    const hub_toolset_settings *settings = hub_toolset_settings_of(toolset);
    *ret_is_withheld = settings->is_withheld;
    if (settings->pins == NULL) {
        return HUB_PIN_UNKNOWN;
    }
    bool is_withheld = false;
    hub_pin pin = hub_pin_of_text(hub_str_of(settings->pins),
                                  hub_toolset_about(toolset)->instructions, &is_withheld);
    *ret_is_withheld = *ret_is_withheld || is_withheld;
    return pin;
}

static void toolset_told(hub_toolset *toolset)
{
    bool is_withheld = false;
    hub_pin pin = judge_instructions(toolset, &is_withheld);
    hub_toolset_hide_instructions(toolset, is_withheld);
    if (pin == HUB_PIN_CHANGED || pin == HUB_PIN_NEW) {
        hub_log(HUB_LOG_WARNING, pin == HUB_PIN_NEW ? "pins.new" : "pins.changed",
                HUB_F_TEXT("toolset", hub_toolset_key(toolset)), HUB_F_TEXT("list", "instructions"),
                HUB_F_TEXT("withheld", is_withheld ? "yes" : "no"), HUB_F_BY);
    }
}

static void toolset_tuned(hub_toolset *toolset)
{
    bool is_withheld = false;
    (void)judge_instructions(toolset, &is_withheld); /* it was told when they came */
    hub_toolset_hide_instructions(toolset, is_withheld);
}

/* ---- status ---------------------------------------------------------------------------------- */

void hub_pins_add_counts(const hub_toolset *toolset, hub_buf *out)
{
    size_t counts[4] = {0};
    static const char *const KEYS[] = {"changed", "new", "missing", "withheld"};
    const hub_toolset_settings *settings = hub_toolset_settings_of(toolset);
    if (settings->pins == NULL) {
        return;
    }
    bool hides = false;
    hub_pin pin = judge_instructions(toolset, &hides);
    counts[0] += pin == HUB_PIN_CHANGED;
    counts[1] += pin == HUB_PIN_NEW;
    counts[3] += hides && hub_toolset_about(toolset)->instructions != NULL;
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        const hub_catalog *list = hub_toolset_list(toolset, (hub_kind)kind);
        const hub_pin_report *found = list != NULL ? list->pinned : NULL;
        counts[0] += found != NULL ? found->changed.count : 0;
        counts[1] += found != NULL ? found->added.count : 0;
        counts[2] += found != NULL ? found->missing.count : 0;
        counts[3] += list != NULL ? list->withheld_count : 0;
    }
    hub_json_add_key(out, HUB_STR("pins"));
    hub_buf_add_char(out, '{');
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        hub_json_add_count(out, KEYS[i], counts[i]);
    }
    hub_buf_add_char(out, '}');
}

static const char *reason_of(const hub_toolset *toolset, const hub_item *item)
{
    return item->pin == HUB_PIN_CHANGED ? "it is not as it was approved"
           : item->pin == HUB_PIN_NEW   ? "nobody has approved it"
           : hub_toolset_settings_of(toolset)->is_withheld
               ? "the command or URL of its toolset is not the approved one"
               : "";
}

void hub_pins_add_withheld(const hub_toolset *toolset, const hub_exposure *seen, hub_buf *out)
{
    const hub_catalog *tools = hub_toolset_list(toolset, HUB_KIND_TOOL);
    size_t told = 0;
    if (tools == NULL || tools->withheld_count == 0) {
        return;
    }
    hub_source source = hub_toolset_source((hub_toolset *)(uintptr_t)toolset);
    for (size_t i = 0; i < tools->count && told < HUB_LIMIT_SUSPECTS_TOLD; i++) {
        const hub_item *item = &tools->items[i];
        if (!item->is_withheld || (seen != NULL && !hub_exposure_exposes(seen, &source, item))) {
            continue;
        }
        hub_buf_add(out, told++ == 0 ? HUB_STR(",\"withheld\":[{") : HUB_STR(",{"));
        hub_json_add_key(out, HUB_STR("tool"));
        hub_json_add_string(out, item->name);
        hub_json_add_key(out, HUB_STR("reason"));
        hub_json_add_string(out, hub_str_of(reason_of(toolset, item)));
        hub_buf_add_char(out, '}');
    }
    hub_buf_add(out, told > 0 ? HUB_STR("]") : HUB_STR_EMPTY);
}

void hub_pins_add_suspects(const hub_toolset *toolset, hub_buf *out)
{
    const hub_catalog *tools = hub_toolset_list(toolset, HUB_KIND_TOOL);
    size_t told = 0;
    hub_buf found;
    search of = begin_search(toolset);
    hub_buf_init(&found, HUB_LIMIT_LOG_LINE_BYTES);
    for (size_t i = 0; tools != NULL && i < tools->count && told < HUB_LIMIT_SUSPECTS_TOLD; i++) {
        hub_buf_clear(&found);
        add_suspicion(&of, &tools->items[i], &found);
        if (found.len > 0) {
            hub_buf_add(out, told++ == 0 ? HUB_STR(",\"suspect\":[{") : HUB_STR(",{"));
            hub_json_add_key(out, HUB_STR("tool"));
            hub_json_add_string(out, tools->items[i].name);
            hub_json_add_key(out, HUB_STR("contains"));
            hub_json_add_string(out, hub_buf_str(&found));
            hub_buf_add_char(out, '}');
        }
    }
    hub_buf_fini(&found);
    hub_buf_add(out, told > 0 ? HUB_STR("]") : HUB_STR_EMPTY);
}

/* ---- for who connects ------------------------------------------------------------------------ */

typedef struct reviewer {
    hub_pins_on_line *on_line;
    void *ctx;
    hub_buf text;
} reviewer;

static void tell(reviewer *to)
{
    hub_buf_add_char(&to->text, '\0');
    if (hub_buf_ok(&to->text)) {
        to->on_line(to->ctx, to->text.ptr);
    }
    hub_buf_clear(&to->text);
}

static void review_names(reviewer *to, const hub_toolset *toolset, const hub_catalog *list,
                         const hub_name_list *names, const char *what)
{
    if (names->count > 0) {
        hub_buf_printf(&to->text, "toolset \"%s\": %zu %s %s: %s", hub_toolset_key(toolset),
                       names->count, hub_kind_noun(list->kind, names->count), what, names->text);
        tell(to);
    }
}

static void review_instructions(reviewer *to, const hub_toolset *toolset)
{
    bool is_withheld = false;
    hub_pin pin = judge_instructions(toolset, &is_withheld);
    if (pin == HUB_PIN_CHANGED || pin == HUB_PIN_NEW) {
        hub_buf_printf(&to->text, "toolset \"%s\": its instructions are not %s%s",
                       hub_toolset_key(toolset),
                       pin == HUB_PIN_NEW ? "approved" : "as they were approved",
                       is_withheld ? ", and withheld" : "");
        tell(to);
    }
}

static void review_suspects(reviewer *to, const hub_toolset *toolset, const hub_catalog *list)
{
    hub_buf found;
    search of = begin_search(toolset);
    hub_buf_init(&found, HUB_LIMIT_LOG_LINE_BYTES);
    for (size_t i = 0, told = 0; i < list->count && told < HUB_LIMIT_SUSPECTS_TOLD; i++) {
        hub_buf_clear(&found);
        add_suspicion(&of, &list->items[i], &found);
        if (found.len > 0) {
            hub_buf_printf(&to->text,
                           "toolset \"%s\": the definition of the %s \"" HUB_STR_FMT
                           "\" contains " HUB_STR_FMT,
                           hub_toolset_key(toolset), hub_kind_noun(list->kind, 1),
                           HUB_STR_ARG(list->items[i].name), HUB_STR_ARG(hub_buf_str(&found)));
            tell(to);
            told++;
        }
    }
    hub_buf_fini(&found);
}

void hub_pins_review(const hub_orchestrator *hub, hub_pins_on_line *on_line, void *ctx)
{
    const hub_pins_settings *pins = &hub_settings_of(hub)->pins;
    bool withholds = pins->mode == HUB_PINS_WITHHOLD;
    reviewer to = {.on_line = on_line, .ctx = ctx};
    hub_buf_init(&to.text, SIZE_MAX / 4);
    for (size_t i = 0; pins->mode != HUB_PINS_OFF && i < hub_toolset_total(hub); i++) {
        const hub_toolset *toolset = hub_toolset_at(hub, i);
        for (int kind = 0; kind < HUB_KINDS; kind++) {
            const hub_catalog *list = hub_toolset_list(toolset, (hub_kind)kind);
            const hub_pin_report *found = list != NULL ? list->pinned : NULL;
            if (found != NULL) {
                review_names(&to, toolset, list, &found->changed,
                             withholds ? "not as approved, and withheld" : "not as approved");
                review_names(&to, toolset, list, &found->added,
                             pins->withholds_new ? "not approved, and withheld" : "not approved");
                review_names(&to, toolset, list, &found->missing,
                             "approved, and not there any more");
            }
            if (list != NULL && (kind == HUB_KIND_TOOL || kind == HUB_KIND_PROMPT)) {
                review_suspects(&to, toolset, list);
            }
        }
        review_instructions(&to, toolset);
    }
    hub_buf_fini(&to.text);
}

static hub_station_place place;

const hub_station HUB_PINS_STATION = {
    .name = "pins",
    .place = &place,
    .toolset_listed = toolset_listed,
    .toolset_recalled = toolset_recalled,
    .toolset_told = toolset_told,
    .toolset_tuned = toolset_tuned,
};
