/* SPDX-License-Identifier: Apache-2.0 */
/* Who has chosen what, for status. */
#include "hub/active/choice.h"
#include "hub/remember/seat.h"

#include "base/limits.h"
#include "hub/kernel/sight.h"
#include "identity/identity.h"
#include "wire/json.h"

#include <string.h>

/* Who looks, and how much there is to say. */
typedef struct showing {
    const hub_session *session;
    bool is_of_all; /* it may know what others have chosen */
    size_t shown;
    size_t more;
    hub_buf *out;
} showing;

static hub_remembered remembered_of(const hub_profile *profile, const hub_principal *principal)
{
    const hub_orchestrator *hub = hub_profile_hub(profile);
    const seat *of = seat_find(hub, hub_str_of(hub_profile_name(profile)),
                               hub_str_of(hub_principal_name(principal)));
    if (of == NULL || !remember_of(hub)->is_on) {
        return HUB_REMEMBERED_NOT;
    }
    if (of->has_failed || of->is_dirty) {
        return HUB_REMEMBERED_LOST;
    }
    return of->is_unread || (of->is_reading && of->is_first) ? HUB_REMEMBERED_UNREAD
                                                             : HUB_REMEMBERED_YES;
}

/* The operator: the client on stdin and stdout, the user whose hub it is, and who has the scope. */
static bool is_operator(const hub_session *session)
{
    const hub_identity *who = hub_session_identity(session);
    bool is = strcmp(who->name, "local") == 0 || hub_session_is_operator(session);
    for (size_t i = 0; !is && i < who->scopes.count; i++) {
        is = strcmp(who->scopes.items[i], HUB_SCOPE_ADMIN) == 0;
    }
    return is;
}

/* Toolsets that `from` has and `other` has not, as far as the one who looks may know of them. */
static size_t add_others(const showing *to, const char *name, const hub_audience *from,
                         const hub_audience *other)
{
    hub_exposure *seen = hub_session_exposure(to->session);
    size_t count = hub_choice_places(from);
    size_t added = 0;
    hub_json_add_key(to->out, hub_str_of(name));
    hub_buf_add_char(to->out, '[');
    for (size_t i = 0; i < count && added < HUB_LIMIT_REMEMBER_SHOWN; i++) {
        hub_str key = hub_choice_enabled_at(from, i);
        if (key.len > 0 && !hub_choice_enables(other, key) && hub_exposure_may_tell_of(seen, key)) {
            hub_json_add_comma(to->out);
            hub_json_add_string(to->out, key);
            added++;
        }
    }
    hub_buf_add_char(to->out, ']');
    return added;
}

static void add_head(showing *to, hub_str profile, hub_str principal)
{
    hub_json_add_comma(to->out);
    hub_buf_add(to->out, HUB_STR("{\"profile\":"));
    hub_json_add_string(to->out, profile);
    hub_json_add_key(to->out, HUB_STR("principal"));
    hub_json_add_string(to->out, principal);
    to->shown++;
}

/* One more, or one that is only counted. */
static bool has_room(showing *to)
{
    bool has = to->shown < HUB_LIMIT_REMEMBER_SHOWN;
    to->more += !has;
    return has;
}

static void add_audience(showing *to, const hub_audience *audience)
{
    static const char *const WORDS[] = {[HUB_REMEMBERED_NOT] = "no",
                                        [HUB_REMEMBERED_YES] = "yes",
                                        [HUB_REMEMBERED_LOST] = "lost",
                                        [HUB_REMEMBERED_UNREAD] = "unread"};
    const hub_profile *profile = hub_audience_profile(audience);
    const hub_audience *own = hub_profile_audience(profile);
    hub_remembered remembered = hub_audience_is_of_session(audience)
                                    ? HUB_REMEMBERED_NOT
                                    : remembered_of(profile, hub_audience_principal(audience));
    size_t before = to->out->len;
    if (!has_room(to)) {
        return;
    }
    add_head(to, hub_str_of(hub_profile_name(profile)), hub_str_of(hub_audience_who(audience)));
    size_t different = add_others(to, "enabled", audience, own);
    different += add_others(to, "disabled", own, audience);
    hub_buf_printf(to->out, ",\"ofSession\":%s,\"remembered\":\"%s\"}",
                   hub_audience_is_of_session(audience) ? "true" : "false", WORDS[remembered]);
    if (different == 0 && remembered != HUB_REMEMBERED_LOST && hub_buf_ok(to->out)) {
        to->out->len = before; /* it is what the profile has, as far as it may be told */
        to->shown--;
    }
}

/* Principals whose choices nobody knows yet: the profile's toolsets serve. */
static void add_unread(showing *to)
{
    const hub_orchestrator *hub = hub_session_hub(to->session);
    hub_str self = hub_str_of(hub_session_who(to->session));
    for (const seat *at = remember_of(hub)->used; at != NULL; at = at->next) {
        bool is_unread = at->is_unread || (at->is_reading && at->is_first);
        if (is_unread && (to->is_of_all || hub_str_eq(at->principal, self)) &&
            seat_audience(at) == NULL && has_room(to)) {
            add_head(to, at->profile, at->principal);
            hub_buf_add(to->out, HUB_STR(",\"remembered\":\"unread\"}"));
        }
    }
}

void hub_remember_add_choices(const hub_session *session, hub_buf *out)
{
    const hub_orchestrator *hub = hub_session_hub(session);
    showing to = {.session = session, .is_of_all = is_operator(session), .out = out};
    hub_json_add_key(out, HUB_STR("choices"));
    hub_buf_add_char(out, '[');
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        const hub_audience *at = hub_profile_audience(hub_profile_at(hub, i));
        for (; at != NULL; at = hub_audience_next(at)) {
            const hub_principal *principal = hub_audience_principal(at);
            bool is_own = hub_audience_is_of_session(at)
                              ? at == hub_session_audience(session)
                              : principal == hub_session_principal(session);
            if (principal != NULL && (to.is_of_all || is_own)) {
                add_audience(&to, at);
            }
        }
    }
    add_unread(&to);
    hub_buf_add_char(out, ']');
    if (to.more > 0) {
        hub_json_add_key(out, HUB_STR("moreChoices"));
        hub_buf_add_u64(out, to.more);
    }
}
