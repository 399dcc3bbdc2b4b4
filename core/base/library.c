/* SPDX-License-Identifier: Apache-2.0 */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

hub_err hub_library_load(const char *file, const char *cure, const hub_library_function *functions,
                         size_t count, void *ret_functions, hub_error *reterr)
{
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        return hub_fail(reterr, HUB_EUNAVAILABLE, "%s cannot be loaded: %s: %s", file, cure,
                        dlerror());
    }
    for (size_t i = 0; i < count; i++) {
        void *found = dlsym(handle, functions[i].name);
        if (found == NULL) {
            (void)dlclose(handle); /* nothing of it was used */
            return hub_fail(reterr, HUB_EUNAVAILABLE, "%s is too old: it has no %s", file,
                            functions[i].name);
        }
        /* POSIX has it so, ISO C has no cast for it. */
        memcpy((char *)ret_functions + functions[i].offset, &found, sizeof found);
    }
    return HUB_OK;
}
