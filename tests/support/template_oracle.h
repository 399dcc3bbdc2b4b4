/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a URI can be an expansion of one URI template, in other words than uri_template.c has: by
 * trying what may stand for each expression, place by place. Slow, and plain.
 */
#ifndef TEMPLATE_ORACLE_H
#define TEMPLATE_ORACLE_H

#include "base/str.h"

#include <stdlib.h>

/* From each place where `now` is true: where is one after a character of the expression, which ends
 * at `stops`? With a sign (0: none) that comes first, or nothing does. */
static inline void oracle_expand(bool *now, hub_str uri, char sign, const char *stops)
{
    bool *from = malloc(uri.len + 1);
    memcpy(from, now, uri.len + 1);
    memset(now, 0, sign == 0 ? uri.len + 1 : 0);
    for (size_t begin = 0; begin < uri.len; begin++) {
        size_t at = begin;
        if (!from[begin] || (sign != 0 && uri.ptr[at++] != sign)) {
            continue;
        }
        now[at] = now[at] || sign != 0;
        while (at < uri.len && (uri.ptr[at] == '\0' || strchr(stops, uri.ptr[at]) == NULL)) {
            now[++at] = true;
        }
    }
    free(from);
}

static inline void oracle_literal(bool *now, hub_str uri, char c)
{
    for (size_t i = uri.len + 1; i-- > 0;) {
        now[i] = i > 0 && now[i - 1] && uri.ptr[i - 1] == c;
    }
}

/* How many characters of a valid template are its own, or -1. */
static inline int oracle_match(hub_str pattern, hub_str uri, bool is_lax)
{
    static const struct {
        char operator;
        char sign;
        const char *stops;
    } OPERATORS[] = {{'+', 0, ""},     {'#', '#', ""},    {'?', '?', "#"},  {'&', '&', "#"},
                     {'/', '/', "?#"}, {'.', '.', "/?#"}, {';', ';', "/?#"}};
    bool *now = calloc(uri.len + 1, sizeof *now);
    int literals = 0;
    now[0] = true;
    for (size_t at = 0; at < pattern.len; at++) {
        if (pattern.ptr[at] != '{') {
            oracle_literal(now, uri, pattern.ptr[at]);
            literals++;
            continue;
        }
        size_t i = 0;
        while (i < sizeof OPERATORS / sizeof *OPERATORS &&
               OPERATORS[i].operator!= pattern.ptr[at + 1]) {
            i++;
        }
        if (i < sizeof OPERATORS / sizeof *OPERATORS) {
            oracle_expand(now, uri, OPERATORS[i].sign, OPERATORS[i].stops);
        } else {
            oracle_expand(now, uri, 0, is_lax ? "" : "/?#");
        }
        while (pattern.ptr[at] != '}') {
            at++;
        }
    }
    bool is_match = now[uri.len];
    free(now);
    return is_match ? literals : -1;
}

#endif
