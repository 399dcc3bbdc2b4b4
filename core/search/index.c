/* SPDX-License-Identifier: Apache-2.0 */
#include "search/index.h"

#include "base/limits.h"
#include "base/map.h"
#include "search/definition_words.h"
#include "search/index_internal.h"

#include <stdlib.h>

/* What a word of each field weighs, in halves of one of the description. */
enum {
    WEIGHT_NAME = 6,
    WEIGHT_TITLE = 2,
    WEIGHT_DESCRIPTION = 2,
    WEIGHT_ARGUMENT = 1,
    WEIGHT_TOOLSET = 1,
    WEIGHT_TAG = 2,
    WEIGHT_MOST = UINT8_MAX, /* what a posting has room for */
};

enum {
    FIRST_BUCKETS = 1024,
    FIRST_ENTRIES = 4096,
    WORDS_LEAST = 16, /* of each tool, whatever their number: those of its name */
    TOOL_BITS = 24,
    TEXT_MOST = 1 << 30,
};

/* One word of one tool: the term in the upper half, the tool, and the weight in the lowest byte. */
typedef uint64_t entry;

/* A word while the tool is being read that has it. */
typedef struct word {
    uint32_t term;
    uint32_t weight;
} word;

/* Beside each term: the last tool that had it, plus 1, and where in `current` it is. */
typedef struct seen {
    uint32_t tool;
    uint32_t place;
} seen;

struct hub_search_builder {
    hub_search_words *words;
    hub_buf scratch;
    size_t announced;
    hub_err failed;
    /* terms */
    hub_search_term *terms;
    seen *last;
    uint32_t term_count;
    uint32_t term_room;
    uint32_t *buckets;
    uint32_t bucket_mask;
    hub_buf text;
    /* entries */
    entry *entries;
    size_t entry_count;
    size_t entry_room;
    /* tools */
    float *lengths; /* in halves, like weights */
    uint32_t tool_count;
    word current[HUB_LIMIT_SEARCH_WORDS_PER_TOOL];
    size_t current_count;
    size_t current_most;
    uint32_t weight; /* of the field that is being read */
};

uint32_t hub_search_bucket(const uint32_t *buckets, uint32_t mask, const hub_search_term *terms,
                           const char *text, hub_str wanted)
{
    uint32_t at = hub_map_hash(wanted.ptr, wanted.len) & mask;
    while (buckets[at] != 0) {
        const hub_search_term *term = &terms[buckets[at] - 1];
        hub_str known = {.ptr = text + term->text_at, .len = term->text_len};
        if (hub_str_eq(known, wanted)) {
            break;
        }
        at = (at + 1) & mask;
    }
    return at;
}

/* Room for one more element behind `count`; false without memory. */
static bool make_room(void **array, size_t *room, size_t count, size_t element_bytes, size_t first)
{
    if (count < *room) {
        return true;
    }
    size_t more = *room > 0 ? *room * 2 : first;
    void *grown = realloc(*array, more * element_bytes);
    if (grown == NULL) {
        return false;
    }
    *array = grown;
    *room = more;
    return true;
}

static bool grow_terms(hub_search_builder *builder)
{
    if (builder->term_count < builder->term_room) {
        return true;
    }
    uint32_t room = builder->term_room * 2;
    hub_search_term *terms = realloc(builder->terms, room * sizeof *terms);
    if (terms == NULL) {
        return false;
    }
    builder->terms = terms;
    seen *last = realloc(builder->last, room * sizeof *last);
    if (last == NULL) {
        return false;
    }
    builder->last = last;
    uint32_t *buckets = calloc((size_t)room * 2, sizeof *buckets);
    if (buckets == NULL) {
        return false;
    }
    free(builder->buckets);
    builder->buckets = buckets;
    builder->bucket_mask = room * 2 - 1;
    builder->term_room = room;
    for (uint32_t i = 0; i < builder->term_count; i++) {
        hub_str text = {.ptr = builder->text.ptr + terms[i].text_at, .len = terms[i].text_len};
        uint32_t bucket =
            hub_search_bucket(buckets, builder->bucket_mask, terms, builder->text.ptr, text);
        buckets[bucket] = i + 1;
    }
    return true;
}

hub_search_builder *hub_search_builder_create(size_t tools)
{
    hub_search_builder *builder = calloc(1, sizeof *builder);
    if (builder == NULL) {
        return NULL;
    }
    builder->announced = tools < HUB_LIMIT_SEARCH_TOOLS ? tools : HUB_LIMIT_SEARCH_TOOLS;
    hub_buf_init(&builder->scratch, HUB_LIMIT_CATALOG_BYTES);
    hub_buf_init(&builder->text, TEXT_MOST);
    builder->term_room = FIRST_BUCKETS / 2;
    builder->bucket_mask = FIRST_BUCKETS - 1;
    builder->words = hub_search_words_create();
    builder->terms = calloc(builder->term_room, sizeof *builder->terms);
    builder->last = calloc(builder->term_room, sizeof *builder->last);
    builder->buckets = calloc(FIRST_BUCKETS, sizeof *builder->buckets);
    builder->lengths = calloc(builder->announced + 1, sizeof *builder->lengths);
    if (builder->words == NULL || builder->terms == NULL || builder->last == NULL ||
        builder->buckets == NULL || builder->lengths == NULL) {
        hub_search_builder_destroy(builder);
        return NULL;
    }
    return builder;
}

void hub_search_builder_destroy(hub_search_builder *builder)
{
    if (builder == NULL) {
        return;
    }
    hub_search_words_destroy(builder->words);
    hub_buf_fini(&builder->scratch);
    hub_buf_fini(&builder->text);
    free(builder->terms);
    free(builder->last);
    free(builder->buckets);
    free(builder->entries);
    free(builder->lengths);
    free(builder);
}

/* The number of a term, or UINT32_MAX. */
static uint32_t find_term(const hub_search_builder *builder, hub_str text)
{
    uint32_t bucket = hub_search_bucket(builder->buckets, builder->bucket_mask, builder->terms,
                                        builder->text.ptr, text);
    return builder->buckets[bucket] - 1;
}

/* The number of a term that is not known yet; UINT32_MAX without memory. */
static uint32_t add_term(hub_search_builder *builder, hub_str text)
{
    if (!grow_terms(builder)) {
        return UINT32_MAX;
    }
    hub_search_term term = {.text_at = (uint32_t)builder->text.len, .text_len = (uint32_t)text.len};
    hub_buf_add(&builder->text, text);
    if (!hub_buf_ok(&builder->text)) {
        return UINT32_MAX;
    }
    uint32_t number = builder->term_count++;
    builder->terms[number] = term;
    builder->last[number] = (seen){0};
    uint32_t bucket = hub_search_bucket(builder->buckets, builder->bucket_mask, builder->terms,
                                        builder->text.ptr, text);
    builder->buckets[bucket] = number + 1;
    return number;
}

static void on_word(void *ctx, hub_str text)
{
    hub_search_builder *builder = ctx;
    if (builder->failed != HUB_OK) {
        return;
    }
    bool is_full = builder->current_count >= builder->current_most;
    uint32_t term = find_term(builder, text);
    if (term == UINT32_MAX && !is_full) {
        term = add_term(builder, text);
        builder->failed = term != UINT32_MAX ? HUB_OK : HUB_ENOMEM;
    }
    if (term == UINT32_MAX) {
        return;
    }
    seen *last = &builder->last[term];
    if (last->tool != builder->tool_count + 1) {
        if (is_full) {
            return;
        }
        *last = (seen){.tool = builder->tool_count + 1, .place = (uint32_t)builder->current_count};
        builder->current[builder->current_count++] = (word){.term = term};
    }
    builder->current[last->place].weight += builder->weight;
    builder->lengths[builder->tool_count] += (float)builder->weight;
}

static void read_text(hub_search_builder *builder, uint32_t weight, hub_str text)
{
    builder->weight = weight;
    hub_search_words_split(builder->words, text, on_word, builder);
}

static void on_field(void *ctx, hub_search_field field, hub_str text)
{
    static const uint32_t WEIGHTS[] = {
        [HUB_SEARCH_TITLE] = WEIGHT_TITLE,
        [HUB_SEARCH_DESCRIPTION] = WEIGHT_DESCRIPTION,
        [HUB_SEARCH_ARGUMENT] = WEIGHT_ARGUMENT,
    };
    read_text(ctx, WEIGHTS[field], text);
}

/* The same for all that are still to come: nobody takes the others' part. */
static size_t fair_share(const hub_search_builder *builder)
{
    size_t left = HUB_LIMIT_SEARCH_POSTINGS > builder->entry_count
                      ? HUB_LIMIT_SEARCH_POSTINGS - builder->entry_count
                      : 0;
    size_t share = left / (builder->announced - builder->tool_count);
    share = share > WORDS_LEAST ? share : WORDS_LEAST;
    return share < HUB_LIMIT_SEARCH_WORDS_PER_TOOL ? share : HUB_LIMIT_SEARCH_WORDS_PER_TOOL;
}

static hub_err keep_current(hub_search_builder *builder)
{
    for (size_t i = 0; i < builder->current_count; i++) {
        void *entries = builder->entries;
        bool has_room = make_room(&entries, &builder->entry_room, builder->entry_count,
                                  sizeof *builder->entries, FIRST_ENTRIES);
        builder->entries = entries;
        if (!has_room) {
            return HUB_ENOMEM;
        }
        word kept = builder->current[i];
        uint32_t weight = kept.weight < WEIGHT_MOST ? kept.weight : WEIGHT_MOST;
        builder->entries[builder->entry_count++] =
            (entry)kept.term << 32 | (entry)builder->tool_count << 8 | weight;
    }
    return HUB_OK;
}

hub_err hub_search_builder_add(hub_search_builder *builder, const hub_search_tool *tool)
{
    _Static_assert(HUB_LIMIT_SEARCH_TOOLS <= 1 << TOOL_BITS, "an entry has 24 bits for the tool");
    if (builder->failed == HUB_OK && builder->tool_count >= builder->announced) {
        builder->failed = HUB_ELIMIT;
    }
    if (builder->failed != HUB_OK) {
        return builder->failed;
    }
    builder->current_count = 0;
    builder->current_most = fair_share(builder);
    read_text(builder, WEIGHT_NAME, tool->name);
    read_text(builder, WEIGHT_TAG, tool->tags);
    hub_search_read_definition(tool->definition, &builder->scratch, on_field, builder);
    hub_str toolset = tool->toolset;
    if (toolset.len > HUB_LIMIT_SEARCH_TOOLSET_BYTES) {
        toolset.len = HUB_LIMIT_SEARCH_TOOLSET_BYTES;
    }
    read_text(builder, WEIGHT_TOOLSET, toolset);
    if (builder->failed == HUB_OK) {
        builder->failed = keep_current(builder);
    }
    builder->tool_count++;
    return builder->failed;
}

/* The entries in order of terms, and of each term in order of tools, which is how they came. Sets how
 * many tools each term has. */
static entry *sort_entries(hub_search_builder *builder)
{
    entry *sorted = calloc(builder->entry_count + 1, sizeof *sorted);
    uint32_t *begins = calloc((size_t)builder->term_count + 1, sizeof *begins);
    if (sorted == NULL || begins == NULL) {
        free(sorted);
        free(begins);
        return NULL;
    }
    for (size_t i = 0; i < builder->entry_count; i++) {
        begins[(builder->entries[i] >> 32) + 1]++;
    }
    for (uint32_t i = 0; i < builder->term_count; i++) {
        builder->terms[i].tools = begins[i + 1];
        begins[i + 1] += begins[i];
    }
    for (size_t i = 0; i < builder->entry_count; i++) {
        sorted[begins[builder->entries[i] >> 32]++] = builder->entries[i];
    }
    free(begins);
    return sorted;
}

/* Write the postings to `out`, or only count their bytes where that is NULL. */
static size_t write_postings(hub_search_builder *builder, const entry *sorted, unsigned char *out)
{
    size_t len = 0;
    size_t at = 0;
    for (uint32_t i = 0; i < builder->term_count; i++) {
        hub_search_term *term = &builder->terms[i];
        term->postings_at = (uint32_t)len;
        uint32_t before = 0;
        for (uint32_t j = 0; j < term->tools; j++) {
            entry each = sorted[at++];
            uint32_t tool = (uint32_t)each >> 8;
            uint32_t distance = tool - before;
            before = tool;
            unsigned char bytes[6];
            size_t used = 0;
            for (; distance >= 0x80; distance >>= 7) {
                bytes[used++] = (unsigned char)(distance | 0x80);
            }
            bytes[used++] = (unsigned char)distance;
            bytes[used++] = (unsigned char)each;
            if (out != NULL) {
                memcpy(out + len, bytes, used);
            }
            len += used;
        }
    }
    return len;
}

/* Okapi's b: how much the length of a tool's text counts against it. */
static void make_norms(const hub_search_builder *builder, float *norms)
{
    const float k1 = 1.2f;
    const float b = 0.75f;
    float all = 0;
    for (uint32_t i = 0; i < builder->tool_count; i++) {
        all += builder->lengths[i];
    }
    float average = all > 0 ? all / (float)builder->tool_count : 1;
    for (uint32_t i = 0; i < builder->tool_count; i++) {
        norms[i] = k1 * (1 - b + b * builder->lengths[i] / average);
    }
}

static void *fitted(void *array, size_t bytes)
{
    void *smaller = realloc(array, bytes > 0 ? bytes : 1);
    return smaller != NULL ? smaller : array;
}

hub_err hub_search_builder_finish(hub_search_builder *builder, hub_search_index **ret_index)
{
    hub_search_index *index = builder->failed == HUB_OK ? calloc(1, sizeof *index) : NULL;
    entry *sorted = index != NULL ? sort_entries(builder) : NULL;
    if (sorted == NULL) {
        free(index);
        return builder->failed != HUB_OK ? builder->failed : HUB_ENOMEM;
    }
    size_t len = write_postings(builder, sorted, NULL);
    index->postings = malloc(len + 1);
    index->norms = calloc((size_t)builder->tool_count + 1, sizeof *index->norms);
    if (index->postings == NULL || index->norms == NULL) {
        free(sorted);
        hub_search_index_destroy(index);
        return HUB_ENOMEM;
    }
    write_postings(builder, sorted, index->postings);
    free(sorted);
    make_norms(builder, index->norms);
    index->postings_len = (uint32_t)len;
    index->tool_count = builder->tool_count;
    index->term_count = builder->term_count;
    index->terms = fitted(builder->terms, builder->term_count * sizeof *index->terms);
    index->buckets = builder->buckets;
    index->bucket_mask = builder->bucket_mask;
    index->text_len = (uint32_t)builder->text.len;
    index->text = builder->text.ptr != NULL ? fitted(builder->text.ptr, index->text_len) : NULL;
    builder->terms = NULL;
    builder->buckets = NULL;
    hub_buf_init(&builder->text, TEXT_MOST);
    builder->failed = HUB_ELIMIT; /* it has nothing left to add to */
    *ret_index = index;
    return HUB_OK;
}

void hub_search_index_destroy(hub_search_index *index)
{
    if (index != NULL) {
        free(index->terms);
        free(index->buckets);
        free(index->text);
        free(index->postings);
        free(index->norms);
        free(index);
    }
}

size_t hub_search_index_count(const hub_search_index *index)
{
    return index->tool_count;
}

size_t hub_search_index_bytes(const hub_search_index *index)
{
    return sizeof *index + index->term_count * sizeof *index->terms +
           ((size_t)index->bucket_mask + 1) * sizeof *index->buckets + index->text_len +
           index->postings_len + index->tool_count * sizeof *index->norms;
}
