/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/meta/cursor.h"

#include "base/digest.h"
#include "base/encoding.h"
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

void hub_cursor_add(const hub_orchestrator *hub, const char *list, hub_str place, hub_buf *out)
{
    unsigned char mac[HUB_CURSOR_MAC_BYTES];
    if (!sign(hub_key_at(hub, HUB_KEY_CURSORS, 0), list, place, mac)) {
        out->failed = HUB_ENOMEM;
        return;
    }
    hub_hex_add(out, (hub_str){.ptr = (const char *)mac, .len = sizeof mac});
    hub_hex_add(out, place);
}

bool hub_cursor_read(const hub_orchestrator *hub, const char *list, hub_str raw,
                     hub_cursor_text *text, hub_str *ret_place)
{
    hub_str hex;
    unsigned char mac[HUB_CURSOR_MAC_BYTES];
    if (!hub_json_plain(raw, &hex) || hex.len / 2 > sizeof text->bytes ||
        hex.len / 2 <= HUB_CURSOR_MAC_BYTES || !hub_hex_read(hex, text->bytes, hex.len / 2)) {
        return false;
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
