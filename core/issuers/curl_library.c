/* SPDX-License-Identifier: Apache-2.0 */
#include "issuers/curl_library.h"

#include <dlfcn.h>
#include <stddef.h>

#define FUNCTION(name)                                                                             \
    {                                                                                              \
        "curl_" #name, offsetof(hub_curl_library, name)                                            \
    }

static const struct {
    const char *name;
    size_t offset;
} FUNCTIONS[] = {
    FUNCTION(global_init),         FUNCTION(easy_init),           FUNCTION(easy_setopt),
    FUNCTION(easy_getinfo),        FUNCTION(easy_cleanup),        FUNCTION(easy_strerror),
    FUNCTION(slist_append),        FUNCTION(slist_free_all),      FUNCTION(multi_init),
    FUNCTION(multi_cleanup),       FUNCTION(multi_setopt),        FUNCTION(multi_add_handle),
    FUNCTION(multi_remove_handle), FUNCTION(multi_socket_action), FUNCTION(multi_info_read),
    FUNCTION(multi_assign),        FUNCTION(easy_perform),
};

static const char LIBRARY[] = "libcurl.so.4";

static hub_curl_library library;
static bool is_loaded;

static hub_err load(hub_error *reterr)
{
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        return hub_fail(reterr, HUB_EUNAVAILABLE,
                        "%s cannot be loaded: install it (Debian: libcurl4): %s", LIBRARY,
                        dlerror());
    }
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof FUNCTIONS[0]; i++) {
        void *found = dlsym(handle, FUNCTIONS[i].name);
        if (found == NULL) {
            (void)dlclose(handle); /* nothing of it was used */
            return hub_fail(reterr, HUB_EUNAVAILABLE, "%s is too old: it has no %s", LIBRARY,
                            FUNCTIONS[i].name);
        }
        /* POSIX has it so, ISO C has no cast for it. */
        memcpy((char *)&library + FUNCTIONS[i].offset, &found, sizeof found);
    }
    return library.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK
               ? HUB_OK
               : hub_fail(reterr, HUB_EUNAVAILABLE, "%s cannot be started", LIBRARY);
}

hub_err hub_curl_library_load(const hub_curl_library **ret_library, hub_error *reterr)
{
    hub_err err = is_loaded ? HUB_OK : load(reterr);
    is_loaded = err == HUB_OK;
    *ret_library = &library;
    return err;
}
