/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/inputs.h"

#include "base/limits.h"
#include "wire/json.h"

#include <string.h>

const char *hub_launch_escape(const char *text, hub_arena *arena)
{
    size_t dollars = 0;
    for (const char *at = text; *at != '\0'; at++) {
        dollars += *at == '$';
    }
    char *copy = hub_arena_alloc(arena, strlen(text) + dollars + 1);
    char *to = copy;
    for (const char *at = text; copy != NULL && *at != '\0'; at++) {
        *to++ = *at;
        if (*at == '$') {
            *to++ = '$';
        }
    }
    return copy; /* the arena's memory is zeroes: it ends */
}

static hub_err no_memory(hub_error *reterr)
{
    return hub_fail(reterr, HUB_ENOMEM, "out of memory");
}

static bool is_choice(const hub_node *choices, const char *value)
{
    if (choices == NULL || choices->kind != HUB_NODE_LIST || choices->count == 0 ||
        strncmp(value, "${", 2) == 0) {
        return true;
    }
    for (const hub_node *one = choices->first; one != NULL; one = one->next) {
        if (hub_str_is(one->text, value)) {
            return true;
        }
    }
    return false;
}

hub_err hub_launch_value(const hub_launch_giver *giver, const hub_launch_input *input, size_t nth,
                         hub_arena *arena, const char **ret_value, hub_error *reterr)
{
    const char *given = giver->give != NULL ? giver->give(giver->ctx, input, nth) : NULL;
    if (given != NULL && !is_choice(input->choices, given)) {
        return hub_fail(reterr, HUB_EINVAL, "%s: \"%.100s\" is none of the values that it may have",
                        input->name, given);
    }
    if (given == NULL && nth == 0 && input->fallback != NULL) {
        given = hub_launch_escape(input->fallback, arena);
        if (given == NULL) {
            return no_memory(reterr);
        }
    }
    if (given == NULL && nth == 0 && input->is_required) {
        return hub_fail(reterr, HUB_EDENIED,
                        "the server needs a value for %s%s%.200s: say it with --input %s=VALUE%s",
                        input->name, input->description != NULL ? ", " : "",
                        input->description != NULL ? input->description : "", input->name,
                        input->is_secret ? " (the store keeps it), or --input 'NAME=${VARIABLE}'"
                                         : "");
    }
    *ret_value = given;
    return HUB_OK;
}

static hub_launch_input read_input(const hub_node *node, const char *name)
{
    const hub_node *fallback = hub_node_find(node, "default");
    bool has_text = fallback != NULL && fallback->kind != HUB_NODE_LIST &&
                    fallback->kind != HUB_NODE_MAP && fallback->kind != HUB_NODE_NULL;
    return (hub_launch_input){
        .name = name,
        .description = hub_node_text_of(node, "description"),
        .fallback = has_text ? fallback->text.ptr : NULL,
        .choices = hub_node_find(node, "choices"),
        .is_required = hub_node_is_true(node, "isRequired"),
        .is_secret = hub_node_is_true(node, "isSecret"),
    };
}

/* One {variable} of a published text. */
static hub_err fill_variable(launch_making *making, const hub_node *variable, hub_buf *out)
{
    const char *fixed = hub_node_text_of(variable, "value");
    hub_launch_input input = read_input(variable, variable->key);
    const char *value = fixed != NULL ? hub_launch_escape(fixed, making->arena) : NULL;
    hub_err err = fixed != NULL ? HUB_OK
                                : hub_launch_value(&making->wish->giver, &input, 0, making->arena,
                                                   &value, making->reterr);
    hub_buf_add(out, value != NULL ? hub_str_of(value) : HUB_STR_EMPTY);
    return err;
}

/* Published text with its {variables} replaced; braces around anything else stay. */
static hub_err fill(launch_making *making, const char *text, const hub_node *variables,
                    const char **ret_text)
{
    hub_buf out;
    hub_err err = HUB_OK;
    hub_buf_init(&out, HUB_LIMIT_CONFIG_BYTES);
    for (const char *at = text; err == HUB_OK && *at != '\0';) {
        size_t len = *at == '{' ? strcspn(at + 1, "}{") : 0;
        char *name = len > 0 && at[1 + len] == '}'
                         ? hub_arena_strdup(making->arena, (hub_str){.ptr = at + 1, .len = len})
                         : NULL;
        const hub_node *variable =
            name != NULL && variables != NULL ? hub_node_find(variables, name) : NULL;
        if (variable != NULL) {
            err = fill_variable(making, variable, &out);
            at += len + 2;
        } else {
            hub_buf_add(&out, *at == '$' ? HUB_STR("$$") : (hub_str){.ptr = at, .len = 1});
            at++;
        }
    }
    *ret_text = hub_buf_ok(&out) ? hub_arena_strdup(making->arena, hub_buf_str(&out)) : NULL;
    hub_buf_fini(&out);
    return err != HUB_OK || *ret_text != NULL ? err : no_memory(making->reterr);
}

/* The nth value of an input; NULL: none. */
static hub_err get_value(launch_making *making, const hub_node *node, const char *name, size_t nth,
                         const char **ret_value)
{
    const char *fixed = hub_node_text_of(node, "value");
    if (fixed != NULL) {
        *ret_value = NULL;
        return nth > 0 ? HUB_OK : fill(making, fixed, hub_node_find(node, "variables"), ret_value);
    }
    hub_launch_input input = read_input(node, name);
    return hub_launch_value(&making->wish->giver, &input, nth, making->arena, ret_value,
                            making->reterr);
}

void launch_add_word(launch_making *making, const char *word)
{
    hub_json_add_comma(&making->args);
    hub_json_add_string(&making->args, hub_str_of(word));
}

hub_err launch_add_published(launch_making *making, const char *word)
{
    const char *escaped = hub_launch_escape(word, making->arena);
    if (escaped == NULL) {
        return no_memory(making->reterr);
    }
    launch_add_word(making, escaped);
    return HUB_OK;
}

/* `--name=value`, as the schema has it; with one dash two words, since `-e=x` means "=x" to many. */
static hub_err add_named(launch_making *making, const char *name, const char *value)
{
    bool is_long = strncmp(name, "--", 2) == 0;
    const char *escaped = hub_launch_escape(name, making->arena);
    const char *joined = escaped == NULL ? NULL
                         : is_long && value[0] != '\0'
                             ? hub_arena_printf(making->arena, "%s=%s", escaped, value)
                             : escaped;
    if (joined == NULL) {
        return no_memory(making->reterr);
    }
    launch_add_word(making, joined);
    if (!is_long && value[0] != '\0') {
        launch_add_word(making, value);
    }
    return HUB_OK;
}

static hub_err add_argument(launch_making *making, const hub_node *node)
{
    const char *type = hub_node_text_of(node, "type");
    const char *option = hub_node_text_of(node, "name");
    const char *hint = hub_node_text_of(node, "valueHint");
    bool is_named = type != NULL && strcmp(type, "named") == 0;
    const char *name = is_named ? option : hint != NULL ? hint : "argument";
    if (type == NULL || (!is_named && strcmp(type, "positional") != 0) || name == NULL) {
        return hub_node_fail(node, making->reterr, HUB_EINVAL,
                             "neither a positional nor a named argument");
    }
    size_t most = hub_node_is_true(node, "isRepeated") ? HUB_LIMIT_LAUNCH_REPEATS : 1;
    hub_err err = HUB_OK;
    for (size_t nth = 0; err == HUB_OK && nth < most; nth++) {
        const char *value = NULL;
        err = get_value(making, node, name, nth, &value);
        if (err != HUB_OK || value == NULL) {
            break;
        }
        if (is_named) {
            err = add_named(making, name, value);
        } else {
            launch_add_word(making, value);
        }
    }
    return err;
}

hub_err launch_add_arguments(launch_making *making, const hub_node *list)
{
    hub_err err = HUB_OK;
    const hub_node *node = list != NULL ? list->first : NULL;
    for (; err == HUB_OK && node != NULL; node = node->next) {
        err = add_argument(making, node);
    }
    return err;
}

hub_err launch_add_map(launch_making *making, const char *key, const hub_node *list,
                       void (*on_name)(launch_making *making, const char *name))
{
    hub_buf *out = &making->more;
    hub_err err = HUB_OK;
    bool is_open = false;
    const hub_node *node = list != NULL ? list->first : NULL;
    for (; err == HUB_OK && node != NULL; node = node->next) {
        const char *name = hub_node_text_of(node, "name");
        const char *value = NULL;
        if (name == NULL || name[0] == '\0' || strpbrk(name, "= \t\r\n:") != NULL) {
            return hub_node_fail(node, making->reterr, HUB_EINVAL,
                                 "it has no name, or none that "
                                 "can be one");
        }
        err = get_value(making, node, name, 0, &value);
        if (err != HUB_OK || value == NULL) {
            continue;
        }
        if (!is_open) {
            hub_buf_printf(out, ",\"%s\":{", key);
            is_open = true;
        }
        hub_json_add_key(out, hub_str_of(name));
        hub_json_add_string(out, hub_str_of(value));
        if (on_name != NULL) {
            on_name(making, name);
        }
    }
    hub_buf_add(out, is_open ? HUB_STR("}") : HUB_STR_EMPTY);
    return err;
}

hub_err launch_fill_url(launch_making *making, const hub_node *remote, const char **ret_url)
{
    const char *url = hub_node_text_of(remote, "url");
    if (url == NULL) {
        return hub_node_fail(remote, making->reterr, HUB_EINVAL, "a remote server without a url");
    }
    return fill(making, url, hub_node_find(remote, "variables"), ret_url);
}
