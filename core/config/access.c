/* SPDX-License-Identifier: Apache-2.0 */
/* access: who may do what with which tools (identity/rules.h). */
#include "config/reader.h"

#include "base/limits.h"
#include "identity/arguments.h"
#include "identity/identity.h"
#include "identity/path.h"
#include "wire/json.h"

enum {
    MOST_CONDITIONS = 32, /* of one rule: a call passes all of them */
    MOST_CLAIMS = 32,
};

#define RULE(member)      offsetof(hub_access_rule, member)
#define CONDITION(member) offsetof(hub_access_condition, member)

static const hub_config_word VERDICTS[] = {
    {"allow", HUB_ACCESS_ALLOW, false},
    {"deny", HUB_ACCESS_DENY, false},
    {"challenge", HUB_ACCESS_CHALLENGE, false},
    {"confirm", HUB_ACCESS_CONFIRM, false},
    {.word = NULL},
};
static const hub_config_word DEFAULTS[] = {
    {"allow", HUB_ACCESS_ALLOW, false},
    {"deny", HUB_ACCESS_DENY, false},
    {.word = NULL},
};

#define SCALAR_SCHEMA "{\"type\":[\"string\",\"number\",\"boolean\",\"null\"]}"
#define TEXTS_SCHEMA                                                                               \
    "{\"anyOf\":[{\"type\":\"string\",\"minLength\":1},{\"type\":\"array\",\"items\":{\"type\":"   \
    "\"string\",\"minLength\":1}}]}"
#define SCALARS_SCHEMA                                                                             \
    "{\"anyOf\":[" SCALAR_SCHEMA ",{\"type\":\"array\",\"items\":" SCALAR_SCHEMA "}]}"

/* ---- values ---------------------------------------------------------------------------------- */

/* A scalar as JSON. */
static hub_err read_scalar(hub_config_reader *reader, const hub_node *node, const char **ret_json)
{
    hub_buf json;
    hub_buf_init(&json, HUB_LIMIT_CONFIG_BYTES);
    if (node->kind == HUB_NODE_TEXT) {
        hub_json_add_string(&json, node->text);
    } else if (node->kind == HUB_NODE_NUMBER) {
        hub_buf_add(&json, node->text);
    } else if (node->kind == HUB_NODE_LIST || node->kind == HUB_NODE_MAP) {
        return hub_config_wrong(reader, node, "text, a number, true, false or null");
    } else {
        hub_buf_add(&json, node->kind == HUB_NODE_TRUE    ? HUB_STR("true")
                           : node->kind == HUB_NODE_FALSE ? HUB_STR("false")
                                                          : HUB_STR("null"));
    }
    *ret_json = hub_buf_ok(&json) ? hub_arena_strdup(reader->arena, hub_buf_str(&json)) : NULL;
    hub_buf_fini(&json);
    return *ret_json != NULL ? HUB_OK : hub_config_no_memory(reader);
}

static hub_err read_text_item(hub_config_reader *reader, const hub_node *node,
                              const char **ret_text)
{
    if (node->kind != HUB_NODE_TEXT || node->text.len == 0) {
        return hub_config_wrong(reader, node, "text");
    }
    *ret_text = hub_arena_strdup(reader->arena, node->text);
    return *ret_text != NULL ? HUB_OK : hub_config_no_memory(reader);
}

/* A list, or one value that stands for a list of it. */
static hub_err read_one_or_more(hub_config_reader *reader, const hub_node *node,
                                hub_config_read_item_fn *read_item, hub_names *names)
{
    if (node->kind == HUB_NODE_LIST) {
        return hub_config_read_list(reader, node, read_item, names);
    }
    const char **items = hub_arena_array(reader->arena, 1, sizeof *items);
    if (items == NULL) {
        return hub_config_no_memory(reader);
    }
    *names = (hub_names){.items = items, .count = 1, .set = true};
    return read_item(reader, node, items);
}

static hub_err read_scalars(hub_config_reader *reader, const hub_node *node,
                            const hub_config_key *key, void *target)
{
    return read_one_or_more(reader, node, read_scalar, (void *)((char *)target + key->offset));
}

static hub_err read_equals(hub_config_reader *reader, const hub_node *node,
                           const hub_config_key *key, void *target)
{
    return read_scalar(reader, node, (void *)((char *)target + key->offset));
}

static hub_err read_texts(hub_config_reader *reader, const hub_node *node,
                          const hub_config_key *key, void *target)
{
    return read_one_or_more(reader, node, read_text_item, (void *)((char *)target + key->offset));
}

static hub_err read_max(hub_config_reader *reader, const hub_node *node, const hub_config_key *key,
                        void *target)
{
    return node->kind == HUB_NODE_NUMBER ? read_equals(reader, node, key, target)
                                         : hub_config_wrong(reader, node, "a number");
}

static hub_err read_folder(hub_config_reader *reader, const hub_node *node, const char **ret_text)
{
    hub_buf normal;
    hub_buf_init(&normal, node->text.len + 1);
    bool is_clear = node->kind == HUB_NODE_TEXT && hub_path_normalise(node->text, &normal);
    hub_buf_fini(&normal);
    return is_clear ? read_text_item(reader, node, ret_text)
                    : hub_config_wrong(reader, node, "an absolute path like /srv");
}

static hub_err read_folders(hub_config_reader *reader, const hub_node *node,
                            const hub_config_key *key, void *target)
{
    return read_one_or_more(reader, node, read_folder, (void *)((char *)target + key->offset));
}

static hub_err read_flag(hub_config_reader *reader, const hub_node *node, const hub_config_key *key,
                         void *target)
{
    bool is_so = false;
    const hub_config_key plain = {.offset = 0};
    hub_err err = hub_config_read_bool(reader, node, &plain, &is_so);
    hub_access_flag *flag = (void *)((char *)target + key->offset);
    *flag = is_so ? HUB_ACCESS_YES : HUB_ACCESS_NO;
    return err;
}

/* ---- who ------------------------------------------------------------------------------------- */

/* A pattern may stand for names of any kind. */
static bool has_kind(hub_str principal)
{
    return principal.ptr[0] == '*' || principal.ptr[0] == '?' || hub_principal_has_kind(principal);
}

static hub_err read_principal(hub_config_reader *reader, const hub_node *node,
                              const char **ret_text)
{
    hub_err err = read_text_item(reader, node, ret_text);
    if (err == HUB_OK && !has_kind(node->text)) {
        err = hub_config_wrong(reader, node, "a principal with its kind: " HUB_PRINCIPAL_KINDS);
    }
    return err;
}

static hub_err read_principals(hub_config_reader *reader, const hub_node *node,
                               const hub_config_key *key, void *target)
{
    return hub_config_read_list(reader, node, read_principal,
                                (void *)((char *)target + key->offset));
}

static hub_err read_scope(hub_config_reader *reader, const hub_node *node, const char **ret_text)
{
    hub_err err = read_text_item(reader, node, ret_text);
    const char *problem = err == HUB_OK ? hub_scope_problem(node->text) : NULL;
    return problem == NULL ? err : hub_node_fail(node, reader->reterr, HUB_EINVAL, "%s", problem);
}

hub_err hub_config_read_scopes(hub_config_reader *reader, const hub_node *node,
                               const hub_config_key *key, void *target)
{
    return hub_config_read_list(reader, node, read_scope, (void *)((char *)target + key->offset));
}

static hub_err read_transport(hub_config_reader *reader, const hub_node *node,
                              const char **ret_text)
{
    static const char *const KNOWN[] = {"stdio", "http", "sse", "websocket", "unix"};
    hub_err err = read_text_item(reader, node, ret_text);
    bool is_known = false;
    for (size_t i = 0; err == HUB_OK && i < sizeof KNOWN / sizeof *KNOWN; i++) {
        is_known = is_known || hub_str_is(node->text, KNOWN[i]);
    }
    return err != HUB_OK || is_known
               ? err
               : hub_config_wrong(reader, node, "stdio, http, sse, websocket or unix");
}

static hub_err read_transports(hub_config_reader *reader, const hub_node *node,
                               const hub_config_key *key, void *target)
{
    return read_one_or_more(reader, node, read_transport, (void *)((char *)target + key->offset));
}

static hub_err read_claims(hub_config_reader *reader, const hub_node *node,
                           const hub_config_key *key, void *target)
{
    hub_access_who *who = target;
    if (node->kind != HUB_NODE_MAP) {
        return hub_config_wrong(reader, node, "a map of claims to values");
    }
    if (node->count > key->most) {
        return hub_node_fail(node, reader->reterr, HUB_ELIMIT, "more than %u claims", key->most);
    }
    hub_access_claim *claims = hub_arena_array(reader->arena, node->count, sizeof *claims);
    hub_err err = claims != NULL ? HUB_OK : hub_config_no_memory(reader);
    for (const hub_node *item = node->first; err == HUB_OK && item != NULL; item = item->next) {
        hub_access_claim *claim = &claims[item->index];
        claim->name = hub_arena_strdup(reader->arena, hub_str_of(item->key));
        err = claim->name != NULL ? read_one_or_more(reader, item, read_scalar, &claim->values)
                                  : hub_config_no_memory(reader);
    }
    who->claims = claims;
    who->claim_count = node->count;
    return err;
}

#define WHO(member) offsetof(hub_access_who, member)
static const hub_config_key WHO_KEYS[] = {
    {.name = "principals",
     .kind = HUB_CONFIG_NAMES,
     .read = read_principals,
     .offset = WHO(principals),
     .about = "One of these globs fits the principal: token:NAME, jwt:ISSUER#SUB, cert:NAME, "
              "uid:N, local, anonymous.",
     .example = "[\"token:ci-*\"]"},
    {.name = "groups",
     .kind = HUB_CONFIG_NAMES,
     .offset = WHO(groups),
     .about = "The principal is in one of these groups.",
     .example = "[ops]"},
    {.name = "scopes",
     .kind = HUB_CONFIG_NAMES,
     .read = hub_config_read_scopes,
     .offset = WHO(scopes),
     .about = "The credential has all of these scopes. With `then: challenge`: these are what a "
              "call needs.",
     .example = "[\"tools:read\"]"},
    {.name = "claims",
     .kind = HUB_CONFIG_OTHER,
     .read = read_claims,
     .most = MOST_CLAIMS,
     .about = "Each of these claims of the credential has one of the values.",
     .schema = "{\"type\":\"object\",\"additionalProperties\":" SCALARS_SCHEMA "}",
     .example = "{department: [research]}"},
    {.name = "profiles",
     .kind = HUB_CONFIG_NAMES,
     .offset = WHO(profiles),
     .about = "The client uses one of these profiles.",
     .example = "[default]"},
    {.name = "transport",
     .kind = HUB_CONFIG_OTHER,
     .read = read_transports,
     .offset = WHO(transports),
     .about = "The client came by one of these: stdio, http, sse, websocket, unix.",
     .schema = TEXTS_SCHEMA,
     .example = "[http]"},
    {.name = NULL},
};

/* ---- which tools ----------------------------------------------------------------------------- */

#define TOOLS(member) offsetof(hub_access_tools, member)
static const hub_config_key TOOL_KEYS[] = {
    {.name = "match",
     .kind = HUB_CONFIG_NAMES,
     .offset = TOOLS(match),
     .about = "One of these globs fits \"toolset:tool\"; of resources \"toolset:URI\", of prompts "
              "\"toolset:prompt\".",
     .example = "[\"git:*\"]"},
    {.name = "tags",
     .kind = HUB_CONFIG_NAMES,
     .offset = TOOLS(tags),
     .about = "The tool has one of these tags.",
     .example = "[reviewed]"},
    {.name = "category",
     .kind = HUB_CONFIG_OTHER,
     .read = read_texts,
     .offset = TOOLS(categories),
     .about = "The tool's category is one of these.",
     .schema = TEXTS_SCHEMA,
     .example = "[development]"},
    {.name = "read_only",
     .kind = HUB_CONFIG_OTHER,
     .read = read_flag,
     .offset = TOOLS(read_only),
     .about = "Whether the tool only reads. What servers say counts with trust_annotations alone.",
     .schema = "{\"type\":\"boolean\"}",
     .example = "true"},
    {.name = "destructive",
     .kind = HUB_CONFIG_OTHER,
     .read = read_flag,
     .offset = TOOLS(destructive),
     .about = "Whether the tool may destroy something. A tool of which nobody trusted says "
              "otherwise may.",
     .schema = "{\"type\":\"boolean\"}",
     .example = "false"},
    {.name = NULL},
};

/* ---- arguments ------------------------------------------------------------------------------- */

static const hub_config_key CONDITION_KEYS[] = {
    {.name = "equals",
     .kind = HUB_CONFIG_OTHER,
     .read = read_equals,
     .offset = CONDITION(equals),
     .about = "The value is this one.",
     .schema = SCALAR_SCHEMA,
     .example = "main"},
    {.name = "in",
     .kind = HUB_CONFIG_OTHER,
     .read = read_scalars,
     .offset = CONDITION(in),
     .about = "The value is one of these.",
     .schema = SCALARS_SCHEMA,
     .example = "[main, release]"},
    {.name = "glob",
     .kind = HUB_CONFIG_OTHER,
     .read = read_texts,
     .offset = CONDITION(globs),
     .about = "The value is text that one of these globs fits.",
     .schema = TEXTS_SCHEMA,
     .example = "\"docs/*\""},
    {.name = "beneath",
     .kind = HUB_CONFIG_OTHER,
     .read = read_folders,
     .offset = CONDITION(beneath),
     .about = "The value is an absolute path in one of these folders, or the folder itself.",
     .schema = TEXTS_SCHEMA,
     .example = "/srv"},
    {.name = "max",
     .kind = HUB_CONFIG_OTHER,
     .read = read_max,
     .offset = CONDITION(max),
     .about = "The value is a number, at most this one.",
     .schema = "{\"type\":\"number\"}",
     .example = "100"},
    {.name = NULL},
};

static hub_err read_condition(hub_config_reader *reader, const hub_node *node,
                              const hub_config_key *key, hub_access_condition *condition)
{
    const char *problem = hub_access_pointer_problem(hub_str_of(node->key));
    if (problem != NULL) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL, "%s", problem);
    }
    if (node->kind != HUB_NODE_MAP || node->count == 0) {
        return hub_config_wrong(reader, node, "a map with equals, in, glob, beneath or max");
    }
    condition->pointer = hub_arena_strdup(reader->arena, hub_str_of(node->key));
    if (condition->pointer == NULL) {
        return hub_config_no_memory(reader);
    }
    const hub_config_key within = {.keys = key->keys};
    return hub_config_read_map(reader, node, &within, condition);
}

static hub_err read_conditions(hub_config_reader *reader, const hub_node *node,
                               const hub_config_key *key, void *target)
{
    hub_access_rule *rule = target;
    if (node->kind != HUB_NODE_MAP) {
        return hub_config_wrong(reader, node, "a map of JSON Pointers to conditions");
    }
    if (node->count > key->most) {
        return hub_node_fail(node, reader->reterr, HUB_ELIMIT, "more than %u conditions",
                             key->most);
    }
    hub_access_condition *conditions =
        hub_arena_array(reader->arena, node->count, sizeof *conditions);
    hub_err err = conditions != NULL ? HUB_OK : hub_config_no_memory(reader);
    for (const hub_node *item = node->first; err == HUB_OK && item != NULL; item = item->next) {
        err = read_condition(reader, item, key, &conditions[item->index]);
    }
    rule->conditions = conditions;
    rule->condition_count = node->count;
    return err;
}

/* ---- rules ----------------------------------------------------------------------------------- */

static const hub_config_key RULE_KEYS[] = {
    {.name = "who",
     .kind = HUB_CONFIG_MAP,
     .offset = RULE(who),
     .keys = WHO_KEYS,
     .about = "The callers that the rule is about. All that is written has to "
              "fit. Default: everybody.",
     .example = "{ principals: [\"token:ci-*\"], groups: [ops], scopes: [\"tools:read\"], claims: "
                "{team: [research]}, profiles: [default], transport: [http]}"},
    {.name = "tools",
     .kind = HUB_CONFIG_MAP,
     .offset = RULE(tools),
     .keys = TOOL_KEYS,
     .about = "Which tools, resources and prompts. All that is written has to fit. Default: all.",
     .example = "{ match: [\"*:delete_*\"], tags: [reviewed], category: [development], read_only: "
                "false, destructive: true}"},
    {.name = "arguments",
     .kind = HUB_CONFIG_MAP_OF,
     .read = read_conditions,
     .most = MOST_CONDITIONS,
     .keys = CONDITION_KEYS,
     .about = "Conditions for the arguments of a call, by JSON Pointer.",
     .schema = "{\"pattern\":\"^/\"}",
     .example =
         "{\"/path\": { beneath: /srv }, \"/branch\": { equals: main }, \"/mode\": { in: [a, b] }, "
         "\"/file\": { glob: \"docs/*\" }, \"/count\": { max: 100 }}"},
    {.name = "then",
     .kind = HUB_CONFIG_WORD,
     .offset = RULE(then),
     .has_no_default = true,
     .words = VERDICTS,
     .about = "allow; deny: as if the tool did not exist; challenge: listed, and a call needs "
              "who.scopes; confirm: a call has to be confirmed by its user.",
     .example = "confirm"},
    {.name = "reason",
     .kind = HUB_CONFIG_TEXT,
     .offset = RULE(reason),
     .about = "For people: said where a call has to be confirmed.",
     .example = "deleting is for operators"},
    {.name = NULL},
};

static hub_err read_rule(hub_config_reader *reader, const hub_node *node, const hub_config_key *key,
                         hub_access_rule *rule)
{
    const hub_config_key within = {.keys = key->keys};
    if (node->kind != HUB_NODE_MAP) {
        return hub_config_wrong(reader, node, "a map");
    }
    if (hub_node_find(node, "then") == NULL) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "the rule lacks `then`: allow, deny, challenge or confirm");
    }
    hub_err err = hub_config_read_map(reader, node, &within, rule);
    rule->source = err == HUB_OK ? hub_config_place(reader, node) : NULL;
    return err == HUB_OK && rule->source == NULL ? hub_config_no_memory(reader) : err;
}

static hub_err read_rules(hub_config_reader *reader, const hub_node *node,
                          const hub_config_key *key, void *target)
{
    hub_access_settings *access = (void *)((char *)target + key->offset);
    if (node->kind != HUB_NODE_LIST) {
        return hub_config_wrong(reader, node, "a list");
    }
    if (node->count > key->most) {
        return hub_node_fail(node, reader->reterr, HUB_ELIMIT, "more than %u rules", key->most);
    }
    hub_access_rule *rules = hub_arena_array(reader->arena, node->count, sizeof *rules);
    hub_err err = rules != NULL ? HUB_OK : hub_config_no_memory(reader);
    for (const hub_node *item = node->first; err == HUB_OK && item != NULL; item = item->next) {
        err = read_rule(reader, item, key, &rules[item->index]);
    }
    access->rules = rules;
    access->count = node->count;
    return err;
}

#define ACCESS(member) offsetof(hub_access_settings, member)
const hub_config_key HUB_CONFIG_ACCESS_KEYS[] = {
    {.name = "default",
     .kind = HUB_CONFIG_WORD,
     .offset = ACCESS(otherwise),
     .fallback = HUB_ACCESS_ALLOW,
     .words = DEFAULTS,
     .about = "What holds where no rule matches."},
    {.name = "rules",
     .kind = HUB_CONFIG_LIST_OF,
     .read = read_rules,
     .most = HUB_LIMIT_ACCESS_RULES,
     .keys = RULE_KEYS,
     .about = "In order: the first that matches decides.",
     .example = "[]"},
    {.name = NULL},
};

hub_err hub_config_read_access(hub_config_reader *reader, const hub_node *node,
                               const hub_config_key *key, void *target)
{
    hub_access_settings access = {.is_set = true, .otherwise = HUB_ACCESS_ALLOW};
    const hub_config_key within = {.keys = key->keys};
    hub_err err = hub_config_read_map(reader, node, &within, &access);
    hub_access_settings *own = (void *)((char *)target + key->offset);
    *own = access;
    return err;
}

hub_err hub_config_finish_access(hub_config_reader *reader)
{
    const hub_settings *settings = &reader->config.settings;
    for (size_t i = 0; i < settings->access.count; i++) {
        const hub_access_rule *rule = &settings->access.rules[i];
        for (size_t j = 0; j < rule->who.profiles.count; j++) {
            hub_error why = {.code = HUB_OK};
            if (!hub_settings_have_profile(settings, rule->who.profiles.items[j])) {
                (void)hub_settings_fail_profile(settings, rule->who.profiles.items[j], &why);
                return hub_fail(reader->reterr, HUB_EINVAL, "%s: who.profiles: %s", rule->source,
                                why.text);
            }
        }
    }
    return HUB_OK;
}

/* ---- scopes of tools ------------------------------------------------------------------------- */

hub_err hub_config_read_scope_line(hub_config_reader *reader, const hub_node *node,
                                   const char *glob, const char **ret_line)
{
    hub_names scopes;
    hub_buf line;
    hub_err err = hub_config_read_list(reader, node, read_scope, &scopes);
    if (err != HUB_OK) {
        return err;
    }
    hub_buf_init(&line, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_printf(&line, "%s\n", glob);
    for (size_t i = 0; i < scopes.count; i++) {
        hub_buf_printf(&line, "%s%s", i > 0 ? " " : "", scopes.items[i]);
    }
    *ret_line = hub_buf_ok(&line) ? hub_arena_strdup(reader->arena, hub_buf_str(&line)) : NULL;
    hub_buf_fini(&line);
    return *ret_line != NULL ? HUB_OK : hub_config_no_memory(reader);
}

/* A map of globs to lists of scopes, as lines that begin with the glob (hub_access_subject). */
hub_err hub_config_read_tool_scopes(hub_config_reader *reader, const hub_node *node,
                                    const hub_config_key *key, void *target)
{
    if (node->kind != HUB_NODE_MAP) {
        return hub_config_wrong(reader, node, "a map of globs to lists of scopes");
    }
    const char **lines = hub_arena_array(reader->arena, node->count, sizeof *lines);
    hub_err err = lines != NULL ? HUB_OK : hub_config_no_memory(reader);
    for (const hub_node *item = node->first; err == HUB_OK && item != NULL; item = item->next) {
        err = hub_config_read_scope_line(reader, item, item->key, &lines[item->index]);
    }
    if (err == HUB_OK) {
        hub_names *own = (void *)((char *)target + key->offset);
        *own = (hub_names){.items = lines, .count = node->count, .set = true};
    }
    return err;
}
