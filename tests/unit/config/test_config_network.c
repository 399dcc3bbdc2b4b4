/* SPDX-License-Identifier: Apache-2.0 */
/* What serving over the network takes beside the configuration: guards (C05) and secrets (C04). */
#include "config_support.h"

#include "redact/redact.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static int begin(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/patchbay-network-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int end(void **state)
{
    static const char *const NAMES[] = {"tokens.json", "hub.pem", "hub.key"};
    (void)state;
    for (size_t i = 0; i < COUNT(NAMES); i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "%s/%s", folder, NAMES[i]);
        (void)unlink(path);
    }
    return rmdir(folder);
}

static void make_file(const char *name, const char *text, mode_t mode)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    assert_int_equal(close(fd), 0);
}

/* The manifest as FOLDER/m.yaml; what loading says, without FOLDER. */
static hub_err load(const char *manifest, char *why, size_t size, bool *ret_required)
{
    char name[128];
    hub_error error = {.text = ""};
    (void)snprintf(name, sizeof name, "%s/m.yaml", folder);
    hub_config *config = parse(name, manifest);
    hub_err err = hub_config_load_network(config, &error);
    *ret_required = config->settings.auth.required;
    hub_config_destroy(config);
    why[0] = '\0';
    for (const char *at = error.text; *at != '\0';) {
        bool is_folder = strncmp(at, folder, strlen(folder)) == 0;
        at += is_folder ? strlen(folder) : 0;
        (void)snprintf(why + strlen(why), size - strlen(why), "%c", *at++);
    }
    return err;
}

/* Whether a listener there is refused unless somebody has to authenticate. */
static void test_exposure(void **state)
{
    static const struct {
        const char *address;
        bool is_safe;
    } ADDRESSES[] = {
        {"8787", true},
        {"localhost:1", true},
        {"127.0.0.1:1", true},
        {"127.255.255.254:1", true},
        {"\"[::1]:1\"", true},
        {"\"[::ffff:127.0.0.1]:1\"", true},
        {"0.0.0.0:1", false},
        {"128.0.0.1:1", false},
        {"126.255.255.255:1", false},
        {"192.168.0.1:1", false},
        {"10.0.0.1:1", false},
        {"169.254.1.1:1", false},
        {"\"[::]:1\"", false},
        {"\"[::2]:1\"", false},
        {"\"[fe80::1]:1\"", false},
        {"\"[::ffff:8.8.8.8]:1\"", false},
        {"\"[::127.0.0.1]:1\"", false}, /* an IPv4-compatible address is no loopback */
        {"\"[::ffff:0.0.0.0]:1\"", false},
        {"\"[2001:db8::1]:1\"", false},
        {"0.0.0.0:0", false},
    };
    char text[256];
    char why[1024];
    bool required = false;
    (void)state;
    make_file("tokens.json", "[]", 0600);
    for (size_t i = 0; i < COUNT(ADDRESSES); i++) {
        (void)snprintf(text, sizeof text, "listen: [{http: %s}]", ADDRESSES[i].address);
        assert_int_equal(load(text, why, sizeof why, &required),
                         ADDRESSES[i].is_safe ? HUB_OK : HUB_EDENIED);
        assert_false(required);
        (void)snprintf(text, sizeof text, "listen: [{http: %s, insecure: true}]",
                       ADDRESSES[i].address);
        assert_int_equal(load(text, why, sizeof why, &required), HUB_OK);
        assert_false(required);
        (void)snprintf(text, sizeof text, "listen: [{http: %s}]\nauth: {tokens: tokens.json}",
                       ADDRESSES[i].address);
        assert_int_equal(load(text, why, sizeof why, &required), HUB_OK);
        assert_true(required);
    }
}

static void test_refusal_says_what_to_do(void **state)
{
    char why[1024];
    bool required = false;
    (void)state;
    assert_int_equal(load("listen:\n  - http: 1\n  - http: 0.0.0.0:1", why, sizeof why, &required),
                     HUB_EDENIED);
    assert_string_equal(why, "/m.yaml:3: other machines reach 0.0.0.0, and nobody has to "
                             "authenticate: make a token with `patchbay token new NAME` and name "
                             "its file (auth: {tokens: FILE}, --tokens), or listen on 127.0.0.1, "
                             "or say that it shall be so (insecure: true, --insecure)");
}

#define TLS "listen: [{http: 1, tls: {certificate: hub.pem, key: hub.key}}]"

static void test_files(void **state)
{
    char why[1024];
    bool required = false;
    (void)state;
    assert_int_equal(load("auth: {tokens: tokens.json}", why, sizeof why, &required),
                     HUB_ENOTFOUND);
    assert_string_equal(why,
                        "/m.yaml:1: auth.tokens: /tokens.json: No such file or directory: make it "
                        "with `patchbay token new NAME --tokens /tokens.json`");
    make_file("tokens.json", "[]", 0644);
    assert_int_equal(load("auth: {tokens: tokens.json}", why, sizeof why, &required), HUB_EINVAL);
    assert_string_equal(why, "/m.yaml:1: auth.tokens: /tokens.json: other users have access to it "
                             "(mode 0644): chmod 600 it, and make new tokens if they may have read "
                             "or changed it");

    assert_int_equal(load(TLS, why, sizeof why, &required), HUB_ENOTFOUND);
    assert_string_equal(why, "/m.yaml:1: tls.certificate: /hub.pem: No such file or directory");
    make_file("hub.pem", "x", 0644);
    assert_int_equal(load(TLS, why, sizeof why, &required), HUB_ENOTFOUND);
    assert_string_equal(why, "/m.yaml:1: tls.key: /hub.key: No such file or directory");
    static const mode_t OPEN[] = {0604, 0602, 0601, 0644};
    for (size_t i = 0; i < COUNT(OPEN); i++) {
        char expected[256];
        make_file("hub.key", "x", OPEN[i]);
        (void)snprintf(expected, sizeof expected,
                       "/m.yaml:1: tls.key: /hub.key: every user of this machine has access to it "
                       "(mode %04o): chmod 600 it",
                       OPEN[i]);
        assert_int_equal(load(TLS, why, sizeof why, &required), HUB_EINVAL);
        assert_string_equal(why, expected);
    }
    make_file("hub.key", "x", 0640); /* a group of those that may read keys is common */
    assert_int_equal(load(TLS, why, sizeof why, &required), HUB_OK);
    assert_int_equal(load("listen: [{http: 1, tls: {certificate: ., key: hub.key}}]", why,
                          sizeof why, &required),
                     HUB_EINVAL);
    assert_non_null(strstr(why, "not a regular file"));
}

static void test_sockets(void **state)
{
    char why[1024];
    bool required = false;
    (void)state;
    assert_int_equal(load("listen: [{unix: s}, {unix: /s, group: \"0\"}, {unix: t, group: root}]",
                          why, sizeof why, &required),
                     HUB_OK);
    assert_int_equal(load("listen: [{unix: run/s}]", why, sizeof why, &required), HUB_ENOTFOUND);
    assert_string_equal(why, "/m.yaml:1: unix: there is no folder /run: make it first");
    assert_int_equal(load("listen: [{unix: s, group: no-such-group}]", why, sizeof why, &required),
                     HUB_EINVAL);
    assert_string_equal(why, "/m.yaml:1: group: there is no group \"no-such-group\"");
    assert_int_equal(load("listen: [{unix: s, group: \"0x\"}]", why, sizeof why, &required),
                     HUB_EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

/* C04: what stands in the manifest itself is masked as it will be used: with a dollar in it, which
 * is written as two; before a host, whatever the password looks like. */
static void test_literals_are_masked(void **state)
{
    static const struct {
        const char *entry;
        const char *secret;
    } CASES[] = {
        {"{command: x, env: {DB_PASSWORD: 'one-$$dollar-1'}}", "one-$dollar-1"},
        {"{command: x, env: {DB_PASSWORD: 'lone$dollar-2'}}", "lone$dollar-2"},
        {"{module: x, config: {token: 'config-$$-3'}}", "config-$-3"},
        {"{url: 'http://user:at@password-4@h.example/mcp'}", "at@password-4"},
        {"{url: 'http://user-token-5@h.example/mcp'}", "user-token-5"},
        {"{url: 'http://user-token-6:@h.example/mcp'}", "user-token-6"},
        {"{url: 'http://somebody-7:password-7@h.example/mcp'}", "password-7"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char text[256];
        hub_config *config = NULL;
        hub_buf masked;
        hub_buf_init(&masked, 1024);
        (void)snprintf(text, sizeof text, "toolsets:\n  a: %s\n", CASES[i].entry);
        assert_int_equal(hub_config_parse("m.yaml", hub_str_of(text), NULL, NULL, &config, NULL),
                         HUB_OK);
        if (!hub_redact(hub_str_of(CASES[i].secret), &masked)) {
            fail_msg("%s is not masked", CASES[i].secret);
        }
        assert_true(hub_str_is(hub_buf_str(&masked), HUB_REDACTED));
        hub_buf_fini(&masked);
        hub_config_destroy(config);
    }
    hub_buf none;
    hub_buf_init(&none, 64);
    assert_false(hub_redact(HUB_STR("somebody-7 at h.example"), &none));
    hub_buf_fini(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_exposure), TEST(test_refusal_says_what_to_do), TEST(test_files),
        TEST(test_sockets),  TEST(test_literals_are_masked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
