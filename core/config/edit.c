/* SPDX-License-Identifier: Apache-2.0 */
#include "config/edit.h"

#include "base/limits.h"
#include "config/edit_result.h"

#include <stdlib.h>

/* Bytes of the document, and what stands there instead. */
typedef struct patch {
    size_t from;
    size_t to;
    hub_str text;
} patch;

typedef struct editing {
    const char *name;
    hub_str text;
    const hub_node *root;
    hub_edit_layout layout;
    hub_arena *arena;
    hub_buf made; /* text of the patches; made before any of them is used */
    patch patches[3];
    size_t count; /* in the order of the document */
    hub_error *reterr;
} editing;

/* ---- the text -------------------------------------------------------------------------------- */

static size_t line_start(hub_str text, size_t at)
{
    while (at > 0 && text.ptr[at - 1] != '\n') {
        at--;
    }
    return at;
}

/* Behind the end of the line. */
static size_t line_end(hub_str text, size_t at)
{
    while (at < text.len && text.ptr[at] != '\n') {
        at++;
    }
    return at < text.len ? at + 1 : at;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_blank(hub_str text, size_t from, size_t to)
{
    while (from < to && is_space(text.ptr[from])) {
        from++;
    }
    return from >= to;
}

/* The end of a value without the white space that a block of text may have. */
static size_t value_end(const editing *edit, const hub_node *node)
{
    size_t to = node->span.to;
    while (to > node->span.from && is_space(edit->text.ptr[to - 1])) {
        to--;
    }
    return to;
}

/* Over white space and comments on this line. */
static size_t skip_line(const editing *edit, size_t at)
{
    hub_str text = edit->text;
    for (; at < text.len && text.ptr[at] != '\n'; at++) {
        bool is_comment = edit->layout.is_json
                              ? text.ptr[at] == '/' && at + 1 < text.len && text.ptr[at + 1] == '/'
                              : text.ptr[at] == '#';
        if (is_comment) {
            size_t end = line_end(text, at);
            return end > at && text.ptr[end - 1] == '\n' ? end - 1 : end;
        }
        if (edit->layout.is_json && text.ptr[at] == '/' && at + 1 < text.len &&
            text.ptr[at + 1] == '*') {
            size_t body = hub_str_find(hub_str_from(text, at + 2), HUB_STR("*/"));
            if (body == SIZE_MAX) {
                return at;
            }
            at += body + 3;
        } else if (!is_space(text.ptr[at])) {
            return at;
        }
    }
    return at;
}

/* The comma behind a value, over lines and comments; SIZE_MAX: there is none. */
static size_t find_comma(const editing *edit, size_t at)
{
    for (;;) {
        at = skip_line(edit, at);
        if (at >= edit->text.len) {
            return SIZE_MAX;
        }
        if (edit->text.ptr[at] != '\n') {
            return edit->text.ptr[at] == ',' ? at : SIZE_MAX;
        }
        at++;
    }
}

static unsigned column_of(const editing *edit, size_t at)
{
    return (unsigned)(at - line_start(edit->text, at));
}

/* The spaces, or tabs, that the line of `at` begins with. */
static unsigned indent_of(const editing *edit, size_t at)
{
    size_t start = line_start(edit->text, at);
    char blank = edit->layout.has_tabs ? '\t' : ' ';
    unsigned count = 0;
    while (start + count < at && edit->text.ptr[start + count] == blank) {
        count++;
    }
    return count;
}

static void learn_layout(editing *edit)
{
    edit->layout.is_json = hub_node_is_json(hub_str_of(edit->name), edit->text);
    edit->layout.eol = hub_str_find(edit->text, HUB_STR("\r\n")) != SIZE_MAX ? "\r\n" : "\n";
    edit->layout.step = 2;
    const hub_node *node = edit->root;
    for (; node != NULL && node->kind == HUB_NODE_MAP; node = node->first) {
        const hub_node *child = node->first;
        if (child == NULL || child->span.from == child->span.key_to) {
            return;
        }
        size_t start = line_start(edit->text, child->span.key_from);
        edit->layout.has_tabs = edit->layout.is_json && edit->text.ptr[start] == '\t';
        unsigned outer = indent_of(edit, node->span.key_from);
        unsigned inner = indent_of(edit, child->span.key_from);
        if (inner > outer && inner - outer <= 8) {
            edit->layout.step = inner - outer;
            return;
        }
    }
}

/* ---- patches --------------------------------------------------------------------------------- */

static void add_patch(editing *edit, size_t from, size_t to, size_t made_from)
{
    hub_str made = hub_buf_str(&edit->made);
    edit->patches[edit->count++] =
        (patch){.from = from, .to = to, .text = {.ptr = NULL, .len = made.len - made_from}};
}

static void apply(editing *edit, hub_buf *out)
{
    hub_str made = hub_buf_str(&edit->made);
    size_t at = 0;
    for (size_t i = 0; i < edit->count; i++) {
        const patch *one = &edit->patches[i];
        hub_buf_add(out, (hub_str){.ptr = edit->text.ptr + at, .len = one->from - at});
        hub_buf_add(out, (hub_str){.ptr = made.ptr, .len = one->text.len});
        made = hub_str_from(made, one->text.len);
        at = one->to;
    }
    hub_buf_add(out, hub_str_from(edit->text, at));
}

/* Whether a map or list in brackets goes over several lines. */
static bool is_tall(const editing *edit, const hub_node *node)
{
    return node->first != NULL && memchr(edit->text.ptr + node->span.from, '\n',
                                         node->first->span.key_from - node->span.from) != NULL;
}

static void add_value(editing *edit, const hub_node *value, bool in_flow, unsigned indent)
{
    if (edit->layout.is_json) {
        hub_edit_add_lines(&edit->made, &edit->layout, value, indent);
    } else if (in_flow) {
        hub_edit_add_flow(&edit->made, &edit->layout, value);
    } else {
        hub_edit_add_block(&edit->made, &edit->layout, value, indent);
    }
}

static void replace_root(editing *edit, const hub_node *root, const hub_node *map)
{
    for (const hub_node *child = map->first; child != NULL; child = child->next) {
        hub_edit_add_key(&edit->made, &edit->layout, child->key);
        hub_edit_add_block(&edit->made, &edit->layout, child, 0);
        hub_buf_add(&edit->made, hub_str_of(edit->layout.eol));
    }
    size_t to = value_end(edit, root);
    bool was_there = to > root->span.from;
    size_t at = was_there ? root->span.from : edit->text.len;
    add_patch(edit, at, was_there ? to : at, 0);
}

/* The key, and anew what follows it. */
static void replace_member(editing *edit, const hub_node *node, const hub_node *value)
{
    size_t to = value_end(edit, node);
    if (to == node->span.from) { /* nothing stands there but the colon */
        to = node->span.key_to;
        while (to < edit->text.len && edit->text.ptr[to] != ':') {
            to++;
        }
        to++;
    }
    hub_buf_add(&edit->made, (hub_str){.ptr = edit->text.ptr + node->span.key_from,
                                       .len = node->span.key_to - node->span.key_from});
    hub_buf_add_char(&edit->made, ':');
    add_value(edit, value, false, column_of(edit, node->span.key_from));
    add_patch(edit, node->span.key_from, to, 0);
}

static void replace_value(editing *edit, const hub_node *node, const hub_node *value)
{
    const hub_node *parent = node->parent;
    if (parent == NULL && !edit->layout.is_json && value->kind == HUB_NODE_MAP) {
        replace_root(edit, node, value);
        return;
    }
    size_t to = value_end(edit, node);
    bool in_flow = edit->layout.is_json || (parent != NULL && parent->span.is_flow);
    bool is_one_line = node->kind < HUB_NODE_LIST || node->span.is_flow;
    bool is_scalar = to > node->span.from && is_one_line && value->kind < HUB_NODE_LIST;
    if (in_flow || is_scalar || node->key == NULL) {
        add_value(edit, value, true, indent_of(edit, node->span.key_from));
        add_patch(edit, node->span.from, to, 0);
    } else {
        replace_member(edit, node, value);
    }
}

static void insert_in_block(editing *edit, const hub_node *map, const char *key,
                            const hub_node *value)
{
    unsigned indent = column_of(edit, map->first->span.key_from);
    size_t at = line_end(edit->text, value_end(edit, map->last));
    bool has_eol = at > 0 && edit->text.ptr[at - 1] == '\n';
    hub_buf_add(&edit->made, has_eol ? HUB_STR_EMPTY : hub_str_of(edit->layout.eol));
    hub_edit_add_indent(&edit->made, &edit->layout, indent);
    hub_edit_add_key(&edit->made, &edit->layout, key);
    hub_edit_add_block(&edit->made, &edit->layout, value, indent);
    hub_buf_add(&edit->made, has_eol ? hub_str_of(edit->layout.eol) : HUB_STR_EMPTY);
    add_patch(edit, at, at, 0);
}

static void add_member(editing *edit, const char *key, const hub_node *value, unsigned indent)
{
    hub_edit_add_key(&edit->made, &edit->layout, key);
    hub_buf_add_char(&edit->made, ' ');
    add_value(edit, value, true, indent);
}

static void insert_in_empty(editing *edit, const hub_node *map, const char *key,
                            const hub_node *value)
{
    unsigned indent = indent_of(edit, map->span.key_from);
    size_t inside = map->span.to - 1; /* comments in it stay in front */
    bool has_line = memchr(edit->text.ptr + map->span.from, '\n', inside - map->span.from) != NULL;
    size_t from = has_line ? line_start(edit->text, inside) : inside;
    if (!edit->layout.is_json) {
        add_member(edit, key, value, indent);
        add_patch(edit, inside, inside, 0);
        return;
    }
    hub_buf_add(&edit->made, has_line ? HUB_STR_EMPTY : hub_str_of(edit->layout.eol));
    hub_edit_add_indent(&edit->made, &edit->layout, indent + edit->layout.step);
    add_member(edit, key, value, indent + edit->layout.step);
    hub_buf_add(&edit->made, hub_str_of(edit->layout.eol));
    hub_edit_add_indent(&edit->made, &edit->layout, has_line ? 0 : indent);
    add_patch(edit, from, from, 0);
}

/* Behind the last member; a comment on its line stays its own. */
static void insert_in_flow(editing *edit, const hub_node *map, const char *key,
                           const hub_node *value)
{
    size_t end = value_end(edit, map->last);
    size_t comma = find_comma(edit, end);
    bool has_comma = comma != SIZE_MAX;
    size_t at = has_comma ? comma + 1 : end;
    if (!is_tall(edit, map)) {
        hub_buf_add(&edit->made, has_comma ? HUB_STR(" ") : HUB_STR(", "));
        add_member(edit, key, value, indent_of(edit, map->first->span.key_from));
        hub_buf_add(&edit->made, has_comma ? HUB_STR(",") : HUB_STR_EMPTY);
        add_patch(edit, at, at, 0);
        return;
    }
    if (!has_comma) {
        hub_buf_add_char(&edit->made, ',');
        add_patch(edit, end, end, 0);
    }
    size_t before = edit->made.len;
    size_t behind = skip_line(edit, at);
    if (behind < edit->text.len && edit->text.ptr[behind] == '\n') {
        at = behind > at && edit->text.ptr[behind - 1] == '\r' ? behind - 1 : behind;
    }
    unsigned indent = column_of(edit, map->first->span.key_from);
    hub_buf_add(&edit->made, hub_str_of(edit->layout.eol));
    size_t start = line_start(edit->text, map->first->span.key_from);
    hub_buf_add(&edit->made,
                (hub_str){.ptr = edit->text.ptr + start, .len = indent}); /* tabs, too */
    add_member(edit, key, value, indent);
    hub_buf_add(&edit->made, has_comma ? HUB_STR(",") : HUB_STR_EMPTY);
    add_patch(edit, at, at, before);
}

/* `{}` in a block of YAML, which becomes lines. */
static bool is_placeholder(const editing *edit, const hub_node *map)
{
    bool in_block = map->parent != NULL && !map->parent->span.is_flow && map->key != NULL;
    return in_block && !edit->layout.is_json && map->first == NULL &&
           is_blank(edit->text, map->span.from + 1, map->span.to - 1);
}

static void insert(editing *edit, const hub_node *map, const char *key, const hub_node *value)
{
    if (is_placeholder(edit, map)) {
        hub_node child = *value;
        child.key = key;
        child.next = NULL;
        const hub_node lines = {.kind = HUB_NODE_MAP, .first = &child, .last = &child, .count = 1};
        replace_value(edit, map, &lines);
    } else if (map->first == NULL) {
        insert_in_empty(edit, map, key, value);
    } else if (map->span.is_flow) {
        insert_in_flow(edit, map, key, value);
    } else {
        insert_in_block(edit, map, key, value);
    }
}

static void remove_from_block(editing *edit, const hub_node *node)
{
    size_t start = line_start(edit->text, node->span.key_from);
    size_t end = value_end(edit, node);
    end = end < node->span.key_to ? node->span.key_to : end;
    bool is_first_of_item = !is_blank(edit->text, start, node->span.key_from) && node->next != NULL;
    if (is_first_of_item) {
        add_patch(edit, node->span.key_from, node->next->span.key_from, 0);
    } else {
        add_patch(edit, start, line_end(edit->text, end), 0);
    }
}

/* The comma in front of the last member goes with it, unless that has one of its own. */
static void remove_comma(editing *edit, const hub_node *before)
{
    size_t comma = before != NULL ? find_comma(edit, value_end(edit, before)) : SIZE_MAX;
    if (comma != SIZE_MAX) {
        add_patch(edit, comma, comma + 1, edit->made.len);
    }
}

static const hub_node *find_previous(const hub_node *node)
{
    const hub_node *at = node->parent->first;
    while (at != node && at->next != node) {
        at = at->next;
    }
    return at != node ? at : NULL;
}

static void remove_from_flow(editing *edit, const hub_node *node)
{
    hub_str text = edit->text;
    size_t to = value_end(edit, node);
    size_t comma = find_comma(edit, to);
    const hub_node *before = find_previous(node);
    if (comma == SIZE_MAX) {
        remove_comma(edit, before);
    } else {
        to = comma + 1;
    }
    size_t from = node->span.key_from;
    size_t start = line_start(text, from);
    size_t rest = skip_line(edit, to);
    bool has_end = rest < text.len && text.ptr[rest] == '\n';
    if (has_end && start > 0 && is_blank(text, start, from)) { /* lines of its own */
        add_patch(edit, start, rest + 1, edit->made.len);
        return;
    }
    if (node->next != NULL) {
        for (; text.ptr[to] == ' '; to++) { /* another member follows */
        }
    } else if (before != NULL) {
        for (; text.ptr[from - 1] == ' '; from--) {
        }
    }
    add_patch(edit, from, to, edit->made.len);
}

/* ---- the edits ------------------------------------------------------------------------------- */

static hub_err finish(editing *edit, const hub_edit_path *path, const hub_node *value, hub_buf *out)
{
    const hub_node *root = NULL;
    hub_error ignored = {.code = HUB_OK};
    size_t before = out->len;
    apply(edit, out);
    if (!hub_buf_ok(out) || !hub_buf_ok(&edit->made)) {
        return hub_fail(edit->reterr, HUB_ELIMIT, "%s: would become too long", edit->name);
    }
    hub_str made = hub_str_from(hub_buf_str(out), before);
    hub_err err = hub_node_parse(edit->name, made, edit->arena, &root, &ignored);
    if (err != HUB_OK || !hub_edit_is_as_wanted(edit->root, root, path, value)) {
        return hub_fail(edit->reterr, err == HUB_ENOMEM || err == HUB_ELIMIT ? err : HUB_ESTATE,
                        "%s: this change cannot be made without touching the rest of the file: "
                        "make it with an editor",
                        edit->name);
    }
    return HUB_OK;
}

static hub_err begin(editing *edit)
{
    hub_err err = hub_node_parse(edit->name, edit->text, edit->arena, &edit->root, edit->reterr);
    if (err == HUB_OK) {
        hub_buf_init(&edit->made, HUB_LIMIT_CONFIG_BYTES);
        learn_layout(edit);
    }
    return err;
}

/* The value, in maps of the steps that are not there. */
static const hub_node *wrap(editing *edit, const hub_edit_path *path, size_t from,
                            const hub_node *value)
{
    for (size_t i = path->count; value != NULL && i > from; i--) {
        hub_node *inner = hub_arena_alloc(edit->arena, sizeof *inner);
        hub_node *map = hub_arena_alloc(edit->arena, sizeof *map);
        if (inner == NULL || map == NULL) {
            return NULL;
        }
        *inner = *value;
        inner->key = path->steps[i - 1];
        inner->next = NULL;
        *map = (hub_node){.kind = HUB_NODE_MAP, .first = inner, .last = inner, .count = 1};
        value = map;
    }
    return value;
}

static hub_err plan_put(editing *edit, const hub_edit_path *path, const hub_node *value)
{
    const hub_node *at = edit->root;
    size_t i = 0;
    for (; i < path->count; i++) {
        const hub_node *child = hub_edit_child_at(at, path->steps[i]);
        if (child == NULL) {
            break;
        }
        at = child;
    }
    bool is_whole = i == path->count || at->kind == HUB_NODE_NULL;
    bool can_grow = is_whole || at->kind == HUB_NODE_MAP;
    const hub_node *wrapped = can_grow ? wrap(edit, path, is_whole ? i : i + 1, value) : NULL;
    if (!can_grow) {
        return hub_node_fail(
            at, edit->reterr, at->kind == HUB_NODE_LIST ? HUB_ENOTFOUND : HUB_EINVAL,
            "is %s: there is no \"%s\" in it", hub_node_kind_name(at), path->steps[i]);
    }
    if (wrapped == NULL) {
        return hub_fail(edit->reterr, HUB_ENOMEM, "%s: out of memory", edit->name);
    }
    if (is_whole) {
        replace_value(edit, at, wrapped);
    } else {
        insert(edit, at, path->steps[i], wrapped);
    }
    return HUB_OK;
}

hub_err hub_edit_put(const char *name, hub_str text, const hub_edit_path *path,
                     const hub_node *value, hub_arena *arena, hub_buf *out, hub_error *reterr)
{
    editing edit = {.name = name, .text = text, .arena = arena, .reterr = reterr};
    hub_err err = begin(&edit);
    if (err != HUB_OK) {
        return err;
    }
    err = plan_put(&edit, path, value);
    err = err == HUB_OK ? finish(&edit, path, value, out) : err;
    hub_buf_fini(&edit.made);
    return err;
}

hub_err hub_edit_remove(const char *name, hub_str text, const hub_edit_path *path, hub_arena *arena,
                        hub_buf *out, hub_error *reterr)
{
    editing edit = {.name = name, .text = text, .arena = arena, .reterr = reterr};
    hub_err err = begin(&edit);
    if (err != HUB_OK) {
        return err;
    }
    const hub_node *at = edit.root;
    for (size_t i = 0; at != NULL && i < path->count; i++) {
        at = hub_edit_child_at(at, path->steps[i]);
    }
    if (at == NULL || at->key == NULL) {
        err = hub_fail(reterr, HUB_ENOTFOUND, "%s: there is no \"%s\"", name,
                       path->count > 0 ? path->steps[path->count - 1] : "");
    } else if (at->parent->span.is_flow) {
        remove_from_flow(&edit, at);
    } else if (at->parent->count == 1 && at->parent->parent != NULL) {
        const hub_node empty = {.kind = HUB_NODE_MAP};
        replace_value(&edit, at->parent, &empty);
    } else {
        remove_from_block(&edit, at);
    }
    err = err == HUB_OK ? finish(&edit, path, NULL, out) : err;
    hub_buf_fini(&edit.made);
    return err;
}
