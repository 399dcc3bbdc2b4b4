/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/log_reader.h"
#include "base/loop.h"
#include "hub/admin/events_internal.h"
#include "hub/audit/audit.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"
#include "redact/redact.h"
#include "wire/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <utlist.h>

enum {
    TURN_MS = 250,       /* between two turns of a reader, if there are few */
    TURNS_AT_ONCE = 50,  /* so many readers have theirs together: a piece takes 50 us to send */
    LINGER_MS = 60000,   /* events are kept although nobody reads */
    FEW_READERS = 16,    /* get … */
    MOST_AT_ONCE = 1024, /* … so many events at a turn, … */
    LESS_AT_ONCE = 32,   /* … and many so many */
    OF_A_CALL = 2,       /* it begins, and ends */
};

typedef struct kept {
    uint64_t number;
    char *name;
    size_t name_len;
    char *json; /* in the same block */
    size_t json_len;
} kept;

struct hub_events {
    hub_orchestrator *hub;
    struct ev_loop *loop;
    kept ring[HUB_LIMIT_EVENTS];
    size_t first; /* the oldest */
    size_t count;
    size_t bytes;
    uint64_t newest;  /* number of what happened last, be it kept or not */
    size_t allowance; /* events of calls that may be kept … */
    size_t turns;     /* … in so many more turns */
    hub_event_reader *readers;
    size_t reader_count;
    uint64_t missed;
    uint64_t until_ms; /* kept so long although nobody reads */
    bool is_on;
    ev_timer turn;
    hub_log_reader *log; /* NULL: it is off, or there was no memory */
};

static hub_events *events_of(const hub_orchestrator *hub)
{
    return hub_admin_part_of(hub)->events;
}

/* ---- keeping --------------------------------------------------------------------------------- */

static kept *kept_at(hub_events *events, size_t at)
{
    return &events->ring[(events->first + at) % HUB_LIMIT_EVENTS];
}

static void drop_oldest(hub_events *events)
{
    kept *one = kept_at(events, 0);
    events->bytes -= one->name_len + one->json_len;
    free(one->name);
    events->first = (events->first + 1) % HUB_LIMIT_EVENTS;
    events->count--;
}

static void forget(hub_events *events)
{
    while (events->count > 0) {
        drop_oldest(events);
    }
}

void hub_events_add(hub_orchestrator *hub, hub_str name, hub_str json)
{
    hub_events *events = events_of(hub);
    size_t len = name.len + json.len;
    if (!events->is_on) {
        return;
    }
    events->newest++;
    char *block = len <= HUB_LIMIT_EVENT_BYTES ? malloc(len + 1) : NULL;
    if (block == NULL) {
        return; /* it is missed as one that is too old is */
    }
    while (events->count > 0 &&
           (events->count >= HUB_LIMIT_EVENTS || events->bytes + len > HUB_LIMIT_EVENT_BYTES)) {
        drop_oldest(events);
    }
    kept *one = kept_at(events, events->count++);
    char *at = block;
    *one =
        (kept){.number = events->newest, .name = block, .name_len = name.len, .json_len = json.len};
    (void)hub_str_put(&at, name);
    one->json = at;
    (void)hub_str_put(&at, json);
    events->bytes += len;
}

/* The oldest behind that number, or NULL. */
static const kept *find_behind(hub_events *events, uint64_t number)
{
    size_t low = 0;
    size_t high = events->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (kept_at(events, middle)->number <= number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < events->count ? kept_at(events, low) : NULL;
}

void hub_events_follow(const hub_orchestrator *hub, hub_event_reader *reader, uint64_t number,
                       uint64_t missed)
{
    events_of(hub)->missed += missed;
    reader->seen = number;
}

const hub_event *hub_events_next(const hub_orchestrator *hub, hub_event_reader *reader,
                                 uint64_t *ret_missed)
{
    static hub_event event; /* [loop] only */
    hub_events *events = events_of(hub);
    const kept *one = find_behind(events, reader->seen);
    uint64_t number = one != NULL ? one->number : events->newest;
    *ret_missed = number - reader->seen - (one != NULL ? 1 : 0);
    reader->seen = number;
    if (one == NULL) {
        return NULL;
    }
    event = (hub_event){.number = number,
                        .name = {.ptr = one->name, .len = one->name_len},
                        .json = {.ptr = one->json, .len = one->json_len}};
    return &event;
}

/* ---- from the log ---------------------------------------------------------------------------- */

static void on_line(void *ctx, hub_str json)
{
    hub_events *events = ctx;
    hub_str name;
    /* Calls are told as they begin and end, not by the audit. */
    if (hub_json_plain(hub_json_get(json, HUB_STR("event")), &name) && !hub_str_is(name, "audit")) {
        hub_events_add(events->hub, name, json);
    }
}

/* ---- readers --------------------------------------------------------------------------------- */

bool hub_events_are_kept(const hub_orchestrator *hub)
{
    const hub_events *events = events_of(hub);
    return events != NULL && events->is_on;
}

static void switch_on(hub_events *events)
{
    if (!events->is_on) {
        events->is_on = true;
        events->allowance = MOST_AT_ONCE;
        events->turns = 0;
        events->log = hub_log_reader_create(events->loop, HUB_LIMIT_EVENTS, on_line, events);
        hub_review(events->hub);
        ev_timer_again(events->loop, &events->turn);
        ev_unref(events->loop);
    }
}

static void switch_off(hub_events *events)
{
    if (events->is_on) {
        events->is_on = false;
        hub_log_reader_destroy(events->log);
        events->log = NULL;
        hub_review(events->hub);
        forget(events);
        ev_ref(events->loop);
        ev_timer_stop(events->loop, &events->turn);
    }
}

/* No more of calls than a reader takes at a turn, until each has had one. */
static void allow(hub_events *events)
{
    if (events->turns == 0) {
        events->allowance = hub_events_share(events->hub);
        events->turns = events->reader_count / TURNS_AT_ONCE + 1;
    }
    events->turns--;
}

/* The readers whose turn it is, those who have waited longest first. */
static void on_turn(struct ev_loop *loop, ev_timer *timer, int revents)
{
    hub_events *events = timer->data;
    size_t left = events->reader_count < TURNS_AT_ONCE ? events->reader_count : TURNS_AT_ONCE;
    uint64_t now_ms = hub_clock_now_ms();
    (void)loop;
    (void)revents;
    allow(events);
    for (; left > 0 && events->readers != NULL; left--) {
        hub_event_reader *reader = events->readers;
        DL_DELETE(events->readers, reader);
        DL_APPEND(events->readers, reader);
        if (reader->seen < events->newest || (reader->until_ms > 0 && reader->until_ms <= now_ms)) {
            reader->on_turn(reader);
        }
    }
    if (events->reader_count == 0 && now_ms >= events->until_ms) {
        switch_off(events);
    }
}

hub_err hub_events_join(hub_orchestrator *hub, hub_event_reader *reader, uint64_t since)
{
    hub_events *events = events_of(hub);
    if (events == NULL || events->reader_count >= HUB_LIMIT_EVENT_READERS) {
        return HUB_ELIMIT;
    }
    switch_on(events);
    reader->seen = since > 0 && since < events->newest ? since : events->newest;
    DL_APPEND(events->readers, reader);
    events->reader_count++;
    return HUB_OK;
}

void hub_events_leave(hub_orchestrator *hub, hub_event_reader *reader)
{
    hub_events *events = events_of(hub);
    hub_assert(events->reader_count > 0);
    DL_DELETE(events->readers, reader);
    events->reader_count--;
    /* The timer switches it off: who leaves may be inside a call. */
}

void hub_events_linger(hub_orchestrator *hub)
{
    events_of(hub)->until_ms = hub_clock_now_ms() + LINGER_MS;
}

size_t hub_events_share(const hub_orchestrator *hub)
{
    return events_of(hub)->reader_count <= FEW_READERS ? MOST_AT_ONCE : LESS_AT_ONCE;
}

uint64_t hub_events_newest(const hub_orchestrator *hub)
{
    return events_of(hub)->newest;
}

size_t hub_events_readers(const hub_orchestrator *hub)
{
    return events_of(hub)->reader_count;
}

uint64_t hub_events_missed(const hub_orchestrator *hub)
{
    return events_of(hub)->missed;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void add_text(hub_buf *out, const char *key, hub_str text)
{
    hub_buf masked;
    hub_buf_init(&masked, SIZE_MAX / 4);
    if (text.len > HUB_LIMIT_LOG_VALUE_BYTES) {
        text.len = HUB_LIMIT_LOG_VALUE_BYTES; /* a name; a character that is cut is replaced */
    }
    if (hub_redact(text, &masked)) {
        text = hub_buf_ok(&masked) ? hub_buf_str(&masked) : HUB_STR(HUB_REDACTED);
    }
    hub_json_add_key(out, hub_str_of(key));
    hub_json_add_string(out, text);
    hub_buf_fini(&masked);
}

static void add_head(hub_buf *out, const char *name)
{
    hub_buf_printf(out, "{\"timeMs\":%" PRId64 ",\"event\":\"%s\"", hub_clock_wall_ms(), name);
}

static void tell_begun(hub_call *call, const hub_way *way, hub_session *session)
{
    hub_admin_call *part = hub_call_part_of(call, &HUB_ADMIN_STATION);
    hub_orchestrator *hub = hub_session_hub(session);
    hub_buf what;
    hub_buf out;
    hub_buf_init(&what, HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_init(&out, HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_printf(&what, ",\"call\":%" PRIu64, hub_call_id(call));
    add_text(&what, "who", hub_str_of(hub_session_who(session)));
    add_text(&what, "transport", hub_str_of(hub_session_transport(session)));
    add_text(&what, "profile", hub_str_of(hub_profile_name(hub_session_profile(session))));
    add_text(&what, "method", way->message->method);
    add_text(&what, "toolset", hub_str_of(hub_toolset_key(way->toolset)));
    add_text(&what, "name", way->name);
    hub_buf_printf(&what, ",\"session\":%" PRIu64, hub_session_number(session));
    add_head(&out, "call.begun");
    hub_buf_add(&out, hub_buf_str(&what));
    hub_buf_add_char(&out, '}');
    if (hub_buf_ok(&what) && hub_buf_ok(&out)) {
        hub_events_add(hub, HUB_STR("call.begun"), hub_buf_str(&out));
        part->event_number = events_of(hub)->newest;
        part->hub = hub;
        part->begun_us = hub_clock_now_us();
        part->what = hub_buf_take(&what);
    }
    hub_buf_fini(&out);
    hub_buf_fini(&what);
}

hub_verdict hub_events_call_begun(hub_call *call, const hub_way *way)
{
    hub_session *session = hub_call_session(call);
    if (session == NULL) {
        return HUB_PASS;
    }
    hub_events *events = events_of(hub_session_hub(session));
    if (events->allowance < OF_A_CALL) {
        events->newest += OF_A_CALL;
        return HUB_PASS;
    }
    events->allowance -= OF_A_CALL;
    tell_begun(call, way, session);
    return HUB_GO_ON;
}

void hub_events_call_ended(hub_call *call, const hub_outcome *outcome)
{
    hub_admin_call *part = hub_call_find_part(call, &HUB_ADMIN_STATION);
    uint64_t took_us = hub_clock_now_us() - part->begun_us;
    hub_buf out;
    hub_buf_init(&out, 2 * HUB_LIMIT_LOG_LINE_BYTES);
    add_head(&out, "call.ended");
    hub_buf_add(&out, hub_str_of(part->what));
    add_text(&out, "outcome", hub_str_of(hub_audit_outcome_word(call, outcome)));
    hub_buf_printf(&out, ",\"durationMs\":%" PRIu64 ".%03u}", took_us / 1000,
                   (unsigned)(took_us % 1000));
    part->event_number = 0;
    if (hub_buf_ok(&out)) {
        hub_events_add(part->hub, HUB_STR("call.ended"), hub_buf_str(&out));
    }
    hub_buf_fini(&out);
}

/* ---- life ------------------------------------------------------------------------------------ */

hub_err hub_events_create(hub_orchestrator *hub, hub_events **ret_events, hub_error *reterr)
{
    hub_events *events = calloc(1, sizeof *events);
    if (events == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    events->hub = hub;
    events->loop = hub_loop(hub);
    events->newest = 1; /* nobody has seen 0 */
    ev_timer_init(&events->turn, on_turn, 0., TURN_MS / 1000.);
    events->turn.data = events;
    *ret_events = events;
    return HUB_OK;
}

void hub_events_destroy(hub_events *events)
{
    if (events == NULL) {
        return;
    }
    hub_assert(events->reader_count == 0);
    if (events->is_on) {
        events->is_on = false;
        ev_ref(events->loop);
        ev_timer_stop(events->loop, &events->turn);
    }
    hub_log_reader_destroy(events->log);
    forget(events);
    free(events);
}
