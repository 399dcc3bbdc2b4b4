/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A toolset: a named module with its configuration. While at least one profile uses it, it has a
 * binding: an instance of the module at work. Its catalog may be known at once (native), later
 * (upstream: asked for when somebody needs it), or change at any time; profiles hear of it.
 * Thread: [loop].
 */
#ifndef HUB_HUB_KERNEL_TOOLSET_H
#define HUB_HUB_KERNEL_TOOLSET_H

#include "base/limits.h"
#include "hub/kernel/call.h"
#include "hub/kernel/capabilities.h"
#include "hub/limits/queue.h"
#include "hub/kernel/settings.h"
#include "hub/report/status.h"
#include "modules/instance.h"
#include "tools/registry.h"

#include <patchbay/catalog.h>

typedef struct hub_task_watch hub_task_watch;

/* A module instance at work for a toolset. Two exist while a replaced module finishes its calls. */
struct hub_binding {
    struct hub_toolset *toolset;
    hub_instance *instance; /* NULL while it is being created, and once it is closing */
    hub_call *calls;
    size_t in_flight;
    size_t client_calls; /* of them, those that count against max_calls */
    size_t asks;         /* questions of which the module has not heard the end */
    bool retired;        /* takes no new calls; closes with its last one */
    bool expects_input;  /* its results may say input_required */
    bool native;         /* its tools are the module's own */
    uint64_t roots_of;   /* number of the session whose roots it was told last; 0: none (roots.h) */
    bool deferred;       /* the catalog has to be asked for */
    /* Set while the instance was being created. */
    uint32_t first_state;
    hub_catalog *first_lists[HUB_KINDS];
    hub_capabilities first_capabilities;
};

/* Somebody who waits for a catalog. Embed it; `on_known` is called once, with a reason when the
 * catalog cannot be had. */
typedef struct hub_catalog_waiter {
    struct hub_catalog_waiter *next;
    void (*on_known)(struct hub_catalog_waiter *waiter, hub_err err, hub_str reason);
} hub_catalog_waiter;

/* How its server fares, as its module says (patchbay_health of patchbay/catalog.h). */
typedef struct hub_toolset_health {
    uint32_t pid;
    uint32_t restarts;
    uint32_t failures;
    uint64_t next_attempt_ms; /* by hub_clock_now_ms */
    char protocol[16];
    char last_error[HUB_LIMIT_REASON_BYTES];
} hub_toolset_health;

typedef struct hub_toolset {
    hub_orchestrator *hub;
    char *key;                           /* settings->key, for as long as it lives */
    hub_toolset_settings *settings;      /* its own copy: another one after a reload */
    hub_binding *binding;                /* NULL while no profile uses it */
    unsigned open_bindings;              /* its own, and those that finish their calls */
    bool is_leaving;                     /* a reload took it away: it goes with its last binding */
    unsigned users;                      /* profiles that use it */
    hub_catalog *lists[HUB_KINDS];       /* the last good ones; NULL: not known, or none */
    hub_capabilities capabilities;       /* what it can do besides */
    bool was_used;                       /* has had a binding */
    bool native;                         /* of the binding */
    bool deferred;                       /* of the binding */
    uint32_t state;                      /* PATCHBAY_STATE_… */
    char detail[HUB_LIMIT_REASON_BYTES]; /* why, when failed */
    hub_toolset_health health;           /* zeros: nothing was said */
    hub_queue queue;                     /* calls that wait for a place */
    hub_status_counts counts;            /* of its clients' calls */
    hub_catalog_waiter *waiters;
    /* Of discovery.c: */
    int64_t learned_at_ms; /* when the lists were last known to be current, since 1970; 0: never */
    bool is_recalled;      /* they are of an earlier hub's: no server has confirmed them yet */
    bool is_modern;        /* its server was of a modern era when it was last heard of */
    uint64_t failed_at_ms; /* when the last attempt to discover failed; 0: it did not */
    unsigned failures;     /* attempts that failed, since the last that did not */
    hub_call *discovery;   /* the request for the catalog; NULL: not asked */
    bool is_refresh;       /* … of one that is known, which nobody waits for */
    uint64_t asked_at_ms;  /* when it was made */
    bool is_called_for;    /* the next one is made for somebody who named the toolset */
    bool is_late;          /* see hub_toolset_note_wait */
    struct hub_discovery_run *run;              /* that the request belongs to; NULL: none */
    ev_timer retry;                             /* asks again, when there is no catalog yet */
    struct hub_cache_slot *cache_slot;          /* of catalog_cache.c; NULL: nothing yet */
    struct hub_subscription *subscriptions;     /* uthash over the URI (subscription.h) */
    struct hub_subscription *next_subscription; /* … while they are walked over */
    hub_task_watch *task_watches;               /* uthash over the id (task_watch.h) */
    hub_task_watch *task_progress;              /* the same tasks, over the call that made them */
    int level_told;                             /* of logging, to the instance (logging.h) */
    unsigned level_users;                       /* `users` when that was looked at last */
    int level_asked;                            /* the most talkative that a modern request had */
    /* Of session_instance.c: */
    struct hub_toolset *shared; /* this is one session's own instance of that one; else NULL */
    hub_session *session;       /* … whose it is; NULL once it ends */
    struct hub_toolset *next_of_session;
    struct hub_toolset *next_instance; /* of the same toolset */
    struct hub_toolset *instances;     /* that sessions have of this one */
    size_t instance_count;
    bool has_told_sharing; /* the log knows that clients without a session share it */
} hub_toolset;

/* What instances report to (binding.c); the context is the binding. */
extern const hub_instance_events HUB_BINDING_EVENTS;

/* owns:    *ret_toolset */
HUB_MUST_CHECK hub_err hub_toolset_create(hub_orchestrator *hub,
                                          const hub_toolset_settings *settings,
                                          hub_toolset **ret_toolset);
void hub_toolset_destroy(hub_toolset *toolset); /* not in use; NULL is fine */

/* Be used by one more profile; the first makes the binding.
 * errors:  HUB_EDENIED (switched off by configuration), HUB_ENOTFOUND (no such module), and those
 * of hub_instance_create; the text names the toolset */
HUB_MUST_CHECK hub_err hub_toolset_use(hub_toolset *toolset, hub_error *reterr);

/* Be used by one less; the last ends the binding and fails its calls. */
void hub_toolset_unuse(hub_toolset *toolset);

/* A newer module of its name is there: bind to it, let the old binding finish its calls. The new
 * one's catalog replaces the old one's; one that is asked for later leaves it until then.
 * errors:  as hub_toolset_use; the old binding stays */
HUB_MUST_CHECK hub_err hub_toolset_rebind(hub_toolset *toolset, hub_error *reterr);

/* A reload makes what may fail first, then all the rest. This makes a binding as these settings
 * want it, which are its own or are to be. Nothing else changes.
 * owns:    *ret_binding: hub_toolset_take or hub_binding_abandon gets it
 * errors:  as hub_toolset_use */
HUB_MUST_CHECK hub_err hub_toolset_prepare(hub_toolset *toolset,
                                           const hub_toolset_settings *settings,
                                           hub_binding **ret_binding, hub_error *reterr);
void hub_binding_abandon(hub_binding *binding);

/* The registry's source for the toolset as it will be with these settings and that binding (NULL:
 * the one it has). It points into `settings` and borrows the lists. */
hub_source hub_toolset_next_source(hub_toolset *toolset, const hub_toolset_settings *settings,
                                   const hub_binding *binding);

/* Work with a binding that was prepared; the one before finishes its calls. A catalog that is asked
 * for stays what it was until the new server says otherwise. Takes `binding`. */
void hub_toolset_take(hub_toolset *toolset, hub_binding *binding);

/* No profile uses it any more. Other than with hub_toolset_unuse its calls may end. Somebody may
 * have waited for its catalog: call hub_orchestrator_discovered. */
void hub_toolset_let_go(hub_toolset *toolset);

/* It is no more: forget it everywhere, and free it with its last call. Nobody uses it. */
void hub_toolset_leave(hub_toolset *toolset);

/* A binding has closed and is freed. */
void hub_toolset_binding_closed(hub_toolset *toolset);

/* Make a list (NULL: none), or capabilities, the toolset's. Takes them. */
void hub_toolset_set_list(hub_toolset *toolset, hub_kind kind, hub_catalog *list);
void hub_toolset_set_capabilities(hub_toolset *toolset, hub_capabilities *capabilities);

/* How many items of a kind the toolset is known to have. */
size_t hub_toolset_count(const hub_toolset *toolset, hub_kind kind);

/* What is known of it is another server's, or another program's: forget it. Nobody uses it; when
 * somebody does, what is remembered of the right one is recalled. */
void hub_toolset_forget_catalog(hub_toolset *toolset);

/* Ask something of the toolset, which is in use, on the hub's own account. `request` has the method
 * and what belongs to it, the rest is filled in. `on_outcome` is told exactly once, perhaps before
 * this returns; *ret_call is set before that, and valid until then.
 * errors:  HUB_ELIMIT (too many calls in flight), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_toolset_request(hub_toolset *toolset, patchbay_request *request,
                                           uint32_t timeout_ms, hub_call_on_outcome *on_outcome,
                                           void *ctx, hub_call **ret_call);

/* Whether the catalog is not known and it is worth waiting for it: asked for, or to be asked for,
 * and not failed a moment ago. */
bool hub_toolset_is_pending(const hub_toolset *toolset);

/* Whether it may turn out to have anything: the catalog has to be asked for, and was not told. */
bool hub_toolset_is_unknown(const hub_toolset *toolset);

/* A list has waited for the pending catalog as long as it may. If it was not asked for just now, it
 * is late from then on: no further list waits for it. */
void hub_toolset_note_wait(hub_toolset *toolset);

/* The settings of the server are others: what is known of it is an earlier one's. Have it asked for
 * anew, and tell `waiter`, as hub_toolset_discover does. */
void hub_toolset_rediscover(hub_toolset *toolset, hub_catalog_waiter *waiter,
                            struct hub_discovery_run *run);

/* Have the catalog asked for, if it is not known, and tell `waiter` (may be NULL). It is told
 * before this returns when there is nothing to wait for. `run` (may be NULL) is what the request
 * belongs to (discovery.h). */
void hub_toolset_discover(hub_toolset *toolset, hub_catalog_waiter *waiter,
                          struct hub_discovery_run *run);

/* Forget a waiter that has not been told. */
void hub_toolset_unwait(hub_toolset *toolset, hub_catalog_waiter *waiter);

/* The registry's source for this toolset. */
hub_source hub_toolset_source(hub_toolset *toolset);

/* Tell the module that nobody waits for a call any more. */
void hub_binding_cancel(hub_binding *binding, uint64_t call);

/* A call of the binding is over, or a question of one; the last of a retired binding closes it. */
void hub_binding_call_ended(hub_binding *binding);
void hub_binding_ask_ended(hub_binding *binding);

#endif
