/* SPDX-License-Identifier: Apache-2.0 */
#include "http_client.h"

#include <curl/curl.h>
#include <sys/socket.h>
#include <unistd.h>

/* A descriptor that libcurl wants watched. */
typedef struct client_socket {
    struct client_socket *next;
    struct client_socket *prev;
    http_client *client;
    patchbay_watch *watch;
    curl_socket_t fd;
} client_socket;

struct http_client {
    patchbay_host *host;
    const patchbay_loop_v1 *loop;
    http_client_options options;
    CURLM *multi;
    patchbay_timer *timer;
    client_socket *sockets;
    http_request *requests;
    int in_curl; /* libcurl is calling: handles may be neither added nor removed */
};

struct http_body {
    size_t users;
    size_t len;
    char bytes[];
};

struct http_request {
    http_request *next;
    http_request *prev;
    http_client *client;
    CURL *easy;
    struct curl_slist *headers;
    http_body *body;
    size_t body_sent;
    http_request_events events;
    void *ctx;
    int is_added;     /* to the multi handle */
    int is_cancelled; /* from inside a callback: freed when libcurl has returned */
    int has_head;
    char error[CURL_ERROR_SIZE];
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

static void free_request(http_request *request)
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
    curl_slist_free_all(request->headers);
    http_body_unref(request->body);
    free(request);
}

/* ---- after libcurl has returned -----------------------------------------------------------------
 */

static http_outcome outcome_of(const http_request *request, CURLcode code)
{
    long head_bytes = 0;
    if (code == CURLE_OK) {
        return HTTP_COMPLETE;
    }
    if (code == CURLE_SEND_FAIL_REWIND) {
        return HTTP_STALE;
    }
    (void)curl_easy_getinfo(request->easy, CURLINFO_REQUEST_SIZE, &head_bytes);
    return head_bytes > 0 ? HTTP_BROKEN : HTTP_UNREACHED;
}

static void report(http_request *request, CURLcode code)
{
    http_request_events events = request->events;
    void *ctx = request->ctx;
    char text[CURL_ERROR_SIZE];
    (void)snprintf(text, sizeof text, "%s",
                   request->error[0] != '\0' ? request->error : curl_easy_strerror(code));
    events.on_end(ctx, outcome_of(request, code), text);
}

/* Add what was started and free what was cancelled while libcurl was calling. */
static void settle(http_client *client)
{
    http_request *next;
    for (http_request *request = client->requests; request != NULL; request = next) {
        next = request->next;
        if (request->is_cancelled) {
            free_request(request);
        } else if (!request->is_added) {
            request->is_added = 1;
            (void)curl_multi_add_handle(client->multi, request->easy); /* fails for bad handles */
        }
    }
}

/* Tell of what has ended. A callback may start and cancel requests. */
static void finish_ended(http_client *client)
{
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(client->multi, &left)) != NULL) {
        http_request *request = NULL;
        CURLcode code = message->data.result;
        if (message->msg != CURLMSG_DONE ||
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &request) != CURLE_OK) {
            continue;
        }
        (void)curl_multi_remove_handle(client->multi, request->easy);
        request->is_added = 1; /* not to be added again by settle() */
        if (!request->is_cancelled) {
            report(request, code);
        }
        request->is_added = 0;
        free_request(request);
    }
}

static void run(http_client *client, curl_socket_t fd, int events)
{
    int running;
    client->in_curl = 1;
    (void)curl_multi_socket_action(client->multi, fd, events, &running);
    finish_ended(client);
    client->in_curl = 0;
    settle(client);
}

/* ---- what libcurl asks for ---------------------------------------------------------------------
 */

static void on_ready(void *ctx, uint32_t events)
{
    client_socket *watched = ctx;
    int action = ((events & PATCHBAY_READABLE) != 0 ? CURL_CSELECT_IN : 0) |
                 ((events & PATCHBAY_WRITABLE) != 0 ? CURL_CSELECT_OUT : 0);
    run(watched->client, watched->fd, action);
}

static void on_time(void *ctx)
{
    run(ctx, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timer(CURLM *multi, long timeout_ms, void *ctx)
{
    http_client *client = ctx;
    (void)multi;
    if (timeout_ms < 0) {
        client->loop->timer_stop(client->timer);
    } else {
        client->loop->timer_start(client->timer, (uint64_t)timeout_ms);
    }
    return 0;
}

static void drop_socket(client_socket *watched)
{
    http_client *client = watched->client;
    client->loop->unwatch(watched->watch);
    if (watched->prev != NULL) {
        watched->prev->next = watched->next;
    } else {
        client->sockets = watched->next;
    }
    if (watched->next != NULL) {
        watched->next->prev = watched->prev;
    }
    free(watched);
}

static client_socket *add_socket(http_client *client, curl_socket_t fd, uint32_t events)
{
    client_socket *watched = calloc(1, sizeof *watched);
    if (watched == NULL) {
        return NULL;
    }
    watched->client = client;
    watched->fd = fd;
    watched->watch = client->loop->watch(client->host, fd, events, on_ready, watched);
    if (watched->watch == NULL) {
        free(watched);
        return NULL;
    }
    watched->next = client->sockets;
    if (watched->next != NULL) {
        watched->next->prev = watched;
    }
    client->sockets = watched;
    return watched;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *socket_ctx)
{
    http_client *client = ctx;
    client_socket *watched = socket_ctx;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (watched != NULL) {
            drop_socket(watched);
        }
        return 0;
    }
    uint32_t events = ((what & CURL_POLL_IN) != 0 ? PATCHBAY_READABLE : 0) |
                      ((what & CURL_POLL_OUT) != 0 ? PATCHBAY_WRITABLE : 0);
    if (watched != NULL) {
        client->loop->rewatch(watched->watch, events);
        return 0;
    }
    watched = add_socket(client, fd, events);
    if (watched == NULL) {
        return -1; /* libcurl fails what is under way */
    }
    (void)curl_multi_assign(client->multi, fd, watched);
    return 0;
}

/* Children of the hub must not inherit it. */
static curl_socket_t open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)ctx;
    (void)purpose;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void tell_head(http_request *request)
{
    long status = 0;
    if (!request->has_head) {
        request->has_head = 1;
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

/* ---- requests ----------------------------------------------------------------------------------
 */

static int set_up(http_request *request, const char *method, const char *url)
{
    const http_client_options *options = &request->client->options;
    CURL *easy = request->easy;
    CURLcode code = CURLE_OK;
#define SET(option, value) code = code != CURLE_OK ? code : curl_easy_setopt(easy, option, value)
    SET(CURLOPT_URL, url);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)options->connect_timeout_ms);
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_ERRORBUFFER, request->error);
    SET(CURLOPT_PRIVATE, request);
    SET(CURLOPT_HTTPHEADER, request->headers);
    SET(CURLOPT_OPENSOCKETFUNCTION, open_socket);
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
    }
    if (strcmp(method, "POST") == 0) {
        SET(CURLOPT_POST, 1L);
        SET(CURLOPT_READFUNCTION, give_body);
        SET(CURLOPT_READDATA, request);
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body->len);
    } else if (strcmp(method, "GET") != 0) {
        SET(CURLOPT_CUSTOMREQUEST, method);
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
    request->body = start->body;
    if (request->body != NULL) {
        request->body->users++;
    }
    request->next = client->requests;
    if (request->next != NULL) {
        request->next->prev = request;
    }
    client->requests = request;
    if (request->easy == NULL || !add_headers(request, start->headers) ||
        !set_up(request, start->method, start->url)) {
        free_request(request);
        return PATCHBAY_ENOMEM;
    }
    *ret_request = request;
    if (!client->in_curl) {
        settle(client); /* its timer starts it */
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
        free_request(request);
    }
}

patchbay_str http_request_header(http_request *request, const char *name)
{
    struct curl_header *header = NULL;
    if (curl_easy_header(request->easy, name, 0, CURLH_HEADER, -1, &header) != CURLHE_OK) {
        return patchbay_str_make(NULL, 0);
    }
    return patchbay_str_of(header->value);
}

const char *http_request_redirect(http_request *request)
{
    char *url = NULL;
    (void)curl_easy_getinfo(request->easy, CURLINFO_REDIRECT_URL, &url);
    return url;
}

/* ---- the client --------------------------------------------------------------------------------
 */

int32_t http_client_create(const patchbay_host_api *api, patchbay_host *host,
                           const http_client_options *options, http_client **ret_client)
{
    const patchbay_loop_v1 *loop = api->get_interface(host, PATCHBAY_LOOP_V1);
    if (loop == NULL || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return PATCHBAY_ESTATE;
    }
    http_client *client = calloc(1, sizeof *client);
    if (client == NULL) {
        curl_global_cleanup();
        return PATCHBAY_ENOMEM;
    }
    client->host = host;
    client->loop = loop;
    client->options = *options;
    client->multi = curl_multi_init();
    client->timer = loop->timer(host, on_time, client);
    if (client->multi == NULL || client->timer == NULL) {
        http_client_free(client);
        return PATCHBAY_ENOMEM;
    }
    (void)curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    (void)curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
    (void)curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    (void)curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
    *ret_client = client;
    return PATCHBAY_OK;
}

void http_client_flush(http_client *client)
{
    int running;
    client->in_curl = 1;
    (void)curl_multi_perform(client->multi, &running);
    client->in_curl = 0;
    settle(client);
}

void http_client_free(http_client *client)
{
    if (client == NULL) {
        return;
    }
    while (client->requests != NULL) {
        free_request(client->requests);
    }
    if (client->multi != NULL) {
        (void)curl_multi_cleanup(client->multi);
    }
    while (client->sockets != NULL) {
        drop_socket(client->sockets);
    }
    client->loop->timer_free(client->timer);
    free(client);
    curl_global_cleanup();
}
