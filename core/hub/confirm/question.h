/* SPDX-License-Identifier: Apache-2.0 */
/* What a user is asked who has to confirm a call. Pure functions, any thread. */
#ifndef HUB_HUB_CONFIRM_QUESTION_H
#define HUB_HUB_CONFIRM_QUESTION_H

#include "base/buf.h"

/* Append the question: what is to be called, by its canonical id; its arguments, a raw object; and the
 * reason that the rule gives (may be NULL). What the peers chose is shown in printable ASCII alone,
 * with everything else escaped, and of the arguments HUB_LIMIT_CONFIRM_BYTES at most: nobody
 * can make up lines of the question, or hide some of them. */
void confirm_add_question(hub_str toolset, hub_str name, hub_str arguments, const char *reason,
                          hub_buf *out);

#endif
