/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing outlives a child, its guard or the hub (RELIABILITY U10, U12), and what happens without a
 * guard. Descendants hold the pipe or FIFO that they were given: its end is their end. */
#include "process_support.h"

#include "modules/process_guard.h"

static char folder[64];

static void make_folder(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/patchbay-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
}

static int guard_of(const child *of)
{
    char path[64];
    char line[128];
    int guard = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/status", hub_process_pid(of->process));
    FILE *status = fopen(path, "re");
    assert_non_null(status);
    while (fgets(line, sizeof line, status) != NULL) {
        (void)sscanf(line, "PPid: %d", &guard);
    }
    (void)fclose(status);
    assert_true(guard > 1 && guard != getpid());
    return guard;
}

static child *scatter(const char *how)
{
    child *of = start("child:scatter", how);
    while (strlen(of->output) < SCATTERED) {
        char wanted[SCATTERED + 1] = "";
        memset(wanted, 'x', strlen(of->output) + 1);
        read_output(of, wanted);
    }
    return of;
}

static void ends_all_that_a_child_leaves_behind(void **state)
{
    (void)state;
    child *of = scatter("leave");
    close_end(&of->in);
    await_exit(of);
    assert_string_equal(of->status, "exited with code 0");
    read_output(of, NULL);
    finish(of);
}

static void kills_all_that_ignores_to_be_stopped(void **state)
{
    (void)state;
    static const char *const HOW[] = {"stay", "hop"};
    for (size_t i = 0; i < sizeof HOW / sizeof HOW[0]; i++) {
        child *of = scatter(HOW[i]);
        hub_process_stop(of->process, 0);
        await_exit(of);
        assert_string_equal(of->status, "killed by SIGKILL");
        read_output(of, NULL);
        finish(of);
    }
}

static void kills_all_with_the_table(void **state)
{
    (void)state;
    child *of = scatter("stay");
    hub_process_table_destroy(table);
    table = NULL;
    read_output(of, NULL);
    finish(of);
}

/* Wait until nobody writes to the FIFO any more. */
static void await_end(int fd)
{
    char byte;
    ssize_t n;
    do {
        n = read(fd, &byte, 1);
    } while (n > 0 || (n < 0 && errno == EINTR));
    assert_int_equal(n, 0);
}

static void make_fifo(char *ret_path, size_t size)
{
    make_folder();
    int len = snprintf(ret_path, size, "%s/fifo", folder);
    assert_in_range(len, 1, size - 1);
    assert_int_equal(mkfifo(ret_path, 0600), 0);
}

static void await_scattered(int fd)
{
    char byte;
    for (int i = 0; i < SCATTERED; i++) {
        assert_int_equal(read(fd, &byte, 1), 1);
    }
}

static void scatter_to(const char *fifo)
{
    const char *argv[] = {self, "child:scatter", "stay", fifo, NULL};
    hub_error error;
    if (spawn_with(&shared, &(patchbay_spawn_options){.argv = argv}, &error) != HUB_OK) {
        fail_msg("%s", error.text);
    }
}

/* The hub here is a process between us and the child. It is killed, or ends without a word. With a copy of it
 * there is a process that has all its descriptors and lives on, as when a plugin forks. */
static void dies(int signal_number, bool has_copy)
{
    char fifo[64];
    int ends[2];
    pid_t copy = 0;
    make_fifo(fifo, sizeof fifo);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t hub = fork();
    if (hub == 0) {
        (void)signal(SIGSEGV, SIG_DFL);
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* should this test fail */
        scatter_to(fifo);
        copy = has_copy ? fork() : getpid();
        if (copy != 0 && write(ends[1], &copy, sizeof copy) != sizeof copy) {
            _exit(1);
        }
        wait_for_ever();
    }
    int fd = open(fifo, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    await_scattered(fd);
    assert_int_equal(read(ends[0], &copy, sizeof copy), sizeof copy);
    assert_int_equal(kill(hub, signal_number), 0);
    assert_int_equal(waitpid(hub, NULL, 0), hub);
    await_end(fd);
    assert_true(!has_copy || kill(copy, SIGKILL) == 0);
    (void)close(fd);
    (void)close(ends[0]);
    (void)close(ends[1]);
    assert_int_equal(unlink(fifo) | rmdir(folder), 0);
}

static void leaves_nothing_when_the_hub_dies(void **state)
{
    (void)state;
    static const int SIGNALS[] = {SIGKILL, SIGTERM, SIGSEGV};
    for (size_t i = 0; i < sizeof SIGNALS / sizeof SIGNALS[0]; i++) {
        dies(SIGNALS[i], false);
    }
    dies(SIGKILL, true);
}

/* The guard has no hold on the pipes: their ends are the child's. */
static void shows_that_a_child_lets_go_of_its_pipes(void **state)
{
    (void)state;
    child *of = start("child:mute", NULL);
    read_output(of, NULL);
    assert_int_equal(write(of->in, "x", 1), -1);
    assert_int_equal(errno, EPIPE);
    assert_int_equal(of->exits, 0);
    hub_process_stop(of->process, 0);
    await_exit(of);
    finish(of);
}

static void passes_signals_on(void **state)
{
    (void)state;
    child *of = start("child:wait", NULL);
    read_output(of, "ready\n");
    int guard = guard_of(of);
    assert_int_not_equal(getpgid(guard), getpgid(hub_process_pid(of->process)));
    assert_int_equal(kill(guard, SIGUSR2), 0);
    await_exit(of);
    assert_string_equal(of->status, "killed by SIGUSR2");
    finish(of);
}

static void takes_the_child_along(void **state)
{
    (void)state;
    child *of = start("child:stubborn", NULL);
    read_output(of, "ready\n");
    assert_int_equal(kill(guard_of(of), SIGKILL), 0);
    await_exit(of);
    assert_string_equal(of->status, "was killed, because its guard was");
    read_output(of, NULL);
    finish(of);
}

static int child_guardless(void)
{
    hub_error error;
    int fd = -1;
    if (hub_guard_open(&fd, &error) == HUB_OK) {
        return 1;
    }
    say(error.text);
    return 0;
}

/* A copy of this program, in a folder without a guard. */
static void says_where_it_looked_for_a_guard(void **state)
{
    (void)state;
    char path[96];
    char wanted[256];
    static char bytes[1 << 16];
    make_folder();
    (void)snprintf(path, sizeof path, "%s/hub", folder);
    int from = open(self, O_RDONLY | O_CLOEXEC);
    int to = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    for (ssize_t n; (n = read(from, bytes, sizeof bytes)) > 0;) {
        assert_int_equal(write(to, bytes, (size_t)n), n);
    }
    (void)close(from);
    (void)close(to);
    const char *argv[] = {path, "child:guardless", NULL};
    assert_int_equal(spawn_with(&shared, &(patchbay_spawn_options){.argv = argv}, NULL), HUB_OK);
    read_output(&shared, NULL);
    (void)snprintf(wanted, sizeof wanted,
                   "the program patchbay-guard, which servers are run under, is neither in %s nor "
                   "in /",
                   folder);
    assert_memory_equal(shared.output, wanted, strlen(wanted));
    finish(&shared);
    assert_int_equal(unlink(path) | rmdir(folder), 0);
}

static void a_guard_is_not_for_people(void **state)
{
    (void)state;
    char path[sizeof self + 32];
    int end = (int)(strrchr(self, '/') - self);
    (void)snprintf(path, sizeof path, "%.*s/patchbay-guard", end, self);
    const char *argv[] = {path, NULL};
    assert_int_equal(spawn_with(&shared, &(patchbay_spawn_options){.argv = argv}, NULL), HUB_OK);
    await_exit(&shared);
    assert_string_equal(shared.status, "exited with code 2");
    assert_non_null(strstr(logged.last, "is started by patchbay"));
    finish(&shared);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest TESTS[] = {
        PROCESS_TEST(ends_all_that_a_child_leaves_behind),
        PROCESS_TEST(kills_all_that_ignores_to_be_stopped),
        PROCESS_TEST(kills_all_with_the_table),
        PROCESS_TEST(leaves_nothing_when_the_hub_dies),
        PROCESS_TEST(shows_that_a_child_lets_go_of_its_pipes),
        PROCESS_TEST(passes_signals_on),
        PROCESS_TEST(takes_the_child_along),
        PROCESS_TEST(says_where_it_looked_for_a_guard),
        PROCESS_TEST(a_guard_is_not_for_people),
    };
    if (argc == 2 && strcmp(argv[1], "child:guardless") == 0) {
        return child_guardless();
    }
    if (!be_a_child(argc, argv) && prepare()) {
        return cmocka_run_group_tests(TESTS, NULL, NULL);
    }
    return 1;
}
