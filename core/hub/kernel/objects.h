/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the objects of the kernel are made of. Only files of the kernel include it: everybody else
 * has functions. Who owns whom:
 *
 *   hub_orchestrator   one; the composition of all that follows
 *     hub_principal    who is asking; one for all sessions of the same name
 *       hub_client     … from one address, where requests belong to no session
 *     hub_toolset      every toolset that the settings or the plugins folders name, active or not
 *       hub_binding    a module instance at work for it; two while one replaces the other
 *     hub_profile      what is offered under a name; the base of the exposures of its audiences
 *       hub_audience   those who see the same: the profile's own, or one principal's
 *         hub_session  a conversation with a client
 *     hub_call         a request in flight, in one table for the whole hub
 *
 * Behind each object lies the state that stations keep with it (station.h). Each begins with a magic
 * word, which is looked at where an object comes back through a `void *`.
 */
#ifndef HUB_HUB_KERNEL_OBJECTS_H
#define HUB_HUB_KERNEL_OBJECTS_H

#include "base/limits.h"
#include "base/map.h"
#include "base/share.h"
#include "hub/kernel/keys.h"
#include "hub/kernel/about.h"
#include "hub/kernel/capabilities.h"
#include "hub/kernel/settings.h"
#include "hub/kernel/station.h"
#include "hub/kernel/types.h"
#include "hub/kernel/values.h"
#include "modules/instance.h"
#include "state/store.h"
#include "tools/exposure.h"
#include "wire/dialect.h"
#include "wire/lineage.h"
#include "wire/trace.h"

#include <ev.h>
#include <stdalign.h>

enum {
    HUB_MAGIC_HUB = 0x70620001,
    HUB_MAGIC_TOOLSET = 0x70620002,
    HUB_MAGIC_BINDING = 0x70620003,
    HUB_MAGIC_PROFILE = 0x70620004,
    HUB_MAGIC_SESSION = 0x70620005,
    HUB_MAGIC_CALL = 0x70620006,
    HUB_MAGIC_PRINCIPAL = 0x70620007,
    HUB_MAGIC_AUDIENCE = 0x70620008,
    HUB_MAGIC_CLIENT = 0x70620009,
};

/* An object that came through a `void *`, or from a list that others link. */
#define HUB_IS(object, word) hub_assert((object) != NULL && (object)->magic == HUB_MAGIC_##word)

struct hub_orchestrator {
    uint32_t magic;
    hub_station_mask wanted; /* the stations that every request visits */
    struct ev_loop *loop;
    const hub_settings *settings;
    const struct hub_hub_ops *ops;
    hub_resolver *resolver;
    hub_worker_pool *workers;
    hub_process_table *processes;
    hub_module_env *env;
    hub_call_table *calls;
    hub_store *store;
    hub_toolset **toolsets; /* sorted by key */
    size_t toolset_count;
    hub_toolset *meta; /* the toolset `_meta`: no module, answered by the hub itself */
    hub_profile **profiles;
    size_t profile_count;
    hub_principal *principals;    /* uthash over the name */
    hub_principal *idle;          /* those without a session that still matter, longest first … */
    size_t idle_count;            /* … at most HUB_LIMIT_IDLE_PRINCIPALS */
    hub_audience *idle_audiences; /* likewise … */
    size_t idle_audience_count;   /* … at most HUB_LIMIT_IDLE_AUDIENCES */
    hub_pool held;                /* bytes of clients' requests that wait */
    hub_client *idle_clients;     /* those whom nobody holds, likewise … */
    size_t idle_client_count;     /* … at most as many as principals */
    size_t open_bindings;         /* instances not yet closed */
    const hub_gate *gate;         /* who may see what; NULL: everybody all */
    const hub_lens *lens;         /* what toolsets are for whom; NULL: the same for all */
    hub_lineage lineage;          /* hubs in front of this one */
    hub_key_ring keys;            /* sign what clients bring back */
    uint64_t begun_ms;            /* when it was made; monotonic */
    uint64_t last_session;        /* the number of the newest one */
    uint64_t refused;             /* requests, for a rate or for too many in flight */
    bool started;
    bool leaving;
    bool stopping;
    alignas(max_align_t) char parts[];
};

struct hub_principal {
    uint32_t magic;
    size_t sessions;
    size_t calls; /* in flight */
    const char *name;
    hub_identity *shown;     /* the newest of those with a token that it has shown; NULL: none */
    hub_audience *audiences; /* of its choices, in one profile each */
    hub_client *clients;     /* uthash over the peer */
    hub_principal *next;     /* of those without a session */
    hub_principal *prev;
    UT_hash_handle hh;
    alignas(max_align_t) char parts[]; /* and behind them the name */
};

struct hub_client {
    uint32_t magic;
    size_t holders; /* sessions, and connections over which the next may come */
    size_t calls;   /* in flight */
    hub_orchestrator *hub;
    hub_principal *principal; /* held */
    const char *peer;
    hub_client *next; /* of those whom nobody holds */
    hub_client *prev;
    UT_hash_handle hh;
    alignas(max_align_t) char parts[]; /* and behind them the peer */
};

struct hub_profile {
    uint32_t magic;
    hub_orchestrator *hub;
    const hub_profile_settings *settings;
    hub_audience *audiences;  /* list; the first is its own; NULL: it has ended */
    hub_session *sessions;    /* list */
    bool is_leaving;          /* the settings have it no more: it goes with its last session … */
    const hub_settings *held; /* … and holds those that it was made from; else NULL */
    alignas(max_align_t) char parts[];
};

struct hub_audience {
    uint32_t magic;
    bool is_of_session; /* of one session, and not of all of its principal */
    bool is_left;       /* its last session went to another audience */
    bool is_idle;       /* it has no session, and is in the hub's list of those */
    bool has_visitors;  /* the profile's own: sessions of several principals have ended in it … */
    unsigned visitor;   /* … the newest of these, as a number; 0: there was none yet */
    hub_profile *profile;
    hub_principal *principal; /* NULL: it is the profile's own */
    hub_audience *next_of_principal;
    hub_audience *next; /* of the profile */
    hub_audience *prev;
    hub_audience *idle_next; /* of those without a session */
    hub_audience *idle_prev;
    hub_exposure *exposure;
    hub_session *sessions; /* list */
    alignas(max_align_t) char parts[];
};

struct hub_session {
    uint32_t magic;
    uint64_t number;   /* its own in the life of the hub */
    uint64_t begun_us; /* monotonic */
    hub_profile *profile;
    hub_session *next;
    hub_session *prev;
    hub_audience *audience;
    hub_session *audience_next;
    hub_session *audience_prev;
    hub_port *port;
    hub_principal *principal;
    hub_identity *identity; /* a reference */
    hub_client *client;     /* whose request it is; NULL: the session itself is the client */
    const char *transport;
    const void *listener;              /* only compared */
    char *metadata;                    /* the URL of where to get a token; NULL: none is known */
    char peer[HUB_ADDRESS_TEXT_BYTES]; /* whom the newest message is from; "": no address */
    hub_revision revision;      /* agreed on by `initialize`; NONE before, and for modern clients */
    bool initialized;           /* notifications/initialized has come */
    bool is_one_request;        /* it ends with the answer to its only request */
    bool acts;                  /* it is no client: hub/admin/act.h */
    bool closing;               /* nothing is written any more */
    char *capabilities;         /* legacy: what `initialize` declared, a JSON object */
    hub_str log_level;          /* legacy: what it asked for, a constant */
    hub_announced announced;    /* legacy: what the answer to `initialize` said */
    uint64_t listed[HUB_KINDS]; /* serials of the views whose lists it was given, to their ends */
    hub_call *calls;            /* in flight */
    hub_station_mask holding;   /* stations that hold requests of it open, which are no calls */
    size_t call_count;          /* of them, those that somebody waits for */
    size_t held_bytes;          /* of requests that wait … */
    hub_share *held;            /* … of its client's; while there are any */
    alignas(max_align_t) char parts[];
};

struct hub_toolset {
    uint32_t magic;
    hub_station_mask wanted; /* the stations that its calls visit */
    hub_orchestrator *hub;
    char *key;                           /* settings->key, for as long as it lives */
    hub_toolset_settings *settings;      /* its own copy: another one after a reload */
    hub_binding *binding;                /* NULL while no profile uses it */
    unsigned open_bindings;              /* its own, and those that finish their calls */
    unsigned users;                      /* profiles that use it */
    bool is_leaving;                     /* a reload took it away: it goes with its last binding */
    bool was_used;                       /* has had a binding */
    bool native;                         /* of the binding */
    bool deferred;                       /* the binding's catalog has to be asked for */
    bool is_modern;                      /* its server was of a modern era when last heard of */
    bool is_unsure;                      /* … by an earlier hub: it may be another by now */
    bool is_own;                         /* an instance of another one: a session's, or … */
    bool is_apart;                       /* … a principal's, with lists of its own */
    hub_toolset *shared;                 /* … of that one, which outlives it; else NULL */
    size_t instances;                    /* of this one that there are */
    uint32_t state;                      /* PATCHBAY_STATE_… */
    char detail[HUB_LIMIT_REASON_BYTES]; /* why, when failed … */
    bool ended_failed;                   /* … or when it had when its last binding went */
    /* Why there is no binding, or it is not to the newest module; empty: there is, and it is. */
    char unusable[HUB_LIMIT_REASON_BYTES];
    hub_toolset_health health;     /* zeros: nothing was said */
    hub_catalog *lists[HUB_KINDS]; /* the last good ones; NULL: not known, or none */
    hub_catalog
        *idle_lists[HUB_KINDS];    /* of a native one without a binding: what the last one's were */
    hub_capabilities capabilities; /* what it can do besides */
    hub_about about;               /* what its server says of itself */
    uint64_t redefined;            /* definitions that were replaced by others */
    hub_toolset_answer *answer;    /* instead of a module: the hub itself */
    alignas(max_align_t) char parts[];
};

struct hub_binding {
    uint32_t magic;
    hub_toolset *toolset;
    hub_instance *instance; /* NULL while it is being created, and once it is closing */
    hub_call *calls;
    size_t in_flight;
    size_t places;      /* of them, those that count against max_calls */
    size_t holds;       /* by others: it is not closed before they have let go */
    bool retired;       /* takes no new calls; closes with its last one */
    bool expects_input; /* its results may say input_required */
    bool native;        /* its tools are the module's own */
    bool deferred;      /* the catalog has to be asked for */
    /* Set while the instance was being created. */
    const hub_toolset_settings *settings; /* … for it, and no longer */
    uint32_t first_state;
    hub_catalog *first_lists[HUB_KINDS];
    hub_capabilities first_capabilities;
    hub_catalog_reading *readings[HUB_KINDS]; /* lists that are not read to their ends */
    alignas(max_align_t) char parts[];
};

/* What a call keeps of a request that took it up again. */
typedef struct hub_call_kept {
    struct hub_call_kept *older;
    size_t len;
    char bytes[];
} hub_call_kept;

struct hub_call {
    uint32_t magic;
    hub_station_mask begun; /* stations that it visits on its way back */
    hub_station_mask used;  /* … and those whose state is in use */
    unsigned at;            /* the station where it is held, or behind the last one */
    uint64_t id;
    hub_call_table *table;
    hub_session *session; /* who asked; NULL: the hub itself, or a client that has to come back */
    hub_port *port;
    hub_call_on_outcome *on_outcome;
    void *ctx;
    hub_binding *binding; /* who works on it; NULL while it waits */
    hub_call *session_next;
    hub_call *session_prev;
    hub_call *bucket_next; /* of those of sessions (call_table.c), where … */
    unsigned id_hash;      /* … the client's id has put it */
    hub_call *binding_next;
    hub_call *binding_prev;
    bool is_tool_call;           /* failures become tool results */
    bool is_reading;             /* resources/read: it has caching hints, and a way to miss */
    bool structured_errors;      /* … with structuredContent (the tool has no outputSchema) */
    bool may_ask;                /* it may be answered with input_required */
    bool takes_place;            /* one of its binding's places */
    bool is_idle;                /* bound, but nobody works on it */
    bool is_unasked;             /* of a session, but nobody there waits for it */
    bool is_taken;               /* it goes on as a request, and somebody has made it a call */
    bool is_ending;              /* its answer is on its way back, or held there */
    bool was_let_by;             /* by the hub's gate, when it came */
    hub_request_context context; /* its spans point into `kept` */
    hub_str client_id;           /* likewise */
    char *kept;                  /* inline_kept, or on the heap when that is too small */
    hub_call_kept *kept_later;   /* newest first */
    const hub_trace *trace;      /* the span that it is; NULL: nobody records it */
    uint64_t begin_us;           /* monotonic; the same in milliseconds: */
    uint64_t begin_ms;
    uint64_t ceiling_ms; /* after which progress does not help; monotonic, as begin_ms */
    uint64_t paused_ms;  /* since when the clock stands still; 0: it runs */
    uint32_t timeout_ms;
    uint16_t name_len;      /* of `names`: what it is for, as its toolset calls it, … */
    uint16_t name_json_len; /* … and behind it as its client does; 0: they are not kept */
    ev_timer deadline;
    char
        inline_kept[480]; /* what precedes it is cleared for each call; this and what follows not */
    char names[HUB_CALL_NAMES_BYTES];
    alignas(max_align_t) char parts[];
};

#endif
