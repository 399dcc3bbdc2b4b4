/* SPDX-License-Identifier: Apache-2.0 */
/* Bearer tokens: who is let in, and what everybody else is told (A01, A03, A12). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "http/auth.h"

enum { NOW = 1800000000 };

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Digests by sha256sum. */
#define SECRET   "0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"
#define LAPTOP   "pbt_9f8e7d6c5b4a_" SECRET
#define ODD      "pbt_a_b-_c_-_0123456789abcdefghijklmnopqrstuvwxyzABCDE"
#define EXPIRING "pbt_e1____________________________________________"
#define UNKNOWN  "pbt_000000000000_" SECRET

static const hub_token TOKENS[] = {
    {.name = "laptop",
     .id = "9f8e7d6c5b4a",
     .sha256 = {0x20, 0x98, 0xee, 0x6d, 0xf6, 0x18, 0x7f, 0xf8, 0x7b, 0x2f, 0xd0,
                0x31, 0x2e, 0xe4, 0x04, 0x46, 0x63, 0xa5, 0x24, 0xbd, 0x06, 0x84,
                0x5e, 0x44, 0x9a, 0xfe, 0x25, 0x93, 0x15, 0xa5, 0x47, 0xad}},
    {.name = "odd", .id = "a_b-_c", .sha256 = {0x4c, 0xc8, 0xdc, 0x98, 0x42, 0xd8, 0x5b, 0x09,
                                               0x13, 0x32, 0xab, 0x7c, 0x62, 0x76, 0xe5, 0x5e,
                                               0x83, 0x7e, 0x29, 0x26, 0xd4, 0xd2, 0x85, 0x1d,
                                               0xcf, 0xdf, 0x47, 0x60, 0x55, 0xd8, 0xbd, 0xe6}},
    {.name = "expiring",
     .id = "e1",
     .sha256 = {0xe0, 0x19, 0x58, 0x72, 0x70, 0xe4, 0x40, 0x44, 0x31, 0x19, 0x0c,
                0x90, 0xc1, 0x73, 0x6a, 0x6e, 0xf3, 0x0f, 0x64, 0x8e, 0xb5, 0xe6,
                0x9a, 0xf0, 0xc4, 0xf1, 0xc1, 0x19, 0x52, 0x0a, 0xfd, 0x5e},
     .expires = NOW + 60},
    /* All that a client without a token could compare equal to, if anything went wrong. */
    {.name = "zero", .id = "zero"},
};
static const hub_auth_settings AUTH = {
    .required = true, .tokens = TOKENS, .token_count = COUNT(TOKENS)};

typedef struct judged {
    const char *value; /* NULL: no header */
    hub_auth_result result;
    const char *principal; /* of OK */
} judged;

static const judged CASES[] = {
    {NULL, HUB_AUTH_MISSING, NULL},
    {"Bearer " LAPTOP, HUB_AUTH_OK, "token:laptop"},
    {"bearer " LAPTOP, HUB_AUTH_OK, "token:laptop"}, /* RFC 9110 section 11.1 */
    {"BEARER " LAPTOP, HUB_AUTH_OK, "token:laptop"},
    {"bEaReR " LAPTOP, HUB_AUTH_OK, "token:laptop"},
    {"Bearer   " LAPTOP, HUB_AUTH_OK, "token:laptop"}, /* 1*SP: RFC 9110 section 11.4 */
    {"Bearer " ODD, HUB_AUTH_OK, "token:odd"},
    {"Bearer " EXPIRING, HUB_AUTH_OK, "token:expiring"},

    {"", HUB_AUTH_MALFORMED, NULL},
    {" ", HUB_AUTH_MALFORMED, NULL},
    {"Bearer", HUB_AUTH_MALFORMED, NULL},
    {"Bearer ", HUB_AUTH_MALFORMED, NULL},
    {"Bearer    ", HUB_AUTH_MALFORMED, NULL},
    {" Bearer " LAPTOP, HUB_AUTH_MALFORMED, NULL},
    {"Bearer " LAPTOP " ", HUB_AUTH_MALFORMED, NULL},
    {"Bearer\t" LAPTOP, HUB_AUTH_MALFORMED, NULL},
    {"Bearer \t" LAPTOP, HUB_AUTH_MALFORMED, NULL},
    {"Bearer " LAPTOP "\t", HUB_AUTH_MALFORMED, NULL},
    {"Bearer " LAPTOP "\r\n", HUB_AUTH_MALFORMED, NULL},
    {"Bearer " LAPTOP " " LAPTOP, HUB_AUTH_MALFORMED, NULL},
    {"Bearer Bearer " LAPTOP, HUB_AUTH_MALFORMED, NULL},
    {"Bearer " LAPTOP ", Bearer " ODD, HUB_AUTH_MALFORMED, NULL},
    {"Bearer " LAPTOP "," ODD, HUB_AUTH_MALFORMED, NULL},
    {"Bearer " LAPTOP ";", HUB_AUTH_MALFORMED, NULL},
    {"Bearer \"" LAPTOP "\"", HUB_AUTH_MALFORMED, NULL},
    {"Bearer '" LAPTOP "'", HUB_AUTH_MALFORMED, NULL},
    {"Bearer <" LAPTOP ">", HUB_AUTH_MALFORMED, NULL},
    {"Bearer token=" LAPTOP, HUB_AUTH_MALFORMED, NULL},
    {"Bearer =" LAPTOP, HUB_AUTH_MALFORMED, NULL},
    {"Bearer =", HUB_AUTH_MALFORMED, NULL},
    {"Bearer a=b", HUB_AUTH_MALFORMED, NULL},
    {"Bearer: " LAPTOP, HUB_AUTH_MALFORMED, NULL},
    {"Bearer" LAPTOP, HUB_AUTH_MALFORMED, NULL},
    {"Bearer=" LAPTOP, HUB_AUTH_MALFORMED, NULL},
    {"Bearers " LAPTOP, HUB_AUTH_MALFORMED, NULL},
    {"Beare " LAPTOP, HUB_AUTH_MALFORMED, NULL},
    {"Basic bGFwdG9wOng=", HUB_AUTH_MALFORMED, NULL},
    {"Digest username=x", HUB_AUTH_MALFORMED, NULL},
    {"Negotiate abc", HUB_AUTH_MALFORMED, NULL},
    {"Token " LAPTOP, HUB_AUTH_MALFORMED, NULL},
    {LAPTOP, HUB_AUTH_MALFORMED, NULL},
    {"Bearer pbt_\xc3\xa9", HUB_AUTH_MALFORMED, NULL},
    {"Bearer \x7f", HUB_AUTH_MALFORMED, NULL},
    {"Bearer {}", HUB_AUTH_MALFORMED, NULL},
    {"Bearer %20", HUB_AUTH_MALFORMED, NULL},

    {"Bearer x", HUB_AUTH_REFUSED, NULL},
    {"Bearer x==", HUB_AUTH_REFUSED, NULL},
    {"Bearer -._~+/", HUB_AUTH_REFUSED, NULL},
    {"Bearer Bearer", HUB_AUTH_REFUSED, NULL},
    {"Bearer laptop", HUB_AUTH_REFUSED, NULL},
    {"Bearer 9f8e7d6c5b4a", HUB_AUTH_REFUSED, NULL},
    {"Bearer " SECRET, HUB_AUTH_REFUSED, NULL},
    {"Bearer pbt_", HUB_AUTH_REFUSED, NULL},
    {"Bearer pbt__" SECRET, HUB_AUTH_REFUSED, NULL},
    {"Bearer pbt_9f8e7d6c5b4a_", HUB_AUTH_REFUSED, NULL},
    {"Bearer pbt_9f8e7d6c5b4a" SECRET, HUB_AUTH_REFUSED, NULL},
    {"Bearer pbt-9f8e7d6c5b4a_" SECRET, HUB_AUTH_REFUSED, NULL},
    {"Bearer PBT_9f8e7d6c5b4a_" SECRET, HUB_AUTH_REFUSED, NULL},
    {"Bearer pbt_9F8E7D6C5B4A_" SECRET, HUB_AUTH_REFUSED, NULL},
    {"Bearer pbt_9f8e7d6c5b4_" SECRET, HUB_AUTH_REFUSED, NULL},
    {"Bearer pbt_9f8e7d6c5b4aa_" SECRET, HUB_AUTH_REFUSED, NULL},
    {"Bearer " LAPTOP "x", HUB_AUTH_REFUSED, NULL},
    {"Bearer " LAPTOP "=", HUB_AUTH_REFUSED, NULL},
    {"Bearer x" LAPTOP, HUB_AUTH_REFUSED, NULL},
    {"Bearer " LAPTOP "_" LAPTOP, HUB_AUTH_REFUSED, NULL},
    {"Bearer " UNKNOWN, HUB_AUTH_REFUSED, NULL},
    {"Bearer pbt_a_b-_c_" SECRET, HUB_AUTH_REFUSED, NULL}, /* another one's secret */
    {"Bearer pbt_zero_" SECRET, HUB_AUTH_REFUSED, NULL},
    {"Bearer pbt_9f8e7d6c5b4a_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg", HUB_AUTH_REFUSED, NULL},
    /* A digest is no password. */
    {"Bearer pbt_9f8e7d6c5b4a_2098ee6df6187ff87b2fd0312ee4044663a524bd068", HUB_AUTH_REFUSED, NULL},
    {"Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJsYXB0b3AifQ.", HUB_AUTH_REFUSED, NULL}, /* A04 */
};

/* Who was let in last; NULL: nobody. */
static hub_identity *let_in;

static void forget(void)
{
    hub_identity_unref(let_in);
    let_in = NULL;
}

static hub_auth_result check(const hub_auth_settings *auth, const hub_str *header, int64_t now)
{
    forget();
    return hub_auth_check(auth, header, now, &let_in);
}

static hub_auth_result judge(const hub_auth_settings *auth, hub_str value, int64_t now)
{
    /* In memory of its own, so that reading past its end is noticed. */
    char *copy = malloc(value.len > 0 ? value.len : 1);
    assert_non_null(copy);
    memcpy(copy, value.ptr, value.len);
    hub_str header = {.ptr = copy, .len = value.len};
    hub_auth_result result = check(auth, &header, now);
    free(copy);
    return result;
}

static void test_table(void **state)
{
    (void)state;
    assert_true(COUNT(CASES) >= 60);
    for (size_t i = 0; i < COUNT(CASES); i++) {
        hub_auth_result result = CASES[i].value == NULL
                                     ? check(&AUTH, NULL, NOW)
                                     : judge(&AUTH, hub_str_of(CASES[i].value), NOW);
        if (result != CASES[i].result) {
            fail_msg("%s: %d, not %d", CASES[i].value, result, CASES[i].result);
        }
        if (CASES[i].principal == NULL) {
            assert_null(let_in); /* nothing is said of those who are not let in */
        } else {
            assert_string_equal(let_in->name, CASES[i].principal);
        }
    }
    forget();
}

/* Every character of a token counts. */
static void test_every_change_is_noticed(void **state)
{
    (void)state;
    static const char VALUE[] = "Bearer " LAPTOP;
    for (size_t i = sizeof "Bearer"; i < sizeof VALUE - 1; i++) {
        char changed[sizeof VALUE];
        memcpy(changed, VALUE, sizeof VALUE);
        changed[i] = changed[i] == 'Q' ? 'R' : 'Q';
        assert_int_equal(judge(&AUTH, hub_str_of(changed), NOW), HUB_AUTH_REFUSED);
        hub_str cut = {.ptr = VALUE, .len = i};
        assert_int_not_equal(judge(&AUTH, cut, NOW), HUB_AUTH_OK);
        assert_null(let_in);
    }
    static const char NUL_INSIDE[] = "Bearer " LAPTOP "\0";
    hub_str with_nul = {.ptr = NUL_INSIDE, .len = sizeof NUL_INSIDE - 1};
    assert_int_equal(judge(&AUTH, with_nul, NOW), HUB_AUTH_MALFORMED);
}

static void test_expiry(void **state)
{
    static const struct {
        int64_t now;
        hub_auth_result result;
    } TIMES[] = {
        {0, HUB_AUTH_OK},
        {NOW + 59, HUB_AUTH_OK},
        {NOW + 60, HUB_AUTH_REFUSED}, /* from that second on */
        {NOW + 61, HUB_AUTH_REFUSED},
        {INT64_MAX, HUB_AUTH_REFUSED},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(TIMES); i++) {
        assert_int_equal(judge(&AUTH, HUB_STR("Bearer " EXPIRING), TIMES[i].now), TIMES[i].result);
        assert_true(TIMES[i].result != HUB_AUTH_OK || let_in->expires == NOW + 60);
        assert_int_equal(judge(&AUTH, HUB_STR("Bearer " LAPTOP), TIMES[i].now), HUB_AUTH_OK);
        assert_int_equal(let_in->expires, 0); /* never */
    }
    forget();
}

/* H05: a token of 16 KiB is looked at, one byte more is not. */
static void test_longest_token(void **state)
{
    (void)state;
    enum { SCHEME = 7, LONGEST = 16 * 1024 };
    static char value[SCHEME + LONGEST + 1];
    memset(value, 'x', sizeof value);
    memcpy(value, "Bearer ", SCHEME);
    hub_str longest = {.ptr = value, .len = SCHEME + LONGEST};
    assert_int_equal(judge(&AUTH, longest, NOW), HUB_AUTH_REFUSED);
    longest.len++;
    assert_int_equal(judge(&AUTH, longest, NOW), HUB_AUTH_MALFORMED);
}

static void test_nobody_has_to(void **state)
{
    static const hub_auth_settings OPEN = {.required = false};
    static const char *const VALUES[] = {"", "Bearer x", "Basic x", "Bearer " LAPTOP};
    (void)state;
    assert_int_equal(check(&OPEN, NULL, NOW), HUB_AUTH_OK);
    assert_string_equal(let_in->name, "anonymous");
    assert_int_equal(let_in->expires, 0);
    for (size_t i = 0; i < COUNT(VALUES); i++) {
        assert_int_equal(judge(&OPEN, hub_str_of(VALUES[i]), NOW), HUB_AUTH_OK);
        assert_string_equal(let_in->name, "anonymous");
    }
    forget();
}

/* A file without a token lets nobody in. */
static void test_no_tokens(void **state)
{
    static const hub_auth_settings EMPTY = {.required = true};
    (void)state;
    assert_int_equal(judge(&EMPTY, HUB_STR("Bearer " LAPTOP), NOW), HUB_AUTH_REFUSED);
    assert_int_equal(check(&EMPTY, NULL, NOW), HUB_AUTH_MISSING);
    assert_null(let_in);
}

/* A reload: what was granted lasts as long as its token is there, and until when that says. */
static void test_renew(void **state)
{
    static const char *const READ[] = {"read"};
    const hub_auth_settings nobody = {.required = true};
    const hub_auth_settings open = {.required = false};
    hub_token longer = TOKENS[2];
    longer.expires = NOW + 1000;
    longer.scopes = (hub_names){.items = READ, .count = 1, .set = true};
    hub_token other = longer;
    other.name = "another";
    const hub_auth_settings renewed = {.required = true, .tokens = &longer, .token_count = 1};
    const hub_auth_settings renamed = {.required = true, .tokens = &other, .token_count = 1};
    (void)state;
    assert_int_equal(judge(&AUTH, HUB_STR("Bearer " EXPIRING), NOW), HUB_AUTH_OK);
    assert_int_equal(let_in->expires, NOW + 60);
    assert_int_equal(let_in->scopes.count, 0);
    assert_true(hub_auth_renew(&AUTH, &let_in));
    assert_true(hub_auth_renew(&renewed, &let_in));
    assert_int_equal(let_in->expires, NOW + 1000);
    assert_string_equal(let_in->scopes.items[0], "read");
    assert_false(hub_auth_renew(&renamed, &let_in)); /* it is another principal's now */
    assert_false(hub_auth_renew(&nobody, &let_in));
    assert_false(hub_auth_renew(&open, &let_in));
    assert_int_equal(check(&open, NULL, NOW), HUB_AUTH_OK);
    assert_true(hub_auth_renew(&open, &let_in));
    assert_false(hub_auth_renew(&AUTH, &let_in)); /* also of the token whose digest is zeros */
    forget();
    assert_true(hub_auth_knows(&AUTH, "token:expiring"));
    assert_false(hub_auth_knows(&AUTH, "expiring")); /* a name without its kind is nobody */
    assert_false(hub_auth_knows(&renamed, "token:expiring"));
    assert_false(hub_auth_knows(&AUTH, "anonymous"));
    assert_true(hub_auth_knows(&open, "anonymous"));
    assert_false(hub_auth_knows(&open, "token:expiring"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),         cmocka_unit_test(test_every_change_is_noticed),
        cmocka_unit_test(test_expiry),        cmocka_unit_test(test_renew),
        cmocka_unit_test(test_longest_token), cmocka_unit_test(test_nobody_has_to),
        cmocka_unit_test(test_no_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
