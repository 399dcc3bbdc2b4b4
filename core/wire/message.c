/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/message.h"

#include "base/limits.h"
#include "wire/json_scan.h"

enum { METHOD_MAX_BYTES = 128 };

/* The objects of HUB_MEMBERS as the scan numbers them. */
enum {
    OBJECT_TOP = HUB_JSON_ROOT,
    OBJECT_PARAMS,
    OBJECT_META,
    OBJECT_RESULT,
    OBJECT_ERROR,
    OBJECT_COUNT,
};

/* HUB_MEMBERS keeps the members of one object together: object, its first member, its last. */
#define OBJECTS_TABLE(X)                                                                           \
    X(TOP, JSONRPC, ERROR)                                                                         \
    X(PARAMS, NAME, REQUEST_STATE)                                                                 \
    X(META, META_PROGRESS_TOKEN, META_LOG_LEVEL)                                                   \
    X(RESULT, RESULT_TYPE, IS_ERROR)                                                               \
    X(ERROR, ERROR_CODE, ERROR_DATA)

enum {
#define OBJECT_BOUNDS(object, first, last)                                                         \
    FIRST_OF_##object = HUB_M_##first, LAST_OF_##object = HUB_M_##last,
    OBJECTS_TABLE(OBJECT_BOUNDS)
#undef OBJECT_BOUNDS
};

#define MEMBER_IN_BOUNDS(slot, object, name)                                                       \
    _Static_assert((int)HUB_M_##slot >= (int)FIRST_OF_##object &&                                  \
                       (int)HUB_M_##slot <= (int)LAST_OF_##object,                                 \
                   "OBJECTS_TABLE does not cover HUB_M_" #slot);
HUB_MEMBERS(MEMBER_IN_BOUNDS)
#undef MEMBER_IN_BOUNDS

static const hub_json_members OBJECTS[OBJECT_COUNT] = {
#define OBJECT_ROW(object, first_slot, last_slot)                                                  \
    [OBJECT_##object] = {                                                                          \
        .first = HUB_M_##first_slot,                                                               \
        .count = HUB_M_##last_slot - HUB_M_##first_slot + 1,                                       \
    },
    OBJECTS_TABLE(OBJECT_ROW)
#undef OBJECT_ROW
};

/* The members in whose objects the scan goes on watching. */
#define OBJECT_INSIDE(slot)                                                                        \
    ((slot) == HUB_M_PARAMS   ? OBJECT_PARAMS                                                      \
     : (slot) == HUB_M_META   ? OBJECT_META                                                        \
     : (slot) == HUB_M_RESULT ? OBJECT_RESULT                                                      \
     : (slot) == HUB_M_ERROR  ? OBJECT_ERROR                                                       \
                              : HUB_JSON_UNWATCHED)

static const hub_json_member MEMBERS[HUB_MEMBER_COUNT] = {
#define MEMBER_ROW(slot, object, name)                                                             \
    [HUB_M_##slot] = {                                                                             \
        .key = {.ptr = (name), .len = sizeof(name) - 1},                                           \
        .inside = OBJECT_INSIDE(HUB_M_##slot),                                                     \
    },
    HUB_MEMBERS(MEMBER_ROW)
#undef MEMBER_ROW
};

/* How all peers that are known of begin a message; the id of others is read like any member. */
static const char BEGINNING[] = "{\"jsonrpc\":\"2.0\",\"id\":";
static const hub_json_start START = {
    .bytes = {.ptr = BEGINNING, .len = sizeof BEGINNING - 1},
    .value = {.ptr = BEGINNING + sizeof "{\"jsonrpc\":" - 1, .len = sizeof "\"2.0\"" - 1},
    .member = HUB_M_JSONRPC,
    .follows = HUB_M_ID,
};
_Static_assert(sizeof BEGINNING - 1 >= HUB_JSON_START_LEAST &&
                   sizeof BEGINNING - 1 <= HUB_JSON_START_MOST,
               "three loads compare it");

/* What a member has to be, where it occurs. */
static const struct {
    hub_member member;
    hub_json_type type;
} TYPE_RULES[] = {
    {HUB_M_PARAMS, HUB_JSON_OBJECT},        {HUB_M_RESULT, HUB_JSON_OBJECT},
    {HUB_M_ERROR, HUB_JSON_OBJECT},         {HUB_M_ERROR_CODE, HUB_JSON_NUMBER},
    {HUB_M_ERROR_MESSAGE, HUB_JSON_STRING},
};

/* What a message is by the members it has: bit 0 method, bit 1 result, bit 2 error. */
static const struct {
    hub_message_kind kind; /* NONE: the combination means nothing, and `why` says so */
    const char *why;
} KINDS[8] = {
    [0] = {HUB_MESSAGE_NONE, "it has neither method nor result nor error"},
    [1] = {HUB_MESSAGE_REQUEST, NULL},
    [2] = {HUB_MESSAGE_RESULT, NULL},
    [3] = {HUB_MESSAGE_NONE, "it has method and result"},
    [4] = {HUB_MESSAGE_ERROR, NULL},
    [5] = {HUB_MESSAGE_NONE, "it has method and error"},
    [6] = {HUB_MESSAGE_NONE, "it has result and error"},
    [7] = {HUB_MESSAGE_NONE, "it has method, result and error"},
};

static bool has(const hub_message *message, hub_member member)
{
    return message->at[member].len > 0;
}

static hub_json_type type_of(const hub_message *message, hub_member member)
{
    return hub_json_type_of(message->at[member]);
}

/* Whether a value is an integer as it is written. JSON's numbers were read already: behind a sign all
 * is digits but for a dot or a letter, and no other value begins like one. Of ASCII, digits have bit 4
 * and no bit 6, as no other of these. */
static bool is_integer(hub_str raw)
{
    const uint64_t bits = UINT64_C(0x5050505050505050);
    const uint64_t digits = UINT64_C(0x1010101010101010);
    size_t at = raw.len > 0 && raw.ptr[0] == '-' ? 1 : 0;
    for (; raw.len - at >= 8; at += 8) {
        if ((hub_load8(raw.ptr + at) & bits) != digits) {
            return false;
        }
    }
    for (; at < raw.len; at++) {
        if ((raw.ptr[at] & 0x50) != 0x10) {
            return false;
        }
    }
    return raw.len > 0;
}

static hub_err check_id(hub_str id, hub_error *reterr)
{
    if (hub_json_type_of(id) != HUB_JSON_STRING && !is_integer(id)) {
        return hub_fail(reterr, HUB_EINVAL, "the id is neither a string nor an integer");
    }
    if (id.len > HUB_LIMIT_ID_BYTES) {
        return hub_fail(reterr, HUB_ELIMIT, "the id is longer than %d bytes", HUB_LIMIT_ID_BYTES);
    }
    return HUB_OK;
}

/* What a result says twice is between server and client, as all that is in it. */
static const uint64_t MAY_REPEAT = UINT64_C(1) << HUB_M_IS_ERROR;

static hub_err check_repeated(uint64_t repeated, hub_error *reterr)
{
    repeated &= ~MAY_REPEAT;
    if (repeated == 0) {
        return HUB_OK;
    }
    hub_str key = MEMBERS[__builtin_ctzll(repeated)].key;
    return hub_fail(reterr, HUB_EINVAL, "member \"" HUB_STR_FMT "\" occurs twice",
                    HUB_STR_ARG(key));
}

static hub_err check_types(const hub_message *message, hub_error *reterr)
{
    for (size_t i = 0; i < sizeof TYPE_RULES / sizeof TYPE_RULES[0]; i++) {
        hub_member member = TYPE_RULES[i].member;
        hub_json_type type = type_of(message, member);
        if (type != HUB_JSON_NONE && type != TYPE_RULES[i].type) {
            return hub_fail(reterr, HUB_EINVAL, "member \"" HUB_STR_FMT "\" must be of type %s",
                            HUB_STR_ARG(MEMBERS[member].key),
                            hub_json_type_name(TYPE_RULES[i].type));
        }
    }
    return HUB_OK;
}

static hub_err check_request(hub_message *message, hub_error *reterr)
{
    if (!hub_json_plain(message->at[HUB_M_METHOD], &message->method) || message->method.len == 0 ||
        message->method.len > METHOD_MAX_BYTES) {
        return hub_fail(reterr, HUB_EINVAL,
                        "the method is not a string of 1 to %d bytes without escapes",
                        METHOD_MAX_BYTES);
    }
    if (!has(message, HUB_M_ID)) {
        message->kind = HUB_MESSAGE_NOTIFICATION;
        return HUB_OK;
    }
    return check_id(message->at[HUB_M_ID], reterr);
}

static hub_err check_result(hub_message *message, hub_error *reterr)
{
    return check_id(message->at[HUB_M_ID], reterr);
}

/* Clients read a code into 64 bits: that for Go ends its connection over a longer one. */
static hub_err check_error(hub_message *message, hub_error *reterr)
{
    int64_t number;
    hub_str code = message->at[HUB_M_ERROR_CODE];
    if (!is_integer(code) || !hub_json_to_i64(code, &number)) {
        return hub_fail(reterr, HUB_EINVAL, "the error has no integer code of 64 bits");
    }
    if (!has(message, HUB_M_ERROR_MESSAGE)) {
        return hub_fail(reterr, HUB_EINVAL, "the error has no message");
    }
    /* Whoever could not read a request answers without its id, or with null. */
    hub_json_type id = type_of(message, HUB_M_ID);
    if (id == HUB_JSON_NONE || id == HUB_JSON_NULL) {
        return HUB_OK;
    }
    return check_id(message->at[HUB_M_ID], reterr);
}

static hub_err check_object(hub_message *message, hub_error *reterr)
{
    static hub_err (*const checks[])(hub_message * message, hub_error * reterr) = {
        [HUB_MESSAGE_REQUEST] = check_request,
        [HUB_MESSAGE_RESULT] = check_result,
        [HUB_MESSAGE_ERROR] = check_error,
    };
    hub_str jsonrpc = message->at[HUB_M_JSONRPC];
    if (!hub_str_eq(jsonrpc, HUB_STR("\"2.0\"")) && !hub_json_string_is(jsonrpc, HUB_STR("2.0"))) {
        return hub_fail(reterr, HUB_EINVAL, "member \"jsonrpc\" is not \"2.0\"");
    }
    unsigned members = (has(message, HUB_M_METHOD) ? 1u : 0) |
                       (has(message, HUB_M_RESULT) ? 2u : 0) | (has(message, HUB_M_ERROR) ? 4u : 0);
    message->kind = KINDS[members].kind;
    if (message->kind == HUB_MESSAGE_NONE) {
        return hub_fail(reterr, HUB_EINVAL, "%s", KINDS[members].why);
    }
    hub_err err = check_types(message, reterr);
    return err != HUB_OK ? err : checks[message->kind](message, reterr);
}

static hub_err check_envelope(hub_message *message, uint64_t repeated, hub_error *reterr)
{
    switch (hub_json_type_of(message->whole)) {
    case HUB_JSON_ARRAY:
        message->kind = HUB_MESSAGE_BATCH;
        return HUB_OK;
    case HUB_JSON_OBJECT:
        break;
    default:
        return hub_fail(reterr, HUB_EINVAL, "a message is a JSON object");
    }
    hub_err err = check_repeated(repeated, reterr);
    return err != HUB_OK ? err : check_object(message, reterr);
}

/* Leave nothing but the id, if an answer can carry it: not when there were two. */
static void clear_message(hub_message *message, uint64_t repeated)
{
    hub_str id = message->at[HUB_M_ID];
    bool is_usable =
        (repeated & UINT64_C(1) << HUB_M_ID) == 0 && id.len > 0 && check_id(id, NULL) == HUB_OK;
    *message = (hub_message){.at[HUB_M_ID] = is_usable ? id : (hub_str){0}};
}

hub_err hub_message_scan(hub_str bytes, hub_message *ret_message, hub_error *reterr)
{
    *ret_message = (hub_message){0};
    hub_json_watch watch = {
        .start = &START, .members = MEMBERS, .objects = OBJECTS, .at = ret_message->at};
    hub_err err = hub_json_scan(bytes, &watch, &ret_message->whole, reterr);
    if (err == HUB_OK) {
        err = check_envelope(ret_message, watch.repeated, reterr);
    }
    if (err != HUB_OK) {
        clear_message(ret_message, watch.repeated);
    }
    return err;
}

hub_err hub_message_scan_result(hub_str bytes, hub_message *ret_message, hub_error *reterr)
{
    static const hub_json_members RESULT[] = {
        [OBJECT_TOP] = {.first = FIRST_OF_RESULT, .count = LAST_OF_RESULT - FIRST_OF_RESULT + 1},
        [OBJECT_RESULT] = {.count = 0},
    };
    *ret_message = (hub_message){0};
    hub_json_watch watch = {.members = MEMBERS, .objects = RESULT, .at = ret_message->at};
    hub_err err = hub_json_scan(bytes, &watch, &ret_message->whole, reterr);
    if (err == HUB_OK && hub_json_type_of(ret_message->whole) != HUB_JSON_OBJECT) {
        err = hub_fail(reterr, HUB_EINVAL, "a result is a JSON object");
    }
    if (err == HUB_OK) {
        ret_message->kind = HUB_MESSAGE_RESULT;
    } else {
        *ret_message = (hub_message){0};
    }
    return err;
}
