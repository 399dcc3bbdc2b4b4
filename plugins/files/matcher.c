/* SPDX-License-Identifier: Apache-2.0 */
#include "matcher.h"

#include <ctype.h>
#include <strings.h>

#define PATTERN_MAX_BYTES 1000
#define REGEX_MAX_BYTES   256 /* with REPEAT_MAX: bounds what one state of the automaton takes */
#define REPEAT_MAX        100 /* all {n,m} of an expression, multiplied: regcomp unfolds them */
/* ---- what an expression may cost ------------------------------------------------------------- */

/* Skip a bracket expression; `at` is at '['. */
static const char *skip_bracket(const char *at)
{
    at += at[1] == '^' ? 2 : 1;
    at += *at == ']';
    while (*at != '\0' && *at != ']') {
        const char *inner = *at == '[' && at[1] != '\0' ? strchr(":.=", at[1]) : NULL;
        const char end[] = {inner != NULL ? *inner : '\0', ']', '\0'};
        const char *stop = inner != NULL ? strstr(at + 2, end) : NULL;
        at = stop != NULL ? stop + 2 : at + 1;
    }
    return *at == ']' ? at + 1 : at;
}

/* The larger bound of "{n}", "{n,}" or "{n,m}" at `at`; at least 1. */
static long read_repeat(const char *at)
{
    char *end;
    long low = strtol(at + 1, &end, 10);
    long high = *end == ',' ? strtol(end + 1, NULL, 10) : low;
    long most = high > low ? high : low;
    return most < 1 ? 1 : most > REPEAT_MAX ? REPEAT_MAX + 1 : most;
}

static const char *find_regex_defect(const char *pattern)
{
    long repeats = 1;
    for (const char *at = pattern; *at != '\0';) {
        if (*at == '\\' && at[1] >= '1' && at[1] <= '9') {
            return "back-references are not supported";
        }
        if (*at == '{') {
            repeats *= read_repeat(at);
            if (repeats > REPEAT_MAX) {
                return "its repetitions {n,m} multiply to more than 100";
            }
        }
        if (*at == '[') {
            at = skip_bracket(at);
        } else {
            at += *at == '\\' && at[1] != '\0' ? 2 : 1;
        }
    }
    return NULL;
}

static int compile(files_matcher *matcher)
{
    int code = regcomp(&matcher->regex, matcher->pattern.ptr,
                       REG_EXTENDED | (matcher->ignore_case ? REG_ICASE : 0));
    matcher->compiled = code == 0;
    matcher->fed = 0;
    return code;
}

/* ---- making ---------------------------------------------------------------------------------- */

int files_matcher_init(files_matcher *matcher, patchbay_tool_call *call, files_problem *problem)
{
    memset(matcher, 0, sizeof *matcher);
    matcher->is_regex = patchbay_arg_bool(call, "regex", 0);
    matcher->ignore_case = patchbay_arg_bool(call, "ignore_case", 0);
    if (files_arg_string(call, "pattern", &matcher->pattern, problem) != 0) {
        return -1;
    }
    patchbay_str text = matcher->pattern;
    size_t max = matcher->is_regex ? REGEX_MAX_BYTES : PATTERN_MAX_BYTES;
    if (text.len == 0 || text.len > max || memchr(text.ptr, '\n', text.len) != NULL ||
        memchr(text.ptr, '\0', text.len) != NULL) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT,
                     "'pattern' must have from 1 to %zu bytes, and no line break or NUL: lines are "
                     "searched one by one",
                     max);
        return -1;
    }
    const char *defect = matcher->is_regex ? find_regex_defect(text.ptr) : NULL;
    char reason[200];
    int code = matcher->is_regex && defect == NULL ? compile(matcher) : 0;
    if (code != 0) {
        (void)regerror(code, NULL, reason, sizeof reason);
        defect = reason;
    }
    if (defect != NULL) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT,
                     "'pattern' is not a usable POSIX extended regular expression: %s", defect);
        return -1;
    }
    return 0;
}

void files_matcher_fini(files_matcher *matcher)
{
    if (matcher->compiled) {
        regfree(&matcher->regex);
        matcher->compiled = 0;
    }
}

/* ---- matching -------------------------------------------------------------------------------- */

static ssize_t find_folded(patchbay_str pattern, const char *line, size_t len)
{
    const char first[] = {(char)tolower((unsigned char)pattern.ptr[0]),
                          (char)toupper((unsigned char)pattern.ptr[0])};
    for (size_t i = 0; i + pattern.len <= len; i++) {
        if ((line[i] == first[0] || line[i] == first[1]) &&
            strncasecmp(line + i, pattern.ptr, pattern.len) == 0) {
            return (ssize_t)i;
        }
    }
    return -1;
}

static ssize_t find_regex(files_matcher *matcher, const char *line, size_t len, size_t begin)
{
    size_t size = len - begin < FILES_PIECE_BYTES ? len - begin : FILES_PIECE_BYTES;
    regmatch_t range;
    if (matcher->fed > 0 && matcher->fed + size > FILES_PIECE_BYTES) {
        files_matcher_fini(matcher);
        if (compile(matcher) != 0) {
            return -1;
        }
    }
    matcher->fed += size + 1;
    memcpy(matcher->piece, line + begin, size); /* regexec wants a NUL behind */
    matcher->piece[size] = '\0';
    int flags = (begin > 0 ? REG_NOTBOL : 0) | (begin + size < len ? REG_NOTEOL : 0);
    return regexec(&matcher->regex, matcher->piece, 1, &range, flags) == 0
               ? (ssize_t)begin + (ssize_t)range.rm_so
               : -1;
}

ssize_t files_matcher_find(files_matcher *matcher, const char *line, size_t len)
{
    patchbay_str pattern = matcher->pattern;
    if (matcher->is_regex) {
        ssize_t found = -1;
        size_t begin = 0;
        do {
            found = matcher->compiled ? find_regex(matcher, line, len, begin) : -1;
            begin += FILES_PIECE_BYTES;
        } while (found < 0 && begin < len);
        return found;
    }
    if (matcher->ignore_case) {
        return find_folded(pattern, line, len);
    }
    const char *found = (const char *)memmem(line, len, pattern.ptr, pattern.len);
    return found != NULL ? found - line : -1;
}
