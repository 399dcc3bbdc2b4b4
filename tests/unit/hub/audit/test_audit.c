/* SPDX-License-Identifier: Apache-2.0 */
/* The audit: a record for each call, where it goes, and what happens when it cannot go there. */
#include "hub_fixture.h"
#include "hub/report/status.h"

#include "base/limits.h"
#include "hub/audit/audit.h"
#include "hub/audit/audit_file.h"
#include "wire/json.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static hub_fixture fixture;
static char folder[] = "/tmp/patchbay-audit-XXXXXX";
static char path[64];
static char other[64];
static char content[1 << 20];

static void on_call(puppet_instance *instance, patchbay_call call, const patchbay_request *request)
{
    (void)request;
    const char *result = instance->puppet->ctx;
    if (result != NULL) {
        (void)puppet_finish(instance, call, result);
    }
}

static void begin(puppet *master, hub_audit_settings audit)
{
    master->tools = "[" TOOL("a") "]";
    master->on_call = on_call;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", master, true);
    fixture.settings.audit = audit;
    fixture_start(&fixture);
}

/* What the file holds when everything was written that can be. */
static const char *read_file(void)
{
    hub_audit_flush(hub_audit_of(fixture.hub));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, content, sizeof content - 1) : 0;
    content[len > 0 ? len : 0] = '\0';
    (void)close(fd);
    return content;
}

/* Each line is one JSON value; how many there are. */
static size_t count_lines(const char *text)
{
    size_t count = 0;
    while (*text != '\0') {
        const char *end = strchr(text, '\n');
        hub_str whole;
        assert_non_null(end);
        assert_int_equal(hub_json_check(hub_str_between(text, end), &whole, NULL), HUB_OK);
        assert_int_equal(hub_json_type_of(whole), HUB_JSON_OBJECT);
        text = end + 1;
        count++;
    }
    return count;
}

static hub_audit_settings to_file(void)
{
    (void)unlink(path);
    (void)unlink(other);
    return (hub_audit_settings){.is_on = true, .file = path};
}

/* D09: who, what, how it ended; not what it was given. */
static void test_a_record(void **state)
{
    (void)state;
    static char result[] = "{\"content\":[]}";
    static char failure[] = "{\"content\":[],\"isError\":true}";
    puppet master = {.ctx = result};
    begin(&master, to_file());
    client *c =
        client_open_as(&fixture, &(client_options){.kind = LEGACY, .principal = "ann \"x\""});
    (void)client_ask(c, "\"id-1\"", "t__a", "{\"secret\":1}");
    const char *text = read_file();
    assert_int_equal(count_lines(text), 1);
    assert_contains(text, "\"who\":\"ann \\\"x\\\"\"");
    assert_contains(text, "\"profile\":\"default\",\"method\":\"tools/call\",\"toolset\":\"t\","
                          "\"name\":\"a\",\"request\":\"id-1\"");
    assert_contains(text, "\"outcome\":\"ok\",\"durationMs\":");
    assert_lacks(text, "secret");
    assert_lacks(text, "arguments");
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);

    master.ctx = failure;
    (void)client_ask(c, "2", "t__a", "{}");
    (void)client_ask(c, "3", "nobody", "{}");
    (void)client_ask(c, "4", "list_tools", "{}");
    (void)client_ask(c, "5", "list_tools", "{\"x\":1}");
    master.ctx = NULL;
    client_call(c, "6", "t__a", "{}");
    client_cancel(c, "6");
    text = read_file();
    assert_int_equal(count_lines(text), 6);
    assert_contains(text, "\"request\":2,\"session\":1,\"outcome\":\"tool_error\"");
    assert_contains(text,
                    "\"name\":\"nobody\",\"request\":3,\"session\":1,\"outcome\":\"refused\"");
    assert_contains(text,
                    "\"toolset\":\"_meta\",\"name\":\"list_tools\",\"request\":4,\"session\":1,"
                    "\"outcome\":\"ok\"");
    assert_contains(text, "\"request\":5,\"session\":1,\"outcome\":\"invalid_input\"");
    assert_contains(text, "\"request\":6,\"session\":1,\"outcome\":\"cancelled\"");
    fixture_stop(&fixture);
}

/* Refused before anybody was asked: by a rate, too many in flight, a full queue; and what is not
 * there. D09: whoever tries is seen. */
static void test_what_is_refused(void **state)
{
    static const char LAST[] = "\"outcome\":\"refused\"";
    (void)state;
    puppet master = {.prompts = "[{\"name\":\"p\"}]",
                     .resources = "[{\"uri\":\"x:1\",\"name\":\"x\"}]"};
    begin(&master, to_file());
    hub_toolset_settings *settings = hub_find_toolset(fixture.hub, HUB_STR("t"))->settings;
    fixture.settings.limits.calls_per_session = 3;
    settings->max_calls = 1;
    settings->queue = 1;
    hub_review(fixture.hub);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "t__a", "{}");
    client_call(c, "2", "t__a", "{}");
    (void)client_ask(c, "3", "t__a", "{}"); /* the queue is full */
    assert_contains(read_file(), "\"toolset\":\"t\",\"name\":\"a\",\"request\":3,");
    assert_contains(content, LAST);
    assert_int_equal(count_lines(content), 1);
    settings->queue = 2;
    client_call(c, "4", "t__a", "{}");
    (void)client_ask(c, "5", "t__a", "{}"); /* too many in flight */
    client_request(c, "6", "prompts/get", "\"name\":\"t__p\"");
    client_request(c, "7", "resources/read", "\"uri\":\"x:1\"");
    client_request(c, "10", "completion/complete",
                   "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"t__p\"},"
                   "\"argument\":{\"name\":\"a\",\"value\":\"b\"}");
    client_request(c, "8", "resources/read", "\"uri\":7");
    client_request(c, "9", "resources/unsubscribe", "\"uri\":\"x:1\""); /* no call of anything */
    client_call(c, "4", "t__a", "{}");                                  /* an id twice */
    client_close(c);
    fixture.settings.limits.calls_per_second = 1;
    fixture.settings.limits.calls_burst = 1;
    hub_review(fixture.hub);
    c = client_open(&fixture, LEGACY);
    client_request(c, "20", "prompts/get", "\"name\":\"none\"");
    client_request(c, "21", "prompts/get", "\"name\":\"t__p\""); /* too fast */
    const char *text = read_file();
    static const char *const WANTED[] = {
        "\"tools/call\",\"toolset\":\"t\",\"name\":\"a\",\"request\":5,",
        "\"prompts/get\",\"toolset\":\"t\",\"name\":\"p\",\"request\":6,",
        "\"resources/read\",\"toolset\":\"t\",\"name\":\"x:1\",\"request\":7,",
        "\"completion/complete\",\"toolset\":\"t\",\"name\":\"p\",\"request\":10,",
        "\"tools/call\",\"toolset\":\"t\",\"name\":\"a\",\"request\":4,",
        "\"prompts/get\",\"name\":\"none\",\"request\":20,",
        "\"prompts/get\",\"toolset\":\"t\",\"name\":\"p\",\"request\":21,",
    };
    for (size_t i = 0; i < sizeof WANTED / sizeof *WANTED; i++) {
        const char *line = strstr(text, WANTED[i]);
        if (line == NULL) {
            fail_msg("no %s in %s", WANTED[i], text);
        }
        const char *outcome = strstr(line, "\"outcome\"");
        assert_non_null(outcome);
        assert_memory_equal(outcome, LAST, sizeof LAST - 1);
    }
    assert_int_equal(count_lines(text), 1 + 7 + 3); /* those that had a place were cancelled */
    assert_int_equal(fixture.hub->refused, 5);
    fixture_stop(&fixture);
}

/* One that has waited in vain. */
static void test_a_wait_in_vain(void **state)
{
    (void)state;
    puppet master = {.ctx = NULL};
    begin(&master, to_file());
    hub_toolset_settings *settings = hub_find_toolset(fixture.hub, HUB_STR("t"))->settings;
    settings->max_calls = 1;
    settings->queue = 1;
    settings->queue_timeout_ms = 1;
    hub_review(fixture.hub);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "t__a", "{}");
    client_call(c, "2", "t__a", "{}");
    assert_contains(client_wait(c, "2"), "TOOL_UNAVAILABLE");
    assert_contains(read_file(), "\"request\":2,\"session\":1,\"outcome\":\"refused\"");
    assert_int_equal(hub_status_counts_of(hub_find_toolset(fixture.hub, HUB_STR("t")))->refused, 1);
    fixture_stop(&fixture);
}

static void test_a_trace(void **state)
{
    (void)state;
    static char result[] = "{\"content\":[]}";
    puppet master = {.ctx = result};
    begin(&master, to_file());
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/call",
                   "\"name\":\"t__a\",\"_meta\":{\"traceparent\":"
                   "\"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\"}");
    assert_non_null(client_wait(c, "1"));
    assert_contains(read_file(), "\"traceId\":\"0af7651916cd43dd8448eb211c80319c\"");
    fixture_stop(&fixture);
}

/* Arguments when asked for: up to the limit as they are, above it a part, as text. */
static void test_arguments(void **state)
{
    (void)state;
    static char result[] = "{\"content\":[]}";
    static char arguments[HUB_LIMIT_AUDIT_ARGUMENT_BYTES + 2];
    puppet master = {.ctx = result};
    hub_audit_settings settings = to_file();
    settings.has_arguments = true;
    begin(&master, settings);
    client *c = client_open(&fixture, LEGACY);
    for (size_t len = HUB_LIMIT_AUDIT_ARGUMENT_BYTES; len <= HUB_LIMIT_AUDIT_ARGUMENT_BYTES + 1;
         len++) {
        (void)snprintf(arguments, sizeof arguments, "{\"k\":\"%0*d\"}", (int)len - 8, 7);
        assert_int_equal(strlen(arguments), len);
        (void)unlink(path);
        (void)client_ask(c, "1", "t__a", arguments);
        const char *text = read_file();
        assert_int_equal(count_lines(text), 1);
        if (len == HUB_LIMIT_AUDIT_ARGUMENT_BYTES) {
            assert_contains(text, arguments);
            assert_lacks(text, "\"cut\"");
        } else {
            assert_contains(text, "\"arguments\":\"{\\\"k\\\":\\\"000");
            assert_contains(text, ",\"cut\":true,\"chain\":");
        }
    }
    fixture_stop(&fixture);
}

/* A record is one line, however the client has laid its arguments out: a line break between them
 * would let it write a record of its own. */
static void test_arguments_of_several_lines(void **state)
{
    (void)state;
    static char result[] = "{\"content\":[]}";
    puppet master = {.ctx = result};
    hub_audit_settings settings = to_file();
    settings.has_arguments = true;
    begin(&master, settings);
    client *c = client_open(&fixture, LEGACY);
    (void)client_ask(c, "1", "t__a",
                     "{\"a\":\r\n{\"who\":\"root\",\"outcome\":\"ok\"}\n,\"b\":\"x y\"\n}");
    const char *text = read_file();
    assert_int_equal(count_lines(text), 1);
    assert_contains(text,
                    "\"arguments\":{\"a\":{\"who\":\"root\",\"outcome\":\"ok\"},\"b\":\"x y\"}");
    fixture_stop(&fixture);
}

static void test_the_log(void **state)
{
    (void)state;
    static char result[] = "{\"content\":[]}";
    puppet master = {.ctx = result};
    begin(&master, (hub_audit_settings){.is_on = true});
    client *c = client_open(&fixture, LEGACY);
    (void)client_ask(c, "1", "t__a", "{}");
    hub_audit_flush(hub_audit_of(fixture.hub));
    assert_true(fixture_logged(&fixture, " audit who="));
    assert_true(fixture_logged(&fixture, "toolset=t name=a request=1 session=1 outcome=ok"));
    hub_audit_configure(hub_audit_of(fixture.hub), &(hub_audit_settings){.is_on = false});
    (void)client_ask(c, "2", "t__a", "{}");
    hub_audit_flush(hub_audit_of(fixture.hub));
    assert_false(fixture_logged(&fixture, "request=2"));
    fixture_stop(&fixture);
}

/* It is renamed, or removed: the next record goes to a new one. */
static void test_rotation(void **state)
{
    (void)state;
    static char result[] = "{\"content\":[]}";
    puppet master = {.ctx = result};
    begin(&master, to_file());
    client *c = client_open(&fixture, LEGACY);
    (void)client_ask(c, "1", "t__a", "{}");
    assert_int_equal(count_lines(read_file()), 1);
    assert_int_equal(rename(path, other), 0);
    (void)client_ask(c, "2", "t__a", "{}");
    const char *text = read_file();
    assert_int_equal(count_lines(text), 1);
    assert_contains(text, "\"request\":2");
    assert_int_equal(unlink(path), 0);
    (void)client_ask(c, "3", "t__a", "{}");
    assert_contains(read_file(), "\"request\":3");
    fixture_stop(&fixture);
}

/* R09: a disk that is full costs records, which are counted; the calls go on, and later it does. */
static void test_a_full_disk(void **state)
{
    (void)state;
    static char result[] = "{\"content\":[]}";
    puppet master = {.ctx = result};
    hub_audit_settings settings = to_file();
    assert_int_equal(symlink("/dev/full", path), 0);
    begin(&master, settings);
    client *c = client_open(&fixture, LEGACY);
    for (int i = 0; i < 3; i++) {
        assert_contains(client_ask(c, "1", "t__a", "{}"), "\"result\"");
        hub_audit_flush(hub_audit_of(fixture.hub));
    }
    hub_audit_numbers numbers = hub_audit_count(hub_audit_of(fixture.hub));
    assert_int_equal(numbers.dropped, 3);
    assert_int_equal(numbers.written, 0);
    assert_true(numbers.is_failing);
    assert_true(fixture_logged(&fixture, "audit.failed"));
    assert_true(fixture_logged(&fixture, "No space left on device"));
    assert_int_equal(unlink(path), 0);
    (void)client_ask(c, "2", "t__a", "{}");
    const char *text = read_file();
    assert_int_equal(count_lines(text), 2);
    assert_contains(text, "\"outcome\":\"records_dropped\",\"count\":3,\"chain\":");
    assert_contains(text, "\"request\":2");
    assert_true(fixture_logged(&fixture, "audit.recovered dropped=3"));
    assert_false(hub_audit_count(hub_audit_of(fixture.hub)).is_failing);
    (void)client_ask(c, "3", "t__a", "{}");
    assert_int_equal(count_lines(read_file()), 3); /* it is said once */
    fixture_stop(&fixture);
}

/* R09: or it costs calls: none is made without a record, and no record is lost. */
static void test_strict(void **state)
{
    (void)state;
    static char result[] = "{\"content\":[]}";
    puppet master = {.ctx = result};
    hub_audit_settings settings = to_file();
    settings.is_strict = true;
    assert_int_equal(symlink("/dev/full", path), 0);
    begin(&master, settings);
    client *c = client_open(&fixture, LEGACY);
    assert_contains(client_ask(c, "1", "t__a", "{}"), "\"result\""); /* nobody knew */
    hub_audit_flush(hub_audit_of(fixture.hub));
    unsigned made = master.calls;
    const char *reply = client_ask(c, "2", "t__a", "{}");
    assert_contains(reply, "TOOL_UNAVAILABLE");
    assert_contains(reply, "log.audit_strict");
    assert_contains(reply, "\"retryable\":true");
    assert_int_equal(master.calls, made);
    hub_audit_numbers numbers = hub_audit_count(hub_audit_of(fixture.hub));
    assert_int_equal(numbers.waiting, 1);
    assert_int_equal(numbers.dropped, 0);
    assert_int_equal(numbers.refused, 1);
    assert_int_equal(unlink(path), 0);
    assert_contains(read_file(), "\"request\":1"); /* the retry, without waiting for it */
    assert_contains(client_ask(c, "3", "t__a", "{}"), "\"result\"");
    const char *text = read_file();
    assert_int_equal(count_lines(text), 2);
    assert_contains(text, "\"request\":3");
    fixture_stop(&fixture);
}

/* The file could not be written while that cost records alone; it can be when a reload makes the
 * audit strict. Nothing waits that could find this out. */
static void test_strict_after_a_failure(void **state)
{
    (void)state;
    static char result[] = "{\"content\":[]}";
    puppet master = {.ctx = result};
    hub_audit_settings settings = to_file();
    assert_int_equal(symlink("/dev/full", path), 0);
    begin(&master, settings);
    client *c = client_open(&fixture, LEGACY);
    (void)client_ask(c, "1", "t__a", "{}");
    hub_audit_flush(hub_audit_of(fixture.hub));
    assert_true(hub_audit_count(hub_audit_of(fixture.hub)).is_failing);
    assert_int_equal(unlink(path), 0);
    settings.is_strict = true;
    hub_audit_configure(hub_audit_of(fixture.hub), &settings);
    assert_contains(client_ask(c, "2", "t__a", "{}"), "\"content\":[]");
    assert_contains(read_file(), "\"request\":2");
    fixture_stop(&fixture);
}

/* As many calls are let in as there is room for their records, and not one more. */
static void test_strict_is_bounded(void **state)
{
    (void)state;
    puppet master = {.ctx = NULL};
    hub_audit_settings settings = to_file();
    settings.is_strict = true;
    master.tools = "[" TOOL("a") "]";
    master.on_call = on_call;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &master, true);
    fixture.settings.audit = settings;
    fixture.settings.limits.calls_per_session = HUB_LIMIT_AUDIT_RECORDS + 10;
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    char id[16];
    for (unsigned i = 1; i <= HUB_LIMIT_AUDIT_RECORDS; i++) {
        (void)snprintf(id, sizeof id, "%u", i);
        client_call(c, id, "t__a", "{}");
    }
    assert_int_equal(master.calls, HUB_LIMIT_AUDIT_RECORDS);
    assert_contains(client_ask(c, "9999", "t__a", "{}"), "too many records wait");
    assert_int_equal(master.calls, HUB_LIMIT_AUDIT_RECORDS);
    client_cancel(c, "1");
    hub_audit_flush(hub_audit_of(fixture.hub));
    client_call(c, "10000", "t__a", "{}");
    assert_int_equal(master.calls, HUB_LIMIT_AUDIT_RECORDS + 1);
    fixture_stop(&fixture);
}

/* Look at one thing of many, and return whether a line was written of it. */
static bool is_noted(unsigned thing)
{
    char what[32];
    size_t before = count_lines(read_file());
    (void)snprintf(what, sizeof what, "GET /api/v1/tools/%u", thing);
    const hub_audit_look look = {.who = HUB_STR("token:ann"),
                                 .transport = HUB_STR("http"),
                                 .method = HUB_STR("api"),
                                 .what = hub_str_of(what),
                                 .only_looks = true};
    assert_null(hub_audit_take_look(fixture.hub, &look));
    return count_lines(read_file()) > before;
}

/* So many looks are remembered, and the same again is not noted; one more, and the oldest is forgotten. */
static void test_looks(void **state)
{
    puppet master = {.ctx = NULL};
    (void)state;
    begin(&master, to_file());
    for (unsigned i = 0; i < HUB_LIMIT_AUDIT_LOOKS; i++) {
        assert_true(is_noted(i));
    }
    assert_false(is_noted(0));
    assert_true(is_noted(HUB_LIMIT_AUDIT_LOOKS));
    assert_false(is_noted(1));
    assert_true(is_noted(0));
    fixture_stop(&fixture);
}

/* What was handed over when the hub ends is written. */
static void test_the_end(void **state)
{
    (void)state;
    enum { CALLS = 1000 };
    static char result[] = "{\"content\":[]}";
    puppet master = {.ctx = result};
    begin(&master, to_file());
    client *c = client_open(&fixture, LEGACY);
    for (unsigned i = 0; i < CALLS; i++) {
        (void)client_ask(c, "1", "t__a", "{}");
        client_clear(c);
    }
    fixture_stop(&fixture);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = read(fd, content, sizeof content - 1);
    assert_true(len > 0);
    content[len] = '\0';
    (void)close(fd);
    assert_int_equal(count_lines(content), CALLS);
}

/* A write that fails half-way leaves no half of a line. */
static void test_no_torn_line(void **state)
{
    (void)state;
    hub_audit_file file = {.fd = -1};
    int ends[2];
    hub_error why;
    static char big[1 << 20];
    char byte[65536];
    (void)unlink(path);
    memset(big, 'x', sizeof big);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(hub_audit_file_open(&file, path, &why), HUB_ESYSTEM); /* nobody reads */
    assert_contains(why.text, path);
    ends[0] = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(ends[0] >= 0);
    hub_str lines = {.ptr = big, .len = sizeof big};
    assert_int_equal(hub_audit_file_write(&file, path, lines, &why), HUB_ESYSTEM);
    assert_true(file.is_torn);
    while (read(ends[0], byte, sizeof byte) > 0) {
    }
    assert_int_equal(hub_audit_file_write(&file, path, HUB_STR("good\n"), &why), HUB_OK);
    assert_int_equal(read(ends[0], byte, sizeof byte), 6);
    assert_memory_equal(byte, "\ngood\n", 6);
    hub_audit_file_close(&file);
    (void)close(ends[0]);
    (void)unlink(path);
}

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    (void)snprintf(path, sizeof path, "%s/audit.jsonl", folder);
    (void)snprintf(other, sizeof other, "%s/audit.jsonl.1", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(path);
    (void)unlink(other);
    return rmdir(folder);
}

/* The line break that ends a torn line stays when what follows it cannot be written. */
static void test_torn_once_more(void **state)
{
    (void)state;
    hub_audit_file file = {.fd = -1};
    hub_error why;
    char text[64] = "";
    struct rlimit before;
    (void)unlink(path);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(hub_audit_file_write(&file, path, HUB_STR("half"), &why), HUB_OK);
    file.is_torn = true;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 8, .rlim_max = before.rlim_max}), 0);
    assert_int_equal(hub_audit_file_write(&file, path, HUB_STR("whole\n"), &why), HUB_ESYSTEM);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(hub_audit_file_write(&file, path, HUB_STR("whole\n"), &why), HUB_OK);
    hub_audit_file_close(&file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(fd, text, sizeof text - 1), 11);
    (void)close(fd);
    assert_string_equal(text, "half\nwhole\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_record),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_a_wait_in_vain),
        cmocka_unit_test(test_a_trace),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_the_log),
        cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_a_full_disk),
        cmocka_unit_test(test_strict),
        cmocka_unit_test(test_strict_is_bounded),
        cmocka_unit_test(test_arguments_of_several_lines),
        cmocka_unit_test(test_strict_after_a_failure),
        cmocka_unit_test(test_torn_once_more),
        cmocka_unit_test(test_looks),
        cmocka_unit_test(test_the_end),
        cmocka_unit_test(test_no_torn_line),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
