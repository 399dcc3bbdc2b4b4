/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded list of names for a line of the log, or for people: as many as fit, and how many more
 * there are ("a,b,c and 97 more"). Any thread.
 */
#ifndef HUB_BASE_NAME_LIST_H
#define HUB_BASE_NAME_LIST_H

#include "base/limits.h"
#include "base/str.h"

/* All zero: empty. */
typedef struct hub_name_list {
    size_t count; /* of names that were added */
    size_t shown; /* of them, those in `text` */
    size_t len;   /* of these */
    char text[HUB_LIMIT_NAME_LIST_BYTES];
} hub_name_list;

/* Add a name; `text` is whole, and ends with a NUL, at any time. Behind the first that does not fit
 * names are only counted. */
void hub_name_list_add(hub_name_list *list, hub_str name);

#endif
