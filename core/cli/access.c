/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay access explain|test: what the rules of a manifest decide, without any server. */
#include "cli/cli.h"

#include "base/limits.h"
#include "cli/missing.h"
#include "cli/rows.h"
#include "config/file.h"
#include "config/node.h"
#include "config/tokens.h"
#include "identity/access.h"
#include "identity/arguments.h"
#include "identity/identity.h"
#include "wire/json.h"

#include <stdio.h>
#include <stdlib.h>

enum { ARENA_MAX_BYTES = 64 * 1024 * 1024 };

/* ---- deciding -------------------------------------------------------------------------------- */

typedef struct question {
    const hub_config *config;
    bool in_rows; /* --json */
    const hub_identity *who;
    const char *profile;
    const char *transport;
    hub_str tool; /* "toolset:tool" */
    hub_str arguments;
    hub_access_subject facts; /* annotations, tags, category: what is known of the tool itself */
} question;

typedef struct answer {
    hub_access_decision decision;
    bool is_listed;
    bool is_refused; /* the arguments are */
    hub_error why;
    hub_buf scopes;
    hub_arena *arena;             /* of the override; NULL: there is none */
    const hub_override *override; /* of the tool; or NULL */
} answer;

static const hub_toolset_settings *find_toolset(const hub_config *config, hub_str key)
{
    for (size_t i = 0; i < config->settings.toolset_count; i++) {
        if (hub_str_is(key, config->settings.toolsets[i].key)) {
            return &config->settings.toolsets[i];
        }
    }
    return NULL;
}

/* A transport by which such a principal comes. */
static const char *transport_of(const char *principal)
{
    hub_str name = hub_str_of(principal);
    return hub_str_is(name, "local")               ? "stdio"
           : hub_str_starts(name, HUB_STR("uid:")) ? "unix"
                                                   : "http";
}

/* What the manifest changes of the tool, and of its arguments. */
static hub_err take_override(const hub_toolset_settings *toolset, hub_access_subject *subject,
                             hub_str *arguments, answer *is)
{
    hub_overrides overrides;
    hub_buf sent;
    if (toolset == NULL || toolset->overrides == NULL) {
        return HUB_OK;
    }
    is->arena = hub_arena_create(ARENA_MAX_BYTES);
    hub_err err = is->arena != NULL
                      ? hub_overrides_read(is->arena, hub_str_of(toolset->overrides), &overrides)
                      : HUB_ENOMEM;
    err = err == HUB_OK ? hub_overrides_find(&overrides, is->arena, subject->name, HUB_STR_EMPTY,
                                             &is->override)
                        : err;
    if (err != HUB_OK) {
        return hub_fail(&is->why, err, "%s", hub_err_text(err));
    }
    if (is->override == NULL) {
        return HUB_OK;
    }
    hub_access_take_override(subject, is->override);
    hub_buf_init(&sent, SIZE_MAX / 4);
    if (is->override->looks) {
        err = hub_access_check_arguments(*arguments, &is->why);
        err = err == HUB_OK ? hub_override_call(is->override, *arguments, &sent, &is->why) : err;
    }
    if (err == HUB_OK && sent.len > 0) {
        *arguments = hub_str_of(hub_arena_strdup(is->arena, hub_buf_str(&sent)));
        err = arguments->ptr != NULL ? HUB_OK : hub_fail(&is->why, HUB_ENOMEM, "out of memory");
    }
    hub_buf_fini(&sent);
    return err;
}

static void end_answer(answer *is)
{
    hub_arena_destroy(is->arena);
    hub_buf_fini(&is->scopes);
}

static bool ask(const question *asked, answer *ret_answer)
{
    const hub_access_settings *rules = &asked->config->settings.access;
    size_t colon = hub_str_find(asked->tool, HUB_STR(":"));
    hub_access_class who;
    if (colon == SIZE_MAX) {
        return false;
    }
    hub_access_subject subject = asked->facts;
    subject.toolset = (hub_str){.ptr = asked->tool.ptr, .len = colon};
    subject.name = hub_str_from(asked->tool, colon + 1);
    subject.is_own = hub_str_is(subject.toolset, "_meta");
    const hub_toolset_settings *toolset = find_toolset(asked->config, subject.toolset);
    if (toolset != NULL) {
        subject.tags = subject.tags != NULL ? subject.tags : &toolset->tags;
        subject.category = subject.category != NULL ? subject.category : toolset->category;
        subject.scopes = &toolset->scopes;
        subject.tool_scopes = &toolset->tool_scopes;
    }
    hub_access_class_of(rules, asked->who, asked->profile, asked->transport, &who);
    *ret_answer = (answer){.is_listed = false};
    hub_buf_init(&ret_answer->scopes, SIZE_MAX / 4);
    hub_str arguments = asked->arguments;
    hub_err err = take_override(toolset, &subject, &arguments, ret_answer);
    bool is_hidden = ret_answer->override != NULL && ret_answer->override->is_hidden;
    ret_answer->is_listed = !is_hidden && hub_access_shows(rules, &who, &subject);
    if (err == HUB_OK) {
        err = hub_access_decide(rules, asked->who, &who, &subject, arguments, &ret_answer->decision,
                                &ret_answer->why);
    }
    ret_answer->is_refused = err != HUB_OK;
    if (err == HUB_OK) {
        hub_access_add_scopes(&subject, &ret_answer->decision, &ret_answer->scopes);
    }
    return true;
}

static const char *word_of(const answer *is)
{
    return is->is_refused ? "refuse" : hub_access_verdict_name(is->decision.verdict);
}

/* ---- explain --------------------------------------------------------------------------------- */

/* What the override does, but for values: one may be a secret. */
static void add_override(const hub_override *override, hub_buf *out)
{
    if (override == NULL) {
        return;
    }
    hub_buf_add(out, HUB_STR("; overridden"));
    if (override->is_hidden) {
        hub_buf_add(out, HUB_STR(", hidden from all"));
    } else if (override->name.len > 0) {
        hub_buf_printf(out, ", shown as \"" HUB_STR_FMT "\"", HUB_STR_ARG(override->name));
    }
    for (size_t i = 0; i < override->argument_count; i++) {
        const hub_override_argument *argument = &override->arguments[i];
        const char *what = argument->fixed.len > 0      ? "fixed"
                           : argument->is_hidden        ? "hidden"
                           : argument->fallback.len > 0 ? "with a default"
                                                        : NULL;
        if (what != NULL) {
            hub_buf_printf(out, ", argument \"" HUB_STR_FMT "\" %s", HUB_STR_ARG(argument->key),
                           what);
        }
    }
}

static void add_answer(const answer *is, hub_buf *out)
{
    const hub_access_rule *rule = is->decision.rule;
    hub_buf_printf(out, "%s", word_of(is));
    if (is->is_refused) {
        hub_buf_printf(out, ": %s", is->why.text);
        return;
    }
    hub_buf_printf(out, ", by %s", rule != NULL ? rule->source : "the default");
    if (rule != NULL && rule->reason != NULL) {
        hub_buf_printf(out, " (%s)", rule->reason);
    }
    if (is->scopes.len > 0) {
        hub_buf_printf(out, "; a call needs the scopes: " HUB_STR_FMT,
                       HUB_STR_ARG(hub_buf_str(&is->scopes)));
    }
    hub_buf_printf(out, "; %s", is->is_listed ? "listed" : "not listed");
    add_override(is->override, out);
}

/* For programs. `text` is what people read. */
static void print_row(const question *asked, const answer *is, hub_str text)
{
    const hub_access_rule *rule = is->decision.rule;
    hub_buf row;
    cli_row_begin(&row);
    cli_row_add(&row, "principal", hub_str_of(asked->who->name));
    cli_row_add(&row, "profile", hub_str_of(asked->profile));
    cli_row_add(&row, "tool", asked->tool);
    cli_row_add(&row, "verdict", hub_str_of(word_of(is)));
    if (!is->is_refused && rule != NULL) {
        cli_row_add(&row, "rule", hub_str_of(rule->source));
    }
    if (!is->is_refused && rule != NULL && rule->reason != NULL) {
        cli_row_add(&row, "reason", hub_str_of(rule->reason));
    }
    if (is->scopes.len > 0) {
        cli_row_add(&row, "scope", hub_buf_str(&is->scopes));
    }
    cli_row_add_bool(&row, "listed", is->is_listed);
    cli_row_add(&row, "text", text);
    cli_row_print(&row);
}

static int explain_one(question *asked)
{
    answer is;
    hub_buf line;
    if (!ask(asked, &is)) {
        cli_complain("wanted a tool as \"toolset:tool\", found \"" HUB_STR_FMT "\"",
                     HUB_STR_ARG(asked->tool));
        return EXIT_USAGE;
    }
    hub_buf_init(&line, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    add_answer(&is, &line);
    if (asked->in_rows) {
        print_row(asked, &is, hub_buf_str(&line));
    } else {
        cli_print(hub_buf_str(&line));
    }
    hub_buf_fini(&line);
    end_answer(&is);
    return EXIT_OK;
}

/* Each token of that name: they may have different rights. */
static int explain_tokens(question *asked, hub_arena *arena, const char *name)
{
    hub_error why = {.code = HUB_OK};
    hub_tokens tokens = {.count = 0};
    const char *file = asked->config->tokens_file;
    if (file != NULL && hub_tokens_read(file, arena, &tokens, &why) != HUB_OK) {
        cli_complain("%s", why.text);
        return EXIT_CONFIG;
    }
    int status = EXIT_OK;
    size_t found = 0;
    for (size_t i = 0; status == EXIT_OK && i < tokens.count; i++) {
        if (strcmp(tokens.tokens[i].name, name) != 0) {
            continue;
        }
        hub_identity *identity = hub_token_identify(&tokens.tokens[i]);
        if (identity == NULL) {
            cli_complain("out of memory");
            return EXIT_INTERNAL;
        }
        found++;
        asked->who = identity;
        asked->profile = identity->profile != NULL ? identity->profile : asked->profile;
        status = explain_one(asked);
        hub_identity_unref(identity);
    }
    if (found == 0) {
        cli_complain("warning: there is no token \"%s\": explained without scopes and groups",
                     name);
        return explain_one(asked);
    }
    return status;
}

/* A rule decides about any name, also about one that was mistyped. Whether the tool is there, as far as is
 * known without a server; else that is complained of. */
static bool is_there(hub_orchestrator *hub, hub_str tool)
{
    hub_buf text;
    size_t colon = hub_str_find(tool, HUB_STR(":"));
    if (colon == SIZE_MAX) {
        return true; /* which is complained of later */
    }
    hub_buf_init(&text, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_missing_by_key(hub, (hub_str){.ptr = tool.ptr, .len = colon}, hub_str_from(tool, colon + 1),
                       &text);
    bool is_missing = text.len > 0;
    if (is_missing) {
        cli_complain(HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&text)));
    }
    hub_buf_fini(&text);
    return !is_missing;
}

static int explain(cli_options *options, hub_arena *arena, cli_local *local)
{
    static const char TOKEN[] = "token:";
    hub_str arguments = HUB_STR("{}");
    hub_error why = {.code = HUB_OK};
    if (options->argument_count != 3) {
        cli_complain("access explain wants a principal and a tool: token:NAME toolset:tool");
        return EXIT_USAGE;
    }
    if (options->access_arguments != NULL &&
        (hub_json_check(hub_str_of(options->access_arguments), &arguments, &why) != HUB_OK ||
         hub_json_type_of(arguments) != HUB_JSON_OBJECT)) {
        cli_complain("--arguments: wanted a JSON object");
        return EXIT_USAGE;
    }
    if (!cli_is_principal(options->arguments[1]) ||
        !is_there(cli_local_hub(local), hub_str_of(options->arguments[2]))) {
        return EXIT_USAGE;
    }
    const hub_config *config = cli_local_config(local);
    if (options->profile != NULL &&
        !hub_settings_have_profile(&config->settings, options->profile)) {
        (void)hub_settings_fail_profile(&config->settings, options->profile, &why);
        cli_complain("%s", why.text);
        return EXIT_CONFIG;
    }
    const char *principal = options->arguments[1];
    const hub_identity plain = {.name = principal};
    question asked = {.config = config,
                      .in_rows = options->json,
                      .who = &plain,
                      .profile = options->profile != NULL ? options->profile : "default",
                      .transport = transport_of(principal),
                      .tool = hub_str_of(options->arguments[2]),
                      .arguments = arguments,
                      .facts = {.is_destructive = true}};
    return hub_str_starts(hub_str_of(principal), hub_str_of(TOKEN))
               ? explain_tokens(&asked, arena, principal + sizeof TOKEN - 1)
               : explain_one(&asked);
}

/* ---- test ------------------------------------------------------------------------------------ */

typedef struct test_file {
    hub_arena *arena;
    const hub_config *config;
    bool in_rows; /* --json */
    const hub_node *principals;
    const hub_node *tools;
    size_t passed;
    size_t failed;
} test_file;

static bool is_true(const hub_node *map, const char *key, bool fallback)
{
    const hub_node *node = map != NULL ? hub_node_find(map, key) : NULL;
    return node != NULL ? node->kind == HUB_NODE_TRUE : fallback;
}

static hub_names names_of(test_file *file, const hub_node *map, const char *key)
{
    const hub_node *node = map != NULL ? hub_node_find(map, key) : NULL;
    hub_names names = {.set = node != NULL};
    const char **items =
        node != NULL ? hub_arena_array(file->arena, node->count, sizeof *items) : NULL;
    for (const hub_node *item = items != NULL ? node->first : NULL; item != NULL;
         item = item->next) {
        items[names.count++] = item->text.ptr != NULL ? item->text.ptr : "";
    }
    names.items = items;
    return names;
}

/* Bounded by the depth that a file may have. */
static void add_json(const hub_node *node, hub_buf *out)
{
    switch (node->kind) {
    case HUB_NODE_TEXT:
        hub_json_add_string(out, node->text);
        return;
    case HUB_NODE_LIST:
    case HUB_NODE_MAP:
        hub_buf_add_char(out, node->kind == HUB_NODE_MAP ? '{' : '[');
        for (const hub_node *child = node->first; child != NULL; child = child->next) {
            hub_json_add_comma(out);
            if (child->key != NULL) {
                hub_json_add_string(out, hub_str_of(child->key));
                hub_buf_add_char(out, ':');
            }
            add_json(child, out);
        }
        hub_buf_add_char(out, node->kind == HUB_NODE_MAP ? '}' : ']');
        return;
    default:
        hub_buf_add(out, node->kind == HUB_NODE_NUMBER  ? node->text
                         : node->kind == HUB_NODE_TRUE  ? HUB_STR("true")
                         : node->kind == HUB_NODE_FALSE ? HUB_STR("false")
                                                        : HUB_STR("null"));
    }
}

/* A map as JSON; text stands for itself: a file of expectations may say a key twice so. */
static hub_str json_of(test_file *file, const hub_node *node)
{
    hub_buf json;
    hub_buf_init(&json, HUB_LIMIT_CONFIG_BYTES);
    if (node == NULL) {
        hub_buf_add(&json, HUB_STR("{}"));
    } else if (node->kind == HUB_NODE_TEXT) {
        hub_buf_add(&json, node->text);
    } else {
        add_json(node, &json);
    }
    const char *text = hub_arena_strdup(file->arena, hub_buf_str(&json));
    hub_buf_fini(&json);
    hub_str checked;
    return text != NULL && hub_json_check(hub_str_of(text), &checked, NULL) == HUB_OK
               ? checked
               : HUB_STR_EMPTY;
}

static void fail(test_file *file, const hub_node *test, const char *text)
{
    hub_buf line;
    hub_buf row;
    hub_buf_init(&line, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_node_add_place(test, &line);
    if (file->in_rows) {
        cli_row_begin(&row);
        cli_row_add(&row, "level", HUB_STR("error"));
        cli_row_add(&row, "place", hub_buf_str(&line));
        cli_row_add(&row, "text", hub_str_of(text));
        cli_row_print(&row);
    } else {
        hub_buf_printf(&line, ": %s", text);
        cli_print(hub_buf_str(&line));
    }
    hub_buf_fini(&line);
    file->failed++;
}

static void judge(test_file *file, const hub_node *test, const question *asked, const char *then)
{
    answer is;
    if (!ask(asked, &is)) {
        fail(file, test, "wanted a tool as \"toolset:tool\"");
        return;
    }
    bool lists = is_true(test, "listed", is.is_listed);
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    if (strcmp(then, word_of(&is)) != 0 || lists != is.is_listed) {
        hub_buf_printf(&text, "%s, " HUB_STR_FMT ": wanted %s%s, found ", asked->who->name,
                       HUB_STR_ARG(asked->tool), then,
                       lists != is.is_listed ? (lists ? ", listed" : ", not listed") : "");
        add_answer(&is, &text);
        hub_buf_add_char(&text, '\0');
        fail(file, test, hub_buf_ok(&text) ? text.ptr : "out of memory");
    } else {
        file->passed++;
    }
    hub_buf_fini(&text);
    end_answer(&is);
}

static void run_test(test_file *file, const hub_node *test)
{
    const char *who = hub_node_text_of(test, "who");
    const char *tool = hub_node_text_of(test, "tool");
    const char *then = hub_node_text_of(test, "then");
    if (test->kind != HUB_NODE_MAP || who == NULL || tool == NULL || then == NULL) {
        fail(file, test, "a test has `who`, `tool` and `then`");
        return;
    }
    if (!hub_principal_has_kind(hub_str_of(who))) {
        fail(file, test, "`who` wants a principal with its kind: " HUB_PRINCIPAL_KINDS);
        return;
    }
    const hub_node *about = file->principals != NULL ? hub_node_find(file->principals, who) : NULL;
    const hub_node *facts = file->tools != NULL ? hub_node_find(file->tools, tool) : NULL;
    const hub_node *claims = about != NULL ? hub_node_find(about, "claims") : NULL;
    hub_identity identity = {.name = who,
                             .scopes = names_of(file, about, "scopes"),
                             .groups = names_of(file, about, "groups"),
                             .claims = claims != NULL ? json_of(file, claims) : HUB_STR_EMPTY};
    hub_names tags = names_of(file, facts, "tags");
    bool is_read_only = is_true(facts, "read_only", false);
    question asked = {.config = file->config,
                      .who = &identity,
                      .profile = hub_node_text_of(test, "profile"),
                      .transport = hub_node_text_of(test, "transport"),
                      .tool = hub_str_of(tool),
                      .arguments = json_of(file, hub_node_find(test, "arguments")),
                      .facts = {.tags = tags.set ? &tags : NULL,
                                .category = hub_node_text_of(facts, "category"),
                                .is_read_only = is_read_only,
                                .is_destructive = is_true(facts, "destructive", !is_read_only)}};
    asked.profile = asked.profile != NULL ? asked.profile : "default";
    asked.transport = asked.transport != NULL ? asked.transport : transport_of(who);
    if (hub_json_type_of(asked.arguments) != HUB_JSON_OBJECT) {
        fail(file, test, "`arguments` is not a JSON object");
        return;
    }
    judge(file, test, &asked, then);
}

static void report_tests(const test_file *file)
{
    hub_buf row;
    if (!file->in_rows) {
        (void)printf("%zu passed, %zu failed\n", file->passed, file->failed);
        return;
    }
    cli_row_begin(&row);
    cli_row_add_count(&row, "passed", file->passed);
    cli_row_add_count(&row, "failed", file->failed);
    cli_row_print(&row);
}

static int run_tests(test_file *file, const hub_node *root, const char *path)
{
    const hub_node *tests = root->kind == HUB_NODE_MAP ? hub_node_find(root, "tests") : NULL;
    if (tests == NULL || tests->kind != HUB_NODE_LIST || tests->count == 0) {
        cli_complain("%s: wanted a list `tests` of expectations", path);
        return EXIT_CONFIG;
    }
    file->principals = hub_node_find(root, "principals");
    file->tools = hub_node_find(root, "tools");
    for (const hub_node *test = tests->first; test != NULL; test = test->next) {
        run_test(file, test);
    }
    report_tests(file);
    return file->failed == 0 ? EXIT_OK : EXIT_TOOL;
}

/* The rules of the file itself, if it has any, and the toolsets with their scopes and tags. */
static hub_err read_own_rules(const hub_node *root, const char *path, hub_config **ret_config,
                              hub_error *reterr)
{
    static const char *const KEYS[] = {"access", "toolsets", "profiles"};
    hub_buf json;
    hub_buf_init(&json, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_add_char(&json, '{');
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        const hub_node *part = hub_node_find(root, KEYS[i]);
        if (part != NULL) {
            hub_json_add_key(&json, hub_str_of(KEYS[i]));
            add_json(part, &json);
        }
    }
    hub_buf_add_char(&json, '}');
    hub_err err = hub_buf_ok(&json)
                      ? hub_config_parse(path, hub_buf_str(&json), NULL, NULL, ret_config, reterr)
                      : hub_fail(reterr, HUB_ENOMEM, "out of memory");
    hub_buf_fini(&json);
    return err;
}

static int test_rules(cli_options *options, hub_arena *arena, const hub_config *config)
{
    hub_error why = {.code = HUB_OK};
    hub_config *own = NULL;
    const hub_node *root = NULL;
    hub_buf text;
    if (options->argument_count != 2) {
        cli_complain("access test wants a file of expectations");
        return EXIT_USAGE;
    }
    const char *path = options->arguments[1];
    hub_buf_init(&text, HUB_LIMIT_CONFIG_BYTES);
    hub_err err = hub_file_read(path, &text, NULL, &why);
    if (err == HUB_OK) {
        err = hub_node_parse(path, hub_buf_str(&text), arena, &root, &why);
    }
    if (err == HUB_OK && root->kind == HUB_NODE_MAP && hub_node_find(root, "access") != NULL) {
        err = read_own_rules(root, path, &own, &why);
    }
    hub_buf_fini(&text);
    int status = EXIT_CONFIG;
    if (err != HUB_OK) {
        cli_complain("%s", why.text);
    } else {
        test_file file = {
            .arena = arena, .config = own != NULL ? own : config, .in_rows = options->json};
        status = run_tests(&file, root, path);
    }
    hub_config_destroy(own);
    return status;
}

int cli_access(cli_options *options)
{
    const char *verb = options->argument_count > 0 ? options->arguments[0] : "";
    bool is_test = strcmp(verb, "test") == 0;
    if (!is_test && strcmp(verb, "explain") != 0) {
        cli_complain("say what to do: access explain PRINCIPAL TOOL, or access test FILE");
        return EXIT_USAGE;
    }
    hub_config *config = NULL;
    cli_local *local = NULL;
    hub_arena *arena = hub_arena_create(ARENA_MAX_BYTES);
    if (arena == NULL) {
        cli_complain("out of memory");
        return EXIT_INTERNAL;
    }
    int status =
        is_test ? cli_load_config(options, true, &config) : cli_local_open(options, false, &local);
    if (status == EXIT_OK) {
        status = is_test ? test_rules(options, arena, config) : explain(options, arena, local);
    }
    cli_local_close(local);
    hub_config_destroy(config);
    hub_arena_destroy(arena);
    return status;
}
