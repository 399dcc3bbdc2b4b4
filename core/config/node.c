/* SPDX-License-Identifier: Apache-2.0 */
#include "config/node.h"

#include "base/limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    PLACE_KEY_BYTES = 64,   /* of one key in a path */
    PLACE_PATH_BYTES = 160, /* of a whole path; its end is what tells most */
    PLACE_FILE_BYTES = 160,
    PLACE_MAX_BYTES = 16 * 1024,
};

static const char *const KIND_NAMES[] = {
    [HUB_NODE_NULL] = "nothing",    [HUB_NODE_TRUE] = "true", [HUB_NODE_FALSE] = "false",
    [HUB_NODE_NUMBER] = "a number", [HUB_NODE_TEXT] = "text", [HUB_NODE_LIST] = "a list",
    [HUB_NODE_MAP] = "a map",
};

static bool has_ending(hub_str file, const char *ending)
{
    hub_str tail = hub_str_of(ending);
    return file.len > tail.len && hub_str_eq_nocase(hub_str_from(file, file.len - tail.len), tail);
}

bool hub_node_is_json(hub_str file, hub_str text)
{
    static const struct {
        const char *ending;
        bool json;
    } ENDINGS[] = {
        {".yaml", false}, {".yml", false},  {".json", true},
        {".jsonc", true}, {".json5", true}, {".code-workspace", true},
    };
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++) {
        if (has_ending(file, ENDINGS[i].ending)) {
            return ENDINGS[i].json;
        }
    }
    if (hub_str_starts(text, HUB_STR("\xef\xbb\xbf"))) {
        text = hub_str_from(text, 3);
    }
    text = hub_str_trim(text);
    return hub_str_starts(text, HUB_STR("{")) || hub_str_starts(text, HUB_STR("//")) ||
           hub_str_starts(text, HUB_STR("/*"));
}

static int compare_keys(const void *a, const void *b)
{
    const hub_node *left = *(const hub_node *const *)a;
    const hub_node *right = *(const hub_node *const *)b;
    int order = strcmp(left->key, right->key);
    if (order != 0) {
        return order;
    }
    return left->index < right->index ? -1 : 1;
}

static hub_err mark_duplicate(hub_node *node, const hub_node *first, hub_arena *arena,
                              hub_error *reterr)
{
    char text[64];
    (void)snprintf(text, sizeof text, "duplicate key, first on line %u", first->line);
    node->fault = node->fault != NULL ? node->fault : hub_arena_strdup(arena, hub_str_of(text));
    return node->fault != NULL ? HUB_OK : hub_fail(reterr, HUB_ENOMEM, "out of memory");
}

/* Sorts instead of comparing each with each: a map may have many thousand members. */
static hub_err mark_in_map(const hub_node *map, hub_arena *arena, hub_error *reterr)
{
    if (map->count < 2) {
        return HUB_OK;
    }
    hub_node **sorted = calloc(map->count, sizeof(hub_node *));
    if (sorted == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    size_t count = 0;
    for (hub_node *child = map->first; child != NULL; child = child->next) {
        sorted[count++] = child;
    }
    qsort(sorted, count, sizeof(hub_node *), compare_keys);
    const hub_node *first = sorted[0]; /* of those with the same key */
    hub_err err = HUB_OK;
    for (size_t i = 1; err == HUB_OK && i < count; i++) {
        if (strcmp(first->key, sorted[i]->key) == 0) {
            err = mark_duplicate(sorted[i], first, arena, reterr);
        } else {
            first = sorted[i];
        }
    }
    free(sorted);
    return err;
}

/* Recursion is bounded by HUB_LIMIT_CONFIG_DEPTH. */
static hub_err mark_duplicates(const hub_node *node, hub_arena *arena, hub_error *reterr)
{
    hub_err err = node->kind == HUB_NODE_MAP ? mark_in_map(node, arena, reterr) : HUB_OK;
    for (const hub_node *child = node->first; err == HUB_OK && child != NULL; child = child->next) {
        err = mark_duplicates(child, arena, reterr);
    }
    return err;
}

/* Likewise. */
hub_err hub_node_check(const hub_node *node, const hub_node *open, hub_error *reterr)
{
    hub_err err =
        node->fault != NULL ? hub_node_fail(node, reterr, HUB_EINVAL, "%s", node->fault) : HUB_OK;
    const hub_node *child = node != open ? node->first : NULL;
    for (; err == HUB_OK && child != NULL; child = child->next) {
        err = hub_node_check(child, open, reterr);
    }
    return err;
}

hub_err hub_node_parse(const char *file, hub_str text, hub_arena *arena, const hub_node **ret_root,
                       hub_error *reterr)
{
    const hub_node *root = NULL;
    hub_err err = hub_node_read(file, text, arena, &root, reterr);
    if (err == HUB_OK) {
        err = hub_node_check(root, NULL, reterr);
    }
    if (err == HUB_OK) {
        *ret_root = root;
    }
    return err;
}

hub_err hub_node_read(const char *file, hub_str text, hub_arena *arena, const hub_node **ret_root,
                      hub_error *reterr)
{
    hub_node_builder builder = {.arena = arena, .file = file, .reterr = reterr};
    if (text.len > HUB_LIMIT_CONFIG_BYTES) {
        return hub_fail(reterr, HUB_ELIMIT, "%s:1: longer than %u bytes", file,
                        HUB_LIMIT_CONFIG_BYTES);
    }
    if (has_ending(hub_str_of(file), ".toml")) {
        return hub_fail(reterr, HUB_EPARSE, "%s: is TOML: wanted YAML or JSON", file);
    }
    hub_err err = hub_node_is_json(hub_str_of(file), text) ? hub_node_parse_json(&builder, text)
                                                           : hub_node_parse_yaml(&builder, text);
    if (err == HUB_OK && builder.root == NULL) {
        hub_node_draft empty = {.kind = HUB_NODE_NULL, .line = 1};
        err = hub_node_add(&builder, NULL, &empty, NULL);
    }
    if (err == HUB_OK) {
        err = mark_duplicates(builder.root, arena, reterr);
    }
    if (err == HUB_OK) {
        *ret_root = builder.root;
    }
    return err;
}

static void append_child(hub_node *parent, hub_node *node)
{
    node->index = (uint32_t)parent->count++;
    if (parent->last == NULL) {
        parent->first = node;
    } else {
        parent->last->next = node;
    }
    parent->last = node;
}

static hub_err check_size(const hub_node_builder *builder, const hub_node *node)
{
    if (node->kind >= HUB_NODE_LIST && node->depth > HUB_LIMIT_CONFIG_DEPTH) {
        return hub_node_fail(node, builder->reterr, HUB_ELIMIT, "nested more than %d levels deep",
                             HUB_LIMIT_CONFIG_DEPTH);
    }
    if (builder->count > HUB_LIMIT_CONFIG_VALUES) {
        return hub_node_fail(node, builder->reterr, HUB_ELIMIT, "more than %d values in one file",
                             HUB_LIMIT_CONFIG_VALUES);
    }
    return HUB_OK;
}

static bool has_nul(hub_str text)
{
    return text.len > 0 && memchr(text.ptr, '\0', text.len) != NULL;
}

hub_err hub_node_add(hub_node_builder *builder, hub_node *parent, const hub_node_draft *draft,
                     hub_node **ret_node)
{
    bool has_key = parent != NULL && parent->kind == HUB_NODE_MAP;
    hub_node *node = hub_arena_alloc(builder->arena, sizeof *node);
    const char *key = has_key ? hub_arena_strdup(builder->arena, draft->key) : NULL;
    const char *text = hub_arena_strdup(builder->arena, draft->text);
    if (node == NULL || text == NULL || (has_key && key == NULL)) {
        return hub_fail(builder->reterr, hub_arena_failed(builder->arena), "%s:%u: %s",
                        builder->file, draft->line, hub_err_text(hub_arena_failed(builder->arena)));
    }
    *node = (hub_node){
        .file = builder->file,
        .key = key,
        .parent = parent,
        .text = {.ptr = text, .len = strlen(text)},
        .span = draft->span,
        .line = draft->line,
        .depth = parent == NULL ? 1 : parent->depth + 1,
        .kind = draft->kind,
        .fault = has_nul(draft->text) || (has_key && has_nul(draft->key)) ? "holds a NUL character"
                                                                          : NULL,
    };
    if (parent == NULL) {
        builder->root = node;
    } else {
        append_child(parent, node);
    }
    builder->count++;
    if (ret_node != NULL) {
        *ret_node = node;
    }
    return check_size(builder, node);
}

const hub_node *hub_node_find(const hub_node *map, const char *key)
{
    const hub_node *child = map->kind == HUB_NODE_MAP ? map->first : NULL;
    while (child != NULL && strcmp(child->key, key) != 0) {
        child = child->next;
    }
    return child;
}

const char *hub_node_text_of(const hub_node *map, const char *key)
{
    const hub_node *found = map != NULL ? hub_node_find(map, key) : NULL;
    return found != NULL && found->kind == HUB_NODE_TEXT ? found->text.ptr : NULL;
}

bool hub_node_is_true(const hub_node *map, const char *key)
{
    const hub_node *found = hub_node_find(map, key);
    return found != NULL && found->kind == HUB_NODE_TRUE;
}

const char *hub_node_kind_name(const hub_node *node)
{
    return KIND_NAMES[node->kind];
}

static size_t count_digits(hub_str word, size_t from)
{
    size_t at = from;
    while (at < word.len && word.ptr[at] >= '0' && word.ptr[at] <= '9') {
        at++;
    }
    return at - from;
}

bool hub_node_is_number(hub_str word)
{
    size_t at = word.len > 0 && word.ptr[0] == '-' ? 1 : 0;
    size_t digits = count_digits(word, at);
    if (digits == 0 || (digits > 1 && word.ptr[at] == '0')) {
        return false;
    }
    at += digits;
    if (at < word.len && word.ptr[at] == '.') {
        digits = count_digits(word, at + 1);
        if (digits == 0) {
            return false;
        }
        at += 1 + digits;
    }
    if (at < word.len && (word.ptr[at] == 'e' || word.ptr[at] == 'E')) {
        at++;
        at += at < word.len && (word.ptr[at] == '+' || word.ptr[at] == '-') ? 1 : 0;
        digits = count_digits(word, at);
        if (digits == 0) {
            return false;
        }
        at += digits;
    }
    return at == word.len;
}

/* Not in the middle of a character. */
static size_t next_character(hub_str text, size_t at)
{
    while (at < text.len && ((unsigned char)text.ptr[at] & 0xc0) == 0x80) {
        at++;
    }
    return at;
}

static void add_tail(hub_buf *out, hub_str text, size_t max_bytes)
{
    if (text.len > max_bytes) {
        hub_buf_add(out, HUB_STR("..."));
        text = hub_str_from(text, next_character(text, text.len - max_bytes));
    }
    hub_buf_add(out, text);
}

static void add_step(hub_buf *path, const hub_node *node)
{
    if (node->key == NULL) {
        hub_buf_printf(path, "[%u]", node->index);
        return;
    }
    if (path->len > 0) {
        hub_buf_add_char(path, '.');
    }
    hub_str key = hub_str_of(node->key);
    if (key.len <= PLACE_KEY_BYTES) {
        hub_buf_add(path, key);
        return;
    }
    hub_buf_add(path, (hub_str){.ptr = key.ptr, .len = next_character(key, PLACE_KEY_BYTES)});
    hub_buf_add(path, HUB_STR("..."));
}

void hub_node_add_place(const hub_node *node, hub_buf *out)
{
    const hub_node *steps[HUB_LIMIT_CONFIG_DEPTH + 1];
    size_t count = 0;
    const hub_node *step = node;
    while (step->parent != NULL && count < sizeof steps / sizeof *steps) {
        steps[count++] = step;
        step = step->parent;
    }
    hub_buf path;
    hub_buf_init(&path, PLACE_MAX_BYTES);
    while (count > 0) {
        add_step(&path, steps[--count]);
    }
    add_tail(out, hub_str_of(node->file), PLACE_FILE_BYTES);
    if (node->line > 0) {
        hub_buf_printf(out, ":%u", node->line);
    }
    if (path.len > 0) {
        hub_buf_add(out, HUB_STR(": "));
        add_tail(out, hub_buf_str(&path), PLACE_PATH_BYTES);
    }
    hub_buf_fini(&path);
}

hub_err hub_node_fail(const hub_node *node, hub_error *reterr, hub_err code, const char *format,
                      ...)
{
    if (reterr == NULL) {
        return code;
    }
    char reason[sizeof reterr->text];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reason, sizeof reason, format, args); /* cut when too long */
    va_end(args);
    hub_buf place;
    hub_buf_init(&place, PLACE_MAX_BYTES);
    hub_node_add_place(node, &place);
    code = hub_fail(reterr, code, HUB_STR_FMT ": %s", HUB_STR_ARG(hub_buf_str(&place)), reason);
    hub_buf_fini(&place);
    return code;
}
