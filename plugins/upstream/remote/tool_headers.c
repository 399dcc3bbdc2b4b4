/* SPDX-License-Identifier: Apache-2.0 */
#include "tool_headers.h"

#include "header_value.h"

#include <search.h>

static const char ANNOTATION[] = "x-mcp-header";

enum { NO_HEADER = UINT16_MAX, ROOT = 0 };

/* A parameter that has a header, or parameters inside that have. Node 0 is the arguments. */
typedef struct param_node {
    uint32_t key; /* where its name is, decoded */
    uint32_t key_len;
    uint16_t header; /* its number, or NO_HEADER */
    uint16_t first;  /* node inside; 0: none */
    uint16_t next;   /* node beside; 0: none */
    uint16_t reserved;
} param_node;

typedef struct annotated_tool {
    patchbay_str name;
    param_node *nodes;
    char *bytes; /* names of parameters */
    uint16_t node_count;
    uint16_t header_count;
    patchbay_str headers[TOOL_HEADERS_MAX];
    char texts[]; /* of the tool's name and the headers */
} annotated_tool;

/* Where in the schema the check is: names of properties, from the innermost out. */
typedef struct schema_path {
    const struct schema_path *up;
    patchbay_str key; /* raw */
} schema_path;

/* The check of one tool: the headers met so far, where they are, and what is wrong. */
typedef struct header_check {
    patchbay_str names[TOOL_HEADERS_MAX]; /* raw */
    size_t count;
    param_node *nodes; /* TOOL_HEADERS_NODES of them; NULL: there was no header yet */
    size_t node_count;
    patchbay_out bytes;
    const char *wrong;
} header_check;

static int is_one_of(patchbay_str key, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        if (patchbay_json_is(key, patchbay_str_of(words[i]))) {
            return 1;
        }
    }
    return 0;
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Names are tokens, without anything to unescape but what JSON may write in two ways. */
static int is_same_name(patchbay_str a, patchbay_str b)
{
    if (a.len != b.len) {
        return 0;
    }
    for (size_t i = 0; i < a.len; i++) {
        if (lower(a.ptr[i]) != lower(b.ptr[i])) {
            return 0;
        }
    }
    return 1;
}

static patchbay_str key_of(const char *bytes, const param_node *node)
{
    return patchbay_str_make(node->key_len > 0 ? bytes + node->key : "", node->key_len);
}

/* The node inside `parent` of that name, or 0. */
static uint16_t find_node(const param_node *nodes, const char *bytes, uint16_t parent,
                          patchbay_str name, size_t *steps)
{
    uint16_t at = nodes[parent].first;
    while (at != 0 && !patchbay_str_eq(key_of(bytes, &nodes[at]), name)) {
        at = nodes[at].next;
        ++*steps;
    }
    return at;
}

/* The node of the path, made if it is not there yet; 0 when that cannot be. */
static uint16_t make_node(header_check *check, const schema_path *path)
{
    if (path == NULL) {
        return ROOT;
    }
    uint16_t parent = make_node(check, path->up);
    size_t before = check->bytes.len;
    size_t steps = 0;
    if (check->wrong != NULL) {
        return 0;
    }
    (void)patchbay_json_decode(path->key, &check->bytes);
    if (check->bytes.failed) {
        check->wrong = "cannot be remembered: out of memory";
        return 0;
    }
    size_t len = check->bytes.len - before;
    patchbay_str name = patchbay_str_make(len > 0 ? check->bytes.ptr + before : "", len);
    uint16_t found = find_node(check->nodes, check->bytes.ptr, parent, name, &steps);
    if (found != 0) {
        check->bytes.len = before;
        return found;
    }
    if (check->node_count == TOOL_HEADERS_NODES) {
        check->wrong = "is on parameters that lie too deep";
        return 0;
    }
    uint16_t made = (uint16_t)check->node_count++;
    check->nodes[made] = (param_node){
        .key = (uint32_t)before,
        .key_len = (uint32_t)name.len,
        .header = NO_HEADER,
        .next = check->nodes[parent].first,
    };
    check->nodes[parent].first = made;
    return made;
}

/* The parameter at `path` has the next header. */
static void note_place(header_check *check, const schema_path *path)
{
    if (check->nodes == NULL) {
        check->nodes = calloc(TOOL_HEADERS_NODES, sizeof *check->nodes);
        if (check->nodes == NULL) {
            check->wrong = "cannot be remembered: out of memory";
            return;
        }
        check->nodes[ROOT].header = NO_HEADER;
        check->node_count = 1;
    }
    uint16_t node = make_node(check, path);
    if (check->wrong == NULL && check->nodes[node].header != NO_HEADER) {
        check->wrong = "is on a parameter that the schema has twice";
    } else if (check->wrong == NULL) {
        check->nodes[node].header = (uint16_t)check->count;
    }
}

static void check_annotation(header_check *check, patchbay_str name, patchbay_str type,
                             const schema_path *path)
{
    static const char *const TYPES[] = {"string", "integer", "boolean", NULL};
    patchbay_str text = name.len >= 2 && name.ptr[0] == '"'
                            ? patchbay_str_make(name.ptr + 1, name.len - 2)
                            : patchbay_str_make(NULL, 0);
    if (!header_is_token(text)) {
        check->wrong = "is not the name of a header";
    } else if (!is_one_of(type, TYPES)) {
        check->wrong = "is on a parameter that is not a string, integer or boolean";
    } else if (check->count == TOOL_HEADERS_MAX) {
        check->wrong = "is on too many parameters";
    }
    for (size_t i = 0; i < check->count && check->wrong == NULL; i++) {
        if (is_same_name(check->names[i], text)) {
            check->wrong = "names the same header twice";
        }
    }
    if (check->wrong == NULL) {
        note_place(check, path);
        check->names[check->count++] = text;
    }
}

/* `path`: of the property that it is the schema of. `is_reachable`: what it describes can be found in
 * the arguments. */
static void check_schema(header_check *check, patchbay_str schema, const schema_path *path,
                         int is_reachable);

/* The elements or members of a value that holds schemas. */
static void check_each(header_check *check, patchbay_str schemas)
{
    patchbay_json_iter it = patchbay_json_iterate(schemas);
    patchbay_str key;
    patchbay_str value;
    while (check->wrong == NULL && patchbay_json_next(&it, &key, &value)) {
        check_schema(check, value, NULL, 0);
    }
}

static void check_properties(header_check *check, patchbay_str schemas, const schema_path *path,
                             int is_reachable)
{
    patchbay_json_iter it = patchbay_json_iterate(schemas);
    schema_path inside = {.up = path};
    patchbay_str value;
    while (check->wrong == NULL && patchbay_json_next(&it, &inside.key, &value)) {
        int is_named = is_reachable && it.is_object;
        check_schema(check, value, is_named ? &inside : NULL, is_named);
    }
}

/* Recursion is bounded by the depth of JSON. */
static void check_schema(header_check *check, patchbay_str schema, const schema_path *path,
                         int is_reachable)
{
    static const char *const DATA[] = {"const", "enum", "default", "examples", NULL};
    static const char *const MAPS[] = {"patternProperties", "$defs", "definitions",
                                       "dependentSchemas", NULL};
    patchbay_json_iter it = patchbay_json_iterate(schema);
    patchbay_str key;
    patchbay_str value;
    while (check->wrong == NULL && it.is_object && patchbay_json_next(&it, &key, &value)) {
        if (patchbay_json_is(key, patchbay_str_of(ANNOTATION))) {
            if (path != NULL) {
                check_annotation(check, value, patchbay_json_get(schema, "type"), path);
            } else {
                check->wrong = "is where no argument can be found";
            }
        } else if (patchbay_json_is(key, patchbay_str_of("properties"))) {
            check_properties(check, value, path, is_reachable);
        } else if (is_one_of(key, MAPS) || (value.len > 0 && value.ptr[0] == '[')) {
            if (!is_one_of(key, DATA)) {
                check_each(check, value);
            }
        } else if (!is_one_of(key, DATA)) {
            check_schema(check, value, NULL, 0);
        }
    }
}

/* ---- the tools that want it ---------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const annotated_tool *left = a;
    const annotated_tool *right = b;
    if (left->name.len != right->name.len) {
        return left->name.len < right->name.len ? -1 : 1;
    }
    return memcmp(left->name.ptr, right->name.ptr, left->name.len); /* no name is empty */
}

static void free_tool(void *tool)
{
    annotated_tool *gone = tool;
    free(gone->nodes);
    free(gone->bytes);
    free(gone);
}

void tool_headers_begin(tool_headers *all)
{
    tdestroy(all->former, free_tool);
    all->former = all->latest;
    all->latest = NULL;
}

static void forget(void **tree, patchbay_str name)
{
    const annotated_tool key = {.name = name};
    annotated_tool **node = tfind(&key, tree, compare);
    if (node != NULL) {
        annotated_tool *gone = *node;
        (void)tdelete(&key, tree, compare);
        free_tool(gone);
    }
}

static patchbay_str copy_text(char **at, patchbay_str text)
{
    patchbay_str copy = patchbay_str_make(*at, text.len);
    memcpy(*at, text.ptr, text.len);
    *at += text.len;
    return copy;
}

/* Takes what the check has found. */
static int keep(tool_headers *all, patchbay_str name, header_check *check)
{
    size_t size = name.len;
    for (size_t i = 0; i < check->count; i++) {
        size += check->names[i].len;
    }
    annotated_tool *made = calloc(1, sizeof *made + size);
    param_node *nodes = realloc(check->nodes, check->node_count * sizeof *nodes);
    if (made == NULL || nodes == NULL) {
        free(made);
        check->nodes = nodes != NULL ? nodes : check->nodes;
        return 0;
    }
    char *at = made->texts;
    made->name = copy_text(&at, name);
    made->header_count = (uint16_t)check->count;
    for (size_t i = 0; i < check->count; i++) {
        made->headers[i] = copy_text(&at, check->names[i]);
    }
    made->nodes = nodes;
    made->node_count = (uint16_t)check->node_count;
    made->bytes = check->bytes.ptr;
    check->nodes = NULL;
    check->bytes = (patchbay_out){0};
    if (tsearch(made, &all->latest, compare) == NULL) {
        free_tool(made);
        return 0;
    }
    return 1;
}

const char *tool_headers_take(tool_headers *all, patchbay_str tool)
{
    header_check check = {.count = 0};
    patchbay_out name = {0};
    patchbay_str schema = patchbay_json_get(tool, "inputSchema");
    check_schema(&check, schema, NULL, 1);
    if (patchbay_json_decode(patchbay_json_get(tool, "name"), &name) && name.len > 0) {
        patchbay_str text = patchbay_str_make(name.ptr, name.len);
        forget(&all->latest, text);
        forget(&all->former, text);
        if (check.wrong == NULL && check.count > 0 && !keep(all, text, &check)) {
            check.wrong = "cannot be remembered: out of memory";
        }
    }
    free(check.nodes);
    patchbay_out_free(&check.bytes);
    patchbay_out_free(&name);
    return check.wrong;
}

/* ---- a call -------------------------------------------------------------------------------- */

static void add_value(patchbay_str header, patchbay_str value, patchbay_out *lines)
{
    patchbay_out name = {0};
    patchbay_out text = {0};
    int64_t number;
    patchbay_out_text(&name, "Mcp-Param-");
    patchbay_out_raw(&name, header);
    if (value.ptr[0] == '"') {
        (void)patchbay_json_decode(value, &text);
    } else if (patchbay_json_int(value, &number)) {
        patchbay_out_printf(&text, "%lld", (long long)number);
    } else {
        patchbay_out_raw(&text, value); /* true, false, or a number that the server will refuse */
    }
    if (name.failed || text.failed) {
        lines->failed = 1;
    } else {
        header_add(lines, name.ptr, patchbay_str_make(text.ptr, text.len));
    }
    patchbay_out_free(&name);
    patchbay_out_free(&text);
}

/* The arguments of one call, passed over once. */
typedef struct arguments_walk {
    const annotated_tool *tool;
    const char *end;
    size_t steps;
    patchbay_out name;                     /* of a member, decoded */
    patchbay_str values[TOOL_HEADERS_MAX]; /* by header; empty: not there */
    unsigned char
        met[TOOL_HEADERS_NODES / 8]; /* nodes: of a name that comes again the first counts */
} arguments_walk;

/* The node of a member whose name is the raw string `key`, if it is met for the first time; or 0. */
static uint16_t meet(arguments_walk *walk, uint16_t parent, patchbay_str key)
{
    patchbay_str name = patchbay_str_make(key.ptr + 1, key.len - 2);
    if (memchr(name.ptr, '\\', name.len) != NULL) {
        walk->name.len = 0;
        (void)patchbay_json_decode(key, &walk->name);
        name = patchbay_str_make(walk->name.ptr, walk->name.len);
    }
    const annotated_tool *tool = walk->tool;
    uint16_t node = find_node(tool->nodes, tool->bytes, parent, name, &walk->steps);
    unsigned char bit = (unsigned char)(1u << (node & 7));
    if (node == 0 || (walk->met[node >> 3] & bit) != 0) {
        return 0;
    }
    walk->met[node >> 3] |= bit;
    return node;
}

/* An object, from its brace on. Returns where it ends. Recursion goes no deeper than the nodes. */
static const char *walk_object(arguments_walk *walk, uint16_t parent, const char *at)
{
    const param_node *nodes = walk->tool->nodes;
    for (at++;;) {
        at = patchbay_json_skip_space_(at, walk->end);
        if (at < walk->end && *at == ',') {
            at = patchbay_json_skip_space_(at + 1, walk->end);
        }
        if (at >= walk->end || *at == '}') {
            return at < walk->end ? at + 1 : at;
        }
        const char *key_end = patchbay_json_skip_value_(at, walk->end);
        uint16_t node = meet(walk, parent, patchbay_str_make(at, (size_t)(key_end - at)));
        at = patchbay_json_skip_space_(key_end, walk->end);
        const char *value = patchbay_json_skip_space_(at + 1, walk->end); /* the colon */
        if (node != 0 && nodes[node].first != 0 && *value == '{') {
            at = walk_object(walk, node, value);
            continue;
        }
        at = patchbay_json_skip_value_(value, walk->end);
        if (node != 0 && nodes[node].header != NO_HEADER && strchr("{[n", *value) == NULL) {
            walk->values[nodes[node].header] = patchbay_str_make(value, (size_t)(at - value));
        }
    }
}

static size_t add_values(const annotated_tool *tool, patchbay_str arguments, patchbay_out *lines)
{
    arguments_walk walk = {.tool = tool};
    while (arguments.len > 0 && patchbay_json_is_space_(arguments.ptr[0])) {
        arguments = patchbay_str_make(arguments.ptr + 1, arguments.len - 1);
    }
    if (arguments.len == 0 || arguments.ptr[0] != '{') {
        return 0;
    }
    walk.end = arguments.ptr + arguments.len;
    walk.steps = (size_t)(walk_object(&walk, ROOT, arguments.ptr) - arguments.ptr) + walk.steps;
    for (size_t i = 0; i < tool->header_count; i++) {
        if (walk.values[i].len > 0) {
            add_value(tool->headers[i], walk.values[i], lines);
        }
    }
    lines->failed = lines->failed || walk.name.failed;
    patchbay_out_free(&walk.name);
    return walk.steps;
}

size_t tool_headers_add(const tool_headers *all, patchbay_str name, patchbay_str arguments,
                        patchbay_out *lines)
{
    const annotated_tool key = {.name = name};
    annotated_tool *const *node = name.len > 0 ? tfind(&key, &all->latest, compare) : NULL;
    if (node == NULL && name.len > 0) {
        node = tfind(&key, &all->former, compare);
    }
    return node != NULL ? add_values(*node, arguments, lines) : 0;
}

void tool_headers_free(tool_headers *all)
{
    tdestroy(all->latest, free_tool);
    tdestroy(all->former, free_tool);
    all->latest = NULL;
    all->former = NULL;
}
