/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are those of RELIABILITY.md, group B. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/origin.h"

/* Honest forms of an authority. */
static const char *const GOOD_HOSTS[] = {
    "localhost",    "localhost:1", "localhost:8080", "localhost:65535", "LOCALHOST",
    "LocalHost:80", "127.0.0.1",   "127.0.0.1:3000", "[::1]",           "[::1]:8080",
};

/* H08: DNS rebinding. As Host, and as the host of an Origin. */
static const char *const BAD_HOSTS[] = {
    "",
    "evil.example",
    "localhost.evil.example",
    "localhost.evil",
    "evillocalhost",
    "localhost-evil",
    "sub.localhost",
    "localhost.",
    "localhost.:80",
    "localhost..",
    "127.0.0.1.",
    "127.0.0.1.evil",
    "127.0.0.1.nip.io",
    "127.0.0.10",
    "127.0.0.2",
    "127.0.0.1 ",
    " localhost",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "017700000001",
    "0177.0.0.1",
    "127.0.0.01",
    "0.0.0.0",
    "0",
    "::1",
    "[::1].evil",
    "[::1]evil",
    "[::1]]",
    "[[::1]]",
    "[::]",
    "[::2]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::1%25lo]",
    "[::1%lo]",
    "[::1",
    "user@localhost",
    "localhost@evil.example",
    "user:pass@localhost:80",
    "localhost:80@evil.example",
    "localhost:",
    "localhost:0",
    "localhost:00080",
    "localhost:080",
    "localhost:65536",
    "localhost:99999",
    "localhost:123456",
    "localhost:-1",
    "localhost:+80",
    "localhost:80a",
    "localhost:http",
    "localhost:80:80",
    "localhost: 80",
    "localhost:80,evil.example",
    "localhost,localhost",
    "localhost localhost",
    "localhost/",
    "localhost/evil",
    "localhost?",
    "localhost#",
    "localhost\\",
    "local%68ost",
    "loc\xc4\xb1lhost",
    "\xef\xbd\x8cocalhost",
    "*",
    "null",
    "localhos",
};

/* H08: an Origin besides. */
static const char *const BAD_ORIGINS[] = {
    "",
    "null",
    "NULL",
    "*",
    "localhost",
    "//localhost",
    "://localhost",
    "http:localhost",
    "http:/localhost",
    "http:///localhost",
    "HTTP://localhost",
    "Https://localhost",
    "http//localhost",
    "http:\\\\localhost",
    "ftp://localhost",
    "ws://localhost",
    "file://localhost",
    "file://",
    "chrome-extension://localhost",
    "javascript://localhost",
    "http://localhost http://localhost",
    "http://localhost, http://localhost",
    "http://http://localhost",
    " http://localhost",
    "http://localhost ",
    "http:// localhost",
    "https://",
};

static bool is_origin_allowed(const hub_http_origins *allowed, const char *scheme, const char *host)
{
    char text[128];
    size_t length = strlen(scheme);
    memcpy(text, scheme, length);
    memcpy(text + length, host, strlen(host));
    return hub_http_is_origin_allowed(allowed,
                                      (hub_str){.ptr = text, .len = length + strlen(host)});
}

static void test_good(void **state)
{
    (void)state;
    const hub_http_origins *local = &HUB_HTTP_LOCAL_ORIGINS;
    for (size_t i = 0; i < sizeof GOOD_HOSTS / sizeof GOOD_HOSTS[0]; i++) {
        assert_true(hub_http_is_host_allowed(local, hub_str_of(GOOD_HOSTS[i])));
        assert_true(is_origin_allowed(local, "http://", GOOD_HOSTS[i]));
        assert_true(is_origin_allowed(local, "https://", GOOD_HOSTS[i]));
        assert_null(hub_http_origin_refusal(local, hub_str_of(GOOD_HOSTS[i]), NULL));
    }
}

static void test_bad_hosts(void **state)
{
    (void)state;
    const hub_http_origins *local = &HUB_HTTP_LOCAL_ORIGINS;
    hub_str good = HUB_STR("http://localhost");
    assert_true(sizeof BAD_HOSTS / sizeof BAD_HOSTS[0] >= 60);
    for (size_t i = 0; i < sizeof BAD_HOSTS / sizeof BAD_HOSTS[0]; i++) {
        hub_str host = hub_str_of(BAD_HOSTS[i]);
        if (hub_http_is_host_allowed(local, host) ||
            is_origin_allowed(local, "http://", BAD_HOSTS[i])) {
            print_error("allowed: %s\n", BAD_HOSTS[i]);
        }
        assert_false(hub_http_is_host_allowed(local, host));
        assert_false(is_origin_allowed(local, "http://", BAD_HOSTS[i]));
        assert_false(is_origin_allowed(local, "https://", BAD_HOSTS[i]));
        assert_non_null(hub_http_origin_refusal(local, host, NULL));
        assert_non_null(hub_http_origin_refusal(local, host, &good));
    }
    assert_false(hub_http_is_host_allowed(local, (hub_str){.ptr = "localhost\0", .len = 10}));
    assert_false(hub_http_is_host_allowed(local, (hub_str){.ptr = NULL, .len = 0}));
}

static void test_bad_origins(void **state)
{
    (void)state;
    const hub_http_origins *local = &HUB_HTTP_LOCAL_ORIGINS;
    for (size_t i = 0; i < sizeof BAD_ORIGINS / sizeof BAD_ORIGINS[0]; i++) {
        hub_str origin = hub_str_of(BAD_ORIGINS[i]);
        if (hub_http_is_origin_allowed(local, origin)) {
            print_error("allowed: %s\n", BAD_ORIGINS[i]);
        }
        assert_false(hub_http_is_origin_allowed(local, origin));
        assert_non_null(hub_http_origin_refusal(local, HUB_STR("localhost"), &origin));
    }
}

static void test_lists(void **state)
{
    (void)state;
    const hub_str hosts[] = {HUB_STR("Hub.Example.com"), HUB_STR("[fe80::1]:8080"), HUB_STR("")};
    const hub_str origins[] = {HUB_STR("https://app.example.com"), HUB_STR("vscode-webview://abc"),
                               HUB_STR("")};
    const hub_http_origins listed = {
        .hosts = hosts, .host_count = 3, .origins = origins, .origin_count = 3};
    static const struct {
        const char *text;
        bool host, origin;
    } CASES[] = {
        {"hub.example.com", true, false},
        {"HUB.EXAMPLE.COM:443", true, false},
        {"hub.example.com.", false, false},
        {"hub.example.co", false, false},
        {"[fe80::1]:8080", true, false},
        {"[FE80::1]:8080", true, false},
        {"[fe80::1]", false, false},
        {"[fe80::1]:8081", false, false},
        {"[fe80::1]:80801", false, false},
        {"localhost", false, false},
        {"app.example.com", false, false},
        {"", false, false},
        {":80", false, false},
        {"http://hub.example.com", false, true},
        {"https://hub.example.com:8443", false, true},
        {"https://app.example.com", false, true},
        {"https://APP.example.com", false, true},
        {"http://app.example.com", false, false},
        {"https://app.example.com:443", false, false},
        {"https://app.example.com.", false, false},
        {"https://app.example.com/", false, false},
        {"vscode-webview://abc", false, true},
        {"vscode-webview://abcd", false, false},
        {"http://localhost", false, false},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_int_equal(hub_http_is_host_allowed(&listed, hub_str_of(CASES[i].text)),
                         CASES[i].host);
        assert_int_equal(hub_http_is_origin_allowed(&listed, hub_str_of(CASES[i].text)),
                         CASES[i].origin);
    }
}

static void test_neighbours(void **state)
{
    (void)state;
    const hub_str origins[] = {HUB_STR("http://localhost:1")};
    const hub_str hosts[] = {HUB_STR("localhost"), HUB_STR("localhost:9")};
    const hub_http_origins listed = {
        .hosts = hosts, .host_count = 2, .origins = origins, .origin_count = 1};
    static const struct {
        const char *host;
        const char *origin;
        bool is_neighbour;
    } CASES[] = {
        {"127.0.0.1:80", "http://localhost:80", false},
        {"[::1]:8787", "http://[::1]:8787", false},
        {"localhost", "http://localhost", false},
        {"localhost", "http://[::1]", false},
        {"127.0.0.1:8787", "http://127.0.0.1:8788", true},
        {"127.0.0.1:8787", "http://127.0.0.1", true},
        {"127.0.0.1", "http://127.0.0.1:8787", true},
        {"hub.example.com", "https://LOCALHOST:3000", true},
        {"[::1]", "http://[::1]:1", true},
        {"127.0.0.1:8787", "http://localhost:1", false}, /* listed */
        {"127.0.0.1:8787", "http://LOCALHOST:9", false},
        {"127.0.0.1:8787", "http://127.0.0.1:9", true},
        {"hub.example.com:1", "https://hub.example.com:2", false},
        {"127.0.0.1:8787", "https://app.example.com", false},
        {"127.0.0.1:8787", "null", false}, /* others refuse these */
        {"127.0.0.1:8787", "", false},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_int_equal(
            hub_http_is_neighbour(&listed, hub_str_of(CASES[i].host), hub_str_of(CASES[i].origin)),
            CASES[i].is_neighbour);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),        cmocka_unit_test(test_bad_hosts),
        cmocka_unit_test(test_bad_origins), cmocka_unit_test(test_lists),
        cmocka_unit_test(test_neighbours),
    };
    return cmocka_run_group_tests_name("http_origin", tests, NULL, NULL);
}
