/* SPDX-License-Identifier: Apache-2.0 */
#include "state/names.h"

#include "base/limits.h"
#include "wire/json.h"

/* Text that stands for itself wherever it is shown. */
static bool is_plain(hub_str text)
{
    size_t at = 0;
    while (at < text.len) {
        hub_str rest = hub_str_from(text, at);
        size_t length = hub_str_utf8_length(rest);
        if (length == 0 || hub_str_is_control(rest, length)) {
            return false;
        }
        at += length;
    }
    return true;
}

static hub_err check_part(const char *what, hub_str text, size_t most, hub_error *reterr)
{
    if (text.len > most) {
        return hub_fail(reterr, HUB_EINVAL, "the %s of a record has %zu bytes: at most %zu", what,
                        text.len, most);
    }
    return is_plain(text)
               ? HUB_OK
               : hub_fail(reterr, HUB_EINVAL,
                          "the %s of a record has a control character, or is not UTF-8", what);
}

static bool is_kind(hub_str kind)
{
    bool is_good = kind.len > 0 && kind.len <= HUB_LIMIT_STATE_KIND_BYTES;
    for (size_t i = 0; is_good && i < kind.len; i++) {
        char c = kind.ptr[i];
        is_good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    }
    return is_good;
}

hub_err hub_state_check_range(const hub_state_record *record, hub_error *reterr)
{
    if (!is_kind(record->kind)) {
        return hub_fail(reterr, HUB_EINVAL,
                        "the kind of a record is 1 to %d of a-z, 0-9, \"-\" and \"_\"",
                        HUB_LIMIT_STATE_KIND_BYTES);
    }
    hub_err err = check_part("scope", record->scope, HUB_LIMIT_STATE_SCOPE_BYTES, reterr);
    if (err == HUB_OK) {
        err = check_part("owner", record->owner, HUB_LIMIT_STATE_OWNER_BYTES, reterr);
    }
    return err == HUB_OK ? check_part("key", record->key, HUB_LIMIT_STATE_KEY_BYTES, reterr) : err;
}

hub_err hub_state_check_name(const hub_state_record *record, hub_error *reterr)
{
    if (record->key.len == 0 || record->scope.len == 0) {
        return hub_fail(reterr, HUB_EINVAL, "a record has no key, or no scope");
    }
    return hub_state_check_range(record, reterr);
}

hub_err hub_state_check_document(hub_str document, size_t most, hub_error *reterr)
{
    if (document.len > most) {
        return hub_fail(reterr, HUB_ELIMIT, "the document of a record has %zu bytes: at most %zu",
                        document.len, most);
    }
    return hub_json_check(document, NULL, reterr);
}
