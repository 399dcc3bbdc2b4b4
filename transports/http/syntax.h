/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few characters and lists on which HTTP is built (RFC 9110 section 5.6). Internal to http/.
 * Pure functions, any thread.
 */
#ifndef HTTP_SYNTAX_H
#define HTTP_SYNTAX_H

#include "base/str.h"

#include <stdint.h>

/* What a parser says about the bytes it was given. */
typedef enum hub_http_progress {
    HUB_HTTP_MORE,    /* all is well so far: append bytes and ask again */
    HUB_HTTP_DONE,    /* complete */
    HUB_HTTP_REFUSED, /* answer with the status and close: nobody knows what the rest is */
} hub_http_progress;

static inline bool hub_http_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool hub_http_is_alnum(char c)
{
    return hub_http_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool hub_http_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* A visible ASCII character, a space or a tab: what MCP allows in a value. */
static inline bool hub_http_is_ascii_text(char c)
{
    return (c >= 0x20 && c < 0x7f) || c == '\t';
}

/* The same or a byte from 0x80 (obs-text): what RFC 9110 section 5.5 allows in a value. */
static inline bool hub_http_is_text(char c)
{
    return hub_http_is_ascii_text(c) || (unsigned char)c >= 0x80;
}

/* Some of the ASCII characters: bit c % 32 of bits[c / 32]. */
typedef struct hub_http_chars {
    uint32_t bits[4];
} hub_http_chars;

static inline bool hub_http_is_one_of(const hub_http_chars *chars, char c)
{
    unsigned char at = (unsigned char)c;
    return at < 0x80 && (chars->bits[at / 32] >> (at % 32) & 1) != 0;
}

/* One character of a token (RFC 9110 section 5.6.2): a letter, a digit or one of
 * !#$%&'*+-.^_`|~ */
static inline bool hub_http_is_tchar(char c)
{
    static const hub_http_chars TCHARS = {{0, 0x03ff6cfa, 0xc7fffffe, 0x57ffffff}};
    return hub_http_is_one_of(&TCHARS, c);
}

/* How many of the first bytes are characters of a token. */
static inline size_t hub_http_token_length(hub_str text)
{
    size_t len = 0;
    while (len < text.len && hub_http_is_tchar(text.ptr[len])) {
        len++;
    }
    return len;
}

/* A whole token, at least one character. */
static inline bool hub_http_is_token(hub_str text)
{
    return text.len > 0 && hub_http_token_length(text) == text.len;
}

/* How many of the first bytes are visible ASCII characters or spaces. */
static inline size_t hub_http_plain_length(hub_str text)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t highs = ones << 7;
    size_t len = 0;
    for (uint64_t bytes; text.len - len >= sizeof bytes; len += sizeof bytes) {
        memcpy(&bytes, text.ptr + len, sizeof bytes);
        /* Subtracting borrows into the high bit of a byte that was smaller: below ' ', or DEL made
         * zero. One may be found too many, behind a true one, but none too few. */
        uint64_t deleted = bytes ^ ones * 0x7f;
        uint64_t special = (bytes - ones * ' ') | (deleted - ones) | bytes;
        if ((special & highs) != 0) {
            break;
        }
    }
    while (len < text.len && text.ptr[len] >= ' ' && text.ptr[len] < 0x7f) {
        len++;
    }
    return len;
}

/* Without spaces and tabs around it (OWS); unlike hub_str_trim it leaves CR and LF. */
hub_str hub_http_trim(hub_str text);

/* The next element of a comma-separated list, trimmed and possibly empty, and what follows it.
 * False when there is none. `rest` begins as the whole value, with a non-NULL pointer. */
bool hub_http_next_element(hub_str *rest, hub_str *ret_element);

#endif
