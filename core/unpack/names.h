/* SPDX-License-Identifier: Apache-2.0 */
/* Which names an archive may have. */
#ifndef HUB_UNPACK_NAMES_H
#define HUB_UNPACK_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* What is wrong with a name; NULL: nothing. A folder's name ends with '/'. */
const char *unpack_name_problem(const char *name);

typedef struct unpack_names unpack_names;

/* NULL: out of memory. */
unpack_names *unpack_names_create(void);

/* Add a good name, and the folders on the way to it. False: out of memory. */
bool unpack_names_add(unpack_names *names, const char *name);

/* A name that two want, or that differs from another one only in capitals, or that is a file and a
 * folder; NULL: none. */
const char *unpack_names_clash(unpack_names *names);

#endif
