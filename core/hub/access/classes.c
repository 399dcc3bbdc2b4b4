/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/access/classes.h"

#include "base/clock.h"

#include "hub/instances/session_instance.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"

#include <stdlib.h>

hub_access *hub_access_in(const hub_orchestrator *hub)
{
    return hub_hub_part(hub, &HUB_ACCESS_STATION);
}

session_access *hub_access_of(const hub_session *session)
{
    return hub_session_part(session, &HUB_ACCESS_STATION);
}

/* ---- what is judged -------------------------------------------------------------------------- */

hub_access_subject hub_access_subject_of(const hub_toolset *toolset, hub_str name,
                                         const hub_item *item, bool is_tool)
{
    const hub_toolset_settings *settings = hub_toolset_settings_of(toolset);
    bool is_own = toolset == hub_meta_toolset(hub_toolset_hub(toolset));
    bool is_native = is_own || hub_toolset_is_native(toolset);
    hub_access_subject subject = {
        .toolset = hub_str_of(hub_toolset_key(toolset)),
        .name = name,
        .tags = &settings->tags,
        .category = settings->category,
        .is_destructive = true,
        .is_own = is_own,
        .scopes = &settings->scopes,
        .tool_scopes = is_tool ? &settings->tool_scopes : NULL,
    };
    if (item != NULL && (is_native || settings->trusts_tags)) {
        subject.tags_json = item->tags_json;
        subject.category_json = item->category_json;
    }
    if (item != NULL && (is_native || settings->trust_annotations)) {
        /* To read a resource or to get a prompt changes nothing, if the server is to be believed. */
        subject.is_read_only = !is_tool || (item->hints & HUB_TOOL_READ_ONLY) != 0;
        subject.is_destructive =
            !subject.is_read_only && (item->hints & HUB_TOOL_NOT_DESTRUCTIVE) == 0;
    }
    if (item != NULL && item->override != NULL) {
        hub_access_take_override(&subject, item->override);
    }
    return subject;
}

static bool shows(const void *ctx, const hub_source *source, hub_kind kind, const hub_item *item)
{
    const access_class *class = ctx;
    hub_access_subject subject =
        hub_access_subject_of(source->owner, item->name, item, kind == HUB_KIND_TOOL);
    return hub_access_shows(class->settings, &class->who, &subject);
}

static bool may_show(const void *ctx, const hub_source *source)
{
    const access_class *class = ctx;
    const hub_toolset *toolset = source->owner;
    const hub_toolset_settings *settings = hub_toolset_settings_of(toolset);
    hub_access_subject subject = hub_access_subject_of(toolset, HUB_STR_EMPTY, NULL, true);
    bool is_native = hub_toolset_is_native(toolset);
    subject.has_unknown_tags = is_native || settings->trusts_tags;
    subject.has_unknown_hints = is_native || settings->trust_annotations;
    return hub_access_may_show(class->settings, &class->who, &subject);
}

/* ---- classes --------------------------------------------------------------------------------- */

void hub_access_drop_classes(hub_orchestrator *hub)
{
    hub_access *access = hub_access_in(hub);
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        for (hub_audience *at = hub_profile_audience(hub_profile_at(hub, i)); at != NULL;
             at = hub_audience_next(at)) {
            hub_exposure_drop_veils(hub_audience_exposure(at));
        }
    }
    while (access->classes != NULL) {
        access_class *class = access->classes;
        access->classes = class->next;
        hub_identity_unref(class->first);
        free(class);
    }
    access->count = 0;
    access->generation++;
    access->since_us = hub_clock_now_us();
}

static access_class *intern(hub_orchestrator *hub, const hub_access_class *who,
                            hub_identity *identity)
{
    hub_access *access = hub_access_in(hub);
    access_class *class = access->classes;
    while (class != NULL && !hub_access_class_equal(&class->who, who)) {
        class = class->next;
    }
    if (class != NULL) {
        return class;
    }
    if (access->count >= HUB_LIMIT_ACCESS_CLASSES) {
        hub_access_drop_classes(hub); /* those who are here make theirs again */
    }
    class = calloc(1, sizeof *class);
    if (class != NULL) {
        class->settings = &hub_settings_of(hub)->access;
        class->first = hub_identity_ref(identity);
        class->who = *who;
        class->filter = (hub_exposure_filter){.shows = shows, .may_show = may_show, .ctx = class};
        class->next = access->classes;
        access->classes = class;
        access->count++;
    }
    return class;
}

/* Kept apart: whoever looks at something comes past it, and it is rarely needed. */
__attribute__((noinline)) static access_class *find(hub_session *session, session_access *own)
{
    hub_orchestrator *hub = hub_session_hub(session);
    hub_identity *identity = hub_session_identity(session);
    hub_access_class who;
    hub_access_class_of(&hub_settings_of(hub)->access, identity,
                        hub_profile_name(hub_session_profile(session)),
                        hub_session_transport(session), &who);
    own->class = intern(hub, &who, identity);
    own->generation = hub_access_in(hub)->generation;
    hub_identity_unref(own->judged);
    own->judged = hub_identity_ref(identity);
    return own->class;
}

access_class *hub_access_class_get(hub_session *session)
{
    session_access *own = hub_access_of(session);
    bool is_known = own->class != NULL && own->judged == hub_session_identity(session) &&
                    own->generation == hub_access_in(hub_session_hub(session))->generation;
    return is_known ? own->class : find(session, own);
}

/* ---- things -------------------------------------------------------------------------------- */

const hub_item *access_find_item(const hub_session *session, const hub_toolset *toolset,
                                 hub_kind kind, hub_str name)
{
    const hub_toolset *shared = hub_session_instance_shared(toolset);
    const hub_toolset *of = shared != NULL ? shared : toolset;
    hub_sight sight = {.exposure = hub_session_exposure(session), .revision = HUB_REVISION_NONE};
    const hub_entry *entry = hub_sight_find_own(sight, kind, hub_str_of(hub_toolset_key(of)), name);
    if (entry == NULL && kind == HUB_KIND_RESOURCE &&
        hub_exposure_match(sight.exposure, HUB_REVISION_NONE, of, name, &entry) != HUB_OK) {
        entry = NULL;
    }
    const hub_catalog *list = hub_toolset_list(of, kind);
    return entry != NULL ? entry->item : list != NULL ? hub_catalog_find(list, name) : NULL;
}

/* ---- who lacks scopes ------------------------------------------------------------------------ */

void access_add_challenge(const hub_session *session, const hub_access_subject *subject,
                          const hub_access_decision *decision, hub_buf *ret_text, hub_buf *ret_data)
{
    hub_buf scopes;
    hub_buf_init(&scopes, SIZE_MAX / 4);
    hub_buf_init(ret_text, SIZE_MAX / 4);
    hub_buf_init(ret_data, SIZE_MAX / 4);
    hub_access_add_scopes(subject, decision, &scopes);
    hub_buf_printf(ret_text, "This needs a credential with the scopes: " HUB_STR_FMT,
                   HUB_STR_ARG(hub_buf_str(&scopes)));
    hub_buf_add(ret_data, HUB_STR("{\"code\":\"insufficient_scope\",\"scope\":"));
    hub_json_add_string(ret_data, hub_buf_str(&scopes));
    const char *metadata = session != NULL ? hub_session_metadata(session) : NULL;
    if (metadata != NULL) { /* as WWW-Authenticate has it, where there is no such header */
        hub_buf_add(ret_data, HUB_STR(",\"resource_metadata\":"));
        hub_json_add_string(ret_data, hub_str_of(metadata));
    }
    hub_buf_add_char(ret_data, '}');
    hub_buf_fini(&scopes);
}
