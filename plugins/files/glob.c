/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <ctype.h>

#define PATTERNS_MAX      64   /* after expansion of "{a,b}": each is tried on each name */
#define PATTERN_MAX_BYTES 1024 /* times the length of a path bounds one match */

/* ---- matching -------------------------------------------------------------------------------- */

static int fold(char c, int ignore_case)
{
    return ignore_case ? tolower((unsigned char)c) : (unsigned char)c;
}

/* The end of a bracket expression that begins at `at`, or NULL: then '[' is a plain character. */
static const char *find_bracket_end(const char *at)
{
    at += at[1] == '!' || at[1] == '^' ? 2 : 1;
    at += *at == ']'; /* first, it is a member */
    const char *end = strchr(at, ']');
    return end;
}

static int bracket_matches(const char *at, const char *end, char c, int ignore_case)
{
    int negated = at[1] == '!' || at[1] == '^';
    int wanted = fold(c, ignore_case);
    int found = 0;
    for (at += negated ? 2 : 1; at < end; at++) {
        int low = fold(*at, ignore_case);
        int high = low;
        if (at[1] == '-' && at + 2 < end) {
            high = fold(at[2], ignore_case);
            at += 2;
        }
        found |= wanted >= low && wanted <= high;
    }
    return found != negated;
}

/* Length of the pattern's unit at `at` when it matches the character, else 0. */
static size_t match_one(const char *at, char c, int ignore_case)
{
    if (*at == '\\' && at[1] != '\0') {
        return fold(at[1], ignore_case) == fold(c, ignore_case) ? 2 : 0;
    }
    if (*at == '?') {
        return c != '/' ? 1 : 0;
    }
    const char *end = *at == '[' ? find_bracket_end(at) : NULL;
    if (end != NULL) {
        return c != '/' && bracket_matches(at, end, c, ignore_case) ? (size_t)(end + 1 - at) : 0;
    }
    return *at != '\0' && fold(*at, ignore_case) == fold(c, ignore_case) ? 1 : 0;
}

/* "?" and "[…]" take a whole character, in whatever bytes. */
static const char *next_character(const char *text, char unit)
{
    text++;
    while ((unit == '?' || unit == '[') && (*text & 0xc0) == 0x80) {
        text++;
    }
    return text;
}

/* Where to go on after a mismatch: the last star, and the last double star, each with the text that
 * it has not swallowed yet. An earlier star never needs to be tried again, so that time is bounded
 * by pattern times text twice, whatever the pattern. */
typedef struct retry {
    const char *pattern;
    const char *text;
} retry;

static int pattern_matches(const char *pattern, const char *text, int ignore_case)
{
    const char *begin = pattern;
    retry star = {NULL, NULL};
    retry globstar = {NULL, NULL};
    for (;;) {
        if (pattern[0] == '*' && pattern[1] == '*') {
            int whole = pattern == begin || pattern[-1] == '/';
            pattern += strspn(pattern, "*");
            pattern += whole && *pattern == '/'; /* no folder at all matches, too */
            globstar = (retry){pattern, text};
            star = (retry){NULL, NULL};
            continue;
        }
        if (*pattern == '*') {
            star = (retry){++pattern, text};
            continue;
        }
        size_t step = *text != '\0' ? match_one(pattern, *text, ignore_case) : 0;
        if (step > 0) {
            text = next_character(text, *pattern);
            pattern += step;
        } else if (*text == '\0' && *pattern == '\0') {
            return 1;
        } else if (star.pattern != NULL && *star.text != '\0' && *star.text != '/') {
            pattern = star.pattern;
            text = ++star.text;
        } else if (globstar.pattern != NULL && *globstar.text != '\0') {
            pattern = globstar.pattern;
            text = ++globstar.text;
            while (pattern[-1] == '/' && text[-1] != '/') { /* "**" + "/": whole folders only */
                if (*text == '\0') {
                    return 0;
                }
                text = ++globstar.text;
            }
        } else {
            return 0;
        }
    }
}

int files_glob_matches(const files_glob *glob, const char *name, const char *rel)
{
    for (size_t i = 0; i < glob->count; i++) {
        const char *pattern = glob->patterns[i];
        const char *text = strchr(pattern, '/') != NULL ? rel : name;
        if (pattern_matches(pattern, text, glob->ignore_case)) {
            return 1;
        }
    }
    return 0;
}

/* ---- making ---------------------------------------------------------------------------------- */

void files_glob_fini(files_glob *glob)
{
    for (size_t i = 0; i < glob->count; i++) {
        free(glob->patterns[i]);
    }
    free(glob->patterns);
    memset(glob, 0, sizeof *glob);
}

static int push(files_glob *glob, const char *text, size_t len)
{
    if (glob->patterns == NULL) {
        glob->patterns = (char **)calloc(PATTERNS_MAX, sizeof *glob->patterns);
    }
    if (glob->patterns == NULL || glob->count == PATTERNS_MAX) {
        return -1;
    }
    glob->patterns[glob->count] = strndup(text, len);
    return glob->patterns[glob->count] != NULL ? (int)glob->count++ : -1;
}

/* Replace pattern `i`, of which the first "{a,b}" is at [open, close], by one pattern per choice.
 */
static int expand(files_glob *glob, size_t i, size_t open, size_t close)
{
    char *whole = glob->patterns[i];
    char text[PATTERN_MAX_BYTES + 1];
    int result = 0;
    size_t at = open + 1;
    for (int first = 1; result >= 0 && at <= close; first = 0) {
        size_t len = strcspn(whole + at, ",}");
        int n = snprintf(text, sizeof text, "%.*s%.*s%s", (int)open, whole, (int)len, whole + at,
                         whole + close + 1);
        if (first) {
            glob->patterns[i] = strndup(text, (size_t)n);
            result = glob->patterns[i] != NULL ? 0 : -1;
        } else {
            result = push(glob, text, (size_t)n);
        }
        at += len + 1;
    }
    free(whole);
    if (glob->patterns[i] == NULL) { /* keep the list whole for files_glob_fini */
        glob->patterns[i] = glob->patterns[--glob->count];
    }
    return result;
}

int files_glob_add(files_glob *glob, patchbay_str pattern, files_problem *problem)
{
    size_t first = glob->count;
    int result = 0;
    if (pattern.len == 0 || pattern.len > PATTERN_MAX_BYTES ||
        memchr(pattern.ptr, '\0', pattern.len) != NULL) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT,
                     "a pattern has from 1 to %d bytes, and no NUL", PATTERN_MAX_BYTES);
        return -1;
    }
    result = push(glob, pattern.ptr, pattern.len);
    for (size_t i = first; result >= 0 && i < glob->count;) {
        const char *text = glob->patterns[i];
        const char *open = strchr(text, '{');
        const char *close = open != NULL ? strchr(open, '}') : NULL;
        if (close == NULL || strcspn(open + 1, "{") < (size_t)(close - open - 1)) {
            i++; /* none, or nested: taken literally */
            continue;
        }
        result = expand(glob, i, (size_t)(open - text), (size_t)(close - text));
    }
    if (result < 0) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT, "more than %d patterns", PATTERNS_MAX);
        return -1;
    }
    return 0;
}

int files_arg_glob(patchbay_tool_call *call, const char *key, int ignore_case, files_glob *ret_glob,
                   files_problem *problem)
{
    memset(ret_glob, 0, sizeof *ret_glob);
    ret_glob->ignore_case = ignore_case;
    patchbay_str raw = patchbay_arg(call, key);
    patchbay_json_iter it = patchbay_json_iterate(raw);
    patchbay_str unused;
    int result = 0;
    if (raw.len > 0 && raw.ptr[0] == '"') { /* one string: walk it as an array of one */
        it = (patchbay_json_iter){raw.ptr, raw.ptr + raw.len, 0};
    }
    while (result == 0 && patchbay_json_next(&it, &unused, &raw)) {
        patchbay_out text;
        memset(&text, 0, sizeof text);
        (void)patchbay_json_decode(raw, &text); /* no string: empty, and refused */
        result = files_glob_add(ret_glob, patchbay_str_make(text.ptr, text.len), problem);
        patchbay_out_free(&text);
    }
    if (result != 0) {
        files_glob_fini(ret_glob);
    }
    return result;
}
