/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of wire/dialect: frames as text, and every frame checked to be a message. */
#ifndef TESTS_UNIT_DIALECT_SUPPORT_H
#define TESTS_UNIT_DIALECT_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/limits.h"
#include "wire/dialect.h"

#define MODERN_DATE "2026-07-28"
#define K_VERSION   "\"io.modelcontextprotocol/protocolVersion\""
#define K_CAPS      "\"io.modelcontextprotocol/clientCapabilities\""
#define K_INFO      "\"io.modelcontextprotocol/clientInfo\""
#define K_LEVEL     "\"io.modelcontextprotocol/logLevel\""
#define V_MODERN    K_VERSION ":\"" MODERN_DATE "\""

/* The parts one behind the other, NUL-terminated, to be freed. */
static inline char *join(const hub_str *parts, size_t count)
{
    hub_buf out;
    hub_buf_init(&out, SIZE_MAX);
    assert_true(count > 0 && count <= HUB_FRAME_PARTS);
    for (size_t i = 0; i < count; i++) {
        hub_buf_add(&out, parts[i]);
    }
    char *text = hub_buf_take(&out);
    assert_non_null(text);
    return text;
}

/* The frame is a message of this kind and this text. */
static inline void assert_frame(const hub_str *parts, size_t count, hub_message_kind kind,
                                const char *expected)
{
    char *text = join(parts, count);
    hub_message message;
    hub_error why = {.code = HUB_OK};
    if (strcmp(text, expected) != 0) {
        print_error("got %s\nnot %s\n", text, expected);
    }
    assert_string_equal(text, expected);
    if (hub_message_scan(hub_str_of(text), &message, &why) != HUB_OK) {
        print_error("%s: %s\n", why.text, text);
    }
    assert_int_equal(message.kind, kind);
    free(text);
}

#endif
