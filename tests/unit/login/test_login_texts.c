/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses, challenges and documents of logins. */
#include "login/challenge.h"
#include "login/credential.h"
#include "login/metadata.h"
#include "login/url.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* ---- addresses ------------------------------------------------------------------------------- */

static void test_where_a_server_may_send_the_hub(void **state)
{
    static const struct {
        const char *url;
        const char *of;
        bool may;
    } cases[] = {
        {"https://a.example/x", "https://b.example/mcp", true},
        {"https://a.example/x", "http://127.0.0.1:1/mcp", true},
        {"http://a.example/x", "https://b.example/mcp", false},
        {"http://a.example/x", "http://b.example/mcp", false},
        {"http://127.0.0.1:2/x", "http://127.0.0.1:1/mcp", true},
        {"http://localhost/x", "http://[::1]:1/mcp", true},
        {"http://127.0.0.1:2/x", "https://b.example/mcp", false},
        {"http://127.0.0.1:2/x", "https://127.0.0.1:1/mcp", false},
        {"http://127.0.0.1.evil.example/x", "http://127.0.0.1:1/mcp", false},
        {"http://localhost.evil.example/x", "http://127.0.0.1:1/mcp", false},
        {"http://127.0.0.1@evil.example/x", "http://127.0.0.1:1/mcp", false},
        {"https://a@b.example/x", "https://b.example/mcp", false},
        {"https://a.example/x#y", "https://b.example/mcp", false},
        {"https://a.example/\\x", "https://b.example/mcp", false},
        {"https:///x", "https://b.example/mcp", false},
        {"https://a.example/x y", "https://b.example/mcp", false},
        {"HTTPS://a.example/x", "https://b.example/mcp", false},
        {"file:///etc/passwd", "https://b.example/mcp", false},
        {"", "https://b.example/mcp", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool may = hub_login_url_may(hub_str_of(cases[i].url), hub_str_of(cases[i].of));
        if (may != cases[i].may) {
            fail_msg("%s of %s", cases[i].url, cases[i].of);
        }
    }
}

static void test_what_a_resource_is(void **state)
{
    static const struct {
        const char *url;
        const char *above;
        bool is_beneath;
    } cases[] = {
        {"https://a.example/mcp", "https://a.example/mcp", true},
        {"https://a.example/mcp", "https://a.example", true},
        {"https://a.example/mcp", "https://a.example/", true},
        {"https://a.example/mcp/x", "https://a.example/mcp/", true},
        {"https://a.example/mcp", "https://a.example/mcp/", true},
        {"https://a.example/mcp2", "https://a.example/mcp", false},
        {"https://a.example/mcp", "https://a.example/mcp/x", false},
        {"https://a.example/mcp", "https://b.example/mcp", false},
        {"https://a.example/mcp", "https://a.example:444/mcp", false},
        {"https://a.example/mcp", "http://a.example/mcp", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool is = hub_login_url_is_beneath(hub_str_of(cases[i].url), hub_str_of(cases[i].above));
        if (is != cases[i].is_beneath) {
            fail_msg("%s, %s", cases[i].url, cases[i].above);
        }
    }
}

static void assert_place(bool (*add)(hub_str of, unsigned at, hub_buf *out), const char *of,
                         unsigned at, const char *wanted)
{
    hub_buf url;
    hub_buf_init(&url, 1024);
    bool is_there = add(hub_str_of(of), at, &url);
    assert_int_equal(is_there, wanted != NULL);
    if (wanted != NULL) {
        assert_true(hub_str_is(hub_buf_str(&url), wanted));
    }
    hub_buf_fini(&url);
}

static void test_where_documents_are(void **state)
{
    (void)state;
    assert_place(hub_login_resource_place, "https://a.example/mcp?x=1", 0,
                 "https://a.example/.well-known/oauth-protected-resource/mcp");
    assert_place(hub_login_resource_place, "https://a.example/mcp", 1,
                 "https://a.example/.well-known/oauth-protected-resource");
    assert_place(hub_login_resource_place, "https://a.example/mcp", 2, NULL);
    assert_place(hub_login_resource_place, "https://a.example/", 0,
                 "https://a.example/.well-known/oauth-protected-resource");
    assert_place(hub_login_resource_place, "https://a.example", 1, NULL);
    assert_place(hub_login_server_place, "https://a.example/t", 0,
                 "https://a.example/.well-known/oauth-authorization-server/t");
    assert_place(hub_login_server_place, "https://a.example/t", 1,
                 "https://a.example/.well-known/openid-configuration/t");
    assert_place(hub_login_server_place, "https://a.example/t", 2,
                 "https://a.example/t/.well-known/openid-configuration");
    assert_place(hub_login_server_place, "https://a.example/t", 3, NULL);
    assert_place(hub_login_server_place, "https://a.example", 1,
                 "https://a.example/.well-known/openid-configuration");
    assert_place(hub_login_server_place, "https://a.example", 2, NULL);
}

static void test_fields(void **state)
{
    hub_buf out;
    (void)state;
    hub_buf_init(&out, 1024);
    hub_login_add_field(&out, "a", HUB_STR("x y&=\xc3\xa9~"));
    hub_login_add_field(&out, "b", HUB_STR(""));
    hub_login_add_field(&out, "c", HUB_STR("1"));
    assert_true(hub_str_is(hub_buf_str(&out), "a=x%20y%26%3D%C3%A9~&c=1"));
    static const struct {
        const char *query;
        const char *value; /* NULL: not there */
    } cases[] = {{"a=1&b=2", "1"}, {"b=2&a=%41+b", "A b"}, {"a=", ""},
                 {"aa=1", NULL},   {"a=1&a=2", NULL},      {"a=%4", NULL},
                 {"a=%", NULL},    {"a=%zz", NULL},        {"", NULL},
                 {"a", ""},        {"&&a=1&", "1"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hub_buf_clear(&out);
        bool is_there = hub_login_find_field(hub_str_of(cases[i].query), "a", &out);
        if (is_there != (cases[i].value != NULL) ||
            (is_there && !hub_str_is(hub_buf_str(&out), cases[i].value))) {
            fail_msg("%s", cases[i].query);
        }
    }
    hub_buf_fini(&out);
}

/* ---- challenges ------------------------------------------------------------------------------ */

static void test_challenges(void **state)
{
    hub_login_challenge said;
    char longest[HUB_LOGIN_CHALLENGE_BYTES + 64];
    (void)state;
    hub_login_challenge_read(HUB_STR("Basic realm=\"a, Bearer scope=x\", bearer scope=\"a b\", "
                                     "resource_metadata=https://a.example/x, error=invalid_token"),
                             &said);
    assert_true(said.is_bearer);
    assert_string_equal(said.scope, "a b");
    assert_string_equal(said.resource_metadata, "https://a.example/x");
    assert_string_equal(said.error, "invalid_token");
    hub_login_challenge_read(HUB_STR("Bearer scope=\"a\\\"b"), &said);
    assert_true(said.is_bearer);
    hub_login_challenge_read(HUB_STR("Basic scope=\"a\""), &said);
    assert_false(said.is_bearer);
    assert_string_equal(said.scope, "");
    hub_login_challenge_read(HUB_STR(""), &said);
    assert_false(said.is_bearer);
    for (size_t extra = 0; extra < 2; extra++) { /* one that fits, and one that does not */
        size_t len = HUB_LOGIN_CHALLENGE_BYTES - 1 + extra;
        (void)snprintf(longest, sizeof longest, "Bearer scope=\"");
        memset(longest + 14, 'x', len);
        (void)snprintf(longest + 14 + len, 2, "\"");
        hub_login_challenge_read(hub_str_of(longest), &said);
        assert_int_equal(strlen(said.scope), extra == 0 ? len : 0);
    }
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static void test_what_is_kept_is_read_again(void **state)
{
    hub_credential kept = {.url = NULL};
    hub_buf text;
    hub_buf again;
    (void)state;
    hub_buf_init(&text, 4096);
    hub_buf_init(&again, 4096);
    const hub_str JSON = HUB_STR("{\"url\":\"https://a.example\",\"access_token\":\"a\","
                                 "\"refresh_token\":\"r\\u0000\",\"expires_s\":12}");
    assert_int_equal(hub_credential_read(JSON, &kept), HUB_OK);
    assert_string_equal(kept.access_token, "a");
    assert_null(kept.refresh_token);
    assert_int_equal(kept.expires_s, 12);
    hub_credential_add(&text, &kept);
    hub_credential_fini(&kept);
    assert_int_equal(hub_credential_read(hub_buf_str(&text), &kept), HUB_OK);
    hub_credential_add(&again, &kept);
    assert_true(hub_str_eq(hub_buf_str(&text), hub_buf_str(&again)));
    hub_credential_fini(&kept);
    assert_int_equal(hub_credential_read(HUB_STR("[]"), &kept), HUB_EPARSE);
    assert_int_equal(hub_credential_read(HUB_STR("{"), &kept), HUB_EPARSE);
    hub_buf_fini(&again);
    hub_buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_where_a_server_may_send_the_hub),
        cmocka_unit_test(test_what_a_resource_is),
        cmocka_unit_test(test_where_documents_are),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_challenges),
        cmocka_unit_test(test_what_is_kept_is_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
