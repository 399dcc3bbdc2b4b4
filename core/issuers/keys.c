/* SPDX-License-Identifier: Apache-2.0 */
/* Where an issuer's keys are, and what they are now. */
#include "issuers/internal.h"

#include "base/log.h"
#include "wire/json.h"

#include <string.h>
#include <time.h>

/* Whose documents say where its keys are: RFC 8414 section 3, OpenID Connect Discovery section 4, as
 * MCP has them in turn (basic/authorization, Authorization Server Metadata Discovery). */
static const struct {
    const char *well_known;
    bool is_behind; /* the issuer's path, rather than in front of it */
} PLACES[] = {
    {"/.well-known/oauth-authorization-server", false},
    {"/.well-known/openid-configuration", false},
    {"/.well-known/openid-configuration", true},
};

enum { PLACE_COUNT = sizeof PLACES / sizeof PLACES[0] };

static void fetch_next(issuer_state *issuer);

/* ---- keys ------------------------------------------------------------------------------------ */

static hub_err take_keys(issuer_state *issuer, hub_str text, hub_error *reterr)
{
    hub_jwks *keys = NULL;
    if (issuer->keys != NULL && hub_str_eq(text, hub_buf_str(&issuer->text))) {
        return HUB_OK;
    }
    hub_err err = hub_jwks_parse(text, &keys, reterr);
    if (err != HUB_OK) {
        return err;
    }
    hub_jwks_destroy(issuer->keys);
    issuer->keys = keys;
    hub_buf_clear(&issuer->text);
    hub_buf_add(&issuer->text, text); /* without memory the next are taken for others */
    issuers_forget_of(issuer, false);
    return HUB_OK;
}

hub_err issuer_read_own_keys(issuer_state *issuer)
{
    hub_error why = {.code = HUB_OK};
    if (issuer->settings->keys.len == 0) {
        return HUB_OK;
    }
    issuer->fresh_until_s = INT64_MAX;
    return take_keys(issuer, issuer->settings->keys, &why);
}

void issuer_finish(issuer_state *issuer)
{
    hub_fetch_cancel(issuer->fetch);
    issuer->fetch = NULL;
    hub_jwks_destroy(issuer->keys);
    hub_buf_fini(&issuer->text);
    hub_buf_fini(&issuer->keys_url);
}

/* ---- the way to them ------------------------------------------------------------------------- */

/* Those who wait are judged by the keys that there are: they may be none. */
static void finish(issuer_state *issuer)
{
    issuers_requeue(issuer);
}

void issuer_complain(issuer_state *issuer, const char *what, const char *why)
{
    int64_t now = time(NULL);
    if (issuer->said_s != 0 && now >= issuer->said_s &&
        now < issuer->said_s + HUB_LIMIT_KEYS_RETRY_S) {
        return;
    }
    issuer->said_s = now;
    hub_log(HUB_LOG_WARNING, "issuer.unreachable",
            HUB_F_TEXT("issuer", issuer->settings->jwt.issuer), HUB_F_TEXT("what", what),
            HUB_F_TEXT("reason", why),
            HUB_F_TEXT("advice", issuer->keys != NULL
                                     ? "the keys of before are used"
                                     : "its tokens cannot be verified until it answers"));
}

static void give_up(issuer_state *issuer, const char *what, const char *why)
{
    issuer_complain(issuer, what, why);
    finish(issuer);
}

static void on_keys(void *ctx, const hub_fetched *fetched)
{
    issuer_state *issuer = ctx;
    hub_error why = {.code = HUB_OK};
    issuer->fetch = NULL;
    if (!fetched->is_there) {
        hub_buf_clear(&issuer->keys_url); /* it may have moved */
        give_up(issuer, "keys", fetched->why);
    } else if (take_keys(issuer, fetched->body, &why) != HUB_OK) {
        give_up(issuer, "keys", why.text);
    } else {
        uint32_t age = fetched->max_age_s > 0 ? fetched->max_age_s : HUB_LIMIT_KEYS_USUAL_S;
        age = age < HUB_LIMIT_KEYS_LEAST_S  ? HUB_LIMIT_KEYS_LEAST_S
              : age > HUB_LIMIT_KEYS_MOST_S ? HUB_LIMIT_KEYS_MOST_S
                                            : age;
        issuer->fresh_until_s = time(NULL) + age;
        finish(issuer);
    }
}

/* A string of a document, decoded. */
static bool read_text(hub_str document, const char *name, hub_buf *text)
{
    hub_buf_clear(text);
    hub_str raw = hub_json_get(document, hub_str_of(name));
    return raw.len > 0 && raw.ptr[0] == '"' && hub_json_decode(raw, text) == HUB_OK &&
           hub_buf_ok(text) && memchr(text->ptr, '\0', text->len) == NULL;
}

/* What the issuer says of itself. NULL, or what is wrong with it. */
static const char *read_metadata(issuer_state *issuer, hub_str body)
{
    const char *problem = NULL;
    hub_str text;
    hub_buf name;
    hub_buf_init(&name, HUB_LIMIT_JWKS_BYTES);
    if (hub_json_check(body, &text, NULL) != HUB_OK || text.ptr[0] != '{') {
        problem = "its metadata is not JSON";
    } else if (!read_text(text, "issuer", &name) ||
               !hub_str_is(hub_buf_str(&name), issuer->settings->jwt.issuer)) {
        problem = "its metadata is of another issuer";
    } else if (!read_text(text, "jwks_uri", &issuer->keys_url)) {
        problem = "its metadata has no jwks_uri";
    } else {
        hub_buf_add_char(&issuer->keys_url, '\0');
        if (!hub_buf_ok(&issuer->keys_url) || !hub_fetch_may(issuer->keys_url.ptr)) {
            problem = "its jwks_uri is not https";
        }
    }
    if (problem != NULL) {
        hub_buf_clear(&issuer->keys_url);
    }
    hub_buf_fini(&name);
    return problem;
}

static void on_metadata(void *ctx, const hub_fetched *fetched)
{
    issuer_state *issuer = ctx;
    issuer->fetch = NULL;
    const char *problem = fetched->is_there ? read_metadata(issuer, fetched->body) : fetched->why;
    if (problem == NULL) {
        fetch_next(issuer);
    } else if (++issuer->step < PLACE_COUNT) {
        fetch_next(issuer);
    } else {
        give_up(issuer, "metadata", problem);
    }
}

/* Where the issuer's own path ends or begins: behind "https://host". */
static size_t path_of(const char *issuer)
{
    const char *host = strstr(issuer, "://");
    const char *path = host != NULL ? strchr(host + 3, '/') : NULL;
    return path != NULL ? (size_t)(path - issuer) : strlen(issuer);
}

static void make_place(const issuer_state *issuer, hub_buf *url)
{
    const char *name = issuer->settings->jwt.issuer;
    size_t path = path_of(name);
    size_t len = strlen(name);
    len -= len > 0 && name[len - 1] == '/';
    hub_str front = {.ptr = name, .len = PLACES[issuer->step].is_behind ? len : path};
    hub_buf_add(url, front);
    hub_buf_add(url, hub_str_of(PLACES[issuer->step].well_known));
    if (!PLACES[issuer->step].is_behind && len > path) {
        hub_buf_add(url, (hub_str){.ptr = name + path, .len = len - path});
    }
    hub_buf_add_char(url, '\0');
}

static void fetch_next(issuer_state *issuer)
{
    const char *known = issuer->settings->keys_url;
    hub_error why = {.code = HUB_OK};
    hub_buf place;
    hub_buf_init(&place, HUB_LIMIT_JWKS_BYTES);
    hub_fetch_request request = {.ca = issuer->settings->ca,
                                 .only_public = issuer->settings->only_public};
    bool is_keys = known != NULL || issuer->keys_url.len > 0;
    if (is_keys) {
        request.url = known != NULL ? known : issuer->keys_url.ptr;
    } else {
        make_place(issuer, &place);
        request.url = place.ptr;
    }
    hub_err err = hub_buf_ok(&place) ? hub_fetch_start(issuer->owner->fetcher, &request,
                                                       is_keys ? on_keys : on_metadata, issuer,
                                                       &issuer->fetch, &why)
                                     : HUB_ENOMEM;
    hub_buf_fini(&place);
    if (err != HUB_OK) {
        give_up(issuer, is_keys ? "keys" : "metadata", err == HUB_ENOMEM ? "no memory" : why.text);
    }
}

bool issuer_may_fetch(const issuer_state *issuer, int64_t now)
{
    int64_t pause = issuer->keys != NULL ? HUB_LIMIT_KEYS_PAUSE_S : HUB_LIMIT_KEYS_RETRY_S;
    int64_t last = issuer->keys != NULL ? issuer->looked_s : issuer->tried_s;
    return issuer->settings->keys.len == 0 && issuer->fetch == NULL &&
           (last == 0 || now >= last + pause || now < last);
}

bool issuer_fetch_keys(issuer_state *issuer, int64_t now)
{
    *(issuer->keys != NULL ? &issuer->looked_s : &issuer->tried_s) = now;
    issuer->step = 0;
    fetch_next(issuer);
    return issuer->fetch != NULL;
}
