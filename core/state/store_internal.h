/* SPDX-License-Identifier: Apache-2.0 */
/* The store's own parts, for store.c and follow.c alone. */
#ifndef HUB_STATE_STORE_INTERNAL_H
#define HUB_STATE_STORE_INTERNAL_H

#include "base/share.h"
#include "state/engine.h"

#include <pthread.h>

struct hub_state_watch {
    hub_store *store;
    hub_state_watch *next;
    char *kind;
    char *owner; /* NULL: of all */
    hub_state_on_change on_change;
    void *ctx;
    bool is_ended; /* by its own callback: freed when the list is not being gone through */
};

struct hub_store {
    struct ev_loop *loop;
    char *place;    /* as it may be shown */
    char *password; /* wiped when it is freed; NULL: there is none */
    char *scope;
    hub_state_keys *keys;
    const hub_state_engine *engine;
    void *engine_state;
    void (*on_health)(void *ctx, const hub_state_health *health);
    void *ctx;
    hub_state_condition condition;
    char reason[sizeof((hub_error *)NULL)->text];
    char notice[256];
    size_t waiting; /* jobs with the engine, or done and not handed over */
    hub_pool jobs;  /* those that there are, of whose records they are about */
    bool is_ending;

    /* Following changes. */
    hub_state_watch *watches;
    bool is_telling;  /* the list of watches is being gone through */
    bool is_looking;  /* a look is with the engine … */
    bool looks_again; /* … and more has happened since */
    bool is_based;    /* `seen` and `epoch` are of a look that was done */
    uint64_t seen;
    char epoch[HUB_STATE_EPOCH_BYTES];

    ev_async wake;
    pthread_mutex_t lock; /* guards the two */
    hub_state_job *first; /* done */
    hub_state_job *last;
};

/* A job without arguments, of that owner's; empty: the hub's.
 * errors:  HUB_ESTATE, HUB_ELIMIT, HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_store_make_job(hub_store *store, hub_state_verb verb, hub_str owner,
                                          hub_state_job **ret_job, hub_error *reterr);
void hub_store_submit(hub_store *store, hub_state_job *job);

/* The condition may be another one: tell whoever wants to know. */
void hub_store_set_health(hub_store *store, hub_state_condition condition, const char *reason,
                          const char *notice);

/* follow.c: have the engine look what has changed; once for what comes together. */
void hub_store_look(hub_store *store);
void hub_store_finish_look(hub_store *store, hub_state_job *job);

/* follow.c: the store can be used again. */
void hub_store_tell_back(hub_store *store);

/* follow.c: what the engine calls. The context is the store. */
void hub_store_on_stir(void *ctx);
void hub_store_on_deaf(void *ctx, const char *why);

void hub_store_free_watch(hub_state_watch *watch);

#endif
