/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include "base/nearest.h"

#include <stdlib.h>

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

hub_str hub_str_put(char **at, hub_str text)
{
    hub_str copy = {.ptr = *at, .len = text.len};
    if (text.len > 0) {
        memcpy(*at, text.ptr, text.len);
        *at += text.len;
    }
    return copy;
}

int hub_str_cmp(hub_str a, hub_str b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common == 0 ? 0 : memcmp(a.ptr, b.ptr, common);
    if (order != 0) {
        return order;
    }
    return a.len < b.len ? -1 : a.len > b.len;
}

bool hub_str_eq_nocase(hub_str a, hub_str b)
{
    if (a.len != b.len) {
        return false;
    }
    for (size_t i = 0; i < a.len; i++) {
        if (lower(a.ptr[i]) != lower(b.ptr[i])) {
            return false;
        }
    }
    return true;
}

hub_str hub_str_trim(hub_str a)
{
    a = hub_str_skip_space(a);
    while (a.len > 0 && is_space(a.ptr[a.len - 1])) {
        a.len--;
    }
    return a;
}

hub_str hub_str_skip_space(hub_str a)
{
    while (a.len > 0 && is_space(a.ptr[0])) {
        a = hub_str_from(a, 1);
    }
    return a;
}

size_t hub_str_find(hub_str a, hub_str needle)
{
    if (needle.len == 0) {
        return 0;
    }
    const char *found = a.len > 0 ? memmem(a.ptr, a.len, needle.ptr, needle.len) : NULL;
    return found != NULL ? (size_t)(found - a.ptr) : SIZE_MAX;
}

char *hub_str_dup(hub_str a)
{
    char *copy = malloc(a.len + 1);
    if (copy == NULL) {
        return NULL;
    }
    if (a.len > 0) {
        memcpy(copy, a.ptr, a.len);
    }
    copy[a.len] = '\0';
    return copy;
}

bool hub_str_glob(hub_str pattern, hub_str text)
{
    size_t p = 0;
    size_t t = 0;
    size_t star = SIZE_MAX;
    size_t retry = 0;
    while (t < text.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            retry = t;
        } else if (p < pattern.len && (pattern.ptr[p] == '?' || pattern.ptr[p] == text.ptr[t])) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++retry;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*') {
        p++;
    }
    return p == pattern.len;
}

size_t hub_str_utf8_length(hub_str a)
{
    static const struct {
        unsigned char first, last; /* of the lead byte */
        unsigned char low, high;   /* of the second byte: no overlong forms, no surrogates, and */
        size_t length;             /* nothing above U+10FFFF */
    } FORMS[] = {
        {0x00, 0x7f, 0x00, 0xff, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    const unsigned char *bytes = (const unsigned char *)a.ptr;
    for (size_t i = 0; a.len > 0 && i < sizeof FORMS / sizeof FORMS[0]; i++) {
        if (bytes[0] < FORMS[i].first || bytes[0] > FORMS[i].last) {
            continue;
        }
        size_t good = 1;
        while (good < FORMS[i].length && good < a.len &&
               bytes[good] >= (good == 1 ? FORMS[i].low : 0x80) &&
               bytes[good] <= (good == 1 ? FORMS[i].high : 0xbf)) {
            good++;
        }
        return good == FORMS[i].length ? good : 0;
    }
    return 0;
}

bool hub_str_is_control(hub_str a, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)a.ptr;
    return length == 1 ? bytes[0] < 0x20 || bytes[0] == 0x7f
                       : length == 2 && bytes[0] == 0xc2 && bytes[1] < 0xa0;
}

uint32_t hub_str_character(hub_str a, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)a.ptr;
    uint32_t character = length == 1 ? bytes[0] : bytes[0] & (0xffU >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        character = character << 6 | (bytes[i] & 0x3fU);
    }
    return character;
}

bool hub_char_is_unseen(uint32_t character)
{
    static const struct {
        uint32_t from;
        uint32_t to;
    } RANGES[] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
        {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
        {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff},
    };
    bool is_in = false;
    if (character >= 0x20 && character < 0x7f) { /* mostly */
        return false;
    }
    for (size_t i = 0; i < sizeof RANGES / sizeof RANGES[0]; i++) {
        is_in = is_in || (character >= RANGES[i].from && character <= RANGES[i].to);
    }
    return is_in;
}

uint64_t hub_str_hash(hub_str a)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < a.len; i++) {
        hash = (hash ^ (unsigned char)a.ptr[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

hub_str hub_str_nearest(hub_str word, const char *const *candidates)
{
    hub_nearest nearest;
    hub_nearest_begin(&nearest, word);
    for (; *candidates != NULL; candidates++) {
        hub_nearest_offer(&nearest, hub_str_of(*candidates));
    }
    return nearest.found;
}
