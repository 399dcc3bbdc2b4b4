/* SPDX-License-Identifier: Apache-2.0 */
#include "search/stemmer.h"

#include <dlfcn.h>
#include <libstemmer.h>
#include <pthread.h>
#include <stdlib.h>

struct hub_stemmer {
    struct sb_stemmer *snowball;
};

/* What is used of the library; all or nothing, once for the process. It stays loaded. */
static struct {
    __typeof__(&sb_stemmer_new) create;
    __typeof__(&sb_stemmer_delete) destroy;
    __typeof__(&sb_stemmer_stem) stem;
    __typeof__(&sb_stemmer_length) length;
} library;

static pthread_once_t loaded = PTHREAD_ONCE_INIT;

static void load(void)
{
    void *handle = dlopen(PATCHBAY_STEMMER, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        return;
    }
    /* POSIX has dlsym's pointers be functions, too; ISO C knows no such conversion. */
    *(void **)&library.destroy = dlsym(handle, "sb_stemmer_delete");
    *(void **)&library.stem = dlsym(handle, "sb_stemmer_stem");
    *(void **)&library.length = dlsym(handle, "sb_stemmer_length");
    if (library.destroy != NULL && library.stem != NULL && library.length != NULL) {
        *(void **)&library.create = dlsym(handle, "sb_stemmer_new");
    }
}

hub_stemmer *hub_stemmer_create(void)
{
    pthread_once(&loaded, load);
    if (library.create == NULL) {
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
