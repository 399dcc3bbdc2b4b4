/* SPDX-License-Identifier: Apache-2.0 */
/* Starting child processes: what is refused, and what a child finds when it starts. How children
 * end is in test_process_end.c. */
#include "process_support.h"

static void passes_bytes_both_ways(void **state)
{
    (void)state;
    child *of = start("child:cat", NULL);
    static const char TEXT[] = "{\"jsonrpc\":\"2.0\"}\n";
    assert_int_equal(write(of->in, TEXT, sizeof TEXT - 1), sizeof TEXT - 1);
    read_output(of, "\n");
    assert_string_equal(of->output, TEXT);
    for (const int *fd = &of->in; fd <= &of->out; fd++) {
        assert_true((fcntl(*fd, F_GETFL) & O_NONBLOCK) != 0);
        assert_true((fcntl(*fd, F_GETFD) & FD_CLOEXEC) != 0);
    }
    assert_int_equal(of->err, -1);
    assert_int_equal(hub_process_count(table), 1);
    assert_int_equal(getpgid(hub_process_pid(of->process)), hub_process_pid(of->process));
    assert_int_equal(of->exits, 0);
    close_end(&of->in);
    await_exit(of);
    assert_string_equal(of->status, "exited with code 0");
    assert_int_equal(hub_process_count(table), 0);
    finish(of);
}

static void gives_arguments_byte_for_byte(void **state)
{
    (void)state;
    const char *argv[] = {self, "child:args", "a;b $(id) `id`", "\"'\\", "new\nline", "",
                          "-x", NULL};
    static const char WANTED[] = "a;b $(id) `id`\0\"'\\\0new\nline\0\0-x\0";
    assert_int_equal(spawn_with(&shared, &(patchbay_spawn_options){.argv = argv}, NULL), HUB_OK);
    while (shared.exits == 0) {
        (void)ev_run(loop, EVRUN_ONCE);
    }
    assert_int_equal(read(shared.out, shared.output, sizeof shared.output), sizeof WANTED - 1);
    assert_memory_equal(shared.output, WANTED, sizeof WANTED - 1);
    finish(&shared);
}

static void tells_how_the_child_ended(void **state)
{
    (void)state;
    static const struct {
        const char *mode;
        const char *arg;
        const char *status;
    } ENDS[] = {
        {"child:exit", "0", "exited with code 0"},     {"child:exit", "1", "exited with code 1"},
        {"child:exit", "255", "exited with code 255"}, {"child:kill", "9", "killed by SIGKILL"},
        {"child:kill", "15", "killed by SIGTERM"},     {"child:kill", "1", "killed by SIGHUP"},
        {"child:kill", "40", "killed by signal 40"},
    };
    for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0]; i++) {
        child *of = start(ENDS[i].mode, ENDS[i].arg);
        await_exit(of);
        assert_string_equal(of->status, ENDS[i].status);
        finish(of);
    }
}

/* A command that cannot be started, and what is said of it. */
typedef struct refusal {
    const char *command;
    const char *cwd;
    const char *env;
    hub_err err;
    const char *text; /* '@' stands for the folder */
} refusal;

/* What is said, with '@' for each mention of the folder. */
static void hide_folder(char *text, const char *folder)
{
    size_t len = strlen(folder);
    for (char *at = strstr(text, folder); at != NULL; at = strstr(at, folder)) {
        at[0] = '@';
        memmove(at + 1, at + len, strlen(at + len) + 1);
    }
}

static void check_refusal(const refusal *wanted, const char *folder)
{
    const char *argv[] = {wanted->command, NULL};
    const char *env[] = {wanted->env, NULL};
    patchbay_spawn_options options = {.argv = argv, .env = env, .cwd = wanted->cwd};
    hub_error error = {.text = ""};
    hub_err err = spawn_with(&shared, &options, &error);
    hide_folder(error.text, folder);
    assert_string_equal(error.text, wanted->text);
    assert_int_equal(err, wanted->err);
    assert_int_equal(error.code, wanted->err);
    assert_int_equal(hub_process_count(table), 0);
}

static void says_why_a_command_cannot_be_started(void **state)
{
    (void)state;
    char folder[] = "/tmp/patchbay-test-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char path[64];
    (void)snprintf(path, sizeof path, "PATH=%s", folder);
    char no_folder[64];
    (void)snprintf(no_folder, sizeof no_folder, "%s/none", folder);
    const refusal failures[] = {
        {"npx", NULL, "PATH=/usr/none:/none", HUB_ENOTFOUND,
         "cannot start \"npx\": not found in PATH: give its whole path"},
        {"npx -y x", NULL, "PATH=/none", HUB_ENOTFOUND,
         "cannot start \"npx -y x\": not found in PATH: its arguments belong in \"args\""},
        {"true", NULL, "PATH=", HUB_ENOTFOUND,
         "cannot start \"true\": not found in PATH: give its whole path"},
        {"none", folder, "PATH=.::bin", HUB_ENOTFOUND,
         "cannot start \"none\": not found in PATH: give its whole path"},
        {"script", folder, "PATH=.::bin", HUB_ENOTFOUND,
         "cannot start \"script\": not found in PATH; to run @/script write \"./script\""},
        {"plain", NULL, path, HUB_EINVAL,
         "cannot start \"plain\": found in PATH, but not executable"},
        {"./none", folder, NULL, HUB_ENOTFOUND, "cannot start \"./none\": @/none: no such file"},
        {"./none", NULL, NULL, HUB_ENOTFOUND, "cannot start \"./none\": @/none: no such file"},
        {"../none/x", folder, NULL, HUB_ENOTFOUND,
         "cannot start \"../none/x\": @/../none/x: no such file"},
        {"./plain", folder, NULL, HUB_EINVAL,
         "cannot start \"./plain\": @/plain is not executable"},
        {"./", folder, NULL, HUB_EINVAL, "cannot start \"./\": @/ is not executable"},
        {"./orphan", folder, NULL, HUB_EINVAL,
         "cannot start \"./orphan\": @/orphan exists, but its interpreter (\"#!\" line or loader) "
         "does not"},
        {"./script", folder, NULL, HUB_EINVAL,
         "cannot start \"./script\": @/script is neither a program of this machine nor a script "
         "with a \"#!\" line"},
        {"/bin/true", no_folder, NULL, HUB_EINVAL,
         "cannot start \"/bin/true\": cwd \"@/none\": No such file or directory"},
        {"/bin/true", NULL, "NOT_A_VARIABLE", HUB_EINVAL,
         "cannot start \"/bin/true\": an environment entry is not NAME=value"},
        {"", NULL, NULL, HUB_EINVAL, "spawn options: there is no command"},
    };
    assert_int_equal(chdir(folder), 0);
    make_file("plain", "#!/bin/sh\n", 0644);
    make_file("orphan", "#!/usr/none/python\n", 0755);
    make_file("script", "echo hello\n", 0755);
    size_t fds = count_fds();
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        check_refusal(&failures[i], folder);
    }
    assert_int_equal(count_fds(), fds);
    assert_int_equal(unlink("plain") | unlink("orphan") | unlink("script"), 0);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void refuses_options_of_another_size(void **state)
{
    (void)state;
    hub_error error;
    hub_process *process = NULL;
    int fd = -1;
    const char *argv[] = {"true", NULL};
    patchbay_spawn_options options = {.struct_size = 8, .argv = argv};
    assert_int_equal(
        hub_process_spawn(table, HUB_STR("test"), &options, &process, &fd, &fd, NULL, &error),
        HUB_EINVAL);
    options.struct_size = sizeof options;
    options.flags = PATCHBAY_SPAWN_STDERR_PIPE;
    assert_int_equal(
        hub_process_spawn(table, HUB_STR("test"), &options, &process, &fd, &fd, NULL, &error),
        HUB_EINVAL);
    assert_null(process);
}

static void hides_the_environment(void **state)
{
    (void)state;
    for (int i = 0; i < SECRETS; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "%s_%d", i % 2 == 0 ? "API_TOKEN" : "LCX_HOME", i);
        assert_int_equal(setenv(name, "canary-secret", 1), 0);
    }
    assert_int_equal(setenv("LC_TIME", "C.UTF-8", 1), 0);
    assert_int_equal(setenv("TZ", "Europe/Vienna", 1), 0);
    const char *output = output_of("child:env", NULL);
    assert_null(strstr(output, "canary-secret"));
    assert_non_null(strstr(output, "PATH="));
    assert_non_null(strstr(output, "LC_TIME=C.UTF-8\n"));
    assert_non_null(strstr(output, "TZ=Europe/Vienna\n"));
}

static void adds_and_replaces_variables(void **state)
{
    (void)state;
    const char *argv[] = {self, "child:env", NULL};
    const char *env[] = {"TZ=UTC", "GIVEN=a=b", "EMPTY=", "GIVEN=second", NULL};
    static const uint32_t FLAGS[] = {0, PATCHBAY_SPAWN_INHERIT_ENV};
    assert_int_equal(setenv("API_TOKEN_0", "canary-secret", 1), 0);
    assert_int_equal(setenv("TZ", "Europe/Vienna", 1), 0);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(
            spawn_with(&shared,
                       &(patchbay_spawn_options){.argv = argv, .env = env, .flags = FLAGS[i]},
                       NULL),
            HUB_OK);
        read_output(&shared, NULL);
        await_exit(&shared);
        assert_non_null(strstr(shared.output, "TZ=UTC\n"));
        assert_null(strstr(shared.output, "Vienna"));
        assert_non_null(strstr(shared.output, "GIVEN=second\n"));
        assert_null(strstr(shared.output, "GIVEN=a=b"));
        assert_non_null(strstr(shared.output, "EMPTY=\n"));
        assert_int_equal(strstr(shared.output, "canary-secret") != NULL, FLAGS[i] != 0);
        finish(&shared);
    }
}

static void finds_the_command_in_the_childs_own_path(void **state)
{
    (void)state;
    char folder[] = "/tmp/patchbay-test-XXXXXX";
    char program[64];
    char path[128];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(program, sizeof program, "%s/only-here", folder);
    (void)snprintf(path, sizeof path, "PATH=/usr/none:%s", folder);
    make_file(program, "#!/bin/sh\nexit 7\n", 0755);
    const char *argv[] = {"only-here", NULL};
    const char *env[] = {path, NULL};
    assert_int_equal(spawn_with(&shared, &(patchbay_spawn_options){.argv = argv, .env = env}, NULL),
                     HUB_OK);
    await_exit(&shared);
    assert_string_equal(shared.status, "exited with code 7");
    finish(&shared);
    assert_int_equal(unlink(program) | rmdir(folder), 0);
}

static void gives_three_descriptors_and_no_other(void **state)
{
    (void)state;
    int open_here[8]; /* inheritable on purpose */
    for (size_t i = 0; i < 8; i++) {
        open_here[i] = open("/dev/null", O_RDONLY); /* NOLINT: no O_CLOEXEC */
    }
    assert_string_equal(output_of("child:fds", NULL), "fd 0\nfd 1\nfd 2\n");
    for (size_t i = 0; i < 8; i++) {
        (void)close(open_here[i]);
    }
}

/* A hub whose own stdin is closed gets pipe ends with the numbers that the child needs. */
static void copes_with_closed_standard_descriptors(void **state)
{
    (void)state;
    int kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    (void)close(STDIN_FILENO);
    child *of = start("child:cat", NULL);
    assert_int_equal(write(of->in, "x\n", 2), 2);
    read_output(of, "\n");
    assert_string_equal(of->output, "x\n");
    close_end(&of->in);
    await_exit(of);
    finish(of);
    if (kept >= 0) {
        assert_int_equal(dup2(kept, STDIN_FILENO), STDIN_FILENO);
        (void)close(kept);
    }
}

static void resets_signals(void **state)
{
    (void)state;
    sigset_t blocked;
    sigset_t before;
    (void)sigemptyset(&blocked);
    (void)sigaddset(&blocked, SIGTERM);
    (void)sigaddset(&blocked, SIGUSR1);
    assert_int_equal(sigprocmask(SIG_BLOCK, &blocked, &before), 0);
    void (*pipe_before)(int) = signal(SIGPIPE, SIG_IGN);
    void (*hup_before)(int) = signal(SIGHUP, SIG_IGN);
    assert_string_equal(output_of("child:signals", NULL), "on death 9\nown group 1\n");
    (void)signal(SIGPIPE, pipe_before);
    (void)signal(SIGHUP, hup_before);
    sigset_t after;
    assert_int_equal(sigprocmask(SIG_SETMASK, &before, &after), 0);
    assert_true(sigismember(&after, SIGTERM)); /* the hub's own mask was not touched */
}

static void sets_the_working_folder(void **state)
{
    (void)state;
    const char *argv[] = {self, "child:cwd", NULL};
    assert_int_equal(
        spawn_with(&shared, &(patchbay_spawn_options){.argv = argv, .cwd = "/usr/bin"}, NULL),
        HUB_OK);
    read_output(&shared, NULL);
    await_exit(&shared);
    assert_string_equal(shared.output, "/usr/bin");
    finish(&shared);

    const char *relative[] = {"../bin/true", NULL}; /* to cwd, not to the hub's */
    assert_int_equal(
        spawn_with(&shared, &(patchbay_spawn_options){.argv = relative, .cwd = "/usr/lib"}, NULL),
        HUB_OK);
    await_exit(&shared);
    assert_string_equal(shared.status, "exited with code 0");
    finish(&shared);
}

static void gives_no_stdin_when_asked(void **state)
{
    (void)state;
    const char *argv[] = {self, "child:cat", NULL};
    assert_int_equal(
        spawn_with(&shared,
                   &(patchbay_spawn_options){.argv = argv, .flags = PATCHBAY_SPAWN_STDIN_NULL},
                   NULL),
        HUB_OK);
    assert_int_equal(shared.in, -1);
    await_exit(&shared);
    assert_string_equal(shared.status, "exited with code 0");
    finish(&shared);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest TESTS[] = {
        PROCESS_TEST(passes_bytes_both_ways),
        PROCESS_TEST(gives_arguments_byte_for_byte),
        PROCESS_TEST(tells_how_the_child_ended),
        PROCESS_TEST(says_why_a_command_cannot_be_started),
        PROCESS_TEST(refuses_options_of_another_size),
        PROCESS_TEST(hides_the_environment),
        PROCESS_TEST(adds_and_replaces_variables),
        PROCESS_TEST(finds_the_command_in_the_childs_own_path),
        PROCESS_TEST(gives_three_descriptors_and_no_other),
        PROCESS_TEST(copes_with_closed_standard_descriptors),
        PROCESS_TEST(resets_signals),
        PROCESS_TEST(sets_the_working_folder),
        PROCESS_TEST(gives_no_stdin_when_asked),
    };
    if (!be_a_child(argc, argv) && prepare()) {
        return cmocka_run_group_tests(TESTS, NULL, NULL);
    }
    return 1;
}
