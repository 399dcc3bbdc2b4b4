/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logins of toolsets' servers, in the hub: whose login a binding uses, and who is asked when a user has to
 * follow a link. How one logs in is core/login's business.
 *
 * A call whose client can be sent to a URL asks its user (elicitation), and goes on when the login is
 * done. The client of any other call is told the link in the error. A link is shown to nobody else, in no
 * log and no status: whoever has it could log in as somebody else. Who may not log the hub in, because
 * the hub tells its users apart, is not shown the link either.
 *
 * Thread: [loop].
 */
#ifndef HUB_HUB_LOGIN_LOGINS_H
#define HUB_HUB_LOGIN_LOGINS_H

#include "hub/kernel/station.h"
#include "hub/kernel/toolset.h"
#include "login/login.h"

extern const hub_station HUB_LOGINS_STATION;

/* Of hub_instance_events; the context is the binding. */
extern const hub_instance_logins HUB_BINDING_LOGINS;

/* Where the user of its server has to log in; NULL: nobody has to now. */
const char *hub_logins_link(const hub_toolset *toolset);

/* The login of a principal to the server of a toolset; "": the hub's own. NULL: it has none.
 * owns:    the result, hub_login_unref */
hub_login *hub_logins_get(hub_toolset *toolset, const char *owner);

/* Whose login a principal uses at a toolset: "", the hub's own, or with credentials: principal, its own. */
const char *hub_logins_owner(const hub_toolset *toolset, const char *principal);

/* What the user is asked for there; NULL: nothing. */
const char *hub_logins_code(const hub_toolset *toolset);

/* Append the command that logs in to the server of a toolset, in back quotes. */
void hub_logins_add_command(const hub_toolset *toolset, hub_buf *out);

/* A binding is gone. */
void hub_logins_forget_binding(hub_binding *binding);

/* All logins of the hub; for the face that browsers come back to. NULL when out of memory. */
hub_logins *hub_logins_of(hub_orchestrator *hub);

#endif
