/* SPDX-License-Identifier: Apache-2.0 */
#include "tool_headers.h"

#include "header_value.h"

#include <search.h>

static const char ANNOTATION[] = "x-mcp-header";

typedef struct annotated_tool {
    patchbay_str name;
    patchbay_str schema;
    char bytes[]; /* of both */
} annotated_tool;

/* The check of one tool: the names met so far, and what is wrong. */
typedef struct header_check {
    patchbay_str names[TOOL_HEADERS_MAX]; /* raw */
    size_t count;
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

static void check_annotation(header_check *check, patchbay_str name, patchbay_str type)
{
    static const char *const TYPES[] = {"string", "integer", "boolean", NULL};
    patchbay_str text = name.len >= 2 && name.ptr[0] == '"'
                            ? patchbay_str_make(name.ptr + 1, name.len - 2)
                            : patchbay_str_make(NULL, 0);
    if (!header_is_token(text)) {
        check->wrong = "is not the name of a header";
    } else if (!is_one_of(type, TYPES)) {
        check->wrong = "is on a parameter that is no string, integer or boolean";
    } else if (check->count == TOOL_HEADERS_MAX) {
        check->wrong = "is on too many parameters";
    }
    for (size_t i = 0; i < check->count && check->wrong == NULL; i++) {
        if (is_same_name(check->names[i], text)) {
            check->wrong = "names the same header twice";
        }
    }
    if (check->wrong == NULL) {
        check->names[check->count++] = text;
    }
}

static void check_schema(header_check *check, patchbay_str schema, int is_property,
                         int is_reachable);

/* The elements or members of a value that holds schemas. */
static void check_each(header_check *check, patchbay_str schemas, int is_reachable)
{
    patchbay_json_iter it = patchbay_json_iterate(schemas);
    patchbay_str key;
    patchbay_str value;
    while (check->wrong == NULL && patchbay_json_next(&it, &key, &value)) {
        check_schema(check, value, is_reachable, is_reachable);
    }
}

/* Recursion is bounded by the depth of JSON. */
static void check_schema(header_check *check, patchbay_str schema, int is_property,
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
            if (is_property) {
                check_annotation(check, value, patchbay_json_get(schema, "type"));
            } else {
                check->wrong = "is where no argument can be found";
            }
        } else if (patchbay_json_is(key, patchbay_str_of("properties"))) {
            check_each(check, value, is_reachable);
        } else if (is_one_of(key, MAPS) || (value.len > 0 && value.ptr[0] == '[')) {
            if (!is_one_of(key, DATA)) {
                check_each(check, value, 0);
            }
        } else if (!is_one_of(key, DATA)) {
            check_schema(check, value, 0, 0);
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

void tool_headers_begin(tool_headers *all)
{
    tdestroy(all->former, free);
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
        free(gone);
    }
}

static int keep(tool_headers *all, patchbay_str name, patchbay_str schema)
{
    annotated_tool *made = malloc(sizeof *made + name.len + schema.len);
    if (made == NULL) {
        return 0;
    }
    memcpy(made->bytes, name.ptr, name.len);
    memcpy(made->bytes + name.len, schema.ptr, schema.len);
    made->name = patchbay_str_make(made->bytes, name.len);
    made->schema = patchbay_str_make(made->bytes + name.len, schema.len);
    if (tsearch(made, &all->latest, compare) == NULL) {
        free(made);
        return 0;
    }
    return 1;
}

const char *tool_headers_take(tool_headers *all, patchbay_str tool)
{
    header_check check = {.count = 0};
    patchbay_out name = {0};
    patchbay_str schema = patchbay_json_get(tool, "inputSchema");
    check_schema(&check, schema, 0, 1);
    if (patchbay_json_decode(patchbay_json_get(tool, "name"), &name) && name.len > 0) {
        patchbay_str text = patchbay_str_make(name.ptr, name.len);
        forget(&all->latest, text);
        forget(&all->former, text);
        if (check.wrong == NULL && check.count > 0 && !keep(all, text, schema)) {
            check.wrong = "cannot be remembered: out of memory";
        }
    }
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

/* The value of the member whose name is the raw string `key`. */
static patchbay_str get_raw(patchbay_str object, patchbay_str key)
{
    patchbay_out name = {0};
    patchbay_str found = patchbay_str_make(NULL, 0);
    patchbay_json_iter it = patchbay_json_iterate(object);
    patchbay_str at;
    patchbay_str value;
    (void)patchbay_json_decode(key, &name);
    while (it.is_object && found.len == 0 && patchbay_json_next(&it, &at, &value)) {
        if (patchbay_json_is(at, patchbay_str_make(name.ptr, name.len))) {
            found = value;
        }
    }
    patchbay_out_free(&name);
    return found;
}

/* Walk schema and arguments together. */
static void add_values(patchbay_str schema, patchbay_str arguments, patchbay_out *lines)
{
    patchbay_json_iter it = patchbay_json_iterate(patchbay_json_get(schema, "properties"));
    patchbay_str key;
    patchbay_str property;
    while (it.is_object && patchbay_json_next(&it, &key, &property)) {
        patchbay_str header = patchbay_json_get(property, ANNOTATION);
        patchbay_str value = get_raw(arguments, key);
        int is_scalar = value.len > 0 && strchr("{[n", value.ptr[0]) == NULL;
        if (header.len > 2 && is_scalar) {
            add_value(patchbay_str_make(header.ptr + 1, header.len - 2), value, lines);
        } else if (value.len > 0 && value.ptr[0] == '{') {
            add_values(property, value, lines);
        }
    }
}

void tool_headers_add(const tool_headers *all, patchbay_str name, patchbay_str arguments,
                      patchbay_out *lines)
{
    const annotated_tool key = {.name = name};
    annotated_tool *const *node = name.len > 0 ? tfind(&key, &all->latest, compare) : NULL;
    if (node == NULL && name.len > 0) {
        node = tfind(&key, &all->former, compare);
    }
    if (node != NULL) {
        add_values((*node)->schema, arguments, lines);
    }
}

void tool_headers_free(tool_headers *all)
{
    tdestroy(all->latest, free);
    tdestroy(all->former, free);
    all->latest = NULL;
    all->former = NULL;
}
