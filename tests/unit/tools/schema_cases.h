/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of tools/schema.h share. Schemas and values are written with ' for ". */
#ifndef TESTS_SCHEMA_CASES_H
#define TESTS_SCHEMA_CASES_H

#include "tools/schema.h"

#include "base/limits.h"
#include "wire/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define DRAFT07 "'$schema':'http://json-schema.org/draft-07/schema#'"

/* `text` with ' turned into ", in memory of exactly its size so that a sanitizer sees overreads. */
static inline hub_str quoted(const char *text)
{
    size_t len = strlen(text);
    char *copy = malloc(len + 1);
    assert_non_null(copy);
    for (size_t i = 0; i < len; i++) {
        copy[i] = text[i] == '\'' ? '"' : text[i];
    }
    char *exact = realloc(copy, len > 0 ? len : 1);
    assert_non_null(exact);
    return (hub_str){.ptr = exact, .len = len};
}

static inline void free_text(hub_str text)
{
    union {
        const char *borrowed;
        void *owned;
    } memory = {.borrowed = text.ptr};
    free(memory.owned);
}

#endif
