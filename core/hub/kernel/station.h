/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stations: what a feature does on the way of a call, and what it keeps with the objects of the
 * kernel. The kernel knows no feature: it has a table of stations, whose order is theirs on the way
 * to a module, and walks it back with the answer.
 *
 *     request ──arrive──> call ──begin… ──hand_over… ──> module
 *     client  <──────────────── end <── …answer ──────────┘
 *
 * Which stations a call visits is a mask of bits, found without asking any of them: the bits that a
 * toolset, or the hub, set when they were configured (`wants_toolset`, `wants_hub`), and those of
 * stations that react to something that this message, or this outcome, has (`triggers`). A call that
 * nobody wants to touch visits none.
 *
 * State. A station says how many bytes it needs with each kind of object (`bytes`). They lie in one
 * block behind the object, at places that are fixed when the table is laid out; they are zero when
 * the object begins. Of a call's, only the parts that are used are cleared.
 *
 * A feature is a folder, one row in the table (router/stations.c), and its tests.
 *
 * Thread: [loop].
 */
#ifndef HUB_HUB_KERNEL_STATION_H
#define HUB_HUB_KERNEL_STATION_H

#include "base/buf.h"
#include "base/err.h"
#include "hub/kernel/types.h"
#include "tools/catalog.h"
#include "wire/message.h"

struct hub_audience;
struct hub_binding;
struct hub_call;
struct hub_client;
struct hub_handover;
struct hub_orchestrator;
struct hub_outcome;
struct hub_principal;
struct hub_profile;
struct hub_request;
struct hub_session;
struct hub_settings;
struct hub_toolset;
struct hub_way;

enum { HUB_STATIONS_MOST = 64 };

/* A set of stations: bit N is the one in row N. */
typedef uint64_t hub_station_mask;

/* Objects of the kernel that a station may keep something with. */
typedef enum hub_part {
    HUB_PART_HUB,
    HUB_PART_PRINCIPAL,
    HUB_PART_CLIENT,
    HUB_PART_PROFILE,
    HUB_PART_AUDIENCE,
    HUB_PART_SESSION,
    HUB_PART_TOOLSET,
    HUB_PART_BINDING,
    HUB_PART_CALL,
    HUB_PARTS
} hub_part;

/* What a message or an outcome may have that has a call visit a station. */
enum {
    HUB_ON_TASK = 0x1,    /* params.task */
    HUB_ON_STATE = 0x2,   /* params.requestState or params.inputResponses */
    HUB_ON_CAPABLE = 0x4, /* a modern client that declares something that it can do */
    HUB_ON_LEVEL = 0x8,   /* a modern client that wants log messages */
    /* A tool whose outputSchema its client is not shown; and on the way back, a tool's result of a server
     * that is newer than its client. */
    HUB_ON_OUTPUT = 0x40,
    /* On the way back: */
    HUB_ON_TYPED = 0x10,     /* a result of another type than "complete" */
    HUB_ON_RPC_ERROR = 0x20, /* a JSON-RPC error */
    HUB_ON_ALL = 0x7f,
};

typedef enum hub_verdict {
    HUB_GO_ON,
    HUB_PASS,     /* `begin` alone: it goes on, and the station is told no more of it */
    HUB_HOLD,     /* it stays here; the station takes it on again (way.h) */
    HUB_ANSWERED, /* the station has answered the request, or completed the call */
} hub_verdict;

/* Where the layout has put a station. Of each station one, which nobody else writes to. */
typedef struct hub_station_place {
    hub_station_mask bit;
    unsigned index;
    size_t offset[HUB_PARTS];
} hub_station_place;

/* Every entry but the first three may be empty. */
struct hub_station {
    const char *name;
    hub_station_place *place;
    unsigned triggers;       /* HUB_ON_… */
    size_t bytes[HUB_PARTS]; /* of state, with each kind of object */

    /* ---- the way of a call; `begin` and `answer` alone may hold it ---- */

    /* A request has come: HUB_GO_ON, or HUB_ANSWERED. Asked of the stations that the hub wants, and
     * of those that react to the message. */
    hub_verdict (*arrive)(const struct hub_request *request);

    /* A call begins: its toolset, its name there and its message are known (way.h), and may be
     * replaced by others. A station that passes a call keeps no state with it. */
    hub_verdict (*begin)(struct hub_call *call, struct hub_way *way);

    /* It is bound to an instance, and leaves for it next. HUB_GO_ON, or HUB_ANSWERED. */
    hub_verdict (*hand_over)(struct hub_call *call, struct hub_handover *handover);

    /* Its outcome is known, and may be replaced by another one, whose bytes live until `drop`. In
     * reverse order. Not told of a call that ends without an outcome. */
    hub_verdict (*answer)(struct hub_call *call, struct hub_outcome *outcome);

    /* It ends now, before its client has its answer; NULL: nobody waits for one any more. Told of
     * calls that were begun here, and of those whose state was used. */
    void (*end)(struct hub_call *call, const struct hub_outcome *outcome);

    /* It has been answered: free what the state holds. Told as `end` is. */
    void (*drop)(struct hub_call *call);

    /* A request is refused before it is a call, or instead of becoming one. */
    void (*refuse)(const struct hub_request *request);

    /* A request that has become no call is answered: with a result, or, where `code` is not 0, with
     * that error. Told to stations that the hub wants. */
    void (*answered)(const struct hub_request *request, int code, hub_str message);

    /* Its client has answered what it was asked, or is back with another request, and the call goes on
     * with that next. HUB_GO_ON, or HUB_ANSWERED. Told as `end` is. */
    hub_verdict (*client_returns)(struct hub_call *call);

    /* A call names something of a toolset that could not be asked whether it has it. HUB_GO_ON (it is
     * told why), or HUB_ANSWERED. */
    hub_verdict (*toolset_is_silent)(struct hub_call *call, const struct hub_toolset *toolset);

    /* Progress of a call is about to be told to its client, which is there: the params may be
     * replaced by others in `text`, which is initialised and empty. Empty: it is not told. */
    void (*progress)(struct hub_call *call, hub_str *params, hub_buf *text);

    /* Whether it holds a request with that raw id open that is no call. Asked only while the
     * station has said that it holds any of this session (hub_session_set_holding). */
    bool (*holds_id)(const struct hub_session *session, hub_str id);

    /* ---- whom it wants to see ---- */

    /* Whether calls of this toolset visit the station; asked whenever something of the toolset has
     * changed that the kernel knows of (hub_toolset_review). */
    bool (*wants_toolset)(const struct hub_toolset *toolset);

    /* Whether every request does; asked when the settings have changed (hub_review). */
    bool (*wants_hub)(const struct hub_orchestrator *hub);

    /* ---- the life of objects ---- */

    hub_err (*hub_begins)(struct hub_orchestrator *hub, hub_error *reterr);
    void (*hub_stops)(struct hub_orchestrator *hub); /* nothing new is taken; calls may end */
    void (*hub_ends)(struct hub_orchestrator *hub);  /* sessions have ended, toolsets not */
    void (*hub_drops)(struct hub_orchestrator *hub); /* the last; all else is gone */
    /* Other settings may come: make what may fail. They have come, or never will. */
    hub_err (*settings_offered)(struct hub_orchestrator *hub, const struct hub_settings *settings);
    void (*settings_changed)(struct hub_orchestrator *hub);

    /* Also when nobody holds it any more. */
    bool (*principal_matters)(const struct hub_orchestrator *hub,
                              const struct hub_principal *principal);
    /* Nobody holds it, and it is about to be forgotten. */
    void (*principal_ends)(struct hub_orchestrator *hub, struct hub_principal *principal);
    /* Its own instance of a toolset has other lists than before, or is no more. */
    void (*principal_sees_others)(struct hub_orchestrator *hub,
                                  const struct hub_principal *principal);
    /* It has shown a newer token than before, which is kept (hub_principal_token): a session of it has just
     * begun, or a request was judged. */
    void (*principal_shows)(struct hub_orchestrator *hub, struct hub_principal *principal);
    bool (*client_matters)(const struct hub_orchestrator *hub, const struct hub_client *client);

    /* It sees what `from` does; NULL: it is the first of its profile. */
    hub_err (*audience_begins)(struct hub_audience *audience, const struct hub_audience *from);
    void (*audience_ends)(struct hub_audience *audience);          /* also one that did not begin */
    bool (*audience_matters)(const struct hub_audience *audience); /* also without a session */

    /* Its last session belongs to another audience now; and a session is the first again. */
    void (*audience_left)(struct hub_audience *audience);
    void (*audience_returns)(struct hub_audience *audience);

    /* It belongs to another audience from now on, which sees the same. */
    void (*session_moved)(struct hub_session *session, struct hub_audience *from);
    void (*session_ends)(struct hub_session *session); /* its calls have; in reverse order */

    /* It is about to be used with another credential, and has calls that came with this one. */
    void (*session_judged)(struct hub_session *session);

    void (*toolset_begins)(struct hub_toolset *toolset);
    void (*toolset_linked)(struct hub_toolset *toolset);  /* its module is: a binding comes next */
    void (*toolset_rebinds)(struct hub_toolset *toolset); /* its binding is about to be another */
    void (*toolset_begins_anew)(struct hub_toolset *toolset); /* it is; what it offers comes next */
    void (*toolset_bound)(struct hub_toolset *toolset);       /* all of it is known */
    void (*toolset_rebound)(struct hub_toolset *toolset); /* and the old one finishes its calls */
    void (*toolset_unbound)(struct hub_toolset *toolset); /* it has none any more … */
    void (*toolset_idle)(struct hub_toolset *toolset);    /* … and its calls were told */
    void (*toolset_listed)(struct hub_toolset *toolset, hub_kind kind); /* a list is another one */
    void (*toolset_told)(struct hub_toolset *toolset); /* what its server says of itself is known */
    void (*toolset_recalled)(
        struct hub_toolset *toolset);                 /* its lists are those of an earlier hub */
    void (*toolset_can)(struct hub_toolset *toolset); /* its capabilities are others */
    void (*toolset_state_changed)(struct hub_toolset *toolset); /* its module says how it is */
    void (*toolset_tuned)(struct hub_toolset *toolset);         /* its settings are others */
    void (*toolset_forgotten)(struct hub_toolset *toolset); /* what was known of it is no more */
    /* A profile uses it less, perhaps; calls of what has no place any more fail `at_once`, or may
     * end. */
    void (*toolset_less)(struct hub_toolset *toolset, bool at_once);
    void (*toolset_leaves)(struct hub_toolset *toolset); /* no profile will use it again */
    void (*toolset_ends)(struct hub_toolset *toolset);

    void (*binding_retires)(struct hub_binding *binding); /* it gets no more calls */
    void (*place_is_free)(struct hub_toolset *toolset);   /* a client's call is at its end */
    /* A call of that client (hub_session_whose) has waited for a place in vain for so long: who can gives one
     * up, by ending the call that has it. */
    void (*place_is_wanted)(struct hub_toolset *toolset, hub_str whose, uint64_t waited_ms);
};

/* Fix the places of the stations of a table, which lives as long as the process. The first table is
 * the one: later calls do nothing. */
void hub_stations_lay_out(const hub_station *const *table, size_t count);

/* How many bytes of state an object of that kind has. */
size_t hub_stations_bytes(hub_part kind);

/* The rows in their order, and back. */
size_t hub_stations_count(void);
const hub_station *hub_stations_at(size_t row);

/* The stations that are told what requests are answered with that are no calls. */
hub_station_mask hub_stations_told_answers(void);

/* The stations with one of these triggers. */
hub_station_mask hub_stations_triggered(unsigned triggers);

/* Tell all stations that have the entry, in their order, or the other way round. */
#define HUB_STATIONS_TELL(entry, ...)                                                              \
    do {                                                                                           \
        for (size_t row_ = 0; row_ < hub_stations_count(); row_++) {                               \
            const hub_station *station_ = hub_stations_at(row_);                                   \
            if (station_->entry != NULL) {                                                         \
                station_->entry(__VA_ARGS__);                                                      \
            }                                                                                      \
        }                                                                                          \
    } while (0)

#define HUB_STATIONS_TELL_BACK(entry, ...)                                                         \
    do {                                                                                           \
        for (size_t row_ = hub_stations_count(); row_ > 0; row_--) {                               \
            const hub_station *station_ = hub_stations_at(row_ - 1);                               \
            if (station_->entry != NULL) {                                                         \
                station_->entry(__VA_ARGS__);                                                      \
            }                                                                                      \
        }                                                                                          \
    } while (0)

#endif
