/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of running: results, output, time, processes. Part of test_command.c. */
#ifndef COMMAND_RUNS_H
#define COMMAND_RUNS_H

#include "bench.h"

/* ---- results --------------------------------------------------------------------------------- */

static void test_success(void **state)
{
    bench *b = (bench *)*state;
    load(b, script("t", "echo out; echo err >&2", "", ""));
    json_t *result = call(b, "t", format("{}"));
    assert_null(json_object_get(result, "isError"));
    assert_string_equal(block_text(result, 0), "out\n");
    assert_string_equal(block_text(result, 1), "[stderr]\nerr\n");
    const json_t *structured = json_object_get(result, "structuredContent");
    assert_int_equal(number_of(structured, "exit_code"), 0);
    assert_string_equal(text_of(structured, "stdout"), "out\n");
    assert_string_equal(text_of(structured, "stderr"), "err\n");
    assert_true(number_of(structured, "duration_ms") < 60000);
    assert_true(json_is_false(json_object_get(structured, "truncated")));
    assert_null(json_object_get(structured, "signal"));
    assert_null(json_object_get(structured, "lossy"));
    json_decref(result);
}

static void test_exit_codes(void **state)
{
    bench *b = (bench *)*state;
    char *strict = script("strict", "echo out; seq 1 3000 >&2; exit 3", "", "");
    char *lax = script("lax", "exit 3", "", ",\"ok_exit_codes\":[0,3]");
    char *only = script("only", "exit 0", "", ",\"ok_exit_codes\":[3]");
    char *killed = script("killed", "kill -SEGV $$", "", "");
    load(b, format("%s,%s,%s,%s", strict, lax, only, killed));
    free(strict);
    free(lax);
    free(only);
    free(killed);
    json_t *result = call(b, "strict", format("{}"));
    assert_true(json_is_true(json_object_get(result, "isError")));
    const char *text = block_text(result, 0);
    assert_memory_equal(text, "the command failed with exit code 3:\n", 37);
    assert_string_equal(text + strlen(text) - 10, "2999\n3000\n");
    assert_true(strlen(text) < 4200); /* the tail of stderr */
    assert_string_equal(block_text(result, 1), "out\n");
    assert_int_equal(number_of(json_object_get(result, "structuredContent"), "exit_code"), 3);
    json_decref(result);
    json_t *structured = call_as(b, "lax", format("{}"), 0);
    assert_int_equal(number_of(structured, "exit_code"), 3);
    json_decref(structured);
    json_decref(call_as(b, "only", format("{}"), 1));
    structured = call_as(b, "killed", format("{}"), 1);
    assert_true(json_is_null(json_object_get(structured, "exit_code")));
    assert_string_equal(text_of(structured, "signal"), "SIGSEGV");
    json_decref(structured);
}

static void test_output_lines(void **state)
{
    bench *b = (bench *)*state;
    load(b, format("{\"name\":\"t\",\"argv\":[\"printf\",\"%%s\",\"{a}\"],\"args\":{\"a\":{}},"
                   "\"output\":\"lines\"}"));
    static const struct {
        const char *text;
        const char *lines;
    } cases[] = {{"", "[]"},
                 {"a", "[\"a\"]"},
                 {"a\\nb\\n", "[\"a\",\"b\"]"},
                 {"\\n\\nb", "[\"\",\"\",\"b\"]"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *structured = call_as(b, "t", format("{\"a\":\"%s\"}", cases[i].text), 0);
        char *lines = json_dumps(json_object_get(structured, "lines"), JSON_COMPACT);
        assert_string_equal(lines, cases[i].lines);
        free(lines);
        json_decref(structured);
    }
}

#define DEEP10 "[[[[[[[[[["
#define SHUT10 "]]]]]]]]]]"
#define DEEP60 DEEP10 DEEP10 DEEP10 DEEP10 DEEP10 DEEP10
#define SHUT60 SHUT10 SHUT10 SHUT10 SHUT10 SHUT10 SHUT10

static const char *const good_json[] = {
    "{}",
    "[]",
    " [ 1 , -0.5e+3 , \"a\\u00e9\\n\\\"\" ] \n",
    "{\"a\":{\"b\":[true,false,null]}}",
    "0",
    "-1",
    "1e5",
    "\"x\"",
    "null",
    "{\"n\":9007199254740993}",
    "[[],{},\"\"]",
    DEEP60 SHUT60,
};
static const char *const bad_json[] = {
    "",
    " ",
    "{",
    "[1,]",
    "{\"a\"}",
    "{\"a\":}",
    "{a:1}",
    "{\"a\":1,}",
    "[1 2]",
    "01",
    "1.",
    ".5",
    "+1",
    "1e",
    "nul",
    "truex",
    "'a'",
    "\"a",
    "\"\\x\"",
    "\"\\u12g4\"",
    "\"\\",
    "\"\\u1\"",
    "\"a\nb\"",
    "[}",
    "{]",
    "]",
    "1 2",
    "{\"a\":1}}",
    "NaN",
    "\"\xff\"",
    "\xef\xbb\xbf{}",
    "-",
    "[" DEEP60 SHUT60 "]",
    DEEP60,
    "no json at all",
};

static void test_output_json(void **state)
{
    bench *b = (bench *)*state;
    load(b, format("{\"name\":\"t\",\"argv\":[\"cat\",\"%s/in\"],\"output\":\"json\","
                   "\"max_output\":200}",
                   b->folder));
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/in", b->folder);
    size_t count = sizeof good_json / sizeof good_json[0];
    for (size_t i = 0; i < count + sizeof bad_json / sizeof bad_json[0]; i++) {
        const char *text = i < count ? good_json[i] : bad_json[i - count];
        FILE *file = fopen(path, "we");
        (void)fputs(text, file);
        (void)fclose(file);
        fake_result raw = fake_host_call(b->host, "t", "{}");
        char *kept = format("\"output\":%s,\"stderr\"", text);
        assert_int_equal(strstr(raw.json, kept) != NULL, i < count); /* byte for byte */
        free(kept);
        json_t *result = parse_result(&raw);
        const char *first = block_text(result, 0);
        if (i >= count && strstr(first, "output is not JSON: it goes wrong at byte") == NULL) {
            print_error("accepted: '%s'\n", text);
        }
        assert_int_equal(json_is_true(json_object_get(result, "isError")), i >= count);
        json_decref(result);
    }
    FILE *file = fopen(path, "we");
    (void)fprintf(file, "[%0300d]", 1);
    (void)fclose(file);
    json_t *result = call(b, "t", format("{}"));
    assert_string_equal(
        block_text(result, 0),
        "the command's output is not JSON: it was cut after 200 bytes (max_output)");
    json_decref(result);
}

/* ---- output ---------------------------------------------------------------------------------- */

static void test_output_cap_edges(void **state)
{
    static const struct {
        const char *text;
        const char *kept;
        int cut;
    } cases[] = {
        {"123456789", "123456789", 0},
        {"1234567890", "1234567890", 0},
        {"12345678901", "1234567890", 1},
        {"12345678\xc3\xa9", "12345678\xc3\xa9", 0},
        {"123456789\xc3\xa9", "123456789", 1},
        {"12345678\xe2\x82\xac", "12345678", 1},
        {"1234567\xe2\x82\xac", "1234567\xe2\x82\xac", 0},
        {"1234567\xe2\x82\xacx", "1234567\xe2\x82\xac", 1},
        {"1234567\xf0\x9f\x98\x80", "1234567", 1},
    };
    bench *b = (bench *)*state;
    load(b, format("{\"name\":\"t\",\"argv\":[\"printf\",\"%%s\",\"{a}\"],\"args\":{\"a\":{}},"
                   "\"max_output\":10}"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *structured = call_as(b, "t", format("{\"a\":\"%s\"}", cases[i].text), 0);
        assert_string_equal(text_of(structured, "stdout"), cases[i].kept);
        assert_int_equal(json_is_true(json_object_get(structured, "truncated")), cases[i].cut);
        assert_null(json_object_get(structured, "lossy"));
        json_decref(structured);
    }
}

static void test_stderr_keeps_its_end(void **state)
{
    bench *b = (bench *)*state;
    load(b, script("t", "seq 1 100000 >&2; printf '\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9' >&2",
                   "", ",\"max_output\":9"));
    json_t *structured = call_as(b, "t", format("{}"), 0);
    assert_string_equal(text_of(structured, "stderr"), "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9");
    assert_true(json_is_true(json_object_get(structured, "truncated")));
    json_decref(structured);
}

static long peak_kib(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void test_huge_output_in_bounded_memory(void **state)
{
    bench *b = (bench *)*state;
    load(b, script("t", "head -c 268435456 /dev/zero | tr '\\0' x | tee /dev/stderr", "", ""));
    long before = peak_kib();
    json_t *structured = call_as(b, "t", format("{}"), 0);
    assert_int_equal(json_string_length(json_object_get(structured, "stdout")), 256 * 1024);
    assert_int_equal(json_string_length(json_object_get(structured, "stderr")), 256 * 1024);
    assert_true(json_is_true(json_object_get(structured, "truncated")));
    assert_in_range(peak_kib() - before, 0, 64 * 1024);
    json_decref(structured);
}

static void test_binary_output(void **state)
{
    bench *b = (bench *)*state;
    load(b, script("t", "printf 'a\\000\\377b\\360\\237'", "", ""));
    json_t *structured = call_as(b, "t", format("{}"), 0);
    const json_t *out = json_object_get(structured, "stdout");
    const char *wanted = "a\0\xef\xbf\xbd"
                         "b\xef\xbf\xbd\xef\xbf\xbd";
    assert_int_equal(json_string_length(out), 12);
    assert_memory_equal(json_string_value(out), wanted, 12);
    assert_true(json_is_true(json_object_get(structured, "lossy")));
    assert_true(json_is_false(json_object_get(structured, "truncated")));
    json_decref(structured);
}

/* ---- surroundings ---------------------------------------------------------------------------- */

static void test_folder_and_environment(void **state)
{
    bench *b = (bench *)*state;
    char *where = format("{\"name\":\"where\",\"argv\":[\"pwd\"],\"cwd\":\"%s\"}", b->folder);
    const char *own = ",\"env\":{\"A\":\"1 2\",\"TZ\":\"own\",\"E\":\"\"}";
    char *lean = script("lean", "echo \"$A|$TZ|$SECRET|$LC_X|$E|${{E-unset}\"", "", own);
    char *all =
        script("all", "echo \"$A|$TZ|$SECRET\"", "", ",\"env\":{\"A\":\"1\"},\"inherit_env\":true");
    char *path = format("{\"name\":\"path\",\"argv\":[\"mine\"],\"env\":{\"PATH\":\".:/none:%s\"}}",
                        b->folder);
    (void)setenv("SECRET", "s3cret", 1);
    (void)setenv("LC_X", "x", 1);
    (void)setenv("TZ", "hub", 1);
    load(b, format("%s,%s,%s,%s", where, lean, all, path));
    (void)unsetenv("SECRET");
    (void)unsetenv("LC_X");
    (void)unsetenv("TZ");
    char *folder = format("%s\n", b->folder);
    assert_stdout(b, "where", format("{}"), folder);
    assert_stdout(b, "lean", format("{}"), "1 2|own||x||\n");
    assert_stdout(b, "all", format("{}"), "1|hub|s3cret\n");
    assert_refused(b, "path", format("{}"), PATCHBAY_FAILED, "'mine' does not exist");
    char *program = format("%s/mine", b->folder);
    assert_int_equal(symlink("/bin/true", program), 0);
    json_decref(call_as(b, "path", format("{}"), 0));
    free(program);
    free(folder);
    free(where);
    free(lean);
    free(all);
    free(path);
}

static void test_commands_that_do_not_start(void **state)
{
    bench *b = (bench *)*state;
    char path[PATH_MAX];
    for (int i = 0; i < 2; i++) { /* not executable, and executable without a first line */
        (void)snprintf(path, sizeof path, "%s/%s", b->folder, i == 0 ? "plain" : "blank");
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, i == 0 ? 0644 : 0755);
        assert_int_equal(write(fd, "echo hi\n", 8), 8);
        (void)close(fd);
    }
    load(b, format("{\"name\":\"missing\",\"argv\":[\"no-such-command-x\"]},"
                   "{\"name\":\"gone\",\"argv\":[\"%s/none\"]},"
                   "{\"name\":\"plain\",\"argv\":[\"%s/plain\"]},"
                   "{\"name\":\"blank\",\"argv\":[\"%s/blank\"]},"
                   "{\"name\":\"folder\",\"argv\":[\"/tmp\"]},"
                   "{\"name\":\"cwd\",\"argv\":[\"true\"],\"cwd\":\"/no/such/folder\"}",
                   b->folder, b->folder, b->folder));
    assert_refused(b, "missing", format("{}"), PATCHBAY_FAILED,
                   "'no-such-command-x' does not exist");
    assert_refused(b, "gone", format("{}"), PATCHBAY_FAILED, "does not exist");
    assert_refused(b, "plain", format("{}"), PATCHBAY_FAILED, "is not executable");
    assert_refused(b, "blank", format("{}"), PATCHBAY_FAILED,
                   "is not a program"); /* and no shell */
    assert_refused(b, "folder", format("{}"), PATCHBAY_FAILED, "is not executable");
    assert_refused(b, "cwd", format("{}"), PATCHBAY_FAILED, "'/no/such/folder' does not exist");
}

static void test_input(void **state)
{
    bench *b = (bench *)*state;
    load(b,
         format("{\"name\":\"echo\",\"argv\":[\"cat\"],\"stdin\":\"<{a}>\",\"args\":{\"a\":{}}},"
                "{\"name\":\"maybe\",\"argv\":[\"cat\"],\"stdin\":\"{a?}\",\"args\":{\"a\":{}}},"
                "{\"name\":\"none\",\"argv\":[\"cat\"]},"
                "{\"name\":\"count\",\"argv\":[\"wc\",\"-c\"],\"stdin\":\"{a}\","
                "\"args\":{\"a\":{}}},"
                "{\"name\":\"deaf\",\"argv\":[\"true\"],\"stdin\":\"{a}\",\"args\":{\"a\":{}}}"));
    assert_stdout(b, "echo", format("{\"a\":\"$(id)\\n'\"}"), "<$(id)\n'>");
    assert_stdout(b, "maybe", format("{}"), "");
    assert_stdout(b, "maybe", format("{\"a\":\"x\"}"), "x");
    assert_stdout(b, "none", format("{}"), "");
    assert_stdout(b, "count", format("{\"a\":\"a\\u0000b\"}"), "3\n");
    size_t size = 3 * 1024 * 1024;
    char *text = (char *)malloc(size + 1);
    memset(text, 'x', size);
    text[size] = '\0';
    assert_stdout(b, "count", format("{\"a\":\"%s\"}", text), "3145728\n");
    assert_stdout(b, "deaf", format("{\"a\":\"%s\"}", text), ""); /* does not read: no SIGPIPE */
    free(text);
}

static void test_child_starts_clean(void **state)
{
    bench *b = (bench *)*state;
    int leaky = open("/dev/null", O_RDONLY); /* not close-on-exec */
    sigset_t set;
    sigset_t before;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGUSR1);
    (void)pthread_sigmask(SIG_BLOCK, &set, &before); /* inherited by the worker threads */
    void (*old)(int) = signal(SIGPIPE, SIG_IGN);
    char *signals = script("signals", "grep -E 'Sig(Ign|Blk)' /proc/self/status", "", "");
    load(b, format("{\"name\":\"files\",\"argv\":[\"ls\",\"/proc/self/fd\"]},%s,"
                   "{\"name\":\"group\",\"argv\":[\"cut\",\"-d\",\" \",\"-f1,5\","
                   "\"/proc/self/stat\"]}",
                   signals));
    free(signals);
    assert_stdout(b, "files", format("{}"), "0\n1\n2\n3\n"); /* 3 is the listing's own */
    assert_stdout(b, "signals", format("{}"),
                  "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    json_t *structured = call_as(b, "group", format("{}"), 0);
    int leader = 0;
    int own_group = 0;
    assert_int_equal(sscanf(text_of(structured, "stdout"), "%d %d", &leader, &own_group), 2);
    assert_int_equal(leader, own_group);
    json_decref(structured);
    (void)signal(SIGPIPE, old);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)close(leaky);
}

#endif
