/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URI templates: a set of them finds what a plain matcher finds, and within its budget.
 * Input: lines; the last one is the URI, the others are templates.
 */
#include "oracle.h"
#include "../support/template_oracle.h"
#include "tools/uri_template.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { MOST = 16 };

static void check(const hub_str *templates, size_t count, const hub_uri *uri, bool is_lax)
{
    hub_uri_templates *set = NULL;
    REQUIRE(hub_uri_templates_create(templates, count, &set) == HUB_OK);
    hub_uri_match match = hub_uri_templates_find(set, uri, is_lax);
    REQUIRE(match.steps <= hub_uri_steps(uri->text.len) + uri->words + 1);
    REQUIRE(match.is_cut == (match.steps > hub_uri_steps(uri->text.len)));
    int most = -1;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < count && FUZZ_ORACLE; i++) {
        int literals = oracle_match(templates[i], uri->text, is_lax);
        best = literals > most ? i : best;
        most = literals > most ? literals : most;
    }
    REQUIRE(!FUZZ_ORACLE || match.is_cut || match.is_found == (most >= 0));
    REQUIRE(!FUZZ_ORACLE || !match.is_found ||
            (match.place == best && match.literals == (size_t)most));
    hub_uri_templates_destroy(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hub_str templates[MOST];
    size_t count = 0;
    static hub_uri uri;
    hub_str text = {.ptr = (const char *)data, .len = size < 512 ? size : 512};
    for (size_t end; (end = hub_str_find(text, HUB_STR("\n"))) != SIZE_MAX;) {
        hub_str line = {.ptr = text.ptr, .len = end};
        text = hub_str_from(text, end + 1);
        if (count < MOST && hub_uri_template_is_valid(line)) {
            templates[count++] = line;
        }
    }
    REQUIRE(hub_uri_init(&uri, text));
    check(templates, count, &uri, false);
    check(templates, count, &uri, true);
    return 0;
}
