/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json_scan.h"

#include "base/limits.h"
#include "wire/json_string.h"

/* One level of the tree near the root, while it is open. */
typedef struct level {
    uint8_t object;    /* its number for the watch; an array is unwatched */
    uint8_t member;    /* whose value is being read, or NO_MEMBER */
    const char *value; /* where that value began */
} level;

enum { NO_MEMBER = UINT8_MAX };

/* Of a string with escapes or other scripts, so much is read before the vectors are set up. */
enum { SHORT_BYTES = 32 };

typedef struct scanner {
    const char *end;
    bool escaped; /* the string read last holds an escape */
    hub_json_watch *watch;
    level levels[HUB_JSON_WATCHED_DEPTH + 1]; /* by depth */
    const char *wrong;                        /* where it failed, */
    const char *why;                          /* and of what */
    hub_err code;
} scanner;

/* What is open. Apart from the scanner, and only given to what is inlined, so that it stays in
 * registers; where the pass is goes from function to function by value for the same reason. */
typedef struct tree {
    uint64_t containers; /* one bit each, the innermost lowest: 1 is an object */
    unsigned depth;
    unsigned watched_depth; /* 0 when nothing is watched: then no level ever matches */
    size_t values_left;
} tree;

static const char TOO_MANY_VALUES[] =
    "more than 2,097,152 values, and more than one for each 8 bytes: ask for less at a time";

_Static_assert(HUB_LIMIT_JSON_VALUES == 2097152 && HUB_LIMIT_JSON_BYTES_PER_VALUE == 8,
               "the text above names them");
_Static_assert(HUB_LIMIT_JSON_DEPTH <= 64, "the open containers are kept in 64 bits");

/* Every function that reads on returns where it stopped, or what these return: NULL. */
static const char *fail_with(scanner *s, hub_err code, const char *at, const char *why)
{
    s->wrong = at;
    s->why = why;
    s->code = code;
    return NULL;
}

static const char *fail(scanner *s, const char *at, const char *why)
{
    return fail_with(s, HUB_EPARSE, at, why);
}

/* Go to the next byte that is not white space, which most often is at `at`: that byte, or NUL at
 * the end. No token begins with NUL, so both are refused alike. */
static inline char next_char(const scanner *s, const char **at)
{
    if (*at < s->end && (unsigned char)**at > ' ') {
        return **at;
    }
    *at = hub_json_skip_space(*at, s->end);
    return *at < s->end ? **at : '\0';
}

/* The length of the escape at `at` with its backslash, or 0. */
static size_t escape_length(const char *at, const char *end)
{
    if (end - at < 2) {
        return 0;
    }
    switch (at[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return 2;
    case 'u':
        if (end - at < 6) {
            return 0;
        }
        for (int i = 2; i < 6; i++) {
            if (hub_str_hex_digit(at[i]) < 0) {
                return 0;
            }
        }
        return 6;
    default:
        return 0;
    }
}

/* One piece of a string that does not stand for itself: an escape, or a run of characters that are
 * not ASCII up to `limit` and at least one. Sets `escaped`. */
static const char *scan_piece(scanner *s, const char *at, const char *limit)
{
    if (*at == '\\') {
        size_t length = escape_length(at, s->end);
        s->escaped = true;
        return length > 0 ? at + length : fail(s, at, "not an escape that JSON knows");
    }
    if ((unsigned char)*at < 0x80) {
        return fail(s, at, "a control character inside a string");
    }
    do {
        size_t length = hub_json_utf8_length(at, s->end);
        if (length == 0) {
            return fail(s, at, "not UTF-8");
        }
        at += length;
    } while (at < limit && (unsigned char)*at >= 0x80);
    return at;
}

/* A string from the first byte on that does not stand for itself. Sets `escaped`. What is short is
 * read here to its end; of what is longer the vectors pass over all that is right. */
static const char *scan_odd_string(scanner *s, const char *at)
{
    const char *end = s->end;
    const char *limit = end - at > SHORT_BYTES + HUB_JSON_BLOCK_BYTES ? at + SHORT_BYTES : end;
    for (;; at = hub_json_skip_plain(at, end)) {
        if (at >= limit && limit < end) {
            at = hub_json_skip_plain(hub_json_skip_string(at, end, &s->escaped), end);
            limit = end;
        }
        if (at == end) {
            return fail(s, at, "a string has no end");
        }
        if (*at == '"') {
            return at + 1;
        }
        at = scan_piece(s, at, limit);
        if (at == NULL) {
            return NULL;
        }
    }
}

/* From the opening quote. Sets `escaped`. */
static inline const char *scan_string(scanner *s, const char *at)
{
    at = hub_json_skip_plain(at + 1, s->end);
    s->escaped = false;
    return at < s->end && *at == '"' ? at + 1 : scan_odd_string(s, at);
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && hub_json_is_digit(*at)) {
        at++;
    }
    return at;
}

/* What follows the integer of a number, beginning with a dot or an e. */
static const char *scan_fraction_and_exponent(scanner *s, const char *at)
{
    const char *end = s->end;
    if (*at == '.') {
        const char *fraction = ++at;
        at = skip_digits(at, end);
        if (at == fraction) {
            return fail(s, at, "a digit was expected");
        }
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        const char *exponent = at;
        at = skip_digits(at, end);
        if (at == exponent) {
            return fail(s, at, "a digit was expected");
        }
    }
    return at;
}

static const char *scan_number(scanner *s, const char *at)
{
    const char *end = s->end;
    at += *at == '-';
    const char *integer = at;
    at = skip_digits(at, end);
    if (at == integer) {
        return fail(s, at, "a digit was expected");
    }
    if (*integer == '0' && at - integer > 1) {
        return fail(s, integer, "a number starts with a superfluous 0");
    }
    bool is_integer = at == end || (*at != '.' && (*at | 0x20) != 'e');
    return is_integer ? at : scan_fraction_and_exponent(s, at);
}

static const char *scan_literal(scanner *s, const char *at, hub_str word)
{
    return hub_str_starts(hub_str_between(at, s->end), word) ? at + word.len
                                                             : fail(s, at, "a value was expected");
}

/* The member of that object with that key, or NO_MEMBER. */
static uint8_t find_member(const hub_json_watch *watch, hub_json_members among, hub_str raw_key,
                           bool escaped)
{
    const char *key = raw_key.ptr + 1;
    size_t length = raw_key.len - 2;
    const hub_json_member *member = &watch->members[among.first];
    const hub_json_member *end = member + among.count;
    if (escaped) {
        while (member < end && !hub_json_string_is(raw_key, member->key)) {
            member++;
        }
    } else {
        while (member < end && (member->key.len != length || *member->key.ptr != *key ||
                                !hub_str_same_bytes(member->key.ptr, key, length))) {
            member++;
        }
    }
    return member < end ? (uint8_t)(member - watch->members) : NO_MEMBER;
}

/* A container was opened at that depth. */
static void watch_container(scanner *s, unsigned depth, bool is_object)
{
    uint8_t object = HUB_JSON_UNWATCHED;
    if (is_object && depth == 1) {
        object = HUB_JSON_ROOT;
    } else if (is_object && s->levels[depth - 1].member != NO_MEMBER) {
        object = s->watch->members[s->levels[depth - 1].member].inside;
    }
    s->levels[depth].object = object;
    s->levels[depth].member = NO_MEMBER;
}

/* A key was read; its value begins at `at`. */
static inline void watch_key(scanner *s, level *here, const char *at, hub_str raw_key)
{
    hub_json_watch *watch = s->watch;
    here->member = NO_MEMBER;
    if (here->object == HUB_JSON_UNWATCHED) {
        return;
    }
    uint8_t member = find_member(watch, watch->objects[here->object], raw_key, s->escaped);
    if (member == NO_MEMBER) {
        return;
    }
    if (watch->at[member].len > 0) {
        watch->repeated |= UINT64_C(1) << member;
        return;
    }
    here->member = member;
    here->value = at;
}

/* A value ended there, and a delimiter follows. */
static inline void watch_value(scanner *s, const level *here, const char *value_end)
{
    if (here->member != NO_MEMBER) {
        s->watch->at[here->member] = hub_str_between(here->value, value_end);
    }
}

/* A key, which begins with `*c`, the colon, and the space around it. Sets `*c` to what is there. */
static inline const char *scan_key(scanner *s, const tree *t, const char *at, char *c)
{
    const char *key = at;
    if (*c != '"') {
        return fail(s, at, "a key in quotes was expected");
    }
    at = scan_string(s, at);
    if (at == NULL) {
        return NULL;
    }
    hub_str raw_key = hub_str_between(key, at);
    if (next_char(s, &at) != ':') {
        return fail(s, at, "':' was expected");
    }
    at++;
    *c = next_char(s, &at);
    if (t->depth <= t->watched_depth) {
        watch_key(s, &s->levels[t->depth], at, raw_key);
    }
    return at;
}

/* Neither a container nor a string; most are numbers. */
static const char *scan_word(scanner *s, const char *at, char c)
{
    if (hub_json_is_digit(c) || c == '-') {
        return scan_number(s, at);
    }
    switch (c) {
    case 't':
        return scan_literal(s, at, HUB_STR("true"));
    case 'f':
        return scan_literal(s, at, HUB_STR("false"));
    case 'n':
        return scan_literal(s, at, HUB_STR("null"));
    default:
        return fail(s, at, "a value was expected");
    }
}

/* From where an element begins (a key, or in an array a value) down to the next scalar or empty
 * container, and behind it. */
static inline const char *scan_down(scanner *s, tree *t, const char *at)
{
    char c = next_char(s, &at);
    for (;;) {
        if ((t->containers & 1) != 0) {
            at = scan_key(s, t, at, &c);
            if (at == NULL) {
                return NULL;
            }
        }
        if (t->values_left-- == 0) {
            return fail_with(s, HUB_ELIMIT, at, TOO_MANY_VALUES);
        }
        if (c == '"') {
            return scan_string(s, at);
        }
        if (c != '{' && c != '[') {
            return scan_word(s, at, c);
        }
        if (t->depth == HUB_LIMIT_JSON_DEPTH) {
            return fail_with(s, HUB_ELIMIT, at, "nested too deep");
        }
        bool is_object = c == '{';
        at++;
        c = next_char(s, &at);
        if (c == (is_object ? '}' : ']')) {
            return at + 1;
        }
        t->depth++;
        t->containers = t->containers << 1 | (is_object ? 1 : 0);
        if (t->depth <= t->watched_depth) {
            watch_container(s, t->depth, is_object);
        }
    }
}

/* Up from behind a value to behind the next comma, or behind the whole tree: then nothing is open.
 */
static inline const char *scan_up(scanner *s, tree *t, const char *at)
{
    while (t->depth > 0) {
        const char *value_end = at;
        bool in_object = (t->containers & 1) != 0;
        char c = next_char(s, &at);
        if (c != ',' && c != (in_object ? '}' : ']')) {
            return fail(s, at, in_object ? "',' or '}' was expected" : "',' or ']' was expected");
        }
        if (t->depth <= t->watched_depth) {
            watch_value(s, &s->levels[t->depth], value_end);
        }
        at++;
        if (c == ',') {
            return at;
        }
        t->depth--;
        t->containers >>= 1;
    }
    return at;
}

/* Whether the bytes at `at` are those, by three loads, of which the last two may overlap. */
static inline bool begins_with(const char *at, hub_str bytes)
{
    return hub_load8(at) == hub_load8(bytes.ptr) && hub_load8(at + 8) == hub_load8(bytes.ptr + 8) &&
           hub_load8(at + bytes.len - 8) == hub_load8(bytes.ptr + bytes.len - 8);
}

/* When the text begins as nearly all do, and a scalar follows: be where scan_down is when it has read
 * as far. Returns where the scalar begins, or NULL. */
static inline const char *skip_start(scanner *s, tree *t, const char *at)
{
    const hub_json_start *start = s->watch != NULL ? s->watch->start : NULL;
    if (start == NULL || (size_t)(s->end - at) <= start->bytes.len ||
        !begins_with(at, start->bytes)) {
        return NULL;
    }
    const char *value = at + start->bytes.len;
    if (*value != '"' && *value != '-' && !hub_json_is_digit(*value)) {
        return NULL;
    }
    s->watch->at[start->member] =
        (hub_str){.ptr = at + (start->value.ptr - start->bytes.ptr), .len = start->value.len};
    s->levels[1] = (level){.object = HUB_JSON_ROOT, .member = start->follows, .value = value};
    t->depth = 1;
    t->containers = 1;
    t->values_left -= 3; /* of two million at least */
    return value;
}

static const char *scan_tree(scanner *s, const char *at)
{
    size_t by_bytes = (size_t)(s->end - at) / HUB_LIMIT_JSON_BYTES_PER_VALUE;
    tree t = {
        .watched_depth = s->watch != NULL ? HUB_JSON_WATCHED_DEPTH : 0,
        .values_left = by_bytes > HUB_LIMIT_JSON_VALUES ? by_bytes : HUB_LIMIT_JSON_VALUES,
    };
    const char *scalar = skip_start(s, &t, at);
    do {
        at = scalar == NULL   ? scan_down(s, &t, at)
             : *scalar == '"' ? scan_string(s, scalar)
                              : scan_word(s, scalar, *scalar);
        scalar = NULL;
        if (at != NULL) {
            at = scan_up(s, &t, at);
        }
    } while (at != NULL && t.depth > 0);
    return at;
}

/* The value and the white space around it. */
static bool scan_text(scanner *s, const char *at, hub_str *ret_value)
{
    if (*at == '\xef' && hub_str_starts(hub_str_between(at, s->end), HUB_STR("\xef\xbb\xbf"))) {
        return fail(s, at, "a byte order mark") != NULL;
    }
    const char *from = hub_json_skip_space(at, s->end);
    at = scan_tree(s, from);
    if (at == NULL) {
        return false;
    }
    *ret_value = hub_str_between(from, at);
    at = hub_json_skip_space(at, s->end);
    return at == s->end || fail(s, at, "something follows the value") != NULL;
}

hub_err hub_json_scan(hub_str text, hub_json_watch *watch, hub_str *ret_value, hub_error *reterr)
{
    if (text.len == 0) {
        return hub_fail(reterr, HUB_EPARSE, "byte 0: a value was expected");
    }
    scanner s = {
        .end = text.ptr + text.len,
        .watch = watch,
    };
    hub_str value;
    if (!scan_text(&s, text.ptr, &value)) {
        return hub_fail(reterr, s.code, "byte %zu: %s", (size_t)(s.wrong - text.ptr), s.why);
    }
    if (ret_value != NULL) {
        *ret_value = value;
    }
    return HUB_OK;
}
