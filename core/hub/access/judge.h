/* SPDX-License-Identifier: Apache-2.0 */
/* What the station does with calls: they are decided when they come, when they leave for their
 * servers after they were held, and when their clients answer what they were asked. */
#ifndef HUB_HUB_ACCESS_JUDGE_H
#define HUB_HUB_ACCESS_JUDGE_H

#include "base/digest.h"
#include "hub/access/access.h"
#include "hub/kernel/way.h"
#include "identity/identity.h"

/* What of a call outlives the loop's turn, for when its client has answered a question. */
enum { ACCESS_KEPT_BYTES = 160 }; /* of names, without another allocation: nearly all have room */

typedef struct kept_call {
    bool is_there;
    hub_str toolset; /* its key */
    hub_str name;
    hub_str name_json;
    hub_str arguments; /* empty: no rule looked at them then */
    char *longer;      /* on the heap, what `text` has no room for; NULL: nothing */
    char text[ACCESS_KEPT_BYTES];
} kept_call;

/* With a call. */
typedef struct call_access {
    hub_identity *identity; /* a reference: the credential of its request; NULL: not noted yet */
    uint64_t generation;    /* of classes, when it was decided last; 0: it was not */
    hub_kind kind;
    bool is_completion; /* it only asks what could be written */
    bool wants_yes;     /* a rule lets it go on when its user says so … */
    bool has_yes;       /* … who has */
    const char *reason; /* of that rule; good while the generation is the same */
    unsigned char definition[HUB_DIGEST_BYTES]; /* of what its user was asked about */
    kept_call kept; /* what it is about, where its client can be asked something */
} call_access;

/* Whether a call may pass by, and what is noted of it if it is held, or its client is asked
 * something: see hub_gate. */
bool access_is_open(const hub_call *call, const hub_way *way);
void access_note_held(hub_call *call, const hub_way *way);
void access_note_asked(hub_call *call);

hub_verdict access_begin(hub_call *call, hub_way *way);
hub_verdict access_hand_over(hub_call *call, hub_handover *handover);
hub_verdict access_client_returns(hub_call *call);

#endif
