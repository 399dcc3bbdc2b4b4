/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/active/operation.h"

#include "base/cause.h"
#include "base/log.h"
#include "base/name_list.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"

#include <stdlib.h>

/* An operation on more toolsets than this gets no suggestions for misspelt names: each of them is
 * compared with every key. */
enum { SUGGEST_FOR_COUNT = 16 };

void hub_operation_destroy(hub_operation *operation)
{
    ev_timer_stop(operation->loop, &operation->timeout);
    hub_selection_unref(operation->selection);
    free(operation->items);
    free(operation->results);
    free(operation->names);
    free(operation->by);
    free(operation);
}

hub_operation *hub_operation_create(hub_manager *manager, const hub_audience *audience,
                                    const hub_str *toolsets, size_t count,
                                    hub_manager_on_done *on_done, void *ctx)
{
    hub_operation *made = calloc(1, sizeof *made);
    size_t bytes = 1;
    for (size_t i = 0; i < count; i++) {
        bytes += toolsets[i].len;
    }
    if (made == NULL) {
        return NULL;
    }
    made->manager = manager;
    made->audience = audience;
    made->loop = hub_loop(hub_audience_hub(audience));
    made->on_done = on_done;
    made->ctx = ctx;
    made->count = count;
    made->items = calloc(count + 1, sizeof *made->items);
    made->results = calloc(count + 1, sizeof *made->results);
    made->names = malloc(bytes);
    made->by = hub_str_dup(hub_str_of(hub_cause()));
    ev_timer_init(&made->timeout, NULL, 0., 0.);
    if (made->items == NULL || made->results == NULL || made->names == NULL || made->by == NULL) {
        hub_operation_destroy(made);
        return NULL;
    }
    char *at = made->names;
    for (size_t i = 0; i < count; i++) {
        hub_str name = hub_str_trim(toolsets[i]);
        memcpy(at, name.len > 0 ? name.ptr : "", name.len);
        made->results[i].toolset = (hub_str){.ptr = at, .len = name.len};
        made->items[i].operation = made;
        at += name.len;
    }
    return made;
}

void hub_operation_done(hub_operation *operation)
{
    if (operation->on_chosen != NULL) {
        const hub_choice_outcome outcome = {.err = operation->err,
                                            .why = operation->why.text,
                                            .toolsets = operation->results,
                                            .count = operation->count};
        operation->on_chosen(operation->ctx, &outcome);
    } else {
        operation->on_done(operation->ctx, operation->results, operation->count);
    }
    hub_operation_destroy(operation);
}

/* What the client that asked sees; when that has gone, what all of the audience do. */
static hub_sight sight_of(const hub_operation *operation, const hub_audience *audience)
{
    const hub_session *session = hub_audience_sessions(audience);
    while (session != NULL && hub_session_number(session) != operation->asker) {
        session = hub_session_next_of_audience(session);
    }
    return (hub_sight){.exposure = session != NULL ? hub_session_exposure(session)
                                                   : hub_audience_exposure(audience),
                       .revision = HUB_REVISION_NEWEST};
}

hub_err hub_operation_find(const hub_operation *operation, size_t at, const hub_audience *audience,
                           hub_toolset **ret_toolset, hub_error *reterr)
{
    const hub_orchestrator *hub = hub_audience_hub(audience);
    hub_sight sight = sight_of(operation, audience);
    hub_str key = operation->results[at].toolset;
    if (key.len == 0) {
        return hub_fail(reterr, HUB_EINVAL, "the name of a toolset is empty");
    }
    hub_toolset *toolset = hub_find_toolset(hub, key);
    bool is_hidden =
        toolset != NULL && operation->is_asked && !hub_sight_may_tell_of(sight, toolset);
    if (toolset != NULL && !is_hidden) {
        *ret_toolset = toolset;
        return HUB_OK;
    }
    if (is_hidden) {
        hub_log(HUB_LOG_INFO, "toolset.hidden", HUB_F_STR("toolset", key),
                HUB_F_TEXT("profile", hub_profile_name(hub_audience_profile(audience))),
                HUB_F_TEXT("reason", "a policy or a filter hides it: the client that asked for it "
                                     "is told that there is no such toolset"));
    }
    return hub_sight_fail_toolset(sight, hub, key, operation->count <= SUGGEST_FOR_COUNT, reterr);
}

bool hub_operation_repeats(const hub_operation *operation, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (operation->items[i].toolset != NULL &&
            hub_str_eq(operation->results[i].toolset, operation->results[at].toolset)) {
            return true;
        }
    }
    return false;
}

void hub_operation_follow_first(hub_operation *operation, size_t at)
{
    hub_manager_result *result = &operation->results[at];
    for (size_t i = 0; i < at; i++) {
        const hub_manager_result *first = &operation->results[i];
        if (operation->items[i].toolset != NULL && hub_str_eq(first->toolset, result->toolset)) {
            *result = *first;
            result->is_unchanged = result->err == HUB_OK;
            return;
        }
    }
}

/* The keys of the active toolsets, as far as they fit. */
static void list_active(const hub_audience *audience, hub_name_list *names)
{
    size_t count;
    const hub_source *const *sources =
        hub_exposure_sources(hub_audience_exposure(audience), &count);
    for (size_t i = 0; i < count; i++) {
        if (!sources[i]->bare) {
            hub_name_list_add(names, sources[i]->toolset);
        }
    }
}

void hub_operation_log(const hub_operation *operation, size_t at, const char *done)
{
    const hub_manager_result *result = &operation->results[at];
    bool is_good = result->err == HUB_OK && !result->is_down;
    hub_name_list active = {.count = 0};
    hub_log_field fields[7] = {HUB_F_STR("toolset", result->toolset)};
    size_t count = 1;
    if (result->err == HUB_OK && result->is_unchanged) {
        return;
    }
    fields[count++] =
        is_good ? HUB_F_INT("tools", result->tool_count) : HUB_F_TEXT("reason", result->why.text);
    if (result->err == HUB_ELIMIT) { /* who reads it sees what would have to go */
        list_active(operation->audience, &active);
        fields[count++] = HUB_F_TEXT("active", active.text);
    }
    if (hub_audience_principal(operation->audience) != NULL) {
        fields[count++] = HUB_F_TEXT("principal", hub_audience_who(operation->audience));
    }
    fields[count++] = HUB_F_TEXT("by", operation->by);
    if (operation->trace[0] != '\0') {
        fields[count++] = HUB_F_TEXT("traceId", operation->trace);
    }
    fields[count] = (hub_log_field){.key = NULL};
    hub_log_fields(is_good ? HUB_LOG_INFO : HUB_LOG_WARNING,
                   is_good                 ? done
                   : result->err == HUB_OK ? "toolset.wanted"
                                           : "toolset.refused",
                   fields);
}
