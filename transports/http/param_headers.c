/* SPDX-License-Identifier: Apache-2.0 */
#include "http/param_headers.h"

#include "base/limits.h"
#include "base/map.h"
#include "http/limits.h"
#include "http/mcp_headers.h"
#include "http/syntax.h"
#include "wire/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define PREFIX "Mcp-Param-"

enum {
    PROPERTY_DEPTH = HUB_LIMIT_SCHEMA_DEPTH, /* of nested `properties` */
    NAME_BYTES = 256,                        /* of a header; longer ones nobody can send */
};

/* A property that has an annotation, or one inside of which there is one. */
typedef struct property {
    hub_str argument; /* the first of its name; empty: there is none */
    bool is_seen;     /* there is one, perhaps not walked over yet */
    bool is_parent;
    size_t key_len;
    UT_hash_handle hh;
    char key[]; /* the address of the parent, then the name */
} property;

typedef struct annotation {
    hub_str header; /* a raw value */
    const property *of;
    struct annotation *next;
} annotation;

typedef struct params {
    property *properties;
    annotation *first;
    annotation **end;
    hub_buf key; /* scratch */
    size_t steps;
    const hub_http_header *headers[HUB_HTTP_LIMIT_HEADERS]; /* Mcp-Param-*, by name */
    size_t header_count;
} params;

/* On the way into the schema: the names down to here, and their properties as far as there are. */
typedef struct chain {
    hub_str names[PROPERTY_DEPTH];
    property *made[PROPERTY_DEPTH];
    size_t depth;
} chain;

/* ---- properties ------------------------------------------------------------------------------ */

/* The key of a property, from a raw name; empty without memory. */
static hub_str make_key(params *all, const property *parent, hub_str raw_name)
{
    hub_buf_clear(&all->key);
    hub_buf_add(&all->key, (hub_str){.ptr = (const char *)&parent, .len = sizeof parent});
    hub_err err = hub_json_decode(raw_name, &all->key);
    return err == HUB_OK ? hub_buf_str(&all->key) : HUB_STR_EMPTY;
}

static property *find(params *all, const property *parent, hub_str raw_name)
{
    property *found = NULL;
    hub_str key = make_key(all, parent, raw_name);
    HASH_FIND(hh, all->properties, key.ptr, (unsigned)key.len, found);
    return found;
}

static property *find_or_add(params *all, property *parent, hub_str raw_name)
{
    property *found = find(all, parent, raw_name);
    hub_str key = hub_buf_str(&all->key);
    if (found != NULL || !hub_buf_ok(&all->key)) {
        return found;
    }
    property *added = calloc(1, sizeof *added + key.len);
    if (added == NULL) {
        return NULL;
    }
    memcpy(added->key, key.ptr, key.len);
    added->key_len = key.len;
    HASH_ADD_KEYPTR(hh, all->properties, added->key, (unsigned)added->key_len, added);
    if (!hub_map_has_taken(&added->hh)) {
        free(added);
        return NULL;
    }
    if (parent != NULL) {
        parent->is_parent = true;
    }
    return added;
}

/* Note an annotation of the property that the chain leads to. */
static hub_err add_annotation(params *all, chain *at, hub_str header)
{
    property *parent = NULL;
    for (size_t i = 0; i < at->depth; i++) {
        if (at->made[i] == NULL) {
            at->made[i] = find_or_add(all, parent, at->names[i]);
        }
        parent = at->made[i];
        if (parent == NULL) {
            return HUB_ENOMEM;
        }
    }
    annotation *added = malloc(sizeof *added);
    if (added == NULL) {
        return HUB_ENOMEM;
    }
    *added = (annotation){.header = header, .of = parent};
    *all->end = added;
    all->end = &added->next;
    return HUB_OK;
}

static hub_err walk_schema(params *all, hub_json_iter *it, chain *at);

/* Walk `properties`, in front of which the iterator is. */
static hub_err walk_properties(params *all, hub_json_iter *it, chain *at)
{
    hub_str key;
    hub_err err = HUB_OK;
    if (!hub_json_enter(it)) {
        (void)hub_json_pass(it);
        return HUB_OK;
    }
    while (err == HUB_OK && hub_json_next_key(it, &key)) {
        all->steps++;
        if (!hub_json_enter(it)) {
            (void)hub_json_pass(it);
            continue;
        }
        at->names[at->depth] = key;
        at->made[at->depth++] = NULL;
        err = walk_schema(all, it, at);
        at->depth--;
    }
    return err;
}

/* Walk the members of a schema that was entered: the root, or a property. Of a member that occurs
 * twice the first counts. */
static hub_err walk_schema(params *all, hub_json_iter *it, chain *at)
{
    hub_str key;
    bool has_header = at->depth == 0; /* the root is no argument */
    bool has_properties = at->depth == PROPERTY_DEPTH;
    hub_err err = HUB_OK;
    while (err == HUB_OK && hub_json_next_key(it, &key)) {
        all->steps++;
        if (!has_header && hub_json_string_is(key, HUB_STR("x-mcp-header"))) {
            has_header = true;
            err = add_annotation(all, at, hub_json_pass(it));
        } else if (!has_properties && hub_json_string_is(key, HUB_STR("properties"))) {
            has_properties = true;
            err = walk_properties(all, it, at);
        } else {
            (void)hub_json_pass(it);
        }
    }
    return err;
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* Walk the members of an object of arguments that was entered: as deep as there are properties. */
static hub_err walk_arguments(params *all, hub_json_iter *it, const property *parent)
{
    hub_str key;
    hub_err err = HUB_OK;
    while (err == HUB_OK && hub_json_next_key(it, &key)) {
        all->steps++;
        property *named = find(all, parent, key);
        err = all->key.failed;
        if (err != HUB_OK || named == NULL || named->is_seen) {
            (void)hub_json_pass(it);
            continue;
        }
        const char *begin = it->at;
        named->is_seen = true;
        if (named->is_parent && hub_json_enter(it)) {
            err = walk_arguments(all, it, named);
        } else {
            (void)hub_json_pass(it);
        }
        named->argument = hub_str_between(begin, it->at);
    }
    return err;
}

/* ---- headers --------------------------------------------------------------------------------- */

/* By name in any case; of one name the first line comes first. */
static int compare(hub_str a, hub_str b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len > 0 ? strncasecmp(a.ptr, b.ptr, len) : 0;
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static int by_name(const void *a, const void *b)
{
    const hub_http_header *left = *(const hub_http_header *const *)a;
    const hub_http_header *right = *(const hub_http_header *const *)b;
    int order = compare(left->name, right->name);
    return order != 0 ? order : (left > right) - (left < right);
}

static void collect_headers(params *all, const hub_http_request *request)
{
    for (size_t i = 0; i < request->header_count; i++) {
        const hub_http_header *header = &request->headers[i];
        if (header->name.len > sizeof PREFIX - 1 &&
            strncasecmp(header->name.ptr, PREFIX, sizeof PREFIX - 1) == 0) {
            all->headers[all->header_count++] = header;
        }
    }
    qsort(all->headers, all->header_count, sizeof(hub_http_header *), by_name);
}

static const hub_http_header *find_header(const params *all, hub_str name)
{
    size_t low = 0;
    size_t high = all->header_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(all->headers[middle]->name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < all->header_count && compare(all->headers[low]->name, name) == 0
               ? all->headers[low]
               : NULL;
}

/* The header that an annotation names, against the argument. */
static hub_err check_annotation(const params *all, const annotation *at, hub_error *reterr)
{
    char name[sizeof PREFIX + NAME_BYTES];
    hub_buf text;
    hub_buf_init(&text, NAME_BYTES);
    hub_err err = hub_json_decode(at->header, &text);
    if (err == HUB_OK && hub_http_is_token(hub_buf_str(&text))) {
        (void)snprintf(name, sizeof name, PREFIX HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&text)));
        const hub_http_header *header = find_header(all, hub_str_of(name));
        err = hub_mcp_header_check(header != NULL ? &header->value : NULL, HUB_MCP_BASE64,
                                   at->of->argument, reterr);
        if (err != HUB_OK) {
            hub_error_prefix(reterr, "Header mismatch: %s", name);
        }
    } else {
        err = HUB_OK; /* not a valid annotation: no client sends a header for it */
    }
    hub_buf_fini(&text);
    return err;
}

static void fini(params *all)
{
    property *property_at;
    property *property_next;
    HASH_ITER(hh, all->properties, property_at, property_next)
    {
        HASH_DEL(all->properties, property_at);
        free(property_at);
    }
    while (all->first != NULL) {
        annotation *next = all->first->next;
        free(all->first);
        all->first = next;
    }
    hub_buf_fini(&all->key);
}

hub_err hub_http_check_params(const hub_http_request *request, hub_str schema, hub_str arguments,
                              size_t *steps, hub_error *reterr)
{
    params all = {.first = NULL};
    chain at = {.depth = 0};
    all.end = &all.first;
    hub_buf_init(&all.key, sizeof(property *) + HUB_LIMIT_CLIENT_MESSAGE_BYTES + schema.len);
    hub_json_iter it = hub_json_iterate(schema);
    hub_err err = walk_schema(&all, &it, &at);
    if (err == HUB_OK && all.first != NULL) {
        it = hub_json_iterate(arguments);
        err = walk_arguments(&all, &it, NULL);
        collect_headers(&all, request);
    }
    if (err != HUB_OK) {
        (void)hub_fail(reterr, err, "%s", hub_err_text(err));
    }
    for (const annotation *each = all.first; err == HUB_OK && each != NULL; each = each->next) {
        err = check_annotation(&all, each, reterr);
    }
    if (steps != NULL) {
        *steps += all.steps;
    }
    fini(&all);
    return err;
}
