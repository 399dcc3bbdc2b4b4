/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json_scan.h"

#include "base/limits.h"

/* One level of the tree near the root, while it is open. */
typedef struct level {
    uint8_t object;                /* its number for the watch; an array is unwatched */
    const hub_json_member *member; /* whose value is being read, or NULL */
    const char *value;             /* where that value began */
} level;

typedef struct scanner {
    const char *at;
    const char *end;
    /* The open containers, one bit each, the innermost lowest: 1 is an object. */
    uint64_t containers;
    unsigned depth;
    unsigned watched_depth; /* 0 when nothing is watched: then no level ever matches */
    unsigned value_count;
    bool escaped;    /* the string read last holds an escape */
    const char *why; /* of the failure; it is at `at` */
    hub_err code;
    hub_json_watch *watch;
    level levels[HUB_JSON_WATCHED_DEPTH + 1]; /* by depth */
} scanner;

/* What the pass does next. */
typedef enum step {
    STEP_FAILED,
    STEP_VALUE, /* a value has to begin here */
    STEP_KEY,   /* a key has to */
    STEP_AFTER, /* a value has just ended */
    STEP_DONE,
} step;

_Static_assert(HUB_LIMIT_JSON_DEPTH <= 64, "the open containers are kept in 64 bits");

static bool fail_with(scanner *s, hub_err code, const char *at, const char *why)
{
    s->at = at;
    s->why = why;
    s->code = code;
    return false;
}

static bool fail(scanner *s, const char *at, const char *why)
{
    return fail_with(s, HUB_EPARSE, at, why);
}

/* The next byte, or NUL at the end: no token begins with NUL, so both are refused alike. */
static inline char peek(const scanner *s)
{
    return s->at < s->end ? *s->at : '\0';
}

static inline void skip_space(scanner *s)
{
    s->at = hub_json_skip_space(s->at, s->end);
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
static bool scan_odd_string(scanner *s, const char *at)
{
    const char *end = s->end;
    for (;; at = hub_json_skip_plain(at, end)) {
        if (at == end) {
            return fail(s, at, "a string has no end");
        }
        if (*at == '"') {
            s->at = at + 1;
            return true;
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

/* Sets `escaped`. */
static inline bool scan_string(scanner *s)
{
    const char *at = hub_json_skip_plain(s->at + 1, s->end);
    s->escaped = false;
    if (at < s->end && *at == '"') {
        s->at = at + 1;
        return true;
    }
    return scan_odd_string(s, at);
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && hub_json_is_digit(*at)) {
        at++;
    }
    return at;
}

static bool scan_number(scanner *s)
{
    const char *at = s->at;
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
    s->at = at;
    return true;
}

static bool scan_literal(scanner *s, hub_str word)
{
    if (!hub_str_starts(hub_str_between(s->at, s->end), word)) {
        return fail(s, s->at, "a value was expected");
    }
    s->at += word.len;
    return true;
}

static const hub_json_member *find_member(const hub_json_watch *watch, uint8_t object,
                                          hub_str raw_key, bool escaped)
{
    const hub_json_member *member = &watch->members[watch->objects[object].first];
    const hub_json_member *end = member + watch->objects[object].count;
    hub_str key = {.ptr = raw_key.ptr + 1, .len = raw_key.len - 2};
    for (; member < end; member++) {
        if (escaped ? hub_json_string_is(raw_key, member->key) : hub_str_eq(key, member->key)) {
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
static void watch_key(scanner *s, hub_str raw_key, bool escaped)
{
    level *here = &s->levels[s->depth];
    hub_json_watch *watch = s->watch;
    here->member = NULL;
    if (here->object == HUB_JSON_UNWATCHED) {
        return;
    }
    const hub_json_member *member = find_member(watch, here->object, raw_key, escaped);
    if (member == NULL) {
        return;
    }
    size_t place = (size_t)(member - watch->members);
    if (watch->at[place].len > 0) {
        watch->repeated |= UINT64_C(1) << place;
        return;
    }
    here->member = member;
    here->value = s->at;
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
static step scan_key(scanner *s)
{
    const char *key = s->at;
    if (peek(s) != '"') {
        fail(s, s->at, "a key in quotes was expected");
        return STEP_FAILED;
    }
    if (!scan_string(s)) {
        return STEP_FAILED;
    }
    hub_str raw_key = hub_str_between(key, s->at);
    skip_space(s);
    if (peek(s) != ':') {
        fail(s, s->at, "':' was expected");
        return STEP_FAILED;
    }
    s->at++;
    skip_space(s);
    if (s->depth <= s->watched_depth) {
        watch_key(s, raw_key, s->escaped);
    }
    return STEP_VALUE;
}

static step scan_container(scanner *s, bool is_object)
{
    if (s->depth == HUB_LIMIT_JSON_DEPTH) {
        fail_with(s, HUB_ELIMIT, s->at, "nested too deep");
        return STEP_FAILED;
    }
    s->at++;
    skip_space(s);
    if (peek(s) == (is_object ? '}' : ']')) {
        s->at++;
        return STEP_AFTER;
    }
    s->depth++;
    s->containers = s->containers << 1 | (is_object ? 1 : 0);
    if (s->depth <= s->watched_depth) {
        watch_container(s, is_object);
    }
    return is_object ? STEP_KEY : STEP_VALUE;
}

static step scan_value(scanner *s)
{
    bool ok;
    if (++s->value_count > HUB_LIMIT_JSON_VALUES) {
        fail_with(s, HUB_ELIMIT, s->at, "too many values");
        return STEP_FAILED;
    }
    char c = peek(s);
    switch (c) {
    case '{':
    case '[':
        return scan_container(s, c == '{');
    case '"':
        ok = scan_string(s);
        break;
    case 't':
        ok = scan_literal(s, HUB_STR("true"));
        break;
    case 'f':
        ok = scan_literal(s, HUB_STR("false"));
        break;
    case 'n':
        ok = scan_literal(s, HUB_STR("null"));
        break;
    default:
        ok = c == '-' || hub_json_is_digit(c) ? scan_number(s)
                                              : fail(s, s->at, "a value was expected");
        break;
    }
    return ok ? STEP_AFTER : STEP_FAILED;
}

/* What follows a value: the next one, or the end of the container around it. */
static step scan_after(scanner *s)
{
    if (s->depth == 0) {
        return STEP_DONE;
    }
    const char *value_end = s->at;
    bool in_object = (s->containers & 1) != 0;
    skip_space(s);
    char c = peek(s);
    if (c != ',' && c != (in_object ? '}' : ']')) {
        fail(s, s->at, in_object ? "',' or '}' was expected" : "',' or ']' was expected");
        return STEP_FAILED;
    }
    if (s->depth <= s->watched_depth) {
        watch_value(s, value_end);
    }
    s->at++;
    if (c != ',') {
        s->depth--;
        s->containers >>= 1;
        return STEP_AFTER;
    }
    skip_space(s);
    return in_object ? STEP_KEY : STEP_VALUE;
}

static bool scan_tree(scanner *s)
{
    step next = STEP_VALUE;
    for (;;) {
        switch (next) {
        case STEP_VALUE:
            next = scan_value(s);
            break;
        case STEP_KEY:
            next = scan_key(s);
            break;
        case STEP_AFTER:
            next = scan_after(s);
            break;
        case STEP_DONE:
            return true;
        case STEP_FAILED:
            return false;
        }
    }
}

/* The value and the white space around it. */
static bool scan_text(scanner *s, hub_str *ret_value)
{
    if (hub_str_starts(hub_str_between(s->at, s->end), HUB_STR("\xef\xbb\xbf"))) {
        return fail(s, s->at, "a byte order mark");
    }
    skip_space(s);
    const char *from = s->at;
    if (!scan_tree(s)) {
        return false;
    }
    *ret_value = hub_str_between(from, s->at);
    skip_space(s);
    return s->at == s->end || fail(s, s->at, "something follows the value");
}

hub_err hub_json_scan(hub_str text, hub_json_watch *watch, hub_str *ret_value, hub_error *reterr)
{
    if (text.len == 0) {
        return hub_fail(reterr, HUB_EPARSE, "byte 0: a value was expected");
    }
    scanner s = {
        .at = text.ptr,
        .end = text.ptr + text.len,
        .watched_depth = watch != NULL ? HUB_JSON_WATCHED_DEPTH : 0,
        .watch = watch,
    };
    hub_str value;
    if (!scan_text(&s, &value)) {
        return hub_fail(reterr, s.code, "byte %zu: %s", (size_t)(s.at - text.ptr), s.why);
    }
    if (ret_value != NULL) {
        *ret_value = value;
    }
    return HUB_OK;
}
