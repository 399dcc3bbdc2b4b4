/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What somebody may see and do, by the rules (rules.h) and by the scopes that tools need. Pure
 * functions over immutable values: no I/O, no state.
 *
 * A tool is seen unless, whatever the arguments of a call are, the first rule that matches denies
 * it. What the arguments of a call change is decided at the call.
 *
 * Any thread.
 */
#ifndef HUB_IDENTITY_ACCESS_H
#define HUB_IDENTITY_ACCESS_H

#include "base/buf.h"
#include "base/limits.h"
#include "identity/identity.h"
#include "identity/rules.h"
#include "tools/override.h"

/* An access class: the rules whose `who` fits, a bit for each, and the toolsets that a proxy permits.
 * People of one class see the same. */
typedef struct hub_access_class {
    uint64_t bits[(HUB_LIMIT_ACCESS_RULES + 63) / 64];
    const hub_names *toolsets; /* NULL: all. Borrowed of the identity */
} hub_access_class;

bool hub_access_class_equal(const hub_access_class *a, const hub_access_class *b);

/* The class of somebody who came by a transport into a profile; the identity lives as long. */
void hub_access_class_of(const hub_access_settings *settings, const hub_identity *identity,
                         const char *profile, const char *transport, hub_access_class *ret_class);

/* What is judged: a tool, a resource, a template or a prompt. What a server says of its own tools is
 * here only where it is trusted. */
typedef struct hub_access_subject {
    hub_str toolset;
    hub_str name;           /* the toolset's own */
    const hub_names *tags;  /* of the manifest; may be NULL */
    hub_str tags_json;      /* of a tool that is trusted: an array; or empty */
    const char *category;   /* of the manifest, instead of the tool's own; may be NULL */
    hub_str category_json;  /* of a tool that is trusted: a string; or empty */
    bool is_read_only;      /* … */
    bool is_destructive;    /* … and true where nobody that is trusted said otherwise */
    bool has_unknown_tags;  /* of a toolset that nothing is known of: its tools may have tags … */
    bool has_unknown_hints; /* … and may be read-only, since their server is trusted */
    bool is_own;            /* the hub's own: only rules that name "_meta:…" are about it */
    const hub_names *scopes;      /* that all of the toolset needs; may be NULL */
    const hub_names *tool_scopes; /* of some tools: "GLOB\nSCOPE SCOPE"; may be NULL */
} hub_access_subject;

/* What the operator says of a tool counts, whoever is trusted. The override is borrowed. */
void hub_access_take_override(hub_access_subject *subject, const hub_override *override);

typedef struct hub_access_decision {
    hub_access_verdict verdict;
    const hub_access_rule *rule; /* that decided; NULL: the default */
    bool is_conditional;         /* a rule up to that one looked at arguments */
} hub_access_decision;

/* Whether somebody of that class sees it. */
bool hub_access_shows(const hub_access_settings *settings, const hub_access_class *who,
                      const hub_access_subject *subject);

/* Whether somebody of that class may see something of a toolset of which nothing is known but what
 * the manifest says of it: a subject without a name. */
bool hub_access_may_show(const hub_access_settings *settings, const hub_access_class *who,
                         const hub_access_subject *toolset);

/* What is to be done with a call. `arguments` is a raw JSON object.
 * errors:  HUB_EINVAL (arguments that a rule looks at have the same key twice, or two that differ in
 *          case alone where the rule looks), HUB_ELIMIT (too many values to look at), HUB_ENOMEM;
 *          the text is for the client */
HUB_MUST_CHECK hub_err hub_access_decide(const hub_access_settings *settings,
                                         const hub_identity *identity, const hub_access_class *who,
                                         const hub_access_subject *subject, hub_str arguments,
                                         hub_access_decision *ret_decision, hub_error *reterr);

/* Append the scopes that a call needs, with spaces between: those of the toolset, of the tool, and
 * of the rule that challenges. */
void hub_access_add_scopes(const hub_access_subject *subject, const hub_access_decision *decision,
                           hub_buf *out);

/* How a manifest spells a verdict. */
const char *hub_access_verdict_name(hub_access_verdict verdict);

#endif
