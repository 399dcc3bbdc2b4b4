/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of `command` share: a host with some tools, calls with their checks. Part of
 * test_command.c. The test program adopts orphans, so that it can wait for every process that a
 * command started: a test that leaves one running does not end, and the alarm fails it. */
#ifndef COMMAND_BENCH_H
#define COMMAND_BENCH_H

#include "fake_host.h"

#include <patchbay/json.h>

#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct bench {
    char folder[64];
    fake_host *host;
    size_t open_files;
} bench;

#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
static char *
format(const char *template, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, template);
    int len = vasprintf(&text, template, args);
    va_end(args);
    assert_true(len >= 0);
    return text;
}

static size_t count_open_files(void)
{
    size_t count = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir) != NULL) {
        count++;
    }
    (void)closedir(dir);
    return count;
}

static int make_bench(void **state)
{
    bench *b = (bench *)calloc(1, sizeof *b);
    assert_non_null(b);
    (void)snprintf(b->folder, sizeof b->folder, "/tmp/patchbay-command-XXXXXX");
    assert_non_null(mkdtemp(b->folder));
    b->open_files = count_open_files();
    (void)alarm(300);
    *state = b;
    return 0;
}

/* No descriptor, no zombie and no orphan is left. */
static int drop_bench(void **state)
{
    bench *b = (bench *)*state;
    fake_host_unload(b->host);
    assert_int_equal(count_open_files(), b->open_files);
    while (waitpid(-1, NULL, 0) > 0) { /* orphans that were killed; one that was not blocks here */
    }
    assert_int_equal(errno, ECHILD);
    (void)alarm(0);
    DIR *dir = opendir(b->folder);
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        (void)unlinkat(dirfd(dir), entry->d_name, 0);
    }
    (void)closedir(dir);
    assert_int_equal(rmdir(b->folder), 0);
    free(b);
    return 0;
}

/* Load with these tools, the inside of an array; `tools` moves in. */
static void load(bench *b, char *tools)
{
    char error[FAKE_HOST_ERROR_BYTES] = "";
    char *config = format("{\"tools\":[%s]}", tools);
    b->host = fake_host_load(PLUGIN_PATH, config, error);
    if (b->host == NULL) {
        print_error("%s\n", error);
    }
    assert_non_null(b->host);
    free(config);
    free(tools);
}

static void assert_setup_fails(const char *config, const char *wanted)
{
    char error[FAKE_HOST_ERROR_BYTES] = "";
    fake_host *host = fake_host_load(PLUGIN_PATH, config, error);
    if (host != NULL || strstr(error, wanted) == NULL) {
        print_error("%s\n'%s' does not contain '%s'\n", config, error, wanted);
    }
    assert_null(host);
    assert_non_null(strstr(error, wanted));
}

/* A tool `name` that runs a script with the arguments behind it; `rest` begins with a comma. */
static char *script(const char *name, const char *text, const char *words, const char *rest)
{
    patchbay_out out = {0};
    patchbay_out_printf(&out, "{\"name\":\"%s\",\"argv\":[\"sh\",\"-c\",", name);
    patchbay_out_string(&out, patchbay_str_of(text));
    patchbay_out_printf(&out, ",\"sh\"%s]%s}", words, rest);
    char *copy = format("%s", out.ptr);
    patchbay_out_free(&out);
    return copy;
}

/* ---- calls; `args` moves in ------------------------------------------------------------------ */

static json_t *parse_result(fake_result *result)
{
    if (result->status != PATCHBAY_RESULT) {
        print_error("status %d: %s\n", (int)result->status, result->json);
    }
    assert_int_equal(result->status, PATCHBAY_RESULT);
    json_t *parsed = json_loadb(result->json, result->json_len, JSON_ALLOW_NUL, NULL);
    assert_non_null(parsed);
    fake_result_free(result);
    return parsed;
}

/* The whole result. */
static json_t *call(const bench *b, const char *tool, char *args)
{
    fake_result result = fake_host_call(b->host, tool, args);
    free(args);
    return parse_result(&result);
}

/* The structured content of a success, or of a failure of the command. */
static json_t *call_as(const bench *b, const char *tool, char *args, int is_error)
{
    json_t *result = call(b, tool, args);
    json_t *structured = json_incref(json_object_get(result, "structuredContent"));
    if (json_is_true(json_object_get(result, "isError")) != is_error) {
        char *shown = json_dumps(result, 0);
        print_error("%s\n", shown);
        free(shown);
    }
    assert_int_equal(json_is_true(json_object_get(result, "isError")), is_error);
    assert_true(json_is_object(structured));
    json_decref(result);
    return structured;
}

static void assert_refused(const bench *b, const char *tool, char *args, int status,
                           const char *wanted)
{
    fake_result result = fake_host_call(b->host, tool, args);
    if (result.status != status || strstr(result.json, wanted) == NULL) {
        print_error("%s %s: status %d, '%s' does not contain '%s'\n", tool, args,
                    (int)result.status, result.json, wanted);
    }
    assert_int_equal(result.status, status);
    assert_non_null(strstr(result.json, wanted));
    fake_result_free(&result);
    free(args);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "(none)";
}

static json_int_t number_of(const json_t *object, const char *key)
{
    assert_true(json_is_integer(json_object_get(object, key)));
    return json_integer_value(json_object_get(object, key));
}

static void assert_stdout(const bench *b, const char *tool, char *args, const char *wanted)
{
    json_t *structured = call_as(b, tool, args, 0);
    assert_string_equal(text_of(structured, "stdout"), wanted);
    json_decref(structured);
}

static const char *block_text(const json_t *result, size_t i)
{
    return text_of(json_array_get(json_object_get(result, "content"), i), "text");
}

#endif
