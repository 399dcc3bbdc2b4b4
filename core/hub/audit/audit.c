/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/audit/audit.h"

#include "base/clock.h"
#include "base/limits.h"
#include "hub/audit/audit_internal.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"

/* ---- calls ----------------------------------------------------------------------------------- */

/* Why a strict audit lets no call in; NULL when it does. */
static const char *why_not(hub_audit *audit)
{
    (void)pthread_mutex_lock(&audit->lock);
    bool is_failing = audit->is_failing;
    bool is_full = audit->waiting.count + audit->open >= HUB_LIMIT_AUDIT_RECORDS;
    (void)pthread_mutex_unlock(&audit->lock);
    if (!audit->is_strict || (!is_failing && !is_full)) {
        return NULL;
    }
    return is_failing ? "the audit file cannot be written, and without a record there is no call "
                        "(log.audit_strict): the operator of the hub finds the reason in its log"
                      : "too many records wait to be written to the audit file "
                        "(log.audit_strict): try again";
}

/* With a call. */
typedef struct audit_part {
    hub_audit *audit;
    hub_audit_record *record; /* NULL: none, for want of memory */
} audit_part;

hub_audit *hub_audit_of(const hub_orchestrator *hub)
{
    hub_audit *const *audit = hub_hub_part(hub, &HUB_AUDIT_STATION);
    return *audit;
}

static bool wants_hub(const hub_orchestrator *hub)
{
    return hub_settings_of(hub)->audit.is_on;
}

/* A call has begun: note what it is. Those about tasks are not noted: the call that made one was. */
static hub_verdict begin(hub_call *call, hub_way *way)
{
    hub_audit *audit = hub_audit_of(hub_toolset_hub(way->toolset));
    if (way->is_aside) {
        return HUB_GO_ON;
    }
    const char *reason = why_not(audit);
    hub_audit_record *record =
        reason == NULL
            ? hub_audit_record_create(hub_call_session(call), way->message,
                                      hub_str_of(hub_toolset_key(way->toolset)), way->name,
                                      hub_call_trace(call), audit->keeps_arguments)
            : NULL;
    if (record == NULL && (reason != NULL || audit->is_strict)) {
        audit->refused++;
        hub_call_fail(call, PATCHBAY_UNAVAILABLE,
                      reason != NULL ? hub_str_of(reason) : HUB_STR("out of memory"));
        return HUB_ANSWERED;
    }
    audit_part *part = hub_call_part_of(call, &HUB_AUDIT_STATION);
    part->audit = audit;
    part->record = record;
    audit->open += record != NULL;
    return HUB_GO_ON;
}

const char *hub_audit_outcome_word(const hub_call *call, const hub_outcome *outcome)
{
    static const char *const WORDS[] = {
        [PATCHBAY_RESULT] = "ok",
        [PATCHBAY_RPC_ERROR] = "error",
        [PATCHBAY_NOT_IMPLEMENTED] = "not_implemented",
        [PATCHBAY_INVALID_INPUT] = "invalid_input",
        [PATCHBAY_UNAVAILABLE] = "unavailable",
        [PATCHBAY_FAILED] = "failed",
    };
    if (outcome == NULL) {
        return "cancelled";
    }
    if (outcome->is_refused) {
        return "refused";
    }
    if (outcome->status == PATCHBAY_RESULT && hub_outcome_is_error(call, outcome)) {
        return "tool_error";
    }
    bool is_known = outcome->status >= 0 && outcome->status <= PATCHBAY_FAILED;
    return is_known ? WORDS[outcome->status] : "failed";
}

static void end(hub_call *call, const hub_outcome *outcome)
{
    audit_part *part = hub_call_find_part(call, &HUB_AUDIT_STATION);
    hub_audit_record *record = part != NULL ? part->record : NULL;
    if (record == NULL) {
        return;
    }
    part->record = NULL;
    part->audit->open--;
    record->ended_ms = hub_clock_wall_ms();
    record->took_us = hub_clock_now_us() - record->begin_us;
    record->outcome = hub_audit_outcome_word(call, outcome);
    if (outcome != NULL && outcome->status == PATCHBAY_RPC_ERROR) {
        (void)hub_json_to_i64(hub_json_get(outcome->json, HUB_STR("code")), &record->code);
    }
    hub_audit_hand_over(part->audit, record);
}

/* A record of what is over already. False: none was made, for want of memory, or as it cannot be. */
static bool note(const hub_request *request, hub_str toolset, hub_str name, const char *outcome)
{
    hub_audit *audit = hub_audit_of(hub_session_hub(request->session));
    hub_audit_record *record =
        audit->is_on && why_not(audit) == NULL
            ? hub_audit_record_create(request->session, request->message, toolset, name, NULL,
                                      audit->keeps_arguments)
            : NULL;
    if (record != NULL) {
        record->ended_ms = hub_clock_wall_ms();
        record->outcome = outcome;
        hub_audit_hand_over(audit, record);
    }
    return record != NULL;
}

void hub_audit_refused(const hub_request *request, hub_str toolset, hub_str name)
{
    (void)note(request, toolset, name, "refused"); /* it is answered in any case */
}

const char *hub_audit_take_answered(const hub_request *request, hub_str toolset, hub_str name)
{
    hub_audit *audit = hub_audit_of(hub_session_hub(request->session));
    const char *reason = audit->is_on ? why_not(audit) : NULL;
    if (!audit->is_on || note(request, toolset, name, "ok") ||
        (reason == NULL && !audit->is_strict)) {
        return NULL;
    }
    audit->refused++;
    return reason != NULL ? reason : "out of memory";
}

/* Whether the same was noted a moment ago; from now on it was. */
static bool was_noted(hub_audit *audit, const hub_audit_look *look)
{
    hub_digest digest;
    unsigned char what[HUB_DIGEST_BYTES];
    uint64_t now_ms = hub_clock_now_ms();
    hub_digest_init(&digest);
    hub_digest_add(&digest, look->who.ptr, look->who.len);
    hub_digest_add(&digest, "", 1);
    hub_digest_add(&digest, look->what.ptr, look->what.len);
    hub_digest_end(&digest, what);
    for (size_t i = 0; i < HUB_LIMIT_AUDIT_LOOKS; i++) {
        if (audit->looks[i].until_ms > now_ms &&
            memcmp(audit->looks[i].what, what, sizeof what) == 0) {
            return true;
        }
    }
    recent_look *newest = &audit->looks[audit->newest_look++ % HUB_LIMIT_AUDIT_LOOKS];
    memcpy(newest->what, what, sizeof what);
    newest->until_ms = now_ms + HUB_LIMIT_AUDIT_LOOK_MS;
    return false;
}

/* `outcome`: NULL: it was done before anybody could be asked. False: out of memory. */
static bool note_look(hub_audit *audit, const hub_audit_look *look, const char *outcome)
{
    hub_audit_record *record = hub_audit_record_create_look(look);
    if (record == NULL) {
        return false;
    }
    record->ended_ms = hub_clock_wall_ms();
    record->outcome = outcome != NULL ? outcome : "changed";
    record->was_not_asked = outcome == NULL;
    hub_audit_hand_over(audit, record);
    return true;
}

void hub_audit_note_change(hub_audit *audit, const hub_audit_look *change)
{
    (void)note_look(audit, change, NULL);
}

const char *hub_audit_take_look(const hub_orchestrator *hub, const hub_audit_look *look)
{
    hub_audit *audit = hub_audit_of(hub);
    const char *reason = audit->is_on ? why_not(audit) : NULL;
    if (audit->is_on && reason == NULL && look->only_looks && !look->is_refused &&
        was_noted(audit, look)) {
        return NULL;
    }
    if (audit->is_on && reason == NULL &&
        note_look(audit, look, look->is_refused ? "refused" : "ok")) {
        return NULL;
    }
    if (!audit->is_on || !audit->is_strict) {
        return NULL;
    }
    audit->refused++;
    return reason != NULL ? reason : "out of memory";
}

/* ---- the station ----------------------------------------------------------------------------- */

static hub_err begin_hub(hub_orchestrator *hub, hub_error *reterr)
{
    hub_audit **audit = hub_hub_part(hub, &HUB_AUDIT_STATION);
    return hub_audit_create(hub_loop(hub), &hub_settings_of(hub)->audit, audit, reterr);
}

bool hub_audit_finish(hub_orchestrator *hub, unsigned timeout_ms)
{
    hub_audit **audit = hub_hub_part(hub, &HUB_AUDIT_STATION);
    hub_audit *last = *audit;
    *audit = NULL;
    return hub_audit_destroy(last, timeout_ms);
}

static void configure(hub_orchestrator *hub)
{
    hub_audit_configure(hub_audit_of(hub), &hub_settings_of(hub)->audit);
}

static hub_station_place place;

const hub_station HUB_AUDIT_STATION = {
    .name = "audit",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(hub_audit *), [HUB_PART_CALL] = sizeof(audit_part)},
    .wants_hub = wants_hub,
    .begin = begin,
    .end = end,
    .refuse = hub_audit_note_refused,
    .hub_begins = begin_hub,
    .settings_changed = configure,
};
