/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/ask/sealed_state.h"

#include "base/digest.h"
#include "hub/ask/ask_internal.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"

#include <openssl/crypto.h>
#include <stdlib.h>

#define PREFIX "pb2."

enum {
    MAC_BYTES = 16,
    SEAL_BYTES = sizeof PREFIX - 1 + 2 * MAC_BYTES + 1, /* the prefix, the signature, a dot */
};

static void add_signed(hub_buf *out, hub_str text)
{
    hub_buf_add_u64(out, text.len);
    hub_buf_add_char(out, ':');
    hub_buf_add(out, text);
}

static const hub_orchestrator *hub_of(const hub_call *call)
{
    return hub_call_binding(call) != NULL
               ? hub_toolset_hub(hub_binding_toolset(hub_call_binding(call)))
               : hub_profile_hub(hub_session_profile(hub_call_session(call)));
}

/* Append the seal of a state, which is given as text. */
static void add_seal(const hub_call *call, const hub_key *key, hub_str state, hub_buf *out)
{
    unsigned char mac[HUB_DIGEST_BYTES];
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 2);
    hub_buf_add(&text, HUB_STR("requestState:"));
    add_signed(&text, hub_str_of(hub_input_required_principal(call)));
    const call_ask *part = hub_ask_find(call);
    add_signed(&text, part != NULL && part->has_digest
                          ? (hub_str){.ptr = (const char *)part->digest, .len = HUB_DIGEST_BYTES}
                          : HUB_STR_EMPTY);
    add_signed(&text, state);
    if (!hub_buf_ok(&text)) {
        out->failed = HUB_ENOMEM;
    } else {
        hub_hmac(key->bytes, sizeof key->bytes, hub_buf_str(&text), mac);
        hub_buf_add(out, HUB_STR(PREFIX));
        for (size_t i = 0; i < MAC_BYTES; i++) {
            hub_buf_printf(out, "%02x", mac[i]);
        }
        hub_buf_add_char(out, '.');
    }
    hub_buf_fini(&text);
}

/* Append the result with the seal inside the string that is the state. */
static void add_sealed(const hub_call *call, hub_str result, hub_str state, hub_buf *out)
{
    const char *content = state.ptr + 1;
    hub_buf text;
    hub_buf_init(&text, state.len);
    if (hub_json_decode(state, &text) != HUB_OK) { /* it is a string */
        out->failed = HUB_ENOMEM;
    }
    hub_buf_add(out, hub_str_between(result.ptr, content));
    add_seal(call, hub_key_at(hub_of(call), HUB_KEY_STATES, 0), hub_buf_str(&text), out);
    hub_buf_add(out, hub_str_between(content, result.ptr + result.len));
    hub_buf_fini(&text);
}

void hub_sealed_state_translate(const hub_call *call, hub_outcome *outcome, hub_buf *text)
{
    if (!outcome->is_partial || !hub_call_may_ask(call) ||
        !hub_json_string_is(hub_json_get(outcome->json, HUB_STR("resultType")),
                            HUB_STR("input_required"))) {
        return;
    }
    hub_str state = hub_json_get(outcome->json, HUB_STR("requestState"));
    if (hub_json_type_of(state) != HUB_JSON_STRING) {
        return;
    }
    add_sealed(call, outcome->json, state, text);
    if (hub_buf_ok(text)) {
        outcome->json = hub_buf_str(text);
    } else {
        *outcome = (hub_outcome){.status = PATCHBAY_FAILED, .json = HUB_STR("out of memory")};
    }
}

/* Nothing in a seal is ever escaped, so in a string that has one it stands as it is. */
bool hub_sealed_state_fits(const hub_call *call, hub_str raw)
{
    hub_buf text;
    hub_buf seal;
    if (hub_json_type_of(raw) != HUB_JSON_STRING || raw.len < SEAL_BYTES + 2) {
        return false;
    }
    hub_buf_init(&text, raw.len);
    hub_buf_init(&seal, SEAL_BYTES);
    bool fits = hub_json_decode(raw, &text) == HUB_OK && text.len >= SEAL_BYTES;
    bool is_whole = fits;
    const hub_key *key = hub_key_at(hub_of(call), HUB_KEY_STATES, 0);
    fits = false;
    for (size_t age = 0; is_whole && key != NULL && !fits;
         key = hub_key_at(hub_of(call), HUB_KEY_STATES, ++age)) {
        hub_buf_clear(&seal);
        add_seal(call, key, hub_str_from(hub_buf_str(&text), SEAL_BYTES), &seal);
        fits = hub_buf_ok(&seal) && CRYPTO_memcmp(seal.ptr, raw.ptr + 1, SEAL_BYTES) == 0;
    }
    hub_buf_fini(&seal);
    hub_buf_fini(&text);
    return fits;
}

/* Where a slice of the params is in their copy, which has no seal at `cut`. */
static hub_str moved(hub_str slice, hub_str params, const char *cut, const char *copy)
{
    if (slice.len == 0 || slice.ptr < params.ptr || slice.ptr >= params.ptr + params.len) {
        return slice; /* a constant */
    }
    size_t at = (size_t)(slice.ptr - params.ptr);
    return (hub_str){.ptr = copy + (slice.ptr > cut ? at - SEAL_BYTES : at), .len = slice.len};
}

hub_err hub_sealed_state_open(hub_str raw, patchbay_request *request, char **ret_copy)
{
    hub_str params = request->params_json;
    const char *cut = raw.ptr + 1;
    size_t before = (size_t)(cut - params.ptr);
    char *copy = malloc(params.len - SEAL_BYTES);
    if (copy == NULL) {
        return HUB_ENOMEM;
    }
    memcpy(copy, params.ptr, before);
    memcpy(copy + before, cut + SEAL_BYTES, params.len - SEAL_BYTES - before);
    request->args_json = moved(request->args_json, params, cut, copy);
    request->meta_json = moved(request->meta_json, params, cut, copy);
    request->name_json = moved(request->name_json, params, cut, copy);
    request->params_json = (hub_str){.ptr = copy, .len = params.len - SEAL_BYTES};
    *ret_copy = copy;
    return HUB_OK;
}
