/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json_scan.h"

#include "base/limits.h"

/* One level of the tree near the root, while it is open. */
typedef struct level {
    uint8_t object;                /* its number for the watch; an array is unwatched */
    const hub_json_member *member; /* whose value is being read, or NULL */
    const char *value;             /* where that value began */
} level;

/* Where the pass is goes from function to function by value, so that it stays in a register. */
typedef struct scanner {
    const char *end;
    /* The open containers, one bit each, the innermost lowest: 1 is an object. */
    uint64_t containers;
    unsigned depth;
    unsigned watched_depth; /* 0 when nothing is watched: then no level ever matches */
    unsigned value_count;
    bool escaped; /* the string read last holds an escape */
    hub_json_watch *watch;
    level levels[HUB_JSON_WATCHED_DEPTH + 1]; /* by depth */
    const char *wrong;                        /* where it failed, */
    const char *why;                          /* and of what */
    hub_err code;
} scanner;

/* What has to follow. */
typedef enum step {
    STEP_VALUE,
    STEP_KEY,
    STEP_AFTER, /* what comes after a value */
} step;

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

/* The byte there, or NUL at the end: no token begins with NUL, so both are refused alike. */
static inline char peek(const scanner *s, const char *at)
{
    return at < s->end ? *at : '\0';
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
            if (hub_json_hex_digit(at[i]) < 0) {
                return 0;
            }
        }
        return 6;
    default:
        return 0;
    }
}

/* A string from the first byte on that does not stand for itself. Sets `escaped`. */
static const char *scan_odd_string(scanner *s, const char *at)
{
    const char *end = s->end;
    for (;; at = hub_json_skip_plain(at, end)) {
        if (at == end) {
            return fail(s, at, "a string has no end");
        }
        if (*at == '"') {
            return at + 1;
        }
        if (*at == '\\') {
            size_t length = escape_length(at, end);
            if (length == 0) {
                return fail(s, at, "not an escape that JSON knows");
            }
            s->escaped = true;
            at += length;
            continue;
        }
        if ((unsigned char)*at < 0x80) {
            return fail(s, at, "a control character inside a string");
        }
        /* Other scripts come in runs: stay here for the whole run. */
        do {
            size_t length = hub_json_utf8_length(at, end);
            if (length == 0) {
                return fail(s, at, "not UTF-8");
            }
            at += length;
        } while (at < end && (unsigned char)*at >= 0x80);
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
    if (at < end && *at == '.') {
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

static const char *scan_literal(scanner *s, const char *at, hub_str word)
{
    return hub_str_starts(hub_str_between(at, s->end), word) ? at + word.len
                                                             : fail(s, at, "a value was expected");
}

static const hub_json_member *find_member(const hub_json_watch *watch, uint8_t object,
                                          hub_str raw_key, bool escaped)
{
    const hub_json_member *member = &watch->members[watch->objects[object].first];
    const hub_json_member *end = member + watch->objects[object].count;
    const char *key = raw_key.ptr + 1;
    size_t length = raw_key.len - 2;
    for (; member < end; member++) {
        if (escaped) {
            if (hub_json_string_is(raw_key, member->key)) {
                return member;
            }
        } else if (member->key.len == length && *member->key.ptr == *key && /* most are not it */
                   hub_str_same_bytes(member->key.ptr, key, length)) {
            return member;
        }
    }
    return NULL;
}

/* A container was opened; depth counts it already. */
static void watch_container(scanner *s, bool is_object)
{
    uint8_t object = HUB_JSON_UNWATCHED;
    if (is_object && s->depth == 1) {
        object = HUB_JSON_ROOT;
    } else if (is_object && s->levels[s->depth - 1].member != NULL) {
        object = s->levels[s->depth - 1].member->inside;
    }
    s->levels[s->depth] = (level){.object = object};
}

/* A key was read; its value begins at `at`. */
static void watch_key(scanner *s, const char *at, hub_str raw_key)
{
    level *here = &s->levels[s->depth];
    hub_json_watch *watch = s->watch;
    here->member = NULL;
    if (here->object == HUB_JSON_UNWATCHED) {
        return;
    }
    const hub_json_member *member = find_member(watch, here->object, raw_key, s->escaped);
    if (member == NULL) {
        return;
    }
    size_t place = (size_t)(member - watch->members);
    if (watch->at[place].len > 0) {
        watch->repeated |= UINT64_C(1) << place;
        return;
    }
    here->member = member;
    here->value = at;
}

/* A value ended at `value_end`, and a delimiter follows. */
static void watch_value(scanner *s, const char *value_end)
{
    const level *here = &s->levels[s->depth];
    if (here->member != NULL) {
        size_t place = (size_t)(here->member - s->watch->members);
        s->watch->at[place] = hub_str_between(here->value, value_end);
    }
}

/* A key, the colon, and the space around them. */
static inline const char *scan_key(scanner *s, const char *at)
{
    const char *key = at;
    if (peek(s, at) != '"') {
        return fail(s, at, "a key in quotes was expected");
    }
    at = scan_string(s, at);
    if (at == NULL) {
        return NULL;
    }
    hub_str raw_key = hub_str_between(key, at);
    at = hub_json_skip_space(at, s->end);
    if (peek(s, at) != ':') {
        return fail(s, at, "':' was expected");
    }
    at = hub_json_skip_space(at + 1, s->end);
    if (s->depth <= s->watched_depth) {
        watch_key(s, at, raw_key);
    }
    return at;
}

static inline const char *scan_container(scanner *s, const char *at, bool is_object, step *ret_next)
{
    if (s->depth == HUB_LIMIT_JSON_DEPTH) {
        return fail_with(s, HUB_ELIMIT, at, "nested too deep");
    }
    at = hub_json_skip_space(at + 1, s->end);
    if (peek(s, at) == (is_object ? '}' : ']')) {
        return at + 1;
    }
    s->depth++;
    s->containers = s->containers << 1 | (is_object ? 1 : 0);
    if (s->depth <= s->watched_depth) {
        watch_container(s, is_object);
    }
    *ret_next = is_object ? STEP_KEY : STEP_VALUE;
    return at;
}

static inline const char *scan_value(scanner *s, const char *at, step *ret_next)
{
    if (++s->value_count > HUB_LIMIT_JSON_VALUES) {
        return fail_with(s, HUB_ELIMIT, at, "too many values");
    }
    char c = peek(s, at);
    *ret_next = STEP_AFTER;
    switch (c) {
    case '{':
    case '[':
        return scan_container(s, at, c == '{', ret_next);
    case '"':
        return scan_string(s, at);
    case 't':
        return scan_literal(s, at, HUB_STR("true"));
    case 'f':
        return scan_literal(s, at, HUB_STR("false"));
    case 'n':
        return scan_literal(s, at, HUB_STR("null"));
    default:
        return c == '-' || hub_json_is_digit(c) ? scan_number(s, at)
                                                : fail(s, at, "a value was expected");
    }
}

/* What follows a value in a container: the next one, or its end. */
static inline const char *scan_after(scanner *s, const char *at, step *ret_next)
{
    const char *value_end = at;
    bool in_object = (s->containers & 1) != 0;
    at = hub_json_skip_space(at, s->end);
    char c = peek(s, at);
    if (c != ',' && c != (in_object ? '}' : ']')) {
        return fail(s, at, in_object ? "',' or '}' was expected" : "',' or ']' was expected");
    }
    if (s->depth <= s->watched_depth) {
        watch_value(s, value_end);
    }
    at++;
    if (c != ',') {
        s->depth--;
        s->containers >>= 1;
        return at;
    }
    *ret_next = in_object ? STEP_KEY : STEP_VALUE;
    return hub_json_skip_space(at, s->end);
}

static const char *scan_tree(scanner *s, const char *at)
{
    step next = STEP_VALUE;
    while (at != NULL) {
        if (next == STEP_KEY) {
            at = scan_key(s, at);
            next = STEP_VALUE;
        } else if (next == STEP_VALUE) {
            at = scan_value(s, at, &next);
        } else if (s->depth > 0) {
            at = scan_after(s, at, &next);
        } else {
            break;
        }
    }
    return at;
}

/* The value and the white space around it. */
static bool scan_text(scanner *s, const char *at, hub_str *ret_value)
{
    if (hub_str_starts(hub_str_between(at, s->end), HUB_STR("\xef\xbb\xbf"))) {
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
        .watched_depth = watch != NULL ? HUB_JSON_WATCHED_DEPTH : 0,
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
