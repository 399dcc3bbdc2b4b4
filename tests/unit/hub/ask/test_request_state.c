/* SPDX-License-Identifier: Apache-2.0 */
/* requestState: what it is bound to, and that nothing else is accepted. RELIABILITY P13. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hub/ask/request_state.h"

#include <stdio.h>
#include <stdlib.h>

static hub_key key;
static unsigned char digest[HUB_DIGEST_BYTES];
static const hub_state_binding BINDING = {
    .principal = {.ptr = "alice", .len = 5},
    .profile = {.ptr = "default", .len = 7},
    .digest = digest,
};
static const hub_request_state STATE = {
    .call = UINT64_C(0x1fffffffffffff), .serial = 1, .expires_ms = UINT64_MAX};

/* The raw JSON string of a state. */
static void make(char raw[HUB_REQUEST_STATE_BYTES + 3], const hub_key *with)
{
    hub_buf text;
    hub_buf_init(&text, 1024);
    hub_request_state_add(&text, with, &STATE, &BINDING);
    assert_true(hub_buf_ok(&text));
    assert_int_equal(text.len, HUB_REQUEST_STATE_BYTES);
    (void)snprintf(raw, HUB_REQUEST_STATE_BYTES + 3, "\"%.*s\"", (int)text.len, text.ptr);
    hub_buf_fini(&text);
}

static hub_err read_state(const char *raw, size_t len, const hub_state_binding *binding)
{
    hub_request_state state;
    return hub_request_state_read(&key, (hub_str){.ptr = raw, .len = len}, binding, &state);
}

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(hub_key_make(&key), HUB_OK);
    assert_int_equal(hub_request_digest(HUB_STR("tools/call"), HUB_STR("{\"name\":\"a\"}"), digest),
                     HUB_OK);
    return 0;
}

static void test_round_trip(void **state)
{
    char raw[HUB_REQUEST_STATE_BYTES + 3];
    hub_request_state back;
    (void)state;
    make(raw, &key);
    hub_str text = hub_str_of(raw);
    assert_true(hub_request_state_is_ours(text));
    assert_int_equal(hub_request_state_read(&key, text, &BINDING, &back), HUB_OK);
    assert_true(back.call == STATE.call && back.serial == STATE.serial &&
                back.expires_ms == STATE.expires_ms);
    char escaped[HUB_REQUEST_STATE_BYTES + 8]; /* a client may spell JSON as it likes */
    (void)snprintf(escaped, sizeof escaped, "\"\\u0070%s", raw + 2);
    assert_true(hub_request_state_is_ours(hub_str_of(escaped)));
    assert_int_equal(read_state(escaped, strlen(escaped), &BINDING), HUB_OK);
}

/* Each bit of the text, each shorter and each longer text. */
static void test_any_change_is_refused(void **state)
{
    char raw[HUB_REQUEST_STATE_BYTES + 3];
    (void)state;
    make(raw, &key);
    size_t len = strlen(raw);
    for (size_t bit = 0; bit < HUB_REQUEST_STATE_BYTES * 8; bit++) {
        raw[1 + bit / 8] ^= (char)(1 << bit % 8);
        assert_int_equal(read_state(raw, len, &BINDING), HUB_EINVAL);
        raw[1 + bit / 8] ^= (char)(1 << bit % 8);
    }
    assert_int_equal(read_state(raw, len, &BINDING), HUB_OK);
    for (size_t cut = 1; cut <= HUB_REQUEST_STATE_BYTES; cut++) {
        char shorter[HUB_REQUEST_STATE_BYTES + 3];
        (void)snprintf(shorter, sizeof shorter, "\"%.*s\"", (int)(HUB_REQUEST_STATE_BYTES - cut),
                       raw + 1);
        assert_int_equal(read_state(shorter, strlen(shorter), &BINDING), HUB_EINVAL);
    }
    char longer[HUB_REQUEST_STATE_BYTES + 16];
    (void)snprintf(longer, sizeof longer, "\"%.*s-TAMPERED\"", HUB_REQUEST_STATE_BYTES, raw + 1);
    assert_int_equal(read_state(longer, strlen(longer), &BINDING), HUB_EINVAL);
}

static void test_no_strings(void **state)
{
    static const char *const RAWS[] = {"null", "1",        "{}",   "[]",
                                       "\"\"", "\"pb1.\"", "true", "\"pb1.00\""};
    (void)state;
    for (size_t i = 0; i < sizeof RAWS / sizeof *RAWS; i++) {
        assert_int_equal(read_state(RAWS[i], strlen(RAWS[i]), &BINDING), HUB_EINVAL);
    }
    assert_int_equal(read_state("", 0, &BINDING), HUB_EINVAL);
    assert_false(hub_request_state_is_ours(HUB_STR("\"eyJhbGciOiJIUzI1NiJ9\"")));
    assert_false(hub_request_state_is_ours(HUB_STR_EMPTY));
}

static void test_bound_to_all(void **state)
{
    char raw[HUB_REQUEST_STATE_BYTES + 3];
    unsigned char other_digest[HUB_DIGEST_BYTES];
    hub_key other_key;
    (void)state;
    make(raw, &key);
    size_t len = strlen(raw);
    hub_state_binding other = BINDING;
    other.principal = HUB_STR("bob");
    assert_int_equal(read_state(raw, len, &other), HUB_EINVAL);
    other = BINDING;
    other.profile = HUB_STR("work");
    assert_int_equal(read_state(raw, len, &other), HUB_EINVAL);
    other = BINDING; /* the border between two texts counts, too */
    other.principal = HUB_STR("aliced");
    other.profile = HUB_STR("efault");
    assert_int_equal(read_state(raw, len, &other), HUB_EINVAL);
    other = BINDING;
    memcpy(other_digest, digest, sizeof digest);
    other_digest[31] ^= 1;
    other.digest = other_digest;
    assert_int_equal(read_state(raw, len, &other), HUB_EINVAL);
    assert_int_equal(hub_key_make(&other_key), HUB_OK); /* another hub's */
    make(raw, &other_key);
    assert_int_equal(read_state(raw, len, &BINDING), HUB_EINVAL);
}

static bool same_digest(const char *method, const char *left, const char *right)
{
    unsigned char a[HUB_DIGEST_BYTES];
    unsigned char b[HUB_DIGEST_BYTES];
    assert_int_equal(hub_request_digest(HUB_STR("tools/call"), hub_str_of(left), a), HUB_OK);
    assert_int_equal(hub_request_digest(hub_str_of(method), hub_str_of(right), b), HUB_OK);
    return memcmp(a, b, sizeof a) == 0;
}

static void test_digest(void **state)
{
    static const char BASE[] = "{\"name\":\"a\",\"arguments\":{\"x\":1,\"y\":{\"p\":1,\"q\":2}}}";
    static const char *const SAME[] = {
        "{\"name\":\"a\",\"arguments\":{\"x\":1,\"y\":{\"p\":1,\"q\":2}},\"requestState\":\"s\"}",
        ("{\"inputResponses\":{},\"arguments\":{\"x\":1,\"y\":{\"p\":1,\"q\":2}},\"_meta\":1,"
         "\"name\":\"a\"}"),
        "{\"name\":\"a\",\"arguments\":{\"y\":{\"p\":1,\"q\":2},\"x\":1}}",
        "{ \"name\" : \"a\", \"arguments\" : { \"y\" : {\"p\":1,\"q\":2} , \"x\" : 1 } }",
    };
    static const char *const OTHER[] = {
        "{\"name\":\"b\",\"arguments\":{\"x\":1,\"y\":{\"p\":1,\"q\":2}}}",
        "{\"name\":\"a\",\"arguments\":{\"x\":2,\"y\":{\"p\":1,\"q\":2}}}",
        "{\"name\":\"a\",\"arguments\":{\"x\":1,\"y\":{\"p\":1,\"q\":3}}}",
        "{\"name\":\"a\",\"arguments\":{\"x\":1}}",
        "{\"name\":\"a\",\"arguments\":{\"x\":1,\"y\":{\"p\":1,\"q\":2},\"z\":0}}",
        "{\"name\":\"a\",\"arguments\":{\"y\":1,\"x\":{\"p\":1,\"q\":2}}}",
        "{\"name\":\"a\",\"arguments\":{\"x\":1,\"y\":{\"p\":1,\"q\":2},\"_meta\":1}}",
        "{\"name\":\"a\",\"arguments\":{\"x\":1,\"y\":{\"p\":1,\"q\":2}},\"x\":1}",
        "{\"name\":\"a\",\"arguments\":[1]}",
        "{}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof SAME / sizeof *SAME; i++) {
        assert_true(same_digest("tools/call", BASE, SAME[i]));
    }
    for (size_t i = 0; i < sizeof OTHER / sizeof *OTHER; i++) {
        assert_false(same_digest("tools/call", BASE, OTHER[i]));
    }
    assert_false(same_digest("prompts/get", BASE, BASE));
}

/* More members than are sorted without an allocation. */
static void test_digest_of_many(void **state)
{
    static const int COUNTS[] = {31, 32, 33, 64, 65, 130};
    (void)state;
    for (size_t n = 0; n < sizeof COUNTS / sizeof *COUNTS; n++) {
        int count = COUNTS[n];
        hub_buf up;
        hub_buf down;
        hub_buf_init(&up, 4096);
        hub_buf_init(&down, 4096);
        hub_buf_add(&up, HUB_STR("{\"arguments\":{"));
        hub_buf_add(&down, HUB_STR("{\"arguments\":{"));
        for (int i = 0; i < count; i++) {
            hub_buf_printf(&up, "%s\"k%d\":%d", i > 0 ? "," : "", i, i);
            hub_buf_printf(&down, "%s\"k%d\":%d", i > 0 ? "," : "", count - 1 - i, count - 1 - i);
        }
        hub_buf_add(&up, HUB_STR("}}"));
        hub_buf_add(&down, HUB_STR("}}"));
        char *left = hub_buf_take(&up);
        char *right = hub_buf_take(&down);
        assert_true(same_digest("tools/call", left, right));
        free(left);
        free(right);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_any_change_is_refused),
        cmocka_unit_test(test_no_strings), cmocka_unit_test(test_bound_to_all),
        cmocka_unit_test(test_digest),     cmocka_unit_test(test_digest_of_many),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
