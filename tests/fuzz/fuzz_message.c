/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub_message_scan: whatever the bytes, the verdict is one of four, and what is recorded is what a
 * walk over the checked text finds: the value of each member in its object, found once.
 */
#include "base/limits.h"
#include "wire/message.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static bool is_inside(hub_str part, hub_str whole)
{
    return part.ptr >= whole.ptr && part.ptr + part.len <= whole.ptr + whole.len;
}

static size_t count_key(hub_str object, hub_str key)
{
    hub_json_iter it = hub_json_iterate(object);
    hub_str raw_key;
    hub_str value;
    size_t count = 0;
    while (hub_json_next(&it, &raw_key, &value)) {
        count += hub_json_string_is(raw_key, key);
    }
    return count;
}

/* One row of HUB_MEMBERS: `at` is the only member `key` of `object`, or there is none. */
static void check_member(hub_str object, hub_str key, hub_str at)
{
    bool is_object = hub_json_type_of(object) == HUB_JSON_OBJECT;
    hub_str found = is_object ? hub_json_get(object, key) : HUB_STR_EMPTY;
    REQUIRE(found.len == at.len && (at.len == 0 || found.ptr == at.ptr));
    REQUIRE(count_key(object, key) <= 1);
    if (at.len > 0) {
        hub_str value;
        REQUIRE(is_inside(at, object));
        REQUIRE(hub_json_check(at, &value, NULL) == HUB_OK);
        REQUIRE(value.len == at.len);
    }
}

static void check_members(const hub_message *message)
{
    const hub_str top = message->whole;
    const hub_str params = message->at[HUB_M_PARAMS];
    const hub_str meta = message->at[HUB_M_META];
    const hub_str result = message->at[HUB_M_RESULT];
    const hub_str error = message->at[HUB_M_ERROR];
#define OBJECT_TOP    top
#define OBJECT_PARAMS params
#define OBJECT_META   meta
#define OBJECT_RESULT result
#define OBJECT_ERROR  error
#define CHECK_MEMBER(slot, object, key)                                                            \
    check_member(OBJECT_##object, HUB_STR(key), message->at[HUB_M_##slot]);
    HUB_MEMBERS(CHECK_MEMBER)
#undef CHECK_MEMBER
}

static void check_id(hub_str id)
{
    hub_json_type type = hub_json_type_of(id);
    REQUIRE(type == HUB_JSON_STRING || type == HUB_JSON_NUMBER);
    REQUIRE(id.len <= HUB_LIMIT_ID_BYTES);
    REQUIRE(hub_json_check(id, NULL, NULL) == HUB_OK);
}

static void check_kind(const hub_message *message)
{
    hub_str id = message->at[HUB_M_ID];
    bool has_method = message->at[HUB_M_METHOD].len > 0;
    bool has_result = message->at[HUB_M_RESULT].len > 0;
    bool has_error = message->at[HUB_M_ERROR].len > 0;
    switch (message->kind) {
    case HUB_MESSAGE_REQUEST:
        check_id(id);
        REQUIRE(has_method && !has_result && !has_error);
        break;
    case HUB_MESSAGE_NOTIFICATION:
        REQUIRE(id.len == 0 && has_method && !has_result && !has_error);
        break;
    case HUB_MESSAGE_RESULT:
        check_id(id);
        REQUIRE(!has_method && has_result && !has_error);
        break;
    case HUB_MESSAGE_ERROR:
        REQUIRE(!has_method && !has_result && has_error);
        if (id.len > 0 && hub_json_type_of(id) != HUB_JSON_NULL) {
            check_id(id);
        }
        break;
    default:
        abort();
    }
    REQUIRE(message->method.len <= 128 && (message->method.len > 0) == has_method);
}

static void check_refusal(hub_str text, const hub_message *message)
{
    REQUIRE(message->kind == HUB_MESSAGE_NONE);
    REQUIRE(message->whole.len == 0 && message->method.len == 0);
    for (int i = 0; i < HUB_MEMBER_COUNT; i++) {
        REQUIRE(i == HUB_M_ID || message->at[i].len == 0);
    }
    if (message->at[HUB_M_ID].len > 0) {
        REQUIRE(is_inside(message->at[HUB_M_ID], text));
        check_id(message->at[HUB_M_ID]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hub_str text = {.ptr = (const char *)data, .len = size};
    hub_message message;
    hub_error error = {0};
    hub_err err = hub_message_scan(text, &message, &error);
    hub_str value;
    hub_err json_err = hub_json_check(text, &value, NULL);
    REQUIRE(error.code == err);
    if (err != HUB_OK) {
        REQUIRE(err == HUB_EPARSE || err == HUB_EINVAL || err == HUB_ELIMIT);
        REQUIRE(json_err == HUB_OK ? err != HUB_EPARSE : err == json_err);
        check_refusal(text, &message);
        return 0;
    }
    REQUIRE(json_err == HUB_OK && value.ptr == message.whole.ptr && value.len == message.whole.len);
    if (message.kind == HUB_MESSAGE_BATCH) {
        REQUIRE(hub_json_type_of(message.whole) == HUB_JSON_ARRAY);
        for (int i = 0; i < HUB_MEMBER_COUNT; i++) {
            REQUIRE(message.at[i].len == 0);
        }
        return 0;
    }
    REQUIRE(hub_json_type_of(message.whole) == HUB_JSON_OBJECT);
    check_kind(&message);
    check_members(&message);
    return 0;
}
