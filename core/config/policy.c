/* SPDX-License-Identifier: Apache-2.0 */
/* policy: what may be exposed at all, of the hub and of a profile. */
#include "config/reader.h"

#include "base/limits.h"

enum { MOST_FILTERS = 64 /* every tool passes all of them */ };

#define READER(member) offsetof(hub_config_reader, member)
#define POLICY(member) offsetof(hub_policy_rules, member)

static hub_err read_filter(hub_config_reader *reader, const hub_node *item,
                           const hub_config_key *rows, hub_filter_rule *filter)
{
    if (item->kind != HUB_NODE_MAP) {
        return hub_config_wrong(reader, item, "a map with one key");
    }
    if (item->count != 1) {
        return hub_node_fail(item, reader->reterr, HUB_EINVAL, "wanted one key, found %zu",
                             item->count);
    }
    hub_filter_rule found = {.kind = HUB_FILTER_NAMESPACE};
    const hub_config_key key = {.keys = rows};
    hub_err err = hub_config_read_map(reader, item, &key, &found);
    if (err != HUB_OK) {
        return err;
    }
    for (size_t i = 0; rows[i].name != NULL; i++) {
        if (strcmp(rows[i].name, item->first->key) == 0) {
            found.kind = (hub_filter_kind)i;
        }
    }
    *filter = found;
    return HUB_OK;
}

static hub_err read_filters(hub_config_reader *reader, const hub_node *node,
                            const hub_config_key *key, void *target)
{
    hub_policy_rules *policy = (void *)((char *)target + key->offset);
    if (node->kind != HUB_NODE_LIST) {
        return hub_config_wrong(reader, node, "a list");
    }
    if (node->count > key->most) {
        return hub_node_fail(node, reader->reterr, HUB_ELIMIT, "more than %u filters", key->most);
    }
    hub_filter_rule *filters = hub_arena_array(reader->arena, node->count, sizeof *filters);
    if (filters == NULL) {
        return hub_config_no_memory(reader);
    }
    hub_err err = HUB_OK;
    for (const hub_node *item = node->first; err == HUB_OK && item != NULL; item = item->next) {
        err = read_filter(reader, item, key->keys, &filters[item->index]);
    }
    policy->filters = filters;
    policy->filter_count = node->count;
    return err;
}

/* policy.filters[]: in the order of hub_filter_kind. */
#define FILTER(word)                                                                               \
    .name = (word), .kind = HUB_CONFIG_NAMES, .offset = offsetof(hub_filter_rule, values)
static const hub_config_key FILTER_KEYS[] = {
    {FILTER("namespace"), .about = "The tool's toolset is one of these.", .example = "[git, docs]"},
    {FILTER("tags_any"), .about = "It has one of these tags.", .example = "[read, search]"},
    {FILTER("tags_all"), .about = "It has all of these tags.", .example = "[reviewed]"},
    {FILTER("tags_none"), .about = "It has none of these tags.", .example = "[beta]"},
    {FILTER("category"), .about = "Its category is one of these.", .example = "[development]"},
    {FILTER("allow_tools"), .about = "One of these globs fits \"toolset:tool\".",
     .example = "[\"git:*\"]"},
    {FILTER("deny_tools"), .about = "None of these globs fits \"toolset:tool\".",
     .example = "[\"*:delete_*\"]"},
    {.name = NULL},
};

/* What a policy has, be it the hub's or a profile's; `at` is where the rules lie. */
#define POLICY_KEYS(at)                                                                            \
    {.name = "allow",                                                                              \
     .kind = HUB_CONFIG_TOOLSET_NAMES,                                                             \
     .offset = (at) + POLICY(allow),                                                               \
     .about = "Toolsets that may be exposed. Default: all. []: none.",                             \
     .example = "[git, docs]",                                                                     \
     .is_comment = true},                                                                          \
        {.name = "deny",                                                                           \
         .kind = HUB_CONFIG_TOOLSET_NAMES,                                                         \
         .offset = (at) + POLICY(deny),                                                            \
         .about = "Toolsets that may not; wins over allow.",                                       \
         .example = "[]"},                                                                         \
        {.name = "max_active",                                                                     \
         .kind = HUB_CONFIG_COUNT,                                                                 \
         .offset = (at) + POLICY(max_active),                                                      \
         .most = HUB_LIMIT_TOOLSETS,                                                               \
         .about = "How many toolsets may be active at a time. 0: any number."},                    \
        {.name = "filters",                                                                        \
         .kind = HUB_CONFIG_LIST_OF,                                                               \
         .read = read_filters,                                                                     \
         .offset = (at),                                                                           \
         .most = MOST_FILTERS,                                                                     \
         .keys = FILTER_KEYS,                                                                      \
         .about = "Each tool has to pass all of them, in this order.",                             \
         .schema = "{\"minProperties\":1,\"maxProperties\":1}",                                    \
         .example = "[]"},                                                                         \
        {.name = "read_only",                                                                      \
         .kind = HUB_CONFIG_BOOL,                                                                  \
         .offset = (at) + POLICY(read_only),                                                       \
         .about = "Of toolsets, only tools whose annotations say readOnlyHint."},                  \
    {                                                                                              \
        .name = "deny_destructive", .kind = HUB_CONFIG_BOOL,                                       \
        .offset = (at) + POLICY(deny_destructive),                                                 \
        .about = "No tool of a toolset that may destroy something."                                \
    }

/* policy: what may be exposed at all. */
const hub_config_key HUB_CONFIG_POLICY_KEYS[] = {POLICY_KEYS(0), {.name = NULL}};

static const hub_config_word PINS[] = {
    {"off", HUB_PINS_OFF, false},
    {"warn", HUB_PINS_WARN, false},
    {"withhold", HUB_PINS_WITHHOLD, false},
    {.word = NULL},
};

static const hub_config_word NEW_TOOLS[] = {
    {"allow", 0, false},
    {"withhold", 1, false},
    {.word = NULL},
};

/* policy of the hub itself: a lock file is for all profiles. */
const hub_config_key HUB_CONFIG_HUB_POLICY_KEYS[] = {
    POLICY_KEYS(READER(config.settings.policy)),
    {.name = "pinned",
     .kind = HUB_CONFIG_WORD,
     .offset = READER(config.settings.pins.mode),
     .fallback = HUB_PINS_WARN,
     .words = PINS,
     .about =
         "A tool, a prompt or instructions that differ from "
         "patchbay.lock, beside the manifest: warn writes to the log, "
         "withhold keeps them from clients until `patchbay approve`. off: the file is not read."},
    {.name = "new_tools",
     .kind = HUB_CONFIG_CHOICE,
     .offset = READER(config.settings.pins.withholds_new),
     .words = NEW_TOOLS,
     .about = "The same for tools and prompts that patchbay.lock does not have."},
    {.name = NULL},
};
