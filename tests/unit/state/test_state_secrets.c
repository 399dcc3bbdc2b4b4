/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets in the store: sealed by a key, bound to their record, or kept only where nobody else reads;
 * and exports of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>

#include "state/export.h"
#include "state_fixture.h"

enum { GUARD_SECONDS = 300, TEXT_BYTES = 1024 * 1024 };

#define KEY_A "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define KEY_B "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeffe0e1e2e3e4e5e6e7e8e9eaebecedeeef"

static int begin(void **state)
{
    static state_fixture fixture;
    state_begin(&fixture);
    fixture.store = state_open(&fixture, fixture.path, "/hub.yaml", state_key(KEY_A));
    *state = &fixture;
    return 0;
}

static int end(void **state)
{
    state_end(*state);
    return 0;
}

static void reopen(state_fixture *fixture, const char *keys)
{
    state_close(fixture);
    fixture->store =
        state_open(fixture, fixture->path, "/hub.yaml", keys != NULL ? state_key(keys) : NULL);
}

static bool file_has(const char *path, const char *text)
{
    static char bytes[TEXT_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd >= 0 ? read(fd, bytes, sizeof bytes) : 0;
    (void)close(fd);
    return size > 0 && memmem(bytes, (size_t)size, text, strlen(text)) != NULL;
}

static bool store_has(const state_fixture *fixture, const char *text)
{
    char log[128];
    (void)snprintf(log, sizeof log, "%s-wal", fixture->path);
    return file_has(fixture->path, text) || file_has(log, text);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void test_what_is_a_key(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        hub_err err;
    } CASES[] = {
        {KEY_A, HUB_OK},
        {"\n " KEY_A "\n" KEY_B "\n", HUB_OK},
        {"", HUB_EINVAL},
        {"secret", HUB_EINVAL},
        {KEY_A "0", HUB_EINVAL},
        {"g00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", HUB_EINVAL},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_state_keys *keys = NULL;
        hub_error why = {.text = ""};
        assert_int_equal(hub_state_keys_parse(hub_str_of(CASES[i].text), &keys, &why),
                         CASES[i].err);
        assert_true(CASES[i].err == HUB_OK || strstr(why.text, "openssl rand -hex 32") != NULL);
        hub_state_keys_destroy(keys);
    }
    char many[(HUB_LIMIT_STATE_KEYS + 1) * sizeof KEY_A + 1] = "";
    for (size_t i = 0; i <= HUB_LIMIT_STATE_KEYS; i++) {
        (void)snprintf(many + i * sizeof KEY_A, sizeof KEY_A + 1, "%s\n", KEY_A);
    }
    hub_state_keys *keys = NULL;
    hub_str text = {.ptr = many, .len = HUB_LIMIT_STATE_KEYS * sizeof KEY_A};
    assert_int_equal(hub_state_keys_parse(text, &keys, NULL), HUB_OK);
    hub_state_keys_destroy(keys);
    text.len = sizeof many - 1;
    assert_int_equal(hub_state_keys_parse(text, &keys, NULL), HUB_ELIMIT);
}

static void test_a_key_file_is_the_users_alone(void **state)
{
    state_fixture *fixture = *state;
    char path[160];
    hub_state_keys *keys = NULL;
    hub_error why = {.text = ""};
    (void)snprintf(path, sizeof path, "%s/key", fixture->folder);
    assert_int_equal(hub_state_keys_load(path, &keys, &why), HUB_ENOTFOUND);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0640);
    assert_int_equal(write(fd, KEY_A, sizeof KEY_A - 1), (ssize_t)sizeof KEY_A - 1);
    (void)close(fd);
    assert_int_equal(hub_state_keys_load(path, &keys, &why), HUB_EDENIED);
    assert_non_null(strstr(why.text, "chmod 600"));
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(hub_state_keys_load(path, &keys, &why), HUB_OK);
    assert_int_equal(strlen(hub_state_keys_id(keys)), HUB_STATE_KEY_ID_BYTES - 1);
    hub_state_keys_destroy(keys);
}

/* RFC 5869, computed by another program. */
static void test_keys_are_derived(void **state)
{
    (void)state;
    static const unsigned char WANTED[HUB_STATE_DERIVED_BYTES] = {
        0x2a, 0xaa, 0x36, 0x76, 0x2a, 0x50, 0x16, 0xce, 0x72, 0x85, 0x13,
        0xff, 0x83, 0x57, 0x22, 0x15, 0xd7, 0xb7, 0xbe, 0x28, 0x73, 0x11,
        0x9a, 0xf9, 0xe9, 0x86, 0x2c, 0x6d, 0xdb, 0x10, 0x2d, 0x10};
    unsigned char derived[HUB_STATE_DERIVED_BYTES];
    hub_state_keys *keys = state_key(KEY_B "\n" KEY_A);
    assert_int_equal(hub_state_keys_count(keys), 2);
    assert_true(hub_state_keys_derive(keys, 1, "patchbay tasks 1", derived));
    assert_memory_equal(derived, WANTED, sizeof WANTED);
    assert_true(hub_state_keys_derive(keys, 1, "patchbay states 1", derived));
    assert_memory_not_equal(derived, WANTED, sizeof WANTED);
    assert_true(hub_state_keys_derive(keys, 0, "patchbay tasks 1", derived));
    assert_memory_not_equal(derived, WANTED, sizeof WANTED);
    hub_state_keys_destroy(keys);
}

/* Last of the tests: the environment's word counts before a file's. */
static void test_the_environment_is_wiped(void **state)
{
    (void)state;
    static char variable[] = HUB_STATE_KEY_VARIABLE "=" KEY_B;
    hub_state_keys *keys = NULL;
    assert_int_equal(putenv(variable), 0);
    hub_state_keys_take_environment();
    assert_null(getenv(HUB_STATE_KEY_VARIABLE));
    assert_null(memmem(variable, sizeof variable, KEY_B, 8)); /* nor where it was */
    assert_int_equal(hub_state_keys_load("/none", &keys, NULL), HUB_OK);
    hub_state_keys *other = state_key(KEY_B);
    assert_string_equal(hub_state_keys_id(keys), hub_state_keys_id(other));
    hub_state_keys_destroy(other);
    hub_state_keys_destroy(keys);
}

/* ---- sealing --------------------------------------------------------------------------------- */

static void test_what_is_sealed_for_one_record(void **state)
{
    (void)state;
    hub_state_keys *keys = state_key(KEY_A);
    hub_buf first;
    hub_buf sealed;
    hub_buf opened;
    hub_buf_init(&first, TEXT_BYTES);
    hub_buf_init(&sealed, TEXT_BYTES);
    hub_buf_init(&opened, TEXT_BYTES);
    const hub_state_record record = {.scope = HUB_STR("s"),
                                     .kind = HUB_STR("k"),
                                     .owner = HUB_STR("o"),
                                     .key = HUB_STR("y"),
                                     .version = 7,
                                     .document = HUB_STR("\"hush\"")};
    assert_int_equal(hub_state_seal(keys, &record, &first, NULL), HUB_OK);
    assert_int_equal(hub_state_seal(keys, &record, &sealed, NULL), HUB_OK);
    assert_int_equal(sealed.len, record.document.len + HUB_STATE_SEAL_BYTES);
    assert_memory_not_equal(first.ptr, sealed.ptr, sealed.len); /* never the same nonce */
    hub_state_record whole = record;
    whole.document = hub_buf_str(&sealed);
    whole.key_id = hub_str_of(hub_state_keys_id(keys));
    assert_int_equal(hub_state_open(keys, &whole, &opened, NULL), HUB_OK);
    assert_true(hub_str_eq(hub_buf_str(&opened), record.document));

    hub_state_record moved[6];
    for (size_t i = 0; i < 6; i++) {
        moved[i] = whole;
    }
    moved[0].scope = HUB_STR("t");
    moved[1].kind = HUB_STR("l");
    moved[2].owner = HUB_STR("oy");
    moved[2].key = HUB_STR_EMPTY; /* the same letters */
    moved[3].key = HUB_STR("z");
    moved[4].version = 8;
    moved[5].document.len--;
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(hub_state_open(keys, &moved[i], &opened, NULL), HUB_EDENIED);
    }
    for (size_t i = 0; i < sealed.len; i++) {
        sealed.ptr[i] ^= 1;
        assert_int_equal(hub_state_open(keys, &whole, &opened, NULL), HUB_EDENIED);
        sealed.ptr[i] ^= 1;
    }
    for (size_t len = 0; len < HUB_STATE_SEAL_BYTES; len++) {
        hub_state_record cut = whole;
        cut.document.len = len;
        assert_int_equal(hub_state_open(keys, &cut, &opened, NULL), HUB_EDENIED);
    }
    hub_state_keys *other = state_key(KEY_B);
    hub_error why = {.text = ""};
    assert_int_equal(hub_state_open(other, &whole, &opened, &why), HUB_EDENIED);
    assert_non_null(strstr(why.text, hub_state_keys_id(keys)));
    assert_int_equal(hub_state_open(NULL, &whole, &opened, NULL), HUB_EDENIED);
    hub_state_keys_destroy(other);
    hub_state_keys_destroy(keys);
    hub_buf_fini(&opened);
    hub_buf_fini(&sealed);
    hub_buf_fini(&first);
}

static void test_secrets_are_not_in_the_file(void **state)
{
    state_fixture *fixture = *state;
    (void)state_put(fixture, &NOTES, "", "open", 0, "\"sunflower\"");
    assert_int_equal(state_put(fixture, &SECRETS, "", "s", 0, "\"marigold\"")->err, HUB_OK);
    assert_true(store_has(fixture, "sunflower"));
    assert_false(store_has(fixture, "marigold"));
    assert_string_equal(state_get(fixture, &SECRETS, "", "s")->document, "\"marigold\"");
    reopen(fixture, NULL);
    state_answer *got = state_get(fixture, &SECRETS, "", "s");
    assert_int_equal(got->err, HUB_EDENIED);
    assert_non_null(strstr(got->why, "give it that key"));
    assert_int_equal(state_get(fixture, &NOTES, "", "open")->err, HUB_OK);
    assert_int_equal(hub_store_health(fixture->store).condition, HUB_STATE_OK);
    assert_int_equal(state_check(fixture)->report.unreadable, 1);
}

static void test_without_a_key_only_where_nobody_reads(void **state)
{
    state_fixture *fixture = *state;
    reopen(fixture, NULL);
    assert_int_equal(state_put(fixture, &SECRETS, "", "s", 0, "1")->err, HUB_OK);
    assert_int_equal(state_check(fixture)->report.plain, 1);
    assert_int_equal(chmod(fixture->folder, 0750), 0);
    reopen(fixture, NULL);
    state_answer *put = state_put(fixture, &SECRETS, "", "s", HUB_STATE_ANY, "2");
    assert_int_equal(put->err, HUB_EDENIED);
    assert_non_null(strstr(put->why, "not 0700"));
    assert_int_equal(state_get(fixture, &SECRETS, "", "s")->err, HUB_EDENIED);
    assert_int_equal(state_put(fixture, &NOTES, "", "a", 0, "1")->err, HUB_OK);
    assert_int_equal(chmod(fixture->folder, 0700), 0);
    assert_int_equal(chmod(fixture->path, 0640), 0);
    reopen(fixture, NULL);
    assert_int_equal(state_get(fixture, &SECRETS, "", "s")->err, HUB_EDENIED);
    reopen(fixture, KEY_A); /* with one it may be anywhere */
    assert_int_equal(state_put(fixture, &SECRETS, "", "t", 0, "2")->err, HUB_OK);
}

static void test_keys_that_cannot_be_had(void **state)
{
    state_fixture *fixture = *state;
    hub_state_keys *broken = NULL;
    state_close(fixture);
    assert_int_equal(hub_state_keys_broken("the file is gone", &broken, NULL), HUB_OK);
    fixture->store = state_open(fixture, fixture->path, "/hub.yaml", broken);
    state_answer *put = state_put(fixture, &SECRETS, "", "s", 0, "1");
    assert_int_equal(put->err, HUB_EDENIED);
    assert_non_null(strstr(put->why, "the file is gone"));
    assert_int_equal(state_put(fixture, &NOTES, "", "a", 0, "1")->err, HUB_OK);
}

static state_answer *rekey(state_fixture *fixture)
{
    state_answer *answer = state_fresh();
    assert_int_equal(hub_state_rekey(fixture->store, state_on_report, answer, NULL), HUB_OK);
    state_wait(fixture, answer, 1);
    return answer;
}

static void test_another_key(void **state)
{
    state_fixture *fixture = *state;
    reopen(fixture, NULL);
    (void)state_put(fixture, &SECRETS, "", "plain", 0, "0");
    reopen(fixture, KEY_A);
    (void)state_put(fixture, &SECRETS, "uid:1", "a", 0, "1");
    (void)state_put(fixture, &SECRETS, "uid:2", "b", 0, "2");
    (void)state_put(fixture, &NOTES, "uid:2", "c", 0, "3");
    reopen(fixture, KEY_B);
    assert_int_equal(rekey(fixture)->err, HUB_EDENIED); /* not without the old one */
    reopen(fixture, KEY_B " " KEY_A);
    assert_string_equal(state_get(fixture, &SECRETS, "uid:2", "b")->document, "2");
    state_answer *done = rekey(fixture);
    assert_int_equal(done->err, HUB_OK);
    assert_int_equal(done->report.sealed, 3);
    assert_int_equal(rekey(fixture)->report.sealed, 0);
    reopen(fixture, KEY_B);
    assert_string_equal(state_get(fixture, &SECRETS, "", "plain")->document, "0");
    assert_string_equal(state_get(fixture, &SECRETS, "uid:1", "a")->document, "1");
    assert_string_equal(state_get(fixture, &SECRETS, "uid:2", "b")->document, "2");
}

/* ---- export and import ----------------------------------------------------------------------- */

typedef struct page {
    hub_buf text;
    bool decrypts;
    bool is_done;
} page;

static void on_page(void *ctx, const hub_state_result *result, const hub_state_report *report)
{
    page *into = ctx;
    assert_int_equal(result->err, HUB_OK);
    assert_false(result->has_more);
    hub_state_export_begin(report->epoch, &into->text);
    for (size_t i = 0; i < result->count; i++) {
        hub_state_export_add(&result->records[i], into->decrypts, &into->text);
    }
    into->is_done = true;
}

static void export_all(state_fixture *fixture, bool decrypts, page *into)
{
    *into = (page){.decrypts = decrypts};
    hub_buf_init(&into->text, TEXT_BYTES);
    assert_int_equal(hub_state_scan(fixture->store, NULL, decrypts, on_page, into, NULL), HUB_OK);
    while (!into->is_done) {
        (void)ev_run(fixture->loop, EVRUN_ONCE);
    }
    assert_true(hub_buf_ok(&into->text));
}

static state_answer *import_text(state_fixture *fixture, const page *from, hub_state_clash clash,
                                 size_t left_out)
{
    hub_arena *arena = hub_arena_create(TEXT_BYTES);
    hub_state_import_text found = {.count = 0};
    assert_int_equal(hub_state_export_read(hub_buf_str(&from->text), arena, &found, NULL), HUB_OK);
    assert_int_equal(found.left_out, left_out);
    state_answer *answer = state_fresh();
    assert_int_equal(hub_state_import(fixture->store, found.records, found.count, clash,
                                      state_on_report, answer, NULL),
                     HUB_OK);
    hub_arena_destroy(arena);
    state_wait(fixture, answer, 1);
    return answer;
}

static void empty(state_fixture *fixture, const char *keys)
{
    state_close(fixture);
    assert_int_equal(unlink(fixture->path), 0);
    fixture->store =
        state_open(fixture, fixture->path, "/hub.yaml", keys != NULL ? state_key(keys) : NULL);
}

static void test_exports_come_back(void **state)
{
    state_fixture *fixture = *state;
    page sealed;
    page plain;
    (void)state_put(fixture, &NOTES, "o\"\\", "a", 0, "{ \"n\" :\n1 }");
    (void)state_put(fixture, &SECRETS, "", "s", 0, "\"marigold\"");
    export_all(fixture, false, &sealed);
    export_all(fixture, true, &plain);
    assert_true(hub_str_find(hub_buf_str(&sealed.text), HUB_STR("marigold")) == SIZE_MAX);
    assert_true(hub_str_find(hub_buf_str(&plain.text), HUB_STR("marigold")) != SIZE_MAX);
    assert_int_equal(import_text(fixture, &sealed, HUB_STATE_CLASH_REFUSE, 0)->report.same, 2);

    empty(fixture, NULL);
    assert_int_equal(import_text(fixture, &sealed, HUB_STATE_CLASH_REFUSE, 0)->err, HUB_EDENIED);
    empty(fixture, KEY_B " " KEY_A);
    assert_int_equal(import_text(fixture, &sealed, HUB_STATE_CLASH_REFUSE, 0)->report.added, 2);
    assert_string_equal(state_get(fixture, &SECRETS, "", "s")->document, "\"marigold\"");
    assert_int_equal(state_get(fixture, &NOTES, "o\"\\", "a")->err, HUB_OK);
    assert_false(store_has(fixture, "marigold"));
    empty(fixture, KEY_B);
    assert_int_equal(import_text(fixture, &plain, HUB_STATE_CLASH_REFUSE, 0)->report.added, 2);
    assert_string_equal(state_get(fixture, &SECRETS, "", "s")->document, "\"marigold\"");
    assert_false(store_has(fixture, "marigold"));
    hub_buf_fini(&plain.text);
    hub_buf_fini(&sealed.text);
}

static void test_plain_secrets_are_left_out(void **state)
{
    state_fixture *fixture = *state;
    page text;
    reopen(fixture, NULL);
    (void)state_put(fixture, &SECRETS, "", "s", 0, "\"marigold\"");
    export_all(fixture, false, &text);
    assert_true(hub_str_find(hub_buf_str(&text.text), HUB_STR("marigold")) == SIZE_MAX);
    assert_int_equal(import_text(fixture, &text, HUB_STATE_CLASH_REFUSE, 1)->report.added, 0);
    hub_buf_fini(&text.text);
}

static void test_who_is_to_stay(void **state)
{
    state_fixture *fixture = *state;
    page text;
    (void)state_put(fixture, &NOTES, "", "a", 0, "1");
    (void)state_put(fixture, &NOTES, "", "b", 0, "1");
    export_all(fixture, false, &text);
    (void)state_put(fixture, &NOTES, "", "b", HUB_STATE_ANY, "2");
    (void)state_delete(fixture, &NOTES, "", "a", HUB_STATE_ANY);
    state_answer *done = import_text(fixture, &text, HUB_STATE_CLASH_REFUSE, 0);
    assert_int_equal(done->err, HUB_ECONFLICT);
    assert_non_null(strstr(done->why, "--replace"));
    assert_int_equal(state_get(fixture, &NOTES, "", "a")->err, HUB_ENOTFOUND); /* all or none */
    done = import_text(fixture, &text, HUB_STATE_CLASH_KEEP, 0);
    assert_int_equal(done->report.added + 10 * done->report.kept, 11);
    assert_string_equal(state_get(fixture, &NOTES, "", "b")->document, "2");
    done = import_text(fixture, &text, HUB_STATE_CLASH_REPLACE, 0);
    assert_int_equal(done->report.same + 10 * done->report.replaced, 11);
    assert_string_equal(state_get(fixture, &NOTES, "", "b")->document, "1");
    hub_buf_fini(&text.text);
}

static void test_what_is_no_export(void **state)
{
    (void)state;
#define HEAD "{\"patchbayState\":1}\n"
#define NAME "\"scope\":\"s\",\"kind\":\"k\",\"owner\":\"\",\"key\":\"y\""
    static const struct {
        const char *text;
        hub_err err;
        const char *why;
    } CASES[] = {
        {"", HUB_EINVAL, "line 1: "},
        {"{}", HUB_EINVAL, "patchbay state export"},
        {"{\"patchbayState\":2}", HUB_EINVAL, "format 2"},
        {"[1]", HUB_EINVAL, "line 1: "},
        {HEAD, HUB_OK, ""},
        {HEAD "{" NAME ",\"version\":1,\"document\":1}\n\n", HUB_OK, ""},
        {HEAD "{" NAME ",\"version\":1}", HUB_EINVAL, "line 2: "},
        {HEAD "{" NAME ",\"document\":1}", HUB_EINVAL, "version"},
        {HEAD "{" NAME ",\"version\":18446744073709551615,\"document\":1}", HUB_EINVAL, "version"},
        {HEAD "{\"kind\":\"k\",\"owner\":\"\",\"key\":\"y\"}", HUB_EINVAL, "scope"},
        {HEAD "{\"scope\":\"s\",\"kind\":\"K\",\"owner\":\"\",\"key\":\"y\"}", HUB_EINVAL, "kind"},
        {HEAD "{" NAME ",\"version\":1,\"secret\":true,\"document\":1,\"sealed\":\"00\"}",
         HUB_EINVAL, "either"},
        {HEAD "{" NAME ",\"version\":1,\"secret\":true,\"keyId\":\"0123456789abcdef\","
              "\"sealed\":\"0g\"}",
         HUB_EINVAL, "sealed"},
        {HEAD "{", HUB_EPARSE, "line 2: "},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_arena *arena = hub_arena_create(TEXT_BYTES);
        hub_state_import_text found;
        hub_error why = {.text = ""};
        assert_int_equal(hub_state_export_read(hub_str_of(CASES[i].text), arena, &found, &why),
                         CASES[i].err);
        assert_non_null(strstr(why.text, CASES[i].why));
        hub_arena_destroy(arena);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_are_derived),
        cmocka_unit_test(test_what_is_a_key),
        TEST(test_a_key_file_is_the_users_alone),
        cmocka_unit_test(test_what_is_sealed_for_one_record),
        TEST(test_secrets_are_not_in_the_file),
        TEST(test_without_a_key_only_where_nobody_reads),
        TEST(test_keys_that_cannot_be_had),
        TEST(test_another_key),
        TEST(test_exports_come_back),
        TEST(test_plain_secrets_are_left_out),
        TEST(test_who_is_to_stay),
        cmocka_unit_test(test_what_is_no_export),
        cmocka_unit_test(test_the_environment_is_wiped),
    };
    (void)alarm(GUARD_SECONDS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
