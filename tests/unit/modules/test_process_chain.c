/* SPDX-License-Identifier: Apache-2.0 */
/* Hubs that start hubs: who is above whom, and what is refused (modules/process_chain.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/limits.h"
#include "modules/process_chain.h"
#include "modules/process_env.h"

static char folder[] = "/tmp/patchbay-chain-XXXXXX";
static char self[512];

static void touch(const char *name)
{
    FILE *file = fopen(name, "we");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
}

static hub_err join_one(const char *file, const char *tool, hub_error *reterr)
{
    return hub_chain_join(&file, 1, tool, reterr);
}

static void begin(const char *value)
{
    assert_int_equal(setenv(HUB_CHAIN_VARIABLE, value, 1), 0);
}

static const char *current(void)
{
    const char *value = getenv(HUB_CHAIN_VARIABLE);
    return value != NULL ? value : "";
}

static void refuses_what_is_above(void **state)
{
    (void)state;
    hub_error why;
    begin("-");
    assert_int_equal(join_one("a.json", NULL, &why), HUB_OK);
    assert_int_equal(join_one("b.json", NULL, &why), HUB_OK);
    assert_int_equal(join_one("./a.json", NULL, &why), HUB_EEXIST);
    assert_non_null(strstr(why.text, "./a.json"));
    assert_non_null(strstr(why.text, "2 levels above"));
    assert_non_null(strstr(why.text, "remove the server entry"));
    assert_int_equal(join_one("b.json", NULL, &why), HUB_EEXIST);
    assert_non_null(strstr(why.text, "1 level above"));
    assert_int_equal(join_one("link.json", NULL, &why), HUB_EEXIST); /* leads to a.json */
}

static void tells_several_files_from_one(void **state)
{
    (void)state;
    const char *const both[] = {"a.json", "b.json"};
    const char *const swapped[] = {"b.json", "a.json"};
    hub_error why;
    begin("-");
    assert_int_equal(hub_chain_join(both, 2, NULL, &why), HUB_OK);
    assert_int_equal(join_one("a.json", NULL, &why), HUB_OK);
    assert_int_equal(hub_chain_join(swapped, 2, NULL, &why), HUB_OK);
    assert_int_equal(hub_chain_join(both, 2, NULL, &why), HUB_EEXIST);
}

static void calls_may_be_made_by_what_serves(void **state)
{
    (void)state;
    hub_error why;
    begin("-");
    assert_int_equal(join_one("a.json", NULL, &why), HUB_OK);
    assert_int_equal(join_one("a.json", "x", &why), HUB_OK);
    assert_int_equal(join_one("a.json", "y", &why), HUB_OK);
    assert_int_equal(join_one("a.json", "x", &why), HUB_EEXIST);
    assert_int_equal(join_one("a.json", NULL, &why), HUB_EEXIST);
    begin("-");
    assert_int_equal(join_one("a.json", "x", &why), HUB_OK);
    assert_int_equal(join_one("a.json", NULL, &why), HUB_EEXIST);
}

/* Hubs without a file of their own have nothing to be compared by: they are only counted. */
static void counts_what_it_cannot_tell_apart(void **state)
{
    (void)state;
    hub_error why;
    assert_int_equal(unsetenv(HUB_CHAIN_VARIABLE), 0);
    for (int i = 0; i < HUB_LIMIT_CHAIN; i++) {
        assert_int_equal(i % 2 == 0 ? hub_chain_join(NULL, 0, NULL, &why)
                                    : join_one("/dev/fd/no-such", NULL, &why),
                         HUB_OK);
    }
    assert_string_equal(current(), "-.-.-.-.-.-.-.-");
    assert_int_equal(hub_chain_join(NULL, 0, NULL, &why), HUB_ELIMIT);
    assert_non_null(strstr(why.text, "more than 8 hubs"));
}

static void takes_a_chain_of_the_longest_entries(void **state)
{
    (void)state;
    char tool[] = "0";
    hub_error why;
    begin("-");
    for (int i = 1; i < HUB_LIMIT_CHAIN; i++) {
        assert_int_equal(join_one("a.json", tool, &why), HUB_OK);
        tool[0]++;
    }
    assert_int_equal(join_one("a.json", "0", &why), HUB_EEXIST);
    assert_int_equal(join_one("a.json", tool, &why), HUB_ELIMIT);
}

/* What no hub has written stands for no hubs. */
static void ignores_what_is_no_chain(void **state)
{
    (void)state;
    static const char *const NONE[] = {
        "",
        "nonsense",
        ".",
        "-.",
        ".-",
        "0123456789abcdeg",
        "0123456789abcdef.",
        "0123456789abcdef+0123",
        "0123456789abcdef-0123456789abcdef",
        "0123456789ABCDEF",
    };
    char huge[4096];
    hub_error why;
    for (size_t i = 0; i < sizeof NONE / sizeof NONE[0]; i++) {
        begin(NONE[i]);
        assert_int_equal(join_one("a.json", NULL, &why), HUB_OK);
        assert_int_equal(strlen(current()), 16);
    }
    memset(huge, '-', sizeof huge);
    huge[sizeof huge - 1] = '\0';
    begin(huge);
    assert_int_equal(join_one("a.json", NULL, &why), HUB_OK);
    assert_int_equal(strlen(current()), 16);
}

static hub_err admit(const char *program, const char *const *argv, const char *cwd, hub_error *why)
{
    return hub_chain_admit(program, argv, cwd, why);
}

static void compares_the_program_and_its_file(void **state)
{
    (void)state;
    char other[600];
    hub_error why;
    (void)snprintf(other, sizeof other, "%s/b.json", folder);
    const char *const same[][6] = {
        {"patchbay", "--config", "a.json"},
        {"patchbay", "-c", "a.json"},
        {"patchbay", "--config=./a.json"},
        {"patchbay", "-c=link.json"},
        {"x", "list", "tools", "--config", "a.json"},
    };
    const char *const another[][6] = {
        {"patchbay"},
        {"patchbay", "--config"},
        {"patchbay", "--config", "b.json"},
        {"patchbay", "--config", "a.json", "--config", "b.json"},
        {"patchbay", "--config", "no-such.json"},
        {"patchbay", "--configure", "a.json"},
        {"patchbay", "call", "x", "--config", "a.json"},
        {"patchbay", "module-host", "a.json"},
    };
    begin("-");
    assert_int_equal(join_one("a.json", NULL, &why), HUB_OK);
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        assert_int_equal(admit(self, same[i], folder, &why), HUB_EEXIST);
        assert_non_null(strstr(why.text, "start the hub itself"));
        assert_int_equal(admit(self, same[i], NULL, &why), HUB_EEXIST);
        assert_int_equal(admit(self, same[i], "/", &why), HUB_OK); /* another file there */
        assert_int_equal(admit("/bin/sh", same[i], folder, &why), HUB_OK);
        assert_int_equal(admit("/no/such/program", same[i], folder, &why), HUB_OK);
    }
    for (size_t i = 0; i < sizeof another / sizeof another[0]; i++) {
        assert_int_equal(admit(self, another[i], folder, &why), HUB_OK);
    }
}

static const char *value_in(const char *const *env)
{
    static const char WANTED[] = HUB_CHAIN_VARIABLE "=";
    const char *found = NULL;
    for (; *env != NULL; env++) {
        if (strncmp(*env, WANTED, sizeof WANTED - 1) == 0) {
            assert_null(found); /* once */
            found = *env + sizeof WANTED - 1;
        }
    }
    return found;
}

static void children_get_it_and_entries_cannot_change_it(void **state)
{
    (void)state;
    static const char *const INHERITED[] = {"HOME=/h", "SECRET=s", HUB_CHAIN_VARIABLE "=-", NULL};
    static const char *const ADDED[] = {HUB_CHAIN_VARIABLE "=x", "A=b", NULL};
    for (int inherit_all = 0; inherit_all < 2; inherit_all++) {
        const char **env;
        hub_error why;
        assert_int_equal(hub_process_env_build(INHERITED, inherit_all, ADDED, &env, &why), HUB_OK);
        assert_string_equal(value_in(env), "-");
        free(env);
    }
}

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL || chdir(folder) != 0) {
        return -1;
    }
    touch("a.json");
    touch("b.json");
    return symlink("a.json", "link.json");
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink("a.json");
    (void)unlink("b.json");
    (void)unlink("link.json");
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_is_above),
        cmocka_unit_test(tells_several_files_from_one),
        cmocka_unit_test(calls_may_be_made_by_what_serves),
        cmocka_unit_test(counts_what_it_cannot_tell_apart),
        cmocka_unit_test(takes_a_chain_of_the_longest_entries),
        cmocka_unit_test(ignores_what_is_no_chain),
        cmocka_unit_test(compares_the_program_and_its_file),
        cmocka_unit_test(children_get_it_and_entries_cannot_change_it),
    };
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    self[len > 0 ? len : 0] = '\0';
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
