/* SPDX-License-Identifier: Apache-2.0 */
#include "web/oauth/oauth.h"

#ifdef PATCHBAY_HTTP

#include "base/buf.h"
#include "hub/login/logins.h"
#include "login/document.h"
#include "login/loopback.h"

enum { PAGE_BYTES = 4096 };

static void serve(void *instance, const hub_web_request *request, hub_web_exchange *exchange)
{
    static const hub_web_header HEADERS[] = {
        {{.ptr = "Cache-Control", .len = 13}, {.ptr = "no-store", .len = 8}},
        {{.ptr = "Referrer-Policy", .len = 15}, {.ptr = "no-referrer", .len = 11}},
        {{.ptr = "Content-Security-Policy", .len = 23}, {.ptr = "default-src 'none'", .len = 18}},
    };
    hub_logins *logins = hub_logins_of(instance);
    const char *page = "No login waits for this. It may have taken too long.";
    bool is_known = logins != NULL && hub_logins_take_answer(logins, request->query, &page);
    hub_buf body;
    hub_buf_init(&body, PAGE_BYTES);
    hub_loopback_add_page(&body, hub_str_of(page));
    hub_str text = hub_buf_str(&body);
    (void)hub_web_answer_with(exchange, /* the login does not depend on it */
                              &(hub_web_answer){.status = is_known ? 200 : 404,
                                                .type = "text/html; charset=utf-8",
                                                .headers = HEADERS,
                                                .header_count = sizeof HEADERS / sizeof HEADERS[0],
                                                .parts = &text,
                                                .count = hub_buf_ok(&body)});
    hub_buf_fini(&body);
}

/* The hub as a client, for authorization servers that take the address of such a document for one. The
 * address is the one that it was asked at: the transport has checked that the host is this listener's. */
static void serve_client(void *instance, const hub_web_request *request, hub_web_exchange *exchange)
{
    (void)instance;
    static const hub_web_header FRESH = {{.ptr = "Cache-Control", .len = 13},
                                         {.ptr = "max-age=3600", .len = 12}};
    hub_buf origin;
    hub_buf body;
    hub_buf_init(&origin, PAGE_BYTES);
    hub_buf_init(&body, 4 * PAGE_BYTES);
    hub_buf_add(&origin, request->is_secure ? HUB_STR("https://") : HUB_STR("http://"));
    hub_buf_add(&origin, request->host);
    hub_login_add_client_document(hub_buf_str(&origin), &body);
    hub_str text = hub_buf_str(&body);
    bool is_good = hub_buf_ok(&origin) && hub_buf_ok(&body);
    (void)hub_web_answer_with(/* whoever asks will ask again */
                              exchange, &(hub_web_answer){.status = is_good ? 200 : 503,
                                                          .type = "application/json",
                                                          .headers = &FRESH,
                                                          .header_count = 1,
                                                          .parts = &text,
                                                          .count = is_good});
    hub_buf_fini(&origin);
    hub_buf_fini(&body);
}

static const hub_web_row ROWS[] = {
    {.method = "GET", .path = HUB_LOGIN_CALLBACK_PATH, .need = HUB_WEB_OPEN, .handle = serve},
    {.method = "GET",
     .path = HUB_LOGIN_DOCUMENT_PATH,
     .need = HUB_WEB_OPEN,
     .handle = serve_client},
};

const hub_web_face HUB_WEB_OAUTH = {
    .name = "oauth", .rows = ROWS, .count = sizeof ROWS / sizeof ROWS[0]};

#endif
