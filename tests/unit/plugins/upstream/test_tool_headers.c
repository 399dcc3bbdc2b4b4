/* SPDX-License-Identifier: Apache-2.0 */
/* MCP 2026-07-28 basic/transports/streamable-http: Value Encoding, Schema Extension. And URLs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plugins/upstream/remote/header_value.h"
#include "plugins/upstream/remote/tool_headers.h"
#include "plugins/upstream/remote/url.h"

#include <unistd.h>

#define VALUE(text) text, sizeof(text) - 1
#define STR(text)   patchbay_str_make(text, sizeof(text) - 1)

static void test_values(void **state)
{
    static const struct {
        const char *value;
        size_t len;
        const char *line;
    } VALUES[] = {
        /* The specification's own examples. */
        {VALUE("us-west1"), "N: us-west1\n"},
        {VALUE("Hello, \xe4\xb8\x96\xe7\x95\x8c"), "N: =?base64?SGVsbG8sIOS4lueVjA==?=\n"},
        {VALUE(" padded "), "N: =?base64?IHBhZGRlZCA=?=\n"},
        {VALUE("line1\nline2"), "N: =?base64?bGluZTEKbGluZTI=?=\n"},
        {VALUE("=?base64?literal?="), "N: =?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=\n"},
        /* And what lies beside them. */
        {VALUE(""), "N;\n"},
        {VALUE("a\tb c"), "N: a\tb c\n"},
        {VALUE("\ta"), "N: =?base64?CWE=?=\n"},
        {VALUE("a\r"), "N: =?base64?YQ0=?=\n"},
        {VALUE("\0"), "N: =?base64?AA==?=\n"},
        {VALUE("\x7f"), "N: =?base64?fw==?=\n"},
        {VALUE("~ !"), "N: ~ !\n"},
        {VALUE("=?base64?"), "N: =?base64?\n"},
        {VALUE("=?base64?="), "N: =?base64?PT9iYXNlNjQ/PQ==?=\n"},
        {VALUE("=?base64?"
               "?="),
         "N: =?base64?PT9iYXNlNjQ/Pz0=?=\n"},
        {VALUE("=?BASE64?x?="), "N: =?BASE64?x?=\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof VALUES / sizeof VALUES[0]; i++) {
        patchbay_out lines = {0};
        header_add(&lines, "N", patchbay_str_make(VALUES[i].value, VALUES[i].len));
        assert_string_equal(lines.ptr, VALUES[i].line);
        patchbay_out_free(&lines);
    }
}

static void test_tokens(void **state)
{
    (void)state;
    assert_true(header_is_token(STR("Az09!#$%&'*+-.^_`|~")));
    assert_false(header_is_token(STR("")));
    assert_false(header_is_token(STR("a b")));
    assert_false(header_is_token(STR("a:")));
    assert_false(header_is_token(STR("\xc3\xa4")));
    assert_false(header_is_token(STR("a\0")));
}

static const char *lines_of(const tool_headers *all, const char *name, const char *arguments,
                            patchbay_out *lines)
{
    lines->len = 0;
    patchbay_out_text(lines, "");
    tool_headers_add(all, patchbay_str_of(name), patchbay_str_of(arguments), lines);
    return lines->ptr;
}

#define TOOL(name, properties)                                                                     \
    "{\"name\":\"" name "\",\"inputSchema\":{\"properties\":{" properties "}}}"
#define PARAM(name, type, header)                                                                  \
    "\"" name "\":{\"type\":\"" type "\",\"x-mcp-header\":\"" header "\"}"

static void test_parameters(void **state)
{
    tool_headers all = {0};
    patchbay_out lines = {0};
    (void)state;
    tool_headers_begin(&all);
    assert_null(tool_headers_take(
        &all, patchbay_str_of(TOOL("t", PARAM("a", "string", "A") "," PARAM(
                                            "b", "integer", "B") "," PARAM("c", "boolean", "C")))));
    assert_string_equal(lines_of(&all, "t", "{\"c\":true,\"b\":42.0,\"a\":\"\\u00e9\"}", &lines),
                        "Mcp-Param-A: =?base64?w6k=?=\nMcp-Param-B: 42\nMcp-Param-C: true\n");
    assert_string_equal(lines_of(&all, "t", "{\"a\":null,\"b\":[1],\"c\":{}}", &lines), "");
    assert_string_equal(lines_of(&all, "t", "", &lines), "");
    assert_string_equal(lines_of(&all, "u", "{\"a\":\"x\"}", &lines), "");
    assert_string_equal(lines_of(&all, "t", "{\"\\u0061\":\"x\"}", &lines), "Mcp-Param-A: x\n");
    patchbay_out_free(&lines);
    tool_headers_free(&all);
}

/* What a list has no more is forgotten one list later: calls of the old one may be on their way. */
static void test_generations(void **state)
{
    tool_headers all = {0};
    patchbay_out lines = {0};
    (void)state;
    tool_headers_begin(&all);
    assert_null(tool_headers_take(&all, patchbay_str_of(TOOL("t", PARAM("a", "string", "A")))));
    tool_headers_begin(&all);
    assert_string_equal(lines_of(&all, "t", "{\"a\":\"x\"}", &lines), "Mcp-Param-A: x\n");
    tool_headers_begin(&all);
    assert_string_equal(lines_of(&all, "t", "{\"a\":\"x\"}", &lines), "");
    assert_null(tool_headers_take(&all, patchbay_str_of(TOOL("t", PARAM("a", "string", "A")))));
    assert_null(tool_headers_take(&all, patchbay_str_of(TOOL("t", PARAM("a", "string", "Z")))));
    assert_string_equal(lines_of(&all, "t", "{\"a\":\"x\"}", &lines), "Mcp-Param-Z: x\n");
    assert_null(tool_headers_take(&all, patchbay_str_of(TOOL("t", "\"a\":{}"))));
    assert_string_equal(lines_of(&all, "t", "{\"a\":\"x\"}", &lines), "");
    patchbay_out_free(&lines);
    tool_headers_free(&all);
}

static void test_most_parameters(void **state)
{
    (void)state;
    for (int count = TOOL_HEADERS_MAX; count <= TOOL_HEADERS_MAX + 1; count++) {
        tool_headers all = {0};
        patchbay_out tool = {0};
        patchbay_out_text(&tool, "{\"name\":\"t\",\"inputSchema\":{\"properties\":{");
        for (int i = 0; i < count; i++) {
            patchbay_out_printf(&tool, "%s\"p%d\":{\"type\":\"string\",\"x-mcp-header\":\"H%d\"}",
                                i > 0 ? "," : "", i, i);
        }
        patchbay_out_text(&tool, "}}}");
        const char *wrong = tool_headers_take(&all, patchbay_str_make(tool.ptr, tool.len));
        assert_int_equal(wrong != NULL, count > TOOL_HEADERS_MAX);
        patchbay_out_free(&tool);
        tool_headers_free(&all);
    }
}

/* As many as fit into the largest list, in no time: the loop waits for it. */
/* What a call costs does not depend on how many parameters the schema has, nor on how often it
 * writes them with escapes: the arguments are passed over once. */
static void test_cost(void **state)
{
    enum { PROPERTIES = 2000, MEMBERS = 3000, HEADERS = 3 };
    size_t costs[4];
    (void)state;
    for (size_t way = 0; way < 4; way++) { /* few or many properties, with or without escapes */
        tool_headers all = {0};
        patchbay_out tool = {0};
        patchbay_out arguments = {0};
        patchbay_out lines = {0};
        patchbay_out_text(&tool, "{\"name\":\"t\",\"inputSchema\":{\"properties\":{");
        for (int i = 0; i < ((way & 1) != 0 ? PROPERTIES : 0); i++) {
            patchbay_out_printf(&tool, "\"p%d\":{\"type\":\"string\"},", i);
        }
        patchbay_out_text(&tool, (way & 2) != 0 ? "\"\\u0061\":{\"properties\":{"
                                                : "\"a\":{\"properties\":{");
        patchbay_out_text(&tool, PARAM("x", "string", "X") "}}," PARAM(
                                     "b", "string", "B") "," PARAM("c", "integer", "C") "}}}");
        patchbay_out_text(&arguments, "{");
        for (int i = 0; i < MEMBERS; i++) {
            patchbay_out_printf(&arguments, "\"p%d\":[{\"x\":\"y\"}],", i);
        }
        patchbay_out_text(&arguments, "\"a\":{\"x\":\"1\"},\"b\":\"2\",\"c\":3,\"b\":\"4\"}");
        tool_headers_begin(&all);
        assert_null(tool_headers_take(&all, patchbay_str_make(tool.ptr, tool.len)));
        costs[way] = tool_headers_add(&all, patchbay_str_of("t"),
                                      patchbay_str_make(arguments.ptr, arguments.len), &lines);
        assert_string_equal(lines.ptr, "Mcp-Param-X: 1\nMcp-Param-B: 2\nMcp-Param-C: 3\n");
        assert_in_range(costs[way], arguments.len, arguments.len + (MEMBERS + 8) * HEADERS);
        assert_int_equal(costs[way], costs[0]);
        patchbay_out_free(&tool);
        patchbay_out_free(&arguments);
        patchbay_out_free(&lines);
        tool_headers_free(&all);
    }
}

/* … nor on how deep they lie: each byte is read once. */
static void test_cost_of_depth(void **state)
{
    enum { DEPTH = 25, BYTES = 10000 };
    tool_headers all = {0};
    patchbay_out tool = {0};
    patchbay_out arguments = {0};
    patchbay_out lines = {0};
    (void)state;
    patchbay_out_text(&tool, "{\"name\":\"t\",\"inputSchema\":{");
    for (int i = 0; i < DEPTH; i++) {
        patchbay_out_text(&tool, "\"properties\":{\"a\":{");
        patchbay_out_text(&arguments, "{\"a\":");
    }
    patchbay_out_text(&tool, "\"type\":\"string\",\"x-mcp-header\":\"A\"");
    patchbay_out_text(&arguments, "\"");
    for (int i = 0; i < BYTES; i++) {
        patchbay_out_text(&arguments, "y");
    }
    patchbay_out_text(&arguments, "\"");
    for (int i = 0; i < DEPTH; i++) {
        patchbay_out_text(&tool, "}}");
        patchbay_out_text(&arguments, "}");
    }
    patchbay_out_text(&tool, "}}");
    tool_headers_begin(&all);
    assert_null(tool_headers_take(&all, patchbay_str_make(tool.ptr, tool.len)));
    size_t cost = tool_headers_add(&all, patchbay_str_of("t"),
                                   patchbay_str_make(arguments.ptr, arguments.len), &lines);
    assert_in_range(cost, arguments.len, arguments.len + DEPTH);
    assert_int_equal(lines.len, sizeof "Mcp-Param-A: \n" - 1 + BYTES);
    patchbay_out_free(&tool);
    patchbay_out_free(&arguments);
    patchbay_out_free(&lines);
    tool_headers_free(&all);
}

/* One parameter has one header: which, must be plain. */
static void test_a_parameter_twice(void **state)
{
    tool_headers all = {0};
    (void)state;
    tool_headers_begin(&all);
    assert_string_equal(
        tool_headers_take(&all, patchbay_str_of(TOOL("t", PARAM("a", "string", "A") "," PARAM(
                                                              "\\u0061", "string", "B")))),
        "is on a parameter that the schema has twice");
    tool_headers_free(&all);
}

static void test_many_tools(void **state)
{
    enum { TOOLS = 200000, HANG_S = 120 };
    tool_headers all = {0};
    patchbay_out lines = {0};
    char tool[128];
    (void)state;
    (void)alarm(HANG_S);
    tool_headers_begin(&all);
    for (int i = 0; i < TOOLS; i++) {
        (void)snprintf(tool, sizeof tool, TOOL("t%d", PARAM("a", "string", "A")), i);
        assert_null(tool_headers_take(&all, patchbay_str_of(tool)));
    }
    (void)alarm(0);
    assert_string_equal(lines_of(&all, "t0", "{\"a\":\"x\"}", &lines), "Mcp-Param-A: x\n");
    assert_string_equal(lines_of(&all, "t199999", "{\"a\":\"x\"}", &lines), "Mcp-Param-A: x\n");
    assert_string_equal(lines_of(&all, "t200000", "{\"a\":\"x\"}", &lines), "");
    patchbay_out_free(&lines);
    tool_headers_free(&all);
}

/* ---- URLs ---------------------------------------------------------------------------------- */

static void expect(char *made, const char *wanted)
{
    if (wanted == NULL) {
        assert_null(made);
    } else {
        assert_non_null(made);
        assert_string_equal(made, wanted);
    }
    free(made);
}

static void test_urls(void **state)
{
    (void)state;
    expect(url_dup_shown("https://u:p@h.example:443/a?k=secret#f"), "https://h.example/a");
    expect(url_dup_shown("http://[::1]:8080/a"), "http://[::1]:8080/a");
    expect(url_dup_shown("ftp://h/a"), NULL);
    expect(url_dup_shown("file:///etc/passwd"), NULL);
    expect(url_dup_shown(""), NULL);
    expect(url_dup_shown("http://"), NULL);
    expect(url_dup_origin("HTTP://H.example:80/a"), "http://H.example");
    expect(url_dup_resolved("http://h/a/b?c", "/m?s=1"), "http://h/m?s=1");
    expect(url_dup_resolved("http://h/a/b?c", "m"), "http://h/a/m");
    expect(url_dup_resolved("http://h/a", "https://other/x"), "https://other/x");
    expect(url_dup_resolved("http://h/a", "file:///etc/passwd"), NULL);
}

static void test_origins(void **state)
{
    static const struct {
        const char *a;
        const char *b;
        int is_same;
    } PAIRS[] = {
        {"http://h/a", "http://h:80/b", 1},   {"https://h", "https://H:443/x?y", 1},
        {"http://h/a", "https://h/a", 0},     {"http://h/a", "http://h:81/a", 0},
        {"http://h/a", "http://h.evil/a", 0}, {"http://h/a", "http://h@evil/a", 0},
        {"http://u:p@h/a", "http://h/a", 1},  {"http://h/a", "nonsense:", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof PAIRS / sizeof PAIRS[0]; i++) {
        assert_int_equal(url_same_origin(PAIRS[i].a, PAIRS[i].b), PAIRS[i].is_same);
    }
}

/* Who could not be connected to is the server, and no proxy. */
static void test_leads_to(void **state)
{
    static const struct {
        const char *url;
        const char *host;
        const char *port;
        int does;
    } PLACES[] = {
        {"http://h:8/a", "h", "8", 1},      {"http://H:8/a", "h", "8", 1},
        {"http://h/a", "h", "80", 1},       {"https://h/a", "h", "443", 1},
        {"http://h:8/a", "h", "9", 0},      {"http://h:8/a", "hh", "8", 0},
        {"http://hh:8/a", "h", "8", 0},     {"http://[::1]:8/a", "::1", "8", 1},
        {"http://[::1]:8/a", "::", "8", 0}, {"nonsense:", "h", "8", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0]; i++) {
        assert_int_equal(url_leads_to(PLACES[i].url, PLACES[i].host, PLACES[i].port),
                         PLACES[i].does);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),          cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_parameters),      cmocka_unit_test(test_generations),
        cmocka_unit_test(test_most_parameters), cmocka_unit_test(test_cost),
        cmocka_unit_test(test_cost_of_depth),   cmocka_unit_test(test_a_parameter_twice),
        cmocka_unit_test(test_many_tools),      cmocka_unit_test(test_urls),
        cmocka_unit_test(test_origins),         cmocka_unit_test(test_leads_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
