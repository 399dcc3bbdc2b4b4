/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of the hub room, as this room's files share them; nobody outside includes it (the
 * outside sees orchestrator.h and transport.h). Who owns whom:
 *
 *   hub_orchestrator   one; the composition of all that follows
 *     hub_toolset      every toolset that the settings or the plugins folders name, active or not
 *       hub_binding    a module instance at work for it; two while one replaces the other
 *     hub_profile      a named exposure: registry (its view), manager, notifier
 *       hub_session    a conversation with a client
 *     hub_call         a request in flight, in one table for the whole hub
 *
 * Thread: [loop], all of it.
 */
#ifndef HUB_HUB_KERNEL_HUB_H
#define HUB_HUB_KERNEL_HUB_H

#include "hub/kernel/call.h"
#include "hub/catalogs/discovery.h"
#include "hub/active/manager.h"
#include "hub/notices/notifier.h"
#include "hub/limits/rates.h"
#include "hub/kernel/settings.h"
#include "hub/notices/subscription.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/transport.h"
#include "modules/instance.h"
#include "tools/registry.h"
#include "wire/lineage.h"

/* Requests that wait for a catalog, oldest first (parking.h). */
typedef struct hub_parked {
    hub_call *first;
    hub_call *last;
} hub_parked;

/* A named exposure. */
typedef struct hub_profile {
    hub_orchestrator *hub;
    const hub_profile_settings *settings;
    hub_registry *registry;
    hub_manager *manager;
    hub_notifier *notifier;
    hub_session *sessions; /* list */
    hub_parked parked;
    hub_parked parked_patient;
    size_t level_counts[HUB_LEVEL_NONE]; /* sessions that asked for that level of logging */
    bool is_looked_at;                   /* a list was asked for: see discovery.h */
    bool is_leaving;          /* the settings have it no more: it goes with its last session … */
    const hub_settings *held; /* … and holds those that it was made from; else NULL */
} hub_profile;

struct hub_orchestrator {
    struct ev_loop *loop;
    const hub_settings *settings;
    hub_resolver *resolver;
    hub_worker_pool *workers;
    hub_process_table *processes;
    hub_module_env *env;
    hub_call_table *calls;
    struct hub_asks *asks;
    struct hub_audit *audit;
    struct hub_catalog_cache *cache;        /* NULL: no catalog is remembered on disk */
    ev_timer refresh;                       /* asks for what is too old (discovery.h) … */
    char refresh_trace[HUB_TRACE_ID_BYTES]; /* … for whom; empty: nobody said */
    hub_toolset **toolsets;                 /* sorted by key */
    size_t toolset_count;
    hub_toolset *meta; /* the toolset `_meta`: no module, answered by meta_tools.c */
    hub_profile **profiles;
    size_t profile_count;
    size_t open_bindings;         /* instances not yet closed */
    uint8_t cursor_key[16];       /* signs list cursors; made at start */
    hub_lineage lineage;          /* hubs in front of this one */
    hub_names forwarded;          /* headers that some toolset forwards … */
    const char **forwarded_items; /* … and the memory of that list */
    hub_state_key task_key;       /* signs ids of tasks and states of servers; made at start */
    hub_accounts accounts;        /* principals */
    size_t task_count;            /* tasks that somebody hears of (task_watch.h) */
    uint64_t begun_ms;            /* when it was made; monotonic */
    uint64_t last_session;        /* the number of the newest one */
    struct hub_reload_wait *reload_wait; /* what the last reload waits for (reload.h); or NULL */
    uint64_t refused_ms; /* when the last reload was refused, monotonic; 0: it was not … */
    hub_error refusal;   /* … and why: without secrets */
    bool started;
    bool stopping;
};

/* Of the index of a session's calls: far more than a client has in flight at once, mostly. */
enum { HUB_SESSION_BUCKETS = 64 };

/* A conversation. */
struct hub_session {
    uint64_t number; /* its own in the life of the hub */
    hub_profile *profile;
    hub_session *next;
    hub_session *prev;
    hub_port *port;
    char *principal;
    hub_account *account; /* the principal's */
    hub_session_rates rates;
    hub_subscriber *updates_due; /* who is to be told of a change, as soon as the rate allows … */
    ev_timer updates_timer;      /* … which this waits for */
    const char *transport;
    const void *listener;       /* only compared */
    hub_revision revision;      /* agreed on by `initialize`; NONE before, and for modern clients */
    bool initialized;           /* notifications/initialized has come */
    hub_announced announced;    /* legacy: what the answer to `initialize` said */
    uint64_t listed[HUB_KINDS]; /* serials of the views whose lists it was given, to their ends */
    bool has_log_level;         /* legacy: logging/setLevel has come … */
    int log_level;              /* … with this one */
    hub_subscriber_list subscribers; /* legacy: resources/subscribe */
    char *capabilities;              /* legacy: what `initialize` declared, a JSON object */
    hub_task_watch *oldest_task;     /* legacy: tasks that it hears of … */
    hub_task_watch *newest_task;
    size_t task_count;
    struct hub_elicitation *elicitations; /* legacy: see elicitation.h; newest first */
    struct hub_listen *listens;           /* modern: open subscriptions/listen */
    size_t listen_count;
    hub_toolset *instances;                     /* of its own (session_instance.h) */
    bool is_one_request;                        /* it ends with the answer to its only request */
    hub_call *calls;                            /* in flight */
    hub_call *calls_by_id[HUB_SESSION_BUCKETS]; /* … by the client's id (call.c) */
    size_t call_count;
    size_t held_bytes; /* of requests that wait for a catalog */
    bool closing;      /* nothing is written any more */
};

/* One open `subscriptions/listen` (MCP 2026-07-28 basic/patterns/subscriptions). */
typedef struct hub_listen {
    struct hub_listen *next;
    hub_port *port;
    bool wants[HUB_TOPICS]; /* that their lists changed */
    bool is_acknowledged;
    bool is_over;            /* nothing is sent on it any more */
    bool missed[HUB_TOPICS]; /* changed before it was acknowledged */
    size_t awaited;    /* toolsets' answers to what it subscribes to; it is acknowledged then */
    ev_timer patience; /* … or when this is at its end */
    hub_session *session;
    hub_subscriber_list subscribers;
    size_t id_len;
    char id[]; /* raw JSON of the request's id */
} hub_listen;

/* The profile of that name (NULL: default), or NULL. One that is leaving is not found. */
hub_profile *hub_find_profile(hub_orchestrator *hub, const char *name);

/* The toolset with that key, or NULL. `_meta` is not found. */
hub_toolset *hub_find_toolset(const hub_orchestrator *hub, hub_str key);

/* The key of a toolset that a mistyped one may have meant, or the empty span. */
hub_str hub_nearest_toolset(const hub_orchestrator *hub, hub_str key);

#endif
