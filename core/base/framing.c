/* SPDX-License-Identifier: Apache-2.0 */
#include "base/framing.h"

#include "base/limits.h"

#include <stdio.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* How a stream of headers begins, in any case. No JSON text begins with this letter. */
static const hub_str HEADER_START = {.ptr = "content-", .len = 8};
static const hub_str LENGTH_NAME = {.ptr = "content-length:", .len = 15};

enum {
    LENGTH_DIGITS = 18, /* fits into 64 bits */
    SEARCH_BYTES = 8192,
};

/* The line at the start of `bytes` with its newline; empty when it does not end. */
static hub_str first_line(hub_str bytes)
{
    const char *newline = bytes.len > 0 ? memchr(bytes.ptr, '\n', bytes.len) : NULL;
    return newline != NULL ? hub_str_between(bytes.ptr, newline + 1) : HUB_STR_EMPTY;
}

static hub_str without_cr(hub_str line)
{
    if (line.len > 0 && line.ptr[line.len - 1] == '\r') {
        line.len--;
    }
    return line;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Drop the rest of a line over the limit. */
static hub_str skip_line(hub_framing *framing, hub_str bytes)
{
    hub_str line = first_line(bytes);
    framing->skips_line = line.len == 0;
    return hub_str_from(bytes, framing->skips_line ? bytes.len : line.len);
}

/* Whether a line that begins with `begun` is over the limit, however it goes on. */
static bool is_too_long(const hub_framing *framing, hub_str begun)
{
    return without_cr(begun).len > framing->max_message_bytes; /* a CR may be part of the frame */
}

static hub_frame next_line(hub_framing *framing, hub_str *bytes, hub_str *ret_message)
{
    if (framing->skips_line) {
        *bytes = skip_line(framing, *bytes);
    }
    if (framing->searched == 0 && bytes->len > 0 && (unsigned char)*bytes->ptr <= ' ') {
        *bytes = hub_str_skip_space(*bytes); /* blank lines, too */
    }
    hub_str line = first_line(hub_str_from(*bytes, framing->searched));
    if (line.len == 0) {
        framing->searched = bytes->len;
        if (!is_too_long(framing, *bytes)) {
            return HUB_FRAME_MORE;
        }
        framing->skips_line = true;
        framing->searched = 0;
        return HUB_FRAME_OVERSIZE;
    }
    size_t length = framing->searched + line.len;
    hub_str content = without_cr((hub_str){.ptr = bytes->ptr, .len = length - 1});
    framing->searched = 0;
    *bytes = hub_str_from(*bytes, length);
    if (content.len > framing->max_message_bytes) {
        return HUB_FRAME_OVERSIZE;
    }
    *ret_message = content;
    return HUB_FRAME_MESSAGE;
}

/* ---- headers --------------------------------------------------------------------------------- */

/* The header at the start of `bytes` with the blank line that ends it; empty when it does not. */
static hub_str find_header(hub_str bytes)
{
    hub_str rest = bytes;
    for (;;) {
        hub_str line = first_line(rest);
        rest = hub_str_from(rest, line.len);
        if (line.len == 0) {
            return HUB_STR_EMPTY;
        }
        if (hub_str_trim(line).len == 0) {
            return hub_str_between(bytes.ptr, rest.ptr);
        }
    }
}

static bool read_length(hub_str text, size_t *ret_length)
{
    size_t length = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return false;
        }
        length = length * 10 + (size_t)(text.ptr[i] - '0');
    }
    *ret_length = length;
    return text.len > 0 && text.len <= LENGTH_DIGITS;
}

/* The value of Content-Length. It may occur again only with the same value: two readings of where a
 * message ends would let one of them hide another message. */
static bool find_length(hub_str header, size_t *ret_length)
{
    bool found = false;
    while (header.len > 0) {
        hub_str line = first_line(header);
        header = hub_str_from(header, line.len);
        line = hub_str_trim(line);
        hub_str name = {.ptr = line.ptr, .len = LENGTH_NAME.len};
        if (line.len < name.len || !hub_str_eq_nocase(name, LENGTH_NAME)) {
            continue;
        }
        size_t length;
        if (!read_length(hub_str_trim(hub_str_from(line, name.len)), &length) ||
            (found && length != *ret_length)) {
            return false;
        }
        *ret_length = length;
        found = true;
    }
    return found;
}

/* Read the header at the front; MESSAGE when a body of body_bytes follows. */
static hub_frame next_header(hub_framing *framing, hub_str *bytes, hub_str *ret_message)
{
    *bytes = hub_str_skip_space(*bytes); /* tolerated between frames */
    hub_str begin = *bytes;
    if (begin.len > HUB_LIMIT_FRAME_HEADER_BYTES) {
        begin.len = HUB_LIMIT_FRAME_HEADER_BYTES;
    }
    hub_str header = find_header(begin);
    if (header.len == 0 && begin.len < HUB_LIMIT_FRAME_HEADER_BYTES) {
        return HUB_FRAME_MORE;
    }
    hub_str found = header.len > 0 ? header : begin;
    *bytes = hub_str_from(*bytes, found.len);
    if (header.len == 0 || !find_length(header, &framing->body_bytes)) {
        *ret_message = found;
        return HUB_FRAME_BROKEN;
    }
    if (framing->body_bytes > framing->max_message_bytes) {
        framing->skip = framing->body_bytes;
        return HUB_FRAME_OVERSIZE;
    }
    framing->has_header = true;
    return HUB_FRAME_MESSAGE;
}

static hub_frame next_frame(hub_framing *framing, hub_str *bytes, hub_str *ret_message)
{
    size_t skip = framing->skip < bytes->len ? framing->skip : bytes->len;
    framing->skip -= skip;
    *bytes = hub_str_from(*bytes, skip);
    if (!framing->has_header) {
        hub_frame frame =
            framing->skip > 0 ? HUB_FRAME_MORE : next_header(framing, bytes, ret_message);
        if (frame != HUB_FRAME_MESSAGE) {
            return frame;
        }
    }
    if (bytes->len < framing->body_bytes) {
        return HUB_FRAME_MORE;
    }
    framing->has_header = false;
    *ret_message = (hub_str){.ptr = bytes->ptr, .len = framing->body_bytes};
    *bytes = hub_str_from(*bytes, framing->body_bytes);
    return HUB_FRAME_MESSAGE;
}

/* ---- both ------------------------------------------------------------------------------------ */

/* Settle on a framing as soon as the first bytes tell. */
static void detect(hub_framing *framing, hub_str bytes)
{
    hub_str seen = bytes;
    seen.len = seen.len < HEADER_START.len ? seen.len : HEADER_START.len;
    if (!hub_str_eq_nocase(seen, (hub_str){.ptr = HEADER_START.ptr, .len = seen.len})) {
        framing->kind = HUB_FRAMING_LINES;
    } else if (seen.len == HEADER_START.len) {
        framing->kind = HUB_FRAMING_HEADERS;
    }
}

void hub_framing_init(hub_framing *framing, size_t max_message_bytes, bool detect)
{
    *framing = (hub_framing){
        .kind = detect ? HUB_FRAMING_UNKNOWN : HUB_FRAMING_LINES,
        .max_message_bytes = max_message_bytes,
    };
}

hub_frame hub_framing_next(hub_framing *framing, hub_str bytes, size_t *ret_used,
                           hub_str *ret_message)
{
    hub_str rest = bytes;
    hub_frame frame = HUB_FRAME_MORE;
    *ret_message = HUB_STR_EMPTY;
    if (framing->kind == HUB_FRAMING_UNKNOWN) {
        rest = hub_str_skip_space(rest);
        detect(framing, rest);
    }
    if (framing->kind == HUB_FRAMING_LINES) {
        frame = next_line(framing, &rest, ret_message);
    } else if (framing->kind == HUB_FRAMING_HEADERS) {
        frame = next_frame(framing, &rest, ret_message);
    }
    *ret_used = bytes.len - rest.len;
    return frame;
}

hub_frame hub_framing_last(hub_framing *framing, hub_str bytes, hub_str *ret_message)
{
    *ret_message = HUB_STR_EMPTY;
    if (framing->kind == HUB_FRAMING_HEADERS) {
        bool is_whole = bytes.len == 0 && framing->skip == 0 && !framing->has_header;
        return is_whole ? HUB_FRAME_MORE : HUB_FRAME_BROKEN;
    }
    if (bytes.len == 0) {
        return HUB_FRAME_MORE;
    }
    if (is_too_long(framing, bytes)) {
        return HUB_FRAME_OVERSIZE; /* what seemed to become a header, under a tiny limit */
    }
    *ret_message = without_cr(bytes);
    return HUB_FRAME_MESSAGE;
}

/* Whether a line end is possible. In JSON nothing else is below a space but a tab, so nearly always one
 * look at all bytes together tells, instead of a search for either. */
#if defined(__SSE2__)
enum { VECTOR_BYTES = sizeof(__m128i) };

static inline __m128i load(const char *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

static bool may_have_line_end(const char *at, size_t len)
{
    const __m128i controls = _mm_set1_epi8(' ' - 1);
    if (len < VECTOR_BYTES) {
        return true;
    }
    __m128i lowest = load(at + len - VECTOR_BYTES); /* in part again */
    __m128i other = lowest;
    for (; len >= 4 * VECTOR_BYTES; at += 4 * VECTOR_BYTES, len -= 4 * VECTOR_BYTES) {
        lowest = _mm_min_epu8(lowest, _mm_min_epu8(load(at), load(at + VECTOR_BYTES)));
        other = _mm_min_epu8(
            other, _mm_min_epu8(load(at + 2 * VECTOR_BYTES), load(at + 3 * VECTOR_BYTES)));
    }
    for (; len >= VECTOR_BYTES; at += VECTOR_BYTES, len -= VECTOR_BYTES) {
        lowest = _mm_min_epu8(lowest, load(at));
    }
    lowest = _mm_min_epu8(lowest, other);
    return _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(lowest, controls), lowest)) != 0;
}
#else
static bool may_have_line_end(const char *at, size_t len)
{
    (void)at;
    return len > 0;
}
#endif

/* By pieces that stay in the cache, since they may be read again. */
static bool has_line_end(hub_str part)
{
    while (part.len > 0) {
        size_t len = part.len < SEARCH_BYTES ? part.len : SEARCH_BYTES;
        if (may_have_line_end(part.ptr, len) &&
            (memchr(part.ptr, '\n', len) != NULL || memchr(part.ptr, '\r', len) != NULL)) {
            return true;
        }
        part = hub_str_from(part, len);
    }
    return false;
}

void hub_framing_wrap(const hub_framing *framing, const hub_str *parts, size_t count,
                      hub_framed *ret_framed)
{
    bool is_line = framing->kind != HUB_FRAMING_HEADERS;
    size_t body_bytes = 0;
    hub_assert(count <= HUB_FRAMING_PARTS);
    ret_framed->count = is_line ? 0 : 1;
    ret_framed->is_line = is_line;
    for (size_t i = 0; i < count; i++) {
        ret_framed->parts[ret_framed->count++] = parts[i];
        body_bytes += parts[i].len;
    }
    hub_str frame = HUB_STR("\n");
    if (!is_line) {
        int len = snprintf(ret_framed->header, sizeof ret_framed->header,
                           "Content-Length: %zu\r\n\r\n", body_bytes);
        frame = (hub_str){.ptr = ret_framed->header, .len = (size_t)len}; /* 40 bytes at most */
    }
    ret_framed->parts[is_line ? ret_framed->count++ : 0] = frame;
    ret_framed->total_bytes = body_bytes + frame.len;
}

bool hub_framing_needs_cleaning(const hub_framed *framed)
{
    size_t body_parts = framed->is_line ? framed->count - 1 : 0;
    for (size_t i = 0; i < body_parts; i++) {
        if (has_line_end(framed->parts[i])) {
            return true;
        }
    }
    return false;
}

void hub_framing_clean(char *text, size_t len)
{
    static const char LINE_ENDS[] = {'\n', '\r'};
    bool may_have = len > 0 && may_have_line_end(text, len);
    for (size_t i = 0; may_have && i < sizeof LINE_ENDS; i++) {
        char *end = text + len;
        for (char *at = text; (at = memchr(at, LINE_ENDS[i], (size_t)(end - at))) != NULL;) {
            *at = ' ';
        }
    }
}
