/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_CAPACITY = 256 };

void hub_buf_init(hub_buf *buf, size_t max_bytes)
{
    *buf = (hub_buf){.max = max_bytes};
}

void hub_buf_init_secret(hub_buf *buf, size_t max_bytes)
{
    *buf = (hub_buf){.max = max_bytes, .is_secret = true};
}

static void let_go(hub_buf *buf)
{
    if (buf->is_secret && buf->ptr != NULL) {
        explicit_bzero(buf->ptr, buf->cap);
    }
    free(buf->ptr);
}

void hub_buf_fini(hub_buf *buf)
{
    let_go(buf);
    buf->ptr = NULL;
    buf->len = 0;
    buf->cap = 0;
    buf->failed = HUB_OK;
}

void hub_buf_clear(hub_buf *buf)
{
    buf->len = 0;
    buf->failed = HUB_OK;
}

void hub_buf_consume(hub_buf *buf, size_t count)
{
    buf->len -= count;
    if (buf->len > 0 && count > 0) {
        memmove(buf->ptr, buf->ptr + count, buf->len);
    }
}

/* Enlarge to hold `size` bytes and one more, for a NUL that is not part of the content. */
static bool grow(hub_buf *buf, size_t size)
{
    size_t cap = buf->cap < FIRST_CAPACITY ? FIRST_CAPACITY : buf->cap;
    while (cap <= size) {
        cap += cap / 2; /* no overflow: size is below PTRDIFF_MAX */
    }
    if (cap > buf->max) {
        cap = buf->max + 1; /* more would never be used */
    }
    char *grown = buf->is_secret ? malloc(cap) : realloc(buf->ptr, cap);
    if (grown == NULL) {
        return false;
    }
    if (buf->is_secret) { /* realloc would free a copy as it is */
        if (buf->len > 0) {
            memcpy(grown, buf->ptr, buf->len);
        }
        let_go(buf);
    }
    buf->ptr = grown;
    buf->cap = cap;
    return true;
}

char *hub_buf_reserve(hub_buf *buf, size_t extra)
{
    if (buf->failed != HUB_OK) {
        return NULL;
    }
    if (extra > buf->max - buf->len) {
        buf->failed = HUB_ELIMIT;
        return NULL;
    }
    if (buf->cap - buf->len <= extra &&
        (extra >= PTRDIFF_MAX - buf->len || !grow(buf, buf->len + extra))) {
        buf->failed = HUB_ENOMEM;
        return NULL;
    }
    return buf->ptr + buf->len;
}

void hub_buf_add(hub_buf *buf, hub_str text)
{
    char *room = hub_buf_reserve(buf, text.len);
    if (room != NULL && text.len > 0) {
        memcpy(room, text.ptr, text.len);
        buf->len += text.len;
    }
}

void hub_buf_add_char(hub_buf *buf, char c)
{
    hub_buf_add(buf, (hub_str){.ptr = &c, .len = 1});
}

void hub_buf_add_u64(hub_buf *buf, uint64_t number)
{
    static const char PAIRS[] = "0001020304050607080910111213141516171819"
                                "2021222324252627282930313233343536373839"
                                "4041424344454647484950515253545556575859"
                                "6061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    char digits[HUB_U64_DIGITS];
    size_t at = sizeof digits;
    for (; number >= 10; number /= 100) {
        const char *pair = PAIRS + number % 100 * 2;
        digits[--at] = pair[1];
        digits[--at] = pair[0];
    }
    if (number > 0 || at == sizeof digits) {
        digits[--at] = (char)('0' + number);
    }
    hub_buf_add(buf, (hub_str){.ptr = digits + at, .len = sizeof digits - at});
}

void hub_buf_printf(hub_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    size_t left = hub_buf_ok(buf) ? buf->cap - buf->len : 0; /* is within the maximum */
    int needed = vsnprintf(left > 0 ? buf->ptr + buf->len : NULL, left, format, args);
    va_end(args);
    if (needed < 0 && buf->failed == HUB_OK) {
        buf->failed = HUB_ELIMIT; /* longer than an int can say */
    } else if (needed >= 0 && (size_t)needed < left) {
        buf->len += (size_t)needed; /* mostly it fits where it is */
    } else if (needed >= 0) {
        char *room = hub_buf_reserve(buf, (size_t)needed); /* and room for the NUL */
        if (room != NULL && vsnprintf(room, (size_t)needed + 1, format, again) == needed) {
            buf->len += (size_t)needed;
        }
    }
    va_end(again);
}

char *hub_buf_take(hub_buf *buf)
{
    char *end = hub_buf_reserve(buf, 0);
    if (end == NULL) {
        return NULL;
    }
    *end = '\0';
    char *text = buf->ptr;
    *buf = (hub_buf){.max = buf->max, .is_secret = buf->is_secret};
    return text;
}
