/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/mapped_uri.h"

#define UI_SCHEME    "ui://"
#define SKILL_SCHEME "skill://"

static const struct {
    hub_str lead;   /* stands in front of the toolset's key, which ends at a slash */
    hub_str scheme; /* of the URIs that are written so, and taken off them; empty: any other */
} FORMS[] = {
    {{.ptr = UI_SCHEME "patchbay.", .len = sizeof UI_SCHEME "patchbay." - 1},
     {.ptr = UI_SCHEME, .len = sizeof UI_SCHEME - 1}},
    {{.ptr = SKILL_SCHEME "patchbay.", .len = sizeof SKILL_SCHEME "patchbay." - 1},
     {.ptr = SKILL_SCHEME, .len = sizeof SKILL_SCHEME - 1}},
    {{.ptr = "patchbay:", .len = 9}, {.ptr = "", .len = 0}},
};

enum { FORM_COUNT = sizeof FORMS / sizeof FORMS[0] };

void hub_mapped_uri_add(hub_str toolset, hub_str uri, hub_buf *out)
{
    size_t form = 0;
    while (!hub_str_starts(uri, FORMS[form].scheme)) {
        form++; /* the last one takes all */
    }
    hub_buf_add(out, FORMS[form].lead);
    hub_buf_add(out, toolset);
    hub_buf_add_char(out, '/');
    hub_buf_add(out, hub_str_from(uri, FORMS[form].scheme.len));
}

bool hub_mapped_uri_read(hub_str uri, hub_str *ret_toolset, hub_buf *own_uri)
{
    for (size_t form = 0; form < FORM_COUNT; form++) {
        if (!hub_str_starts(uri, FORMS[form].lead)) {
            continue;
        }
        hub_str rest = hub_str_from(uri, FORMS[form].lead.len);
        const char *slash = memchr(rest.ptr, '/', rest.len);
        if (slash != NULL) {
            hub_buf_add(own_uri, FORMS[form].scheme);
            hub_buf_add(own_uri, hub_str_between(slash + 1, rest.ptr + rest.len));
            *ret_toolset = hub_str_between(rest.ptr, slash);
            return true;
        }
    }
    return false;
}
