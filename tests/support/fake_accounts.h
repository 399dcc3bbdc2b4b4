/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The users and groups of the machine, as a unit test wants them: one user and one group. The
 * linker puts these in front of getpwuid_r and getgrgid_r (a test that includes this file is linked
 * with
 * --wrap). Without a name there is no such user, or group.
 */
#ifndef PATCHBAY_TESTS_FAKE_ACCOUNTS_H
#define PATCHBAY_TESTS_FAKE_ACCOUNTS_H

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stddef.h>

typedef struct fake_accounts {
    char user[8];
    uid_t uid;
    gid_t primary;
    int user_error; /* of the look-up; 0: none */
    char group[8];
    gid_t gid;
    int group_error;
    char members[2][8];
} fake_accounts;

static fake_accounts accounts;
static size_t accounts_asked;

int __wrap_getpwuid_r(uid_t uid, struct passwd *into, char *bytes, size_t size,
                      struct passwd **ret_found);
int __wrap_getgrgid_r(gid_t gid, struct group *into, char *bytes, size_t size,
                      struct group **ret_found);

int __wrap_getpwuid_r(uid_t uid, struct passwd *into, char *bytes, size_t size,
                      struct passwd **ret_found)
{
    (void)bytes;
    (void)size;
    accounts_asked++;
    *ret_found = NULL;
    if (accounts.user_error == 0 && accounts.user[0] != '\0' && uid == accounts.uid) {
        *into =
            (struct passwd){.pw_name = accounts.user, .pw_uid = uid, .pw_gid = accounts.primary};
        *ret_found = into;
    }
    return accounts.user_error;
}

int __wrap_getgrgid_r(gid_t gid, struct group *into, char *bytes, size_t size,
                      struct group **ret_found)
{
    static char *members[3];
    (void)bytes;
    (void)size;
    accounts_asked++;
    *ret_found = NULL;
    for (size_t i = 0; i < 2; i++) {
        members[i] = accounts.members[i][0] != '\0' ? accounts.members[i] : NULL;
    }
    if (accounts.group_error == 0 && accounts.group[0] != '\0' && gid == accounts.gid) {
        *into = (struct group){.gr_name = accounts.group, .gr_gid = gid, .gr_mem = members};
        *ret_found = into;
    }
    return accounts.group_error;
}

#endif
