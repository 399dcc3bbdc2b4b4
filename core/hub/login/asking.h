/* SPDX-License-Identifier: Apache-2.0 */
/* Having the user of a call follow a link, or telling it. Thread: [loop]. */
#ifndef HUB_HUB_LOGIN_ASKING_H
#define HUB_HUB_LOGIN_ASKING_H

#include "hub/kernel/call.h"
#include "hub/kernel/toolset.h"

/* With a call: its user was asked. */
typedef struct login_asked {
    bool is_asked;
    bool has_said_yes;
} login_asked;

/* Whether a principal may log the hub in for everybody: not where the hub tells its users apart. */
bool hub_login_may(hub_str principal);

/* Ask the client of a call to send its user to `link`; one that was asked is not asked twice. False: it
 * cannot be asked, and the call is over if it is a client's, with an error that says what to do. */
bool hub_login_ask_client(hub_binding *binding, hub_call *call, const char *link);

/* Answer a call of a toolset that cannot be reached before somebody has logged in: with the link, where its
 * client may have it. HUB_GO_ON: that is not why, and nothing happens. */
hub_verdict hub_login_answer(hub_call *call, const hub_toolset *toolset);

/* Nobody has to log in any more: take back what the clients of these calls were asked. */
void hub_login_ask_no_more(hub_binding *binding);

#endif
