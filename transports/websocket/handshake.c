/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket/handshake.h"

#include "base/buf.h"
#include "websocket/websocket.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

/* RFC 6455 section 1.3. */
#define GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

/* 16 bytes in Base64: 22 digits and padding. */
enum { KEY_BYTES = 24, ACCEPT_BYTES = 28 };

bool hub_websocket_is_key(hub_str key)
{
    if (key.len != KEY_BYTES || key.ptr[22] != '=' || key.ptr[23] != '=') {
        return false;
    }
    for (size_t i = 0; i < 22; i++) {
        char c = key.ptr[i];
        bool is_digit = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                        (c >= '0' && c <= '9') || c == '+' || c == '/';
        if (!is_digit) {
            return false;
        }
    }
    return true;
}

bool hub_websocket_greet(hub_link *link, hub_str key, bool with_subprotocol)
{
    char text[KEY_BYTES + sizeof GUID];
    unsigned char digest[SHA_DIGEST_LENGTH];
    unsigned char accept[ACCEPT_BYTES + 1];
    memcpy(text, key.ptr, KEY_BYTES);
    memcpy(text + KEY_BYTES, GUID, sizeof GUID);
    if (EVP_Digest(text, KEY_BYTES + sizeof GUID - 1, digest, NULL, EVP_sha1(), NULL) != 1) {
        return false;
    }
    (void)EVP_EncodeBlock(accept, digest, sizeof digest);
    hub_str parts[] = {
        HUB_STR("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Accept: "),
        {.ptr = (const char *)accept, .len = ACCEPT_BYTES},
        with_subprotocol ? HUB_STR("\r\nSec-WebSocket-Protocol: mcp\r\n\r\n") : HUB_STR("\r\n\r\n"),
    };
    return hub_link_write(link, parts, sizeof parts / sizeof parts[0]) == HUB_OK;
}
