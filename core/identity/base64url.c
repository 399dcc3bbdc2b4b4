/* SPDX-License-Identifier: Apache-2.0 */
#include "identity/base64url.h"

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '-' ? 62 : c == '_' ? 63 : -1;
}

hub_err hub_base64url_decode(hub_str text, hub_buf *out)
{
    uint32_t bits = 0;
    unsigned count = 0; /* of bits that no byte has yet */
    for (size_t i = 0; i < text.len; i++) {
        int value = value_of(text.ptr[i]);
        if (value < 0) {
            return HUB_EPARSE;
        }
        bits = bits << 6 | (uint32_t)value;
        count += 6;
        if (count >= 8) {
            count -= 8;
            hub_buf_add_char(out, (char)(bits >> count & 0xff));
        }
    }
    if (text.len % 4 == 1 || (bits & ((1U << count) - 1)) != 0) {
        return HUB_EPARSE;
    }
    return out->failed;
}

void hub_base64url_add(hub_buf *out, hub_str bytes)
{
    uint32_t bits = 0;
    unsigned count = 0;
    for (size_t i = 0; i < bytes.len; i++) {
        bits = bits << 8 | (unsigned char)bytes.ptr[i];
        for (count += 8; count >= 6;) {
            count -= 6;
            hub_buf_add_char(out, ALPHABET[bits >> count & 0x3f]);
        }
    }
    if (count > 0) {
        hub_buf_add_char(out, ALPHABET[bits << (6 - count) & 0x3f]);
    }
}
