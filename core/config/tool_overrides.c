/* SPDX-License-Identifier: Apache-2.0 */
/* toolsets.KEY.tools.overrides: what becomes of tools on their way to clients. The rules are checked
 * here, and written as the JSON that tools/override.h reads. */
#include "config/reader.h"

#include "base/limits.h"
#include "tools/override.h"
#include "tools/naming.h"

/* What an override may say; each is a node until all of it is written. */
typedef struct override_draft {
    const hub_node *name;
    const hub_node *title;
    const hub_node *description;
    const hub_node *hide;
    const hub_node *tags;
    const hub_node *category;
    const hub_node *scopes;
    const hub_node *read_only;
    const hub_node *destructive;
    const hub_node *validate;
    const hub_node *flat;
    const hub_node *results;
    const hub_node *arguments;
} override_draft;

typedef struct argument_draft {
    const hub_node *fixed;
    const hub_node *fallback;
    const hub_node *description;
    const hub_node *hide;
} argument_draft;

#define SAID(key, member)                                                                          \
    {                                                                                              \
        .name = (key), .kind = HUB_CONFIG_OTHER, .read = hub_config_read_node,                     \
        .offset = offsetof(override_draft, member)                                                 \
    }
#define SAID_OF_ARGUMENT(key, member)                                                              \
    {                                                                                              \
        .name = (key), .kind = HUB_CONFIG_OTHER, .read = hub_config_read_node,                     \
        .offset = offsetof(argument_draft, member)                                                 \
    }

/* The schema in toolset_keys.c says the same. */
static const hub_config_key KEYS[] = {
    SAID("name", name),
    SAID("title", title),
    SAID("description", description),
    SAID("hide", hide),
    SAID("tags", tags),
    SAID("category", category),
    SAID("scopes", scopes),
    SAID("read_only", read_only),
    SAID("destructive", destructive),
    SAID("validate", validate),
    SAID("flat", flat),
    SAID("arguments", arguments),
    SAID("results", results),
    {.name = NULL},
};

static const hub_config_key ARGUMENT_KEYS[] = {
    SAID_OF_ARGUMENT("fixed", fixed),
    SAID_OF_ARGUMENT("default", fallback),
    SAID_OF_ARGUMENT("description", description),
    SAID_OF_ARGUMENT("hide", hide),
    {.name = NULL},
};

static const hub_config_key HERE = {.offset = 0};

static hub_err add_text(hub_config_reader *reader, const hub_node *node, const char *key,
                        hub_buf *out)
{
    const char *text = NULL;
    hub_err err = node != NULL ? hub_config_read_text(reader, node, &HERE, &text) : HUB_OK;
    if (err == HUB_OK && node != NULL) {
        hub_json_add_key(out, hub_str_of(key));
        hub_json_add_string(out, hub_str_of(text));
    }
    return err;
}

static hub_err add_bool(hub_config_reader *reader, const hub_node *node, const char *key,
                        hub_buf *out)
{
    bool value = false;
    hub_err err = node != NULL ? hub_config_read_bool(reader, node, &HERE, &value) : HUB_OK;
    if (err == HUB_OK && node != NULL) {
        hub_json_add_key(out, hub_str_of(key));
        hub_buf_add(out, value ? HUB_STR("true") : HUB_STR("false"));
    }
    return err;
}

static hub_err add_tags(hub_config_reader *reader, const hub_node *node, hub_buf *out)
{
    hub_names tags = {.count = 0};
    hub_err err = node != NULL ? hub_config_read_names(reader, node, &HERE, &tags) : HUB_OK;
    if (err == HUB_OK && tags.count > HUB_LIMIT_TAGS_PER_TOOL) {
        return hub_node_fail(node, reader->reterr, HUB_ELIMIT, "more than %d tags",
                             HUB_LIMIT_TAGS_PER_TOOL);
    }
    if (err == HUB_OK && node != NULL) {
        hub_json_add_key(out, HUB_STR("tags"));
        hub_buf_add_char(out, '[');
        for (size_t i = 0; i < tags.count; i++) {
            hub_json_add_comma(out);
            hub_json_add_string(out, hub_str_of(tags.items[i]));
        }
        hub_buf_add_char(out, ']');
    }
    return err;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static hub_err check_argument(hub_config_reader *reader, const hub_node *node,
                              const argument_draft *draft)
{
    if (draft->fixed != NULL &&
        (draft->fallback != NULL || draft->description != NULL || draft->hide != NULL)) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "an argument that is fixed is not shown to anybody: write `fixed` "
                             "alone");
    }
    if (draft->hide != NULL && draft->fallback != NULL) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "an argument that nobody sees has no default: write `fixed`");
    }
    return HUB_OK;
}

static hub_err add_value(hub_config_reader *reader, const hub_node *argument, const hub_node *node,
                         const char *key, hub_buf *out)
{
    if (node == NULL) {
        return HUB_OK;
    }
    hub_json_add_key(out, hub_str_of(key));
    hub_err err = hub_config_hide_named(reader, hub_str_of(argument->key), node->text);
    return err == HUB_OK ? hub_config_add_json(reader, node, out) : err;
}

static hub_err add_argument(hub_config_reader *reader, const hub_node *node, hub_buf *out)
{
    argument_draft draft = {.fixed = NULL};
    hub_err err = hub_config_read_map_of(reader, node, ARGUMENT_KEYS, NULL, &draft);
    err = err == HUB_OK ? check_argument(reader, node, &draft) : err;
    hub_json_add_key(out, hub_str_of(node->key));
    hub_buf_add_char(out, '{');
    err = err == HUB_OK ? add_value(reader, node, draft.fixed, "fixed", out) : err;
    err = err == HUB_OK ? add_value(reader, node, draft.fallback, "default", out) : err;
    err = err == HUB_OK ? add_text(reader, draft.description, "description", out) : err;
    err = err == HUB_OK ? add_bool(reader, draft.hide, "hide", out) : err;
    hub_buf_add_char(out, '}');
    return err;
}

static hub_err add_arguments(hub_config_reader *reader, const hub_node *node, hub_buf *out)
{
    if (node == NULL || node->kind == HUB_NODE_NULL) {
        return HUB_OK;
    }
    if (node->kind != HUB_NODE_MAP) {
        return hub_config_wrong(reader, node, "a map of names of arguments");
    }
    if (node->count > HUB_LIMIT_OVERRIDE_ARGUMENTS) {
        return hub_node_fail(node, reader->reterr, HUB_ELIMIT, "more than %d arguments",
                             HUB_LIMIT_OVERRIDE_ARGUMENTS);
    }
    hub_err err = HUB_OK;
    hub_json_add_key(out, HUB_STR("arguments"));
    hub_buf_add_char(out, '{');
    for (const hub_node *at = node->first; err == HUB_OK && at != NULL; at = at->next) {
        err = add_argument(reader, at, out);
    }
    hub_buf_add_char(out, '}');
    return err;
}

/* ---- one tool -------------------------------------------------------------------------------- */

/* The name that a rule before this one gives, too; or NULL. */
static const hub_node *find_namesake(const hub_node *rules, const hub_node *rule,
                                     const hub_node *name)
{
    for (const hub_node *at = rules->first; at != rule; at = at->next) {
        for (const hub_node *key = at->first; key != NULL; key = key->next) {
            if (strcmp(key->key, "name") == 0 && hub_str_eq(key->text, name->text)) {
                return at;
            }
        }
    }
    return NULL;
}

/* A name is for one tool, and one that clients take. */
static hub_err check_name(hub_config_reader *reader, const hub_node *rules, const hub_node *rule,
                          const hub_node *name)
{
    if (name == NULL) {
        return HUB_OK;
    }
    if (hub_override_is_glob(hub_str_of(rule->key))) {
        return hub_node_fail(name, reader->reterr, HUB_EINVAL,
                             "a name is for one tool: write the tool's own name instead of \"%s\"",
                             rule->key);
    }
    bool is_good = name->kind == HUB_NODE_TEXT && name->text.len > 0 &&
                   name->text.len <= HUB_LIMIT_EXPOSED_NAME_BYTES;
    for (size_t i = 0; is_good && i < name->text.len; i++) {
        is_good = hub_naming_is_char(name->text.ptr[i]);
    }
    if (!is_good) {
        return hub_node_fail(
            name, reader->reterr, HUB_EINVAL,
            "the name of a tool has 1 to %d letters, digits, \"_\", \"-\" and \".\"",
            HUB_LIMIT_EXPOSED_NAME_BYTES);
    }
    const hub_node *other = find_namesake(rules, rule, name);
    return other == NULL
               ? HUB_OK
               : hub_node_fail(name, reader->reterr, HUB_EINVAL,
                               "another tool, \"%s\", is to have this name, too", other->key);
}

static hub_err add_rule(hub_config_reader *reader, const hub_node *rules, const hub_node *node,
                        override_draft *draft, hub_buf *out)
{
    hub_err err = hub_config_read_map_of(reader, node, KEYS, NULL, draft);
    err = err == HUB_OK ? check_name(reader, rules, node, draft->name) : err;
    hub_json_add_key(out, hub_str_of(node->key));
    hub_buf_add_char(out, '{');
    err = err == HUB_OK ? add_text(reader, draft->name, "name", out) : err;
    err = err == HUB_OK ? add_text(reader, draft->title, "title", out) : err;
    err = err == HUB_OK ? add_text(reader, draft->description, "description", out) : err;
    err = err == HUB_OK ? add_bool(reader, draft->hide, "hide", out) : err;
    err = err == HUB_OK ? add_tags(reader, draft->tags, out) : err;
    err = err == HUB_OK ? add_text(reader, draft->category, "category", out) : err;
    err = err == HUB_OK ? add_bool(reader, draft->read_only, "read_only", out) : err;
    err = err == HUB_OK ? add_bool(reader, draft->destructive, "destructive", out) : err;
    err = err == HUB_OK ? add_bool(reader, draft->validate, "validate", out) : err;
    err = err == HUB_OK ? add_bool(reader, draft->flat, "flat", out) : err;
    err = err == HUB_OK ? hub_config_add_tool_results(reader, draft->results, out) : err;
    err = err == HUB_OK ? add_arguments(reader, draft->arguments, out) : err;
    hub_buf_add_char(out, '}');
    return err;
}

/* Scopes are needed beside those of `tools.scopes`: a line each (hub_access_subject.tool_scopes). */
static hub_err add_scopes(hub_config_reader *reader, const hub_node *rule, const hub_node *scopes,
                          hub_names *lines)
{
    if (scopes == NULL) {
        return HUB_OK;
    }
    const char *line = NULL;
    hub_err err = hub_config_read_scope_line(reader, scopes, rule->key, &line);
    const char **grown =
        err == HUB_OK ? hub_arena_array(reader->arena, lines->count + 1, sizeof *grown) : NULL;
    if (err != HUB_OK || grown == NULL) {
        return err != HUB_OK ? err : hub_config_no_memory(reader);
    }
    if (lines->count > 0) {
        memcpy(grown, lines->items, lines->count * sizeof *grown);
    }
    grown[lines->count] = line;
    *lines = (hub_names){.items = grown, .count = lines->count + 1, .set = true};
    return HUB_OK;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static hub_err add_rules(hub_config_reader *reader, hub_config_toolset_draft *draft, hub_buf *out)
{
    hub_err err = HUB_OK;
    hub_buf_add_char(out, '{');
    for (const hub_node *at = draft->overrides->first; err == HUB_OK && at != NULL; at = at->next) {
        override_draft rule = {.name = NULL};
        size_t len = strlen(at->key);
        if (len == 0 || len > HUB_LIMIT_TOOL_NAME_BYTES) {
            return hub_node_fail(at, reader->reterr, HUB_EINVAL,
                                 "the name of a tool, or a glob, has 1 to %d bytes",
                                 HUB_LIMIT_TOOL_NAME_BYTES);
        }
        err = add_rule(reader, draft->overrides, at, &rule, out);
        err =
            err == HUB_OK ? add_scopes(reader, at, rule.scopes, &draft->toolset.tool_scopes) : err;
    }
    hub_buf_add_char(out, '}');
    return err;
}

hub_err hub_config_add_overrides(hub_config_reader *reader, hub_config_toolset_draft *draft)
{
    const hub_node *node = draft->overrides;
    if (node == NULL || node->kind == HUB_NODE_NULL) {
        return HUB_OK;
    }
    if (node->kind != HUB_NODE_MAP) {
        return hub_config_wrong(reader, node, "a map of names of tools");
    }
    if (node->count > HUB_LIMIT_OVERRIDES) {
        return hub_node_fail(node, reader->reterr, HUB_ELIMIT, "more than %d entries",
                             HUB_LIMIT_OVERRIDES);
    }
    hub_buf json;
    hub_buf_init(&json, HUB_LIMIT_CONFIG_BYTES);
    hub_err err = add_rules(reader, draft, &json);
    if (err == HUB_OK && !hub_buf_ok(&json)) {
        err = hub_node_fail(node, reader->reterr, json.failed, "%s", hub_err_text(json.failed));
    }
    if (err == HUB_OK) {
        draft->toolset.overrides = hub_arena_strdup(reader->arena, hub_buf_str(&json));
        err = draft->toolset.overrides != NULL ? HUB_OK : hub_config_no_memory(reader);
    }
    hub_buf_fini(&json);
    return err;
}
