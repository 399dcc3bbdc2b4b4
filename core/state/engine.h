/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an engine of the store is: a table of functions that work on jobs. The store (store.c) has
 * checked a job's arguments, gives it away, and gets it back with its result by hub_state_job_done.
 * A networked engine on the loop fits as well as one with a thread of its own.
 *
 * Only core/state includes this.
 */
#ifndef HUB_STATE_ENGINE_H
#define HUB_STATE_ENGINE_H

#include "base/arena.h"
#include "state/admin.h"
#include "state/secrets.h"

enum {
    HUB_STATE_EPOCH_BYTES = 33, /* 32 hexadecimal digits and a NUL */
};

typedef enum hub_state_verb {
    HUB_STATE_GET,
    HUB_STATE_LIST,
    HUB_STATE_PUT,
    HUB_STATE_DELETE,
    HUB_STATE_LOOK,   /* what has changed since `seen`, in store `epoch` */
    HUB_STATE_SCAN,   /* admin.h: all scopes, a page */
    HUB_STATE_IMPORT, /* … write a number of records, all or none */
    HUB_STATE_REKEY,  /* … seal a page of secrets anew */
    HUB_STATE_CHECK,  /* … how the store is */
    HUB_STATE_TAKE,   /* one more of each of `limits`; of shared stores alone */
} hub_state_verb;

/* One operation. All spans and records lie in its arena. It belongs to whoever has it: the store,
 * or the engine between `submit` and hub_state_job_done. */
typedef struct hub_state_job {
    struct hub_state_job *next;
    hub_arena *arena;
    hub_state_verb verb;

    /* What is wanted: the record's name (for a page: the one to go on behind), its document. */
    hub_state_record record;
    bool is_of_all; /* LIST: of all owners */
    uint64_t seen;  /* PUT, DELETE: the expected version; LOOK: the last change that is known */
    char epoch[HUB_STATE_EPOCH_BYTES]; /* LOOK: of the store that `seen` is of; "": none is known */
    hub_state_clash clash;             /* IMPORT */
    hub_state_record *given;           /* IMPORT */
    size_t given_count;
    hub_state_limit *limits; /* TAKE; and record.scope */
    size_t limit_count;

    /* What came of it. */
    hub_error error; /* code HUB_OK: no text */
    hub_state_record *found;
    size_t found_count;
    size_t found_room;
    bool has_more;
    hub_state_event event;   /* LOOK: HUB_STATE_CHANGED: `found` are the changes */
    hub_state_report report; /* IMPORT, REKEY, CHECK */
    uint32_t wait_ms;        /* TAKE: 0: it was charged … */
    size_t over;             /* … else the limit that says so */
    char notice[256];        /* see hub_state_health */

    void *at_work; /* the engine's own, while it has the job */

    /* The store's. */
    struct hub_share *share; /* of whose records it is about; NULL: it is given back */
    void (*on_done)(void *ctx, const hub_state_result *result); /* NULL: cancelled */
    hub_state_taken on_taken;
    void (*on_report)(void *ctx, const hub_state_result *result, const hub_state_report *report);
    void *ctx;
    void *store;
} hub_state_job;

/* Copy a span into the job's arena. False: out of memory, and the job says so. */
HUB_MUST_CHECK bool hub_state_job_keep(hub_state_job *job, hub_str text, hub_str *ret_kept);

/* Add a copy of a record to what was found. False: as above. */
HUB_MUST_CHECK bool hub_state_job_add(hub_state_job *job, const hub_state_record *record);

/* Give a job back. [any] */
void hub_state_job_done(hub_state_job *job);

typedef struct hub_state_engine_options {
    struct ev_loop *loop;
    const char *place;
    const char *password; /* of a shared store, borrowed; NULL: there is none */
    hub_state_keys *keys; /* borrowed; may be NULL */
    /* How a job is given back: hub_state_job_done, which an engine that is loaded does not find by
     * its name. [any] */
    void (*give_back)(hub_state_job *job);
    /* Something has changed by others' doing: submit a LOOK. [loop] */
    void (*on_stir)(void *ctx);
    /* Whether that can be noticed at all; NULL: it can. [loop] */
    void (*on_deaf)(void *ctx, const char *why);
    void *ctx;
} hub_state_engine_options;

/* Every entry is there. */
typedef struct hub_state_engine {
    const char *name;
    /* Nothing may be read, made or connected here. errors: HUB_ENOMEM, HUB_EINVAL [loop] */
    hub_err (*create)(const hub_state_engine_options *options, void **ret_engine,
                      hub_error *reterr);
    /* Take a job, and give it back once. May not block. [loop] */
    void (*submit)(void *engine, hub_state_job *job);
    /* Whether to notice changes of others. May be called again with the same. [loop] */
    void (*watch)(void *engine, bool is_wanted);
    /* Give back all jobs, done within the time or failed, and free the engine. False: a thread
     * still uses it. [loop], blocks */
    bool (*destroy)(void *engine, unsigned timeout_ms);
} hub_state_engine;

extern const hub_state_engine HUB_STATE_ENGINE_OFF;
extern const hub_state_engine HUB_STATE_ENGINE_SQLITE;

/* ---- engines that are loaded (engines/) ------------------------------------------------------ */

/* What the file of an engine exports, under the name HUB_STATE_ENGINE_SYMBOL. It is a part of the
 * hub and no plugin: both are built together, and `built` says so. */
typedef struct hub_state_engine_part {
    const char *built; /* HUB_STATE_ENGINE_BUILT */
    size_t job_bytes;  /* sizeof(hub_state_job) */
    const hub_state_engine *engine;
} hub_state_engine_part;

#define HUB_STATE_ENGINE_SYMBOL "patchbay_engine_part"
#define HUB_STATE_ENGINE_BUILT  PATCHBAY_VERSION

/* Load the engine of shared stores; once, and never unloaded.
 * blocks:  reads a file
 * errors:  HUB_ENOTFOUND (it is not installed), HUB_EABI (it is another version's), HUB_EUNAVAILABLE
 *          (a library that it needs is missing) */
HUB_MUST_CHECK hub_err hub_state_engine_load(const hub_state_engine **ret_engine,
                                             hub_error *reterr);

#endif
