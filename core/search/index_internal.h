/* SPDX-License-Identifier: Apache-2.0 */
/* What an index is made of. Only files of this room include it. */
#ifndef HUB_SEARCH_INDEX_INTERNAL_H
#define HUB_SEARCH_INDEX_INTERNAL_H

#include "search/index.h"

/* A word, and where its postings lie: for each tool that has it, in order, the distance to the tool
 * before (7 bits a byte, lowest first, the high bit: more follow) and one byte of weight. */
typedef struct hub_search_term {
    uint32_t text_at;
    uint32_t postings_at;
    uint32_t tools;
    uint32_t text_len;
} hub_search_term;

struct hub_search_index {
    hub_search_term *terms;
    uint32_t term_count;
    uint32_t *buckets; /* number of a term + 1; 0: none. Open addressing, linear */
    uint32_t bucket_mask;
    char *text; /* of all terms */
    uint32_t text_len;
    unsigned char *postings;
    uint32_t postings_len;
    float *norms; /* of each tool: k1 * (1 - b + b * length / average length) */
    uint32_t tool_count;
};

/* The bucket of a term, or the empty one where it would be. */
uint32_t hub_search_bucket(const uint32_t *buckets, uint32_t mask, const hub_search_term *terms,
                           const char *text, hub_str wanted);

#endif
