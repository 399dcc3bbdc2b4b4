/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON as spans. Text is checked once, linearly and without recursion; afterwards values are walked
 * and compared where they lie. No tree is built, no number is converted unless asked for, and no
 * byte is changed: what cannot be represented in C (1e400, twenty digits, \u0000) passes through.
 * Pure functions, any thread.
 *
 * "Raw" means a span of JSON text, exactly one value without surrounding white space. Functions
 * that take a raw value require that it was checked before; they never read past its end.
 */
#ifndef HUB_WIRE_JSON_H
#define HUB_WIRE_JSON_H

#include "base/buf.h"

typedef enum hub_json_type {
    HUB_JSON_NONE, /* the empty span: the value is absent */
    HUB_JSON_NULL,
    HUB_JSON_TRUE,
    HUB_JSON_FALSE,
    HUB_JSON_NUMBER,
    HUB_JSON_STRING,
    HUB_JSON_ARRAY,
    HUB_JSON_OBJECT,
} hub_json_type;

/* Check that `text` is one JSON value (RFC 8259) in valid UTF-8, at most HUB_LIMIT_JSON_DEPTH deep
 * and of at most HUB_LIMIT_JSON_VALUES values, or one for each HUB_LIMIT_JSON_BYTES_PER_VALUE
 * bytes where that is more; white space around it is allowed. Lone surrogate
 * escapes (\ud83d) are allowed, since JavaScript emits them and they must pass unchanged; raw
 * surrogates, overlong forms and a byte order mark are not.
 * `ret_value` (may be NULL) is the value without the white space around it.
 * errors:  HUB_EPARSE (not JSON, not UTF-8), HUB_ELIMIT; the text names the byte offset */
HUB_MUST_CHECK hub_err hub_json_check(hub_str text, hub_str *ret_value, hub_error *reterr);

hub_json_type hub_json_type_of(hub_str raw);

/* The type as JSON Schema spells it: "object", "string", …; integers are "number"; NONE is
 * "none". */
const char *hub_json_type_name(hub_json_type type);

/* Walk an array or object:
 *     hub_json_iter it = hub_json_iterate(raw);
 *     hub_str key, value;
 *     while (hub_json_next(&it, &key, &value)) …
 * `key` is the raw key with its quotes (empty in an array). Anything but an array or object ends at
 * once. The spans point into `raw`. */
typedef struct hub_json_iter {
    const char *at;
    const char *end;
    bool is_object;
} hub_json_iter;

hub_json_iter hub_json_iterate(hub_str raw);
bool hub_json_next(hub_json_iter *it, hub_str *ret_key, hub_str *ret_value);

/* Walk an object that has objects in it, all of it once: stop in front of the value of the next
 * member, and go on either over it (hub_json_pass) or into it (hub_json_enter). False at the end of
 * the innermost object that was entered; then the next member is the one behind it. For objects
 * alone. */
bool hub_json_next_key(hub_json_iter *it, hub_str *ret_key);
hub_str hub_json_pass(hub_json_iter *it);
bool hub_json_enter(hub_json_iter *it); /* false, and nothing happens, for what is no object */

/* The raw value of a member (the first of that name), or the empty span. `key` is the decoded
 * name; an escaped spelling in the text is found too. */
hub_str hub_json_get(hub_str object, hub_str key);

/* Number of elements or members. */
size_t hub_json_count(hub_str raw);

/* Whether a raw string, decoded as hub_json_decode does, equals `text`. False for everything but a
 * string. */
bool hub_json_string_is(hub_str raw, hub_str text);

/* Append the decoded text of a raw string. A lone surrogate becomes U+FFFD.
 * errors:  HUB_EINVAL (not a string); and what the buffer says */
HUB_MUST_CHECK hub_err hub_json_decode(hub_str raw, hub_buf *out);

/* The content of a raw string if it holds no escape: a span inside it. False when it does, or when
 * it is not a string; then use hub_json_decode. */
bool hub_json_plain(hub_str raw, hub_str *ret_text);

/* Append `text` as a JSON string with quotes. Each byte that is not part of valid UTF-8 becomes
 * U+FFFD: what is written is always valid. Only what JSON demands is escaped; no newline byte is
 * ever written. */
void hub_json_add_string(hub_buf *out, hub_str text);

/* Append `"key":` with a comma in front unless the last byte is '{' or '[' or nothing. */
void hub_json_add_key(hub_buf *out, hub_str key);

/* Append a member: a key, as above, with a text or a number. */
void hub_json_add_member(hub_buf *out, const char *key, hub_str text);
void hub_json_add_count(hub_buf *out, const char *key, uint64_t count);

/* Append a comma unless the last byte is '{' or '[' or nothing: before an array element. */
void hub_json_add_comma(hub_buf *out);

/* The value of a raw number without fraction and exponent, if it fits. False for all else. */
bool hub_json_to_u64(hub_str raw, uint64_t *ret_number);
bool hub_json_to_i64(hub_str raw, int64_t *ret_number);

/* The same of what a person or a model has written, for whom 3.0 and 1e2 are whole, as for JSON Schema:
 * up to 2^53 with fraction or exponent. */
bool hub_json_to_whole(hub_str raw, uint64_t *ret_number);

/* The nearest double of a raw number, in the "C" locale's format whatever the locale is; HUGE_VAL
 * when it is out of range. False for all but numbers. */
bool hub_json_to_double(hub_str raw, double *ret_number);

/* Append `raw` without insignificant white space. */
void hub_json_add_compact(hub_buf *out, hub_str raw);

#endif
