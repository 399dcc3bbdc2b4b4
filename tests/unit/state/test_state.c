/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store: records and their versions, bounds, changes, in one process and between several. Each test
 * runs with each engine: a file, and a server of the distribution.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <sys/wait.h>

#include "state_fixture.h"
#include "valkey_fixture.h"

enum { GUARD_SECONDS = 300, WRITERS = 8, WRITES_EACH = 25 };

static valkey_server server; /* pid 0: the engine is SQLite */

static int begin(void **state)
{
    static state_fixture fixture;
    state_begin(&fixture);
    if (server.pid > 0) {
        valkey_do(&server, "FLUSHALL");
        (void)snprintf(fixture.path, sizeof fixture.path, "%s", server.place);
    }
    fixture.store = state_open(&fixture, fixture.path, "/hub.yaml", NULL);
    *state = &fixture;
    return 0;
}

static int end(void **state)
{
    state_end(*state);
    return 0;
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* ---- records --------------------------------------------------------------------------------- */

static void test_nothing_is_made_by_reading(void **state)
{
    state_fixture *fixture = *state;
    const hub_state_range all = {.kind = &NOTES, .is_of_all = true};
    assert_int_equal(state_get(fixture, &NOTES, "", "a")->err, HUB_ENOTFOUND);
    assert_int_equal(state_delete(fixture, &NOTES, "", "a", HUB_STATE_ANY)->err, HUB_ENOTFOUND);
    assert_int_equal(state_put(fixture, &NOTES, "", "a", 3, "1")->err, HUB_ECONFLICT);
    assert_int_equal(state_delete(fixture, &NOTES, "", "a", 3)->err, HUB_ECONFLICT);
    state_answer *listed = state_list(fixture, &all);
    assert_int_equal(listed->err, HUB_OK);
    assert_int_equal(listed->count, 0);
    assert_false(is_there(fixture->path));
    assert_null(dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_NOLOAD));
}

static void test_versions(void **state)
{
    state_fixture *fixture = *state;
    state_answer *put = state_put(fixture, &NOTES, "uid:1", "a", HUB_STATE_ABSENT, "{\"n\":1}");
    assert_int_equal(put->err, HUB_OK);
    assert_int_equal(put->count, 1);
    uint64_t first = put->version[0];
    assert_true(first > 0);
    state_answer *got = state_get(fixture, &NOTES, "uid:1", "a");
    assert_int_equal(got->err, HUB_OK);
    assert_string_equal(got->document, "{\"n\":1}");
    assert_int_equal(got->version[0], first);

    put = state_put(fixture, &NOTES, "uid:1", "a", HUB_STATE_ABSENT, "2");
    assert_int_equal(put->err, HUB_ECONFLICT);
    assert_int_equal(put->version[0], first);
    assert_string_equal(put->document, "{\"n\":1}"); /* what is there, to go on from */

    put = state_put(fixture, &NOTES, "uid:1", "a", first, "2");
    assert_int_equal(put->err, HUB_OK);
    uint64_t second = put->version[0];
    assert_true(second > first);
    assert_int_equal(state_delete(fixture, &NOTES, "uid:1", "a", first)->err, HUB_ECONFLICT);
    assert_int_equal(state_delete(fixture, &NOTES, "uid:1", "a", second)->err, HUB_OK);
    put = state_put(fixture, &NOTES, "uid:1", "a", second, "3");
    assert_int_equal(put->err, HUB_ECONFLICT);
    assert_int_equal(put->version[0], 0); /* there is none */
    put = state_put(fixture, &NOTES, "uid:1", "a", HUB_STATE_ABSENT, "3");
    assert_int_equal(put->err, HUB_OK);
    assert_true(put->version[0] > second); /* what was deleted is not taken for what is new */
    assert_int_equal(state_put(fixture, &NOTES, "uid:1", "a", HUB_STATE_ANY, "4")->err, HUB_OK);
}

static void test_records_are_their_scopes_kinds_and_owners(void **state)
{
    state_fixture *fixture = *state;
    static const hub_state_kind OTHER = {.name = "other"};
    (void)state_put(fixture, &NOTES, "uid:1", "a", 0, "1");
    (void)state_put(fixture, &NOTES, "uid:2", "a", 0, "2");
    (void)state_put(fixture, &OTHER, "uid:1", "a", 0, "3");
    assert_string_equal(state_get(fixture, &NOTES, "uid:1", "a")->document, "1");
    assert_string_equal(state_get(fixture, &NOTES, "uid:2", "a")->document, "2");
    assert_string_equal(state_get(fixture, &OTHER, "uid:1", "a")->document, "3");
    assert_int_equal(state_get(fixture, &OTHER, "uid:2", "a")->err, HUB_ENOTFOUND);
    state_close(fixture);
    fixture->store = state_open(fixture, fixture->path, "/other.yaml", NULL);
    assert_int_equal(state_get(fixture, &NOTES, "uid:1", "a")->err, HUB_ENOTFOUND);
    state_close(fixture);
    fixture->store = state_open(fixture, fixture->path, "/hub.yaml", NULL);
    assert_string_equal(state_get(fixture, &NOTES, "uid:1", "a")->document, "1");
}

static void test_lists_in_pages(void **state)
{
    state_fixture *fixture = *state;
    char key[16];
    enum { COUNT = HUB_LIMIT_STATE_PAGE + 10 };
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(key, sizeof key, "k%05d", i);
        (void)state_put(fixture, &NOTES, i % 2 == 0 ? "uid:1" : "uid:2", key, 0, "1");
    }
    hub_state_range own = {.kind = &NOTES, .owner = HUB_STR("uid:1")};
    state_answer *listed = state_list(fixture, &own);
    assert_int_equal(listed->count, COUNT / 2);
    assert_false(listed->has_more);
    assert_string_equal(listed->key[1], "k00002");
    hub_state_range all = {.kind = &NOTES, .is_of_all = true};
    listed = state_list(fixture, &all);
    assert_int_equal(listed->count, HUB_LIMIT_STATE_PAGE);
    assert_true(listed->has_more);
    char owner[16];
    memcpy(owner, listed->owner[HUB_LIMIT_STATE_PAGE - 1], sizeof owner);
    memcpy(key, listed->key[HUB_LIMIT_STATE_PAGE - 1], sizeof key);
    all.after_owner = hub_str_of(owner);
    all.after_key = hub_str_of(key);
    listed = state_list(fixture, &all);
    assert_int_equal(listed->count, 10);
    assert_false(listed->has_more);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static hub_err try_put(state_fixture *fixture, const char *kind, hub_str owner, hub_str key,
                       hub_str document)
{
    const hub_state_kind named = {.name = kind};
    const hub_state_id id = {.kind = &named, .owner = owner, .key = key};
    state_answer *answer = state_fresh();
    hub_err err = hub_state_put(fixture->store, &id, HUB_STATE_ANY, document, state_on_done, answer,
                                NULL, NULL);
    if (err == HUB_OK) {
        state_wait(fixture, answer, 1);
        err = answer->err;
    }
    return err;
}

static hub_str long_text(size_t len)
{
    static char text[HUB_LIMIT_STATE_DOCUMENT_BYTES + 2];
    memset(text, '1', sizeof text);
    return (hub_str){.ptr = text, .len = len};
}

static void test_names_and_documents_have_bounds(void **state)
{
    state_fixture *fixture = *state;
    char kind[HUB_LIMIT_STATE_KIND_BYTES + 2];
    memset(kind, 'k', sizeof kind);
    kind[HUB_LIMIT_STATE_KIND_BYTES + 1] = '\0';
    hub_str one = HUB_STR("1");
    assert_int_equal(try_put(fixture, kind, one, one, one), HUB_EINVAL);
    kind[HUB_LIMIT_STATE_KIND_BYTES] = '\0';
    assert_int_equal(try_put(fixture, kind, one, one, one), HUB_OK);
    static const struct {
        size_t owner;
        size_t key;
        size_t document;
        hub_err err;
    } CASES[] = {
        {HUB_LIMIT_STATE_OWNER_BYTES, 1, 1, HUB_OK},
        {HUB_LIMIT_STATE_OWNER_BYTES + 1, 1, 1, HUB_EINVAL},
        {0, HUB_LIMIT_STATE_KEY_BYTES, 1, HUB_OK},
        {0, HUB_LIMIT_STATE_KEY_BYTES + 1, 1, HUB_EINVAL},
        {0, 0, 1, HUB_EINVAL},
        {0, 1, HUB_LIMIT_STATE_DOCUMENT_BYTES, HUB_OK},
        {0, 1, HUB_LIMIT_STATE_DOCUMENT_BYTES + 1, HUB_ELIMIT},
        {0, 1, 0, HUB_EPARSE},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_int_equal(try_put(fixture, "note", long_text(CASES[i].owner),
                                 long_text(CASES[i].key), long_text(CASES[i].document)),
                         CASES[i].err);
    }
    static const char *const BAD[] = {"a\nb", "a\x1b[2J", "a\xff", "\xed\xa0\x80", "\xc2\x9b"};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        assert_int_equal(try_put(fixture, "note", hub_str_of(BAD[i]), one, one), HUB_EINVAL);
        assert_int_equal(try_put(fixture, "note", one, hub_str_of(BAD[i]), one), HUB_EINVAL);
    }
    assert_int_equal(try_put(fixture, "note", one, ((hub_str){.ptr = "a\0b", .len = 3}), one),
                     HUB_EINVAL);
    assert_int_equal(try_put(fixture, "Note", one, one, one), HUB_EINVAL);
    assert_int_equal(try_put(fixture, "note", one, one, HUB_STR("{")), HUB_EPARSE);
}

static void test_an_owner_has_so_many_records(void **state)
{
    state_fixture *fixture = *state;
    char key[16];
    state_answer *put = NULL;
    for (int i = 0; i < HUB_LIMIT_STATE_RECORDS_PER_OWNER; i++) {
        (void)snprintf(key, sizeof key, "%d", i);
        put = state_put(fixture, &NOTES, "uid:1", key, 0, "1");
        assert_int_equal(put->err, HUB_OK);
    }
    put = state_put(fixture, &NOTES, "uid:1", "more", 0, "1");
    assert_int_equal(put->err, HUB_ELIMIT);
    assert_non_null(strstr(put->why, "delete some"));
    assert_int_equal(state_put(fixture, &NOTES, "uid:1", "7", HUB_STATE_ANY, "2")->err, HUB_OK);
    assert_int_equal(state_put(fixture, &NOTES, "uid:2", "more", 0, "1")->err, HUB_OK);
    assert_int_equal(state_delete(fixture, &NOTES, "uid:1", "7", HUB_STATE_ANY)->err, HUB_OK);
    assert_int_equal(state_put(fixture, &NOTES, "uid:1", "more", 0, "1")->err, HUB_OK);
}

static void test_so_many_operations_wait(void **state)
{
    state_fixture *fixture = *state;
    hub_state_id id = state_id(&NOTES, "uid:7", "a");
    state_answer *answer = state_fresh();
    for (int i = 0; i < HUB_LIMIT_STATE_OPERATIONS; i++) {
        assert_int_equal(hub_state_get(fixture->store, &id, state_on_done, answer, NULL, NULL),
                         HUB_OK);
    }
    assert_int_equal(hub_store_waiting(fixture->store), HUB_LIMIT_STATE_OPERATIONS);
    hub_error why = {.text = ""};
    assert_int_equal(hub_state_get(fixture->store, &id, state_on_done, answer, NULL, &why),
                     HUB_ELIMIT);
    assert_non_null(strstr(why.text, "operations of \"uid:7\" wait for the store already"));
    hub_state_id of_others = state_id(&NOTES, "uid:8", "a"); /* whom that does not concern, … */
    assert_int_equal(hub_state_get(fixture->store, &of_others, state_on_done, answer, NULL, NULL),
                     HUB_OK);
    hub_state_id of_hub = state_id(&NOTES, "", "a"); /* … nor the hub itself */
    assert_int_equal(hub_state_get(fixture->store, &of_hub, state_on_done, answer, NULL, NULL),
                     HUB_OK);
    state_wait(fixture, answer, HUB_LIMIT_STATE_OPERATIONS + 2);
    assert_int_equal(hub_store_waiting(fixture->store), 0);
    assert_int_equal(answer->times, HUB_LIMIT_STATE_OPERATIONS + 2);
    assert_int_equal(state_get(fixture, &NOTES, "uid:7", "a")->err, HUB_ENOTFOUND);
}

/* ---- lives ----------------------------------------------------------------------------------- */

static void test_cancelled_and_ended(void **state)
{
    state_fixture *fixture = *state;
    static state_answer kept;
    memset(&kept, 0, sizeof kept);
    state_answer *gone = state_fresh();
    hub_state_id id = state_id(&NOTES, "", "a");
    hub_state_op *op = NULL;
    assert_int_equal(
        hub_state_put(fixture->store, &id, 0, HUB_STR("1"), state_on_done, gone, &op, NULL),
        HUB_OK);
    hub_state_cancel(op);
    assert_int_equal(hub_state_put(fixture->store, &id, HUB_STATE_ANY, HUB_STR("2"), state_on_done,
                                   &kept, NULL, NULL),
                     HUB_OK);
    state_close(fixture); /* what was accepted happens, and completes */
    assert_int_equal(gone->times, 0);
    assert_int_equal(kept.times, 1);
    assert_int_equal(kept.err, HUB_OK);
    fixture->store = state_open(fixture, fixture->path, "/hub.yaml", NULL);
    assert_string_equal(state_get(fixture, &NOTES, "", "a")->document, "2");
}

static void test_off(void **state)
{
    state_fixture *fixture = *state;
    state_close(fixture);
    fixture->store = state_open(fixture, "off", "/hub.yaml", NULL);
    assert_int_equal(hub_store_health(fixture->store).condition, HUB_STATE_OFF);
    state_answer *put = state_put(fixture, &NOTES, "", "a", 0, "1");
    assert_int_equal(put->err, HUB_EUNAVAILABLE);
    assert_non_null(strstr(put->why, "state: off"));
    assert_int_equal(hub_store_health(fixture->store).condition, HUB_STATE_OFF);
    assert_int_equal(fixture->healths, 0);
}

static void test_what_makes_no_store(void **state)
{
    state_fixture *fixture = *state;
    hub_store *store = NULL;
    const hub_store_options relative = {.place = "state.db", .scope = "x"};
    const hub_store_options unscoped = {.place = "/state.db", .scope = ""};
    assert_int_equal(hub_store_create(fixture->loop, &relative, &store, NULL), HUB_EINVAL);
    assert_int_equal(hub_store_create(fixture->loop, &unscoped, &store, NULL), HUB_EINVAL);
    assert_true(hub_store_destroy(NULL, 0));
}

/* ---- changes --------------------------------------------------------------------------------- */

typedef struct heard {
    int times;
    int unknown;
    int other;
    char last[16];
    uint64_t version;
    bool is_gone;
    hub_state_watch *to_end;
} heard;

static void on_change(void *ctx, hub_state_event event, const hub_state_record *changed)
{
    heard *all = ctx;
    all->times++;
    all->unknown += event == HUB_STATE_UNKNOWN;
    all->other += event == HUB_STATE_OTHER;
    if (event == HUB_STATE_CHANGED) {
        (void)snprintf(all->last, sizeof all->last, HUB_STR_FMT, HUB_STR_ARG(changed->key));
        all->version = changed->version;
        all->is_gone = changed->is_gone;
    } else {
        assert_null(changed);
    }
    hub_state_watch_destroy(all->to_end);
    all->to_end = NULL;
}

static void wait_for(state_fixture *fixture, const heard *all, int times)
{
    while (all->times < times) {
        (void)ev_run(fixture->loop, EVRUN_ONCE);
    }
}

static hub_state_watch *watch(hub_store *store, const char *owner, heard *all)
{
    const hub_state_range range = {
        .kind = &NOTES, .owner = hub_str_of(owner), .is_of_all = owner == NULL};
    hub_state_watch *made = NULL;
    assert_int_equal(hub_state_watch_create(store, &range, on_change, all, &made, NULL), HUB_OK);
    return made;
}

static void test_own_changes_are_told(void **state)
{
    state_fixture *fixture = *state;
    heard own = {.times = 0};
    heard all = {.times = 0};
    heard others = {.times = 0};
    hub_state_watch *of_one = watch(fixture->store, "uid:1", &own);
    hub_state_watch *of_all = watch(fixture->store, NULL, &all);
    hub_state_watch *of_other = watch(fixture->store, "uid:3", &others);
    uint64_t first = state_put(fixture, &NOTES, "uid:1", "a", 0, "1")->version[0];
    wait_for(fixture, &own, 1);
    assert_string_equal(own.last, "a");
    assert_int_equal(own.version, first);
    (void)state_put(fixture, &NOTES, "uid:2", "b", 0, "1");
    wait_for(fixture, &all, 2);
    assert_string_equal(all.last, "b");
    assert_int_equal(own.times, 1);
    (void)state_delete(fixture, &NOTES, "uid:1", "a", HUB_STATE_ANY);
    wait_for(fixture, &own, 2);
    assert_true(own.is_gone);
    own.to_end = of_one; /* by its own callback */
    (void)state_put(fixture, &NOTES, "uid:1", "c", 0, "1");
    wait_for(fixture, &own, 3);
    wait_for(fixture, &all, 4);
    (void)state_put(fixture, &NOTES, "uid:1", "d", 0, "1");
    wait_for(fixture, &all, 5);
    assert_int_equal(own.times, 3);
    assert_int_equal(others.times, 0);
    hub_state_watch_destroy(of_all);
    hub_state_watch_destroy(of_other);
    hub_state_watch_destroy(NULL);
}

/* A second store is what another process is: it has a connection of its own. */
static void test_changes_of_others_are_told(void **state)
{
    state_fixture *fixture = *state;
    heard all = {.times = 0};
    hub_state_watch *of_all = watch(fixture->store, NULL, &all);
    (void)state_get(fixture, &NOTES, "", "barrier"); /* the watch knows from where on */
    hub_store *mine = fixture->store;
    fixture->store = state_open(fixture, fixture->path, "/hub.yaml", NULL);
    uint64_t version = state_put(fixture, &NOTES, "", "a", 0, "1")->version[0];
    wait_for(fixture, &all, 1);
    assert_int_equal(all.version, version);
    version = state_put(fixture, &NOTES, "", "a", version, "2")->version[0];
    wait_for(fixture, &all, 2);
    assert_int_equal(all.version, version);
    (void)state_delete(fixture, &NOTES, "", "a", version);
    wait_for(fixture, &all, 3);
    assert_true(all.is_gone);
    state_close(fixture);
    fixture->store = mine;
    hub_state_watch_destroy(of_all);
    assert_int_equal(all.unknown + all.other, 0);
}

static void test_other_scopes_and_kinds_are_not_told(void **state)
{
    state_fixture *fixture = *state;
    static const hub_state_kind OTHER = {.name = "other"};
    heard all = {.times = 0};
    hub_state_watch *of_all = watch(fixture->store, NULL, &all);
    hub_store *mine = fixture->store;
    fixture->store = state_open(fixture, fixture->path, "/other.yaml", NULL);
    (void)state_put(fixture, &NOTES, "", "a", 0, "1");
    state_close(fixture);
    fixture->store = mine;
    (void)state_put(fixture, &OTHER, "", "b", 0, "1");
    (void)state_put(fixture, &NOTES, "", "c", 0, "1");
    wait_for(fixture, &all, 1);
    assert_string_equal(all.last, "c");
    assert_int_equal(all.times, 1);
    hub_state_watch_destroy(of_all);
}

/* Records vanish below the store: of a server, nobody is told, and the next change shows it. */
static void empty(state_fixture *fixture)
{
    if (server.pid == 0) {
        assert_int_equal(unlink(fixture->path), 0);
        return;
    }
    valkey_do(&server, "FLUSHALL");
    (void)state_put(fixture, &NOTES, "", "new", 0, "1");
}

/* The file is removed while it is open: that is another store. */
static void test_an_emptied_store_is_told_from_an_empty_one(void **state)
{
    state_fixture *fixture = *state;
    heard all = {.times = 0};
    (void)state_put(fixture, &NOTES, "", "a", 0, "1");
    hub_state_watch *of_all = watch(fixture->store, NULL, &all);
    (void)state_get(fixture, &NOTES, "", "a");
    empty(fixture);
    wait_for(fixture, &all, 1);
    assert_int_equal(all.other, 1);
    assert_int_equal(state_get(fixture, &NOTES, "", "a")->err, HUB_ENOTFOUND);
    (void)state_put(fixture, &NOTES, "", "b", 0, "1");
    while (strcmp(all.last, "b") != 0) {
        (void)ev_run(fixture->loop, EVRUN_ONCE);
    }
    assert_int_equal(all.other, 1);
    hub_state_watch_destroy(of_all);
}

/* Make records and delete them, more than deletions are remembered; nothing waits in between. */
static void churn(state_fixture *fixture)
{
    char key[16];
    hub_state_id id = state_id(&NOTES, "", "");
    state_answer *answer = state_fresh();
    for (int i = 0; i <= HUB_LIMIT_STATE_DELETIONS; i++) {
        (void)snprintf(key, sizeof key, "b%d", i);
        id.key = hub_str_of(key);
        assert_int_equal(hub_state_put(fixture->store, &id, HUB_STATE_ANY, HUB_STR("1"),
                                       state_on_done, answer, NULL, NULL),
                         HUB_OK);
        assert_int_equal(
            hub_state_delete(fixture->store, &id, HUB_STATE_ANY, state_on_done, answer, NULL, NULL),
            HUB_OK);
    }
    state_wait(fixture, answer, 2 * (HUB_LIMIT_STATE_DELETIONS + 1));
    assert_int_equal(answer->err, HUB_OK);
}

/* What is told of each change as it happens does not fall behind: another process writes, and this one
 * sees nothing until that has ended. */
static void churn_elsewhere(const char *path)
{
    int status = 0;
    pid_t writer = fork();
    assert_true(writer >= 0);
    if (writer == 0) {
        state_fixture fixture = {.loop = ev_loop_new(EVFLAG_AUTO)};
        fixture.store = state_open(&fixture, path, "/hub.yaml", NULL);
        churn(&fixture);
        _exit(0);
    }
    assert_int_equal(waitpid(writer, &status, 0), writer);
    assert_int_equal(status, 0);
}

static void test_who_is_too_far_behind_is_told_so(void **state)
{
    state_fixture *fixture = *state;
    static heard all; /* the store tells on while it ends, also after a check has failed */
    all = (heard){.times = 0};
    (void)state_put(fixture, &NOTES, "", "a", 0, "1");
    hub_state_watch *of_all = watch(fixture->store, NULL, &all);
    (void)state_get(fixture, &NOTES, "", "a");
    if (server.pid > 0) {
        churn_elsewhere(fixture->path);
    } else {
        churn(fixture);
    }
    while (all.unknown == 0) { /* a look before the churn may tell of "a" */
        (void)ev_run(fixture->loop, EVRUN_ONCE);
    }
    hub_state_watch_destroy(of_all);
}

/* ---- several processes ----------------------------------------------------------------------- */

/* How often each writer has added 1, of a record that may not be there. */
static void read_counts(const state_answer *got, long counts[WRITERS])
{
    const char *at = got->err == HUB_OK ? got->document + 1 : NULL;
    for (int i = 0; i < WRITERS; i++) {
        char *end = NULL;
        counts[i] = at != NULL ? strtol(at, &end, 10) : 0;
        at = at != NULL ? end + 1 : NULL;
    }
}

/* The same as a document. */
static void write_counts(const long counts[WRITERS], char text[WRITERS * 8])
{
    int len = 0;
    for (int i = 0; i < WRITERS; i++) {
        len += snprintf(text + len, 8, "%c%ld", i == 0 ? '[' : ',', counts[i]);
    }
    (void)snprintf(text + len, 2, "]");
}

/* Add 1 to the same record so often, each time to what is there. A store that does not answer in time, on a
 * machine that has much else to do, may have written or not: the record says which. */
static void count_up(const char *path, int who)
{
    state_fixture fixture = {.loop = ev_loop_new(EVFLAG_AUTO)};
    long counts[WRITERS] = {0};
    char text[WRITERS * 8];
    fixture.store = state_open(&fixture, path, "/hub.yaml", NULL);
    for (;;) {
        state_answer *answer = state_get(&fixture, &NOTES, "", "count");
        uint64_t seen = answer->err == HUB_OK ? answer->version[0] : 0;
        hub_err err = answer->err == HUB_ENOTFOUND ? HUB_OK : answer->err;
        if (err == HUB_OK) {
            read_counts(answer, counts);
            if (counts[who] == WRITES_EACH) {
                break;
            }
            counts[who]++;
            write_counts(counts, text);
            answer = state_put(&fixture, &NOTES, "", "count", seen, text);
            err = answer->err;
        }
        if (err != HUB_OK && err != HUB_ECONFLICT && err != HUB_EUNAVAILABLE) {
            (void)fprintf(stderr, "%s\n", answer->why);
            _exit(1);
        }
    }
    state_close(&fixture);
    ev_loop_destroy(fixture.loop);
    _exit(0);
}

static void test_processes_write_at_once(void **state)
{
    state_fixture *fixture = *state;
    pid_t writers[WRITERS];
    long counts[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = fork();
        assert_true(writers[i] >= 0);
        if (writers[i] == 0) {
            count_up(fixture->path, i);
        }
    }
    for (int i = 0; i < WRITERS; i++) {
        int status = 0;
        assert_int_equal(waitpid(writers[i], &status, 0), writers[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    read_counts(state_get(fixture, &NOTES, "", "count"), counts);
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(counts[i], WRITES_EACH);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_is_made_by_reading), /* first: sqlite is not loaded yet */
        TEST(test_processes_write_at_once),
        TEST(test_versions),
        TEST(test_records_are_their_scopes_kinds_and_owners),
        TEST(test_lists_in_pages),
        TEST(test_names_and_documents_have_bounds),
        TEST(test_an_owner_has_so_many_records),
        TEST(test_so_many_operations_wait),
        TEST(test_cancelled_and_ended),
        TEST(test_off),
        TEST(test_what_makes_no_store),
        TEST(test_own_changes_are_told),
        TEST(test_changes_of_others_are_told),
        TEST(test_other_scopes_and_kinds_are_not_told),
        TEST(test_an_emptied_store_is_told_from_an_empty_one),
        TEST(test_who_is_too_far_behind_is_told_so),
    };
    char folder[] = "/tmp/patchbay-valkey-XXXXXX";
    (void)alarm(GUARD_SECONDS);
    assert_non_null(mkdtemp(folder));
    valkey_start(&server, folder, NULL);
    int failed = cmocka_run_group_tests_name("valkey", tests, NULL, NULL);
    valkey_stop(&server);
    (void)rmdir(folder);
    return failed + cmocka_run_group_tests_name("sqlite", tests, NULL, NULL);
}
