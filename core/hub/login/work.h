/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What people do with logins beside the calls that need one (web/api): look at all of them, begin one, end
 * one. Who may do that is for the caller to know. Thread: [loop].
 */
#ifndef HUB_HUB_LOGIN_WORK_H
#define HUB_HUB_LOGIN_WORK_H

#include "hub/kernel/station.h"
#include "hub/kernel/toolset.h"
#include "login/login.h"

extern const hub_station HUB_LOGIN_WORKS_STATION;

typedef struct hub_login_work hub_login_work;

/* How it went. HUB_OK and `text`: of a login that was begun, the link that its user has to follow, or
 * nothing where no user is needed and it is done, and the code that is to be entered there, or NULL; of one that was ended, why the authorization server was
 * not told; of a list, a JSON array of logins as hub_credential_add_public writes them. Anything else: why
 * not. Comes once, never before the function has returned; the work is gone then. */
typedef void hub_login_on_work(void *ctx, hub_err err, const char *text, const char *code);

/* Log `owner` in ("": the hub) to the server of a toolset, whether or not there is a login. It goes on
 * when the link has been told, and when nobody waits for it any more.
 * owns:    *ret_work until on_work, or hub_login_work_cancel
 * errors:  of all: HUB_ENOTFOUND (there is nothing to log in to), HUB_ELIMIT, HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_login_work_begin(hub_toolset *toolset, const char *owner,
                                            hub_login_on_work *on_work, void *ctx,
                                            hub_login_work **ret_work, hub_error *reterr);

/* End the login of `owner` to a toolset, which need not be there any more. */
HUB_MUST_CHECK hub_err hub_login_work_end(hub_orchestrator *hub, const char *toolset,
                                          const char *owner, hub_login_on_work *on_work, void *ctx,
                                          hub_login_work **ret_work, hub_error *reterr);

/* List the logins of `owner`; NULL: of everybody. */
HUB_MUST_CHECK hub_err hub_login_work_list(hub_orchestrator *hub, const char *owner,
                                           hub_login_on_work *on_work, void *ctx,
                                           hub_login_work **ret_work, hub_error *reterr);

/* Hear nothing of it any more; what was begun goes on. NULL is fine. */
void hub_login_work_cancel(hub_login_work *work);

/* A login has a link now (logins.c). */
void hub_login_works_tell(hub_orchestrator *hub, const hub_login *login);

#endif
