/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/plugin_image.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"

enum {
    MAX_BYTES = 256 * 1024 * 1024, /* a plugin with a whole runtime in it has some 100 MB */
    COPY_BYTES = 64 * 1024,
    PATH_BYTES = 256,
    SEALS = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL,
};

#if defined(__SANITIZE_ADDRESS__)
#define KEEP_REFUSED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEEP_REFUSED 1
#endif
#endif
#ifndef KEEP_REFUSED
#define KEEP_REFUSED 0 /* 1: leak reports need the library that they point into */
#endif

/* Copy until the end of the file; its size may have changed since anybody looked. */
static hub_err copy_all(int from, int to, size_t *ret_size, hub_error *reterr)
{
    static char chunk[COPY_BYTES]; /* [loop] only, and empty between calls */
    size_t size = 0;
    for (;;) {
        ssize_t n = read(from, chunk, sizeof chunk);
        if (n == 0) {
            *ret_size = size;
            return HUB_OK;
        }
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return hub_fail(reterr, HUB_ESYSTEM, "cannot be read: %s", strerrordesc_np(errno));
        }
        size += (size_t)n;
        if (size > MAX_BYTES) {
            return hub_fail(reterr, HUB_ELIMIT, "larger than %d bytes", MAX_BYTES);
        }
        if (hub_write_all(to, (hub_str){.ptr = chunk, .len = (size_t)n}) != (size_t)n) {
            return hub_fail(reterr, HUB_ESYSTEM, "cannot be copied: %s", strerrordesc_np(errno));
        }
    }
}

/* Eight bytes at a time: all plugins that there are pass by here at each start. A step loses
 * nothing, so that files which differ in one such piece always differ in their hash. */
static uint64_t hash_all(const unsigned char *bytes, size_t size)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = size * factor;
    for (size_t at = 0; at < size; at += sizeof hash) {
        uint64_t piece = 0;
        memcpy(&piece, bytes + at, size - at < sizeof piece ? size - at : sizeof piece);
        hash = (hash ^ piece) * factor;
        hash ^= hash >> 32;
    }
    return hash;
}

/* The path of the copy in a spelling that was never used before: the bits of a counter, written as
 * "./" and ".//". The loader compares names as text, and the descriptor's number comes again. A debugger
 * opens the path while the library is loaded, and would take /proc/self for itself. */
static hub_err make_unique_path(int fd, hub_buf *path)
{
    static unsigned long used; /* the loader's names belong to the process, not to a resolver */
    char self[32];
    ssize_t len = readlink("/proc/self", self, sizeof self);
    hub_buf_add(path, HUB_STR("/proc/"));
    hub_buf_add(path, len > 0 ? (hub_str){.ptr = self, .len = (size_t)len} : HUB_STR("self"));
    hub_buf_add(path, HUB_STR("/fd/"));
    for (unsigned long bits = ++used; bits != 0; bits /= 2) {
        hub_buf_add(path, bits % 2 != 0 ? HUB_STR(".//") : HUB_STR("./"));
    }
    hub_buf_printf(path, "%d", fd);
    hub_buf_add_char(path, '\0');
    return path->failed;
}

hub_err hub_plugin_image_init(hub_plugin_image *image, int fd, const char *name, hub_error *reterr)
{
    *image = (hub_plugin_image){.fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    if (image->fd < 0) {
        return hub_fail(reterr, HUB_ESYSTEM, "cannot be copied: %s", strerrordesc_np(errno));
    }
    hub_err err = copy_all(fd, image->fd, &image->size, reterr);
    if (err == HUB_OK && fcntl(image->fd, F_ADD_SEALS, SEALS) != 0) {
        err = hub_fail(reterr, HUB_ESYSTEM, "cannot be sealed: %s", strerrordesc_np(errno));
    }
    if (err == HUB_OK && image->size > 0) { /* nothing cannot be mapped */
        void *bytes = mmap(NULL, image->size, PROT_READ, MAP_PRIVATE, image->fd, 0);
        if (bytes == MAP_FAILED) {
            err = hub_fail(reterr, HUB_ESYSTEM, "cannot be mapped: %s", strerrordesc_np(errno));
        } else {
            image->bytes = bytes;
        }
    }
    if (err != HUB_OK) {
        hub_plugin_image_fini(image);
        return err;
    }
    image->hash = hash_all(image->bytes, image->size);
    return HUB_OK;
}

void hub_plugin_image_fini(hub_plugin_image *image)
{
    if (image->bytes != NULL) {
        union {
            const unsigned char *in;
            void *out;
        } bytes = {.in = image->bytes};
        (void)munmap(bytes.out, image->size); /* a whole mapping: cannot fail */
    }
    (void)close(image->fd); /* memory: nothing is written back */
    *image = (hub_plugin_image){.fd = -1};
}

hub_err hub_plugin_image_load(const hub_plugin_image *image, void **ret_handle,
                              const patchbay_plugin **ret_table, hub_error *reterr)
{
    hub_buf path;
    hub_buf_init(&path, PATH_BYTES);
    void *handle = NULL;
    hub_err err = make_unique_path(image->fd, &path);
    if (err != HUB_OK) {
        (void)hub_fail(reterr, err, "%s", hub_err_text(err));
        goto out;
    }
    handle = dlopen(path.ptr, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        /* Its text begins with the path of the copy, which means nothing to anybody. */
        hub_str why = hub_str_of(dlerror());
        if (hub_str_starts(why, hub_str_of(path.ptr))) {
            why = hub_str_from(why, strlen(path.ptr));
            why = hub_str_starts(why, HUB_STR(": ")) ? hub_str_from(why, 2) : why;
        }
        err = hub_fail(reterr, HUB_EABI, "cannot be linked: " HUB_STR_FMT, HUB_STR_ARG(why));
        goto out;
    }
    const patchbay_plugin *table = dlsym(handle, PATCHBAY_PLUGIN_SYMBOL);
    if (table == NULL) {
        hub_plugin_image_unload(handle);
        err = hub_fail(reterr, HUB_EABI, "no symbol %s: not a Patchbay plugin",
                       PATCHBAY_PLUGIN_SYMBOL);
        goto out;
    }
    *ret_handle = handle;
    *ret_table = table;
out:
    hub_buf_fini(&path);
    return err;
}

void hub_plugin_image_rename(void *handle, const char *path)
{
    /* The loader's own text has to stay in reach: it is the loader's memory. */
    typedef struct renamed {
        struct renamed *next;
        const char *was;
        char name[];
    } renamed;
    static renamed *all;
    struct link_map *map = NULL;
    size_t size = strlen(path) + 1;
    renamed *now = malloc(sizeof *now + size);
    if (now == NULL || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) {
        free(now);
        return; /* debuggers find no file, and everything works */
    }
    now->next = all;
    now->was = map->l_name;
    map->l_name = memcpy(now->name, path, size);
    all = now;
}

void hub_plugin_image_unload(void *handle)
{
    if (!KEEP_REFUSED) {
        (void)dlclose(handle); /* when it fails, the library stays: no harm */
    }
}
