/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a shared store is beside what every store is (test_state.c): secrets are sealed or refused, a
 * server that is gone, hangs, starts empty or is of another kind is told by name, and changes that were
 * missed meanwhile are told when it is back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>

#include "state_fixture.h"
#include "valkey_fixture.h"

enum { GUARD_SECONDS = 300 };

#define KEY_A  "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define KEY_B  "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeffe0e1e2e3e4e5e6e7e8e9eaebecedeeef"
#define NEEDLE "xyzzy-plugh"

static valkey_server server;

static int begin(void **state)
{
    static state_fixture fixture;
    state_begin(&fixture);
    valkey_start(&server, fixture.folder, NULL);
    (void)snprintf(fixture.path, sizeof fixture.path, "%s", server.place);
    *state = &fixture;
    return 0;
}

static int end(void **state)
{
    state_fixture *fixture = *state;
    valkey_stop(&server);
    state_end(fixture);
    return 0;
}

static void open_store(state_fixture *fixture, const char *keys)
{
    fixture->store =
        state_open(fixture, fixture->path, "/hub.yaml", keys != NULL ? state_key(keys) : NULL);
}

static void reopen(state_fixture *fixture, const char *keys)
{
    state_close(fixture);
    open_store(fixture, keys);
}

static void restart(state_fixture *fixture, const char *const *options)
{
    valkey_stop(&server);
    valkey_start(&server, fixture->folder, options);
}

/* ---- secrets --------------------------------------------------------------------------------- */

static void test_secrets_are_sealed_or_refused(void **state)
{
    state_fixture *fixture = *state;
    char answer[4096];
    open_store(fixture, NULL);
    state_answer *put = state_put(fixture, &SECRETS, "", "a", 0, "\"" NEEDLE "\"");
    assert_int_equal(put->err, HUB_EDENIED);
    assert_non_null(strstr(put->why, "encrypted secrets only"));
    reopen(fixture, KEY_A);
    uint64_t version = state_put(fixture, &SECRETS, "", "a", 0, "\"" NEEDLE "\"")->version[0];
    assert_true(version > 0);
    assert_string_equal(state_get(fixture, &SECRETS, "", "a")->document, "\"" NEEDLE "\"");
    assert_int_equal(state_put(fixture, &SECRETS, "", "a", 0, "1")->err, HUB_ECONFLICT);
    put = state_put(fixture, &SECRETS, "", "a", version, "\"" NEEDLE "2\"");
    assert_int_equal(put->err, HUB_OK);
    assert_true(put->version[0] > version);
    valkey_say(&server, "HVALS patchbay:state:records", answer, sizeof answer);
    assert_non_null(strstr(answer, " 1 "));
    assert_null(memmem(answer, sizeof answer, NEEDLE, sizeof NEEDLE - 1));
    reopen(fixture, KEY_B);
    assert_int_equal(state_get(fixture, &SECRETS, "", "a")->err, HUB_EDENIED);
    assert_int_equal(state_check(fixture)->report.unreadable, 1);
}

static void test_another_key(void **state)
{
    state_fixture *fixture = *state;
    open_store(fixture, KEY_A);
    (void)state_put(fixture, &SECRETS, "", "a", 0, "1");
    (void)state_put(fixture, &SECRETS, "uid:1", "b", 0, "2");
    (void)state_put(fixture, &NOTES, "", "c", 0, "3");
    reopen(fixture, KEY_B "\n" KEY_A);
    state_answer *answer = state_fresh();
    assert_int_equal(hub_state_rekey(fixture->store, state_on_report, answer, NULL), HUB_OK);
    state_wait(fixture, answer, 1);
    assert_int_equal(answer->err, HUB_OK);
    assert_int_equal(answer->report.sealed, 2);
    reopen(fixture, KEY_B);
    assert_string_equal(state_get(fixture, &SECRETS, "", "a")->document, "1");
    assert_string_equal(state_get(fixture, &SECRETS, "uid:1", "b")->document, "2");
    answer = state_check(fixture);
    assert_int_equal(answer->err, HUB_OK);
    assert_int_equal(answer->report.records, 3);
    assert_int_equal(answer->report.sealed, 2);
    assert_int_equal(answer->report.unreadable, 0);
}

/* ---- the whole of it ------------------------------------------------------------------------- */

static hub_err import(state_fixture *fixture, const hub_state_record *records, size_t count,
                      hub_state_clash clash, state_answer *answer)
{
    memset(answer, 0, sizeof *answer);
    assert_int_equal(
        hub_state_import(fixture->store, records, count, clash, state_on_report, answer, NULL),
        HUB_OK);
    state_wait(fixture, answer, 1);
    return answer->err;
}

static void test_imports_are_whole_or_nothing(void **state)
{
    state_fixture *fixture = *state;
    static state_answer answer;
    enum { COUNT = 600 };
    static hub_state_record records[COUNT];
    static char keys[COUNT][16];
    open_store(fixture, KEY_A);
    (void)state_put(fixture, &NOTES, "", "k0500", 0, "\"theirs\"");
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(keys[i], sizeof keys[i], "k%04d", i);
        records[i] = (hub_state_record){.scope = HUB_STR("/hub.yaml"),
                                        .kind = HUB_STR("note"),
                                        .owner = HUB_STR(""),
                                        .key = hub_str_of(keys[i]),
                                        .document = HUB_STR("1"),
                                        .is_secret = i % 2 == 1};
    }
    assert_int_equal(import(fixture, records, COUNT, HUB_STATE_CLASH_REFUSE, &answer),
                     HUB_ECONFLICT);
    assert_string_equal(answer.key[0], "k0500");
    assert_int_equal(state_get(fixture, &NOTES, "", "k0001")->err, HUB_ENOTFOUND);
    assert_int_equal(import(fixture, records, COUNT, HUB_STATE_CLASH_KEEP, &answer), HUB_OK);
    assert_int_equal(answer.report.added, COUNT - 1);
    assert_int_equal(answer.report.kept, 1);
    assert_string_equal(state_get(fixture, &NOTES, "", "k0500")->document, "\"theirs\"");
    assert_string_equal(state_get(fixture, &NOTES, "", "k0599")->document, "1");
    assert_int_equal(import(fixture, records, COUNT, HUB_STATE_CLASH_REPLACE, &answer), HUB_OK);
    assert_int_equal(answer.report.same, COUNT - 1);
    assert_int_equal(answer.report.replaced, 1);
    assert_string_equal(state_get(fixture, &NOTES, "", "k0500")->document, "1");
    assert_int_equal(state_check(fixture)->report.sealed, COUNT / 2);
}

static void test_an_owner_has_so_many_records_of_an_import(void **state)
{
    state_fixture *fixture = *state;
    static state_answer answer;
    enum { COUNT = HUB_LIMIT_STATE_RECORDS_PER_OWNER + 1 };
    static hub_state_record records[COUNT];
    static char keys[COUNT][16];
    open_store(fixture, NULL);
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(keys[i], sizeof keys[i], "k%04d", i);
        records[i] = (hub_state_record){.scope = HUB_STR("/hub.yaml"),
                                        .kind = HUB_STR("note"),
                                        .owner = HUB_STR("uid:1"),
                                        .key = hub_str_of(keys[i]),
                                        .document = HUB_STR("1")};
    }
    assert_int_equal(import(fixture, records, COUNT, HUB_STATE_CLASH_REFUSE, &answer), HUB_ELIMIT);
    assert_non_null(strstr(answer.why, "\"uid:1\" has 1000 records"));
    assert_int_equal(state_check(fixture)->report.records, 0);
    assert_int_equal(import(fixture, records, COUNT - 1, HUB_STATE_CLASH_REFUSE, &answer), HUB_OK);
    assert_int_equal(answer.report.added, COUNT - 1);
}

/* ---- limits ---------------------------------------------------------------------------------- */

typedef struct taken {
    int times;
    int admitted;
    hub_err err;
    uint32_t wait_ms;
    size_t over;
} taken;

static void on_taken(void *ctx, hub_err err, uint32_t wait_ms, size_t over)
{
    taken *all = ctx;
    all->times++;
    all->err = err;
    all->wait_ms = wait_ms;
    all->over = over;
    all->admitted += err == HUB_OK && wait_ms == 0;
}

static void take(state_fixture *fixture, hub_store *store, const hub_state_limit *limits,
                 size_t count, taken *all)
{
    int times = all->times;
    assert_int_equal(hub_state_take(store, HUB_STR("me"), limits, count, on_taken, all, NULL, NULL),
                     HUB_OK);
    while (all->times == times) {
        (void)ev_run(fixture->loop, EVRUN_ONCE);
    }
}

/* Two hubs, and limits so slow that nothing is earned while the test runs. */
static void test_limits_are_of_all_hubs_together(void **state)
{
    state_fixture *fixture = *state;
    taken all = {.times = 0};
    const hub_state_limit limits[] = {{HUB_STR("a"), 1, 1000}, {HUB_STR("b"), 1, 7}};
    open_store(fixture, NULL);
    hub_store *one = fixture->store;
    open_store(fixture, NULL);
    for (int i = 0; i < 10; i++) {
        take(fixture, i % 2 == 0 ? one : fixture->store, limits, 2, &all);
    }
    assert_true(all.admitted == 7 || all.admitted == 8); /* a second may pass on a slow machine */
    assert_int_equal(all.over, 1);
    assert_in_range(all.wait_ms, 1, 1000);
    all.admitted = 0;
    for (int i = 0; i < 500; i++) { /* what was refused has cost the other limit nothing */
        take(fixture, one, limits, 1, &all);
    }
    assert_int_equal(all.admitted, 500);
    assert_int_equal(hub_state_take(one, HUB_STR("me"), limits, 0, on_taken, &all, NULL, NULL),
                     HUB_ELIMIT);
    static hub_state_limit many[HUB_LIMIT_STATE_TAKES + 1];
    for (size_t i = 0; i <= HUB_LIMIT_STATE_TAKES; i++) {
        many[i] = limits[0];
    }
    assert_int_equal(hub_state_take(one, HUB_STR("me"), many, HUB_LIMIT_STATE_TAKES + 1, on_taken,
                                    &all, NULL, NULL),
                     HUB_ELIMIT);
    take(fixture, one, many, HUB_LIMIT_STATE_TAKES, &all);
    assert_int_equal(all.err, HUB_OK);
    valkey_stop(&server);
    take(fixture, one, limits, 1, &all);
    assert_int_equal(all.err, HUB_EUNAVAILABLE);
    assert_true(hub_store_destroy(one, STATE_END_MS));
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

/* Read until it is as wanted: the breaker rests between. */
static state_answer *get_until(state_fixture *fixture, hub_err wanted)
{
    state_answer *got = state_get(fixture, &NOTES, "", "a");
    while (got->err != wanted) {
        assert_int_equal(got->err, HUB_EUNAVAILABLE);
        got = state_get(fixture, &NOTES, "", "a");
    }
    return got;
}

typedef struct heard {
    int times;
    int other;
    bool is_lively; /* the key "b" was told */
} heard;

static void on_change(void *ctx, hub_state_event event, const hub_state_record *changed)
{
    heard *all = ctx;
    all->times++;
    all->other += event == HUB_STATE_OTHER;
    all->is_lively = all->is_lively || (changed != NULL && hub_str_is(changed->key, "b"));
}

static hub_state_watch *watch(hub_store *store, heard *all)
{
    const hub_state_range range = {.kind = &NOTES, .is_of_all = true};
    hub_state_watch *made = NULL;
    assert_int_equal(hub_state_watch_create(store, &range, on_change, all, &made, NULL), HUB_OK);
    return made;
}

static void test_a_server_that_is_not_there(void **state)
{
    state_fixture *fixture = *state;
    valkey_stop(&server);
    open_store(fixture, NULL);
    state_answer *got = state_get(fixture, &NOTES, "", "a");
    assert_int_equal(got->err, HUB_EUNAVAILABLE);
    assert_non_null(strstr(got->why, "cannot be reached"));
    assert_non_null(strstr(got->why, "valkey+unix://"));
    assert_int_equal(fixture->condition, HUB_STATE_UNAVAILABLE);
    valkey_start(&server, fixture->folder, NULL);
    (void)get_until(fixture, HUB_ENOTFOUND);
    assert_int_equal(fixture->condition, HUB_STATE_OK);
}

/* It hangs: a command ends all the same, and those behind it; the breaker refuses at once then. */
static void test_a_server_that_hangs(void **state)
{
    state_fixture *fixture = *state;
    open_store(fixture, NULL);
    (void)state_put(fixture, &NOTES, "", "a", 0, "1");
    assert_int_equal(kill(server.pid, SIGSTOP), 0);
    state_answer *got = state_get(fixture, &NOTES, "", "a");
    assert_int_equal(got->err, HUB_EUNAVAILABLE);
    assert_non_null(strstr(got->why, "has not answered in time"));
    got = state_get(fixture, &NOTES, "", "a");
    assert_int_equal(got->err, HUB_EUNAVAILABLE);
    assert_int_equal(kill(server.pid, SIGCONT), 0);
    assert_string_equal(get_until(fixture, HUB_OK)->document, "1");
}

/* Who watches hears of it: what others wrote meanwhile, and that records are gone. */
static void test_a_server_that_comes_back(void **state)
{
    state_fixture *fixture = *state;
    heard all = {.times = 0};
    open_store(fixture, NULL);
    (void)state_put(fixture, &NOTES, "", "a", 0, "1");
    hub_state_watch *made = watch(fixture->store, &all);
    (void)state_get(fixture, &NOTES, "", "a");
    restart(fixture, NULL); /* it has nothing on its disk */
    while (all.other == 0) {
        (void)ev_run(fixture->loop, EVRUN_ONCE);
    }
    hub_store *mine = fixture->store;
    open_store(fixture, NULL);
    (void)state_put(fixture, &NOTES, "", "b", 0, "1");
    state_close(fixture);
    fixture->store = mine;
    while (!all.is_lively) {
        (void)ev_run(fixture->loop, EVRUN_ONCE);
    }
    assert_int_equal(all.other, 1);
    hub_state_watch_destroy(made);
}

static void test_scripts_that_were_forgotten(void **state)
{
    state_fixture *fixture = *state;
    open_store(fixture, NULL);
    (void)state_put(fixture, &NOTES, "", "a", 0, "1");
    valkey_do(&server, "SCRIPT FLUSH");
    assert_string_equal(state_get(fixture, &NOTES, "", "a")->document, "1");
}

static void refused(state_fixture *fixture, const char *place, const char *says)
{
    (void)snprintf(fixture->path, sizeof fixture->path, "%s", place);
    reopen(fixture, NULL);
    state_answer *got = state_get(fixture, &NOTES, "", "a");
    assert_int_equal(got->err, HUB_EUNAVAILABLE);
    assert_non_null(strstr(got->why, says));
    assert_non_null(strstr(got->why, "valkey+unix://"));
    assert_null(strstr(got->why, NEEDLE));
}

static void test_who_may(void **state)
{
    state_fixture *fixture = *state;
    char place[sizeof fixture->path];
    open_store(fixture, NULL);
    valkey_do(&server, "ACL SETUSER default resetpass >" NEEDLE);
    refused(fixture, server.place, "wants a password");
    (void)snprintf(place, sizeof place, "valkey+unix://:%s@%s", NEEDLE "0", server.socket);
    refused(fixture, place, "refuses the user name or the password");
    (void)snprintf(place, sizeof place, "valkey+unix://:%s@%s", NEEDLE, server.socket);
    (void)snprintf(fixture->path, sizeof fixture->path, "%s", place);
    reopen(fixture, NULL);
    assert_int_equal(state_put(fixture, &NOTES, "", "a", 0, "1")->err, HUB_OK);
    assert_null(strstr(hub_store_health(fixture->store).place, NEEDLE));
}

/* Other options of the server than it had at first. */
static void test_a_user_of_its_own(void **state)
{
    state_fixture *fixture = *state;
    heard all = {.times = 0};
    open_store(fixture, NULL);
    /* As docs/SCALE.md has it. */
    valkey_do(&server, "ACL SETUSER hub on >" NEEDLE
                       " ~patchbay:* &patchbay:* +@read +@write +@scripting +@pubsub "
                       "+@connection +info +time +publish -@dangerous +info");
    valkey_do(&server, "ACL SETUSER default off");
    (void)snprintf(fixture->path, sizeof fixture->path, "valkey+unix://hub:%s@%s", NEEDLE,
                   server.socket);
    reopen(fixture, NULL);
    hub_state_watch *made = watch(fixture->store, &all);
    assert_int_equal(state_put(fixture, &NOTES, "", "b", 0, "1")->err, HUB_OK);
    while (!all.is_lively) {
        (void)ev_run(fixture->loop, EVRUN_ONCE);
    }
    assert_int_equal(state_delete(fixture, &NOTES, "", "b", HUB_STATE_ANY)->err, HUB_OK);
    hub_state_watch_destroy(made);
}

static void test_other_kinds_of_servers(void **state)
{
    state_fixture *fixture = *state;
    static const char *const CLUSTER[] = {"--cluster-enabled", "yes", "--port", "7", "--bind",
                                          "127.0.0.1",         NULL};
    static const char *const COPY[] = {"--replicaof", "127.0.0.1", "1", NULL};
    static const char *const EVICTS[] = {"--maxmemory-policy", "allkeys-lru", NULL};
    char file[160];
    open_store(fixture, NULL);
    restart(fixture, CLUSTER);
    refused(fixture, server.place, "cluster mode");
    (void)snprintf(file, sizeof file, "%s/nodes.conf", fixture->folder);
    (void)unlink(file);
    restart(fixture, COPY);
    refused(fixture, server.place, "read-only copy");
    restart(fixture, EVICTS);
    reopen(fixture, NULL);
    (void)state_put(fixture, &NOTES, "", "a", 0, "1");
    assert_non_null(strstr(fixture->notice, "noeviction"));
    valkey_do(&server, "HSET patchbay:state:meta layout 2");
    refused(fixture, server.place, "newer version of Patchbay");
}

/* By its name: looked up beside the loop, and one address after the other. */
static void test_over_tcp(void **state)
{
    state_fixture *fixture = *state;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    char port[8];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    (void)close(fd);
    (void)snprintf(port, sizeof port, "%u", ntohs(address.sin_port));
    const char *const options[] = {"--port", port, "--bind", "127.0.0.1", NULL};
    restart(fixture, options);
    (void)snprintf(fixture->path, sizeof fixture->path, "valkey://localhost:%s/3", port);
    open_store(fixture, NULL);
    assert_int_equal(state_put(fixture, &NOTES, "", "a", 0, "1")->err, HUB_OK);
    (void)snprintf(fixture->path, sizeof fixture->path, "valkey://no-such-host.invalid/3");
    reopen(fixture, NULL);
    state_answer *got = state_get(fixture, &NOTES, "", "a");
    assert_int_equal(got->err, HUB_EUNAVAILABLE);
    (void)snprintf(fixture->path, sizeof fixture->path, "%s?db=3", server.place);
    reopen(fixture, NULL);
    assert_string_equal(state_get(fixture, &NOTES, "", "a")->document, "1");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_secrets_are_sealed_or_refused),
        TEST(test_another_key),
        TEST(test_imports_are_whole_or_nothing),
        TEST(test_an_owner_has_so_many_records_of_an_import),
        TEST(test_limits_are_of_all_hubs_together),
        TEST(test_a_server_that_is_not_there),
        TEST(test_a_server_that_hangs),
        TEST(test_a_server_that_comes_back),
        TEST(test_scripts_that_were_forgotten),
        TEST(test_who_may),
        TEST(test_a_user_of_its_own),
        TEST(test_other_kinds_of_servers),
        TEST(test_over_tcp),
    };
    (void)alarm(GUARD_SECONDS);
    (void)signal(SIGPIPE, SIG_IGN); /* as the hub has it */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
