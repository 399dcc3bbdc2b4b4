/* SPDX-License-Identifier: Apache-2.0 */
/* Who uses the hub, and in which sessions: for somebody who may read, everybody; for others, they
 * themselves. */
#include "base/clock.h"
#include "base/limits.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/principal.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"
#include "hub/saved/saved.h"
#include "web/api/route.h"

enum { MOST_SESSIONS = 1000, MOST_PRINCIPALS = 1000 };

static bool may_see(const hub_api_asked *asked, const char *principal)
{
    return asked->right >= HUB_API_READ || strcmp(principal, asked->identity->name) == 0;
}

/* ---- principals ------------------------------------------------------------------------------ */

/* The session that asks, or acts, is none that anybody has begun. */
static bool is_shown(const hub_session *session)
{
    return !hub_session_is_one_request(session) && !hub_session_acts(session);
}

static size_t count_sessions(const hub_orchestrator *hub, const hub_principal *principal)
{
    size_t count = 0;
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        for (const hub_session *at = hub_profile_sessions(hub_profile_at(hub, i)); at != NULL;
             at = hub_session_next(at)) {
            count += is_shown(at) && hub_session_principal(at) == principal;
        }
    }
    return count;
}

/* What it has equipped in the default profile; nothing is said of others. */
static void add_equipped(const hub_orchestrator *hub, const hub_principal *principal, hub_buf *out)
{
    const hub_audience *audience = hub_audience_find(principal, hub_find_profile(hub, NULL));
    hub_str name = audience != NULL ? hub_saved_equipped_by(audience).name : HUB_STR_EMPTY;
    if (name.len > 0) {
        hub_json_add_member(out, "equipped", name);
    }
}

static void serve_principals(hub_api_asked *asked)
{
    hub_buf out;
    size_t count = 0;
    size_t more = 0;
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_buf_add(&out, HUB_STR("{\"principals\":["));
    /* Who asks is there, be it by this request alone. */
    if (hub_principal_find(asked->hub, hub_str_of(asked->identity->name)) == NULL) {
        count++;
        hub_buf_add_char(&out, '{');
        hub_json_add_member(&out, "name", hub_str_of(asked->identity->name));
        hub_buf_add(&out, HUB_STR(",\"sessions\":0,\"inFlight\":0}"));
    }
    for (const hub_principal *at = hub_principal_next(asked->hub, NULL); at != NULL;
         at = hub_principal_next(asked->hub, at)) {
        if (!may_see(asked, hub_principal_name(at))) {
            continue;
        }
        if (++count > MOST_PRINCIPALS) {
            more++;
            continue;
        }
        hub_json_add_comma(&out);
        hub_buf_add_char(&out, '{');
        hub_json_add_member(&out, "name", hub_str_of(hub_principal_name(at)));
        hub_json_add_count(&out, "sessions", count_sessions(asked->hub, at));
        hub_json_add_count(&out, "inFlight", hub_principal_in_flight(at));
        add_equipped(asked->hub, at, &out);
        hub_buf_add_char(&out, '}');
    }
    hub_buf_printf(&out, "],\"more\":%zu}", more);
    hub_api_answer(asked->exchange, 200, &out);
}

/* ---- sessions -------------------------------------------------------------------------------- */

static void add_session(const hub_session *session, hub_buf *out)
{
    hub_revision revision = hub_session_revision(session);
    hub_json_add_comma(out);
    hub_buf_add_char(out, '{');
    hub_json_add_key(out, HUB_STR("number"));
    hub_buf_add_u64(out, hub_session_number(session));
    hub_json_add_member(out, "principal", hub_str_of(hub_session_who(session)));
    hub_json_add_member(out, "profile", hub_str_of(hub_profile_name(hub_session_profile(session))));
    hub_json_add_member(out, "transport", hub_str_of(hub_session_transport(session)));
    hub_json_add_member(out, "peer", hub_str_of(hub_session_peer(session)));
    if (revision != HUB_REVISION_NONE) {
        hub_json_add_member(out, "protocol", hub_str_of(hub_revision_date(revision)));
    }
    hub_json_add_count(out, "ageMs", (hub_clock_now_us() - hub_session_begun_us(session)) / 1000);
    hub_json_add_count(out, "inFlight", hub_session_in_flight(session));
    hub_buf_add_char(out, '}');
}

static void serve_sessions(hub_api_asked *asked)
{
    hub_buf out;
    size_t count = 0;
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_buf_add(&out, HUB_STR("{\"sessions\":["));
    for (size_t i = 0; i < hub_profile_total(asked->hub); i++) {
        for (const hub_session *at = hub_profile_sessions(hub_profile_at(asked->hub, i));
             at != NULL; at = hub_session_next(at)) {
            if (is_shown(at) && may_see(asked, hub_session_who(at)) && ++count <= MOST_SESSIONS) {
                add_session(at, &out);
            }
        }
    }
    hub_buf_printf(&out, "],\"more\":%zu}", count > MOST_SESSIONS ? count - MOST_SESSIONS : 0);
    hub_api_answer(asked->exchange, 200, &out);
}

const hub_api_route HUB_API_PRINCIPAL_ROUTES[] = {
    {.method = "GET",
     .path = "/principals",
     .scope = HUB_API_CALLER,
     .summary = "The users of the hub, with sessions and calls in flight; "
                "without admin:read, the caller alone.",
     .handle = serve_principals},
    {.method = "GET",
     .path = "/sessions",
     .scope = HUB_API_CALLER,
     .summary = "Sessions of clients that have some: all of them, or the caller's.",
     .handle = serve_sessions},
    {.method = NULL},
};
