/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exposure policy, in its order of decision: toolsets by allowlist, denylist and maxActive when
 * they are enabled; tools by filters (AND-composed) and guardrails, which bind list and call alike
 * because both read the same view. Pure functions over immutable values: no I/O, no state, any
 * thread.
 */
#ifndef HUB_TOOLS_POLICY_H
#define HUB_TOOLS_POLICY_H

#include "tools/catalog.h"
#include "tools/rules.h"

/* A toolset as filters see it: its key, and what the manifest adds to each of its tools. */
typedef struct hub_filter_subject {
    hub_str toolset;
    const hub_names *tags; /* further tags; may be NULL */
    const char *category;  /* replaces the tool's own; may be NULL */
    bool trusts_tags;      /* tags and category that the tool gives itself count, too */
    bool has_overrides;    /* some of its tools may have tags or a category by an override */
} hub_filter_subject;

/* May this toolset be enabled beside `active_count` active ones? Allowlist, then denylist, then
 * maxActive.
 * errors:  HUB_EDENIED (not allowed, or denied), HUB_ELIMIT (max_active); the text says which */
HUB_MUST_CHECK hub_err hub_policy_admit_toolset(const hub_policy_rules *rules, hub_str toolset,
                                                size_t active_count, hub_error *reterr);

/* Whether the lists allow a toolset, whatever is active: else nothing is said of it either. */
bool hub_policy_allows_toolset(const hub_policy_rules *rules, hub_str toolset);

/* Whether the filters could expose some tool of a toolset of which no tool is known: false where one
 * of them hides all of them, whatever they are called. */
bool hub_policy_may_expose(const hub_policy_rules *rules, const hub_filter_subject *subject);

/* One filter over one tool; false for a NULL tool. */
bool hub_filter_matches(const hub_filter_rule *rule, const hub_filter_subject *subject,
                        const hub_item *tool);

/* Is this tool exposed? All filters, then the guardrails, which can deny but never allow again.
 * False for a NULL tool. */
bool hub_policy_exposes(const hub_policy_rules *rules, const hub_filter_subject *subject,
                        const hub_item *tool);

#endif
