/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requestState: nothing that a client makes up is read, what the hub made is, and the digest of a
 * request does not depend on the order of its members. Input: a raw value, a newline, params.
 */
#include "hub/ask/request_state.h"
#include "wire/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned char digest[HUB_DIGEST_BYTES] = "digest";
    static const hub_key key = {.bytes = "key"};
    const hub_state_binding binding = {
        .principal = HUB_STR("p"), .profile = HUB_STR("default"), .digest = digest};
    hub_str text = {.ptr = (const char *)data, .len = size};
    size_t end = hub_str_find(text, HUB_STR("\n"));
    hub_str raw = {.ptr = text.ptr, .len = end < size ? end : size};
    hub_str params = end < size ? hub_str_from(text, end + 1) : HUB_STR_EMPTY;
    hub_request_state state = {.call = size, .serial = 1, .expires_ms = 2};
    hub_request_state read;
    if (hub_json_check(raw, &raw, NULL) == HUB_OK) {
        (void)hub_request_state_is_ours(raw);
        REQUIRE(hub_request_state_read(&key, raw, &binding, &read) != HUB_OK);
    }
    hub_buf made;
    hub_buf_init(&made, 1024);
    hub_buf_add_char(&made, '"');
    hub_request_state_add(&made, &key, &state, &binding);
    hub_buf_add_char(&made, '"');
    REQUIRE(hub_buf_ok(&made) && hub_request_state_is_ours(hub_buf_str(&made)));
    REQUIRE(hub_request_state_read(&key, hub_buf_str(&made), &binding, &read) == HUB_OK);
    REQUIRE(read.call == state.call && read.serial == 1 && read.expires_ms == 2);
    if (size > 0) { /* any other character anywhere */
        made.ptr[1 + data[0] % (made.len - 2)] ^= 1;
        REQUIRE(hub_request_state_read(&key, hub_buf_str(&made), &binding, &read) != HUB_OK);
    }
    hub_buf_fini(&made);
    unsigned char one[HUB_DIGEST_BYTES];
    unsigned char two[HUB_DIGEST_BYTES];
    if (hub_json_check(params, &params, NULL) == HUB_OK &&
        hub_json_type_of(params) == HUB_JSON_OBJECT) {
        REQUIRE(hub_request_digest(HUB_STR("tools/call"), params, one) == HUB_OK);
        REQUIRE(hub_request_digest(HUB_STR("tools/call"), params, two) == HUB_OK);
        REQUIRE(memcmp(one, two, sizeof one) == 0);
    }
    return 0;
}
