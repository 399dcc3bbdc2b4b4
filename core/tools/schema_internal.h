/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the schema checker share; nobody else includes this.
 *
 *     schema_compile.c     JSON text to nodes and rules
 *     schema_operand.c     what each kind of keyword value must look like
 *     schema_ref.c         $id, anchors, and where a $ref leads
 *     schema_uri.c         URI references
 *     schema_keywords.c    the table: one row per keyword
 *     schema_validate.c    a value against a node; hub_schema_validate
 *     schema_check_*.c     the check of each keyword: scalars, objects and arrays, composition
 *     schema_value.c       members, text, equality and hash of JSON values
 *     schema_number.c      numbers as exact decimals
 *     schema_pattern.c     PCRE2, with bounds
 *     schema_text.c        error texts: paths and pointers
 *     schema_memory.c      memory that is released in steps
 *
 * A node is one (sub)schema. It has a rule per keyword, in the order of the keyword table, which is
 * the order of checking. Nodes never change once compiled, so any thread may check against them.
 *
 * Every check has a budget of steps. A step stands for a bounded piece of work (a node, a member, a
 * comparison, 64 bytes read), so that no schema, however it composes and recurses, holds a thread.
 */
#ifndef HUB_TOOLS_SCHEMA_INTERNAL_H
#define HUB_TOOLS_SCHEMA_INTERNAL_H

#include "tools/schema.h"

#include "base/limits.h"
#include "tools/schema_number.h"
#include "wire/json.h"

/* Bounds that no user needs to turn. */
enum {
    HUB_SCHEMA_STEPS = 200000,       /* of one validation */
    HUB_SCHEMA_STEPS_PER_BYTE = 4,   /* of the value, on top: 4 MB take a fraction of a second */
    HUB_SCHEMA_RECURSION = 512,      /* nodes entered within nodes: bounds the C stack */
    HUB_SCHEMA_PATTERN_BYTES = 4096, /* one pattern, as text */
    HUB_SCHEMA_PATTERNS_BYTES = 1 << 20, /* all patterns of a schema, compiled */
    HUB_SCHEMA_WALK_BYTES = 8 << 20,     /* text read to follow $refs into what is no schema */
    HUB_SCHEMA_MEMORY_BYTES = 64 << 20,  /* a compiled schema, or the scratch of one validation */
    HUB_SCHEMA_TRAIL_BYTES = 200,        /* a path or pointer in an error text */
    HUB_SCHEMA_SHOWN_BYTES = 120,        /* an operand or a list of values in an error text */
};

/* ---- memory ---- */

typedef struct hub_schema_chunk hub_schema_chunk;

typedef struct hub_schema_memory {
    hub_schema_chunk *head;
    hub_schema_chunk *spare; /* released, kept: a loop across a chunk's edge must not call malloc */
    size_t bytes;            /* in all chunks */
    hub_err failed;          /* why the latest allocation gave NULL */
} hub_schema_memory;

typedef struct hub_schema_mark {
    hub_schema_chunk *chunk;
    size_t used;
} hub_schema_mark;

/* Zeroed room for `count` elements; NULL on failure, see `failed`. Never NULL for 0 bytes. */
void *hub_schema_alloc(hub_schema_memory *memory, size_t count, size_t element_bytes);
hub_schema_mark hub_schema_mark_get(const hub_schema_memory *memory);

/* Free everything that was allocated since the mark was made. */
void hub_schema_release(hub_schema_memory *memory, hub_schema_mark mark);
void hub_schema_memory_fini(hub_schema_memory *memory);

/* ---- the compiled schema ---- */

enum {
    HUB_SCHEMA_DRAFT07 = 1,
    HUB_SCHEMA_2020 = 2,
    HUB_SCHEMA_ANY_DIALECT = HUB_SCHEMA_DRAFT07 | HUB_SCHEMA_2020,
};

/* Sets of types: bit 1 << hub_json_type, and one for integers, which are numbers too. */
enum {
    HUB_SCHEMA_NULL = 1 << HUB_JSON_NULL,
    HUB_SCHEMA_BOOLEAN = 1 << HUB_JSON_TRUE | 1 << HUB_JSON_FALSE,
    HUB_SCHEMA_NUMBER = 1 << HUB_JSON_NUMBER,
    HUB_SCHEMA_STRING = 1 << HUB_JSON_STRING,
    HUB_SCHEMA_ARRAY = 1 << HUB_JSON_ARRAY,
    HUB_SCHEMA_OBJECT = 1 << HUB_JSON_OBJECT,
    HUB_SCHEMA_INTEGER = 1 << (HUB_JSON_OBJECT + 1),
    HUB_SCHEMA_ANY_TYPE = HUB_SCHEMA_NULL | HUB_SCHEMA_BOOLEAN | HUB_SCHEMA_NUMBER |
                          HUB_SCHEMA_STRING | HUB_SCHEMA_ARRAY | HUB_SCHEMA_OBJECT,
};

/* Rows of the keyword table, in the order of compiling and checking. Identity comes first, since it
 * decides where references lead. Members are checked before `required`: among alternatives, the
 * one whose members fit is closest. unevaluated* come last, since they ask what all others did. */
typedef enum hub_schema_keyword_id {
    HUB_SCHEMA_KW_SCHEMA,
    HUB_SCHEMA_KW_ID,
    HUB_SCHEMA_KW_ANCHOR,
    HUB_SCHEMA_KW_DYNAMIC_ANCHOR,
    HUB_SCHEMA_KW_DEFS,
    HUB_SCHEMA_KW_DEFINITIONS,
    HUB_SCHEMA_KW_TYPE,
    HUB_SCHEMA_KW_ENUM,
    HUB_SCHEMA_KW_CONST,
    HUB_SCHEMA_KW_MULTIPLE_OF,
    HUB_SCHEMA_KW_MINIMUM,
    HUB_SCHEMA_KW_EXCLUSIVE_MINIMUM,
    HUB_SCHEMA_KW_MAXIMUM,
    HUB_SCHEMA_KW_EXCLUSIVE_MAXIMUM,
    HUB_SCHEMA_KW_MIN_LENGTH,
    HUB_SCHEMA_KW_MAX_LENGTH,
    HUB_SCHEMA_KW_PATTERN,
    HUB_SCHEMA_KW_PROPERTIES,
    HUB_SCHEMA_KW_PATTERN_PROPERTIES,
    HUB_SCHEMA_KW_ADDITIONAL_PROPERTIES,
    HUB_SCHEMA_KW_PROPERTY_NAMES,
    HUB_SCHEMA_KW_REQUIRED,
    HUB_SCHEMA_KW_DEPENDENT_REQUIRED,
    HUB_SCHEMA_KW_MIN_PROPERTIES,
    HUB_SCHEMA_KW_MAX_PROPERTIES,
    HUB_SCHEMA_KW_MIN_ITEMS,
    HUB_SCHEMA_KW_MAX_ITEMS,
    HUB_SCHEMA_KW_PREFIX_ITEMS,
    HUB_SCHEMA_KW_ITEMS,
    HUB_SCHEMA_KW_ADDITIONAL_ITEMS,
    HUB_SCHEMA_KW_CONTAINS,
    HUB_SCHEMA_KW_MIN_CONTAINS,
    HUB_SCHEMA_KW_MAX_CONTAINS,
    HUB_SCHEMA_KW_UNIQUE_ITEMS,
    HUB_SCHEMA_KW_REF,
    HUB_SCHEMA_KW_DYNAMIC_REF,
    HUB_SCHEMA_KW_ALL_OF,
    HUB_SCHEMA_KW_ANY_OF,
    HUB_SCHEMA_KW_ONE_OF,
    HUB_SCHEMA_KW_NOT,
    HUB_SCHEMA_KW_IF,
    HUB_SCHEMA_KW_THEN,
    HUB_SCHEMA_KW_ELSE,
    HUB_SCHEMA_KW_DEPENDENT_SCHEMAS,
    HUB_SCHEMA_KW_DEPENDENCIES,
    HUB_SCHEMA_KW_UNEVALUATED_ITEMS,
    HUB_SCHEMA_KW_UNEVALUATED_PROPERTIES,
    HUB_SCHEMA_KW_COUNT,
} hub_schema_keyword_id;

typedef struct hub_schema_node hub_schema_node;
typedef struct hub_schema_rule hub_schema_rule;
typedef struct hub_schema_pattern hub_schema_pattern;
typedef struct hub_schema_resource hub_schema_resource;
typedef struct hub_schema_compiler hub_schema_compiler;
typedef struct hub_schema_run hub_schema_run;
typedef struct hub_schema_frame hub_schema_frame;

typedef struct hub_schema_keyword {
    const char *name;
    unsigned dialects;
    unsigned types; /* values that `check` is for */
    hub_err (*compile)(hub_schema_compiler *compiler, hub_schema_node *node, hub_schema_rule *rule);
    /* HUB_EINVAL: the value does not fit. NULL: nothing to check, or a sibling's check does it. */
    hub_err (*check)(hub_schema_run *run, const hub_schema_frame *at, const hub_schema_rule *rule);
} hub_schema_keyword;

extern const hub_schema_keyword hub_schema_keywords[HUB_SCHEMA_KW_COUNT];

/* An entry of a keyword that holds several things. What does not apply is empty. */
typedef struct hub_schema_kid {
    hub_str key;       /* in a map; decoded */
    const char *place; /* of the entry's value in the text: the order of the document */
    const hub_schema_node *node;
    const hub_schema_pattern *pattern; /* patternProperties */
    const hub_str *names;              /* dependentRequired, dependencies */
    size_t name_count;
} hub_schema_kid;

typedef struct hub_schema_hashed {
    uint64_t hash;
    hub_str raw;
} hub_schema_hashed;

typedef enum hub_schema_form {
    HUB_SCHEMA_FORM_PLAIN, /* no schemas within */
    HUB_SCHEMA_FORM_ONE,
    HUB_SCHEMA_FORM_LIST,
    HUB_SCHEMA_FORM_MAP, /* sorted by key, the document's order among equals */
} hub_schema_form;

struct hub_schema_rule {
    const hub_schema_keyword *keyword;
    hub_str raw; /* the keyword's value */
    hub_schema_form form;
    hub_schema_kid *kids;
    size_t kid_count;
    union {
        unsigned types;           /* type */
        uint64_t count;           /* minLength and its like; uniqueItems: 0 or 1 */
        hub_schema_number number; /* minimum and its like */
        const hub_schema_pattern *pattern;
        struct {
            const hub_str *list;
            size_t count;
        } names; /* required */
        struct {
            const hub_schema_hashed *list; /* sorted by hash */
            size_t count;
        } values; /* enum */
        struct {
            const hub_schema_node *target;
            hub_str dynamic; /* the anchor's name when the target depends on the way here */
        } ref;
    } as;
};

struct hub_schema_node {
    hub_str raw;
    const hub_schema_node *parent; /* where it stands, for pointers: parent/keyword/key */
    const char *keyword;
    hub_str key;
    const hub_schema_resource *resource;
    hub_schema_rule *rules;
    size_t rule_count;
    bool is_false;      /* the schema `false` */
    bool reads_members; /* some rule looks into arrays or objects */
    bool reads_marks;   /* has unevaluatedItems or unevaluatedProperties */
    hub_schema_node *next_extra;
};

typedef struct hub_schema_anchor {
    hub_str name;
    const hub_schema_node *node;
    bool is_dynamic;
    struct hub_schema_anchor *next;
} hub_schema_anchor;

/* A schema with an identity: the document, and every subschema with an $id. */
struct hub_schema_resource {
    hub_str uri; /* without fragment; empty for a document without $id */
    unsigned dialect;
    const hub_schema_node *root;
    hub_schema_anchor *anchors;
    hub_schema_resource *next;
};

struct hub_schema {
    hub_schema_memory memory; /* everything but the patterns */
    const hub_schema_node *root;
    hub_schema_resource *resources;
    hub_schema_pattern *patterns;
};

/* The rule of a keyword, or NULL. */
const hub_schema_rule *hub_schema_rule_find(const hub_schema_node *node, hub_schema_keyword_id id);

/* The entry of that name in a map, or NULL. */
const hub_schema_kid *hub_schema_kid_find(const hub_schema_rule *rule, hub_str key);

/* ---- compiling ---- */

typedef struct hub_schema_pending_ref {
    const hub_schema_node *node;
    hub_schema_rule *rule;
    struct hub_schema_pending_ref *next;
} hub_schema_pending_ref;

struct hub_schema_compiler {
    hub_schema *schema;
    hub_schema_resource *resource; /* of the node being compiled */
    size_t depth;
    size_t node_count;
    size_t pattern_bytes;
    size_t walked_bytes;
    hub_schema_pending_ref *pending;
    hub_schema_node *extras; /* compiled because a $ref points there */
    void *pattern_context;   /* pcre2_compile_context, made when first needed */
    hub_error *reterr;
};

/* Where a subschema stands. */
typedef struct hub_schema_origin {
    const hub_schema_node *parent;
    const char *keyword;
    hub_str key;
} hub_schema_origin;

hub_err hub_schema_compile_node(hub_schema_compiler *compiler, hub_schema_origin origin,
                                hub_str raw, hub_schema_node **ret_node);

/* Find the targets of all references met so far, and of those met on the way. */
hub_err hub_schema_resolve_refs(hub_schema_compiler *compiler);

/* Room for `bytes` and a 0 behind them, for as long as the schema; NULL on failure. */
char *hub_schema_new_text(hub_schema_compiler *compiler, size_t bytes);

/* The first place of `c` at or behind `from`, or the length. */
size_t hub_schema_char_find(hub_str text, size_t from, char c);

/* RFC 3986 5.2.2, for a reference without fragment. */
hub_err hub_schema_uri_resolve(hub_schema_compiler *compiler, hub_str base, hub_str ref,
                               hub_str *ret_uri);

/* Decode %XX; what is no such escape stays as it is. */
hub_err hub_schema_uri_decode(hub_schema_compiler *compiler, hub_str text, hub_str *ret_text);

/* Values of keywords: each checks rule->raw and fills the rule. */
typedef hub_err hub_schema_compile_fn(hub_schema_compiler *compiler, hub_schema_node *node,
                                      hub_schema_rule *rule);
hub_schema_compile_fn hub_schema_compile_dialect, hub_schema_compile_id, hub_schema_compile_anchor,
    hub_schema_compile_ref, hub_schema_compile_types, hub_schema_compile_enum,
    hub_schema_compile_any, hub_schema_compile_number, hub_schema_compile_divisor,
    hub_schema_compile_count, hub_schema_compile_bool, hub_schema_compile_pattern,
    hub_schema_compile_names, hub_schema_compile_names_map, hub_schema_compile_schema,
    hub_schema_compile_list, hub_schema_compile_map, hub_schema_compile_pattern_map,
    hub_schema_compile_items, hub_schema_compile_dependencies;

/* Append a resource; `uri` must live as long as the schema. */
hub_err hub_schema_resource_add(hub_schema_compiler *compiler, const hub_schema_node *root,
                                hub_str uri, unsigned dialect);

/* ---- values ---- */

typedef struct hub_schema_member {
    hub_str key; /* decoded; empty in an array */
    hub_str raw;
} hub_schema_member;

/* A value under check, and how it was reached. */
typedef struct hub_schema_value {
    hub_str raw;
    hub_json_type type;
    bool is_name; /* the name of a member, under propertyNames */
    size_t depth;
    const struct hub_schema_value *parent;
    hub_str key;                      /* under an object: the member's name */
    size_t index;                     /* under an array */
    const hub_schema_member *members; /* of an array or object, once loaded */
    size_t count;
    const hub_schema_member **sorted; /* by key; NULL when they are few */
} hub_schema_value;

/* What a keyword's check is applied to. */
struct hub_schema_frame {
    const hub_schema_node *node;
    const hub_schema_value *value;
    bool *marks; /* per member: evaluated by this node; NULL when nobody asks */
};

typedef struct hub_schema_scope {
    const hub_schema_resource *resource;
    const struct hub_schema_scope *outer;
} hub_schema_scope;

/* One validation. */
struct hub_schema_run {
    hub_schema_memory memory;
    uint64_t steps_left;
    uint64_t match_left; /* for patterns: characters looked at */
    size_t depth;
    size_t quiet; /* > 0: a failure may be no failure, so spare the text */
    const hub_schema_scope *scope;
    const char *root;
    hub_error *reterr;
    /* About the latest violation, for choosing the closest alternative. */
    size_t failed_depth;
    unsigned failed_types;                    /* what `type` wanted */
    const hub_schema_keyword *failed_keyword; /* NULL: the schema `false` */
    void *match_data;
    void *match_context;
};

/* Take `steps` from the budget.
 * errors:  HUB_ELIMIT when it is used up */
hub_err hub_schema_charge(hub_schema_run *run, size_t steps);

/* The check cannot go on: fill the error text. */
hub_err hub_schema_abort(hub_schema_run *run, hub_err code, const char *why);

/* Fill members, count and sorted of an array or object. */
hub_err hub_schema_load(hub_schema_run *run, hub_schema_value *value);

/* The place of a member, or SIZE_MAX. */
size_t hub_schema_member_find(const hub_schema_value *value, hub_str key);

/* The decoded text of a raw string: a span in it, or a copy in `memory`. */
hub_err hub_schema_text(hub_schema_memory *memory, hub_str raw, hub_str *ret_text);

/* The length of a raw string in Unicode code points. */
size_t hub_schema_text_length(hub_str raw);

/* A hash that is the same for equal values: member order, escapes, and the spelling of numbers do
 * not matter. */
hub_err hub_schema_hash(hub_schema_run *run, hub_str raw, uint64_t *ret_hash);

/* HUB_OK: equal as JSON Schema sees it; HUB_EINVAL: different. */
hub_err hub_schema_compare(hub_schema_run *run, hub_str a, hub_str b);

bool hub_schema_type_fits(unsigned types, hub_json_type type, hub_str raw);

/* ---- validating ---- */

/* A value against a node. Marks (NULL, or one per member of the value) gain what the node
 * evaluated, when the value fits. */
hub_err hub_schema_evaluate(hub_schema_run *run, const hub_schema_node *node,
                            const hub_schema_value *value, bool *marks);

/* The same for a value that has not been loaded. */
hub_err hub_schema_enter(hub_schema_run *run, const hub_schema_node *node, hub_schema_value *value);

/* A member or element against a node; marks it. */
hub_err hub_schema_enter_member(hub_schema_run *run, const hub_schema_frame *at, size_t index,
                                const hub_schema_node *node);

typedef hub_err hub_schema_check_fn(hub_schema_run *run, const hub_schema_frame *at,
                                    const hub_schema_rule *rule);
hub_schema_check_fn hub_schema_check_type, hub_schema_check_enum, hub_schema_check_const,
    hub_schema_check_multiple_of, hub_schema_check_minimum, hub_schema_check_exclusive_minimum,
    hub_schema_check_maximum, hub_schema_check_exclusive_maximum, hub_schema_check_min_length,
    hub_schema_check_max_length, hub_schema_check_pattern, hub_schema_check_properties,
    hub_schema_check_pattern_properties, hub_schema_check_additional_properties,
    hub_schema_check_property_names, hub_schema_check_required, hub_schema_check_dependent_required,
    hub_schema_check_min_members, hub_schema_check_max_members, hub_schema_check_prefix_items,
    hub_schema_check_items, hub_schema_check_additional_items, hub_schema_check_contains,
    hub_schema_check_unique_items, hub_schema_check_ref, hub_schema_check_all_of,
    hub_schema_check_any_of, hub_schema_check_one_of, hub_schema_check_not, hub_schema_check_if,
    hub_schema_check_dependent_schemas, hub_schema_check_unevaluated;

/* ---- patterns ---- */

/* On failure `why` says what is wrong with the pattern. */
hub_err hub_schema_pattern_compile(hub_schema_compiler *compiler, hub_str text,
                                   const hub_schema_pattern **ret_pattern, hub_buf *why);
void hub_schema_patterns_destroy(hub_schema_pattern *patterns);
void hub_schema_pattern_compiler_fini(hub_schema_compiler *compiler);

/* HUB_OK: it matches somewhere; HUB_EINVAL: it does not. */
hub_err hub_schema_pattern_match(hub_schema_run *run, const hub_schema_pattern *pattern,
                                 hub_str text);
void hub_schema_pattern_run_fini(hub_schema_run *run);

/* ---- error texts ---- */

/* The start of `text`, at most `max` bytes and whole characters. */
hub_str hub_schema_cut(hub_str text, size_t max);

/* "arguments.zone.0: " in front of the finished text. Returns HUB_EINVAL. */
hub_err hub_schema_violation(hub_schema_run *run, const hub_schema_value *value, const char *format,
                             ...) HUB_PRINTF(3, 4);

/* "must be a string or null, is a number" */
hub_err hub_schema_fail_type(hub_schema_run *run, const hub_schema_value *value, unsigned types);

/* Put "path: prefix: " in front of the violation of an alternative. */
void hub_schema_violation_prefix(hub_schema_run *run, const hub_schema_value *value,
                                 const char *format, ...) HUB_PRINTF(3, 4);

/* "a string or null" */
void hub_schema_show_types(unsigned types, hub_buf *out);

/* The elements of a raw array, cut after some. */
void hub_schema_show_values(hub_str raw, hub_buf *out);

/* "/properties/zone/minLength: " in front of the finished text. `keyword` may be NULL. */
hub_err hub_schema_refuse(hub_schema_compiler *compiler, const hub_schema_node *node,
                          const char *keyword, hub_err code, const char *format, ...)
    HUB_PRINTF(5, 6);

/* Out of memory, or the limit on it. */
hub_err hub_schema_refuse_memory(hub_schema_compiler *compiler);

#endif
