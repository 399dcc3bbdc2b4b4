/* SPDX-License-Identifier: Apache-2.0 */
#include "issuers/fetch.h"

#include "base/buf.h"
#include "base/encoding.h"
#include "base/limits.h"
#include "base/loop.h"
#include "issuers/curl_library.h"

#include <patchbay/address.h>

#include <arpa/inet.h>
#include <ev.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

/* A descriptor that libcurl wants watched. */
typedef struct fetch_socket {
    ev_io watcher;
    hub_fetcher *fetcher;
    struct fetch_socket *next;
    struct fetch_socket *prev;
} fetch_socket;

struct hub_fetcher {
    struct ev_loop *loop;
    const hub_curl_library *curl; /* NULL: nothing was fetched yet */
    CURLM *multi;
    ev_timer timer;
    hub_fetch *fetches;
    fetch_socket *sockets;
};

struct hub_fetch {
    hub_fetcher *fetcher;
    hub_fetch *next;
    hub_fetch *prev;
    CURL *easy;
    struct curl_slist *headers;
    hub_fetch_on_end *on_end;
    void *ctx;
    hub_buf text; /* what is sent, unless it is lent */
    hub_buf body;
    hub_buf challenge;
    uint32_t max_age_s;
    uint32_t retry_s;
    char error[CURL_ERROR_SIZE];
    char forbidden[INET6_ADDRSTRLEN]; /* the internal address that was not connected to */
};

/* ---- which addresses ------------------------------------------------------------------------- */

bool hub_fetch_may(const char *url)
{
    static const char *const LOCAL[] = {"http://localhost", "http://127.0.0.1", "http://[::1]"};
    if (strncmp(url, "https://", 8) == 0) {
        return url[8] != '\0';
    }
    for (size_t i = 0; i < sizeof LOCAL / sizeof LOCAL[0]; i++) {
        size_t len = strlen(LOCAL[i]);
        if (strncmp(url, LOCAL[i], len) == 0 && strchr(":/", url[len]) != NULL) {
            return strchr(url, '@') == NULL; /* behind user information is another machine */
        }
    }
    return false;
}

/* ---- what comes ------------------------------------------------------------------------------ */

static size_t on_body(char *bytes, size_t size, size_t count, void *ctx)
{
    hub_fetch *fetch = ctx;
    hub_buf_add(&fetch->body, (hub_str){.ptr = bytes, .len = size * count});
    return hub_buf_ok(&fetch->body) ? size * count : 0;
}

static bool has_name(hub_str line, hub_str name)
{
    return line.len > name.len &&
           hub_str_eq_nocase((hub_str){.ptr = line.ptr, .len = name.len}, name);
}

static void keep_challenge(hub_fetch *fetch, hub_str value)
{
    if (fetch->challenge.len + value.len + 2 <= fetch->challenge.max) {
        hub_buf_add(&fetch->challenge, fetch->challenge.len > 0 ? HUB_STR(", ") : HUB_STR_EMPTY);
        hub_buf_add(&fetch->challenge, hub_str_trim(value));
    }
}

/* The number that a text begins with. */
static uint32_t read_seconds(hub_str text)
{
    uint64_t seconds = 0;
    for (size_t i = 0;
         i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9' && seconds < UINT32_MAX / 10;
         i++) {
        seconds = seconds * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    return (uint32_t)seconds;
}

static size_t on_header(char *bytes, size_t size, size_t count, void *ctx)
{
    static const hub_str CACHE = {.ptr = "cache-control:", .len = 14};
    static const hub_str CHALLENGE = {.ptr = "www-authenticate:", .len = 17};
    static const hub_str RETRY = {.ptr = "retry-after:", .len = 12};
    static const char AGE[] = "max-age=";
    hub_fetch *fetch = ctx;
    hub_str line = {.ptr = bytes, .len = size * count};
    if (has_name(line, CHALLENGE)) {
        keep_challenge(fetch, hub_str_from(line, CHALLENGE.len));
    } else if (has_name(line, RETRY)) {
        fetch->retry_s = read_seconds(hub_str_trim(hub_str_from(line, RETRY.len)));
    } else if (has_name(line, CACHE)) {
        size_t at = hub_str_find(line, hub_str_of(AGE));
        fetch->max_age_s =
            at != SIZE_MAX ? read_seconds(hub_str_from(line, at + sizeof AGE - 1)) : 0;
    }
    return size * count;
}

/* ---- where to -------------------------------------------------------------------------------- */

static bool is_public(const struct sockaddr *address, char ret_text[INET6_ADDRSTRLEN])
{
    const void *bytes =
        address->sa_family == AF_INET6
            ? (const void *)&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr
            : (const void *)&((const struct sockaddr_in *)(const void *)address)->sin_addr;
    if ((address->sa_family != AF_INET && address->sa_family != AF_INET6) ||
        inet_ntop(address->sa_family, bytes, ret_text, INET6_ADDRSTRLEN) == NULL) {
        return false;
    }
    return address->sa_family == AF_INET6 ? patchbay_address_is_public_v6(bytes)
                                          : patchbay_address_is_public_v4(bytes);
}

/* Every address that a name leads to comes by here before anything is sent there. */
static curl_socket_t open_public(void *ctx, curlsocktype purpose, struct curl_sockaddr *address)
{
    hub_fetch *fetch = ctx;
    (void)purpose;
    if (!is_public(&address->addr, fetch->forbidden)) {
        return CURL_SOCKET_BAD;
    }
    fetch->forbidden[0] = '\0';
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void free_headers(const hub_curl_library *curl, struct curl_slist *headers)
{
    for (struct curl_slist *one = headers; one != NULL; one = one->next) {
        explicit_bzero(one->data, strlen(one->data)); /* it may be a credential */
    }
    curl->slist_free_all(headers);
}

static void forget(hub_fetch *fetch)
{
    hub_fetcher *fetcher = fetch->fetcher;
    if (fetch->easy != NULL) {
        (void)fetcher->curl->multi_remove_handle(fetcher->multi, fetch->easy);
        fetcher->curl->easy_cleanup(fetch->easy);
    }
    free_headers(fetcher->curl, fetch->headers);
    if (fetch->prev != NULL) {
        fetch->prev->next = fetch->next;
    } else {
        fetcher->fetches = fetch->next;
    }
    if (fetch->next != NULL) {
        fetch->next->prev = fetch->prev;
    }
    hub_buf_fini(&fetch->text);
    hub_buf_fini(&fetch->body);
    hub_buf_fini(&fetch->challenge);
    free(fetch);
}

static void end(hub_fetch *fetch, CURLcode code)
{
    hub_fetcher *fetcher = fetch->fetcher;
    char why[CURL_ERROR_SIZE + 64];
    long status = 0;
    (void)fetcher->curl->easy_getinfo(fetch->easy, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_COULDNT_CONNECT && fetch->forbidden[0] != '\0') {
        (void)snprintf(why, sizeof why,
                       "%s is an internal address, and the entry says `addresses: public`",
                       fetch->forbidden);
    } else if (code != CURLE_OK && !hub_buf_ok(&fetch->body)) {
        (void)snprintf(why, sizeof why, "the document is too large");
    } else if (code != CURLE_OK) {
        hub_curl_tell(fetcher->curl, fetch->easy, code, fetch->error, why, sizeof why);
    } else {
        (void)snprintf(why, sizeof why, "it answers with status %ld", status);
    }
    /* The body outlives the fetch, which may be the last thing that its owner lets go of. */
    hub_buf body = fetch->body;
    hub_buf challenge = fetch->challenge;
    hub_buf_init(&fetch->body, 0);
    hub_buf_init(&fetch->challenge, 0);
    const hub_fetched fetched = {.is_there = code == CURLE_OK && status == 200,
                                 .status = code == CURLE_OK ? status : 0,
                                 .body = hub_buf_str(&body),
                                 .challenge = hub_buf_str(&challenge),
                                 .max_age_s = fetch->max_age_s,
                                 .retry_s = fetch->retry_s,
                                 .why = why};
    hub_fetch_on_end *on_end = fetch->on_end;
    void *ctx = fetch->ctx;
    forget(fetch);
    on_end(ctx, &fetched);
    hub_buf_fini(&body);
    hub_buf_fini(&challenge);
}

static void run(hub_fetcher *fetcher, curl_socket_t fd, int events)
{
    int count;
    CURLMsg *message;
    (void)fetcher->curl->multi_socket_action(fetcher->multi, fd, events, &count);
    while ((message = fetcher->curl->multi_info_read(fetcher->multi, &count)) != NULL) {
        hub_fetch *fetch = NULL;
        CURLcode code = message->data.result;
        if (message->msg == CURLMSG_DONE &&
            fetcher->curl->easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &fetch) ==
                CURLE_OK &&
            fetch != NULL) {
            end(fetch, code);
        }
    }
}

/* ---- what libcurl asks for ------------------------------------------------------------------- */

static void on_ready(struct ev_loop *loop, ev_io *watcher, int events)
{
    if (hub_loop_mend(loop, watcher, events)) {
        return;
    }
    const fetch_socket *watched = watcher->data;
    run(watched->fetcher, watcher->fd,
        ((events & EV_READ) != 0 ? CURL_CSELECT_IN : 0) |
            ((events & EV_WRITE) != 0 ? CURL_CSELECT_OUT : 0));
}

static void on_time(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    run(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timer(CURLM *multi, long timeout_ms, void *ctx)
{
    hub_fetcher *fetcher = ctx;
    (void)multi;
    ev_timer_stop(fetcher->loop, &fetcher->timer);
    if (timeout_ms >= 0) {
        hub_loop_start_timer(fetcher->loop, &fetcher->timer, (double)timeout_ms / 1000.);
    }
    return 0;
}

static void drop_socket(fetch_socket *watched)
{
    hub_fetcher *fetcher = watched->fetcher;
    ev_io_stop(fetcher->loop, &watched->watcher);
    if (watched->prev != NULL) {
        watched->prev->next = watched->next;
    } else {
        fetcher->sockets = watched->next;
    }
    if (watched->next != NULL) {
        watched->next->prev = watched->prev;
    }
    free(watched);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *socket_ctx)
{
    hub_fetcher *fetcher = ctx;
    fetch_socket *watched = socket_ctx;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (watched != NULL) {
            drop_socket(watched);
        }
        return 0;
    }
    if (watched == NULL) {
        watched = calloc(1, sizeof *watched);
        if (watched == NULL) {
            return 0; /* the fetch ends with its time */
        }
        watched->fetcher = fetcher;
        watched->next = fetcher->sockets;
        if (watched->next != NULL) {
            watched->next->prev = watched;
        }
        fetcher->sockets = watched;
        (void)fetcher->curl->multi_assign(fetcher->multi, fd, watched);
    }
    ev_io_stop(fetcher->loop, &watched->watcher);
    ev_io_init(&watched->watcher, on_ready, fd,
               ((what & CURL_POLL_IN) != 0 ? EV_READ : 0) |
                   ((what & CURL_POLL_OUT) != 0 ? EV_WRITE : 0));
    watched->watcher.data = watched;
    ev_io_start(fetcher->loop, &watched->watcher);
    return 0;
}

/* ---- the fetcher ----------------------------------------------------------------------------- */

hub_fetcher *hub_fetcher_create(struct ev_loop *loop)
{
    hub_fetcher *fetcher = calloc(1, sizeof *fetcher);
    if (fetcher != NULL) {
        fetcher->loop = loop;
        ev_timer_init(&fetcher->timer, on_time, 0., 0.);
        fetcher->timer.data = fetcher;
    }
    return fetcher;
}

void hub_fetcher_destroy(hub_fetcher *fetcher)
{
    if (fetcher == NULL) {
        return;
    }
    while (fetcher->fetches != NULL) {
        forget(fetcher->fetches);
    }
    if (fetcher->multi != NULL) {
        (void)fetcher->curl->multi_cleanup(fetcher->multi);
    }
    while (fetcher->sockets != NULL) {
        drop_socket(fetcher->sockets);
    }
    ev_timer_stop(fetcher->loop, &fetcher->timer);
    free(fetcher);
}

static hub_err set_up(hub_fetcher *fetcher, hub_error *reterr)
{
    const hub_curl_library *curl;
    hub_err err = hub_curl_library_load(&curl, reterr);
    if (err != HUB_OK || fetcher->multi != NULL) {
        return err;
    }
    fetcher->curl = curl;
    fetcher->multi = curl->multi_init();
    if (fetcher->multi == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    (void)curl->multi_setopt(fetcher->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    (void)curl->multi_setopt(fetcher->multi, CURLMOPT_SOCKETDATA, fetcher);
    (void)curl->multi_setopt(fetcher->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    (void)curl->multi_setopt(fetcher->multi, CURLMOPT_TIMERDATA, fetcher);
    return HUB_OK;
}

void hub_fetcher_prepare(hub_fetcher *fetcher)
{
    (void)set_up(fetcher, NULL); /* the next fetch tries again, and tells */
}

static void set_options(hub_fetch *fetch, const hub_fetch_request *request)
{
    const hub_curl_library *curl = fetch->fetcher->curl;
    CURL *easy = fetch->easy;
    (void)curl->easy_setopt(easy, CURLOPT_URL, request->url);
    (void)curl->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https,http");
    (void)curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl->easy_setopt(
        easy, CURLOPT_TIMEOUT_MS,
        (long)(request->timeout_ms > 0 ? request->timeout_ms : HUB_LIMIT_FETCH_MS));
    (void)curl->easy_setopt(easy, CURLOPT_PRIVATE, fetch);
    (void)curl->easy_setopt(easy, CURLOPT_ERRORBUFFER, fetch->error);
    (void)curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    (void)curl->easy_setopt(easy, CURLOPT_WRITEDATA, fetch);
    (void)curl->easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    (void)curl->easy_setopt(easy, CURLOPT_HEADERDATA, fetch);
    (void)curl->easy_setopt(easy, CURLOPT_HTTPHEADER, fetch->headers);
    if (request->only_public) {
        (void)curl->easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_public);
        (void)curl->easy_setopt(easy, CURLOPT_OPENSOCKETDATA, fetch);
        (void)curl->easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L); /* others may go anywhere, … */
        (void)curl->easy_setopt(easy, CURLOPT_NOPROXY, "*");      /* … and so may a proxy */
    }
    if (request->ca != NULL) {
        (void)curl->easy_setopt(easy, CURLOPT_CAINFO, request->ca);
        (void)curl->easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
    hub_str body = request->is_json_lent ? request->json : hub_buf_str(&fetch->text);
    if (body.len > 0) {
        (void)curl->easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)body.len);
        (void)curl->easy_setopt(easy, CURLOPT_POSTFIELDS, body.ptr);
    }
}

/* Encoded, as a form would have it: RFC 6749, 2.3.1. */
static bool add_credential(hub_fetch *fetch, CURLoption option, const char *text)
{
    hub_buf encoded;
    hub_buf_init_secret(&encoded, SIZE_MAX / 4);
    hub_percent_encode(hub_str_of(text), &encoded);
    hub_buf_add_char(&encoded, '\0');
    bool is_added = hub_buf_ok(&encoded) &&
                    fetch->fetcher->curl->easy_setopt(fetch->easy, option, encoded.ptr) == CURLE_OK;
    hub_buf_fini(&encoded);
    return is_added;
}

static bool add_client(hub_fetch *fetch, const hub_fetch_request *request)
{
    if (request->user == NULL) {
        return true;
    }
    (void)fetch->fetcher->curl->easy_setopt(fetch->easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
    return add_credential(fetch, CURLOPT_USERNAME, request->user) &&
           add_credential(fetch, CURLOPT_PASSWORD,
                          request->password != NULL ? request->password : "");
}

static bool add_header(hub_fetch *fetch, const char *line)
{
    struct curl_slist *longer = fetch->fetcher->curl->slist_append(fetch->headers, line);
    fetch->headers = longer != NULL ? longer : fetch->headers;
    return longer != NULL;
}

static bool add_headers(hub_fetch *fetch, const hub_fetch_request *request)
{
    bool is_added =
        add_header(fetch, request->accept != NULL ? request->accept : "Accept: application/json") &&
        (request->json.len == 0 || add_header(fetch, "Content-Type: application/json"));
    hub_str left = request->headers;
    while (is_added && left.len > 0) {
        const char *end = memchr(left.ptr, '\n', left.len);
        hub_str line = end != NULL ? hub_str_between(left.ptr, end) : left;
        char *text = hub_str_dup(line);
        is_added = text != NULL && add_header(fetch, text);
        if (text != NULL) {
            explicit_bzero(text, line.len);
        }
        free(text);
        left = hub_str_from(left, end != NULL ? line.len + 1 : line.len);
    }
    return is_added;
}

hub_err hub_fetch_start(hub_fetcher *fetcher, const hub_fetch_request *request,
                        hub_fetch_on_end *on_end, void *ctx, hub_fetch **ret_fetch,
                        hub_error *reterr)
{
    if (!request->is_plain_ok && !hub_fetch_may(request->url)) {
        return hub_fail(reterr, HUB_EDENIED, "%.200s is not https", request->url);
    }
    hub_err err = set_up(fetcher, reterr);
    if (err != HUB_OK) {
        return err;
    }
    hub_fetch *fetch = calloc(1, sizeof *fetch);
    if (fetch == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    fetch->fetcher = fetcher;
    fetch->on_end = on_end;
    fetch->ctx = ctx;
    hub_buf_init_secret(&fetch->body, HUB_LIMIT_JWKS_BYTES);
    hub_buf_init(&fetch->challenge, HUB_LIMIT_CHALLENGE_BYTES);
    hub_str text = request->json.len > 0 ? request->json : request->form;
    hub_buf_init_secret(&fetch->text, text.len);
    hub_buf_add(&fetch->text, request->is_json_lent ? HUB_STR("") : text);
    fetch->next = fetcher->fetches;
    if (fetch->next != NULL) {
        fetch->next->prev = fetch;
    }
    fetcher->fetches = fetch;
    fetch->easy = fetcher->curl->easy_init();
    if (fetch->easy == NULL || !add_headers(fetch, request) || !add_client(fetch, request) ||
        !hub_buf_ok(&fetch->text)) {
        forget(fetch);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    set_options(fetch, request);
    if (fetcher->curl->multi_add_handle(fetcher->multi, fetch->easy) != CURLM_OK) {
        forget(fetch);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    *ret_fetch = fetch;
    return HUB_OK;
}

void hub_fetch_cancel(hub_fetch *fetch)
{
    if (fetch != NULL) {
        forget(fetch);
    }
}
