/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/search/found.h"

#include "base/limits.h"
#include "hub/kernel/capabilities.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/settings.h"
#include "hub/search/finder.h"

#include <stdlib.h>

typedef struct found_tools {
    char *ids[HUB_LIMIT_FOUND_TOOLS]; /* the oldest is the next to go */
    size_t count;
    size_t next;
} found_tools;

static found_tools **part_of(const hub_session *session)
{
    return hub_session_part(session, &HUB_FINDER_STATION);
}

bool hub_found_is_wanted(const hub_session *session)
{
    const hub_profile_settings *settings = hub_profile_settings_of(hub_session_profile(session));
    return settings->lists_search && settings->equips_found &&
           hub_session_revision(session) != HUB_REVISION_NONE;
}

bool hub_found_is_any(const hub_session *session)
{
    const found_tools *own = *part_of(session);
    return own != NULL && own->count > 0 && hub_found_is_wanted(session);
}

bool hub_found_has(const hub_session *session, hub_str canonical)
{
    const found_tools *own = *part_of(session);
    for (size_t i = 0; own != NULL && i < own->count; i++) {
        if (hub_str_is(canonical, own->ids[i])) {
            return true;
        }
    }
    return false;
}

bool hub_found_note(hub_session *session, hub_str canonical)
{
    found_tools **part = part_of(session);
    if (hub_found_has(session, canonical)) {
        return false;
    }
    char *id = hub_str_dup(canonical);
    if (*part == NULL) {
        *part = calloc(1, sizeof **part);
    }
    if (id == NULL || *part == NULL) {
        free(id);
        return false;
    }
    found_tools *own = *part;
    free(own->ids[own->next]);
    own->ids[own->next] = id;
    own->next = (own->next + 1) % HUB_LIMIT_FOUND_TOOLS;
    own->count += own->count < HUB_LIMIT_FOUND_TOOLS;
    return true;
}

void hub_found_tell(const hub_session *session)
{
    if (hub_session_announced(session)->lists[HUB_TOPIC_TOOLS]) {
        hub_respond_notify(hub_session_port(session), HUB_STR("notifications/tools/list_changed"),
                           HUB_STR_EMPTY);
    }
}

void hub_found_end(hub_session *session)
{
    found_tools **part = part_of(session);
    for (size_t i = 0; *part != NULL && i < (*part)->count; i++) {
        free((*part)->ids[i]);
    }
    free(*part);
    *part = NULL;
}
