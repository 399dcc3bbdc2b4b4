/* SPDX-License-Identifier: Apache-2.0 */
#include "sse_reader.h"

static const unsigned char BYTE_ORDER_MARK[] = {0xef, 0xbb, 0xbf};

/* Server-chosen times beyond this are nonsense. */
#define SSE_RETRY_MAX_DIGITS 9

/* What a line that is being read may be longer than its value: "event: ". */
#define SSE_FIELD_BYTES 16

void sse_reader_init(sse_reader *reader, size_t max_event_bytes,
                     void (*on_event)(void *ctx, const sse_event *event), void *ctx)
{
    memset(reader, 0, sizeof *reader);
    reader->max_event_bytes = max_event_bytes;
    reader->retry_ms = -1;
    reader->on_event = on_event;
    reader->ctx = ctx;
}

void sse_reader_free(sse_reader *reader)
{
    patchbay_out_free(&reader->line);
    patchbay_out_free(&reader->data);
    patchbay_out_free(&reader->type);
    patchbay_out_free(&reader->id);
}

void sse_reader_close(sse_reader *reader)
{
    reader->is_closed = 1;
}

static patchbay_str span_of(const patchbay_out *out)
{
    return patchbay_str_make(out->ptr, out->len);
}

static void dispatch(sse_reader *reader)
{
    sse_event event = {
        .type = reader->type.len > 0 ? span_of(&reader->type) : patchbay_str_of("message"),
        .data = span_of(&reader->data),
        .id = span_of(&reader->id),
        .sets_id = reader->has_id,
    };
    if (reader->has_data) {
        event.data.len--; /* the newline behind the last line */
    }
    if (reader->has_data || reader->has_id) {
        reader->on_event(reader->ctx, &event);
    }
    reader->data.len = 0;
    reader->type.len = 0;
    reader->has_data = 0;
    reader->has_id = 0;
}

static void set(patchbay_out *out, patchbay_str value)
{
    out->len = 0;
    patchbay_out_raw(out, value);
}

static void read_retry(sse_reader *reader, patchbay_str value)
{
    int64_t number = 0;
    if (value.len == 0 || value.len > SSE_RETRY_MAX_DIGITS) {
        return;
    }
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] < '0' || value.ptr[i] > '9') {
            return;
        }
        number = number * 10 + (value.ptr[i] - '0');
    }
    reader->retry_ms = number;
}

static void read_field(sse_reader *reader, patchbay_str name, patchbay_str value)
{
    if (patchbay_str_eq(name, patchbay_str_of("data"))) {
        patchbay_out_raw(&reader->data, value);
        patchbay_out_text(&reader->data, "\n");
        reader->has_data = 1;
    } else if (patchbay_str_eq(name, patchbay_str_of("event"))) {
        set(&reader->type, value);
    } else if (patchbay_str_eq(name, patchbay_str_of("id"))) {
        if (value.len == 0 || memchr(value.ptr, '\0', value.len) == NULL) {
            set(&reader->id, value);
            reader->has_id = 1;
        }
    } else if (patchbay_str_eq(name, patchbay_str_of("retry"))) {
        read_retry(reader, value);
    }
}

static void read_line(sse_reader *reader, patchbay_str line)
{
    if (line.len == 0) {
        dispatch(reader);
        return;
    }
    const char *colon = memchr(line.ptr, ':', line.len);
    if (colon == line.ptr) {
        return; /* a comment */
    }
    if (colon == NULL) {
        read_field(reader, line, patchbay_str_make(NULL, 0));
        return;
    }
    size_t name_len = (size_t)(colon - line.ptr);
    patchbay_str value = patchbay_str_make(colon + 1, line.len - name_len - 1);
    if (value.len > 0 && value.ptr[0] == ' ') {
        value = patchbay_str_make(value.ptr + 1, value.len - 1);
    }
    read_field(reader, patchbay_str_make(line.ptr, name_len), value);
}

/* Skip a byte order mark, however the start of the stream was cut. */
static patchbay_str skip_mark(sse_reader *reader, patchbay_str bytes)
{
    while (reader->begun < sizeof BYTE_ORDER_MARK && bytes.len > 0) {
        if ((unsigned char)bytes.ptr[0] != BYTE_ORDER_MARK[reader->begun]) {
            /* What looked like the mark was text. */
            patchbay_out_raw(&reader->line,
                             patchbay_str_make((const char *)BYTE_ORDER_MARK, reader->begun));
            reader->begun = sizeof BYTE_ORDER_MARK;
            break;
        }
        reader->begun++;
        bytes = patchbay_str_make(bytes.ptr + 1, bytes.len - 1);
    }
    return bytes;
}

/* Take the next line off the front of `bytes`; 0 when its end has not come, and it is kept. */
static int take_line(sse_reader *reader, patchbay_str *bytes, patchbay_str *ret_line)
{
    if (reader->has_cr && bytes->len > 0) {
        reader->has_cr = 0;
        if (bytes->ptr[0] == '\n') {
            *bytes = patchbay_str_make(bytes->ptr + 1, bytes->len - 1);
        }
    }
    size_t end = 0;
    while (end < bytes->len && bytes->ptr[end] != '\n' && bytes->ptr[end] != '\r') {
        end++;
    }
    patchbay_str head = patchbay_str_make(bytes->ptr, end);
    if (end == bytes->len) {
        patchbay_out_raw(&reader->line, head);
        *bytes = patchbay_str_make(NULL, 0);
        return 0;
    }
    reader->has_cr = bytes->ptr[end] == '\r';
    *bytes = patchbay_str_make(bytes->ptr + end + 1, bytes->len - end - 1);
    *ret_line = head;
    if (reader->line.len > 0) {
        patchbay_out_raw(&reader->line, head);
        *ret_line = span_of(&reader->line);
    }
    return 1;
}

int32_t sse_reader_feed(sse_reader *reader, patchbay_str bytes)
{
    patchbay_str line;
    bytes = skip_mark(reader, bytes);
    while (!reader->is_closed && take_line(reader, &bytes, &line)) {
        read_line(reader, line);
        reader->line.len = 0;
        if (reader->data.len > reader->max_event_bytes + 1) { /* each line has its newline */
            return PATCHBAY_ELIMIT;
        }
    }
    if (reader->line.failed || reader->data.failed || reader->type.failed || reader->id.failed) {
        return PATCHBAY_ENOMEM;
    }
    size_t most = reader->max_event_bytes + SSE_FIELD_BYTES;
    return reader->line.len + reader->data.len > most ? PATCHBAY_ELIMIT : PATCHBAY_OK;
}
