/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/definition_output.h"

#include "base/limits.h"
#include "tools/definition_pattern.h"
#include "tools/definition_text.h"
#include "wire/json.h"

/* What the value of a keyword may be. */
enum {
    A_STRING = 1 << HUB_JSON_STRING,
    A_NUMBER = 1 << HUB_JSON_NUMBER,
    A_BOOLEAN = 1 << HUB_JSON_TRUE | 1 << HUB_JSON_FALSE,
    AN_ARRAY = 1 << HUB_JSON_ARRAY,
    AN_OBJECT = 1 << HUB_JSON_OBJECT,
    A_SCHEMA = AN_OBJECT | A_BOOLEAN,
};

/* The longest way from one reference to the next; and how often a byte of a schema may be read on the average. A
 * hundred references to as many $defs take fifty. */
enum { MAX_REFERENCES = 16, MAX_READINGS = 64 };

/* What of the value is a schema itself. */
typedef enum inside {
    NOTHING,
    ITSELF,
    ELEMENTS, /* itself, or each of its elements */
    MEMBERS,  /* each member */
    MEMBERS_BY_PATTERN,
    DEPENDENCIES, /* each member that is not an array */
} inside;

typedef struct keyword {
    hub_str name;
    unsigned types; /* 0: the keyword is refused */
    inside inside;
} keyword;

#define KEY(text)                                                                                  \
    {                                                                                              \
        .ptr = (text), .len = sizeof(text) - 1                                                     \
    }

/* `type`, `$ref`, `pattern`, `enum` and `nullable` are looked at more closely below. */
static const keyword KEYWORDS[] = {
    {KEY("type"), A_STRING | AN_ARRAY, NOTHING},
    {KEY("properties"), AN_OBJECT, MEMBERS},
    {KEY("items"), A_SCHEMA | AN_ARRAY, ELEMENTS},
    {KEY("required"), AN_ARRAY, NOTHING},
    {KEY("additionalProperties"), A_SCHEMA, ITSELF},
    {KEY("enum"), AN_ARRAY, NOTHING},
    {KEY("$ref"), A_STRING, NOTHING},
    {KEY("anyOf"), AN_ARRAY, ELEMENTS},
    {KEY("allOf"), AN_ARRAY, ELEMENTS},
    {KEY("oneOf"), AN_ARRAY, ELEMENTS},
    {KEY("not"), A_SCHEMA, ITSELF},
    {KEY("$defs"), AN_OBJECT, MEMBERS},
    {KEY("definitions"), AN_OBJECT, MEMBERS},
    {KEY("format"), A_STRING, NOTHING},
    {KEY("pattern"), A_STRING, NOTHING},
    {KEY("minimum"), A_NUMBER, NOTHING},
    {KEY("maximum"), A_NUMBER, NOTHING},
    {KEY("exclusiveMinimum"), A_NUMBER, NOTHING},
    {KEY("exclusiveMaximum"), A_NUMBER, NOTHING},
    {KEY("multipleOf"), A_NUMBER, NOTHING},
    {KEY("minLength"), A_NUMBER, NOTHING},
    {KEY("maxLength"), A_NUMBER, NOTHING},
    {KEY("minItems"), A_NUMBER, NOTHING},
    {KEY("maxItems"), A_NUMBER, NOTHING},
    {KEY("minProperties"), A_NUMBER, NOTHING},
    {KEY("maxProperties"), A_NUMBER, NOTHING},
    {KEY("uniqueItems"), A_BOOLEAN, NOTHING},
    {KEY("contains"), A_SCHEMA, ITSELF},
    {KEY("additionalItems"), A_SCHEMA, ITSELF},
    {KEY("patternProperties"), AN_OBJECT, MEMBERS_BY_PATTERN},
    {KEY("propertyNames"), A_SCHEMA, ITSELF},
    {KEY("dependencies"), AN_OBJECT, DEPENDENCIES},
    {KEY("if"), A_SCHEMA, ITSELF},
    {KEY("then"), A_SCHEMA, ITSELF},
    {KEY("else"), A_SCHEMA, ITSELF},
    {KEY("nullable"), A_BOOLEAN, NOTHING},
    {KEY("$id"), A_STRING, NOTHING},
    {KEY("id"), 0, NOTHING},
};

typedef struct walk {
    hub_str root;
    hub_str root_reference; /* its member $ref */
    size_t left;            /* bytes that may yet be read */
    hub_str path; /* what most references begin with, such as "#/$defs; raw, without the end … */
    hub_str at_path; /* … and what is there */
} walk;

/* Pay for reading a value. */
static bool charge(walk *w, hub_str value)
{
    if (value.len > w->left) {
        return false;
    }
    w->left -= value.len;
    return true;
}

static const keyword *find_keyword(hub_str raw_key)
{
    hub_str key;
    bool is_plain = hub_json_plain(raw_key, &key);
    for (size_t i = 0; i < sizeof KEYWORDS / sizeof KEYWORDS[0]; i++) {
        if (is_plain ? hub_str_eq(key, KEYWORDS[i].name)
                     : hub_json_string_is(raw_key, KEYWORDS[i].name)) {
            return &KEYWORDS[i];
        }
    }
    return NULL;
}

/* ---- references ---- */

/* Whether a key is the part of a JSON pointer at `*pointer`, which then moves behind it. */
static bool is_part(hub_str raw_key, hub_text_reader *pointer)
{
    hub_text_reader key = hub_text_read(raw_key);
    hub_text_reader part = *pointer;
    for (;;) {
        uint32_t wanted = hub_text_peek(&part);
        if (wanted == HUB_TEXT_END || wanted == '/') {
            bool is_whole = hub_text_next(&key) == HUB_TEXT_END;
            *pointer = is_whole ? part : *pointer;
            return is_whole;
        }
        (void)hub_text_next(&part);
        if (wanted == '~') {
            wanted = hub_text_next(&part) == '0' ? '~' : '/';
        }
        if (wanted != hub_text_next(&key)) {
            return false;
        }
    }
}

/* Follow one part of a pointer. Elements of arrays, and %-escapes, are not looked for. */
static bool follow(walk *w, hub_str *value, hub_text_reader *pointer)
{
    hub_str key;
    hub_str member;
    if (hub_json_type_of(*value) != HUB_JSON_OBJECT) {
        return false;
    }
    for (hub_json_iter it = hub_json_iterate(*value); hub_json_next(&it, &key, &member);) {
        if (is_part(key, pointer)) {
            hub_str read = hub_str_between(value->ptr, member.ptr + member.len);
            *value = member;
            return charge(w, read);
        }
    }
    return false; /* and that was the last reading of this schema */
}

static bool is_schema(hub_str value)
{
    return (1u << hub_json_type_of(value) & A_SCHEMA) != 0;
}

/* Find what a reference leads to: `#`, or `#` and a JSON pointer. */
static bool resolve(walk *w, hub_str raw, hub_str *ret_value)
{
    const char *slash = memrchr(raw.ptr, '/', raw.len);
    hub_str path = hub_str_between(raw.ptr, slash != NULL ? slash : raw.ptr);
    hub_text_reader text = hub_text_read(raw);
    *ret_value = w->root;
    if (path.len > 0 && hub_str_eq(path, w->path)) {
        text.at = slash;
        *ret_value = w->at_path;
    } else if (!hub_text_take(&text, "#")) {
        return false;
    }
    while (hub_text_peek(&text) == '/') {
        if (text.at == slash) {
            w->path = path;
            w->at_path = *ret_value;
        }
        (void)hub_text_next(&text);
        if (!follow(w, ret_value, &text)) {
            return false;
        }
    }
    return hub_text_next(&text) == HUB_TEXT_END && is_schema(*ret_value);
}

/* Whether a reference leads to a schema of this document, and not in a circle: Ajv goes on from one
 * reference to the next until its stack is full. */
static bool is_reference(walk *w, hub_str raw)
{
    hub_str at;
    for (int i = 0; i < MAX_REFERENCES; i++) {
        if (!resolve(w, raw, &at)) {
            return false;
        }
        bool is_root = at.ptr == w->root.ptr;
        if (!is_root && !charge(w, at)) {
            return false;
        }
        raw = is_root ? w->root_reference : hub_json_get(at, HUB_STR("$ref"));
        if (hub_json_type_of(raw) != HUB_JSON_STRING) {
            return true;
        }
    }
    return false;
}

static bool starts(hub_str raw, const char *text)
{
    hub_text_reader reader = hub_text_read(raw);
    while (*text != '\0' && hub_text_next(&reader) == (unsigned char)*text) {
        text++;
    }
    return *text == '\0';
}

/* Whether `$id` at the root is one that Ajv can make sense of; of other schemes it cannot always. */
static bool is_id(hub_str raw)
{
    if (starts(raw, "http://") || starts(raw, "https://")) {
        return true;
    }
    uint32_t c;
    for (hub_text_reader reader = hub_text_read(raw); (c = hub_text_next(&reader)) != ':';) {
        if (c == HUB_TEXT_END) {
            return true;
        }
    }
    return false;
}

/* ---- keywords ---- */

static bool is_type_name(hub_str raw)
{
    static const char *const NAMES[] = {"string", "number",  "integer", "object",
                                        "array",  "boolean", "null"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (hub_json_string_is(raw, hub_str_of(NAMES[i]))) {
            return true;
        }
    }
    return false;
}

static bool is_type(hub_str value)
{
    if (hub_json_type_of(value) == HUB_JSON_STRING) {
        return is_type_name(value);
    }
    hub_str key;
    hub_str name;
    for (hub_json_iter it = hub_json_iterate(value); hub_json_next(&it, &key, &name);) {
        if (!is_type_name(name)) {
            return false;
        }
    }
    return true;
}

static bool walk_schema(walk *w, hub_str schema);

/* The schemas in the value of a keyword. */
static bool walk_inside(walk *w, const keyword *word, hub_str value)
{
    hub_json_type type = hub_json_type_of(value);
    if (word->inside == NOTHING) {
        return true;
    }
    if (word->inside == ITSELF || (word->inside == ELEMENTS && type != HUB_JSON_ARRAY)) {
        return walk_schema(w, value);
    }
    hub_str key;
    hub_str item;
    for (hub_json_iter it = hub_json_iterate(value); hub_json_next(&it, &key, &item);) {
        bool is_list = word->inside == DEPENDENCIES && hub_json_type_of(item) == HUB_JSON_ARRAY;
        if ((!is_list && !walk_schema(w, item)) ||
            (word->inside == MEMBERS_BY_PATTERN && !hub_definition_is_pattern(key))) {
            return false;
        }
    }
    return true;
}

/* What the table cannot say of a keyword's value. */
static bool is_operand(walk *w, const keyword *word, hub_str schema, hub_str value)
{
    if (hub_str_is(word->name, "type")) {
        return is_type(value);
    }
    if (hub_str_is(word->name, "$ref")) {
        return is_reference(w, value);
    }
    if (hub_str_is(word->name, "pattern")) {
        return hub_definition_is_pattern(value);
    }
    if (hub_str_is(word->name, "enum")) {
        return hub_json_count(value) > 0;
    }
    if (hub_str_is(word->name, "nullable")) {
        return hub_json_type_of(value) == HUB_JSON_TRUE;
    }
    if (hub_str_is(word->name, "$id")) {
        return schema.ptr == w->root.ptr && is_id(value);
    }
    return true;
}

static bool walk_schema(walk *w, hub_str schema)
{
    hub_str key;
    hub_str value;
    bool has_type = false;
    bool is_nullable = false;
    if (!is_schema(schema) || !charge(w, schema)) {
        return false;
    }
    for (hub_json_iter it = hub_json_iterate(schema); hub_json_next(&it, &key, &value);) {
        const keyword *word = find_keyword(key);
        if (word == NULL) {
            continue;
        }
        if ((word->types & 1u << hub_json_type_of(value)) == 0 ||
            !is_operand(w, word, schema, value) || !walk_inside(w, word, value)) {
            return false;
        }
        has_type = has_type || hub_str_is(word->name, "type");
        is_nullable = is_nullable || hub_str_is(word->name, "nullable");
    }
    return has_type || !is_nullable; /* Ajv refuses `nullable` without a type */
}

bool hub_definition_output_compiles(hub_str schema)
{
    walk w = {
        .root = schema,
        .root_reference = hub_json_get(schema, HUB_STR("$ref")),
        .left = HUB_LIMIT_OUTPUT_SCHEMA_BYTES,
    };
    if (schema.len < w.left / MAX_READINGS) {
        w.left = schema.len * MAX_READINGS;
    }
    return walk_schema(&w, schema);
}
