/* SPDX-License-Identifier: Apache-2.0 */
#include "config/edit_result.h"

#include <stdlib.h>
#include <string.h>

static bool is_same(const hub_node *a, const hub_node *b)
{
    if (a->kind != b->kind || a->count != b->count || (a->key == NULL) != (b->key == NULL) ||
        (a->key != NULL && strcmp(a->key, b->key) != 0) ||
        (a->kind < HUB_NODE_LIST && a->kind >= HUB_NODE_NUMBER && !hub_str_eq(a->text, b->text))) {
        return false;
    }
    const hub_node *left = a->first;
    const hub_node *right = b->first;
    for (; left != NULL; left = left->next, right = right->next) {
        if (!is_same(left, right)) {
            return false;
        }
    }
    return true;
}

const hub_node *hub_edit_child_at(const hub_node *node, const char *step)
{
    if (node->kind == HUB_NODE_MAP) {
        return hub_node_find(node, step);
    }
    char *end = NULL;
    unsigned long index = step[0] >= '0' && step[0] <= '9' ? strtoul(step, &end, 10) : 0;
    const hub_node *child =
        node->kind == HUB_NODE_LIST && end != NULL && *end == '\0' ? node->first : NULL;
    while (child != NULL && child->index != index) {
        child = child->next;
    }
    return child;
}

/* Whether all children but those at the step are the same, in the same order. */
static bool has_same_others(const hub_node *old, const hub_node *new, const hub_node *old_one,
                            const hub_node *new_one)
{
    const hub_node *left = old->first;
    const hub_node *right = new->first;
    for (;;) {
        left = left != NULL && left == old_one ? left->next : left;
        right = right != NULL && right == new_one ? right->next : right;
        if (left == NULL || right == NULL) {
            return left == right;
        }
        if (!is_same(left, right)) {
            return false;
        }
        left = left->next;
        right = right->next;
    }
}

static bool is_empty(const hub_node *node)
{
    return node->kind == HUB_NODE_NULL || (node->kind >= HUB_NODE_LIST && node->first == NULL);
}

/* Values of a node itself: the key of what `value` was read from is not part of it. */
static bool has_value(const hub_node *node, const hub_node *value)
{
    hub_node bare = *node;
    hub_node wanted = *value;
    bare.key = NULL;
    wanted.key = NULL;
    return is_same(&bare, &wanted);
}

bool hub_edit_is_as_wanted(const hub_node *old, const hub_node *new, const hub_edit_path *path,
                           const hub_node *value)
{
    for (size_t i = 0; i < path->count; i++) {
        const hub_node *old_one = old != NULL ? hub_edit_child_at(old, path->steps[i]) : NULL;
        const hub_node *new_one = hub_edit_child_at(new, path->steps[i]);
        bool is_fresh = old == NULL || is_empty(old);
        if (!is_fresh ? !has_same_others(old, new, old_one, new_one)
                      : new_one != NULL && new->count != 1) {
            return false;
        }
        if (new_one == NULL) {
            return value == NULL && i + 1 == path->count;
        }
        old = old_one;
        new = new_one;
    }
    return value != NULL && has_value(new, value);
}
