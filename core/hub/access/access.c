/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/access/access.h"

#include "hub/access/classes.h"
#include "hub/access/judge.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/way.h"

#include <stdlib.h>

/* Whether a proxy may say which toolsets somebody is to see. */
static bool are_narrowed(const hub_settings *settings)
{
    for (size_t i = 0; i < settings->listen_count; i++) {
        if (settings->listens[i].client_id_header != NULL ||
            settings->listens[i].toolsets_header != NULL) {
            return true;
        }
    }
    return false;
}

/* Note what the settings have rules for. */
static void read_settings(hub_orchestrator *hub)
{
    const hub_settings *settings = hub_settings_of(hub);
    hub_access *access = hub_access_in(hub);
    bool has_scopes = false;
    bool challenges = false;
    access->looks_at_arguments = false;
    access->asks = false;
    for (size_t i = 0; i < settings->toolset_count; i++) {
        const hub_toolset_settings *toolset = &settings->toolsets[i];
        has_scopes = has_scopes || toolset->scopes.count > 0 || toolset->tool_scopes.count > 0;
    }
    for (size_t i = 0; i < settings->access.count; i++) {
        const hub_access_rule *rule = &settings->access.rules[i];
        access->looks_at_arguments = access->looks_at_arguments || rule->condition_count > 0;
        access->asks = access->asks || rule->then == HUB_ACCESS_CONFIRM;
        challenges = challenges || rule->then == HUB_ACCESS_CHALLENGE;
    }
    access->is_on = settings->access.is_set || has_scopes || are_narrowed(settings);
    access->is_plain = !has_scopes && !challenges && !access->looks_at_arguments && !access->asks;
}

/* ---- what is seen ---------------------------------------------------------------------------- */

static hub_exposure *look(hub_session *session, hub_exposure *exposure)
{
    access_class *class = hub_access_class_get(session);
    hub_exposure *veil = NULL;
    if (class == NULL || hub_exposure_veil(exposure, &class->filter, &veil) != HUB_OK) {
        return hub_access_in(hub_session_hub(session))->nothing; /* rather than too much */
    }
    return veil;
}

static const hub_gate GATE = {.look = look,
                              .station = &HUB_ACCESS_STATION,
                              .is_open = access_is_open,
                              .held = access_note_held,
                              .asked = access_note_asked};

bool hub_access_is_on(const hub_orchestrator *hub)
{
    return hub_access_in(hub)->is_on;
}

bool hub_access_asks(const hub_orchestrator *hub)
{
    const hub_access *access = hub_access_in(hub);
    return access->is_on && access->asks;
}

bool hub_access_may_show_others(const hub_orchestrator *hub)
{
    return hub_access_in(hub)->may_show_others;
}

void hub_access_note_told(const hub_session *session, hub_kind kind, hub_shown *listed)
{
    session_access *own = hub_access_of(session);
    if (hub_tells_sessions_apart(hub_session_hub(session)) && own->told[kind] != listed) {
        hub_shown_unref(own->told[kind]);
        own->told[kind] = hub_shown_ref(listed);
    }
}

uint8_t hub_access_news(const hub_session *session, hub_kind kind, hub_shown *before,
                        hub_shown *listed)
{
    session_access *own = hub_access_of(session);
    uint8_t news = hub_shown_news(own->told[kind] != NULL ? own->told[kind] : before, listed);
    hub_shown_unref(own->told[kind]);
    own->told[kind] =
        hub_tells_sessions_apart(hub_session_hub(session)) ? hub_shown_ref(listed) : NULL;
    return news;
}

bool hub_access_has_told(const hub_session *session, hub_kind kind)
{
    return hub_access_of(session)->told[kind] != NULL;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The calls of a session came with the credential that it has now. */
static void note_credential(hub_session *session)
{
    for (hub_call *call = hub_session_calls(session); call != NULL;
         call = hub_call_next_of_session(call)) {
        call_access *own = hub_call_part_of(call, &HUB_ACCESS_STATION);
        if (own->identity == NULL) {
            own->identity = hub_identity_ref(hub_session_identity(session));
        }
    }
}

static void drop(hub_call *call)
{
    call_access *own = hub_call_find_part(call, &HUB_ACCESS_STATION);
    if (own != NULL) {
        hub_identity_unref(own->identity);
        free(own->kept.longer);
    }
}

/* ---- the rules ------------------------------------------------------------------------------- */

/* What came before there were rules, and is held, goes by them as well. */
static void judge_held(hub_session *session)
{
    note_credential(session);
    for (hub_call *call = hub_session_calls(session); call != NULL;
         call = hub_call_next_of_session(call)) {
        hub_call_visit(call, &HUB_ACCESS_STATION);
    }
}

static void renew_sessions(hub_orchestrator *hub, bool holds_judged)
{
    const hub_settings *settings = hub_settings_of(hub);
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        for (hub_session *at = hub_profile_sessions(hub_profile_at(hub, i)); at != NULL;
             at = hub_session_next(at)) {
            if (!holds_judged) {
                judge_held(at);
            }
            hub_session_renew(at, &settings->auth);
        }
    }
}

static void settings_changed(hub_orchestrator *hub)
{
    hub_access *access = hub_access_in(hub);
    bool was_on = access->is_on;
    read_settings(hub);
    renew_sessions(hub, was_on || !access->is_on);
    hub_access_drop_classes(hub);
    hub_set_gate(hub, access->is_on ? &GATE : NULL);
    access->may_show_others = was_on || access->is_on;
}

static hub_err hub_begins(hub_orchestrator *hub, hub_error *reterr)
{
    static const hub_exposure_rules NO_RULES = {.policies = {NULL, NULL}};
    static const hub_naming_rule RULE = {.naming = HUB_NAMING_PREFIX,
                                         .max_name_bytes = HUB_LIMIT_EXPOSED_NAME_BYTES};
    hub_access *access = hub_access_in(hub);
    hub_err err = hub_base_create(&RULE, NULL, 0, NULL, &access->no_base, reterr);
    if (err == HUB_OK) {
        err = hub_exposure_create(access->no_base, &NO_RULES, NULL, 0, NULL, NULL, &access->nothing,
                                  reterr);
    }
    access->generation = 1;
    read_settings(hub);
    hub_set_gate(hub, access->is_on ? &GATE : NULL);
    return err;
}

static void hub_drops(hub_orchestrator *hub)
{
    hub_access *access = hub_access_in(hub);
    hub_exposure_destroy(access->nothing);
    hub_base_unref(access->no_base);
    access->nothing = NULL;
    access->no_base = NULL;
}

static void hub_ends(hub_orchestrator *hub)
{
    hub_access_drop_classes(hub);
}

static void session_ends(hub_session *session)
{
    session_access *own = hub_access_of(session);
    hub_identity_unref(own->judged);
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        hub_shown_unref(own->told[kind]);
    }
}

static bool wants_hub(const hub_orchestrator *hub)
{
    return hub_access_in(hub)->is_on;
}

static hub_station_place place;

const hub_station HUB_ACCESS_STATION = {
    .name = "access",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(hub_access),
              [HUB_PART_SESSION] = sizeof(session_access),
              [HUB_PART_CALL] = sizeof(call_access)},
    .begin = access_begin,
    .hand_over = access_hand_over,
    .client_returns = access_client_returns,
    .drop = drop,
    .wants_hub = wants_hub,
    .hub_begins = hub_begins,
    .hub_ends = hub_ends,
    .hub_drops = hub_drops,
    .settings_changed = settings_changed,
    .session_ends = session_ends,
    .session_judged = note_credential,
};
