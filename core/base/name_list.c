/* SPDX-License-Identifier: Apache-2.0 */
#include "base/name_list.h"

#include <stdio.h>

/* " and 18446744073709551615 more", with its NUL. */
enum { MORE_BYTES = 31 };

void hub_name_list_add(hub_name_list *list, hub_str name)
{
    size_t comma = list->len > 0 ? 1 : 0;
    bool fits =
        list->shown == list->count && name.len < sizeof list->text - list->len - comma - MORE_BYTES;
    list->count++;
    if (fits) {
        list->text[list->len] = ',';
        memcpy(list->text + list->len + comma, name.len > 0 ? name.ptr : "", name.len);
        list->len += comma + name.len;
        list->text[list->len] = '\0';
        list->shown++;
    } else {
        (void)snprintf(list->text + list->len, sizeof list->text - list->len, "%s%zu%s",
                       list->shown > 0 ? " and " : "", list->count - list->shown,
                       list->shown > 0 ? " more" : "");
    }
}
