/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text as spans. hub_str is the ABI's patchbay_str: pointer and length, UTF-8, borrowed, not
 * NUL-terminated. Pure functions, any thread. Owned text lives in hub_buf, or in a char * made by
 * hub_str_dup.
 */
#ifndef HUB_BASE_STR_H
#define HUB_BASE_STR_H

#include <patchbay/plugin.h>

#include <limits.h>
#include <stdbool.h>
#include <string.h>

typedef patchbay_str hub_str;

#define HUB_STR(literal) ((hub_str){.ptr = "" literal, .len = sizeof(literal) - 1})
#define HUB_STR_EMPTY    ((hub_str){.ptr = "", .len = 0})

/* For printf: HUB_STR_FMT with HUB_STR_ARG(span). A negative precision would mean no end at all, so
 * what an int cannot hold is cut. */
#define HUB_STR_FMT    "%.*s"
#define HUB_STR_ARG(s) (int)((s).len < INT_MAX ? (s).len : INT_MAX), (s).len ? (s).ptr : ""

static inline hub_str hub_str_of(const char *text)
{
    return (hub_str){.ptr = text, .len = text ? strlen(text) : 0};
}

static inline uint64_t hub_load8(const void *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline uint32_t hub_load4(const void *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Of a function whose call costs as much as itself, where every message passes: the compiler stops making such
 * calls disappear when the program has grown enough. */
#define HUB_ALWAYS_INLINE inline __attribute__((always_inline))

/* Whether `len` bytes are the same. Names are short: two loads of each, which may overlap, are less
 * than a call. */
static HUB_ALWAYS_INLINE bool hub_str_same_bytes(const char *a, const char *b, size_t len)
{
    if (len >= 8 && len <= 16) {
        return hub_load8(a) == hub_load8(b) && hub_load8(a + len - 8) == hub_load8(b + len - 8);
    }
    if (len >= 4 && len < 8) {
        return hub_load4(a) == hub_load4(b) && hub_load4(a + len - 4) == hub_load4(b + len - 4);
    }
    return len == 0 || memcmp(a, b, len) == 0;
}

static inline bool hub_str_eq(hub_str a, hub_str b)
{
    return a.len == b.len && hub_str_same_bytes(a.ptr, b.ptr, a.len);
}

/* Whether two texts are the same; NULL is the same as NULL alone. */
static inline bool hub_str_same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static inline bool hub_str_is(hub_str a, const char *text)
{
    return hub_str_eq(a, hub_str_of(text));
}

static inline bool hub_str_starts(hub_str a, hub_str prefix)
{
    return a.len >= prefix.len && (prefix.len == 0 || memcmp(a.ptr, prefix.ptr, prefix.len) == 0);
}

/* The value of a hexadecimal digit of either case, or -1. */
static inline int hub_str_hex_digit(char c)
{
    char lower = (char)(c | 0x20);
    return c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The part of `a` from byte `from` (at most a.len) to its end. */
static inline hub_str hub_str_from(hub_str a, size_t from)
{
    /* Adding even 0 to a NULL pointer is undefined. */
    return (hub_str){.ptr = from > 0 ? a.ptr + from : a.ptr, .len = a.len - from};
}

/* The bytes between two pointers into the same text. */
static inline hub_str hub_str_between(const char *from, const char *to)
{
    return (hub_str){.ptr = from, .len = (size_t)(to - from)};
}

/* The beginning of `a`, at most so many bytes, which ends with a whole character. */
static inline hub_str hub_str_cut(hub_str a, size_t most)
{
    if (a.len > most) {
        a.len = most;
        while (a.len > 0 && ((unsigned char)a.ptr[a.len] & 0xc0) == 0x80) {
            a.len--;
        }
    }
    return a;
}

/* Copy a text to *at, in a block that the caller made large enough, and move *at behind it. Nothing
 * ends the copy. Returns the copy. */
hub_str hub_str_put(char **at, hub_str text);

/* Where a slice of `from` lies in a copy of that; itself when it is none of it, as a constant. */
static inline hub_str hub_str_moved(hub_str slice, hub_str from, const char *copy)
{
    bool is_inside = slice.len > 0 && slice.ptr >= from.ptr && slice.ptr < from.ptr + from.len;
    return is_inside ? (hub_str){.ptr = copy + (slice.ptr - from.ptr), .len = slice.len} : slice;
}

/* Bytewise order, shorter first on a tie: <0, 0, >0. */
int hub_str_cmp(hub_str a, hub_str b);

/* Equal but for the case of ASCII letters. */
bool hub_str_eq_nocase(hub_str a, hub_str b);

/* Without leading and trailing ASCII white space. */
hub_str hub_str_trim(hub_str a);

/* Without leading ASCII white space. */
hub_str hub_str_skip_space(hub_str a);

/* First place of `needle` in `a`, or SIZE_MAX. */
size_t hub_str_find(hub_str a, hub_str needle);

/* A NUL-terminated copy that the caller frees; NULL when out of memory. */
char *hub_str_dup(hub_str a);

/* Shell-style glob over bytes: `*` any run, `?` one byte; everything else literal. */
bool hub_str_glob(hub_str pattern, hub_str text);

/* Length of the well-formed UTF-8 sequence (RFC 3629) at the start of `a`, 1 to 4; 0 when there is
 * none. */
size_t hub_str_utf8_length(hub_str a);

/* Whether the UTF-8 sequence of `length` bytes at the start of `a` is a control character, which a
 * terminal may obey: C0, DEL, or C1. */
bool hub_str_is_control(hub_str a, size_t length);

/* The character that the UTF-8 sequence of `length` bytes at the start of `a` is. */
uint32_t hub_str_character(hub_str a, size_t length);

/* Whether a character is not seen, or changes how what follows it is read: control characters, line
 * and paragraph separators, zero-width ones, those that turn the direction of writing, tags. */
bool hub_char_is_unseen(uint32_t character);

/* 64-bit hash, stable between runs (FNV-1a); not for tables that strangers fill. */
uint64_t hub_str_hash(hub_str a);

/* The candidate nearest to `word` by edit distance, when it is near enough to be a typing error
 * (distance at most 1 + len/4); else the empty span. `candidates` ends with NULL. */
hub_str hub_str_nearest(hub_str word, const char *const *candidates);

#endif
