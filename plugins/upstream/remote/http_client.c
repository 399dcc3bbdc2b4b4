/* SPDX-License-Identifier: Apache-2.0 */
#include "http_internal.h"
#include "url.h"

#include <patchbay/address.h>

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
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

/* ---- after libcurl has returned -----------------------------------------------------------------
 */

static http_outcome outcome_of(const http_request *request, CURLcode code)
{
    long head_bytes = 0;
    if (code == CURLE_OK) { /* also at the end of the connection, in the middle of the head */
        return request->has_head ? HTTP_COMPLETE : HTTP_BROKEN;
    }
    if (code == CURLE_SEND_FAIL_REWIND) {
        return HTTP_STALE;
    }
    if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
        code == CURLE_SSL_CERTPROBLEM) {
        return HTTP_UNTRUSTED;
    }
    (void)curl_easy_getinfo(request->easy, CURLINFO_REQUEST_SIZE, &head_bytes);
    return head_bytes > 0 ? HTTP_BROKEN : HTTP_UNREACHED;
}

/* What to do about it, where libcurl's own words leave that open. */
static const char *advice_on(CURLcode code)
{
    switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
        return ": the server's certificate is not trusted; set `ca` to a file with its authority";
    case CURLE_SSL_CACERT_BADFILE:
        return ": `ca` is not a PEM file of certificates";
    case CURLE_SSL_CERTPROBLEM:
        return ": `certificate` and `key` must be PEM files that belong together, without a "
               "password";
    default:
        return "";
    }
}

/* What libcurl passes on is OpenSSL's, which does not say what it comes from. */
static int is_not_tls(const char *error)
{
    return strstr(error, "wrong version number") != NULL ||
           strstr(error, "packet length too long") != NULL;
}

/* These words of libcurl's are about what it does next; where the system gave a reason, it has that instead. */
static int has_no_reason(const char *error)
{
    return strstr(error, "rewind") != NULL || strstr(error, "mpty reply") != NULL;
}

static const char *meaning_of(const http_request *request, CURLcode code)
{
    if (code == CURLE_OK) {
        return "it ended within the head";
    }
    if ((code == CURLE_SEND_FAIL_REWIND || code == CURLE_GOT_NOTHING) &&
        has_no_reason(http_request_failure(request, (int)code))) {
        return "it was cut, and the request was not repeated, since it may have arrived";
    }
    if (code == CURLE_SSL_CONNECT_ERROR && is_not_tls(request->error)) {
        return "it does not speak TLS there: is its address http:// (or ws://)?";
    }
    return http_request_failure(request, (int)code);
}

/* The system's reason for no connection, which libcurl's words leave out; 0: there is none. */
static int errno_of(const http_request *request, CURLcode code)
{
    long error = request->socket_error; /* libcurl is not told of it */
    if (code != CURLE_COULDNT_CONNECT || request->forbidden[0] != '\0') {
        return 0;
    }
    if (error == 0) {
        (void)curl_easy_getinfo(request->easy, CURLINFO_OS_ERRNO, &error);
    }
    return (int)error;
}

enum { HOST_BYTES = 256, PORT_BYTES = 8 };

/* The system's reason alone, since the address is named already, and what to look at. Who could not be
 * connected to may be a proxy, which libcurl's words name. */
static void tell_unconnected(const http_request *request, int error, char *out, size_t cap)
{
    char host[HOST_BYTES];
    char port[PORT_BYTES];
    char *address = NULL;
    (void)curl_easy_getinfo(request->easy, CURLINFO_EFFECTIVE_URL, &address);
    int is_named =
        sscanf(request->error, "Failed to connect to %255s port %7[0-9]", host, port) == 2;
    if (is_named && address != NULL && !url_leads_to(address, host, port)) {
        (void)snprintf(out, cap, "proxy %s port %s: %s%s", host, port, strerror(error),
                       error == ECONNREFUSED ? ": is that proxy running, and is its port right?"
                                             : "");
    } else {
        (void)snprintf(out, cap, "%s%s", strerror(error),
                       error == ECONNREFUSED ? ": is the server running, and is the port right?"
                                             : "");
    }
}

static void report(http_request *request, CURLcode code)
{
    http_request_events events = request->events;
    void *ctx = request->ctx;
    char text[CURL_ERROR_SIZE + 192];
    int error = errno_of(request, code);
    if (error != 0) {
        tell_unconnected(request, error, text, sizeof text);
    } else {
        (void)snprintf(text, sizeof text, "%s%s", meaning_of(request, code), advice_on(code));
    }
    events.on_end(ctx, outcome_of(request, code), text);
}

void http_client_settle(http_client *client)
{
    http_request *next;
    for (http_request *request = client->requests; request != NULL; request = next) {
        next = request->next;
        if (request->is_cancelled) {
            http_request_free(request);
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
        if (request->is_bare && code == CURLE_OK) { /* it lives as long as its handle is added */
            request->error[0] = '\0'; /* of an address that was not reached, before another was */
            if (!request->is_cancelled) {
                request->events.on_head(request->ctx, request, 0);
            }
            continue;
        }
        (void)curl_multi_remove_handle(client->multi, request->easy);
        request->is_added = 1; /* not to be added again by http_client_settle() */
        if (!request->is_cancelled) {
            report(request, code);
        }
        request->is_added = 0;
        http_request_free(request);
    }
}

/* libcurl does not say whose memory it was that it could not have. */
static void give_up_all(http_client *client)
{
    for (http_request *request = client->requests; request != NULL; request = request->next) {
        request->is_unwatched = request->is_added;
    }
}

/* Nothing would ever be heard of a request whose socket cannot be watched. */
static void end_unwatched(http_client *client)
{
    http_request *request = client->requests;
    while (request != NULL) {
        if (!request->is_unwatched || request->is_cancelled) {
            request = request->next;
            continue;
        }
        (void)curl_multi_remove_handle(client->multi, request->easy);
        request->is_unwatched = 0;
        request->is_added = 1; /* as in finish_ended() */
        report(request, CURLE_OUT_OF_MEMORY);
        request->is_added = 0;
        http_request_free(request);
        request = client->requests; /* what was told may have started others */
    }
}

static void run(http_client *client, curl_socket_t fd, int events)
{
    int running;
    client->in_curl = 1;
    if (curl_multi_socket_action(client->multi, fd, events, &running) == CURLM_OUT_OF_MEMORY) {
        give_up_all(client);
    }
    finish_ended(client);
    end_unwatched(client);
    client->in_curl = 0;
    http_client_settle(client);
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
    if (watched == NULL) { /* an error would be the end of all requests, now and later */
        http_request *request = NULL;
        if (curl_easy_getinfo(easy, CURLINFO_PRIVATE, &request) == CURLE_OK && request != NULL) {
            request->is_unwatched = 1;
        }
        return 0;
    }
    (void)curl_multi_assign(client->multi, fd, watched);
    return 0;
}

static int is_public(const struct sockaddr *address)
{
    uint8_t bytes[16];
    if (address->sa_family == AF_INET) {
        memcpy(bytes, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
        return patchbay_address_is_public_v4(bytes);
    }
    if (address->sa_family == AF_INET6) {
        memcpy(bytes, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
        return patchbay_address_is_public_v6(bytes);
    }
    return 0;
}

static void forbid(http_request *request, const struct curl_sockaddr *address)
{
    char host[INET6_ADDRSTRLEN + IF_NAMESIZE] = "it";
    (void)getnameinfo(&address->addr, address->addrlen, host, sizeof host, NULL, 0, NI_NUMERICHOST);
    (void)snprintf(request->forbidden, sizeof request->forbidden,
                   "%s is an internal address, and the entry says `addresses: public`", host);
}

curl_socket_t http_client_open_socket(void *ctx, curlsocktype purpose,
                                      struct curl_sockaddr *address)
{
    http_request *request = ctx;
    (void)purpose;
    request->forbidden[0] = '\0';
    if (request->client->options.only_public && !is_public(&address->addr)) {
        forbid(request, address);
        return CURL_SOCKET_BAD;
    }
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    request->socket_error = fd < 0 ? errno : 0;
    return fd;
}

/* ---- the client --------------------------------------------------------------------------------
 */

/* libcurl takes http_proxy in small letters alone, because a web server gives its CGI programs the
 * header `Proxy` of a request as HTTP_PROXY. This is none; NO_PROXY holds for both. */
static const char *find_http_proxy(void)
{
    const char *proxy = getenv("HTTP_PROXY");
    int is_cgi = getenv("REQUEST_METHOD") != NULL;
    return getenv("http_proxy") == NULL && !is_cgi && proxy != NULL && proxy[0] != '\0' ? proxy
                                                                                        : NULL;
}

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
    client->http_proxy = find_http_proxy();
    client->idle_s = HTTP_IDLE_S;
    client->multi = curl_multi_init();
    client->timer = loop->timer(host, on_time, client);
    if (client->multi == NULL || client->timer == NULL) {
        http_client_free(client);
        return PATCHBAY_ENOMEM;
    }
    /* Its own figure goes with the requests under way: at the end of many it would close what the
     * next ones need. */
    (void)curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long)HTTP_KEPT_CONNECTIONS);
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
    http_client_settle(client);
}

void http_client_free(http_client *client)
{
    if (client == NULL) {
        return;
    }
    while (client->requests != NULL) {
        http_request_free(client->requests);
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
