/* SPDX-License-Identifier: Apache-2.0 */
#include "http/response.h"

#include "base/framing.h"

#include <inttypes.h>
#include <stdio.h>

/* RFC 9110 section 15; what the hub uses, the usual one first. */
static const struct {
    int status;
    hub_str line;
} STATUS_LINES[] = {
    {200, {.ptr = "HTTP/1.1 200 OK\r\n", .len = 17}},
    {202, {.ptr = "HTTP/1.1 202 Accepted\r\n", .len = 23}},
    {204, {.ptr = "HTTP/1.1 204 No Content\r\n", .len = 25}},
    {302, {.ptr = "HTTP/1.1 302 Found\r\n", .len = 20}},
    {304, {.ptr = "HTTP/1.1 304 Not Modified\r\n", .len = 27}},
    {400, {.ptr = "HTTP/1.1 400 Bad Request\r\n", .len = 26}},
    {401, {.ptr = "HTTP/1.1 401 Unauthorized\r\n", .len = 27}},
    {403, {.ptr = "HTTP/1.1 403 Forbidden\r\n", .len = 24}},
    {404, {.ptr = "HTTP/1.1 404 Not Found\r\n", .len = 24}},
    {405, {.ptr = "HTTP/1.1 405 Method Not Allowed\r\n", .len = 33}},
    {406, {.ptr = "HTTP/1.1 406 Not Acceptable\r\n", .len = 29}},
    {408, {.ptr = "HTTP/1.1 408 Request Timeout\r\n", .len = 30}},
    {409, {.ptr = "HTTP/1.1 409 Conflict\r\n", .len = 23}},
    {411, {.ptr = "HTTP/1.1 411 Length Required\r\n", .len = 30}},
    {413, {.ptr = "HTTP/1.1 413 Content Too Large\r\n", .len = 32}},
    {414, {.ptr = "HTTP/1.1 414 URI Too Long\r\n", .len = 27}},
    {415, {.ptr = "HTTP/1.1 415 Unsupported Media Type\r\n", .len = 37}},
    {417, {.ptr = "HTTP/1.1 417 Expectation Failed\r\n", .len = 33}},
    {426, {.ptr = "HTTP/1.1 426 Upgrade Required\r\n", .len = 31}},
    {429, {.ptr = "HTTP/1.1 429 Too Many Requests\r\n", .len = 32}},
    {431, {.ptr = "HTTP/1.1 431 Request Header Fields Too Large\r\n", .len = 46}},
    {500, {.ptr = "HTTP/1.1 500 Internal Server Error\r\n", .len = 36}},
    {501, {.ptr = "HTTP/1.1 501 Not Implemented\r\n", .len = 30}},
    {502, {.ptr = "HTTP/1.1 502 Bad Gateway\r\n", .len = 26}},
    {503, {.ptr = "HTTP/1.1 503 Service Unavailable\r\n", .len = 34}},
    {504, {.ptr = "HTTP/1.1 504 Gateway Timeout\r\n", .len = 30}},
    {505, {.ptr = "HTTP/1.1 505 HTTP Version Not Supported\r\n", .len = 41}},
};

/* The status line with its CRLF, or the empty span. */
static hub_str find_line(int status)
{
    for (size_t i = 0; i < sizeof STATUS_LINES / sizeof STATUS_LINES[0]; i++) {
        if (STATUS_LINES[i].status == status) {
            return STATUS_LINES[i].line;
        }
    }
    return HUB_STR_EMPTY;
}

static bool is_value(hub_str text)
{
    for (;;) {
        text = hub_str_from(text, hub_http_plain_length(text));
        if (text.len == 0) {
            return true;
        }
        if (text.ptr[0] != '\t') {
            return false;
        }
        text = hub_str_from(text, 1);
    }
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
    if (find_line(response->status).len == 0) {
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

/* "NAME: VALUE" and the end of the line. */
static void add_header(hub_buf *out, hub_str name, hub_str value)
{
    size_t len = name.len + value.len + 4;
    char *at = hub_buf_reserve(out, len);
    if (at == NULL) {
        return;
    }
    memcpy(at, name.ptr, name.len);
    memcpy(at + name.len, ": ", 2);
    if (value.len > 0) {
        memcpy(at + name.len + 2, value.ptr, value.len);
    }
    memcpy(at + len - 2, "\r\n", 2);
    out->len += len;
}

hub_err hub_http_write_head(hub_buf *out, const hub_http_response *response, hub_error *reterr)
{
    size_t begin = out->len;
    hub_err err = check_response(response, reterr);
    if (err != HUB_OK) {
        return err;
    }
    hub_buf_add(out, find_line(response->status));
    for (size_t i = 0; i < response->header_count; i++) {
        add_header(out, response->headers[i].name, response->headers[i].value);
    }
    if (response->framing == HUB_HTTP_LENGTH) {
        hub_buf_add(out, HUB_STR("Content-Length: "));
        hub_buf_add_u64(out, response->content_length);
        hub_buf_add(out, HUB_STR("\r\n"));
    } else if (response->framing == HUB_HTTP_CHUNKED) {
        hub_buf_add(out, HUB_STR("Transfer-Encoding: chunked\r\n"));
    }
    hub_buf_add(out, response->close ? HUB_STR("Connection: close\r\n\r\n") : HUB_STR("\r\n"));
    err = finish(out, begin);
    return err == HUB_OK ? HUB_OK : hub_fail(reterr, err, "%s", hub_err_text(err));
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
