/* SPDX-License-Identifier: Apache-2.0 */
/* How child processes end and are stopped, what becomes of their stderr, and that nothing of them
 * is left. Starting them is in test_process.c. */
#include "process_support.h"

static void stops_a_child_step_by_step(void **state)
{
    (void)state;
    enum { GRACE_MS = 40 };
    static const struct {
        const char *mode;
        bool close_stdin;
        const char *status;
        uint64_t least_ms;
    } STEPS[] = {
        {"child:cat", true, "exited with code 0", 0},
        {"child:cat", false, "killed by SIGTERM", GRACE_MS},
        {"child:stubborn", true, "killed by SIGKILL", 2 * GRACE_MS},
    };
    for (size_t i = 0; i < sizeof STEPS / sizeof STEPS[0]; i++) {
        child *of = start(STEPS[i].mode, NULL);
        if (strcmp(STEPS[i].mode, "child:stubborn") == 0) {
            read_output(of, "ready\n");
        }
        uint64_t start_ms = hub_clock_now_ms();
        if (STEPS[i].close_stdin) {
            close_end(&of->in);
        }
        hub_process_stop(of->process, STEPS[i].least_ms == 0 ? SOON_MS : GRACE_MS);
        await_exit(of);
        assert_string_equal(of->status, STEPS[i].status);
        assert_in_range(hub_clock_now_ms() - start_ms, STEPS[i].least_ms, SOON_MS / 2);
        hub_process_stop(of->process, 0); /* nothing to stop any more */
        finish(of);
    }
}

static void brings_a_stop_forward_but_never_puts_it_off(void **state)
{
    (void)state;
    child *of = start("child:stubborn", NULL);
    read_output(of, "ready\n");
    uint64_t start_ms = hub_clock_now_ms();
    hub_process_stop(of->process, (uint64_t)GUARD_SECONDS * 1000);
    hub_process_stop(of->process, 10);
    hub_process_stop(of->process, (uint64_t)GUARD_SECONDS * 1000);
    await_exit(of);
    assert_string_equal(of->status, "killed by SIGKILL");
    assert_in_range(hub_clock_now_ms() - start_ms, 20, SOON_MS);
    finish(of);
}

/* stdout reaches its end only when nobody holds it: when the grandchild is dead too. */
static void kills_what_is_left_of_the_group(void **state)
{
    (void)state;
    static const struct {
        const char *arg;
        const char *status;
    } WAYS[] = {{"leave", "exited with code 0"}, {"stay", "killed by SIGTERM"}};
    for (size_t i = 0; i < 2; i++) {
        child *of = start("child:parent", WAYS[i].arg);
        if (strcmp(WAYS[i].arg, "stay") == 0) {
            read_output(of, "ready\n");
            hub_process_stop(of->process, 0);
        }
        await_exit(of);
        assert_string_equal(of->status, WAYS[i].status);
        read_output(of, NULL);
        finish(of);
    }
}

static void drains_a_flood_of_stderr(void **state)
{
    (void)state;
    uint64_t start_ms = hub_clock_now_ms();
    child *of = start("child:flood", NULL);
    await_exit(of);
    assert_string_equal(of->status, "exited with code 0");
    uint64_t seconds = (hub_clock_now_ms() - start_ms) / 1000 + 1;
    assert_in_range(logged.lines, 100, 100 * seconds);
    assert_int_equal(logged.lines + logged.dropped, FLOOD_LINES);
    assert_in_range(hub_process_stderr_tail(of->process).len, 4096 - FLOOD_LINE_BYTES - 1, 4096);
    finish(of);
}

static void logs_stderr_and_keeps_its_end(void **state)
{
    (void)state;
    child *of = start("child:stderr", "first\r\n\n\033[31msecond\nno newline");
    await_exit(of);
    assert_int_equal(logged.lines, 3);
    assert_non_null(strstr(logged.last, " text=\"no newline\"\n"));
    assert_true(
        hub_str_is(hub_process_stderr_tail(of->process), "first\r\n\n\033[31msecond\nno newline"));
    finish(of);

    of = start("child:lines", NULL);
    await_exit(of);
    hub_str tail = hub_process_stderr_tail(of->process);
    assert_in_range(tail.len, 4096 - sizeof "line 9999\n", 4096);
    assert_true(hub_str_starts(tail, HUB_STR("line 9")));
    assert_memory_equal(tail.ptr + tail.len - 10, "\nline 9999", 10);
    finish(of);
}

static void cuts_endless_lines_in_the_log(void **state)
{
    (void)state;
    char text[4 * HUB_LIMIT_LOG_VALUE_BYTES];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    child *of = start("child:stderr", text);
    await_exit(of);
    assert_int_equal(logged.lines, 1);
    assert_in_range(strlen(logged.last), HUB_LIMIT_LOG_VALUE_BYTES,
                    HUB_LIMIT_LOG_VALUE_BYTES + 100);
    assert_int_equal(hub_process_stderr_tail(of->process).len, sizeof text - 1);
    finish(of);
}

static void gives_stderr_to_who_asks(void **state)
{
    (void)state;
    const char *argv[] = {self, "child:stderr", "for the caller\n", NULL};
    assert_int_equal(
        spawn_with(&shared,
                   &(patchbay_spawn_options){.argv = argv, .flags = PATCHBAY_SPAWN_STDERR_PIPE},
                   NULL),
        HUB_OK);
    await_exit(&shared);
    assert_int_equal(read(shared.err, shared.output, sizeof shared.output), 15);
    assert_string_equal(shared.output, "for the caller\n");
    assert_int_equal(logged.lines, 0);
    assert_int_equal(hub_process_stderr_tail(shared.process).len, 0);
    finish(&shared);
}

static void frees_a_running_child_silently(void **state)
{
    (void)state;
    child *of = start("child:cat", NULL);
    close_end(&of->in);
    hub_process_free(of->process);
    assert_int_equal(hub_process_count(table), 1);
    while (hub_process_count(table) > 0) {
        (void)ev_run(loop, EVRUN_ONCE);
    }
    assert_int_equal(of->exits, 0);
    close_end(&of->out);
    hub_process_free(NULL);
}

static void free_at_exit(void *ctx, patchbay_str status)
{
    child *of = ctx;
    of->exits++;
    assert_true(hub_str_is(status, "exited with code 0"));
    hub_process_free(of->process);
}

static void may_be_freed_in_its_last_callback(void **state)
{
    (void)state;
    const char *argv[] = {"true", NULL};
    patchbay_spawn_options options = {.struct_size = sizeof options,
                                      .argv = argv,
                                      .on_exit = free_at_exit,
                                      .ctx = &shared,
                                      .flags = PATCHBAY_SPAWN_STDIN_NULL};
    shared = (child){.in = -1};
    assert_int_equal(hub_process_spawn(table, HUB_STR("test"), &options, &shared.process,
                                       &shared.in, &shared.out, NULL, NULL),
                     HUB_OK);
    await_exit(&shared);
    close_end(&shared.out);
}

/* One running, one ended and one given back: the table ends them all, and the handles stay good. */
static void ends_all_children_with_the_table(void **state)
{
    (void)state;
    static child children[3];
    const char *wait[] = {self, "child:stubborn", NULL};
    const char *done[] = {"true", NULL};
    for (size_t i = 0; i < 3; i++) {
        const char *const *argv = i == 1 ? done : wait;
        assert_int_equal(spawn_with(&children[i], &(patchbay_spawn_options){.argv = argv}, NULL),
                         HUB_OK);
        if (i != 1) {
            read_output(&children[i], "ready\n");
        }
    }
    await_exit(&children[1]);
    hub_process_free(children[2].process);
    children[2].process = NULL;
    hub_process_table_destroy(table);
    table = NULL;
    errno = 0;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(children[i].exits, i == 1);
        hub_process_stop(children[i].process == NULL ? children[0].process : children[i].process,
                         0);
    }
    for (size_t i = 0; i < 3; i++) {
        finish(&children[i]);
    }
}

/* U12: nothing is left when the hub is killed. The hub here is a process between us and the child,
 * which holds a FIFO open for as long as it lives. */
static void dies_with_the_hub(void **state)
{
    (void)state;
    char folder[] = "/tmp/patchbay-test-XXXXXX";
    char fifo[64];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(fifo, sizeof fifo, "%s/fifo", folder);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    pid_t hub = fork();
    if (hub == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* should this test fail */
        child *of = start("child:fifo", fifo);
        (void)of;
        wait_for_ever();
    }
    int fd = open(fifo, O_RDONLY | O_CLOEXEC);
    char byte;
    assert_true(fd >= 0);
    assert_int_equal(read(fd, &byte, 1), 1);
    assert_int_equal(kill(hub, SIGKILL), 0);
    assert_int_equal(waitpid(hub, NULL, 0), hub);
    assert_int_equal(read(fd, &byte, 1), 0); /* the end: the writer is dead */
    (void)close(fd);
    assert_int_equal(unlink(fifo) | rmdir(folder), 0);
}

static void leaves_nothing_behind_after_many(void **state)
{
    (void)state;
    const char *argv[] = {"true", NULL};
    size_t fds = 0;
    for (int i = 0; i < SPAWNS; i++) {
        assert_int_equal(spawn_with(&shared, &(patchbay_spawn_options){.argv = argv}, NULL),
                         HUB_OK);
        await_exit(&shared);
        assert_string_equal(shared.status, "exited with code 0");
        finish(&shared);
        fds = i == 0 ? count_fds() : fds;
        assert_int_equal(hub_process_count(table), 0);
    }
    assert_int_equal(count_fds(), fds);
    errno = 0;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* A plugin that calls waitpid(-1) takes the guard's status, which nobody needs. */
static void copes_with_a_stolen_status(void **state)
{
    (void)state;
    child *of = start("child:exit", "3");
    assert_true(waitpid(-1, NULL, 0) > 0);
    await_exit(of);
    assert_string_equal(of->status, "exited with code 3");
    finish(of);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest TESTS[] = {
        PROCESS_TEST(stops_a_child_step_by_step),
        PROCESS_TEST(brings_a_stop_forward_but_never_puts_it_off),
        PROCESS_TEST(kills_what_is_left_of_the_group),
        PROCESS_TEST(drains_a_flood_of_stderr),
        PROCESS_TEST(logs_stderr_and_keeps_its_end),
        PROCESS_TEST(cuts_endless_lines_in_the_log),
        PROCESS_TEST(gives_stderr_to_who_asks),
        PROCESS_TEST(frees_a_running_child_silently),
        PROCESS_TEST(may_be_freed_in_its_last_callback),
        PROCESS_TEST(ends_all_children_with_the_table),
        PROCESS_TEST(dies_with_the_hub),
        PROCESS_TEST(leaves_nothing_behind_after_many),
        PROCESS_TEST(copes_with_a_stolen_status),
    };
    if (!be_a_child(argc, argv) && prepare()) {
        return cmocka_run_group_tests(TESTS, NULL, NULL);
    }
    return 1;
}
