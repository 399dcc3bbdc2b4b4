/* SPDX-License-Identifier: Apache-2.0 */
/* Tools in the shapes of other APIs (REQUIREMENTS S2.26 to S2.29, S2.44, S4.4, S4.47). */
#include "export/export.h"
#include "export/loss.h"
#include "wire/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static hub_buf notes;
static size_t left_out;

static void on_note(void *ctx, bool is_left_out, hub_str text)
{
    (void)ctx;
    left_out += is_left_out;
    hub_buf_add(&notes, text);
    hub_buf_add_char(&notes, '\n');
}

/* Convert; what comes of it is what is wanted, and so are the notes. */
static void expect(const char *format, const char *tools, bool is_strict, const char *wanted,
                   const char *wanted_notes)
{
    hub_buf out;
    hub_buf_init(&out, SIZE_MAX / 4);
    hub_buf_init(&notes, SIZE_MAX / 4);
    left_out = 0;
    const hub_export_format *of = hub_export_find(hub_str_of(format));
    assert_non_null(of);
    assert_int_equal(hub_export_tools(of, hub_str_of(tools), is_strict, on_note, NULL, &out),
                     HUB_OK);
    hub_buf_add_char(&out, '\0');
    hub_buf_add_char(&notes, '\0');
    assert_string_equal(out.ptr, wanted);
    assert_string_equal(notes.ptr, wanted_notes);
    hub_buf_fini(&notes);
    hub_buf_fini(&out);
}

#define SCHEMA "{ \"type\":\"object\", \"properties\":{\"n\":{\"maximum\":1.10}} }"
#define TOOL   "[{\"name\":\"git__log\",\"description\":\"L\\u00f6g\",\"inputSchema\":" SCHEMA "}]"

/* S2.29, S4.4, S4.47: each shape, with schemas as they were sent. */
static void test_shapes(void **state)
{
    (void)state;
    expect("anthropic", TOOL, false,
           "[{\"name\":\"git__log\",\"description\":\"L\\u00f6g\",\"input_schema\":" SCHEMA "}]",
           "");
    expect("openai", TOOL, false,
           "[{\"type\":\"function\",\"function\":{\"name\":\"git__log\",\"description\":"
           "\"L\\u00f6g\",\"parameters\":" SCHEMA "}}]",
           "");
    expect("openai-responses", TOOL, false,
           "[{\"type\":\"function\",\"name\":\"git__log\",\"description\":\"L\\u00f6g\","
           "\"parameters\":" SCHEMA ",\"strict\":false}]",
           "");
    expect("gemini", TOOL, false,
           "[{\"functionDeclarations\":[{\"name\":\"git__log\",\"description\":\"L\\u00f6g\","
           "\"parametersJsonSchema\":" SCHEMA "}]}]",
           "");
    expect("mcp", TOOL, true, TOOL, "");
    assert_null(hub_export_find(HUB_STR("")));
    assert_null(hub_export_find(HUB_STR("openaix")));
}

/* S2.27, S2.44: what is lost is told once per tool, also of what is nested. */
static void test_losses(void **state)
{
    (void)state;
    static const char TOOLS[] =
        "[{\"name\":\"a\",\"outputSchema\":{},\"inputSchema\":{\"properties\":{\"const\":{},"
        "\"x\":{\"items\":{\"not\":{\"pattern\":\"a\"}}},\"y\":{\"anyOf\":[{\"pattern\":\"b\"}]}}}}"
        ","
        "{\"name\":\"b\",\"inputSchema\":{}}]";
    expect("gemini", TOOLS, false,
           "[{\"functionDeclarations\":[{\"name\":\"a\",\"parametersJsonSchema\":{\"properties\":{"
           "\"const\":{},\"x\":{\"items\":{\"not\":{\"pattern\":\"a\"}}},\"y\":{\"anyOf\":[{"
           "\"pattern\":\"b\"}]}}}},{\"name\":\"b\",\"parametersJsonSchema\":{}}]}]",
           "tool \"a\" loses in gemini: not, pattern, outputSchema\n");
    /* S2.28: and with strict the tool is an error by its name, and the other is still there. */
    expect("gemini", TOOLS, true,
           "[{\"functionDeclarations\":[{\"name\":\"b\",\"parametersJsonSchema\":{}}]}]",
           "tool \"a\" is left out: gemini would lose not, pattern, outputSchema\n");
    assert_int_equal(left_out, 1);
}

/* S2.44: all of the list. */
static void test_all_features(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < HUB_LOSSES; bit++) {
        char schema[128];
        (void)snprintf(schema, sizeof schema, "{\"items\":{\"properties\":{\"p\":{\"%s\":{}}}}}",
                       hub_loss_name(bit));
        assert_int_equal(hub_loss_of(hub_str_of(schema)), 1u << bit);
    }
    assert_int_equal(hub_loss_of(HUB_STR("{\"properties\":{\"enum\":{},\"$ref\":true}}")), 0);
    assert_int_equal(hub_loss_of(HUB_STR("{\"const\":{\"enum\":1}}")), HUB_LOSS_CONST);
    assert_int_equal(hub_loss_of(HUB_STR("true")), 0);
}

/* S2.28: what cannot be converted is named, and the others are there. */
static void test_errors(void **state)
{
    (void)state;
    expect("anthropic",
           "[{\"name\":\"a\"},{\"name\":\"b\",\"inputSchema\":{}},{\"name\":\"b\",\"inputSchema\":{"
           "}}]",
           false, "[{\"name\":\"b\",\"input_schema\":{}}]",
           "tool \"a\" is left out: it has no inputSchema that is an object\n"
           "tool \"b\" is left out: another tool has the name that it would get\n");
    assert_int_equal(left_out, 2);
    expect("openai", "[]", true, "[]", "");
}

/* S2.28: nor is one for which the API would refuse the whole request; deeper in a schema, and elsewhere, the word may stand. */
static void test_refused(void **state)
{
    (void)state;
    static const char *const WORDS[] = {"oneOf", "anyOf", "allOf", "enum", "not"};
    static const char *const FORMATS[] = {"openai", "openai-responses", "anthropic"};
    for (size_t i = 0; i < 15; i++) {
        const char *format = FORMATS[i / 5];
        const char *word = WORDS[i % 5];
        bool may_stand = i / 5 == 2 && i % 5 > 2;
        char tools[100];
        char said[200];
        hub_buf out;
        hub_buf_init(&out, SIZE_MAX / 4);
        hub_buf_init(&notes, SIZE_MAX / 4);
        (void)snprintf(tools, sizeof tools,
                       "[{\"name\":\"a\",\"inputSchema\":{\"%s\":[]}},"
                       "{\"name\":\"b\",\"inputSchema\":{\"items\":{\"%s\":[]}}}]",
                       word, word);
        (void)snprintf(
            said, sizeof said,
            "tool \"a\" is left out: %s refuses all tools for one whose schema has %s at "
            "the top\n",
            format, word);
        assert_int_equal(hub_export_tools(hub_export_find(hub_str_of(format)), hub_str_of(tools),
                                          false, on_note, NULL, &out),
                         HUB_OK);
        assert_true(hub_str_is(hub_buf_str(&notes), may_stand ? "" : said));
        assert_int_equal(hub_json_count(hub_buf_str(&out)), may_stand ? 2 : 1);
        hub_buf_fini(&notes);
        hub_buf_fini(&out);
    }
}

static void check_name(const char *name, size_t len, bool stays)
{
    hub_buf out;
    hub_buf tools;
    hub_str from = {.ptr = name, .len = len};
    const hub_export_format *of = hub_export_find(HUB_STR("openai"));
    hub_buf_init(&out, SIZE_MAX / 4);
    hub_buf_init(&tools, SIZE_MAX / 4);
    assert_int_equal(hub_export_add_tool_name(of, from, &out), HUB_OK);
    assert_int_equal(hub_str_eq(hub_buf_str(&out), from), stays);
    assert_true(out.len > 0 && out.len <= 64);
    hub_buf_printf(&tools, "[{\"name\":\"x\"},{\"name\":\"" HUB_STR_FMT "\"}]", HUB_STR_ARG(from));
    hub_str found = hub_export_find_tool(of, hub_buf_str(&tools), hub_buf_str(&out));
    assert_int_equal(found.len, len + 2);
    assert_int_equal(hub_export_find_tool(of, hub_buf_str(&tools), HUB_STR("none")).len, 0);
    hub_buf_fini(&tools);
    hub_buf_fini(&out);
}

/* Names fit the APIs, stay what they are where they do, and lead back. */
static void test_names(void **state)
{
    (void)state;
    char name[128];
    memset(name, 'n', sizeof name);
    check_name("git__log-1", 10, true);
    check_name("git.log", 7, false);
    check_name(name, 64, true);
    check_name(name, 65, false);
    check_name(name, 128, false);
}

/* References inside a schema do not lead into the document around it. */
static void test_made_names(void **state)
{
    (void)state;
    static const char *const OTHERS[] = {"",           "_",           "_0123456",
                                         "a_0123456g", "a_01234567x", "a.b_01234567",
                                         "a-01234567", "a_0123456A"};
    hub_buf name;
    hub_buf_init(&name, SIZE_MAX / 4);
    assert_int_equal(
        hub_export_add_tool_name(hub_export_find(HUB_STR("openapi")), HUB_STR("a.b"), &name),
        HUB_OK);
    assert_true(hub_export_is_made_name(hub_buf_str(&name)));
    assert_true(hub_export_is_made_name(HUB_STR("_01234567")));
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
        assert_false(hub_export_is_made_name(hub_str_of(OTHERS[i])));
    }
    hub_buf_fini(&name);
}

static void test_openapi(void **state)
{
    (void)state;
    const hub_export_format *of = hub_export_find(HUB_STR("openapi"));
    hub_buf out;
    hub_buf_init(&out, SIZE_MAX / 4);
    hub_buf_init(&notes, SIZE_MAX / 4);
    assert_int_equal(
        hub_export_tools(of,
                         HUB_STR("[{\"name\":\"a\",\"inputSchema\":{\"$ref\":\"#/$defs/x\"}},"
                                 "{\"name\":\"b\",\"inputSchema\":{}}]"),
                         false, on_note, NULL, &out),
        HUB_OK);
    hub_buf_add_char(&out, '\0');
    assert_non_null(
        strstr(out.ptr, "\"schema\":{\"$id\":\"urn:patchbay:tool:a\",\"$ref\":\"#/$defs/x\"}"));
    assert_non_null(strstr(out.ptr, "},\"/tools/b\":{\"post\":{\"operationId\":\"b\""));
    hub_buf_fini(&notes);
    hub_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),       cmocka_unit_test(test_losses),
        cmocka_unit_test(test_all_features), cmocka_unit_test(test_errors),
        cmocka_unit_test(test_names),        cmocka_unit_test(test_openapi),
        cmocka_unit_test(test_made_names),   cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
