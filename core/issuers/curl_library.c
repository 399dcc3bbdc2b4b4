/* SPDX-License-Identifier: Apache-2.0 */
#include "issuers/curl_library.h"

#include "base/library.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FUNCTION(name)                                                                             \
    {                                                                                              \
        "curl_" #name, offsetof(hub_curl_library, name)                                            \
    }

static const hub_library_function FUNCTIONS[] = {
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
    hub_err err = hub_library_load(LIBRARY, "install it (Debian: libcurl4)", FUNCTIONS,
                                   sizeof FUNCTIONS / sizeof FUNCTIONS[0], &library, reterr);
    if (err != HUB_OK) {
        return err;
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

void hub_curl_tell(const hub_curl_library *curl, CURL *easy, CURLcode code, const char *said,
                   char *out, size_t cap)
{
    char host[256];
    char port[8];
    long error = 0;
    if (code == CURLE_COULDNT_CONNECT) {
        (void)curl->easy_getinfo(easy, CURLINFO_OS_ERRNO, &error);
    }
    if (error != 0 && sscanf(said, "Failed to connect to %255s port %7[0-9]", host, port) == 2) {
        (void)snprintf(out, cap, "%s port %s: %s%s", host, port, strerror((int)error),
                       error == ECONNREFUSED ? ": is the server running, and is the port right?"
                                             : "");
    } else {
        (void)snprintf(out, cap, "%s", said[0] != '\0' ? said : curl->easy_strerror(code));
    }
}
