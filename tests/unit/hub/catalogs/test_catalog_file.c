/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a remembered catalog: what it holds, what is refused, who may have written it. */
#include "catalog_file_support.h"

#include <sys/syscall.h>

#define ID   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define NAME "git-" ID ".json"

static hub_catalog_record record_of_git(void)
{
    return (hub_catalog_record){
        .id = HUB_STR(ID),
        .learned_at_ms = 1750000000123,
        .is_modern = true,
        .capabilities = HUB_STR("{\"extensions\":{\"a/b\":{\"c\":1e400}}}"),
        .lists = {[HUB_KIND_TOOL] = HUB_STR("[{\"name\":\"a\\u0000\\ud83d\",\"n\":-0.10}]"),
                  [HUB_KIND_PROMPT] = HUB_STR("[]")},
    };
}

/* The file's text, which the caller frees. */
static hub_buf text_of(const hub_catalog_record *record)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_CATALOG_FILE_BYTES);
    hub_catalog_file_write(record, &text);
    assert_true(hub_buf_ok(&text));
    return text;
}

static hub_err read_text(hub_str text, hub_error *why)
{
    hub_catalog_record record;
    return hub_catalog_file_read(text, HUB_STR(ID), &record, why);
}

static void expect_refused(hub_str text, hub_err err, const char *words)
{
    hub_error why = {.text = ""};
    assert_int_equal(read_text(text, &why), err);
    if (strstr(why.text, words) == NULL) {
        fail_msg("\"%s\" lacks \"%s\"", why.text, words);
    }
}

/* ---- the text -------------------------------------------------------------------------------- */

/* Byte for byte what was written. */
static void test_round_trip(void **state)
{
    (void)state;
    const hub_catalog_record given = record_of_git();
    hub_buf text = text_of(&given);
    hub_catalog_record record;
    assert_int_equal(hub_catalog_file_read(hub_buf_str(&text), HUB_STR(ID), &record, NULL), HUB_OK);
    assert_true(record.learned_at_ms == given.learned_at_ms);
    assert_true(record.is_modern);
    assert_true(hub_str_eq(record.capabilities, given.capabilities));
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        assert_true(hub_str_eq(record.lists[kind], given.lists[kind]));
    }
    hub_buf_fini(&text);
    hub_catalog_record least = {.id = given.id, .lists = {[HUB_KIND_TOOL] = HUB_STR("[]")}};
    text = text_of(&least);
    assert_int_equal(hub_catalog_file_read(hub_buf_str(&text), HUB_STR(ID), &record, NULL), HUB_OK);
    assert_false(record.is_modern);
    assert_int_equal(record.capabilities.len, 0);
    hub_buf_fini(&text);
}

/* RELIABILITY D08: whatever is changed is noticed. */
static void test_damage(void **state)
{
    (void)state;
    const hub_catalog_record given = record_of_git();
    hub_buf text = text_of(&given);
    for (size_t i = 0; i < text.len; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            text.ptr[i] = (char)((unsigned char)text.ptr[i] ^ 1u << bit);
            assert_int_not_equal(read_text(hub_buf_str(&text), NULL), HUB_OK);
            text.ptr[i] = (char)((unsigned char)text.ptr[i] ^ 1u << bit);
        }
        assert_int_not_equal(read_text((hub_str){.ptr = text.ptr, .len = i}, NULL), HUB_OK);
    }
    assert_int_equal(read_text(hub_buf_str(&text), NULL), HUB_OK);
    hub_buf_add_char(&text, '\n');
    assert_int_not_equal(read_text(hub_buf_str(&text), NULL), HUB_OK);
    hub_buf_fini(&text);
}

static void test_foreign(void **state)
{
    (void)state;
    expect_refused(HUB_STR_EMPTY, HUB_EINVAL, "not a catalog");
    expect_refused(HUB_STR("{}"), HUB_EINVAL, "not a catalog");
    expect_refused(HUB_STR("{\"patchbayCatalog\":"), HUB_EINVAL, "version 0");
    expect_refused(HUB_STR("{\"patchbayCatalog\":2,\"sha256\":\""), HUB_EINVAL, "version 2");
    expect_refused(HUB_STR("{\"patchbayCatalog\":1}"), HUB_EINVAL, "damaged");
    expect_refused(HUB_STR("{\"patchbayCatalog\":1,\"sha256\":\"12"), HUB_EINVAL, "damaged");
    hub_catalog_record other = record_of_git();
    other.id = HUB_STR("another");
    hub_buf text = text_of(&other);
    expect_refused(hub_buf_str(&text), HUB_EINVAL, "another configuration");
    hub_buf_fini(&text);
}

/* A digest proves that it is whole, not that it makes sense. */
static void test_nonsense(void **state)
{
    (void)state;
    const struct {
        hub_catalog_record record;
        hub_err err;
    } CASES[] = {
        {{.lists = {[HUB_KIND_PROMPT] = HUB_STR("[]")}}, HUB_EINVAL}, /* no tools */
        {{.lists = {[HUB_KIND_TOOL] = HUB_STR("{}")}}, HUB_EINVAL},
        {{.lists = {[HUB_KIND_TOOL] = HUB_STR("[]"), [HUB_KIND_RESOURCE] = HUB_STR("1")}},
         HUB_EINVAL},
        {{.lists = {[HUB_KIND_TOOL] = HUB_STR("[]")}, .capabilities = HUB_STR("[]")}, HUB_EINVAL},
        {{.lists = {[HUB_KIND_TOOL] = HUB_STR("[]")}, .learned_at_ms = -1}, HUB_EINVAL},
        {{.lists = {[HUB_KIND_TOOL] = HUB_STR("[")}}, HUB_EPARSE},
        {{.lists = {[HUB_KIND_TOOL] = HUB_STR("[\"\xff\"]")}}, HUB_EPARSE},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_catalog_record record = CASES[i].record;
        record.id = HUB_STR(ID);
        hub_buf text = text_of(&record);
        expect_refused(hub_buf_str(&text), CASES[i].err, "");
        hub_buf_fini(&text);
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

static void store(const char *name, const char *text)
{
    hub_error why;
    if (hub_catalog_file_store(cache_folder, name, hub_str_of(text), &why) != HUB_OK) {
        fail_msg("%s", why.text);
    }
}

static unsigned mode_of(const char *path)
{
    struct stat status;
    assert_int_equal(lstat(path, &status), 0);
    return (unsigned)status.st_mode & 07777u;
}

static hub_err load(const char *name, size_t max_bytes)
{
    hub_buf text;
    hub_buf_init(&text, max_bytes);
    hub_err err = hub_catalog_file_load(cache_folder, name, &text, NULL);
    hub_buf_fini(&text);
    return err;
}

/* RELIABILITY L07: nobody else can read or write it; it is replaced at once; nothing is left over.
 */
static void test_store(void **state)
{
    (void)state;
    mode_t mask = umask(0);
    assert_int_equal(load(NAME, 100), HUB_ENOTFOUND);
    store(NAME, "first");
    assert_int_equal(mode_of(cache_folder), 0700);
    assert_int_equal(mode_of(cache_path(NAME)), 0600);
    store(NAME, "the second one");
    (void)umask(mask);
    hub_buf text;
    read_back(NAME, &text);
    assert_true(hub_str_is(hub_buf_str(&text), "the second one"));
    hub_buf_fini(&text);
    assert_int_equal(count_files("", NULL), 3); /* with "." and ".." */
    assert_int_equal(load("another", 100), HUB_ENOTFOUND);
}

/* Instead of libc's, for store(): each step is noted, and one of them can fail. */
static char steps[64];
static char failing_step; /* '\0': none */

static int note(char step)
{
    size_t len = strlen(steps);
    assert_true(len + 1 < sizeof steps);
    steps[len] = step;
    steps[len + 1] = '\0';
    if (step == failing_step) {
        errno = ENOSPC;
        return -1;
    }
    return 0;
}

ssize_t write(int fd, const void *from, size_t size)
{
    size_t half = failing_step == 'w' && size > 1 ? size / 2 : size; /* so much there is room for */
    return half < size || note('w') == 0 ? syscall(SYS_write, fd, from, half) : -1;
}

int fsync(int fd)
{
    struct stat status;
    assert_int_equal(fstat(fd, &status), 0);
    return note(S_ISDIR(status.st_mode) ? 'd' : 's');
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    return note('r') == 0 ? (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 0) : -1;
}

/* RELIABILITY L07: at no instant is there half a file. The content reaches the disk before it takes
 * the name; who reads the old one meanwhile reads it to its end; what fails on the way leaves it.
 */
static void test_atomic(void **state)
{
    static const char OLD[] = "the old one";
    static const char ON_THE_WAY[] = {'w', 's', 'r'};
    (void)state;
    store(NAME, OLD);
    steps[0] = '\0';
    int reader = open(cache_path(NAME), O_RDONLY | O_CLOEXEC);
    store(NAME, "new");
    assert_string_equal(steps, "wsrd");
    char seen[64] = "";
    assert_int_equal(pread(reader, seen, sizeof seen - 1, 0), sizeof OLD - 1);
    assert_string_equal(seen, OLD);
    assert_int_equal(close(reader), 0);
    for (size_t i = 0; i < sizeof ON_THE_WAY; i++) {
        hub_error why = {.text = ""};
        failing_step = ON_THE_WAY[i];
        hub_err err = hub_catalog_file_store(cache_folder, NAME, HUB_STR("another"), &why);
        failing_step = '\0';
        assert_int_equal(err, HUB_ESYSTEM);
        assert_non_null(strstr(why.text, "No space left"));
        hub_buf text;
        read_back(NAME, &text);
        assert_true(hub_str_is(hub_buf_str(&text), "new"));
        hub_buf_fini(&text);
        assert_int_equal(count_files(".tmp", NULL), 0);
    }
}

static void test_longest_file(void **state)
{
    (void)state;
    store(NAME, "12345678");
    assert_int_equal(load(NAME, 8), HUB_OK);
    assert_int_equal(load(NAME, 7), HUB_ELIMIT);
}

/* No link is followed, neither to read nor to write, and nothing but a file is read. */
static void test_no_links(void **state)
{
    (void)state;
    char target[CACHE_PATH_BYTES + 16];
    char link_to_folder[CACHE_PATH_BYTES + 16];
    store(NAME, "mine");
    (void)snprintf(target, sizeof target, "%s/target", cache_root);
    int fd = open(target, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && write(fd, "theirs", 6) == 6 && close(fd) == 0);
    assert_int_equal(unlink(cache_path(NAME)), 0);
    assert_int_equal(symlink(target, cache_path(NAME)), 0);
    assert_int_equal(load(NAME, 100), HUB_ESYSTEM);
    store(NAME, "mine again"); /* takes the link's place */
    assert_int_equal(load(NAME, 100), HUB_OK);
    struct stat status;
    assert_true(stat(target, &status) == 0 && status.st_size == 6);

    assert_int_equal(mkfifo(cache_path("pipe"), 0600), 0);
    assert_int_equal(load("pipe", 100), HUB_EINVAL); /* and nobody waits for its other end */
    assert_int_equal(load(".", 100), HUB_EINVAL);

    (void)snprintf(link_to_folder, sizeof link_to_folder, "%s/link", cache_root);
    assert_int_equal(symlink(cache_folder, link_to_folder), 0);
    hub_buf text;
    hub_buf_init(&text, 100);
    assert_int_not_equal(hub_catalog_file_load(link_to_folder, NAME, &text, NULL), HUB_OK);
    assert_int_not_equal(hub_catalog_file_store(link_to_folder, NAME, HUB_STR("x"), NULL), HUB_OK);
    hub_buf_fini(&text);
}

/* What others may have written is not believed, and where others may write nothing is kept. */
static void test_owners(void **state)
{
    (void)state;
    static const unsigned OPEN[] = {0620, 0602};
    store(NAME, "mine");
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(chmod(cache_path(NAME), OPEN[i]), 0);
        assert_int_equal(load(NAME, 100), HUB_EDENIED);
    }
    assert_int_equal(chmod(cache_path(NAME), 0644), 0);
    assert_int_equal(load(NAME, 100), HUB_OK);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(chmod(cache_folder, OPEN[i] | 0100), 0);
        assert_int_equal(load(NAME, 100), HUB_EDENIED);
        assert_int_equal(hub_catalog_file_store(cache_folder, NAME, HUB_STR("x"), NULL),
                         HUB_EDENIED);
    }
    assert_int_equal(chmod(cache_folder, 0755), 0);
    assert_int_equal(load(NAME, 100), HUB_OK);
    if (geteuid() == 0) { /* else nobody can give a file away */
        assert_int_equal(chown(cache_path(NAME), 1, 1), 0);
        assert_int_equal(load(NAME, 100), HUB_EDENIED);
    }
}

static void test_store_fails(void **state)
{
    (void)state;
    hub_error why;
    store(NAME, "mine");
    assert_int_equal(hub_catalog_file_store(cache_path(NAME), NAME, HUB_STR("x"), &why),
                     HUB_ENOTFOUND);
    assert_non_null(strstr(why.text, NAME)); /* a file where a folder should be */
    assert_int_equal(mkdir(cache_path("taken.json"), 0700), 0);
    assert_int_equal(hub_catalog_file_store(cache_folder, "taken.json", HUB_STR("x"), &why),
                     HUB_ESYSTEM);
    assert_int_equal(count_files(".tmp", NULL), 0);
}

/* ---- sweeping -------------------------------------------------------------------------------- */

enum { DAY_S = 86400, NOW_S = 2000000000 };

static void put_aged(const char *name, int64_t age_s)
{
    put_file(name, HUB_STR("x"), 0600);
    const struct timespec times[2] = {{.tv_sec = NOW_S - age_s}, {.tv_sec = NOW_S - age_s}};
    assert_int_equal(utimensat(AT_FDCWD, cache_path(name), times, 0), 0);
}

static void test_sweep(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t age_s;
        bool stays;
    } CASES[] = {
        {NAME, (int64_t)HUB_LIMIT_CATALOG_FILE_DAYS * DAY_S, true},
        {"old-" ID ".json", (int64_t)HUB_LIMIT_CATALOG_FILE_DAYS * DAY_S + 1, false},
        {NAME ".0123456789abcdef.tmp", 3600, true},
        {"old-" ID ".json.0123456789abcdef.tmp", 3601, false},
        {"letter.json", (int64_t)1000 * DAY_S, true}, /* not ours */
        {ID ".json", (int64_t)1000 * DAY_S, true},
        {"git" ID ".json", (int64_t)1000 * DAY_S, true},
        {"g-x123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.json",
         (int64_t)1000 * DAY_S, true},
        {"git-" ID ".json.gz", (int64_t)1000 * DAY_S, true},
    };
    size_t gone = 0;
    assert_int_equal(hub_catalog_file_sweep(cache_folder, NOW_S), 0); /* no folder */
    store("x", "");
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        put_aged(CASES[i].name, CASES[i].age_s);
        gone += !CASES[i].stays;
    }
    assert_int_equal(hub_catalog_file_sweep(cache_folder, NOW_S), gone);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        if ((access(cache_path(CASES[i].name), F_OK) == 0) != CASES[i].stays) {
            fail_msg("%s", CASES[i].name);
        }
    }
}

#define FILE_TEST(test) cmocka_unit_test_setup_teardown(test, make_cache_root, remove_cache_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_nonsense),
        FILE_TEST(test_store),
        FILE_TEST(test_atomic),
        FILE_TEST(test_longest_file),
        FILE_TEST(test_no_links),
        FILE_TEST(test_owners),
        FILE_TEST(test_store_fails),
        FILE_TEST(test_sweep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
