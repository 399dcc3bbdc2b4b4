/* SPDX-License-Identifier: Apache-2.0 */
#include "url.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static char *get(CURLU *url, CURLUPart part)
{
    char *text = NULL;
    (void)curl_url_get(url, part, &text, CURLU_DEFAULT_PORT);
    return text;
}

/* Print "scheme://host:port", and the path if wanted. The port is left out where it is usual. */
static char *print(CURLU *url, int with_path)
{
    char *made = NULL;
    char *scheme = get(url, CURLUPART_SCHEME);
    char *host = get(url, CURLUPART_HOST);
    char *port = get(url, CURLUPART_PORT);
    char *path = get(url, CURLUPART_PATH);
    if (scheme != NULL && host != NULL && port != NULL && path != NULL) {
        int is_usual = strcmp(port, strcmp(scheme, "https") == 0 ? "443" : "80") == 0;
        size_t size = strlen(scheme) + strlen(host) + strlen(port) + strlen(path) + 8;
        made = malloc(size);
        if (made != NULL) {
            (void)snprintf(made, size, "%s://%s%s%s%s", scheme, host, is_usual ? "" : ":",
                           is_usual ? "" : port, with_path ? path : "");
        }
    }
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    curl_free(path);
    return made;
}

/* Read a URL of http or https. *ret_url is NULL unless the result is CURLUE_OK. */
static CURLUcode parse(const char *text, CURLU **ret_url)
{
    char *scheme = NULL;
    CURLU *url = curl_url();
    CURLUcode code = url != NULL ? curl_url_set(url, CURLUPART_URL, text, 0) : CURLUE_OUT_OF_MEMORY;
    if (code == CURLUE_OK) {
        code = curl_url_get(url, CURLUPART_SCHEME, &scheme, 0);
    }
    if (code == CURLUE_OK && strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0) {
        code = CURLUE_UNSUPPORTED_SCHEME;
    }
    curl_free(scheme);
    if (code != CURLUE_OK) {
        curl_url_cleanup(url);
        url = NULL;
    }
    *ret_url = url;
    return code;
}

int32_t url_check(const char *url)
{
    CURLU *parsed;
    CURLUcode code = parse(url, &parsed);
    curl_url_cleanup(parsed);
    return code == CURLUE_OK              ? PATCHBAY_OK
           : code == CURLUE_OUT_OF_MEMORY ? PATCHBAY_ENOMEM
                                          : PATCHBAY_EINVAL;
}

static char *dup_printed(const char *text, int with_path)
{
    CURLU *url;
    char *made = parse(text, &url) == CURLUE_OK ? print(url, with_path) : NULL;
    curl_url_cleanup(url);
    return made;
}

char *url_dup_shown(const char *url)
{
    return dup_printed(url, 1);
}

char *url_dup_origin(const char *url)
{
    return dup_printed(url, 0);
}

char *url_dup_resolved(const char *base, const char *reference)
{
    char *made = NULL;
    CURLU *url;
    if (parse(base, &url) == CURLUE_OK &&
        curl_url_set(url, CURLUPART_URL, reference, 0) == CURLUE_OK) {
        char *whole = NULL;
        (void)curl_url_get(url, CURLUPART_URL, &whole, 0);
        made = whole != NULL && url_check(whole) == PATCHBAY_OK ? strdup(whole) : NULL;
        curl_free(whole);
    }
    curl_url_cleanup(url);
    return made;
}

int url_same_origin(const char *a, const char *b)
{
    char *left = url_dup_origin(a);
    char *right = url_dup_origin(b);
    int is_same = left != NULL && right != NULL && strcasecmp(left, right) == 0;
    free(left);
    free(right);
    return is_same;
}

int url_leads_to(const char *url, const char *host, const char *port)
{
    CURLU *parsed = NULL;
    if (parse(url, &parsed) != CURLUE_OK) {
        return 0;
    }
    char *its_host = get(parsed, CURLUPART_HOST);
    char *its_port = get(parsed, CURLUPART_PORT);
    size_t len = strlen(host);
    int is_so = its_host != NULL && its_port != NULL && strcmp(its_port, port) == 0;
    if (is_so && its_host[0] == '[') {
        is_so = strncmp(its_host + 1, host, len) == 0 && its_host[1 + len] == ']';
    } else if (is_so) {
        is_so = strcasecmp(its_host, host) == 0;
    }
    curl_free(its_host);
    curl_free(its_port);
    curl_url_cleanup(parsed);
    return is_so;
}
