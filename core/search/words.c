/* SPDX-License-Identifier: Apache-2.0 */
#include "search/words.h"

#include "base/limits.h"
#include "search/stemmer.h"

#include <locale.h>
#include <stdlib.h>
#include <wctype.h>

/* Parts of one identifier that are told apart; the last has the rest. */
enum { PARTS_MOST = 16 };

enum { WORD_BYTES = HUB_LIMIT_SEARCH_WORD_BYTES };

typedef enum letter {
    NO_LETTER, /* separates words */
    LOWER,
    UPPER,
    OTHER,     /* a digit, or a letter without case */
    IDEOGRAPH, /* of a script without spaces between words */
} letter;

struct hub_search_words {
    hub_stemmer *stemmer; /* NULL: words stay as they are */
    locale_t locale;      /* knows letters of all scripts; 0: of English alone */
    char run[WORD_BYTES]; /* what is being read, in lower case, without the rest of a longer one */
    size_t len;
    size_t parts[PARTS_MOST]; /* where each begins */
    size_t part_count;
    size_t last; /* where the last letter begins */
    letter before;
    letter last_but_one;
};

/* Sorted: English words of grammar, and what people say around what they want. */
static const char *const STOP_WORDS[] = {
    "a",         "about",   "above",  "after",   "again",   "against",    "all",     "also",
    "am",        "an",      "and",    "any",     "are",     "as",         "at",      "be",
    "because",   "been",    "before", "being",   "below",   "between",    "both",    "but",
    "by",        "can",     "could",  "did",     "do",      "does",       "doing",   "don",
    "down",      "during",  "each",   "few",     "for",     "from",       "further", "get",
    "give",      "had",     "has",    "have",    "having",  "he",         "her",     "here",
    "hers",      "herself", "him",    "himself", "his",     "how",        "i",       "if",
    "in",        "into",    "is",     "it",      "its",     "itself",     "just",    "let",
    "like",      "may",     "me",     "might",   "more",    "most",       "must",    "my",
    "myself",    "need",    "no",     "nor",     "not",     "now",        "of",      "off",
    "on",        "once",    "only",   "or",      "other",   "ought",      "our",     "ours",
    "ourselves", "out",     "over",   "own",     "please",  "s",          "same",    "shall",
    "she",       "should",  "so",     "some",    "such",    "t",          "tell",    "than",
    "that",      "the",     "their",  "theirs",  "them",    "themselves", "then",    "there",
    "these",     "they",    "this",   "those",   "through", "to",         "too",     "under",
    "until",     "up",      "use",    "used",    "using",   "very",       "want",    "was",
    "we",        "were",    "what",   "when",    "where",   "which",      "while",   "who",
    "whom",      "why",     "will",   "with",    "would",   "you",        "your",    "yours",
    "yourself",
};

static int compare_stop_word(const void *key, const void *element)
{
    const hub_str *word = key;
    return hub_str_cmp(*word, hub_str_of(*(const char *const *)element));
}

static bool says_nothing(hub_str word)
{
    return bsearch(&word, STOP_WORDS, sizeof STOP_WORDS / sizeof STOP_WORDS[0],
                   sizeof STOP_WORDS[0], compare_stop_word) != NULL;
}

hub_search_words *hub_search_words_create(void)
{
    hub_search_words *words = calloc(1, sizeof *words);
    if (words != NULL) {
        words->stemmer = hub_stemmer_create();
        words->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    }
    return words;
}

void hub_search_words_destroy(hub_search_words *words)
{
    if (words == NULL) {
        return;
    }
    hub_stemmer_destroy(words->stemmer);
    if (words->locale != (locale_t)0) {
        freelocale(words->locale);
    }
    free(words);
}

bool hub_search_words_stems(const hub_search_words *words)
{
    return words->stemmer != NULL;
}

/* The code point of a sequence that is known to be well formed. */
static uint32_t decode(const char *at, size_t length)
{
    static const unsigned char FIRST[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t point = (unsigned char)at[0] & FIRST[length];
    for (size_t i = 1; i < length; i++) {
        point = point << 6 | ((unsigned char)at[i] & 0x3fU);
    }
    return point;
}

static size_t encode(uint32_t point, char *out)
{
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    size_t length = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const unsigned char HEAD[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length; --i > 0; point >>= 6) {
        out[i] = (char)(0x80 | (point & 0x3f));
    }
    out[0] = (char)(HEAD[length] | point);
    return length;
}

static bool is_ideograph(uint32_t point)
{
    return (point >= 0x3041 && point <= 0x30ff) || /* kana */
           (point >= 0x3400 && point <= 0x9fff) || /* Han */
           (point >= 0xac00 && point <= 0xd7a3) || /* Hangul */
           (point >= 0xf900 && point <= 0xfaff) || /* Han, for compatibility */
           (point >= 0x20000 && point <= 0x3134f); /* Han, further */
}

static letter kind_of(const hub_search_words *words, uint32_t point)
{
    if (point < 0x80) {
        return point >= 'a' && point <= 'z'   ? LOWER
               : point >= 'A' && point <= 'Z' ? UPPER
               : point >= '0' && point <= '9' ? OTHER
                                              : NO_LETTER;
    }
    if (is_ideograph(point)) {
        return IDEOGRAPH;
    }
    if (words->locale == (locale_t)0 || !iswalnum_l((wint_t)point, words->locale)) {
        return NO_LETTER;
    }
    return iswupper_l((wint_t)point, words->locale)   ? UPPER
           : iswlower_l((wint_t)point, words->locale) ? LOWER
                                                      : OTHER;
}

static uint32_t lower(const hub_search_words *words, uint32_t point)
{
    if (point < 0x80) {
        return point >= 'A' && point <= 'Z' ? point + ('a' - 'A') : point;
    }
    return words->locale != (locale_t)0 ? (uint32_t)towlower_l((wint_t)point, words->locale)
                                        : point;
}

static void tell(hub_search_words *words, size_t from, size_t to, hub_search_on_word *on_word,
                 void *ctx)
{
    hub_str word = {.ptr = words->run + from, .len = to - from};
    if (word.len == 0 || says_nothing(word)) {
        return;
    }
    on_word(ctx, words->stemmer != NULL ? hub_stemmer_stem(words->stemmer, word) : word);
}

/* What was read is a word, or an identifier of several. */
static void end_run(hub_search_words *words, hub_search_on_word *on_word, void *ctx)
{
    if (words->len > 0) {
        for (size_t i = 0; i < words->part_count; i++) {
            size_t to = i + 1 < words->part_count ? words->parts[i + 1] : words->len;
            tell(words, words->parts[i], to, on_word, ctx);
        }
        if (words->part_count > 1) {
            tell(words, 0, words->len, on_word, ctx);
        }
    }
    words->len = 0;
    words->part_count = 0;
    words->before = NO_LETTER;
    words->last_but_one = NO_LETTER;
}

static void begin_part(hub_search_words *words, size_t at)
{
    if (words->part_count < PARTS_MOST) {
        words->parts[words->part_count++] = at;
    }
}

/* "camelCase" is two words, and so is "HTTPServer". */
static void read_letter(hub_search_words *words, letter kind, uint32_t point)
{
    char bytes[4];
    size_t length = encode(lower(words, point), bytes);
    if (words->len + length > sizeof words->run) {
        return;
    }
    if (words->len == 0) {
        begin_part(words, 0);
    } else if (kind == UPPER && (words->before == LOWER || words->before == OTHER)) {
        begin_part(words, words->len);
    } else if (kind == LOWER && words->before == UPPER && words->last_but_one == UPPER) {
        begin_part(words, words->last);
    }
    words->last = words->len;
    memcpy(words->run + words->len, bytes, length);
    words->len += length;
    words->last_but_one = words->before;
    words->before = kind;
}

/* Pairs overlap: each begins with the character that the one before has ended with. */
static void read_ideograph(hub_search_words *words, hub_str character, hub_search_on_word *on_word,
                           void *ctx)
{
    if (words->before == IDEOGRAPH && words->len > 0) {
        char pair[2 * sizeof(uint32_t)];
        memcpy(pair, words->run, words->len);
        memcpy(pair + words->len, character.ptr, character.len);
        on_word(ctx, (hub_str){.ptr = pair, .len = words->len + character.len});
    } else {
        end_run(words, on_word, ctx);
        on_word(ctx, character);
    }
    memcpy(words->run, character.ptr, character.len);
    words->len = character.len;
    words->part_count = 0; /* it has been told */
    words->before = IDEOGRAPH;
}

void hub_search_words_split(hub_search_words *words, hub_str text, hub_search_on_word *on_word,
                            void *ctx)
{
    for (size_t at = 0; at < text.len;) {
        hub_str rest = hub_str_from(text, at);
        size_t length = hub_str_utf8_length(rest);
        uint32_t point = length > 0 ? decode(rest.ptr, length) : 0;
        letter kind = kind_of(words, point);
        if (kind == IDEOGRAPH) {
            read_ideograph(words, (hub_str){.ptr = rest.ptr, .len = length}, on_word, ctx);
        } else {
            if (kind == NO_LETTER || words->before == IDEOGRAPH) {
                end_run(words, on_word, ctx);
            }
            if (kind != NO_LETTER) {
                read_letter(words, kind, point);
            }
        }
        at += length > 0 ? length : 1;
    }
    end_run(words, on_word, ctx);
}
