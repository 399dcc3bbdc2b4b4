/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a toolset comes from, in a text that people read and a lock file keeps: its command or its
 * URL, as the manifest has it. Variables stay as they are written, so the text is the same on every
 * machine; a secret that the manifest has in plain is left out.
 */
#include "config/reader.h"

#include "wire/json.h"

#define LEFT_OUT "***"

static bool is_plain(hub_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] <= ' ' || strchr("\"\\'", text.ptr[i]) != NULL) {
            return false;
        }
    }
    return text.len > 0;
}

static void add_word(hub_buf *out, hub_str word)
{
    hub_buf_add(out, out->len > 0 ? HUB_STR(" ") : HUB_STR_EMPTY);
    if (is_plain(word)) {
        hub_buf_add(out, word);
    } else {
        hub_json_add_string(out, word);
    }
}

/* A URL without what stands before the host, and without the values of what its query calls a
 * secret. */
static void add_url(hub_buf *out, hub_str url)
{
    size_t scheme = hub_str_find(url, HUB_STR("://"));
    size_t at = scheme != SIZE_MAX ? scheme + 3 : 0;
    size_t end = at;
    size_t host = at;
    while (end < url.len && strchr("/?#", url.ptr[end]) == NULL) {
        host = url.ptr[end] == '@' ? end + 1 : host;
        end++;
    }
    hub_buf_add(out, hub_str_between(url.ptr, url.ptr + at));
    hub_buf_add(out, host > at ? HUB_STR(LEFT_OUT "@") : HUB_STR_EMPTY);
    size_t query = hub_str_find(url, HUB_STR("?"));
    query = query != SIZE_MAX && query >= host ? query + 1 : url.len;
    hub_buf_add(out, hub_str_between(url.ptr + host, url.ptr + query));
    hub_str rest = hub_str_from(url, query);
    while (rest.len > 0) {
        size_t next = hub_str_find(rest, HUB_STR("&"));
        hub_str pair = {.ptr = rest.ptr, .len = next != SIZE_MAX ? next + 1 : rest.len};
        size_t equals = hub_str_find(pair, HUB_STR("="));
        bool is_secret = equals != SIZE_MAX &&
                         hub_config_is_telling((hub_str){.ptr = pair.ptr, .len = equals}) &&
                         hub_str_find(pair, HUB_STR("${")) == SIZE_MAX;
        hub_buf_add(out, is_secret ? (hub_str){.ptr = pair.ptr, .len = equals + 1} : pair);
        hub_buf_add(out, !is_secret         ? HUB_STR_EMPTY
                         : next != SIZE_MAX ? HUB_STR(LEFT_OUT "&")
                                            : HUB_STR(LEFT_OUT));
        rest = hub_str_from(rest, pair.len);
    }
}

/* One argument; `after_telling`: the one before it says that this is a secret. */
static void add_argument(hub_buf *out, hub_str text, bool after_telling)
{
    size_t equals = hub_str_find(text, HUB_STR("="));
    bool has_variable = hub_str_find(text, HUB_STR("${")) != SIZE_MAX;
    if (after_telling && !has_variable && !hub_str_starts(text, HUB_STR("-"))) {
        add_word(out, HUB_STR(LEFT_OUT));
    } else if (equals != SIZE_MAX && !has_variable &&
               hub_config_is_telling((hub_str){.ptr = text.ptr, .len = equals})) {
        add_word(out, (hub_str){.ptr = text.ptr, .len = equals + 1});
        hub_buf_add(out, HUB_STR(LEFT_OUT));
    } else {
        add_word(out, text);
    }
}

static void add_arguments(hub_buf *out, const hub_node *node)
{
    bool is_telling = false;
    if (node == NULL) {
        return;
    }
    if (node->kind != HUB_NODE_LIST) {
        add_word(out, node->text);
        return;
    }
    for (const hub_node *item = node->first; item != NULL; item = item->next) {
        add_argument(out, item->text, is_telling);
        is_telling = hub_str_starts(item->text, HUB_STR("-")) &&
                     hub_str_find(item->text, HUB_STR("=")) == SIZE_MAX &&
                     hub_config_is_telling(item->text);
    }
}

hub_err hub_config_find_origin(hub_config_reader *reader, hub_config_toolset_draft *draft)
{
    const hub_config_key *args = hub_config_find_key(HUB_CONFIG_TOOLSET_KEYS, HUB_STR("args"));
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 4);
    if (draft->command != NULL) {
        add_arguments(&text, draft->command);
        add_arguments(&text, draft->said[args - HUB_CONFIG_TOOLSET_KEYS]);
    } else if (draft->url != NULL) {
        add_url(&text, draft->url->text);
    } else {
        hub_buf_printf(&text, "plugin %s", draft->toolset.module);
    }
    draft->toolset.origin =
        hub_buf_ok(&text) ? hub_arena_strdup(reader->arena, hub_buf_str(&text)) : NULL;
    hub_buf_fini(&text);
    return draft->toolset.origin != NULL ? HUB_OK : hub_config_no_memory(reader);
}
