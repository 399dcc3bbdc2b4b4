/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that models ask for, in the shapes of other APIs, and their answers (REQUIREMENTS S4.4). */
#include "export/block.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Read a block, and answer it; empty: it is refused. */
static void expect(bool is_anthropic, const char *json, const char *arguments, const char *result,
                   bool is_error, const char *wanted)
{
    hub_buf text;
    hub_buf out;
    hub_block block;
    hub_error why = {.text = ""};
    hub_buf_init(&text, SIZE_MAX / 4);
    hub_buf_init(&out, SIZE_MAX / 4);
    hub_err err = hub_block_read(is_anthropic, hub_str_of(json), &text, &block, &why);
    assert_int_equal(err, wanted[0] != '\0' ? HUB_OK : HUB_EINVAL);
    if (err == HUB_OK) {
        assert_true(hub_str_is(block.arguments, arguments));
        assert_int_equal(hub_block_answer(&block, hub_str_of(result), is_error, &out), HUB_OK);
        hub_buf_add_char(&out, '\0');
        assert_string_equal(out.ptr, wanted);
    } else {
        assert_true(why.text[0] != '\0');
    }
    hub_buf_fini(&out);
    hub_buf_fini(&text);
}

#define USE "{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"a\",\"input\":{\"n\":1.10}}"
#define CALL                                                                                       \
    "{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"a\",\"arguments\":\"{"          \
    "\\\"n\\\":1.10}\"}}"
#define ITEM "{\"type\":\"function_call\",\"call_id\":\"f1\",\"name\":\"a\",\"arguments\":\"\"}"
#define RESULT                                                                                     \
    "{\"content\":[{\"type\":\"text\",\"text\":\"L\\u00f6\"},{\"type\":\"image\",\"data\":\"AA=="  \
    "\",\"mimeType\":\"image/png\"},{\"type\":\"text\",\"text\":\"b\"}]}"

static void test_answers(void **state)
{
    (void)state;
    expect(true, USE, "{\"n\":1.10}", RESULT, false,
           "{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":[{\"type\":\"text\","
           "\"text\":\"L\\u00f6\"},{\"type\":\"image\",\"source\":{\"type\":\"base64\","
           "\"media_type\":\"image/png\",\"data\":\"AA==\"}},{\"type\":\"text\",\"text\":\"b\"}]}");
    expect(false, CALL, "{\"n\":1.10}",
           "{\"content\":[{\"type\":\"text\",\"text\":\"L\\u00f6\"},{\"x\":1}]}", false,
           "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"Lö\\n{\\\"x\\\":1}\"}");
    expect(false, ITEM, "{}", "{\"content\":[]}", true,
           "{\"type\":\"function_call_output\",\"call_id\":\"f1\",\"output\":\"\"}");
    expect(true, USE, "{\"n\":1.10}", "{\"code\":-32602}", true,
           "{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":\"{\\\"code\\\":-32602}\","
           "\"is_error\":true}");
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const ROWS[] = {
        "{}",
        "[]",
        "7",
        CALL,
        "{\"type\":\"tool_use\",\"name\":\"a\"}",
        "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":7}",
        "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"a\",\"input\":[]}",
        "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"a\",\"input\":\"{\"}",
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        expect(true, ROWS[i], "", "", false, "");
    }
    expect(false, USE, "", "", false, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
