/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/confirm/question.h"

#include "base/limits.h"
#include "wire/json.h"

#include <stdio.h>

/* The code point that a text begins with; bytes that are not UTF-8 stand for themselves. */
static uint32_t code_point(hub_str text, size_t *ret_length)
{
    size_t length = hub_str_utf8_length(text);
    uint32_t point = (unsigned char)text.ptr[0];
    if (length > 1) {
        point &= 0x7fu >> length;
    }
    for (size_t i = 1; i < length; i++) {
        point = point << 6 | ((unsigned char)text.ptr[i] & 0x3fu);
    }
    *ret_length = length > 0 ? length : 1;
    return point;
}

/* Append a text with everything escaped but printable ASCII, as JSON escapes it. False: it is cut,
 * because it would have more than `most` bytes. */
static bool add_escaped(hub_buf *out, hub_str text, size_t most)
{
    size_t begin = out->len;
    for (size_t i = 0, length = 0; i < text.len; i += length) {
        uint32_t point = code_point(hub_str_from(text, i), &length);
        char escaped[16];
        int size;
        if (point >= 0x20 && point < 0x7f) {
            size = snprintf(escaped, sizeof escaped, "%c", (char)point);
        } else if (point < 0x10000) {
            size = snprintf(escaped, sizeof escaped, "\\u%04x", point);
        } else {
            size =
                snprintf(escaped, sizeof escaped, "\\u%04x\\u%04x",
                         0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff));
        }
        if (out->len - begin + (size_t)size > most) {
            return false;
        }
        hub_buf_add(out, (hub_str){.ptr = escaped, .len = (size_t)size});
    }
    return true;
}

void confirm_add_question(hub_str toolset, hub_str name, hub_str arguments, const char *reason,
                          hub_buf *out)
{
    hub_buf compact;
    hub_buf_init(&compact, arguments.len + 1);
    hub_json_add_compact(&compact, arguments);
    hub_buf_add(out, HUB_STR("Allow this call of "));
    (void)add_escaped(out, toolset, HUB_LIMIT_TOOLSET_KEY_BYTES);
    hub_buf_add_char(out, ':');
    if (!add_escaped(out, name, HUB_LIMIT_URI_BYTES)) {
        hub_buf_add(out, HUB_STR(" [cut]"));
    }
    hub_buf_add(out, HUB_STR("?\nArguments: "));
    if (!add_escaped(out, hub_buf_str(&compact), HUB_LIMIT_CONFIRM_BYTES)) {
        hub_buf_printf(out, " [cut: %zu bytes in all]", compact.len);
    }
    if (reason != NULL) {
        hub_buf_printf(out, "\nReason: %s", reason);
    }
    if (!hub_buf_ok(&compact)) {
        out->failed = HUB_ENOMEM;
    }
    hub_buf_fini(&compact);
}
