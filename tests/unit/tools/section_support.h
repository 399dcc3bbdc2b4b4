/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of bases and exposures: toolsets made of JSON text, and what was left out. */
#ifndef PATCHBAY_TESTS_SECTION_SUPPORT_H
#define PATCHBAY_TESTS_SECTION_SUPPORT_H

#include "catalog_support.h"

#include "tools/exposure.h"
#include "tools/naming.h"

enum { MAX_SOURCES = 8, MANY = HUB_LIMIT_TOOLS_PER_TOOLSET };

/* Toolsets, the rules for them, and what an exposure of all of them left out. */
typedef struct setup {
    hub_source sources[MAX_SOURCES];
    size_t count;
    hub_naming_rule rule;
    hub_exposure_rules policies;
    reports left_out;
    hub_error why;
} setup;

static inline setup make_setup(hub_naming naming)
{
    return (setup){.rule = {.naming = naming, .max_name_bytes = HUB_LIMIT_EXPOSED_NAME_BYTES}};
}

static inline hub_source *add(setup *s, const char *toolset, const char *tools, bool native)
{
    hub_source *source = &s->sources[s->count++];
    *source =
        (hub_source){.toolset = hub_str_of(toolset), .lists = {parse(tools)}, .native = native};
    return source;
}

static inline void clear(setup *s)
{
    while (s->count > 0) {
        hub_catalog_unref(s->sources[--s->count].lists[0]);
    }
}

/* A base of all of them, and an exposure in which all are active. */
static inline hub_err try_build(setup *s, hub_exposure **ret_exposure)
{
    hub_base *base = NULL;
    hub_err err = hub_base_create(&s->rule, s->sources, s->count, NULL, &base, &s->why);
    if (err == HUB_OK) {
        err = hub_exposure_create(base, &s->policies, s->sources, s->count, keep_report,
                                  &s->left_out, ret_exposure, &s->why);
    }
    hub_base_unref(base);
    return err;
}

static inline hub_exposure *build(setup *s)
{
    hub_exposure *exposure = NULL;
    if (try_build(s, &exposure) != HUB_OK) {
        fail_msg("%s", s->why.text);
    }
    return exposure;
}

static inline const hub_entry *find(const hub_exposure *exposure, const char *exposed)
{
    return hub_exposure_find(exposure, HUB_REVISION_NONE, HUB_KIND_TOOL, hub_str_of(exposed));
}

/* The entry at that place of the list. */
static inline const hub_entry *entry_at(const hub_exposure *exposure, size_t at)
{
    const hub_shown *tools = hub_exposure_shown(exposure, HUB_KIND_TOOL);
    hub_shown_place place = {.part = 0};
    const hub_entry *entry = hub_shown_next(tools, &place);
    while (at-- > 0) {
        entry = hub_shown_next(tools, &place);
    }
    return entry;
}

static inline size_t count_tools(const hub_exposure *exposure)
{
    return hub_exposure_shown(exposure, HUB_KIND_TOOL)->count;
}

/* The exposed names in their order, with spaces between. Each leads back to its entry. */
static inline void expect_names(const hub_exposure *exposure, const char *want)
{
    char text[4096] = "";
    size_t len = 0;
    const hub_shown *tools = hub_exposure_shown(exposure, HUB_KIND_TOOL);
    hub_shown_place at = {.part = 0};
    for (const hub_entry *entry = hub_shown_next(tools, &at); entry != NULL;
         entry = hub_shown_next(tools, &at)) {
        len += (size_t)snprintf(text + len, sizeof text - len, "%s" HUB_STR_FMT, len > 0 ? " " : "",
                                HUB_STR_ARG(entry->exposed));
        assert_ptr_equal(
            hub_exposure_find(exposure, HUB_REVISION_NONE, HUB_KIND_TOOL, entry->exposed), entry);
    }
    assert_string_equal(text, want);
}

/* A page as text; free it. */
static inline char *page_text(hub_shown *shown, hub_shown_place from, size_t limit)
{
    hub_shown_page page;
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 4);
    assert_int_equal(hub_shown_take(shown, from, limit, &page), HUB_OK);
    for (size_t i = 0; i < page.span_count; i++) {
        hub_buf_add(&text, page.spans[i]);
    }
    hub_shown_page_fini(&page);
    return hub_buf_take(&text);
}

static inline char *list_text(const hub_exposure *exposure)
{
    return page_text(hub_exposure_shown(exposure, HUB_KIND_TOOL), (hub_shown_place){.part = 0},
                     SIZE_MAX);
}

static inline void expect_bytes(const hub_exposure *exposure, const char *want)
{
    char *bytes = list_text(exposure);
    assert_string_equal(bytes, want);
    free(bytes);
}

#endif
