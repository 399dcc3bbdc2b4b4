/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stream_lent.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

struct hub_stream_lent {
    void (*release)(void *held);
    void *held;
    struct iovec parts[HUB_FRAMING_PARTS + 1];
    size_t count;
    size_t next; /* the first that has not left whole */
    size_t left;
    char copies[];
};

static bool is_lent(const hub_lent *lent, hub_str part)
{
    for (size_t i = 0; i < lent->span_count; i++) {
        if (lent->spans[i].ptr == part.ptr && lent->spans[i].len == part.len) {
            return true;
        }
    }
    return false;
}

/* `count` bytes have left. */
static void go_on(hub_stream_lent *rest, size_t count)
{
    rest->left -= count;
    while (count > 0) {
        struct iovec *part = &rest->parts[rest->next];
        size_t len = count < part->iov_len ? count : part->iov_len;
        part->iov_base = (char *)part->iov_base + len;
        part->iov_len -= len;
        count -= len;
        rest->next += part->iov_len == 0;
    }
}

/* The parts of the message; those that are not lent are copied to `to`. */
static void take_parts(hub_stream_lent *rest, const hub_framed *message, const hub_lent *lent)
{
    char *to = rest->copies;
    for (size_t i = 0; i < message->count; i++) {
        hub_str part = message->parts[i];
        union {
            const char *from;
            void *to;
        } unconst = {.from = part.ptr}; /* iovec has no const; writev only reads */
        if (part.len == 0) {
            continue;
        }
        if (!is_lent(lent, part)) {
            unconst.to = memcpy(to, part.ptr, part.len);
            to += part.len;
        }
        rest->parts[rest->count++] = (struct iovec){.iov_base = unconst.to, .iov_len = part.len};
    }
}

hub_stream_lent *hub_stream_lent_begin(const hub_framed *message, size_t skip, const hub_lent *lent)
{
    size_t copied = 0;
    for (size_t i = 0; i < message->count; i++) {
        copied += is_lent(lent, message->parts[i]) ? 0 : message->parts[i].len;
    }
    hub_stream_lent *rest = malloc(sizeof *rest + copied);
    void *held = rest != NULL ? lent->hold(lent->owner) : NULL;
    if (held == NULL) {
        free(rest);
        return NULL;
    }
    rest->release = lent->release;
    rest->held = held;
    rest->count = 0;
    rest->next = 0;
    rest->left = message->total_bytes;
    take_parts(rest, message, lent);
    go_on(rest, skip);
    return rest;
}

size_t hub_stream_lent_left(const hub_stream_lent *rest)
{
    return rest->left;
}

ssize_t hub_stream_lent_write(hub_stream_lent *rest, int fd)
{
    ssize_t done = writev(fd, rest->parts + rest->next, (int)(rest->count - rest->next));
    if (done > 0) {
        go_on(rest, (size_t)done);
    }
    return done;
}

void hub_stream_lent_end(hub_stream_lent *rest)
{
    if (rest != NULL) {
        rest->release(rest->held);
        free(rest);
    }
}
