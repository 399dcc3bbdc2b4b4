/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a group is, at its edges. What follows for plugins is in test_resolver.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_accounts.h"
#include "modules/plugin_owner.h"

#define ANN .user = "ann", .uid = 1000, .primary = 1000
#define HER .group = "ann", .gid = 1000

static const struct {
    const char *what;
    fake_accounts accounts;
    gid_t group;
    bool is_owners;
} CASES[] = {
    {"her own", {ANN, HER}, 1000, true},
    {"that lists herself", {ANN, HER, .members = {"ann"}}, 1000, true},
    {"that lists herself twice", {ANN, HER, .members = {"ann", "ann"}}, 1000, true},
    {"with another member", {ANN, HER, .members = {"bob"}}, 1000, false},
    {"with another member behind her", {ANN, HER, .members = {"ann", "bob"}}, 1000, false},
    {"with a member that begins like her", {ANN, HER, .members = {"anna"}}, 1000, false},
    {"of another name", {ANN, .group = "users", .gid = 1000}, 1000, false},
    {"of a name that begins like hers", {ANN, .group = "anna", .gid = 1000}, 1000, false},
    {"that is not her primary one", {ANN, .group = "ann", .gid = 2000}, 2000, false},
    {"of a user that is not there", {HER}, 1000, false},
    {"of another user", {.user = "ann", .uid = 1001, .primary = 1000, HER}, 1000, false},
    {"that is not there", {ANN}, 1000, false},
    {"of a user that cannot be looked up", {ANN, HER, .user_error = EIO}, 1000, false},
    {"of a user that is too long", {ANN, HER, .user_error = ERANGE}, 1000, false},
    {"that cannot be looked up", {ANN, HER, .group_error = EIO}, 1000, false},
    {"with too many members", {ANN, HER, .group_error = ERANGE}, 1000, false},
    {"root's", {.user = "root", .uid = 0, .primary = 0, .group = "root", .gid = 0}, 0, true},
};

static void knows_whose_a_group_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        accounts = CASES[i].accounts;
        uid_t owner = CASES[i].group == 0 ? 0 : 1000;
        if (hub_plugin_group_is_owners(owner, CASES[i].group) != CASES[i].is_owners) {
            fail_msg("a group %s", CASES[i].what);
        }
    }
}

int main(void)
{
    static const struct CMUnitTest TESTS[] = {
        cmocka_unit_test(knows_whose_a_group_is),
    };
    return cmocka_run_group_tests(TESTS, NULL, NULL);
}
