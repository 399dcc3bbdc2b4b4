/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a text, as search compares them: lower case, split where identifiers are (at `_`,
 * `-`, `.` and between "camel" and "Case"), without words that say nothing, and reduced to their
 * stems by Snowball's English stemmer. An identifier of several parts is a word as a whole, too, so
 * that "github" finds "GitHub". Scripts without spaces between words (Han, kana, Hangul) give pairs
 * of neighbouring characters.
 *
 * libstemmer is loaded when the first of these is made, so a hub that nobody searches never has it.
 * Where it cannot be loaded, words are compared as they are.
 *
 * Thread: one at a time for each; any.
 */
#ifndef HUB_SEARCH_WORDS_H
#define HUB_SEARCH_WORDS_H

#include "base/err.h"

typedef struct hub_search_words hub_search_words;

/* `word` is borrowed for the time of the call; at most HUB_LIMIT_SEARCH_WORD_BYTES long. */
typedef void hub_search_on_word(void *ctx, hub_str word);

/* NULL when out of memory. */
hub_search_words *hub_search_words_create(void);
void hub_search_words_destroy(hub_search_words *words); /* NULL is fine */

/* Whether words are reduced to their stems. */
bool hub_search_words_stems(const hub_search_words *words);

/* Tell each word of `text`, in order; what is not UTF-8 separates words. Costs time in proportion to
 * the bytes of the text. */
void hub_search_words_split(hub_search_words *words, hub_str text, hub_search_on_word *on_word,
                            void *ctx);

#endif
