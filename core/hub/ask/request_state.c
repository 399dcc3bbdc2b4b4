/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/ask/request_state.h"

#include "base/encoding.h"
#include "hub/replicas/replicas.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <sys/random.h>

#define PREFIX "pb1."

enum {
    FIELD_BYTES = 8,
    MAC_BYTES = 32,
    BODY_BYTES = 3 * FIELD_BYTES,
    STATE_BYTES = BODY_BYTES + MAC_BYTES,
    PREFIX_BYTES = sizeof PREFIX - 1,
    FEW_MEMBERS = 32, /* so many are sorted without an allocation */
};
_Static_assert(HUB_REQUEST_STATE_BYTES == PREFIX_BYTES + 2 * STATE_BYTES, "as the header says");

/* ---- the digest ------------------------------------------------------------------------------ */

typedef struct member {
    hub_str key;
    hub_str value;
} member;

static int by_key(const void *a, const void *b)
{
    const member *left = a;
    const member *right = b;
    return hub_str_cmp(left->key, right->key);
}

/* What a retry adds or changes. */
static bool is_of_the_retry(hub_str key)
{
    return hub_json_string_is(key, HUB_STR("_meta")) ||
           hub_json_string_is(key, HUB_STR("inputResponses")) ||
           hub_json_string_is(key, HUB_STR("requestState"));
}

static void digest_text(hub_digest *digest, hub_str text)
{
    uint64_t len = text.len; /* in front, so that no two lists of texts are the same bytes */
    hub_digest_add(digest, &len, sizeof len);
    hub_digest_add(digest, text.ptr, text.len);
}

static bool digest_object(hub_digest *digest, hub_str object, bool is_params);

static bool digest_members(hub_digest *digest, const member *members, size_t count, bool is_params)
{
    uint64_t total = count;
    bool ok = true;
    hub_digest_add(digest, &total, sizeof total);
    for (size_t i = 0; ok && i < count; i++) {
        bool is_nested = is_params && hub_json_string_is(members[i].key, HUB_STR("arguments")) &&
                         hub_json_type_of(members[i].value) == HUB_JSON_OBJECT;
        digest_text(digest, members[i].key);
        if (is_nested) {
            ok = digest_object(digest, members[i].value, false);
        } else {
            digest_text(digest, members[i].value);
        }
    }
    return ok;
}

/* Members of an object: `few`, or on the heap when these do not do. */
typedef struct member_list {
    member *at;
    size_t count;
    size_t room;
    member few[FEW_MEMBERS];
} member_list;

static bool append(member_list *list, const member *next)
{
    if (list->count == list->room) {
        member *old = list->at == list->few ? NULL : list->at;
        member *grown = realloc(old, 2 * list->room * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        if (old == NULL) {
            memcpy(grown, list->few, sizeof list->few);
        }
        list->at = grown;
        list->room *= 2;
    }
    list->at[list->count++] = *next;
    return true;
}

/* Digest the members in the order of their keys. */
static bool digest_object(hub_digest *digest, hub_str object, bool is_params)
{
    member_list list = {.at = list.few, .room = FEW_MEMBERS};
    hub_json_iter it = hub_json_iterate(object);
    member next;
    bool ok = true;
    while (ok && hub_json_next(&it, &next.key, &next.value)) {
        if (!is_params || !is_of_the_retry(next.key)) {
            ok = append(&list, &next);
        }
    }
    qsort(list.at, list.count, sizeof *list.at, by_key);
    ok = ok && digest_members(digest, list.at, list.count, is_params);
    if (list.at != list.few) {
        free(list.at);
    }
    return ok;
}

hub_err hub_request_digest(hub_str method, hub_str params,
                           unsigned char ret_digest[HUB_DIGEST_BYTES])
{
    hub_digest digest;
    hub_digest_init(&digest);
    digest_text(&digest, method);
    if (!digest_object(&digest, params, true)) {
        return HUB_ENOMEM;
    }
    hub_digest_end(&digest, ret_digest);
    return HUB_OK;
}

/* ---- the state ------------------------------------------------------------------------------- */

static void put_u64(unsigned char *at, uint64_t number)
{
    for (int i = FIELD_BYTES - 1; i >= 0; i--) {
        at[i] = (unsigned char)number;
        number >>= 8;
    }
}

static uint64_t get_u64(const unsigned char *at)
{
    uint64_t number = 0;
    for (int i = 0; i < FIELD_BYTES; i++) {
        number = number << 8 | at[i];
    }
    return number;
}

static void add_signed_text(hub_buf *out, hub_str text)
{
    unsigned char len[FIELD_BYTES];
    put_u64(len, text.len);
    hub_buf_add(out, (hub_str){.ptr = (const char *)len, .len = sizeof len});
    hub_buf_add(out, text);
}

/* Sign the fields together with what they are bound to. */
static bool sign(const hub_key *key, const unsigned char body[BODY_BYTES],
                 const hub_state_binding *binding, unsigned char ret_mac[MAC_BYTES])
{
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 2);
    hub_buf_add(&text, HUB_STR("patchbay requestState"));
    hub_buf_add(&text, (hub_str){.ptr = (const char *)body, .len = BODY_BYTES});
    add_signed_text(&text, binding->principal);
    add_signed_text(&text, binding->profile);
    hub_buf_add(&text, (hub_str){.ptr = (const char *)binding->digest, .len = HUB_DIGEST_BYTES});
    bool ok = hub_buf_ok(&text);
    if (ok) {
        hub_hmac(key->bytes, sizeof key->bytes, hub_buf_str(&text), ret_mac);
    }
    hub_buf_fini(&text);
    return ok;
}

void hub_request_state_add(hub_buf *out, const hub_key *key, const hub_request_state *state,
                           const hub_state_binding *binding)
{
    unsigned char bytes[STATE_BYTES];
    put_u64(bytes, state->call);
    put_u64(bytes + FIELD_BYTES, state->serial);
    put_u64(bytes + 2 * FIELD_BYTES, state->expires_ms);
    if (!sign(key, bytes, binding, bytes + BODY_BYTES)) {
        out->failed = HUB_ENOMEM;
        return;
    }
    hub_buf_add(out, HUB_STR(PREFIX));
    for (size_t i = 0; i < sizeof bytes; i++) {
        hub_buf_printf(out, "%02x", bytes[i]);
    }
}

/* The text of a raw string; `decoded` is for one with escapes. A longer text than a state has is
 * empty. */
static hub_str text_of(hub_str raw, hub_buf *decoded)
{
    hub_str text;
    hub_buf_init(decoded, HUB_REQUEST_STATE_BYTES + HUB_REPLICA_HOME_DIGITS);
    if (hub_json_plain(raw, &text)) {
        return text;
    }
    return hub_json_decode(raw, decoded) == HUB_OK ? hub_buf_str(decoded) : HUB_STR_EMPTY;
}

bool hub_request_state_is_ours(hub_str raw)
{
    hub_buf decoded;
    bool is_ours = hub_str_starts(text_of(raw, &decoded), HUB_STR(PREFIX));
    hub_buf_fini(&decoded);
    return is_ours;
}

static bool read_bytes(hub_str raw, unsigned char *ret_bytes)
{
    hub_buf decoded;
    hub_str text = text_of(raw, &decoded);
    if (text.len == HUB_REQUEST_STATE_BYTES + HUB_REPLICA_HOME_DIGITS) {
        text.len = HUB_REQUEST_STATE_BYTES; /* the rest has led it here */
    }
    bool ok = text.len == HUB_REQUEST_STATE_BYTES && hub_str_starts(text, HUB_STR(PREFIX)) &&
              hub_hex_read(hub_str_from(text, PREFIX_BYTES), ret_bytes, STATE_BYTES);
    hub_buf_fini(&decoded);
    return ok;
}

hub_err hub_request_state_read(const hub_key *key, hub_str raw, const hub_state_binding *binding,
                               hub_request_state *ret_state)
{
    unsigned char bytes[STATE_BYTES];
    unsigned char mac[MAC_BYTES];
    if (!read_bytes(raw, bytes) || !sign(key, bytes, binding, mac) ||
        CRYPTO_memcmp(mac, bytes + BODY_BYTES, MAC_BYTES) != 0) {
        return HUB_EINVAL;
    }
    *ret_state = (hub_request_state){
        .call = get_u64(bytes),
        .serial = get_u64(bytes + FIELD_BYTES),
        .expires_ms = get_u64(bytes + 2 * FIELD_BYTES),
    };
    return HUB_OK;
}
