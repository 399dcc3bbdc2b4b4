/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share: classes of those who are asking, and what is judged. */
#ifndef HUB_HUB_ACCESS_CLASSES_H
#define HUB_HUB_ACCESS_CLASSES_H

#include "hub/access/access.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/session.h"
#include "identity/access.h"
#include "tools/exposure.h"

/* Those whom the rules do not tell apart. Lives until the rules are others. */
typedef struct access_class {
    struct access_class *next;
    const hub_access_settings *settings;
    hub_identity *first; /* a reference: of whom `who` was made, and what it borrows is */
    hub_access_class who;
    hub_exposure_filter filter;
} access_class;

typedef struct hub_access {
    access_class *classes;
    size_t count;
    uint64_t generation; /* of classes; from 1 */
    uint64_t since_us;   /* when that began; monotonic */
    hub_base *no_base;   /* what somebody sees for whom there is no memory … */
    hub_exposure *nothing;
    bool is_on;
    bool is_plain; /* what is seen may be called: nothing has conditions, asks, or wants scopes */
    bool looks_at_arguments; /* some rule does */
    bool asks;               /* some rule wants a yes */
    bool may_show_others;    /* since the settings are others, somebody may see something else */
} hub_access;

typedef struct session_access {
    hub_identity *judged; /* a reference: whom `class` is of */
    uint64_t generation;
    access_class *class;
    hub_shown *told[HUB_KINDS]; /* what its client knows of; NULL: nothing yet */
} session_access;

hub_access *hub_access_in(const hub_orchestrator *hub);
session_access *hub_access_of(const hub_session *session);

/* The class of a session as it is now; NULL: out of memory. */
access_class *hub_access_class_get(hub_session *session);

/* All that classes were made for is no more. */
void hub_access_drop_classes(hub_orchestrator *hub);

/* What is judged: an item of a toolset (NULL: of which nothing is known), which is a tool or not. */
hub_access_subject hub_access_subject_of(const hub_toolset *toolset, hub_str name,
                                         const hub_item *item, bool is_tool);

/* What a toolset offers under that name, as the session sees it, or else as the toolset says it now;
 * of resources, also the template that it belongs to. A session's own instance has what all share.
 * NULL: nothing is known by that name. */
const hub_item *access_find_item(const hub_session *session, const hub_toolset *toolset,
                                 hub_kind kind, hub_str name);

/* What answers who lacks scopes; release both with hub_buf_fini. */
void access_add_challenge(const hub_session *session, const hub_access_subject *subject,
                          const hub_access_decision *decision, hub_buf *ret_text,
                          hub_buf *ret_data);

#endif
