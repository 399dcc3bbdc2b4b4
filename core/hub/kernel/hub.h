/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hub itself: what all of its parts find each other by. The orchestrator composes it; the kernel
 * and the features look at it. Pointers are borrowed for as long as the hub lives, and lists until
 * the loop goes on. Thread: [loop].
 */
#ifndef HUB_HUB_KERNEL_HUB_H
#define HUB_HUB_KERNEL_HUB_H

#include "hub/kernel/keys.h"
#include "hub/kernel/settings.h"
#include "hub/kernel/station.h"
#include "hub/kernel/types.h"
#include "hub/kernel/values.h"
#include "modules/instance.h"
#include "modules/resolver.h"
#include "state/store.h"
#include "tools/exposure.h"
#include "wire/lineage.h"

#include <ev.h>

/* What the kernel has done by whoever knows all features (router/). */
typedef struct hub_hub_ops {
    void (*request)(hub_session *session, hub_port *port, const hub_message *message);
    void (*notification)(hub_session *session, const hub_message *message);
    bool (*response)(hub_session *session, const hub_message *message); /* false: to nothing */
    const hub_instance_events *instance_events; /* the context is the binding */
} hub_hub_ops;

/* A hub with nothing in it.
 * owns:    *ret_hub, hub_free; `settings` are held
 * errors:  HUB_ENOMEM, those of hub_key_ring_make, and of hub_begins of the stations */
HUB_MUST_CHECK hub_err hub_make(struct ev_loop *loop, const hub_settings *settings,
                                const hub_hub_ops *ops, hub_orchestrator **ret_hub,
                                hub_error *reterr);
void hub_free(hub_orchestrator *hub); /* what it was given is not freed; NULL is fine */

/* The parts that the orchestrator makes. */
void hub_give_modules(hub_orchestrator *hub, hub_resolver *resolver, hub_worker_pool *workers,
                      hub_process_table *processes, hub_module_env *env);

/* The store. Stations may use it from hub_begins on; they end their watches in hub_ends, and their
 * operations complete before hub_drops. */
void hub_give_store(hub_orchestrator *hub, hub_store *store);

struct ev_loop *hub_loop(const hub_orchestrator *hub);
const hub_settings *hub_settings_of(const hub_orchestrator *hub);
hub_resolver *hub_resolver_of(const hub_orchestrator *hub);
hub_module_env *hub_module_env_of(const hub_orchestrator *hub);
hub_worker_pool *hub_workers_of(const hub_orchestrator *hub);
hub_process_table *hub_processes_of(const hub_orchestrator *hub);
hub_call_table *hub_calls_of(const hub_orchestrator *hub);
hub_lineage *hub_lineage_of(hub_orchestrator *hub);
hub_store *hub_store_of(const hub_orchestrator *hub); /* what outlives it; always there */
uint64_t hub_begun_ms(const hub_orchestrator *hub);   /* monotonic */

/* A station's state with the hub. */
void *hub_hub_part(const hub_orchestrator *hub, const hub_station *station);

/* Have stations prepare for other settings, which may come next. errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_offer_settings(hub_orchestrator *hub, const hub_settings *settings);

/* Other settings: they are held, the ones before are let go of by the caller, who gets them. */
const hub_settings *hub_exchange_settings(hub_orchestrator *hub, const hub_settings *settings);

/* Who may see what: asked, where it is set, whenever somebody looks at something. */
struct hub_gate {
    /* What a session sees of what its audience does. Never NULL. */
    hub_exposure *(*look)(hub_session *session, hub_exposure *exposure);

    /* Whether a call that has just come may go on for its sender's having found what it is for. Such a
     * call visits the gate's station only if it is held, or its client is asked something and returns. */
    const hub_station *station;
    bool (*is_open)(const hub_call *call, const struct hub_way *way);
    void (*held)(hub_call *call,
                 const struct hub_way *way); /* one that did not visit the station */
    void (*asked)(hub_call *call); /* likewise: its client is about to be asked (hub_call_names) */
};

/* Where toolsets have other lists for one principal than for another: asked, where it is set, whenever
 * somebody looks at something, before the gate is. */
struct hub_lens {
    /* What a session sees in place of what its audience does. Never NULL. */
    hub_exposure *(*look)(hub_session *session, hub_exposure *exposure);
};

/* NULL: toolsets are the same for all. */
void hub_set_lens(hub_orchestrator *hub, const hub_lens *lens);

/* Whether sessions of one audience may see different things: by the gate, or by the lens. */
bool hub_tells_sessions_apart(const hub_orchestrator *hub);

/* NULL: everybody sees all. */
void hub_set_gate(hub_orchestrator *hub, const hub_gate *gate);
bool hub_is_gated(const hub_orchestrator *hub);

/* The stations that every request visits. */
hub_station_mask hub_wanted(const hub_orchestrator *hub);

/* The settings are others, or a station wants to see other requests. */
void hub_review(hub_orchestrator *hub);

bool hub_has_started(const hub_orchestrator *hub);
bool hub_is_stopping(const hub_orchestrator *hub);
void hub_note_started(hub_orchestrator *hub);
void hub_note_stopping(hub_orchestrator *hub);

/* It is about to stop, and still serves: nobody new is to be sent to it. */
void hub_note_leaving(hub_orchestrator *hub);
bool hub_is_leaving(const hub_orchestrator *hub);

/* Requests that were refused for a rate, or because too many are in flight. */
uint64_t hub_refused(const hub_orchestrator *hub);

/* ---- toolsets -------------------------------------------------------------------------------- */

/* All but `_meta`, sorted by key. */
size_t hub_toolset_total(const hub_orchestrator *hub);
hub_toolset *hub_toolset_at(const hub_orchestrator *hub, size_t at);

/* The toolset `_meta`. */
hub_toolset *hub_meta_toolset(const hub_orchestrator *hub);
void hub_give_meta(hub_orchestrator *hub, hub_toolset *meta);

/* The toolset with that key, or NULL. `_meta` is not found. */
hub_toolset *hub_find_toolset(const hub_orchestrator *hub, hub_str key);

/* The key of a toolset that a mistyped one may have meant, or the empty span. */
hub_str hub_nearest_toolset(const hub_orchestrator *hub, hub_str key);

/* Add one. errors:  HUB_ENOMEM: it is the caller's still */
HUB_MUST_CHECK hub_err hub_add_toolset(hub_orchestrator *hub, hub_toolset *toolset);

/* Another list, sorted by key; the caller gets the one before. */
void hub_exchange_toolsets(hub_orchestrator *hub, hub_toolset ***list, size_t *count);

/* Instances that are not closed yet. */
size_t hub_open_bindings(const hub_orchestrator *hub);

/* ---- profiles -------------------------------------------------------------------------------- */

size_t hub_profile_total(const hub_orchestrator *hub);
hub_profile *hub_profile_at(const hub_orchestrator *hub, size_t at);

/* The profile of that name (NULL: default), or NULL. One that is leaving is not found. */
hub_profile *hub_find_profile(const hub_orchestrator *hub, const char *name);

/* Another list; the caller gets the one before. */
void hub_exchange_profiles(hub_orchestrator *hub, hub_profile ***list, size_t *count);

#endif
