/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents and files of the network, for commands: by libcurl, which is loaded for the first one.
 * Bounded in size; it ends when nothing comes for a while. It comes over https, but from this machine
 * itself. Thread: any; blocks.
 */
#ifndef HUB_REGISTRY_DOWNLOAD_H
#define HUB_REGISTRY_DOWNLOAD_H

#include "base/buf.h"

typedef struct hub_download {
    const char *url;
    const char *ca; /* PEM file, instead of the system's authorities; NULL: those */
    bool follows;   /* redirects, over https */
    size_t max_bytes;
    long most_ms; /* that all of it may take; 0: as long as something comes */
    /* Takes what comes, in pieces; false ends it. `total`: of all of it, 0 when nobody knows. */
    bool (*take)(void *ctx, hub_str piece, uint64_t total);
    void *ctx;
} hub_download;

/* `*ret_status` is the HTTP status of the answer, whatever it is.
 * errors:  HUB_EDENIED (not https), HUB_EUNAVAILABLE (no libcurl, no answer), HUB_ELIMIT (more than
 *          max_bytes), HUB_ESYSTEM (take said no); the text begins with the URL */
HUB_MUST_CHECK hub_err hub_download_run(const hub_download *download, long *ret_status,
                                        hub_error *reterr);

/* The same into a buffer, which is as large as it may be, within HUB_LIMIT_DOCUMENT_MS. */
HUB_MUST_CHECK hub_err hub_download_text(const char *url, const char *ca, hub_buf *out,
                                         long *ret_status, hub_error *reterr);

/* Append `text` for a part of a URL's path or query: all but letters, digits and "-._~" as %XX. */
void hub_url_add_part(hub_buf *url, hub_str text);

#endif
