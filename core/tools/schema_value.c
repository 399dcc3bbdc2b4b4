/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/schema_internal.h"

#include <stdlib.h>

enum {
    FEW_MEMBERS = 8,     /* up to here a linear search wins */
    BYTES_PER_STEP = 64, /* reading text, relative to entering a node */
    UNICODE_ESCAPE = 6,  /* \uXXXX */
};

static int by_key(const void *left, const void *right)
{
    const hub_schema_member *a = *(const hub_schema_member *const *)left;
    const hub_schema_member *b = *(const hub_schema_member *const *)right;
    int order = hub_str_cmp(a->key, b->key);
    return order != 0 ? order : (a > b) - (a < b);
}

static hub_err sort_members(hub_schema_run *run, hub_schema_value *value)
{
    value->sorted = hub_schema_alloc(&run->memory, value->count, sizeof *value->sorted);
    if (value->sorted == NULL) {
        return hub_schema_abort(run, run->memory.failed, NULL);
    }
    for (size_t i = 0; i < value->count; i++) {
        value->sorted[i] = &value->members[i];
    }
    qsort(value->sorted, value->count, sizeof(hub_schema_member *), by_key);
    return HUB_OK;
}

/* Members without the index. */
static hub_err load_members(hub_schema_run *run, hub_schema_value *value)
{
    value->count = hub_json_count(value->raw);
    hub_err err = hub_schema_charge(run, 1 + value->count + value->raw.len / BYTES_PER_STEP);
    if (err != HUB_OK) {
        return err;
    }
    hub_schema_member *members =
        hub_schema_alloc(&run->memory, value->count, sizeof(hub_schema_member));
    if (members == NULL) {
        return hub_schema_abort(run, run->memory.failed, NULL);
    }
    hub_json_iter it = hub_json_iterate(value->raw);
    hub_str key;
    for (size_t i = 0; i < value->count && hub_json_next(&it, &key, &members[i].raw); i++) {
        if (value->type != HUB_JSON_OBJECT) {
            continue;
        }
        err = hub_schema_text(&run->memory, key, &members[i].key);
        if (err != HUB_OK) {
            return hub_schema_abort(run, err, NULL);
        }
    }
    value->members = members;
    return HUB_OK;
}

hub_err hub_schema_load(hub_schema_run *run, hub_schema_value *value)
{
    if (value->type != HUB_JSON_ARRAY && value->type != HUB_JSON_OBJECT) {
        return HUB_OK;
    }
    hub_err err = load_members(run, value);
    if (err == HUB_OK && value->type == HUB_JSON_OBJECT && value->count > FEW_MEMBERS) {
        err = sort_members(run, value);
    }
    return err;
}

size_t hub_schema_member_find(const hub_schema_value *value, hub_str key)
{
    if (value->sorted == NULL) {
        for (size_t i = 0; i < value->count; i++) {
            if (hub_str_eq(value->members[i].key, key)) {
                return i;
            }
        }
        return SIZE_MAX;
    }
    size_t low = 0;
    size_t high = value->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (hub_str_cmp(value->sorted[middle]->key, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == value->count || !hub_str_eq(value->sorted[low]->key, key)) {
        return SIZE_MAX;
    }
    return (size_t)(value->sorted[low] - value->members);
}

hub_err hub_schema_text(hub_schema_memory *memory, hub_str raw, hub_str *ret_text)
{
    if (hub_json_plain(raw, ret_text)) {
        return HUB_OK;
    }
    hub_buf decoded;
    hub_buf_init(&decoded, raw.len + 1);
    hub_err err = hub_json_decode(raw, &decoded);
    char *copy = err == HUB_OK ? hub_schema_alloc(memory, decoded.len + 1, 1) : NULL;
    if (copy != NULL) {
        if (decoded.len > 0) {
            memcpy(copy, decoded.ptr, decoded.len);
        }
        *ret_text = (hub_str){.ptr = copy, .len = decoded.len};
    } else if (err == HUB_OK) {
        err = memory->failed;
    }
    hub_buf_fini(&decoded);
    return err;
}

static bool is_escape(const char *at, const char *end, char first, const char *second)
{
    return end - at >= UNICODE_ESCAPE && at[0] == '\\' && at[1] == 'u' && (at[2] | 0x20) == first &&
           strchr(second, at[3] | 0x20) != NULL;
}

size_t hub_schema_text_length(hub_str raw)
{
    const char *at = raw.ptr + 1;
    const char *end = raw.ptr + raw.len - 1;
    size_t length = 0;
    while (at < end) {
        if (*at != '\\') {
            length += ((unsigned char)*at & 0xc0) != 0x80; /* not within a character */
            at++;
            continue;
        }
        length++;
        if (is_escape(at, end, 'd', "89ab") && is_escape(at + UNICODE_ESCAPE, end, 'd', "cdef")) {
            at += 2 * UNICODE_ESCAPE; /* a surrogate pair */
        } else {
            at += at[1] == 'u' ? UNICODE_ESCAPE : 2;
        }
    }
    return length;
}

bool hub_schema_type_fits(unsigned types, hub_json_type type, hub_str raw)
{
    if (((types >> type) & 1u) != 0) {
        return true;
    }
    if (type != HUB_JSON_NUMBER || (types & HUB_SCHEMA_INTEGER) == 0) {
        return false;
    }
    hub_schema_number number = hub_schema_number_of(raw);
    return hub_schema_number_is_integer(&number);
}

/* The finaliser of MurmurHash3: sums of its results do not cancel out as sums of products would. */
static uint64_t mix(uint64_t hash)
{
    hash ^= hash >> 33;
    hash *= UINT64_C(0xff51afd7ed558ccd);
    hash ^= hash >> 33;
    hash *= UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ (hash >> 33);
}

/* Recursion is bounded by the depth of JSON, HUB_LIMIT_JSON_DEPTH. */
static hub_err hash_members(hub_schema_run *run, hub_str raw, hub_json_type type,
                            uint64_t *ret_hash)
{
    uint64_t hash = type;
    hub_json_iter it = hub_json_iterate(raw);
    hub_str key;
    hub_str member;
    while (hub_json_next(&it, &key, &member)) {
        uint64_t member_hash = 0;
        uint64_t key_hash = 0;
        hub_err err = hub_schema_hash(run, member, &member_hash);
        if (err == HUB_OK && type == HUB_JSON_OBJECT) {
            err = hub_schema_hash(run, key, &key_hash);
        }
        if (err != HUB_OK) {
            return err;
        }
        if (type == HUB_JSON_OBJECT) {
            hash += mix(key_hash * 31 + member_hash);
        } else {
            hash = mix(hash * 31 + member_hash);
        }
    }
    *ret_hash = mix(hash);
    return HUB_OK;
}

hub_err hub_schema_hash(hub_schema_run *run, hub_str raw, uint64_t *ret_hash)
{
    hub_err err = hub_schema_charge(run, 1 + raw.len / BYTES_PER_STEP);
    if (err != HUB_OK) {
        return err;
    }
    hub_json_type type = hub_json_type_of(raw);
    if (type == HUB_JSON_ARRAY || type == HUB_JSON_OBJECT) {
        return hash_members(run, raw, type, ret_hash);
    }
    uint64_t hash = 0;
    if (type == HUB_JSON_NUMBER) {
        hub_schema_number number = hub_schema_number_of(raw);
        hash = hub_schema_number_hash(&number);
    } else if (type == HUB_JSON_STRING) {
        hub_schema_mark mark = hub_schema_mark_get(&run->memory);
        hub_str text = HUB_STR_EMPTY;
        err = hub_schema_text(&run->memory, raw, &text);
        hash = hub_str_hash(text);
        hub_schema_release(&run->memory, mark);
        if (err != HUB_OK) {
            return hub_schema_abort(run, err, NULL);
        }
    }
    *ret_hash = mix(hash + type);
    return HUB_OK;
}

static hub_err compare_strings(hub_schema_run *run, hub_str a, hub_str b)
{
    hub_str text_a = HUB_STR_EMPTY;
    hub_str text_b = HUB_STR_EMPTY;
    hub_err err = hub_schema_text(&run->memory, a, &text_a);
    if (err == HUB_OK) {
        err = hub_schema_text(&run->memory, b, &text_b);
    }
    if (err != HUB_OK) {
        return hub_schema_abort(run, err, NULL);
    }
    return hub_str_eq(text_a, text_b) ? HUB_OK : HUB_EINVAL;
}

/* Arrays in order, objects in the order of their keys. */
static hub_err compare_members(hub_schema_run *run, hub_str a, hub_str b, hub_json_type type)
{
    hub_schema_value left = {.raw = a, .type = type};
    hub_schema_value right = {.raw = b, .type = type};
    hub_err err = load_members(run, &left);
    if (err == HUB_OK) {
        err = load_members(run, &right);
    }
    if (err == HUB_OK && left.count != right.count) {
        err = HUB_EINVAL;
    }
    if (err == HUB_OK && type == HUB_JSON_OBJECT) {
        err = sort_members(run, &left);
        if (err == HUB_OK) {
            err = sort_members(run, &right);
        }
    }
    for (size_t i = 0; err == HUB_OK && i < left.count; i++) {
        const hub_schema_member *x = left.sorted ? left.sorted[i] : &left.members[i];
        const hub_schema_member *y = right.sorted ? right.sorted[i] : &right.members[i];
        err = hub_str_eq(x->key, y->key) ? hub_schema_compare(run, x->raw, y->raw) : HUB_EINVAL;
    }
    return err;
}

hub_err hub_schema_compare(hub_schema_run *run, hub_str a, hub_str b)
{
    hub_err err = hub_schema_charge(run, 1 + a.len / BYTES_PER_STEP);
    if (err != HUB_OK || hub_str_eq(a, b)) {
        return err;
    }
    hub_json_type type = hub_json_type_of(a);
    if (type != hub_json_type_of(b)) {
        return HUB_EINVAL;
    }
    hub_schema_mark mark = hub_schema_mark_get(&run->memory);
    if (type == HUB_JSON_NUMBER) {
        hub_schema_number x = hub_schema_number_of(a);
        hub_schema_number y = hub_schema_number_of(b);
        err = hub_schema_number_cmp(&x, &y) == 0 ? HUB_OK : HUB_EINVAL;
    } else if (type == HUB_JSON_STRING) {
        err = compare_strings(run, a, b);
    } else {
        err = compare_members(run, a, b, type); /* literals are equal bytes, found above */
    }
    hub_schema_release(&run->memory, mark);
    return err;
}
