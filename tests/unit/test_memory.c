/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that runs out, at every allocation in turn: an error, nothing half done, nothing left
 * behind (the leak checker looks). */
#include "fail_memory.h"
#include "tools/section_support.h"

#include "base/map.h"
#include "http/failures.h"
#include "http/session_table.h"
#include "modules/instance_internal.h"

#include <ev.h>
#include <fcntl.h>
#include <unistd.h>

/* ---- streams --------------------------------------------------------------------------------- */

static void ignore_message(void *ctx, patchbay_str line)
{
    (void)ctx;
    (void)line;
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* include/patchbay/stream.h: "On failure both descriptors are closed." */
static void check_stream(bool one_fd)
{
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    hub_module_env env = {.loop = loop, .max_message_bytes = 1024};
    hub_instance instance = {.env = &env};
    size_t failed = 0;
    for (size_t n = 1;; n++) {
        int ends[2];
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        if (one_fd) {
            assert_int_equal(close(ends[1]), 0);
            ends[1] = ends[0];
        }
        const patchbay_stream_options options = {
            .struct_size = sizeof options,
            .read_fd = ends[0],
            .write_fd = ends[1],
            .max_message_bytes = 1024,
            .max_queue_bytes = 1024,
            .on_message = ignore_message,
            .on_end = ignore_message,
        };
        patchbay_stream *stream = NULL;
        bool is_failing = memory_fails_at(n);
        int32_t result = HUB_HOST_STREAM.open(&instance, &options, &stream);
        bool has_failed = memory_has_failed();
        assert_int_equal(result, has_failed ? PATCHBAY_ENOMEM : PATCHBAY_OK);
        assert_true(has_failed || (is_open(ends[0]) && is_open(ends[1])));
        HUB_HOST_STREAM.close(stream); /* NULL is fine */
        assert_false(is_open(ends[0]));
        assert_false(is_open(ends[1]));
        assert_null(instance.holdings);
        failed += has_failed;
        if (!is_failing) {
            break;
        }
    }
    assert_int_equal(failed, 2); /* the wrapper's and the stream's own */
    ev_loop_destroy(loop);
}

static void test_streams_close_what_they_were_given(void **state)
{
    (void)state;
    check_stream(false);
    check_stream(true);
}

/* ---- answers --------------------------------------------------------------------------------- */

typedef struct finished {
    struct ev_loop *loop;
    uint64_t call;
    int32_t status;
    char text[64];
    bool fails; /* the plugin's thread gets no memory */
    int32_t result;
    hub_instance *instance;
} finished;

static bool keep_finish(void *ctx, uint64_t call, int32_t status, hub_str json, int32_t flags)
{
    finished *of = ctx;
    (void)flags;
    of->call = call;
    of->status = status;
    (void)snprintf(of->text, sizeof of->text, HUB_STR_FMT, HUB_STR_ARG(json));
    ev_break(of->loop, EVBREAK_ALL);
    return true;
}

static void *finish_on_a_thread(void *arg)
{
    finished *of = arg;
    bool counts = memory_fails_at(1);
    memory_fail_at = of->fails ? 1 : 0;
    of->result = HUB_HOST_API.finish(of->instance, (patchbay_call){.id = 7}, PATCHBAY_RESULT,
                                     hub_str_of("{\"content\":[]}"));
    (void)memory_has_failed();
    return counts ? of : NULL;
}

static void check_finish(bool fails, int32_t result, int32_t status, const char *text)
{
    static const hub_instance_events EVENTS = {.on_finish = keep_finish};
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    hub_module_env *env = NULL;
    assert_int_equal(hub_module_env_create(loop, NULL, NULL, &env), HUB_OK);
    finished of = {.loop = loop, .fails = fails};
    hub_instance instance = {.env = env, .key = "a", .events = &EVENTS, .ctx = &of};
    of.instance = &instance;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, finish_on_a_thread, &of), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(of.result, result);
    hub_module_env_drain(env);
    assert_int_equal(of.call, 7);
    assert_int_equal(of.status, status);
    assert_string_equal(of.text, text);
    assert_int_equal(instance.pending, 0);
    hub_module_env_destroy(env);
    ev_loop_destroy(loop);
}

/* include/patchbay/plugin.h, finish: a call whose answer finds no memory on its way ends all the
 * same. */
static void test_answers_from_threads(void **state)
{
    (void)state;
    check_finish(false, PATCHBAY_OK, PATCHBAY_RESULT, "{\"content\":[]}");
    check_finish(true, PATCHBAY_ENOMEM, PATCHBAY_FAILED, "out of memory");
}

/* ---- catalogs and views ---------------------------------------------------------------------- */

static const char TOOLS[] = "[" TOOL_WITH("a", "\"title\":\"A\",") "," TOOL(
    "b\\u0041") ",{\"name\":\"c\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
                "\"x\":{\"type\":\"string\",\"pattern\":\"^a+$\"},\"y\":{\"$ref\":\"#/$defs/"
                "z\"}},\"required\":[\"x\"],\"$defs\":{\"z\":{\"enum\":[1,2]}}}}]";

/* A catalog is whole, or there is none: no item is left out because memory was short. */
static void test_catalogs(void **state)
{
    (void)state;
    size_t failed = 0;
    bool is_failing = true;
    for (size_t n = 1; is_failing; n++) {
        hub_catalog *catalog = NULL;
        reports dropped = {.count = 0};
        is_failing = memory_fails_at(n);
        hub_err err = hub_catalog_parse(HUB_KIND_TOOL, hub_str_of(TOOLS), true, keep_report,
                                        &dropped, &catalog, NULL);
        bool has_failed = memory_has_failed();
        if (dropped.count > 0) {
            fail_msg("allocation %zu: %s", n, dropped.last);
        }
        assert_int_equal(err, has_failed ? HUB_ENOMEM : HUB_OK);
        if (!has_failed) {
            assert_int_equal(catalog->count, 3);
        }
        hub_catalog_unref(catalog);
        failed += has_failed;
    }
    assert_true(failed > 10);
}

static void test_exposures(void **state)
{
    (void)state;
    setup s = make_setup(HUB_NAMING_DOT);
    (void)add(&s, "one", "[" TOOL("a") "," TOOL("b") "]", true);
    (void)add(&s, "two", "[" TOOL("a") "," TOOL("c") "]", false);
    size_t failed = 0;
    bool is_failing = true;
    for (size_t n = 1; is_failing; n++) {
        hub_exposure *view = NULL;
        is_failing = memory_fails_at(n);
        hub_err err = try_build(&s, &view);
        bool has_failed = memory_has_failed();
        assert_int_equal(err, has_failed ? HUB_ENOMEM : HUB_OK);
        assert_int_equal(s.left_out.count, 0);
        if (!has_failed) {
            assert_int_equal(count_tools(view), 4);
        }
        hub_exposure_destroy(view);
        failed += has_failed;
    }
    assert_true(failed > 5);
    clear(&s);
}

/* A change takes names from tools of other toolsets, in several exposures. It happens entirely or not
 * at all, whatever allocation fails; a later one finds all in order. */
static void test_changes(void **state)
{
    static const char BEFORE[] = "[" TOOL("a") "," TOOL("b") "]";
    static const char AFTER[] = "[" TOOL("b") "," TOOL("c") "," TOOL("d") "," TOOL("x y") "]";
    (void)state;
    size_t failed = 0;
    bool is_failing = true;
    for (size_t n = 1; is_failing; n++) {
        setup s = make_setup(HUB_NAMING_NONE);
        hub_exposure *one = NULL;
        hub_exposure *two = NULL;
        (void)add(&s, "one", BEFORE, false);
        (void)add(&s, "two", "[" TOOL("c") "," TOOL("x_y") "]", false);
        (void)add(&s, "three", "[" TOOL("d") "]", true);
        one = build(&s);
        hub_base *base = hub_exposure_base(one);
        assert_int_equal(
            hub_exposure_create(base, &s.policies, &s.sources[1], 1, NULL, NULL, &two, NULL),
            HUB_OK);
        hub_catalog *next = parse(AFTER);
        is_failing = memory_fails_at(n);
        hub_err err = hub_base_update(base, HUB_STR("one"), HUB_KIND_TOOL, next, NULL);
        bool has_failed = memory_has_failed();
        assert_int_equal(err, has_failed ? HUB_ENOMEM : HUB_OK);
        if (has_failed) {
            expect_names(one, "a b d c x_y");
            expect_names(two, "c x_y");
            assert_int_equal(hub_base_update(base, HUB_STR("one"), HUB_KIND_TOOL, next, NULL),
                             HUB_OK);
        }
        expect_names(one, "b one__c one__d one__x_y d two__c two__x_y");
        expect_names(two, "two__c two__x_y");
        hub_catalog_unref(next);
        hub_exposure_destroy(two);
        hub_exposure_destroy(one);
        clear(&s);
        failed += has_failed;
    }
    assert_true(failed > 10);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* A map of uthash: an element that does not fit stays out, and the others can be found. */
typedef struct number {
    int key;
    UT_hash_handle hh;
} number;

enum { NUMBERS = 2000 }; /* enough for several enlargements */

static number *find_number(number *table, int key)
{
    number *found = NULL;
    HASH_FIND_INT(table, &key, found);
    return found;
}

static size_t fill(number **table, number *numbers)
{
    size_t kept = 0;
    for (int i = 0; i < NUMBERS; i++) {
        numbers[i].key = i;
        HASH_ADD_INT(*table, key, &numbers[i]);
        kept += hub_map_has_taken(&numbers[i].hh);
    }
    return kept;
}

static void test_maps(void **state)
{
    (void)state;
    number *numbers = calloc(NUMBERS, sizeof *numbers);
    size_t failed = 0;
    bool is_failing = true;
    for (size_t n = 1; is_failing; n++) {
        number *table = NULL;
        is_failing = memory_fails_at(n);
        size_t kept = fill(&table, numbers);
        bool has_failed = memory_has_failed();
        assert_int_equal(kept, NUMBERS - has_failed);
        assert_int_equal(HASH_COUNT(table), kept);
        for (int i = 0; i < NUMBERS; i++) {
            number *want = hub_map_has_taken(&numbers[i].hh) ? &numbers[i] : NULL;
            assert_ptr_equal(find_number(table, i), want);
        }
        HASH_CLEAR(hh, table);
        failed += has_failed;
    }
    assert_true(failed > 3);
    free(numbers);
}

static void test_sessions(void **state)
{
    (void)state;
    size_t failed = 0;
    bool is_failing = true;
    for (size_t n = 1; is_failing; n++) {
        hub_session_entry entries[2] = {{.users = 0}};
        hub_session_table *table = hub_session_table_create(10, 10);
        is_failing = memory_fails_at(n);
        hub_err first = hub_session_table_add(table, &entries[0], "ann", "::1");
        hub_err second = hub_session_table_add(table, &entries[1], "bob", "::1");
        bool has_failed = memory_has_failed();
        assert_int_equal((first == HUB_ENOMEM) + (second == HUB_ENOMEM), has_failed);
        size_t found = 0;
        for (hub_session_entry *entry; (entry = hub_session_table_any(table)) != NULL; found++) {
            hub_session_table_remove(table, entry);
        }
        assert_int_equal(found, 2 - has_failed);
        hub_session_table_destroy(table);
        failed += has_failed;
    }
    assert_int_equal(failed, 12); /* of three tables two of the first; two owners, two shares … */
}

/* What cannot be remembered is not counted; nobody is refused for it. */
static void test_failures(void **state)
{
    (void)state;
    size_t failed = 0;
    bool is_failing = true;
    for (size_t n = 1; is_failing; n++) {
        hub_http_failures *failures = hub_http_failures_create();
        is_failing = memory_fails_at(n);
        assert_false(hub_http_failures_note(failures, "10.0.0.1", 1000));
        bool has_failed = memory_has_failed();
        assert_int_equal(hub_http_failures_wait_s(failures, "10.0.0.1", 1000), 0);
        hub_http_failures_destroy(failures);
        failed += has_failed;
    }
    assert_int_equal(failed, 3); /* the entry, and two of the table */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams_close_what_they_were_given),
        cmocka_unit_test(test_answers_from_threads),
        cmocka_unit_test(test_catalogs),
        cmocka_unit_test(test_exposures),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_sessions),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
