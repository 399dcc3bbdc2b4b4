/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nearest.h"

#include "base/limits.h"

enum { MOST_LEN = 64 };

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Which bytes are there, roughly: one bit for 64 kinds of them. */
static uint64_t kinds_of(hub_str text)
{
    uint64_t kinds = 0;
    for (size_t i = 0; i < text.len; i++) {
        kinds |= UINT64_C(1) << ((unsigned char)lower(text.ptr[i]) & 63);
    }
    return kinds;
}

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The cells `from` to `to` of a row, in place of those of the row above; returns the least of them. */
static size_t fill_row(size_t *row, size_t from, size_t to, size_t diagonal, char c, hub_str b)
{
    size_t least = row[from - 1];
    for (size_t j = from; j <= to; j++) {
        size_t changed = diagonal + (lower(c) == lower(b.ptr[j - 1]) ? 0 : 1);
        diagonal = row[j];
        row[j] = least_of(changed, least_of(row[j], row[j - 1]) + 1);
        least = least_of(least, row[j]);
    }
    return least;
}

/* Levenshtein distance if it is below `bound`, else `bound` or more, with one row of memory: only
 * what lies within the bound of the diagonal is looked at. */
static size_t edit_distance(hub_str a, hub_str b, size_t bound, size_t *steps)
{
    size_t row[MOST_LEN + 1];
    for (size_t j = 0; j <= b.len; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a.len; i++) {
        size_t from = i > bound ? i - bound : 1;
        size_t to = least_of(i + bound, b.len);
        size_t diagonal = row[from - 1];
        row[from - 1] = from == 1 ? i : bound; /* left of the band */
        if (to == i + bound) {
            row[to] = bound; /* above its end nothing was looked at */
        }
        size_t least = fill_row(row, from, to, diagonal, a.ptr[i - 1], b);
        *steps -= least_of(*steps, to + 1 - from);
        if (least >= bound || *steps == 0) {
            return bound;
        }
    }
    return row[b.len];
}

void hub_nearest_begin(hub_nearest *nearest, hub_str word)
{
    bool is_good = word.len > 0 && word.len <= MOST_LEN;
    *nearest = (hub_nearest){
        .word = word, .distance = is_good ? 2 + word.len / 4 : 0, .steps = HUB_LIMIT_NEAREST_STEPS};
}

void hub_nearest_offer(hub_nearest *nearest, hub_str candidate)
{
    hub_str word = nearest->word;
    size_t longer = candidate.len > word.len ? candidate.len - word.len : word.len - candidate.len;
    if (nearest->distance == 0 || nearest->steps <= candidate.len || candidate.len > MOST_LEN ||
        longer >= nearest->distance) {
        nearest->steps -= nearest->steps > 0;
        return;
    }
    nearest->steps -= candidate.len;
    uint64_t missing = kinds_of(word) & ~kinds_of(candidate); /* each costs a change */
    if ((size_t)__builtin_popcountll(missing) >= nearest->distance) {
        return;
    }
    size_t distance = edit_distance(word, candidate, nearest->distance, &nearest->steps);
    if (distance < nearest->distance) {
        nearest->distance = distance;
        nearest->found = candidate;
    }
}
