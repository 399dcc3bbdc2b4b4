/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder keep with sessions and toolsets, and share of subscriptions. Nobody else includes it. */
#ifndef HUB_HUB_NOTICES_SUBSCRIPTION_INTERNAL_H
#define HUB_HUB_NOTICES_SUBSCRIPTION_INTERNAL_H

#include "base/bucket.h"
#include "base/map.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"
#include "hub/notices/listen.h"
#include "hub/notices/subscription.h"

/* One open `subscriptions/listen` (MCP 2026-07-28 basic/patterns/subscriptions). */
struct hub_listen {
    struct hub_listen *next;
    hub_port *port;
    bool wants[HUB_TOPICS]; /* that their lists changed */
    bool is_acknowledged;
    bool is_over;            /* nothing is sent on it any more */
    bool missed[HUB_TOPICS]; /* changed before it was acknowledged */
    size_t awaited;    /* toolsets' answers to what it subscribes to; it is acknowledged then */
    ev_timer patience; /* … or when this is at its end */
    hub_session *session;
    hub_subscriber_list subscribers;
    size_t id_len;
    char id[]; /* raw JSON of the request's id */
};

/* With a session. */
typedef struct session_notices {
    hub_subscriber_list subscribers; /* legacy: resources/subscribe */
    hub_listen *listens;             /* modern: open subscriptions/listen */
    size_t listen_count;
    hub_bucket updates;          /* notices of changed resources (update_pace.h) */
    hub_subscriber *updates_due; /* who is to be told of a change, as soon as the rate allows … */
    ev_timer updates_timer;      /* … which this waits for */
} session_notices;

/* With a toolset. */
typedef struct toolset_notices {
    struct hub_subscription *subscriptions;     /* uthash over the URI */
    struct hub_subscription *next_subscription; /* … while they are walked over */
} toolset_notices;

session_notices *hub_notices_in(const hub_session *session);
toolset_notices *hub_notices_of(const hub_toolset *toolset);

/* A resource of a toolset that somebody wants to hear of. */
typedef struct hub_subscription {
    UT_hash_handle hh;
    hub_toolset *toolset;
    hub_subscriber *first;
    size_t awake;     /* of them, those that are not asleep */
    hub_call *asking; /* the toolset is being told; NULL: no */
    bool is_told;     /* it knows */
    bool is_over;     /* taken out of its toolset, about to be freed */
    struct hub_subscription *next_over;
    size_t uri_len;
    char uri[]; /* as the toolset has it */
} hub_subscription;

/* The one of a toolset's resource, or NULL. */
hub_subscription *hub_subscription_find(const hub_toolset *toolset, hub_str uri);

static inline hub_str hub_subscription_uri(const hub_subscription *subscription)
{
    return (hub_str){.ptr = subscription->uri, .len = subscription->uri_len};
}

/* One who wants to: a legacy session, or a listen stream of a modern one. */
struct hub_subscriber {
    hub_subscription *subscription;
    hub_subscriber *next; /* of the same subscription */
    hub_subscriber *prev;
    hub_subscriber_list *list; /* of its session or stream */
    hub_subscriber *list_next;
    hub_session *session;
    hub_listen *listen; /* NULL: legacy */
    bool is_mapped;     /* it knows the resource by a URI with the toolset in it (route.h) */
    bool is_asleep;     /* the toolset is not active in its profile now */
    bool is_repeat;     /* it was there already when this was asked for, not yet answered */
    bool is_new;        /* the stream's toolset is yet to be told */
    bool is_awaited;    /* the stream waits for the toolset's answer */
    bool has_missed;    /* it changed before the stream was acknowledged */
    bool is_due;        /* it changed, and is told as soon as its session's rate allows … */
    hub_subscriber *due_next;
    hub_subscriber *due_prev;
    uint64_t call; /* its resources/subscribe, not answered yet; 0: none */
};

/* The subscriber of a list that knows a toolset's resource in that way, but not `but`; or NULL. */
hub_subscriber *hub_subscriber_find(const hub_subscriber_list *list, const hub_toolset *toolset,
                                    hub_str own_uri, bool is_mapped, const hub_subscriber *but);

/* Add a subscriber of a resource: a listen stream, or (`listen` NULL) a session. NULL when out of
 * memory. The toolset is not told yet. */
hub_subscriber *hub_subscriber_add(hub_session *session, hub_listen *listen, hub_toolset *toolset,
                                   hub_str own_uri, bool is_mapped);

/* Tell one that what it subscribed to has changed, as often as its session's rate allows. */
void hub_subscriber_tell(hub_subscriber *subscriber);

/* End one. Tells the toolset if it was the last. */
void hub_subscriber_end(hub_subscriber *subscriber);

/* Answer the request of a subscriber that waits; a client that gave up has no call any more. */
void hub_subscriber_answer(hub_subscriber *subscriber, const hub_outcome *outcome);

/* Append the URI by which a subscriber knows a toolset's own. */
void hub_subscriber_add_uri(const hub_subscriber *subscriber, hub_str own_uri, hub_buf *out);

/* The station tells of toolsets and sessions that come and go. */
void hub_subscription_end_session(hub_session *session);
void hub_subscription_rebind(hub_toolset *toolset);
void hub_subscription_sweep(hub_toolset *toolset, bool at_once);
void hub_subscription_forget(hub_toolset *toolset);
void hub_subscription_check_gone(hub_toolset *toolset);

/* Tell the toolset of a subscription, unless it knows. May end the subscription. */
void hub_subscription_tell_begin(hub_subscription *subscription);

#endif
