/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of configuration, templates and schemas. Part of test_command.c. */
#ifndef COMMAND_WORDS_H
#define COMMAND_WORDS_H

#include "bench.h"

#define SHOW "for a; do printf '[%s]' \"$a\"; done" /* each word in brackets */

/* ---- setup ----------------------------------------------------------------------------------- */

static void test_setup_faults_name_tool_and_place(void **state)
{
    static const struct {
        const char *tool;
        const char *wanted;
    } faults[] = {
        {"{\"argv\":[\"x\"]}", "tools[0]: name"},
        {"{\"name\":\"a b\",\"argv\":[\"x\"]}", "tools[0]: name"},
        {"{\"name\":\"t\"}", "tool 't': argv must be an array"},
        {"{\"name\":\"t\",\"argv\":[]}", "tool 't': argv must be an array"},
        {"{\"name\":\"t\",\"argv\":[\"x\",1]}", "tool 't': argv[1] is not a string"},
        {"{\"name\":\"t\",\"argv\":[\"{x}\"],\"args\":{\"x\":{}}}", "argv[0] is the program"},
        {"{\"name\":\"t\",\"argv\":[\"x{x}\"],\"args\":{\"x\":{}}}", "argv[0] is the program"},
        {"{\"name\":\"t\",\"argv\":[\"\"]}", "argv[0] is the program"},
        {"{\"name\":\"t\",\"argv\":[\"x\",\"a{b\"]}", "argv[1]: '{b' is not a placeholder"},
        {"{\"name\":\"t\",\"argv\":[\"x\",\"{}\"]}", "argv[1]: '{}' is not a placeholder"},
        {"{\"name\":\"t\",\"argv\":[\"x\",\"{a..}\"]}", "argv[1]: '{a..}' is not a placeholder"},
        {"{\"name\":\"t\",\"argv\":[\"x\",\"{a b}\"]}", "is not a placeholder"},
        {"{\"name\":\"t\",\"argv\":[\"x\",\"{a...}{b...}\"],\"args\":{\"a\":{},\"b\":{}}}",
         "argv[1]: a word has at most one"},
        {"{\"name\":\"t\",\"argv\":[\"x\",\"-n\",\"{cuont}\"],\"args\":{\"count\":{}}}",
         "tool 't': argv[2]: there is no argument 'cuont' (args does not define it)"},
        {"{\"name\":\"t\",\"argv\":[\"x\",\"{a}\"]}", "there is no argument 'a'"},
        {"{\"name\":\"t\",\"argv\":[\"x\"],\"stdin\":\"{a}\"}", "stdin: there is no argument 'a'"},
        {"{\"name\":\"t\",\"argv\":[\"x\"],\"stdin\":\"{a...}\",\"args\":{\"a\":{}}}",
         "stdin: {name...} is for argv only"},
        {"{\"name\":\"t\",\"argv\":[\"x\",\"{a}\"],\"input_schema\":{\"type\":\"object\"}}",
         "(input_schema does not define it)"},
        {"{\"name\":\"t\",\"argv\":[\"x\",\"{a}\"],\"input_schema\":{\"type\":\"object\","
         "\"properties\":{\"a\":{}}}}",
         "argument 'a' may be absent; write {a?}"},
        {"{\"name\":\"t\",\"argv\":[\"x\",\"{a...}\"],\"args\":{\"a\":{\"type\":\"string\"}}}",
         "wants an argument of type array"},
        {"{\"name\":\"t\",\"argv\":[\"x\"],\"input_schema\":{}}", "\"type\": \"object\""},
        {"{\"name\":\"t\",\"argv\":[\"x\"],\"input_schema\":{},\"args\":{}}", "not both"},
        {"{\"name\":\"t\",\"argv\":[\"x\"],\"timeout\":\"30\"}", "timeout must be a duration"},
        {"{\"name\":\"t\",\"argv\":[\"x\"],\"timeout\":\"0s\"}", "timeout must be a duration"},
        {"{\"name\":\"t\",\"argv\":[\"x\"],\"timeout\":\"61m\"}", "at most \"1h\""},
        {"{\"name\":\"t\",\"argv\":[\"x\"],\"timeout\":\"99999999999999999999s\"}", "timeout"},
        {"{\"name\":\"t\",\"argv\":[\"x\"],\"max_output\":0}", "max_output"},
        {"{\"name\":\"t\",\"argv\":[\"x\"],\"max_output\":4194305}", "from 1 to 4194304"},
        {"{\"name\":\"t\",\"argv\":[\"x\"],\"cwd\":\"rel\"}", "cwd must be an absolute path"},
        {"{\"name\":\"t\",\"argv\":[\"x\"],\"output\":\"xml\"}", "output must be"},
        {"{\"name\":\"t\",\"argv\":[\"x\"],\"ok_exit_codes\":[256]}", "from 0 to 255"},
        {"{\"name\":\"t\",\"argv\":[\"x\"],\"env\":{\"A=B\":\"c\"}}", "env: \"A=B\" is not a name"},
        {"{\"name\":\"t\",\"argv\":[\"x\"],\"env\":{\"A\":\"\\u0000\"}}", "env: \"A\""},
        {"{\"name\":\"t\",\"argv\":[\"x\\u0000\"]}", "argv[0] is not a string"},
        {"{\"name\":\"t\",\"argv\":[\"x\"]},{\"name\":\"t\",\"argv\":[\"y\"]}",
         "tool 't': two tools have this name"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        char *config = format("{\"tools\":[%s]}", faults[i].tool);
        assert_setup_fails(config, faults[i].wanted);
        free(config);
    }
    assert_setup_fails("{}", "say which commands are tools");
    assert_setup_fails("{\"tools\":[]}", "say which commands are tools");
}

static void test_setup_bounds_tools(void **state)
{
    bench *b = (bench *)*state;
    for (int count = 1000; count <= 1001; count++) {
        patchbay_out config = {0};
        patchbay_out_text(&config, "{\"tools\":[");
        for (int i = 0; i < count; i++) {
            patchbay_out_printf(&config, "%s{\"name\":\"t%d\",\"argv\":[\"true\"]}",
                                i > 0 ? "," : "", i);
        }
        patchbay_out_text(&config, "]}");
        char error[FAKE_HOST_ERROR_BYTES] = "";
        fake_host *host = fake_host_load(PLUGIN_PATH, config.ptr, error);
        assert_int_equal(host != NULL, count == 1000);
        fake_host_unload(host);
        patchbay_out_free(&config);
    }
    b->host = NULL;
}

static void test_setup_faults_are_utf8_when_cut(void **state)
{
    (void)state;
    for (size_t pad = 0; pad < 4; pad++) {
        char error[FAKE_HOST_ERROR_BYTES] = "";
        char *config =
            format("{\"tools\":[{\"name\":\"t\",\"argv\":[\"x\",\"{%.*s\xf0\x9f\x98\x80\xf0"
                   "\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f"
                   "\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\"]}]}",
                   (int)pad, "aaaa");
        assert_null(fake_host_load(PLUGIN_PATH, config, error));
        json_t *text = json_string(error);
        assert_non_null(text);
        json_decref(text);
        free(config);
    }
}

/* ---- what is published ----------------------------------------------------------------------- */

static void test_published_tools(void **state)
{
    bench *b = (bench *)*state;
    load(b, format("{\"name\":\"log\",\"title\":\"Log\",\"description\":\"D\",\"argv\":[\"git\","
                   "\"log\",\"-n\",\"{count}\",\"{rev}\",\"{flags...}\",\"--\",\"{path?}\"],"
                   "\"args\":{\"count\":{\"type\":\"integer\",\"default\":5},"
                   "\"rev\":{\"type\":\"string\"},"
                   "\"flags\":{\"type\":\"array\"},\"path\":{\"type\":\"string\"}},"
                   "\"annotations\":{\"read_only\":true,\"open_world\":false},"
                   "\"tags\":[\"vcs\",\"git\"],\"category\":\"dev\"},"
                   "{\"name\":\"plain\",\"argv\":[\"true\"],\"input_schema\":{\"type\":\"object\","
                   "\"maxProperties\":0}}"));
    json_t *tools = json_loads(fake_host_tools(b->host), 0, NULL);
    const json_t *log = json_array_get(tools, 0);
    char *schema = json_dumps(json_object_get(log, "inputSchema"), JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(schema,
                        "{\"additionalProperties\":false,\"properties\":{\"count\":{\"default\":5,"
                        "\"type\":\"integer\"},\"flags\":{\"type\":\"array\"},\"path\":{\"type\":"
                        "\"string\"},\"rev\":{\"type\":\"string\"}},\"required\":[\"rev\"],"
                        "\"type\":\"object\"}");
    free(schema);
    const json_t *notes = json_object_get(log, "annotations");
    assert_true(json_is_true(json_object_get(notes, "readOnlyHint")));
    assert_true(json_is_false(json_object_get(notes, "destructiveHint")));
    assert_true(json_is_false(json_object_get(notes, "openWorldHint")));
    const json_t *meta = json_object_get(log, "_meta");
    assert_int_equal(json_array_size(json_object_get(meta, "patchbay/tags")), 2);
    assert_string_equal(text_of(meta, "patchbay/category"), "dev");
    const json_t *plain = json_array_get(tools, 1);
    notes = json_object_get(plain, "annotations"); /* unsaid: the worst, as MCP takes it */
    assert_true(json_is_true(json_object_get(notes, "destructiveHint")));
    assert_true(json_is_true(json_object_get(notes, "openWorldHint")));
    assert_int_equal(number_of(json_object_get(plain, "inputSchema"), "maxProperties"), 0);
    assert_true(json_is_object(json_object_get(plain, "outputSchema")));
    json_decref(tools);
}

/* ---- words ----------------------------------------------------------------------------------- */

static void test_values_arrive_byte_for_byte(void **state)
{
    static const char *const values[] = {
        "; rm -rf /", "$(id)",       "`id`",      "'",        "\"",
        "a'b\"c",     "line\nbreak", "tab\there", "$HOME",    "*",
        "~",          "{value}",     "{{",        "\\",       "\\n",
        "a b  c",     "| cat",       "&& false",  "> /tmp/x", "\xc3\xa9\xf0\x9f\x98\x80",
        "%s%n",       "!!",          "#",         "\x7f\x01", "x=y",
        "$'\\x41'",   "${IFS}",      "\r\n",      " ",        "=",
    };
    bench *b = (bench *)*state;
    load(b, format("{\"name\":\"say\",\"argv\":[\"printf\",\"%%s\",\"{value}\"],"
                   "\"args\":{\"value\":{\"type\":\"string\"}}}"));
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        patchbay_out args = {0};
        patchbay_out_text(&args, "{\"value\":");
        patchbay_out_string(&args, patchbay_str_of(values[i]));
        patchbay_out_text(&args, "}");
        assert_stdout(b, "say", format("%s", args.ptr), values[i]);
        patchbay_out_free(&args);
    }
    assert_stdout(b, "say", format("{\"value\":\"\"}"), "");
}

static void test_placeholders(void **state)
{
    bench *b = (bench *)*state;
    char *show =
        script("show", SHOW, ",\"n={n}\",\"{o?}\",\"o={o?}!\",\"{l...}\",\"l={l...};\",\"{{{n}}\"",
               ",\"args\":{\"n\":{\"default\":1.50},\"o\":{},\"l\":{\"type\":\"array\"}}");
    load(b, format("%s", show));
    free(show);
    assert_stdout(b, "show", format("{}"), "[n=1.50][{1.50}]");
    assert_stdout(b, "show", format("{\"n\":1e3,\"o\":\"\"}"), "[n=1e3][][o=!][{1e3}]");
    assert_stdout(b, "show", format("{\"n\":true,\"o\":null,\"l\":[]}"), "[n=true][{true}]");
    assert_stdout(b, "show", format("{\"n\":9007199254740993,\"l\":[\"a b\",\"\",2]}"),
                  "[n=9007199254740993][a b][][2][l=a b;][l=;][l=2;][{9007199254740993}]");
    assert_stdout(b, "show", format("{\"n\":{\"a\": [1]},\"o\":\"x\"}"),
                  "[n={\"a\": [1]}][x][o=x!][{{\"a\": [1]}}]");
    assert_refused(b, "show", format("{\"l\":\"a\"}"), PATCHBAY_INVALID_INPUT,
                   "'l' must be an array");
    assert_refused(b, "show", format("{\"n\":\"a\\u0000b\"}"), PATCHBAY_INVALID_INPUT, "NUL");
}

static void test_missing_argument(void **state)
{
    bench *b = (bench *)*state;
    load(b, format("{\"name\":\"t\",\"argv\":[\"echo\",\"{a}\"],\"args\":{\"a\":{}}}"));
    assert_refused(b, "t", format("{}"), PATCHBAY_INVALID_INPUT, "'a' is missing");
}

static void test_options_are_not_injected(void **state)
{
    bench *b = (bench *)*state;
    const char *args = ",\"args\":{\"a\":{},\"b\":{\"default\":\"\"},\"l\":{\"type\":\"array\"}}";
    const char *dash = ",\"allow_dash\":true,\"args\":{\"a\":{}}";
    char *tools[] = {
        script("bare", SHOW, ",\"{a}\"", args),
        script("joined", SHOW, ",\"{b}{a}\"", args),
        script("suffix", SHOW, ",\"{a}.c\"", args),
        script("inside", SHOW, ",\"-n{a}\"", args),
        script("behind", SHOW, ",\"--\",\"{a}\"", args),
        script("before", SHOW, ",\"{a}\",\"--\"", args),
        script("list", SHOW, ",\"{l...}\"", args),
        script("allowed", SHOW, ",\"{a}\"", dash),
        script("optional", SHOW, ",\"{a?}\"", args),
    };
    load(b, format("%s,%s,%s,%s,%s,%s,%s,%s,%s", tools[0], tools[1], tools[2], tools[3], tools[4],
                   tools[5], tools[6], tools[7], tools[8]));
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) {
        free(tools[i]);
    }
    static const char *const refused[] = {"bare", "joined", "suffix", "before", "optional"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        assert_refused(b, refused[i], format("{\"a\":\"--exec=sh\"}"), PATCHBAY_INVALID_INPUT,
                       "begins with '-'");
        assert_refused(b, refused[i], format("{\"a\":-1}"), PATCHBAY_INVALID_INPUT,
                       "begins with '-'");
    }
    assert_refused(b, "list", format("{\"l\":[\"a\",\"-x\"]}"), PATCHBAY_INVALID_INPUT,
                   "'l' begins");
    assert_stdout(b, "inside", format("{\"a\":\"-x\"}"), "[-n-x]");
    assert_stdout(b, "behind", format("{\"a\":\"-x\"}"), "[--][-x]");
    assert_stdout(b, "allowed", format("{\"a\":\"-x\"}"), "[-x]");
    assert_stdout(b, "bare", format("{\"a\":\"a-x\"}"), "[a-x]");
}

static void test_word_limit(void **state)
{
    bench *b = (bench *)*state;
    char *count = script("count", "echo $#", ",\"{l...}\"", ",\"args\":{\"l\":{}}");
    load(b, format("%s", count));
    free(count);
    for (int n = 4092; n <= 4093; n++) { /* sh -c script sh: four words of its own */
        patchbay_out args = {0};
        patchbay_out_text(&args, "{\"l\":[");
        for (int i = 0; i < n; i++) {
            patchbay_out_text(&args, i > 0 ? ",1" : "1");
        }
        patchbay_out_text(&args, "]}");
        if (n == 4092) {
            assert_stdout(b, "count", format("%s", args.ptr), "4092\n");
        } else {
            assert_refused(b, "count", format("%s", args.ptr), PATCHBAY_INVALID_INPUT,
                           "more than 4096 words");
        }
        patchbay_out_free(&args);
    }
    char *huge = (char *)malloc(200001);
    memset(huge, 'x', 200000);
    huge[200000] = '\0';
    assert_refused(b, "count", format("{\"l\":[\"%s\"]}", huge), PATCHBAY_INVALID_INPUT,
                   "too long");
    free(huge);
}

#endif
