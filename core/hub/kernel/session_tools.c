/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/hub.h"

hub_str hub_session_find_tool(const hub_session *session, hub_str name)
{
    const hub_view *view = hub_registry_view(session->profile->registry);
    const hub_view_entry *entry = hub_view_find(view, name);
    return entry != NULL ? hub_str_between(view->bytes + entry->begin, view->bytes + entry->end)
                         : HUB_STR_EMPTY;
}
