/* SPDX-License-Identifier: Apache-2.0 */
#include "http/answer_head.h"

void hub_http_answer_head_init(hub_http_answer_head *head)
{
    *head = (hub_http_answer_head){.status = 0};
}

/* The next line without its CRLF. False: there is none. */
static bool next_line(hub_str *rest, hub_str *ret_line)
{
    size_t end = hub_str_find(*rest, HUB_STR("\r\n"));
    if (end == SIZE_MAX) {
        return false;
    }
    *ret_line = (hub_str){.ptr = rest->ptr, .len = end};
    *rest = hub_str_from(*rest, end + 2);
    return true;
}

hub_str hub_http_answer_header(hub_str head, hub_str name)
{
    hub_str line;
    bool has_line = next_line(&head, &line); /* the status */
    while (has_line && next_line(&head, &line)) {
        hub_str own = {.ptr = line.ptr, .len = name.len};
        if (line.len > name.len && line.ptr[name.len] == ':' && hub_str_eq_nocase(own, name)) {
            return hub_http_trim(hub_str_from(line, name.len + 1));
        }
    }
    return HUB_STR_EMPTY;
}

/* "HTTP/1.1 200 OK" */
static bool read_status(hub_http_answer_head *head, hub_str text)
{
    bool is_good = text.len > 12 && hub_str_starts(text, HUB_STR("HTTP/1."));
    for (size_t i = 9; is_good && i < 12; i++) {
        is_good = hub_http_is_digit(text.ptr[i]);
        head->status = 10 * head->status + (text.ptr[i] - '0');
    }
    return is_good && head->status >= 200;
}

static bool read_length(hub_http_answer_head *head, hub_str value)
{
    for (size_t i = 0; i < value.len; i++) {
        if (!hub_http_is_digit(value.ptr[i]) || head->left > UINT32_MAX) {
            return false;
        }
        head->left = 10 * head->left + (uint64_t)(value.ptr[i] - '0');
    }
    return true;
}

static bool read_framing(hub_http_answer_head *head, hub_str text)
{
    hub_str length = hub_http_answer_header(text, HUB_STR("content-length"));
    hub_str coding = hub_http_answer_header(text, HUB_STR("transfer-encoding"));
    head->closes =
        hub_str_eq_nocase(hub_http_answer_header(text, HUB_STR("connection")), HUB_STR("close"));
    head->is_chunked = hub_str_eq_nocase(coding, HUB_STR("chunked"));
    head->is_until_end = coding.len == 0 && length.len == 0 && head->status != 204;
    hub_http_chunked_init(&head->chunks, SIZE_MAX / 2);
    return (coding.len == 0 || head->is_chunked) && read_length(head, length);
}

hub_http_progress hub_http_answer_head_next(hub_http_answer_head *head, hub_str bytes,
                                            hub_buf *text, size_t *ret_used)
{
    size_t before = text->len;
    size_t room = text->max - before;
    hub_buf_add(text, (hub_str){.ptr = bytes.ptr, .len = bytes.len < room ? bytes.len : room});
    size_t from = before > 3 ? before - 3 : 0;
    size_t at = hub_buf_ok(text)
                    ? hub_str_find(hub_str_from(hub_buf_str(text), from), HUB_STR("\r\n\r\n"))
                    : SIZE_MAX;
    if (at == SIZE_MAX) {
        *ret_used = bytes.len;
        return hub_buf_ok(text) && bytes.len < room ? HUB_HTTP_MORE : HUB_HTTP_REFUSED;
    }
    text->len = from + at + 4;
    *ret_used = text->len - before;
    hub_str whole = hub_buf_str(text);
    return read_status(head, whole) && read_framing(head, whole) ? HUB_HTTP_DONE : HUB_HTTP_REFUSED;
}

hub_http_progress hub_http_answer_body_next(hub_http_answer_head *head, hub_str bytes,
                                            size_t *ret_used)
{
    if (head->is_chunked) {
        hub_buf content; /* is not wanted: only where it ends is */
        hub_buf_init(&content, SIZE_MAX / 2);
        hub_http_progress progress =
            bytes.len > 0 ? hub_http_chunked_next(&head->chunks, bytes, &content, ret_used)
                          : HUB_HTTP_MORE;
        *ret_used = progress == HUB_HTTP_MORE ? bytes.len : *ret_used;
        hub_buf_fini(&content);
        return progress;
    }
    if (head->is_until_end) {
        *ret_used = bytes.len;
        return HUB_HTTP_MORE;
    }
    *ret_used = bytes.len < head->left ? bytes.len : (size_t)head->left;
    head->left -= *ret_used;
    return head->left == 0 ? HUB_HTTP_DONE : HUB_HTTP_MORE;
}

bool hub_http_answer_ends_with(const hub_http_answer_head *head)
{
    return head->is_until_end;
}
