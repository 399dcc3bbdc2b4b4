/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The single checks that a plugin has to pass. Each says what was found and what was wanted, and
 * what can be done where that is not plain, in one line; the resolver decides in which order they
 * run and what a refusal means. They change nothing and run no code of the plugin.
 */
#ifndef HUB_MODULES_PLUGIN_CHECK_H
#define HUB_MODULES_PLUGIN_CHECK_H

#include "base/err.h"

/* Whether `name` is [a-z][a-z0-9_-]{0,63}. */
bool hub_plugin_name_is_valid(hub_str name);

/* Nobody but root and this user can change what `path` (absolute) leads to: every part of it,
 * before and after symbolic links are followed, is theirs and not writable by others, nor by a
 * group but its owner's own (plugin_owner.h), as a umask of 002 makes it; an access list makes it
 * no longer the owner's alone. A part above the folder may be writable when it is sticky, as /tmp
 * is: there nobody can replace what is ours. errors:  HUB_EDENIED (names the part, its owner or
 * mode), HUB_ESYSTEM (cannot be looked up) */
HUB_MUST_CHECK hub_err hub_plugin_check_folder(const char *path, hub_error *reterr);

/* Open a regular file and, with `check_trust`, hold the open file and the real folder it is in
 * against the same rule. What is read from the descriptor is what was checked, whatever happens to
 * the name.
 * owns:    *ret_fd, close it
 * errors:  HUB_EDENIED, HUB_EINVAL (not a regular file), HUB_ESYSTEM */
HUB_MUST_CHECK hub_err hub_plugin_open(const char *path, bool check_trust, int *ret_fd,
                                       hub_error *reterr);

/* The bytes are an ELF shared object for this machine, and all there: the dynamic loader maps what
 * the headers promise without looking at the file's size, and would crash on what is missing; and
 * likewise it follows the tables inside (plugin_dynamic.h).
 * errors:  HUB_EPARSE */
HUB_MUST_CHECK hub_err hub_plugin_check_elf(const unsigned char *bytes, size_t size,
                                            hub_error *reterr);

/* The exported table, but for its config_schema_json. Plain integers are checked before any pointer
 * is read. `stem` is the file's name without ".so".
 * errors:  HUB_EABI (another or too new ABI), HUB_EINVAL */
HUB_MUST_CHECK hub_err hub_plugin_check_table(const patchbay_plugin *table, hub_str stem,
                                              hub_error *reterr);

#endif
