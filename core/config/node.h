/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A document as a tree in which every node knows where it was written: what YAML and JSON files
 * become before anyone asks what they mean. Built once, then read only; all memory is the arena's.
 *
 * Scalars follow the YAML 1.2 core schema as far as JSON can say it: null, true and false, numbers
 * that are valid JSON numbers (kept as written); everything else, and everything quoted, is text.
 */
#ifndef HUB_CONFIG_NODE_H
#define HUB_CONFIG_NODE_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>

typedef enum hub_node_kind {
    HUB_NODE_NULL,
    HUB_NODE_TRUE,
    HUB_NODE_FALSE,
    HUB_NODE_NUMBER,
    HUB_NODE_TEXT,
    HUB_NODE_LIST,
    HUB_NODE_MAP,
} hub_node_kind;

/* Where a node stands in its document: byte offsets. */
typedef struct hub_node_span {
    uint32_t key_from; /* the key with its quotes; in a list, both are `from` */
    uint32_t key_to;
    uint32_t from; /* the value with its quotes and brackets; what is left empty has no bytes */
    uint32_t to;   /* a block of YAML may have white space and comments at its end */
    bool is_flow;  /* lists and maps: in brackets */
} hub_node_span;

typedef struct hub_node {
    const char *file;        /* as given by whoever read it */
    const char *key;         /* in a map: its key; else NULL */
    struct hub_node *parent; /* NULL: the root */
    struct hub_node *first;  /* children of a list or map, in the order written */
    struct hub_node *last;
    struct hub_node *next; /* sibling */
    hub_node_span span;
    hub_str text; /* a scalar as written, unquoted, NUL-terminated, without NUL inside */
    const char
        *fault;     /* why it is good for nothing: equal keys, a NUL character; NULL: it is fine */
    size_t count;   /* of children */
    uint32_t index; /* in its parent */
    uint32_t line;  /* from 1; of its key, in a map; 0: not from a file */
    uint32_t depth; /* the root has 1 */
    hub_node_kind kind;
} hub_node;

/* What the two parsers share: where nodes go, and how many there are. */
typedef struct hub_node_builder {
    hub_arena *arena;
    const char *file;
    hub_node *root; /* NULL until the first hub_node_add */
    size_t count;
    hub_error *reterr;
} hub_node_builder;

/* Read a whole document. `file` is what messages call it, and outlives the nodes; its ending
 * decides on the language (.yaml, .yml; .json, .jsonc, .json5, .code-workspace), else its first
 * character:
 * '{' or a // or C comment is JSON. JSON may have comments and trailing commas. An empty YAML
 * document is null. Two equal keys in one map are an error. errors:  HUB_EPARSE, HUB_EINVAL
 * (duplicate key, alias, tag), HUB_ELIMIT (bytes, depth, values), HUB_ENOMEM; the text begins
 * "FILE:LINE: " */
HUB_MUST_CHECK hub_err hub_node_parse(const char *file, hub_str text, hub_arena *arena,
                                      const hub_node **ret_root, hub_error *reterr);

/* The same of a document whose entries count one by one: equal keys and NUL characters are no errors, but
 * faults of their nodes, for hub_node_check. */
HUB_MUST_CHECK hub_err hub_node_read(const char *file, hub_str text, hub_arena *arena,
                                     const hub_node **ret_root, hub_error *reterr);

/* Refuse a tree in which a node has a fault; what is below `open` (may be NULL) is not looked at.
 * errors:  HUB_EINVAL: the first one */
HUB_MUST_CHECK hub_err hub_node_check(const hub_node *node, const hub_node *open,
                                      hub_error *reterr);

/* Whether hub_node_parse takes the text for JSON. */
bool hub_node_is_json(hub_str file, hub_str text);

/* The two languages, for hub_node_parse. */
HUB_MUST_CHECK hub_err hub_node_parse_yaml(hub_node_builder *builder, hub_str text);
HUB_MUST_CHECK hub_err hub_node_parse_json(hub_node_builder *builder, hub_str text);

/* What a parser knows of a node that it found; both spans are copied. */
typedef struct hub_node_draft {
    hub_node_kind kind;
    uint32_t line;
    hub_str key; /* used when the parent is a map */
    hub_node_span span;
    hub_str text; /* of a scalar */
} hub_node_draft;

/* Append a node to `parent` (NULL: make it the root).
 * errors:  HUB_ELIMIT (depth, number of values), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_node_add(hub_node_builder *builder, hub_node *parent,
                                    const hub_node_draft *draft, hub_node **ret_node);

/* A child of a map by its key, or NULL. */
const hub_node *hub_node_find(const hub_node *map, const char *key);

/* The text of a child; NULL: there is no such child, or it is no text. `map` may be NULL. Borrowed. */
const char *hub_node_text_of(const hub_node *map, const char *key);

/* Whether there is such a child, and it is `true`. */
bool hub_node_is_true(const hub_node *map, const char *key);

/* What a human calls the kind: "a map", "a list", "true", "a number", "text", "nothing". */
const char *hub_node_kind_name(const hub_node *node);

/* Whether a plain word is a JSON number. */
bool hub_node_is_number(hub_str word);

/* Append the place as "FILE:LINE: path.to.key", for messages; long names are cut. */
void hub_node_add_place(const hub_node *node, hub_buf *out);

/* hub_fail with the node's place in front: "FILE:LINE: path.to.key: …". */
hub_err hub_node_fail(const hub_node *node, hub_error *reterr, hub_err code, const char *format,
                      ...) HUB_PRINTF(4, 5);

#endif
