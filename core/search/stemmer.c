/* SPDX-License-Identifier: Apache-2.0 */
#include "search/stemmer.h"

#include "base/library.h"

#include <libstemmer.h>
#include <pthread.h>
#include <stdlib.h>

struct hub_stemmer {
    struct sb_stemmer *snowball;
};

/* What is used of the library; all or nothing, once for the process. It stays loaded. */
typedef struct stemmer_library {
    __typeof__(&sb_stemmer_new) create;
    __typeof__(&sb_stemmer_delete) destroy;
    __typeof__(&sb_stemmer_stem) stem;
    __typeof__(&sb_stemmer_length) length;
} stemmer_library;

static const hub_library_function FUNCTIONS[] = {
    {"sb_stemmer_new", offsetof(stemmer_library, create)},
    {"sb_stemmer_delete", offsetof(stemmer_library, destroy)},
    {"sb_stemmer_stem", offsetof(stemmer_library, stem)},
    {"sb_stemmer_length", offsetof(stemmer_library, length)},
};

static stemmer_library library;
static bool is_loaded;
static pthread_once_t tried = PTHREAD_ONCE_INIT;

static void load(void)
{
    is_loaded = hub_library_load(PATCHBAY_STEMMER, "", FUNCTIONS,
                                 sizeof FUNCTIONS / sizeof FUNCTIONS[0], &library, NULL) == HUB_OK;
}

hub_stemmer *hub_stemmer_create(void)
{
    pthread_once(&tried, load);
    if (!is_loaded) {
        return NULL;
    }
    hub_stemmer *stemmer = malloc(sizeof *stemmer);
    if (stemmer == NULL) {
        return NULL;
    }
    stemmer->snowball = library.create("english", "UTF_8");
    if (stemmer->snowball == NULL) {
        free(stemmer);
        return NULL;
    }
    return stemmer;
}

void hub_stemmer_destroy(hub_stemmer *stemmer)
{
    if (stemmer != NULL) {
        library.destroy(stemmer->snowball);
        free(stemmer);
    }
}

hub_str hub_stemmer_stem(hub_stemmer *stemmer, hub_str word)
{
    const sb_symbol *stem =
        library.stem(stemmer->snowball, (const sb_symbol *)word.ptr, (int)word.len);
    if (stem == NULL) {
        return word;
    }
    return (hub_str){.ptr = (const char *)stem, .len = (size_t)library.length(stemmer->snowball)};
}
