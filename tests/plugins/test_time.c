/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_host.h"
#include "time/cases.h"
#include "time/instants.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static fake_host *host;

/* ---- checking ---------------------------------------------------------------------------------
 */

/* Whether `actual` has everything that `wanted` has: objects by member, all else exactly. */
static int contains(const json_t *actual, const json_t *wanted)
{
    const char *key;
    json_t *value;
    if (json_is_number(wanted)) { /* 1 is 1.0 */
        return json_is_number(actual) && json_number_value(actual) == json_number_value(wanted);
    }
    if (!json_is_object(wanted)) {
        return json_equal(actual, wanted);
    }
    void *at = json_object_iter((json_t *)(uintptr_t)wanted);
    for (; at != NULL; at = json_object_iter_next((json_t *)(uintptr_t)wanted, at)) {
        key = json_object_iter_key(at);
        value = json_object_iter_value(at);
        if (!contains(json_object_get(actual, key), value)) {
            return 0;
        }
    }
    return 1;
}

/* Call a tool and return its structured content, which its text block must repeat. */
static json_t *call_ok(const char *tool, const char *args)
{
    fake_result result = fake_host_call(host, tool, args);
    if (result.status != PATCHBAY_RESULT) {
        fail_msg("%s %s: status %d: %s", tool, args, (int)result.status, result.json);
    }
    json_t *all = json_loads(result.json, 0, NULL);
    json_t *structured = json_incref(json_object_get(all, "structuredContent"));
    json_t *block = json_array_get(json_object_get(all, "content"), 0);
    json_t *twin = json_loads(json_string_value(json_object_get(block, "text")), 0, NULL);
    assert_true(json_equal(twin, structured));
    json_decref(twin);
    json_decref(all);
    fake_result_free(&result);
    return structured;
}

static void check_call(const call_case *c)
{
    if (c->error != NULL) {
        fake_result result = fake_host_call(host, c->tool, c->args);
        if (result.status != PATCHBAY_INVALID_INPUT || strstr(result.json, c->error) == NULL) {
            fail_msg("%s %s: status %d: %s", c->tool, c->args, (int)result.status, result.json);
        }
        fake_result_free(&result);
        return;
    }
    json_t *actual = call_ok(c->tool, c->args);
    json_t *wanted = json_loads(c->wanted, 0, NULL);
    assert_non_null(wanted);
    if (!contains(actual, wanted)) {
        char *text = json_dumps(actual, JSON_INDENT(1));
        fail_msg("%s %s\nis not %s\nbut %s", c->tool, c->args, c->wanted, text);
    }
    json_decref(wanted);
    json_decref(actual);
}

static void check_calls(const call_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        check_call(&cases[i]);
    }
}

/* ---- instants ---------------------------------------------------------------------------------
 */

static void test_instants_shown_in_zones(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(instant_cases); i++) {
        const instant_case *c = &instant_cases[i];
        char args[256];
        char wanted[512];
        (void)snprintf(args, sizeof args, "{\"text\":%lld,\"zone\":\"%s\"}", (long long)c->seconds,
                       c->zone);
        if (c->seconds >= INT64_C(100000000000)) { /* would be milliseconds */
            (void)snprintf(args, sizeof args, "{\"text\":%lld000,\"zone\":\"%s\"}",
                           (long long)c->seconds, c->zone);
        }
        (void)snprintf(wanted, sizeof wanted,
                       "{\"iso\":\"%s\",\"unix\":%lld,\"zone\":\"%s\",\"abbreviation\":\"%s\","
                       "\"dst\":%s,\"ambiguous\":false,\"gap\":false}",
                       c->iso, (long long)c->seconds, c->zone, c->abbrev,
                       c->is_dst ? "true" : "false");
        call_case both = {"parse", args, wanted, NULL};
        check_call(&both);
    }
}

/* The same the other way round: what the clock shows, read back, is the instant. */
static void test_instants_read_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(instant_cases); i++) {
        const instant_case *c = &instant_cases[i];
        char args[256];
        size_t len = strlen(c->iso);
        if (len > strlen("2024-01-01T00:00:00+00:00")) {
            continue; /* an offset with seconds is no RFC 3339 */
        }
        (void)snprintf(args, sizeof args, "{\"text\":\"%s\"}", c->iso);
        json_t *read = call_ok("parse", args);
        assert_int_equal(json_integer_value(json_object_get(read, "unix")), c->seconds);
        json_decref(read);
        /* Without its offset it is local time: this instant, or the other of two. */
        (void)snprintf(args, sizeof args, "{\"text\":\"%.19s\",\"zone\":\"%s\"}", c->iso, c->zone);
        read = call_ok("parse", args);
        int64_t seconds = json_integer_value(json_object_get(read, "unix"));
        if (json_is_true(json_object_get(read, "ambiguous"))) {
            json_t *second = json_array_get(json_object_get(read, "candidates"), 1);
            assert_true(seconds == c->seconds || strcmp(json_string_value(second), c->iso) == 0);
        } else {
            assert_int_equal(seconds, c->seconds);
        }
        json_decref(read);
    }
}

static void test_local_times(void **state)
{
    (void)state;
    check_calls(local_time_cases, COUNT(local_time_cases));
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static void test_notations(void **state)
{
    (void)state;
    check_calls(notation_cases, COUNT(notation_cases));
}

static void test_refusals(void **state)
{
    (void)state;
    check_calls(refusal_cases, COUNT(refusal_cases));
}

/* ---- writing ----------------------------------------------------------------------------------
 */

static void test_formats(void **state)
{
    (void)state;
    check_calls(format_cases, COUNT(format_cases));
}

static void test_convert_to_several(void **state)
{
    (void)state;
    json_t *result = call_ok("convert", "{\"time\":\"2024-07-01T12:00\",\"from\":\"UTC\",\"to\":["
                                        "\"Asia/Kathmandu\",\"America/New_York\",\"Z\"]}");
    json_t *to = json_object_get(result, "to");
    static const char *const wanted[] = {"2024-07-01T17:45:00+05:45", "2024-07-01T08:00:00-04:00",
                                         "2024-07-01T12:00:00+00:00"};
    assert_int_equal(json_array_size(to), 3);
    for (size_t i = 0; i < 3; i++) {
        json_t *iso = json_object_get(json_array_get(to, i), "iso");
        assert_string_equal(json_string_value(iso), wanted[i]);
    }
    json_decref(result);
}

/* ---- durations --------------------------------------------------------------------------------
 */

static void test_additions(void **state)
{
    (void)state;
    check_calls(addition_cases, COUNT(addition_cases));
}

static void test_differences(void **state)
{
    (void)state;
    check_calls(difference_cases, COUNT(difference_cases));
}

/* ---- zones ------------------------------------------------------------------------------------
 */

static void test_zone_search(void **state)
{
    static const call_case cases[] = {
        {"zones", "{\"query\":\"europe/BERLIN\"}", "{\"total\":1}", NULL},
        {"zones", "{\"query\":\"new york\",\"limit\":1}", "{\"total\":1}", NULL},
        {"zones", "{\"query\":\"Evrope/Berlim\"}", "{\"total\":0,\"zones\":[]}", NULL},
    };
    (void)state;
    check_calls(cases, COUNT(cases));
    json_t *result = call_ok("zones", "{\"query\":\"kathmandu\"}");
    json_t *zone = json_array_get(json_object_get(result, "zones"), 0);
    assert_string_equal(json_string_value(json_object_get(zone, "name")), "Asia/Kathmandu");
    assert_string_equal(json_string_value(json_object_get(zone, "offset")), "+05:45");
    json_decref(result);
    result = call_ok("zones", "{}");
    assert_int_equal(json_array_size(json_object_get(result, "zones")), 50);
    assert_true(json_integer_value(json_object_get(result, "total")) > 400);
    json_decref(result);
    result = call_ok("zones", "{\"query\":\"Evrope/Berlim\"}");
    json_t *nearest = json_array_get(json_object_get(result, "nearest"), 0);
    assert_string_equal(json_string_value(nearest), "Europe/Berlin");
    json_decref(result);
}

/* ---- the instance -----------------------------------------------------------------------------
 */

static void test_tool_list(void **state)
{
    (void)state;
    json_t *tools = json_loads(fake_host_tools(host), 0, NULL);
    size_t i;
    json_t *tool;
    assert_int_equal(json_array_size(tools), 7);
    json_array_foreach(tools, i, tool)
    {
        json_t *hints = json_object_get(tool, "annotations");
        assert_true(json_is_true(json_object_get(hints, "readOnlyHint")));
        assert_true(json_is_true(json_object_get(hints, "idempotentHint")));
        assert_true(json_is_false(json_object_get(hints, "destructiveHint")));
        assert_true(json_is_false(json_object_get(hints, "openWorldHint")));
        assert_true(json_is_object(json_object_get(tool, "outputSchema")));
    }
    json_decref(tools);
}

static void test_default_zone(void **state)
{
    char error[FAKE_HOST_ERROR_BYTES];
    fake_host *shared = host;
    (void)state;
    assert_null(fake_host_load(PLUGIN_PATH, "{\"default_zone\":\"Europe/Pariss\"}", error));
    assert_non_null(strstr(error, "'Europe/Paris'"));
    host = fake_host_load(PLUGIN_PATH, "{\"default_zone\":\"Europe/Paris\"}", error);
    static const call_case paris = {"parse", "{\"text\":\"2024-07-01T12:00\"}",
                                    "{\"iso\":\"2024-07-01T12:00:00+02:00\"}", NULL};
    check_call(&paris);
    fake_host_unload(host);
    assert_int_equal(setenv("TZ", ":Asia/Tokyo", 1), 0);
    host = fake_host_load(PLUGIN_PATH, "{}", error);
    assert_int_equal(unsetenv("TZ"), 0);
    static const call_case tokyo = {"parse", "{\"text\":\"2024-07-01T12:00\"}",
                                    "{\"zone\":\"Asia/Tokyo\"}", NULL};
    check_call(&tokyo);
    fake_host_unload(host);
    host = shared;
}

typedef struct bad_file {
    const char *name;
    size_t offset; /* of the byte to change, in a good file; from its end if `from_end` */
    int from_end;
    unsigned char byte;
    const char *error;
} bad_file;

static void write_file(const char *folder, const char *name, const unsigned char *bytes, size_t len)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static void remove_file(const char *folder, const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(unlink(path), 0);
}

/* A version 2 file: an empty first block, then one transition at 0 from LMT to XST, and a rule. */
static const unsigned char good_file[] = "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                         "\0\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0"
                                         "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                         "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0\10"
                                         "\0\0\0\0\0\0\0\0\1"
                                         "\0\0\3\204\0\0\0\0\16\20\0\4"
                                         "LMT\0XST\0"
                                         "\nXST-1\n";
#define GOOD_BYTES   (sizeof good_file - 1)
#define SECOND_BLOCK 51

/* Make `host` one that reads its zones from a new, empty folder. */
static void load_with_folder(char *template)
{
    char error[FAKE_HOST_ERROR_BYTES];
    assert_non_null(mkdtemp(template));
    assert_int_equal(setenv("TZDIR", template, 1), 0);
    host = fake_host_load(PLUGIN_PATH, "{}", error);
    assert_int_equal(unsetenv("TZDIR"), 0);
    assert_non_null(host);
}

static void test_zone_files(void **state)
{
    static const bad_file cases[] = {
        {"Magic", 0, 0, 'X', "not a TZif file"},
        {"Version", 4, 0, 0, "version 1"},
        {"Second_magic", SECOND_BLOCK, 0, 'X', "cut short"},
        {"Leap", SECOND_BLOCK + 31, 0, 1, "leap seconds"},
        {"Too_many", SECOND_BLOCK + 32, 0, 0x7f, "2130706433 transitions"},
        {"No_types", SECOND_BLOCK + 39, 0, 0, "0 types"},
        {"Longer", SECOND_BLOCK + 34, 0, 1, "cut short"},
        {"Type_index", SECOND_BLOCK + 44 + 8, 0, 2, "a type that is not there"},
        {"Offset", SECOND_BLOCK + 44 + 9, 0, 0x7f, "type 0 is out of range"},
        {"Abbrev_index", SECOND_BLOCK + 44 + 9 + 5, 0, 8, "type 0 is out of range"},
        {"Abbrev_byte", SECOND_BLOCK + 44 + 9 + 12, 0, '\n', "not ASCII"},
        {"Abbrev_end", SECOND_BLOCK + 44 + 9 + 19, 0, 'X', "do not end"},
        {"Footer", 1, 1, 'X', "no footer"},
        {"Rule", 2, 1, ':', "its rule"},
    };
    char folder[] = "/tmp/patchbay-zones-XXXXXX";
    fake_host *shared = host;
    (void)state;
    load_with_folder(folder);
    static const call_case no_zones = {"now", "{\"zone\":\"Asia/Tokyo\"}", NULL, "tzdata"};
    check_call(&no_zones);
    write_file(folder, "Good", good_file, GOOD_BYTES);
    static const call_case before = {"parse", "{\"text\":-1,\"zone\":\"Good\"}",
                                     "{\"offset\":\"+00:15\",\"abbreviation\":\"LMT\"}", NULL};
    static const call_case after = {"parse", "{\"text\":0,\"zone\":\"Good\"}",
                                    "{\"offset\":\"+01:00\",\"abbreviation\":\"XST\"}", NULL};
    check_call(&before);
    check_call(&after);
    for (size_t i = 0; i < COUNT(cases); i++) {
        unsigned char bytes[GOOD_BYTES];
        char args[64];
        memcpy(bytes, good_file, GOOD_BYTES);
        bytes[cases[i].from_end ? GOOD_BYTES - cases[i].offset : cases[i].offset] = cases[i].byte;
        write_file(folder, cases[i].name, bytes, GOOD_BYTES);
        (void)snprintf(args, sizeof args, "{\"zone\":\"%s\"}", cases[i].name);
        call_case bad = {"now", args, NULL, cases[i].error};
        check_call(&bad);
        remove_file(folder, cases[i].name);
    }
    for (size_t len = 0; len < GOOD_BYTES; len++) { /* every way of being cut short */
        write_file(folder, "Cut", good_file, len);
        static const call_case cut = {"now", "{\"zone\":\"Cut\"}", NULL, "is unusable"};
        check_call(&cut);
    }
    remove_file(folder, "Cut");
    remove_file(folder, "Good");
    assert_int_equal(rmdir(folder), 0);
    fake_host_unload(host);
    host = shared;
}

static void test_rules(void **state)
{
    char folder[] = "/tmp/patchbay-zones-XXXXXX";
    fake_host *shared = host;
    size_t start = GOOD_BYTES - strlen("XST-1\n");
    (void)state;
    load_with_folder(folder);
    for (size_t i = 0; i < COUNT(rule_cases); i++) {
        const instant_case *c = &rule_cases[i];
        unsigned char bytes[GOOD_BYTES + 100];
        char args[64];
        char wanted[256];
        memcpy(bytes, good_file, start);
        int len = snprintf((char *)bytes + start, sizeof bytes - start, "%s\n", c->zone);
        write_file(folder, "Rule", bytes, start + (size_t)len);
        (void)snprintf(args, sizeof args, "{\"text\":%lld,\"zone\":\"Rule\"}",
                       (long long)c->seconds);
        (void)snprintf(wanted, sizeof wanted, "{\"iso\":\"%s\",\"abbreviation\":\"%s\",\"dst\":%s}",
                       c->iso, c->abbrev, c->is_dst ? "true" : "false");
        call_case rule = {"parse", args, wanted, NULL};
        check_call(&rule);
    }
    remove_file(folder, "Rule");
    assert_int_equal(rmdir(folder), 0);
    fake_host_unload(host);
    host = shared;
}

static int load(void **state)
{
    char error[FAKE_HOST_ERROR_BYTES];
    (void)state;
    if (access("/usr/share/zoneinfo/Europe/Berlin", R_OK) != 0) {
        print_error("these tests need the package tzdata\n");
        return -1;
    }
    host = fake_host_load(PLUGIN_PATH, "{}", error);
    return host != NULL ? 0 : -1;
}

static int unload(void **state)
{
    (void)state;
    fake_host_unload(host);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tool_list),
        cmocka_unit_test(test_instants_shown_in_zones),
        cmocka_unit_test(test_instants_read_back),
        cmocka_unit_test(test_local_times),
        cmocka_unit_test(test_notations),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_convert_to_several),
        cmocka_unit_test(test_additions),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_zone_search),
        cmocka_unit_test(test_default_zone),
        cmocka_unit_test(test_zone_files),
        cmocka_unit_test(test_rules),
    };
    return cmocka_run_group_tests_name("plugin.time", tests, load, unload);
}
