/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of wire/ share. Texts under test lie in a heap block of exactly their length, so
 * that a sanitizer sees one byte read too many. */
#ifndef PATCHBAY_TESTS_JSON_CASES_H
#define PATCHBAY_TESTS_JSON_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wire/json.h"

/* A text in a static table; it may hold NUL. */
#define TEXT(literal)                                                                              \
    {                                                                                              \
        .ptr = (literal), .len = sizeof(literal) - 1                                               \
    }

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A copy of `text` that ends where its block ends; free its ptr. */
static inline hub_str copy_exact(hub_str text)
{
    char *block = malloc(text.len);
    assert_true(block != NULL || text.len == 0);
    if (text.len > 0) {
        memcpy(block, text.ptr, text.len);
    }
    return (hub_str){.ptr = block, .len = text.len};
}

static inline void free_exact(hub_str copy)
{
    free((void *)(uintptr_t)copy.ptr);
}

/* hub_json_check on an exact copy. */
static inline hub_err check_exact(hub_str text, hub_error *reterr)
{
    hub_str copy = copy_exact(text);
    hub_str value = {0};
    hub_err err = hub_json_check(copy, &value, reterr);
    if (err == HUB_OK) {
        assert_true(value.len > 0 && value.ptr >= copy.ptr);
        assert_true(value.ptr + value.len <= copy.ptr + copy.len);
    }
    free_exact(copy);
    return err;
}

/* `count` times `part`, between `before` and `after`; free its ptr. */
static inline hub_str repeat(const char *before, const char *part, size_t count, const char *after)
{
    hub_buf out;
    hub_buf_init(&out, 64u << 20);
    hub_buf_add(&out, hub_str_of(before));
    for (size_t i = 0; i < count; i++) {
        hub_buf_add(&out, hub_str_of(part));
    }
    hub_buf_add(&out, hub_str_of(after));
    assert_true(hub_buf_ok(&out));
    hub_str text = copy_exact(hub_buf_str(&out));
    hub_buf_fini(&out);
    return text;
}

static inline void assert_text(hub_str got, const char *want)
{
    if (!hub_str_is(got, want)) {
        fail_msg("got '" HUB_STR_FMT "', want '%s'", HUB_STR_ARG(got), want);
    }
}

#endif
