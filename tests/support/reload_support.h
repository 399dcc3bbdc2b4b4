/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of reloading. The fixture's settings are a draft: each reload works on a copy of them,
 * which is poisoned as soon as nobody holds it.
 */
#ifndef PATCHBAY_TESTS_RELOAD_SUPPORT_H
#define PATCHBAY_TESTS_RELOAD_SUPPORT_H

#include "manager_support.h"

#include "hub/reload/reload.h"

static hub_reload_report report;
static hub_error why;
static unsigned generations; /* that are held by somebody */

typedef struct draft_copy {
    hub_generation generation; /* first */
    hub_settings settings;
    hub_profile_settings profiles[FIXTURE_PROFILES];
    hub_toolset_settings toolsets[FIXTURE_TOOLSETS];
    char texts[FIXTURE_TOOLSETS][2][128]; /* keys and configurations */
} draft_copy;

static inline void end_copy(hub_generation *generation)
{
    memset(generation, 0xa5, sizeof(draft_copy));
    free(generation);
    generations--;
}

static inline draft_copy *copy_draft(const hub_fixture *f)
{
    draft_copy *copy = calloc(1, sizeof *copy);
    assert_non_null(copy);
    copy->generation = (hub_generation){.refs = 1, .destroy = end_copy};
    copy->settings = f->settings;
    copy->settings.generation = &copy->generation;
    memcpy(copy->profiles, f->profiles, sizeof copy->profiles);
    memcpy(copy->toolsets, f->toolsets, sizeof copy->toolsets);
    copy->settings.profiles = copy->profiles;
    copy->settings.toolsets = copy->toolsets;
    for (size_t i = 0; i < f->settings.toolset_count; i++) {
        (void)snprintf(copy->texts[i][0], 128, "%s", f->toolsets[i].key);
        (void)snprintf(copy->texts[i][1], 128, "%s", f->toolsets[i].config_json);
        copy->toolsets[i].key = copy->texts[i][0];
        copy->toolsets[i].config_json = copy->texts[i][1];
    }
    generations++;
    return copy;
}

/* Start a hub with a copy of the draft. */
static inline void start_draft(hub_fixture *f)
{
    draft_copy *copy = copy_draft(f);
    if (hub_orchestrator_create(f->loop, &copy->settings, &f->hub, &why) != HUB_OK ||
        hub_orchestrator_start(f->hub, &why) != HUB_OK) {
        fail_msg("%s", why.text);
    }
    hub_settings_unref(&copy->settings);
}

/* Reload with a copy of the draft. */
static inline hub_err reload_draft(hub_fixture *f)
{
    draft_copy *copy = copy_draft(f);
    why = (hub_error){.code = HUB_OK};
    hub_err err = hub_reload(f->hub, &copy->settings, &report, &why);
    hub_settings_unref(&copy->settings);
    return err;
}

/* Take a toolset out of the draft. */
static inline void remove_from_draft(hub_fixture *f, size_t at)
{
    size_t count = --f->settings.toolset_count;
    memmove(&f->toolsets[at], &f->toolsets[at + 1], (count - at) * sizeof f->toolsets[0]);
}

#endif
