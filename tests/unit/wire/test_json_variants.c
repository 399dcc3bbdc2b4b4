/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All of test_json.c once more by each variant of the scanner that this processor can run, and what
 * only vectors can get wrong: blocks of 64 bytes that begin and end anywhere. The plain variant is
 * the reference: verdict, error text and value must be the same.
 */
int test_json_main(void);
#define main test_json_main
#include "test_json.c"
#undef main

#include "wire/json_scan.h"
#include "wire/json_string.h"

enum { BLOCK = HUB_JSON_BLOCK_BYTES, TEXT_BYTES = 4096 };

/* The start of a string, and so much of it that the scanner has gone over to blocks: it does at the
 * first byte that is not plain 32 bytes behind the first such. */
#define LEAD "\"\xc3\xa9 thirty-two bytes and a few, all plain \\n"

static const char *const NAMES[] = {"avx512", "avx2", "sse4.2", "neon", "plain"};

/* What a scan said. */
typedef struct verdict {
    hub_err err;
    hub_error error;
    size_t from; /* the value, from the start of the text */
    size_t len;
} verdict;

static verdict scan_as(const char *variant, hub_str text)
{
    verdict got = {.error = {.text = ""}};
    hub_str value = {.ptr = text.ptr, .len = 0};
    assert_true(hub_json_use_variant(variant));
    got.err = hub_json_check(text, &value, &got.error);
    got.from = (size_t)(value.ptr - text.ptr);
    got.len = value.len;
    return got;
}

/* All variants say the same; returns it. The text ends where its block of memory does. */
static hub_err check_all(hub_str text)
{
    verdict want = scan_as("plain", text);
    const char *variant;
    for (size_t i = 0; (variant = hub_json_variant(i)) != NULL; i++) {
        verdict got = scan_as(variant, text);
        if (got.err != want.err || strcmp(got.error.text, want.error.text) != 0 ||
            got.from != want.from || got.len != want.len) {
            fail_msg("%s: '%s', %zu bytes from %zu; plain: '%s', %zu from %zu; of " HUB_STR_FMT,
                     variant, got.error.text, got.len, got.from, want.error.text, want.len,
                     want.from, HUB_STR_ARG(text));
        }
    }
    return want.err;
}

/* `before`, `count` times 'a', and `after` so that it begins `place` bytes behind a multiple of 64,
 * at the end of a block of memory. */
static hub_err check_padded(const char *before, size_t count, hub_str after, size_t place)
{
    size_t lead = strlen(before);
    void *memory;
    assert_int_equal(posix_memalign(&memory, BLOCK, place + lead + count + after.len), 0);
    char *text = (char *)memory + place;
    memcpy(text, before, lead);
    memset(text + lead, 'a', count);
    memcpy(text + lead + count, after.ptr, after.len);
    hub_err err = check_all((hub_str){.ptr = text, .len = lead + count + after.len});
    free(memory);
    return err;
}

/* ---- which variants there are ---------------------------------------------------------------- */

static void names_its_variants(void **state)
{
    (void)state;
    size_t count = 0;
    const char *name;
    for (; (name = hub_json_variant(count)) != NULL; count++) {
        assert_true(hub_json_use_variant(name));
        bool known = false;
        for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
            known = known || strcmp(NAMES[i], name) == 0;
        }
        assert_true(known);
    }
    assert_true(count > 0);
    assert_string_equal(hub_json_variant(count - 1), "plain");
    assert_null(hub_json_variant(count + 1));
    assert_false(hub_json_use_variant("none"));
}

static void has_vectors_where_it_should(void **state)
{
    (void)state;
#if defined(__aarch64__)
    assert_true(hub_json_use_variant("neon"));
#elif defined(__x86_64__)
    assert_int_equal(hub_json_use_variant("avx2"), __builtin_cpu_supports("avx2") != 0);
    assert_int_equal(hub_json_use_variant("sse4.2"), __builtin_cpu_supports("sse4.2") != 0);
#else
    skip();
#endif
}

/* ---- the cases of test_json.c ---------------------------------------------------------------- */

/* What is between the quotes of a case that is a string goes behind other text of the string, and
 * any other case behind a long string in an array. */
static hub_err check_case(hub_str text, size_t count, size_t place)
{
    bool is_string = text.len > 0 && text.ptr[0] == '"';
    if (is_string) {
        return check_padded(LEAD, count, hub_str_from(text, 1), place);
    }
    char rest[TEXT_BYTES];
    int len = snprintf(rest, sizeof rest, "\\n\",");
    memcpy(rest + len, text.ptr, text.len);
    rest[(size_t)len + text.len] = ']';
    hub_str after = {.ptr = rest, .len = (size_t)len + text.len + 1};
    return check_padded("[" LEAD, count, after, place);
}

static void agrees_at_every_alignment(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(ACCEPTED) + COUNT_OF(REJECTED); i++) {
        bool is_good = i < COUNT_OF(ACCEPTED);
        hub_str text = is_good ? ACCEPTED[i] : REJECTED[i - COUNT_OF(ACCEPTED)];
        for (size_t place = 0; place < BLOCK; place++) {
            hub_err bare = check_padded("", 0, text, place);
            assert_int_equal(bare == HUB_OK, is_good);
            hub_err padded = check_case(text, place, 0);
            assert_true(padded == HUB_OK || !is_good);
            (void)check_case(text, BLOCK, place);
        }
    }
}

/* ---- what blocks could get wrong ------------------------------------------------------------- */

/* `part` in a string, with text before it that shifts it over the borders of blocks, and so much
 * behind it that no block is left to the scalar code. */
static void check_inside(hub_str part, size_t shift, bool is_right)
{
    char rest[TEXT_BYTES / 2];
    assert_true(part.len + 3 * BLOCK + 1 <= sizeof rest);
    memcpy(rest, part.ptr, part.len);
    memset(rest + part.len, 'f', 3 * BLOCK);
    rest[part.len + 3 * BLOCK] = '"';
    hub_str after = {.ptr = rest, .len = part.len + 3 * BLOCK + 1};
    if (check_padded(LEAD, shift, after, 0) != (is_right ? HUB_OK : HUB_EPARSE)) {
        fail_msg("shifted by %zu: " HUB_STR_FMT, shift, HUB_STR_ARG(part));
    }
}

static void finds_each_byte_at_each_place(void **state)
{
    (void)state;
    for (size_t shift = 0; shift < 2 * BLOCK; shift++) {
        for (int byte = 0; byte < 256; byte++) {
            char c = (char)byte;
            bool is_right = byte >= ' ' && byte < 0x80 && byte != '"' && byte != '\\';
            is_right = is_right || byte == '\\'; /* with the f behind it, an escape */
            check_inside((hub_str){.ptr = &c, .len = 1}, shift, is_right);
            char escape[2] = {'\\', c};
            is_right = byte != 0 && strchr("\"\\/bfnrtu", byte) != NULL; /* u: ffff is behind it */
            check_inside((hub_str){.ptr = escape, .len = 2}, shift, is_right);
        }
    }
}

static void counts_backslashes_across_blocks(void **state)
{
    (void)state;
    char run[3 * BLOCK];
    memset(run, '\\', sizeof run);
    for (size_t shift = 0; shift < BLOCK; shift++) {
        for (size_t len = 0; len < sizeof run - 1; len++) {
            run[len] = 'x';
            check_inside((hub_str){.ptr = run, .len = len + 1}, shift, len % 2 == 0);
            run[len] = '\\';
        }
    }
}

static void reads_digits_of_escapes_across_blocks(void **state)
{
    (void)state;
    for (size_t shift = 0; shift < BLOCK; shift++) {
        for (size_t digit = 2; digit < 6; digit++) {
            for (int byte = 0; byte < 256; byte++) {
                char escape[] = "\\u1aF0\\u00e9\\\\";
                escape[digit] = (char)byte;
                bool is_right = byte != 0 && strchr("0123456789abcdefABCDEF", byte) != NULL;
                check_inside((hub_str){.ptr = escape, .len = sizeof escape - 1}, shift, is_right);
            }
        }
    }
}

static void validates_utf8_across_blocks(void **state)
{
    (void)state;
    static const unsigned char bytes[] = {0x00, '"',  '\\', 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0,
                                          0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed,
                                          0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
    enum { KINDS_OF_BYTES = sizeof bytes };
    size_t number = 0;
    for (size_t i = 0; i < KINDS_OF_BYTES * KINDS_OF_BYTES * KINDS_OF_BYTES * KINDS_OF_BYTES; i++) {
        unsigned char part[4];
        for (size_t at = 0, rest = i; at < 4; at++, rest /= KINDS_OF_BYTES) {
            part[at] = bytes[rest % KINDS_OF_BYTES];
        }
        if (part[0] < 0x80) {
            continue;
        }
        /* What a backslash makes of the byte behind it is another test's. */
        bool has_backslash = memchr(part, '\\', sizeof part) != NULL;
        size_t shift = BLOCK - 8 + number++ % 16;
        if (!has_backslash) {
            check_inside((hub_str){.ptr = (const char *)part, .len = 4}, shift,
                         is_content(part, sizeof part));
        }
    }
}

/* Strings put together of pieces that matter, by a generator with a fixed seed. */
static void agrees_on_random_strings(void **state)
{
    (void)state;
    static const char *const pieces[] = {"a",
                                         "bcdefgh",
                                         "\\\\",
                                         "\\\"",
                                         "\\n",
                                         "\\u",
                                         "00e9",
                                         "\\",
                                         "\xc3\xa9",
                                         "\xe6\xbc\xa2",
                                         "\xf0\x9f\x98\x80",
                                         "\x80",
                                         "\xe6\xbc",
                                         "\"",
                                         "\n",
                                         "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"};
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        char text[TEXT_BYTES / 4] = "";
        size_t len = 0;
        while (len < 300) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            /* Of the broken pieces few: most strings shall be long. */
            size_t pick = random % 64 < 60 ? random % 5 * 2 % 10 : random >> 8;
            const char *piece = pieces[(pick + (random >> 16) % 3) % COUNT_OF(pieces)];
            memcpy(text + len, piece, strlen(piece));
            len += strlen(piece);
        }
        text[len++] = '"';
        (void)check_padded(LEAD, (size_t)i % BLOCK, (hub_str){.ptr = text, .len = len}, 0);
    }
}

/* A long key whose only escape is met by a block is still known to have one: it is compared as
 * what it spells. */
static void knows_that_a_key_has_an_escape(void **state)
{
    (void)state;
    char text[TEXT_BYTES];
    char name[TEXT_BYTES];
    char rest[2 * BLOCK] = "";
    memset(rest, 'k', sizeof rest - 1);
    const char *piece = "\xc3\xa9 thirty-two bytes and a few, all plain \xc3\xa9";
    for (size_t shift = 0; shift < BLOCK; shift++) {
        int pad = (int)shift;
        int len = snprintf(text, sizeof text, "{\"%s%.*s\\n%s\":7}", piece, pad, rest, rest);
        int name_len = snprintf(name, sizeof name, "%s%.*s\n%s", piece, pad, rest, rest);
        hub_json_member member = {.key = {.ptr = name, .len = (size_t)name_len}};
        hub_json_members objects[] = {{0, 0}, {0, 1}};
        const char *variant;
        for (size_t i = 0; (variant = hub_json_variant(i)) != NULL; i++) {
            hub_str found = {0};
            hub_json_watch watch = {.members = &member, .objects = objects, .at = &found};
            hub_str whole = {.ptr = text, .len = (size_t)len};
            assert_true(hub_json_use_variant(variant));
            assert_int_equal(hub_json_scan(whole, &watch, NULL, NULL), HUB_OK);
            assert_text(found, "7");
        }
    }
}

/* ---- ----------------------------------------------------------------------------------------- */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_its_variants),
        cmocka_unit_test(has_vectors_where_it_should),
        cmocka_unit_test(agrees_at_every_alignment),
        cmocka_unit_test(finds_each_byte_at_each_place),
        cmocka_unit_test(counts_backslashes_across_blocks),
        cmocka_unit_test(reads_digits_of_escapes_across_blocks),
        cmocka_unit_test(validates_utf8_across_blocks),
        cmocka_unit_test(agrees_on_random_strings),
        cmocka_unit_test(knows_that_a_key_has_an_escape),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
        failed += hub_json_use_variant(NAMES[i]) ? test_json_main() : 0;
    }
    return failed;
}
