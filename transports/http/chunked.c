/* SPDX-License-Identifier: Apache-2.0 */
#include "http/chunked.h"

typedef enum state {
    SIZE,          /* before or in the digits */
    SIZE_BLANK,    /* white space before an extension: bad, but a recipient must take it */
    EXTENSION,     /* behind ";" */
    SIZE_LF,       /* behind the CR of the size line */
    DATA,          /* in a chunk */
    DATA_CR,       /* behind it */
    DATA_LF,       /* behind its CR */
    TRAILER_BEGIN, /* at the start of a trailer line, or of the last line */
    TRAILER_NAME,
    TRAILER_VALUE,
    TRAILER_LF, /* behind the CR of a trailer */
    LAST_LF,    /* behind the CR of the last line */
    ENDED,
    BROKEN,
} state;

static int refuse(hub_http_chunked *chunked, int status, const char *reason)
{
    chunked->status = status;
    chunked->reason = reason;
    return BROKEN;
}

/* Every line of the framing ends with CRLF: a bare LF here is how bodies are smuggled past servers
 * that stop at one, above all inside extensions. */
static int expect_lf(hub_http_chunked *chunked, char c, state next)
{
    return c == '\n' ? (int)next
                     : refuse(chunked, 400, "A line of a chunk does not end with CRLF.");
}

static int read_size(hub_http_chunked *chunked, char c)
{
    int digit = hub_str_hex_digit(c);
    if (digit >= 0 && chunked->digits < HUB_HTTP_LIMIT_CHUNK_SIZE_DIGITS) {
        chunked->digits++;
        chunked->left = chunked->left << 4 | (uint64_t)digit;
        return SIZE;
    }
    if (digit < 0 && chunked->digits > 0) {
        if (c == '\r') {
            return SIZE_LF;
        }
        if (c == ';' || hub_http_is_blank(c)) {
            return c == ';' ? EXTENSION : SIZE_BLANK;
        }
    }
    return refuse(chunked, 400, "The size of a chunk is not a hexadecimal number of 64 bits.");
}

static int read_extension(hub_http_chunked *chunked, char c)
{
    if (c == '\r' && chunked->state == EXTENSION) {
        return SIZE_LF;
    }
    chunked->extension_bytes++;
    chunked->extension_sum++;
    if (chunked->extension_bytes > HUB_HTTP_LIMIT_CHUNK_EXTENSION_BYTES ||
        chunked->extension_sum > HUB_HTTP_LIMIT_CHUNK_EXTENSION_SUM_BYTES) {
        return refuse(chunked, 400, "The extensions of the chunks are too long.");
    }
    if (chunked->state == SIZE_BLANK && c == ';') {
        return EXTENSION;
    }
    if (chunked->state == SIZE_BLANK ? !hub_http_is_blank(c) : !hub_http_is_text(c)) {
        return refuse(chunked, 400, "The extension of a chunk is not well-formed.");
    }
    return chunked->state;
}

static int begin_data(hub_http_chunked *chunked, char c)
{
    if (c != '\n') {
        return expect_lf(chunked, c, DATA);
    }
    if (chunked->left > chunked->max_body_bytes - chunked->body_bytes) {
        return refuse(chunked, 413, "The body is larger than this server accepts.");
    }
    chunked->body_bytes += (size_t)chunked->left;
    chunked->digits = 0;
    chunked->extension_bytes = 0;
    return chunked->left > 0 ? DATA : TRAILER_BEGIN;
}

/* A trailer must look like a header. A line that does not is rather the next request, of a client
 * that forgot the empty line. */
static int read_trailer(hub_http_chunked *chunked, char c)
{
    bool begins = chunked->state == TRAILER_BEGIN;
    if (begins && c == '\r') {
        return LAST_LF;
    }
    if (++chunked->trailer_bytes > HUB_HTTP_LIMIT_TRAILER_BYTES) {
        return refuse(chunked, 431, "The trailers are larger than 4096 bytes.");
    }
    if (chunked->state == TRAILER_VALUE && (c == '\r' || hub_http_is_text(c))) {
        return c == '\r' ? TRAILER_LF : TRAILER_VALUE;
    }
    if (chunked->state == TRAILER_NAME && c == ':') {
        return TRAILER_VALUE;
    }
    if (chunked->state != TRAILER_VALUE && hub_http_is_tchar(c)) {
        return TRAILER_NAME;
    }
    return refuse(chunked, 400, "A trailer is not well-formed.");
}

/* What follows one byte of the framing. */
static int read_byte(hub_http_chunked *chunked, char c)
{
    switch ((state)chunked->state) {
    case SIZE:
        return read_size(chunked, c);
    case SIZE_BLANK:
    case EXTENSION:
        return read_extension(chunked, c);
    case SIZE_LF:
        return begin_data(chunked, c);
    case DATA_CR:
        return c == '\r' ? DATA_LF : refuse(chunked, 400, "A chunk is longer than its size.");
    case DATA_LF:
        return expect_lf(chunked, c, SIZE);
    case TRAILER_BEGIN:
    case TRAILER_NAME:
    case TRAILER_VALUE:
        return read_trailer(chunked, c);
    case TRAILER_LF:
        return expect_lf(chunked, c, TRAILER_BEGIN);
    case LAST_LF:
        return expect_lf(chunked, c, ENDED);
    case DATA:
    case ENDED:
    case BROKEN:
        break;
    }
    return chunked->state;
}

/* Append what is there of the chunk; how much it was. */
static size_t read_data(hub_http_chunked *chunked, hub_str bytes, hub_buf *body)
{
    if (bytes.len > chunked->left) {
        bytes.len = (size_t)chunked->left;
    }
    hub_buf_add(body, bytes);
    chunked->left -= bytes.len;
    chunked->state = chunked->left > 0 ? DATA : DATA_CR;
    if (body->failed != HUB_OK) {
        chunked->state = body->failed == HUB_ELIMIT
                             ? refuse(chunked, 413, "The body is larger than this server accepts.")
                             : refuse(chunked, 503, "There is no memory for the body.");
    }
    return bytes.len;
}

void hub_http_chunked_init(hub_http_chunked *chunked, size_t max_body_bytes)
{
    *chunked = (hub_http_chunked){.max_body_bytes = max_body_bytes, .state = SIZE};
}

hub_http_progress hub_http_chunked_next(hub_http_chunked *chunked, hub_str bytes, hub_buf *body,
                                        size_t *ret_used)
{
    size_t at = 0;
    while (at < bytes.len && chunked->state != ENDED && chunked->state != BROKEN) {
        if (chunked->state == DATA) {
            at += read_data(chunked, hub_str_from(bytes, at), body);
        } else {
            chunked->state = read_byte(chunked, bytes.ptr[at]);
            at++;
        }
    }
    *ret_used = at;
    if (chunked->state == BROKEN) {
        return HUB_HTTP_REFUSED;
    }
    return chunked->state == ENDED ? HUB_HTTP_DONE : HUB_HTTP_MORE;
}
