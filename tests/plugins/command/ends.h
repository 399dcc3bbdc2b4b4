/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of timeouts, cancellation, orphans and many calls at once. Part of test_command.c. */
#ifndef COMMAND_ENDS_H
#define COMMAND_ENDS_H

#include "bench.h"

/* A named pipe in the bench's folder; a command that writes to it says that it runs. */
static char *make_signpost(const bench *b)
{
    char *path = format("%s/post", b->folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    return path;
}

/* Wait for the number that a command writes there. */
static int read_signpost(const char *path)
{
    int number = 0;
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &number), 1);
    (void)fclose(file);
    return number;
}

static void test_timeout(void **state)
{
    bench *b = (bench *)*state;
    load(b,
         script("t", "echo before; echo why >&2; exec sleep 1000", "", ",\"timeout\":\"100ms\""));
    json_t *result = call(b, "t", format("{}"));
    assert_true(json_is_true(json_object_get(result, "isError")));
    assert_string_equal(block_text(result, 0),
                        "the command was stopped: it took longer than 100 ms:\nwhy\n");
    assert_string_equal(block_text(result, 1), "before\n");
    const json_t *structured = json_object_get(result, "structuredContent");
    assert_true(json_is_true(json_object_get(structured, "timed_out")));
    assert_string_equal(text_of(structured, "signal"), "SIGTERM");
    assert_true(number_of(structured, "duration_ms") >= 100);
    json_decref(result);
}

static void test_timeout_that_is_ignored(void **state)
{
    bench *b = (bench *)*state;
    load(b, script("t", "trap '' TERM; while :; do sleep 1; done", "", ",\"timeout\":\"100ms\""));
    json_t *structured = call_as(b, "t", format("{}"), 1);
    assert_string_equal(text_of(structured, "signal"), "SIGKILL");
    assert_in_range(number_of(structured, "duration_ms"), 2100, 60000);
    json_decref(structured);
}

static void test_timeout_of_a_stopped_command(void **state)
{
    bench *b = (bench *)*state;
    load(b,
         script("t", "trap 'echo end; exit 7' TERM; kill -STOP $$", "", ",\"timeout\":\"100ms\""));
    json_t *structured = call_as(b, "t", format("{}"), 1);
    assert_int_equal(number_of(structured, "exit_code"), 7);
    assert_string_equal(text_of(structured, "stdout"), "end\n");
    json_decref(structured);
}

static void test_timeout_takes_the_whole_group(void **state)
{
    bench *b = (bench *)*state;
    load(b, script("t", "(trap '' TERM; sleep 1000) & sleep 1000 & sh -c 'sleep 1000'; wait", "",
                   ",\"timeout\":\"100ms\""));
    json_decref(call_as(b, "t", format("{}"), 1));
    /* drop_bench waits for every one of them. */
}

static void test_what_a_command_leaves_behind_ends(void **state)
{
    bench *b = (bench *)*state;
    char *holds = script("holds", "sleep 1000 & echo done", "", "");
    char *silent = script("silent", "sleep 1000 >/dev/null 2>&1 & echo done", "", "");
    char *stubborn = script("stubborn", "(trap '' TERM HUP; sleep 1000) & echo done", "", "");
    char *post = make_signpost(b); /* tells the one in the background that the command has ended */
    char *text = format("(cat; echo late) < %s & exec 3> %s; echo done", post, post);
    char *late = script("late", text, "", "");
    load(b, format("%s,%s,%s,%s", holds, silent, stubborn, late));
    free(holds);
    free(silent);
    free(stubborn);
    free(late);
    free(text);
    free(post);
    assert_stdout(b, "holds", format("{}"), "done\n");
    assert_stdout(b, "silent", format("{}"), "done\n");
    assert_stdout(b, "stubborn", format("{}"), "done\n");
    assert_stdout(b, "late", format("{}"), "done\nlate\n"); /* but it may finish writing */
}

static void test_cancel(void **state)
{
    bench *b = (bench *)*state;
    char *post = make_signpost(b);
    char *text = format("echo $$ > %s; sleep 1000", post);
    load(b, script("t", text, "", ",\"timeout\":\"1h\""));
    uint64_t id = fake_host_start(b->host, "t", "{}");
    int pid = read_signpost(post);
    fake_host_cancel(b->host, id);
    fake_result result = fake_host_wait(b->host, id);
    assert_int_equal(result.status, PATCHBAY_UNAVAILABLE);
    assert_int_equal(kill(pid, 0), -1); /* reaped before the call was completed */
    fake_result_free(&result);
    free(text);
    free(post);
}

static void test_unload_ends_what_runs(void **state)
{
    bench *b = (bench *)*state;
    char *post = make_signpost(b);
    char *text = format("echo $$ > %s; sleep 1000", post);
    load(b, script("t", text, "", ",\"timeout\":\"1h\""));
    (void)fake_host_start(b->host, "t", "{}");
    int pid = read_signpost(post);
    fake_host_unload(b->host);
    b->host = NULL;
    assert_int_equal(kill(pid, 0), -1);
    free(text);
    free(post);
}

/* A hub that is killed takes its commands along. Forks: run while there is one thread. */
static void test_command_dies_with_the_hub(void **state)
{
    bench *b = (bench *)*state;
    char *post = make_signpost(b);
    pid_t hub = fork();
    assert_true(hub >= 0);
    if (hub == 0) {
        char *text = format("echo $$ > %s; exec sleep 1000", post);
        load(b, script("t", text, "", ",\"timeout\":\"1h\""));
        (void)fake_host_call(b->host, "t", "{}");
        _exit(1);
    }
    int command = read_signpost(post);
    int status = 0;
    assert_int_equal(kill(hub, SIGKILL), 0);
    assert_int_equal(waitpid(hub, &status, 0), hub);
    assert_int_equal(waitpid(command, &status, 0), command); /* it is our orphan now */
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
    free(post);
}

static void test_other_children_are_left_alone(void **state)
{
    bench *b = (bench *)*state;
    int status = 0;
    pid_t other = fork();
    assert_true(other >= 0);
    if (other == 0) {
        _exit(42);
    }
    load(b, format("{\"name\":\"t\",\"argv\":[\"true\"]}"));
    for (int i = 0; i < 5; i++) {
        json_decref(call_as(b, "t", format("{}"), 0));
    }
    assert_int_equal(waitpid(other, &status, 0), other); /* nobody reaped it */
    assert_int_equal(WEXITSTATUS(status), 42);
}

static void test_an_exit_code_that_was_lost(void **state)
{
    bench *b = (bench *)*state;
    void (*old)(int) = signal(SIGCHLD, SIG_IGN); /* the kernel reaps, as another library might */
    load(b, script("t", "echo out", "", ""));
    json_t *result = call(b, "t", format("{}"));
    assert_true(json_is_true(json_object_get(result, "isError")));
    assert_string_equal(block_text(result, 0), "the command's exit code was lost");
    assert_string_equal(block_text(result, 1), "out\n");
    json_decref(result);
    (void)signal(SIGCHLD, old);
}

/* ---- at once --------------------------------------------------------------------------------- */

static void test_200_calls_at_once(void **state)
{
    enum { CALLS = 200, HOSTS = 8 };
    bench *b = (bench *)*state;
    fake_host *hosts[HOSTS]; /* each has threads of its own: 32 commands at any time */
    uint64_t ids[CALLS];
    char error[FAKE_HOST_ERROR_BYTES];
    for (size_t i = 0; i < HOSTS; i++) {
        hosts[i] =
            fake_host_load(PLUGIN_PATH,
                           "{\"tools\":[{\"name\":\"t\",\"argv\":[\"sh\",\"-c\",\"cat; echo "
                           "$1 >&2; exit $2\",\"sh\",\"{n}\",\"{code}\"],\"stdin\":\"in {n}\","
                           "\"args\":{\"n\":{},\"code\":{}}}]}",
                           error);
        assert_non_null(hosts[i]);
    }
    for (int i = 0; i < CALLS; i++) {
        char *args = format("{\"n\":%d,\"code\":%d}", i, i % 3);
        ids[i] = fake_host_start(hosts[i % HOSTS], "t", args);
        free(args);
    }
    for (int i = 0; i < CALLS; i++) {
        fake_result raw = fake_host_wait(hosts[i % HOSTS], ids[i]);
        json_t *result = parse_result(&raw);
        const json_t *structured = json_object_get(result, "structuredContent");
        char *out = format("in %d", i);
        char *err = format("%d\n", i);
        assert_string_equal(text_of(structured, "stdout"), out);
        assert_string_equal(text_of(structured, "stderr"), err);
        assert_int_equal(number_of(structured, "exit_code"), i % 3);
        free(out);
        free(err);
        json_decref(result);
    }
    for (size_t i = 0; i < HOSTS; i++) {
        fake_host_unload(hosts[i]);
    }
    b->host = NULL;
}

static void test_out_of_descriptors(void **state)
{
    bench *b = (bench *)*state;
    struct rlimit limit;
    load(b, format("{\"name\":\"t\",\"argv\":[\"cat\"],\"stdin\":\"x\"}"));
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    rlim_t first = (rlim_t)dup(0);
    (void)close((int)first);
    int refused = 0;
    for (rlim_t room = 0; room < 10; room++) {
        struct rlimit tight = {first + room, limit.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
        fake_result result = fake_host_call(b->host, "t", "{}");
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
        if (result.status == PATCHBAY_RESULT) { /* enough; without a pidfd it goes as well */
            assert_non_null(strstr(result.json, "\"exit_code\":0"));
        } else {
            assert_int_equal(result.status, PATCHBAY_UNAVAILABLE);
            assert_non_null(strstr(result.json, "too many open files"));
            refused++;
        }
        fake_result_free(&result);
    }
    assert_in_range(refused, 6, 9);
}

#endif
