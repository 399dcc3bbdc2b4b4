/* SPDX-License-Identifier: Apache-2.0 */
/* Saved toolsets as documents (S3.10, S3.89, S3.90, S3.93). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "hub/saved/document.h"

#include <stdio.h>
#include <stdlib.h>

#define HEX "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static hub_error why;

static hub_saved *read_good(const char *name, const char *json)
{
    hub_saved *saved = NULL;
    if (hub_saved_read(hub_str_of(name), hub_str_of(json), &saved, &why) != HUB_OK) {
        fail_msg("%s: %s", json, why.text);
    }
    return saved;
}

static void assert_text(hub_str text, const char *wanted)
{
    if (!hub_str_is(text, wanted)) {
        fail_msg("\"" HUB_STR_FMT "\" is not \"%s\"", HUB_STR_ARG(text), wanted);
    }
}

static void test_reading(void **state)
{
    (void)state;
    hub_saved *saved = read_good(
        "dev",
        "{\"name\":\"other\",\"description\":\"For \\u00e4ll\",\"version\":7,\"owner\":\"local\","
        "\"createdAt\":\"2026-11-24T18:00:00Z\",\"tools\":[\"git:status\","
        "{\"id\":\"docker:a:b\",\"digest\":\"" HEX "\"}]}");
    assert_text(saved->name, "dev"); /* what it is kept under */
    assert_text(saved->description, "For \xc3\xa4ll");
    assert_text(saved->created_at, "2026-11-24T18:00:00Z");
    assert_text(saved->owner, "local");
    assert_int_equal(saved->version, 7);
    assert_int_equal(saved->count, 2);
    assert_text(saved->tools[0].toolset, "git");
    assert_text(saved->tools[0].tool, "status");
    assert_false(saved->tools[0].has_digest);
    assert_text(saved->tools[1].tool, "a:b");
    assert_true(saved->tools[1].has_digest);
    assert_int_equal(saved->tools[1].digest[1], 0x11);
    hub_saved_destroy(saved);
}

/* A file of HyperTool: names with dots, digests of another kind, a version that is a text. */
static void test_hypertool(void **state)
{
    (void)state;
    hub_saved *saved =
        read_good("", "{\"name\":\"dev-essentials\",\"version\":\"1.0.0\",\"tools\":["
                      "{\"namespacedName\":\"git.status\",\"refId\":\"" HEX "\"}]}");
    assert_text(saved->name, "dev-essentials");
    assert_int_equal(saved->version, 1);
    assert_text(saved->tools[0].toolset, "git");
    assert_text(saved->tools[0].tool, "status");
    assert_false(saved->tools[0].has_digest);
    hub_saved_destroy(saved);
}

/* What is written is read as the same. */
static void test_writing(void **state)
{
    (void)state;
    hub_saved *saved = read_good("dev", "{\"description\":\"a \\\"b\\\"\",\"version\":3,\"tools\":["
                                        "\"git:x\",{\"id\":\"git:y\",\"digest\":\"" HEX "\"}]}");
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_STATE_DOCUMENT_BYTES);
    hub_saved_write(saved, &out);
    assert_true(hub_buf_ok(&out));
    assert_text(hub_buf_str(&out),
                "{\"name\":\"dev\",\"description\":\"a \\\"b\\\"\",\"version\":3,\"tools\":["
                "{\"id\":\"git:x\"},{\"id\":\"git:y\",\"digest\":\"" HEX "\"}]}");
    hub_saved_destroy(saved);
    hub_buf_fini(&out);
}

static void test_wrong(void **state)
{
    static const struct {
        const char *name;
        const char *json;
        hub_err err;
        const char *text;
    } CASES[] = {
        {"dev", "[]", HUB_EPARSE, "wanted a JSON object"},
        {"dev", "{\"tools\":[\"a:b\"]", HUB_EPARSE, ""},
        {"dev", "{}", HUB_EINVAL, "tools: wanted a list"},
        {"dev", "{\"tools\":[]}", HUB_EINVAL, "at least one tool"},
        {"dev", "{\"tools\":[\"nocolon\"]}", HUB_EINVAL, "tools[0]: \"nocolon\" is not the id"},
        {"dev", "{\"tools\":[\"git.status\"]}", HUB_EINVAL, "wanted TOOLSET:TOOL"},
        {"dev", "{\"tools\":[\"a:b\",\"git:\"]}", HUB_EINVAL, "tools[1]"},
        {"dev", "{\"tools\":[\"Git:x\"]}", HUB_EINVAL, "tools[0]"},
        {"dev", "{\"tools\":[7]}", HUB_EINVAL, "tools[0]"},
        {"dev", "{\"tools\":[{\"id\":7}]}", HUB_EINVAL, "id: wanted a text"},
        {"dev", "{\"tools\":[{\"id\":\"a:b\",\"digest\":\"12\"}]}", HUB_EINVAL, "64 hexadecimal"},
        {"dev", "{\"description\":1,\"tools\":[\"a:b\"]}", HUB_EINVAL,
         "description: wanted a text"},
        {"", "{\"tools\":[\"a:b\"]}", HUB_EINVAL, "cannot be the name"},
        {"Dev", "{\"tools\":[\"a:b\"]}", HUB_EINVAL, "cannot be the name"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_saved *saved = NULL;
        hub_err err =
            hub_saved_read(hub_str_of(CASES[i].name), hub_str_of(CASES[i].json), &saved, &why);
        assert_null(saved);
        if (err != CASES[i].err || strstr(why.text, CASES[i].text) == NULL) {
            fail_msg("%s: %d, %s", CASES[i].json, err, why.text);
        }
    }
}

/* S3.89: 2 to 50 of a-z, 0-9, '-'; 200 characters, not bytes. */
static void test_limits(void **state)
{
    char text[2 * (HUB_LIMIT_SAVED_DESCRIPTION_CHARS + 1) + 1];
    (void)state;
    memset(text, 'a', sizeof text);
    assert_int_equal(hub_saved_check_name((hub_str){text, 1}, NULL), HUB_EINVAL);
    assert_int_equal(hub_saved_check_name((hub_str){text, 2}, NULL), HUB_OK);
    assert_int_equal(hub_saved_check_name((hub_str){text, 50}, NULL), HUB_OK);
    assert_int_equal(hub_saved_check_name((hub_str){text, 51}, NULL), HUB_EINVAL);
    assert_int_equal(hub_saved_check_name(HUB_STR("a_b"), NULL), HUB_EINVAL);
    assert_int_equal(hub_saved_check_name(HUB_STR("-0"), NULL), HUB_OK);
    for (size_t i = 0; i < HUB_LIMIT_SAVED_DESCRIPTION_CHARS + 1; i++) {
        memcpy(&text[2 * i], "\xc3\xa4", 2);
    }
    hub_str most = {text, 2 * HUB_LIMIT_SAVED_DESCRIPTION_CHARS};
    assert_int_equal(hub_saved_check_description(most, NULL), HUB_OK);
    most.len += 2;
    assert_int_equal(hub_saved_check_description(most, NULL), HUB_EINVAL);
}

static void test_number_of_tools(void **state)
{
    (void)state;
    for (size_t count = HUB_LIMIT_SAVED_TOOLS; count <= HUB_LIMIT_SAVED_TOOLS + 1; count++) {
        hub_buf json;
        hub_saved *saved = NULL;
        hub_buf_init(&json, HUB_LIMIT_SAVED_FILE_BYTES);
        hub_buf_add(&json, HUB_STR("{\"tools\":["));
        for (size_t i = 0; i < count; i++) {
            hub_buf_printf(&json, "%s\"git:t%zu\"", i > 0 ? "," : "", i);
        }
        hub_buf_add(&json, HUB_STR("]}"));
        hub_err err = hub_saved_read(HUB_STR("dev"), hub_buf_str(&json), &saved, &why);
        assert_int_equal(err, count == HUB_LIMIT_SAVED_TOOLS ? HUB_OK : HUB_ELIMIT);
        hub_saved_destroy(saved);
        hub_buf_fini(&json);
    }
}

static void test_selection(void **state)
{
    hub_selection *selection = NULL;
    (void)state;
    hub_saved *saved = read_good("dev", "{\"tools\":[\"b:y\",\"a:z\",\"b:x\",\"a-b:q\",\"b:y\"]}");
    assert_int_equal(hub_saved_select(saved, &selection), HUB_OK);
    hub_saved_destroy(saved); /* it has its own texts */
    assert_int_equal(hub_selection_count(selection), 4);
    assert_non_null(hub_selection_find(selection, HUB_STR("b"), HUB_STR("x")));
    assert_null(hub_selection_find(selection, HUB_STR("b"), HUB_STR("z")));
    assert_null(hub_selection_find(selection, HUB_STR("c"), HUB_STR("x")));
    hub_str key = hub_selection_next_toolset(selection, HUB_STR_EMPTY);
    assert_text(key, "a");
    key = hub_selection_next_toolset(selection, key);
    assert_text(key, "a-b");
    key = hub_selection_next_toolset(selection, key);
    assert_text(key, "b");
    assert_int_equal(hub_selection_next_toolset(selection, key).len, 0);
    hub_selection_unref(selection);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading),   cmocka_unit_test(test_hypertool),
        cmocka_unit_test(test_writing),   cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_limits),    cmocka_unit_test(test_number_of_tools),
        cmocka_unit_test(test_selection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
