/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/notices/notifier.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/loop.h"
#include "hub/access/access.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/notices/listen.h"
#include "hub/notices/subscription_internal.h"

#include <stdlib.h>

static const char *const METHODS[HUB_TOPICS] = {
    [HUB_TOPIC_TOOLS] = "notifications/tools/list_changed",
    [HUB_TOPIC_RESOURCES] = "notifications/resources/list_changed",
    [HUB_TOPIC_PROMPTS] = "notifications/prompts/list_changed",
};

static const hub_topic TOPICS[HUB_KINDS] = {
    [HUB_KIND_TOOL] = HUB_TOPIC_TOOLS,
    [HUB_KIND_RESOURCE] = HUB_TOPIC_RESOURCES,
    [HUB_KIND_TEMPLATE] = HUB_TOPIC_RESOURCES,
    [HUB_KIND_PROMPT] = HUB_TOPIC_PROMPTS,
};

struct hub_notifier {
    hub_audience *audience; /* NULL: it has not begun, or has ended */
    ev_timer timer;
    hub_shown *told[HUB_KINDS]; /* what clients know of */
    uint8_t seen[HUB_KINDS];    /* revisions in which a client was given another list meanwhile */
    bool is_asked_for;          /* a user made one of the changes that are to be told */
    uint64_t quiet_until;       /* monotonic ms: what nobody asked for is not told before */
    unsigned count;
    unsigned holds;
    bool is_due; /* held: there is something to tell */
};

hub_str hub_topic_method(hub_topic topic)
{
    return hub_str_of(METHODS[topic]);
}

/* What is listed of a kind: one reference. */
static hub_shown *get_current(const hub_notifier *notifier, hub_kind kind)
{
    const hub_exposure *exposure = hub_audience_exposure(notifier->audience);
    hub_shown *shown = NULL;
    if (hub_sight_get_listed(exposure, hub_audience_profile(notifier->audience), kind, &shown) !=
        HUB_OK) {
        shown = hub_shown_ref(hub_exposure_shown(exposure, kind)); /* told in vain, at worst */
    }
    return shown;
}

/* Whether what is listed is the hub's own, whatever is shown. */
static bool is_fixed(const hub_profile *profile, hub_kind kind)
{
    return kind == HUB_KIND_TOOL && hub_profile_settings_of(profile)->lists_search;
}

/* Of which topics somebody hears who sees this, when lists have changed in these revisions; one that
 * waited for these very lists was given them. */
static void find_news(const hub_session *session, hub_sight sight, const uint8_t changed[HUB_KINDS],
                      bool is_asked_for, bool ret_news[HUB_TOPICS])
{
    memset(ret_news, 0, HUB_TOPICS * sizeof *ret_news);
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        bool is_given =
            hub_session_listed(session, (hub_kind)kind) == hub_sight_serial(sight, (hub_kind)kind);
        bool is_changed = (changed[kind] & HUB_REVISION_BIT(sight.revision)) != 0;
        if (is_changed && (is_asked_for || !is_given)) {
            ret_news[TOPICS[kind]] = true;
        }
    }
}

/* What is listed of a kind for a session: one reference, or NULL when out of memory. */
static hub_shown *get_listed(const hub_session *session, hub_kind kind)
{
    hub_shown *shown = NULL;
    hub_err err = hub_sight_get_listed(hub_session_exposure(session), hub_session_profile(session),
                                       kind, &shown);
    return err == HUB_OK ? shown : NULL;
}

void hub_notifier_begin_to_tell(const hub_session *session)
{
    bool is_apart = hub_tells_sessions_apart(hub_session_hub(session));
    for (int kind = 0; is_apart && kind < HUB_KINDS; kind++) {
        hub_shown *listed = hub_access_has_told(session, (hub_kind)kind)
                                ? NULL
                                : get_listed(session, (hub_kind)kind);
        if (listed != NULL) {
            hub_access_note_told(session, (hub_kind)kind, listed);
        }
        hub_shown_unref(listed);
    }
}

/* Of which kinds a session is listed something else than its client knows of, where rules decide what
 * that is, or did: in all revisions. `before`: what there was for who sees all. */
static void find_own(const hub_session *session, const uint8_t changed[HUB_KINDS],
                     hub_shown *const before[HUB_KINDS], uint8_t ret_own[HUB_KINDS])
{
    bool is_gated = hub_tells_sessions_apart(hub_session_hub(session));
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        hub_shown *listed = NULL;
        ret_own[kind] = changed[kind];
        if (is_gated || hub_access_has_told(session, (hub_kind)kind)) {
            listed = get_listed(session, (hub_kind)kind);
            ret_own[kind] = listed != NULL
                                ? hub_access_news(session, (hub_kind)kind, before[kind], listed)
                                : UINT8_MAX; /* told in vain, at worst */
        }
        hub_shown_unref(listed);
    }
}

/* A legacy client hears of the lists that were announced to it, a modern one of those that it asked
 * for; each of what differs in its own revision. */
static void tell_session(const hub_session *session, const uint8_t changed[HUB_KINDS],
                         hub_shown *const before[HUB_KINDS], bool is_asked_for)
{
    hub_sight sight = hub_session_sight(session);
    bool is_news[HUB_TOPICS];
    uint8_t own[HUB_KINDS];
    find_own(session, changed, before, own);
    find_news(session, sight, own, is_asked_for, is_news);
    for (int topic = 0; topic < HUB_TOPICS; topic++) {
        if (is_news[topic] && hub_session_is_initialized(session) &&
            hub_session_announced(session)->lists[topic]) {
            hub_respond_notify(hub_session_port(session), hub_topic_method((hub_topic)topic),
                               HUB_STR_EMPTY);
        }
    }
    sight.revision = HUB_REVISION_NEWEST;
    find_news(session, sight, own, is_asked_for, is_news);
    for (int topic = 0; topic < HUB_TOPICS; topic++) {
        hub_listen *listen = is_news[topic] ? hub_notices_in(session)->listens : NULL;
        for (; listen != NULL; listen = listen->next) {
            hub_listen_tell(listen, (hub_topic)topic);
        }
    }
}

static void tell(hub_notifier *notifier)
{
    const hub_orchestrator *hub = hub_audience_hub(notifier->audience);
    uint8_t changed[HUB_KINDS];
    hub_shown *before[HUB_KINDS];
    bool any = hub_tells_sessions_apart(hub) || hub_access_may_show_others(hub);
    bool is_asked_for = notifier->is_asked_for;
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        hub_shown *now = get_current(notifier, (hub_kind)kind);
        before[kind] = hub_shown_ref(notifier->told[kind]);
        changed[kind] = notifier->seen[kind] | hub_shown_news(notifier->told[kind], now);
        hub_shown_unref(now);
        any = any || changed[kind] != 0;
    }
    hub_notifier_settle(notifier);
    if (any) {
        notifier->quiet_until = hub_clock_now_ms() + HUB_LIMIT_NOTIFY_STORM_MS;
        notifier->count++;
    }
    for (const hub_session *session = any ? hub_audience_sessions(notifier->audience) : NULL;
         session != NULL; session = hub_session_next_of_audience(session)) {
        tell_session(session, changed, before, is_asked_for);
    }
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        hub_shown_unref(before[kind]);
    }
}

static void on_window_end(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    tell(timer->data);
}

hub_notifier *hub_notifier_of(const hub_audience *audience)
{
    return hub_audience_part(audience, &HUB_NOTICES_STATION);
}

/* Its sessions have been told what they were as those of another audience. */
static void follow(hub_notifier *notifier, hub_notifier *from)
{
    struct ev_loop *loop = hub_loop(hub_audience_hub(notifier->audience));
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        notifier->told[kind] = hub_shown_ref(from->told[kind]);
        notifier->seen[kind] = from->seen[kind];
    }
    notifier->is_asked_for = from->is_asked_for;
    notifier->quiet_until = from->quiet_until;
    notifier->holds = from->holds;
    notifier->is_due = from->is_due;
    if (hub_loop_has_timer(&from->timer)) {
        hub_loop_start_timer(loop, &notifier->timer, HUB_LIMIT_NOTIFY_WINDOW_MS / 1000.);
    }
}

static hub_err begin(hub_audience *audience, const hub_audience *from)
{
    hub_notifier *notifier = hub_notifier_of(audience);
    notifier->audience = audience;
    ev_timer_init(&notifier->timer, on_window_end, 0., 0.);
    notifier->timer.data = notifier;
    if (from != NULL) {
        follow(notifier, hub_notifier_of(from));
    } else {
        hub_notifier_settle(notifier);
    }
    return HUB_OK;
}

static void end(hub_audience *audience)
{
    hub_notifier *notifier = hub_notifier_of(audience);
    if (notifier->audience == NULL) {
        return;
    }
    ev_timer_stop(hub_loop(hub_audience_hub(audience)), &notifier->timer);
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        hub_shown_unref(notifier->told[kind]);
    }
    notifier->audience = NULL;
}

void hub_notifier_changed(hub_notifier *notifier, bool is_asked_for)
{
    struct ev_loop *loop = hub_loop(hub_audience_hub(notifier->audience));
    uint64_t now = hub_clock_now_ms();
    uint64_t delay_ms = HUB_LIMIT_NOTIFY_WINDOW_MS;
    if (!is_asked_for && notifier->quiet_until > now + delay_ms) {
        delay_ms = notifier->quiet_until - now;
    }
    double delay = (double)delay_ms / 1000.;
    notifier->is_asked_for = notifier->is_asked_for || is_asked_for;
    if (notifier->holds > 0) {
        notifier->is_due = true;
        return;
    }
    if (hub_loop_has_timer(&notifier->timer)) {
        if (ev_timer_remaining(loop, &notifier->timer) <= delay) {
            return;
        }
        ev_timer_stop(loop, &notifier->timer); /* a user's change does not wait for a storm */
    }
    hub_loop_start_timer(loop, &notifier->timer, delay);
}

void hub_notifier_look(hub_notifier *notifier)
{
    bool is_same = true;
    for (int kind = 0; is_same && kind < HUB_KINDS; kind++) {
        hub_shown *now = get_current(notifier, (hub_kind)kind);
        is_same = now == notifier->told[kind];
        hub_shown_unref(now);
    }
    if (!is_same) {
        hub_notifier_changed(notifier, false);
    }
}

void hub_notifier_hold(hub_notifier *notifier)
{
    struct ev_loop *loop = hub_loop(hub_audience_hub(notifier->audience));
    notifier->is_due = notifier->is_due || hub_loop_has_timer(&notifier->timer);
    ev_timer_stop(loop, &notifier->timer);
    notifier->holds++;
}

void hub_notifier_let_go(hub_notifier *notifier)
{
    bool is_due = notifier->is_due;
    if (--notifier->holds == 0 && is_due) {
        notifier->is_due = false;
        hub_notifier_changed(notifier, notifier->is_asked_for);
    }
}

void hub_notifier_settle(hub_notifier *notifier)
{
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        hub_shown *shown = get_current(notifier, (hub_kind)kind);
        hub_shown_unref(notifier->told[kind]);
        notifier->told[kind] = shown;
        notifier->seen[kind] = 0;
    }
    notifier->is_asked_for = false;
}

void hub_notifier_seen(hub_notifier *notifier, hub_sight sight, hub_kind kind)
{
    if ((hub_loop_has_timer(&notifier->timer) || notifier->is_due) &&
        !is_fixed(hub_audience_profile(notifier->audience), kind) &&
        !hub_shown_equal(hub_sight_shown(sight, kind),
                         hub_shown_in(notifier->told[kind], sight.revision))) {
        notifier->seen[kind] |= HUB_REVISION_BIT(sight.revision);
    }
}

unsigned hub_notifier_count(const hub_notifier *notifier)
{
    return notifier->count;
}

/* Other rules: who sees something else by them is told. */
static void settings_changed(hub_orchestrator *hub)
{
    for (size_t i = 0; hub_access_may_show_others(hub) && i < hub_profile_total(hub); i++) {
        for (hub_audience *at = hub_profile_audience(hub_profile_at(hub, i)); at != NULL;
             at = hub_audience_next(at)) {
            hub_notifier_changed(hub_notifier_of(at), true);
        }
    }
}

/* Some session of an audience is a principal's. */
static bool has_principal(const hub_audience *audience, const hub_principal *principal)
{
    const hub_session *session = hub_audience_sessions(audience);
    while (session != NULL && hub_session_principal(session) != principal) {
        session = hub_session_next_of_audience(session);
    }
    return session != NULL;
}

/* A principal's own instance of a toolset has other lists: its sessions are told what differs for them. */
static void principal_sees_others(hub_orchestrator *hub, const hub_principal *principal)
{
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        for (const hub_audience *at = hub_profile_audience(hub_profile_at(hub, i)); at != NULL;
             at = hub_audience_next(at)) {
            if (has_principal(at, principal)) {
                hub_notifier_changed(hub_notifier_of(at), false);
            }
        }
    }
}

/* The end of a session is that of its streams and subscriptions. */
static void end_session(hub_session *session)
{
    hub_listen_close_all(session, false);
    hub_subscription_end_session(session);
}

static hub_station_place place;

const hub_station HUB_NOTICES_STATION = {
    .name = "notices",
    .place = &place,
    .bytes = {[HUB_PART_AUDIENCE] = sizeof(hub_notifier),
              [HUB_PART_SESSION] = sizeof(session_notices),
              [HUB_PART_TOOLSET] = sizeof(toolset_notices)},
    .audience_begins = begin,
    .audience_ends = end,
    .holds_id = hub_listen_is_open,
    .settings_changed = settings_changed,
    .principal_sees_others = principal_sees_others,
    .session_ends = end_session,
    .toolset_bound = hub_subscription_rebind,
    .toolset_less = hub_subscription_sweep,
    .toolset_leaves = hub_subscription_forget,
    .toolset_ends = hub_subscription_check_gone,
};
