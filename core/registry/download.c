/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/download.h"

#include "base/limits.h"

#include <string.h>

void hub_url_add_part(hub_buf *url, hub_str text)
{
    static const char PLAIN[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c != '\0' && strchr(PLAIN, c) != NULL) {
            hub_buf_add_char(url, (char)c);
        } else {
            hub_buf_printf(url, "%%%02X", c);
        }
    }
}

#ifdef PATCHBAY_HTTP

#include "issuers/curl_library.h"
#include "issuers/fetch.h"

typedef struct receiving {
    const hub_download *download;
    const hub_curl_library *curl;
    CURL *easy;
    size_t taken;
    bool is_too_much;
    bool is_refused;
} receiving;

static size_t on_body(char *bytes, size_t size, size_t count, void *ctx)
{
    receiving *at = ctx;
    size_t len = size * count;
    curl_off_t total = 0;
    (void)at->curl->easy_getinfo(at->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &total);
    at->is_too_much = len > at->download->max_bytes - at->taken;
    if (at->is_too_much) {
        return 0;
    }
    at->taken += len;
    at->is_refused = !at->download->take(at->download->ctx, (hub_str){.ptr = bytes, .len = len},
                                         total > 0 ? (uint64_t)total : 0);
    return at->is_refused ? 0 : len;
}

static void set_options(receiving *at)
{
    const hub_download *download = at->download;
    const hub_curl_library *curl = at->curl;
    CURL *easy = at->easy;
    (void)curl->easy_setopt(easy, CURLOPT_URL, download->url);
    (void)curl->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https,http");
    (void)curl->easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "https");
    (void)curl->easy_setopt(easy, CURLOPT_FOLLOWLOCATION, download->follows ? 1L : 0L);
    (void)curl->easy_setopt(easy, CURLOPT_MAXREDIRS, (long)HUB_LIMIT_DOWNLOAD_REDIRECTS);
    (void)curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)HUB_LIMIT_DOWNLOAD_CONNECT_MS);
    (void)curl->easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    (void)curl->easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)HUB_LIMIT_DOWNLOAD_IDLE_S);
    (void)curl->easy_setopt(easy, CURLOPT_TIMEOUT_MS, download->most_ms);
    (void)curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    (void)curl->easy_setopt(easy, CURLOPT_WRITEDATA, at);
    (void)curl->easy_setopt(easy, CURLOPT_USERAGENT, "patchbay");
    if (download->ca != NULL) {
        (void)curl->easy_setopt(easy, CURLOPT_CAINFO, download->ca);
        (void)curl->easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
}

hub_err hub_download_run(const hub_download *download, long *ret_status, hub_error *reterr)
{
    receiving at = {.download = download};
    if (!hub_fetch_may(download->url)) {
        return hub_fail(reterr, HUB_EDENIED, "%.200s: not https", download->url);
    }
    hub_err err = hub_curl_library_load(&at.curl, reterr);
    if (err != HUB_OK) {
        return err;
    }
    at.easy = at.curl->easy_init();
    if (at.easy == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    char why[CURL_ERROR_SIZE] = "";
    (void)at.curl->easy_setopt(at.easy, CURLOPT_ERRORBUFFER, why);
    set_options(&at);
    CURLcode code = at.curl->easy_perform(at.easy);
    (void)at.curl->easy_getinfo(at.easy, CURLINFO_RESPONSE_CODE, ret_status);
    if (at.is_too_much) {
        err = hub_fail(reterr, HUB_ELIMIT, "%.200s: more than %zu bytes", download->url,
                       download->max_bytes);
    } else if (at.is_refused) {
        err = hub_fail(reterr, HUB_ESYSTEM, "%.200s: it cannot be stored", download->url);
    } else if (code != CURLE_OK) {
        char told[CURL_ERROR_SIZE + 64];
        hub_curl_tell(at.curl, at.easy, code, why, told, sizeof told);
        err = hub_fail(reterr, HUB_EUNAVAILABLE, "%.200s: %s", download->url, told);
    }
    at.curl->easy_cleanup(at.easy);
    return err;
}

#else

hub_err hub_download_run(const hub_download *download, long *ret_status, hub_error *reterr)
{
    (void)ret_status;
    return hub_fail(reterr, HUB_EUNAVAILABLE,
                    "%.200s: this build has no HTTP: build it with -DPATCHBAY_HTTP=ON",
                    download->url);
}

#endif

static bool take_text(void *ctx, hub_str piece, uint64_t total)
{
    hub_buf *out = ctx;
    (void)total;
    hub_buf_add(out, piece);
    return hub_buf_ok(out);
}

hub_err hub_download_text(const char *url, const char *ca, hub_buf *out, long *ret_status,
                          hub_error *reterr)
{
    const hub_download download = {.url = url,
                                   .ca = ca,
                                   .max_bytes = out->max - out->len,
                                   .most_ms = HUB_LIMIT_DOCUMENT_MS,
                                   .take = take_text,
                                   .ctx = out};
    return hub_download_run(&download, ret_status, reterr);
}
