/* SPDX-License-Identifier: Apache-2.0 */
/* One value changed in a document: all the rest stays, byte for byte. */
#include "config_support.h"

#include "base/limits.h"
#include "config/edit.h"

enum { ARENA_BYTES = 16 * 1024 * 1024 };

typedef struct example {
    const char *path;  /* keys with dots between */
    const char *value; /* JSON; NULL: it is taken away */
    const char *before;
    const char *after; /* NULL: refused */
} example;

static hub_err change(const char *name, const example *one, hub_arena *arena, hub_buf *out,
                      hub_error *error)
{
    hub_edit_path path = {.count = 0};
    char *steps = hub_arena_strdup(arena, hub_str_of(one->path));
    for (char *at = strtok_r(steps, ".", &steps); at != NULL; at = strtok_r(NULL, ".", &steps)) {
        path.steps[path.count++] = at;
    }
    const hub_node *value = NULL;
    if (one->value == NULL) {
        return hub_edit_remove(name, hub_str_of(one->before), &path, arena, out, error);
    }
    assert_int_equal(hub_node_parse("v.json", hub_str_of(one->value), arena, &value, error),
                     HUB_OK);
    return hub_edit_put(name, hub_str_of(one->before), &path, value, arena, out, error);
}

static void check(const char *name, const example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hub_arena *arena = hub_arena_create(ARENA_BYTES);
        hub_error error = {.text = ""};
        hub_buf out;
        hub_buf_init(&out, HUB_LIMIT_CONFIG_BYTES);
        hub_err err = change(name, &examples[i], arena, &out, &error);
        if (examples[i].after == NULL) {
            assert_int_not_equal(err, HUB_OK);
            assert_true(error.text[0] != '\0');
        } else {
            hub_buf_add_char(&out, '\0');
            assert_string_equal(error.text, "");
            assert_string_equal(hub_buf_str(&out).ptr, examples[i].after);
        }
        hub_buf_fini(&out);
        hub_arena_destroy(arena);
    }
}

static void test_yaml(void **state)
{
    (void)state;
    static const example EXAMPLES[] = {
        {"a.b", "1", "", "a:\n  b: 1\n"},
        {"a.b", "1", "---\n# c\n", "---\n# c\na:\n  b: 1\n"},
        {"b", "1", "---\na: 1\n...\n", "---\na: 1\nb: 1\n...\n"},
        {"a.b", "1", "# only a comment\n", "# only a comment\na:\n  b: 1\n"},
        {"a", "\"x y\"", "a: 1 # one\n# two\nb: 2\n", "a: \"x y\" # one\n# two\nb: 2\n"},
        {"a", "\"x\"", "a:   'old'   # why\n", "a:   x   # why\n"},
        {"a", "\"yes\"", "a: 1", "a: \"yes\""},
        {"t.k", "{\"command\":\"x\",\"args\":[\"-y\",\"p\"]}",
         "t:\n    o: {c: d}  # o's\n    # end\nz: 1\n",
         "t:\n    o: {c: d}  # o's\n    k:\n        command: x\n        args: [\"-y\", p]\n    # "
         "end\nz: 1\n"},
        {"t.k", "1", "t: {}\nz: 1\n", "t:\n  k: 1\nz: 1\n"},
        {"t.k", "1", "t:\nz: 1\n", "t:\n  k: 1\nz: 1\n"},
        {"t.k", "1", "t: {a: b}\n", "t: {a: b, k: 1}\n"},
        {"t.k", "1", "t: {a: b,}\n", "t: {a: b, k: 1,}\n"},
        {"t.k", "1", "t:\n  a: |\n    text\n    more\n\nz: 1\n",
         "t:\n  a: |\n    text\n    more\n  k: 1\n\nz: 1\n"},
        {"t.a", "1", "t:\n  a: |\n    text\n    more\nz: 1\n", "t:\n  a: 1\nz: 1\n"},
        {"t.a", "1", "t:\n  a:\n    b: c\n    # in it\n  d: e\n",
         "t:\n  a: 1\n    # in it\n  d: e\n"},
        {"t", "{}", "t:\n  a: 1\n", "t: {}\n"},
        {"l.1.a", "2", "l:\n  - a: 0\n  - a: 1\n    b: 1\n", "l:\n  - a: 0\n  - a: 2\n    b: 1\n"},
        {"l.1.c", "2", "l:\n  - a: 0\n  - a: 1\nz: 1\n",
         "l:\n  - a: 0\n  - a: 1\n    c: 2\nz: 1\n"},
        {"l.7", "2", "l: [1]\n", NULL},
        {"a.b", "2", "a: text\n", NULL},
        {"t.b", NULL, "t:\n  a: 1\n  b: 2 # its\n  # next\n  c: 3\n",
         "t:\n  a: 1\n  # next\n  c: 3\n"},
        {"t.b", NULL, "t:\n  a: 1\n  b:\n    x: 1\n    y: [1,\n      2]\n", "t:\n  a: 1\n"},
        {"t.a", NULL, "t:\n  a: 1\nz: 2\n", "t: {}\nz: 2\n"},
        {"t.a", NULL, "t: {a: 1, b: 2}\n", "t: {b: 2}\n"},
        {"t.b", NULL, "t: {a: 1, b: 2}\n", "t: {a: 1}\n"},
        {"t.a", NULL, "t: {a: 1}\n", "t: {}\n"},
        {"t.q", NULL, "t: {a: 1}\n", NULL},
        {"l.0.a", NULL, "l:\n  - a: 1\n    b: 2\n", "l:\n  - b: 2\n"},
        {"\xc3\xa4.b", "\"\xc3\xbc\"", "# \xe2\x82\xac\n\xc3\xa4: {\xe2\x82\xac: 1}\nz: \xc3\xb6\n",
         "# \xe2\x82\xac\n\xc3\xa4: {\xe2\x82\xac: 1, b: \"\xc3\xbc\"}\nz: \xc3\xb6\n"},
        {"b", "2",
         "\xef\xbb\xbf"
         "a: 1\r\nb: 1\r\n",
         "\xef\xbb\xbf"
         "a: 1\r\nb: 2\r\n"},
        {"c", "2", "a: 1\r\n", "a: 1\r\nc: 2\r\n"},
        {"a", "1", "a: &x 1\nb: *x\n", NULL},
    };
    check("t.yaml", EXAMPLES, COUNT(EXAMPLES));
}

static void test_json(void **state)
{
    (void)state;
    static const example EXAMPLES[] = {
        {"a", "1", "{}", "{\n  \"a\": 1\n}"},
        {"a.b", "1", "{}\n", "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n"},
        {"m.n", "{\"c\":\"x\"}", "{\n    \"m\": {\n        \"a\": {} // its\n    }\n}\n",
         "{\n    \"m\": {\n        \"a\": {}, // its\n        \"n\": {\n            \"c\": "
         "\"x\"\n        }\n    }\n}\n"},
        {"n", "1", "{\"a\": 1}", "{\"a\": 1, \"n\": 1}"},
        {"n", "1", "{\n\t\"a\": 1, // one\n}", "{\n\t\"a\": 1, // one\n\t\"n\": 1,\n}"},
        {"n", "1", "{\n  \"a\": 1 /* , */\n}", "{\n  \"a\": 1, /* , */\n  \"n\": 1\n}"},
        {"a", "\"b\"", "{ \"a\" : \"x, }\" }", "{ \"a\" : \"b\" }"},
        {"a", NULL, "{\n  \"a\": 1, // x\n  // of b\n  \"b\": 2\n}", "{\n  // of b\n  \"b\": 2\n}"},
        {"b", NULL, "{\n  \"a\": 1,\n  \"b\": 2\n}\n", "{\n  \"a\": 1\n}\n"},
        {"b", NULL, "{\n  \"a\": 1,\n  \"b\": 2,\n}\n", "{\n  \"a\": 1,\n}\n"},
        {"b", NULL, "{\"a\": 1, \"b\": 2}", "{\"a\": 1}"},
        {"a", NULL, "{\"a\": 1, \"b\": 2}", "{\"b\": 2}"},
        {"a", NULL, "{\"a\": {\"x\": 1}}", "{}"},
        {"a", "1", "{\"a\": ", NULL},
        {"a", "1", "[]", NULL},
    };
    check("t.json", EXAMPLES, COUNT(EXAMPLES));
}

/* Whatever is put into a document comes out of it again. */
static void test_back_again(void **state)
{
    (void)state;
    static const char *const DOCUMENTS[] = {"t:\n  a: 1 # x\n\nz: [1, 2]\n", "t:\n  a: 1\n",
                                            "t: {a: 1}\nz: 1\n"};
    static const char *const VALUES[] = {
        "1",
        "\"# no comment\"",
        "\"a: b\"",
        "\"- x\"",
        "\"\"",
        "{\"k\": {\"l\": [\"m\"]}}",
        "[]",
        "\"12:30\"",
        "\"null\"",
        "\"two\\nlines\"",
        "{\"a b\": \"&x\", \"? q\": \"*y\"}",
    };
    for (size_t i = 0; i < COUNT(DOCUMENTS); i++) {
        for (size_t j = 0; j < COUNT(VALUES); j++) {
            hub_arena *arena = hub_arena_create(ARENA_BYTES);
            hub_error error = {.text = ""};
            hub_buf there;
            hub_buf back;
            hub_buf_init(&there, HUB_LIMIT_CONFIG_BYTES);
            hub_buf_init(&back, HUB_LIMIT_CONFIG_BYTES);
            example one = {"t.new", VALUES[j], DOCUMENTS[i], NULL};
            assert_int_equal(change("t.yaml", &one, arena, &there, &error), HUB_OK);
            hub_buf_add_char(&there, '\0');
            one = (example){"t.new", NULL, hub_buf_str(&there).ptr, NULL};
            assert_int_equal(change("t.yaml", &one, arena, &back, &error), HUB_OK);
            hub_buf_add_char(&back, '\0');
            assert_string_equal(hub_buf_str(&back).ptr, DOCUMENTS[i]);
            hub_buf_fini(&there);
            hub_buf_fini(&back);
            hub_arena_destroy(arena);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_yaml),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_back_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
