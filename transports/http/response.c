/* SPDX-License-Identifier: Apache-2.0 */
#include "http/response.h"

#include "base/framing.h"

#include <inttypes.h>
#include <stdio.h>

/* RFC 9110 section 15; what the hub uses. */
static const struct {
    int status;
    const char *phrase;
} PHRASES[] = {
    {200, "OK"},
    {202, "Accepted"},
    {204, "No Content"},
    {302, "Found"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {426, "Upgrade Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

static const char *find_phrase(int status)
{
    for (size_t i = 0; i < sizeof PHRASES / sizeof PHRASES[0]; i++) {
        if (PHRASES[i].status == status) {
            return PHRASES[i].phrase;
        }
    }
    return NULL;
}

static bool is_value(hub_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!hub_http_is_ascii_text(text.ptr[i])) {
            return false;
        }
    }
    return true;
}

/* Headers that say where the response ends are written from `framing` alone, so that there cannot
 * be two opinions. */
static bool is_framing(hub_str name)
{
    return hub_str_eq_nocase(name, HUB_STR("connection")) ||
           hub_str_eq_nocase(name, HUB_STR("content-length")) ||
           hub_str_eq_nocase(name, HUB_STR("transfer-encoding"));
}

/* After a failure, as if nothing had been written. */
static hub_err finish(hub_buf *out, size_t begin)
{
    if (!hub_buf_ok(out)) {
        out->len = begin;
    }
    return out->failed;
}

static hub_err check_response(const hub_http_response *response, hub_error *reterr)
{
    bool has_content = response->status != 204 && response->status != 304;
    if (find_phrase(response->status) == NULL) {
        return hub_fail(reterr, HUB_EINVAL, "status %d is not known", response->status);
    }
    if (has_content ? response->framing == HUB_HTTP_NO_BODY && !response->close
                    : response->framing != HUB_HTTP_NO_BODY) {
        return hub_fail(reterr, HUB_EINVAL, "nobody could tell where the response ends");
    }
    for (size_t i = 0; i < response->header_count; i++) {
        const hub_http_header *header = &response->headers[i];
        if (!hub_http_is_token(header->name) || is_framing(header->name)) {
            return hub_fail(reterr, HUB_EINVAL, "no header can have the name '" HUB_STR_FMT "'",
                            HUB_STR_ARG(header->name));
        }
        if (!is_value(header->value)) {
            return hub_fail(reterr, HUB_EINVAL,
                            "the value of header '" HUB_STR_FMT "' is not ASCII text",
                            HUB_STR_ARG(header->name));
        }
    }
    return HUB_OK;
}

hub_err hub_http_write_head(hub_buf *out, const hub_http_response *response, hub_error *reterr)
{
    size_t begin = out->len;
    hub_err err = check_response(response, reterr);
    if (err != HUB_OK) {
        return err;
    }
    hub_buf_printf(out, "HTTP/1.1 %d %s\r\n", response->status, find_phrase(response->status));
    for (size_t i = 0; i < response->header_count; i++) {
        hub_buf_add(out, response->headers[i].name);
        hub_buf_add(out, HUB_STR(": "));
        hub_buf_add(out, response->headers[i].value);
        hub_buf_add(out, HUB_STR("\r\n"));
    }
    if (response->framing == HUB_HTTP_LENGTH) {
        hub_buf_printf(out, "Content-Length: %" PRIu64 "\r\n", response->content_length);
    } else if (response->framing == HUB_HTTP_CHUNKED) {
        hub_buf_add(out, HUB_STR("Transfer-Encoding: chunked\r\n"));
    }
    if (response->close) {
        hub_buf_add(out, HUB_STR("Connection: close\r\n"));
    }
    hub_buf_add(out, HUB_STR("\r\n"));
    err = finish(out, begin);
    return err == HUB_OK ? HUB_OK : hub_fail(reterr, err, "%s", hub_err_text(err));
}

hub_err hub_http_write_quoted(hub_buf *out, hub_str text)
{
    size_t begin = out->len;
    if (!is_value(text)) {
        return HUB_EINVAL;
    }
    hub_buf_add_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"' || text.ptr[i] == '\\') {
            hub_buf_add_char(out, '\\');
        }
        hub_buf_add_char(out, text.ptr[i]);
    }
    hub_buf_add_char(out, '"');
    return finish(out, begin);
}

hub_str hub_http_chunk_line(size_t bytes, char text[HUB_HTTP_CHUNK_LINE_BYTES])
{
    int len = snprintf(text, HUB_HTTP_CHUNK_LINE_BYTES, "%zx\r\n", bytes);
    return (hub_str){.ptr = text, .len = (size_t)len};
}

hub_err hub_http_write_event(hub_buf *out, const hub_http_event *event)
{
    size_t begin = out->len;
    if (!is_value(event->id) || !is_value(event->name)) {
        return HUB_EINVAL;
    }
    if (event->name.len > 0) {
        hub_buf_add(out, HUB_STR("event: "));
        hub_buf_add(out, event->name);
        hub_buf_add_char(out, '\n');
    }
    if (event->id.len > 0) {
        hub_buf_add(out, HUB_STR("id: "));
        hub_buf_add(out, event->id);
        hub_buf_add_char(out, '\n');
    }
    if (event->retry_ms > 0) {
        hub_buf_printf(out, "retry: %" PRIu32 "\n", event->retry_ms);
    }
    hub_buf_add(out, HUB_STR("data: "));
    size_t data = out->len;
    for (size_t i = 0; i < event->count; i++) {
        hub_buf_add(out, event->parts[i]);
    }
    if (hub_buf_ok(out)) {
        hub_framing_clean(out->ptr + data, out->len - data);
    }
    hub_buf_add(out, HUB_STR("\n\n"));
    return finish(out, begin);
}
