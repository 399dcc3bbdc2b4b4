/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/remember/record.h"

#include "base/limits.h"
#include "wire/json.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    const hub_str *left = a;
    const hub_str *right = b;
    size_t least = left->len < right->len ? left->len : right->len;
    int order = memcmp(left->ptr, right->ptr, least);
    return order != 0 ? order : (left->len > right->len) - (left->len < right->len);
}

void remember_keys_sort(remember_keys *keys)
{
    if (keys->count > 1) {
        qsort(keys->items, keys->count, sizeof keys->items[0], compare);
    }
}

bool remember_keys_have(const remember_keys *keys, hub_str key)
{
    return keys->count > 0 &&
           bsearch(&key, keys->items, keys->count, sizeof keys->items[0], compare) != NULL;
}

/* A key of a toolset is written without escapes. */
static hub_err read_keys(hub_str raw, remember_keys *ret_keys)
{
    hub_json_iter it = hub_json_iterate(raw);
    hub_str name;
    hub_str value;
    if (raw.len == 0) {
        return HUB_OK;
    }
    if (hub_json_type_of(raw) != HUB_JSON_ARRAY) {
        return HUB_EINVAL;
    }
    ret_keys->items = calloc(hub_json_count(raw) + 1, sizeof ret_keys->items[0]);
    if (ret_keys->items == NULL) {
        return HUB_ENOMEM;
    }
    while (hub_json_next(&it, &name, &value)) {
        if (!hub_json_plain(value, &ret_keys->items[ret_keys->count++])) {
            return HUB_EINVAL;
        }
    }
    remember_keys_sort(ret_keys);
    return HUB_OK;
}

/* The name takes the place of its raw form, which is longer. */
static hub_err read_name(hub_str raw, hub_str *ret_name)
{
    hub_buf name;
    if (raw.len == 0) {
        return HUB_OK;
    }
    if (hub_json_type_of(raw) != HUB_JSON_STRING) {
        return HUB_EINVAL;
    }
    hub_buf_init(&name, raw.len);
    hub_err err = hub_json_decode(raw, &name);
    if (err == HUB_OK && name.len <= HUB_LIMIT_REMEMBER_NAME_BYTES) {
        memcpy((char *)(uintptr_t)raw.ptr, name.ptr != NULL ? name.ptr : "", name.len);
        *ret_name = (hub_str){.ptr = raw.ptr, .len = name.len};
    } else if (err == HUB_OK) {
        err = HUB_EINVAL;
    }
    hub_buf_fini(&name);
    return err;
}

hub_err remember_record_read(hub_str document, remember_record *ret_record)
{
    remember_record record = {.text = hub_str_dup(document)};
    hub_str whole = {.ptr = record.text, .len = document.len};
    hub_str object;
    if (record.text == NULL) {
        return HUB_ENOMEM;
    }
    hub_err err = hub_json_check(whole, &object, NULL);
    if (err == HUB_OK && hub_json_type_of(object) != HUB_JSON_OBJECT) {
        err = HUB_EINVAL;
    }
    if (err == HUB_OK) {
        err = read_keys(hub_json_get(object, HUB_STR("enabled")), &record.enabled);
    }
    if (err == HUB_OK) {
        err = read_keys(hub_json_get(object, HUB_STR("disabled")), &record.disabled);
    }
    if (err == HUB_OK) { /* last: it writes into the text */
        err = read_name(hub_json_get(object, HUB_STR("equipped")), &record.equipped);
    }
    if (err != HUB_OK) {
        remember_record_fini(&record);
        return err == HUB_ENOMEM ? err : HUB_EINVAL;
    }
    *ret_record = record;
    return HUB_OK;
}

void remember_record_fini(remember_record *record)
{
    free(record->enabled.items);
    free(record->disabled.items);
    free(record->text);
    *record = (remember_record){.text = NULL};
}

bool remember_record_is_empty(const remember_record *record)
{
    return record->enabled.count + record->disabled.count + record->equipped.len == 0;
}

static void write_keys(const char *name, const remember_keys *keys, hub_buf *out)
{
    if (keys->count == 0) {
        return;
    }
    hub_json_add_key(out, hub_str_of(name));
    hub_buf_add_char(out, '[');
    for (size_t i = 0; i < keys->count; i++) {
        hub_json_add_comma(out);
        hub_json_add_string(out, keys->items[i]);
    }
    hub_buf_add_char(out, ']');
}

void remember_record_write(const remember_record *record, hub_buf *out)
{
    hub_buf_add_char(out, '{');
    write_keys("enabled", &record->enabled, out);
    write_keys("disabled", &record->disabled, out);
    if (record->equipped.len > 0) {
        hub_json_add_key(out, HUB_STR("equipped"));
        hub_json_add_string(out, record->equipped);
    }
    hub_buf_add_char(out, '}');
}
