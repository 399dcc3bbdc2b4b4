/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a group is: many systems give each user a group of the same name and a umask of 002, so
 * that whatever a user makes may be written by a group in which nobody else is. */
#ifndef HUB_MODULES_PLUGIN_OWNER_H
#define HUB_MODULES_PLUGIN_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether `group` is the own group of `owner`: the primary one, of the same name, without another
 * member. Members are those that the group lists; that no other user has it as the primary one is
 * what the name stands for. What cannot be looked up is not.
 * Thread: any. blocks:  asks the system's user database, which may be on the network */
bool hub_plugin_group_is_owners(uid_t owner, gid_t group);

#endif
