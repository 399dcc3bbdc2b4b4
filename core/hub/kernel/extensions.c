/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/extensions.h"

#include "base/limits.h"
#include "tools/definition_readable.h"
#include "wire/json.h"

enum { SHOWN_BYTES = 64 }; /* of a key */

/* Why an extension is left out, or NULL. */
static const char *why_not(hub_str all, hub_str key, hub_str raw_key, hub_str value)
{
    hub_str member = hub_str_between(raw_key.ptr, value.ptr + value.len);
    if (hub_json_type_of(value) != HUB_JSON_OBJECT) {
        return "it must be an object";
    }
    if (member.len > HUB_LIMIT_EXTENSION_BYTES) {
        return "it is too large";
    }
    return hub_json_get(all, key).ptr != value.ptr ? "it occurs twice"
                                                   : hub_definition_unreadable(member);
}

/* `before`: how many are left out already. The first one is named, the others are counted. */
static void leave_out(hub_str key, const char *why, size_t before, hub_error *ret_left_out)
{
    key.len = key.len < SHOWN_BYTES ? key.len : SHOWN_BYTES;
    if (before == 0) {
        (void)hub_fail(ret_left_out, HUB_EINVAL, "extension \"" HUB_STR_FMT "\" is left out: %s",
                       HUB_STR_ARG(key), why);
    }
}

static void tell_count(size_t left_out, hub_error *ret_left_out)
{
    if (left_out > 1 && ret_left_out != NULL) {
        const hub_error first = *ret_left_out;
        (void)hub_fail(ret_left_out, first.code, "%s (%zu are left out in all)", first.text,
                       left_out);
    }
}

static hub_err sift(hub_str all, hub_buf *out, hub_error *ret_left_out)
{
    hub_str raw_key;
    hub_str value;
    hub_buf key;
    hub_err err = HUB_OK;
    size_t left_out = 0;
    hub_json_iter it = hub_json_iterate(all);
    hub_buf_init(&key, all.len + 1);
    hub_buf_add_char(out, '{');
    for (size_t i = 0; err == HUB_OK && hub_json_next(&it, &raw_key, &value); i++) {
        if (i == HUB_LIMIT_EXTENSIONS) {
            left_out = 0; /* what matters is that there are too many */
            (void)hub_fail(ret_left_out, HUB_ELIMIT, "of its extensions the first %zu are read", i);
            break;
        }
        hub_buf_clear(&key);
        err = hub_json_decode(raw_key, &key);
        hub_str name = hub_buf_str(&key);
        const char *why = err == HUB_OK ? why_not(all, name, raw_key, value) : hub_err_text(err);
        if (why == NULL) {
            hub_json_add_key(out, name);
            hub_buf_add(out, value);
        } else {
            leave_out(name, why, left_out++, ret_left_out);
        }
    }
    tell_count(left_out, ret_left_out);
    hub_buf_add_char(out, '}');
    hub_buf_fini(&key);
    return err;
}

hub_err hub_extensions_read(hub_str json, hub_capabilities *ret_capabilities,
                            hub_error *ret_left_out)
{
    hub_str all = hub_json_get(json, HUB_STR("extensions"));
    hub_buf sifted;
    hub_err err = HUB_OK;
    if (hub_json_type_of(all) != HUB_JSON_OBJECT) {
        return hub_capabilities_read(json, ret_capabilities);
    }
    hub_buf_init(&sifted, json.len + 1);
    hub_buf_add(&sifted, hub_str_between(json.ptr, all.ptr));
    err = sift(all, &sifted, ret_left_out);
    hub_buf_add(&sifted, hub_str_between(all.ptr + all.len, json.ptr + json.len));
    if (err == HUB_OK && hub_buf_ok(&sifted)) {
        err = hub_capabilities_read(hub_buf_str(&sifted), ret_capabilities);
    } else {
        err = HUB_ENOMEM;
    }
    hub_buf_fini(&sifted);
    return err;
}
