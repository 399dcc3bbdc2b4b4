/* SPDX-License-Identifier: Apache-2.0 */
#include "header_value.h"

#include <strings.h>

static const char PREFIX[] = "=?base64?";
static const char SUFFIX[] = "?=";

static int is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* Whether it could be taken for an encoded value: prefix and suffix may share a character. */
static int looks_encoded(patchbay_str value)
{
    size_t prefix = sizeof PREFIX - 1;
    size_t suffix = sizeof SUFFIX - 1;
    return value.len > prefix && memcmp(value.ptr, PREFIX, prefix) == 0 &&
           memcmp(value.ptr + value.len - suffix, SUFFIX, suffix) == 0;
}

static int is_plain(patchbay_str value)
{
    if (value.len == 0) {
        return 1;
    }
    if (is_space(value.ptr[0]) || is_space(value.ptr[value.len - 1]) || looks_encoded(value)) {
        return 0;
    }
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];
        if (c != '\t' && (c < 0x20 || c > 0x7e)) {
            return 0;
        }
    }
    return 1;
}

void header_add(patchbay_out *lines, const char *name, patchbay_str value)
{
    patchbay_out_text(lines, name);
    if (value.len == 0) {
        patchbay_out_text(lines, ";\n");
        return;
    }
    patchbay_out_text(lines, ": ");
    if (is_plain(value)) {
        patchbay_out_raw(lines, value);
    } else {
        patchbay_out_text(lines, PREFIX);
        patchbay_out_base64(lines, value.ptr, value.len);
        patchbay_out_text(lines, SUFFIX);
    }
    patchbay_out_text(lines, "\n");
}

void header_make_room(patchbay_out *lines, size_t bytes)
{
    if (lines->failed || lines->cap - lines->len > bytes) {
        return;
    }
    patchbay_out larger = {0};
    larger.ptr = malloc(lines->len + bytes + 1);
    larger.cap = larger.ptr != NULL ? lines->len + bytes + 1 : 0;
    larger.failed = larger.ptr == NULL;
    if (larger.ptr != NULL) {
        patchbay_out_raw(&larger, patchbay_str_make(lines->ptr, lines->len));
    }
    header_wipe(lines);
    *lines = larger;
}

void header_wipe(patchbay_out *lines)
{
    if (lines->ptr != NULL) {
        explicit_bzero(lines->ptr, lines->cap);
    }
    patchbay_out_free(lines);
}

int header_is_token(patchbay_str text)
{
    static const char OTHERS[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        int is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        int is_digit = c >= '0' && c <= '9';
        if (!is_letter && !is_digit && memchr(OTHERS, c, sizeof OTHERS - 1) == NULL) {
            return 0;
        }
    }
    return text.len > 0;
}

int header_is_own(patchbay_str name)
{
    static const char *const OWN[] = {"accept",         "content-type",   "content-length",
                                      "host",           "mcp-session-id", "mcp-protocol-version",
                                      "last-event-id",  "mcp-method",     "mcp-name",
                                      "accept-encoding"};
    for (size_t i = 0; i < sizeof OWN / sizeof OWN[0]; i++) {
        if (name.len == strlen(OWN[i]) && strncasecmp(name.ptr, OWN[i], name.len) == 0) {
            return 1;
        }
    }
    return 0;
}
