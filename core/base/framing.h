/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where one message ends and the next begins in a stream of bytes: one message per line (MCP
 * 2026-07-28 basic/transports/stdio), or LSP-style `Content-Length` headers. The caller keeps the
 * bytes: it appends what arrives, asks for what is at the front, and drops what was used. How the
 * bytes were cut into chunks on their way makes no difference to what comes out. No I/O, no memory
 * of its own. Any thread.
 */
#ifndef HUB_BASE_FRAMING_H
#define HUB_BASE_FRAMING_H

#include "base/err.h"

typedef enum hub_framing_kind {
    HUB_FRAMING_UNKNOWN, /* nothing but white space so far, or the start of a header name */
    HUB_FRAMING_LINES,
    HUB_FRAMING_HEADERS,
} hub_framing_kind;

/* What is at the front of the bytes. */
typedef enum hub_frame {
    HUB_FRAME_MORE,     /* no complete message: append bytes and ask again */
    HUB_FRAME_MESSAGE,  /* one message */
    HUB_FRAME_OVERSIZE, /* one message over the limit: its bytes are used up, now or as they come */
    HUB_FRAME_BROKEN,   /* bytes that are no frame: nobody knows where the next message begins */
} hub_frame;

/* A plain value struct; `kind` may be read, everything else is private. */
typedef struct hub_framing {
    hub_framing_kind kind;
    size_t max_message_bytes;
    size_t searched;   /* lines: bytes at the front known to hold no newline */
    bool skips_line;   /* lines: in a line over the limit */
    size_t skip;       /* headers: bytes of a body over the limit that are still to come */
    size_t body_bytes; /* headers: length of the body at the front, when has_header */
    bool has_header;
} hub_framing;

/* Begin. `detect`: accept both framings and settle on one by the first bytes; otherwise lines.
 * `max_message_bytes` does not count the frame: newline, CR before it, white space before the
 * message, or the header. */
void hub_framing_init(hub_framing *framing, size_t max_message_bytes, bool detect);

/* Look at the front of `bytes`, which are what an earlier call left and what has arrived since.
 * The first `ret_used` of them are then to be dropped, also when the answer is MORE; `ret_message`
 * is a span within these. It is the message, without the frame and never blank for lines; for
 * BROKEN it is what was found instead of a header, for who wants to answer; otherwise empty.
 * Ask again until the answer is MORE, or BROKEN, after which the framing is not to be used.
 * What MORE leaves is at most max_message_bytes + 1 or HUB_LIMIT_FRAME_HEADER_BYTES long. */
hub_frame hub_framing_next(hub_framing *framing, hub_str bytes, size_t *ret_used,
                           hub_str *ret_message);

/* Ask the same of the rest that MORE left when nothing will arrive any more: a last line needs no
 * newline. MORE when there is nothing; OVERSIZE when that line is over the limit; BROKEN when the
 * rest is part of a Content-Length frame. */
hub_frame hub_framing_last(hub_framing *framing, hub_str bytes, hub_str *ret_message);

/* An outgoing message between its frame bytes. The parts may point into the struct itself: it is
 * not to be copied. */
#define HUB_FRAMING_PARTS 32
typedef struct hub_framed {
    hub_str parts[HUB_FRAMING_PARTS + 1];
    size_t count;
    size_t total_bytes;
    bool
        is_line; /* no newline and no carriage return may be in it but for the newline at the end */
    char header[48];
} hub_framed;

/* Frame a message of `count` parts, at most HUB_FRAMING_PARTS, in kind. */
void hub_framing_wrap(const hub_framing *framing, const hub_str *parts, size_t count,
                      hub_framed *ret_framed);

/* Whether a line would have to be cleaned before it can be sent; false for other framings. */
bool hub_framing_needs_cleaning(const hub_framed *framed);

/* Turn the newlines and carriage returns of a JSON text, which are white space, into spaces. */
void hub_framing_clean(char *text, size_t len);

#endif
