/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of write, edit, mkdir, move and delete. Part of test_files.c. */
#ifndef FILES_CHANGING_H
#define FILES_CHANGING_H

#include "tree.h"

static size_t count_tools(const tree *t)
{
    json_t *tools = json_loads(fake_host_tools(t->host), 0, NULL);
    size_t count = json_array_size(tools);
    json_decref(tools);
    return count;
}

static void test_read_only_by_default(void **state)
{
    static const char *const tools[] = {"write", "edit", "mkdir", "move", "delete"};
    tree *t = (tree *)*state;
    put(t, "in/a", "text");
    load(t);
    assert_int_equal(count_tools(t), 5);
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) {
        assert_refused(
            t, tools[i],
            format("{\"path\":\"a\",\"text\":\"x\",\"old_text\":\"t\",\"new_text\":\"u\","
                   "\"from\":\"a\",\"to\":\"b\"}"),
            PATCHBAY_NOT_IMPLEMENTED, "no such tool");
    }
    assert_content(t, "in/a", "text");
}

static void test_each_root_says_whether_it_is_writable(void **state)
{
    tree *t = (tree *)*state;
    put_folder(t, "rw");
    put(t, "in/a", "text");
    load_config(t,
                format("{\"roots\":[\"%s\",{\"path\":\"%s/rw\",\"write\":true}]}", t->in, t->base));
    assert_int_equal(count_tools(t), 10);
    json_decref(call_ok(t, "write", format("{\"path\":\"rw/a\",\"text\":\"new\"}")));
    assert_content(t, "rw/a", "new");
    const char *wanted = "in a root that is read-only";
    assert_refused(t, "write", format("{\"path\":\"in/b\",\"text\":\"\"}"), PATCHBAY_INVALID_INPUT,
                   wanted);
    assert_refused(t, "edit", format("{\"path\":\"in/a\",\"old_text\":\"t\",\"new_text\":\"u\"}"),
                   PATCHBAY_INVALID_INPUT, wanted);
    assert_refused(t, "mkdir", format("{\"path\":\"in/d\",\"parents\":true}"),
                   PATCHBAY_INVALID_INPUT, wanted);
    assert_refused(t, "move", format("{\"from\":\"in/a\",\"to\":\"rw/b\"}"), PATCHBAY_INVALID_INPUT,
                   wanted);
    assert_refused(t, "move", format("{\"from\":\"rw/a\",\"to\":\"in/b\"}"), PATCHBAY_INVALID_INPUT,
                   wanted);
    assert_refused(t, "delete", format("{\"path\":\"in/a\"}"), PATCHBAY_INVALID_INPUT, wanted);
    assert_content(t, "in/a", "text");
}

static void test_write(void **state)
{
    tree *t = (tree *)*state;
    char path[PATH_MAX];
    struct stat status;
    put(t, "in/run.sh", "old");
    (void)snprintf(path, sizeof path, "%s/run.sh", t->in);
    assert_int_equal(chmod(path, 0751), 0);
    load_writable(t);
    json_t *made = call_ok(t, "write", format("{\"path\":\"new\",\"text\":\"a\\u0000b\"}"));
    assert_true(json_is_true(json_object_get(made, "created")));
    assert_int_equal(json_integer_value(json_object_get(made, "size")), 3);
    json_decref(made);
    made = call_ok(t, "write", format("{\"path\":\"run.sh\",\"text\":\"new\"}"));
    assert_true(json_is_false(json_object_get(made, "created")));
    json_decref(made);
    assert_content(t, "in/run.sh", "new");
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0751);
    json_decref(call_ok(t, "write", format("{\"path\":\"b64\",\"data\":\"YWJjZA==\"}")));
    assert_content(t, "in/b64", "abcd");
    json_decref(call_ok(t, "write", format("{\"path\":\"b64\",\"data\":\"YWJj\"}")));
    assert_content(t, "in/b64", "abc");
    assert_paths(t, "list", format("{}"), "entries", "in/b64 in/new in/run.sh"); /* no leftovers */
}

static void test_write_refusals(void **state)
{
    tree *t = (tree *)*state;
    put_folder(t, "in/sub");
    put(t, "in/a", "old");
    put_link(t, "a", "in/link");
    load_writable(t);
    static const struct {
        const char *args;
        const char *wanted;
    } refused[] = {
        {"{\"path\":\"a\",\"text\":\"x\",\"create_only\":true}", "exists already"},
        {"{\"path\":\"sub\",\"text\":\"x\"}", "is a directory"},
        {"{\"path\":\"link\",\"text\":\"x\"}", "is a symlink"},
        {"{\"path\":\"none/a\",\"text\":\"x\"}", "the folder of 'none/a' does not exist"},
        {"{\"path\":\"a/b\",\"text\":\"x\"}", "not a directory"},
        {"{\"path\":\"\",\"text\":\"x\"}", "does not end in a name"},
        {"{\"path\":\"sub/..\",\"text\":\"x\"}", "does not end in a name"},
        {"{\"path\":\"a\"}", "either text, or data"},
        {"{\"path\":\"a\",\"text\":\"x\",\"data\":\"eA==\"}", "either text, or data"},
        {"{\"path\":\"a\",\"data\":\"e!==\"}", "not base64"},
        {"{\"path\":\"a\",\"data\":\"eA=\"}", "not base64"},
        {"{\"path\":\"a\",\"data\":\"eAAAA\"}", "not base64"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        assert_refused(t, "write", format("%s", refused[i].args), PATCHBAY_INVALID_INPUT,
                       refused[i].wanted);
    }
    assert_content(t, "in/a", "old");
    assert_paths(t, "list", format("{\"depth\":9}"), "entries", "in/a in/link in/sub");
    json_decref(
        call_ok(t, "write", format("{\"path\":\"c\",\"text\":\"x\",\"create_only\":true}")));
    assert_content(t, "in/c", "x");
}

static void edit_into(const tree *t, const char *before, const char *args, const char *after,
                      const char *diff)
{
    put(t, "in/f", before);
    for (int dry = 1; dry >= 0; dry--) {
        json_t *made = call_ok(
            t, "edit", format("{\"path\":\"f\",%s%s}", args, dry ? ",\"dry_run\":true" : ""));
        char *wanted = format("--- f\n+++ f\n%s", diff);
        assert_string_equal(text_of(made, "diff"), wanted);
        assert_true(json_is_boolean(json_object_get(made, "applied")));
        assert_int_equal(json_is_true(json_object_get(made, "applied")), !dry);
        assert_content(t, "in/f", dry ? before : after);
        free(wanted);
        json_decref(made);
    }
}

static void test_edit(void **state)
{
    tree *t = (tree *)*state;
    load_writable(t);
    edit_into(t, "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "\"old_text\":\"5\",\"new_text\":\"five\\nV\"",
              "1\n2\n3\n4\nfive\nV\n6\n7\n8\n9\n",
              "@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n+V\n 6\n 7\n 8\n");
    edit_into(t, "a\nb\nc\n", "\"old_text\":\"b\\n\",\"new_text\":\"\"", "a\nc\n",
              "@@ -1,3 +1,2 @@\n a\n-b\n c\n");
    edit_into(t, "yx\nz\n", "\"old_text\":\"x\\n\",\"new_text\":\"\"", "yz\n",
              "@@ -1,2 +1,1 @@\n-yx\n-z\n+yz\n");
    edit_into(t, "a", "\"old_text\":\"a\",\"new_text\":\"b\"", "b",
              "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of "
              "file\n");
    edit_into(t, "a\n", "\"old_text\":\"a\\n\",\"new_text\":\"\"", "", "@@ -1,1 +0,0 @@\n-a\n");
    edit_into(t, "xx x\nk\nx\n", "\"old_text\":\"x\",\"new_text\":\"yy\",\"count\":4",
              "yyyy yy\nk\nyy\n", "@@ -1,3 +1,3 @@\n-xx x\n+yyyy yy\n k\n-x\n+yy\n");
    edit_into(t, "x\n1\n2\n3\n4\n5\n6\n7\nx\n",
              "\"old_text\":\"x\",\"new_text\":\"y\\nz\",\"count\":2",
              "y\nz\n1\n2\n3\n4\n5\n6\n7\ny\nz\n",
              "@@ -1,4 +1,5 @@\n-x\n+y\n+z\n 1\n 2\n 3\n@@ -6,4 +7,5 @@\n 5\n 6\n 7\n-x\n+y\n+z\n");
}

static void test_edit_refusals(void **state)
{
    tree *t = (tree *)*state;
    put(t, "in/f", "a\nb a\nb\n");
    put_folder(t, "in/d");
    put_link(t, "f", "in/link");
    load_writable(t);
    static const struct {
        const char *args;
        const char *wanted;
    } refused[] = {
        {"\"path\":\"f\",\"old_text\":\"zz\",\"new_text\":\"\"", "does not contain old_text"},
        {"\"path\":\"f\",\"old_text\":\"a\",\"new_text\":\"x\"", "2 times, not 1 (lines 1, 2)"},
        {"\"path\":\"f\",\"old_text\":\"a\",\"new_text\":\"x\",\"count\":3", "2 times, not 3"},
        {"\"path\":\"f\",\"old_text\":\"\",\"new_text\":\"x\"", "must not be empty"},
        {"\"path\":\"f\",\"old_text\":\"a\",\"new_text\":\"a\"", "must differ"},
        {"\"path\":\"d\",\"old_text\":\"a\",\"new_text\":\"x\"", "not a file"},
        {"\"path\":\"link\",\"old_text\":\"b\\n\",\"new_text\":\"x\"", "symbolic link"},
        {"\"path\":\"none\",\"old_text\":\"a\",\"new_text\":\"x\"", "does not exist"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        assert_refused(t, "edit", format("{%s}", refused[i].args), PATCHBAY_INVALID_INPUT,
                       refused[i].wanted);
    }
    assert_content(t, "in/f", "a\nb a\nb\n");
}

static void test_edit_cuts_a_long_diff(void **state)
{
    tree *t = (tree *)*state;
    size_t size = 100000;
    char *text = (char *)malloc(size);
    for (size_t i = 0; i < size; i++) {
        text[i] = i % 2 == 0 ? 'x' : '\n';
    }
    put_bytes(t, "in/f", text, size);
    free(text);
    load_writable(t);
    json_t *made =
        call_ok(t, "edit",
                format("{\"path\":\"f\",\"old_text\":\"x\",\"new_text\":\"y\",\"count\":50000}"));
    const json_t *diff = json_object_get(made, "diff");
    assert_in_range(json_string_length(diff), 60000, 66000);
    assert_non_null(strstr(json_string_value(diff), "(cut)"));
    json_decref(made);
}

static void test_mkdir(void **state)
{
    tree *t = (tree *)*state;
    put(t, "in/file", "");
    load_writable(t);
    assert_refused(t, "mkdir", format("{\"path\":\"a/b/c\"}"), PATCHBAY_INVALID_INPUT, "folder of");
    json_t *made = call_ok(t, "mkdir", format("{\"path\":\"a//b/./c/\",\"parents\":true}"));
    assert_true(json_is_true(json_object_get(made, "created")));
    json_decref(made);
    assert_true(exists(t, "in/a/b/c"));
    made = call_ok(t, "mkdir", format("{\"path\":\"a/b\"}"));
    assert_true(json_is_false(json_object_get(made, "created")));
    json_decref(made);
    assert_refused(t, "mkdir", format("{\"path\":\"file\"}"), PATCHBAY_INVALID_INPUT, "exists");
    assert_refused(t, "mkdir", format("{\"path\":\"file/x\",\"parents\":true}"),
                   PATCHBAY_INVALID_INPUT, "exists");
    assert_refused(t, "mkdir", format("{\"path\":\"../out\"}"), PATCHBAY_INVALID_INPUT,
                   "Allowed roots");
    assert_refused(t, "mkdir", format("{\"path\":\"a/../../out/x\",\"parents\":true}"),
                   PATCHBAY_INVALID_INPUT, "leads out");
    assert_false(exists(t, "out"));
}

static void test_move_and_delete(void **state)
{
    tree *t = (tree *)*state;
    put(t, "in/a", "A");
    put(t, "in/b", "B");
    put_folder(t, "in/d");
    put(t, "in/d/x", "X");
    put_link(t, "b", "in/link");
    load_writable(t);
    assert_refused(t, "move", format("{\"from\":\"a\",\"to\":\"b\"}"), PATCHBAY_INVALID_INPUT,
                   "'b' exists already");
    json_decref(call_ok(t, "move", format("{\"from\":\"a\",\"to\":\"d/a\"}")));
    json_decref(call_ok(t, "move", format("{\"from\":\"d/a\",\"to\":\"b\",\"overwrite\":true}")));
    assert_content(t, "in/b", "A");
    assert_refused(t, "move", format("{\"from\":\"none\",\"to\":\"c\"}"), PATCHBAY_INVALID_INPUT,
                   "'none' does not exist");
    assert_refused(t, "move", format("{\"from\":\"d\",\"to\":\"d/e\"}"), PATCHBAY_INVALID_INPUT,
                   "into itself");
    assert_refused(t, "move", format("{\"from\":\"b\",\"to\":\"../b\"}"), PATCHBAY_INVALID_INPUT,
                   "leads out");
    assert_refused(t, "move", format("{\"from\":\"../secret.txt\",\"to\":\"b\"}"),
                   PATCHBAY_INVALID_INPUT, "leads out");
    assert_refused(t, "delete", format("{\"path\":\"d\"}"), PATCHBAY_INVALID_INPUT, "not empty");
    assert_refused(t, "delete", format("{\"path\":\"\"}"), PATCHBAY_INVALID_INPUT, "name below");
    json_decref(call_ok(t, "delete", format("{\"path\":\"link\"}")));
    json_decref(call_ok(t, "delete", format("{\"path\":\"d/x\"}")));
    json_decref(call_ok(t, "delete", format("{\"path\":\"d/\"}")));
    assert_refused(t, "delete", format("{\"path\":\"d\"}"), PATCHBAY_INVALID_INPUT, "not exist");
    assert_paths(t, "list", format("{}"), "entries", "in/b");
}

/* ---- at once --------------------------------------------------------------------------------- */

static void test_concurrent_writes_are_whole(void **state)
{
    enum { WRITES = 40, SIZE = 100000 };
    tree *t = (tree *)*state;
    uint64_t ids[WRITES * 2];
    char *text = (char *)malloc(SIZE + 1);
    put(t, "in/f", "aaaa");
    load_writable(t);
    for (int i = 0; i < WRITES; i++) {
        memset(text, 'a' + i % 26, SIZE);
        text[SIZE] = '\0';
        char *args = format("{\"path\":\"f\",\"text\":\"%s\"}", text);
        ids[2 * i] = fake_host_start(t->host, "write", args);
        ids[2 * i + 1] = fake_host_start(t->host, "read", "{\"path\":\"f\"}");
        free(args);
    }
    for (int i = 0; i < WRITES; i++) {
        fake_result wrote = fake_host_wait(t->host, ids[2 * i]);
        fake_result read = fake_host_wait(t->host, ids[2 * i + 1]);
        assert_int_equal(wrote.status, PATCHBAY_RESULT);
        assert_int_equal(read.status, PATCHBAY_RESULT);
        json_t *result = json_loads(read.json, 0, NULL);
        const char *seen = block_text(result, 0);
        size_t len = strlen(seen);
        assert_true(len == 4 || len == SIZE);
        assert_int_equal(strspn(seen, (char[]){seen[0], '\0'}), len);
        json_decref(result);
        fake_result_free(&wrote);
        fake_result_free(&read);
    }
    free(text);
    assert_paths(t, "list", format("{}"), "entries", "in/f");
}

static void test_concurrent_edits_lose_nothing(void **state)
{
    enum { EDITS = 60 };
    tree *t = (tree *)*state;
    uint64_t ids[EDITS];
    put(t, "in/f", "count:");
    load_writable(t);
    for (int i = 0; i < EDITS; i++) {
        ids[i] = fake_host_start(
            t->host, "edit", "{\"path\":\"f\",\"old_text\":\"count:\",\"new_text\":\"count:x\"}");
    }
    for (int i = 0; i < EDITS; i++) {
        fake_result result = fake_host_wait(t->host, ids[i]);
        assert_int_equal(result.status, PATCHBAY_RESULT);
        fake_result_free(&result);
    }
    char *text = get(t, "in/f");
    assert_int_equal(strlen(text), strlen("count:") + EDITS);
    free(text);
}

static void test_create_only_has_one_winner(void **state)
{
    enum { TRIES = 40 };
    tree *t = (tree *)*state;
    uint64_t ids[TRIES];
    int won = 0;
    load_writable(t);
    for (int i = 0; i < TRIES; i++) {
        ids[i] = fake_host_start(t->host, "write",
                                 "{\"path\":\"f\",\"text\":\"x\",\"create_only\":true}");
    }
    for (int i = 0; i < TRIES; i++) {
        fake_result result = fake_host_wait(t->host, ids[i]);
        won += result.status == PATCHBAY_RESULT;
        fake_result_free(&result);
    }
    assert_int_equal(won, 1);
}

#endif
