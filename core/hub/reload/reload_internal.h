/* SPDX-License-Identifier: Apache-2.0 */
/* A reload on its way: what reload.c, reload_profile.c and reload_wait.c share. Nobody else
 * includes it. */
#ifndef HUB_HUB_RELOAD_RELOAD_INTERNAL_H
#define HUB_HUB_RELOAD_RELOAD_INTERNAL_H

#include "hub/kernel/audience.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"
#include "hub/orchestrator/profiles.h"
#include "hub/reload/reload.h"

/* What a reload waits for: the catalogs of servers that are new. Until then the
 * notifiers are held. */
typedef struct hub_reload_wait hub_reload_wait;

/* A toolset of the next settings. */
typedef struct reload_toolset {
    hub_toolset *toolset;
    bool is_new;
    bool has_begun; /* its binding is a new one */
    hub_toolset_difference difference;
    hub_toolset_settings *settings; /* its next ones, later its old ones; NULL: it is new */
    hub_binding *binding;           /* made for it; NULL: it needs none, or keeps its own */
    hub_catalog *lists[HUB_KINDS];  /* those it has, as its next settings have them; NULL: as is */
    unsigned users;                 /* audiences that will use it */
} reload_toolset;

/* A profile of the next settings, or one that they do not have any more. */
typedef struct reload_profile {
    hub_profile *profile;
    bool is_new;
    const hub_profile_settings *settings; /* NULL: it is gone */
    struct reload_audience *audiences;    /* its own first */
    size_t audience_count;
    hub_name_list skipped; /* toolsets that the policies keep out of it */
} reload_profile;

/* One of its audiences. */
typedef struct reload_audience {
    reload_profile *of;
    hub_audience *audience;
    hub_exposure *exposure;  /* its next one, made for it */
    reload_toolset **choice; /* the toolsets that are active for it */
    size_t count;
    reload_toolset **kept; /* … that are to be when what is chosen is shown no more; or NULL */
    size_t kept_count;
} reload_audience;

typedef struct reload {
    hub_orchestrator *hub;
    const hub_settings *settings;
    reload_toolset *toolsets; /* sorted by key */
    size_t toolset_count;
    reload_profile *profiles;
    size_t profile_count;
    hub_toolset **toolset_list; /* what hub->toolsets is to be, later what it was */
    hub_profile **profile_list; /* likewise */
    hub_reload_wait *wait;
    bool is_done; /* what is new is the hub's */
} reload;

reload_toolset *reload_find(const reload *next, const char *key);

/* The settings of a toolset of the next settings, before they are its own. */
const hub_toolset_settings *reload_settings(const reload_toolset *item);

/* The toolset as it will be. Borrows the lists. */
hub_source reload_source(const reload_toolset *item);

/* ---- reload_profile.c ------------------------------------------------------------------------ */

/* Choose the toolsets of every audience, and count their users. */
HUB_MUST_CHECK hub_err reload_choose(reload *next, hub_error *reterr);

/* Make every audience's next exposure; the bindings have been made. */
HUB_MUST_CHECK hub_err reload_make_exposures(reload *next, hub_error *reterr);

/* Make them current; `old` are the settings until now. */
void reload_take_profiles(reload *next, const hub_settings *old);

/* What is active hears of it: subscribers, servers that log, clients. */
void reload_tell(const reload *next);

void reload_drop_profiles(reload *next);

/* ---- reload_wait.c --------------------------------------------------------------------------- */

/* Room to wait for so many. NULL when out of memory. */
hub_reload_wait *reload_wait_create(hub_orchestrator *hub, size_t most);

/* Ask the servers that are new what they offer, and wait for it. Takes next->wait. */
void reload_wait_begin(reload *next);

#endif
