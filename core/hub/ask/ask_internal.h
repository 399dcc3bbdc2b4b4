/* SPDX-License-Identifier: Apache-2.0 */
/* What ask.c shares with input_required.c and reissue.c. Nobody else includes it. */
#ifndef HUB_HUB_ASK_ASK_INTERNAL_H
#define HUB_HUB_ASK_ASK_INTERNAL_H

#include "hub/ask/ask.h"
#include "hub/ask/input_required.h"
#include "hub/ask/outcome_room.h"
#include "hub/ask/request_state.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"
#include "wire/input_request.h"

typedef struct hub_question hub_question;
typedef struct hub_asking hub_asking;
typedef struct hub_asks hub_asks;

/* How a question ended, as patchbay_on_answer; `json` is borrowed. It is freed afterwards. */
typedef void hub_question_end(const hub_question *question, int32_t status, hub_str json);

struct hub_question {
    hub_question *next;
    hub_asks *asks;
    hub_binding *binding; /* not closed before the question has ended; NULL: the hub itself asks */
    uint64_t call;        /* an id: the call may be over */
    hub_question_end *on_end;
    patchbay_on_answer *on_answer; /* of the plugin, called by on_end with … */
    void *arg;                     /* … this */
    hub_on_yes_or_no *on_said;     /* of a station, when the hub itself asks */
    hub_input_kind kind;
    uint64_t number; /* id of the request to a legacy client; 0: not sent yet */
    uint64_t asked_ms;
    hub_str key;        /* text; raw JSON if reissue.c asks */
    hub_str params;     /* raw; empty for none */
    hub_str answer;     /* while it is being told */
    const char *reason; /* why there was no answer */
    char text[];
};

/* A question to be. Spans are copied. */
typedef struct hub_new_question {
    hub_question_end *on_end;
    patchbay_on_answer *on_answer;
    void *arg;
    hub_on_yes_or_no *on_said;
    hub_input_kind kind;
    hub_str key;
    hub_str params;
} hub_new_question;

/* The questions of a whole hub. */
struct hub_asks {
    hub_orchestrator *hub;
    hub_key key;
    uint64_t last_number;  /* of a request to a legacy client */
    uint64_t last_serial;  /* of a requestState */
    uint64_t turn;         /* of the loop, counted whenever questions go out */
    hub_asking *due_first; /* calls with something to do when this turn ends */
    hub_asking *due_last;
    hub_question *ended; /* without an answer, not told yet; newest first */
    hub_asking *waiting; /* calls of modern clients */
    size_t waiting_count;
    hub_outcome_rooms kept; /* their outcomes */
    ev_prepare turn_ends;
    ev_idle stay_awake; /* while something is due, the loop does not block */
};

/* What a call asks, or may ask. */
struct hub_asking {
    hub_call *call;
    hub_asks *asks;
    hub_asking *due_next;
    hub_asking *due_prev;
    uint64_t due_turn;   /* 0: nothing is due */
    hub_question *first; /* open, oldest first */
    ev_timer expiry;
    const char *reason; /* why the rest will get no answer */

    /* of a modern client: input_required.c */
    hub_asking *waiting_next;
    hub_asking *waiting_prev;
    bool is_waiting;
    ev_timer gather; /* until those that are asked together are there */
    bool has_gathered;
    bool is_away; /* the client has been answered; the call is no session's until it is back */
    uint64_t serial;
    char *principal;
    char *whose;      /* whose share it takes (hub_session_whose) */
    hub_str supplied; /* answers that came unasked with the request, an object; owned */
    bool is_finished; /* while the client was away; the outcome is kept */
    hub_outcome outcome;
    hub_outcome_room room;

    struct hub_reissue *reissue; /* of a legacy client: reissue.c */
};

/* With a call. */
typedef struct call_ask {
    hub_asking *asking;                     /* NULL: it asks nothing */
    bool has_digest;                        /* a modern client that can be asked; then … */
    unsigned char digest[HUB_DIGEST_BYTES]; /* … what its retries have to have */
    char *opened;                           /* its params without a seal; NULL: they had none */
    hub_buf changed;                        /* what its outcome has become */
} call_ask;

/* With a session: see elicitation.h; newest first. */
typedef struct session_ask {
    struct hub_elicitation *elicitations;
} session_ask;

/* With a binding. */
typedef struct binding_ask {
    uint64_t roots_of; /* number of the session whose roots it was told last; 0: none (roots.h) */
} binding_ask;

call_ask *hub_ask_of(hub_call *call);         /* made when it is not there */
call_ask *hub_ask_find(const hub_call *call); /* NULL: it is not there */
session_ask *hub_ask_in(const hub_session *session);
binding_ask *hub_ask_told(const hub_binding *binding);
hub_asks *hub_ask_all(const hub_orchestrator *hub);

/* What a call asks; NULL: nothing. */
hub_asking *hub_asking_find(const hub_call *call);

/* The call's, made when it is not there; NULL when out of memory. */
hub_asking *hub_asking_of(hub_call *call);

/* Whether the client of a call can be asked this now, as far as it goes by its client. */
bool hub_asking_fits(const hub_call *call, const hub_input_request *what);

/* Ask. The capability has been checked.
 * returns: PATCHBAY_OK, PATCHBAY_EINVAL (key used already), PATCHBAY_ELIMIT, PATCHBAY_ENOMEM */
HUB_MUST_CHECK int32_t hub_asking_add(hub_call *call, const hub_new_question *question);

/* Whether an open question of the call has that key. */
bool hub_asking_has_key(const hub_asking *asking, hub_str key);

/* Take the open question of a toolset with that key back: it ends without an answer, later. False
 * when there is none. */
bool hub_asking_withdraw(hub_asking *asking, hub_str key);

/* Have the call looked at when this turn of the loop ends. */
void hub_asking_due(hub_asking *asking);

/* After questions were taken out: set the clocks right. */
void hub_asking_settle(hub_asking *asking);

/* End all open questions without an answer, later. */
void hub_asking_cancel_all(hub_asking *asking);

/* Tell how a question ended, and free it; the same for a list of answered ones. */
void hub_question_tell(hub_question *question, int32_t status, hub_str json);
void hub_questions_tell(hub_question *questions);

/* Towards a client of a handshake revision (ask_legacy.c): send what has not been sent; tell it
 * that it need not answer a question that was, or any of them. */
void hub_ask_legacy_send(hub_asking *asking);
void hub_ask_legacy_take_back(const hub_call *call, const hub_question *question,
                              const char *reason);
void hub_ask_legacy_take_all_back(const hub_asking *asking);

#endif
