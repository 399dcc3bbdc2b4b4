/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/uri_template.h"

#include "base/limits.h"

/* Where in the URI a matching may stand, by position. */
typedef struct places {
    bool at[HUB_LIMIT_URI_BYTES + 1];
} places;

/* What stands for an expression: `sign` first, if it has one, then characters but those of
 * `stops`. With a sign it may be nothing at all. */
typedef struct expansion {
    char sign; /* 0: none */
    const char *stops;
} expansion;

static expansion expansion_of(char operator, bool is_lax)
{
    switch (operator) {
    case '+':
        return (expansion){.stops = ""};
    case '#':
        return (expansion){.sign = '#', .stops = ""};
    case '?':
    case '&':
        return (expansion){.sign = operator, .stops = "#" };
    case '/':
        return (expansion){.sign = '/', .stops = "?#"};
    case '.':
    case ';':
        return (expansion){.sign = operator, .stops = "/?#" };
    default:
        return (expansion){.stops = is_lax ? "" : "/?#"};
    }
}

bool hub_uri_template_is_valid(hub_str pattern)
{
    size_t open = SIZE_MAX;
    for (size_t i = 0; i < pattern.len; i++) {
        if (pattern.ptr[i] == '{') {
            if (open != SIZE_MAX) {
                return false;
            }
            open = i;
        } else if (pattern.ptr[i] == '}') {
            if (open == SIZE_MAX || i - open < 2) {
                return false;
            }
            open = SIZE_MAX;
        }
    }
    return open == SIZE_MAX;
}

/* Go on from every place over `text`. */
static void match_literal(places *now, hub_str text, hub_str uri)
{
    for (size_t i = uri.len + 1; i-- > 0;) {
        now->at[i] = i >= text.len && now->at[i - text.len] &&
                     memcmp(uri.ptr + i - text.len, text.ptr, text.len) == 0;
    }
}

/* Go on from every place over what may stand for an expression. */
static void match_expansion(places *now, expansion what, hub_str uri)
{
    bool is_inside = false; /* the place before is within such a text */
    bool was_here = now->at[0];
    now->at[0] = what.sign != 0 && was_here;
    for (size_t i = 1; i <= uri.len; i++) {
        char c = uri.ptr[i - 1];
        bool is_here = now->at[i];
        bool may_follow = strchr(what.stops, c) == NULL;
        bool begins = was_here && (what.sign != 0 ? c == what.sign : may_follow);
        is_inside = begins || (is_inside && may_follow);
        now->at[i] = is_inside || (what.sign != 0 && is_here);
        was_here = is_here;
    }
}

int hub_uri_template_match(hub_str pattern, hub_str uri, bool is_lax)
{
    places now = {.at = {true}};
    int literals = 0;
    bool is_first = true;
    if (uri.len > HUB_LIMIT_URI_BYTES) {
        return -1;
    }
    while (pattern.len > 0) {
        const char *brace = memchr(pattern.ptr, '{', pattern.len);
        size_t len = brace == NULL ? pattern.len : (size_t)(brace - pattern.ptr);
        hub_str text = {.ptr = pattern.ptr, .len = len};
        if (is_first && !hub_str_starts(uri, text)) {
            return -1; /* nearly all of them end here */
        }
        is_first = false;
        match_literal(&now, text, uri);
        literals += (int)len;
        pattern = hub_str_from(pattern, len);
        if (pattern.len > 0) {
            match_expansion(&now, expansion_of(pattern.ptr[1], is_lax), uri);
            const char *end = memchr(pattern.ptr, '}', pattern.len);
            pattern = hub_str_from(pattern, (size_t)(end - pattern.ptr) + 1);
        }
    }
    return now.at[uri.len] ? literals : -1;
}
