/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rule decides about a tool for somebody: what access_begin does with a call, told and not done.
 * Thread: [loop].
 */
#ifndef HUB_HUB_ACCESS_EXPLAIN_H
#define HUB_HUB_ACCESS_EXPLAIN_H

#include "base/buf.h"
#include "hub/kernel/types.h"
#include "identity/identity.h"
#include "tools/catalog.h"

/* Who would call what. */
typedef struct hub_access_question {
    const hub_identity *who;
    const char *profile;
    const char *transport;
    const hub_toolset *toolset;
    const hub_item *item; /* NULL: its server has not told it */
    hub_str name;         /* the toolset's own */
    hub_str arguments;    /* a raw JSON object, as the server would get it */
    bool shows_rules;     /* where a rule stands is told */
} hub_access_question;

/* Append an object: `decision` (allow, deny, confirm, challenge, or refuse: of the arguments), `listed`,
 * `conditional` (other arguments may decide otherwise), `reason`, `rule` (where it stands; null: the
 * default), `scopes` (that a call needs). What does not apply is left out. */
void hub_access_explain(const hub_orchestrator *hub, const hub_access_question *question,
                        hub_buf *out);

#endif
