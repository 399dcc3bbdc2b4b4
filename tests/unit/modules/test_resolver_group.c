/* SPDX-License-Identifier: Apache-2.0 */
/* The resolver and folders and files that a group may write to. Whose a group is, at its edges, is
 * in test_plugin_owner.c. */
#include "resolver_support.h"

#include "fake_accounts.h"

#include <sys/xattr.h>

/* The group of what this test makes has nobody but its owner in it, or somebody else, too. */
static void share_with(const fixture *f, const char *other)
{
    struct stat about;
    assert_int_equal(stat(f->first.text, &about), 0);
    accounts = (fake_accounts){.user = "ann",
                               .uid = about.st_uid,
                               .primary = about.st_gid,
                               .group = "ann",
                               .gid = about.st_gid,
                               .members = {""}};
    (void)snprintf(accounts.members[0], sizeof accounts.members[0], "%s", other);
}

static void assert_scanned(fixture *f, bool is_accepted)
{
    (void)create_and_scan(f);
    assert_int_equal(hub_resolver_find(f->resolver, HUB_STR(ALPHA)) != NULL, is_accepted);
    assert_int_equal(count_refusals(f) == 0, is_accepted);
}

/* As a umask of 002 makes them. */
static void takes_what_the_own_group_of_its_owner_may_write(void **state)
{
    fixture *f = *state;
    path file = write_plugin(f->first.text, ALPHA, FIRST);
    share_with(f, "");
    accounts_asked = 0;
    assert_scanned(f, true);
    assert_int_equal(accounts_asked, 0); /* nobody is looked up who need not be */
    const path *parts[] = {&file, &f->first, &f->scratch};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        assert_int_equal(chmod(parts[i]->text, 0775), 0);
        assert_scanned(f, true);
        assert_true(accounts_asked > 0);
        share_with(f, "bob");
        assert_scanned(f, false);
        share_with(f, "");
        assert_int_equal(chmod(parts[i]->text, 0777), 0);
        assert_scanned(f, false);
        assert_int_equal(chmod(parts[i]->text, 0757), 0);
        assert_scanned(f, false);
        assert_int_equal(chmod(parts[i]->text, 0775), 0);
    }
    assert_scanned(f, true);
    accounts = (fake_accounts){.user = ""};
}

/* An access list that lets uid 65534 write: what the group may do is then the most that it may. */
static void an_access_list_makes_the_group_more_than_its_members(void **state)
{
    fixture *f = *state;
    static const char LIST[] = "\2\0\0\0"                    /* the version */
                               "\x01\0\7\0\xff\xff\xff\xff"  /* the owner */
                               "\x02\0\7\0\xfe\xff\0\0"      /* uid 65534 */
                               "\x04\0\5\0\xff\xff\xff\xff"  /* the group */
                               "\x10\0\7\0\xff\xff\xff\xff"  /* the most of both */
                               "\x20\0\5\0\xff\xff\xff\xff"; /* others */
    path file = write_plugin(f->first.text, ALPHA, FIRST);
    const path *parts[] = {&file, &f->first};
    share_with(f, "");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (setxattr(parts[i]->text, "system.posix_acl_access", LIST, sizeof LIST - 1, 0) != 0) {
            skip(); /* a file system without */
        }
        assert_scanned(f, false);
        assert_int_equal(removexattr(parts[i]->text, "system.posix_acl_access"), 0);
        assert_int_equal(chmod(parts[i]->text, 0775), 0);
        assert_scanned(f, true);
    }
    accounts = (fake_accounts){.user = ""};
}

int main(void)
{
    static const struct CMUnitTest TESTS[] = {
        RESOLVER_TEST(takes_what_the_own_group_of_its_owner_may_write),
        RESOLVER_TEST(an_access_list_makes_the_group_more_than_its_members),
    };
    (void)alarm(GUARD_SECONDS);
    return cmocka_run_group_tests(TESTS, NULL, NULL);
}
