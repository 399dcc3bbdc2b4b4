/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subscriptions to resources, of clients of both eras: resources/subscribe of a legacy session, and
 * the resourceSubscriptions of a modern listen stream. They are counted per toolset and URI: the
 * toolset is told of the first and of the last, and each subscriber hears of a change under the URI
 * that it knows. Nobody else does. A subscription ends with its session or stream. While the
 * toolset is not active in the session's profile it sleeps, and wakes when the toolset is back: the
 * client was promised to hear of changes, and nobody has told it otherwise. Thread: [loop]. spec:
 * MCP 2025-11-25 server/resources (Subscriptions); 2026-07-28 basic/patterns/subscriptions
 */
#ifndef HUB_HUB_NOTICES_SUBSCRIPTION_H
#define HUB_HUB_NOTICES_SUBSCRIPTION_H

#include "hub/kernel/respond.h"

typedef struct hub_listen hub_listen;
typedef struct hub_subscriber hub_subscriber;

/* The subscribers of one session or listen stream. All zero: none. */
typedef struct hub_subscriber_list {
    hub_subscriber *first;
    size_t count;
} hub_subscriber_list;

/* Answer resources/subscribe and resources/unsubscribe (legacy). The first subscriber's answer is
 * the toolset's. */
void hub_subscription_open(const hub_request *request);
void hub_subscription_close(const hub_request *request);

/* The client cancels a request, which may be a resources/subscribe that is not answered yet: then
 * it is no subscriber. */
void hub_subscription_cancel(const hub_call *call);

/* What became of a URI that a listen stream asked for. */
typedef enum hub_subscription_fate {
    HUB_SUBSCRIPTION_TAKEN,
    HUB_SUBSCRIPTION_UNKNOWN, /* nobody has such a resource */
    HUB_SUBSCRIPTION_MUTE,    /* its toolset does not tell of changes */
    HUB_SUBSCRIPTION_NO_MEMORY,
} hub_subscription_fate;

/* Make the listen stream of a request a subscriber of a URI. The toolset is not told before
 * hub_subscription_begin. The same URI twice is one subscription. */
hub_subscription_fate hub_subscription_add(const hub_request *request, hub_listen *listen,
                                           hub_str uri);

/* Tell the toolsets of a stream's subscriptions. For each that has to be waited for, `awaited`
 * grows by one, and hub_listen_settled() follows, perhaps before this returns; what a toolset
 * refuses is no subscription then. */
void hub_subscription_begin(hub_listen *listen);

/* Append the URIs that a stream, or a legacy session, is subscribed to, as JSON strings with commas
 * between them. */
void hub_subscription_add_uris(const hub_listen *listen, hub_buf *out);
void hub_subscription_add_session_uris(const hub_session *session, hub_buf *out);

/* The stream is acknowledged: tell it what changed before that. */
void hub_subscription_tell_missed(const hub_listen *listen);

/* End all of a list. */
void hub_subscription_end_all(hub_subscriber_list *list);

/* A toolset says that a resource, or something inside of it, has changed. */
void hub_subscription_tell(hub_toolset *toolset, hub_str uri);

/* All that was subscribed to at the toolset is at its end: who waits for an answer is told. */
void hub_subscription_drop(hub_toolset *toolset);

/* The toolset is in use by one profile less: subscribers there hear nothing for now. */
void hub_subscription_sleep(hub_toolset *toolset);

/* The toolset is active for an audience: its subscribers there hear of changes again. */
void hub_subscription_wake(const hub_audience *audience, hub_toolset *toolset);

#endif
