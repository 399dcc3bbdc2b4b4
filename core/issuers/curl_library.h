/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcurl, loaded when the first document is fetched: a hub without issuers has none of it, nor of the
 * thirty libraries that it brings along, in memory. Thread: [loop], or a command's own.
 */
#ifndef HUB_ISSUERS_CURL_LIBRARY_H
#define HUB_ISSUERS_CURL_LIBRARY_H

#include "base/err.h"

#include <curl/curl.h>

/* Its functions have no other names here, so that libcurl's headers say what they are. */
typedef struct hub_curl_library {
    __typeof__(&curl_global_init) global_init;
    __typeof__(&curl_easy_init) easy_init;
    CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
    CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
    __typeof__(&curl_easy_cleanup) easy_cleanup;
    __typeof__(&curl_easy_strerror) easy_strerror;
    __typeof__(&curl_slist_append) slist_append;
    __typeof__(&curl_slist_free_all) slist_free_all;
    __typeof__(&curl_multi_init) multi_init;
    __typeof__(&curl_multi_cleanup) multi_cleanup;
    CURLMcode (*multi_setopt)(CURLM *multi, CURLMoption option, ...);
    __typeof__(&curl_multi_add_handle) multi_add_handle;
    __typeof__(&curl_multi_remove_handle) multi_remove_handle;
    __typeof__(&curl_multi_socket_action) multi_socket_action;
    __typeof__(&curl_multi_info_read) multi_info_read;
    __typeof__(&curl_multi_assign) multi_assign;
    __typeof__(&curl_easy_perform) easy_perform; /* blocks: for commands, never on the loop */
} hub_curl_library;

/* The library; loaded once, and never unloaded.
 * errors:  HUB_EUNAVAILABLE: it is not installed, lacks a function or does not start; the next call
 *          tries again */
HUB_MUST_CHECK hub_err hub_curl_library_load(const hub_curl_library **ret_library,
                                             hub_error *reterr);

/* Why nothing came, in one short sentence. `said` is what libcurl says of it, or ""; where nobody was
 * connected to, it would be long and lack the system's reason. */
void hub_curl_tell(const hub_curl_library *curl, CURL *easy, CURLcode code, const char *said,
                   char *out, size_t cap);

#endif
