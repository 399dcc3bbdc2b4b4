/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the dashboard (web/), which the program has in itself. Immutable, any thread. */
#ifndef HUB_WEB_UI_FILES_H
#define HUB_WEB_UI_FILES_H

#include "base/str.h"

typedef struct hub_web_file {
    const char *name; /* beneath /ui/; empty: the page itself */
    const char *type; /* media type */
    const char *begin;
    const char *end;
} hub_web_file;

/* NULL: there is none. */
const hub_web_file *hub_web_file_find(hub_str name);

static inline hub_str hub_web_file_text(const hub_web_file *file)
{
    return hub_str_between(file->begin, file->end);
}

#endif
