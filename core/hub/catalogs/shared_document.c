/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/catalogs/shared_document.h"

#include "base/digest.h"
#include "wire/json.h"

#include <openssl/crypto.h>

/* The frame: MAC digits, and what is signed: LEARNED number CATALOG text END. Not a byte of it may
 * differ. */
#define MAC     "{\"mac\":\""
#define SIGNED  "\","
#define LEARNED "\"learned\":"
#define CATALOG ",\"catalog\":"
#define END     "}"

static void sign(const hub_key *key, hub_str text, char ret_hex[HUB_DIGEST_HEX_BYTES])
{
    unsigned char mac[HUB_DIGEST_BYTES];
    hub_hmac(key->bytes, sizeof key->bytes, text, mac);
    hub_digest_hex(mac, ret_hex);
}

void hub_shared_document_write(const hub_key *key, const hub_shared_document *document,
                               hub_buf *out)
{
    char hex[HUB_DIGEST_HEX_BYTES];
    hub_buf what;
    hub_buf_init(&what, out->max);
    hub_buf_printf(&what, LEARNED "%lld" CATALOG, (long long)document->learned_at_ms);
    hub_buf_add(&what, document->text);
    hub_buf_add(&what, HUB_STR(END));
    if (hub_buf_ok(&what)) {
        sign(key, hub_buf_str(&what), hex);
        hub_buf_printf(out, MAC "%s" SIGNED, hex);
        hub_buf_add(out, hub_buf_str(&what));
    } else {
        out->failed = what.failed;
    }
    hub_buf_fini(&what);
}

/* Take `part` off the beginning of *text. */
static bool take(hub_str *text, const char *part)
{
    hub_str wanted = hub_str_of(part);
    bool is_there = hub_str_starts(*text, wanted);
    if (is_there) {
        *text = hub_str_from(*text, wanted.len);
    }
    return is_there;
}

hub_err hub_shared_document_read(const hub_key *key, hub_str json,
                                 hub_shared_document *ret_document, hub_error *reterr)
{
    char own[HUB_DIGEST_HEX_BYTES];
    hub_str rest = json;
    if (!take(&rest, MAC) || rest.len < sizeof own) {
        return hub_fail(reterr, HUB_EINVAL, "it is not a catalog that a replica wrote");
    }
    hub_str told = {.ptr = rest.ptr, .len = sizeof own - 1};
    rest = hub_str_from(rest, told.len);
    if (!take(&rest, SIGNED)) {
        return hub_fail(reterr, HUB_EINVAL, "it is not a catalog that a replica wrote");
    }
    sign(key, rest, own);
    if (CRYPTO_memcmp(own, told.ptr, told.len) != 0) {
        return hub_fail(reterr, HUB_EINVAL,
                        "it is signed with another key than the first of replicas.key_file, or "
                        "was changed");
    }
    /* What follows is as this hub writes it. */
    size_t digits = take(&rest, LEARNED) ? hub_str_find(rest, HUB_STR(CATALOG)) : SIZE_MAX;
    if (digits == SIZE_MAX ||
        !hub_json_to_i64((hub_str){.ptr = rest.ptr, .len = digits}, &ret_document->learned_at_ms)) {
        return hub_fail(reterr, HUB_EINVAL, "it does not say when the catalog was learned");
    }
    rest = hub_str_from(rest, digits + sizeof CATALOG - 1);
    if (rest.len < sizeof END - 1) {
        return hub_fail(reterr, HUB_EINVAL, "it has no catalog");
    }
    rest.len -= sizeof END - 1;
    ret_document->text = rest;
    return HUB_OK;
}
