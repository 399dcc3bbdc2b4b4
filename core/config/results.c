/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of large results (hub/results/results.h): an override says it of a tool, a toolset of
 * its others, the hub of toolsets that do not. `middleware: max_result_bytes` is an older spelling of
 * the same; it is read first.
 */
#include "config/reader.h"

#include "base/limits.h"
#include "wire/json.h"

enum { MAX_BYTES, OVER };

#define RULE(member) offsetof(hub_result_rule, member)

static const hub_config_word OVERS[] = {
    {"spill", HUB_OVER_SPILL, false},
    {"truncate", HUB_OVER_TRUNCATE, false},
    {"error", HUB_OVER_ERROR, false},
    {.word = NULL},
};

/* Until all files are read it is kept by the index of its row. */
static hub_err keep(hub_config_reader *reader, const hub_node *node, const hub_config_key *key,
                    void *target)
{
    (void)reader;
    hub_config_results *kept = target;
    kept->said[key - HUB_CONFIG_RESULT_KEYS] = node;
    return HUB_OK;
}

static hub_err keep_for_hub(hub_config_reader *reader, const hub_node *node,
                            const hub_config_key *key, void *target)
{
    (void)target;
    reader->results.said[key - HUB_CONFIG_HUB_RESULT_KEYS] = node;
    return HUB_OK;
}

#define RESULT_KEYS(keeps)                                                                         \
    {.name = "max_bytes",                                                                          \
     .kind = HUB_CONFIG_SIZE,                                                                      \
     .read = (keeps),                                                                              \
     .offset = RULE(max_bytes),                                                                    \
     .least = HUB_LIMIT_LEAST_RESULT_BYTES,                                                        \
     .most = HUB_CONFIG_MOST_BYTES,                                                                \
     .has_zero = true,                                                                             \
     .about = "The most that a result may have. 0: any number. A tool whose results may have too " \
              "many is listed without its outputSchema."},                                         \
    {                                                                                              \
        .name = "over", .kind = HUB_CONFIG_WORD, .read = (keeps), .offset = RULE(over),            \
        .fallback = HUB_OVER_SPILL, .words = OVERS,                                                \
        .about =                                                                                   \
            "How a larger result is passed on. spill: its beginning is passed on, with a link, "   \
            "and the hub keeps the whole in memory: read_result reads on. truncate: its "          \
            "beginning alone. error: the call fails."                                              \
    }

/* results: of a toolset. */
const hub_config_key HUB_CONFIG_RESULT_KEYS[] = {
    RESULT_KEYS(keep),
    {.name = NULL},
};

/* … and of the hub. */
const hub_config_key HUB_CONFIG_HUB_RESULT_KEYS[] = {
    RESULT_KEYS(keep_for_hub),
    {.name = "memory",
     .kind = HUB_CONFIG_SIZE,
     .offset = offsetof(hub_config_reader, config.settings.limits.results_memory_bytes),
     .least = HUB_LIMIT_LEAST_RESULT_BYTES,
     .most = HUB_CONFIG_MOST_BYTES,
     .fallback = HUB_LIMIT_RESULTS_MEMORY_BYTES,
     .about = "Memory of all results that are kept. The principal with the "
              "most of it loses its oldest result first."},
    {.name = NULL},
};

_Static_assert(sizeof HUB_CONFIG_RESULT_KEYS / sizeof *HUB_CONFIG_RESULT_KEYS ==
                   HUB_CONFIG_RESULT_KEY_COUNT + 1,
               "hub_config_results has a place for each row");

static hub_err read_said(hub_config_reader *reader, const hub_node *node, size_t row,
                         hub_result_rule *rule)
{
    hub_config_key key = HUB_CONFIG_RESULT_KEYS[row];
    key.read = NULL; /* as values of its kind are */
    return node != NULL ? hub_config_read_value(reader, node, &key, rule) : HUB_OK;
}

hub_err hub_config_finish_results(hub_config_reader *reader, const hub_config_toolset *toolset,
                                  hub_toolset_settings *settings)
{
    const hub_node *const *hubs = reader->results.said;
    const hub_node *const *own = toolset->results.said;
    const hub_node *old = toolset->middleware.said[HUB_CONFIG_MAX_RESULT_ROW];
    const hub_node *hubs_old = reader->middleware.said[HUB_CONFIG_MAX_RESULT_ROW];
    hub_result_rule *rule = &settings->results;
    hub_err err = HUB_OK;
    rule->over = old != NULL || hubs_old != NULL ? HUB_OVER_TRUNCATE : HUB_OVER_SPILL;
    if (old == NULL && hubs[MAX_BYTES] != NULL) {
        rule->over = HUB_OVER_SPILL;
        err = read_said(reader, hubs[MAX_BYTES], MAX_BYTES, rule);
    }
    if (own[MAX_BYTES] != NULL && err == HUB_OK) {
        rule->over = HUB_OVER_SPILL;
        err = read_said(reader, own[MAX_BYTES], MAX_BYTES, rule);
    }
    if (err == HUB_OK && (old == NULL || own[MAX_BYTES] != NULL)) {
        err = read_said(reader, hubs[OVER], OVER, rule);
    }
    return err == HUB_OK ? read_said(reader, own[OVER], OVER, rule) : err;
}

/* ---- one tool -------------------------------------------------------------------------------- */

static const char *word_for(hub_over over)
{
    const hub_config_word *word = OVERS;
    while (word->word != NULL && word->value != (unsigned)over) {
        word++;
    }
    return word->word;
}

hub_err hub_config_add_tool_results(hub_config_reader *reader, const hub_node *node, hub_buf *out)
{
    hub_config_results kept = {.said = {NULL}};
    hub_result_rule rule = {.max_bytes = 0};
    if (node == NULL || node->kind == HUB_NODE_NULL) {
        return HUB_OK;
    }
    hub_err err = hub_config_read_map_of(reader, node, HUB_CONFIG_RESULT_KEYS, NULL, &kept);
    for (size_t row = 0; err == HUB_OK && row < HUB_CONFIG_RESULT_KEY_COUNT; row++) {
        err = read_said(reader, kept.said[row], row, &rule);
    }
    hub_json_add_key(out, HUB_STR("results"));
    hub_buf_add_char(out, '{');
    if (kept.said[MAX_BYTES] != NULL) {
        hub_buf_printf(out, "\"max_bytes\":%u", rule.max_bytes);
    }
    if (kept.said[OVER] != NULL) {
        hub_json_add_key(out, HUB_STR("over"));
        hub_json_add_string(out, hub_str_of(word_for(rule.over)));
    }
    hub_buf_add_char(out, '}');
    return err;
}

/* ---- reading on ------------------------------------------------------------------------------ */

/* Whether an override of some tool says what becomes of large results: it may be kept. */
static bool some_override_spills(const char *overrides)
{
    hub_str rule;
    hub_str body;
    hub_str json = overrides != NULL ? hub_str_of(overrides) : HUB_STR("{}");
    for (hub_json_iter it = hub_json_iterate(json); hub_json_next(&it, &rule, &body);) {
        hub_str over = hub_json_get(hub_json_get(body, HUB_STR("results")), HUB_STR("over"));
        hub_str most = hub_json_get(hub_json_get(body, HUB_STR("results")), HUB_STR("max_bytes"));
        if (hub_json_string_is(over, HUB_STR("spill")) || (over.len == 0 && most.len > 0)) {
            return true;
        }
    }
    return false;
}

void hub_config_offer_results(const hub_config_reader *reader)
{
    const hub_settings *settings = &reader->config.settings;
    hub_profile_settings *profiles = (void *)(uintptr_t)settings->profiles; /* the reader's still */
    bool spills = false;
    for (size_t i = 0; !spills && i < settings->toolset_count; i++) {
        const hub_toolset_settings *toolset = &settings->toolsets[i];
        spills = (toolset->results.max_bytes > 0 && toolset->results.over == HUB_OVER_SPILL) ||
                 some_override_spills(toolset->overrides);
    }
    for (size_t i = 0; spills && i < settings->profile_count; i++) {
        if (profiles[i].meta_tools != 0) {
            profiles[i].meta_tools |= HUB_META_RESULTS;
        }
    }
}
