/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Acting as somebody: a request is answered as if a client with that credential had sent it, in the
 * newest revision, under all rules that hold for it. Thread: [loop].
 */
#ifndef HUB_HUB_ADMIN_ACT_H
#define HUB_HUB_ADMIN_ACT_H

#include "base/err.h"
#include "hub/kernel/types.h"
#include "identity/identity.h"

typedef struct hub_act hub_act;

/* A method that is for acting alone: tools/call of a tool of the hub's own, of any group, be it that the
 * profile lists it or not. Rules that name it (`_meta:…`) hold, and a profile that starts static has
 * what it lists. To clients there is no such method. */
#define HUB_ACT_OWN_TOOL "patchbay/own-tool"

/* Told once, possibly before hub_act_begin returns, with the whole JSON-RPC message; borrowed. Not told
 * after hub_act_cancel. */
typedef void hub_act_on_done(void *ctx, hub_str message);

typedef struct hub_act_as {
    hub_identity *identity;
    const char *profile;   /* NULL: the default one */
    const char *transport; /* for the log */
} hub_act_as;

/* Have a method answered. `params` are members of its params, without braces and without _meta.
 * owns:    *ret_act until on_done is told: hub_act_cancel ends it before. NULL when it is over already
 * errors:  those of hub_session_create: on_done is not told */
HUB_MUST_CHECK hub_err hub_act_begin(hub_orchestrator *hub, const hub_act_as *as,
                                     const char *method, hub_str params, hub_act_on_done *on_done,
                                     void *ctx, hub_act **ret_act, hub_error *reterr);

/* Nobody waits any more: the request is cancelled. */
void hub_act_cancel(hub_act *act);

#endif
