/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the tools room: catalogs from JSON text, and what was reported as left out. */
#ifndef PATCHBAY_TESTS_CATALOG_SUPPORT_H
#define PATCHBAY_TESTS_CATALOG_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "tools/catalog.h"
#include "wire/json.h"

#define NAMES(...)                                                                                 \
    ((hub_names){.items = (const char *const[]){__VA_ARGS__},                                      \
                 .count = sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *),       \
                 .set = true})
#define NO_NAMES ((hub_names){.set = true})

/* A tool with further members in front of its schema: TOOL_WITH("a", "\"title\":\"A\",") */
#define TOOL_WITH(name, more)                                                                      \
    "{\"name\":\"" name "\"," more "\"inputSchema\":{\"type\":\"object\"}}"
#define TOOL(name)         TOOL_WITH(name, "")
#define META(name, inside) TOOL_WITH(name, "\"_meta\":{" inside "},")
#define NEWER(name)        /* 2026-07-28 alone allows such a property */                           \
    "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":true}}}"

/* Reasons that were reported. */
typedef struct reports {
    size_t count;
    char last[2048];
} reports;

static inline void keep_report(void *ctx, hub_str reason)
{
    reports *r = ctx;
    r->count++;
    (void)snprintf(r->last, sizeof r->last, HUB_STR_FMT, HUB_STR_ARG(reason));
}

static inline hub_catalog *parse_reporting(const char *json, bool compile, reports *r)
{
    hub_catalog *catalog = NULL;
    hub_error why = {.text = ""};
    assert_int_equal(hub_json_check(hub_str_of(json), NULL, NULL), HUB_OK);
    if (hub_catalog_parse(HUB_KIND_TOOL, hub_str_of(json), compile, keep_report, r, &catalog,
                          &why) != HUB_OK) {
        fail_msg("%s", why.text);
    }
    return catalog;
}

/* A catalog of which nothing is left out. */
static inline hub_catalog *parse(const char *json)
{
    reports r = {.count = 0};
    hub_catalog *catalog = parse_reporting(json, false, &r);
    if (r.count > 0) {
        fail_msg("%s", r.last);
    }
    return catalog;
}

#endif
