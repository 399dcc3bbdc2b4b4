/* SPDX-License-Identifier: Apache-2.0 */
/* A store in a folder of its own, and operations that are waited for. Header-only. */
#ifndef PATCHBAY_TESTS_STATE_FIXTURE_H
#define PATCHBAY_TESTS_STATE_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "state/admin.h"
#include "state/secrets.h"

enum { STATE_END_MS = 60000, STATE_MOST = 2048 };

static const hub_state_kind NOTES = {.name = "note"};
static const hub_state_kind SECRETS = {.name = "secret", .is_secret = true};

/* What an operation said, copied. */
typedef struct state_answer {
    int times;
    hub_err err;
    char why[512];
    size_t count;
    bool has_more;
    char owner[STATE_MOST][16];
    char key[STATE_MOST][16];
    uint64_t version[STATE_MOST];
    char document[256]; /* of the first */
    hub_state_report report;
} state_answer;

typedef struct state_fixture {
    struct ev_loop *loop;
    char folder[64];
    char path[96];
    hub_store *store;
    int healths;
    hub_state_condition condition;
    char reason[512];
    char notice[256];
} state_fixture;

static inline void state_on_health(void *ctx, const hub_state_health *health)
{
    state_fixture *fixture = ctx;
    fixture->healths++;
    fixture->condition = health->condition;
    (void)snprintf(fixture->reason, sizeof fixture->reason, "%s", health->reason);
    (void)snprintf(fixture->notice, sizeof fixture->notice, "%s", health->notice);
}

static inline hub_store *state_open(state_fixture *fixture, const char *place, const char *scope,
                                    hub_state_keys *keys)
{
    const hub_store_options options = {
        .place = place, .scope = scope, .keys = keys, .on_health = state_on_health, .ctx = fixture};
    hub_store *store = NULL;
    assert_int_equal(hub_store_create(fixture->loop, &options, &store, NULL), HUB_OK);
    return store;
}

/* A folder of the test's own; no store. */
static inline void state_begin(state_fixture *fixture)
{
    *fixture = (state_fixture){.loop = ev_loop_new(EVFLAG_AUTO)};
    assert_non_null(fixture->loop);
    /* In memory where there is such a folder: thousands of writes are waited for. */
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    (void)snprintf(fixture->folder, sizeof fixture->folder, "%s/patchbay-state-XXXXXX", base);
    assert_non_null(mkdtemp(fixture->folder));
    (void)snprintf(fixture->path, sizeof fixture->path, "%s/state.db", fixture->folder);
}

static inline void state_close(state_fixture *fixture)
{
    assert_true(hub_store_destroy(fixture->store, STATE_END_MS));
    fixture->store = NULL;
}

static inline void state_remove(const char *folder)
{
    static const char *const NAMES[] = {"state.db", "state.db-wal", "state.db-shm",
                                        "state.db-journal", "key"};
    char path[160];
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, NAMES[i]);
        (void)unlink(path); /* most are not there */
    }
    (void)rmdir(folder); /* another test's rest */
}

static inline void state_end(state_fixture *fixture)
{
    state_close(fixture);
    ev_loop_destroy(fixture->loop);
    state_remove(fixture->folder);
}

static inline void state_take(state_answer *answer, const hub_state_result *result)
{
    answer->times++;
    answer->err = result->err;
    answer->count = result->count;
    answer->has_more = result->has_more;
    answer->document[0] = '\0';
    (void)snprintf(answer->why, sizeof answer->why, "%s", result->why);
    for (size_t i = 0; i < result->count && i < STATE_MOST; i++) {
        const hub_state_record *record = &result->records[i];
        (void)snprintf(answer->owner[i], sizeof answer->owner[i], HUB_STR_FMT,
                       HUB_STR_ARG(record->owner));
        (void)snprintf(answer->key[i], sizeof answer->key[i], HUB_STR_FMT,
                       HUB_STR_ARG(record->key));
        answer->version[i] = record->version;
    }
    if (result->count > 0) {
        (void)snprintf(answer->document, sizeof answer->document, HUB_STR_FMT,
                       HUB_STR_ARG(result->records[0].document));
    }
}

static inline void state_on_done(void *ctx, const hub_state_result *result)
{
    state_take(ctx, result);
}

static inline void state_on_report(void *ctx, const hub_state_result *result,
                                   const hub_state_report *report)
{
    state_answer *answer = ctx;
    state_take(answer, result);
    answer->report = *report;
}

static inline void state_wait(state_fixture *fixture, const state_answer *answer, int times)
{
    while (answer->times < times) {
        (void)ev_run(fixture->loop, EVRUN_ONCE);
    }
}

static inline hub_state_id state_id(const hub_state_kind *kind, const char *owner, const char *key)
{
    return (hub_state_id){.kind = kind, .owner = hub_str_of(owner), .key = hub_str_of(key)};
}

static inline state_answer *state_fresh(void)
{
    static state_answer answer;
    memset(&answer, 0, sizeof answer);
    return &answer;
}

static inline state_answer *state_get(state_fixture *fixture, const hub_state_kind *kind,
                                      const char *owner, const char *key)
{
    state_answer *answer = state_fresh();
    hub_state_id id = state_id(kind, owner, key);
    assert_int_equal(hub_state_get(fixture->store, &id, state_on_done, answer, NULL, NULL), HUB_OK);
    assert_int_equal(answer->times, 0); /* never before the function has returned */
    state_wait(fixture, answer, 1);
    return answer;
}

static inline state_answer *state_put(state_fixture *fixture, const hub_state_kind *kind,
                                      const char *owner, const char *key, uint64_t seen,
                                      const char *document)
{
    state_answer *answer = state_fresh();
    hub_state_id id = state_id(kind, owner, key);
    assert_int_equal(hub_state_put(fixture->store, &id, seen, hub_str_of(document), state_on_done,
                                   answer, NULL, NULL),
                     HUB_OK);
    assert_int_equal(answer->times, 0);
    state_wait(fixture, answer, 1);
    return answer;
}

static inline state_answer *state_delete(state_fixture *fixture, const hub_state_kind *kind,
                                         const char *owner, const char *key, uint64_t seen)
{
    state_answer *answer = state_fresh();
    hub_state_id id = state_id(kind, owner, key);
    assert_int_equal(hub_state_delete(fixture->store, &id, seen, state_on_done, answer, NULL, NULL),
                     HUB_OK);
    assert_int_equal(answer->times, 0);
    state_wait(fixture, answer, 1);
    return answer;
}

static inline state_answer *state_list(state_fixture *fixture, const hub_state_range *range)
{
    state_answer *answer = state_fresh();
    assert_int_equal(hub_state_list(fixture->store, range, state_on_done, answer, NULL, NULL),
                     HUB_OK);
    state_wait(fixture, answer, 1);
    return answer;
}

static inline state_answer *state_check(state_fixture *fixture)
{
    state_answer *answer = state_fresh();
    assert_int_equal(hub_state_check(fixture->store, state_on_report, answer, NULL), HUB_OK);
    state_wait(fixture, answer, 1);
    return answer;
}

static inline hub_state_keys *state_key(const char *hex)
{
    hub_state_keys *keys = NULL;
    assert_int_equal(hub_state_keys_parse(hub_str_of(hex), &keys, NULL), HUB_OK);
    return keys;
}

#endif
