/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens file: what is read, what is refused, and that changing it loses nothing. */
#include "config_support.h"

#include "base/limits.h"
#include "config/file.h"
#include "config/tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOW = 1800000000, ARENA_BYTES = 16 * 1024 * 1024 };

#define HEX64 "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static char folder[64];
static char path[128];
static hub_arena *arena;

static int begin(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/patchbay-tokens-XXXXXX");
    arena = hub_arena_create(ARENA_BYTES);
    if (arena == NULL || mkdtemp(folder) == NULL) {
        return 1;
    }
    (void)snprintf(path, sizeof path, "%s/tokens.json", folder);
    return 0;
}

static int end(void **state)
{
    (void)state;
    hub_arena_destroy(arena);
    (void)unlink(path);
    return rmdir(folder); /* fails when something was left behind */
}

static void write_file(const char *text, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    assert_int_equal(close(fd), 0);
}

static hub_tokens read_good(void)
{
    hub_tokens tokens = {.count = 0};
    hub_error error = {.text = ""};
    hub_err err = hub_tokens_read(path, arena, &tokens, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(err, HUB_OK);
    return tokens;
}

static void test_a_good_file(void **state)
{
    (void)state;
    write_file(" [ {\"expires\": 2, \"name\": \"laptop\", \"id\": \"Ab-_9\", \"sha256\": \"" HEX64
               "\", \"created\": 1},\n{\"name\":\"laptop\",\"id\":\"x\",\"sha256\":\"" HEX64
               "\"}]\n",
               0600);
    hub_tokens tokens = read_good();
    assert_int_equal(tokens.count, 2);
    assert_string_equal(tokens.tokens[0].name, "laptop");
    assert_string_equal(tokens.tokens[0].id, "Ab-_9");
    assert_int_equal(tokens.tokens[0].sha256[0], 0x00);
    assert_int_equal(tokens.tokens[0].sha256[1], 0x11);
    assert_int_equal(tokens.tokens[0].sha256[31], 0xff);
    assert_int_equal(tokens.tokens[0].expires, 2);
    assert_int_equal(tokens.created[0], 1);
    assert_int_equal(tokens.tokens[1].expires, 0);
    assert_ptr_equal(hub_tokens_find(&tokens, "x"), &tokens.tokens[1]);
    assert_null(hub_tokens_find(&tokens, "ab-_9"));
    write_file("[]", 0400);
    assert_int_equal(read_good().count, 0);
}

#define ENTRY(name, id, digest)                                                                    \
    "[{\"name\":\"" name "\",\"id\":\"" id "\",\"sha256\":\"" digest "\"}]"
#define NAME_RULE                                                                                  \
    "token 1: a token's name is a letter or digit, then letters, digits, \".\", \"_\", \"@\" and " \
    "\"-\""
#define ID_RULE     "token 1: \"id\" is not 1 to 32 of A-Z, a-z, 0-9, - and _"
#define DIGEST_RULE "token 1: \"sha256\" is not 64 lower-case hexadecimal digits"
#define OWN_NAMES                                                                                  \
    "token 1: \"anonymous\" and \"local\" are the hub's own names for clients without a token"
#define EXPIRES_RULE "token 1: \"expires\" is not seconds since 1970; leave it out for never"
#define ID32         "0123456789abcdef0123456789abcdef"

static void test_bad_content(void **state)
{
    static const struct {
        const char *text;
        const char *expected; /* behind the path */
    } CASES[] = {
        {"{}", "not a tokens file: wanted a list of tokens"},
        {"5", "not a tokens file: wanted a list of tokens"},
        {"[5]", "token 1: it is not an object"},
        {"[{}]", "token 1: it lacks \"name\", \"id\" or \"sha256\""},
        {"[{\"id\":\"a\",\"sha256\":\"" HEX64 "\"}]",
         "token 1: it lacks \"name\", \"id\" or \"sha256\""},
        {"[{\"name\":\"a\",\"sha256\":\"" HEX64 "\"}]",
         "token 1: it lacks \"name\", \"id\" or \"sha256\""},
        {"[{\"name\":\"a\",\"id\":\"a\"}]", "token 1: it lacks \"name\", \"id\" or \"sha256\""},
        {"[{\"name\":5}]", "token 1: \"name\" is not text"},
        {"[{\"token\":\"pbt_a_b\"}]",
         "token 1: it has a member that is none of name, id, sha256, created, expires, scopes, "
         "groups, profile"},
        {ENTRY("", "a", HEX64), "token 1: a token's name has 1 to 64 characters"},
        {ENTRY("a b", "a", HEX64), NAME_RULE},
        {ENTRY("-a", "a", HEX64), NAME_RULE},
        {ENTRY("uid:0", "a", HEX64), NAME_RULE}, /* the Unix socket's principals */
        {ENTRY("Anonymous", "a", HEX64), OWN_NAMES},
        {ENTRY("local", "a", HEX64), OWN_NAMES},
        {ENTRY("a", "", HEX64), ID_RULE},
        {ENTRY("a", "a.b", HEX64), ID_RULE},
        {ENTRY("a", ID32 "0", HEX64), ID_RULE},
        {"[{\"name\":\"a\",\"id\":7,\"sha256\":\"" HEX64 "\"}]", ID_RULE},
        {ENTRY("a", "a", ""), DIGEST_RULE},
        {ENTRY("a", "a", HEX64 "0"), DIGEST_RULE},
        {ENTRY("a", "a", "0011"), DIGEST_RULE},
        {ENTRY("a", "a", "g0112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"),
         DIGEST_RULE},
        {ENTRY("a", "a", "00112233445566778899AABBCCDDEEFF00112233445566778899aabbccddeeff"),
         DIGEST_RULE},
        {"[{\"name\":\"a\",\"id\":\"a\",\"sha256\":\"" HEX64 "\",\"expires\":0}]", EXPIRES_RULE},
        {"[{\"name\":\"a\",\"id\":\"a\",\"sha256\":\"" HEX64 "\",\"expires\":-1}]", EXPIRES_RULE},
        {"[{\"name\":\"a\",\"id\":\"a\",\"sha256\":\"" HEX64 "\",\"expires\":null}]", EXPIRES_RULE},
        {"[{\"name\":\"a\",\"id\":\"a\",\"sha256\":\"" HEX64 "\",\"expires\":\"2030-01-01\"}]",
         EXPIRES_RULE},
        {"[{\"name\":\"a\",\"id\":\"a\",\"sha256\":\"" HEX64 "\",\"created\":\"x\"}]",
         "token 1: \"created\" is not seconds since 1970"},
        {"[{\"name\":\"a\",\"id\":\"i\",\"sha256\":\"" HEX64 "\"},"
         "{\"name\":\"b\",\"id\":\"i\",\"sha256\":\"" HEX64 "\"}]",
         "token 2: its id is another token's, too"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char expected[512];
        hub_tokens tokens = {.count = 0};
        hub_error error = {.text = ""};
        write_file(CASES[i].text, 0600);
        (void)snprintf(expected, sizeof expected, "%s: %s", path, CASES[i].expected);
        assert_int_equal(hub_tokens_read(path, arena, &tokens, &error), HUB_EINVAL);
        assert_string_equal(error.text, expected);
        assert_int_equal(tokens.count, 0);
    }
    write_file("[{", 0600);
    hub_tokens tokens = {.count = 0};
    hub_error error = {.text = ""};
    assert_int_equal(hub_tokens_read(path, arena, &tokens, &error), HUB_EPARSE);
    assert_non_null(strstr(error.text, "tokens.json: not a tokens file: "));
    write_file("", 0600);
    assert_int_equal(hub_tokens_read(path, arena, &tokens, &error), HUB_EPARSE);
    write_file(ENTRY("a", ID32, HEX64), 0600);
    assert_int_equal(read_good().count, 1);
}

/* C04: a file that others could have read, or changed, is none. */
static void test_who_may_use_the_file(void **state)
{
    static const mode_t BAD[] = {0640, 0620, 0610, 0604, 0602, 0601, 0644, 0666, 0777, 02660};
    (void)state;
    for (size_t i = 0; i < COUNT(BAD); i++) {
        char expected[512];
        hub_tokens tokens = {.count = 0};
        hub_error error = {.text = ""};
        write_file("[]", BAD[i]);
        (void)snprintf(expected, sizeof expected,
                       "%s: other users have access to it (mode %04o): chmod 600 it, and make new "
                       "tokens if they may have read or changed it",
                       path, BAD[i]);
        assert_int_equal(hub_tokens_read(path, arena, &tokens, &error), HUB_EDENIED);
        assert_string_equal(error.text, expected);
    }
}

static void test_somebody_elses_file(void **state)
{
    (void)state;
    hub_tokens tokens = {.count = 0};
    hub_error error = {.text = ""};
    write_file("[]", 0600);
    if (geteuid() != 0) { /* only root can give a file away, or be somebody else */
        skip();
    }
    assert_int_equal(chown(path, 12345, (gid_t)-1), 0);
    assert_int_equal(hub_tokens_read(path, arena, &tokens, &error), HUB_EDENIED);
    assert_non_null(strstr(error.text, "belongs to user 12345, and this process is user 0: chown"));
}

static void test_no_file(void **state)
{
    (void)state;
    char other[256];
    hub_tokens tokens = {.count = 0};
    hub_error error = {.text = ""};
    assert_int_equal(hub_tokens_read(path, arena, &tokens, &error), HUB_ENOTFOUND);
    assert_int_equal(hub_tokens_read(folder, arena, &tokens, &error), HUB_EINVAL);
    (void)snprintf(other, sizeof other, "%s/pipe", folder);
    assert_int_equal(mkfifo(other, 0600), 0);
    assert_int_equal(hub_tokens_read(other, arena, &tokens, &error), HUB_EINVAL); /* at once */
    assert_non_null(strstr(error.text, "not a regular file"));
    assert_int_equal(unlink(other), 0);
    size_t removed = 0;
    assert_int_equal(hub_tokens_remove(path, "a", &removed, &error), HUB_ENOTFOUND);
}

static bool is_base64url(const char *text, size_t len)
{
    return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == len;
}

/* A12: the file holds no token, and nobody else can read it. */
static void test_new_tokens(void **state)
{
    (void)state;
    hub_new_token first;
    hub_new_token second;
    hub_error error = {.text = ""};
    struct stat status;
    mode_t old_mask = umask(0); /* whatever the user's is */
    assert_int_equal(
        hub_tokens_add(path, &(hub_token){.name = "laptop", .expires = 0}, NOW, &first, &error),
        HUB_OK);
    assert_int_equal(hub_tokens_add(path, &(hub_token){.name = "laptop", .expires = NOW + 90},
                                    NOW + 1, &second, &error),
                     HUB_OK);
    (void)umask(old_mask);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);

    hub_tokens tokens = read_good();
    assert_int_equal(tokens.count, 2); /* two of one name: changed without a gap */
    assert_string_equal(tokens.tokens[1].name, "laptop");
    assert_int_equal(tokens.created[1], NOW + 1);
    assert_int_equal(tokens.tokens[0].expires, 0);
    assert_int_equal(tokens.tokens[1].expires, NOW + 90);
    assert_int_equal(strlen(first.text), 4 + 12 + 1 + 43);
    assert_memory_equal(first.text, "pbt_", 4);
    assert_memory_equal(first.text + 4, tokens.tokens[0].id, 12);
    assert_int_equal(first.text[16], '_');
    assert_true(is_base64url(first.text + 17, 43));
    assert_string_not_equal(first.text + 17, second.text + 17);

    hub_buf text;
    hub_buf_init(&text, HUB_TOKENS_FILE_BYTES);
    assert_int_equal(hub_file_read(path, &text, NULL, &error), HUB_OK);
    assert_int_equal(hub_str_find(hub_buf_str(&text), hub_str_of(first.text + 17)), SIZE_MAX);
    hub_buf_fini(&text);
    hub_tokens_wipe(&first);
    static const hub_new_token WIPED;
    assert_memory_equal(&first, &WIPED, sizeof first);
}

/* What a token is good for is read back as it was written, and files without it read on. */
static void test_rights(void **state)
{
    static const char *const SCOPES[] = {"tools:read", "https://example.com/a"};
    static const char *const GROUPS[] = {"dev", "Gr\xc3\xbc\xc3\x9f"
                                                "e \"x\""};
    static const char *const BAD_SCOPE[] = {"a b"};
    static const char *const BAD_GROUP[] = {"a\nb"};
    static const char *too_many[HUB_LIMIT_SCOPES_PER_TOKEN + 1];
    (void)state;
    hub_new_token token;
    hub_error error = {.text = ""};
    hub_token wanted = {.name = "ci",
                        .scopes = {.items = SCOPES, .count = 2, .set = true},
                        .groups = {.items = GROUPS, .count = 2, .set = true},
                        .profile = "work"};
    assert_int_equal(hub_tokens_add(path, &(hub_token){.name = "old"}, NOW, &token, &error),
                     HUB_OK);
    assert_int_equal(hub_tokens_add(path, &wanted, NOW, &token, &error), HUB_OK);
    hub_tokens tokens = read_good();
    assert_int_equal(tokens.tokens[0].scopes.count, 0);
    assert_null(tokens.tokens[0].profile);
    const hub_token *read = &tokens.tokens[1];
    assert_int_equal(read->scopes.count, 2);
    assert_string_equal(read->scopes.items[1], SCOPES[1]);
    assert_int_equal(read->groups.count, 2);
    assert_string_equal(read->groups.items[1], GROUPS[1]);
    assert_string_equal(read->profile, "work");

    for (size_t i = 0; i <= HUB_LIMIT_SCOPES_PER_TOKEN; i++) {
        too_many[i] = "s";
    }
    wanted.scopes =
        (hub_names){.items = too_many, .count = HUB_LIMIT_SCOPES_PER_TOKEN, .set = true};
    assert_int_equal(hub_tokens_add(path, &wanted, NOW, &token, &error), HUB_OK);
    wanted.scopes.count++;
    assert_int_equal(hub_tokens_add(path, &wanted, NOW, &token, &error), HUB_EINVAL);
    wanted.scopes = (hub_names){.items = BAD_SCOPE, .count = 1, .set = true};
    assert_int_equal(hub_tokens_add(path, &wanted, NOW, &token, &error), HUB_EINVAL);
    wanted.scopes.count = 0;
    wanted.groups = (hub_names){.items = BAD_GROUP, .count = 1, .set = true};
    assert_int_equal(hub_tokens_add(path, &wanted, NOW, &token, &error), HUB_EINVAL);
    wanted.groups.count = 0;
    wanted.profile = "No";
    assert_int_equal(hub_tokens_add(path, &wanted, NOW, &token, &error), HUB_EINVAL);
}

static void test_bad_names(void **state)
{
    (void)state;
    char name[66];
    hub_new_token token = {.text = "old"};
    hub_error error = {.text = ""};
    memset(name, 'n', sizeof name);
    name[65] = '\0';
    assert_int_equal(
        hub_tokens_add(path, &(hub_token){.name = name, .expires = 0}, NOW, &token, &error),
        HUB_EINVAL);
    assert_string_equal(error.text, "a token's name has 1 to 64 characters");
    assert_int_equal(
        hub_tokens_add(path, &(hub_token){.name = "", .expires = 0}, NOW, &token, &error),
        HUB_EINVAL);
    assert_int_equal(
        hub_tokens_add(path, &(hub_token){.name = "a\nb", .expires = 0}, NOW, &token, &error),
        HUB_EINVAL);
    assert_int_equal(
        hub_tokens_add(path, &(hub_token){.name = "a\"b", .expires = 0}, NOW, &token, &error),
        HUB_EINVAL);
    assert_int_equal(
        hub_tokens_add(path, &(hub_token){.name = "LOCAL", .expires = 0}, NOW, &token, &error),
        HUB_EINVAL);
    assert_int_equal(access(path, F_OK), -1);
    name[64] = '\0';
    assert_int_equal(
        hub_tokens_add(path, &(hub_token){.name = name, .expires = 0}, NOW, &token, &error),
        HUB_OK);
    assert_int_equal(hub_tokens_add(path, &(hub_token){.name = "me@example.com", .expires = 0}, NOW,
                                    &token, &error),
                     HUB_OK);
    assert_int_equal(read_good().count, 2);
}

static void test_revoke(void **state)
{
    (void)state;
    hub_new_token token;
    hub_error error = {.text = ""};
    size_t removed = 0;
    static const char *const NAMES[] = {"a", "b", "a", "c"};
    for (size_t i = 0; i < COUNT(NAMES); i++) {
        assert_int_equal(hub_tokens_add(path, &(hub_token){.name = NAMES[i], .expires = 0},
                                        NOW + (int64_t)i, &token, &error),
                         HUB_OK);
    }
    char last_id[16];
    (void)snprintf(last_id, sizeof last_id, "%.12s", token.text + 4);
    assert_int_equal(hub_tokens_remove(path, "a", &removed, &error), HUB_OK);
    assert_int_equal(removed, 2);
    hub_tokens tokens = read_good();
    assert_int_equal(tokens.count, 2);
    assert_string_equal(tokens.tokens[0].name, "b");
    assert_int_equal(tokens.created[0], NOW + 1);
    assert_int_equal(hub_tokens_remove(path, last_id, &removed, &error), HUB_OK);
    assert_int_equal(removed, 1);
    assert_int_equal(hub_tokens_remove(path, "a", &removed, &error), HUB_ENOTFOUND);
    assert_string_equal(error.text, "there is no token \"a\": see patchbay token list");
    assert_int_equal(hub_tokens_remove(path, "b", &removed, &error), HUB_OK);
    assert_int_equal(read_good().count, 0); /* nobody is let in; not: everybody */
}

/* What is bad stays as it is: nothing is written over a file that somebody should look at. */
static void test_a_bad_file_is_kept(void **state)
{
    (void)state;
    hub_new_token token;
    hub_buf text;
    size_t removed = 0;
    hub_error error = {.text = ""};
    write_file("[1]", 0600);
    assert_int_equal(
        hub_tokens_add(path, &(hub_token){.name = "a", .expires = 0}, NOW, &token, &error),
        HUB_EINVAL);
    assert_int_equal(hub_tokens_remove(path, "a", &removed, &error), HUB_EINVAL);
    write_file("[1]", 0644);
    assert_int_equal(
        hub_tokens_add(path, &(hub_token){.name = "a", .expires = 0}, NOW, &token, &error),
        HUB_EDENIED);
    hub_buf_init(&text, 16);
    assert_int_equal(hub_file_read(path, &text, NULL, &error), HUB_OK);
    assert_true(hub_str_is(hub_buf_str(&text), "[1]"));
    hub_buf_fini(&text);
}

static void test_links_and_folders(void **state)
{
    (void)state;
    char link_path[128];
    char deep[160];
    struct stat status;
    hub_new_token token;
    hub_error error = {.text = ""};
    (void)snprintf(link_path, sizeof link_path, "%s/link", folder);
    write_file("[]", 0600);
    assert_int_equal(symlink("tokens.json", link_path), 0);
    assert_int_equal(
        hub_tokens_add(link_path, &(hub_token){.name = "a", .expires = 0}, NOW, &token, &error),
        HUB_OK);
    assert_int_equal(lstat(link_path, &status), 0);
    assert_true(S_ISLNK(status.st_mode)); /* still one */
    assert_int_equal(read_good().count, 1);
    assert_int_equal(unlink(link_path), 0);

    (void)snprintf(deep, sizeof deep, "%s/a/b/t.json", folder);
    assert_int_equal(
        hub_tokens_add(deep, &(hub_token){.name = "a", .expires = 0}, NOW, &token, &error), HUB_OK);
    assert_int_equal(unlink(deep), 0);
    (void)snprintf(deep, sizeof deep, "%s/a/b", folder);
    assert_int_equal(stat(deep, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_int_equal(rmdir(deep), 0);
    deep[strlen(deep) - 2] = '\0';
    assert_int_equal(rmdir(deep), 0);
    (void)snprintf(deep, sizeof deep, "%s/tokens.json/t",
                   folder); /* a file where a folder must be */
    assert_int_equal(
        hub_tokens_add(deep, &(hub_token){.name = "a", .expires = 0}, NOW, &token, &error),
        HUB_ESYSTEM);
}

static void add_many(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        hub_new_token token;
        if (hub_tokens_add(path, &(hub_token){.name = "many", .expires = 0}, NOW, &token, NULL) !=
            HUB_OK) {
            _exit(1);
        }
    }
    _exit(0);
}

/* Writers at the same time wait for each other: nobody's token is lost. */
static void test_writers_at_once(void **state)
{
    (void)state;
    enum { WRITERS = 6, EACH = 5 };
    pid_t children[WRITERS];
    for (size_t i = 0; i < WRITERS; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            add_many(EACH);
        }
    }
    for (size_t i = 0; i < WRITERS; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(read_good().count, WRITERS * EACH);
}

static void test_most_tokens(void **state)
{
    (void)state;
    hub_buf text;
    hub_new_token token;
    hub_tokens tokens = {.count = 0};
    hub_error error = {.text = ""};
    hub_buf_init(&text, HUB_TOKENS_FILE_BYTES);
    for (unsigned i = 1; i < HUB_LIMIT_TOKENS; i++) {
        hub_buf_printf(&text, "%s{\"name\":\"n\",\"id\":\"%u\",\"sha256\":\"" HEX64 "\"}",
                       i == 1 ? "[" : ",", i);
    }
    hub_buf_add(&text, HUB_STR("]"));
    char *content = hub_buf_take(&text);
    write_file(content, 0600);
    free(content);
    assert_int_equal(
        hub_tokens_add(path, &(hub_token){.name = "last", .expires = 0}, NOW, &token, &error),
        HUB_OK);
    assert_int_equal(read_good().count, HUB_LIMIT_TOKENS);
    assert_int_equal(
        hub_tokens_add(path, &(hub_token){.name = "more", .expires = 0}, NOW, &token, &error),
        HUB_ELIMIT);
    assert_string_equal(error.text, "there are 1000 tokens already: revoke some");
    assert_string_equal(token.text, "");

    hub_buf_add(&text, HUB_STR("[0"));
    for (unsigned i = 0; i < HUB_LIMIT_TOKENS; i++) {
        hub_buf_add(&text, HUB_STR(",0"));
    }
    hub_buf_add(&text, HUB_STR("]"));
    content = hub_buf_take(&text);
    write_file(content, 0600);
    free(content);
    assert_int_equal(hub_tokens_read(path, arena, &tokens, &error), HUB_ELIMIT);
    assert_non_null(strstr(error.text, "more than 1000 tokens"));
}

static void test_largest_file(void **state)
{
    (void)state;
    hub_tokens tokens = {.count = 0};
    hub_error error = {.text = ""};
    char *text = malloc(HUB_TOKENS_FILE_BYTES + 2);
    assert_non_null(text);
    memset(text, ' ', HUB_TOKENS_FILE_BYTES + 1);
    memcpy(text, "[]", 2);
    text[HUB_TOKENS_FILE_BYTES] = '\0';
    write_file(text, 0600);
    assert_int_equal(read_good().count, 0);
    text[HUB_TOKENS_FILE_BYTES] = ' ';
    text[HUB_TOKENS_FILE_BYTES + 1] = '\0';
    write_file(text, 0600);
    free(text);
    assert_int_equal(hub_tokens_read(path, arena, &tokens, &error), HUB_ELIMIT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_good_file),
        TEST(test_bad_content),
        TEST(test_who_may_use_the_file),
        TEST(test_somebody_elses_file),
        TEST(test_no_file),
        TEST(test_new_tokens),
        TEST(test_rights),
        TEST(test_bad_names),
        TEST(test_revoke),
        TEST(test_a_bad_file_is_kept),
        TEST(test_links_and_folders),
        TEST(test_writers_at_once),
        TEST(test_most_tokens),
        TEST(test_largest_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
