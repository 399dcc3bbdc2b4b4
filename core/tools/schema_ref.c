/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a $ref leads: base URIs ($id), anchors, JSON pointers. Everything is found within the
 * document; another document is never fetched, so a reference to one makes the schema invalid.
 */
#include "tools/schema_internal.h"

/* ---- resources and anchors ---- */

hub_err hub_schema_resource_add(hub_schema_compiler *compiler, const hub_schema_node *root,
                                hub_str uri, unsigned dialect)
{
    hub_schema_resource *resource =
        hub_schema_alloc(&compiler->schema->memory, 1, sizeof *resource);
    if (resource == NULL) {
        return hub_schema_refuse_memory(compiler);
    }
    *resource = (hub_schema_resource){
        .uri = uri, .dialect = dialect, .root = root, .next = compiler->schema->resources};
    compiler->schema->resources = resource;
    compiler->resource = resource;
    return HUB_OK;
}

static hub_err add_anchor(hub_schema_compiler *compiler, const hub_schema_node *node, hub_str name,
                          bool is_dynamic)
{
    hub_schema_anchor *anchor = hub_schema_alloc(&compiler->schema->memory, 1, sizeof *anchor);
    if (anchor == NULL) {
        return hub_schema_refuse_memory(compiler);
    }
    *anchor = (hub_schema_anchor){
        .name = name, .node = node, .is_dynamic = is_dynamic, .next = compiler->resource->anchors};
    compiler->resource->anchors = anchor;
    return HUB_OK;
}

static hub_err read_text(hub_schema_compiler *compiler, const hub_schema_node *node,
                         const hub_schema_rule *rule, hub_str *ret_text)
{
    if (hub_json_type_of(rule->raw) != HUB_JSON_STRING) {
        return hub_schema_refuse(compiler, node, rule->keyword->name, HUB_EINVAL,
                                 "must be a string");
    }
    hub_err err = hub_schema_text(&compiler->schema->memory, rule->raw, ret_text);
    return err == HUB_OK ? HUB_OK : hub_fail(compiler->reterr, err, "%s", hub_err_text(err));
}

hub_err hub_schema_compile_dialect(hub_schema_compiler *compiler, hub_schema_node *node,
                                   hub_schema_rule *rule)
{
    hub_str ignored; /* the dialect was chosen before any rule is compiled */
    return read_text(compiler, node, rule, &ignored);
}

hub_err hub_schema_compile_id(hub_schema_compiler *compiler, hub_schema_node *node,
                              hub_schema_rule *rule)
{
    hub_str id = HUB_STR_EMPTY;
    hub_err err = read_text(compiler, node, rule, &id);
    if (err != HUB_OK) {
        return err;
    }
    size_t hash = hub_schema_char_find(id, 0, '#');
    hub_str uri = {.ptr = id.ptr, .len = hash};
    unsigned dialect = compiler->resource->dialect;
    if (hash + 1 < id.len && (dialect != HUB_SCHEMA_DRAFT07 || hash > 0)) {
        return hub_schema_refuse(compiler, node, "$id", HUB_EINVAL, "must have no fragment");
    }
    if (hash + 1 < id.len) {
        return add_anchor(compiler, node, hub_str_from(id, 1), false);
    }
    err = hub_schema_uri_resolve(compiler, compiler->resource->uri, uri, &uri);
    if (err != HUB_OK) {
        return err;
    }
    if (compiler->resource->root == node) {
        compiler->schema->resources->uri = uri; /* opened just now for this very node */
        return HUB_OK;
    }
    err = hub_schema_resource_add(compiler, node, uri, dialect);
    node->resource = compiler->resource;
    return err;
}

hub_err hub_schema_compile_anchor(hub_schema_compiler *compiler, hub_schema_node *node,
                                  hub_schema_rule *rule)
{
    hub_str name = HUB_STR_EMPTY;
    hub_err err = read_text(compiler, node, rule, &name);
    if (err == HUB_OK && (name.len == 0 || hub_schema_char_find(name, 0, '#') < name.len)) {
        err = hub_schema_refuse(compiler, node, rule->keyword->name, HUB_EINVAL,
                                "must be a plain name");
    }
    bool is_dynamic = rule->keyword == &hub_schema_keywords[HUB_SCHEMA_KW_DYNAMIC_ANCHOR];
    return err == HUB_OK ? add_anchor(compiler, node, name, is_dynamic) : err;
}

hub_err hub_schema_compile_ref(hub_schema_compiler *compiler, hub_schema_node *node,
                               hub_schema_rule *rule)
{
    hub_str ignored;
    hub_err err = read_text(compiler, node, rule, &ignored);
    if (err != HUB_OK) {
        return err;
    }
    hub_schema_pending_ref *pending =
        hub_schema_alloc(&compiler->schema->memory, 1, sizeof *pending);
    if (pending == NULL) {
        return hub_schema_refuse_memory(compiler);
    }
    *pending = (hub_schema_pending_ref){.node = node, .rule = rule, .next = compiler->pending};
    compiler->pending = pending;
    return HUB_OK;
}

/* ---- pointers ---- */

/* The next token of a pointer "/token/…", with ~1 and ~0 decoded. */
static hub_err take_token(hub_schema_compiler *compiler, hub_str *pointer, hub_str *ret_token)
{
    size_t end = hub_schema_char_find(*pointer, 1, '/');
    char *token = hub_schema_new_text(compiler, end);
    if (token == NULL) {
        return hub_schema_refuse_memory(compiler);
    }
    size_t len = 0;
    for (size_t i = 1; i < end; i++) {
        char c = pointer->ptr[i];
        if (c == '~' && i + 1 < end && (pointer->ptr[i + 1] | 1) == '1') {
            c = pointer->ptr[++i] == '1' ? '/' : '~';
        }
        token[len++] = c;
    }
    *ret_token = (hub_str){.ptr = token, .len = len};
    *pointer = hub_str_from(*pointer, end);
    return HUB_OK;
}

/* An array index as a pointer writes it, or SIZE_MAX. */
static size_t index_of(hub_str token)
{
    if (token.len == 0 || token.len > 9 || (token.len > 1 && token.ptr[0] == '0')) {
        return SIZE_MAX;
    }
    size_t index = 0;
    for (size_t i = 0; i < token.len; i++) {
        if (token.ptr[i] < '0' || token.ptr[i] > '9') {
            return SIZE_MAX;
        }
        index = index * 10 + (size_t)(token.ptr[i] - '0');
    }
    return index;
}

static const hub_schema_rule *rule_named(const hub_schema_node *node, hub_str name)
{
    for (size_t i = 0; i < node->rule_count; i++) {
        if (hub_str_is(name, node->rules[i].keyword->name)) {
            return &node->rules[i];
        }
    }
    return NULL;
}

/* From a schema to the subschema that the pointer's next one or two tokens name. The pointer stays
 * where it is when they name something else. */
static hub_err step_down(hub_schema_compiler *compiler, const hub_schema_node **node,
                         hub_str *pointer)
{
    hub_str rest = *pointer;
    hub_str token = HUB_STR_EMPTY;
    hub_err err = take_token(compiler, &rest, &token);
    const hub_schema_rule *rule = err == HUB_OK ? rule_named(*node, token) : NULL;
    if (rule == NULL || rule->form == HUB_SCHEMA_FORM_PLAIN) {
        return err;
    }
    const hub_schema_kid *kid = rule->kids;
    if (rule->form != HUB_SCHEMA_FORM_ONE) {
        if (rest.len == 0) {
            return HUB_OK;
        }
        err = take_token(compiler, &rest, &token);
        if (err != HUB_OK) {
            return err;
        }
        size_t index = index_of(token);
        kid = rule->form == HUB_SCHEMA_FORM_MAP ? hub_schema_kid_find(rule, token)
              : index < rule->kid_count         ? &rule->kids[index]
                                                : NULL;
    }
    if (kid != NULL && kid->node != NULL) {
        *node = kid->node;
        *pointer = rest;
    }
    return HUB_OK;
}

/* One token down in the text itself. The span is empty when there is nothing. */
static hub_err step_raw(hub_schema_compiler *compiler, hub_str *raw, hub_str *pointer)
{
    compiler->walked_bytes += raw->len;
    if (compiler->walked_bytes > HUB_SCHEMA_WALK_BYTES) {
        return hub_fail(compiler->reterr, HUB_ELIMIT,
                        "the schema: too many references into other things than schemas");
    }
    hub_str token = HUB_STR_EMPTY;
    hub_err err = take_token(compiler, pointer, &token);
    if (err != HUB_OK || hub_json_type_of(*raw) == HUB_JSON_OBJECT) {
        *raw = err == HUB_OK ? hub_json_get(*raw, token) : *raw;
        return err;
    }
    size_t index = index_of(token);
    hub_json_iter it = hub_json_iterate(*raw);
    hub_str key;
    hub_str element = {.len = 0};
    for (size_t i = 0; i <= index; i++) {
        if (!hub_json_next(&it, &key, &element)) {
            element = (hub_str){.len = 0};
            break;
        }
    }
    *raw = element;
    return HUB_OK;
}

/* A schema in a place where no keyword expects one, such as a member of an unknown keyword. */
static hub_err compile_extra(hub_schema_compiler *compiler, const hub_schema_node *near,
                             hub_str pointer, hub_str raw, const hub_schema_node **ret_node)
{
    for (const hub_schema_node *known = compiler->extras; known != NULL;
         known = known->next_extra) {
        if (known->raw.ptr == raw.ptr) {
            *ret_node = known;
            return HUB_OK;
        }
    }
    hub_schema_node *node = NULL;
    for (hub_schema_resource *at = compiler->schema->resources; at != NULL; at = at->next) {
        compiler->resource = at == near->resource ? at : compiler->resource;
    }
    char *name = hub_schema_new_text(compiler, pointer.len);
    if (name == NULL) {
        return hub_schema_refuse_memory(compiler);
    }
    memcpy(name, pointer.ptr + 1, pointer.len - 1); /* it ends with a 0 */
    hub_err err = hub_schema_compile_node(
        compiler, (hub_schema_origin){.parent = near, .keyword = name}, raw, &node);
    if (err == HUB_OK) {
        node->next_extra = compiler->extras;
        compiler->extras = node;
        *ret_node = node;
    }
    return err;
}

/* By way of compiled schemas as far as they go: that costs nothing per byte of text. `*ret_node`
 * stays NULL when the pointer leads nowhere. */
static hub_err follow_pointer(hub_schema_compiler *compiler, const hub_schema_node *from,
                              hub_str pointer, const hub_schema_node **ret_node)
{
    const hub_schema_node *node = from;
    hub_str rest = pointer;
    size_t before = SIZE_MAX;
    while (rest.len > 0 && rest.len != before) {
        before = rest.len;
        hub_err err = step_down(compiler, &node, &rest);
        if (err != HUB_OK) {
            return err;
        }
    }
    if (rest.len == 0) {
        *ret_node = node;
        return HUB_OK;
    }
    hub_str raw = node->raw;
    pointer = rest;
    while (rest.len > 0 && raw.len > 0) {
        hub_err err = step_raw(compiler, &raw, &rest);
        if (err != HUB_OK) {
            return err;
        }
    }
    return raw.len > 0 ? compile_extra(compiler, node, pointer, raw, ret_node) : HUB_OK;
}

/* ---- references ---- */

static const hub_schema_anchor *anchor_find(const hub_schema_resource *resource, hub_str name)
{
    const hub_schema_anchor *anchor = resource->anchors;
    while (anchor != NULL && !hub_str_eq(anchor->name, name)) {
        anchor = anchor->next;
    }
    return anchor;
}

/* The resource that the reference is about; NULL: it is outside the document. */
static hub_err find_resource(hub_schema_compiler *compiler, const hub_schema_node *node,
                             hub_str uri, const hub_schema_resource **ret_resource)
{
    *ret_resource = node->resource;
    if (uri.len == 0) {
        return HUB_OK;
    }
    hub_err err = hub_schema_uri_resolve(compiler, node->resource->uri, uri, &uri);
    const hub_schema_resource *at = compiler->schema->resources;
    while (at != NULL && !hub_str_eq(at->uri, uri)) {
        at = at->next;
    }
    *ret_resource = at;
    return err;
}

static hub_err resolve_fragment(hub_schema_compiler *compiler, const hub_schema_pending_ref *ref,
                                const hub_schema_resource *resource, hub_str fragment)
{
    hub_schema_rule *rule = ref->rule;
    if (fragment.len == 0) {
        rule->as.ref.target = resource->root;
        return HUB_OK;
    }
    if (fragment.ptr[0] == '/') {
        return follow_pointer(compiler, resource->root, fragment, &rule->as.ref.target);
    }
    const hub_schema_anchor *anchor = anchor_find(resource, fragment);
    if (anchor != NULL) {
        rule->as.ref.target = anchor->node;
        bool may_move = rule->keyword == &hub_schema_keywords[HUB_SCHEMA_KW_DYNAMIC_REF];
        rule->as.ref.dynamic = may_move && anchor->is_dynamic ? anchor->name : HUB_STR_EMPTY;
    }
    return HUB_OK;
}

static hub_err resolve_ref(hub_schema_compiler *compiler, const hub_schema_pending_ref *ref)
{
    hub_str text = HUB_STR_EMPTY;
    hub_err err = read_text(compiler, ref->node, ref->rule, &text);
    hub_str shown = hub_schema_cut(text, HUB_SCHEMA_SHOWN_BYTES);
    size_t hash = hub_schema_char_find(text, 0, '#');
    const hub_schema_resource *resource = NULL;
    if (err == HUB_OK) {
        err =
            find_resource(compiler, ref->node, (hub_str){.ptr = text.ptr, .len = hash}, &resource);
    }
    if (err == HUB_OK && resource == NULL) {
        return hub_schema_refuse(compiler, ref->node, ref->rule->keyword->name, HUB_EINVAL,
                                 "\"" HUB_STR_FMT "\" is another document, which is never fetched",
                                 HUB_STR_ARG(shown));
    }
    hub_str fragment = HUB_STR_EMPTY;
    if (err == HUB_OK && hash < text.len) {
        err = hub_schema_uri_decode(compiler, hub_str_from(text, hash + 1), &fragment);
    }
    if (err == HUB_OK) {
        err = resolve_fragment(compiler, ref, resource, fragment);
    }
    if (err == HUB_OK && ref->rule->as.ref.target == NULL) {
        err = hub_schema_refuse(compiler, ref->node, ref->rule->keyword->name, HUB_EINVAL,
                                "\"" HUB_STR_FMT "\" leads nowhere", HUB_STR_ARG(shown));
    }
    return err;
}

hub_err hub_schema_resolve_refs(hub_schema_compiler *compiler)
{
    while (compiler->pending != NULL) {
        const hub_schema_pending_ref *ref = compiler->pending;
        compiler->pending = ref->next;
        hub_err err = resolve_ref(compiler, ref);
        if (err != HUB_OK) {
            return err;
        }
    }
    return HUB_OK;
}
