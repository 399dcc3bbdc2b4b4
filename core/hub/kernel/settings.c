/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/settings.h"

#include "base/nearest.h"

#include <stddef.h>
#include <stdlib.h>

/* ---- generations ----------------------------------------------------------------------------- */

const hub_settings *hub_settings_ref(const hub_settings *settings)
{
    if (settings != NULL && settings->generation != NULL) {
        settings->generation->refs++;
    }
    return settings;
}

void hub_settings_unref(const hub_settings *settings)
{
    hub_generation *generation = settings != NULL ? settings->generation : NULL;
    if (generation != NULL && --generation->refs == 0) {
        generation->destroy(generation);
    }
}

/* ---- settings of a toolset ------------------------------------------------------------------- */

typedef enum member_kind { PLAIN, TEXT, NAMES, LIMITS } member_kind;

typedef struct member {
    member_kind kind;
    size_t offset;
    size_t bytes;
    hub_toolset_difference matters; /* what a difference in it means */
} member;

#define MEMBER(kind, name, matters)                                                                \
    {                                                                                              \
        kind, offsetof(hub_toolset_settings, name), sizeof(((hub_toolset_settings *)0)->name),     \
            matters                                                                                \
    }

static const member MEMBERS[] = {
    MEMBER(TEXT, key, HUB_TOOLSET_ANOTHER),
    MEMBER(TEXT, module, HUB_TOOLSET_ANOTHER),
    MEMBER(TEXT, config_json, HUB_TOOLSET_ANOTHER),
    MEMBER(TEXT, description, HUB_TOOLSET_TUNED),
    MEMBER(TEXT, source, HUB_TOOLSET_SAME),
    MEMBER(TEXT, process_json, HUB_TOOLSET_ANOTHER),
    MEMBER(PLAIN, enabled, HUB_TOOLSET_TUNED),
    MEMBER(PLAIN, active, HUB_TOOLSET_TUNED),
    MEMBER(PLAIN, lazy, HUB_TOOLSET_TUNED),
    MEMBER(PLAIN, sharing_session, HUB_TOOLSET_ANOTHER),
    MEMBER(PLAIN, is_per_principal, HUB_TOOLSET_ANOTHER),
    MEMBER(PLAIN, cache, HUB_TOOLSET_TUNED),
    MEMBER(PLAIN, trusts_tags, HUB_TOOLSET_TUNED),
    MEMBER(PLAIN, is_isolated, HUB_TOOLSET_ANOTHER),
    MEMBER(PLAIN, memory_limit, HUB_TOOLSET_ANOTHER),
    MEMBER(PLAIN, call_timeout_ms, HUB_TOOLSET_TUNED),
    MEMBER(PLAIN, max_calls, HUB_TOOLSET_TUNED),
    MEMBER(PLAIN, queue, HUB_TOOLSET_TUNED),
    MEMBER(PLAIN, queue_timeout_ms, HUB_TOOLSET_TUNED),
    MEMBER(PLAIN, middleware.log, HUB_TOOLSET_TUNED),
    MEMBER(PLAIN, middleware.time, HUB_TOOLSET_TUNED),
    MEMBER(PLAIN, results.max_bytes, HUB_TOOLSET_TUNED),
    MEMBER(PLAIN, results.over, HUB_TOOLSET_TUNED),
    MEMBER(NAMES, tools_allow, HUB_TOOLSET_TUNED),
    MEMBER(NAMES, tools_deny, HUB_TOOLSET_TUNED),
    MEMBER(LIMITS, tool_limits, HUB_TOOLSET_TUNED),
    MEMBER(TEXT, overrides, HUB_TOOLSET_TUNED),
    MEMBER(TEXT, login, HUB_TOOLSET_ANOTHER),
    MEMBER(TEXT, origin, HUB_TOOLSET_SAME),
    MEMBER(TEXT, pins, HUB_TOOLSET_TUNED),
    MEMBER(PLAIN, is_withheld, HUB_TOOLSET_TUNED),
    MEMBER(PLAIN, validates, HUB_TOOLSET_TUNED),
    MEMBER(NAMES, tags, HUB_TOOLSET_TUNED),
    MEMBER(TEXT, category, HUB_TOOLSET_TUNED),
    MEMBER(NAMES, forward_headers, HUB_TOOLSET_TUNED),
    MEMBER(NAMES, scopes, HUB_TOOLSET_TUNED),
    MEMBER(NAMES, tool_scopes, HUB_TOOLSET_TUNED),
    MEMBER(PLAIN, trust_annotations, HUB_TOOLSET_TUNED),
};

_Static_assert(sizeof(void *) != 8 || sizeof(hub_toolset_settings) == 296,
               "a new member of hub_toolset_settings belongs into MEMBERS, or a reload would "
               "neither notice nor keep it");

enum { MEMBER_COUNT = sizeof MEMBERS / sizeof *MEMBERS };

static const void *member_of(const hub_toolset_settings *settings, const member *about)
{
    return (const char *)settings + about->offset;
}

static bool is_same_names(const hub_names *a, const hub_names *b)
{
    bool is_same = a->set == b->set && a->count == b->count;
    for (size_t i = 0; is_same && i < a->count; i++) {
        is_same = strcmp(a->items[i], b->items[i]) == 0;
    }
    return is_same;
}

static bool is_same_limits(const hub_tool_limits *a, const hub_tool_limits *b)
{
    bool is_same = a->count == b->count;
    for (size_t i = 0; is_same && i < a->count; i++) {
        is_same = strcmp(a->items[i].match, b->items[i].match) == 0 &&
                  a->items[i].calls_per_second == b->items[i].calls_per_second &&
                  a->items[i].calls_burst == b->items[i].calls_burst;
    }
    return is_same;
}

static bool is_same(const member *about, const void *a, const void *b)
{
    switch (about->kind) {
    case TEXT:
        return hub_str_same_text(*(const char *const *)a, *(const char *const *)b);
    case NAMES:
        return is_same_names(a, b);
    case LIMITS:
        return is_same_limits(a, b);
    case PLAIN:
        break;
    }
    return memcmp(a, b, about->bytes) == 0;
}

hub_toolset_difference hub_toolset_settings_compare(const hub_toolset_settings *a,
                                                    const hub_toolset_settings *b)
{
    hub_toolset_difference difference = HUB_TOOLSET_SAME;
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        const member *about = &MEMBERS[i];
        if (about->matters > difference &&
            !is_same(about, member_of(a, about), member_of(b, about))) {
            difference = about->matters;
        }
    }
    return difference;
}

/* Memory for what a copy points to: limits, then all lists, then all text. */
typedef struct copy_room {
    hub_tool_limit *limits;
    const char **lists;
    char *text;
} copy_room;

static size_t text_bytes(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 0;
}

typedef struct copy_size {
    size_t limits;
    size_t list_items;
    size_t bytes;
} copy_size;

/* Add what a member points to. */
static void measure(const member *about, const void *value, copy_size *size)
{
    if (about->kind == TEXT) {
        size->bytes += text_bytes(*(const char *const *)value);
    } else if (about->kind == NAMES) {
        const hub_names *names = value;
        size->list_items += names->count;
        for (size_t i = 0; i < names->count; i++) {
            size->bytes += text_bytes(names->items[i]);
        }
    } else if (about->kind == LIMITS) {
        const hub_tool_limits *limits = value;
        size->limits += limits->count;
        for (size_t i = 0; i < limits->count; i++) {
            size->bytes += text_bytes(limits->items[i].match);
        }
    }
}

static const char *copy_text(copy_room *room, const char *text)
{
    size_t bytes = text_bytes(text);
    if (bytes == 0) {
        return NULL;
    }
    char *copy = memcpy(room->text, text, bytes);
    room->text += bytes;
    return copy;
}

static void copy_member(const member *about, copy_room *room, const void *from, void *to)
{
    if (about->kind == TEXT) {
        *(const char **)to = copy_text(room, *(const char *const *)from);
    } else if (about->kind == NAMES) {
        const hub_names *names = from;
        hub_names *copy = to;
        *copy = (hub_names){.items = room->lists, .count = names->count, .set = names->set};
        for (size_t i = 0; i < names->count; i++) {
            *room->lists++ = copy_text(room, names->items[i]);
        }
    } else if (about->kind == LIMITS) {
        const hub_tool_limits *limits = from;
        *(hub_tool_limits *)to = (hub_tool_limits){.items = room->limits, .count = limits->count};
        for (size_t i = 0; i < limits->count; i++) {
            *room->limits = limits->items[i];
            room->limits++->match = copy_text(room, limits->items[i].match);
        }
    }
}

hub_toolset_settings *hub_toolset_settings_dup(const hub_toolset_settings *settings)
{
    copy_size size = {.bytes = 0};
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        measure(&MEMBERS[i], member_of(settings, &MEMBERS[i]), &size);
    }
    hub_toolset_settings *copy = malloc(sizeof *copy + size.limits * sizeof(hub_tool_limit) +
                                        size.list_items * sizeof(char *) + size.bytes);
    if (copy == NULL) {
        return NULL;
    }
    *copy = *settings;
    copy_room room = {.limits = (hub_tool_limit *)(void *)(copy + 1)};
    room.lists = (const char **)(void *)(room.limits + size.limits);
    room.text = (char *)(room.lists + size.list_items);
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        copy_member(&MEMBERS[i], &room, member_of(settings, &MEMBERS[i]),
                    (char *)copy + MEMBERS[i].offset);
    }
    return copy;
}

unsigned hub_profile_settings_groups(const hub_profile_settings *profile)
{
    unsigned groups = profile->meta_tools;
    unsigned results = groups & HUB_META_RESULTS;
    if ((groups & HUB_META_UNSAID) != 0) {
        groups = results | (profile->startup == HUB_STARTUP_STATIC ? 0 : HUB_META_TOOLSETS);
    }
    return profile->lists_search ? HUB_META_SEARCH | results : groups;
}

bool hub_profile_settings_enable(const hub_profile_settings *profile)
{
    return (hub_profile_settings_groups(profile) & HUB_META_TOOLSETS) != 0 &&
           profile->startup != HUB_STARTUP_STATIC;
}

bool hub_profile_settings_have_list(const hub_profile_settings *profile)
{
    const hub_names *names = &profile->toolsets;
    bool is_all = names->count == 1 && strcmp(names->items[0], "ALL") == 0;
    return profile->startup == HUB_STARTUP_STATIC && !is_all;
}

static bool is_listed(const hub_names *names, const char *key)
{
    for (size_t i = 0; i < names->count; i++) {
        if (hub_str_is(hub_str_trim(hub_str_of(names->items[i])), key)) {
            return true;
        }
    }
    return false;
}

bool hub_profile_settings_want(const hub_profile_settings *profile,
                               const hub_toolset_settings *toolset)
{
    switch (profile->startup) {
    case HUB_STARTUP_DEFAULT:
        return toolset->enabled && toolset->active;
    case HUB_STARTUP_STATIC:
        return hub_profile_settings_have_list(profile) ? is_listed(&profile->toolsets, toolset->key)
                                                       : toolset->enabled;
    case HUB_STARTUP_DYNAMIC:
        break;
    }
    return false;
}

bool hub_settings_have_profile(const hub_settings *settings, const char *name)
{
    for (size_t i = 0; i < settings->profile_count; i++) {
        if (strcmp(settings->profiles[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

hub_err hub_settings_fail_profile(const hub_settings *settings, const char *name, hub_error *reterr)
{
    hub_nearest near;
    hub_nearest_begin(&near, hub_str_of(name));
    for (size_t i = 0; i < settings->profile_count; i++) {
        hub_nearest_offer(&near, hub_str_of(settings->profiles[i].name));
    }
    if (near.found.len == 0) {
        return hub_fail(reterr, HUB_ENOTFOUND, "there is no profile \"%.100s\"", name);
    }
    return hub_fail(reterr, HUB_ENOTFOUND,
                    "there is no profile \"%.100s\"; did you mean \"" HUB_STR_FMT "\"?", name,
                    HUB_STR_ARG(near.found));
}
