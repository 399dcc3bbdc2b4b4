/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/plugin_owner.h"

#include <grp.h>
#include <pwd.h>
#include <string.h>

/* A user, or a group without other members, is shorter; what is longer is refused. */
enum { ENTRY_BYTES = 4096 };

static bool has_no_member_but(char *const *members, const char *name)
{
    for (; *members != NULL; members++) {
        if (strcmp(*members, name) != 0) {
            return false;
        }
    }
    return true;
}

bool hub_plugin_group_is_owners(uid_t owner, gid_t group)
{
    char user_bytes[ENTRY_BYTES];
    char group_bytes[ENTRY_BYTES];
    struct passwd user;
    struct group of;
    struct passwd *found_user = NULL;
    struct group *found_group = NULL;
    if (getpwuid_r(owner, &user, user_bytes, sizeof user_bytes, &found_user) != 0 ||
        found_user == NULL || user.pw_gid != group) {
        return false;
    }
    if (getgrgid_r(group, &of, group_bytes, sizeof group_bytes, &found_group) != 0 ||
        found_group == NULL) {
        return false;
    }
    return strcmp(of.gr_name, user.pw_name) == 0 && has_no_member_but(of.gr_mem, user.pw_name);
}
