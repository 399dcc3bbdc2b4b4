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

static CURLU *parse(const char *text)
{
    char *scheme = NULL;
    CURLU *url = curl_url();
    if (url == NULL) {
        return NULL;
    }
    if (curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK) {
        scheme = get(url, CURLUPART_SCHEME);
    }
    int is_ours = scheme != NULL && (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
    curl_free(scheme);
    if (!is_ours) {
        curl_url_cleanup(url);
        return NULL;
    }
    return url;
}

static char *dup_printed(const char *text, int with_path)
{
    CURLU *url = parse(text);
    char *made = url != NULL ? print(url, with_path) : NULL;
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
    CURLU *url = parse(base);
    if (url != NULL && curl_url_set(url, CURLUPART_URL, reference, 0) == CURLUE_OK) {
        char *whole = NULL;
        (void)curl_url_get(url, CURLUPART_URL, &whole, 0);
        CURLU *checked = whole != NULL ? parse(whole) : NULL;
        made = checked != NULL ? strdup(whole) : NULL;
        curl_url_cleanup(checked);
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
