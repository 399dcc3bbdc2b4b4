/* SPDX-License-Identifier: Apache-2.0 */
#include "http_internal.h"

struct http_body {
    size_t users;
    size_t len;
    char bytes[];
};

/* ---- bodies -------------------------------------------------------------------------------- */

http_body *http_body_create(const patchbay_str *parts, size_t part_count)
{
    size_t len = 0;
    for (size_t i = 0; i < part_count; i++) {
        len += parts[i].len;
    }
    http_body *body = malloc(sizeof *body + len);
    if (body == NULL) {
        return NULL;
    }
    body->users = 1;
    body->len = 0;
    for (size_t i = 0; i < part_count; i++) {
        if (parts[i].len > 0) {
            memcpy(body->bytes + body->len, parts[i].ptr, parts[i].len);
            body->len += parts[i].len;
        }
    }
    return body;
}

void http_body_unref(http_body *body)
{
    if (body != NULL && --body->users == 0) {
        free(body);
    }
}

/* ---- while libcurl calls ------------------------------------------------------------------- */

/* Keep-Alive: timeout=SECONDS, and other parameters (RFC 2068, section 19.7.1.1). */
static void note_idle_time(http_request *request)
{
    static const char NAME[] = "timeout=";
    patchbay_str value = http_request_header(request, "keep-alive");
    const char *at = value.len > 0 ? strstr(value.ptr, NAME) : NULL; /* NUL-terminated */
    if (at != NULL) {
        long seconds = strtol(at + sizeof NAME - 1, NULL, 10);
        request->client->idle_s = seconds > 0 ? seconds : 0;
    }
}

static void tell_head(http_request *request)
{
    long status = 0;
    if (!request->has_head) {
        request->has_head = 1;
        note_idle_time(request);
        (void)curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &status);
        request->events.on_head(request->ctx, request, status);
    }
}

static size_t on_header(char *bytes, size_t size, size_t count, void *ctx)
{
    http_request *request = ctx;
    size_t len = size * count;
    long status = 0;
    /* The empty line ends the head; 1xx answers have one of their own. */
    if (!request->is_cancelled && len <= 2 && (bytes[0] == '\r' || bytes[0] == '\n')) {
        (void)curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &status);
        if (status >= 200) {
            tell_head(request);
        }
    }
    return request->is_cancelled ? 0 : len;
}

/* libcurl sends a request again by itself when a kept connection turns out to be closed. That must
 * not happen once something has left: a call could be made twice. It asks for the body from the
 * start then, cannot have it, and says so. */
static size_t give_body(char *out, size_t size, size_t count, void *ctx)
{
    http_request *request = ctx;
    size_t room = size * count;
    size_t left = request->body->len - request->body_sent;
    size_t len = left < room ? left : room;
    if (len > 0) {
        memcpy(out, request->body->bytes + request->body_sent, len);
        request->body_sent += len;
    }
    return len;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *ctx)
{
    http_request *request = ctx;
    size_t len = size * count;
    if (!request->is_cancelled) {
        request->events.on_body(request->ctx, patchbay_str_make(bytes, len));
    }
    return request->is_cancelled ? CURL_WRITEFUNC_ERROR : len;
}

/* ---- requests ------------------------------------------------------------------------------ */

/* How old a connection may be, in seconds without use: libcurl leaves off what follows the point,
 * and a second is for the way. Below 0: too old in any case. */
static long oldest_of(const http_request *request, const http_start *start)
{
    static const long ANY = 118; /* libcurl's own figure */
    int64_t idle_s = request->client->idle_s;
    if (start->is_again) {
        return -1;
    }
    return !start->is_once || idle_s - 2 > ANY ? ANY : (long)(idle_s < 2 ? -1 : idle_s - 2);
}

static int set_up(http_request *request, const http_start *start)
{
    const char *method = start->method;
    const char *url = start->url;
    long oldest = oldest_of(request, start);
    const http_client_options *options = &request->client->options;
    CURL *easy = request->easy;
    CURLcode code = CURLE_OK;
#define SET(option, value) code = code != CURLE_OK ? code : curl_easy_setopt(easy, option, value)
    SET(CURLOPT_URL, url);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_QUICK_EXIT, 1L); /* a resolver that hangs is left behind, not waited for */
    SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L); /* what a proxy says is not the answer */
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    SET(CURLOPT_FRESH_CONNECT, (long)(oldest < 0));
    SET(CURLOPT_MAXAGE_CONN, oldest < 0 ? 0L : oldest);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)options->connect_timeout_ms);
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_ERRORBUFFER, request->error);
    SET(CURLOPT_PRIVATE, request);
    SET(CURLOPT_HTTPHEADER, request->headers);
    SET(CURLOPT_OPENSOCKETFUNCTION, http_client_open_socket);
    SET(CURLOPT_OPENSOCKETDATA, request);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, request);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, request);
    if (options->ca_file != NULL) {
        SET(CURLOPT_CAINFO, options->ca_file);
        SET(CURLOPT_CAPATH, NULL);
    }
    if (options->certificate != NULL) {
        SET(CURLOPT_SSLCERT, options->certificate);
        SET(CURLOPT_SSLKEY, options->key);
        SET(CURLOPT_KEYPASSWD, ""); /* else OpenSSL asks for it at the terminal, and all wait */
    }
    if (options->only_public) {
        SET(CURLOPT_NOPROXY, "*"); /* it would connect for us, wherever that is */
    } else if (request->client->http_proxy != NULL && strncasecmp(url, "http://", 7) == 0) {
        SET(CURLOPT_PROXY, request->client->http_proxy);
    }
    if (strcmp(method, "POST") == 0) {
        SET(CURLOPT_POST, 1L);
        SET(CURLOPT_READFUNCTION, give_body);
        SET(CURLOPT_READDATA, request);
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body->len);
    } else if (request->is_bare) {
        SET(CURLOPT_CONNECT_ONLY, 1L);
        SET(CURLOPT_HTTPPROXYTUNNEL, 1L);
    } else if (strcmp(method, "GET") != 0) {
        SET(CURLOPT_CUSTOMREQUEST, method);
        SET(CURLOPT_TIMEOUT_MS, (long)options->connect_timeout_ms); /* nobody waits for it */
    }
#undef SET
    return code == CURLE_OK;
}

static int has_http_scheme(const char *url)
{
    return strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0;
}

static int add_header(http_request *request, const char *line, size_t len)
{
    char *copy = malloc(len + 1);
    if (copy == NULL) {
        return 0;
    }
    memcpy(copy, line, len);
    copy[len] = '\0';
    struct curl_slist *longer = curl_slist_append(request->headers, copy);
    explicit_bzero(copy, len); /* it may be a credential, as all of them below */
    free(copy);
    request->headers = longer != NULL ? longer : request->headers;
    return longer != NULL;
}

static int add_headers(http_request *request, patchbay_str lines)
{
    static const char NO_EXPECT[] = "Expect:"; /* the body leaves at once */
    int ok = add_header(request, NO_EXPECT, sizeof NO_EXPECT - 1);
    while (ok && lines.len > 0) {
        const char *end = memchr(lines.ptr, '\n', lines.len);
        size_t len = end != NULL ? (size_t)(end - lines.ptr) : lines.len;
        ok = add_header(request, lines.ptr, len);
        size_t used = end != NULL ? len + 1 : len;
        lines = patchbay_str_make(lines.ptr + used, lines.len - used);
    }
    return ok;
}

static void free_headers(struct curl_slist *headers)
{
    for (struct curl_slist *one = headers; one != NULL; one = one->next) {
        explicit_bzero(one->data, strlen(one->data));
    }
    curl_slist_free_all(headers);
}

void http_request_free(http_request *request)
{
    http_client *client = request->client;
    if (request->is_added) {
        (void)curl_multi_remove_handle(client->multi, request->easy);
    }
    if (request->prev != NULL) {
        request->prev->next = request->next;
    } else {
        client->requests = request->next;
    }
    if (request->next != NULL) {
        request->next->prev = request->prev;
    }
    curl_easy_cleanup(request->easy);
    free_headers(request->headers);
    http_body_unref(request->body);
    free(request);
}

int32_t http_client_start(http_client *client, const http_start *start,
                          const http_request_events *events, void *ctx, http_request **ret_request)
{
    if (!has_http_scheme(start->url)) {
        return PATCHBAY_EINVAL;
    }
    http_request *request = calloc(1, sizeof *request);
    if (request == NULL) {
        return PATCHBAY_ENOMEM;
    }
    request->client = client;
    request->events = *events;
    request->ctx = ctx;
    request->easy = curl_easy_init();
    request->is_bare = strcmp(start->method, "CONNECT") == 0;
    request->body = start->body;
    if (request->body != NULL) {
        request->body->users++;
    }
    request->next = client->requests;
    if (request->next != NULL) {
        request->next->prev = request;
    }
    client->requests = request;
    if (request->easy == NULL || !add_headers(request, start->headers) || !set_up(request, start)) {
        http_request_free(request);
        return PATCHBAY_ENOMEM;
    }
    *ret_request = request;
    if (!client->in_curl) {
        http_client_settle(client); /* its timer starts it */
    }
    return PATCHBAY_OK;
}

void http_request_cancel(http_request *request)
{
    if (request == NULL) {
        return;
    }
    if (request->client->in_curl) {
        request->is_cancelled = 1;
    } else {
        http_request_free(request);
    }
}

patchbay_str http_request_header_at(http_request *request, const char *name, size_t index)
{
    struct curl_header *header = NULL;
    if (curl_easy_header(request->easy, name, index, CURLH_HEADER, -1, &header) != CURLHE_OK) {
        return patchbay_str_make(NULL, 0);
    }
    return patchbay_str_of(header->value);
}

patchbay_str http_request_header(http_request *request, const char *name)
{
    return http_request_header_at(request, name, 0);
}

void *http_request_handle(http_request *request)
{
    return request->easy;
}

const char *http_request_failure(const http_request *request, int code)
{
    if (request->forbidden[0] != '\0' && code == CURLE_COULDNT_CONNECT) {
        return request->forbidden;
    }
    return request->error[0] != '\0' ? request->error : curl_easy_strerror((CURLcode)code);
}

const char *http_request_redirect(http_request *request)
{
    char *url = NULL;
    (void)curl_easy_getinfo(request->easy, CURLINFO_REDIRECT_URL, &url);
    return url;
}
