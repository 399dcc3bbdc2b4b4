/* SPDX-License-Identifier: Apache-2.0 */
/* Several files; files that cannot be read; limits; secrets. */
#include "config_support.h"

#include "base/buf.h"
#include "base/limits.h"

#include <sys/stat.h>
#include <unistd.h>

#define CANARY "canary-7f3a"

static char folder[] = "/tmp/patchbay-test-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static void path_of(const char *name, char *path, size_t size)
{
    (void)snprintf(path, size, "%s/%s", folder, name);
}

static void write_file(const char *name, const char *text)
{
    char path[128];
    path_of(name, path, sizeof path);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0600), 0);
}

static void remove_file(const char *name)
{
    char path[128];
    path_of(name, path, sizeof path);
    assert_int_equal(unlink(path), 0);
}

/* Load a.yaml and b.yaml of these contents (NULL: no such file) from the folder. */
static hub_err load_two(const char *a, const char *b, const char *const *env,
                        const hub_config_overrides *overrides, hub_config **ret_config,
                        hub_error *error)
{
    char paths[2][128];
    const char *files[2];
    const char *const texts[] = {a, b};
    const char *const names[] = {"a.yaml", "b.yaml"};
    size_t count = 0;
    for (size_t i = 0; i < 2; i++) {
        if (texts[i] != NULL) {
            write_file(names[i], texts[i]);
            path_of(names[i], paths[count], sizeof paths[count]);
            files[count] = paths[count];
            count++;
        }
    }
    hub_err err = hub_config_load(files, count, env, overrides, ret_config, error);
    for (size_t i = 0; i < 2; i++) {
        if (texts[i] != NULL) {
            remove_file(names[i]);
        }
    }
    return err;
}

static hub_config *load_good(const char *a, const char *b)
{
    hub_config *config = NULL;
    hub_error error = {.text = ""};
    hub_err err = load_two(a, b, NULL, NULL, &config, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(err, HUB_OK);
    return config;
}

static void test_join(void **state)
{
    (void)state;
    hub_config *config = load_good(
        "hub: {name: one, title: One, naming: dot}\nmodules: {paths: [x], watch: false}\n"
        "toolsets: {a: , b: }\npolicy: {allow: [a], max_active: 5}\n"
        "profiles: {p: {naming: flat, toolsets: [a]}, q: }\nlimits: {worker_threads: 9}",
        "hub: {name: two, max_name_length: 20}\nmodules: {paths: [y]}\ntoolsets: {c: }\n"
        "policy: {allow: [c]}\nprofiles: {p: {max_name_length: 30}}\nlog: {level: debug}");
    assert_string_equal(config->settings.name, "two");
    assert_string_equal(config->settings.title, "One");
    assert_false(config->settings.modules.watch);
    assert_int_equal(config->settings.modules.paths.count, 1);
    assert_non_null(strstr(config->settings.modules.paths.items[0], "/y"));
    assert_int_equal(config->settings.toolset_count, 3);
    assert_string_equal(config->settings.toolsets[2].key, "c");
    ASSERT_LIST(config->settings.policy.allow, "c");
    assert_int_equal(config->settings.policy.max_active, 5);
    assert_int_equal(config->settings.limits.worker_threads, 9);
    assert_int_equal(config->settings.log_level, HUB_LOG_DEBUG);
    assert_int_equal(config->settings.profile_count, 3);
    assert_int_equal(config->settings.profiles[0].naming, HUB_NAMING_DOT);
    assert_int_equal(config->settings.profiles[0].max_name_bytes, 20);
    assert_string_equal(config->settings.profiles[1].name, "p");
    assert_int_equal(config->settings.profiles[1].naming, HUB_NAMING_FLAT);
    assert_int_equal(config->settings.profiles[1].max_name_bytes, 30);
    ASSERT_LIST(config->settings.profiles[1].toolsets, "a");
    assert_string_equal(config->settings.profiles[2].name, "q");
    assert_int_equal(config->settings.profiles[2].naming, HUB_NAMING_DOT);
    assert_int_equal(config->settings.profiles[2].max_name_bytes, 20);
    hub_config_destroy(config);
}

static void test_foreign_file_joins(void **state)
{
    (void)state;
    hub_config *config = load_good("mcpServers: {Git: {command: x, timeout: 5000, typo: 1}}",
                                   "toolsets: {docs: {url: y}}\nhub: {naming: flat}");
    assert_int_equal(config->settings.toolset_count, 2);
    assert_string_equal(config->settings.toolsets[0].key, "git");
    assert_int_equal(config->settings.toolsets[0].call_timeout_ms, 5000);
    assert_string_equal(config->settings.toolsets[1].key, "docs");
    assert_int_equal(config->warning_count, 1);
    hub_config_destroy(config);
}

static void test_same_toolset_in_two_files(void **state)
{
    static const struct {
        const char *a;
        const char *b;
        int line;
        const char *path;
    } CASES[] = {
        {"toolsets: {a: }", "\ntoolsets: {b: , a: }", 2, "toolsets.a"},
        {"mcpServers: {A: {command: x}}", "toolsets: {a: }", 1, "toolsets.a"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        hub_config *config = NULL;
        hub_error error = {.text = ""};
        char expected[512];
        (void)snprintf(expected, sizeof expected,
                       "%s/b.yaml:%d: %s: there is a toolset \"a\" already, from %s/a.yaml:1",
                       folder, CASES[i].line, CASES[i].path, folder);
        assert_int_equal(load_two(CASES[i].a, CASES[i].b, NULL, NULL, &config, &error), HUB_EINVAL);
        assert_string_equal(error.text, expected);
        assert_null(config);
    }
}

/* An entry of another program's file does not stop what others say. */
static void test_same_toolset_in_a_foreign_file(void **state)
{
    (void)state;
    hub_config *config = NULL;
    hub_error error = {.text = ""};
    char expected[512];
    (void)snprintf(expected, sizeof expected,
                   "%s/b.yaml:2: mcpServers.A: there is a toolset \"a\" already, from %s/a.yaml:1",
                   folder, folder);
    assert_int_equal(load_two("toolsets: {a: }", "mcpServers:\n  A:\n    command: x", NULL, NULL,
                              &config, &error),
                     HUB_OK);
    assert_int_equal(config->settings.toolset_count, 1);
    assert_int_equal(config->refused_count, 1);
    assert_string_equal(config->refused[0].text, expected);
    hub_config_destroy(config);
}

static void test_ceiling_in_another_file(void **state)
{
    (void)state;
    hub_config *config = NULL;
    hub_error error = {.text = ""};
    char expected[512];
    (void)snprintf(expected, sizeof expected,
                   "%s/b.yaml:1: limits.call_ceiling: call_ceiling (60000 ms) is shorter than "
                   "call_timeout (120000 ms)",
                   folder);
    assert_int_equal(load_two("limits: {call_timeout: 2m}", "limits: {call_ceiling: 1m}", NULL,
                              NULL, &config, &error),
                     HUB_EINVAL);
    assert_string_equal(error.text, expected);
}

static void test_unreadable(void **state)
{
    static const struct {
        const char *file;
        hub_err code;
        const char *expected;
    } CASES[] = {
        {"/nonexistent/m.yaml", HUB_ENOTFOUND, "/nonexistent/m.yaml: No such file or directory"},
        {"/etc/passwd/m.yaml", HUB_ENOTFOUND, "/etc/passwd/m.yaml: Not a directory"},
        {"", HUB_ENOTFOUND, ": No such file or directory"},
        {"/tmp", HUB_ESYSTEM, "/tmp: Is a directory"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        hub_config *config = NULL;
        hub_error error = {.text = ""};
        assert_int_equal(hub_config_load(&CASES[i].file, 1, NULL, NULL, &config, &error),
                         CASES[i].code);
        assert_string_equal(error.text, CASES[i].expected);
    }
    hub_config *config = NULL;
    const char *file = "/nonexistent";
    assert_int_equal(hub_config_load(&file, 1, NULL, NULL, &config, NULL), HUB_ENOTFOUND);
}

static void test_file_bytes(void **state)
{
    (void)state;
    char *text = malloc(HUB_LIMIT_CONFIG_BYTES + 2);
    assert_non_null(text);
    memset(text, '\n', HUB_LIMIT_CONFIG_BYTES + 1);
    text[HUB_LIMIT_CONFIG_BYTES] = '\0';
    hub_config_destroy(load_good(text, NULL));
    text[HUB_LIMIT_CONFIG_BYTES] = '\n';
    text[HUB_LIMIT_CONFIG_BYTES + 1] = '\0';
    hub_config *config = NULL;
    hub_error error = {.text = ""};
    assert_int_equal(load_two(text, NULL, NULL, NULL, &config, &error), HUB_ELIMIT);
    assert_non_null(strstr(error.text, "/a.yaml: longer than 8388608 bytes"));
    free(text);
}

static void test_file_that_others_may_write(void **state)
{
    (void)state;
    char path[128];
    path_of("open.yaml", path, sizeof path);
    write_file("open.yaml", "hub: {name: x}");
    assert_int_equal(chmod(path, 0666), 0);
    const char *file = path;
    hub_config *config = NULL;
    assert_int_equal(hub_config_load(&file, 1, NULL, NULL, &config, NULL), HUB_OK);
    assert_int_equal(config->warning_count, 1);
    assert_non_null(strstr(config->warnings[0], "/open.yaml:1: every user of this machine can "
                                                "change this file"));
    hub_config_destroy(config);
    remove_file("open.yaml");
}

static void add_toolsets(hub_buf *text, size_t count)
{
    hub_buf_init(text, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_add(text, HUB_STR("toolsets:\n"));
    for (size_t i = 0; i < count; i++) {
        hub_buf_printf(text, "  t%zu: {command: x, args: [a, b], env: {A: '${V}'}}\n", i);
    }
    hub_buf_add_char(text, '\0');
}

static void test_number_of_toolsets(void **state)
{
    (void)state;
    hub_buf text;
    add_toolsets(&text, HUB_LIMIT_TOOLSETS);
    hub_config *config = parse_with("m.yaml", text.ptr, ENV("V=v"), NULL);
    assert_int_equal(config->settings.toolset_count, HUB_LIMIT_TOOLSETS);
    assert_server_json(config->settings.toolsets[HUB_LIMIT_TOOLSETS - 1].config_json,
                       "{\"command\":\"x\",\"args\":[\"a\",\"b\"],\"env\":{\"A\":\"v\"}}");
    hub_config_destroy(config);
    hub_buf_fini(&text);
    add_toolsets(&text, HUB_LIMIT_TOOLSETS + 1);
    char expected[128];
    (void)snprintf(expected, sizeof expected, "m.yaml:%d: toolsets.t%d: more than %d toolsets",
                   HUB_LIMIT_TOOLSETS + 2, HUB_LIMIT_TOOLSETS, HUB_LIMIT_TOOLSETS);
    expect_refused("m.yaml", hub_str_of(text.ptr), ENV("V=v"), HUB_ELIMIT, expected);
    hub_buf_fini(&text);
}

static void test_number_of_profiles_and_filters(void **state)
{
    static const struct {
        const char *head;
        const char *before; /* and behind the number of each one */
        const char *behind;
        size_t most;
        const char *refused;
    } CASES[] = {
        {"profiles:\n", "  p", ":\n", 256, "m.yaml:258: profiles.p256: more than 256 profiles"},
        {"policy:\n  filters:\n", "    - {tags_any: [t", "]}\n", 64,
         "m.yaml:2: policy.filters: more than 64 filters"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        hub_buf text;
        hub_buf_init(&text, HUB_LIMIT_CONFIG_BYTES);
        hub_buf_add(&text, hub_str_of(CASES[i].head));
        for (size_t n = 0; n <= CASES[i].most; n++) {
            if (n == CASES[i].most) {
                hub_config *config = NULL;
                assert_int_equal(
                    hub_config_parse("m.yaml", hub_buf_str(&text), NULL, NULL, &config, NULL),
                    HUB_OK);
                hub_config_destroy(config);
            }
            hub_buf_printf(&text, "%s%zu%s", CASES[i].before, n, CASES[i].behind);
        }
        expect_refused("m.yaml", hub_buf_str(&text), NULL, HUB_ELIMIT, CASES[i].refused);
        hub_buf_fini(&text);
    }
}

/* What a module gets is bounded, however small the text was that asked for it. */
static void test_size_of_expanded_values(void **state)
{
    (void)state;
    enum { VALUE_BYTES = 128 * 1024 };
    char *variable = malloc(VALUE_BYTES + 3);
    assert_non_null(variable);
    memset(variable, 'v', VALUE_BYTES + 2);
    memcpy(variable, "V=", 2);
    variable[VALUE_BYTES + 2] = '\0';
    for (size_t count = 62; count <= 64; count += 2) {
        hub_buf text;
        hub_buf_init(&text, 64 * 1024);
        hub_buf_add(&text, HUB_STR("toolsets:\n  a: {command: x, args: [y"));
        for (size_t i = 0; i < count; i++) {
            hub_buf_add(&text, HUB_STR(",'${V}'"));
        }
        hub_buf_add(&text, HUB_STR("]}"));
        if (count == 62) {
            hub_config *config = NULL;
            assert_int_equal(
                hub_config_parse("m.yaml", hub_buf_str(&text), ENV(variable), NULL, &config, NULL),
                HUB_OK);
            assert_true(strlen(config->settings.toolsets[0].config_json) > 62u * VALUE_BYTES);
            hub_config_destroy(config);
        } else {
            expect_refused("m.yaml", hub_buf_str(&text), ENV(variable), HUB_ELIMIT,
                           "m.yaml:2: toolsets.a: a limit is reached");
        }
        hub_buf_fini(&text);
    }
    free(variable);
}

/* A value that came from a variable or a file is in the module's JSON and nowhere else. */
static void test_secrets_stay_out_of_messages(void **state)
{
    static const char *const ENTRIES[] = {
        "{command: '${S}', args: 5}",
        "{command: x, args: ['${S}', [x]]}",
        "{command: x, args: ['${S}', '${NOPE}']}",
        "{command: x, args: ['${NOPE:-" CANARY "}', '${NOPE}']}",
        "{command: x, env: {A: '${S}', B: [x]}}",
        "{command: x, env: {A: '${S}${'}}",
        "{command: x, env: {A: " CANARY ", B: }}",
        "{command: x, env: {A: '${BAD}'}}",
        "{command: x, env: {A: '${NOPE:-" CANARY "${S}}'}}",
        "{command: x, cwd: '~${S}'}",
        "{url: '${S}', headers: {A: '${S}', 'B C': x}}",
        "{url: '${S}', headers: {A: '${LINES}'}}",
        "{url: x, headers: " CANARY "}",
        "{url: " CANARY ", command: x}",
        "{module: x, config: {a: '${S}', b: '${NOPE}'}}",
        "{config: " CANARY "}",
        "{command: [" CANARY "]}",
        "{env: " CANARY ", command: x}",
        "{args: " CANARY ", command: x}",
    };
    static const char *const VARIABLES[] = {"S=" CANARY, "BAD=" CANARY "\xff",
                                            "LINES=" CANARY "\nX: y", NULL};
    (void)state;
    for (size_t i = 0; i < COUNT(ENTRIES); i++) {
        char text[512];
        hub_config *config = NULL;
        hub_error error = {.text = ""};
        (void)snprintf(text, sizeof text, "toolsets:\n  a: %s\n", ENTRIES[i]);
        hub_err err =
            hub_config_parse("m.yaml", hub_str_of(text), VARIABLES, NULL, &config, &error);
        if (err == HUB_OK || strstr(error.text, CANARY) != NULL) {
            fail_msg("%s gives: %s", ENTRIES[i], error.text);
        }
    }
}

static void test_secret_file(void **state)
{
    static const struct {
        mode_t mode;
        size_t warnings;
    } CASES[] = {{0600, 0}, {0640, 0}, {0644, 1}};
    (void)state;
    char path[128];
    char manifest[512];
    path_of("secret", path, sizeof path);
    write_file("secret", CANARY "\n");
    (void)snprintf(manifest, sizeof manifest,
                   "toolsets:\n  a: {command: x, env: {T: '${file:%s}'}}", path);
    for (size_t i = 0; i < COUNT(CASES); i++) {
        assert_int_equal(chmod(path, CASES[i].mode), 0);
        hub_config *config = load_good(manifest, NULL);
        assert_server_json(config->settings.toolsets[0].config_json,
                           "{\"command\":\"x\",\"env\":{\"T\":\"" CANARY "\"}}");
        assert_int_equal(config->warning_count, CASES[i].warnings);
        if (CASES[i].warnings > 0) {
            assert_non_null(strstr(config->warnings[0],
                                   "/a.yaml:2: toolsets.a.env.T: every user of this machine can "
                                   "read the secret file"));
            assert_null(strstr(config->warnings[0], CANARY));
        }
        hub_config_destroy(config);
    }
    remove_file("secret");
    hub_config *config = NULL;
    hub_error error = {.text = ""};
    assert_int_equal(load_two(manifest, NULL, NULL, NULL, &config, &error), HUB_ENOTFOUND);
    assert_non_null(strstr(error.text, "/a.yaml:2: toolsets.a.env.T: /tmp/"));
    assert_non_null(strstr(error.text, "/secret: No such file or directory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_foreign_file_joins),
        cmocka_unit_test(test_same_toolset_in_two_files),
        cmocka_unit_test(test_same_toolset_in_a_foreign_file),
        cmocka_unit_test(test_ceiling_in_another_file),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_file_bytes),
        cmocka_unit_test(test_file_that_others_may_write),
        cmocka_unit_test(test_number_of_toolsets),
        cmocka_unit_test(test_number_of_profiles_and_filters),
        cmocka_unit_test(test_size_of_expanded_values),
        cmocka_unit_test(test_secrets_stay_out_of_messages),
        cmocka_unit_test(test_secret_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
