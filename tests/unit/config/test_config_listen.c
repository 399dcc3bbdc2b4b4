/* SPDX-License-Identifier: Apache-2.0 */
/* Where clients reach the hub: `listen`, `auth`, the network's limits, and the flags beside them.
 */
#include "config_support.h"

#include "base/limits.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_http_addresses(void **state)
{
    static const struct {
        const char *written;
        const char *address;
        uint16_t port;
    } CASES[] = {
        {"8787", "127.0.0.1", 8787},
        {"0", "127.0.0.1", 0},
        {"65535", "127.0.0.1", 65535},
        {"\"8787\"", "127.0.0.1", 8787},
        {"127.0.0.1:1", "127.0.0.1", 1},
        {"localhost:80", "localhost", 80},
        {"0.0.0.0:8787", "0.0.0.0", 8787},
        {"192.168.1.5:443", "192.168.1.5", 443},
        {"\"[::1]:8787\"", "::1", 8787},
        {"\"[::]:0\"", "::", 0},
        {"\"[2001:db8::7]:99\"", "2001:db8::7", 99},
        {"\"${PORT}\"", "127.0.0.1", 4000},
        {"\"${HOST:-127.0.0.2}:${PORT}\"", "127.0.0.2", 4000},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char text[128];
        (void)snprintf(text, sizeof text, "listen:\n  - http: %s", CASES[i].written);
        hub_config *config = parse_with("/etc/m.yaml", text, ENV("PORT=4000"), NULL);
        assert_int_equal(config->settings.listen_count, 1);
        const hub_listen_settings *listen = &config->settings.listens[0];
        assert_int_equal(listen->kind, HUB_LISTEN_HTTP);
        assert_string_equal(listen->address, CASES[i].address);
        assert_int_equal(listen->port, CASES[i].port);
        assert_string_equal(listen->source, "/etc/m.yaml:2");
        assert_null(listen->tls.certificate);
        assert_string_equal(listen->tls.min_version, "1.2");
        assert_false(listen->hosts.set);
        assert_false(listen->origins.set);
        assert_false(listen->insecure);
        hub_config_destroy(config);
    }
}

static void test_a_whole_listener(void **state)
{
    (void)state;
    hub_config *config = parse_with("/etc/hub/m.yaml",
                                    "listen:\n"
                                    "  - http: 0.0.0.0:443\n"
                                    "    hosts: [hub.example.com, \"[::1]:8080\"]\n"
                                    "    origins: [\"https://app.example.com\", "
                                    "\"vscode-webview://abc\"]\n"
                                    "    insecure: true\n"
                                    "    tls: {certificate: \"${NAME}.pem\", key: /k/hub.key, "
                                    "min_version: 1.3}\n"
                                    "  - unix: run/hub.sock\n"
                                    "    profile: review\n"
                                    "    mode: 0660\n"
                                    "    group: developers\n"
                                    "  - unix: \"${NAME}\"\n"
                                    "profiles: {review: }\n"
                                    "auth: {tokens: \"${NAME}.json\"}\n",
                                    ENV("NAME=hub"), NULL);
    assert_int_equal(config->settings.listen_count, 3);
    const hub_listen_settings *http = &config->settings.listens[0];
    ASSERT_LIST(http->hosts, "hub.example.com", "[::1]:8080");
    ASSERT_LIST(http->origins, "https://app.example.com", "vscode-webview://abc");
    assert_true(http->insecure);
    assert_string_equal(http->tls.certificate, "/etc/hub/hub.pem");
    assert_string_equal(http->tls.key, "/k/hub.key");
    assert_string_equal(http->tls.min_version, "1.3");
    const hub_listen_settings *socket = &config->settings.listens[1];
    assert_int_equal(socket->kind, HUB_LISTEN_UNIX);
    assert_string_equal(socket->address, "/etc/hub/run/hub.sock");
    assert_string_equal(socket->profile, "review");
    assert_int_equal(socket->mode, 0660);
    assert_string_equal(socket->group, "developers");
    const hub_listen_settings *plain = &config->settings.listens[2];
    assert_string_equal(plain->address, "/etc/hub/hub");
    assert_int_equal(plain->mode, 0600);
    assert_null(plain->profile);
    assert_null(plain->group);
    assert_string_equal(config->tokens_file, "/etc/hub/hub.json");
    assert_false(config->settings.auth.required); /* nothing has been read yet */
    hub_config_destroy(config);
}

static void test_nothing_said(void **state)
{
    static const char *const NOTHING[] = {"", "listen: []", "auth:", "auth: {}", "limits:"};
    (void)state;
    for (size_t i = 0; i < COUNT(NOTHING); i++) {
        hub_config *config = parse("m.yaml", NOTHING[i]);
        assert_int_equal(config->settings.listen_count, 0);
        assert_null(config->tokens_file);
        hub_config_destroy(config);
    }
}

#define ADDRESS_WANTED                                                                             \
    "wanted a port, or an address and a port, like 8787, \"127.0.0.1:8787\", \"[::1]:8787\""
#define WHICH_ADDRESS                                                                              \
    "say which address: 127.0.0.1 for this machine only, 0.0.0.0 or [::] for all networks"
#define NO_NAMES "the address is a number like 127.0.0.1, or localhost: names are not looked up"

/* One listener, and the words behind "m.yaml:1: listen[0]". */
static const struct {
    const char *entry;
    const char *expected;
} REFUSED[] = {
    {"8787", ": wanted a map like {http: 8787} or {unix: ./hub.sock}, found the number 8787"},
    {"{}", ": a listener has either \"http\" or \"unix\""},
    {"{insecure: true}", ": a listener has either \"http\" or \"unix\""},
    {"{http: 1, unix: s}", ": a listener has either \"http\" or \"unix\""},
    {"{htp: 1}", ".htp: unknown key; did you mean \"http\"?"},
    {"{http: 1, host: [a]}", ".host: unknown key; did you mean \"hosts\"?"},
    {"{http: 65536}", ".http: 65536 is not a port: they end at 65535"},
    {"{http: -1}", ".http: " ADDRESS_WANTED ", found the number -1"},
    {"{http: 80.5}", ".http: " ADDRESS_WANTED ", found the number 80.5"},
    {"{http: 99999999999999999999}",
     ".http: 99999999999999999999 is not a port: they end at 65535"},
    {"{http: true}", ".http: " ADDRESS_WANTED ", found true"},
    {"{http: }", ".http: " ADDRESS_WANTED ", found nothing"},
    {"{http: \"\"}", ".http: wanted text, found \"\""},
    {"{http: \"127.0.0.1\"}", ".http: " ADDRESS_WANTED ", found \"127.0.0.1\""},
    {"{http: \"127.0.0.1:\"}", ".http: " ADDRESS_WANTED ", found \"127.0.0.1:\""},
    {"{http: \"127.0.0.1:8o\"}", ".http: " ADDRESS_WANTED ", found \"127.0.0.1:8o\""},
    {"{http: \"127.0.0.1: 80\"}", ".http: " ADDRESS_WANTED ", found \"127.0.0.1: 80\""},
    {"{http: \"127.0.0.1:65536\"}", ".http: 65536 is not a port: they end at 65535"},
    {"{http: \"http://127.0.0.1:80\"}", ".http: " ADDRESS_WANTED ", without a scheme"},
    {"{http: \":80\"}", ".http: " WHICH_ADDRESS},
    {"{http: \"*:80\"}", ".http: " WHICH_ADDRESS},
    {"{http: \"hub.example.com:80\"}", ".http: " NO_NAMES},
    {"{http: \"127.1:80\"}", ".http: " NO_NAMES},
    {"{http: \"256.0.0.1:80\"}", ".http: " NO_NAMES},
    {"{http: \"LOCALHOST:80\"}", ".http: " NO_NAMES},
    {"{http: \"::1:80\"}", ".http: an IPv6 address stands in brackets, like \"[::1]:8787\""},
    {"{http: \"[127.0.0.1]:80\"}", ".http: between the brackets is not an IPv6 address"},
    {"{http: \"[]:80\"}", ".http: between the brackets is not an IPv6 address"},
    {"{http: \"[fe80::1%eth0]:80\"}", ".http: between the brackets is not an IPv6 address"},
    {"{http: \"${NO_SUCH}\"}", ".http: the variable NO_SUCH is not set, and there is no default"},
    {"{http: 1, hosts: []}", NULL},
    {"{http: 1, hosts: [\"*\"]}", NULL},
    {"{http: 1, hosts: a}", ".hosts: wanted a list, found \"a\""},
    {"{http: 1, hosts: [\"\"]}",
     ".hosts[0]: wanted a host name, with or without a port, like \"hub.example.com\", found \"\""},
    {"{http: 1, hosts: [\"*.x\"]}", ".hosts[0]: wanted a host name, with or without a port, like "
                                    "\"hub.example.com\", found \"*.x\""},
    {"{http: 1, hosts: [\"a b\"]}", ".hosts[0]: wanted a host name, with or without a port, like "
                                    "\"hub.example.com\", found \"a b\""},
    {"{http: 1, hosts: [\"http://a\"]}",
     ".hosts[0]: wanted a host name, with or without a port, like \"hub.example.com\", found "
     "\"http://a\""},
    {"{http: 1, origins: [\"*\"]}", ".origins[0]: wanted an origin without a path, like "
                                    "\"https://app.example.com\", found \"*\""},
    {"{http: 1, origins: [\"null\"]}", ".origins[0]: wanted an origin without a path, like "
                                       "\"https://app.example.com\", found \"null\""},
    {"{http: 1, origins: [\"https://a/\"]}",
     ".origins[0]: wanted an origin without a path, like \"https://app.example.com\", found "
     "\"https://a/\""},
    {"{http: 1, origins: [\"https://\"]}", ".origins[0]: wanted an origin without a path, like "
                                           "\"https://app.example.com\", found \"https://\""},
    {"{http: 1, origins: [\"https://*.a\"]}",
     ".origins[0]: wanted an origin without a path, like \"https://app.example.com\", found "
     "\"https://*.a\""},
    {"{http: 1, origins: [\"://a\"]}", ".origins[0]: wanted an origin without a path, like "
                                       "\"https://app.example.com\", found \"://a\""},
    {"{http: 1, origins: [5]}", ".origins[0]: wanted an origin without a path, like "
                                "\"https://app.example.com\", found the number 5"},
    {"{http: 1, insecure: yes}", ".insecure: wanted true or false, found \"yes\""},
    {"{http: 1, tls: true}", ".tls: wanted a map, found true"},
    {"{http: 1, tls: }", ".tls: wants a \"certificate\" and its \"key\", both PEM files"},
    {"{http: 1, tls: {key: k}}", ".tls: wants a \"certificate\" and its \"key\", both PEM files"},
    {"{http: 1, tls: {certificate: c}}",
     ".tls: wants a \"certificate\" and its \"key\", both PEM files"},
    {"{http: 1, tls: {certificate: c, key: ~/k}}",
     ".tls.key: \"~\" has no meaning here: write the path out"},
    {"{http: 1, tls: {certificate: c, key: k, min_version: 1.1}}",
     ".tls.min_version: wanted \"1.2\" or \"1.3\", found the number 1.1"},
    {"{http: 1, tls: {certificate: c, key: k, min_version: TLSv1.2}}",
     ".tls.min_version: wanted \"1.2\" or \"1.3\", found \"TLSv1.2\""},
    {"{http: 1, tls: {certificate: c, key: k, ciphers: x}}", ".tls.ciphers: unknown key"},
    {"{http: 1, profile: default}", ".profile: only a listener with \"unix\" has this key; over "
                                    "HTTP every profile is served, at /mcp/NAME"},
    {"{http: 1, mode: 0600}", ".mode: only a listener with \"unix\" has this key"},
    {"{http: 1, group: g}", ".group: only a listener with \"unix\" has this key"},
    {"{unix: s, tls: {certificate: c, key: k}}",
     ".tls: only a listener with \"http\" has this key"},
    {"{unix: s, hosts: [a]}", ".hosts: only a listener with \"http\" has this key"},
    {"{unix: s, origins: []}", ".origins: only a listener with \"http\" has this key"},
    {"{unix: s, insecure: false}", ".insecure: only a listener with \"http\" has this key"},
    {"{unix: \"\"}", ".unix: wanted text, found \"\""},
    {"{unix: [s]}", ".unix: wanted text, found a list"},
    {"{unix: ~/s}", ".unix: \"~\" has no meaning here: write the path out"},
    {"{unix: s, mode: 0999}",
     ".mode: wanted octal permissions like \"0660\", at most \"0777\", found \"0999\""},
    {"{unix: s, mode: 01000}",
     ".mode: wanted octal permissions like \"0660\", at most \"0777\", found \"01000\""},
    {"{unix: s, mode: 77777777777777777777777}",
     ".mode: wanted octal permissions like \"0660\", at most \"0777\", found the number "
     "77777777777777777777777"},
    {"{unix: s, mode: \"\"}",
     ".mode: wanted octal permissions like \"0660\", at most \"0777\", found \"\""},
    {"{unix: s, mode: rw}",
     ".mode: wanted octal permissions like \"0660\", at most \"0777\", found \"rw\""},
    {"{unix: s, profile: nope}", ": there is no profile \"nope\""},
    {"{unix: s, profile: \"\"}", ".profile: wanted text, found \"\""},
};

static void test_refused(void **state) /* C01, C06 */
{
    (void)state;
    for (size_t i = 0; i < COUNT(REFUSED); i++) {
        char text[256];
        char expected[512];
        (void)snprintf(text, sizeof text, "listen: [%s]", REFUSED[i].entry);
        if (REFUSED[i].expected == NULL) {
            hub_config_destroy(parse("m.yaml", text));
            continue;
        }
        (void)snprintf(expected, sizeof expected, "m.yaml:1: listen[0]%s", REFUSED[i].expected);
        expect_refused("m.yaml", hub_str_of(text), NULL, HUB_EINVAL, expected);
    }
    expect_refused("m.yaml", HUB_STR("listen: 8787"), NULL, HUB_EINVAL,
                   "m.yaml:1: listen: wanted a list like [{http: 8787}], found the number 8787");
    expect_refused("m.yaml", HUB_STR("listen: {http: 8787}"), NULL, HUB_EINVAL,
                   "m.yaml:1: listen: wanted a list like [{http: 8787}], found a map");
    expect_refused("m.yaml", HUB_STR("auth: {tokens: }"), NULL, HUB_EINVAL,
                   "m.yaml:1: auth.tokens: wanted text, found nothing");
    expect_refused("m.yaml", HUB_STR("auth: [f]"), NULL, HUB_EINVAL,
                   "m.yaml:1: auth: wanted a map, found a list");
}

static void test_two_at_one_address(void **state)
{
    (void)state;
    expect_refused("m.yaml", HUB_STR("listen:\n  - http: 80\n  - http: 127.0.0.1:80"), NULL,
                   HUB_EINVAL,
                   "m.yaml:3: listen[1]: there is a listener at this address already, from "
                   "m.yaml:2");
    expect_refused("/m.yaml", HUB_STR("listen:\n  - unix: s\n  - unix: /s"), NULL, HUB_EINVAL,
                   "/m.yaml:3: listen[1]: there is a listener at this address already, from "
                   "/m.yaml:2");
    hub_config_destroy(parse("m.yaml", "listen: [{http: 0}, {http: 0}, {http: 80}, "
                                       "{http: \"[::1]:80\"}, {http: \"0.0.0.0:80\"}]"));
}

static void test_most_listeners(void **state)
{
    (void)state;
    char text[1024] = "listen: [{http: 1}";
    for (unsigned i = 2; i <= HUB_LIMIT_LISTENERS; i++) {
        char more[32];
        (void)snprintf(more, sizeof more, ", {http: %u}", i);
        strncat(text, more, sizeof text - strlen(text) - 1);
    }
    size_t len = strlen(text);
    strncat(text, "]", sizeof text - len - 1);
    hub_config *config = parse("m.yaml", text);
    assert_int_equal(config->settings.listen_count, HUB_LIMIT_LISTENERS);
    hub_config_destroy(config);
    text[len] = '\0';
    strncat(text, ", {http: 99}]", sizeof text - len - 1);
    expect_refused("m.yaml", hub_str_of(text), NULL, HUB_ELIMIT,
                   "m.yaml:1: listen[16]: more than 16 listeners");
}

/* A socket's path has 107 bytes and a NUL, whatever it was written as: unix(7). */
static void test_longest_socket_path(void **state)
{
    (void)state;
    char path[109] = "/";
    char text[256];
    memset(path + 1, 'p', 106);
    (void)snprintf(text, sizeof text, "listen: [{unix: %s}]", path);
    hub_config *config = parse("m.yaml", text);
    assert_int_equal(strlen(config->settings.listens[0].address), 107);
    hub_config_destroy(config);
    path[107] = 'p';
    (void)snprintf(text, sizeof text, "listen: [{unix: %s}]", path);
    expect_refused("m.yaml", hub_str_of(text), NULL, HUB_ELIMIT,
                   "m.yaml:1: listen[0].unix: the path of a Unix socket has at most 107 bytes, "
                   "this one has 108");
}

#define LIST(...)                                                                                  \
    {                                                                                              \
        .items = (const char *const[]){__VA_ARGS__},                                               \
        .count = COUNT(((const char *const[]){__VA_ARGS__})), .set = true                          \
    }

/* Flags that name listeners replace the manifest's; the others count for all of either. */
static void test_flags(void **state)
{
    (void)state;
    static const char MANIFEST[] = "listen:\n"
                                   "  - {http: 1, hosts: [a], insecure: true}\n"
                                   "  - {http: 2}\n"
                                   "  - {unix: /s, profile: p}\n"
                                   "profiles: {p: , q: }\n"
                                   "auth: {tokens: /t}\n";
    const hub_config_overrides replacing = {.http = LIST("9", "0.0.0.0:8"),
                                            .sockets = LIST("/x"),
                                            .profile = "q",
                                            .insecure = true,
                                            .tokens = "/u"};
    hub_config *config = parse_with("/m.yaml", MANIFEST, NULL, &replacing);
    const hub_listen_settings *listens = config->settings.listens;
    assert_int_equal(config->settings.listen_count, 3);
    assert_int_equal(listens[0].port, 9);
    assert_string_equal(listens[0].address, "127.0.0.1");
    assert_string_equal(listens[0].source, "command line");
    assert_string_equal(listens[1].address, "0.0.0.0");
    assert_true(listens[0].insecure && listens[1].insecure);
    assert_string_equal(listens[2].address, "/x");
    assert_int_equal(listens[2].mode, 0600);
    assert_string_equal(listens[2].profile, "q");
    assert_false(listens[2].insecure);
    assert_string_equal(config->tokens_file, "/u");
    hub_config_destroy(config);

    const hub_config_overrides adding = {
        .allowed_hosts = LIST("h", "i"), .allowed_origins = LIST("https://o"), .profile = "q"};
    config = parse_with("/m.yaml", MANIFEST, NULL, &adding);
    listens = config->settings.listens;
    assert_int_equal(config->settings.listen_count, 3);
    ASSERT_LIST(listens[0].hosts, "h", "i");
    ASSERT_LIST(listens[1].hosts, "h", "i");
    ASSERT_LIST(listens[1].origins, "https://o");
    assert_true(listens[0].insecure);
    assert_false(listens[1].insecure);
    assert_false(listens[2].hosts.set);
    assert_string_equal(listens[2].profile, "p");
    assert_string_equal(config->tokens_file, "/t");
    hub_config_destroy(config);
}

static void test_flags_refused(void **state)
{
    const struct {
        hub_config_overrides overrides;
        const char *expected;
    } CASES[] = {
        {{.http = LIST("1", "x:1")}, "command line: --http[1]: " NO_NAMES},
        {{.http = LIST("")}, "command line: --http[0]: wanted text, found \"\""},
        {{.http = LIST("7", "7")},
         "command line: --http[1]: there is a listener at this address "
         "already, from command line"},
        {{.sockets = LIST("~/s")},
         "command line: --unix[0]: \"~\" has no meaning here: write the path out"},
        {{.sockets = LIST("/s"), .profile = "none"},
         "command line: --unix[0]: there is no profile \"none\""},
        {{.http = LIST("1"), .allowed_hosts = LIST("*.x")},
         "command line: --allowed-host[0]: wanted a host name, with or without a port, like "
         "\"hub.example.com\", found \"*.x\""},
        {{.http = LIST("1"), .allowed_origins = LIST("a.b")},
         "command line: --allowed-origin[0]: wanted an origin without a path, like "
         "\"https://app.example.com\", found \"a.b\""},
        {{.tokens = ""}, "command line: --tokens: wanted text, found \"\""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        hub_config *config = NULL;
        hub_error error = {.text = ""};
        assert_int_equal(hub_config_load(NULL, 0, NULL, &CASES[i].overrides, &config, &error),
                         HUB_EINVAL);
        assert_string_equal(error.text, CASES[i].expected);
    }
}

/* Of two files that say where to listen, the later one's word counts, as a whole. */
static void test_two_files(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {"listen: [{http: 1}, {http: 2}]\nauth: {tokens: a}",
                                        "listen: [{http: 3}]\nauth: {tokens: /b}"};
    char folder[] = "/tmp/patchbay-listen-XXXXXX";
    char paths[2][64];
    hub_config *config = NULL;
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(paths[i], sizeof paths[i], "%s/%zu.yaml", folder, i);
        int fd = open(paths[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        assert_int_equal(write(fd, TEXTS[i], strlen(TEXTS[i])), strlen(TEXTS[i]));
        assert_int_equal(close(fd), 0);
    }
    const char *const files[] = {paths[0], paths[1]};
    assert_int_equal(hub_config_load(files, 2, NULL, NULL, &config, NULL), HUB_OK);
    assert_int_equal(config->settings.listen_count, 1);
    assert_int_equal(config->settings.listens[0].port, 3);
    assert_string_equal(config->tokens_file, "/b");
    hub_config_destroy(config);
    assert_int_equal(unlink(paths[0]) | unlink(paths[1]) | rmdir(folder), 0);
}

/* A path on the command line is below the working directory, one in a manifest below its folder;
 * and a toolset that is switched off leaves variables elsewhere alone. */
static void test_relative_paths(void **state)
{
    (void)state;
    char here[4096];
    char expected[4200];
    const hub_config_overrides overrides = {.tokens = "t.json"};
    assert_non_null(getcwd(here, sizeof here));
    (void)snprintf(expected, sizeof expected, "%s/t.json", here);
    hub_config *config = parse_with("/etc/m.yaml",
                                    "toolsets: {a: {command: \"${NO}\", enabled: false}}\n"
                                    "listen: [{unix: \"${S}\"}]",
                                    ENV("S=x.sock"), &overrides);
    assert_string_equal(config->tokens_file, expected);
    assert_string_equal(config->settings.listens[0].address, "/etc/x.sock");
    hub_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http_addresses),      cmocka_unit_test(test_a_whole_listener),
        cmocka_unit_test(test_nothing_said),        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_two_at_one_address),  cmocka_unit_test(test_most_listeners),
        cmocka_unit_test(test_longest_socket_path), cmocka_unit_test(test_flags),
        cmocka_unit_test(test_flags_refused),       cmocka_unit_test(test_two_files),
        cmocka_unit_test(test_relative_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
