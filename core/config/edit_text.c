/* SPDX-License-Identifier: Apache-2.0 */
/* Values as a document would write them. Recursion is bounded by the depth of nodes. */
#include "config/edit.h"

#include "wire/json.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether YAML of any version reads the word as this text without quotes. Too few is no harm. */
static bool is_plain(hub_str text)
{
    static const char *const WORDS[] = {"true", "false", "null", "yes", "no",
                                        "on",   "off",   "y",    "n"};
    if (text.len == 0 || !(is_letter(text.ptr[0]) || text.ptr[0] == '/')) {
        return false;
    }
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        if (hub_str_eq_nocase(text, hub_str_of(WORDS[i]))) {
            return false;
        }
    }
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!is_letter(c) && (c == '\0' || strchr("0123456789_-./@+=", c) == NULL)) {
            return false;
        }
    }
    return true;
}

static void add_text(hub_buf *out, const hub_edit_layout *layout, hub_str text)
{
    if (!layout->is_json && is_plain(text)) {
        hub_buf_add(out, text);
    } else {
        hub_json_add_string(out, text);
    }
}

static void add_scalar(hub_buf *out, const hub_edit_layout *layout, const hub_node *value)
{
    switch (value->kind) {
    case HUB_NODE_TRUE:
        hub_buf_add(out, HUB_STR("true"));
        return;
    case HUB_NODE_FALSE:
        hub_buf_add(out, HUB_STR("false"));
        return;
    case HUB_NODE_NUMBER:
        hub_buf_add(out, value->text);
        return;
    case HUB_NODE_TEXT:
        add_text(out, layout, value->text);
        return;
    default:
        hub_buf_add(out, HUB_STR("null"));
    }
}

void hub_edit_add_key(hub_buf *out, const hub_edit_layout *layout, const char *key)
{
    add_text(out, layout, hub_str_of(key));
    hub_buf_add_char(out, ':');
}

void hub_edit_add_flow(hub_buf *out, const hub_edit_layout *layout, const hub_node *value)
{
    if (value->kind < HUB_NODE_LIST) {
        add_scalar(out, layout, value);
        return;
    }
    bool is_map = value->kind == HUB_NODE_MAP;
    hub_buf_add_char(out, is_map ? '{' : '[');
    for (const hub_node *child = value->first; child != NULL; child = child->next) {
        hub_buf_add(out, child == value->first ? HUB_STR_EMPTY : HUB_STR(", "));
        if (is_map) {
            hub_edit_add_key(out, layout, child->key);
            hub_buf_add_char(out, ' ');
        }
        hub_edit_add_flow(out, layout, child);
    }
    hub_buf_add_char(out, is_map ? '}' : ']');
}

void hub_edit_add_indent(hub_buf *out, const hub_edit_layout *layout, unsigned indent)
{
    for (unsigned i = 0; i < indent; i++) {
        hub_buf_add_char(out, layout->has_tabs ? '\t' : ' ');
    }
}

static void begin_line(hub_buf *out, const hub_edit_layout *layout, unsigned indent)
{
    hub_buf_add(out, hub_str_of(layout->eol));
    hub_edit_add_indent(out, layout, indent);
}

void hub_edit_add_block(hub_buf *out, const hub_edit_layout *layout, const hub_node *value,
                        unsigned indent)
{
    if (value->kind != HUB_NODE_MAP || value->first == NULL) {
        hub_buf_add_char(out, ' ');
        hub_edit_add_flow(out, layout, value);
        return;
    }
    for (const hub_node *child = value->first; child != NULL; child = child->next) {
        begin_line(out, layout, indent + layout->step);
        hub_edit_add_key(out, layout, child->key);
        hub_edit_add_block(out, layout, child, indent + layout->step);
    }
}

void hub_edit_add_lines(hub_buf *out, const hub_edit_layout *layout, const hub_node *value,
                        unsigned indent)
{
    if (value->kind != HUB_NODE_MAP || value->first == NULL) {
        hub_edit_add_flow(out, layout, value);
        return;
    }
    hub_buf_add_char(out, '{');
    for (const hub_node *child = value->first; child != NULL; child = child->next) {
        hub_buf_add(out, child == value->first ? HUB_STR_EMPTY : HUB_STR(","));
        begin_line(out, layout, indent + layout->step);
        hub_edit_add_key(out, layout, child->key);
        hub_buf_add_char(out, ' ');
        hub_edit_add_lines(out, layout, child, indent + layout->step);
    }
    begin_line(out, layout, indent);
    hub_buf_add_char(out, '}');
}
