/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "search/index_internal.h"

#include <math.h>
#include <stdlib.h>

/* Values that every comparison of the field begins with; others were no better on any set. */
#define K1 1.2f

enum { WORDS_MOST = HUB_LIMIT_SEARCH_QUERY_WORDS };

typedef struct query {
    const hub_search_index *index;
    uint32_t terms[WORDS_MOST];
    size_t count;
} query;

typedef struct hits {
    uint32_t *tools;
    float scores[HUB_LIMIT_SEARCH_RESULTS];
    size_t count;
    size_t most;
} hits;

static void on_word(void *ctx, hub_str word)
{
    query *asked = ctx;
    const hub_search_index *index = asked->index;
    uint32_t bucket =
        hub_search_bucket(index->buckets, index->bucket_mask, index->terms, index->text, word);
    uint32_t term = index->buckets[bucket];
    if (term == 0 || asked->count == WORDS_MOST) {
        return;
    }
    for (size_t i = 0; i < asked->count; i++) {
        if (asked->terms[i] == term - 1) {
            return;
        }
    }
    asked->terms[asked->count++] = term - 1;
}

/* Weights are kept in halves. */
static void add_scores(const hub_search_index *index, const hub_search_term *term, float *scores)
{
    float all = (float)index->tool_count;
    float having = (float)term->tools;
    float rarity = logf(1.0f + (all - having + 0.5f) / (having + 0.5f));
    const unsigned char *at = index->postings + term->postings_at;
    uint32_t tool = 0;
    for (uint32_t i = 0; i < term->tools; i++) {
        uint32_t distance = 0;
        unsigned shift = 0;
        while ((*at & 0x80) != 0) {
            distance |= (uint32_t)(*at++ & 0x7f) << shift;
            shift += 7;
        }
        distance |= (uint32_t)*at++ << shift;
        tool += distance;
        float weight = (float)*at++ * 0.5f;
        scores[tool] += rarity * weight * (K1 + 1.0f) / (weight + index->norms[tool]);
    }
}

static bool is_among(const hits *found, float score)
{
    return found->count < found->most || score > found->scores[found->count - 1];
}

static void insert(hits *found, uint32_t tool, float score)
{
    size_t at = found->count < found->most ? found->count++ : found->count - 1;
    for (; at > 0 && found->scores[at - 1] < score; at--) {
        found->scores[at] = found->scores[at - 1];
        found->tools[at] = found->tools[at - 1];
    }
    found->scores[at] = score;
    found->tools[at] = tool;
}

hub_err hub_search_query(const hub_search_index *index, hub_search_words *words, hub_str text,
                         hub_search_may_see *may_see, void *ctx, uint32_t *tools, size_t *count)
{
    query asked = {.index = index};
    hits found = {.tools = tools,
                  .most = *count < HUB_LIMIT_SEARCH_RESULTS ? *count : HUB_LIMIT_SEARCH_RESULTS};
    *count = 0;
    hub_search_words_split(words, text, on_word, &asked);
    if (asked.count == 0 || found.most == 0) {
        return HUB_OK;
    }
    float *scores = calloc(index->tool_count, sizeof *scores);
    if (scores == NULL) {
        return HUB_ENOMEM;
    }
    for (size_t i = 0; i < asked.count; i++) {
        add_scores(index, &index->terms[asked.terms[i]], scores);
    }
    for (uint32_t tool = 0; tool < index->tool_count; tool++) {
        if (scores[tool] > 0.0f && is_among(&found, scores[tool]) &&
            (may_see == NULL || may_see(ctx, tool))) {
            insert(&found, tool, scores[tool]);
        }
    }
    free(scores);
    *count = found.count;
    return HUB_OK;
}
