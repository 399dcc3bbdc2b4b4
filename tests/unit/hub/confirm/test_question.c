/* SPDX-License-Identifier: Apache-2.0 */
/* The question to a user who has to confirm a call: nobody can make up lines of it, or hide some. */
#include "base/limits.h"
#include "hub/confirm/question.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

static void ask(const char *name, hub_str arguments, const char *reason, hub_buf *ret_text)
{
    hub_buf_init(ret_text, SIZE_MAX / 2);
    confirm_add_question(HUB_STR("docs"), hub_str_of(name), arguments, reason, ret_text);
    hub_buf_add_char(ret_text, '\0');
    assert_true(hub_buf_ok(ret_text));
}

static void test_what_is_asked(void **state)
{
    (void)state;
    hub_buf text;
    ask("drop", HUB_STR("{ \"a\" : [ 1, \"x y\" ] }"), "it hurts", &text);
    assert_string_equal(
        text.ptr,
        "Allow this call of docs:drop?\nArguments: {\"a\":[1,\"x y\"]}\nReason: it hurts");
    hub_buf_fini(&text);
    ask("drop", HUB_STR("{}"), NULL, &text);
    assert_string_equal(text.ptr, "Allow this call of docs:drop?\nArguments: {}");
    hub_buf_fini(&text);
}

static void test_what_peers_chose_is_escaped(void **state)
{
    (void)state;
    hub_buf text;
    ask("a\nb\xe2\x80\xae\xff", HUB_STR("{\"\xc3\xa4\":\"\xf0\x9f\x98\x80\\n\x7f\"}"), NULL, &text);
    assert_string_equal(text.ptr, "Allow this call of docs:a\\u000ab\\u202e\\u00ff?\n"
                                  "Arguments: {\"\\u00e4\":\"\\ud83d\\ude00\\n\\u007f\"}");
    hub_buf_fini(&text);
}

/* The question about arguments of so many bytes. */
static void ask_about(size_t size, hub_buf *ret_text)
{
    hub_buf arguments;
    hub_buf_init(&arguments, SIZE_MAX / 2);
    hub_buf_add(&arguments, HUB_STR("{\"a\":\""));
    while (arguments.len < size - 2) {
        hub_buf_add_char(&arguments, 'x');
    }
    hub_buf_add(&arguments, HUB_STR("\"}"));
    ask("drop", hub_buf_str(&arguments), NULL, ret_text);
    hub_buf_fini(&arguments);
}

static void test_long_arguments_are_cut(void **state)
{
    (void)state;
    hub_buf text;
    ask_about(HUB_LIMIT_CONFIRM_BYTES, &text);
    assert_non_null(strstr(text.ptr, "x\"}"));
    assert_null(strstr(text.ptr, "[cut"));
    hub_buf_fini(&text);
    ask_about(HUB_LIMIT_CONFIRM_BYTES + 1, &text);
    assert_non_null(strstr(text.ptr, "x\" [cut: 2049 bytes in all]"));
    hub_buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_asked),
        cmocka_unit_test(test_what_peers_chose_is_escaped),
        cmocka_unit_test(test_long_arguments_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
