/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/sight.h"

#include "hub/kernel/hub.h"
#include "hub/kernel/objects.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/respond.h"
#include "tools/route.h"

#include <stdlib.h>

static hub_sight sight_of(const hub_session *session, hub_revision revision)
{
    return (hub_sight){.exposure = hub_session_exposure(session),
                       .revision = revision != HUB_REVISION_NONE ? revision : HUB_REVISION_NEWEST};
}

hub_exposure *hub_session_exposure(const hub_session *session)
{
    const hub_gate *gate = session->profile->hub->gate;
    const hub_lens *lens = session->profile->hub->lens;
    HUB_IS(session->audience, AUDIENCE);
    hub_exposure *exposure = session->audience->exposure;
    if (lens != NULL && exposure != NULL) {
        exposure = lens->look((hub_session *)(uintptr_t)session, exposure);
    }
    return gate == NULL || exposure == NULL
               ? exposure
               : gate->look((hub_session *)(uintptr_t)session, exposure);
}

hub_sight hub_session_sight(const hub_session *session)
{
    return sight_of(session, session->revision);
}

hub_sight hub_request_sight(const hub_request *request)
{
    return sight_of(request->session, request->context.revision);
}

hub_sight hub_call_sight(const hub_call *call)
{
    return sight_of(call->session, call->context.revision);
}

hub_shown *hub_sight_shown(hub_sight sight, hub_kind kind)
{
    return hub_shown_in(hub_exposure_shown(sight.exposure, kind), sight.revision);
}

hub_err hub_sight_get_listed(const hub_exposure *exposure, const hub_profile *profile,
                             hub_kind kind, hub_shown **ret_shown)
{
    if (kind == HUB_KIND_TOOL && hub_profile_settings_of(profile)->lists_search) {
        return hub_exposure_get_own_shown(exposure, ret_shown);
    }
    *ret_shown = hub_shown_ref(hub_exposure_shown(exposure, kind));
    return HUB_OK;
}

uint64_t hub_sight_serial(hub_sight sight, hub_kind kind)
{
    return hub_exposure_serial(sight.exposure, sight.revision, kind);
}

bool hub_sight_has(hub_sight sight, const hub_item *item)
{
    return (item->valid_without_output & HUB_REVISION_BIT(sight.revision)) != 0;
}

bool hub_sight_tells_of(hub_sight sight, const hub_item *item)
{
    return hub_sight_has(sight, item) && (item->hints & HUB_TOOL_FOR_APPS) == 0;
}

const hub_entry *hub_sight_find(hub_sight sight, hub_kind kind, hub_str exposed)
{
    return hub_exposure_find(sight.exposure, sight.revision, kind, exposed);
}

const hub_entry *hub_sight_find_own(hub_sight sight, hub_kind kind, hub_str toolset, hub_str name)
{
    return hub_exposure_find_own(sight.exposure, sight.revision, kind, toolset, name);
}

const hub_entry *hub_sight_find_resource(hub_sight sight, hub_str uri, hub_buf *own_uri)
{
    return hub_route_resource(sight.exposure, sight.revision, uri, own_uri);
}

hub_str hub_sight_tool_definition(hub_sight sight, hub_str exposed)
{
    return hub_exposure_tool_definition(sight.exposure, sight.revision, exposed);
}

size_t hub_sight_add_rivals(hub_sight sight, hub_kind kind, hub_str name, hub_buf *out)
{
    return hub_exposure_add_rivals(sight.exposure, sight.revision, kind, name, out);
}

bool hub_sight_may_tell_of(hub_sight sight, const hub_toolset *toolset)
{
    return sight.exposure != NULL &&
           hub_exposure_may_tell_of(sight.exposure, hub_str_of(toolset->key));
}

hub_toolset *hub_sight_toolset(hub_sight sight, hub_toolset *toolset)
{
    if (toolset->hub->lens == NULL || sight.exposure == NULL) {
        return toolset;
    }
    const hub_source *source = hub_exposure_source(sight.exposure, hub_str_of(toolset->key));
    return source != NULL ? source->owner : toolset;
}

hub_toolset *hub_sight_find_toolset(hub_sight sight, const hub_orchestrator *hub, hub_str key)
{
    hub_toolset *toolset = hub_find_toolset(hub, key);
    return toolset != NULL && hub_sight_may_tell_of(sight, toolset)
               ? hub_sight_toolset(sight, toolset)
               : NULL;
}

/* The key of one of those that a mistyped one may have meant, or the empty span. */
static hub_str find_nearest(hub_sight sight, const hub_orchestrator *hub, hub_str key)
{
    const char **keys = calloc(hub->toolset_count + 1, sizeof *keys);
    hub_str nearest = HUB_STR_EMPTY;
    size_t count = 0;
    for (size_t i = 0; keys != NULL && i < hub->toolset_count; i++) {
        if (hub_sight_may_tell_of(sight, hub->toolsets[i])) {
            keys[count++] = hub->toolsets[i]->key;
        }
    }
    if (keys != NULL) {
        nearest = hub_str_nearest(key, keys);
    }
    free(keys);
    return nearest;
}

hub_err hub_sight_fail_toolset(hub_sight sight, const hub_orchestrator *hub, hub_str key,
                               bool suggests, hub_error *reterr)
{
    hub_str nearest = suggests ? find_nearest(sight, hub, key) : HUB_STR_EMPTY;
    if (nearest.len > 0) {
        return hub_fail(reterr, HUB_ENOTFOUND,
                        "unknown toolset \"" HUB_STR_FMT "\"; did you mean \"" HUB_STR_FMT "\"?",
                        HUB_STR_ARG(key), HUB_STR_ARG(nearest));
    }
    return hub_fail(reterr, HUB_ENOTFOUND,
                    "unknown toolset \"" HUB_STR_FMT "\": list_toolsets names them all",
                    HUB_STR_ARG(key));
}
