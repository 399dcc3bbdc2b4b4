/* SPDX-License-Identifier: Apache-2.0 */
#include "sections.h"

#include "base/limits.h"
#include "tools/exposure.h"

#include <stdio.h>
#include <stdlib.h>

enum { TOOLSETS = 100, TOOLS = 100, TEXT_BYTES = 500, KEY_BYTES = 8, OTHERS = 19 };

static char keys[TOOLSETS][KEY_BYTES];
static hub_catalog *lists[2]; /* what the changing one says by turns */
static hub_base *base;
static hub_exposure *exposure;       /* of all */
static hub_exposure *others[OTHERS]; /* of one less, two less, …; NULL: there are none */
static unsigned long changes;

static void must(hub_err err)
{
    if (err != HUB_OK) {
        (void)fprintf(stderr, "micro: %s\n", hub_err_text(err));
        exit(1);
    }
}

static void ignore_drop(void *ctx, hub_str reason)
{
    (void)ctx;
    (void)reason;
}

static hub_catalog *make_list(const char *word)
{
    hub_buf json;
    hub_catalog *list = NULL;
    hub_buf_init(&json, HUB_LIMIT_CATALOG_BYTES);
    for (unsigned i = 0; i < TOOLS; i++) {
        hub_buf_printf(&json,
                       "%c{\"name\":\"tool%u\",\"description\":\"%s%*s\",\"inputSchema\":{\"type\":"
                       "\"object\"}}",
                       i > 0 ? ',' : '[', i, word, TEXT_BYTES, "");
    }
    hub_buf_add_char(&json, ']');
    must(hub_catalog_parse(HUB_KIND_TOOL, hub_buf_str(&json), false, ignore_drop, NULL, &list,
                           NULL));
    hub_buf_fini(&json);
    return list;
}

static hub_source sources[TOOLSETS];

static bool prepare(size_t count)
{
    static const hub_exposure_rules rules = {.policies = {NULL, NULL}};
    const hub_naming_rule rule = {.naming = HUB_NAMING_PREFIX,
                                  .max_name_bytes = HUB_LIMIT_EXPOSED_NAME_BYTES};
    lists[0] = make_list("one");
    lists[1] = make_list("two");
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(keys[i], KEY_BYTES, "t%zu", i);
        sources[i] = (hub_source){.toolset = hub_str_of(keys[i]), .lists = {lists[0]}};
    }
    must(hub_base_create(&rule, sources, count, NULL, &base, NULL));
    must(hub_exposure_create(base, &rules, sources, count, NULL, NULL, &exposure, NULL));
    return true;
}

bool sections_prepare_one_of_many(void)
{
    return prepare(TOOLSETS);
}

bool sections_prepare_only_one(void)
{
    return prepare(1);
}

bool sections_prepare_shared(void)
{
    static const hub_exposure_rules rules[OTHERS]; /* whose masks are apart */
    (void)prepare(TOOLSETS);
    for (size_t i = 0; i < OTHERS; i++) {
        must(hub_exposure_create(base, &rules[i], sources, TOOLSETS - 1 - i, NULL, NULL, &others[i],
                                 NULL));
    }
    return true;
}

void sections_change(void)
{
    must(hub_base_update(base, hub_str_of(keys[0]), HUB_KIND_TOOL, lists[++changes % 2], NULL));
}

bool sections_check(unsigned long count)
{
    hub_str definition =
        hub_exposure_tool_definition(exposure, HUB_REVISION_NONE, HUB_STR("t0__tool7"));
    hub_str word = changes % 2 == 1 ? HUB_STR("\"two ") : HUB_STR("\"one ");
    bool is_right = changes == count && hub_str_find(definition, word) < definition.len;
    for (size_t i = 0; i < OTHERS; i++) {
        hub_exposure_destroy(others[i]);
    }
    hub_exposure_destroy(exposure);
    hub_base_unref(base);
    hub_catalog_unref(lists[0]);
    hub_catalog_unref(lists[1]);
    return is_right;
}
