/* SPDX-License-Identifier: Apache-2.0 */
/* What shown.c and shown_pages.c share. */
#ifndef HUB_TOOLS_SHOWN_INTERNAL_H
#define HUB_TOOLS_SHOWN_INTERNAL_H

#include "tools/shown.h"

/* Whether two parts show the same of the same section. */
bool shown_same_part(const hub_shown_part *a, const hub_shown_part *b);

#endif
