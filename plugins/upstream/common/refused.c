/* SPDX-License-Identifier: Apache-2.0 */
#include "refused.h"

enum { NUMBER_DIGITS = 15 }; /* below 2^53, as all of the hub's ids are */

/* The member of an object that is being read. */
typedef enum member_kind {
    MEMBER_OTHER,
    MEMBER_ID,
    MEMBER_METHOD,
    MEMBER_OUTCOME,
} member_kind;

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) {
        at++;
    }
    return at;
}

/* From an opening quote to behind the closing one; NULL when there is none. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end; at++) {
        if (*at == '\\') {
            at++;
        } else if (*at == '"') {
            return at + 1;
        }
    }
    return NULL;
}

/* Behind a value: at the comma or bracket that ends it; NULL when neither follows. */
static const char *skip_value(const char *at, const char *end)
{
    size_t depth = 0;
    while (at < end) {
        if (*at == '"') {
            at = skip_string(at, end);
            if (at == NULL) {
                return NULL;
            }
            continue;
        }
        if (*at == '{' || *at == '[') {
            depth++;
        } else if (depth == 0 && (*at == ',' || *at == '}' || *at == ']')) {
            return at;
        } else if (*at == '}' || *at == ']') {
            depth--;
        }
        at++;
    }
    return NULL;
}

static member_kind kind_of(patchbay_str key)
{
    static const struct {
        const char *key;
        member_kind kind;
    } KEYS[] = {
        {"\"id\"", MEMBER_ID},
        {"\"method\"", MEMBER_METHOD},
        {"\"result\"", MEMBER_OUTCOME},
        {"\"error\"", MEMBER_OUTCOME},
    };
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        if (patchbay_str_eq(key, patchbay_str_of(KEYS[i].key))) {
            return KEYS[i].kind;
        }
    }
    return MEMBER_OTHER;
}

/* What is known of the id of one message. */
typedef struct found_id {
    patchbay_str id;
    int is_early;    /* it stands before the result */
    int is_disputed; /* there is another one */
} found_id;

static void take_id(found_id *found, patchbay_str id, int is_early)
{
    if (found->id.len == 0) {
        found->id = id;
        found->is_early = is_early;
    } else if (!patchbay_str_eq(found->id, id)) {
        found->is_disputed = 1;
    }
}

static patchbay_str trim_end(const char *from, const char *to)
{
    while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\n' || to[-1] == '\r')) {
        to--;
    }
    return patchbay_str_make(from, (size_t)(to - from));
}

/* One member, from its key on. Returns where its value ends, NULL when that is not to be seen. */
static const char *take_member(const char *at, const char *end, refused_message *message,
                               found_id *found)
{
    const char *key = at;
    if (at == end || *at != '"') {
        return NULL;
    }
    at = skip_string(at, end);
    if (at == NULL) {
        return NULL;
    }
    member_kind kind = kind_of(patchbay_str_make(key, (size_t)(at - key)));
    at = skip_space(at, end);
    if (at == end || *at != ':') {
        return NULL;
    }
    message->has_method = message->has_method || kind == MEMBER_METHOD;
    message->has_outcome = message->has_outcome || kind == MEMBER_OUTCOME;
    const char *value = skip_space(at + 1, end);
    at = skip_value(value, end);
    if (at != NULL && *at == ']') {
        return NULL;
    }
    if (at != NULL && kind == MEMBER_ID) {
        take_id(found, trim_end(value, at), !message->has_outcome);
    }
    return at;
}

/* An object, from behind its brace. Returns where it ends, NULL when that is not to be seen. */
static const char *take_object(const char *at, const char *end, refused_message *message,
                               found_id *found)
{
    at = skip_space(at, end);
    if (at < end && *at == '}') {
        return at + 1;
    }
    for (;;) {
        at = take_member(skip_space(at, end), end, message, found);
        if (at == NULL) {
            return NULL;
        }
        at++;
        if (at[-1] == '}') {
            return at;
        }
    }
}

refused_iter refused_iterate(patchbay_str text)
{
    static const char BYTE_ORDER_MARK[] = "\xef\xbb\xbf"; /* as writers of .NET begin with */
    enum { MARK_BYTES = sizeof BYTE_ORDER_MARK - 1 };
    refused_iter it = {.at = text.ptr, .end = text.len > 0 ? text.ptr + text.len : text.ptr};
    if (text.len >= MARK_BYTES && memcmp(text.ptr, BYTE_ORDER_MARK, MARK_BYTES) == 0) {
        it.at += MARK_BYTES;
    }
    it.at = skip_space(it.at, it.end);
    if (it.at < it.end && *it.at == '[') {
        it.is_batch = 1;
        it.at++;
    }
    return it;
}

int refused_next(refused_iter *it, refused_message *ret_message)
{
    found_id found = {.is_early = 0};
    refused_message message = {.is_in_batch = it->is_batch};
    const char *at = skip_space(it->at, it->end);
    if (it->is_batch && at < it->end && *at == ',') {
        at = skip_space(at + 1, it->end);
    }
    if (at == it->end || *at != '{') {
        it->at = it->end;
        return 0;
    }
    at = take_object(at + 1, it->end, &message, &found);
    message.is_cut = at == NULL;
    if (!found.is_disputed && (!message.is_cut || found.is_early)) {
        message.id = found.id;
    }
    it->at = at != NULL && it->is_batch ? at : it->end; /* one message is not followed by others */
    *ret_message = message;
    return 1;
}

uint64_t refused_number(patchbay_str id)
{
    uint64_t number = 0;
    size_t digits = 0;
    if (id.len >= 2 && id.ptr[0] == '"' && id.ptr[id.len - 1] == '"') {
        id = patchbay_str_make(id.ptr + 1, id.len - 2);
    }
    while (digits < id.len && id.ptr[digits] >= '0' && id.ptr[digits] <= '9') {
        number = number * 10 + (uint64_t)(id.ptr[digits] - '0');
        if (++digits > NUMBER_DIGITS) {
            return UINT64_MAX;
        }
    }
    size_t at = digits;
    if (at < id.len && id.ptr[at] == '.') {
        do {
            at++;
        } while (at < id.len && id.ptr[at] == '0');
    }
    return digits > 0 && at == id.len ? number : UINT64_MAX;
}
