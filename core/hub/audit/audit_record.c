/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/audit/audit_record.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"
#include "redact/redact.h"
#include "wire/json.h"
#include "wire/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const KEYS[HUB_AUDIT_TEXTS] = {
    [HUB_AUDIT_WHO] = "who",
    [HUB_AUDIT_PEER] = "peer",
    [HUB_AUDIT_TRANSPORT] = "transport",
    [HUB_AUDIT_PROFILE] = "profile",
    [HUB_AUDIT_METHOD] = "method",
    [HUB_AUDIT_TOOLSET] = "toolset",
    [HUB_AUDIT_NAME] = "name",
    [HUB_AUDIT_REQUEST] = "request",
    [HUB_AUDIT_TRACE] = "traceId",
    [HUB_AUDIT_SPAN] = "spanId",
    [HUB_AUDIT_ARGUMENTS] = "arguments",
};

/* A record with copies of these texts, which begins now. */
static hub_audit_record *make(const hub_str texts[HUB_AUDIT_TEXTS])
{
    size_t size = 0;
    for (int i = 0; i < HUB_AUDIT_TEXTS; i++) {
        size += texts[i].len;
    }
    hub_audit_record *record = malloc(sizeof *record + size);
    if (record == NULL) {
        return NULL;
    }
    *record = (hub_audit_record){.begin_us = hub_clock_now_us()};
    char *at = record->bytes;
    for (int i = 0; i < HUB_AUDIT_TEXTS; i++) {
        record->texts[i] = (hub_str){.ptr = at, .len = texts[i].len};
        if (texts[i].len > 0) {
            memcpy(at, texts[i].ptr, texts[i].len);
            at += texts[i].len;
        }
    }
    return record;
}

hub_audit_record *hub_audit_record_create(const hub_session *session, const hub_message *message,
                                          hub_str toolset, hub_str name, const hub_trace *trace,
                                          bool keeps_arguments)
{
    hub_str arguments = keeps_arguments ? message->at[HUB_M_ARGUMENTS] : HUB_STR_EMPTY;
    const hub_str texts[HUB_AUDIT_TEXTS] = {
        [HUB_AUDIT_WHO] = hub_str_of(hub_session_who(session)),
        [HUB_AUDIT_PEER] = hub_str_of(hub_session_peer(session)),
        [HUB_AUDIT_TRANSPORT] = hub_str_of(hub_session_transport(session)),
        [HUB_AUDIT_PROFILE] =
            hub_str_of(hub_profile_settings_of(hub_session_profile(session))->name),
        [HUB_AUDIT_METHOD] = message->method,
        [HUB_AUDIT_TOOLSET] = toolset,
        [HUB_AUDIT_NAME] = hub_str_cut(name, HUB_LIMIT_LOG_VALUE_BYTES),
        [HUB_AUDIT_REQUEST] = message->at[HUB_M_ID],
        [HUB_AUDIT_TRACE] =
            trace != NULL ? hub_str_of(trace->trace_id) : hub_trace_id_in(message->at[HUB_M_META]),
        [HUB_AUDIT_SPAN] = hub_str_of(trace != NULL ? trace->span_id : NULL),
        [HUB_AUDIT_ARGUMENTS] = hub_str_cut(arguments, HUB_LIMIT_AUDIT_ARGUMENT_BYTES),
    };
    hub_audit_record *record = make(texts);
    if (record != NULL) {
        record->session = hub_session_number(session);
        record->is_cut = texts[HUB_AUDIT_ARGUMENTS].len < arguments.len;
    }
    return record;
}

hub_audit_record *hub_audit_record_create_look(const hub_audit_look *look)
{
    const hub_str texts[HUB_AUDIT_TEXTS] = {
        [HUB_AUDIT_WHO] = look->who,
        [HUB_AUDIT_TRANSPORT] = look->transport,
        [HUB_AUDIT_PROFILE] = look->profile,
        [HUB_AUDIT_METHOD] = look->method,
        [HUB_AUDIT_TOOLSET] = look->toolset,
        [HUB_AUDIT_NAME] = hub_str_cut(look->what, HUB_LIMIT_LOG_VALUE_BYTES),
    };
    return make(texts);
}

static void add_time(int64_t since_1970_ms, hub_buf *out)
{
    char text[HUB_CLOCK_TEXT_BYTES];
    hub_buf_printf(out, "{\"time\":\"%s.%03dZ\"", hub_clock_text(since_1970_ms / 1000, text),
                   (int)(since_1970_ms % 1000));
}

/* A text of unknown origin as JSON. */
static void add_text(const hub_audit_record *record, hub_audit_text which, hub_buf *out)
{
    hub_str text = record->texts[which];
    hub_str whole;
    hub_buf masked;
    bool is_json = which == HUB_AUDIT_REQUEST || which == HUB_AUDIT_ARGUMENTS;
    if (text.len == 0) {
        return;
    }
    hub_buf_init(&masked, SIZE_MAX / 4);
    if (hub_redact(text, &masked)) {
        text = hub_buf_ok(&masked) ? hub_buf_str(&masked) : HUB_STR(HUB_REDACTED);
    }
    hub_json_add_key(out, hub_str_of(KEYS[which]));
    if (is_json && hub_json_check(text, &whole, NULL) == HUB_OK) {
        hub_json_add_compact(out, whole); /* one line, whatever the client made of it */
    } else {
        hub_json_add_string(out, text); /* cut, or masked where no string was */
    }
    hub_buf_fini(&masked);
}

void hub_audit_record_add_line(const hub_audit_record *record, hub_audit_chain *chain, hub_buf *out)
{
    size_t from = out->len;
    add_time(record->ended_ms, out);
    for (int which = 0; which < HUB_AUDIT_ARGUMENTS; which++) {
        add_text(record, (hub_audit_text)which, out);
    }
    hub_buf_printf(out, ",\"session\":%" PRIu64 ",\"outcome\":\"%s\"", record->session,
                   record->outcome);
    if (record->code != 0) {
        hub_buf_printf(out, ",\"code\":%" PRId64, record->code);
    }
    hub_buf_printf(out, ",\"durationMs\":%" PRIu64 ".%03u", record->took_us / 1000,
                   (unsigned)(record->took_us % 1000));
    add_text(record, HUB_AUDIT_ARGUMENTS, out);
    hub_buf_add(out, record->is_cut ? HUB_STR(",\"cut\":true") : HUB_STR_EMPTY);
    hub_audit_chain_end_line(chain, out, from);
}

static bool is_number(hub_str text)
{
    hub_str whole;
    return hub_json_check(text, &whole, NULL) == HUB_OK &&
           hub_json_type_of(whole) == HUB_JSON_NUMBER;
}

void hub_audit_record_log(const hub_audit_record *record)
{
    hub_log_field fields[HUB_AUDIT_TEXTS + 6];
    size_t n = 0;
    char duration[32];
    for (int which = 0; which < HUB_AUDIT_TEXTS; which++) {
        if (record->texts[which].len > 0) {
            fields[n] = HUB_F_STR(KEYS[which], record->texts[which]);
            fields[n++].is_number = which == HUB_AUDIT_REQUEST && is_number(record->texts[which]);
        }
    }
    (void)snprintf(duration, sizeof duration, "%" PRIu64 ".%03u", record->took_us / 1000,
                   (unsigned)(record->took_us % 1000)); /* has room */
    fields[n++] = HUB_F_INT("session", record->session);
    fields[n++] = HUB_F_TEXT("outcome", record->outcome);
    fields[n++] = HUB_F_NUMBER("durationMs", hub_str_of(duration));
    if (record->code != 0) {
        fields[n++] = HUB_F_INT("code", record->code);
    }
    fields[n] = (hub_log_field){.key = NULL};
    hub_log_fields(HUB_LOG_INFO, "audit", fields);
}

void hub_audit_add_gap(uint64_t count, hub_audit_chain *chain, hub_buf *out)
{
    size_t from = out->len;
    add_time(hub_clock_wall_ms(), out);
    hub_buf_printf(out, ",\"outcome\":\"records_dropped\",\"count\":%" PRIu64, count);
    hub_audit_chain_end_line(chain, out, from);
}
