/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two languages that documents are written in. The first byte chooses. A tree that is accepted
 * is well-formed: within the limits, every node where it says; and all JSON that the hub takes on
 * the wire is taken here, too, unless it breaks a rule that documents alone have.
 */
#include "base/limits.h"
#include "config/node.h"
#include "wire/json.h"

#include <string.h>

enum { ARENA_BYTES = 64 * 1024 * 1024 };

static const char *const NAMES[] = {"/fuzz/m.yaml", "/fuzz/m.json", "/fuzz/m"};

/* What is counted while a tree is walked. */
typedef struct walk {
    size_t nodes;
    uint32_t lines; /* of the document */
} walk;

static void check_key(const hub_node *node)
{
    bool is_in_map = node->parent != NULL && node->parent->kind == HUB_NODE_MAP;
    hub_assert(is_in_map == (node->key != NULL));
    if (is_in_map) {
        hub_assert(hub_node_find(node->parent, node->key) == node); /* no key twice */
    }
}

static void check_scalar(const hub_node *node)
{
    bool has_children = node->kind == HUB_NODE_MAP || node->kind == HUB_NODE_LIST;
    hub_assert(has_children || (node->first == NULL && node->count == 0));
    if (node->kind == HUB_NODE_TEXT || node->kind == HUB_NODE_NUMBER) {
        hub_assert(node->text.ptr != NULL && strlen(node->text.ptr) == node->text.len);
    }
    hub_assert(node->kind != HUB_NODE_NUMBER || hub_node_is_number(node->text));
}

/* Recursion is bounded by HUB_LIMIT_CONFIG_DEPTH, which is what is checked first. */
static void check_node(const hub_node *node, walk *seen)
{
    size_t count = 0;
    const hub_node *last = NULL;
    hub_assert(node->depth >= 1 && node->depth <= HUB_LIMIT_CONFIG_DEPTH);
    hub_assert(node->line >= 1 && node->line <= seen->lines);
    seen->nodes++;
    check_key(node);
    check_scalar(node);
    for (const hub_node *child = node->first; child != NULL; child = child->next) {
        hub_assert(child->parent == node && child->depth == node->depth + 1);
        hub_assert(child->index == count++);
        last = child;
        check_node(child, seen);
    }
    hub_assert(node->count == count && node->last == last);
}

static uint32_t count_lines(hub_str text)
{
    uint32_t lines = 2; /* the last one, and the end of it */
    for (size_t i = 0; i < text.len; i++) {
        /* What YAML takes for the end of a line: also NEL and the separators of Unicode. */
        unsigned char c = (unsigned char)text.ptr[i];
        lines += c == '\n' || c == '\r' || c == 0x85 || c == 0xa8 || c == 0xa9;
    }
    return lines;
}

/* Whether a refusal is of a rule that JSON on the wire has not. */
static bool is_own_rule(const hub_error *error)
{
    return error->code == HUB_ELIMIT || error->code == HUB_ENOMEM || error->code == HUB_EINVAL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    size_t which = data[0] % (sizeof NAMES / sizeof *NAMES);
    hub_str text = {.ptr = (const char *)data + 1, .len = size - 1};
    hub_arena *arena = hub_arena_create(ARENA_BYTES);
    const hub_node *root = NULL;
    hub_error error = {.text = ""};
    hub_str value;
    if (arena == NULL) {
        return 0;
    }
    hub_err err = hub_node_parse(NAMES[which], text, arena, &root, &error);
    if (err == HUB_OK) {
        walk seen = {.lines = count_lines(text)};
        hub_assert(root != NULL && root->parent == NULL);
        check_node(root, &seen);
    } else {
        size_t name = strlen(NAMES[which]);
        hub_assert(err == error.code && strncmp(error.text, NAMES[which], name) == 0);
        hub_assert(which != 1 || is_own_rule(&error) ||
                   hub_json_check(text, &value, NULL) != HUB_OK);
    }
    hub_arena_destroy(arena);
    return 0;
}
