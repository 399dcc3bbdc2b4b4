/* SPDX-License-Identifier: Apache-2.0 */
#include "bundle/bundle.h"

#include "base/limits.h"
#include "wire/json.h"

#include <string.h>

typedef struct making {
    const hub_bundle_wish *wish;
    const hub_node *inputs; /* user_config; or NULL */
    hub_arena *arena;
    hub_buf entry;
    hub_error *reterr;
} making;

static hub_err no_memory(making *all)
{
    return hub_fail(all->reterr, HUB_ENOMEM, "out of memory");
}

/* ---- variables -------------------------------------------------------------------------------- */

/* Append what a variable stands for, as the hub's manifest writes it. False: it is none of these. */
static bool add_place(making *all, hub_str name, hub_buf *out)
{
    static const struct {
        const char *name;
        const char *below; /* the user's home */
    } PLACES[] = {{"HOME", ""},
                  {"DESKTOP", "/Desktop"},
                  {"DOCUMENTS", "/Documents"},
                  {"DOWNLOADS", "/Downloads"}};
    if (hub_str_is(name, "__dirname")) {
        const char *folder = hub_launch_escape(all->wish->folder, all->arena);
        hub_buf_add(out, hub_str_of(folder != NULL ? folder : ""));
        return true;
    }
    if (hub_str_is(name, "/") || hub_str_is(name, "pathSeparator")) {
        hub_buf_add_char(out, '/');
        return true;
    }
    for (size_t i = 0; all->wish->home != NULL && i < sizeof PLACES / sizeof *PLACES; i++) {
        if (hub_str_is(name, PLACES[i].name)) {
            const char *home = hub_launch_escape(all->wish->home, all->arena);
            hub_buf_printf(out, "%s%s", home != NULL ? home : "", PLACES[i].below);
            return true;
        }
    }
    return false;
}

/* A fallback, with its places; NULL: there is none. */
static const char *read_fallback(making *all, const hub_node *node)
{
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_CONFIG_BYTES);
    if (node == NULL || node->kind == HUB_NODE_NULL || node->kind == HUB_NODE_LIST ||
        node->kind == HUB_NODE_MAP) {
        return NULL;
    }
    for (hub_str rest = node->text; rest.len > 0;) {
        size_t end =
            hub_str_starts(rest, HUB_STR("${")) ? hub_str_find(rest, HUB_STR("}")) : SIZE_MAX;
        hub_str name =
            end != SIZE_MAX ? (hub_str){.ptr = rest.ptr + 2, .len = end - 2} : HUB_STR_EMPTY;
        bool is_place = end != SIZE_MAX && add_place(all, name, &out);
        if (!is_place) {
            hub_buf_add(&out, rest.ptr[0] == '$' ? HUB_STR("$$") : (hub_str){rest.ptr, 1});
        }
        rest = hub_str_from(rest, is_place ? end + 1 : 1);
    }
    const char *text = hub_buf_ok(&out) ? hub_arena_strdup(all->arena, hub_buf_str(&out)) : NULL;
    hub_buf_fini(&out);
    return text;
}

/* The nth fallback of an input; NULL: none. */
static const char *read_default(making *all, const hub_node *fallback, size_t nth)
{
    const hub_node *one = fallback;
    if (fallback != NULL && fallback->kind == HUB_NODE_LIST) {
        one = fallback->first;
        for (size_t i = 0; i < nth && one != NULL; i++) {
            one = one->next;
        }
    } else if (nth > 0) {
        one = NULL;
    }
    return read_fallback(all, one);
}

/* The nth value of an input of user_config; NULL: no further one. What is given stands instead of all
 * of its fallbacks. */
static hub_err read_input(making *all, const hub_node *config, size_t nth, const char **ret_value)
{
    const hub_node *fallback = hub_node_find(config, "default");
    bool has_fallback =
        fallback != NULL && (fallback->kind != HUB_NODE_LIST || fallback->count > 0);
    const hub_launch_input input = {
        .name = config->key,
        .description = hub_node_text_of(config, "description"),
        .is_required = hub_node_is_true(config, "required") && !has_fallback,
        .is_secret = hub_node_is_true(config, "sensitive"),
    };
    const hub_launch_giver *giver = &all->wish->giver;
    const char *first = NULL;
    hub_err err = hub_launch_value(giver, &input, 0, all->arena, &first, all->reterr);
    if (err == HUB_OK && first != NULL && nth > 0) {
        return hub_launch_value(giver, &input, nth, all->arena, ret_value, all->reterr);
    }
    *ret_value = first != NULL || err != HUB_OK ? first : read_default(all, fallback, nth);
    return err;
}

static const hub_node *find_input(making *all, hub_str name)
{
    static const char PREFIX[] = "user_config.";
    if (all->inputs == NULL || !hub_str_starts(name, hub_str_of(PREFIX))) {
        return NULL;
    }
    char *key = hub_arena_strdup(all->arena, hub_str_from(name, sizeof PREFIX - 1));
    return key != NULL ? hub_node_find(all->inputs, key) : NULL;
}

/* All values of an input, with commas between. */
static hub_err add_values(making *all, const hub_node *config, hub_buf *out)
{
    hub_err err = HUB_OK;
    for (size_t nth = 0; err == HUB_OK && nth < HUB_LIMIT_LAUNCH_REPEATS; nth++) {
        const char *value = NULL;
        err = read_input(all, config, nth, &value);
        if (err != HUB_OK || value == NULL) {
            break;
        }
        hub_buf_add(out, nth > 0 ? HUB_STR(",") : HUB_STR_EMPTY);
        hub_buf_add(out, hub_str_of(value));
    }
    return err;
}

/* Published text with its variables replaced; what is none of these is text. */
static hub_err fill(making *all, hub_str text, hub_buf *out)
{
    hub_err err = HUB_OK;
    while (err == HUB_OK && text.len > 0) {
        size_t end =
            hub_str_starts(text, HUB_STR("${")) ? hub_str_find(text, HUB_STR("}")) : SIZE_MAX;
        hub_str name =
            end != SIZE_MAX ? (hub_str){.ptr = text.ptr + 2, .len = end - 2} : HUB_STR_EMPTY;
        const hub_node *config = end != SIZE_MAX ? find_input(all, name) : NULL;
        bool is_variable = config != NULL || (end != SIZE_MAX && add_place(all, name, out));
        if (config != NULL) {
            err = add_values(all, config, out);
        } else if (!is_variable) {
            hub_buf_add(out, text.ptr[0] == '$' ? HUB_STR("$$") : (hub_str){text.ptr, 1});
        }
        text = hub_str_from(text, is_variable ? end + 1 : 1);
    }
    return err == HUB_OK && !hub_buf_ok(out) ? no_memory(all) : err;
}

/* ---- the entry -------------------------------------------------------------------------------- */

static void add_word(making *all, hub_str word)
{
    hub_json_add_comma(&all->entry);
    hub_json_add_string(&all->entry, word);
}

/* An argument; one that is nothing but an input is as many as that has values. */
static hub_err add_argument(making *all, hub_str text)
{
    hub_str inside =
        text.len > 3 ? (hub_str){.ptr = text.ptr + 2, .len = text.len - 3} : HUB_STR_EMPTY;
    bool is_whole = hub_str_starts(text, HUB_STR("${")) && text.ptr[text.len - 1] == '}' &&
                    hub_str_find(inside, HUB_STR("}")) == SIZE_MAX;
    const hub_node *config = is_whole ? find_input(all, inside) : NULL;
    hub_err err = HUB_OK;
    for (size_t nth = 0; config != NULL && err == HUB_OK && nth < HUB_LIMIT_LAUNCH_REPEATS; nth++) {
        const char *value = NULL;
        err = read_input(all, config, nth, &value);
        if (err != HUB_OK || value == NULL) {
            return err;
        }
        add_word(all, hub_str_of(value));
    }
    if (config != NULL) {
        return err;
    }
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_CONFIG_BYTES);
    err = fill(all, text, &out);
    if (err == HUB_OK) {
        add_word(all, hub_buf_str(&out));
    }
    hub_buf_fini(&out);
    return err;
}

/* The program: a path with a '/' is one of the bundle's. Debian has no `python`. */
static hub_err add_program(making *all, const char *command)
{
    bool is_own = strchr(command, '/') != NULL && command[0] != '/' && command[0] != '$';
    const char *path = strcmp(command, "python") == 0 ? "python3"
                       : is_own ? hub_arena_printf(all->arena, "${__dirname}/%s", command)
                                : command;
    return path != NULL ? add_argument(all, hub_str_of(path)) : no_memory(all);
}

static hub_err add_environment(making *all, const hub_node *env)
{
    hub_err err = HUB_OK;
    hub_json_add_key(&all->entry, HUB_STR("env"));
    hub_buf_add_char(&all->entry, '{');
    /* Its files stay as they are. */
    hub_buf_add(&all->entry, HUB_STR("\"PYTHONDONTWRITEBYTECODE\":\"1\""));
    const hub_node *one = env != NULL && env->kind == HUB_NODE_MAP ? env->first : NULL;
    for (; err == HUB_OK && one != NULL; one = one->next) {
        hub_buf out;
        hub_buf_init(&out, HUB_LIMIT_CONFIG_BYTES);
        err = fill(all, one->text, &out);
        bool is_wanted = out.len > 0 && strcmp(one->key, "PYTHONDONTWRITEBYTECODE") != 0;
        if (err == HUB_OK && is_wanted) {
            hub_json_add_key(&all->entry, hub_str_of(one->key));
            hub_json_add_string(&all->entry, hub_buf_str(&out));
        }
        hub_buf_fini(&out);
    }
    hub_buf_add_char(&all->entry, '}');
    return err;
}

/* A member of mcp_config, as this platform has it. */
static const hub_node *find_part(const hub_node *config, const char *key)
{
    const hub_node *all = hub_node_find(config, "platform_overrides");
    const hub_node *own = all != NULL ? hub_node_find(all, "linux") : NULL;
    const hub_node *part = own != NULL ? hub_node_find(own, key) : NULL;
    return part != NULL ? part : hub_node_find(config, key);
}

static hub_err add_command(making *all, const hub_node *config)
{
    const char *program = hub_launch_escape(all->wish->program, all->arena);
    const char *folder = hub_launch_escape(all->wish->folder, all->arena);
    const hub_node *command = find_part(config, "command");
    const hub_node *args = find_part(config, "args");
    if (program == NULL || folder == NULL) {
        return no_memory(all);
    }
    if (command == NULL || command->kind != HUB_NODE_TEXT || command->text.len == 0) {
        return hub_node_fail(config, all->reterr, HUB_EINVAL, "it names no command");
    }
    hub_buf_add(&all->entry, HUB_STR("{\"command\":"));
    hub_json_add_string(&all->entry, hub_str_of(program));
    hub_json_add_key(&all->entry, HUB_STR("args"));
    hub_buf_add_char(&all->entry, '[');
    add_word(all, HUB_STR("run-bundle"));
    add_word(all, HUB_STR("--digest"));
    add_word(all, hub_str_of(all->wish->digest));
    add_word(all, HUB_STR("--"));
    add_word(all, hub_str_of(folder));
    hub_err err = add_program(all, command->text.ptr);
    const hub_node *one = args != NULL && args->kind == HUB_NODE_LIST ? args->first : NULL;
    for (; err == HUB_OK && one != NULL; one = one->next) {
        err = add_argument(all, one->text);
    }
    hub_buf_add_char(&all->entry, ']');
    hub_json_add_key(&all->entry, HUB_STR("cwd"));
    hub_json_add_string(&all->entry, hub_str_of(folder));
    return err == HUB_OK ? add_environment(all, find_part(config, "env")) : err;
}

/* Whether it says that it runs on Linux; what says nothing runs everywhere. */
static bool runs_here(const hub_node *manifest)
{
    const hub_node *compatible = hub_node_find(manifest, "compatibility");
    const hub_node *platforms = compatible != NULL ? hub_node_find(compatible, "platforms") : NULL;
    const hub_node *one = platforms != NULL ? platforms->first : NULL;
    while (one != NULL && !hub_str_is(one->text, "linux")) {
        one = one->next;
    }
    return platforms == NULL || platforms->count == 0 || one != NULL;
}

static hub_err make(making *all, const hub_node *manifest)
{
    const hub_node *server = hub_node_find(manifest, "server");
    const hub_node *config = server != NULL ? hub_node_find(server, "mcp_config") : NULL;
    const char *type = hub_node_text_of(server, "type");
    if (!runs_here(manifest)) {
        return hub_node_fail(manifest, all->reterr, HUB_ENOTFOUND,
                             "the bundle is for other systems than Linux");
    }
    if (type != NULL && strcmp(type, "uv") == 0) {
        return hub_node_fail(
            server, all->reterr, HUB_ENOTFOUND,
            "a bundle of type uv fetches what it runs when it starts, which cannot "
            "be held against a digest: add its server by its command");
    }
    if (type == NULL || config == NULL) {
        return hub_node_fail(manifest, all->reterr, HUB_EINVAL,
                             "not the manifest of a bundle: it has no server with mcp_config");
    }
    all->inputs = hub_node_find(manifest, "user_config");
    return add_command(all, config);
}

hub_err hub_bundle_make(const hub_node *manifest, const hub_bundle_wish *wish, hub_arena *arena,
                        hub_launch *ret_launch, hub_error *reterr)
{
    making all = {.wish = wish, .arena = arena, .reterr = reterr};
    hub_launch launch = {.kind = "mcpb",
                         .name = hub_node_text_of(manifest, "name"),
                         .version = hub_node_text_of(manifest, "version"),
                         .description = hub_node_text_of(manifest, "description")};
    hub_buf_init(&all.entry, HUB_LIMIT_CONFIG_BYTES);
    hub_err err =
        launch.name != NULL && launch.version != NULL
            ? make(&all, manifest)
            : hub_node_fail(manifest, reterr, HUB_EINVAL,
                            "not the manifest of a bundle: it has no name, or no version");
    if (err == HUB_OK && launch.description != NULL) {
        hub_json_add_key(&all.entry, HUB_STR("description"));
        hub_json_add_string(&all.entry, hub_str_of(launch.description));
    }
    hub_buf_add_char(&all.entry, '}');
    if (err == HUB_OK && !hub_buf_ok(&all.entry)) {
        err = no_memory(&all);
    }
    if (err != HUB_OK) {
        hub_buf_fini(&all.entry);
        return err;
    }
    launch.entry = all.entry;
    *ret_launch = launch;
    return HUB_OK;
}
