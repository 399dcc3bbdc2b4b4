/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/log_journal.h"
#include "wire/json.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static hub_buf lines;

static void keep_line(void *ctx, hub_str line)
{
    hub_buf_add(ctx, line);
}

static int begin(void **state)
{
    (void)state;
    hub_buf_init(&lines, SIZE_MAX);
    hub_log_capture(keep_line, &lines);
    hub_log_setup(HUB_LOG_DEBUG, false);
    return 0;
}

static int end(void **state)
{
    (void)state;
    hub_log_capture(NULL, NULL);
    hub_log_setup(HUB_LOG_INFO, false);
    hub_buf_fini(&lines);
    return 0;
}

/* The one line that was logged, without its time and newline; forgets it. */
static hub_str last_line(void)
{
    static char line[HUB_LIMIT_LOG_LINE_BYTES + 1];
    size_t time = sizeof "2026-07-28T12:00:00.000Z" - 1;
    assert_true(lines.len > time && lines.len <= HUB_LIMIT_LOG_LINE_BYTES);
    assert_int_equal(hub_str_find(hub_buf_str(&lines), HUB_STR("\n")), lines.len - 1);
    assert_true(
        hub_str_glob(HUB_STR("20*-*-*T*:*:*.*Z *"), (hub_str){.ptr = lines.ptr, .len = time + 1}));
    memcpy(line, lines.ptr + time + 1, lines.len - time - 2);
    line[lines.len - time - 2] = '\0';
    hub_buf_clear(&lines);
    return hub_str_of(line);
}

static void assert_line(const char *text)
{
    hub_str line = last_line();
    if (!hub_str_is(line, text)) {
        print_error("got " HUB_STR_FMT "\nnot %s\n", HUB_STR_ARG(line), text);
    }
    assert_true(hub_str_is(line, text));
}

/* The value of a member of the one JSON line that was logged. */
static hub_str json_member(const char *key)
{
    hub_str line;
    assert_int_equal(hub_json_check(hub_buf_str(&lines), &line, NULL), HUB_OK);
    assert_int_equal(hub_str_find(hub_buf_str(&lines), HUB_STR("\n")), lines.len - 1);
    return hub_json_get(line, hub_str_of(key));
}

static void test_text(void **state)
{
    (void)state;
    hub_log(HUB_LOG_INFO, "area.event", HUB_F_TEXT("name", "value"), HUB_F_INT("n", -7));
    assert_line("info area.event name=value n=-7");
    hub_log(HUB_LOG_WARNING, "a.b", HUB_F_INT("least", INT64_MIN), HUB_F_INT("most", INT64_MAX));
    assert_line("warning a.b least=-9223372036854775808 most=9223372036854775807");
    hub_log(HUB_LOG_ERROR, "a.b", HUB_F_STR("span", ((hub_str){.ptr = "abc", .len = 2})));
    assert_line("error a.b span=ab");
    hub_log(HUB_LOG_DEBUG, "a.b", HUB_F_TEXT("none", NULL), HUB_F_TEXT("empty", ""));
    assert_line("debug a.b none=\"\" empty=\"\"");
}

static void test_values_cannot_forge_anything(void **state)
{
    (void)state;
    static const struct {
        const char *value, *text;
    } CASES[] = {
        {"a b", "\"a b\""},
        {"a=b", "\"a=b\""},
        {"a\nb", "\"a\\u000ab\""},
        {"a\"\\b", "\"a\\\"\\\\b\""},
        {"\x1b[31m", "\"\\u001b[31m\""},
        {"\x7f", "\"\\u007f\""},
        {"\xc2\x9b", "\"\\u009b\""}, /* C1: a terminal takes it for ESC [ */
        {"a\xe2\x80\xae"
         "b",
         "\"a\\u202eb\""},                                  /* turns the direction of writing */
        {"\xe2\x81\xa6", "\"\\u2066\""},                    /* … and so does an isolate */
        {"\xe2\x80\xa8\xe2\x80\x8b", "\"\\u2028\\u200b\""}, /* breaks a line; has no width */
        {"\xf3\xa0\x81\x81", "\"\\udb40\\udc41\""},         /* a tag: two halves */
        {"\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\""},       /* is seen */
        {"\xc2\x80", "\"\\u0080\""},
        {"\xc2\xa0", "\"\xc2\xa0\""},
        {"\xc3\xa4\xe2\x82\xac", "\"\xc3\xa4\xe2\x82\xac\""},
        {"\x9b", "\"\\ufffd\""},
        {"\xff\xfe", "\"\\ufffd\\ufffd\""},
        {"\xc3", "\"\\ufffd\""},
        {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_buf expected;
        hub_buf_init(&expected, 1000);
        hub_buf_printf(&expected, "info a.b v=%s", CASES[i].text);
        char *text = hub_buf_take(&expected);
        hub_log_setup(HUB_LOG_DEBUG, false);
        hub_log(HUB_LOG_INFO, "a.b", HUB_F_TEXT("v", CASES[i].value));
        assert_line(text);
        free(text);
        hub_log_setup(HUB_LOG_DEBUG, true);
        hub_log(HUB_LOG_INFO, "a.b", HUB_F_TEXT("v", CASES[i].value));
        assert_true(hub_str_is(json_member("v"), CASES[i].text));
        hub_buf_clear(&lines);
    }
}

/* Masks what contains "hush": as a whole, or, of "hush-oom", with no memory for it. */
static bool mask_hush(hub_str text, hub_buf *out)
{
    if (hub_str_find(text, HUB_STR("hush")) == SIZE_MAX) {
        return false;
    }
    hub_buf_add(out, HUB_STR("(secret)"));
    if (hub_str_is(text, "hush-oom")) {
        out->failed = HUB_ENOMEM;
    }
    return true;
}

static void test_a_mask(void **state)
{
    (void)state;
    hub_log_mask_by(mask_hush);
    hub_log(HUB_LOG_INFO, "a.b", HUB_F_TEXT("x", "a hush b"), HUB_F_TEXT("y", "loud"));
    assert_line("info a.b x=(secret) y=loud");
    hub_log(HUB_LOG_INFO, "a.b", HUB_F_TEXT("x", "hush-oom"), HUB_F_INT("n", 7));
    assert_line("info a.b x=" HUB_REDACTED " n=7");
    hub_log_mask_by(NULL);
    hub_log(HUB_LOG_INFO, "a.b", HUB_F_TEXT("x", "a hush b"));
    assert_line("info a.b x=\"a hush b\"");
}

static void test_json(void **state)
{
    (void)state;
    hub_log_setup(HUB_LOG_DEBUG, true);
    hub_log(HUB_LOG_WARNING, "a.b", HUB_F_TEXT("x", "y"), HUB_F_INT("n", -1));
    assert_true(hub_str_is(json_member("level"), "\"warning\""));
    assert_true(hub_str_is(json_member("event"), "\"a.b\""));
    assert_true(hub_str_is(json_member("x"), "\"y\""));
    assert_true(hub_str_is(json_member("n"), "-1"));
    assert_true(hub_str_glob(HUB_STR("\"20*-*-*T*:*:*.*Z\""), json_member("time")));
    hub_buf_clear(&lines);
    hub_log(HUB_LOG_WARNING, "a.b", HUB_F_NUMBER("n", HUB_STR("12.345")), HUB_F_TEXT("x", "1"));
    assert_true(hub_str_is(json_member("n"), "12.345"));
    assert_true(hub_str_is(json_member("x"), "\"1\""));
}

static void test_levels(void **state)
{
    (void)state;
    for (int least = HUB_LOG_DEBUG; least <= HUB_LOG_OFF; least++) {
        hub_log_setup((hub_log_level)least, false);
        for (int level = HUB_LOG_DEBUG; level < HUB_LOG_OFF; level++) {
            hub_log((hub_log_level)level, "a.b", HUB_F_INT("n", 1));
            assert_int_equal(lines.len > 0, level >= least);
            hub_buf_clear(&lines);
        }
    }
}

static void test_long_values_are_cut(void **state)
{
    (void)state;
    char text[HUB_LIMIT_LOG_VALUE_BYTES + 10];
    memset(text, 'x', sizeof text);
    for (size_t len = HUB_LIMIT_LOG_VALUE_BYTES - 1; len <= HUB_LIMIT_LOG_VALUE_BYTES + 1; len++) {
        hub_log(HUB_LOG_INFO, "a.b", HUB_F_STR("v", ((hub_str){.ptr = text, .len = len})));
        size_t kept = len < HUB_LIMIT_LOG_VALUE_BYTES ? len : HUB_LIMIT_LOG_VALUE_BYTES;
        assert_int_equal(last_line().len, strlen("info a.b v=") + kept);
    }
    for (size_t back = 1; back <= 3; back++) { /* not in the middle of a character of four bytes */
        memset(text, 'x', sizeof text);
        memcpy(text + HUB_LIMIT_LOG_VALUE_BYTES - back, "\xf0\x9f\x98\x80", 4);
        hub_log(HUB_LOG_INFO, "a.b", HUB_F_STR("v", ((hub_str){.ptr = text, .len = sizeof text})));
        assert_int_equal(last_line().len, strlen("info a.b v=") + HUB_LIMIT_LOG_VALUE_BYTES - back);
    }
}

/* Escapes make values six times as long: whoever sends them must not keep events out of the log. */
static void test_long_lines_are_cut(void **state)
{
    (void)state;
    char text[HUB_LIMIT_LOG_VALUE_BYTES];
    memset(text, '\x01', sizeof text);
    hub_str value = {.ptr = text, .len = sizeof text};
    for (int json = 0; json < 2; json++) {
        hub_log_setup(HUB_LOG_INFO, json);
        hub_log(HUB_LOG_INFO, "a.b", HUB_F_INT("n", 1), HUB_F_STR("a", value),
                HUB_F_STR("b", value), HUB_F_STR("c", value), HUB_F_INT("d", 2));
        assert_true(lines.len <= HUB_LIMIT_LOG_LINE_BYTES);
        if (json) {
            assert_true(hub_str_is(json_member("n"), "1"));
            assert_true(hub_str_is(json_member("cut"), "true"));
            assert_int_equal(json_member("b").len, 6 * sizeof text + 2);
            assert_int_equal(json_member("c").len, 0);
        } else {
            hub_str line = last_line();
            assert_true(hub_str_starts(line, HUB_STR("info a.b n=1 a=\"\\u0001")));
            assert_true(hub_str_glob(HUB_STR("* b=\"*\" cut=true"), line));
        }
        hub_buf_clear(&lines);
    }
}

/* Lines of every length around the limit: none is lost, none is longer, each is whole. */
static void test_lines_at_the_limit(void **state)
{
    (void)state;
    char text[HUB_LIMIT_LOG_VALUE_BYTES];
    memset(text, 'x', sizeof text);
    hub_str value = {.ptr = text, .len = sizeof text};
    for (int json = 0; json < 2; json++) {
        hub_log_setup(HUB_LOG_INFO, json);
        for (size_t len = 600; len < 1000; len++) {
            hub_str last = {.ptr = text, .len = len};
            hub_log(HUB_LOG_INFO, "a.b", HUB_F_STR("a", value), HUB_F_STR("b", value),
                    HUB_F_STR("c", value), HUB_F_STR("d", value), HUB_F_STR("e", value),
                    HUB_F_STR("f", value), HUB_F_STR("g", value), HUB_F_STR("h", value),
                    HUB_F_STR("i", value), HUB_F_STR("j", value), HUB_F_STR("k", value),
                    HUB_F_STR("l", value), HUB_F_STR("m", value), HUB_F_STR("n", value),
                    HUB_F_STR("o", value), HUB_F_STR("p", last));
            assert_true(lines.len > 15000 && lines.len <= HUB_LIMIT_LOG_LINE_BYTES);
            bool is_cut = hub_str_find(hub_buf_str(&lines), HUB_STR("cut")) != SIZE_MAX;
            bool has_last = hub_str_find(hub_buf_str(&lines),
                                         json ? HUB_STR("\"p\"") : HUB_STR(" p=")) != SIZE_MAX;
            assert_true(is_cut != has_last);
            if (json) {
                assert_int_equal(json_member("o").len, sizeof text + 2);
            }
            hub_buf_clear(&lines);
        }
    }
}

static void test_errno_survives(void **state)
{
    (void)state;
    hub_log_capture(NULL, NULL);
    int saved = dup(STDERR_FILENO);
    assert_true(close(STDERR_FILENO) == 0);
    errno = EXDEV;
    hub_log(HUB_LOG_INFO, "a.b", HUB_F_INT("n", 1)); /* EBADF inside */
    int seen = errno;
    assert_int_equal(dup2(saved, STDERR_FILENO), STDERR_FILENO);
    (void)close(saved);
    assert_int_equal(seen, EXDEV);
}

/* ---- stderr ---------------------------------------------------------------------------------- */

enum { THREADS = 4, LINES_EACH = 2000 };

static void *log_much(void *arg)
{
    const char *name = arg;
    char text[300];
    memset(text, *name, sizeof text);
    for (int i = 0; i < LINES_EACH; i++) {
        hub_log(HUB_LOG_INFO, "a.b", HUB_F_STR("v", ((hub_str){.ptr = text, .len = sizeof text})));
    }
    return NULL;
}

static void *read_all(void *arg)
{
    const int *fd = arg;
    hub_buf *out = malloc(sizeof *out);
    hub_buf_init(out, SIZE_MAX);
    for (ssize_t count = 1; count > 0;) {
        char *room = hub_buf_reserve(out, 4096);
        count = read(*fd, room, 4096);
        out->len += count > 0 ? (size_t)count : 0;
    }
    return out;
}

/* Several threads write to a pipe that is non-blocking and read slowly: as a terminal is that is
 * also stdin. Every line arrives, and whole. */
static void test_lines_never_interleave(void **state)
{
    (void)state;
    static char names[THREADS] = {'a', 'b', 'c', 'd'};
    pthread_t threads[THREADS];
    pthread_t reader;
    void *read_text;
    int fds[2];
    int saved = dup(STDERR_FILENO);
    hub_log_capture(NULL, NULL);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
    (void)close(fds[1]);
    int failed = pthread_create(&reader, NULL, read_all, &fds[0]);
    for (int i = 0; i < THREADS; i++) {
        failed |= pthread_create(&threads[i], NULL, log_much, &names[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        failed |= pthread_join(threads[i], NULL);
    }
    assert_int_equal(dup2(saved, STDERR_FILENO), STDERR_FILENO);
    (void)close(saved);
    assert_int_equal(failed | pthread_join(reader, &read_text), 0);
    hub_buf *got = read_text;
    hub_str rest = hub_buf_str(got);
    for (size_t count = 0; count < (size_t)THREADS * LINES_EACH; count++) {
        size_t length = hub_str_find(rest, HUB_STR("\n"));
        assert_int_equal(length, strlen("2026-07-28T12:00:00.000Z info a.b v=") + 300);
        for (size_t i = length - 300; i < length; i++) {
            assert_int_equal(rest.ptr[i], rest.ptr[length - 1]);
        }
        rest = hub_str_from(rest, length + 1);
    }
    assert_int_equal(rest.len, 0);
    hub_buf_fini(got);
    free(got);
    (void)close(fds[0]);
}

/* All that can be read now. */
static hub_str drain(int fd, hub_buf *out)
{
    hub_buf_init(out, SIZE_MAX);
    for (ssize_t count = 1; count > 0;) {
        char *room = hub_buf_reserve(out, 4096);
        count = read(fd, room, 4096);
        out->len += count > 0 ? (size_t)count : 0;
    }
    return hub_buf_str(out);
}

static void note_owed(void *ctx)
{
    ++*(unsigned *)ctx;
}

/* Lines that a stderr does not take are owed up to a bound, lost beyond it, and counted; nothing is
 * torn, and a thread that must not wait does not. The pipe is one that blocks, as they mostly are. */
static void test_a_stuck_stderr(void **state)
{
    (void)state;
    enum { LINES = 2000 };
    unsigned told = 0;
    int fds[2];
    int saved = dup(STDERR_FILENO);
    hub_log_capture(NULL, NULL);
    hub_log_never_wait();
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
    assert_true(fcntl(fds[1], F_SETPIPE_SZ, 4096) >= 4096);
    assert_int_equal(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
    (void)close(fds[1]);
    hub_log_on_owed(note_owed, &told);
    char text[HUB_LIMIT_LOG_VALUE_BYTES];
    memset(text, 'x', sizeof text);
    for (int i = 0; i < LINES; i++) { /* more than the pipe, and more than is owed */
        hub_log(HUB_LOG_INFO, "a.b", HUB_F_STR("a", ((hub_str){.ptr = text, .len = sizeof text})));
    }
    hub_buf got;
    hub_buf more;
    hub_buf_init(&got, SIZE_MAX);
    bool is_done;
    do {
        is_done = hub_log_flush(0);
        hub_buf_add(&got, drain(fds[0], &more));
        hub_buf_fini(&more);
    } while (!is_done);
    hub_log_on_owed(NULL, NULL);
    assert_int_equal(dup2(saved, STDERR_FILENO), STDERR_FILENO);
    (void)close(saved);
    (void)close(fds[0]);
    assert_true(told > 0);
    size_t whole = 0;
    size_t lost = 0;
    hub_str rest = hub_buf_str(&got);
    while (rest.len > 0) {
        size_t length = hub_str_find(rest, HUB_STR("\n"));
        hub_str line = {.ptr = rest.ptr, .len = length};
        assert_int_not_equal(length, SIZE_MAX);
        if (hub_str_glob(HUB_STR("* warning log.lost lines=*"), line)) {
            lost += (size_t)strtoul(line.ptr + hub_str_find(line, HUB_STR("=")) + 1, NULL, 10);
        } else {
            assert_true(hub_str_glob(HUB_STR("20*Z info a.b a=xxx*xxx"), line));
            assert_int_equal(length, strlen("2026-07-28T12:00:00.000Z info a.b a=") + sizeof text);
            whole++;
        }
        rest = hub_str_from(rest, length + 1);
    }
    assert_true(lost > 0);
    assert_int_equal(whole + lost, LINES);
    assert_true(got.len >= HUB_LIMIT_LOG_OWED_BYTES &&
                got.len <= HUB_LIMIT_LOG_OWED_BYTES + 3 * HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_fini(&got);
}

/* ---- a file, the journal --------------------------------------------------------------------- */

static void test_a_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/patchbay-log-XXXXXX";
    char path[64];
    char other[64];
    char text[256];
    hub_error why = {.code = HUB_OK};
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/log", folder);
    (void)snprintf(other, sizeof other, "%s/log.1", folder);
    hub_log_capture(NULL, NULL);
    assert_int_equal(hub_log_reopen(&why), HUB_OK); /* there is none */
    assert_int_equal(hub_log_to_file(path, &why), HUB_OK);
    hub_log(HUB_LOG_INFO, "one", HUB_F_INT("n", 1));
    assert_int_equal(rename(path, other), 0);
    hub_log(HUB_LOG_INFO, "two", HUB_F_INT("n", 2));
    assert_int_equal(hub_log_reopen(&why), HUB_OK);
    hub_log(HUB_LOG_INFO, "three", HUB_F_INT("n", 3));
    assert_int_equal(hub_log_to_file("/nonexistent/log", &why), HUB_ESYSTEM);
    hub_log(HUB_LOG_INFO, "four", HUB_F_INT("n", 4)); /* where it was */
    assert_int_equal(hub_log_to_file(NULL, &why), HUB_OK);
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(i == 0 ? other : path, "r");
        assert_non_null(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        (void)fclose(file);
        assert_true(hub_str_glob(i == 0 ? HUB_STR("* info one n=1\n* info two n=2\n")
                                        : HUB_STR("* info three n=3\n* info four n=4\n"),
                                 hub_str_of(text)));
    }
    (void)unlink(path);
    (void)unlink(other);
    (void)rmdir(folder);
}

static bool has_field(hub_str sent, const char *key, const char *value)
{
    hub_buf wanted;
    uint64_t len = strlen(value);
    hub_buf_init(&wanted, 4096);
    hub_buf_printf(&wanted, "%s\n", key);
    hub_buf_add(&wanted, (hub_str){.ptr = (const char *)&len, .len = sizeof len});
    hub_buf_printf(&wanted, "%s\n", value);
    bool has = hub_str_find(sent, hub_buf_str(&wanted)) != SIZE_MAX;
    hub_buf_fini(&wanted);
    return has;
}

/* Fields arrive as they are, masked; a journal that takes nothing loses no line. */
static void test_the_journal(void **state)
{
    (void)state;
    char folder[] = "/tmp/patchbay-log-XXXXXX";
    char stream[64];
    char sent[4096];
    struct stat about;
    struct sockaddr_un here = {.sun_family = AF_UNIX};
    assert_non_null(mkdtemp(folder));
    (void)snprintf(here.sun_path, sizeof here.sun_path, "%s/socket", folder);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&here, sizeof here), 0);
    assert_int_equal(fstat(STDERR_FILENO, &about), 0);
    (void)snprintf(stream, sizeof stream, "%ju:%ju", (uintmax_t)about.st_dev,
                   (uintmax_t)about.st_ino + 1);
    assert_false(hub_log_journal_open(NULL, here.sun_path));
    assert_false(hub_log_journal_open(stream, here.sun_path)); /* another's */
    (void)snprintf(stream, sizeof stream, "%ju:%ju", (uintmax_t)about.st_dev,
                   (uintmax_t)about.st_ino);
    assert_true(hub_log_journal_open(stream, here.sun_path));
    hub_log_capture(NULL, NULL);
    hub_log_mask_by(mask_hush);
    hub_log(HUB_LOG_WARNING, "a.b", HUB_F_TEXT("toolset", "two\nlines"), HUB_F_INT("durationMs", 7),
            HUB_F_TEXT("secret", "hush"));
    hub_log_mask_by(NULL);
    ssize_t len = recv(fd, sent, sizeof sent, MSG_DONTWAIT);
    hub_log_journal_close();
    (void)close(fd);
    (void)unlink(here.sun_path);
    (void)rmdir(folder);
    assert_true(len > 0);
    hub_str got = {.ptr = sent, .len = (size_t)len};
    assert_true(has_field(got, "PRIORITY", "4"));
    assert_true(has_field(got, "SYSLOG_IDENTIFIER", "patchbay"));
    assert_true(has_field(got, "PATCHBAY_EVENT", "a.b"));
    assert_true(has_field(got, "PATCHBAY_TOOLSET", "two\nlines"));
    assert_true(has_field(got, "PATCHBAY_DURATION_MS", "7"));
    assert_true(has_field(got, "PATCHBAY_SECRET", "(secret)"));
    assert_int_not_equal(hub_str_find(got, HUB_STR("MESSAGE\n")), SIZE_MAX);
    assert_int_equal(hub_str_find(got, HUB_STR("Z warning a.b")), SIZE_MAX); /* it has the time */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_text, begin, end),
        cmocka_unit_test_setup_teardown(test_values_cannot_forge_anything, begin, end),
        cmocka_unit_test_setup_teardown(test_a_mask, begin, end),
        cmocka_unit_test_setup_teardown(test_json, begin, end),
        cmocka_unit_test_setup_teardown(test_levels, begin, end),
        cmocka_unit_test_setup_teardown(test_long_values_are_cut, begin, end),
        cmocka_unit_test_setup_teardown(test_long_lines_are_cut, begin, end),
        cmocka_unit_test_setup_teardown(test_lines_at_the_limit, begin, end),
        cmocka_unit_test_setup_teardown(test_errno_survives, begin, end),
        cmocka_unit_test_setup_teardown(test_lines_never_interleave, begin, end),
        cmocka_unit_test_setup_teardown(test_a_file, begin, end),
        cmocka_unit_test_setup_teardown(test_the_journal, begin, end),
        cmocka_unit_test_setup_teardown(test_a_stuck_stderr, begin, end),
    };
    (void)signal(SIGPIPE, SIG_IGN);
    (void)alarm(100);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
