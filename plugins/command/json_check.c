/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#define DEPTH_MAX 64

typedef struct checker {
    const char *at;
    const char *end;
    size_t depth;
    char closing[DEPTH_MAX]; /* of the containers that are open */
} checker;

static void skip_space(checker *check)
{
    while (check->at < check->end && memchr(" \t\n\r", *check->at, 4) != NULL) {
        check->at++;
    }
}

static int is_hex(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* Past the escape at a backslash; 0 when it is none. */
static int skip_escape(checker *check)
{
    size_t left = (size_t)(check->end - check->at);
    if (left < 2 || strchr("\"\\/bfnrtu", check->at[1]) == NULL || check->at[1] == '\0') {
        return 0;
    }
    int digits = check->at[1] == 'u' ? 4 : 0;
    if (left < 2 + (size_t)digits) {
        return 0;
    }
    check->at += 2;
    for (int i = 0; i < digits; i++, check->at++) {
        if (!is_hex(*check->at)) {
            return 0;
        }
    }
    return 1;
}

/* Past the string at a quote; 0 with `at` at what is wrong. */
static int skip_string(checker *check)
{
    for (check->at++; check->at < check->end;) {
        size_t len = patchbay_utf8_length(check->at, check->end);
        unsigned char c = (unsigned char)*check->at;
        if (c == '"') {
            check->at++;
            return 1;
        }
        if (c == '\\') {
            if (!skip_escape(check)) {
                return 0;
            }
            continue;
        }
        if (len == 0 || c < 0x20) {
            return 0;
        }
        check->at += len;
    }
    return 0;
}

static size_t skip_digits(checker *check)
{
    const char *begin = check->at;
    while (check->at < check->end && *check->at >= '0' && *check->at <= '9') {
        check->at++;
    }
    return (size_t)(check->at - begin);
}

static int skip_char(checker *check, const char *any)
{
    int found = check->at < check->end && *check->at != '\0' && strchr(any, *check->at) != NULL;
    check->at += found;
    return found;
}

static int skip_number(checker *check)
{
    (void)skip_char(check, "-");
    if (!skip_char(check, "0") && skip_digits(check) == 0) {
        return 0;
    }
    if (skip_char(check, ".") && skip_digits(check) == 0) {
        return 0;
    }
    if (skip_char(check, "eE")) {
        (void)skip_char(check, "+-");
        return skip_digits(check) > 0;
    }
    return 1;
}

static int skip_word(checker *check)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t len = strlen(words[i]);
        if ((size_t)(check->end - check->at) >= len && memcmp(check->at, words[i], len) == 0) {
            check->at += len;
            return 1;
        }
    }
    return 0;
}

static int skip_key(checker *check)
{
    skip_space(check);
    if (check->at == check->end || *check->at != '"' || !skip_string(check)) {
        return 0;
    }
    skip_space(check);
    return skip_char(check, ":");
}

/* Past what ends here: containers, and the comma before the next value. 0: wrong; 1: a value
 * follows; 2: the whole is complete */
static int leave(checker *check)
{
    for (;;) {
        skip_space(check);
        if (check->depth == 0) {
            return check->at == check->end ? 2 : 0;
        }
        char closing = check->closing[check->depth - 1];
        if (check->at < check->end && *check->at == closing) {
            check->at++;
            check->depth--;
            continue;
        }
        if (!skip_char(check, ",")) {
            return 0;
        }
        return closing == ']' || skip_key(check);
    }
}

/* Into the container at hand. 0: wrong; 1: a value follows; 3: it is empty, and left again */
static int enter(checker *check, size_t max_depth)
{
    int is_object = *check->at == '{';
    if (check->depth == max_depth || check->depth == DEPTH_MAX) {
        return 0;
    }
    check->at++;
    skip_space(check);
    if (skip_char(check, is_object ? "}" : "]")) {
        return 3;
    }
    check->closing[check->depth++] = is_object ? '}' : ']';
    return !is_object || skip_key(check);
}

size_t command_json_defect(patchbay_str text, size_t max_depth)
{
    checker check = {.at = text.ptr, .end = text.ptr + text.len};
    int state = 1;
    while (state == 1) {
        skip_space(&check);
        char c = check.at < check.end ? *check.at : '\0';
        if (c == '{' || c == '[') {
            state = enter(&check, max_depth);
        } else if (c == '"') {
            state = skip_string(&check) ? 3 : 0;
        } else if (c == '-' || (c >= '0' && c <= '9')) {
            state = skip_number(&check) ? 3 : 0;
        } else {
            state = c != '\0' && skip_word(&check) ? 3 : 0;
        }
        if (state == 3) {
            state = leave(&check);
        }
    }
    return state == 2 ? SIZE_MAX : (size_t)(check.at - text.ptr);
}
