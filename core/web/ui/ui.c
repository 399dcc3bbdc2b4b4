/* SPDX-License-Identifier: Apache-2.0 */
#include "web/ui/ui.h"

#include "base/digest.h"
#include "base/limits.h"
#include "hub/kernel/settings.h"
#include "web/api/api.h"
#include "web/api/sessions.h"
#include "web/ui/files.h"
#include "wire/json.h"

#include <stdio.h>

static bool is_served(const hub_listen_settings *listen)
{
    return listen->ui;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* No script but the dashboard's own, nothing from elsewhere, in nobody's frame, and no text that
 * becomes markup. */
#define POLICY                                                                                     \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src "        \
    "'self'; "                                                                                     \
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "                                \
    "require-trusted-types-for 'script'; trusted-types 'none'"

typedef struct etag {
    char text[2 * HUB_DIGEST_BYTES + 3];
} etag;

static hub_str make_etag(const hub_web_file *file, etag *ret_etag)
{
    unsigned char digest[HUB_DIGEST_BYTES];
    char hex[2 * HUB_DIGEST_BYTES + 1];
    hub_digest_of(hub_web_file_text(file), digest);
    hub_digest_hex(digest, hex);
    (void)snprintf(ret_etag->text, sizeof ret_etag->text, "\"%s\"", hex); /* has room */
    return hub_str_of(ret_etag->text);
}

static void answer_file(const hub_web_request *request, hub_web_exchange *exchange,
                        const hub_web_file *file)
{
    etag memory;
    hub_str tag = make_etag(file, &memory);
    hub_str text = hub_web_file_text(file);
    hub_str known;
    bool is_same = hub_web_find_header(request, HUB_STR("If-None-Match"), &known) &&
                   hub_str_find(known, tag) != SIZE_MAX;
    const hub_web_header headers[] = {
        {HUB_STR("ETag"), tag},
        {HUB_STR("Cache-Control"), HUB_STR("no-cache")},
        {HUB_STR("Content-Security-Policy"), HUB_STR(POLICY)},
        {HUB_STR("X-Content-Type-Options"), HUB_STR("nosniff")},
        {HUB_STR("Referrer-Policy"), HUB_STR("no-referrer")},
        {HUB_STR("Cross-Origin-Opener-Policy"), HUB_STR("same-origin")},
        {HUB_STR("X-Frame-Options"), HUB_STR("DENY")},
    };
    (void)hub_web_answer_with(/* a browser asks again */
                              exchange,
                              &(hub_web_answer){.status = is_same ? 304 : 200,
                                                .type = is_same ? NULL : file->type,
                                                .headers = headers,
                                                .header_count = sizeof headers / sizeof headers[0],
                                                .parts = &text,
                                                .count = is_same ? 0 : 1});
}

static void answer_error(hub_web_exchange *exchange, int status, const char *message)
{
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_add(&out, HUB_STR("{\"error\":{\"message\":"));
    hub_json_add_string(&out, hub_str_of(message));
    hub_buf_add(&out, HUB_STR("}}"));
    hub_str text = hub_buf_str(&out);
    (void)hub_web_answer_with(exchange, &(hub_web_answer){.status = status,
                                                          .type = "application/json",
                                                          .parts = &text,
                                                          .count = hub_buf_ok(&out) ? 1 : 0});
    hub_buf_fini(&out);
}

static void serve_file(void *instance, const hub_web_request *request, hub_web_exchange *exchange)
{
    (void)instance;
    const hub_web_file *file = hub_web_file_find(
        request->rest.len > 0 && hub_str_starts(request->path, HUB_STR("/ui/")) ? request->rest
                                                                                : HUB_STR(""));
    if (file != NULL) {
        answer_file(request, exchange, file);
    } else {
        answer_error(exchange, 404, "the dashboard has no such file");
    }
}

/* ---- logging in ------------------------------------------------------------------------------ */

static void serve_login(void *instance, const hub_web_request *request, hub_web_exchange *exchange)
{
    char secret[HUB_API_SECRET_BYTES];
    hub_str type;
    hub_str code;
    hub_err err = HUB_EINVAL;
    if (!hub_web_find_header(request, HUB_STR("Content-Type"), &type) ||
        !hub_str_eq_nocase(type, HUB_STR("application/json"))) {
        answer_error(exchange, 415, "the Content-Type must be application/json");
        return;
    }
    if (hub_json_check(request->body, NULL, NULL) == HUB_OK &&
        hub_json_plain(hub_json_get(request->body, HUB_STR("code")), &code)) {
        err = hub_api_sessions_open(hub_api_sessions_of(instance), code, secret);
    }
    if (err != HUB_OK) {
        answer_error(exchange, err == HUB_ESYSTEM ? 503 : 403,
                     "this link has been used, or is older than a minute: run `patchbay ui` again");
        return;
    }
    char text[HUB_API_SECRET_BYTES + 32];
    int len = snprintf(text, sizeof text, "{\"token\":\"%s\"}", secret); /* has room */
    const hub_str part = {.ptr = text, .len = (size_t)len};
    const hub_web_header never = {HUB_STR("Cache-Control"), HUB_STR("no-store")};
    (void)hub_web_answer_with(exchange, &(hub_web_answer){.status = 200,
                                                          .type = "application/json",
                                                          .headers = &never,
                                                          .header_count = 1,
                                                          .parts = &part,
                                                          .count = 1});
}

static const hub_web_row ROWS[] = {
    {.method = "GET", .path = "/ui", .need = HUB_WEB_OPEN, .handle = serve_file},
    {.method = "GET", .path = "/ui/*", .need = HUB_WEB_OPEN, .handle = serve_file},
    {.method = "POST",
     .path = "/ui/login",
     .need = HUB_WEB_OPEN,
     .max_body_bytes = 1024,
     .handle = serve_login},
};

const hub_web_face HUB_WEB_UI = {.name = "ui",
                                 .rows = ROWS,
                                 .count = sizeof ROWS / sizeof ROWS[0],
                                 .is_served = is_served,
                                 .refuses_neighbours = true};
