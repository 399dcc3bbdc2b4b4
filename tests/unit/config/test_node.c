/* SPDX-License-Identifier: Apache-2.0 */
/* YAML and JSON as nodes: kinds, texts and lines; and what is refused at the limits. */
#include "config_support.h"

#include "base/limits.h"
#include "config/node.h"

enum { ARENA_BYTES = 256 * 1024 * 1024 };

static const char KINDS[] = {'0', 't', 'f', 'n', 's', 'L', 'M'};

/* The tree as one line: kind, line, and what is in it. */
static void describe(const hub_node *node, hub_buf *out)
{
    hub_buf_printf(out, "%c%u", KINDS[node->kind], node->line);
    if (node->kind < HUB_NODE_LIST) {
        hub_buf_printf(out, "=" HUB_STR_FMT, HUB_STR_ARG(node->text));
        assert_int_equal(node->text.ptr[node->text.len], '\0');
        return;
    }
    hub_buf_add_char(out, '(');
    uint32_t index = 0;
    for (const hub_node *child = node->first; child != NULL; child = child->next) {
        assert_ptr_equal(child->parent, node);
        assert_int_equal(child->index, index);
        hub_buf_printf(out, "%s%s%s", index > 0 ? " " : "", child->key != NULL ? child->key : "",
                       child->key != NULL ? ":" : "");
        describe(child, out);
        index++;
    }
    assert_int_equal(node->count, index);
    hub_buf_add_char(out, ')');
}

static void expect_tree(const char *file, hub_str text, const char *expected)
{
    hub_arena *arena = hub_arena_create(ARENA_BYTES);
    const hub_node *root = NULL;
    hub_error error = {.text = ""};
    hub_err err = hub_node_parse(file, text, arena, &root, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(err, HUB_OK);
    hub_buf out;
    hub_buf_init(&out, 64 * 1024);
    describe(root, &out);
    hub_buf_add_char(&out, '\0');
    assert_string_equal(out.ptr, expected);
    hub_buf_fini(&out);
    hub_arena_destroy(arena);
}

static hub_err try_parse(const char *file, hub_str text, hub_error *error)
{
    hub_arena *arena = hub_arena_create(ARENA_BYTES);
    const hub_node *root = NULL;
    hub_err err = hub_node_parse(file, text, arena, &root, error);
    hub_arena_destroy(arena);
    return err;
}

static void test_yaml(void **state)
{
    static const struct {
        const char *text;
        const char *expected;
    } CASES[] = {
        {"", "01="},
        {"# nothing\n", "01="},
        {"---\n", "02="},
        {"a: b", "M1(a:s1=b)"},
        {"a:\n  b: 1\n  c:\n    - x\n    - y: z\n", "M1(a:M1(b:n2=1 c:L3(s4=x M5(y:s5=z))))"},
        {"a: {b: [1, 2], c: d}", "M1(a:M1(b:L1(n1=1 n1=2) c:s1=d))"},
        {"a:\n\n  |\n  text\n  more\nb: 2", "M1(a:s1=text\nmore\n b:n6=2)"},
        {"a: >\n  text\n  more", "M1(a:s1=text more)"},
        {"a: 'x'\nb: \"y\\n\"", "M1(a:s1=x b:s2=y\n)"},
        /* the core schema, as far as JSON goes */
        {"[~, null, Null, NULL, '', \"null\"]", "L1(01=~ 01=null 01=Null 01=NULL s1= s1=null)"},
        {"[true, True, TRUE, 'true', yes, on, y]",
         "L1(t1=true t1=True t1=TRUE s1=true s1=yes s1=on s1=y)"},
        {"[false, False, FALSE, no, off]", "L1(f1=false f1=False f1=FALSE s1=no s1=off)"},
        {"[0, -0, 1, -12, 1.50, 1e3, 1E+3, 1.5e-3]",
         "L1(n1=0 n1=-0 n1=1 n1=-12 n1=1.50 n1=1e3 n1=1E+3 n1=1.5e-3)"},
        {"[123456789012345678901234567890, 1e400]",
         "L1(n1=123456789012345678901234567890 n1=1e400)"},
        {"[007, +1, .5, 5., 0x1F, 0o7, 1_000, .inf, .nan, 1e, 1e+, -, --1, 1.2.3]",
         "L1(s1=007 s1=+1 s1=.5 s1=5. s1=0x1F s1=0o7 s1=1_000 s1=.inf s1=.nan s1=1e s1=1e+ s1=- "
         "s1=--1 s1=1.2.3)"},
        {"['5', \"5\", !!str 5, ! 5, 12:30:45, 2001-01-01]",
         "L1(s1=5 s1=5 s1=5 s1=5 s1=12:30:45 s1=2001-01-01)"},
        {"5: a\ntrue: b\n~: c\n", "M1(5:s1=a true:s2=b ~:s3=c)"},
        {"a: &anchor b\n", "M1(a:s1=b)"},
        {"\xef\xbb\xbf"
         "a: b\r\nc: d\r\n",
         "M1(a:s1=b c:s2=d)"},
        {"a: \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
         "M1(a:s1=\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80)"},
        {"a:\n  b:\n   c\nd:\n- e\n", "M1(a:M1(b:s2=c) d:L4(s5=e))"},
        {"? a\n: b\n", "M1(a:s1=b)"},
        {"a: b\n...\n", "M1(a:s1=b)"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        expect_tree("t.yaml", hub_str_of(CASES[i].text), CASES[i].expected);
    }
}

static void test_json(void **state)
{
    static const struct {
        const char *text;
        const char *expected;
    } CASES[] = {
        {"{}", "M1()"},
        {"[]", "L1()"},
        {" \n [1,\n2 , {\"a\":\n[ ] }]", "L2(n2=1 n3=2 M3(a:L3()))"},
        {"{\"a\": null, \"b\": true, \"c\": false, \"d\": -1.50e7, \"e\": \"x\"}",
         "M1(a:01=null b:t1=true c:f1=false d:n1=-1.50e7 e:s1=x)"},
        {"{\"a\\u00e4\\n\": \"\\ud83d\\ude00\\\"\\\\/\"}",
         "M1(a\xc3\xa4\n:s1=\xf0\x9f\x98\x80\"\\/)"},
        {"{\"\": \"\"}", "M1(:s1=)"},
        /* comments */
        {"// one\n{ // two\n\"a\": /* three */ 1 // four\n/* five\n\n*/, \"b\": 2}//six",
         "M2(a:n3=1 b:n6=2)"},
        {"{\"a\": \"// no /* comment */\", \"b\": \"\\\"/*\"}",
         "M1(a:s1=// no /* comment */ b:s1=\"/*)"},
        {"/**/{}/***//* ** / */", "M1()"},
        {"{\"a\": 1 /* , */ , /* } */ }", "M1(a:n1=1)"},
        /* trailing commas */
        {"{\"a\": [1, 2, ], }", "M1(a:L1(n1=1 n1=2))"},
        {"[{\"a\": 1,\n}, // x\n]", "L1(M1(a:n1=1))"},
        {"[\",]\", \"}\",]", "L1(s1=,] s1=})"},
        {"\xef\xbb\xbf{\"a\": 1}", "M1(a:n1=1)"},
        {"{\"a\": 1}\r\n", "M1(a:n1=1)"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        expect_tree("t.json", hub_str_of(CASES[i].text), CASES[i].expected);
    }
}

static void test_json_refused(void **state)
{
    static const char *const CASES[] = {
        "",    "{,}",     "[,]",   "[1,,]", "[,1]",        "{\"a\":,}", "/", "{}/", "{}/*",
        "/*/", "{\"a\"}", "[1 2]", "[1] 2", "{\"a\":1,,}", "[1,],",     "#", "[/]", "'a'",
        "+1",  ".5",      "0x1",   "NaN",   "\"\\x41\"",   "\"a\nb\"",  ",", "//",  "[01]",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        hub_error error = {.text = ""};
        assert_int_equal(try_parse("t.json", hub_str_of(CASES[i]), &error), HUB_EPARSE);
        assert_int_equal(strncmp(error.text, "t.json:1: not valid JSON: ", 26), 0);
    }
}

static void test_language(void **state)
{
    static const struct {
        const char *file;
        const char *text;
        const char *expected; /* NULL: refused */
    } CASES[] = {
        {"t.yaml", "{a: b}", "M1(a:s1=b)"},
        {"t.YML", "{a: b}", "M1(a:s1=b)"},
        {"t.json", "{a: b}", NULL},
        {"t.json", "a: b", NULL},
        {"t.jsonc", "{\"a\":1,}", "M1(a:n1=1)"},
        {"t.code-workspace", "{\"a\":1,}", "M1(a:n1=1)"},
        {"t", "{\"a\":1 /* x */}", "M1(a:n1=1)"},
        {"t", " \n// x\n{\"a\":1}", "M3(a:n3=1)"},
        {"t", "\xef\xbb\xbf/* x */{\"a\":1}", "M1(a:n1=1)"},
        {"t", "a: 1", "M1(a:n1=1)"},
        {"t", "{a: b}", NULL},
        {".yaml", "{\"a\":1 /* x */}", "M1(a:n1=1)"}, /* a name, not an ending */
        {"/dev/stdin", "- 1", "L1(n1=1)"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        hub_error error = {.text = ""};
        if (CASES[i].expected != NULL) {
            expect_tree(CASES[i].file, hub_str_of(CASES[i].text), CASES[i].expected);
        } else {
            assert_int_not_equal(try_parse(CASES[i].file, hub_str_of(CASES[i].text), &error),
                                 HUB_OK);
        }
    }
}

/* `depth` lists or maps within each other. */
static void nest(hub_buf *out, const char *open, const char *close, size_t depth)
{
    hub_buf_init(out, 1024 * 1024);
    for (size_t i = 0; i < depth; i++) {
        hub_buf_add(out, hub_str_of(open));
    }
    hub_buf_add(out, HUB_STR("1"));
    for (size_t i = 0; i < depth; i++) {
        hub_buf_add(out, hub_str_of(close));
    }
}

static void test_depth(void **state)
{
    static const struct {
        const char *file;
        const char *open;
        const char *close;
    } CASES[] = {
        {"t.yaml", "[", "]"},       {"t.json", "[", "]"}, {"t.yaml", "{a: ", "}"},
        {"t.json", "{\"a\":", "}"}, {"t.yaml", "- ", ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        for (size_t depth = HUB_LIMIT_CONFIG_DEPTH; depth <= HUB_LIMIT_CONFIG_DEPTH + 1; depth++) {
            hub_buf text;
            nest(&text, CASES[i].open, CASES[i].close, depth);
            hub_error error = {.text = ""};
            hub_err err = try_parse(CASES[i].file, hub_buf_str(&text), &error);
            if (depth == HUB_LIMIT_CONFIG_DEPTH) {
                assert_int_equal(err, HUB_OK);
            } else {
                assert_int_equal(err, HUB_ELIMIT);
                assert_non_null(strstr(error.text, "nested more than 32 levels deep"));
            }
            hub_buf_fini(&text);
        }
    }
    hub_buf text;
    nest(&text, "[", "]", 100000);
    hub_error error = {.text = ""};
    assert_int_equal(try_parse("t.yaml", hub_buf_str(&text), &error), HUB_ELIMIT);
    assert_int_equal(try_parse("t.json", hub_buf_str(&text), &error), HUB_ELIMIT);
    hub_buf_fini(&text);
}

static void test_number_of_values(void **state)
{
    (void)state;
    for (size_t extra = 0; extra <= 1; extra++) {
        hub_buf text;
        hub_buf_init(&text, HUB_LIMIT_CONFIG_BYTES);
        hub_buf_add_char(&text, '[');
        for (size_t i = 1; i < HUB_LIMIT_CONFIG_VALUES + extra; i++) {
            hub_buf_add(&text, i == 1 ? HUB_STR("1") : HUB_STR(",1"));
        }
        hub_buf_add_char(&text, ']');
        hub_error error = {.text = ""};
        hub_err expected = extra == 0 ? HUB_OK : HUB_ELIMIT;
        assert_int_equal(try_parse("t.yaml", hub_buf_str(&text), &error), expected);
        assert_int_equal(try_parse("t.json", hub_buf_str(&text), &error), expected);
        hub_buf_fini(&text);
    }
}

static void test_bytes(void **state)
{
    (void)state;
    char *text = malloc(HUB_LIMIT_CONFIG_BYTES + 1);
    assert_non_null(text);
    memset(text, '\n', HUB_LIMIT_CONFIG_BYTES + 1);
    text[0] = '#';
    hub_error error = {.text = ""};
    hub_str exact = {.ptr = text, .len = HUB_LIMIT_CONFIG_BYTES};
    assert_int_equal(try_parse("t.yaml", exact, &error), HUB_OK);
    hub_str over = {.ptr = text, .len = HUB_LIMIT_CONFIG_BYTES + 1};
    assert_int_equal(try_parse("t.yaml", over, &error), HUB_ELIMIT);
    assert_string_equal(error.text, "t.yaml:1: longer than 8388608 bytes");
    free(text);
}

/* Many keys in one map are compared by sorting; the one reported is the first that repeats. */
static void test_duplicates_in_a_large_map(void **state)
{
    (void)state;
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_CONFIG_BYTES);
    for (int i = 0; i < 50000; i++) {
        hub_buf_printf(&text, "k%d: 1\n", i);
    }
    hub_error error = {.text = ""};
    assert_int_equal(try_parse("t.yaml", hub_buf_str(&text), &error), HUB_OK);
    hub_buf_add(&text, HUB_STR("k9: 1\nk7: 1\nk8: 1\nk9: 1\n"));
    assert_int_equal(try_parse("t.yaml", hub_buf_str(&text), &error), HUB_EINVAL);
    assert_string_equal(error.text, "t.yaml:50001: k9: duplicate key, first on line 10");
    hub_buf_fini(&text);
}

/* Places of deep nodes with long names stay readable and leave room for the reason. */
static void test_long_places(void **state)
{
    (void)state;
    hub_buf text;
    hub_buf_init(&text, 64 * 1024);
    for (int level = 0; level < 12; level++) {
        hub_buf_printf(&text, "%*s%0*d\xc3\xa4\xc3\xa4:\n", level, "", 63, level);
    }
    hub_buf_printf(&text, "%*sx: 1\n%*sx: 2\n", 12, "", 12, "");
    char file[400];
    memset(file, 'f', sizeof file);
    memcpy(file + sizeof file - 6, ".yaml", 6);
    hub_error error = {.text = ""};
    assert_int_equal(try_parse(file, hub_buf_str(&text), &error), HUB_EINVAL);
    assert_true(hub_str_starts(hub_str_of(error.text), HUB_STR("...fff")));
    assert_non_null(strstr(error.text, "f.yaml:14: ...0"));
    assert_non_null(strstr(error.text, "11\xc3\xa4....x: duplicate key, first on line 13"));
    hub_buf_fini(&text);
}

static void test_find_and_names(void **state)
{
    (void)state;
    hub_arena *arena = hub_arena_create(ARENA_BYTES);
    const hub_node *root = NULL;
    hub_error error;
    assert_int_equal(hub_node_parse("t", HUB_STR("a: 1\nb: [x]"), arena, &root, &error), HUB_OK);
    assert_string_equal(hub_node_find(root, "a")->text.ptr, "1");
    assert_null(hub_node_find(root, "c"));
    assert_null(hub_node_find(hub_node_find(root, "b"), "x"));
    assert_string_equal(hub_node_kind_name(root), "a map");
    assert_string_equal(hub_node_kind_name(hub_node_find(root, "b")), "a list");
    assert_int_equal(hub_node_fail(root, NULL, HUB_EBUSY, "no room for a text"), HUB_EBUSY);
    hub_arena_destroy(arena);
}

static void test_out_of_arena(void **state)
{
    (void)state;
    static const char *const FILES[] = {"t.yaml", "t.json"};
    for (size_t bytes = 0; bytes < 1200; bytes += 7) {
        for (size_t i = 0; i < COUNT(FILES); i++) {
            hub_arena *arena = hub_arena_create(bytes);
            const hub_node *root = NULL;
            hub_error error = {.text = ""};
            hub_err err = hub_node_parse(
                FILES[i], HUB_STR("{\"a\": [1, {\"b\": \"c\"}], \"d\": 2}"), arena, &root, &error);
            assert_true(err == HUB_OK || err == HUB_ELIMIT);
            assert_int_equal(err == HUB_OK, root != NULL);
            hub_arena_destroy(arena);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_yaml),         cmocka_unit_test(test_json),
        cmocka_unit_test(test_json_refused), cmocka_unit_test(test_language),
        cmocka_unit_test(test_depth),        cmocka_unit_test(test_number_of_values),
        cmocka_unit_test(test_bytes),        cmocka_unit_test(test_duplicates_in_a_large_map),
        cmocka_unit_test(test_long_places),  cmocka_unit_test(test_find_and_names),
        cmocka_unit_test(test_out_of_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
