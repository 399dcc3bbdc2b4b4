/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/meta/cursor.h"

#include "base/digest.h"
#include "hub/kernel/hub.h"
#include "wire/json.h"

#include <openssl/crypto.h>

static bool sign(const hub_key *key, const char *list, hub_str place,
                 unsigned char ret_mac[HUB_CURSOR_MAC_BYTES])
{
    unsigned char mac[HUB_DIGEST_BYTES];
    hub_buf text;
    hub_buf_init(&text, 2 * sizeof(hub_cursor_text));
    hub_buf_printf(&text, "cursor/%s:", list);
    hub_buf_add(&text, place);
    bool done = hub_buf_ok(&text);
    if (done) {
        hub_hmac(key->bytes, sizeof key->bytes, hub_buf_str(&text), mac);
        memcpy(ret_mac, mac, HUB_CURSOR_MAC_BYTES);
    }
    hub_buf_fini(&text);
    return done;
}

static void add_hex(hub_buf *out, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < len; i++) {
        hub_buf_printf(out, "%02x", at[i]);
    }
}

void hub_cursor_add(const hub_orchestrator *hub, const char *list, hub_str place, hub_buf *out)
{
    unsigned char mac[HUB_CURSOR_MAC_BYTES];
    if (!sign(hub_key_at(hub, HUB_KEY_CURSORS, 0), list, place, mac)) {
        out->failed = HUB_ENOMEM;
        return;
    }
    add_hex(out, mac, sizeof mac);
    add_hex(out, place.ptr, place.len);
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool hub_cursor_read(const hub_orchestrator *hub, const char *list, hub_str raw,
                     hub_cursor_text *text, hub_str *ret_place)
{
    hub_str hex;
    unsigned char mac[HUB_CURSOR_MAC_BYTES];
    if (!hub_json_plain(raw, &hex) || hex.len % 2 != 0 || hex.len / 2 > sizeof text->bytes ||
        hex.len / 2 <= HUB_CURSOR_MAC_BYTES) {
        return false;
    }
    for (size_t i = 0; i < hex.len / 2; i++) {
        int high = hex_digit(hex.ptr[2 * i]);
        int low = hex_digit(hex.ptr[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        text->bytes[i] = (char)(high << 4 | low);
    }
    *ret_place = (hub_str){.ptr = text->bytes + HUB_CURSOR_MAC_BYTES,
                           .len = hex.len / 2 - HUB_CURSOR_MAC_BYTES};
    bool is_ours = false;
    const hub_key *key = hub_key_at(hub, HUB_KEY_CURSORS, 0);
    for (size_t age = 0; key != NULL && !is_ours; key = hub_key_at(hub, HUB_KEY_CURSORS, ++age)) {
        is_ours = sign(key, list, *ret_place, mac) &&
                  CRYPTO_memcmp(mac, text->bytes, HUB_CURSOR_MAC_BYTES) == 0;
    }
    return is_ours;
}
