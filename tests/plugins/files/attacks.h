/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that try to get out, to hang, or to crash. Part of test_files.c. */
#ifndef FILES_ATTACKS_H
#define FILES_ATTACKS_H

#include "tree.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>

#ifndef SYS_openat2
#include <sys/syscall.h>
#endif

static const char *const looking_tools[] = {"list", "stat", "read", "search_text"};

/* Every tool refuses this path, and says so with `wanted`. */
static void assert_no_way(const tree *t, const char *path, const char *wanted)
{
    for (size_t i = 0; i < sizeof looking_tools / sizeof looking_tools[0]; i++) {
        const char *more =
            strcmp(looking_tools[i], "search_text") == 0 ? ",\"pattern\":\"SECRET\"" : "";
        assert_refused(t, looking_tools[i], format("{\"path\":\"%s\"%s}", path, more),
                       PATCHBAY_INVALID_INPUT, wanted);
    }
    assert_refused(t, "search_name", format("{\"path\":\"%s\",\"pattern\":\"*\"}", path),
                   PATCHBAY_INVALID_INPUT, "");
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* In a child, so that the filter ends with it: openat2 answers ENOSYS, or EPERM as old container
 * run-times have it. */
static int setup_fails_without_openat2(const tree *t, unsigned code)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    char error[FAKE_HOST_ERROR_BYTES] = "";
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        return 0;
    }
    char *config = format("{\"roots\":[\"%s\"]}", t->in);
    fake_host *host = fake_host_load(PLUGIN_PATH, config, error);
    free(config);
    return host == NULL && strstr(error, "openat2") != NULL;
}

static void test_no_openat2_is_a_refusal(void **state)
{
    static const unsigned codes[] = {ENOSYS, EPERM};
    for (size_t i = 0; i < 2; i++) {
        int status = -1;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            _exit(setup_fails_without_openat2((const tree *)*state, codes[i]) ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

/* ---- ways out -------------------------------------------------------------------------------- */

static void test_dots_do_not_lead_out(void **state)
{
    static const char *const paths[] = {
        "..",
        "../secret.txt",
        "sub/../../secret.txt",
        "in/../secret.txt",
        "in/..",
        "./../secret.txt",
        "sub/../..",
        "../in/a.txt",
        "../../../../../../../../../../etc/passwd",
    };
    tree *t = (tree *)*state;
    put_folder(t, "in/sub");
    load(t);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        assert_no_way(t, paths[i], "leads out of its root. Allowed roots: in (/tmp/");
    }
}

static void test_absolute_paths_outside(void **state)
{
    tree *t = (tree *)*state;
    put_folder(t, "inside");
    put(t, "inside/a.txt", SECRET);
    load(t);
    assert_no_way(t, "/etc/passwd", "not in an allowed root. Allowed roots: in (");
    assert_no_way(t, "/", "not in an allowed root");
    assert_no_way(t, "//etc/passwd", "not in an allowed root");
    char *path = format("%s/secret.txt", t->base);
    assert_no_way(t, path, "not in an allowed root");
    free(path);
    path = format("%sside/a.txt", t->in); /* the root's path is a prefix of the text only */
    assert_no_way(t, path, "not in an allowed root");
    free(path);
    path = format("%s/../secret.txt", t->in);
    assert_no_way(t, path, "leads out");
    free(path);
}

static void test_links_do_not_lead_out(void **state)
{
    tree *t = (tree *)*state;
    char *secret = format("%s/secret.txt", t->base);
    put_folder(t, "out");
    put(t, "out/secret.txt", SECRET);
    put_link(t, "../secret.txt", "in/relative");
    put_link(t, secret, "in/absolute");
    put_link(t, "../out", "in/folder");
    put_link(t, "b", "in/a");
    put_link(t, "c", "in/b");
    put_link(t, "folder/secret.txt", "in/c");
    put_link(t, "/", "in/root");
    put_link(t, "..", "in/up");
    free(secret);
    load_writable(t);
    static const char *const files[] = {
        "relative", "absolute", "folder/secret.txt", "a",
        "b",        "c",        "root/etc/passwd",   "up/secret.txt"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        assert_refused(t, "read", format("{\"path\":\"%s\"}", files[i]), PATCHBAY_INVALID_INPUT,
                       "leads out");
        assert_refused(t, "search_text", format("{\"path\":\"%s\",\"pattern\":\"S\"}", files[i]),
                       PATCHBAY_INVALID_INPUT, "leads out");
    }
    assert_refused(t, "list", format("{\"path\":\"folder\"}"), PATCHBAY_INVALID_INPUT, "leads out");
    assert_refused(t, "write", format("{\"path\":\"folder/x\",\"text\":\"x\"}"),
                   PATCHBAY_INVALID_INPUT, "leads out");
    assert_refused(t, "write", format("{\"path\":\"relative\",\"text\":\"x\"}"),
                   PATCHBAY_INVALID_INPUT, "is a symlink");
    assert_refused(t, "mkdir", format("{\"path\":\"folder/x/y\",\"parents\":true}"),
                   PATCHBAY_INVALID_INPUT, "");
    assert_refused(t, "mkdir", format("{\"path\":\"folder\"}"), PATCHBAY_INVALID_INPUT,
                   "exists already"); /* and not whether it is a folder out there */
    assert_refused(t, "delete", format("{\"path\":\"up/secret.txt\"}"), PATCHBAY_INVALID_INPUT,
                   "leads out");
    json_decref(call_ok(t, "delete", format("{\"path\":\"relative\"}"))); /* the link itself */
    assert_content(t, "secret.txt", SECRET);
    assert_false(exists(t, "out/x"));
    json_t *found = call_ok(t, "search_text", format("{\"pattern\":\"SECRET\"}"));
    assert_int_equal(json_integer_value(json_object_get(found, "searched")), 0);
    json_decref(found);
}

static void test_links_inside(void **state)
{
    tree *t = (tree *)*state;
    put_folder(t, "in/sub");
    put(t, "in/sub/a.txt", "text");
    put_link(t, "sub", "in/link");
    put_link(t, "../sub/a.txt", "in/sub/up");
    load(t);
    assert_reads(t, format("{\"path\":\"link/a.txt\"}"), "text", NULL);
    assert_reads(t, format("{\"path\":\"link/up\"}"), "text", NULL);
    fake_host_unload(t->host);
    load_config(t, format("{\"roots\":[\"%s\"],\"follow_symlinks\":\"never\"}", t->in));
    assert_refused(t, "read", format("{\"path\":\"link/a.txt\"}"), PATCHBAY_INVALID_INPUT,
                   "symbolic link");
    assert_refused(t, "read", format("{\"path\":\"sub/up\"}"), PATCHBAY_INVALID_INPUT,
                   "symbolic link");
    assert_reads(t, format("{\"path\":\"sub/a.txt\"}"), "text", NULL);
    json_t *link = call_ok(t, "stat", format("{\"path\":\"link\"}"));
    assert_string_equal(text_of(link, "type"), "symlink");
    json_decref(link);
}

static void test_loops_end(void **state)
{
    tree *t = (tree *)*state;
    put_folder(t, "in/d");
    put_link(t, "..", "in/d/up");
    put_link(t, "self", "in/self");
    put_link(t, "y", "in/x");
    put_link(t, "x", "in/y");
    load(t);
    assert_paths(t, "list", format("{\"depth\":32}"), "entries", "in/d in/d/up in/self in/x in/y");
    assert_paths(t, "search_name", format("{\"pattern\":\"up\"}"), "matches", "in/d/up");
    assert_refused(t, "read", format("{\"path\":\"self\"}"), PATCHBAY_INVALID_INPUT, "itself");
    assert_refused(t, "read", format("{\"path\":\"x\"}"), PATCHBAY_INVALID_INPUT, "itself");
}

static void test_magic_links(void **state)
{
    static const char *const paths[] = {"cwd",  "root/etc/passwd",          "exe", "fd/0",
                                        "root", "task/../root/etc/hostname"};
    tree *t = (tree *)*state;
    load_config(t, format("{\"roots\":[{\"path\":\"/proc/self\",\"name\":\"me\"}]}"));
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        assert_refused(t, "read", format("{\"path\":\"%s\"}", paths[i]), PATCHBAY_INVALID_INPUT,
                       "");
        assert_refused(t, "list", format("{\"path\":\"%s\"}", paths[i]), PATCHBAY_INVALID_INPUT,
                       "");
    }
    json_t *result = call_result(t, "read", format("{\"path\":\"comm\"}")); /* size 0 in stat */
    assert_int_not_equal(strlen(block_text(result, 0)), 0);
    json_decref(result);
}

/* ---- races ----------------------------------------------------------------------------------- */

typedef struct swapper {
    const tree *tree;
    const char *good; /* what "in/target" is, in turn */
    const char *bad;
    atomic_int stop;
    atomic_uint turns;
} swapper;

/* Exchanges two names for as long as it is let. */
static void *swap_names(void *arg)
{
    swapper *swapper_ = (swapper *)arg;
    char good[PATH_MAX];
    char bad[PATH_MAX];
    (void)snprintf(good, sizeof good, "%s/%s", swapper_->tree->in, swapper_->good);
    (void)snprintf(bad, sizeof bad, "%s/%s", swapper_->tree->in, swapper_->bad);
    while (!atomic_load(&swapper_->stop)) {
        (void)renameat2(AT_FDCWD, good, AT_FDCWD, bad, RENAME_EXCHANGE);
        atomic_fetch_add(&swapper_->turns, 1);
    }
    return NULL;
}

typedef void try_once(const tree *t, unsigned *ret_reached);

/* Run `attempt` 10,000 times while a link and a real thing swap names. */
static void race(const tree *t, const char *good, const char *bad, try_once *attempt)
{
    swapper swapper_ = {.tree = t, .good = good, .bad = bad};
    pthread_t thread;
    unsigned reached = 0;
    assert_int_equal(pthread_create(&thread, NULL, swap_names, &swapper_), 0);
    for (int i = 0; i < 10000; i++) {
        attempt(t, &reached);
    }
    atomic_store(&swapper_.stop, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(atomic_load(&swapper_.turns) > 100);
    assert_true(reached > 0); /* the good end was seen as well: the race took place */
}

static void try_tool(const tree *t, const char *tool, const char *args, unsigned *ret_reached)
{
    fake_result result = fake_host_call(t->host, tool, args);
    assert_null(memmem(result.json, result.json_len, SECRET, strlen(SECRET)));
    *ret_reached += result.status == PATCHBAY_RESULT;
    fake_result_free(&result);
}

static void try_file(const tree *t, unsigned *ret_reached)
{
    try_tool(t, "read", "{\"path\":\"target\"}", ret_reached);
}

static void test_file_swapped_with_link(void **state)
{
    tree *t = (tree *)*state;
    put(t, "in/target", "harmless");
    put_link(t, "../secret.txt", "in/other");
    load(t);
    race(t, "target", "other", try_file);
}

static void try_folder(const tree *t, unsigned *ret_reached)
{
    unsigned found = 0;
    try_tool(t, "read", "{\"path\":\"target/secret.txt\"}", ret_reached);
    try_tool(t, "search_text", "{\"pattern\":\"SECRET\"}", &found);
}

static void test_folder_swapped_with_link(void **state)
{
    tree *t = (tree *)*state;
    put_folder(t, "in/target");
    put(t, "in/target/secret.txt", "harmless");
    put_link(t, "..", "in/other");
    load(t);
    race(t, "target", "other", try_folder);
}

static void try_write(const tree *t, unsigned *ret_reached)
{
    unsigned done = 0;
    try_tool(t, "write", "{\"path\":\"target/new\",\"text\":\"x\"}", ret_reached);
    try_tool(t, "delete", "{\"path\":\"target/secret.txt\"}", &done);
}

static void test_folder_swapped_while_writing(void **state)
{
    tree *t = (tree *)*state;
    put_folder(t, "in/target");
    put_link(t, "..", "in/other");
    load_writable(t);
    race(t, "target", "other", try_write);
    assert_content(t, "secret.txt", SECRET);
    assert_false(exists(t, "new"));
}

/* ---- what is no file ------------------------------------------------------------------------- */

static void test_special_files_are_not_opened(void **state)
{
    tree *t = (tree *)*state;
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/fifo", t->in);
    assert_int_equal(mkfifo(path, 0644), 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", t->in);
    int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(sock, (const struct sockaddr *)&address, sizeof address), 0);
    load_writable(t);
    assert_refused(t, "read", format("{\"path\":\"fifo\"}"), PATCHBAY_INVALID_INPUT,
                   "'fifo' is a fifo, not a file");
    assert_refused(t, "read", format("{\"path\":\"socket\"}"), PATCHBAY_INVALID_INPUT, "socket");
    assert_refused(t, "search_text", format("{\"path\":\"fifo\",\"pattern\":\"x\"}"),
                   PATCHBAY_INVALID_INPUT, "not a file");
    assert_refused(t, "write", format("{\"path\":\"fifo\",\"text\":\"x\"}"), PATCHBAY_INVALID_INPUT,
                   "is a fifo");
    assert_refused(t, "edit", format("{\"path\":\"fifo\",\"old_text\":\"x\",\"new_text\":\"\"}"),
                   PATCHBAY_INVALID_INPUT, "not a file");
    json_t *found = call_ok(t, "search_text", format("{\"pattern\":\"x\"}"));
    json_decref(found);
    assert_paths(t, "list", format("{}"), "entries", "in/fifo in/socket");
    (void)close(sock);
    fake_host_unload(t->host);
    load_config(t, format("{\"roots\":[\"/dev\"]}"));
    assert_refused(t, "read", format("{\"path\":\"zero\"}"), PATCHBAY_INVALID_INPUT, "is a device");
}

static void test_unreadable(void **state)
{
    tree *t = (tree *)*state;
    put(t, "in/a", SECRET);
    put_folder(t, "in/d");
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/a", t->in);
    assert_int_equal(chmod(path, 0), 0);
    (void)snprintf(path, sizeof path, "%s/d", t->in);
    assert_int_equal(chmod(path, 0), 0);
    assert_int_equal(chmod(t->base, 0755), 0);
    load(t);
    uid_t me = geteuid();
    assert_int_equal(seteuid(me == 0 ? 65534 : me), 0); /* root may read everything */
    assert_refused(t, "read", format("{\"path\":\"a\"}"), PATCHBAY_FAILED, "permission denied");
    assert_refused(t, "list", format("{\"path\":\"d\"}"), PATCHBAY_FAILED, "permission denied");
    json_t *found = call_ok(t, "search_text", format("{\"pattern\":\"SECRET\"}"));
    assert_int_equal(json_integer_value(json_object_get(found, "unread")), 2);
    json_decref(found);
    found = call_ok(t, "list", format("{\"depth\":3}"));
    assert_int_equal(json_integer_value(json_object_get(found, "unread")), 1);
    json_decref(found);
    assert_int_equal(seteuid(me), 0);
    assert_int_equal(chmod(path, 0755), 0);
}

/* ---- names ----------------------------------------------------------------------------------- */

static void test_nul_in_path(void **state)
{
    tree *t = (tree *)*state;
    put(t, "in/a", "text");
    load_writable(t);
    assert_refused(t, "read", format("{\"path\":\"a\\u0000.txt\"}"), PATCHBAY_INVALID_INPUT,
                   "NUL character");
    assert_refused(t, "write", format("{\"path\":\"\\u0000\",\"text\":\"x\"}"),
                   PATCHBAY_INVALID_INPUT, "'path' contains a NUL character");
    assert_refused(t, "move", format("{\"from\":\"a\",\"to\":\"b\\u0000\"}"),
                   PATCHBAY_INVALID_INPUT, "NUL character");
    assert_content(t, "in/a", "text");
}

static void test_very_long_names(void **state)
{
    static const size_t lengths[] = {255, 256, 4000, 4095, 4096, 100000};
    tree *t = (tree *)*state;
    load_writable(t);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        char *name = (char *)malloc(lengths[i] + 1);
        memset(name, 'n', lengths[i]);
        name[lengths[i]] = '\0';
        int fits = lengths[i] <= 255;
        assert_refused(t, "read", format("{\"path\":\"%s\"}", name), PATCHBAY_INVALID_INPUT,
                       fits ? "does not exist" : "is too long");
        if (fits) {
            json_decref(call_ok(t, "write", format("{\"path\":\"%s\",\"text\":\"x\"}", name)));
        } else {
            assert_refused(t, "write", format("{\"path\":\"%s\",\"text\":\"x\"}", name),
                           PATCHBAY_INVALID_INPUT, "is too long");
        }
        for (size_t c = 0; c + 1 < lengths[i]; c += 2) {
            name[c] = '.';
            name[c + 1] = '/';
        }
        fake_result dots = call(t, "stat", format("{\"path\":\"%s\"}", name)); /* "./././n" */
        assert_int_not_equal(dots.status, FAKE_HOST_TIMEOUT);
        fake_result_free(&dots);
        free(name);
    }
}

static void test_deep_trees(void **state)
{
    tree *t = (tree *)*state;
    int dir_fd = open(t->in, O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < 60; i++) { /* deeper than a walk goes, longer than PATH_MAX in all */
        char name[101];
        memset(name, 'd', 100);
        name[100] = '\0';
        assert_int_equal(mkdirat(dir_fd, name, 0755), 0);
        int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY);
        (void)close(dir_fd);
        dir_fd = fd;
    }
    (void)close(dir_fd);
    load(t);
    json_t *found = call_ok(t, "list", format("{\"depth\":32}"));
    assert_int_equal(json_array_size(json_object_get(found, "entries")), 32);
    json_decref(found);
    found = call_ok(t, "search_text", format("{\"pattern\":\"x\"}"));
    json_decref(found);
}

static void test_names_that_are_not_utf8(void **state)
{
    tree *t = (tree *)*state;
    put(t, "in/bad\xff\\name", "needle");
    put(t, "in/line\nbreak\"quote", "x");
    load(t);
    json_t *listed = call_ok(t, "list", format("{}"));
    const json_t *entries = json_object_get(listed, "entries");
    const json_t *bad = json_array_get(entries, 0);
    assert_string_equal(text_of(bad, "path"), "in/bad\\xff\\\\name");
    assert_true(json_is_true(json_object_get(bad, "escaped")));
    const json_t *odd = json_array_get(entries, 1);
    assert_string_equal(text_of(odd, "path"), "in/line\nbreak\"quote");
    assert_null(json_object_get(odd, "escaped"));
    json_decref(listed);
    assert_paths(t, "search_text", format("{\"pattern\":\"needle\"}"), "matches",
                 "in/bad\\xff\\\\name");
    assert_paths(t, "search_name", format("{\"pattern\":\"bad?*\"}"), "matches",
                 "in/bad\\xff\\\\name");
}

static void test_refusals_are_utf8_when_cut(void **state)
{
    tree *t = (tree *)*state;
    load(t);
    for (size_t pad = 0; pad < 4; pad++) {
        char path[2000];
        size_t len = pad;
        memset(path, 'a', pad);
        for (int i = 0; i < 400; i++) {
            len += (size_t)snprintf(path + len, sizeof path - len, "\xf0\x9f\x98\x80");
        }
        fake_result result = call(t, "read", format("{\"path\":\"%s\"}", path));
        assert_int_equal(result.status, PATCHBAY_INVALID_INPUT);
        json_t *text = json_stringn(result.json, result.json_len); /* NULL for bad UTF-8 */
        assert_non_null(text);
        json_decref(text);
        fake_result_free(&result);
    }
}

#endif
