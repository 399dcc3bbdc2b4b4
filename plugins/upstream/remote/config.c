/* SPDX-License-Identifier: Apache-2.0 */
#include "remote.h"

#include "../common/module.h"
#include "header_value.h"
#include "url.h"

#include <strings.h>

static int32_t fail(patchbay_error *reterr, const char *what, patchbay_str name)
{
    reterr->code = PATCHBAY_EINVAL;
    (void)snprintf(reterr->text, sizeof reterr->text, "%s%.*s", what, (int)name.len, name.ptr);
    return PATCHBAY_EINVAL;
}

/* The text of a member; NULL when it is not there. `result` says if it cannot be had. */
static char *dup_member(patchbay_str json, const char *key, int32_t *result)
{
    patchbay_str raw = patchbay_json_get(json, key);
    return raw.len > 0 ? upstream_dup_text(raw, result) : NULL;
}

static int32_t read_header(patchbay_out *lines, patchbay_str name, patchbay_str value,
                           patchbay_error *reterr)
{
    if (!header_is_token(name)) {
        return fail(reterr, "not the name of a header: ", name);
    }
    if (header_is_own(name)) {
        return fail(reterr, "the hub itself sets the header ", name);
    }
    if (value.len > 0 &&
        (memchr(value.ptr, '\n', value.len) != NULL || memchr(value.ptr, '\r', value.len) != NULL ||
         memchr(value.ptr, '\0', value.len) != NULL)) {
        return fail(reterr, "a header cannot hold a line break: ", name);
    }
    patchbay_out_raw(lines, name);
    patchbay_out_text(lines, value.len > 0 ? ": " : ";");
    patchbay_out_raw(lines, value);
    patchbay_out_text(lines, "\n");
    return PATCHBAY_OK;
}

static int32_t read_headers(patchbay_str object, char **ret_lines, patchbay_error *reterr)
{
    patchbay_out lines = {0};
    patchbay_json_iter it = patchbay_json_iterate(object);
    patchbay_str key;
    patchbay_str value;
    int32_t result = PATCHBAY_OK;
    patchbay_out_text(&lines, "");
    while (result == PATCHBAY_OK && patchbay_json_next(&it, &key, &value)) {
        patchbay_out name = {0};
        patchbay_out text = {0};
        (void)patchbay_json_decode(key, &name);
        (void)patchbay_json_decode(value, &text);
        result = name.failed || text.failed
                     ? PATCHBAY_ENOMEM
                     : read_header(&lines, patchbay_str_make(name.ptr, name.len),
                                   patchbay_str_make(text.ptr, text.len), reterr);
        patchbay_out_free(&name);
        patchbay_out_free(&text);
    }
    if (result == PATCHBAY_OK && lines.failed) {
        result = PATCHBAY_ENOMEM;
    }
    if (result != PATCHBAY_OK) {
        patchbay_out_free(&lines);
        return result;
    }
    *ret_lines = lines.ptr;
    return PATCHBAY_OK;
}

/* ws is http, and wss is https, to whoever connects.
 * returns: PATCHBAY_OK; PATCHBAY_EINVAL (the url is neither); PATCHBAY_ENOMEM */
static int32_t read_scheme(patchbay_str json, remote_config *config)
{
    int is_ws = config->url != NULL && (strncasecmp(config->url, "ws://", 5) == 0 ||
                                        strncasecmp(config->url, "wss://", 6) == 0);
    config->is_websocket =
        is_ws || patchbay_json_is(patchbay_json_get(json, "type"), patchbay_str_of("websocket"));
    if (is_ws) {
        patchbay_out url = {0};
        patchbay_out_printf(&url, "http%s", config->url + 2);
        free(config->url);
        config->url = url.ptr;
        if (url.failed) {
            return PATCHBAY_ENOMEM;
        }
    }
    return config->url != NULL ? url_check(config->url) : PATCHBAY_EINVAL;
}

/* What goes with HTTP only. */
static int32_t check_websocket(patchbay_str json, patchbay_error *reterr)
{
    static const char *const OWN[] = {"connection", "upgrade", "sec-websocket-"}; /* … and on */
    patchbay_str type = patchbay_json_get(json, "type");
    patchbay_json_iter it = patchbay_json_iterate(patchbay_json_get(json, "headers"));
    patchbay_str key;
    patchbay_str value;
    if (type.len > 0 && !patchbay_json_is(type, patchbay_str_of("websocket"))) {
        return fail(reterr, "type: an address of ws:// or wss:// has another type: ",
                    patchbay_str_of("websocket"));
    }
    if (patchbay_json_get(json, "forward_headers").len > 0) {
        return fail(reterr, "forward_headers: one WebSocket serves all clients: ",
                    patchbay_str_of("only http:// and https:// can forward their headers"));
    }
    while (patchbay_json_next(&it, &key, &value)) {
        for (size_t i = 0; i < sizeof OWN / sizeof OWN[0]; i++) {
            size_t len = strlen(OWN[i]);
            if (key.len > len && strncasecmp(key.ptr + 1, OWN[i], len) == 0) {
                return fail(reterr, "the hub itself sets the header ", key);
            }
        }
    }
    return PATCHBAY_OK;
}

/* Without the address, which may hold a password. */
static const char *why_no_address(const char *url)
{
    int begins_well = url != NULL &&
                      (strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0);
    return begins_well
               ? "url: this is not the address of a server: check its host, its port (1 to 65535), "
                 "and that no space is in it"
               : "url: wants an address that begins with http://, https://, ws://, wss:// or "
                 "unix://";
}

int32_t remote_config_read(patchbay_str json, remote_config *config, patchbay_error *reterr)
{
    int32_t result = PATCHBAY_OK;
    int64_t connect_ms = REMOTE_CONNECT_MS;
    (void)patchbay_json_int(patchbay_json_get(json, "connect_timeout_ms"), &connect_ms);
    config->connect_timeout_ms = (uint32_t)connect_ms;
    upstream_pace_read(json, 0, &config->pace); /* others' networks are not probed unasked */
    config->is_sse = patchbay_json_is(patchbay_json_get(json, "type"), patchbay_str_of("sse"));
    config->only_public =
        patchbay_json_is(patchbay_json_get(json, "addresses"), patchbay_str_of("public"));
    config->url = dup_member(json, "url", &result);
    config->ca = dup_member(json, "ca", &result);
    config->certificate = dup_member(json, "certificate", &result);
    config->key = dup_member(json, "key", &result);
    config->protocol = dup_member(json, "protocol", &result);
    if (result == PATCHBAY_OK) {
        result = read_scheme(json, config);
    }
    if (result == PATCHBAY_EINVAL) {
        return fail(reterr, why_no_address(config->url), patchbay_str_make("", 0));
    }
    if (result != PATCHBAY_OK) {
        return result;
    }
    if (config->is_websocket && (result = check_websocket(json, reterr)) != PATCHBAY_OK) {
        return result;
    }
    if (config->is_sse && config->protocol != NULL &&
        strcmp(config->protocol, UPSTREAM_MODERN_VERSION) == 0) {
        return fail(reterr, "type sse is older than protocol ", patchbay_str_of(config->protocol));
    }
    result = read_headers(patchbay_json_get(json, "headers"), &config->headers, reterr);
    return result != PATCHBAY_OK ? result
                                 : forward_read(patchbay_json_get(json, "forward_headers"),
                                                &config->forward_headers, reterr);
}

void remote_config_free(remote_config *config)
{
    free(config->url);
    free(config->headers);
    free(config->forward_headers);
    free(config->ca);
    free(config->certificate);
    free(config->key);
    free(config->protocol);
    memset(config, 0, sizeof *config);
}
