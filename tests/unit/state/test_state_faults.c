/* SPDX-License-Identifier: Apache-2.0 */
/* The store where it cannot be used: each has a message that says what to do, and is over as soon as
 * the cause is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "state_fixture.h"

enum { GUARD_SECONDS = 300, NOBODY = 65534, FULL_BYTES = 160 * 1024, FEW = 20, KILLED_AFTER = 40 };

/* What statfs says of every folder; 0: what the kernel says. */
static long said_system;

int __real_statfs(const char *path, struct statfs *about);
int __wrap_statfs(const char *path, struct statfs *about);

int __wrap_statfs(const char *path, struct statfs *about)
{
    int result = __real_statfs(path, about);
    about->f_type = said_system != 0 ? (__fsword_t)said_system : about->f_type;
    return result;
}

static int begin(void **state)
{
    static state_fixture fixture;
    said_system = 0;
    state_begin(&fixture);
    fixture.store = state_open(&fixture, fixture.path, "/hub.yaml", NULL);
    *state = &fixture;
    return 0;
}

static int end(void **state)
{
    state_fixture *fixture = *state;
    (void)chmod(fixture->folder, 0700);
    state_end(fixture);
    return 0;
}

static void reopen(state_fixture *fixture)
{
    state_close(fixture);
    fixture->store = state_open(fixture, fixture->path, "/hub.yaml", NULL);
}

/* Nothing can be read or written, for that reason. */
static void assert_down(state_fixture *fixture, const char *reason)
{
    state_answer *answer = state_put(fixture, &NOTES, "", "down", HUB_STATE_ANY, "1");
    assert_int_equal(answer->err, HUB_EUNAVAILABLE);
    if (strstr(answer->why, reason) == NULL) {
        fail_msg("wanted \"%s\", found: %s", reason, answer->why);
    }
    hub_state_health health = hub_store_health(fixture->store);
    assert_int_equal(health.condition, HUB_STATE_UNAVAILABLE);
    assert_string_equal(health.reason, answer->why);
    int healths = fixture->healths;
    (void)state_put(fixture, &NOTES, "", "down", HUB_STATE_ANY, "1");
    assert_int_equal(fixture->healths, healths); /* told once */
}

static void assert_up(state_fixture *fixture)
{
    assert_int_equal(state_put(fixture, &NOTES, "", "up", HUB_STATE_ANY, "1")->err, HUB_OK);
    assert_int_equal(hub_store_health(fixture->store).condition, HUB_STATE_OK);
    assert_true(fixture->healths == 0 || fixture->condition == HUB_STATE_OK);
}

static void write_file(const char *path, const void *bytes, size_t size, long at)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, size, at), (ssize_t)size);
    (void)close(fd);
}

/* ---- places ---------------------------------------------------------------------------------- */

static void test_a_folder_that_others_may_write_to(void **state)
{
    state_fixture *fixture = *state;
    static const mode_t MODES[] = {0770, 0702, 0720};
    for (size_t i = 0; i < sizeof MODES / sizeof MODES[0]; i++) {
        assert_int_equal(chmod(fixture->folder, MODES[i]), 0);
        assert_down(fixture, "chmod go-w");
        assert_int_equal(chmod(fixture->folder, 0755), 0);
        assert_up(fixture);
        reopen(fixture);
    }
    assert_int_equal(chmod(fixture->path, 0620), 0);
    assert_down(fixture, "chmod go-w");
    assert_int_equal(chmod(fixture->path, 0640), 0);
    assert_up(fixture);
}

static void test_what_is_somebody_elses(void **state)
{
    state_fixture *fixture = *state;
    if (geteuid() != 0) {
        skip();
    }
    assert_up(fixture);
    reopen(fixture);
    assert_int_equal(chown(fixture->path, NOBODY, NOBODY), 0);
    assert_down(fixture, "belongs to user 65534");
    assert_int_equal(chown(fixture->path, 0, 0), 0);
    assert_int_equal(chown(fixture->folder, NOBODY, NOBODY), 0);
    assert_down(fixture, "belongs to user 65534");
    assert_int_equal(chown(fixture->folder, 0, 0), 0);
    assert_up(fixture);
}

static void test_what_is_no_file(void **state)
{
    state_fixture *fixture = *state;
    assert_int_equal(symlink("/etc/passwd", fixture->path), 0);
    assert_down(fixture, "not a regular file");
    assert_int_equal(unlink(fixture->path), 0);
    assert_int_equal(mkfifo(fixture->path, 0600), 0);
    assert_down(fixture, "not a regular file");
    assert_int_equal(unlink(fixture->path), 0);
    assert_up(fixture);
}

/* As a user that is not root: nothing is forbidden to that one. */
static void *put_in_child(state_fixture *fixture, const char *folder, const char *reason)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char path[128];
        state_fixture own = {.loop = ev_loop_new(EVFLAG_AUTO)};
        (void)snprintf(path, sizeof path, "%s/deeper/state.db", folder);
        if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0) {
            _exit(3);
        }
        own.store = state_open(&own, path, "/hub.yaml", NULL);
        state_answer *answer = state_put(&own, &NOTES, "", "a", 0, "1");
        bool is_right = answer->err == HUB_EUNAVAILABLE && strstr(answer->why, reason) != NULL;
        (void)fprintf(stderr, "%s\n", is_right ? "" : answer->why);
        _exit(is_right ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    return fixture;
}

static void test_a_folder_that_may_not_be_written_to(void **state)
{
    state_fixture *fixture = *state;
    if (geteuid() != 0) {
        skip();
    }
    assert_int_equal(chmod(fixture->folder, 0755), 0);
    assert_non_null(put_in_child(fixture, fixture->folder, "may not write there"));
}

static void test_network_file_systems(void **state)
{
    state_fixture *fixture = *state;
    static const struct {
        long type;
        const char *name;
    } SYSTEMS[] = {{0x6969, "NFS"}, {0xff534d42, "CIFS"}, {0x01021997, "9p"}};
    for (size_t i = 0; i < sizeof SYSTEMS / sizeof SYSTEMS[0]; i++) {
        said_system = SYSTEMS[i].type;
        reopen(fixture);
        assert_up(fixture);
        state_answer *checked = state_check(fixture);
        assert_string_equal(checked->report.journal, "delete");
        assert_non_null(strstr(fixture->notice, SYSTEMS[i].name));
        state_answer *put = state_put(fixture, &SECRETS, "", "s", HUB_STATE_ANY, "1");
        assert_int_equal(put->err, HUB_EDENIED);
        assert_non_null(strstr(put->why, SYSTEMS[i].name));
        said_system = 0;
        reopen(fixture);
        assert_up(fixture);
        assert_string_equal(state_check(fixture)->report.journal, "wal");
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static void test_a_damaged_file(void **state)
{
    state_fixture *fixture = *state;
    static const char TEXT[] = "this is a letter and no database at all, and so it goes on ....";
    write_file(fixture->path, TEXT, sizeof TEXT, 0);
    assert_down(fixture, "is damaged");
    assert_int_equal(state_get(fixture, &NOTES, "", "up")->err, HUB_EUNAVAILABLE);
    assert_int_equal(state_check(fixture)->err, HUB_EUNAVAILABLE);
    assert_int_equal(unlink(fixture->path), 0);
    assert_up(fixture);
}

/* A good header, and pages that are not. */
static void test_damaged_pages(void **state)
{
    state_fixture *fixture = *state;
    static char garbage[4096];
    char key[32];
    memset(garbage, 0xa5, sizeof garbage);
    for (int i = 0; i < 200; i++) {
        (void)snprintf(key, sizeof key, "k%d", i);
        (void)state_put(fixture, &NOTES, "", key, 0, "\"some text to fill pages with\"");
    }
    state_close(fixture);
    write_file(fixture->path, garbage, sizeof garbage, 4096 * 2);
    write_file(fixture->path, garbage, sizeof garbage, 4096 * 3);
    fixture->store = state_open(fixture, fixture->path, "/hub.yaml", NULL);
    state_answer *checked = state_check(fixture);
    assert_int_equal(checked->err, HUB_EUNAVAILABLE);
    assert_non_null(strstr(checked->why, "is damaged"));
}

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void test_a_newer_file(void **state)
{
    state_fixture *fixture = *state;
    assert_up(fixture);
    state_close(fixture);
    run_sql(fixture->path, "PRAGMA user_version = 2");
    fixture->store = state_open(fixture, fixture->path, "/hub.yaml", NULL);
    assert_down(fixture, "is of a newer version of Patchbay (layout 2");
    state_close(fixture);
    run_sql(fixture->path, "PRAGMA user_version = 1");
    fixture->store = state_open(fixture, fixture->path, "/hub.yaml", NULL);
    assert_int_equal(state_get(fixture, &NOTES, "", "up")->err, HUB_OK);
}

static void test_another_programs_file(void **state)
{
    state_fixture *fixture = *state;
    run_sql(fixture->path, "CREATE TABLE things (a, b)");
    assert_int_equal(chmod(fixture->path, 0600), 0);
    assert_down(fixture, "another program's database");
}

/* A file that was made, and a process that was killed before it had written anything. */
static void test_an_empty_file(void **state)
{
    state_fixture *fixture = *state;
    write_file(fixture->path, "", 0, 0);
    assert_int_equal(state_get(fixture, &NOTES, "", "a")->err, HUB_ENOTFOUND);
    assert_up(fixture);
}

static void test_another_process_holds_it(void **state)
{
    state_fixture *fixture = *state;
    sqlite3 *db = NULL;
    assert_up(fixture);
    assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    state_answer *put = state_put(fixture, &NOTES, "", "a", HUB_STATE_ANY, "1");
    assert_int_equal(put->err, HUB_EUNAVAILABLE);
    assert_non_null(strstr(put->why, "is locked"));
    assert_int_equal(state_get(fixture, &NOTES, "", "up")->err, HUB_OK); /* readers go on */
    assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_up(fixture);
}

/* ---- full ------------------------------------------------------------------------------------ */

/* Write until it fails; what was acknowledged before is there afterwards. */
static int fill(state_fixture *fixture)
{
    static char document[8192];
    char key[32];
    memset(document, '1', sizeof document - 1);
    int written = 0;
    for (;;) {
        (void)snprintf(key, sizeof key, "%d", written);
        state_answer *put = state_put(fixture, &NOTES, "", key, 0, document);
        if (put->err != HUB_OK) {
            assert_int_equal(put->err, HUB_EUNAVAILABLE);
            if (strstr(put->why, "the disk is full") == NULL) {
                fail_msg("%s", put->why);
            }
            return written;
        }
        written++;
    }
}

static void assert_all_there(state_fixture *fixture, int count)
{
    char key[32];
    for (int i = 0; i < count; i++) {
        (void)snprintf(key, sizeof key, "%d", i);
        assert_int_equal(state_get(fixture, &NOTES, "", key)->err, HUB_OK);
    }
}

/* No file may be longer than that (EFBIG, and a signal that would end the process). */
static void test_a_file_that_may_not_grow(void **state)
{
    state_fixture *fixture = *state;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = {.rlim_cur = FULL_BYTES, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int written = fill(fixture);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_true(written > 0);
    assert_all_there(fixture, written);
    assert_up(fixture);
}

static void test_a_full_disk(void **state)
{
    state_fixture *fixture = *state;
    char path[160];
    char other[192];
    (void)snprintf(path, sizeof path, "%s/full", fixture->folder);
    assert_int_equal(mkdir(path, 0700), 0);
    if (mount("tmpfs", path, "tmpfs", 0, "size=512k,mode=0700") != 0) {
        (void)rmdir(path);
        skip(); /* not allowed here */
    }
    (void)snprintf(other, sizeof other, "%s/state.db", path);
    state_close(fixture);
    fixture->store = state_open(fixture, other, "/hub.yaml", NULL);
    int written = fill(fixture);
    assert_int_equal(hub_store_health(fixture->store).condition, HUB_STATE_UNAVAILABLE);
    assert_true(written > 0);
    assert_int_equal(mount("tmpfs", path, "tmpfs", MS_REMOUNT, "size=4m"), 0);
    assert_all_there(fixture, written);
    assert_up(fixture);
    state_close(fixture);
    assert_int_equal(umount(path), 0);
    assert_int_equal(rmdir(path), 0);
    fixture->store = state_open(fixture, fixture->path, "/hub.yaml", NULL);
}

/* ---- killed ---------------------------------------------------------------------------------- */

/* Write one record after another, and say of each that it is there. */
static void write_on(const char *path, int round, int said)
{
    state_fixture fixture = {.loop = ev_loop_new(EVFLAG_AUTO)};
    fixture.store = state_open(&fixture, path, "/hub.yaml", NULL);
    for (uint32_t i = 0;; i++) {
        char key[32];
        (void)snprintf(key, sizeof key, "%d-%u", round, i % FEW);
        char document[16];
        (void)snprintf(document, sizeof document, "%u", i);
        state_answer *put = state_put(&fixture, &NOTES, "", key, HUB_STATE_ANY, document);
        if (put->err != HUB_OK || write(said, &i, sizeof i) != (ssize_t)sizeof i) {
            _exit(1);
        }
    }
}

/* One round: a writer is killed at any moment after some of its writes. */
static void kill_one(state_fixture *fixture, int round)
{
    int said[2];
    uint32_t last = 0;
    assert_int_equal(pipe2(said, O_CLOEXEC), 0);
    pid_t writer = fork();
    assert_true(writer >= 0);
    if (writer == 0) {
        (void)close(said[0]);
        write_on(fixture->path, round, said[1]);
    }
    (void)close(said[1]);
    for (int i = 0; i <= (round * 7) % KILLED_AFTER; i++) {
        assert_int_equal(read(said[0], &last, sizeof last), (ssize_t)sizeof last);
    }
    assert_int_equal(kill(writer, SIGKILL), 0);
    while (read(said[0], &last, sizeof last) == (ssize_t)sizeof last) {
    } /* what it said before it died counts, too */
    (void)close(said[0]);
    assert_int_equal(waitpid(writer, NULL, 0), writer);
    for (uint32_t i = last + 1 > FEW ? last + 1 - FEW : 0; i <= last; i++) {
        char key[32];
        (void)snprintf(key, sizeof key, "%d-%u", round, i % FEW);
        state_answer *got = state_get(fixture, &NOTES, "", key);
        assert_int_equal(got->err, HUB_OK);
        uint32_t found = (uint32_t)strtoul(got->document, NULL, 10);
        assert_true(found == i ||
                    found == last + 1); /* written, and killed before it could say so */
    }
}

static void test_killed_while_it_writes(void **state)
{
    state_fixture *fixture = *state;
    const char *wanted = getenv("PATCHBAY_ROUNDS");
    int rounds = wanted != NULL ? (int)strtol(wanted, NULL, 10) : FEW;
    for (int round = 0; round < rounds; round++) {
        kill_one(fixture, round);
        (void)state_delete(fixture, &NOTES, "", "0-0", HUB_STATE_ANY);
        for (int i = 0; i < FEW; i++) {
            char key[32];
            (void)snprintf(key, sizeof key, "%d-%d", round, i);
            (void)state_delete(fixture, &NOTES, "", key, HUB_STATE_ANY);
        }
    }
    assert_int_equal(state_check(fixture)->err, HUB_OK);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_killed_while_it_writes),
        TEST(test_a_folder_that_may_not_be_written_to),
        TEST(test_a_folder_that_others_may_write_to),
        TEST(test_what_is_somebody_elses),
        TEST(test_what_is_no_file),
        TEST(test_network_file_systems),
        TEST(test_a_damaged_file),
        TEST(test_damaged_pages),
        TEST(test_a_newer_file),
        TEST(test_another_programs_file),
        TEST(test_an_empty_file),
        TEST(test_another_process_holds_it),
        TEST(test_a_file_that_may_not_grow),
        TEST(test_a_full_disk),
    };
    (void)alarm(GUARD_SECONDS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
