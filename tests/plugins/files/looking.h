/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of configuration, list, stat and read. Part of test_files.c. */
#ifndef FILES_LOOKING_H
#define FILES_LOOKING_H

#include "tree.h"

/* ---- configuration --------------------------------------------------------------------------- */

static void test_setup_wants_roots(void **state)
{
    tree *t = (tree *)*state;
    assert_setup_fails(format("{}"), "roots: [");
    assert_setup_fails(format("{\"roots\":[]}"), "say which folders");
    assert_setup_fails(format("{\"roots\":[\"relative\"]}"), "'relative' is not an absolute path");
    assert_setup_fails(format("{\"roots\":[\"/x\\u0000y\"]}"), "not an absolute path");
    assert_setup_fails(format("{\"roots\":[\"%s/none\"]}", t->base), "No such file");
    assert_setup_fails(format("{\"roots\":[\"%s/secret.txt\"]}", t->base), "Not a directory");
    assert_setup_fails(format("{\"roots\":[\"%s\",\"%s/\"]}", t->in, t->in),
                       "two roots are called 'in'");
    assert_setup_fails(format("{\"roots\":[{\"path\":\"%s\",\"name\":\"a/b\"}]}", t->in), "slash");
    assert_setup_fails(format("{\"roots\":[\"%s\"],\"max_read_bytes\":0}", t->in),
                       "max_read_bytes");
    assert_setup_fails(format("{\"roots\":[\"%s\"],\"max_read_bytes\":8388609}", t->in), "8388608");
    assert_setup_fails(format("{\"roots\":[\"%s\"],\"follow_symlinks\":\"yes\"}", t->in),
                       "\"inside\" or \"never\"");
}

static void test_setup_bounds_roots(void **state)
{
    tree *t = (tree *)*state;
    for (int count = 64; count <= 65; count++) {
        char *config = format("{\"roots\":[");
        for (int i = 0; i < count; i++) {
            char *longer = format("%s%s{\"path\":\"%s\",\"name\":\"r%d\"}", config,
                                  i > 0 ? "," : "", t->in, i);
            free(config);
            config = longer;
        }
        char *whole = format("%s]}", config);
        free(config);
        if (count == 64) {
            load_config(t, whole);
        } else {
            assert_setup_fails(whole, "more than 64 roots");
        }
    }
}

static void test_paths_name_a_root(void **state)
{
    tree *t = (tree *)*state;
    put_folder(t, "two");
    put_folder(t, "in/two");
    put(t, "in/a.txt", "in a");
    put(t, "in/two/a.txt", "in two a");
    put(t, "two/a.txt", "two a");
    load_config(t, format("{\"roots\":[\"%s\",{\"path\":\"%s//two/.\",\"name\":\"second\"}]}",
                          t->in, t->base));
    assert_reads(t, format("{\"path\":\"in/a.txt\"}"), "in a", NULL);
    assert_reads(t, format("{\"path\":\"./in//a.txt\"}"), "in a", NULL);
    assert_reads(t, format("{\"path\":\"second/a.txt\"}"), "two a", NULL);
    assert_reads(t, format("{\"path\":\"%s/a.txt\"}", t->in), "in a", NULL);
    assert_reads(t, format("{\"path\":\"%s/two/a.txt\"}", t->base), "two a", NULL);
    assert_reads(t, format("{\"path\":\"in/two/../a.txt\"}"), "in a", NULL);
    assert_refused(t, "read", format("{\"path\":\"a.txt\"}"), PATCHBAY_INVALID_INPUT,
                   "Allowed roots: in (");
    assert_refused(t, "read", format("{\"path\":\"inn/a.txt\"}"), PATCHBAY_INVALID_INPUT,
                   "second (");
    assert_paths(t, "list", format("{}"), "entries", "in second");
}

static void test_one_root_needs_no_name(void **state)
{
    tree *t = (tree *)*state;
    put_folder(t, "in/in");
    put(t, "in/a.txt", "outer");
    put(t, "in/in/a.txt", "inner");
    load(t);
    assert_reads(t, format("{\"path\":\"a.txt\"}"), "outer", NULL);
    assert_reads(t, format("{\"path\":\"in/a.txt\"}"), "outer", NULL); /* the root's name wins */
    assert_reads(t, format("{\"path\":\"in/in/a.txt\"}"), "inner", NULL);
    assert_paths(t, "list", format("{\"path\":\"\"}"), "entries", "in/a.txt in/in");
    assert_paths(t, "list", format("{\"path\":\".\"}"), "entries", "in/a.txt in/in");
}

static void test_a_root_may_be_reached_through_links(void **state)
{
    tree *t = (tree *)*state;
    put_link(t, "in", "link");
    put(t, "in/a.txt", "text");
    load_config(t, format("{\"roots\":[\"%s/link\"]}", t->base));
    assert_reads(t, format("{\"path\":\"%s/link/a.txt\"}", t->base), "text", NULL);
    assert_reads(t, format("{\"path\":\"%s/in/a.txt\"}", t->base), "text", NULL);
    assert_reads(t, format("{\"path\":\"link/a.txt\"}"), "text", NULL);
}

/* ---- list and stat --------------------------------------------------------------------------- */

static void test_list_has_type_size_and_time(void **state)
{
    tree *t = (tree *)*state;
    put_folder(t, "in/sub");
    put(t, "in/a.txt", "12345");
    put_link(t, "a.txt", "in/link");
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/a.txt", t->in);
    struct timespec times[2] = {{.tv_sec = 86400}, {.tv_sec = 86400}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    load(t);
    json_t *structured = call_ok(t, "list", format("{}"));
    const json_t *entries = json_object_get(structured, "entries");
    char *types = join(entries, "type");
    assert_string_equal(types, "file symlink directory");
    assert_string_equal(text_of(json_array_get(entries, 0), "mtime"), "1970-01-02T00:00:00Z");
    assert_int_equal(json_integer_value(json_object_get(json_array_get(entries, 0), "size")), 5);
    assert_null(json_object_get(json_array_get(entries, 2), "size"));
    assert_null(json_object_get(structured, "next_offset"));
    free(types);
    json_decref(structured);
}

static void test_list_recursion_and_pages(void **state)
{
    tree *t = (tree *)*state;
    put_folder(t, "in/b");
    put_folder(t, "in/b/c");
    put(t, "in/a", "");
    put(t, "in/b/c/d", "");
    put(t, "in/b/e", "");
    put(t, "in/f", "");
    load(t);
    const char *all = "in/a in/b in/b/c in/b/c/d in/b/e in/f";
    assert_paths(t, "list", format("{\"depth\":1}"), "entries", "in/a in/b in/f");
    assert_paths(t, "list", format("{\"depth\":2}"), "entries", "in/a in/b in/b/c in/b/e in/f");
    assert_paths(t, "list", format("{\"depth\":3}"), "entries", all);
    assert_paths(t, "list", format("{\"path\":\"b\",\"depth\":32}"), "entries",
                 "in/b/c in/b/c/d in/b/e");
    assert_paths(t, "list", format("{\"depth\":3,\"limit\":6}"), "entries", all);
    char *seen = format("%s", "");
    json_int_t offset = 0;
    int pages = 0;
    do {
        json_t *page = call_ok(
            t, "list", format("{\"depth\":3,\"limit\":2,\"offset\":%lld.0}", (long long)offset));
        char *paths = join(json_object_get(page, "entries"), "path");
        char *longer = format("%s%s%s", seen, pages > 0 ? " " : "", paths);
        offset = json_integer_value(json_object_get(page, "next_offset"));
        free(paths);
        free(seen);
        seen = longer;
        pages++;
        json_decref(page);
    } while (offset > 0);
    assert_int_equal(pages, 3);
    assert_string_equal(seen, all);
    free(seen);
}

static void test_list_refusals(void **state)
{
    tree *t = (tree *)*state;
    put(t, "in/a", "");
    load(t);
    assert_refused(t, "list", format("{\"path\":\"a\"}"), PATCHBAY_INVALID_INPUT,
                   "not a directory");
    assert_refused(t, "list", format("{\"path\":\"none\"}"), PATCHBAY_INVALID_INPUT,
                   "'none' does not exist");
    assert_refused(t, "list", format("{\"path\":7}"), PATCHBAY_INVALID_INPUT, "string");
    assert_refused(t, "list", format("{\"depth\":33}"), PATCHBAY_INVALID_INPUT, "from 1 to 32");
    assert_refused(t, "list", format("{\"limit\":0,\"depth\":1}"), PATCHBAY_INVALID_INPUT,
                   "it is 0");
    assert_refused(t, "list", format("{\"limit\":1.5}"), PATCHBAY_INVALID_INPUT, "integer");
}

static void test_stat(void **state)
{
    tree *t = (tree *)*state;
    put(t, "in/a.txt", "12345");
    put_link(t, "a.txt", "in/link");
    put_link(t, "../secret.txt", "in/out");
    load(t);
    json_t *file = call_ok(t, "stat", format("{\"path\":\"a.txt\"}"));
    assert_string_equal(text_of(file, "type"), "file");
    assert_string_equal(text_of(file, "mode"), "0644");
    assert_int_equal(json_integer_value(json_object_get(file, "size")), 5);
    json_t *link = call_ok(t, "stat", format("{\"path\":\"link\"}"));
    assert_string_equal(text_of(link, "type"), "symlink");
    assert_string_equal(text_of(link, "target"), "a.txt");
    assert_string_equal(text_of(link, "leads_to"), "file");
    json_t *out = call_ok(t, "stat", format("{\"path\":\"out\"}"));
    assert_string_equal(text_of(out, "leads_to"), "nothing");
    assert_refused(t, "stat", format("{\"path\":\"none\"}"), PATCHBAY_INVALID_INPUT, "not exist");
    json_decref(file);
    json_decref(link);
    json_decref(out);
}

/* ---- read ------------------------------------------------------------------------------------ */

static void test_read_limit_edges(void **state)
{
    tree *t = (tree *)*state;
    put(t, "in/fits", "0123456789");
    put(t, "in/big", "0123456789x");
    put(t, "in/empty", "");
    load_config(t, format("{\"roots\":[\"%s\"],\"max_read_bytes\":10}", t->in));
    assert_reads(t, format("{\"path\":\"fits\"}"), "0123456789", NULL);
    assert_reads(t, format("{\"path\":\"empty\"}"), "", NULL);
    assert_refused(t, "read", format("{\"path\":\"big\"}"), PATCHBAY_INVALID_INPUT,
                   "'big' has 11 bytes, more than the limit of 10. Read a part of it");
    assert_refused(t, "read", format("{\"path\":\"big\",\"length\":11}"), PATCHBAY_INVALID_INPUT,
                   "at most 10");
    assert_reads(t, format("{\"path\":\"big\",\"length\":10}"), "0123456789",
                 "[10 bytes from offset 0; more follow: read on with offset 10]");
    assert_reads(t, format("{\"path\":\"big\",\"offset\":10}"), "x",
                 "[1 bytes from offset 10: the end at 11]");
    assert_reads(t, format("{\"path\":\"big\",\"offset\":4,\"length\":3}"), "456",
                 "[3 bytes from offset 4; more follow: read on with offset 7]");
    assert_reads(t, format("{\"path\":\"big\",\"offset\":99}"), "",
                 "[0 bytes from offset 99: the end at 99]");
    assert_refused(t, "read", format("{\"path\":\"big\",\"offset\":-1}"), PATCHBAY_INVALID_INPUT,
                   "'offset'");
    assert_refused(t, "read", format("{\"path\":\"big\",\"offset\":0,\"line\":1}"),
                   PATCHBAY_INVALID_INPUT, "either");
}

static void test_read_lines(void **state)
{
    tree *t = (tree *)*state;
    put(t, "in/f", "one\ntwo\nthree\nfour");
    put(t, "in/long", "0123456789abcdef\nx\n");
    load_config(t, format("{\"roots\":[\"%s\"],\"max_read_bytes\":12}", t->in));
    assert_reads(t, format("{\"path\":\"f\",\"line\":2,\"lines\":1}"), "two\n",
                 "[lines 2 to 2; more follow: read on with line 3]");
    assert_reads(t, format("{\"path\":\"f\",\"lines\":2}"), "one\ntwo\n",
                 "[lines 1 to 2; more follow: read on with line 3]");
    assert_reads(t, format("{\"path\":\"f\",\"line\":1}"), "one\ntwo\n",
                 "[lines 1 to 2; more follow: read on with line 3]");
    assert_reads(t, format("{\"path\":\"f\",\"line\":3}"), "three\nfour",
                 "[2 lines from line 3: the end]");
    assert_reads(t, format("{\"path\":\"f\",\"line\":4,\"lines\":9}"), "four",
                 "[1 line from line 4: the end]");
    assert_refused(t, "read", format("{\"path\":\"f\",\"line\":6}"), PATCHBAY_INVALID_INPUT,
                   "no line 6: it has 4");
    assert_refused(t, "read", format("{\"path\":\"long\",\"line\":9}"), PATCHBAY_INVALID_INPUT,
                   "it has 2");
    assert_refused(t, "read", format("{\"path\":\"long\",\"line\":1}"), PATCHBAY_INVALID_INPUT,
                   "longer than the limit of 12 bytes; read it in parts, beginning with offset 0");
    assert_refused(t, "read", format("{\"path\":\"f\",\"line\":1,\"encoding\":\"base64\"}"),
                   PATCHBAY_INVALID_INPUT, "base64");
}

static void test_read_lines_far_away(void **state)
{
    tree *t = (tree *)*state;
    patchbay_out text = {0};
    for (int i = 1; i <= 30000; i++) { /* line ends at, before and behind the ends of blocks */
        patchbay_out_printf(&text, "line %d\n", i);
    }
    put_bytes(t, "in/f", text.ptr, text.len);
    patchbay_out_free(&text);
    load(t);
    for (int i = 1; i <= 30000; i += 997) {
        char wanted[40];
        char note[100];
        (void)snprintf(wanted, sizeof wanted, "line %d\n", i);
        (void)snprintf(note, sizeof note, "[lines %d to %d; more follow: read on with line %d]", i,
                       i, i + 1);
        assert_reads(t, format("{\"path\":\"f\",\"line\":%d,\"lines\":1}", i), wanted, note);
    }
}

static void test_read_cuts_between_characters(void **state)
{
    tree *t = (tree *)*state;
    put(t, "in/f", "a\xe2\x82\xac\xf0\x9f\x98\x80z"); /* a euro smile z: 1 3 4 1 bytes */
    load(t);
    assert_reads(t, format("{\"path\":\"f\",\"length\":3}"), "a",
                 "[1 bytes from offset 0; more follow: read on with offset 1]");
    assert_reads(t, format("{\"path\":\"f\",\"offset\":1,\"length\":5}"), "\xe2\x82\xac",
                 "[3 bytes from offset 1; more follow: read on with offset 4]");
    assert_reads(t, format("{\"path\":\"f\",\"offset\":2,\"length\":6}"), "\xf0\x9f\x98\x80",
                 "[4 bytes from offset 4; more follow: read on with offset 8]");
}

static void test_read_encodings(void **state)
{
    tree *t = (tree *)*state;
    put_bytes(t, "in/bin", "ab\xff\x00z", 5);
    put_bytes(t, "in/nul", "a\0b", 3);
    put(t, "in/text", "abc");
    load(t);
    json_t *result = call_result(t, "read", format("{\"path\":\"bin\"}"));
    const json_t *block = json_array_get(json_object_get(result, "content"), 0);
    const json_t *resource = json_object_get(block, "resource");
    assert_string_equal(text_of(block, "type"), "resource");
    assert_string_equal(text_of(resource, "blob"), "YWL/AHo=");
    char *uri = format("file://%s/bin", t->in);
    assert_string_equal(text_of(resource, "uri"), uri);
    free(uri);
    json_decref(result);
    assert_refused(t, "read", format("{\"path\":\"bin\",\"encoding\":\"text\"}"),
                   PATCHBAY_INVALID_INPUT, "not UTF-8 text (byte 2); read it with encoding base64");
    result = call_result(t, "read", format("{\"path\":\"text\",\"encoding\":\"base64\"}"));
    block = json_array_get(json_object_get(result, "content"), 0);
    assert_string_equal(text_of(json_object_get(block, "resource"), "blob"), "YWJj");
    json_decref(result);
    result = call_result(t, "read", format("{\"path\":\"nul\",\"encoding\":\"text\"}"));
    block = json_array_get(json_object_get(result, "content"), 0);
    assert_int_equal(json_string_length(json_object_get(block, "text")), 3);
    json_decref(result);
}

static void test_read_images(void **state)
{
    static const struct {
        const char *name;
        const char *bytes;
        size_t len;
        const char *type;
    } images[] = {{"a", "\x89PNG\r\n\x1a\n1", 9, "image/png"},
                  {"b", "\xff\xd8\xff\xe0", 4, "image/jpeg"},
                  {"c", "GIF89a", 6, "image/gif"},
                  {"d", "RIFF1234WEBP", 12, "image/webp"}};
    tree *t = (tree *)*state;
    load(t);
    for (size_t i = 0; i < sizeof images / sizeof images[0]; i++) {
        char rel[10];
        (void)snprintf(rel, sizeof rel, "in/%s", images[i].name);
        put_bytes(t, rel, images[i].bytes, images[i].len);
        json_t *result = call_result(t, "read", format("{\"path\":\"%s\"}", rel));
        const json_t *block = json_array_get(json_object_get(result, "content"), 0);
        assert_string_equal(text_of(block, "type"), "image");
        assert_string_equal(text_of(block, "mimeType"), images[i].type);
        json_decref(result);
    }
}

static void test_read_stops_when_cancelled(void **state)
{
    tree *t = (tree *)*state;
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/huge", t->in);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_int_equal(ftruncate(fd, (off_t)1 << 43), 0); /* hours, were it read through */
    (void)close(fd);
    load(t);
    uint64_t id = fake_host_start(t->host, "read", "{\"path\":\"huge\",\"line\":2}");
    fake_host_cancel(t->host, id);
    fake_result result = fake_host_wait(t->host, id);
    assert_int_not_equal(result.status, FAKE_HOST_TIMEOUT);
    fake_result_free(&result);
}

#endif
