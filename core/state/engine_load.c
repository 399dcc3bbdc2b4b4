/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of shared stores, where the hub is installed or was built. */
#include "state/engine.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static const char NAME[] = "valkey.so";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the next */
static const hub_state_engine *loaded;

/* The file, in the folders seen from this program where engines may be. False: in none. */
static bool find_file(char *ret_path, size_t size)
{
    static const char *const FOLDERS[] = {PATCHBAY_ENGINES_FROM_BIN, "../engines"};
    char self[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self);
    while (len > 0 && self[len - 1] != '/') {
        len--;
    }
    for (size_t i = 0; len > 0 && i < sizeof FOLDERS / sizeof FOLDERS[0]; i++) {
        int used = snprintf(ret_path, size, "%.*s%s/%s", (int)len, self, FOLDERS[i], NAME);
        if (used > 0 && (size_t)used < size && access(ret_path, R_OK) == 0) {
            return true;
        }
    }
    int used = snprintf(ret_path, size, "%s/%s", PATCHBAY_ENGINES_DIR, NAME);
    return used > 0 && (size_t)used < size && access(ret_path, R_OK) == 0;
}

static hub_err load(hub_error *reterr)
{
    char path[2 * PATH_MAX];
    if (!find_file(path, sizeof path)) {
        return hub_fail(reterr, HUB_ENOTFOUND,
                        "the engine for shared stores (%s) is not installed in %s: install it, or "
                        "keep the state in a file",
                        NAME, PATCHBAY_ENGINES_DIR);
    }
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        return hub_fail(reterr, HUB_EUNAVAILABLE,
                        "the engine for shared stores cannot be loaded (Debian: libhiredis): %s",
                        dlerror());
    }
    const hub_state_engine_part *part = dlsym(handle, HUB_STATE_ENGINE_SYMBOL);
    if (part == NULL || strcmp(part->built, HUB_STATE_ENGINE_BUILT) != 0 ||
        part->job_bytes != sizeof(hub_state_job)) {
        (void)dlclose(handle); /* nothing of it was used */
        return hub_fail(reterr, HUB_EABI,
                        "%s is of another version of Patchbay than this program (%s): install both "
                        "from one version",
                        path, HUB_STATE_ENGINE_BUILT);
    }
    loaded = part->engine;
    return HUB_OK;
}

hub_err hub_state_engine_load(const hub_state_engine **ret_engine, hub_error *reterr)
{
    (void)pthread_mutex_lock(&lock);
    hub_err err = loaded != NULL ? HUB_OK : load(reterr);
    (void)pthread_mutex_unlock(&lock);
    *ret_engine = loaded;
    return err;
}
