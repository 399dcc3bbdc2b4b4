/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/skills/skills_internal.h"

#include "base/limits.h"
#include "hub/catalogs/parking.h"
#include "hub/content/content.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"
#include "hub/skills/skill_uris.h"
#include "tools/mapped_uri.h"

#include <stdlib.h>

/* Where a URI leads. */
typedef struct skill_route {
    hub_toolset *toolset; /* NULL: nowhere */
    bool is_mapped;       /* the URI has the toolset in it */
    hub_buf own;          /* the server's own URI */
} skill_route;

/* ---- whose it is ----------------------------------------------------------------------------- */

static hub_toolset *skilled(const hub_source *source)
{
    hub_toolset *toolset = source != NULL ? source->owner : NULL;
    return toolset != NULL && hub_toolset_capabilities(toolset)->has_skills ? toolset : NULL;
}

/* The toolset with skills that the client sees, if there is one and no other. */
static hub_toolset *find_only(const hub_exposure *exposure)
{
    size_t count;
    const hub_source *const *sources = hub_exposure_sources(exposure, &count);
    hub_toolset *only = NULL;
    for (size_t i = 0; i < count; i++) {
        hub_toolset *toolset = skilled(sources[i]);
        if (toolset != NULL && only != NULL) {
            return NULL;
        }
        only = toolset != NULL ? toolset : only;
    }
    return only;
}

/* Who lists a URI as a resource has it; else, who alone has skills. */
static void route_plain(hub_sight sight, hub_str uri, skill_route *route)
{
    const hub_entry *entry = hub_sight_find_resource(sight, uri, &route->own);
    hub_toolset *owner = entry != NULL ? entry->owner : NULL;
    if (owner == NULL) {
        hub_buf_clear(&route->own);
        hub_buf_add(&route->own, uri);
        route->toolset = find_only(sight.exposure);
    } else if (hub_toolset_capabilities(owner)->has_skills) {
        route->toolset = owner;
    }
}

/* `ret_route->own` is initialised in any case. */
static void find_route(const hub_request *request, hub_str uri, skill_route *ret_route)
{
    hub_sight sight = hub_request_sight(request);
    hub_str key;
    *ret_route = (skill_route){.toolset = NULL};
    hub_buf_init(&ret_route->own, HUB_LIMIT_URI_BYTES);
    if (hub_mapped_uri_read(uri, &key, &ret_route->own)) {
        ret_route->toolset = skilled(hub_exposure_source(sight.exposure, key));
        ret_route->is_mapped = ret_route->toolset != NULL;
    }
    if (ret_route->toolset == NULL) {
        hub_buf_clear(&ret_route->own);
        route_plain(sight, uri, ret_route);
    }
}

bool skills_are_served(const hub_request *request)
{
    size_t count;
    const hub_source *const *sources =
        hub_exposure_sources(hub_session_exposure(request->session), &count);
    for (size_t i = 0; i < count; i++) {
        if (skilled(sources[i]) != NULL) {
            return true;
        }
    }
    return false;
}

void skills_refuse_method(const hub_request *request)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_printf(&text, "Method not found: " HUB_STR_FMT ": no server has the extension \"%s\"",
                   HUB_STR_ARG(request->message->method), HUB_EXTENSION_SKILLS);
    hub_respond_error(request, HUB_RPC_METHOD_NOT_FOUND, hub_buf_str(&text), HUB_STR_EMPTY);
    hub_buf_fini(&text);
}

/* ---- forwarding ------------------------------------------------------------------------------ */

/* Send the request to the toolset, which answers with its own URIs. */
static void forward(const hub_request *request, const skill_route *route, bool maps_result)
{
    hub_call *call = hub_buf_ok(&route->own) ? hub_request_begin(request) : NULL;
    if (!hub_buf_ok(&route->own)) {
        hub_respond_refusal(request, route->own.failed);
    }
    if (call == NULL) {
        return;
    }
    if (hub_str_is(request->message->method, "resources/read") ||
        request->context.era == HUB_ERA_MODERN) {
        hub_call_set_reading(call);
    }
    if (maps_result && route->is_mapped) {
        call_skills *part = hub_call_part_of(call, &HUB_SKILLS_STATION);
        part->toolset = hub_str_dup(hub_str_of(hub_toolset_key(route->toolset)));
        if (part->toolset == NULL) {
            hub_call_fail_rpc(call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
            return;
        }
    }
    hub_way way = {.toolset = route->toolset,
                   .name = hub_buf_str(&route->own),
                   .name_json = request->message->at[HUB_M_URI],
                   .arguments = HUB_STR("{}"),
                   .message = request->message};
    hub_call_send(call, &way);
}

static void refuse(const hub_request *request, const char *before, hub_str uri, const char *after)
{
    hub_buf text;
    hub_buf_init(&text, 2 * HUB_LIMIT_URI_BYTES);
    hub_buf_printf(&text, "%s" HUB_STR_FMT "%s", before, HUB_STR_ARG(uri), after);
    hub_respond_error(request, HUB_RPC_INVALID_PARAMS, hub_buf_str(&text), HUB_STR_EMPTY);
    hub_buf_fini(&text);
}

/* The server whose directories are read must have said that it can. */
static bool has_method(const hub_request *request, const hub_toolset *toolset)
{
    return hub_str_is(request->message->method, "skills/get") ||
           hub_toolset_capabilities(toolset)->reads_directories;
}

static void ask_about(const hub_request *request, hub_str uri)
{
    skill_route route;
    find_route(request, uri, &route);
    if (route.toolset == NULL && !hub_parking_await(request, HUB_KIND_RESOURCE, uri)) {
        if (skills_are_served(request)) {
            refuse(request, "No skill is served at ", uri,
                   ": use the URIs of skills/list, which have the toolset in them");
        } else {
            skills_refuse_method(request);
        }
    } else if (route.toolset != NULL && !has_method(request, route.toolset)) {
        refuse(request, "", uri, " is not a directory that can be read: its server reads none");
    } else if (route.toolset != NULL) {
        forward(request, &route, true);
    }
    hub_buf_fini(&route.own);
}

void hub_skills_get(const hub_request *request)
{
    hub_buf uri;
    if (hub_content_read_uri(request, request->message->at[HUB_M_URI], &uri)) {
        ask_about(request, hub_buf_str(&uri));
        hub_buf_fini(&uri);
    }
}

void hub_skills_read_directory(const hub_request *request)
{
    hub_skills_get(request);
}

/* Whether a raw URI may be of a skill's file that is not listed. */
static bool may_be_skill(hub_str raw)
{
    return hub_str_starts(raw, HUB_STR("\"skill:")) || hub_str_starts(raw, HUB_STR("\"patchbay:"));
}

bool hub_skills_read(const hub_request *request)
{
    hub_str raw = request->message->at[HUB_M_URI];
    hub_buf uri;
    hub_buf own;
    skill_route route;
    if (!may_be_skill(raw) || !skills_are_served(request)) {
        return false;
    }
    if (!hub_content_read_uri(request, raw, &uri)) {
        return true;
    }
    hub_buf_init(&own, HUB_LIMIT_URI_BYTES);
    bool is_listed =
        hub_sight_find_resource(hub_request_sight(request), hub_buf_str(&uri), &own) != NULL;
    hub_buf_fini(&own);
    find_route(request, hub_buf_str(&uri), &route);
    bool is_skills = !is_listed && route.toolset != NULL;
    if (is_skills) {
        forward(request, &route, false);
    }
    hub_buf_fini(&route.own);
    hub_buf_fini(&uri);
    return is_skills;
}

/* ---- the way back ---------------------------------------------------------------------------- */

static hub_verdict answer(hub_call *call, hub_outcome *outcome)
{
    call_skills *part = hub_call_find_part(call, &HUB_SKILLS_STATION);
    if (part == NULL || part->toolset == NULL || outcome->status != PATCHBAY_RESULT) {
        return HUB_GO_ON;
    }
    hub_str skill = hub_json_get(outcome->json, HUB_STR("skill"));
    hub_buf_fini(&part->result); /* of an outcome that was not the last */
    hub_buf_init(&part->result, SIZE_MAX / 2);
    if (hub_skill_uris_add(hub_str_of(part->toolset), outcome->json,
                           skill.len > 0 ? skill : outcome->json, &part->result) == HUB_OK) {
        outcome->json = hub_buf_str(&part->result);
    } else {
        outcome->status = PATCHBAY_FAILED;
        outcome->json = HUB_STR("out of memory");
    }
    return HUB_GO_ON;
}

static void drop(hub_call *call)
{
    call_skills *part = hub_call_find_part(call, &HUB_SKILLS_STATION);
    if (part != NULL) {
        if (part->gather != NULL) {
            skill_gather_abandon(part->gather);
        }
        free(part->toolset);
        hub_buf_fini(&part->result);
    }
}

static void session_ends(hub_session *session)
{
    session_skills *own = hub_session_part(session, &HUB_SKILLS_STATION);
    while (own->first != NULL) {
        skill_gather_destroy(own->first);
    }
}

static hub_station_place place;

const hub_station HUB_SKILLS_STATION = {
    .name = "skills",
    .place = &place,
    .bytes = {[HUB_PART_SESSION] = sizeof(session_skills), [HUB_PART_CALL] = sizeof(call_skills)},
    .answer = answer,
    .drop = drop,
    .session_ends = session_ends,
};
