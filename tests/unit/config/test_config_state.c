/* SPDX-License-Identifier: Apache-2.0 */
/* Where the store is, what its key is, and whose records are kept there. */
#include "config_support.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void expect(const char *text, const char *const *env, const char *place, const char *key)
{
    hub_config *config = parse_with("/etc/hub.yaml", text, env, NULL);
    assert_string_equal(config->settings.state.place, place);
    if (key == NULL) {
        assert_null(config->settings.state.key);
    } else {
        assert_string_equal(config->settings.state.key, key);
    }
    hub_config_destroy(config);
}

/* XDG Base Directory Specification: what is not absolute is ignored. */
static void test_place(void **state)
{
    (void)state;
    const char *const none = "toolsets: {}";
    expect(none, ENV("XDG_STATE_HOME=/s", "HOME=/h"), "/s/patchbay/state.db", NULL);
    expect(none, ENV("HOME=/h"), "/h/.local/state/patchbay/state.db", NULL);
    expect(none, ENV("XDG_STATE_HOME=s", "HOME=/h"), "/h/.local/state/patchbay/state.db", NULL);
    expect(none, ENV("STATE_DIRECTORY=/var/lib/a:/var/lib/b", "HOME=/h"), "/var/lib/a/state.db",
           NULL);
    expect(none, ENV("HOME=h"), "off", NULL);
    expect(none, NULL, "off", NULL);
    expect("state: off", ENV("HOME=/h"), "off", NULL);
    expect("state: x/y.db", ENV("HOME=/h"), "/etc/x/y.db", NULL);
    expect("state: '${HOME}/z.db'", ENV("HOME=/h"), "/h/z.db", NULL);
    expect("state: {key: k}", ENV("HOME=/h"), "/h/.local/state/patchbay/state.db", "/etc/k");
    expect("state: {path: /s.db, key: /k}", ENV("HOME=/h"), "/s.db", "/k");
    expect("state: {path: off}", ENV("HOME=/h"), "off", NULL);
}

static void test_what_is_wrong(void **state)
{
    (void)state;
    expect_refused("h.yaml", HUB_STR("state: /x/"), NULL, HUB_EINVAL,
                   "h.yaml:1: state: wanted a file, like ./state.db, found a folder: \"/x/\"");
    expect_refused("h.yaml", HUB_STR("state: {pth: x}"), NULL, HUB_EINVAL,
                   "h.yaml:1: state.pth: unknown key; did you mean \"path\"?");
}

/* A name that somebody gave, or the file; from memory there is none. */
static void test_scope(void **state)
{
    (void)state;
    hub_config *config = parse("/etc/hub.yaml", "hub: {name: our tools}");
    assert_string_equal(config->settings.state.scope, "our tools");
    hub_config_destroy(config);

    char folder[] = "/tmp/patchbay-scope-XXXXXX";
    char file[64];
    char link[64];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(file, sizeof file, "%s/hub.yaml", folder);
    (void)snprintf(link, sizeof link, "%s/link.yaml", folder);
    const char *const files[] = {link};
    FILE *out = fopen(file, "w");
    assert_true(out != NULL && fputs("toolsets: {}\n", out) >= 0 && fclose(out) == 0);
    assert_int_equal(symlink("hub.yaml", link), 0);
    assert_int_equal(hub_config_load(files, 1, NULL, NULL, &config, NULL), HUB_OK);
    assert_string_equal(config->settings.state.scope, file); /* the same by whichever name */
    hub_config_destroy(config);
    out = fopen(file, "w");
    assert_true(out != NULL && fputs("hub: {name: patchbay}\n", out) >= 0 && fclose(out) == 0);
    assert_int_equal(hub_config_load(files, 1, NULL, NULL, &config, NULL), HUB_OK);
    assert_string_equal(config->settings.state.scope,
                        "patchbay"); /* given, though as it is anyhow */
    hub_config_destroy(config);
    (void)unlink(link);
    (void)unlink(file);
    (void)rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_place),
        cmocka_unit_test(test_what_is_wrong),
        cmocka_unit_test(test_scope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
