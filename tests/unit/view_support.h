/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of views: sources made of JSON text, and what was left out. */
#ifndef PATCHBAY_TESTS_VIEW_SUPPORT_H
#define PATCHBAY_TESTS_VIEW_SUPPORT_H

#include "catalog_support.h"

#include "tools/naming.h"
#include "tools/view.h"

enum { MAX_SOURCES = 8, MANY = HUB_LIMIT_TOOLS_PER_TOOLSET };

/* Sources of a view, and what was left out of it. */
typedef struct setup {
    hub_source sources[MAX_SOURCES];
    size_t count;
    hub_view_rules rules;
    reports left_out;
    hub_error why;
} setup;

static inline setup make_setup(hub_naming naming)
{
    return (setup){.rules = {.naming = naming, .max_name_bytes = HUB_LIMIT_EXPOSED_NAME_BYTES}};
}

static inline hub_source *add(setup *s, const char *toolset, const char *tools, bool native)
{
    hub_source *source = &s->sources[s->count++];
    *source = (hub_source){
        .toolset = hub_str_of(toolset), .lists = {parse(tools)}, .native = native, .fresh = true};
    return source;
}

static inline void clear(setup *s)
{
    while (s->count > 0) {
        hub_catalog_unref(s->sources[--s->count].lists[0]);
    }
}

static inline hub_err try_build(setup *s, hub_view **ret_view)
{
    return hub_view_build(HUB_KIND_TOOL, s->sources, s->count, &s->rules, NULL, keep_report,
                          &s->left_out, ret_view, &s->why);
}

static inline hub_view *build(setup *s)
{
    hub_view *view = NULL;
    if (try_build(s, &view) != HUB_OK) {
        fail_msg("%s", s->why.text);
    }
    return view;
}

/* The exposed names in their order, with spaces between. */
static inline void expect_names(const hub_view *view, const char *want)
{
    char text[4096] = "";
    size_t len = 0;
    for (size_t i = 0; i < view->count; i++) {
        len += (size_t)snprintf(text + len, sizeof text - len, "%s" HUB_STR_FMT, i > 0 ? " " : "",
                                HUB_STR_ARG(view->entries[i].exposed));
        assert_ptr_equal(hub_view_find(view, view->entries[i].exposed), &view->entries[i]);
    }
    assert_string_equal(text, want);
}

static inline void expect_bytes(const hub_view *view, const char *want)
{
    char *bytes = hub_str_dup(hub_view_slice(view, 0, view->count));
    assert_string_equal(bytes, want);
    free(bytes);
}

#endif
