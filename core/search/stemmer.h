/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snowball's English stemmer (libstemmer), loaded on demand: a hub that nobody searches never has
 * it. Making one may be done on any thread; each is one thread's at a time.
 */
#ifndef HUB_SEARCH_STEMMER_H
#define HUB_SEARCH_STEMMER_H

#include "base/str.h"

typedef struct hub_stemmer hub_stemmer;

/* NULL when the library is not there, or out of memory. */
hub_stemmer *hub_stemmer_create(void);
void hub_stemmer_destroy(hub_stemmer *stemmer); /* NULL is fine */

/* The stem of a word in lower case; borrowed until the next call. The word itself without memory. */
hub_str hub_stemmer_stem(hub_stemmer *stemmer, hub_str word);

#endif
