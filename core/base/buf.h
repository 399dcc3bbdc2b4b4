/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growable byte buffer with a maximum. An append that does not fit, or for which there is no
 * memory, marks the buffer as failed and appends nothing from then on: build a text with many
 * appends, test hub_buf_ok once at the end. Not thread-safe; owned by whoever initialised it.
 */
#ifndef HUB_BASE_BUF_H
#define HUB_BASE_BUF_H

#include "base/err.h"

typedef struct hub_buf {
    char *ptr; /* NULL until the first append */
    size_t len;
    size_t cap;
    size_t max;     /* appends beyond this fail */
    bool is_secret; /* what it leaves behind is overwritten, also when it grows */
    hub_err failed; /* HUB_OK, HUB_ELIMIT or HUB_ENOMEM: sticky until hub_buf_clear */
} hub_buf;

enum { HUB_U64_DIGITS = 20 }; /* 2^64 - 1 has as many */

/* An empty buffer that may grow to `max_bytes`. Allocates nothing. */
void hub_buf_init(hub_buf *buf, size_t max_bytes);

/* The same for a secret: no memory that it has used is freed before it is overwritten. */
void hub_buf_init_secret(hub_buf *buf, size_t max_bytes);

/* Free the memory and forget a failure; the buffer is empty and may be used again. */
void hub_buf_fini(hub_buf *buf);

/* Make it empty, keep the memory, forget a failure. */
void hub_buf_clear(hub_buf *buf);

/* Drop the first `count` bytes (at most len) by moving the rest down. */
void hub_buf_consume(hub_buf *buf, size_t count);

/* Room for `extra` more bytes behind len, and a NUL behind these; NULL on failure (marked). */
char *hub_buf_reserve(hub_buf *buf, size_t extra);

void hub_buf_add(hub_buf *buf, hub_str text);
void hub_buf_add_char(hub_buf *buf, char c);
void hub_buf_add_u64(hub_buf *buf, uint64_t number);
void hub_buf_printf(hub_buf *buf, const char *format, ...) HUB_PRINTF(2, 3);

/* What has been appended; borrowed, valid until the next change. */
static inline hub_str hub_buf_str(const hub_buf *buf)
{
    return (hub_str){.ptr = buf->ptr, .len = buf->len};
}

static inline bool hub_buf_ok(const hub_buf *buf)
{
    return buf->failed == HUB_OK;
}

/* The content as a NUL-terminated string that the caller frees; the buffer is empty afterwards.
 * NULL when the buffer had failed or there is no memory: then it is what it was. */
char *hub_buf_take(hub_buf *buf);

#endif
