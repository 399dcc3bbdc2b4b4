/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's own parts. Jobs wait in a queue, and are begun in their order: one that is a single
 * command goes on its way behind those before it, one of several commands has the connection to
 * itself until it is done. So all complete in their order.
 *
 * Thread: [loop].
 */
#ifndef ENGINES_VALKEY_ENGINE_H
#define ENGINES_VALKEY_ENGINE_H

#include "link.h"
#include "state/engine.h"

typedef struct valkey_engine {
    hub_state_engine_options options;
    hub_state_address address;
    char channel[32];
    char stage[64]; /* the key of what a batch puts together */
    valkey_link *link;
    valkey_link *listener; /* NULL: nobody watches */
    hub_state_job *first;  /* not begun */
    hub_state_job *last;
    size_t at_work;   /* begun, and not given back */
    bool is_alone;    /* one of several commands is at work */
    bool is_watching; /* changes of others are wanted */
    bool is_ending;
    ev_timer truth; /* when it is time to look, whatever was heard */
} valkey_engine;

/* Go on with a job, by what its command was answered: never NULL, never an error. */
typedef void valkey_step(valkey_engine *engine, hub_state_job *job, const redisReply *reply);

/* Run verb `args[0]` of state.lua with the other arguments, for a job. The spans have to stay until it
 * is answered. If it cannot be sent, or is not answered, the job ends. */
void valkey_ask(valkey_engine *engine, hub_state_job *job, const hub_str *args, size_t count,
                unsigned deadline_ms, valkey_step *on_reply);

/* Give a job back. What went wrong, if anything did, is in its error. */
void valkey_finish(valkey_engine *engine, hub_state_job *job);

/* The same, for a reason. */
void valkey_fail(valkey_engine *engine, hub_state_job *job, hub_err err, const char *why);

/* ---- verbs.c --------------------------------------------------------------------------------- */

/* Whether a job is one of several commands; begin one. */
bool valkey_is_long(const valkey_engine *engine, const hub_state_job *job);
void valkey_begin(valkey_engine *engine, hub_state_job *job);

/* A reply's text, and its elements; one that is none, or is missing, is empty. */
hub_str valkey_text(const redisReply *reply);
const redisReply *valkey_element(const redisReply *reply, size_t at);
size_t valkey_count(const redisReply *reply);
uint64_t valkey_number(hub_str text);

/* A text in the job's arena; empty: out of memory. */
hub_str valkey_format(hub_state_job *job, const char *format, ...) HUB_PRINTF(2, 3);

/* The name of a record as the server has it, in the job's arena; empty: out of memory. */
hub_str valkey_name(hub_state_job *job, const hub_state_record *record);

/* The parts of a name and of a record's value; spans into both. False: it is damaged. */
bool valkey_read_name(hub_str name, hub_state_record *ret_record);
bool valkey_read_value(hub_str value, hub_state_record *ret_record);

/* What stands behind the version in a record's value, in the job's arena. A secret is sealed for
 * record->version. False: the job's error says why. */
bool valkey_make_rest(valkey_engine *engine, hub_state_job *job, const hub_state_record *record,
                      hub_str *ret_rest);

/* An error for one of state.lua's refusals: "full", "full_own". */
void valkey_refuse_room(hub_state_job *job, hub_str refusal, const hub_state_record *record);

/* A new epoch, in the job's arena. */
hub_str valkey_epoch(hub_state_job *job);

/* ---- batch.c: what goes through many records ------------------------------------------------- */

void valkey_import(valkey_engine *engine, hub_state_job *job);
void valkey_rekey(valkey_engine *engine, hub_state_job *job);
void valkey_check(valkey_engine *engine, hub_state_job *job);

#endif
