/* SPDX-License-Identifier: Apache-2.0 */
/* What is masked, and how; against a masker that is too simple to be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "redact/redact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hub_redact_set *set_of(const char *const *secrets, size_t count)
{
    hub_redact_set *set = hub_redact_set_create();
    assert_non_null(set);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(hub_redact_set_add(set, hub_str_of(secrets[i])), HUB_OK);
    }
    return set;
}

static void check(const char *text, const char *wanted)
{
    hub_buf out;
    hub_buf_init(&out, SIZE_MAX / 4);
    bool is_masked = hub_redact(hub_str_of(text), &out);
    assert_true(hub_buf_ok(&out));
    assert_int_equal(is_masked, strcmp(text, wanted) != 0);
    if (is_masked) {
        hub_buf_add_char(&out, '\0');
        assert_string_equal(out.ptr, wanted);
    } else {
        assert_int_equal(out.len, 0);
    }
    hub_buf_fini(&out);
}

#define R HUB_REDACTED

static void test_where_it_stands(void **state)
{
    (void)state;
    static const char *const SECRETS[] = {"hunter22", "s3cr3t-value", "hunter22-and-more",
                                          "ter22-x"};
    hub_redact_set *set = set_of(SECRETS, 4);
    check("", "");
    check("nothing here", "nothing here");
    check("hunter22", R);
    check("a hunter22 b", "a " R " b");
    check("xhunter22y", "x" R "y");
    check("hunter22hunter22", R);
    check("hunter22 hunter22", R " " R);
    check("hunter22-and-more!", R "!"); /* the longest */
    check("hunter22-and-less!", R "-and-less!");
    check("hunter22-x.", R "."); /* two that overlap */
    check("hunter2", R);         /* cut in the middle of it … */
    check("a hunter", "a " R);
    check("a hunte", "a hunte");            /* … but not so early that it may be anything */
    check("a hunter... b", "a " R "... b"); /* a quote that was cut */
    check("hunter22-and...", R "...");
    check("a hunte...", "a hunte...");
    check("hunter.. hunter.", "hunter.. hunter.");
    check("...hunter...hunter22...", "..." R "..." R "...");
    check("hunterhunter22", "hunter" R);
    check("HUNTER22", "HUNTER22");
    hub_redact_set_destroy(set);
}

static void test_dots_in_a_secret(void **state)
{
    (void)state;
    static const char *const SECRETS[] = {"wait...what"};
    hub_redact_set *set = set_of(SECRETS, 1);
    check("wait...what", R);
    check("wait...wh...", R "...");
    check("wait...", R); /* cut in its dots, for all that is known */
    check("wait... no", "wait... no");
    hub_redact_set_destroy(set);
}

/* Lines of HUB_LIMIT_SECRET_LEAST_BYTES are masked, shorter ones are not. */
static void test_least(void **state)
{
    (void)state;
    static const char *const SECRETS[] = {"12345", "abcdef"};
    assert_int_equal(HUB_LIMIT_SECRET_LEAST_BYTES, 6);
    hub_redact_set *set = set_of(SECRETS, 2);
    check("12345 abcdef abcde", "12345 " R " abcde");
    hub_redact_set_destroy(set);
}

static void test_lines_and_json(void **state)
{
    (void)state;
    static const char *const SECRETS[] = {"first-line\r\nsecond-line\n\nx\n",
                                          "quo\"te\\slash\ttab"};
    hub_redact_set *set = set_of(SECRETS, 2);
    check("first-line", R);
    check("second-line first-line", R " " R);
    check("x", "x");
    check("quo\"te\\slash\ttab", R);
    check("{\"a\":\"quo\\\"te\\\\slash\\ttab\"}", "{\"a\":\"" R "\"}");
    hub_redact_set_destroy(set);
}

static void test_tokens(void **state)
{
    (void)state;
    check("Authorization: Bearer abcdefgh", "Authorization: Bearer " R);
    check("authorization: bearer abcd.efgh+/=~, x", "authorization: bearer " R ", x");
    check("Bearer short77", "Bearer short77");
    check("Authorization: Bearer TOKEN", "Authorization: Bearer TOKEN");
    check("Bearer error=\"invalid_token\"", "Bearer error=\"invalid_token\"");
    check("the pbt_0123456789ab_ABCDEFGHIJ.", "the pbt_" R);
    check("pbt_short pbt_", "pbt_short pbt_");
    check("Bearer pbt_0123456789ab_x Bearer yyyyyyyy", "Bearer " R " Bearer " R);
}

/* Each byte that lies in an occurrence is masked, no other is. */
static void mask_simply(const char *text, const char *const *secrets, size_t count, char *out)
{
    size_t len = strlen(text);
    char hidden[256] = {0};
    for (size_t s = 0; s < count; s++) {
        size_t n = strlen(secrets[s]);
        for (size_t at = 0; at + HUB_LIMIT_SECRET_LEAST_BYTES <= len; at++) {
            size_t left = len - at < n ? len - at : n; /* also one that the end cuts off */
            if (strncmp(text + at, secrets[s], left) == 0) {
                memset(hidden + at, 1, left);
            }
        }
    }
    *out = '\0';
    for (size_t i = 0; i < len; i++) {
        if (!hidden[i]) {
            size_t at = strlen(out);
            out[at] = text[i];
            out[at + 1] = '\0';
        } else if (i == 0 || !hidden[i - 1]) {
            strncat(out, R, 2048 - strlen(out) - 1);
        }
    }
}

static void test_against_a_simple_one(void **state)
{
    (void)state;
    unsigned seed = 1;
    for (int round = 0; round < 100; round++) {
        char secrets[6][16];
        const char *list[6];
        for (int s = 0; s < 6; s++) {
            size_t len = 6 + (size_t)(rand_r(&seed) % 6);
            for (size_t i = 0; i < len; i++) {
                secrets[s][i] = (char)('a' + rand_r(&seed) % 2);
            }
            secrets[s][len] = '\0';
            list[s] = secrets[s];
        }
        hub_redact_set *set = set_of(list, 6);
        for (int t = 0; t < 60; t++) {
            char text[64];
            char wanted[2048];
            size_t len = (size_t)(rand_r(&seed) % 60);
            for (size_t i = 0; i < len; i++) {
                text[i] = (char)('a' + rand_r(&seed) % 2);
            }
            text[len] = '\0';
            mask_simply(text, list, 6, wanted);
            check(text, wanted);
        }
        hub_redact_set_destroy(set);
        /* What nobody has any more is masked until its room is needed: make that now. */
        hub_redact_set *filler = hub_redact_set_create();
        char *big = malloc(HUB_LIMIT_SECRET_BYTES);
        assert_non_null(big);
        memset(big, '#', HUB_LIMIT_SECRET_BYTES);
        assert_int_equal(
            hub_redact_set_add(filler, (hub_str){.ptr = big, .len = HUB_LIMIT_SECRET_BYTES}),
            HUB_OK);
        hub_redact_set_destroy(filler);
        free(big);
    }
}

/* Secrets of a configuration that is gone are masked as long as there is room; those in use always,
 * and one more than there is room for is refused. */
static void test_room(void **state)
{
    (void)state;
    static const char *const OLD[] = {"the-old-secret"};
    char *big = malloc(HUB_LIMIT_SECRET_BYTES);
    assert_non_null(big);
    memset(big, '#', HUB_LIMIT_SECRET_BYTES);
    hub_redact_set_destroy(set_of(OLD, 1));
    check("the-old-secret", R);
    hub_redact_set *now = hub_redact_set_create();
    assert_int_equal(hub_redact_set_add(now, (hub_str){.ptr = big, .len = HUB_LIMIT_SECRET_BYTES}),
                     HUB_OK);
    assert_int_equal(hub_redact_size(), HUB_LIMIT_SECRET_BYTES);
    check("the-old-secret", "the-old-secret");
    hub_redact_set *more = hub_redact_set_create();
    assert_int_equal(hub_redact_set_add(more, HUB_STR("one-too-many")), HUB_ELIMIT);
    assert_int_equal(hub_redact_set_add(more, (hub_str){.ptr = big, .len = HUB_LIMIT_SECRET_BYTES}),
                     HUB_OK); /* it is there */
    hub_redact_set_destroy(now);
    assert_int_equal(hub_redact_set_add(more, HUB_STR("one-too-many")), HUB_ELIMIT);
    hub_redact_set_destroy(more);
    more = hub_redact_set_create();
    assert_int_equal(hub_redact_set_add(more, HUB_STR("one-too-many")), HUB_OK);
    check("one-too-many", R);
    hub_redact_set_destroy(more);
    free(big);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_where_it_stands),
        cmocka_unit_test(test_dots_in_a_secret),
        cmocka_unit_test(test_least),
        cmocka_unit_test(test_lines_and_json),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_room),

        cmocka_unit_test(test_against_a_simple_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
