/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of DynamicToolManager: run an operation, keep what became of it. */
#ifndef PATCHBAY_TESTS_MANAGER_SUPPORT_H
#define PATCHBAY_TESTS_MANAGER_SUPPORT_H

#include "hub_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"

enum { MAX_RESULTS = 64 };

/* What an operation reported. */
typedef struct outcome {
    unsigned times;
    size_t count;
    hub_manager_result results[MAX_RESULTS]; /* toolset is not kept */
} outcome;

static inline void keep_outcome(void *ctx, const hub_manager_result *results, size_t count)
{
    outcome *o = ctx;
    assert_true(count <= MAX_RESULTS);
    o->times++;
    o->count = count;
    memcpy(o->results, results, count * sizeof *results);
}

static inline hub_err start_enabling(hub_fixture *f, outcome *o, const hub_str *keys, size_t count,
                                     hub_error *why)
{
    memset(o, 0, sizeof *o);
    return hub_manager_enable(hub_manager_of(hub_profile_audience(fixture_profile(f))), keys, count,
                              HUB_STR_EMPTY, keep_outcome, o, why);
}

static inline hub_err start_disabling(hub_fixture *f, outcome *o, const hub_str *keys, size_t count)
{
    memset(o, 0, sizeof *o);
    return hub_manager_disable(hub_manager_of(hub_profile_audience(fixture_profile(f))), keys,
                               count, HUB_STR_EMPTY, keep_outcome, o, NULL);
}

/* Enable one toolset that answers at once. */
static inline hub_err enable(hub_fixture *f, const char *key, outcome *o)
{
    hub_str name = hub_str_of(key);
    assert_int_equal(start_enabling(f, o, &name, 1, NULL), HUB_OK);
    assert_int_equal(o->times, 1);
    assert_int_equal(o->count, 1);
    assert_int_equal(o->results[0].err,
                     o->results[0].err == HUB_OK ? HUB_OK : o->results[0].why.code);
    return o->results[0].err;
}

static inline hub_err disable(hub_fixture *f, const char *key, outcome *o)
{
    hub_str name = hub_str_of(key);
    assert_int_equal(start_disabling(f, o, &name, 1), HUB_OK);
    assert_int_equal(o->times, 1);
    assert_int_equal(o->count, 1);
    return o->results[0].err;
}

static inline bool is_active(hub_fixture *f, const char *key)
{
    return hub_exposure_source(hub_profile_exposure(fixture_profile(f)), hub_str_of(key)) != NULL;
}

static inline bool has_tool(hub_fixture *f, const char *exposed)
{
    return hub_exposure_find(hub_profile_exposure(fixture_profile(f)), HUB_REVISION_NONE,
                             HUB_KIND_TOOL, hub_str_of(exposed)) != NULL;
}

static inline unsigned notifications(hub_fixture *f)
{
    return hub_notifier_count(hub_notifier_of(hub_profile_audience(fixture_profile(f))));
}

/* A toolset that is there but not active at start. */
static inline hub_toolset_settings *add_inactive(hub_fixture *f, const char *key, puppet *master,
                                                 bool proxy)
{
    hub_toolset_settings *toolset = fixture_toolset(f, key, master, proxy);
    toolset->active = false;
    return toolset;
}

#define LIST_CHANGED "notifications/tools/list_changed"

#endif
